//! Rows of the two spatial relations out of Arrow batches.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Int32Type, Int64Type};

use crate::spatial::{DistrictRow, NonprofitRow};

/// Typed access to one row of a batch by column name.
struct RowReader<'a> {
    batch: &'a RecordBatch,
    row: usize,
}

impl RowReader<'_> {
    fn array(&self, name: &str) -> Option<&ArrayRef> {
        self.batch.column_by_name(name).filter(|array| array.is_valid(self.row))
    }

    fn text(&self, name: &str) -> Option<String> {
        let array = self.array(name)?;
        match array.data_type() {
            DataType::Utf8View => Some(array.as_string_view_opt()?.value(self.row).to_owned()),
            _ => Some(array.as_string_opt::<i32>()?.value(self.row).to_owned()),
        }
    }

    fn integer(&self, name: &str) -> Option<i64> {
        let array = self.array(name)?;
        match array.data_type() {
            DataType::Int32 => Some(array.as_primitive_opt::<Int32Type>()?.value(self.row).into()),
            _ => Some(array.as_primitive_opt::<Int64Type>()?.value(self.row)),
        }
    }

    fn flag(&self, name: &str) -> Option<bool> {
        Some(self.array(name)?.as_boolean_opt()?.value(self.row))
    }

    fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        let array = self.array(name)?;
        match array.data_type() {
            DataType::BinaryView => Some(array.as_binary_view_opt()?.value(self.row).to_vec()),
            _ => Some(array.as_binary_opt::<i32>()?.value(self.row).to_vec()),
        }
    }
}

/// The rows of districts; geometry may be absent from the batch.
pub(super) fn district_rows(batch: &RecordBatch) -> impl Iterator<Item = DistrictRow> + '_ {
    (0..batch.num_rows()).filter_map(move |row| {
        let reader = RowReader { batch, row };
        Some(DistrictRow {
            // Both are declared not null; a row without them is in no congress.
            id: reader.integer("id")?,
            congress_number: reader.integer("congress_number")?,
            statename: reader.text("statename"),
            district: reader.integer("district"),
            district_id: reader.text("district_id"),
            geometry: reader.bytes("geom"),
        })
    })
}

/// The rows of nonprofits.
pub(super) fn nonprofit_rows(batch: &RecordBatch) -> impl Iterator<Item = NonprofitRow> + '_ {
    (0..batch.num_rows()).map(move |row| {
        let reader = RowReader { batch, row };
        NonprofitRow {
            ein: reader.text("ein"),
            org_name: reader.text("org_name_current"),
            ntee: reader.text("ntee_irs"),
            state: reader.text("f990_org_addr_state"),
            is_current: reader.flag("is_current"),
            geometry: reader.bytes("geom_point"),
        }
    })
}

/// The distinct values of the batches' first column, ascending; nulls are none.
pub(super) fn distinct_integers(batches: &[RecordBatch]) -> Vec<i64> {
    let mut found = std::collections::BTreeSet::new();
    for array in batches.iter().filter_map(|batch| batch.columns().first()) {
        match array.data_type() {
            DataType::Int32 => {
                found.extend(array.as_primitive::<Int32Type>().iter().flatten().map(i64::from));
            }
            DataType::Int64 => found.extend(array.as_primitive::<Int64Type>().iter().flatten()),
            _ => {}
        }
    }
    found.into_iter().collect()
}
