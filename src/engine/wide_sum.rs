//! Exact sum of 76-digit decimals, for which no wider type is left: it adds with a check and fails rather than wraps.

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{DataType, Decimal256Type, i256};
use datafusion::common::{DataFusionError, Result, ScalarValue, exec_err};
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};

use super::value::max_unscaled;

/// A sum that its type can't hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SumOverflow {
    /// It has more digits than any decimal.
    #[error("the exact sum has more digits than any decimal holds")]
    Digits,
    /// It is beyond the range of the float type.
    #[error("the sum is beyond the range of its float type")]
    Range,
}

/// `wide_sum(decimal256) -> decimal256`.
pub(crate) fn wide_sum_function() -> AggregateUDF {
    AggregateUDF::from(WideSumFunction { signature: Signature::any(1, Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct WideSumFunction {
    signature: Signature,
}

impl AggregateUDFImpl for WideSumFunction {
    fn name(&self) -> &str {
        "wide_sum"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        match arguments {
            [DataType::Decimal256(_, scale)] => Ok(DataType::Decimal256(76, *scale)),
            _ => exec_err!("wide_sum takes one 256-bit decimal"),
        }
    }

    fn accumulator(&self, arguments: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        match arguments.return_field.data_type() {
            DataType::Decimal256(_, scale) => Ok(Box::new(WideSum { sum: None, scale: *scale })),
            other => exec_err!("wide_sum returns a 256-bit decimal, not {other}"),
        }
    }
}

#[derive(Debug)]
struct WideSum {
    sum: Option<i256>,
    scale: i8,
}

impl WideSum {
    fn add_all(&mut self, values: &[ArrayRef]) -> Result<()> {
        let Some(values) = values.first().and_then(|array| array.as_primitive_opt::<Decimal256Type>()) else {
            return exec_err!("wide_sum takes one 256-bit decimal");
        };
        // Partial sums may pass beyond 76 digits and come back; only what no 256 bits hold is lost.
        for value in values.iter().flatten() {
            let sum = self.sum.unwrap_or(i256::ZERO).checked_add(value);
            self.sum = Some(sum.ok_or_else(overflow)?);
        }
        Ok(())
    }
}

fn overflow() -> DataFusionError {
    DataFusionError::External(Box::new(SumOverflow::Digits))
}

impl Accumulator for WideSum {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.add_all(values)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let limit = max_unscaled(76);
        if self.sum.is_some_and(|sum| sum > limit || sum < limit.wrapping_neg()) {
            return Err(overflow());
        }
        Ok(ScalarValue::Decimal256(self.sum, 76, self.scale))
    }

    fn size(&self) -> usize {
        size_of::<Self>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::Decimal256(self.sum, 76, self.scale)])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.add_all(states)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::Decimal256Array;

    use super::*;

    fn sum(values: &[Option<i256>]) -> Result<ScalarValue> {
        let array = Decimal256Array::from(values.to_vec()).with_precision_and_scale(76, 0)?;
        let mut accumulator = WideSum { sum: None, scale: 0 };
        accumulator.update_batch(&[Arc::new(array)])?;
        accumulator.evaluate()
    }

    #[test]
    fn adds_exactly_or_fails() {
        let nines = max_unscaled(76);
        assert_eq!(sum(&[]).ok(), Some(ScalarValue::Decimal256(None, 76, 0)));
        assert_eq!(sum(&[None]).ok(), Some(ScalarValue::Decimal256(None, 76, 0)));
        assert_eq!(
            sum(&[Some(nines), Some(i256::ONE), Some(i256::MINUS_ONE)]).ok(),
            Some(ScalarValue::Decimal256(Some(nines), 76, 0))
        );
        for values in [vec![Some(nines), Some(i256::ONE)], vec![Some(nines); 8]] {
            let error = sum(&values).expect_err("overflow");
            assert!(
                matches!(error.find_root(), DataFusionError::External(inner) if inner.is::<SumOverflow>())
            );
        }
    }
}
