//! Typed tests as DataFusion expressions that mean what PostgreSQL means.

use arrow::datatypes::{DataType, i256};
use datafusion::common::{Column, ScalarValue};
use datafusion::logical_expr::expr::{InList, Like};
use datafusion::logical_expr::{Expr, Operator, binary_expr, lit};

use super::functions::{blank_trimmed, float_key, zero_stripped};
use super::like_function::ilike;
use super::padded_function::blank_padded;
use crate::catalog::ColumnType;
use crate::engine::check::{HavingCheck, Test};
use crate::engine::number::{AtScale, DecimalText};
use crate::engine::parse::Comparison;
use crate::engine::value::{Literal, max_unscaled};

/// A column by its exact name, dots and capitals included.
pub(super) fn column(name: &str) -> Expr {
    Expr::Column(Column::new_unqualified(name))
}

/// The form of a column's values in which comparing, grouping and ordering are PostgreSQL's.
pub(super) fn key(expression: Expr, column_type: &ColumnType) -> Expr {
    match column_type {
        ColumnType::Character { .. } => blank_trimmed().call(vec![expression]),
        ColumnType::Real | ColumnType::Double => float_key().call(vec![expression]),
        _ => expression,
    }
}

/// Whether values that differ may have the same key.
pub(super) fn has_key_of_its_own(column_type: &ColumnType) -> bool {
    matches!(column_type, ColumnType::Character { .. } | ColumnType::Real | ColumnType::Double)
}

/// A test on a column.
pub(super) fn test(expression: Expr, column_type: &ColumnType, stored: &DataType, test: &Test) -> Expr {
    match test {
        Test::IsNull => expression.is_null(),
        Test::IsNotNull => expression.is_not_null(),
        Test::Compare(comparison, literal) => {
            compare(key(expression, column_type), stored, *comparison, literal)
        }
        Test::In(literals) => among(key(expression, column_type), stored, literals),
        Test::Like { pattern, ignore_case } => like(expression, pattern, *ignore_case),
        Test::ZeroStripped(values) if values.is_empty() => lit(false),
        Test::ZeroStripped(values) => {
            let list = values.iter().map(|value| lit(ScalarValue::Utf8View(Some(value.clone())))).collect();
            in_list(zero_stripped().call(vec![key(expression, column_type)]), list)
        }
    }
}

/// A having test on an output column whose values are already keys. Patterns see the blanks of `character(n)`.
pub(super) fn having(
    expression: Expr,
    stored: &DataType,
    character_length: Option<u32>,
    test: &HavingCheck,
) -> Expr {
    match test {
        HavingCheck::Compare(comparison, literal) => compare(expression, stored, *comparison, literal),
        HavingCheck::In(literals) => among(expression, stored, literals),
        HavingCheck::Like { pattern, ignore_case } => {
            let shown = match character_length {
                Some(length) => blank_padded(length).call(vec![expression]),
                None => expression,
            };
            like(shown, pattern, *ignore_case)
        }
    }
}

fn like(expression: Expr, pattern: &str, ignore_case: bool) -> Expr {
    let pattern = lit(ScalarValue::Utf8View(Some(pattern.to_owned())));
    if ignore_case {
        return ilike().call(vec![expression, pattern]);
    }
    Expr::Like(Like::new(false, Box::new(expression), Box::new(pattern), None, false))
}

fn in_list(expression: Expr, list: Vec<Expr>) -> Expr {
    Expr::InList(InList::new(Box::new(expression), list, false))
}

fn among(expression: Expr, stored: &DataType, literals: &[Literal]) -> Expr {
    let list: Vec<Expr> = literals
        .iter()
        .filter_map(|literal| match place(stored, literal) {
            Place::At(value) => Some(lit(value)),
            _ => None,
        })
        .collect();
    if list.is_empty() { lit(false) } else { in_list(expression, list) }
}

/// Where a literal lies among the values a stored type can hold.
enum Place {
    /// On one of them.
    At(ScalarValue),
    /// Strictly between this one and the next larger.
    JustAbove(ScalarValue),
    /// Above all of them.
    Above,
    /// Below all of them.
    Below,
}

/// Comparison with a literal that the stored type may not be able to hold; nulls never match.
fn compare(expression: Expr, stored: &DataType, comparison: Comparison, literal: &Literal) -> Expr {
    use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    match (place(stored, literal), comparison) {
        (Place::At(value), _) => binary_expr(expression, operator(comparison), lit(value)),
        (Place::JustAbove(floor), Greater | GreaterOrEqual) => {
            binary_expr(expression, Operator::Gt, lit(floor))
        }
        (Place::JustAbove(floor), Less | LessOrEqual) => binary_expr(expression, Operator::LtEq, lit(floor)),
        (Place::Above, Less | LessOrEqual)
        | (Place::Below, Greater | GreaterOrEqual)
        | (Place::JustAbove(_) | Place::Above | Place::Below, NotEqual) => expression.is_not_null(),
        (Place::JustAbove(_) | Place::Above | Place::Below, Equal)
        | (Place::Above, Greater | GreaterOrEqual)
        | (Place::Below, Less | LessOrEqual) => lit(false),
    }
}

fn operator(comparison: Comparison) -> Operator {
    match comparison {
        Comparison::Equal => Operator::Eq,
        Comparison::NotEqual => Operator::NotEq,
        Comparison::Greater => Operator::Gt,
        Comparison::GreaterOrEqual => Operator::GtEq,
        Comparison::Less => Operator::Lt,
        Comparison::LessOrEqual => Operator::LtEq,
    }
}

fn place(stored: &DataType, literal: &Literal) -> Place {
    match literal {
        Literal::Text(text) => Place::At(ScalarValue::Utf8View(Some(text.clone()))),
        Literal::Boolean(flag) => Place::At(ScalarValue::Boolean(Some(*flag))),
        Literal::Double(value) => Place::At(ScalarValue::Float64(Some(*value))),
        Literal::Real(value) => Place::At(ScalarValue::Float32(Some(*value))),
        Literal::Date(days) => Place::At(ScalarValue::Date32(Some(*days))),
        Literal::Timestamp(micros) => Place::At(ScalarValue::TimestampMicrosecond(Some(*micros), None)),
        Literal::TimestampTz(micros) => {
            Place::At(ScalarValue::TimestampMicrosecond(Some(*micros), Some("UTC".into())))
        }
        Literal::AboveAllDecimals => Place::Above,
        Literal::BelowAllDecimals => Place::Below,
        Literal::Integer(value) => match DecimalText::parse(&value.to_string()) {
            Some(value) => place_decimal(stored, &value),
            None => Place::Above,
        },
        Literal::Decimal(value) => place_decimal(stored, value),
    }
}

fn place_decimal(stored: &DataType, value: &DecimalText) -> Place {
    // An average, which may have more digits than any decimal type.
    if *stored == DataType::BinaryView {
        return Place::At(ScalarValue::BinaryView(Some(value.to_sortable())));
    }
    let (scale, limit) = match stored {
        DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale) => {
            (*scale, max_unscaled(*precision))
        }
        DataType::Int32 => (0, i256::from(i32::MAX)),
        _ => (0, i256::from(i64::MAX)),
    };
    let (unscaled, exact) = match value.at_scale(scale) {
        AtScale::Exact(unscaled) => (unscaled, true),
        AtScale::Above(unscaled) => (unscaled, false),
        AtScale::TooLarge => return Place::Above,
        AtScale::TooSmall => return Place::Below,
    };
    // The most negative integer is one below the negated maximum; decimals are symmetric.
    let lowest = match stored {
        DataType::Decimal128(..) | DataType::Decimal256(..) => limit.wrapping_neg(),
        _ => limit.wrapping_neg().wrapping_sub(i256::ONE),
    };
    if unscaled > limit {
        return Place::Above;
    }
    if unscaled < lowest {
        return Place::Below;
    }
    match scalar(stored, unscaled) {
        Some(scalar) if exact => Place::At(scalar),
        Some(scalar) => Place::JustAbove(scalar),
        None => Place::Above,
    }
}

fn scalar(stored: &DataType, unscaled: i256) -> Option<ScalarValue> {
    Some(match stored {
        DataType::Decimal128(precision, scale) => {
            ScalarValue::Decimal128(Some(unscaled.to_i128()?), *precision, *scale)
        }
        DataType::Decimal256(precision, scale) => ScalarValue::Decimal256(Some(unscaled), *precision, *scale),
        DataType::Int32 => ScalarValue::Int32(Some(i32::try_from(unscaled.to_i128()?).ok()?)),
        _ => ScalarValue::Int64(Some(i64::try_from(unscaled.to_i128()?).ok()?)),
    })
}
