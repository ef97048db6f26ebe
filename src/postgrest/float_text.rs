//! The digits PostgreSQL prints a float with.

/// The shortest digits that read back as the same float, as `d.ddde±x` without a plus sign; of two texts equally far from
/// the value the one with the even last digit.
///
/// PostgreSQL 12 and later print with the Ryu algorithm, which decides the tie this way; Rust's own formatting takes the
/// other one (1825581540824369.25 lies between `….2` and `….3`). The value must be finite.
pub fn shortest_digits(value: impl ryu::Float) -> String {
    let mut buffer = ryu::Buffer::new();
    let text = buffer.format_finite(value);
    let (sign, unsigned) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (mantissa, exponent) = unsigned.split_once('e').unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let significant = all.trim_start_matches('0');
    let skipped = all.len() - significant.len();
    let digits = significant.trim_end_matches('0');
    let Some(first) = digits.get(..1) else { return format!("{sign}0e0") };
    let rest =
        digits.get(1..).filter(|rest| !rest.is_empty()).map(|rest| format!(".{rest}")).unwrap_or_default();
    let shift = whole.len() as i64 - 1 - skipped as i64;
    let exponent = exponent.parse::<i64>().unwrap_or(0) + shift;
    format!("{sign}{first}{rest}e{exponent}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spells_one_digit_before_the_point() {
        for (value, text) in [
            (0.0, "0e0"),
            (-0.0, "-0e0"),
            (0.1, "1e-1"),
            (123.0, "1.23e2"),
            (-0.00125, "-1.25e-3"),
            (1e20, "1e20"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e308"),
            (12_345_678_901_234_567.0, "1.2345678901234568e16"),
        ] {
            assert_eq!(shortest_digits(value), text);
        }
        assert_eq!(shortest_digits(0.1_f32), "1e-1");
    }

    #[test]
    fn ties_go_to_the_even_digit() {
        assert_eq!(shortest_digits(7_302_326_163_297_477.0 / 4.0), "1.8255815408243692e15");
        assert_eq!(shortest_digits(5_699_815_695_124_825.0 / 4.0), "1.4249539237812062e15");
    }

    proptest! {
        #[test]
        fn reads_back_as_the_same_float(value in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL) {
            prop_assert_eq!(shortest_digits(value).parse::<f64>().unwrap().to_bits(), value.to_bits());
            prop_assert_eq!(shortest_digits(value).len(), format!("{value:e}").len());
        }
    }
}
