//! Floating-point text in the three forms the API shows: `double precision`, `real`, and GeoJSON coordinates.

use crate::postgrest::shortest_digits;

/// Significant digits (without point) and the decimal exponent of the first one, from the shortest form.
fn shortest(text: &str) -> (bool, String, i32) {
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, exponent) = unsigned.split_once('e').unwrap_or((unsigned, "0"));
    (negative, mantissa.replace('.', ""), exponent.parse().unwrap_or(0))
}

/// Plain positional notation of `digits × 10^(exponent − length + 1)`.
fn positional(digits: &str, exponent: i32) -> String {
    let length = digits.len() as i32;
    if exponent < 0 {
        format!("0.{}{digits}", "0".repeat((-exponent - 1) as usize))
    } else if exponent + 1 >= length {
        format!("{digits}{}", "0".repeat((exponent + 1 - length) as usize))
    } else {
        let (whole, fraction) = digits.split_at((exponent + 1) as usize);
        format!("{whole}.{fraction}")
    }
}

/// Scientific notation with at least so many exponent digits: PostgreSQL writes two, as C does, PostGIS one.
fn scientific(digits: &str, exponent: i32, exponent_digits: usize) -> String {
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { String::new() } else { format!(".{rest}") };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{first}{point}e{sign}{:0exponent_digits$}", exponent.abs())
}

/// PostgreSQL prints positionally from 1e-4 up to a bound that differs by width.
fn postgres(negative: bool, digits: &str, exponent: i32, positional_below: i32) -> String {
    let unsigned = if (-4..positional_below).contains(&exponent) {
        positional(digits, exponent)
    } else {
        scientific(digits, exponent, 2)
    };
    if negative { format!("-{unsigned}") } else { unsigned }
}

fn special(is_nan: bool, negative: bool) -> String {
    if is_nan {
        "NaN"
    } else if negative {
        "-Infinity"
    } else {
        "Infinity"
    }
    .to_owned()
}

/// `double precision` as PostgreSQL 12 and later print it: the shortest text that reads back as the same value.
pub(super) fn double_text(value: f64) -> String {
    if !value.is_finite() {
        return special(value.is_nan(), value < 0.0);
    }
    let (negative, digits, exponent) = shortest(&shortest_digits(value));
    postgres(negative, &digits, exponent, 15)
}

/// `real` in its own width.
pub(super) fn real_text(value: f32) -> String {
    if !value.is_finite() {
        return special(value.is_nan(), value < 0.0);
    }
    let (negative, digits, exponent) = shortest(&shortest_digits(value));
    postgres(negative, &digits, exponent, 6)
}

/// A coordinate as PostGIS writes GeoJSON: shortest digits, cut to 15 decimals, scientific at both extremes.
pub(super) fn coordinate_text(value: f64) -> String {
    const DECIMALS: i32 = 15;
    if !value.is_finite() {
        return special(value.is_nan(), value < 0.0);
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let (negative, mut digits, mut exponent) = shortest(&shortest_digits(value));
    let magnitude = value.abs();
    if magnitude <= 1e-8 || magnitude >= 1e15 {
        let unsigned = scientific(&digits, exponent, 1);
        return if negative { format!("-{unsigned}") } else { unsigned };
    }
    // Digits kept so that none lies beyond the last decimal place.
    let keep = exponent + 1 + DECIMALS;
    if (digits.len() as i32) > keep {
        (digits, exponent) = round_digits(&digits, exponent, keep.max(0) as usize);
    }
    let text = positional(&digits, exponent);
    if negative { format!("-{text}") } else { text }
}

/// Rounds half to even at `keep` digits; trailing zeros go.
fn round_digits(digits: &str, exponent: i32, keep: usize) -> (String, i32) {
    let bytes = digits.as_bytes();
    let mut kept: Vec<u8> = bytes[..keep].to_vec();
    let rest = &bytes[keep..];
    let half = rest[0] == b'5' && rest[1..].iter().all(|digit| *digit == b'0');
    let odd = kept.last().is_some_and(|digit| (digit - b'0') % 2 == 1);
    let mut exponent = exponent;
    if rest[0] > b'5' || (rest[0] == b'5' && (!half || odd)) {
        let mut at = kept.len();
        loop {
            if at == 0 {
                kept.insert(0, b'1');
                exponent += 1;
                break;
            }
            at -= 1;
            if kept[at] == b'9' {
                kept[at] = b'0';
            } else {
                kept[at] += 1;
                break;
            }
        }
    }
    while kept.len() > 1 && kept.last() == Some(&b'0') {
        kept.pop();
    }
    (String::from_utf8(kept).unwrap_or_default(), exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_and_reals_print_as_postgresql_does() {
        for (value, text) in [
            (0.1, "0.1"),
            (1e20, "1e+20"),
            (1e15, "1e+15"),
            (123_456_789_012_345.0, "123456789012345"),
            (1e-7, "1e-07"),
            (0.0001, "0.0001"),
            (-0.0, "-0"),
            (1.5e300, "1.5e+300"),
            (123_456_789.123_456_79, "123456789.12345679"),
            (f64::INFINITY, "Infinity"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(double_text(value), text);
        }
        for (value, text) in
            [(0.1_f32, "0.1"), (16_777_217.0, "1.6777216e+07"), (123_456.0, "123456"), (3.4e38, "3.4e+38")]
        {
            assert_eq!(real_text(value), text);
        }
    }

    #[test]
    fn coordinates_have_at_most_fifteen_decimals() {
        for (value, text) in [
            (-8_238_310.125, "-8238310.125"),
            (8.123_456_789_012_345, "8.123456789012344"),
            (0.123_456_789_012_345_68, "0.123456789012346"),
            (-0.0, "0"),
            (180.0, "180"),
            (1e-9, "1e-9"),
            (0.999_999_999_999_999_9, "1"),
        ] {
            assert_eq!(coordinate_text(value), text);
        }
    }
}
