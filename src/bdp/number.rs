//! Whether a number, as written, is the number RFC 8785 would write.
//!
//! RFC 8785 hashes the shortest text of the nearest double. A literal that means another number than that text
//! would be signed as one value and read as another, so it is refused rather than rounded.

/// A decimal number: `digits × 10^exponent`, digits without leading or trailing zeros.
#[derive(PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

/// The canonical text of a JSON number, or `None` when it doesn't mean the same number as `text`.
///
/// `-0` means the same number as its canonical text `0`.
pub(super) fn canonical_number(text: &str) -> Option<String> {
    let nearest: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
    let canonical = serde_json_canonicalizer::to_string(&nearest).ok()?;
    (decimal(text)? == decimal(&canonical)?).then_some(canonical)
}

/// Reads a JSON number literal; `None` if it isn't one or its exponent has no place in 64 bits.
fn decimal(text: &str) -> Option<Decimal> {
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all: String = [whole, fraction].concat();
    if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let significant = all.trim_start_matches('0');
    let digits = significant.trim_end_matches('0');
    if digits.is_empty() {
        return Some(Decimal { negative: false, digits: String::new(), exponent: 0 });
    }
    let written: i64 = exponent.map_or(Some(0), |exponent| exponent.parse().ok())?;
    let trailing = i64::try_from(significant.len() - digits.len()).ok()?;
    let places = i64::try_from(fraction.len()).ok()?;
    let exponent = written.checked_sub(places)?.checked_add(trailing)?;
    Some(Decimal { negative, digits: digits.to_owned(), exponent })
}

#[cfg(test)]
mod tests {
    use super::canonical_number;

    #[test]
    fn numbers_that_survive() {
        for (text, canonical) in [
            ("0", "0"),
            ("-0", "0"),
            ("-0.0e7", "0"),
            ("0e99999999999999999999", "0"),
            ("0.1", "0.1"),
            ("4.50", "4.5"),
            ("2e-3", "0.002"),
            ("1E+30", "1e+30"),
            ("1e21", "1e+21"),
            ("1000000000000000000000", "1e+21"),
            ("1e-7", "1e-7"),
            ("0.0000001", "1e-7"),
            ("5e-324", "5e-324"),
            ("9007199254740992", "9007199254740992"),
            ("-9007199254740991", "-9007199254740991"),
            ("333333333.33333325", "333333333.33333325"),
        ] {
            assert_eq!(canonical_number(text).as_deref(), Some(canonical), "{text}");
        }
    }

    #[test]
    fn numbers_that_do_not() {
        for text in [
            "9007199254740993",
            "1e400",
            "-1e400",
            "1e-400",
            "1e99999999999999999999",
            "0.1000000000000000055511151231257827",
            "333333333.33333329",
            "4.9e-324",
            "295147905179352825856",
            "1.00000000000000000000000001",
        ] {
            assert_eq!(canonical_number(text), None, "{text}");
        }
    }
}
