//! Exact decimals as PostgreSQL's `numeric` holds them: digits and scale, NaN and the infinities.

use std::cmp::Ordering;
use std::fmt;

/// Digits before the point that `numeric` can hold.
const MAX_INTEGER_DIGITS: i64 = 131_072;
/// Digits after the point that `numeric` can hold.
const MAX_SCALE: i64 = 16_383;

/// A `numeric` value. Equality is numeric (`12.3` equals `12.30`, NaN equals NaN); the scale is kept for printing.
#[derive(Debug, Clone)]
pub struct Decimal(Kind);

#[derive(Debug, Clone)]
enum Kind {
    /// `digits` is decimal text without leading zeros, at least `scale` long once padded; empty for zero.
    Finite {
        negative: bool,
        digits: String,
        scale: usize,
    },
    NaN,
    Infinity {
        negative: bool,
    },
}

/// Why a text isn't a `numeric`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DecimalError {
    /// Not a number at all (22P02).
    Syntax,
    /// More digits than the type holds (22003).
    Overflow,
}

impl Decimal {
    /// Parses what `numeric`'s input function accepts: sign, digits, point, exponent, `NaN`, `Infinity`.
    pub(crate) fn parse(text: &str) -> Result<Self, DecimalError> {
        let trimmed = text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\u{b}');
        let (negative, unsigned) = match trimmed.as_bytes().first() {
            Some(b'-') => (true, &trimmed[1..]),
            Some(b'+') => (false, &trimmed[1..]),
            _ => (false, trimmed),
        };
        if unsigned.eq_ignore_ascii_case("nan") && unsigned.len() == trimmed.len() {
            return Ok(Self(Kind::NaN));
        }
        if unsigned.eq_ignore_ascii_case("infinity") || unsigned.eq_ignore_ascii_case("inf") {
            return Ok(Self(Kind::Infinity { negative }));
        }
        let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => {
                let exponent = &unsigned[at + 1..];
                let unsigned_exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
                if unsigned_exponent.is_empty() || !unsigned_exponent.bytes().all(|b| b.is_ascii_digit()) {
                    return Err(DecimalError::Syntax);
                }
                (&unsigned[..at], exponent.parse::<i32>().map_err(|_| DecimalError::Overflow)?)
            }
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() && fraction.is_empty()
            || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit())
        {
            return Err(DecimalError::Syntax);
        }
        let scale = i64::try_from(fraction.len()).map_err(|_| DecimalError::Overflow)? - i64::from(exponent);
        let mut digits = format!("{whole}{fraction}").trim_start_matches('0').to_owned();
        if scale > MAX_SCALE
            || i64::try_from(digits.len()).map_err(|_| DecimalError::Overflow)? - scale > MAX_INTEGER_DIGITS
        {
            return Err(DecimalError::Overflow);
        }
        if scale < 0 && !digits.is_empty() {
            digits.extend(std::iter::repeat_n('0', usize::try_from(-scale).unwrap_or(0)));
        }
        Ok(Self::finite(negative, digits, usize::try_from(scale).unwrap_or(0)))
    }

    /// `units` hundredths, thousandths…: the integer `units` with the point `scale` digits from the right.
    pub fn scaled(units: i128, scale: usize) -> Self {
        let digits = units.unsigned_abs().to_string();
        let digits = if units == 0 { String::new() } else { digits };
        Self::finite(units < 0, digits, scale)
    }

    /// The number a text spells, e.g. `373109113199123456.78`; `NaN` when it spells none.
    pub fn from_text(text: &str) -> Self {
        Self::parse(text).unwrap_or(Self(Kind::NaN))
    }

    fn finite(negative: bool, digits: String, scale: usize) -> Self {
        // numeric has no negative zero.
        Self(Kind::Finite { negative: negative && !digits.is_empty(), digits, scale })
    }

    /// Digits after the point; 0 for NaN and the infinities.
    pub fn scale(&self) -> usize {
        match &self.0 {
            Kind::Finite { scale, .. } => *scale,
            Kind::NaN | Kind::Infinity { .. } => 0,
        }
    }

    /// Whether it is a number of digits, not NaN or an infinity.
    pub fn is_finite(&self) -> bool {
        matches!(self.0, Kind::Finite { .. })
    }

    /// The value as an integer of `10^-scale` units; `None` when it is not finite, needs more digits or overflows.
    pub fn units(&self, scale: usize) -> Option<i128> {
        let Kind::Finite { negative, digits, scale: own } = &self.0 else { return None };
        let magnitude: i128 = if digits.is_empty() { 0 } else { digits.parse().ok()? };
        let magnitude = if scale >= *own {
            magnitude.checked_mul(10_i128.checked_pow(u32::try_from(scale - own).ok()?)?)?
        } else {
            let divisor = 10_i128.checked_pow(u32::try_from(own - scale).ok()?)?;
            if magnitude % divisor != 0 {
                return None;
            }
            magnitude / divisor
        };
        Some(if *negative { -magnitude } else { magnitude })
    }
}

/// Compares two magnitudes given as digits without leading zeros and a scale.
fn compare_magnitudes(left: (&str, usize), right: (&str, usize)) -> Ordering {
    let whole = |(digits, scale): (&str, usize)| {
        // Zero has the smallest magnitude whatever its scale.
        if digits.is_empty() { i64::MIN } else { digits.len() as i64 - scale as i64 }
    };
    whole(left).cmp(&whole(right)).then_with(|| {
        // Same place for the leading digit: compare as if both were padded with zeros on the right.
        let length = left.0.len().max(right.0.len());
        let digit = |text: &str, at: usize| text.as_bytes().get(at).copied().unwrap_or(b'0');
        (0..length)
            .map(|at| digit(left.0, at).cmp(&digit(right.0, at)))
            .find(|o| o.is_ne())
            .unwrap_or(Ordering::Equal)
    })
}

impl Ord for Decimal {
    /// NaN equals itself and is greater than everything, as PostgreSQL orders it.
    fn cmp(&self, other: &Self) -> Ordering {
        let rank = |kind: &Kind| match kind {
            Kind::Infinity { negative: true } => 0,
            Kind::Finite { .. } => 1,
            Kind::Infinity { negative: false } => 2,
            Kind::NaN => 3,
        };
        let (
            Kind::Finite { negative, digits, scale },
            Kind::Finite { negative: other_negative, digits: other_digits, scale: other_scale },
        ) = (&self.0, &other.0)
        else {
            return rank(&self.0).cmp(&rank(&other.0));
        };
        match (negative, other_negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => compare_magnitudes((digits, *scale), (other_digits, *other_scale)),
            (true, true) => compare_magnitudes((other_digits, *other_scale), (digits, *scale)),
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Decimal {}

impl fmt::Display for Decimal {
    /// PostgreSQL's text: never an exponent, the scale kept.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::NaN => formatter.write_str("NaN"),
            Kind::Infinity { negative } => {
                formatter.write_str(if *negative { "-Infinity" } else { "Infinity" })
            }
            Kind::Finite { negative, digits, scale } => {
                if *negative {
                    formatter.write_str("-")?;
                }
                let padded = format!("{digits:0>width$}", width = scale + 1);
                let (whole, fraction) = padded.split_at(padded.len() - scale);
                formatter.write_str(whole)?;
                if *scale > 0 { write!(formatter, ".{fraction}") } else { Ok(()) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_keeps_scale_and_never_has_an_exponent() {
        for (input, printed) in [
            ("12.30", "12.30"),
            ("-0.05", "-0.05"),
            ("-0.00", "0.00"),
            ("1e3", "1000"),
            ("1.5e-3", "0.0015"),
            (".5", "0.5"),
            ("5.", "5"),
            ("0e5", "0"),
            (" +373109113199123456.78 ", "373109113199123456.78"),
            ("nan", "NaN"),
            ("-inf", "-Infinity"),
        ] {
            assert_eq!(Decimal::from_text(input).to_string(), printed, "{input}");
        }
        for wrong in ["", ".", "1.2.3", "1e", "1e+", "abc", "-nan", "1 2", "0x10"] {
            assert_eq!(Decimal::parse(wrong).unwrap_err(), DecimalError::Syntax, "{wrong}");
        }
        assert_eq!(Decimal::parse("1e131073").unwrap_err(), DecimalError::Overflow);
    }

    #[test]
    fn order_is_numeric() {
        let ascending = [
            "-Infinity",
            "-10.5",
            "-10.05",
            "-1",
            "0.00",
            "0.0049",
            "0.005",
            "1.0",
            "1.000001",
            "9",
            "10",
            "1e20",
            "Infinity",
            "NaN",
        ];
        for (index, left) in ascending.iter().enumerate() {
            for (other, right) in ascending.iter().enumerate() {
                assert_eq!(
                    Decimal::from_text(left).cmp(&Decimal::from_text(right)),
                    index.cmp(&other),
                    "{left} {right}"
                );
            }
        }
        assert_eq!(Decimal::from_text("12.3"), Decimal::from_text("12.300"));
    }

    #[test]
    fn units_are_exact_or_absent() {
        assert_eq!(Decimal::from_text("-12.30").units(2), Some(-1230));
        assert_eq!(Decimal::from_text("12.3").units(2), Some(1230));
        assert_eq!(Decimal::from_text("12.305").units(2), None);
        assert_eq!(Decimal::from_text("NaN").units(2), None);
        assert_eq!(Decimal::scaled(-5, 2).to_string(), "-0.05");
    }
}
