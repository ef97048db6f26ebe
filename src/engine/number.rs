//! Decimal text: exact parsing, comparison against a fixed scale, and the "would a double change it" rule.
//!
//! Nothing here goes through a double except to ask what a double would do.

use arrow::datatypes::i256;

use crate::postgrest::shortest_digits;

/// A finite decimal number as written: sign, digits before and after the point, no exponent left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecimalText {
    negative: bool,
    /// Digits before the point, no leading zeros; empty means zero.
    integer: String,
    /// Digits after the point, no trailing zeros.
    fraction: String,
}

/// Exponents beyond this are refused rather than expanded into megabytes of zeros.
const MAX_EXPONENT: i64 = 1_000;

/// A decimal placed at a scale: the largest multiple of 10^-scale that doesn't exceed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtScale {
    /// The value itself is such a multiple.
    Exact(i256),
    /// The value lies strictly between this multiple and the next one up.
    Above(i256),
    /// Larger than any 256-bit value at that scale.
    TooLarge,
    /// Smaller than any 256-bit value at that scale.
    TooSmall,
}

impl DecimalText {
    /// Parses `[+-]digits[.digits][e[+-]digits]` as PostgreSQL's numeric input does; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (negative, rest) = match text.as_bytes().first()? {
            b'-' => (true, text.get(1..)?),
            b'+' => (false, text.get(1..)?),
            _ => (false, text),
        };
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, parse_exponent(exponent)?),
            None => (rest, 0),
        };
        let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if before.is_empty() && after.is_empty() {
            return None;
        }
        if !before.bytes().chain(after.bytes()).all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let mut digits = format!("{before}{after}");
        let mut point = i64::try_from(before.len()).ok()?.checked_add(exponent)?;
        if point < 0 {
            digits.insert_str(0, &"0".repeat(usize::try_from(-point).ok()?));
            point = 0;
        }
        let point = usize::try_from(point).ok()?;
        if point > digits.len() {
            digits.push_str(&"0".repeat(point - digits.len()));
        }
        let (integer, fraction) = digits.split_at(point);
        let integer = integer.trim_start_matches('0').to_owned();
        let fraction = fraction.trim_end_matches('0').to_owned();
        let negative = negative && !(integer.is_empty() && fraction.is_empty());
        Some(Self { negative, integer, fraction })
    }

    /// From an unscaled integer and a scale, as stored in a decimal array.
    pub fn from_unscaled(unscaled: &str, scale: i8) -> Option<Self> {
        let exponent = -i64::from(scale);
        Self::parse(&format!("{unscaled}e{exponent}"))
    }

    /// The value at `scale` digits after the point, rounded towards negative infinity where it doesn't fit.
    pub fn at_scale(&self, scale: i8) -> AtScale {
        let scale = usize::try_from(scale).unwrap_or(0);
        let kept = self.fraction.get(..scale.min(self.fraction.len())).unwrap_or("");
        let exact = kept.len() == self.fraction.len();
        let digits = format!("{}{kept}{}", self.integer, "0".repeat(scale - kept.len()));
        let overflow = if self.negative { AtScale::TooSmall } else { AtScale::TooLarge };
        let digits = digits.trim_start_matches('0');
        if digits.len() > 76 {
            return overflow;
        }
        let Some(magnitude) = (if digits.is_empty() { Some(i256::ZERO) } else { i256::from_string(digits) })
        else {
            return overflow;
        };
        let signed = if self.negative { magnitude.wrapping_neg() } else { magnitude };
        match (exact, self.negative) {
            (true, _) => AtScale::Exact(signed),
            (false, false) => AtScale::Above(signed),
            (false, true) => AtScale::Above(signed.wrapping_sub(i256::ONE)),
        }
    }

    /// Shortest plain spelling: no exponent, no trailing zeros.
    pub fn to_plain(&self) -> String {
        let sign = if self.negative { "-" } else { "" };
        let integer = if self.integer.is_empty() { "0" } else { &self.integer };
        if self.fraction.is_empty() {
            format!("{sign}{integer}")
        } else {
            format!("{sign}{integer}.{}", self.fraction)
        }
    }

    /// Spelling with exactly `scale` digits after the point (more are kept if there are more).
    pub fn to_fixed(&self, scale: usize) -> String {
        let mut text = self.to_plain();
        let missing = scale.saturating_sub(self.fraction.len());
        if missing > 0 {
            if self.fraction.is_empty() {
                text.push('.');
            }
            text.push_str(&"0".repeat(missing));
        }
        text
    }

    /// Bytes that order as the numbers do, however many digits they have: sign, digits before the point, digits.
    pub fn to_sortable(&self) -> Vec<u8> {
        let digits = format!("{}{}", self.integer, self.fraction);
        let significant = digits.trim_start_matches('0');
        if significant.is_empty() {
            return vec![1];
        }
        // Negative when the fraction starts with zeros; shifted so that its bytes order.
        let skipped = digits.len() - significant.len();
        let point = self.integer.len() as i64 - skipped as i64;
        let mut bytes = vec![if self.negative { 0 } else { 2 }];
        bytes.extend((point + (1 << 32)).to_be_bytes());
        bytes.extend(significant.trim_end_matches('0').bytes());
        if self.negative {
            // The larger the magnitude the smaller the number; a prefix is the smaller magnitude.
            bytes.iter_mut().skip(1).for_each(|byte| *byte = !*byte);
            bytes.push(u8::MAX);
        }
        bytes
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.integer.is_empty() && self.fraction.is_empty()
    }

    /// The value if it is whole.
    pub fn to_whole(&self) -> Option<String> {
        self.fraction.is_empty().then(|| self.to_plain())
    }

    /// Whether the nearest double's shortest round trip is numerically equal to this value.
    pub fn survives_double(&self) -> bool {
        let Ok(double) = self.to_plain().parse::<f64>() else { return false };
        double.is_finite() && Self::parse(&shortest_digits(double)).is_some_and(|back| back == *self)
    }
}

fn parse_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let value = text.parse::<i64>().ok()?;
    (value.abs() <= MAX_EXPONENT).then_some(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parses_what_postgresql_parses_and_nothing_else() {
        for (text, plain) in [
            ("12.30", "12.3"),
            ("-0", "0"),
            ("-0.05", "-0.05"),
            (" 1e3 ", "1000"),
            ("1.5e-3", "0.0015"),
            (".5", "0.5"),
            ("5.", "5"),
            ("000123", "123"),
            ("123456789012345678901234567890.12", "123456789012345678901234567890.12"),
        ] {
            assert_eq!(DecimalText::parse(text).map(|d| d.to_plain()).as_deref(), Some(plain), "{text}");
        }
        for text in ["", ".", "-", "1e", "1e1.5", "0x10", "1,000", "NaN", "1e999999999", "--1", "1 2"] {
            assert_eq!(DecimalText::parse(text), None, "{text}");
        }
    }

    #[test]
    fn places_values_at_a_scale_towards_negative_infinity() {
        let at = |text: &str, scale| DecimalText::parse(text).map(|d| d.at_scale(scale));
        assert_eq!(at("1.25", 2), Some(AtScale::Exact(i256::from(125))));
        assert_eq!(at("1.259", 2), Some(AtScale::Above(i256::from(125))));
        assert_eq!(at("-1.259", 2), Some(AtScale::Above(i256::from(-126))));
        assert_eq!(at("0.001", 0), Some(AtScale::Above(i256::ZERO)));
        assert_eq!(at("1e100", 0), Some(AtScale::TooLarge));
        assert_eq!(at("-1e100", 0), Some(AtScale::TooSmall));
    }

    #[test]
    fn knows_what_a_double_changes() {
        let survives = |text: &str| DecimalText::parse(text).is_some_and(|d| d.survives_double());
        assert!(survives("0.1"));
        assert!(survives("9007199254740992"));
        assert!(survives("1e22"));
        assert!(!survives("9007199254740993"));
        assert!(!survives("373109113199123456.78"));
        assert!(!survives("0.1000000000000000055511151231257827"));
    }

    #[test]
    fn fixed_spelling_pads_and_never_cuts() {
        let fixed =
            |text: &str, scale| DecimalText::parse(text).map(|d| d.to_fixed(scale)).unwrap_or_default();
        assert_eq!(fixed("12.3", 2), "12.30");
        assert_eq!(fixed("12", 2), "12.00");
        assert_eq!(fixed("12.345", 2), "12.345");
        assert_eq!(fixed("12", 0), "12");
    }

    #[test]
    fn sortable_bytes_order_as_numbers_do() {
        let ascending = [
            "-1e40", "-100.5", "-100", "-99.999", "-10", "-9", "-1.5", "-1", "-0.5", "-0.05", "-0.049",
            "-1e-40", "0", "1e-40", "0.049", "0.05", "0.5", "1", "1.5", "9", "10", "99.999", "100", "100.5",
            "1e40",
        ];
        let bytes: Vec<Vec<u8>> =
            ascending.iter().map(|text| DecimalText::parse(text).expect("decimal").to_sortable()).collect();
        assert!(bytes.windows(2).all(|pair| pair[0] < pair[1]), "{bytes:?}");
        let same = |a: &str, b: &str| {
            DecimalText::parse(a).map(|d| d.to_sortable()) == DecimalText::parse(b).map(|d| d.to_sortable())
        };
        assert!(same("100", "100.00") && same("-0", "0") && same("1e2", "0100"));
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in ".{0,40}") {
            if let Some(value) = DecimalText::parse(&text) {
                prop_assert_eq!(DecimalText::parse(&value.to_plain()), Some(value));
            }
        }
    }
}
