//! One value of an Arrow array as JSON.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};
use serde_json::Value;

use super::geojson::geojson;
use super::moment::{date_text, timestamp_text};
use super::number::{double_value, exact_value, real_value};
use crate::catalog::ColumnType;
use crate::config::ExactNumbers;
use crate::engine::number::DecimalText;

/// A stored value that can't be shown: the store holds something its types don't allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a stored {stored} can't be shown as {shown}")]
pub(in crate::engine) struct UnreadableValue {
    /// The Arrow type found.
    pub(in crate::engine) stored: String,
    /// What it should be shown as.
    pub(in crate::engine) shown: String,
}

/// The value at `row` shown as a value of `column_type`.
pub(in crate::engine) fn column_value(
    array: &ArrayRef,
    row: usize,
    column_type: &ColumnType,
    mode: ExactNumbers,
) -> Result<Value, UnreadableValue> {
    if array.is_null(row) {
        return Ok(Value::Null);
    }
    let value = match column_type {
        ColumnType::Text | ColumnType::Uuid | ColumnType::Opaque => text(array, row).map(Value::from),
        ColumnType::Character { length } => text(array, row).map(|text| padded(text, *length).into()),
        ColumnType::Json | ColumnType::Jsonb => {
            // Text that isn't JSON can only come from a signed file; shown as it is rather than lost.
            text(array, row).map(|text| serde_json::from_str(text).unwrap_or_else(|_| text.into()))
        }
        ColumnType::Integer | ColumnType::BigInt => {
            exact_text(array, row, None).map(|text| exact_value(&text, mode))
        }
        ColumnType::Numeric { declared } => {
            let scale = declared.map(|(_, scale)| usize::try_from(scale).unwrap_or(0));
            match exact_text(array, row, scale) {
                Some(text) => Some(exact_value(&text, mode)),
                // A column no decimal holds is kept as the text the API wrote.
                None => text(array, row).map(|text| match DecimalText::parse(text) {
                    Some(_) => exact_value(text, mode),
                    None => text.into(),
                }),
            }
        }
        ColumnType::Real => {
            array.as_primitive_opt::<Float32Type>().map(|values| real_value(values.value(row)))
        }
        ColumnType::Double => {
            array.as_primitive_opt::<Float64Type>().map(|values| double_value(values.value(row)))
        }
        ColumnType::Boolean => array.as_boolean_opt().map(|values| values.value(row).into()),
        ColumnType::Date => {
            array.as_primitive_opt::<Date32Type>().map(|values| date_text(values.value(row)).into())
        }
        ColumnType::Timestamp => timestamp(array, row, "").map(Value::from),
        ColumnType::TimestampTz => timestamp(array, row, "+00:00").map(Value::from),
        ColumnType::Binary => binary(array, row).map(|bytes| format!("\\x{}", hex::encode(bytes)).into()),
        ColumnType::Geometry { srid } => binary(array, row).and_then(|bytes| geojson(bytes, *srid)),
        ColumnType::Array(element) => return list(array, row, element, mode),
    };
    value.ok_or_else(|| unreadable(array, &column_type.label()))
}

fn unreadable(array: &ArrayRef, shown: &str) -> UnreadableValue {
    UnreadableValue { stored: array.data_type().to_string(), shown: shown.to_owned() }
}

fn list(
    array: &ArrayRef,
    row: usize,
    element: &ColumnType,
    mode: ExactNumbers,
) -> Result<Value, UnreadableValue> {
    let Some(lists) = array.as_list_opt::<i32>() else {
        return Err(unreadable(array, "an array"));
    };
    let items = lists.value(row);
    (0..items.len()).map(|index| column_value(&items, index, element, mode)).collect()
}

/// A number's plain digits, `scale` of them after the point where one is declared.
pub(super) fn exact_text(array: &ArrayRef, row: usize, scale: Option<usize>) -> Option<String> {
    let (unscaled, stored_scale) = match array.data_type() {
        DataType::Int32 => (array.as_primitive_opt::<Int32Type>()?.value(row).to_string(), 0),
        DataType::Int64 => (array.as_primitive_opt::<Int64Type>()?.value(row).to_string(), 0),
        DataType::Decimal128(_, stored) => {
            (array.as_primitive_opt::<Decimal128Type>()?.value(row).to_string(), *stored)
        }
        DataType::Decimal256(_, stored) => {
            (array.as_primitive_opt::<Decimal256Type>()?.value(row).to_string(), *stored)
        }
        _ => return None,
    };
    DecimalText::from_unscaled(&unscaled, stored_scale).map(|value| value.to_fixed(scale.unwrap_or(0)))
}

fn timestamp(array: &ArrayRef, row: usize, offset: &str) -> Option<String> {
    Some(timestamp_text(array.as_primitive_opt::<TimestampMicrosecondType>()?.value(row), offset))
}

fn text(array: &ArrayRef, row: usize) -> Option<&str> {
    match array.data_type() {
        DataType::Utf8 => array.as_string_opt::<i32>().map(|values| values.value(row)),
        DataType::LargeUtf8 => array.as_string_opt::<i64>().map(|values| values.value(row)),
        DataType::Utf8View => array.as_string_view_opt().map(|values| values.value(row)),
        _ => None,
    }
}

fn binary(array: &ArrayRef, row: usize) -> Option<&[u8]> {
    match array.data_type() {
        DataType::Binary => array.as_binary_opt::<i32>().map(|values| values.value(row)),
        DataType::BinaryView => array.as_binary_view_opt().map(|values| values.value(row)),
        _ => None,
    }
}

/// `character(n)` as the API shows it: blanks up to its length, counted in characters.
fn padded(text: &str, length: Option<u32>) -> String {
    let length = usize::try_from(length.unwrap_or(0)).unwrap_or(0);
    let missing = length.saturating_sub(text.chars().count());
    format!("{text}{}", " ".repeat(missing))
}

/// The array of a batch's column, by name.
pub(super) fn array_of(batch: &arrow::array::RecordBatch, name: &str) -> Result<ArrayRef, UnreadableValue> {
    batch
        .column_by_name(name)
        .map(Arc::clone)
        .ok_or_else(|| UnreadableValue { stored: "plan".to_owned(), shown: format!("column {name}") })
}
