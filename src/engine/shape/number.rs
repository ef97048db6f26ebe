//! Numbers as they leave: exact, and spelt as PostgreSQL spells them.

use serde_json::{Number, Value};

use crate::config::ExactNumbers;
use crate::engine::number::DecimalText;
use crate::postgrest::shortest_digits;

/// A decimal spelling as a JSON number, or as a string where a double would change it and the mode asks for that.
pub(super) fn exact_value(text: &str, mode: ExactNumbers) -> Value {
    let survives = DecimalText::parse(text).is_some_and(|value| value.survives_double());
    match mode {
        ExactNumbers::String if !survives => Value::String(text.to_owned()),
        _ => number(text),
    }
}

/// A double; NaN and infinities are the strings PostgREST writes.
pub(super) fn double_value(value: f64) -> Value {
    match special(value) {
        Some(name) => name.into(),
        None => number(&spell(&shortest_digits(value), 15)),
    }
}

/// A real, by its own shortest digits.
pub(super) fn real_value(value: f32) -> Value {
    match special(f64::from(value)) {
        Some(name) => name.into(),
        None => number(&spell(&shortest_digits(value), 6)),
    }
}

fn special(value: f64) -> Option<&'static str> {
    if value.is_nan() {
        Some("NaN")
    } else if value == f64::INFINITY {
        Some("Infinity")
    } else if value == f64::NEG_INFINITY {
        Some("-Infinity")
    } else {
        None
    }
}

/// PostgreSQL's spelling of shortest digits: an exponent (two digits at least) below 1e-4 and from `threshold` on.
fn spell(scientific: &str, threshold: i32) -> String {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent >= threshold {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.abs());
    }
    let negative = mantissa.starts_with('-');
    let sign = if negative { "-" } else { "" };
    match DecimalText::parse(scientific).map(|value| value.to_plain()) {
        // The decimal form drops the sign of zero; PostgreSQL keeps it.
        Some(plain) if negative && !plain.starts_with('-') => format!("{sign}{plain}"),
        Some(plain) => plain,
        None => scientific.to_owned(),
    }
}

/// A JSON number with exactly these characters; they come from our own formatting, so null can't happen in practice.
fn number(text: &str) -> Value {
    serde_json::from_str::<Number>(text).map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spells_floats_as_postgresql_does() {
        for (value, text) in [
            (0.1, "0.1"),
            (-0.0, "-0"),
            (1e20, "1e+20"),
            (1e15, "1e+15"),
            (123456789012345.0, "123456789012345"),
            (1e-7, "1e-07"),
            (0.0001, "0.0001"),
            (123456789.123_456_79, "123456789.12345679"),
            (1.5e300, "1.5e+300"),
        ] {
            assert_eq!(double_value(value).to_string(), text);
        }
        assert_eq!(real_value(0.1).to_string(), "0.1");
        assert_eq!(real_value(16_777_216.0).to_string(), "1.6777216e+07");
        assert_eq!(real_value(3.4e38).to_string(), "3.4e+38");
        assert_eq!(double_value(f64::NAN), Value::from("NaN"));
        assert_eq!(double_value(f64::NEG_INFINITY), Value::from("-Infinity"));
    }

    #[test]
    fn strings_only_where_a_double_would_change_the_value() {
        assert_eq!(exact_value("12.30", ExactNumbers::String).to_string(), "12.30");
        assert_eq!(exact_value("9007199254740993", ExactNumbers::String), Value::from("9007199254740993"));
        assert_eq!(exact_value("9007199254740993", ExactNumbers::Number).to_string(), "9007199254740993");
    }
}
