//! The rules that need counts: `no_primary_key`, then `scan_limit`, then `join_too_wide`; and what they never refuse.

use serde_json::{Value, json};

use crate::case::{Case, check, refuse};
use crate::world::{Ask, On, STRICT_SCAN_LIMIT, count, join, query, total};

/// Keyless; more than a page.
const ENTITIES: &str = "usaspending.all_entities";
/// Keyless; a little more than a page and below the scan limit.
const OVERVIEW: &str = "usaspending.reporting_agency_overview";
/// Keyless; less than a page.
const CROSSWALK: &str = "usaspending.uei_crosswalk";
/// Keyed; above the strict scan limit.
const ORGANIZATIONS: &str = "irs_ng.bmf_organizations";
/// Keyed; above a page, below the strict scan limit.
const REGISTRATIONS: &str = "samer.sam_registrations";

fn counts(source: &str, group: &str, filters: Value) -> Ask {
    query(json!({
        "source": source, "group_by": [group], "metrics": ["n=count:*"], "where": filters, "order": ["n:desc"], "limit": 1,
    }))
}

/// The largest group of a demo relation's rows among those a filter leaves.
fn largest_group(source: &str, group: &str, filter: Option<(&str, &str)>) -> usize {
    let mut sizes = std::collections::BTreeMap::<Option<String>, usize>::new();
    for row in benthic_mirror::demo::relation(source).unwrap().rows() {
        if filter.is_none_or(|(column, value)| row.text(column) == Some(value)) {
            *sizes.entry(row.json(group)).or_default() += 1;
        }
    }
    sizes.into_values().max().unwrap()
}

pub(crate) fn cases() -> Vec<Case> {
    let (entities, overview, organizations) = (total(ENTITIES), total(OVERVIEW), total(ORGANIZATIONS));
    let in_colorado = count(ENTITIES, |row| row.text("state") == Some("CO"));
    assert!(
        entities > 2_000 && (1_001..2_000).contains(&overview) && organizations > 2_000 && in_colorado > 0
    );
    let sum =
        |source: &str, column: &str| query(json!({"source": source, "metrics": [format!("s=sum:{column}")]}));
    let one_row = |source: &str, metric: &str| query(json!({"source": source, "metrics": [metric]}));
    let heuristic = |more: Value| {
        let mut arguments = json!({
            "left_source": REGISTRATIONS, "right_source": ORGANIZATIONS, "left_column": "duns", "right_column": "ein",
        });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        join(arguments)
    };
    let on_uei = |more: Value| {
        let mut arguments = json!({"left_source": ENTITIES, "right_source": REGISTRATIONS});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        join(arguments)
    };
    let excess = organizations as u64 - STRICT_SCAN_LIMIT;
    vec![
        // Without a key, beyond one page: terminal, below the scan limit or above it.
        refuse(counts(OVERVIEW, "toptier_code", json!([])), "no_primary_key", "primary key")
            .fact("matched_rows", overview)
            .fact("max_rows", 1_000)
            .near(
                counts(OVERVIEW, "toptier_code", json!(["toptier_code=eq.\"097\""])),
                "/rows/0/n",
                largest_group(OVERVIEW, "toptier_code", Some(("toptier_code", "097"))),
            )
            .near(counts(CROSSWALK, "id", json!([])), "/sources/0/matched_rows", total(CROSSWALK)),
        refuse(sum(ENTITIES, "award_count"), "no_primary_key", "primary key").fact("matched_rows", entities),
        refuse(one_row(ENTITIES, "a=avg:award_count"), "no_primary_key", "primary key"),
        refuse(counts(ENTITIES, "city", json!(["state=in.[\"CA\",\"TX\",\"CO\",\"NY\",\"FL\",\"MA\",\"WA\",\"VT\",\"OH\",\"IL\",\"PA\",\"GA\",\"NC\",\"MI\",\"NJ\",\"VA\",\"AZ\",\"TN\",\"IN\",\"MO\",\"MD\",\"WI\",\"MN\",\"SC\",\"AL\",\"LA\",\"KY\",\"OR\",\"OK\",\"CT\"]"])), "no_primary_key", "one page"),
        refuse(counts(ENTITIES, "city", json!([])), "no_primary_key", "one page")
            .near(
                counts(ENTITIES, "city", json!(["state=eq.CO"])),
                "/rows/0/n",
                largest_group(ENTITIES, "city", Some(("state", "CO"))),
            )
            // One row is one row, however wide the source.
            .near(one_row(ENTITIES, "n=count:*"), "/rows/0/n", entities),
        // The order of decisions: both rules hold, the one without a way out is told.
        refuse(counts(ENTITIES, "city", json!([])), "no_primary_key", "one page")
            .on(On::Strict)
            .fact("matched_rows", entities)
            .near_on(
                On::Complete,
                counts(ENTITIES, "city", json!([])),
                "/rows/0/n",
                largest_group(ENTITIES, "city", None),
            )
            .near_on(On::Complete, counts(ENTITIES, "city", json!([])), "/served/policy", "complete"),
        // With a key: the scan limit, with exact counts.
        refuse(counts(ORGANIZATIONS, "ntee_irs", json!([])), "scan_limit", "add a filter")
            .on(On::Strict)
            .fact("source", ORGANIZATIONS)
            .fact("matched_rows", organizations)
            .fact("limit", STRICT_SCAN_LIMIT)
            .fact("excess", excess)
            .fact("narrowing_can_help", true)
            .near(
                counts(ORGANIZATIONS, "ntee_irs", json!(["f990_org_addr_state=eq.CO"])),
                "/rows/0/n",
                largest_group(ORGANIZATIONS, "ntee_irs", Some(("f990_org_addr_state", "CO"))),
            )
            .near(one_row(ORGANIZATIONS, "n=count:*"), "/rows/0/n", organizations)
            .near_on(
                On::Complete,
                counts(ORGANIZATIONS, "ntee_irs", json!([])),
                "/rows/0/n",
                largest_group(ORGANIZATIONS, "ntee_irs", None),
            )
            .near_on(On::Demo, counts(ORGANIZATIONS, "ntee_irs", json!([])), "/served/policy", "parity"),
        refuse(sum(ORGANIZATIONS, "f990_total_revenue_recent"), "scan_limit", "count, min and max").on(On::Strict),
        // Mixed with a sum, count is no longer a one-row question.
        refuse(
            query(json!({"source": ORGANIZATIONS, "metrics": ["n=count:*", "s=sum:org_year_count"]})),
            "scan_limit",
            "reads at most 2000",
        )
        .on(On::Strict)
        .near(
            query(json!({"source": ORGANIZATIONS, "metrics": ["n=count:*", "m=max:org_year_count", "k=min:ein"]})),
            "/rows/0/n",
            organizations,
        ),
        // Joins: each side's rows after its own filters.
        refuse(on_uei(json!({})), "no_primary_key", "this side of the join").on(On::Strict).fact("source", ENTITIES),
        refuse(heuristic(json!({})), "scan_limit", "this side of the join").on(On::Strict).fact("source", ORGANIZATIONS),
        refuse(on_uei(json!({})), "no_primary_key", "one page"),
        // The scan limit comes before the width, and `complete` lifts it but not the width.
        refuse(on_uei(json!({})), "join_too_wide", "left_where")
            .on(On::Complete)
            .near(on_uei(json!({"left_where": ["state=eq.CO"], "limit": 1_000})), "/sources/0/matched_rows", in_colorado),
    ]
}

#[test]
fn each_rule_refuses_and_leaves_its_neighbour_alone() {
    check(cases());
}

/// `max` and the first row of a descending order are the maximum, of a column most rows don't have.
#[test]
fn a_maximum_is_the_maximum_however_many_nulls_there_are() {
    let (source, column) = ("usp_cl.legislator_terms", "class");
    let relation = benthic_mirror::demo::relation(source).unwrap();
    let values: Vec<i64> = relation.rows().filter_map(|row| row.int(column)).collect();
    assert!(values.len() * 2 < relation.rows.len(), "not null-heavy");
    let largest = *values.iter().max().unwrap();
    for (arguments, pointer) in [
        (
            json!({"source": source, "order": ["class:desc"], "select": ["class"], "limit": 1}),
            "/rows/0/class",
        ),
        (json!({"source": source, "metrics": ["m=max:class"]}), "/rows/0/m"),
        (
            json!({"source": source, "group_by": ["class"], "metrics": ["n=count:*"], "order": ["class:desc"], "limit": 1}),
            "/rows/0/class",
        ),
    ] {
        let answer = crate::world::ask(On::Demo, &query(arguments.clone())).unwrap();
        assert_eq!(answer.pointer(pointer), Some(&json!(largest)), "{arguments}");
    }
    // Ascending, nulls are last as well.
    let ascending = json!({"source": source, "order": ["class"], "select": ["class"], "limit": 1});
    let smallest = *values.iter().min().unwrap();
    let answer = crate::world::ask(On::Demo, &query(ascending)).unwrap();
    assert_eq!(answer["rows"][0]["class"], smallest);
    // And over a relation beyond the scan limit.
    let revenue = "f990_total_revenue_recent";
    let largest = benthic_mirror::demo::relation(ORGANIZATIONS)
        .unwrap()
        .rows()
        .filter_map(|row| row.int(revenue))
        .max()
        .unwrap();
    let max = json!({"source": ORGANIZATIONS, "metrics": [format!("m=max:{revenue}")]});
    let answer = crate::world::ask(On::Strict, &query(max)).unwrap();
    assert_eq!(answer["rows"][0]["m"], largest);
}
