//! Which rows a live query needs, and when it is refused.

use super::filters::{LiveFilters, Widening};
use crate::catalog::{ColumnType, Relation};
use crate::config::{Limits, ScanPolicy};
use crate::engine::check::{CheckedQuery, OrderTerm, QueryShape};
use crate::engine::parse::{Direction, Function};
use crate::engine::refusal::{Refusal, RefusalCode};
use crate::engine::size::{Reading, check_size};
use crate::postgrest::Order;

/// How the rows of a live query are read. Columns are positions in the relation.
#[derive(Debug, Clone, PartialEq)]
pub enum LiveRead {
    /// Every row the filters let through; then the plan runs as over a snapshot.
    All {
        /// Columns needed.
        columns: Vec<usize>,
    },
    /// The rows asked for, in the completed order, which the server decides as the mirror would.
    Page {
        /// Columns needed.
        columns: Vec<usize>,
        /// The completed order.
        order: Vec<Order>,
    },
    /// One row of counts, smallest and largest values: a probe for each metric.
    Probes {
        /// Columns every probe's row must have.
        columns: Vec<usize>,
        /// By metric.
        probes: Vec<Probe>,
    },
}

/// One question whose answer is one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    /// How many rows pass.
    Count,
    /// How many of them have a value in this column.
    CountPresent(usize),
    /// The smallest value of this column.
    Smallest(usize),
    /// The largest value of this column.
    Largest(usize),
}

/// What needs no count: live pages of rows without a key can't follow each other.
pub fn check_live_query(query: &CheckedQuery<'_>) -> Result<(), Refusal> {
    if query.offset == 0 || has_key(query.relation) {
        return Ok(());
    }
    let source = query.relation.source();
    Err(Refusal::new(
        RefusalCode::BadArgument,
        format!("`{source}` declares no primary key, so live pages of it can't follow each other."),
    )
    .fact("argument", "offset")
    .fact("offset", query.offset)
    .fact("source", source)
    .next("leave `offset` out and narrow the filters instead"))
}

/// Rows one bounded read may bring: what aggregates may scan, or one page where pages can't follow each other.
pub fn fetch_bound(relation: &Relation, limits: &Limits) -> u64 {
    if relation.primary_key.is_empty() { limits.max_rows } else { limits.aggregate_scan_limit }
}

/// How to read a query's rows when the filters let `passing` through. The order of decisions is the local one: size
/// where all rows are needed, then what the server would decide by other rules.
pub fn live_read(
    query: &CheckedQuery<'_>,
    filters: &LiveFilters,
    passing: u64,
    limits: &Limits,
) -> Result<LiveRead, Refusal> {
    let relation = query.relation;
    let reads_all = matches!(query.shape, QueryShape::Aggregate { .. }) && !query.is_one_row();
    if reads_all && filters.widened.is_none() {
        check_size(relation, passing, Reading::Aggregate, limits, ScanPolicy::Parity)?;
    }
    let fits = passing <= fetch_bound(relation, limits);
    let refused = |why| undecidable(relation, why, passing, limits);
    if let Some(widening) = filters.widened
        && !fits
    {
        return Err(refused(widening.into()));
    }
    let columns = needed_columns(query);
    let decided_here = filters.widened.is_some();
    match &query.shape {
        QueryShape::Rows { order, .. } => {
            let completed = completed_terms(relation, order);
            let why = match (by_collation(relation, &completed), ties_may_differ(relation)) {
                (true, _) => Some(Undecidable::Collation("an order by text")),
                (false, true) => Some(Undecidable::Ties),
                (false, false) => None,
            };
            match why {
                Some(why) if !fits => Err(refused(why)),
                None if !decided_here => {
                    let order = completed.iter().filter_map(|term| order_of(relation, term)).collect();
                    Ok(LiveRead::Page { columns, order })
                }
                _ => Ok(LiveRead::All { columns }),
            }
        }
        QueryShape::Aggregate { metrics, .. } if query.is_one_row() => {
            let text_extreme = metrics.iter().any(|metric| {
                let is_text = metric
                    .column
                    .and_then(|at| relation.columns.get(at))
                    .is_some_and(|column| column.column_type.is_text());
                metric.function != Function::Count && is_text
            });
            if text_extreme && !fits {
                return Err(refused(Undecidable::Collation("the smallest or largest text")));
            }
            if decided_here || text_extreme {
                return Ok(LiveRead::All { columns });
            }
            let probe = |function, column| match (function, column) {
                (_, None) => Probe::Count,
                (Function::Min, Some(column)) => Probe::Smallest(column),
                (Function::Max, Some(column)) => Probe::Largest(column),
                (_, Some(column)) => Probe::CountPresent(column),
            };
            let probes = metrics.iter().map(|metric| probe(metric.function, metric.column)).collect();
            Ok(LiveRead::Probes { columns, probes })
        }
        QueryShape::Aggregate { .. } => Ok(LiveRead::All { columns }),
    }
}

/// What the server would decide by other rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Undecidable {
    Collation(&'static str),
    LeadingZeros,
    SpecialNumber,
    TooLong,
    /// Rows that tie in everything the server orders by may differ in the rest.
    Ties,
}

impl From<Widening> for Undecidable {
    fn from(widening: Widening) -> Self {
        match widening {
            Widening::Collation => Self::Collation("a range of text or a pattern without regard to case"),
            Widening::LeadingZeros => Self::LeadingZeros,
            Widening::SpecialNumber => Self::SpecialNumber,
            Widening::TooLong => Self::TooLong,
        }
    }
}

/// The refusal where more rows may match than one bounded read brings.
pub(super) fn undecidable(relation: &Relation, why: Undecidable, passing: u64, limits: &Limits) -> Refusal {
    let source = relation.source();
    let bound = fetch_bound(relation, limits);
    let (code, what) = match why {
        Undecidable::Collation(what) => (RefusalCode::CollationUnknown, what),
        Undecidable::LeadingZeros => {
            (RefusalCode::CollationUnknown, "a key compared without its leading zeros")
        }
        Undecidable::SpecialNumber => {
            (RefusalCode::NotExact, "a comparison with NaN or an infinity in a decimal column")
        }
        Undecidable::TooLong => (RefusalCode::TooMany, "a condition too long for one live request"),
        Undecidable::Ties => {
            (RefusalCode::NoPrimaryKey, "an order that leaves rows equal, without a primary key,")
        }
    };
    Refusal::new(
        code,
        format!(
            "{what} is decided here rather than by the server, which takes all the rows of `{source}` that may match: {passing}, of which one live read brings at most {bound}.",
        ),
    )
    .fact("source", source.as_str())
    .fact("candidate_rows", passing)
    .fact("limit", bound)
    .next(format!(
        "add a filter that leaves fewer rows (equality, a number or a date), or mirror the relation: `benthic-mirror sync --relation {source}`"
    ))
}

/// The order asked for, completed by the primary key, else by every orderable column.
pub(super) fn completed_terms(relation: &Relation, order: &[OrderTerm]) -> Vec<OrderTerm> {
    let mut completion = key_positions(relation);
    if !has_key(relation) {
        let is_orderable =
            |at: &usize| relation.columns.get(*at).is_some_and(|column| column.column_type.is_orderable());
        completion.extend((0..relation.columns.len()).filter(is_orderable));
    }
    let completion =
        completion.into_iter().map(|column| OrderTerm { column, direction: Direction::Ascending });
    let mut terms: Vec<OrderTerm> = Vec::new();
    for term in order.iter().copied().chain(completion) {
        if terms.iter().all(|earlier| earlier.column != term.column) {
            terms.push(term);
        }
    }
    terms
}

/// Whether a primary key is declared and granted in full.
pub fn has_key(relation: &Relation) -> bool {
    let granted = |name: &String| relation.column(name).is_some();
    !relation.primary_key.is_empty() && relation.primary_key.iter().all(granted)
}

/// Positions of the primary key's columns that are granted.
pub(super) fn key_positions(relation: &Relation) -> Vec<usize> {
    let position = |name: &String| relation.column(name).map(|(position, _)| position);
    relation.primary_key.iter().filter_map(position).collect()
}

fn by_collation(relation: &Relation, terms: &[OrderTerm]) -> bool {
    terms
        .iter()
        .filter_map(|term| relation.columns.get(term.column))
        .any(|column| column.column_type.is_text())
}

/// Whether rows equal in every term of a keyless order may yet be different rows.
fn ties_may_differ(relation: &Relation) -> bool {
    !has_key(relation)
        && relation.columns.iter().any(|column| {
            let own_key = matches!(
                column.column_type,
                ColumnType::Character { .. } | ColumnType::Real | ColumnType::Double
            );
            own_key || !column.column_type.is_orderable()
        })
}

fn order_of(relation: &Relation, term: &OrderTerm) -> Option<Order> {
    Some(Order {
        column: relation.columns.get(term.column)?.name.clone(),
        descending: term.direction == Direction::Descending,
        nulls_first: false,
    })
}

/// Columns a live read must bring: what is filtered, returned, grouped, computed or ordered by, and the key. Without a
/// key every column, since every one orders the rows.
fn needed_columns(query: &CheckedQuery<'_>) -> Vec<usize> {
    let relation = query.relation;
    let mut columns: Vec<usize> = query.predicates.iter().map(|predicate| predicate.column).collect();
    match &query.shape {
        QueryShape::Rows { .. } if !has_key(relation) => columns.extend(0..relation.columns.len()),
        QueryShape::Rows { columns: selected, order } => {
            columns.extend(selected);
            columns.extend(completed_terms(relation, order).iter().map(|term| term.column));
        }
        QueryShape::Aggregate { groups, metrics, .. } => {
            columns.extend(groups);
            columns.extend(metrics.iter().filter_map(|metric| metric.column));
            columns.extend(key_positions(relation));
        }
    }
    tidy(columns)
}

/// Sorted, each once, at least one: an empty list would ask for every column the server has.
pub(super) fn tidy(mut columns: Vec<usize>) -> Vec<usize> {
    columns.sort_unstable();
    columns.dedup();
    if columns.is_empty() {
        columns.push(0);
    }
    columns
}
