//! From a checked request to a DataFusion plan over a relation's rows.

mod aggregate;
mod average_function;
mod expression;
mod functions;
mod join;
mod join_key;
mod like_function;
mod padded_function;
mod pool;
mod query;
mod session;
mod statistics;
mod table;
mod top_rows;

pub(in crate::engine) use aggregate::MetricDisplay;
pub(in crate::engine) use functions::{strip_zeros, whole_double};
pub(in crate::engine) use join::{plan_join, plan_join_count};
pub(in crate::engine) use query::{
    Display, Known, Output, plan_columns, plan_columns_of, plan_count, plan_example, plan_query, plan_values,
};
pub use session::EngineRuntime;
pub use table::{PartFile, RelationData, RowSource};
pub(in crate::engine) use top_rows::TopRows;
