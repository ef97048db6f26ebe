//! A request: parse, check, refuse or plan, run on DataFusion, shape the result.

mod average;
mod exact_sum;
mod number;
mod parse;
mod plan;
mod refusal;
mod request;
mod value;

pub use refusal::{Refusal, RefusalCode};
pub use request::{JoinArguments, QueryArguments, read_arguments};
