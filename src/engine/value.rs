//! A caller's value, typed by the column it is compared with.

use arrow::datatypes::i256;
use chrono::{DateTime, NaiveDate, NaiveDateTime};

use super::number::DecimalText;
use crate::catalog::ColumnType;

/// A value as the caller spelt it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawValue {
    /// The characters, after unquoting.
    pub text: String,
    /// Whether it was written as a JSON string: then blanks count and `null` is text.
    pub quoted: bool,
}

/// A value typed by its column.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// Text; for `character(n)` without trailing blanks.
    Text(String),
    /// 16 to 64 bit integers.
    Integer(i64),
    /// Exact decimal.
    Decimal(DecimalText),
    /// Above every finite decimal (`NaN` and `Infinity` compare so in PostgreSQL).
    AboveAllDecimals,
    /// Below every finite decimal.
    BelowAllDecimals,
    /// Double precision.
    Double(f64),
    /// Single precision.
    Real(f32),
    /// Boolean.
    Boolean(bool),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since 1970-01-01, zone-less.
    Timestamp(i64),
    /// Microseconds since 1970-01-01 UTC.
    TimestampTz(i64),
}

/// Why a value doesn't fit its column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueProblem {
    /// What is wrong.
    pub why: String,
    /// A spelling that would be accepted.
    pub accepted: &'static str,
}

/// Types `raw` by `column_type`. Comparison of types that only have null tests is decided before this is called.
pub fn type_value(column_type: &ColumnType, raw: &RawValue) -> Result<Literal, ValueProblem> {
    let text = raw.text.as_str();
    if text.contains('\0') {
        return Err(problem("text can't hold a NUL character", "any other text"));
    }
    let trimmed = text.trim();
    match column_type {
        ColumnType::Text => Ok(Literal::Text(text.to_owned())),
        ColumnType::Character { .. } => Ok(Literal::Text(text.trim_end_matches(' ').to_owned())),
        ColumnType::Integer | ColumnType::BigInt => {
            let range = if matches!(column_type, ColumnType::Integer) {
                i64::from(i32::MIN)..=i64::from(i32::MAX)
            } else {
                i64::MIN..=i64::MAX
            };
            let well_formed = !trimmed.is_empty()
                && trimmed.trim_start_matches(['+', '-']).bytes().all(|byte| byte.is_ascii_digit());
            match trimmed.parse::<i64>() {
                Ok(value) if range.contains(&value) => Ok(Literal::Integer(value)),
                _ if well_formed => {
                    Err(problem("is out of the type's range", "a whole number that fits, e.g. 42"))
                }
                _ => Err(problem("isn't a whole number", "digits only, e.g. 42")),
            }
        }
        ColumnType::Numeric { .. } => match trimmed.to_ascii_lowercase().as_str() {
            "nan" | "infinity" | "inf" | "+infinity" | "+inf" => Ok(Literal::AboveAllDecimals),
            "-infinity" | "-inf" => Ok(Literal::BelowAllDecimals),
            _ => DecimalText::parse(trimmed).map(Literal::Decimal).ok_or_else(|| {
                problem("isn't a number", "plain digits, e.g. 1234.56 (no commas, no currency sign)")
            }),
        },
        ColumnType::Double | ColumnType::Real => parse_float(trimmed, column_type),
        ColumnType::Boolean => match trimmed.to_ascii_lowercase().as_str() {
            "true" | "t" | "yes" | "y" | "on" | "1" => Ok(Literal::Boolean(true)),
            "false" | "f" | "no" | "n" | "off" | "0" => Ok(Literal::Boolean(false)),
            _ => Err(problem("isn't a boolean", "true or false")),
        },
        ColumnType::Date => parse_date(trimmed)
            .map(Literal::Date)
            .ok_or_else(|| problem("isn't an ISO date", "YYYY-MM-DD, e.g. 2024-02-29")),
        ColumnType::Timestamp => match parse_timestamp(trimmed) {
            Some(ParsedTimestamp::Local(value)) => Ok(Literal::Timestamp(value)),
            Some(ParsedTimestamp::Zoned(_)) => Err(problem(
                "has a time zone, which this zone-less column would silently drop",
                "the same without its zone, e.g. 2024-02-29T12:00:00",
            )),
            None => Err(problem("isn't an ISO timestamp", "YYYY-MM-DDThh:mm:ss, e.g. 2024-02-29T12:00:00")),
        },
        ColumnType::TimestampTz => match parse_timestamp(trimmed) {
            Some(ParsedTimestamp::Zoned(value)) => Ok(Literal::TimestampTz(value)),
            Some(ParsedTimestamp::Local(_)) => Err(problem(
                "lacks the time zone this column needs",
                "an ISO timestamp with its zone, e.g. 2024-02-29T12:00:00Z",
            )),
            None => Err(problem("isn't an ISO timestamp with a zone", "2024-02-29T12:00:00Z")),
        },
        ColumnType::Uuid => uuid::Uuid::try_parse(trimmed)
            .map(|value| Literal::Text(value.hyphenated().to_string()))
            .map_err(|_| problem("isn't a UUID", "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx in hexadecimal")),
        ColumnType::Json
        | ColumnType::Jsonb
        | ColumnType::Binary
        | ColumnType::Array(_)
        | ColumnType::Geometry { .. }
        | ColumnType::Opaque => Err(problem("can't be compared in this type", "is.null or not.is.null")),
    }
}

fn problem(why: &str, accepted: &'static str) -> ValueProblem {
    ValueProblem { why: why.to_owned(), accepted }
}

fn parse_float(text: &str, column_type: &ColumnType) -> Result<Literal, ValueProblem> {
    let lower = text.to_ascii_lowercase();
    let special = match lower.as_str() {
        "nan" => Some(f64::NAN),
        "infinity" | "inf" | "+infinity" | "+inf" => Some(f64::INFINITY),
        "-infinity" | "-inf" => Some(f64::NEG_INFINITY),
        _ => None,
    };
    let accepted = "a number, e.g. 12.5 or 1e-3";
    // Rust would accept spellings PostgreSQL refuses; the decimal grammar is the common part.
    if special.is_none() && DecimalText::parse(text).is_none() {
        return Err(problem("isn't a number", accepted));
    }
    // A number that vanishes is out of range, as one that overflows is: it isn't zero.
    let mantissa = text.split(['e', 'E']).next().unwrap_or("");
    let is_zero = !mantissa.bytes().any(|byte| (b'1'..=b'9').contains(&byte));
    let fits = |finite: bool, zero: bool| special.is_some() || (finite && zero == is_zero);
    if matches!(column_type, ColumnType::Real) {
        let value = special.map_or_else(|| text.parse::<f32>().ok(), |value| Some(value as f32));
        match value {
            Some(value) if fits(value.is_finite(), value == 0.0) => {
                Ok(Literal::Real(if value == 0.0 { 0.0 } else { value }))
            }
            _ => Err(problem("is out of the type's range", accepted)),
        }
    } else {
        match special.or_else(|| text.parse::<f64>().ok()) {
            Some(value) if fits(value.is_finite(), value == 0.0) => {
                Ok(Literal::Double(if value == 0.0 { 0.0 } else { value }))
            }
            _ => Err(problem("is out of the type's range", accepted)),
        }
    }
}

/// Days since the epoch of an ISO date; four-digit years as PostgreSQL prints them.
pub fn parse_date(text: &str) -> Option<i32> {
    let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?;
    // chrono also takes "2024-2-9" and signs; the ISO form has fixed widths.
    (date.format("%Y-%m-%d").to_string() == text).then_some(())?;
    i32::try_from(date.signed_duration_since(NaiveDate::from_ymd_opt(1970, 1, 1)?).num_days()).ok()
}

enum ParsedTimestamp {
    Local(i64),
    Zoned(i64),
}

fn parse_timestamp(text: &str) -> Option<ParsedTimestamp> {
    let normal = text.replacen(' ', "T", 1);
    if let Ok(zoned) = DateTime::parse_from_rfc3339(&normal) {
        return whole_micros(zoned.timestamp_micros(), zoned.timestamp_subsec_nanos())
            .map(ParsedTimestamp::Zoned);
    }
    for format in ["%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%dT%H:%M%#z"] {
        if let Ok(zoned) = DateTime::parse_from_str(&normal, format) {
            return whole_micros(zoned.timestamp_micros(), zoned.timestamp_subsec_nanos())
                .map(ParsedTimestamp::Zoned);
        }
    }
    for format in ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M"] {
        if let Ok(local) = NaiveDateTime::parse_from_str(&normal, format) {
            let utc = local.and_utc();
            return whole_micros(utc.timestamp_micros(), utc.timestamp_subsec_nanos())
                .map(ParsedTimestamp::Local);
        }
    }
    let days = parse_date(text)?;
    i64::from(days).checked_mul(86_400_000_000).map(ParsedTimestamp::Local)
}

/// PostgreSQL keeps microseconds; finer input would be rounded there, so it is refused here.
fn whole_micros(micros: i64, subsecond_nanos: u32) -> Option<i64> {
    (subsecond_nanos % 1_000 == 0).then_some(micros)
}

/// The largest unscaled value a decimal of `precision` digits holds.
pub fn max_unscaled(precision: u8) -> i256 {
    i256::from_string(&"9".repeat(usize::from(precision.min(76)))).unwrap_or(i256::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(column_type: &ColumnType, text: &str) -> Result<Literal, ValueProblem> {
        type_value(column_type, &RawValue { text: text.to_owned(), quoted: false })
    }

    #[test]
    fn text_keeps_digits_and_blanks() {
        assert_eq!(typed(&ColumnType::Text, "03"), Ok(Literal::Text("03".to_owned())));
        assert_eq!(typed(&ColumnType::Text, " x "), Ok(Literal::Text(" x ".to_owned())));
        assert_eq!(
            typed(&ColumnType::Character { length: Some(2) }, "A  "),
            Ok(Literal::Text("A".to_owned()))
        );
    }

    #[test]
    fn zero_has_any_exponent_and_no_sign() {
        assert_eq!(typed(&ColumnType::Double, "-0e999"), Ok(Literal::Double(0.0)));
        assert_eq!(typed(&ColumnType::Real, "0.00e-99"), Ok(Literal::Real(0.0)));
        assert_eq!(typed(&ColumnType::Double, "5e-324"), Ok(Literal::Double(5e-324)));
    }

    #[test]
    fn zones_are_required_or_refused_by_type() {
        assert_eq!(typed(&ColumnType::Timestamp, "1970-01-01T00:00:01.5"), Ok(Literal::Timestamp(1_500_000)));
        assert!(typed(&ColumnType::Timestamp, "1970-01-01T00:00:01Z").is_err_and(|p| p.why.contains("zone")));
        assert_eq!(typed(&ColumnType::TimestampTz, "1970-01-01 01:00:00+01"), Ok(Literal::TimestampTz(0)));
        assert_eq!(typed(&ColumnType::TimestampTz, "1970-01-01T00:00:00Z"), Ok(Literal::TimestampTz(0)));
        assert!(typed(&ColumnType::TimestampTz, "1970-01-01T00:00:00").is_err());
        assert!(typed(&ColumnType::Timestamp, "2024-01-01T00:00:00.0000001").is_err());
    }

    #[test]
    fn values_that_dont_fit_are_refused_with_a_spelling() {
        for (column_type, text) in [
            (ColumnType::Integer, "1.0"),
            (ColumnType::Integer, ""),
            (ColumnType::Integer, "99999999999"),
            (ColumnType::BigInt, "9223372036854775808"),
            (ColumnType::Numeric { declared: None }, "$5"),
            (ColumnType::Double, "1e999"),
            (ColumnType::Double, "1e-400"),
            (ColumnType::Real, "-1e-50"),
            (ColumnType::Double, "infinite"),
            (ColumnType::Boolean, "maybe"),
            (ColumnType::Date, "02/29/2024"),
            (ColumnType::Date, "2023-02-29"),
            (ColumnType::Date, "2024-2-9"),
            (ColumnType::Uuid, "xyz"),
            (ColumnType::Opaque, "1"),
        ] {
            assert!(typed(&column_type, text).is_err(), "{column_type:?} {text}");
        }
    }
}
