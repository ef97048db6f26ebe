//! Signed joins: paths, context, propagation, coercion, width.

use benthic_mirror::demo;
use serde_json::{Value, json};

use crate::harness::{join, rows, try_join};

fn code(arguments: Value) -> String {
    match try_join(arguments.clone()) {
        Err(refusal) => refusal.code.as_str().to_owned(),
        Ok(answer) => panic!("{arguments} was answered: {answer}"),
    }
}

#[test]
fn only_signed_paths_join() {
    let pair = |left: &str, right: &str| json!({"left_source": left, "right_source": right});
    assert_eq!(code(pair("usp_cl.legislators", "usp_cl.committees")), "unsigned_join");
    assert_eq!(code(pair("usaspending.all_entities", "up_cdmaps.congressional_districts")), "spatial_join");
    assert_eq!(code(pair("usaspending.all_entities", "irs_ng.bmf_organizations")), "ambiguous_join");
    assert_eq!(code(pair("usaspending.all_entities", "usp_cl.legislator_terms")), "ambiguous_join");
    let with = |left: &str, right: &str, a: &str, b: &str| json!({"left_source": left, "right_source": right, "left_column": a, "right_column": b});
    assert_eq!(
        code(with(
            "usaspending.all_entities",
            "usp_cl.legislator_terms",
            "congressional_district",
            "district"
        )),
        "partial_join_needs_context"
    );
    assert_eq!(
        code(with("usp_cl.legislators", "usp_cl.legislator_terms", "first_name", "state")),
        "unsigned_join"
    );
    assert_eq!(
        code(
            json!({"left_source": "usp_cl.legislators", "right_source": "usp_cl.legislator_terms", "left_column": "bioguide_id"})
        ),
        "bad_argument"
    );
    let spatial =
        try_join(pair("usp_cl.district_offices", "up_cdmaps.congressional_districts")).expect_err("spatial");
    assert!(spatial.to_text().contains("find_district"), "{}", spatial.to_text());
}

#[test]
fn both_directions_and_left_joins_agree_with_plain_counts() {
    let terms = demo::relation("usp_cl.legislator_terms").expect("terms");
    let state = terms.rows().find_map(|row| row.text("state")).expect("a state");
    let expected = terms.rows().filter(|row| row.text("state") == Some(state)).count();
    let forward = join(json!({
        "left_source": "usp_cl.legislators", "right_source": "usp_cl.legislator_terms",
        "right_where": [format!("state=eq.{state}")], "limit": 1000,
    }));
    let backward = join(json!({
        "left_source": "usp_cl.legislator_terms", "right_source": "usp_cl.legislators",
        "left_where": [format!("state=eq.{state}")], "limit": 1000,
    }));
    assert_eq!(rows(&forward).len(), expected);
    assert_eq!(rows(&backward).len(), expected);
    assert_eq!(forward["joins"][0]["joined_rows"], expected);
    // A left join keeps legislators without a term that matches.
    let legislators = demo::relation("usp_cl.legislators").expect("legislators");
    let id = legislators.rows().next().and_then(|row| row.text("bioguide_id")).expect("an id");
    let left = join(json!({
        "left_source": "usp_cl.legislators", "right_source": "usp_cl.legislator_terms", "mode": "left",
        "left_where": [format!("bioguide_id=eq.{id}")], "right_where": ["state=eq.ZZ"],
    }));
    assert_eq!(rows(&left).len(), 1);
    assert!(rows(&left)[0]["right.bioguide_id"].is_null());
}

#[test]
fn text_and_number_keys_compare_without_leading_zeros_and_warn() {
    let answer = join(json!({
        "left_source": "usaspending.all_entities", "right_source": "usp_cl.legislator_terms",
        "left_column": "congressional_district", "right_column": "district", "context_conditions": ["state=state"],
        "left_where": ["congressional_district=eq.03"], "right_where": ["term_start=gte.2023-01-01"], "limit": 1000,
    }));
    assert!(!rows(&answer).is_empty());
    for row in rows(&answer) {
        assert_eq!(row["left.congressional_district"], "03");
        assert_eq!(row["right.district"], 3);
        assert_eq!(row["left.state"], row["right.state"]);
    }
    let warnings = answer["warnings"].to_string();
    assert!(warnings.contains("leading zeros") && warnings.contains("partial"), "{warnings}");
    // The filter on the text key reached the number key.
    let terms = demo::relation("usp_cl.legislator_terms").expect("terms");
    let third = terms
        .rows()
        .filter(|row| row.int("district") == Some(3))
        .filter(|row| matches!(row.get("term_start"), demo::DemoValue::Date(days) if *days >= 19_358))
        .count();
    assert_eq!(answer["sources"][1]["matched_rows"], third);
}

#[test]
fn heuristic_paths_say_that_they_are_no_entity_matches() {
    let answer = join(json!({
        "left_source": "samer.sam_registrations", "right_source": "irs_ng.bmf_organizations",
        "left_column": "duns", "right_column": "ein", "limit": 1000,
    }));
    assert!(answer["warnings"].to_string().contains("entity match"), "{}", answer["warnings"]);
    for row in rows(&answer) {
        assert_eq!(row["left.duns"], row["right.ein"]);
    }
}

#[test]
fn too_wide_joins_name_the_exact_count() {
    let total = demo::relation("usp_cl.legislator_terms").expect("terms").rows.len();
    let refusal =
        try_join(json!({"left_source": "usp_cl.legislators", "right_source": "usp_cl.legislator_terms"}))
            .expect_err("too wide");
    assert_eq!(refusal.code.as_str(), "join_too_wide");
    assert_eq!(refusal.facts["joined_rows"], total);
}

#[test]
fn identical_rows_are_represented_by_one() {
    let terms = demo::relation("usp_cl.legislator_terms").expect("terms");
    let mut counts = std::collections::BTreeMap::<&str, u64>::new();
    for row in terms.rows() {
        *counts.entry(row.text("bioguide_id").expect("id")).or_default() += 1;
    }
    let (id, n) = counts.into_iter().max_by_key(|(_, n)| *n).expect("a legislator");
    assert!(n > 1);
    let answer = join(json!({
        "left_source": "usp_cl.legislators", "right_source": "usp_cl.legislator_terms",
        "left_where": [format!("bioguide_id=eq.{id}")], "left_select": ["bioguide_id"], "right_select": ["bioguide_id"],
    }));
    assert_eq!(rows(&answer).len(), 1);
    assert_eq!(answer["row_count"], n);
    assert!(answer["warnings"].to_string().contains("identical"));
}
