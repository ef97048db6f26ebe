//! Discovery: what is shown, what is refused, no nulls anywhere.

use serde_json::{Value, json};

use crate::harness::try_discover;

fn discover(arguments: Value) -> Value {
    try_discover(arguments).expect("discovered")
}

fn sources(answer: &Value) -> Vec<&str> {
    answer["relations"].as_array().expect("relations").iter().filter_map(|r| r["source"].as_str()).collect()
}

fn assert_no_nulls(value: &Value) {
    match value {
        Value::Null => panic!("a null member"),
        Value::Array(items) => items.iter().for_each(assert_no_nulls),
        Value::Object(members) => members.values().for_each(assert_no_nulls),
        _ => {}
    }
}

#[test]
fn questions_find_their_relations() {
    for (query, source) in [
        ("legislator terms served", "usp_cl.legislator_terms"),
        ("nonprofit organizations", "irs_ng.bmf_organizations"),
        ("congressional district boundaries", "up_cdmaps.congressional_districts"),
        ("spending by district and fiscal year", "usaspending.mv_district_spending"),
    ] {
        let answer = discover(json!({"query": query}));
        assert!(sources(&answer).contains(&source), "{query}: {:?}", sources(&answer));
        assert_no_nulls(&answer);
    }
}

#[test]
fn detail_limits_and_joins() {
    let answer = discover(json!({"relation": "usaspending.all_entities", "detail": "full"}));
    assert_eq!(sources(&answer), ["usaspending.all_entities"]);
    assert_eq!(answer["relations"][0]["columns"].as_array().map(Vec::len), Some(28));
    assert_eq!(answer["relations"][0]["columns_truncated"], false);
    assert_eq!(answer["join_paths"].as_array().map(Vec::len), Some(4));
    let summary = discover(json!({"relation": "usaspending.all_entities"}));
    assert_eq!(summary["relations"][0]["columns"].as_array().map(Vec::len), Some(12));
    assert_eq!(summary["relations"][0]["columns_truncated"], true);
    let first = discover(json!({"query": "", "limit": 2}));
    assert_eq!(first["relations"].as_array().map(Vec::len), Some(2));
    assert_eq!(first["more_available"], true);
    let lineage = discover(json!({"relation": "irs_ng.form990_xml_import_log"}));
    assert_eq!(lineage["relations"][0]["queryable"], false);
    assert!(lineage["relations"][0].get("mirrored").is_none());
}

#[test]
fn unknown_names_are_refused_not_widened() {
    for (arguments, code, needle) in [
        (json!({"dataset": "usa_spending"}), "unknown_dataset", "usaspending"),
        (json!({"relation": "usp_cl.legislater"}), "unknown_relation", "usp_cl.legislators"),
        (json!({"relation": "usp_cl.legislators", "dataset": "irs_ng"}), "bad_argument", "usp_cl"),
        (json!({"query": "x", "limit": 9}), "bad_argument", "8"),
        (json!({"query": "x", "detail": "all"}), "bad_argument", "detail"),
    ] {
        let refusal = try_discover(arguments.clone()).expect_err("refused");
        assert_eq!(refusal.code.as_str(), code, "{arguments}");
        assert!(refusal.to_text().contains(needle), "{arguments}: {}", refusal.to_text());
    }
}
