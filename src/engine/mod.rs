//! A request: parse, check, refuse or plan, run on DataFusion, shape the result.
//!
//! In that order: [`request`] reads arguments, `parse` their small expressions, `check` resolves them against the
//! signed catalogue (pure), `size` decides on exact counts, `plan` builds one DataFusion plan per request shape, `run`
//! executes it under the request's bounds, `shape` writes exact rows.

mod average;
mod calendar;
mod check;
mod exact_sum;
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

pub use check::{CheckedJoin, CheckedQuery, JoinMode, QueryShape, check_join, check_query};
pub use plan::{EngineRuntime, PartFile, RelationData};
pub use refusal::{Refusal, RefusalCode};
pub use request::{JoinArguments, QueryArguments, read_arguments};
pub use run::{
    Answer, JoinSource, RunError, RunOptions, SourceReport, TruncatedBy, explain_join, explain_query,
    read_columns, read_columns_of, run_join, run_query,
};
