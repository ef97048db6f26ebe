//! `average(sum, count)`: PostgreSQL's numeric average as a value that having and order can compare.

use std::sync::Arc;

use arrow::array::{Array, AsArray, BinaryViewBuilder};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Decimal256Type, Int64Type, i256};
use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use crate::engine::average::average_text;
use crate::engine::number::DecimalText;

/// The function for sums with this display scale. Its values are the bytes of [`DecimalText::to_sortable`]: an average
/// may have more digits than any decimal type.
pub(super) fn average(scale: usize) -> ScalarUDF {
    ScalarUDF::from(Average { scale, signature: Signature::any(2, Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Average {
    scale: usize,
    signature: Signature,
}

impl ScalarUDFImpl for Average {
    fn name(&self) -> &str {
        "average"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::BinaryView)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&arguments.args)?;
        let [sums, counts] = arrays.as_slice() else {
            return exec_err!("average takes a sum and a count");
        };
        let scale = i8::try_from(self.scale).unwrap_or(0);
        let sums = cast(sums, &DataType::Decimal256(76, scale))?;
        let (Some(sums), Some(counts)) =
            (sums.as_primitive_opt::<Decimal256Type>(), counts.as_primitive_opt::<Int64Type>())
        else {
            return exec_err!("average takes a decimal sum and an integer count");
        };
        let mut averages = BinaryViewBuilder::with_capacity(sums.len());
        for index in 0..sums.len() {
            let present = sums.is_valid(index) && counts.is_valid(index) && counts.value(index) > 0;
            if !present {
                averages.append_null();
                continue;
            }
            match self.average_of(sums.value(index), counts.value(index)) {
                Some(value) => averages.append_value(value),
                None => return exec_err!("an average of a sum and a positive count can't be written"),
            }
        }
        Ok(ColumnarValue::Array(Arc::new(averages.finish())))
    }
}

impl Average {
    fn average_of(&self, sum: i256, count: i64) -> Option<Vec<u8>> {
        let sum = DecimalText::from_unscaled(&sum.to_string(), i8::try_from(self.scale).ok()?)?;
        let text = average_text(&sum, self.scale, u64::try_from(count).ok()?)?;
        Some(DecimalText::parse(&text)?.to_sortable())
    }
}
