//! One cell's JSON text to one typed value, exactly or not at all.

use std::borrow::Cow;

use arrow::datatypes::i256;

use super::error::ValueError;
use crate::catalog::ColumnType;

/// Whether the cell is SQL NULL. A JSON `null` in a json column can't be told from it on the wire.
pub(super) fn is_null(cell: &str) -> bool {
    cell == "null"
}

/// A JSON string's content.
pub(super) fn string(cell: &str) -> Result<Cow<'_, str>, ValueError> {
    let inner = cell
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .ok_or_else(|| ValueError::new("it is not a JSON string"))?;
    if !inner.contains('\\') {
        return Ok(Cow::Borrowed(inner));
    }
    serde_json::from_str(cell).map(Cow::Owned).map_err(|error| ValueError::new(error.to_string()))
}

/// A string's content, or any other value's text as it stands: how columns of unknown type are kept.
pub(super) fn opaque(cell: &str) -> Result<Cow<'_, str>, ValueError> {
    match cell.starts_with('"') {
        true => string(cell),
        false => Ok(Cow::Borrowed(cell)),
    }
}

pub(super) fn boolean(cell: &str) -> Result<bool, ValueError> {
    match cell {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(ValueError::new("it is neither true nor false")),
    }
}

pub(super) fn integer<T: std::str::FromStr<Err = std::num::ParseIntError>>(
    cell: &str,
) -> Result<T, ValueError> {
    cell.parse().map_err(|error: std::num::ParseIntError| ValueError::new(error.to_string()))
}

/// A `double precision`. PostgreSQL prints at most 17 significant digits; more can't have come from one.
pub(super) fn double(cell: &str) -> Result<f64, ValueError> {
    match special(cell)? {
        Some(special) => Ok(special),
        None => {
            // Correctly rounded from the text: Rust's parser is, serde_json's default one isn't.
            let value: f64 = cell.parse().map_err(|_| ValueError::new("it is not a number"))?;
            check_float(cell, value.is_finite(), value == 0.0, 17)?;
            Ok(value)
        }
    }
}

/// A `real`; at most 9 significant digits.
pub(super) fn real(cell: &str) -> Result<f32, ValueError> {
    match special(cell)? {
        // NaN and the infinities are the same in both widths.
        Some(special) => Ok(special as f32),
        None => {
            let value: f32 = cell.parse().map_err(|_| ValueError::new("it is not a number"))?;
            check_float(cell, value.is_finite(), value == 0.0, 9)?;
            Ok(value)
        }
    }
}

/// `"NaN"`, `"Infinity"` and `"-Infinity"` are JSON strings; other strings are no numbers.
fn special(cell: &str) -> Result<Option<f64>, ValueError> {
    match cell {
        "\"NaN\"" => Ok(Some(f64::NAN)),
        "\"Infinity\"" => Ok(Some(f64::INFINITY)),
        "\"-Infinity\"" => Ok(Some(f64::NEG_INFINITY)),
        _ if cell.starts_with(|first: char| first == '-' || first.is_ascii_digit()) => Ok(None),
        _ => Err(ValueError::new("it is not a number")),
    }
}

/// Refuses a number that the float can't be said to hold.
fn check_float(cell: &str, finite: bool, zero: bool, most_digits: usize) -> Result<(), ValueError> {
    let mantissa = cell.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let significant = digits.trim_start_matches('0').trim_end_matches('0').len();
    if !finite {
        return Err(ValueError::new("it is beyond the type's range"));
    }
    if zero && significant > 0 {
        return Err(ValueError::new("it is too small for the type and would become 0"));
    }
    if significant > most_digits {
        return Err(ValueError::new(format!(
            "it has {significant} significant digits, the type holds {most_digits}"
        )));
    }
    Ok(())
}

/// A `numeric` as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Numeric<'a> {
    /// `NaN`, `Infinity` or `-Infinity`: no decimal holds it.
    Special(&'a str),
    /// A decimal number.
    Decimal(DecimalText),
}

/// A decimal number as digits: the value is `digits · 10^-scale`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DecimalText {
    negative: bool,
    /// Digits without leading zeros; empty for zero.
    digits: String,
    /// Digits after the point, trailing zeros included; never negative.
    pub(super) scale: u32,
}

/// Exponents beyond this don't come from a `numeric` (at most 131,072 digits, and PostgreSQL writes no exponent) and
/// would only be a way to make us allocate.
const MAX_EXPONENT: i64 = 1_000;

/// Reads a `numeric`.
pub(super) fn numeric(cell: &str) -> Result<Numeric<'_>, ValueError> {
    let not_a_number = || ValueError::new("it is not a number");
    match cell {
        "\"NaN\"" | "\"Infinity\"" | "\"-Infinity\"" => return Ok(Numeric::Special(cell.trim_matches('"'))),
        _ => {}
    }
    let (negative, rest) = match cell.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, cell),
    };
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().map_err(|_| not_a_number())?),
        None => (rest, 0),
    };
    let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if integer.is_empty() || !integer.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
        return Err(not_a_number());
    }
    if exponent.abs() > MAX_EXPONENT {
        return Err(ValueError::new(format!("its exponent is beyond ±{MAX_EXPONENT}")));
    }
    let mut digits = format!("{integer}{fraction}");
    let scale = i64::try_from(fraction.len()).unwrap_or(i64::MAX).saturating_sub(exponent);
    let scale = match u32::try_from(scale) {
        Ok(scale) => scale,
        Err(_) => {
            digits.extend(std::iter::repeat_n('0', usize::try_from(-scale).unwrap_or(0)));
            0
        }
    };
    let digits = digits.trim_start_matches('0').to_owned();
    Ok(Numeric::Decimal(DecimalText { negative: negative && !digits.is_empty(), digits, scale }))
}

impl DecimalText {
    /// Digits before the point.
    pub(super) fn integer_digits(&self) -> u32 {
        u32::try_from(self.digits.len()).unwrap_or(u32::MAX).saturating_sub(self.scale)
    }

    /// The same number with `scale` digits after the point, if no digit is lost.
    fn rescaled(&self, scale: u32) -> Result<String, ValueError> {
        if self.digits.is_empty() {
            return Ok("0".to_owned());
        }
        let digits = match scale.checked_sub(self.scale) {
            Some(more) => {
                let zeros = usize::try_from(more).unwrap_or(0);
                format!("{}{}", self.digits, "0".repeat(zeros))
            }
            None => {
                let cut = usize::try_from(self.scale - scale).unwrap_or(usize::MAX);
                let significant = self.digits.trim_end_matches('0').len();
                let kept = self.digits.len().saturating_sub(cut);
                if significant > kept {
                    return Err(ValueError::new(format!("it has more than {scale} digits after the point")));
                }
                self.digits.get(..kept).unwrap_or_default().to_owned()
            }
        };
        Ok(format!("{}{digits}", if self.negative { "-" } else { "" }))
    }

    /// Checks that the number fits `numeric(precision, scale)`.
    pub(super) fn check_declared(&self, precision: u32, scale: u32) -> Result<(), ValueError> {
        self.rescaled(scale)?;
        if self.integer_digits() > precision.saturating_sub(scale) {
            return Err(ValueError::new(format!(
                "it has more digits than numeric({precision},{scale}) holds"
            )));
        }
        Ok(())
    }

    /// The unscaled integer at `scale`.
    pub(super) fn to_i128(&self, scale: u32) -> Result<i128, ValueError> {
        self.rescaled(scale)?
            .parse()
            .map_err(|error: std::num::ParseIntError| ValueError::new(error.to_string()))
    }

    /// The unscaled integer at `scale`, for numbers of up to 76 digits.
    pub(super) fn to_i256(&self, scale: u32) -> Result<i256, ValueError> {
        i256::from_string(&self.rescaled(scale)?).ok_or_else(|| ValueError::new("it has more than 76 digits"))
    }
}

/// Checks that a value fits its type, for types whose values decide nothing about storage. Not null.
pub(super) fn check(column_type: &ColumnType, cell: &str) -> Result<(), ValueError> {
    match column_type {
        ColumnType::Text | ColumnType::Character { .. } => string(cell).map(drop),
        ColumnType::Integer => integer::<i32>(cell).map(drop),
        ColumnType::BigInt => integer::<i64>(cell).map(drop),
        ColumnType::Real => real(cell).map(drop),
        ColumnType::Double => double(cell).map(drop),
        ColumnType::Boolean => boolean(cell).map(drop),
        ColumnType::Date => date(cell).map(drop),
        ColumnType::Timestamp => timestamp(cell).map(drop),
        ColumnType::TimestampTz => timestamp_utc(cell).map(drop),
        ColumnType::Uuid => uuid(cell).map(drop),
        ColumnType::Binary => bytes(cell).map(drop),
        // Kept as written, or looked at where they do decide something.
        ColumnType::Json
        | ColumnType::Jsonb
        | ColumnType::Opaque
        | ColumnType::Array(_)
        | ColumnType::Numeric { .. }
        | ColumnType::Geometry { .. } => Ok(()),
    }
}

/// Bytes in PostgreSQL's hex form, `\xdead`.
pub(super) fn bytes(cell: &str) -> Result<Vec<u8>, ValueError> {
    let text = string(cell)?;
    let digits = text
        .strip_prefix("\\x")
        .ok_or_else(|| ValueError::new("it is not in the hex form \\x… (is bytea_output set to escape?)"))?;
    hex::decode(digits).map_err(|error| ValueError::new(error.to_string()))
}

/// A UUID, as lowercase hyphenated text.
pub(super) fn uuid(cell: &str) -> Result<String, ValueError> {
    let text = string(cell)?;
    uuid::Uuid::try_parse(&text)
        .map(|uuid| uuid.hyphenated().to_string())
        .map_err(|error| ValueError::new(error.to_string()))
}

/// Days since 1970-01-01.
pub(super) fn date(cell: &str) -> Result<i32, ValueError> {
    let text = string(cell)?;
    let (text, before_christ) = era(&text);
    let days = days(text, before_christ)?;
    i32::try_from(days).map_err(|_| ValueError::new("it is beyond the range of a 32-bit day number"))
}

/// Microseconds since 1970-01-01T00:00:00, without zone.
pub(super) fn timestamp(cell: &str) -> Result<i64, ValueError> {
    let text = string(cell)?;
    let (text, before_christ) = era(&text);
    let (day, clock) = split_date(text)?;
    let (micros, rest) = clock_micros(clock)?;
    if !rest.is_empty() {
        return Err(ValueError::new(format!("{rest:?} follows the time")));
    }
    combine(days(day, before_christ)?, micros, 0)
}

/// Microseconds since 1970-01-01T00:00:00Z; the text must carry its offset.
pub(super) fn timestamp_utc(cell: &str) -> Result<i64, ValueError> {
    let text = string(cell)?;
    let (text, before_christ) = era(&text);
    let (day, clock) = split_date(text)?;
    let (micros, rest) = clock_micros(clock)?;
    combine(days(day, before_christ)?, micros, offset_seconds(rest)?)
}

fn era(text: &str) -> (&str, bool) {
    match text.strip_suffix(" BC") {
        Some(text) => (text, true),
        None => (text, false),
    }
}

fn split_date(text: &str) -> Result<(&str, &str), ValueError> {
    text.split_once(['T', ' ']).ok_or_else(|| not_a_moment(text))
}

fn not_a_moment(text: &str) -> ValueError {
    match text {
        "infinity" | "-infinity" => ValueError::new("an infinite date or time has no place in the type"),
        _ => ValueError::new("it is not a date or time as PostgreSQL writes it"),
    }
}

/// A fixed number of digits at the start of `text`, and the rest.
fn number(text: &str, digits: usize) -> Option<(i64, &str)> {
    let (head, rest) = text.split_at_checked(digits)?;
    if !head.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some((head.parse().ok()?, rest))
}

/// Days since 1970-01-01 of `YYYY-MM-DD` (four to seven digits of year), proleptic Gregorian.
fn days(text: &str, before_christ: bool) -> Result<i64, ValueError> {
    let parse = || -> Option<(i64, i64, i64)> {
        let (year, rest) = text.split_once('-')?;
        if !(4..=7).contains(&year.len()) {
            return None;
        }
        let (year, _) = number(year, year.len())?;
        let (month, rest) = number(rest, 2)?;
        let (day, rest) = number(rest.strip_prefix('-')?, 2)?;
        rest.is_empty().then_some((year, month, day))
    };
    let (year, month, day) = parse().ok_or_else(|| not_a_moment(text))?;
    // 1 BC is the year 0.
    let year = if before_christ { 1 - year } else { year };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    };
    if !(1..=length).contains(&day) {
        return Err(ValueError::new("there is no such day"));
    }
    // Counting from 1 March makes the leap day the last of its year; eras of 400 years repeat exactly.
    let (shifted_year, shifted_month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era = shifted_year.div_euclid(400);
    let year_of_era = shifted_year.rem_euclid(400);
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Ok(era * 146_097 + day_of_era - 719_468)
}

/// Microseconds into the day of `HH:MM:SS[.ffffff]`, and what follows.
fn clock_micros(text: &str) -> Result<(i64, &str), ValueError> {
    let parse = || -> Option<(i64, i64, i64, i64, &str)> {
        let (hour, rest) = number(text, 2)?;
        let (minute, rest) = number(rest.strip_prefix(':')?, 2)?;
        let (second, rest) = number(rest.strip_prefix(':')?, 2)?;
        let Some(after_point) = rest.strip_prefix('.') else { return Some((hour, minute, second, 0, rest)) };
        let count = after_point.bytes().take_while(u8::is_ascii_digit).count();
        // A seventh digit would be lost.
        if !(1..=6).contains(&count) {
            return None;
        }
        let (fraction, rest) = number(after_point, count)?;
        let scale = 10_i64.pow(6 - u32::try_from(count).ok()?);
        Some((hour, minute, second, fraction * scale, rest))
    };
    let (hour, minute, second, micros, rest) = parse().ok_or_else(|| not_a_moment(text))?;
    if hour > 23 || minute > 59 || second > 59 {
        return Err(ValueError::new("there is no such time of day"));
    }
    Ok((((hour * 60 + minute) * 60 + second) * 1_000_000 + micros, rest))
}

/// Seconds east of UTC of `Z`, `+HH`, `+HH:MM` or `+HH:MM:SS`.
fn offset_seconds(text: &str) -> Result<i64, ValueError> {
    let parse = || -> Option<i64> {
        if text == "Z" {
            return Some(0);
        }
        let (sign, rest) = match text.as_bytes().first()? {
            b'+' => (1, text.get(1..)?),
            b'-' => (-1, text.get(1..)?),
            _ => return None,
        };
        let (mut seconds, mut rest) = number(rest, 2).map(|(hours, rest)| (hours * 3600, rest))?;
        for unit in [60, 1] {
            if rest.is_empty() {
                break;
            }
            let (part, after) = number(rest.strip_prefix(':')?, 2)?;
            seconds += part * unit;
            rest = after;
        }
        rest.is_empty().then_some(sign * seconds)
    };
    parse().ok_or_else(|| ValueError::new(format!("its offset {text:?} is missing or malformed")))
}

fn combine(days: i64, micros: i64, offset_seconds: i64) -> Result<i64, ValueError> {
    let beyond = || ValueError::new("it is beyond the range of 64-bit microseconds");
    days.checked_mul(86_400_000_000)
        .and_then(|start| start.checked_add(micros))
        .and_then(|local| local.checked_sub(offset_seconds * 1_000_000))
        .ok_or_else(beyond)
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, NaiveDate};

    use super::*;

    #[test]
    fn floats_are_correctly_rounded_or_refused() {
        // A value whose nearest double serde_json's fast path misses without float_roundtrip.
        assert_eq!(double("1.1125369292536007e-308").unwrap().to_bits(), 0x0008_0000_0000_0000);
        assert_eq!(double("0.1").unwrap(), 0.1);
        assert_eq!(double("-0").unwrap().to_bits(), (-0.0_f64).to_bits());
        assert_eq!(double("1e+20").unwrap(), 1e20);
        assert!(double("\"NaN\"").unwrap().is_nan());
        assert_eq!(double("\"-Infinity\"").unwrap(), f64::NEG_INFINITY);
        assert_eq!(real("0.1").unwrap(), 0.1_f32);
        assert_eq!(real("16777216").unwrap(), 16_777_216.0);
        for bad in ["1e400", "1e-400", "\"x\"", "true", "[1]", "0.12345678901234567891", "inf", "NaN"] {
            assert!(double(bad).is_err(), "{bad}");
        }
        for bad in ["1e39", "1e-60", "0.1234567891"] {
            assert!(real(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn decimals_keep_every_digit() {
        let decimal = |text: &str| match numeric(text).unwrap() {
            Numeric::Decimal(decimal) => decimal,
            other => panic!("{other:?}"),
        };
        let cases = [
            ("12.30", 2, 1230),
            ("12.3", 2, 1230),
            ("12.300", 2, 1230),
            ("-0.05", 2, -5),
            ("0.00", 2, 0),
            ("-0", 0, 0),
            ("1e2", 0, 100),
            ("1.5e-3", 4, 15),
            ("99999999999999999999.99", 2, 9_999_999_999_999_999_999_999),
        ];
        for (text, scale, expected) in cases {
            assert_eq!(decimal(text).to_i128(scale).unwrap(), expected, "{text}");
            assert_eq!(decimal(text).to_i256(scale).unwrap(), i256::from_i128(expected), "{text}");
        }
        assert!(decimal("12.305").to_i128(2).is_err());
        assert!(decimal("123.4").check_declared(4, 2).is_err());
        assert!(decimal("99.99").check_declared(4, 2).is_ok());
        assert_eq!((decimal("0.05").integer_digits(), decimal("0.05").scale), (0, 2));
        assert_eq!((decimal("120.0").integer_digits(), decimal("120.0").scale), (3, 1));
        assert_eq!(numeric("\"NaN\"").unwrap(), Numeric::Special("NaN"));
        for bad in ["\"1\"", "true", ".5", "", "-", "1e99999", "1e", "0x1", "1.2.3"] {
            assert!(numeric(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn dates_agree_with_an_independent_calendar() {
        for (year, month, day) in [
            (1970, 1, 1),
            (2000, 2, 29),
            (1900, 2, 28),
            (1, 1, 1),
            (9999, 12, 31),
            (2024, 2, 29),
            (1582, 10, 4),
        ] {
            let expected = NaiveDate::from_ymd_opt(year, month, day)
                .unwrap()
                .signed_duration_since(NaiveDate::from_ymd_opt(1970, 1, 1).unwrap())
                .num_days();
            assert_eq!(i64::from(date(&format!("\"{year:04}-{month:02}-{day:02}\"")).unwrap()), expected);
        }
        // 44 BC is the astronomical year -43.
        let ides = NaiveDate::from_ymd_opt(-43, 3, 15).unwrap();
        let epoch = NaiveDate::from_ymd_opt(1970, 1, 1).unwrap();
        assert_eq!(
            i64::from(date("\"0044-03-15 BC\"").unwrap()),
            ides.signed_duration_since(epoch).num_days()
        );
        assert_eq!(date("\"5874897-12-31\"").unwrap(), 2_145_042_905);
        for bad in [
            "\"2023-02-29\"",
            "\"infinity\"",
            "\"2023-13-01\"",
            "\"2023-1-1\"",
            "20230101",
            "\"\"",
            "\"2023-01-01x\"",
        ] {
            assert!(date(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn moments_keep_their_microseconds_and_offset() {
        for text in
            ["2024-02-29T23:59:59.123456+00:00", "1969-12-31T23:59:59.9+05:30", "2020-01-01T00:00:00-03:30"]
        {
            let expected = DateTime::parse_from_rfc3339(text).unwrap().timestamp_micros();
            assert_eq!(timestamp_utc(&format!("\"{text}\"")).unwrap(), expected, "{text}");
        }
        assert_eq!(timestamp("\"1970-01-01T00:00:00.000001\"").unwrap(), 1);
        assert_eq!(timestamp("\"1970-01-01 00:00:01\"").unwrap(), 1_000_000);
        assert_eq!(timestamp_utc("\"1970-01-01T00:00:00+01\"").unwrap(), -3_600_000_000);
        for bad in [
            "\"2024-01-01T00:00:00+00:00\"",
            "\"2024-01-01\"",
            "\"2024-01-01T24:00:00\"",
            "\"2024-01-01T00:00:00.1234567\"",
            "\"294276-12-31T23:59:59\"",
            "\"infinity\"",
        ] {
            assert!(timestamp(bad).is_err(), "{bad}");
        }
        assert!(timestamp_utc("\"2024-01-01T00:00:00\"").is_err(), "a moment without offset isn't one");
    }

    #[test]
    fn bytes_uuids_and_strings() {
        assert_eq!(bytes(r#""\\xdeAD""#).unwrap(), [0xde, 0xad]);
        assert_eq!(bytes(r#""\\x""#).unwrap(), Vec::<u8>::new());
        assert!(bytes(r#""dead""#).is_err());
        assert!(bytes(r#""\\xd""#).is_err());
        assert_eq!(
            uuid("\"A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11\"").unwrap(),
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
        );
        assert!(uuid("\"A0EEBC99\"").is_err());
        assert_eq!(string(r#""a\"\u00e9\n""#).unwrap(), "a\"é\n");
        assert_eq!(opaque("{\"a\": 1}").unwrap(), "{\"a\": 1}");
        assert!(string("1").is_err());
    }
}
