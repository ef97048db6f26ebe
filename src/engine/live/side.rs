//! Which rows a side of a live join needs, and when it is refused.

use super::filters::LiveFilters;
use super::read::{fetch_bound, has_key, key_positions, tidy, undecidable};
use crate::catalog::Relation;
use crate::config::{Limits, ScanPolicy};
use crate::engine::check::{CheckedJoin, JoinSide, Predicate};
use crate::engine::refusal::Refusal;
use crate::engine::size::{Reading, check_size};

/// One side of a join as it is read: every row its filters let through.
#[derive(Debug, Clone)]
pub struct SideRead<'a> {
    /// The relation.
    pub relation: &'a Relation,
    /// Its own filters and those propagated from the other side.
    pub predicates: &'a [Predicate],
    /// Columns needed, by position.
    pub columns: Vec<usize>,
}

/// Both sides of a join, left first.
pub fn live_sides<'a>(join: &'a CheckedJoin<'_>) -> [SideRead<'a>; 2] {
    [
        read(&join.left, join.keys.iter().map(|pair| pair.left)),
        read(&join.right, join.keys.iter().map(|pair| pair.right)),
    ]
}

fn read<'a>(side: &'a JoinSide<'_>, keys: impl Iterator<Item = usize>) -> SideRead<'a> {
    let relation = side.relation;
    let mut columns = side.columns.clone();
    columns.extend(keys);
    columns.extend(side.predicates.iter().map(|predicate| predicate.column));
    match has_key(relation) {
        true => columns.extend(key_positions(relation)),
        false => columns.extend(0..relation.columns.len()),
    }
    SideRead { relation, predicates: &side.predicates, columns: tidy(columns) }
}

/// Refuses a side of which `passing` rows are let through, if they are too many to be read.
pub fn admit_side(
    side: &SideRead<'_>,
    filters: &LiveFilters,
    passing: u64,
    limits: &Limits,
) -> Result<(), Refusal> {
    match filters.widened {
        None => check_size(side.relation, passing, Reading::JoinSide, limits, ScanPolicy::Parity),
        Some(widening) if passing > fetch_bound(side.relation, limits) => {
            Err(undecidable(side.relation, widening.into(), passing, limits))
        }
        Some(_) => Ok(()),
    }
}
