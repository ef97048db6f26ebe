//! Aggregates that can't wrap, round early or depend on order.

use arrow::datatypes::DataType;
use datafusion::common::{Result, plan_err};
use datafusion::functions_aggregate::expr_fn::{count, max, min, sum};
use datafusion::logical_expr::{Expr, cast, lit};

use super::average_function::average;
use super::expression::{column, key};
use crate::catalog::{ColumnType, Relation};
use crate::engine::check::Metric;
use crate::engine::exact_sum::{FloatResult, exact_sum_function};
use crate::engine::parse::Function;
use crate::engine::wide_sum::wide_sum_function;

/// A metric as planned: what is aggregated, and how the output column is made from that.
pub(super) struct PlannedMetric {
    /// Aggregate expressions, aliased.
    pub(super) aggregates: Vec<Expr>,
    /// The output value, over the aliases.
    pub(super) output: Expr,
    /// How the output is shown.
    pub(super) display: MetricDisplay,
}

/// How a metric's output is shown.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::engine) enum MetricDisplay {
    /// A count.
    Count,
    /// A value of a column (min, max).
    Value(ColumnType),
    /// An exact sum with this many digits after the point, or as few as it needs.
    ExactSum(Option<usize>),
    /// A double.
    Double,
    /// A real.
    Real,
    /// PostgreSQL's numeric average, from the exact sum and count carried in two hidden columns.
    Average {
        /// Alias of the sum.
        sum: String,
        /// Alias of the count.
        count: String,
        /// Display scale of the sum.
        scale: usize,
    },
}

/// Plans the n-th metric over a relation stored with these types.
pub(super) fn plan_metric(
    relation: &Relation,
    stored: impl Fn(usize) -> Result<DataType>,
    index: usize,
    metric: &Metric,
) -> Result<PlannedMetric> {
    let alias = format!("m{index}");
    let Some(position) = metric.column else {
        return Ok(PlannedMetric {
            aggregates: vec![count(lit(1_i64)).alias(&alias)],
            output: column(&alias),
            display: MetricDisplay::Count,
        });
    };
    let declared = &relation.columns[position];
    let column_type = &declared.column_type;
    let value = column(&declared.name);
    let is_float = matches!(column_type, ColumnType::Real | ColumnType::Double);
    let float =
        |result| exact_sum_function(result).call(vec![cast(column(&declared.name), DataType::Float64)]);
    let single = |aggregate: Expr, output: Expr, display: MetricDisplay| PlannedMetric {
        aggregates: vec![aggregate.alias(&alias)],
        output,
        display,
    };
    Ok(match metric.function {
        Function::Count => single(count(value), column(&alias), MetricDisplay::Count),
        Function::Min => {
            single(min(key(value, column_type)), column(&alias), MetricDisplay::Value(column_type.clone()))
        }
        Function::Max => {
            single(max(key(value, column_type)), column(&alias), MetricDisplay::Value(column_type.clone()))
        }
        Function::Sum if *column_type == ColumnType::Real => {
            single(float(FloatResult::Real), column(&alias), MetricDisplay::Real)
        }
        Function::Sum if *column_type == ColumnType::Double => {
            single(float(FloatResult::Double), column(&alias), MetricDisplay::Double)
        }
        Function::Avg if is_float => single(float(FloatResult::Mean), column(&alias), MetricDisplay::Double),
        Function::Sum => {
            let (wide, scale) = wide_sum(value, &stored(position)?)?;
            let shown = match column_type {
                ColumnType::Numeric { declared: None } => None,
                _ => Some(scale),
            };
            single(wide, column(&alias), MetricDisplay::ExactSum(shown))
        }
        Function::Avg => {
            let (wide, scale) = wide_sum(value.clone(), &stored(position)?)?;
            let (sum_alias, count_alias) = (format!("{alias}_sum"), format!("{alias}_count"));
            PlannedMetric {
                aggregates: vec![wide.alias(&sum_alias), count(value).alias(&count_alias)],
                output: average(scale).call(vec![column(&sum_alias), column(&count_alias)]),
                display: MetricDisplay::Average { sum: sum_alias, count: count_alias, scale },
            }
        }
    })
}

/// A sum in a type no capture's rows can overflow: 38 digits for integers and 18-digit decimals (10^20 rows), 76 for
/// 38-digit decimals (10^38 rows). Wider columns are added with a check that fails rather than wraps.
fn wide_sum(value: Expr, stored: &DataType) -> Result<(Expr, usize)> {
    Ok(match stored {
        DataType::Int32 | DataType::Int64 => (sum(cast(value, DataType::Decimal128(38, 0))), 0),
        DataType::Decimal128(precision, scale) if *precision <= 18 => {
            (sum(cast(value, DataType::Decimal128(38, *scale))), usize::try_from(*scale).unwrap_or(0))
        }
        DataType::Decimal128(_, scale) => {
            (sum(cast(value, DataType::Decimal256(76, *scale))), usize::try_from(*scale).unwrap_or(0))
        }
        DataType::Decimal256(_, scale) => {
            (wide_sum_function().call(vec![value]), usize::try_from(*scale).unwrap_or(0))
        }
        other => return plan_err!("no exact sum over {other}"),
    })
}
