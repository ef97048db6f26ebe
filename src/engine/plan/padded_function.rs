//! `blank_padded(x)`: text of type `character(n)` with its blanks, as patterns see it.

use std::sync::Arc;

use arrow::array::{AsArray, StringViewArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

/// The function for a length in characters.
pub(super) fn blank_padded(length: u32) -> ScalarUDF {
    let length = usize::try_from(length).unwrap_or(0);
    ScalarUDF::from(BlankPadded { length, signature: Signature::any(1, Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct BlankPadded {
    length: usize,
    signature: Signature,
}

impl ScalarUDFImpl for BlankPadded {
    fn name(&self) -> &str {
        "blank_padded"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8View)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&arguments.args)?;
        let [array] = arrays.as_slice() else {
            return exec_err!("blank_padded takes one text");
        };
        let texts = cast(array, &DataType::Utf8View)?;
        let padded: StringViewArray = texts
            .as_string_view()
            .iter()
            .map(|text| {
                let text = text?;
                let missing = self.length.saturating_sub(text.chars().count());
                Some(format!("{text}{}", " ".repeat(missing)))
            })
            .collect();
        Ok(ColumnarValue::Array(Arc::new(padded)))
    }
}
