//! PostgreSQL's `avg` over exact numbers: `sum / count` at the scale its numeric division chooses.
//!
//! PostgreSQL keeps numerics in base 10,000 and picks the result scale so that at least 16 significant digits are
//! shown and no input digit is lost (`select_div_scale`). The quotient rounds half away from zero.

use super::number::DecimalText;

const MINIMUM_SIGNIFICANT_DIGITS: i64 = 16;
const DIGITS_PER_LIMB: i64 = 4;

/// The average as PostgreSQL prints it. `sum_scale` is the display scale of the sum; `count` must not be zero.
pub(crate) fn average_text(sum: &DecimalText, sum_scale: usize, count: u64) -> Option<String> {
    if count == 0 {
        return None;
    }
    let sum_text = sum.to_plain();
    let scale = division_scale(&sum_text, sum_scale, count);
    divide(&sum_text, count, scale)
}

/// The scale `select_div_scale` chooses for dividing `sum` by the integer `count`.
fn division_scale(sum: &str, sum_scale: usize, count: u64) -> usize {
    let (sum_weight, sum_first) = leading_limb(sum);
    let (count_weight, count_first) = leading_limb(&count.to_string());
    let mut quotient_weight = sum_weight - count_weight;
    if sum_first <= count_first {
        quotient_weight -= 1;
    }
    let scale = MINIMUM_SIGNIFICANT_DIGITS - quotient_weight * DIGITS_PER_LIMB;
    usize::try_from(scale).unwrap_or(0).max(sum_scale).min(1_000)
}

/// Weight and value of the first non-zero base-10,000 limb; (0, 0) for zero.
fn leading_limb(text: &str) -> (i64, u32) {
    let text = text.strip_prefix('-').unwrap_or(text);
    let (integer, fraction) = text.split_once('.').unwrap_or((text, ""));
    let limb = |digits: &str| digits.parse::<u32>().unwrap_or(0);
    let integer = integer.trim_start_matches('0');
    if !integer.is_empty() {
        let first = match integer.len() % 4 {
            0 => 4,
            partial => partial,
        };
        let weight = i64::try_from(integer.len().div_ceil(4)).unwrap_or(0) - 1;
        return (weight, limb(integer.get(..first).unwrap_or("0")));
    }
    for (index, start) in (0..fraction.len()).step_by(4).enumerate() {
        let mut digits = fraction.get(start..(start + 4).min(fraction.len())).unwrap_or("").to_owned();
        while digits.len() < 4 {
            digits.push('0');
        }
        let value = limb(&digits);
        if value != 0 {
            return (-(i64::try_from(index).unwrap_or(0) + 1), value);
        }
    }
    (0, 0)
}

/// Long division of a plain decimal by `count`, `scale` digits after the point, half away from zero.
fn divide(text: &str, count: u64, scale: usize) -> Option<String> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (integer, fraction) = text.split_once('.').unwrap_or((text, ""));
    let divisor = u128::from(count);
    let mut remainder = 0_u128;
    let mut quotient = Vec::with_capacity(integer.len() + scale);
    let feed = |digit: u128, remainder: &mut u128| {
        let current = *remainder * 10 + digit;
        *remainder = current % divisor;
        u8::try_from(current / divisor).unwrap_or(9)
    };
    let digits = integer.bytes().chain(fraction.bytes()).chain(std::iter::repeat(b'0'));
    for byte in digits.take(integer.len() + scale) {
        quotient.push(feed(u128::from(byte.checked_sub(b'0')?), &mut remainder));
    }
    // Digits of the dividend beyond the scale only matter for rounding, together with the remainder.
    let beyond = fraction.bytes().skip(scale);
    let mut next = None;
    for byte in beyond.chain(std::iter::once(b'0')) {
        let digit = feed(u128::from(byte.checked_sub(b'0')?), &mut remainder);
        next.get_or_insert(digit);
    }
    if next.is_some_and(|digit| digit >= 5) {
        let mut index = quotient.len();
        loop {
            if index == 0 {
                quotient.insert(0, 1);
                break;
            }
            index -= 1;
            if quotient[index] == 9 {
                quotient[index] = 0;
            } else {
                quotient[index] += 1;
                break;
            }
        }
    }
    let point = quotient.len() - scale;
    let text: String = quotient.iter().map(|digit| char::from(b'0' + digit)).collect();
    let (whole, decimals) = text.split_at(point);
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let sign = if negative && quotient.iter().any(|digit| *digit != 0) { "-" } else { "" };
    Some(if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{decimals}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values are what PostgreSQL 15 prints for the same division.
    #[test]
    fn matches_postgresql_scale_and_rounding() {
        for (sum, scale, count, expected) in [
            ("10", 0, 4, "2.5000000000000000"),
            ("1", 0, 3, "0.33333333333333333333"),
            ("2", 0, 3, "0.66666666666666666667"),
            ("-2", 0, 3, "-0.66666666666666666667"),
            ("0", 0, 3, "0.00000000000000000000"),
            ("100000", 0, 7, "14285.714285714286"),
            ("1", 0, 10000, "0.000100000000000000000000"),
            ("99999999999.99", 2, 37, "2702702702.70243243"),
            ("5000", 0, 5000, "1.00000000000000000000"),
            ("4999", 0, 5000, "0.99980000000000000000"),
            ("0.000001234567", 12, 12345678, "0.00000000000009999993519999468640"),
            ("12.30", 2, 2, "6.1500000000000000"),
            ("123456789012345678901234567890", 0, 7, "17636684144620811271604938270"),
            ("0.05", 2, 3, "0.01666666666666666667"),
        ] {
            let sum_value = DecimalText::parse(sum).expect("decimal");
            assert_eq!(average_text(&sum_value, scale, count).as_deref(), Some(expected), "{sum}/{count}");
        }
    }
}
