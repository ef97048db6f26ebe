//! Every code is refused somewhere in this binary, or stands here with the reason why it can't be yet.

use std::collections::{BTreeMap, BTreeSet};

use crate::case::{Case, MUST_CARRY};
use crate::{joins, places, queries, sizes, staged};

/// Codes of the specification that no question can meet so far.
const NOT_YET: &[(&str, &str)] = &[
    ("out_of_scope", "captures are whole; filtered ones aren't built"),
    ("snapshot_stale", "stale snapshots answer with a warning; refusing them isn't built"),
    ("upstream_failed", "needs a live answer; covered where those are tested"),
    ("collation_unknown", "needs a live answer; covered where those are tested"),
    ("unknown_pin", "pins aren't built"),
];

/// The codes the engine knows. The match that writes them is exhaustive, so no variant is missing there.
fn known_codes() -> BTreeSet<String> {
    let source =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/engine/refusal.rs")).unwrap();
    source
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Self::")?.split_once(" => \""))
        .filter_map(|(_, code)| code.strip_suffix("\","))
        .map(str::to_owned)
        .collect()
}

fn all_cases() -> Vec<Case> {
    [queries::cases(), joins::cases(), sizes::cases(), places::cases()].into_iter().flatten().collect()
}

#[test]
fn every_code_is_refused_here_or_listed_with_a_reason() {
    let known = known_codes();
    assert!(known.len() > 25, "the codes weren't found in the source: {known:?}");
    let mut covered: BTreeMap<&str, usize> = BTreeMap::new();
    for case in all_cases() {
        *covered.entry(case.code).or_default() += 1;
    }
    for staged in staged::STAGED {
        *covered.entry(staged.code).or_default() += 1;
    }
    let not_yet: BTreeSet<&str> = NOT_YET.iter().map(|(code, _)| *code).collect();
    for code in &known {
        let is_covered = covered.contains_key(code.as_str());
        assert!(is_covered || not_yet.contains(code.as_str()), "no case refuses with {code}: {covered:?}");
        assert!(!is_covered || !not_yet.contains(code.as_str()), "{code} is covered; take it off the list");
    }
    for (code, _) in MUST_CARRY {
        assert!(known.contains(*code), "MUST_CARRY has {code}, which the engine doesn't know");
    }
}
