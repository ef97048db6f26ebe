//! Scalar functions that bring values to the form PostgreSQL compares them in.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, StringViewArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float32Type, Float64Type};
use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use crate::engine::number::DecimalText;

/// `float_key(x)`: -0.0 becomes 0.0 and every NaN the same NaN, so that Arrow's total order is PostgreSQL's order.
///
/// It also keeps float comparisons away from Parquet statistics, which leave NaN out and would prune rows that
/// `> x` must find.
pub(super) fn float_key() -> ScalarUDF {
    ScalarUDF::from(FloatKey { signature: Signature::any(1, Volatility::Immutable) })
}

/// `blank_trimmed(x)`: `character(n)` without its insignificant trailing blanks.
pub(super) fn blank_trimmed() -> ScalarUDF {
    ScalarUDF::from(TextKey {
        name: "blank_trimmed",
        convert: |text| Some(text.trim_end_matches(' ').to_owned()),
        signature: Signature::any(1, Volatility::Immutable),
    })
}

/// `zero_stripped(x)`: the key of a plain unsigned integer without leading zeros; null for anything else, which then
/// matches nothing. Text must be digits only; a number must be whole, whatever its scale.
pub(super) fn zero_stripped() -> ScalarUDF {
    ScalarUDF::from(ZeroStripped { signature: Signature::any(1, Volatility::Immutable) })
}

/// `decimal_text(x)`: a decimal's shortest plain spelling, which is the same for equal values of any scale.
pub(super) fn decimal_text() -> ScalarUDF {
    ScalarUDF::from(TextKey {
        name: "decimal_text",
        convert: |text| DecimalText::parse(text).map(|value| value.to_plain()),
        signature: Signature::any(1, Volatility::Immutable),
    })
}

/// `decimal_double(x)`: the double nearest to a decimal, as PostgreSQL compares one with a float. Arrow's own cast
/// divides a rounded integer by a power of ten, which rounds twice.
pub(super) fn decimal_double() -> ScalarUDF {
    ScalarUDF::from(DecimalDouble { signature: Signature::any(1, Volatility::Immutable) })
}

/// The zero-stripped form of a text: all zeros are `0`, text that isn't a plain integer has none.
pub(in crate::engine) fn strip_zeros(text: &str) -> Option<String> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let stripped = text.trim_start_matches('0');
    Some(if stripped.is_empty() { "0".to_owned() } else { stripped.to_owned() })
}

/// The digits of a whole double that isn't negative.
pub(in crate::engine) fn whole_double(value: f64) -> Option<String> {
    // Adding zero turns -0 into 0.
    (value.is_finite() && value >= 0.0 && value.fract() == 0.0).then(|| format!("{:.0}", value + 0.0))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct FloatKey {
    signature: Signature,
}

impl ScalarUDFImpl for FloatKey {
    fn name(&self) -> &str {
        "float_key"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        match arguments {
            [float @ (DataType::Float32 | DataType::Float64)] => Ok(float.clone()),
            _ => exec_err!("float_key takes one float"),
        }
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let array = only_argument(arguments)?;
        let keyed: ArrayRef = if let Some(doubles) = array.as_primitive_opt::<Float64Type>() {
            Arc::new(doubles.unary::<_, Float64Type>(|v| if v.is_nan() { f64::NAN } else { v + 0.0 }))
        } else if let Some(reals) = array.as_primitive_opt::<Float32Type>() {
            Arc::new(reals.unary::<_, Float32Type>(|v| if v.is_nan() { f32::NAN } else { v + 0.0 }))
        } else {
            return exec_err!("float_key takes one float");
        };
        Ok(ColumnarValue::Array(keyed))
    }
}

/// A function from text to text, told apart by its name.
#[derive(Debug)]
struct TextKey {
    name: &'static str,
    convert: fn(&str) -> Option<String>,
    signature: Signature,
}

impl PartialEq for TextKey {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for TextKey {}

impl std::hash::Hash for TextKey {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for TextKey {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8View)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let array = only_argument(arguments)?;
        Ok(ColumnarValue::Array(Arc::new(text_of(&array, self.convert)?)))
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ZeroStripped {
    signature: Signature,
}

impl ScalarUDFImpl for ZeroStripped {
    fn name(&self) -> &str {
        "zero_stripped"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8View)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let array = only_argument(arguments)?;
        let keyed: StringViewArray = match array.data_type() {
            DataType::Float32 | DataType::Float64 => {
                let doubles = cast(&array, &DataType::Float64)?;
                let doubles = doubles.as_primitive::<Float64Type>();
                doubles.iter().map(|value| value.and_then(whole_double)).collect()
            }
            number if number.is_numeric() => text_of(&array, |text| {
                let whole = DecimalText::parse(text)?.to_whole()?;
                strip_zeros(&whole)
            })?,
            _ => text_of(&array, strip_zeros)?,
        };
        Ok(ColumnarValue::Array(Arc::new(keyed)))
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct DecimalDouble {
    signature: Signature,
}

impl ScalarUDFImpl for DecimalDouble {
    fn name(&self) -> &str {
        "decimal_double"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let array = only_argument(arguments)?;
        let text = cast(&array, &DataType::Utf8)?;
        let Some(text) = text.as_string_opt::<i32>() else {
            return exec_err!("decimal_double takes decimals");
        };
        let doubles: Float64Array =
            text.iter().map(|value| value.and_then(|text| text.parse().ok())).collect();
        Ok(ColumnarValue::Array(Arc::new(doubles)))
    }
}

/// A key per value, from its text.
fn text_of(array: &ArrayRef, convert: impl Fn(&str) -> Option<String>) -> Result<StringViewArray> {
    let text = cast(array, &DataType::Utf8)?;
    let Some(text) = text.as_string_opt::<i32>() else {
        return exec_err!("text or numbers expected, not {}", array.data_type());
    };
    Ok(text.iter().map(|value| value.and_then(&convert)).collect())
}

fn only_argument(arguments: ScalarFunctionArgs) -> Result<ArrayRef> {
    match ColumnarValue::values_to_arrays(&arguments.args)?.as_slice() {
        [array] => Ok(Arc::clone(array)),
        other => exec_err!("one argument expected, {} given", other.len()),
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{Decimal128Array, Float64Array, Int64Array, StringArray};
    use arrow::datatypes::Field;
    use datafusion::config::ConfigOptions;

    use super::*;

    fn called(function: &ScalarUDF, array: ArrayRef) -> ArrayRef {
        let rows = array.len();
        let field = Arc::new(Field::new("x", array.data_type().clone(), true));
        let return_type = function.return_type(&[array.data_type().clone()]).expect("type");
        let arguments = ScalarFunctionArgs {
            args: vec![ColumnarValue::Array(array)],
            arg_fields: vec![field],
            number_rows: rows,
            return_field: Arc::new(Field::new("y", return_type, true)),
            config_options: Arc::new(ConfigOptions::default()),
        };
        function.invoke_with_args(arguments).expect("call").into_array(rows).expect("array")
    }

    fn stripped(array: ArrayRef) -> Vec<Option<String>> {
        let keys = called(&zero_stripped(), array);
        keys.as_string_view().iter().map(|key| key.map(str::to_owned)).collect()
    }

    #[test]
    fn zero_stripping_keeps_plain_integers_only() {
        let some = |text: &str| Some(text.to_owned());
        let texts =
            ["03", "3", "000", "0", "12.00", "12.5", "-3", "+3", "3a", "", "AL", "3.", " 3", "٣", "1e1"];
        let keys = stripped(Arc::new(StringArray::from(texts.to_vec())));
        assert_eq!(keys[..4], [some("3"), some("3"), some("0"), some("0")]);
        assert!(keys[4..].iter().all(Option::is_none), "{keys:?}");
        let numbers = Arc::new(Int64Array::from(vec![Some(3), Some(0), Some(-3), None, Some(100)]));
        assert_eq!(stripped(numbers), [some("3"), some("0"), None, None, some("100")]);
        let decimals = Decimal128Array::from(vec![1200, 1250, -300, 0, 5]).with_precision_and_scale(18, 2);
        assert_eq!(
            stripped(Arc::new(decimals.expect("decimals"))),
            [some("12"), None, None, some("0"), None]
        );
        let doubles = [3.0, -0.0, 0.5, -3.0, f64::NAN, f64::INFINITY, 1e15, 1e22];
        assert_eq!(
            stripped(Arc::new(Float64Array::from(doubles.to_vec()))),
            [
                some("3"),
                some("0"),
                None,
                None,
                None,
                None,
                some("1000000000000000"),
                some("10000000000000000000000")
            ]
        );
    }

    #[test]
    fn a_decimal_becomes_the_nearest_double() {
        let unscaled = [900_719_925_474_099_301_i128, 123_456_789_012_345_678_901_234, -1];
        let array =
            Decimal128Array::from(unscaled.to_vec()).with_precision_and_scale(38, 20).expect("decimals");
        let doubles = called(&decimal_double(), Arc::new(array));
        #[allow(clippy::excessive_precision, reason = "the digits are the case")]
        let expected = [0.009_007_199_254_740_993_01, 1_234.567_890_123_456_789_012_34, -1e-20];
        assert_eq!(doubles.as_primitive::<Float64Type>().values().to_vec(), expected);
    }
}
