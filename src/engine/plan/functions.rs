//! Scalar functions that bring values to the form PostgreSQL compares them in.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringArray, StringViewArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float32Type, Float64Type};
use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

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

/// `case_folded(x)`: the form in which `ilike` compares, see [`fold_case`].
pub(super) fn case_folded() -> ScalarUDF {
    ScalarUDF::from(TextKey {
        name: "case_folded",
        convert: |text| Some(fold_case(text)),
        signature: Signature::any(1, Volatility::Immutable),
    })
}

/// Text lowered character by character with Unicode's simple mapping, as PostgreSQL's `ilike` does under `C.UTF-8`. The
/// engine's own `ILIKE` folds further: it takes `ſ` for `s` and `ς` for `σ`.
pub(super) fn fold_case(text: &str) -> String {
    // Only `İ` has a longer full mapping; its first character is the simple one.
    text.chars().map(|character| character.to_lowercase().next().unwrap_or(character)).collect()
}

/// `zero_stripped(x)`: the key of a plain unsigned integer written as text or number, without leading zeros; null for
/// anything else, which then matches nothing.
pub(super) fn zero_stripped() -> ScalarUDF {
    ScalarUDF::from(TextKey {
        name: "zero_stripped",
        convert: strip_zeros,
        signature: Signature::any(1, Volatility::Immutable),
    })
}

/// The zero-stripped form of one value: all zeros are `0`, text that isn't a plain integer has none.
pub(in crate::engine) fn strip_zeros(text: &str) -> Option<String> {
    // Decimal columns print their scale; a whole number stays one.
    let text = text.trim_matches(' ');
    let whole = match text.split_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|byte| byte == b'0') && !fraction.is_empty() => whole,
        Some(_) => return None,
        None => text,
    };
    if whole.is_empty() || !whole.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let stripped = whole.trim_start_matches('0');
    Some(if stripped.is_empty() { "0".to_owned() } else { stripped.to_owned() })
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

#[derive(Debug, PartialEq, Eq, Hash)]
struct TextKey {
    name: &'static str,
    convert: fn(&str) -> Option<String>,
    signature: Signature,
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
        let text = cast(&array, &DataType::Utf8)?;
        let Some(text) = text.as_any().downcast_ref::<StringArray>() else {
            return exec_err!("{} takes text or numbers", self.name);
        };
        let keyed: StringViewArray = text.iter().map(|value| value.and_then(self.convert)).collect();
        Ok(ColumnarValue::Array(Arc::new(keyed)))
    }
}

fn only_argument(arguments: ScalarFunctionArgs) -> Result<ArrayRef> {
    match ColumnarValue::values_to_arrays(&arguments.args)?.as_slice() {
        [array] => Ok(Arc::clone(array)),
        other => exec_err!("one argument expected, {} given", other.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::{fold_case, strip_zeros};

    #[test]
    fn case_is_folded_by_character() {
        for (text, expected) in [
            ("ÄPFEL", "äpfel"),
            ("\u{212a}", "k"),
            ("İ", "i"),
            ("ẞ", "ß"),
            ("ſ", "ſ"),
            ("ΑΣ", "ας".replace('ς', "σ").as_str()),
        ] {
            assert_eq!(fold_case(text), expected, "{text}");
        }
    }

    #[test]
    fn zero_stripping_keeps_plain_integers_only() {
        for (text, expected) in [
            ("03", Some("3")),
            ("3", Some("3")),
            ("000", Some("0")),
            ("0", Some("0")),
            ("12.00", Some("12")),
            ("12.5", None),
            ("-3", None),
            ("3a", None),
            ("", None),
            ("AL", None),
            ("3.", None),
        ] {
            assert_eq!(strip_zeros(text).as_deref(), expected, "{text}");
        }
    }
}
