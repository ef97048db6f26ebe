//! Resolves a request against the signed catalogue. Pure: (catalogue, request, limits) in, checked request or refusal
//! out. Nothing here knows where rows come from.

mod columns;
mod filters;
mod join;
mod query;
mod source;

pub(crate) use filters::digits_of;
pub use join::{CheckedJoin, JoinMode, check_join};
pub(crate) use join::{JoinSide, KeyComparison};
pub(crate) use query::{AggregateOrder, Having, HavingCheck, Metric, OrderTerm, OutputColumn};
pub use query::{CheckedQuery, QueryShape, check_query};

use super::parse::Comparison;
use super::value::Literal;

/// A filter resolved to a column position and typed values.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicate {
    /// Position of the column in the relation.
    pub column: usize,
    /// The test.
    pub test: Test,
    /// Values asked for by `eq` or `in` on a text column that were written as bare numbers, without quotes.
    pub bare_numbers: Vec<String>,
}

/// A typed test.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// Comparison with one value.
    Compare(Comparison, Literal),
    /// Membership; at least one value.
    In(Vec<Literal>),
    /// Pattern with `%`, `_` and `\` as SQL has them.
    Like {
        /// The pattern.
        pattern: String,
        /// Whether case is ignored.
        ignore_case: bool,
    },
    /// The value without leading zeros is one of these; an empty list matches nothing.
    ZeroStripped(Vec<String>),
    /// Missing.
    IsNull,
    /// Present.
    IsNotNull,
}
