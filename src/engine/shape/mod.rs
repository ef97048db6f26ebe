//! Batches to an answer's rows: exact numbers, PostgreSQL's spellings, the size cap.

mod cell;
mod geojson;
mod moment;
mod number;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::Int64Type;
use serde_json::{Map, Value};

pub(in crate::engine) use cell::{UnreadableValue, column_value};
use cell::{array_of, exact_text};
pub(in crate::engine) use moment::{date_text, timestamp_text};
use number::{double_value, exact_value, real_value};

use super::average::average_text;
use super::number::DecimalText;
use super::plan::{Display, MetricDisplay, Output};
use crate::config::ExactNumbers;

/// One row of an answer, by output name.
pub(crate) type Row = Map<String, Value>;

/// Every row of the batches.
pub(in crate::engine) fn shape_rows(
    batches: &[RecordBatch],
    outputs: &[Output],
    mode: ExactNumbers,
) -> Result<Vec<Row>, UnreadableValue> {
    let mut rows = Vec::with_capacity(batches.iter().map(RecordBatch::num_rows).sum());
    for batch in batches {
        let arrays = outputs
            .iter()
            .map(|output| array_of(batch, &output.alias))
            .collect::<Result<Vec<ArrayRef>, _>>()?;
        for index in 0..batch.num_rows() {
            let mut row = Row::new();
            for (output, array) in outputs.iter().zip(&arrays) {
                let value = match &output.display {
                    Display::Column(column_type) => column_value(array, index, column_type, mode)?,
                    Display::Metric(metric) => metric_value(batch, array, index, metric, mode)?,
                };
                row.insert(output.name.clone(), value);
            }
            rows.push(row);
        }
    }
    Ok(rows)
}

fn metric_value(
    batch: &RecordBatch,
    array: &ArrayRef,
    index: usize,
    metric: &MetricDisplay,
    mode: ExactNumbers,
) -> Result<Value, UnreadableValue> {
    use arrow::datatypes::{Float32Type, Float64Type};
    if array.is_null(index) {
        return Ok(Value::Null);
    }
    let shown = match metric {
        MetricDisplay::Value(column_type) => return column_value(array, index, column_type, mode),
        MetricDisplay::Count => exact_text(array, index, None).map(|text| exact_value(&text, mode)),
        MetricDisplay::ExactSum(scale) => {
            exact_text(array, index, *scale).map(|text| exact_value(&text, mode))
        }
        MetricDisplay::Double => {
            array.as_primitive_opt::<Float64Type>().map(|values| double_value(values.value(index)))
        }
        MetricDisplay::Real => {
            array.as_primitive_opt::<Float32Type>().map(|values| real_value(values.value(index)))
        }
        MetricDisplay::Average { sum, count, scale } => {
            let sums = array_of(batch, sum)?;
            let counts = array_of(batch, count)?;
            average(&sums, &counts, index, *scale).map(|text| exact_value(&text, mode))
        }
    };
    shown.ok_or_else(|| UnreadableValue {
        stored: array.data_type().to_string(),
        shown: "a metric".to_owned(),
    })
}

/// The values of an average's output column as PostgreSQL prints them.
pub(in crate::engine) fn average_texts(
    batch: &RecordBatch,
    output: &Output,
) -> Result<Vec<Option<String>>, UnreadableValue> {
    let Display::Metric(MetricDisplay::Average { sum, count, scale }) = &output.display else {
        return Err(UnreadableValue { stored: "another metric".to_owned(), shown: "an average".to_owned() });
    };
    let (shown, sums, counts) =
        (array_of(batch, &output.alias)?, array_of(batch, sum)?, array_of(batch, count)?);
    Ok((0..batch.num_rows())
        .map(|index| if shown.is_null(index) { None } else { average(&sums, &counts, index, *scale) })
        .collect())
}

fn average(sums: &ArrayRef, counts: &ArrayRef, index: usize, scale: usize) -> Option<String> {
    let sum = DecimalText::parse(&exact_text(sums, index, None)?)?;
    let count = counts.as_primitive_opt::<Int64Type>()?.value(index);
    average_text(&sum, scale, u64::try_from(count).ok()?)
}

/// Leaves out whole rows from the end until their JSON fits `max_bytes`; returns how many were left out, or the size
/// of the first row if that alone doesn't fit.
pub(in crate::engine) fn cap_size(rows: &mut Vec<Row>, max_bytes: u64) -> Result<usize, u64> {
    let mut total = 0_u64;
    for (index, row) in rows.iter().enumerate() {
        // A row's JSON and the comma behind it.
        let size = serde_json::to_vec(row).map_or(0, |bytes| bytes.len() as u64) + 1;
        total = total.saturating_add(size);
        if total > max_bytes {
            if index == 0 {
                return Err(size);
            }
            let left_out = rows.len() - index;
            rows.truncate(index);
            return Ok(left_out);
        }
    }
    Ok(0)
}
