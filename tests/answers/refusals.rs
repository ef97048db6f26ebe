//! Refusals, two-sided: what must be refused, with its facts, and near neighbours that must be answered.

use benthic_mirror::engine::Refusal;
use serde_json::{Value, json};

use crate::harness::{query, try_query};

fn refused(arguments: Value) -> Refusal {
    match try_query(arguments.clone()) {
        Err(refusal) => refusal,
        Ok(answer) => panic!("{arguments} was answered: {answer}"),
    }
}

#[test]
fn each_malformed_request_has_its_own_code_and_a_way_out() {
    let source = "usp_cl.legislators";
    let cases = [
        (json!({"source": "nope.legislators"}), "unknown_dataset", "usp_cl"),
        (json!({"source": "usp_cl.legislator"}), "unknown_relation", "usp_cl.legislators"),
        (json!({"source": "legislators"}), "unknown_relation", "usp_cl.legislators"),
        (json!({"source": ""}), "bad_argument", "benthic_discover"),
        (json!({"source": source, "select": ["Official_Full"]}), "unknown_column", "official_full"),
        (json!({"source": source, "where": ["genders=eq.M"]}), "unknown_column", "gender"),
        (json!({"source": source, "order": ["birthdays:desc"]}), "unknown_column", "birthday"),
        (json!({"source": source, "metrics": ["n=count:birthdays"]}), "unknown_column", "birthday"),
        (
            json!({"source": source, "group_by": ["genders"], "metrics": ["n=count:*"]}),
            "unknown_column",
            "gender",
        ),
        (json!({"source": source, "wheres": []}), "bad_argument", "where"),
        (json!({"source": source, "limit": 0}), "bad_argument", "limit"),
        (json!({"source": source, "limit": 1001}), "bad_argument", "1000"),
        (json!({"source": source, "offset": -1}), "bad_argument", "offset"),
        (json!({"source": source, "where": ["gender=M"]}), "bad_filter", "gender=eq.M"),
        (json!({"source": source, "where": ["gender!=M"]}), "bad_filter", "gender=neq.M"),
        (json!({"source": source, "where": ["birthday=like.19*"]}), "bad_filter", "birthday"),
        (json!({"source": source, "where": ["fec_ids=eq.{}"]}), "bad_filter", "is.null"),
        (json!({"source": source, "where": ["birthday=eq.01/02/1960"]}), "bad_value", "YYYY-MM-DD"),
        (json!({"source": source, "where": ["govtrack_id=eq.many"]}), "bad_value", "digits"),
        (json!({"source": source, "where": ["gender=eq.null"]}), "bad_value", "is.null"),
        (json!({"source": source, "where": ["gender=in.[]"]}), "bad_value", "list"),
        (json!({"source": source, "where": ["created_at=gt.2020-01-01T00:00:00Z"]}), "bad_value", "zone"),
        (json!({"source": source, "group_by": ["gender"]}), "bad_metric", "n=count:*"),
        (json!({"source": source, "metrics": ["n=median:govtrack_id"]}), "bad_metric", "n=sum:govtrack_id"),
        (json!({"source": source, "metrics": ["n=count:*", "n=max:gender"]}), "bad_metric", "own output"),
        (json!({"source": source, "metrics": ["n=sum:gender"]}), "numeric_required", "count:gender"),
        (json!({"source": source, "metrics": ["n=count:*"], "having": ["n"]}), "bad_having", "n>=10"),
        (
            json!({"source": source, "metrics": ["m=max:gender"], "having": ["m>A"]}),
            "numeric_required",
            "m=value",
        ),
        (json!({"source": source, "having": ["n>=1"]}), "bad_having", "where"),
        (json!({"source": source, "order": ["gender:up"]}), "bad_order", "gender:desc"),
        (
            json!({"source": source, "group_by": ["gender"], "metrics": ["n=count:*"], "order": ["birthday"]}),
            "bad_order",
            "group_by",
        ),
        (json!({"source": source, "metrics": ["n=count:*"], "offset": 5}), "offset_on_aggregate", "drop"),
        (json!({"source": source, "order": ["fec_ids"]}), "not_exact", "count"),
        (json!({"source": source, "where": vec!["gender=eq.M"; 33]}), "too_many", "32"),
    ];
    for (arguments, code, needle) in cases {
        let refusal = refused(arguments.clone());
        assert_eq!(refusal.code.as_str(), code, "{arguments}: {}", refusal.to_text());
        let text = refusal.to_text();
        assert!(text.contains(needle), "{arguments}: {text}");
        assert!(refusal.next_step.is_some() && !refusal.terminal, "{arguments}: {text}");
        assert!(!refusal.facts.is_empty(), "{arguments}: {text}");
    }
}

#[test]
fn terminal_refusals_offer_no_rewording() {
    for (arguments, code) in [
        (json!({"source": "irs_ng.form990_xml_import_log"}), "not_queryable"),
        (
            json!({"source": "usaspending.all_entities", "group_by": ["state"], "metrics": ["n=count:*"]}),
            "no_primary_key",
        ),
        (
            json!({"source": "usaspending.all_entities", "metrics": ["s=sum:total_obligation"]}),
            "no_primary_key",
        ),
    ] {
        let refusal = refused(arguments);
        assert_eq!(refusal.code.as_str(), code);
        assert!(refusal.terminal && refusal.next_step.is_none());
        assert!(
            refusal.message.contains("can't be answered from the signed catalogue"),
            "{}",
            refusal.message
        );
    }
}

#[test]
fn near_neighbours_are_answered() {
    for arguments in [
        // Within one page the keyless relation can be read completely.
        json!({"source": "usaspending.all_entities", "where": ["state=eq.CO"], "group_by": ["city"], "metrics": ["s=sum:total_obligation"]}),
        json!({"source": "usaspending.all_entities", "metrics": ["n=count:*"]}),
        json!({"source": "usp_cl.legislators", "limit": 1000}),
        json!({"source": "usp_cl.legislators", "where": ["gender=eq.\"null\""]}),
        json!({"source": "usp_cl.legislators", "where": ["fec_ids=not.is.null"]}),
        json!({"source": "usp_cl.legislators", "where": vec!["gender=eq.M"; 32]}),
        json!({"source": "usp_cl.legislators", "metrics": ["m=max:gender"], "having": ["m=M"]}),
        json!({"source": "usp_cl.legislators", "where": ["created_at=gt.2020-01-01T00:00:00"]}),
        json!({"source": "usaspending.rpt.award_search", "limit": 1}),
    ] {
        query(arguments);
    }
}

#[test]
fn the_scan_limit_refuses_with_exact_counts() {
    use benthic_mirror::config::ScanPolicy;

    use crate::harness::{block, fixture, object, open, refusal_of};
    let total = benthic_mirror::demo::relation("irs_ng.bmf_organizations").expect("relation").rows.len();
    let limit = total - 1;
    let mirror = open(&fixture().store, ScanPolicy::Parity, &[("aggregate_scan_limit", &limit.to_string())]);
    let arguments =
        json!({"source": "irs_ng.bmf_organizations", "group_by": ["ntee_irs"], "metrics": ["n=count:*"]});
    let refusal = refusal_of(block(mirror.query(object(arguments.clone())))).expect_err("too many");
    assert_eq!(refusal.code.as_str(), "scan_limit");
    assert_eq!(refusal.facts["matched_rows"], total);
    assert_eq!(refusal.facts["limit"], limit);
    assert_eq!(refusal.facts["excess"], 1);
    let enough = open(&fixture().store, ScanPolicy::Parity, &[("aggregate_scan_limit", &total.to_string())]);
    block(enough.query(object(arguments))).expect("answered at the limit");
}
