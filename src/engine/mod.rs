//! A request: parse, check, refuse or plan, run on DataFusion, shape the result.
//!
//! In that order: [`request`] reads arguments, `parse` their small expressions, `check` resolves them against the
//! signed catalogue (pure), `size` decides on exact counts, [`live`] what the API is asked where rows come from there, `plan` builds one DataFusion plan per request shape, `run`
//! executes it under the request's bounds, `shape` writes exact rows.

mod average;
mod calendar;
mod check;
mod exact_sum;
pub mod live;
mod number;
mod parse;
mod plan;
mod refusal;
pub mod request;
mod run;
mod shape;
mod size;
mod value;
mod wide_sum;

pub use check::{CheckedJoin, CheckedQuery, JoinMode, Predicate, QueryShape, check_join, check_query};
pub use plan::{EngineRuntime, PartFile, RelationData, RowSource};
pub use refusal::{Refusal, RefusalCode};
pub use request::{JoinArguments, QueryArguments, read_arguments};
pub use run::{
    Answer, Coverage, JoinSource, Matched, RunError, RunOptions, SourceReport, TruncatedBy, explain_join,
    explain_query, planned_over_nothing, read_columns, read_columns_of, run_covered_query, run_join,
    run_query,
};
