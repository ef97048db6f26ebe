//! The form in which the two columns of a key pair are compared, so that equal means what it means in PostgreSQL.
//!
//! Left to itself DataFusion would compare a decimal with a double as decimals, and fail on NaN, infinities and large
//! values; and it has no common type for decimals of which one has many digits before and the other after the point.

use arrow::datatypes::DataType;
use datafusion::logical_expr::{Expr, cast};

use super::expression::{column, key};
use super::functions::{decimal_double, decimal_text, float_key, zero_stripped};
use crate::catalog::Column;
use crate::engine::check::KeyComparison;

/// How both sides of a pair are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KeyForm {
    /// As the column's own key.
    Own,
    /// Cast to a type that holds every value of both.
    Common(DataType),
    /// As shortest digits: no decimal type holds both.
    Digits,
    /// As the nearest double: one of them is a float.
    Double,
    /// As a plain integer without leading zeros.
    ZeroStripped,
}

impl KeyForm {
    /// The form for columns stored as these types.
    pub(super) fn of(comparison: KeyComparison, left: &DataType, right: &DataType) -> Self {
        match comparison {
            KeyComparison::ZeroStripped => Self::ZeroStripped,
            KeyComparison::Text | KeyComparison::SameType => Self::Own,
            KeyComparison::Number if left == right => Self::Own,
            KeyComparison::Number => match (digits(left), digits(right)) {
                (Some((left_integer, left_scale)), Some((right_integer, right_scale))) => {
                    let scale = left_scale.max(right_scale);
                    let precision = left_integer.max(right_integer) + scale;
                    match (u8::try_from(precision), i8::try_from(scale)) {
                        (Ok(precision @ 1..=38), Ok(scale)) => {
                            Self::Common(DataType::Decimal128(precision, scale))
                        }
                        (Ok(precision @ 39..=76), Ok(scale)) => {
                            Self::Common(DataType::Decimal256(precision, scale))
                        }
                        _ => Self::Digits,
                    }
                }
                _ => Self::Double,
            },
        }
    }

    /// A column in this form.
    pub(super) fn apply(&self, declared: &Column, stored: &DataType) -> Expr {
        let value = column(&declared.name);
        match self {
            Self::Own => key(value, &declared.column_type),
            Self::Common(common) => cast(value, common.clone()),
            Self::Digits => decimal_text().call(vec![value]),
            Self::Double => match stored {
                DataType::Decimal128(..) | DataType::Decimal256(..) => decimal_double().call(vec![value]),
                _ => float_key().call(vec![cast(value, DataType::Float64)]),
            },
            Self::ZeroStripped => zero_stripped().call(vec![key(value, &declared.column_type)]),
        }
    }
}

/// Most digits before and after the point of an exact type; `None` for floats.
fn digits(stored: &DataType) -> Option<(i32, i32)> {
    match stored {
        DataType::Int32 => Some((10, 0)),
        DataType::Int64 => Some((19, 0)),
        DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale) => {
            Some((i32::from(*precision) - i32::from(*scale), i32::from(*scale)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_common_type_holds_every_value_of_both() {
        let form = |left, right| KeyForm::of(KeyComparison::Number, &left, &right);
        let common = |data_type| KeyForm::Common(data_type);
        assert_eq!(form(DataType::Int32, DataType::Int32), KeyForm::Own);
        assert_eq!(form(DataType::Int32, DataType::Int64), common(DataType::Decimal128(19, 0)));
        assert_eq!(form(DataType::Int64, DataType::Decimal128(18, 2)), common(DataType::Decimal128(21, 2)));
        assert_eq!(
            form(DataType::Decimal128(38, 0), DataType::Decimal128(38, 38)),
            common(DataType::Decimal256(76, 38))
        );
        assert_eq!(form(DataType::Decimal256(76, 0), DataType::Decimal128(18, 1)), KeyForm::Digits);
        assert_eq!(form(DataType::Int64, DataType::Float64), KeyForm::Double);
        assert_eq!(form(DataType::Float32, DataType::Decimal256(76, 3)), KeyForm::Double);
        assert_eq!(form(DataType::Float32, DataType::Float32), KeyForm::Own);
    }
}
