//! Queries: filters, order, paging, aggregates, exact numbers, provenance.

use benthic_mirror::config::{FixedClock, ScanPolicy};
use benthic_mirror::demo;
use serde_json::{Value, json};

use crate::harness::{block, digits, fixture, object, open, open_at, query, rows, try_query};

#[test]
fn pages_follow_each_other_without_gaps_or_repeats() {
    let relation = demo::relation("usp_cl.legislator_terms").expect("relation");
    let mut expected: Vec<i64> = relation.rows().filter_map(|row| row.int("term_id")).collect();
    expected.sort_unstable();
    let mut found = Vec::new();
    let mut offset = Some(0);
    while let Some(start) = offset {
        let answer = query(json!({
            "source": "usp_cl.legislator_terms", "select": ["term_id"], "limit": 333, "offset": start,
        }));
        found.extend(rows(&answer).iter().filter_map(|row| row["term_id"].as_i64()));
        assert_eq!(answer["truncated"], answer.get("next_offset").is_some());
        offset = answer["next_offset"].as_u64();
    }
    assert_eq!(found, expected);
}

#[test]
fn truncated_is_right_at_exactly_the_limit() {
    let total = demo::relation("usp_cl.committees").expect("relation").rows.len();
    let ask = |limit: usize| query(json!({"source": "usp_cl.committees", "limit": limit}));
    assert_eq!(ask(total)["truncated"], false);
    let cut = ask(total - 1);
    assert_eq!((&cut["truncated"], &cut["truncated_by"]), (&json!(true), &json!("limit")));
    assert_eq!(cut["next_offset"], total - 1);
    assert_eq!(cut["sources"][0]["matched_rows"], total);
}

#[test]
fn descending_order_returns_the_maximum_not_nulls() {
    let relation = demo::relation("usaspending.all_entities").expect("relation");
    assert!(relation.rows().any(|row| row.get("date_last_award").is_null()));
    let answer = query(json!({
        "source": "usaspending.all_entities", "select": ["date_last_award"], "order": ["date_last_award:desc"], "limit": 1,
    }));
    assert!(rows(&answer)[0]["date_last_award"].is_string(), "{answer}");
    let last = query(json!({
        "source": "usaspending.all_entities", "metrics": ["last=max:date_last_award"],
    }));
    assert_eq!(rows(&answer)[0]["date_last_award"], rows(&last)[0]["last"]);
}

#[test]
fn a_having_nothing_can_meet_leaves_no_row() {
    // What comes to a constant must not be applied to the rows below the aggregate: their count would be 0.
    for having in [vec!["n=0", "n=1"], vec!["n:in:[2.5]"], vec!["n=0.5"], vec!["n<0"], vec!["lo=1e30"]] {
        for groups in [vec![], vec!["state"]] {
            let answer = query(json!({
                "source": "usp_cl.legislator_terms", "group_by": groups,
                "metrics": ["n=count:state", "lo=min:term_id"], "having": having,
            }));
            assert_eq!(answer["rows"], json!([]), "{having:?} {groups:?}");
        }
    }
}

#[test]
fn one_row_answers_come_at_any_size_and_together() {
    // No primary key and more than one page: only count, min and max are answerable.
    let relation = demo::relation("usaspending.all_entities").expect("relation");
    let states: Vec<&str> = relation.rows().filter_map(|row| row.text("state")).collect();
    let answer = query(json!({
        "source": "usaspending.all_entities",
        "metrics": ["n=count:*", "with_state=count:state", "first=min:state", "last=max:state"],
    }));
    let row = &rows(&answer)[0];
    assert_eq!(row["n"], relation.rows.len());
    assert_eq!(row["with_state"], states.len());
    assert_eq!(row["first"], **states.iter().min().expect("states"));
    assert_eq!(row["last"], **states.iter().max().expect("states"));
}

#[test]
fn aggregates_over_no_rows_are_null_and_zero() {
    let answer = query(json!({
        "source": "irs_ng.form990_details", "where": ["ein=eq.no such number"],
        "metrics": ["n=count:*", "k=count:ein", "s=sum:total_revenue", "a=avg:total_revenue", "m=max:ein"],
    }));
    assert_eq!(rows(&answer)[0], json!({"n": 0, "k": 0, "s": null, "a": null, "m": null}));
}

#[test]
fn sums_and_averages_are_exact() {
    let relation = demo::relation("irs_ng.form990_details").expect("relation");
    let values: Vec<i128> =
        relation.rows().filter_map(|row| row.int("total_revenue")).map(i128::from).collect();
    let sum: i128 = values.iter().sum();
    let answer = query(json!({
        "source": "irs_ng.form990_details", "metrics": ["s=sum:total_revenue", "a=avg:total_revenue"],
    }));
    let row = &rows(&answer)[0];
    assert_eq!(digits(&row["s"]), Some(sum.to_string()));
    let average: f64 = digits(&row["a"]).expect("average").parse().expect("number");
    let expected = sum as f64 / values.len() as f64;
    assert!((average - expected).abs() <= expected.abs() * 1e-12, "{average} {expected}");
}

#[test]
fn having_order_and_limit_apply_to_groups_in_that_sequence() {
    let relation = demo::relation("usp_cl.legislator_terms").expect("relation");
    let mut counts: std::collections::BTreeMap<&str, u64> = std::collections::BTreeMap::new();
    for row in relation.rows() {
        if let Some(state) = row.text("state") {
            *counts.entry(state).or_default() += 1;
        }
    }
    let mut expected: Vec<(&str, u64)> = counts.into_iter().filter(|(_, n)| *n >= 20).collect();
    expected.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let total = expected.len();
    let answer = query(json!({
        "source": "usp_cl.legislator_terms", "where": ["state=not.is.null"], "group_by": ["state"],
        "metrics": ["n=count:*"], "having": ["n>=20"], "order": ["n:desc"], "limit": 5,
    }));
    let found: Vec<(String, u64)> = rows(&answer)
        .iter()
        .map(|row| (row["state"].as_str().unwrap_or("").to_owned(), row["n"].as_u64().unwrap_or(0)))
        .collect();
    let wanted: Vec<(String, u64)> = expected.into_iter().take(5).map(|(s, n)| (s.to_owned(), n)).collect();
    assert_eq!(found, wanted);
    assert_eq!(answer["truncated"], total > 5);
}

#[test]
fn columns_are_select_then_filters_else_the_first_three() {
    let columns = |arguments: Value| query(arguments)["columns"].clone();
    assert_eq!(
        columns(
            json!({"source": "usp_cl.legislators", "select": ["gender"], "where": ["is_current=eq.true"], "limit": 1})
        ),
        json!(["gender", "is_current"])
    );
    let first: Vec<&str> = demo::relation("usp_cl.legislators")
        .expect("relation")
        .columns
        .iter()
        .take(3)
        .map(|c| c.name.as_str())
        .collect();
    assert_eq!(columns(json!({"source": "usp_cl.legislators", "limit": 1})), json!(first));
}

#[test]
fn a_stale_capture_is_answered_and_says_so() {
    // Pulled first: the capture must not be younger than the clock.
    let store = &fixture().store;
    let future = chrono::Utc::now() + chrono::TimeDelta::days(30);
    let mirror = open_at(store, ScanPolicy::Parity, &[], Some(FixedClock(future)));
    let arguments = object(json!({"source": "usp_cl.committees", "metrics": ["n=count:*"]}));
    let answer = block(mirror.query(arguments)).expect("answer");
    assert_eq!(answer["served"]["stale"], true);
    assert!(
        answer["warnings"][0]["message"].as_str().is_some_and(|text| text.contains("30 days")),
        "{answer}"
    );
    let past = chrono::Utc::now() - chrono::TimeDelta::days(1);
    let mirror = open_at(&fixture().store, ScanPolicy::Parity, &[], Some(FixedClock(past)));
    let arguments = object(json!({"source": "usp_cl.committees", "metrics": ["n=count:*"]}));
    let answer = block(mirror.query(arguments)).expect("answer");
    assert_eq!(answer["served"]["stale"], true, "a capture from the future isn't fresh");
}

#[test]
fn every_answer_says_where_it_comes_from() {
    let served = query(json!({"source": "usp_cl.committees", "limit": 1}))["served"].clone();
    assert_eq!(served["mode"], "local");
    assert_eq!(served["policy"], "parity");
    assert_eq!(served["capture"], "single_response");
    assert_eq!(served["verified"], "hashed");
    assert_eq!(served["stale"], false);
    for name in ["snapshot_id", "content_id", "manifest_hash"] {
        assert!(served[name].as_str().is_some_and(|text| text.len() == 64), "{name}: {served}");
    }
    let paged = query(json!({"source": "irs_ng.bmf_organizations", "limit": 1}));
    assert_eq!(paged["served"]["capture"], "counted");
    let keyless = query(json!({"source": "usaspending.all_entities", "limit": 1}));
    assert_eq!(keyless["served"]["capture"], "double_read");
}

#[test]
fn answers_stay_within_their_size_in_whole_rows() {
    let mirror = open(&fixture().store, ScanPolicy::Parity, &[("max_response_bytes", "4096")]);
    let arguments =
        object(json!({"source": "usp_cl.legislators", "limit": 1000, "select": ["official_full"]}));
    let answer = block(mirror.query(arguments)).expect("answer");
    assert!(answer.to_string().len() <= 4096);
    assert_eq!(answer["truncated_by"], "bytes");
    assert_eq!(answer["next_offset"], rows(&answer).len());
    let wide = object(
        json!({"source": "up_cdmaps.congressional_districts", "select": ["geom"], "where": ["statename=eq.Alaska"]}),
    );
    let small = open(&fixture().store, ScanPolicy::Parity, &[("max_response_bytes", "1024")]);
    let refused = crate::harness::refusal_of(block(small.query(wide))).expect_err("one row is too large");
    assert_eq!(refused.code.as_str(), "response_too_large");
}

#[test]
fn the_complete_policy_lifts_size_rules_and_says_so() {
    let arguments = json!({
        "source": "usaspending.all_entities", "group_by": ["state"], "metrics": ["n=count:*", "total=sum:total_obligation"],
    });
    assert!(try_query(arguments.clone()).is_err());
    let mirror = open(&fixture().store, ScanPolicy::Complete, &[]);
    let answer = block(mirror.query(object(arguments))).expect("answer");
    assert_eq!(answer["served"]["policy"], "complete");
    let n: u64 = rows(&answer).iter().filter_map(|row| row["n"].as_u64()).sum();
    assert_eq!(n as usize, demo::relation("usaspending.all_entities").expect("relation").rows.len());
}

#[test]
fn explain_shows_counts_plan_and_refusal_without_rows() {
    let answer = query(json!({
        "source": "usaspending.all_entities", "group_by": ["state"], "metrics": ["n=count:*"], "explain": true,
    }));
    assert_eq!(answer["explain"]["refusal"]["code"], "no_primary_key");
    assert!(answer["explain"]["logical_plan"].as_str().is_some_and(|plan| plan.contains("Aggregate")));
    assert!(answer.get("rows").is_none());
}
