//! An answer's rows as one typed Arrow batch: what files are written from, without a detour through JSON.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Decimal128Array, Decimal256Array, Int64Array, RecordBatch, StringArray};
use arrow::compute::{cast, concat_batches};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, i256};
use arrow::error::ArrowError;

use super::execute::RunError;
use crate::catalog::ColumnType;
use crate::engine::plan::{Display, MetricDisplay, Output};
use crate::engine::shape::{Row, average_texts, column_value};

/// Rows as the engine found them.
#[derive(Debug, Clone)]
pub(in crate::engine) enum TypedRows {
    /// A plan's batches, and how its columns become the answer's.
    Batches {
        /// The batches.
        batches: Vec<RecordBatch>,
        /// Their schema, also where there are none.
        schema: SchemaRef,
        /// The answer's columns.
        outputs: Vec<Output>,
    },
    /// One row of counts, by output name.
    Counts(Row),
}

impl TypedRows {
    /// The first `rows` rows, a column per output: text as text, exact numbers as integers and decimals, dates and
    /// timestamps as such. An average is a decimal of as many digits as its values show, or their text where no decimal
    /// has that many.
    pub(super) fn table(&self, rows: usize) -> Result<RecordBatch, RunError> {
        let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = match self {
            Self::Counts(row) => row
                .iter()
                .map(|(name, count)| {
                    let values: ArrayRef = Arc::new(Int64Array::from(vec![count.as_i64()]));
                    (Field::new(name, DataType::Int64, true), values)
                })
                .unzip(),
            Self::Batches { batches, schema, outputs } => {
                let schema = batches.first().map_or_else(|| Arc::clone(schema), RecordBatch::schema);
                let batch = concat_batches(&schema, batches).map_err(failed)?;
                let columns = outputs.iter().map(|output| {
                    let array = typed(&batch, output)?;
                    Ok((Field::new(&output.name, array.data_type().clone(), true), array))
                });
                columns.collect::<Result<Vec<_>, RunError>>()?.into_iter().unzip()
            }
        };
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(failed)?;
        Ok(batch.slice(0, rows.min(batch.num_rows())))
    }
}

fn failed(error: ArrowError) -> RunError {
    RunError::Failed(Box::new(error.into()))
}

fn typed(batch: &RecordBatch, output: &Output) -> Result<ArrayRef, RunError> {
    if let Display::Metric(MetricDisplay::Average { .. }) = &output.display {
        return decimals(average_texts(batch, output)?).map_err(failed);
    }
    let stored = batch
        .column_by_name(&output.alias)
        .ok_or_else(|| failed(ArrowError::SchemaError(format!("the plan has no column {}", output.alias))))?;
    match &output.display {
        // Blank-padded, as the API shows it.
        Display::Column(column_type @ ColumnType::Character { .. })
        | Display::Metric(MetricDisplay::Value(column_type @ ColumnType::Character { .. })) => {
            let mut padded = Vec::with_capacity(stored.len());
            for row in 0..stored.len() {
                let value = column_value(stored, row, column_type, crate::config::ExactNumbers::String)?;
                padded.push(value.as_str().map(str::to_owned));
            }
            Ok(Arc::new(StringArray::from(padded)))
        }
        _ => match stored.data_type() {
            DataType::Utf8View => cast(stored, &DataType::Utf8).map_err(failed),
            DataType::BinaryView => cast(stored, &DataType::Binary).map_err(failed),
            _ => Ok(Arc::clone(stored)),
        },
    }
}

/// Plain decimal spellings as the narrowest decimal that holds them all.
fn decimals(texts: Vec<Option<String>>) -> Result<ArrayRef, ArrowError> {
    let parts = |text: &str| -> (usize, usize) {
        let (integer, fraction) = text.trim_start_matches('-').split_once('.').unwrap_or((text, ""));
        (integer.trim_start_matches(['-', '0']).len(), fraction.len())
    };
    let shapes = || texts.iter().flatten().map(|text| parts(text));
    let scale = shapes().map(|(_, scale)| scale).max().unwrap_or(0);
    let digits = shapes().map(|(integer, _)| integer).max().unwrap_or(0) + scale;
    let (Ok(precision @ 0..=76), Ok(scale)) = (u8::try_from(digits), i8::try_from(scale)) else {
        return Ok(Arc::new(StringArray::from(texts)));
    };
    let unscaled = texts.iter().map(|text| {
        let text = text.as_deref()?;
        let fraction = parts(text).1;
        let missing = usize::try_from(scale).unwrap_or(0).saturating_sub(fraction);
        i256::from_string(&format!("{}{}", text.replace('.', ""), "0".repeat(missing)))
    });
    Ok(match precision {
        0..=38 => {
            let values: Decimal128Array = unscaled.map(|value| value.and_then(i256::to_i128)).collect();
            Arc::new(values.with_precision_and_scale(precision.max(1), scale)?)
        }
        _ => {
            let values: Decimal256Array = unscaled.collect();
            Arc::new(values.with_precision_and_scale(precision, scale)?)
        }
    })
}

#[cfg(test)]
mod tests {
    use arrow::array::AsArray;

    use super::*;

    #[test]
    fn averages_become_decimals_that_hold_them_all() {
        let shown = |texts: &[Option<&str>]| {
            let array =
                decimals(texts.iter().map(|text| text.map(str::to_owned)).collect()).expect("an array");
            let values = (0..array.len())
                .map(|row| arrow::util::display::array_value_to_string(&array, row).unwrap_or_default());
            (array.data_type().clone(), values.collect::<Vec<_>>())
        };
        let (data_type, values) = shown(&[Some("-0.50"), None, Some("12.125")]);
        assert_eq!(data_type, DataType::Decimal128(5, 3));
        assert_eq!(values, ["-0.500", "", "12.125"]);
        let long = format!("{}.5", "9".repeat(50));
        assert_eq!(shown(&[Some(&long)]), (DataType::Decimal256(51, 1), vec![long.clone()]));
        let longer = format!("{}.5", "9".repeat(76));
        assert_eq!(shown(&[Some(&longer)]), (DataType::Utf8, vec![longer.clone()]));
        assert_eq!(shown(&[None]).0, DataType::Decimal128(1, 0));
        assert_eq!(shown(&[Some("0")]), (DataType::Decimal128(1, 0), vec!["0".to_owned()]));
        assert!(shown(&[]).1.is_empty());
    }

    #[test]
    fn counts_are_one_row() {
        let row = Row::from_iter([("n".to_owned(), 5_u64.into())]);
        let table = TypedRows::Counts(row).table(1).expect("a table");
        assert_eq!(table["n"].as_primitive::<arrow::datatypes::Int64Type>().value(0), 5);
    }
}
