//! A server that fails, changes or cuts: a refusal that says so, or the right answer; never another number.

use std::sync::Arc;

use benthic_mirror::app::AppError;
use benthic_mirror::demo::origin::{Fault, FaultRule, Occurrence, OriginOptions};
use benthic_mirror::demo::questions::Tool;
use benthic_mirror::engine::Refusal;
use serde_json::{Value, json};

use super::compare::{Verdict, verdict};
use super::{ask, live, origin};
use crate::harness::{fixture, object};

/// A relation of several pages, with a number as key.
const TERMS: &str = "/usp_cl/legislator_terms";

/// Needs every row.
fn total() -> Value {
    json!({"source": "usp_cl.legislator_terms", "group_by": ["state"],
           "metrics": ["n=count:*", "s=sum:term_id", "first=min:term_start"], "limit": 1000})
}

/// One page.
fn some() -> Value {
    json!({"source": "usp_cl.legislator_terms", "where": ["term_id>10"], "limit": 50, "offset": 7})
}

/// Three counts and two rows.
fn extremes() -> Value {
    json!({"source": "usp_cl.legislator_terms",
           "metrics": ["n=count:*", "d=count:district", "lo=min:term_id", "hi=max:term_start"]})
}

fn with(faults: Vec<FaultRule>, arguments: Value) -> Result<Value, AppError> {
    let origin = origin(OriginOptions::default());
    for fault in faults {
        origin.add_fault(fault);
    }
    ask(&live(&origin, &[]), Tool::Query, object(arguments))
}

fn refused(faults: Vec<FaultRule>, arguments: &Value) -> Refusal {
    match with(faults, arguments.clone()) {
        Err(AppError::Refused(refusal)) => *refusal,
        other => panic!("{arguments}: {other:?}"),
    }
}

/// The answer is the local one.
fn right(faults: Vec<FaultRule>, arguments: &Value) {
    let local = ask(&fixture().mirror, Tool::Query, object(arguments.clone()));
    let verdict = verdict(&local, &with(faults, arguments.clone()), &[]);
    assert!(matches!(verdict, Verdict::Answered), "{arguments}: {verdict:?}");
}

fn get(occurrence: Occurrence, fault: Fault) -> FaultRule {
    FaultRule::new(TERMS, occurrence, fault).method("GET")
}

fn head(occurrence: Occurrence, fault: Fault) -> FaultRule {
    FaultRule::new(TERMS, occurrence, fault).method("HEAD")
}

#[test]
fn a_failing_server_is_a_refusal_that_names_its_status_and_code() {
    for arguments in [total(), some(), extremes()] {
        for rule in [get, head] {
            let fault = Fault::api_error(500, "XX000", "something broke");
            let refusal = refused(vec![rule(Occurrence::Always, fault)], &arguments);
            assert_eq!(refusal.code.as_str(), "upstream_failed");
            assert_eq!(refusal.facts["status"], 500);
            assert_eq!(refusal.facts["source"], "usp_cl.legislator_terms");
            assert!(refusal.next_step.is_some() && !refusal.terminal);
        }
        let fault = Fault::api_error(500, "XX000", "something broke");
        let refusal = refused(vec![get(Occurrence::Always, fault)], &arguments);
        assert_eq!(refusal.facts["postgrest_code"], "XX000");
    }
}

#[test]
fn a_passing_failure_leaves_no_trace() {
    for arguments in [total(), some(), extremes()] {
        right(vec![get(Occurrence::First(1), Fault::gateway(503, None))], &arguments);
        right(vec![head(Occurrence::First(1), Fault::gateway(502, None))], &arguments);
        right(vec![get(Occurrence::First(1), Fault::TruncatedBody { after_bytes: 20 })], &arguments);
        right(vec![get(Occurrence::First(1), Fault::ResetMidBody { after_bytes: 20 })], &arguments);
    }
}

#[test]
fn a_broken_answer_is_refused() {
    let elsewhere = Fault::ReplaceBody(br#"[{"term_id": "one"}]"#.to_vec());
    for arguments in [total(), some(), extremes()] {
        for fault in [
            Fault::CutBody { after_bytes: 40 },
            Fault::TruncatedBody { after_bytes: 40 },
            Fault::ContentType("text/html".to_owned()),
            Fault::ReplaceBody(b"{}".to_vec()),
            elsewhere.clone(),
            Fault::Redirect { status: 302, location: "https://elsewhere.example/".to_owned() },
        ] {
            let refusal = refused(vec![get(Occurrence::Always, fault.clone())], &arguments);
            assert_eq!(refusal.code.as_str(), "upstream_failed", "{fault:?}");
        }
        // A page that claims to be empty.
        let refusal = refused(vec![get(Occurrence::Always, Fault::ReplaceBody(b"[]".to_vec()))], &arguments);
        assert_eq!(refusal.code.as_str(), "upstream_failed");
        for value in [None, Some("0-9/*".to_owned())] {
            let fault = Fault::Header { name: "content-range".to_owned(), value };
            let refusal = refused(vec![head(Occurrence::Always, fault)], &arguments);
            assert_eq!(refusal.code.as_str(), "upstream_failed");
        }
    }
}

#[test]
fn a_value_of_another_type_is_refused_with_its_place() {
    let arguments = json!({"source": "usp_cl.legislator_terms", "select": ["term_id"], "limit": 5});
    let body = br#"[{"term_id":1},{"term_id":1.5}]"#.to_vec();
    let refusal = refused(vec![get(Occurrence::Always, Fault::ReplaceBody(body))], &arguments);
    assert_eq!(refusal.code.as_str(), "upstream_failed");
    assert!(refusal.message.contains("term_id") && refusal.message.contains("1.5"), "{}", refusal.message);
}

#[test]
fn rows_that_change_while_they_are_read_are_refused_with_the_counts() {
    let shrink = || {
        Fault::MutateRows(Arc::new(|data| {
            data.relation_mut("usp_cl.legislator_terms").expect("terms").rows.pop();
        }))
    };
    let grow = || {
        Fault::MutateRows(Arc::new(|data| {
            let rows = &mut data.relation_mut("usp_cl.legislator_terms").expect("terms").rows;
            let mut row = rows[0].clone();
            row[0] = benthic_mirror::demo::DemoValue::Int(1_000_000);
            rows.push(row);
        }))
    };
    for fault in [shrink, grow] as [fn() -> Fault; 2] {
        // Before the first page, between pages, and before the last count.
        for rule in [
            get(Occurrence::Nth(1), fault()),
            get(Occurrence::Nth(2), fault()),
            head(Occurrence::Nth(2), fault()),
        ] {
            let refusal = refused(vec![rule.clone()], &total());
            assert_eq!(refusal.code.as_str(), "upstream_failed", "{rule:?}");
            assert!(refusal.message.contains("changed"), "{}", refusal.message);
            assert_eq!(refusal.facts["count_before"], 1654);
        }
        let refusal = refused(vec![get(Occurrence::Nth(1), fault())], &some());
        assert_eq!(refusal.code.as_str(), "upstream_failed");
        assert_ne!(refusal.facts["count_after"], refusal.facts["count_before"]);
    }
}

#[test]
fn a_server_that_caps_pages_gives_the_same_answers() {
    for rows in [1_000, 400, 7, 1] {
        for arguments in [some(), extremes()] {
            right(vec![get(Occurrence::Always, Fault::PageCap(rows))], &arguments);
            right(vec![get(Occurrence::Always, Fault::TimeoutAbove { rows })], &arguments);
        }
    }
    for rows in [1_000, 400, 90] {
        right(vec![get(Occurrence::Always, Fault::PageCap(rows))], &total());
        right(vec![get(Occurrence::Always, Fault::TimeoutAbove { rows })], &total());
    }
}

#[test]
fn without_a_key_a_capped_page_is_refused() {
    let arguments =
        json!({"source": "usaspending.state_data", "group_by": ["type"], "metrics": ["n=count:*"]});
    let rule =
        FaultRule::new("/usaspending/state_data", Occurrence::Always, Fault::PageCap(100)).method("GET");
    let refusal = refused(vec![rule], &arguments);
    assert_eq!(refusal.code.as_str(), "upstream_failed");
    assert_eq!((&refusal.facts["rows"], &refusal.facts["matched_rows"]), (&json!(100), &json!(416)));
    right(Vec::new(), &arguments);
}

#[test]
fn rows_that_dont_pass_their_filters_are_refused() {
    // A server that ignores what it is asked.
    let fault = Fault::ReplaceBody(br#"[{"term_id":3},{"term_id":12}]"#.to_vec());
    let arguments = json!({"source": "usp_cl.legislator_terms", "where": ["term_id=in.[12,13]"], "limit": 5});
    let refusal = refused(vec![get(Occurrence::Always, fault)], &arguments);
    assert_eq!(refusal.code.as_str(), "upstream_failed");
    assert_eq!((&refusal.facts["rows"], &refusal.facts["passing_rows"]), (&json!(2), &json!(1)));
}
