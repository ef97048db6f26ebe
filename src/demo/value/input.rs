//! A filter's text parsed by the column type, as PostgreSQL's input functions do (spec postgrest.md, item 10).

use uuid::Uuid;

use super::decimal::DecimalError;
use super::moment::{MICROS_PER_DAY, Moment, MomentError, Parsed, parse_moment};
use super::{
    DATE_INFINITY, DATE_MINUS_INFINITY, Decimal, DemoValue, TIMESTAMP_INFINITY, TIMESTAMP_MINUS_INFINITY,
    jsonb,
};
use crate::catalog::ColumnType;

/// A literal PostgreSQL refuses: SQLSTATE and message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InputError {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

/// The type's name in PostgreSQL's messages, without length or precision.
pub(crate) fn type_name(column_type: &ColumnType) -> String {
    match column_type {
        ColumnType::Text => "text".to_owned(),
        ColumnType::Character { .. } => "character".to_owned(),
        ColumnType::Integer => "integer".to_owned(),
        ColumnType::BigInt => "bigint".to_owned(),
        ColumnType::Numeric { .. } => "numeric".to_owned(),
        ColumnType::Real => "real".to_owned(),
        ColumnType::Double => "double precision".to_owned(),
        ColumnType::Boolean => "boolean".to_owned(),
        ColumnType::Date => "date".to_owned(),
        ColumnType::Timestamp => "timestamp without time zone".to_owned(),
        ColumnType::TimestampTz => "timestamp with time zone".to_owned(),
        ColumnType::Uuid => "uuid".to_owned(),
        ColumnType::Json => "json".to_owned(),
        ColumnType::Jsonb => "jsonb".to_owned(),
        ColumnType::Binary => "bytea".to_owned(),
        ColumnType::Array(element) => format!("{}[]", type_name(element)),
        ColumnType::Geometry { .. } => "geometry".to_owned(),
        ColumnType::Opaque => "unknown".to_owned(),
    }
}

fn syntax(column_type: &ColumnType, text: &str) -> InputError {
    InputError {
        code: "22P02",
        message: format!("invalid input syntax for type {}: \"{text}\"", type_name(column_type)),
    }
}

fn out_of_range(column_type: &ColumnType, text: &str) -> InputError {
    InputError {
        code: "22003",
        message: format!("value \"{text}\" is out of range for type {}", type_name(column_type)),
    }
}

/// Parses `text` as the column's type.
pub(crate) fn parse_input(text: &str, column_type: &ColumnType) -> Result<DemoValue, InputError> {
    if text.contains('\0') {
        return Err(InputError {
            code: "22021",
            message: "invalid byte sequence for encoding \"UTF8\": 0x00".to_owned(),
        });
    }
    let trimmed = text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\u{b}');
    match column_type {
        ColumnType::Text | ColumnType::Character { .. } | ColumnType::Opaque => Ok(DemoValue::from(text)),
        ColumnType::Integer | ColumnType::BigInt => parse_integer(text, trimmed, column_type),
        ColumnType::Numeric { .. } => match Decimal::parse(text) {
            Ok(value) => Ok(DemoValue::Numeric(value)),
            Err(DecimalError::Syntax) => Err(syntax(column_type, text)),
            Err(DecimalError::Overflow) => {
                Err(InputError { code: "22003", message: "value overflows numeric format".to_owned() })
            }
        },
        ColumnType::Real | ColumnType::Double => parse_float(text, trimmed, column_type),
        ColumnType::Boolean => {
            parse_boolean(trimmed).map(DemoValue::Bool).ok_or_else(|| syntax(column_type, text))
        }
        ColumnType::Date | ColumnType::Timestamp | ColumnType::TimestampTz => parse_time(text, column_type),
        ColumnType::Uuid => parse_uuid(text).map(DemoValue::Uuid).ok_or_else(|| syntax(column_type, text)),
        // `json` has no comparison operator, so its literals are never reached by a filter.
        ColumnType::Json | ColumnType::Jsonb => {
            jsonb::normalize(text).map(DemoValue::Json).ok_or_else(|| InputError {
                code: "22P02",
                message: "invalid input syntax for type json".to_owned(),
            })
        }
        ColumnType::Binary => parse_bytes(text).map(DemoValue::Bytes),
        ColumnType::Array(element) => parse_array(trimmed, element)?.ok_or_else(|| InputError {
            code: "22P02",
            message: format!("malformed array literal: \"{text}\""),
        }),
        // Well-known text isn't read here: the demo serves geometry, it doesn't filter by it.
        ColumnType::Geometry { .. } => {
            Err(InputError { code: "XX000", message: "parse error - invalid geometry".to_owned() })
        }
    }
}

fn parse_integer(text: &str, trimmed: &str, column_type: &ColumnType) -> Result<DemoValue, InputError> {
    let unsigned = trimmed.strip_prefix(['+', '-']).unwrap_or(trimmed);
    if unsigned.is_empty() || !unsigned.bytes().all(|b| b.is_ascii_digit()) {
        return Err(syntax(column_type, text));
    }
    let fits = |value: &i64| *column_type == ColumnType::BigInt || i32::try_from(*value).is_ok();
    trimmed
        .parse::<i64>()
        .ok()
        .filter(fits)
        .map(DemoValue::Int)
        .ok_or_else(|| out_of_range(column_type, text))
}

fn parse_float(text: &str, trimmed: &str, column_type: &ColumnType) -> Result<DemoValue, InputError> {
    let unsigned = trimmed.strip_prefix(['+', '-']).unwrap_or(trimmed);
    let special = ["nan", "inf", "infinity"].iter().any(|word| unsigned.eq_ignore_ascii_case(word));
    if !special && !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Err(syntax(column_type, text));
    }
    let is_zero =
        !unsigned.split(['e', 'E']).next().unwrap_or("").bytes().any(|b| (b'1'..=b'9').contains(&b));
    let range = |finite: bool, zero: bool| !special && (!finite || (zero && !is_zero));
    let beyond = || InputError {
        code: "22003",
        message: format!("\"{text}\" is out of range for type {}", type_name(column_type)),
    };
    if *column_type == ColumnType::Real {
        let value: f32 = trimmed.parse().map_err(|_| syntax(column_type, text))?;
        return if range(value.is_finite(), value == 0.0) {
            Err(beyond())
        } else {
            Ok(DemoValue::Real(value))
        };
    }
    let value: f64 = trimmed.parse().map_err(|_| syntax(column_type, text))?;
    if range(value.is_finite(), value == 0.0) { Err(beyond()) } else { Ok(DemoValue::Double(value)) }
}

/// Any unambiguous beginning of the words is accepted.
fn parse_boolean(trimmed: &str) -> Option<bool> {
    let lowered = trimmed.to_ascii_lowercase();
    let begins = |word: &str| !lowered.is_empty() && word.starts_with(&lowered);
    match lowered.as_str() {
        "on" | "1" => Some(true),
        "off" | "of" | "0" => Some(false),
        _ if begins("true") || begins("yes") => Some(true),
        _ if begins("false") || begins("no") => Some(false),
        _ => None,
    }
}

fn parse_time(text: &str, column_type: &ColumnType) -> Result<DemoValue, InputError> {
    let parsed = parse_moment(text).map_err(|error| match error {
        MomentError::Syntax => InputError {
            code: "22007",
            message: format!(
                "invalid input syntax for type {}: \"{text}\"",
                // This one message uses the short name.
                if *column_type == ColumnType::Timestamp {
                    "timestamp".to_owned()
                } else {
                    type_name(column_type)
                }
            ),
        },
        MomentError::OutOfRange => {
            InputError { code: "22008", message: format!("date/time field value out of range: \"{text}\"") }
        }
    })?;
    // An offset is ignored by `timestamp` and applied by `timestamptz`, whose session zone is UTC.
    let micros = |moment: Moment, with_offset: bool| {
        let offset = if with_offset { i64::from(moment.offset.unwrap_or(0)) * 1_000_000 } else { 0 };
        i64::from(moment.day) * MICROS_PER_DAY + moment.time.unwrap_or(0) - offset
    };
    Ok(match (column_type, parsed) {
        (ColumnType::Date, Parsed::Moment(moment)) => DemoValue::Date(moment.day),
        (ColumnType::Date, Parsed::Infinity) => DemoValue::Date(DATE_INFINITY),
        (ColumnType::Date, Parsed::MinusInfinity) => DemoValue::Date(DATE_MINUS_INFINITY),
        (ColumnType::TimestampTz, Parsed::Moment(moment)) => DemoValue::TimestampTz(micros(moment, true)),
        (ColumnType::TimestampTz, Parsed::Infinity) => DemoValue::TimestampTz(TIMESTAMP_INFINITY),
        (ColumnType::TimestampTz, Parsed::MinusInfinity) => DemoValue::TimestampTz(TIMESTAMP_MINUS_INFINITY),
        (_, Parsed::Moment(moment)) => DemoValue::Timestamp(micros(moment, false)),
        (_, Parsed::Infinity) => DemoValue::Timestamp(TIMESTAMP_INFINITY),
        (_, Parsed::MinusInfinity) => DemoValue::Timestamp(TIMESTAMP_MINUS_INFINITY),
    })
}

/// `\x` and hexadecimal digits, or the escape form: `\\` and `\ooo` for what isn't plain.
fn parse_bytes(text: &str) -> Result<Vec<u8>, InputError> {
    let hexadecimal = |message: String| InputError { code: "22023", message };
    if let Some(digits) = text.strip_prefix("\\x") {
        let digits: String = digits.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        if let Some(wrong) = digits.chars().find(|c| !c.is_ascii_hexdigit()) {
            return Err(hexadecimal(format!("invalid hexadecimal digit: \"{wrong}\"")));
        }
        return hex::decode(digits)
            .map_err(|_| hexadecimal("invalid hexadecimal data: odd number of digits".to_owned()));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = match (first, after) {
            (b'\\', [b'\\', after @ ..]) => {
                bytes.push(b'\\');
                after
            }
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..]) => {
                bytes.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
                after
            }
            (b'\\', _) => {
                return Err(InputError {
                    code: "22P02",
                    message: "invalid input syntax for type bytea".to_owned(),
                });
            }
            (plain, after) => {
                bytes.push(*plain);
                after
            }
        };
    }
    Ok(bytes)
}

/// Hyphens may stand after any group of four digits; braces may surround the whole.
fn parse_uuid(text: &str) -> Option<Uuid> {
    let inner = match text.strip_prefix('{') {
        Some(rest) => rest.strip_suffix('}')?,
        None => text,
    };
    let mut digits = String::with_capacity(32);
    let mut previous_hyphen = true;
    for character in inner.chars() {
        if character == '-' {
            if previous_hyphen || !digits.len().is_multiple_of(4) || digits.len() == 32 {
                return None;
            }
            previous_hyphen = true;
        } else {
            digits.push(character);
            previous_hyphen = false;
        }
    }
    if digits.len() == 32 { Uuid::try_parse(&digits).ok() } else { None }
}

/// `{a,"b c",NULL,{…}}`; the inner result is `None` for a malformed literal, an error for a bad element.
fn parse_array(text: &str, element: &ColumnType) -> Result<Option<DemoValue>, InputError> {
    let mut rest = text;
    match parse_braces(&mut rest, element)? {
        Some(value) if rest.trim().is_empty() => Ok(Some(value)),
        _ => Ok(None),
    }
}

fn parse_braces(rest: &mut &str, element: &ColumnType) -> Result<Option<DemoValue>, InputError> {
    let Some(inner) = rest.strip_prefix('{') else { return Ok(None) };
    *rest = inner.trim_start();
    let mut elements = Vec::new();
    if let Some(after) = rest.strip_prefix('}') {
        *rest = after;
        return Ok(Some(DemoValue::Array(elements)));
    }
    loop {
        *rest = rest.trim_start();
        if rest.starts_with('{') {
            match parse_braces(rest, element)? {
                Some(value) => elements.push(value),
                None => return Ok(None),
            }
        } else {
            match parse_item(rest) {
                Some((text, quoted)) if !quoted && text.eq_ignore_ascii_case("null") && !text.is_empty() => {
                    elements.push(DemoValue::Null);
                }
                Some((text, quoted)) if quoted || !text.is_empty() => {
                    elements.push(parse_input(&text, element)?)
                }
                _ => return Ok(None),
            }
        }
        *rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix(',') {
            *rest = after;
        } else if let Some(after) = rest.strip_prefix('}') {
            *rest = after;
            return Ok(Some(DemoValue::Array(elements)));
        } else {
            return Ok(None);
        }
    }
}

/// One unnested element's text and whether it was quoted.
fn parse_item(rest: &mut &str) -> Option<(String, bool)> {
    let mut text = String::new();
    let mut characters = rest.char_indices();
    if rest.starts_with('"') {
        characters.next();
        while let Some((at, character)) = characters.next() {
            match character {
                '\\' => text.push(characters.next()?.1),
                '"' => {
                    *rest = rest.get(at + 1..)?;
                    return Some((text, true));
                }
                other => text.push(other),
            }
        }
        return None;
    }
    while let Some((at, character)) = characters.next() {
        match character {
            ',' | '}' => {
                *rest = rest.get(at..)?;
                return Some((text.trim_end().to_owned(), false));
            }
            '{' | '"' => return None,
            '\\' => text.push(characters.next()?.1),
            other => text.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::value::value_json;

    #[test]
    fn literals_by_type() {
        let array = ColumnType::Array(Box::new(ColumnType::Text));
        for (text, column_type, expected) in [
            (" 1 ", ColumnType::Integer, "1"),
            ("-9223372036854775808", ColumnType::BigInt, "-9223372036854775808"),
            ("1e3", ColumnType::Numeric { declared: None }, "1000"),
            ("-Inf", ColumnType::Double, "\"-Infinity\""),
            ("0.1", ColumnType::Real, "0.1"),
            ("tr", ColumnType::Boolean, "true"),
            ("off", ColumnType::Boolean, "false"),
            ("2024-02-29T23:00:00-02", ColumnType::TimestampTz, "\"2024-03-01T01:00:00+00:00\""),
            ("2024-02-29T23:00:00-02", ColumnType::Timestamp, "\"2024-02-29T23:00:00\""),
            (
                "A0EEBC999C0B4EF8BB6D6BB9BD380A11",
                ColumnType::Uuid,
                "\"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11\"",
            ),
            ("{a, \"b,\\\"c\" ,NULL,\"NULL\"}", array.clone(), "[\"a\",\"b,\\\"c\",null,\"NULL\"]"),
            ("\\xDE ad", ColumnType::Binary, "\"\\\\xdead\""),
            ("a\\\\b\\001", ColumnType::Binary, "\"\\\\x615c6201\""),
            ("{{1,2},{3,4}}", ColumnType::Array(Box::new(ColumnType::Integer)), "[[1,2],[3,4]]"),
        ] {
            assert_eq!(
                value_json(&parse_input(text, &column_type).unwrap(), &column_type),
                expected,
                "{text}"
            );
        }
        for (text, column_type, code) in [
            ("1.0", ColumnType::Integer, "22P02"),
            ("", ColumnType::Integer, "22P02"),
            ("99999999999", ColumnType::Integer, "22003"),
            ("9223372036854775808", ColumnType::BigInt, "22003"),
            ("1e400", ColumnType::Double, "22003"),
            ("1e-400", ColumnType::Double, "22003"),
            ("x", ColumnType::Numeric { declared: None }, "22P02"),
            ("o", ColumnType::Boolean, "22P02"),
            ("2023-02-29", ColumnType::Date, "22008"),
            ("soon", ColumnType::Date, "22007"),
            ("a0eebc99", ColumnType::Uuid, "22P02"),
            ("a\0b", ColumnType::Text, "22021"),
            ("\\xzz", ColumnType::Binary, "22023"),
            ("\\xabc", ColumnType::Binary, "22023"),
            ("\\9", ColumnType::Binary, "22P02"),
            ("{a", array.clone(), "22P02"),
            ("{,}", array, "22P02"),
            ("{x}", ColumnType::Array(Box::new(ColumnType::Integer)), "22P02"),
        ] {
            assert_eq!(parse_input(text, &column_type).unwrap_err().code, code, "{text}");
        }
    }
}
