//! Correctly rounded sums and averages of floats: independent of order, partitions and batch sizes.
//!
//! The running sum is kept as a fixed-point number wide enough for every double (2,098 bits for 2^-1074 to 2^1024,
//! plus room for 2^64 addends), so only the final conversion rounds: a sum of reals straight to a real, an average
//! after the division. NaN and infinities follow PostgreSQL: any NaN, or infinities of both signs, give NaN. A sum of
//! finite values beyond the type's range is an error, as it is there.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray};
use arrow::datatypes::{DataType, Field, FieldRef, Float64Type};
use datafusion::common::{DataFusionError, Result, ScalarValue, exec_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};

use super::wide_sum::SumOverflow;

/// 32-bit limbs of the fixed-point sum, in two's complement spread over signed 64-bit words, so that carries can wait.
const LIMBS: usize = 68;
/// Adds between carry propagations: each add changes a word by less than 2^33.
const ADDS_PER_CARRY: u32 = 1 << 29;
/// The bit with weight 2^0 of limb 0 stands for 2^-1074.
const LOWEST_EXPONENT: i32 = -1074;

/// An exact running sum.
#[derive(Debug, Clone)]
pub(crate) struct ExactSum {
    words: [i64; LIMBS],
    pending: u32,
    special: Special,
    count: u64,
}

/// Non-finite addends met so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Special {
    nan: bool,
    positive: bool,
    negative: bool,
}

impl Default for ExactSum {
    fn default() -> Self {
        Self { words: [0; LIMBS], pending: 0, special: Special::default(), count: 0 }
    }
}

impl ExactSum {
    /// Adds one value exactly.
    pub(crate) fn add(&mut self, value: f64) {
        self.count += 1;
        if value.is_nan() {
            self.special.nan = true;
        } else if value.is_infinite() {
            if value > 0.0 { self.special.positive = true } else { self.special.negative = true }
        } else if value != 0.0 {
            let bits = value.to_bits();
            let biased = (bits >> 52) & 0x7ff;
            let fraction = bits & ((1 << 52) - 1);
            // Subnormals have the exponent of the smallest normal and no hidden bit.
            let (mantissa, shift) =
                if biased == 0 { (fraction, 0) } else { (fraction | (1 << 52), (biased - 1) as usize) };
            let spread = u128::from(mantissa) << (shift % 32);
            let first = shift / 32;
            for (step, part) in [spread, spread >> 32, spread >> 64].into_iter().enumerate() {
                let part = (part & 0xffff_ffff) as i64;
                if let Some(word) = self.words.get_mut(first + step) {
                    *word += if value < 0.0 { -part } else { part };
                }
            }
            self.pending += 1;
            if self.pending >= ADDS_PER_CARRY {
                self.carry();
            }
        }
    }

    /// Adds another sum.
    pub(crate) fn merge(&mut self, other: &Self) {
        let mut other = other.clone();
        other.carry();
        self.carry();
        for (word, addend) in self.words.iter_mut().zip(other.words) {
            *word += addend;
        }
        self.carry();
        self.special.nan |= other.special.nan;
        self.special.positive |= other.special.positive;
        self.special.negative |= other.special.negative;
        self.count += other.count;
    }

    /// Brings every word but the last into 0..2^32; the last keeps the sign.
    fn carry(&mut self) {
        let mut carry = 0_i64;
        for (index, word) in self.words.iter_mut().enumerate() {
            *word += carry;
            if index + 1 < LIMBS {
                carry = *word >> 32;
                *word &= 0xffff_ffff;
            }
        }
        self.pending = 0;
    }

    /// The sum rounded to the nearest double, ties to even; infinite if it is beyond the range, `None` if nothing was
    /// added.
    pub(crate) fn double(&self) -> Option<f64> {
        self.rounded(|limbs| round(limbs, LOWEST_EXPONENT, false, DOUBLE))
    }

    /// The sum rounded to the nearest real, once.
    pub(crate) fn real(&self) -> Option<f32> {
        // Rounded to a real's digits already; the cast only finds out whether the exponent is in range.
        self.rounded(|limbs| round(limbs, LOWEST_EXPONENT, false, REAL)).map(|value| value as f32)
    }

    /// The average rounded to the nearest double, once; never infinite unless a value is.
    pub(crate) fn mean(&self) -> Option<f64> {
        self.rounded(|limbs| {
            // Four more limbs leave at least 64 bits of quotient whatever the count.
            const MORE: usize = 4;
            let mut quotient = vec![0_i64; limbs.len() + MORE];
            let mut remainder = 0_u128;
            for index in (0..quotient.len()).rev() {
                let digit = index.checked_sub(MORE).and_then(|n| limbs.get(n)).copied().unwrap_or(0);
                let current = remainder << 32 | digit as u128;
                quotient[index] = (current / u128::from(self.count)) as i64;
                remainder = current % u128::from(self.count);
            }
            round(&quotient, LOWEST_EXPONENT - 32 * MORE as i32, remainder != 0, DOUBLE)
        })
    }

    /// Applies a rounding to the magnitude, brings back the sign, and keeps NaN and infinities.
    fn rounded(&self, round_magnitude: impl Fn(&[i64]) -> f64) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        let Special { nan, positive, negative } = self.special;
        if nan || (positive && negative) {
            return Some(f64::NAN);
        }
        if positive || negative {
            return Some(if positive { f64::INFINITY } else { f64::NEG_INFINITY });
        }
        let mut sum = self.clone();
        sum.carry();
        let negative = sum.words[LIMBS - 1] < 0;
        if negative {
            for word in &mut sum.words {
                *word = -*word;
            }
            sum.carry();
        }
        let magnitude = round_magnitude(&sum.words);
        Some(if negative { -magnitude } else { magnitude })
    }

    /// Whether an infinite result is one only because the sum is beyond the type's range.
    fn overflowed(&self, infinite: bool) -> bool {
        infinite && !self.special.positive && !self.special.negative
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut sum = self.clone();
        sum.carry();
        let Special { nan, positive, negative } = sum.special;
        let flags = u8::from(nan) | u8::from(positive) << 1 | u8::from(negative) << 2;
        std::iter::once(flags)
            .chain(sum.count.to_le_bytes())
            .chain(sum.words.iter().flat_map(|word| word.to_le_bytes()))
            .collect()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (flags, rest) = bytes.split_first()?;
        let (count, rest) = rest.split_first_chunk::<8>()?;
        let mut sum = Self::default();
        if rest.len() != LIMBS * 8 {
            return None;
        }
        for (word, chunk) in sum.words.iter_mut().zip(rest.chunks_exact(8)) {
            *word = i64::from_le_bytes(chunk.try_into().ok()?);
        }
        sum.special = Special { nan: flags & 1 != 0, positive: flags & 2 != 0, negative: flags & 4 != 0 };
        sum.count = u64::from_le_bytes(*count);
        Some(sum)
    }
}

/// What a float format can hold.
#[derive(Debug, Clone, Copy)]
struct Format {
    /// Significant bits.
    bits: usize,
    /// Exponent of the smallest positive value.
    lowest: i32,
}

const DOUBLE: Format = Format { bits: 53, lowest: -1074 };
const REAL: Format = Format { bits: 24, lowest: -149 };

/// Rounds a non-negative fixed-point number (limbs of 32 bits, lowest first, unit 2^`unit`) to the nearest value of a
/// format, ties to even. `more` says that something smaller than the unit was cut off.
fn round(limbs: &[i64], unit: i32, more: bool, format: Format) -> f64 {
    let Some(top) = limbs.iter().rposition(|limb| *limb != 0) else { return 0.0 };
    let length = top * 32 + (64 - limbs[top].leading_zeros() as usize);
    let bit = |position: usize| limbs.get(position / 32).is_some_and(|limb| limb >> (position % 32) & 1 == 1);
    let smallest = usize::try_from(format.lowest - unit).unwrap_or(0);
    let lowest = length.saturating_sub(format.bits).max(smallest);
    let mut mantissa =
        (lowest..length).rev().fold(0_u64, |value, position| value << 1 | u64::from(bit(position)));
    if lowest > 0 && bit(lowest - 1) {
        let sticky = more || (0..lowest - 1).any(bit);
        if sticky || mantissa & 1 == 1 {
            mantissa += 1;
        }
    }
    // Scaling by a power of two is exact here: the mantissa has at most 53 bits and the result's lowest bit is
    // representable. Two steps keep each factor in range.
    let exponent = i32::try_from(lowest).unwrap_or(i32::MAX).saturating_add(unit);
    let half = exponent / 2;
    mantissa as f64 * power_of_two(half) * power_of_two(exponent - half)
}

/// 2^exponent for exponents within a double's normal range.
fn power_of_two(exponent: i32) -> f64 {
    match u64::try_from(exponent + 1023) {
        Ok(biased @ 1..=2046) => f64::from_bits(biased << 52),
        Ok(0) | Err(_) => 0.0,
        Ok(_) => f64::INFINITY,
    }
}

/// What is made of the exact sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum FloatResult {
    /// The sum as a double.
    Double,
    /// The sum as a real.
    Real,
    /// The average as a double.
    Mean,
}

/// `exact_sum(double) -> double`, `exact_real_sum(double) -> real`, `exact_mean(double) -> double` for DataFusion.
#[derive(Debug, PartialEq, Eq, Hash)]
struct ExactSumFunction {
    result: FloatResult,
    signature: Signature,
}

/// The aggregate function with this result.
pub(crate) fn exact_sum_function(result: FloatResult) -> AggregateUDF {
    AggregateUDF::from(ExactSumFunction {
        result,
        signature: Signature::exact(vec![DataType::Float64], Volatility::Immutable),
    })
}

impl AggregateUDFImpl for ExactSumFunction {
    fn name(&self) -> &str {
        match self.result {
            FloatResult::Double => "exact_sum",
            FloatResult::Real => "exact_real_sum",
            FloatResult::Mean => "exact_mean",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(match self.result {
            FloatResult::Real => DataType::Float32,
            FloatResult::Double | FloatResult::Mean => DataType::Float64,
        })
    }

    fn accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(FloatAccumulator { sum: ExactSum::default(), result: self.result }))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(format!("{}[exact]", args.name), DataType::Binary, false))])
    }
}

#[derive(Debug)]
struct FloatAccumulator {
    sum: ExactSum,
    result: FloatResult,
}

impl Accumulator for FloatAccumulator {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let Some(values) = values.first().and_then(|array| array.as_primitive_opt::<Float64Type>()) else {
            return exec_err!("exact_sum takes doubles");
        };
        for value in values.iter().flatten() {
            self.sum.add(value);
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let scalar = match self.result {
            FloatResult::Double => ScalarValue::Float64(self.sum.double()),
            FloatResult::Real => ScalarValue::Float32(self.sum.real()),
            FloatResult::Mean => ScalarValue::Float64(self.sum.mean()),
        };
        let infinite = match scalar {
            ScalarValue::Float64(Some(value)) => value.is_infinite(),
            ScalarValue::Float32(Some(value)) => value.is_infinite(),
            _ => false,
        };
        match self.sum.overflowed(infinite) {
            true => Err(DataFusionError::External(Box::new(SumOverflow::Range))),
            false => Ok(scalar),
        }
    }

    fn size(&self) -> usize {
        size_of::<Self>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::Binary(Some(self.sum.to_bytes()))])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let Some(states) = states.first().and_then(|array| array.as_any().downcast_ref::<BinaryArray>())
        else {
            return exec_err!("exact_sum's state is binary");
        };
        for index in 0..states.len() {
            match ExactSum::from_bytes(states.value(index)) {
                Some(other) => self.sum.merge(&other),
                None => return exec_err!("exact_sum's state is damaged"),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sum(values: &[f64]) -> Option<f64> {
        let mut total = ExactSum::default();
        values.iter().for_each(|value| total.add(*value));
        total.double()
    }

    #[test]
    fn rounds_once_at_the_end() {
        assert_eq!(sum(&[]), None);
        assert_eq!(sum(&[0.1; 10]), Some(1.0));
        assert_eq!(sum(&[1e308, 1e308, -1e308]), Some(1e308));
        assert_eq!(sum(&[1e100, 1.0, -1e100]), Some(1.0));
        assert_eq!(sum(&[5e-324, 5e-324]), Some(1e-323));
        assert_eq!(sum(&[f64::MAX, f64::MAX]), Some(f64::INFINITY));
        assert_eq!(sum(&[-1.0, 1.0]), Some(0.0));
        assert_eq!(sum(&[9007199254740992.0, 1.0, 1.0]), Some(9007199254740994.0));
        assert_eq!(sum(&[9007199254740992.0, 1.0]), Some(9007199254740992.0));
        assert_eq!(sum(&[f64::MIN_POSITIVE, -f64::from_bits(1)]), Some(2.225073858507201e-308));
        assert!(sum(&[f64::NAN, 1.0]).is_some_and(f64::is_nan));
        assert!(sum(&[f64::INFINITY, f64::NEG_INFINITY]).is_some_and(f64::is_nan));
        assert_eq!(sum(&[f64::INFINITY, 1.0]), Some(f64::INFINITY));
    }

    fn total(values: &[f64]) -> ExactSum {
        let mut total = ExactSum::default();
        values.iter().for_each(|value| total.add(*value));
        total
    }

    #[test]
    fn a_sum_of_reals_rounds_once() {
        let half_step = f64::from(f32::EPSILON) / 2.0;
        // Rounded to a double first, the last addend is lost and the tie goes down.
        let values = [1.0, half_step, 2.0_f64.powi(-60)];
        assert_eq!(total(&values).real(), Some(1.0 + f32::EPSILON));
        assert_eq!(total(&values).double().map(|sum| sum as f32), Some(1.0));
        assert_eq!(total(&[f64::from(f32::from_bits(1)); 3]).real(), Some(f32::from_bits(3)));
        assert_eq!(total(&[f64::from(f32::MAX), 1.0]).real(), Some(f32::MAX));
        assert_eq!(total(&[f64::from(f32::MAX); 2]).real(), Some(f32::INFINITY));
    }

    #[test]
    fn an_average_rounds_once_and_stays_in_range() {
        assert_eq!(total(&[]).mean(), None);
        assert_eq!(
            total(&[1e308, 1e308]).mean(),
            Some(1e308),
            "the sum is beyond the range, the average isn't"
        );
        assert_eq!(total(&[f64::MAX; 3]).mean(), Some(f64::MAX));
        assert_eq!(total(&[-1.0, -2.0]).mean(), Some(-1.5));
        assert_eq!(total(&[1.0, 0.0, 0.0]).mean(), Some(1.0 / 3.0));
        assert_eq!(total(&[5e-324, 0.0]).mean(), Some(0.0), "a tie goes to even");
        assert_eq!(total(&[5e-324, 5e-324, 0.0]).mean(), Some(5e-324));
        assert_eq!(total(&[f64::INFINITY, 1.0]).mean(), Some(f64::INFINITY));
        // 2^53 + 1 isn't a double; a third of it, rounded once, isn't a third of its rounding.
        let values = [9_007_199_254_740_992.0, 1.0, 0.0];
        assert_eq!(total(&values).mean(), Some(3_002_399_751_580_331.0));
    }

    #[test]
    fn a_sum_beyond_the_range_is_an_error_and_infinity_is_not() {
        let evaluate = |values: &[f64], result| FloatAccumulator { sum: total(values), result }.evaluate();
        for result in [FloatResult::Double, FloatResult::Real] {
            let error = evaluate(&[f64::MAX, f64::MAX], result).expect_err("overflow");
            assert!(matches!(error, DataFusionError::External(inner) if inner.is::<SumOverflow>()));
            assert!(evaluate(&[f64::INFINITY, f64::MAX, f64::MAX], result).is_ok());
        }
    }

    proptest! {
        #[test]
        fn order_and_grouping_do_not_matter(
            values in proptest::collection::vec(any::<f64>().prop_filter("finite", |v| v.is_finite()), 1..40),
            cut in 0usize..40,
        ) {
            let forward = sum(&values);
            let backward = sum(&values.iter().rev().copied().collect::<Vec<_>>());
            prop_assert_eq!(forward.map(f64::to_bits), backward.map(f64::to_bits));
            let cut = cut.min(values.len());
            let (mut left, mut right) = (ExactSum::default(), ExactSum::default());
            values[..cut].iter().for_each(|v| left.add(*v));
            values[cut..].iter().for_each(|v| right.add(*v));
            let right = ExactSum::from_bytes(&right.to_bytes()).expect("own bytes");
            left.merge(&right);
            prop_assert_eq!(left.double().map(f64::to_bits), forward.map(f64::to_bits));
        }

        #[test]
        fn integers_sum_as_integers(values in proptest::collection::vec(-1_000_000_000i64..1_000_000_000, 1..100)) {
            let expected: i64 = values.iter().sum();
            let doubles: Vec<f64> = values.iter().map(|v| *v as f64).collect();
            prop_assert_eq!(sum(&doubles), Some(expected as f64));
        }
    }
}
