//! A caller's value, typed by the column it is compared with.

use arrow::datatypes::i256;

use super::calendar::{DAY_MICROS, WrittenDate};
use super::number::DecimalText;
use crate::catalog::ColumnType;

/// A value as the caller spelt it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawValue {
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
pub(crate) struct ValueProblem {
    /// What is wrong.
    pub why: String,
    /// A spelling that would be accepted.
    pub accepted: &'static str,
}

/// Types `raw` by `column_type`. Comparison of types that only have null tests is decided before this is called.
pub(crate) fn type_value(column_type: &ColumnType, raw: &RawValue) -> Result<Literal, ValueProblem> {
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
    let decimal = DecimalText::parse(text);
    if special.is_none() && decimal.is_none() {
        return Err(problem("isn't a number", accepted));
    }
    // A number that isn't zero but would become it is out of range, like one that would become infinite.
    let vanishes = |is_zero: bool| is_zero && decimal.as_ref().is_some_and(|decimal| !decimal.is_zero());
    let literal = if matches!(column_type, ColumnType::Real) {
        let value = special.map_or_else(|| text.parse::<f32>().ok(), |value| Some(value as f32));
        value
            .filter(|value| special.is_some() || (value.is_finite() && !vanishes(*value == 0.0)))
            .map(|value| Literal::Real(value + 0.0))
    } else {
        let value = special.or_else(|| text.parse::<f64>().ok());
        value
            .filter(|value| special.is_some() || (value.is_finite() && !vanishes(*value == 0.0)))
            .map(|value| Literal::Double(value + 0.0))
    };
    literal.ok_or_else(|| problem("is out of the type's range", accepted))
}

/// Days since the epoch of an ISO date as PostgreSQL prints them: four-digit years or more, ` BC` at the end.
pub(crate) fn parse_date(text: &str) -> Option<i32> {
    let (text, before_christ) = without_era(text);
    let (date, rest) = written_date(text, before_christ)?;
    i32::try_from(date.to_days().filter(|_| rest.is_empty())?).ok()
}

/// The text before its era, and whether the era is BC.
fn without_era(text: &str) -> (&str, bool) {
    match text.len().checked_sub(3).and_then(|at| text.split_at_checked(at)) {
        Some((before, era)) if era.eq_ignore_ascii_case(" BC") => (before, true),
        _ => (text, false),
    }
}

/// Fixed widths: PostgreSQL reads a two-digit year as one of this century.
fn written_date(text: &str, before_christ: bool) -> Option<(WrittenDate, &str)> {
    let (year, rest) = digits(text, 4..=7)?;
    let (month, rest) = digits(rest.strip_prefix('-')?, 2..=2)?;
    let (day, rest) = digits(rest.strip_prefix('-')?, 2..=2)?;
    let date =
        WrittenDate { year, before_christ, month: u32::try_from(month).ok()?, day: u32::try_from(day).ok()? };
    Some((date, rest))
}

/// A whole number of so many digits, and what follows them.
fn digits(text: &str, width: std::ops::RangeInclusive<usize>) -> Option<(i64, &str)> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at_checked(length).filter(|_| width.contains(&length))?;
    Some((number.parse().ok()?, rest))
}

enum ParsedTimestamp {
    Local(i64),
    Zoned(i64),
}

/// `date`, `dateThh:mm`, `dateThh:mm:ss[.f]`, each time with or without a zone; ` BC` at the end.
fn parse_timestamp(text: &str) -> Option<ParsedTimestamp> {
    let (text, before_christ) = without_era(text);
    let (date, rest) = written_date(text, before_christ)?;
    let midnight = date.to_days()?.checked_mul(DAY_MICROS)?;
    if rest.is_empty() {
        return Some(ParsedTimestamp::Local(midnight));
    }
    let (hours, rest) = digits(rest.strip_prefix(['T', 't', ' '])?, 2..=2)?;
    let (minutes, rest) = digits(rest.strip_prefix(':')?, 2..=2)?;
    let (seconds, rest) = match rest.strip_prefix(':') {
        Some(rest) => digits(rest, 2..=2)?,
        None => (0, rest),
    };
    let (micros, rest) = match rest.strip_prefix('.') {
        Some(rest) => fraction(rest)?,
        None => (0, rest),
    };
    // A leap second is the first of the next minute, as in PostgreSQL.
    if hours > 23 || minutes > 59 || seconds > 60 {
        return None;
    }
    let of_day = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + micros;
    let local = midnight.checked_add(of_day)?;
    match rest.trim_start() {
        "" => Some(ParsedTimestamp::Local(local)),
        zone => Some(ParsedTimestamp::Zoned(local.checked_sub(zone_micros(zone)?)?)),
    }
}

/// PostgreSQL keeps microseconds; finer input would be rounded there, so it is refused here.
fn fraction(text: &str) -> Option<(i64, &str)> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at_checked(length).filter(|_| length > 0)?;
    let kept = digits.trim_end_matches('0');
    (kept.len() <= 6).then(|| Some((format!("{kept:0<6}").parse().ok()?, rest)))?
}

/// `Z`, `+hh`, `+hhmm`, `+hh:mm`, `+hh:mm:ss`; PostgreSQL's offsets end before 16 hours.
fn zone_micros(text: &str) -> Option<i64> {
    if text.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let (sign, rest) = match text.as_bytes().first()? {
        b'+' => (1, text.get(1..)?),
        b'-' => (-1, text.get(1..)?),
        _ => return None,
    };
    let (hours, minutes, seconds) = match digits(rest, 4..=4) {
        Some((both, "")) => (both / 100, both % 100, 0),
        _ => {
            let (hours, rest) = digits(rest, 2..=2)?;
            let part = |rest| match rest {
                "" => Some((0, "")),
                _ => digits(str::strip_prefix(rest, ':')?, 2..=2),
            };
            let (minutes, rest) = part(rest)?;
            let (seconds, rest) = part(rest)?;
            (hours, minutes, Some(seconds).filter(|_| rest.is_empty())?)
        }
    };
    let in_range = hours <= 15 && minutes <= 59 && seconds <= 59;
    in_range.then(|| sign * ((hours * 60 + minutes) * 60 + seconds) * 1_000_000)
}

/// The largest unscaled value a decimal of `precision` digits holds.
pub(crate) fn max_unscaled(precision: u8) -> i256 {
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
    fn zones_are_required_or_refused_by_type() {
        assert_eq!(typed(&ColumnType::Timestamp, "1970-01-01T00:00:01.5"), Ok(Literal::Timestamp(1_500_000)));
        assert!(typed(&ColumnType::Timestamp, "1970-01-01T00:00:01Z").is_err_and(|p| p.why.contains("zone")));
        assert_eq!(typed(&ColumnType::TimestampTz, "1970-01-01 01:00:00+01"), Ok(Literal::TimestampTz(0)));
        assert_eq!(typed(&ColumnType::TimestampTz, "1970-01-01T00:00:00Z"), Ok(Literal::TimestampTz(0)));
        assert!(typed(&ColumnType::TimestampTz, "1970-01-01T00:00:00").is_err());
        assert!(typed(&ColumnType::Timestamp, "2024-01-01T00:00:00.0000001").is_err());
    }

    #[test]
    fn dates_are_read_as_they_are_printed_and_never_by_guessing() {
        assert_eq!(typed(&ColumnType::Date, "5874897-12-31"), Ok(Literal::Date(2_145_042_905)));
        assert_eq!(typed(&ColumnType::Date, "0001-12-31 BC"), Ok(Literal::Date(-719_163)));
        assert!(typed(&ColumnType::Timestamp, "0001-12-31T12:00:00.5 BC").is_ok());
        for (text, micros) in [
            ("1970-01-01T00:00:00+00:00", 0),
            ("1970-01-01T05:30:00+0530", 0),
            ("1969-12-31 16:00:00.000001 -08", 1),
            ("1970-01-01T00:00Z", 0),
            ("1969-12-31T23:59:60Z", 0),
        ] {
            assert_eq!(typed(&ColumnType::TimestampTz, text), Ok(Literal::TimestampTz(micros)), "{text}");
        }
        // PostgreSQL would read the first as 2024; the others it refuses.
        for text in [
            "24-01-05T00:00:00",
            "2024-1-05T00:00:00",
            "0000-01-01T00:00:00",
            "2024-01-01T24:00:01",
            "2024-01-01T1:00",
            "2024-01-01T00:00:00.",
            "2024-01-01T",
            "2024-01-01T00:00:00 CET",
            "294277-01-01T00:00:00",
            "2024-01-01é",
        ] {
            assert!(typed(&ColumnType::Timestamp, text).is_err(), "{text}");
        }
        assert!(typed(&ColumnType::TimestampTz, "2024-01-01T00:00:00+16").is_err());
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
            (ColumnType::Double, "1e-999"),
            (ColumnType::Real, "1e-60"),
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
