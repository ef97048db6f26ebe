//! `benthic_join`: signed paths, context, keys.

use benthic_mirror::demo::DemoValue;
use serde_json::{Value, json};

use crate::case::{Case, check, refuse};
use crate::world::{Ask, On, ask, count, join, total};

const TERMS: &str = "usp_cl.legislator_terms";
const LEGISLATORS: &str = "usp_cl.legislators";
const ENTITIES: &str = "usaspending.all_entities";

fn pair(left: &str, right: &str, more: Value) -> Ask {
    let mut arguments = json!({"left_source": left, "right_source": right});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    join(arguments)
}

fn on(left_column: &str, right_column: &str) -> Value {
    json!({"left_column": left_column, "right_column": right_column})
}

/// Terms of Vermont's legislators, joined along the signed path.
fn vermont(more: Value) -> Ask {
    let mut arguments = json!({"right_where": ["state=eq.VT"], "limit": 1_000});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    pair(LEGISLATORS, TERMS, arguments)
}

pub(crate) fn cases() -> Vec<Case> {
    let vermont_terms = count(TERMS, |row| row.text("state") == Some("VT"));
    assert!(vermont_terms > 1);
    let district = |more: Value| {
        let mut arguments = on("congressional_district", "district");
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        pair(ENTITIES, TERMS, arguments)
    };
    let (rows, width) = ("/joins/0/joined_rows", total(TERMS));
    vec![
        refuse(pair(LEGISLATORS, "usp_cl.committees", json!({})), "unsigned_join", TERMS).near(
            vermont(json!({})),
            rows,
            vermont_terms,
        ),
        refuse(
            pair("usp_cl.committees", "usp_cl.committee_membership", json!({})),
            "unsigned_join",
            "on its own",
        ),
        refuse(pair(LEGISLATORS, TERMS, on("first_name", "state")), "unsigned_join", "bioguide_id").near(
            vermont(on("bioguide_id", "bioguide_id")),
            rows,
            vermont_terms,
        ),
        refuse(pair(LEGISLATORS, LEGISLATORS, json!({})), "unsigned_join", TERMS),
        // One path, but a heuristic or partial one, isn't taken unasked.
        refuse(
            pair(ENTITIES, "irs_ng.bmf_organizations", json!({})),
            "ambiguous_join",
            "left_column=\"duns\"",
        ),
        refuse(pair(ENTITIES, TERMS, json!({})), "ambiguous_join", "right_column=\"district\""),
        // Of several paths the next step names one that can be joined here.
        refuse(
            pair("d.left", "d.right", json!({})),
            "ambiguous_join",
            "left_column=\"k\", right_column=\"k\"",
        )
        .on(On::Made)
        .near(pair("d.left", "d.right", on("k", "k")), rows, 2)
        .near(pair("d.left", "d.right", on("label", "label")), rows, 1),
        refuse(pair("d.left", "d.right", on("place", "area")), "spatial_join", "benthic_rpc").on(On::Made),
        refuse(district(json!({})), "partial_join_needs_context", "context_conditions=[\"state=state\"]")
            .fact("shared_columns", json!(["state"])),
        refuse(
            pair(ENTITIES, "up_cdmaps.congressional_districts", json!({})),
            "spatial_join",
            "operation=\"find_district\"",
        )
        .fact("operation", "find_district"),
        refuse(
            pair("usp_cl.district_offices", "up_cdmaps.congressional_districts", on("geom_point", "geom")),
            "spatial_join",
            "find_district",
        ),
        // Arguments and expressions.
        refuse(vermont(json!({"left_column": "bioguide_id"})), "bad_argument", "add `right_column`")
            .fact("argument", "right_column"),
        refuse(vermont(json!({"right_column": "bioguide_id"})), "bad_argument", "add `left_column`"),
        refuse(vermont(json!({"mode": "outer"})), "bad_argument", "mode=\"left\"").near(
            vermont(
                json!({"mode": "LEFT", "left_where": ["is_current=eq.false", "bioguide_id=eq.\"none\""]}),
            ),
            rows,
            0,
        ),
        refuse(vermont(json!({"limit": 1_001})), "bad_argument", "limit=1000"),
        refuse(vermont(json!({"left_select": ["genders"]})), "unknown_column", "gender")
            .fact("argument", "left_select"),
        refuse(vermont(json!({"right_where": ["states=eq.VT"]})), "unknown_column", "state")
            .fact("argument", "right_where"),
        refuse(pair(LEGISLATORS, TERMS, on("bioguide", "bioguide_id")), "unknown_column", "bioguide_id")
            .fact("argument", "left_column"),
        refuse(vermont(json!({"context_conditions": ["state"]})), "bad_context", "`state=state`"),
        refuse(vermont(json!({"context_conditions": ["nobody=state"]})), "unknown_column", "nobody"),
        refuse(vermont(json!({"context_conditions": ["is_current=state"]})), "bad_context", "one type"),
        refuse(
            vermont(json!({"context_conditions": vec!["bioguide_id=bioguide_id"; 9]})),
            "too_many",
            "context_conditions",
        )
        .fact("limit", 8)
        .near(
            vermont(json!({"context_conditions": vec!["bioguide_id=bioguide_id"; 8]})),
            rows,
            vermont_terms,
        ),
        refuse(vermont(json!({"left_where": ["gender=F"]})), "bad_filter", "gender=eq.F"),
        refuse(pair("usp_cl.legislator", TERMS, json!({})), "unknown_relation", "usp_cl.legislators"),
        refuse(
            pair(LEGISLATORS, "irs_ng.form990_xml_import_log", json!({})),
            "not_queryable",
            "form990_details",
        ),
        refuse(
            pair("samer.sam_registrations", "usaspending.all_entities", json!({})),
            "not_mirrored",
            "sync",
        )
        .on(On::Partial),
        // Width.
        refuse(pair(LEGISLATORS, TERMS, json!({"limit": 1})), "join_too_wide", "left_where")
            .fact("joined_rows", width)
            .near(vermont(json!({"limit": 1})), "/row_count", 1),
    ]
}

#[test]
fn each_rule_refuses_and_leaves_its_neighbour_alone() {
    check(cases());
}

/// District '03' (text) is 3 (integer), within the same state.
#[test]
fn districts_join_across_types_within_their_state() {
    let arguments = json!({
        "left_source": ENTITIES, "right_source": TERMS,
        "left_column": "congressional_district", "right_column": "district", "context_conditions": ["state=state"],
        "left_where": ["congressional_district=eq.03"], "right_where": ["term_start=gte.2023-01-01"],
        "left_select": ["legal_business_name"], "right_select": ["party"], "limit": 1_000,
    });
    let answer = ask(On::Demo, &join(arguments)).unwrap();
    // A plain nested loop over the generator's rows.
    let entities = benthic_mirror::demo::relation(ENTITIES).unwrap();
    let terms = benthic_mirror::demo::relation(TERMS).unwrap();
    let since = |value: &DemoValue| matches!(value, DemoValue::Date(day) if *day >= 19_358);
    let expected = entities
        .rows()
        .filter(|row| row.text("congressional_district") == Some("03"))
        .flat_map(|entity| {
            let state = entity.text("state").map(str::to_owned);
            terms.rows().filter(move |term| {
                term.int("district") == Some(3)
                    && term.text("state") == state.as_deref()
                    && since(term.get("term_start"))
            })
        })
        .count();
    let rows = answer["rows"].as_array().unwrap();
    assert!(expected > 0);
    assert_eq!(rows.len(), expected);
    for row in rows {
        assert_eq!((&row["left.congressional_district"], &row["right.district"]), (&json!("03"), &json!(3)));
        // The context columns were fetched although nobody selected them.
        assert!(row["left.state"].is_string() && row["left.state"] == row["right.state"], "{row}");
        assert!(row.get("left.legal_business_name").is_some() && row.get("right.party").is_some(), "{row}");
    }
    let warnings = answer["warnings"].to_string();
    assert!(warnings.contains("leading zeros") && warnings.contains("partial"), "{warnings}");
}
