//! Which questions are too large to answer, decided on exact counts. Pure.

use super::refusal::{Refusal, RefusalCode};
use crate::catalog::Relation;
use crate::config::{Limits, ScanPolicy};

/// What reads a whole relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// A grouped, summed or averaged aggregate.
    Aggregate,
    /// One side of a join.
    JoinSide,
}

/// Refuses what the upstream server can't read completely; `complete` lifts this for a complete local capture, since
/// the cause is absent there.
pub(super) fn check_size(
    relation: &Relation,
    matched_rows: u64,
    reading: Reading,
    limits: &Limits,
    policy: ScanPolicy,
) -> Result<(), Refusal> {
    if policy == ScanPolicy::Complete {
        return Ok(());
    }
    let source = relation.source();
    let what = match reading {
        Reading::Aggregate => "this aggregate",
        Reading::JoinSide => "this side of the join",
    };
    if relation.primary_key.is_empty() && matched_rows > limits.max_rows {
        return Err(Refusal::new(
            RefusalCode::NoPrimaryKey,
            format!(
                "`{source}` declares no primary key and {matched_rows} rows match, more than one page of {}; {what} can't be read completely, and no sequence of calls adds up to it. A different question matching at most {} rows is answerable, as is count, min or max without group_by.",
                limits.max_rows, limits.max_rows
            ),
        )
        .fact("source", source)
        .fact("matched_rows", matched_rows)
        .fact("max_rows", limits.max_rows)
        .terminal());
    }
    if matched_rows > limits.aggregate_scan_limit {
        return Err(Refusal::new(
            RefusalCode::ScanLimit,
            format!(
                "{matched_rows} rows of `{source}` match; {what} reads at most {}.",
                limits.aggregate_scan_limit
            ),
        )
        .fact("source", source)
        .fact("matched_rows", matched_rows)
        .fact("limit", limits.aggregate_scan_limit)
        .fact("excess", matched_rows - limits.aggregate_scan_limit)
        .fact("narrowing_can_help", true)
        .next("add a filter that leaves fewer rows; count, min and max without group_by are answered at any size"));
    }
    Ok(())
}

/// Refuses a join that has more rows than one answer may hold.
pub(super) fn check_joined(joined_rows: u64, limits: &Limits) -> Result<(), Refusal> {
    if joined_rows <= limits.max_rows {
        return Ok(());
    }
    Err(Refusal::new(
        RefusalCode::JoinTooWide,
        format!("the join has {joined_rows} rows; at most {} can be returned.", limits.max_rows),
    )
    .fact("joined_rows", joined_rows)
    .fact("limit", limits.max_rows)
    .next(
        "add a filter to left_where or right_where, or answer with an aggregate on one side (benthic_query)",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::testing;

    fn relation(primary_key: &[&str]) -> Relation {
        Relation {
            primary_key: primary_key.iter().map(|name| (*name).to_owned()).collect(),
            ..testing::relation("d", "r", &[])
        }
    }

    #[test]
    fn each_rule_refuses_just_beyond_its_limit() {
        let limits = Limits::default();
        let code = |keys: &[&str], rows, policy| {
            check_size(&relation(keys), rows, Reading::Aggregate, &limits, policy)
                .err()
                .map(|r| (r.code, r.terminal))
        };
        assert_eq!(code(&["id"], 10_000, ScanPolicy::Parity), None);
        assert_eq!(code(&["id"], 10_001, ScanPolicy::Parity), Some((RefusalCode::ScanLimit, false)));
        assert_eq!(code(&[], 1_000, ScanPolicy::Parity), None);
        assert_eq!(code(&[], 1_001, ScanPolicy::Parity), Some((RefusalCode::NoPrimaryKey, true)));
        assert_eq!(code(&[], 20_000, ScanPolicy::Parity), Some((RefusalCode::NoPrimaryKey, true)));
        assert_eq!(code(&[], 20_000, ScanPolicy::Complete), None);
        assert!(check_joined(1_000, &limits).is_ok());
        assert!(check_joined(1_001, &limits).is_err_and(|r| r.facts["joined_rows"] == 1_001));
    }
}
