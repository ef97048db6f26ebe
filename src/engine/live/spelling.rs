//! Typed values as PostgreSQL's input functions read them back.

use crate::catalog::{Column, ColumnType};
use crate::engine::shape::{date_text, timestamp_text};
use crate::engine::value::Literal;

/// The value as text; `None` for the ends of the number line, which stand for several values there.
pub(super) fn spell(literal: &Literal) -> Option<String> {
    Some(match literal {
        Literal::Text(text) => text.clone(),
        Literal::Integer(number) => number.to_string(),
        Literal::Decimal(number) => number.to_plain(),
        Literal::AboveAllDecimals | Literal::BelowAllDecimals => return None,
        Literal::Double(number) => float(*number, format!("{number:e}")),
        Literal::Real(number) => float(f64::from(*number), format!("{number:e}")),
        Literal::Boolean(flag) => flag.to_string(),
        Literal::Date(days) => date_text(*days),
        Literal::Timestamp(micros) => timestamp_text(*micros, ""),
        Literal::TimestampTz(micros) => timestamp_text(*micros, "+00:00"),
    })
}

fn float(number: f64, digits: String) -> String {
    match number {
        _ if number.is_nan() => "NaN".to_owned(),
        f64::INFINITY => "Infinity".to_owned(),
        f64::NEG_INFINITY => "-Infinity".to_owned(),
        _ => digits,
    }
}

/// What a whole-number column of the server holds. A literal beyond it is an error there, where here it is only a value
/// no row has.
pub(super) fn integer_range(column: &Column) -> Option<std::ops::RangeInclusive<i64>> {
    let native = column.native_type.as_deref().map(str::trim).unwrap_or_default().to_ascii_lowercase();
    match column.column_type {
        _ if matches!(native.as_str(), "smallint" | "int2" | "smallserial") => {
            Some(i64::from(i16::MIN)..=i64::from(i16::MAX))
        }
        ColumnType::Integer => Some(i64::from(i32::MIN)..=i64::from(i32::MAX)),
        ColumnType::BigInt => Some(i64::MIN..=i64::MAX),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::value::{RawValue, type_value};

    /// What is sent is read back as the same value.
    #[test]
    fn spellings_are_read_back() {
        for (column_type, text) in [
            (ColumnType::Text, " a,\"b\" "),
            (ColumnType::Character { length: Some(3) }, "A  "),
            (ColumnType::BigInt, "-9223372036854775808"),
            (ColumnType::Numeric { declared: None }, "1.50e-3"),
            (ColumnType::Double, "1e308"),
            (ColumnType::Double, "0.30000000000000004"),
            (ColumnType::Double, "-inf"),
            (ColumnType::Double, "5e-324"),
            (ColumnType::Real, "16777217"),
            (ColumnType::Boolean, "yes"),
            (ColumnType::Date, "0044-03-15 BC"),
            (ColumnType::Timestamp, "2024-02-29T12:00:00.000001"),
            (ColumnType::TimestampTz, "2024-02-29 12:00:00+05:30"),
            (ColumnType::Uuid, "A0EEBC999C0B4EF8BB6D6BB9BD380A11"),
        ] {
            let typed =
                |text: &str| type_value(&column_type, &RawValue { text: text.to_owned(), quoted: true });
            let literal = typed(text).unwrap();
            let spelled = spell(&literal).unwrap();
            assert_eq!(typed(&spelled).as_ref(), Ok(&literal), "{column_type:?} {text}: {spelled}");
        }
        assert_eq!(spell(&Literal::Double(f64::NAN)).unwrap(), "NaN");
        assert_eq!(spell(&Literal::AboveAllDecimals), None);
    }
}
