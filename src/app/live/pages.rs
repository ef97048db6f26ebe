//! Pages as received, and the batches they become: by the decoder a sync uses, so that values mean the same.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, new_null_array};
use arrow::compute::concat_batches;
use arrow::datatypes::{Float32Type, Float64Type, Schema};
use arrow::error::ArrowError;
use arrow::row::{RowConverter, SortField};
use bytes::Bytes;

use super::refusal::{too_large, undecodable, upstream};
use crate::catalog::{Column, Relation, StoredColumn};
use crate::engine::{Refusal, RefusalCode, RelationData, RowSource};
use crate::postgrest::cursor::filter_value;
use crate::postgrest::{TableDecoder, TableProfile, stored_columns};

/// Pages of some columns of a relation.
pub(super) struct Pages<'a> {
    relation: &'a Relation,
    /// Positions of the columns asked for.
    positions: Vec<usize>,
    columns: Vec<Column>,
    profile: TableProfile,
    bodies: Vec<Bytes>,
    bytes: u64,
    max_bytes: u64,
}

/// What a page held.
pub(super) struct PageEnd {
    pub(super) rows: u64,
    /// The last row's key, as filter values; `None` without rows, without a key, or if a value is missing.
    pub(super) last_key: Option<Vec<String>>,
}

impl<'a> Pages<'a> {
    pub(super) fn new(relation: &'a Relation, positions: &[usize], max_bytes: u64) -> Self {
        let columns: Vec<Column> =
            positions.iter().filter_map(|at| relation.columns.get(*at)).cloned().collect();
        let profile = TableProfile::new(columns.len());
        let positions = positions.to_vec();
        Self { relation, positions, columns, profile, bodies: Vec::new(), bytes: 0, max_bytes }
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }

    /// Takes a page in: its values are read once for the types they need.
    pub(super) fn push(&mut self, body: Bytes) -> Result<PageEnd, Refusal> {
        self.bytes = self.bytes.saturating_add(body.len() as u64);
        if self.bytes > self.max_bytes {
            return Err(too_large(self.relation, self.bytes, self.max_bytes));
        }
        let key = &self.relation.primary_key;
        let places: Vec<Option<usize>> =
            key.iter().map(|name| self.columns.iter().position(|column| column.name == *name)).collect();
        let mut last: Vec<String> = Vec::new();
        let rows = self
            .profile
            .observe(&self.relation.source(), &self.columns, key, &body, &mut |_, cells| {
                last = places
                    .iter()
                    .filter_map(|place| cells.get((*place)?))
                    .map(|cell| (*cell).to_owned())
                    .collect();
                Ok(())
            })
            .map_err(|error| undecodable(self.relation, &error))?;
        let value = |cell: &String| match cell.as_str() {
            "null" => None,
            cell => filter_value(cell).map(std::borrow::Cow::into_owned),
        };
        let last_key: Option<Vec<String>> = last.iter().map(value).collect();
        let last_key = last_key.filter(|last| !last.is_empty() && last.len() == key.len());
        if rows > 0 {
            self.bodies.push(body);
        }
        Ok(PageEnd { rows, last_key })
    }

    /// Takes in the pages of another read of the same columns.
    pub(super) fn append(&mut self, other: Self) -> Result<(), Refusal> {
        self.profile.merge(&other.profile).map_err(|error| {
            let source = self.relation.source();
            upstream(self.relation, format!("the rows of `{source}` don't fit together: {error}."))
        })?;
        self.bodies.extend(other.bodies);
        self.bytes = self.bytes.saturating_add(other.bytes);
        match self.bytes > self.max_bytes {
            true => Err(too_large(self.relation, self.bytes, self.max_bytes)),
            false => Ok(()),
        }
    }

    /// Whether two rows, by place, agree in these columns of the relation as the server compares them. Rows that aren't
    /// there agree with none.
    pub(super) fn tied(&self, places: (u64, u64), columns: &[usize]) -> Result<bool, Refusal> {
        let batch = self.batch()?;
        let place = |place: u64| usize::try_from(place).ok().filter(|place| *place < batch.num_rows());
        let (Some(one), Some(other)) = (place(places.0), place(places.1)) else { return Ok(false) };
        for position in columns {
            let Some(at) = self.positions.iter().position(|read| read == position) else { return Ok(true) };
            let Some(column) = batch.columns().get(at) else { return Ok(true) };
            if !equal(column, one, other).map_err(|error| unbuilt(self.relation, &error))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The rows as the engine reads them: the columns asked for with their values, the others empty.
    pub(super) fn into_data(self) -> Result<RelationData, Refusal> {
        let all = self.batch()?;
        self.data(all)
    }

    /// The same without the first `skip` rows, and at most `keep` of the rest.
    pub(super) fn into_data_of(self, skip: usize, keep: usize) -> Result<RelationData, Refusal> {
        let all = self.batch()?;
        let skip = skip.min(all.num_rows());
        let keep = keep.min(all.num_rows() - skip);
        let kept = all.slice(skip, keep);
        self.data(kept)
    }

    /// Whether no two rows agree in the key and none lacks a part of it.
    pub(super) fn keys_differ(&self) -> Result<bool, Refusal> {
        let batch = self.batch()?;
        keys_differ(self.relation, &batch)
    }

    fn stored(&self) -> Vec<StoredColumn> {
        stored_columns(&self.columns, &self.profile)
    }

    fn batch(&self) -> Result<RecordBatch, Refusal> {
        let source = self.relation.source();
        let decoder = TableDecoder::new(&source, &self.columns, &self.stored(), &self.relation.primary_key);
        let batches = self
            .bodies
            .iter()
            .map(|body| decoder.decode(body))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| undecodable(self.relation, &error))?;
        concat_batches(decoder.schema(), &batches).map_err(|error| unbuilt(self.relation, &error))
    }

    fn data(&self, read: RecordBatch) -> Result<RelationData, Refusal> {
        let relation = self.relation;
        // Columns nobody needs stand in the schema, since the relation has them.
        let unread = stored_columns(&relation.columns, &TableProfile::new(relation.columns.len()));
        let stored = self.stored();
        let mut fields = Vec::with_capacity(relation.columns.len());
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(relation.columns.len());
        for (position, empty) in unread.iter().enumerate() {
            let place = self.positions.iter().position(|at| *at == position);
            match place.and_then(|place| Some((stored.get(place)?, read.columns().get(place)?))) {
                Some((column, array)) => {
                    fields.push(column.field());
                    arrays.push(Arc::clone(array));
                }
                None => {
                    let field = empty.field();
                    arrays.push(new_null_array(field.data_type(), read.num_rows()));
                    fields.push(field);
                }
            }
        }
        let schema = Arc::new(Schema::new(fields));
        let rows = read.num_rows() as u64;
        let sort_key = match keys_differ(relation, &read)? {
            true => relation.primary_key.clone(),
            false => relation.columns.iter().map(|column| column.name.clone()).collect(),
        };
        let batch =
            RecordBatch::try_new(Arc::clone(&schema), arrays).map_err(|error| unbuilt(relation, &error))?;
        let inexact =
            stored.iter().filter(|column| column.inexact).map(|column| column.name.clone()).collect();
        Ok(RelationData { schema, source: RowSource::Batches(vec![batch]), sort_key, rows, inexact })
    }
}

/// Whether two cells of a column are equal; the two zeros are.
fn equal(column: &ArrayRef, one: usize, other: usize) -> Result<bool, ArrowError> {
    let float = |value: f64, with: f64| value == with || (value.is_nan() && with.is_nan());
    if column.is_null(one) || column.is_null(other) {
        return Ok(column.is_null(one) && column.is_null(other));
    }
    if let Some(values) = column.as_primitive_opt::<Float64Type>() {
        return Ok(float(values.value(one), values.value(other)));
    }
    if let Some(values) = column.as_primitive_opt::<Float32Type>() {
        return Ok(float(values.value(one).into(), values.value(other).into()));
    }
    let converter = RowConverter::new(vec![SortField::new(column.data_type().clone())])?;
    let (one, other) = (column.slice(one, 1), column.slice(other, 1));
    let (one, other) = (converter.convert_columns(&[one])?, converter.convert_columns(&[other])?);
    Ok(one.row(0) == other.row(0))
}

/// Whether the key is among the columns, holds no null and tells the rows apart.
fn keys_differ(relation: &Relation, batch: &RecordBatch) -> Result<bool, Refusal> {
    let key: Option<Vec<ArrayRef>> =
        relation.primary_key.iter().map(|name| batch.column_by_name(name).map(Arc::clone)).collect();
    let Some(key) = key.filter(|key| !key.is_empty()) else { return Ok(false) };
    if key.iter().any(|column| column.null_count() > 0) {
        return Ok(false);
    }
    let fields = key.iter().map(|column| SortField::new(column.data_type().clone())).collect();
    let rows = RowConverter::new(fields)
        .and_then(|converter| converter.convert_columns(&key))
        .map_err(|error| unbuilt(relation, &error))?;
    let mut seen = std::collections::HashSet::with_capacity(batch.num_rows());
    Ok(rows.iter().all(|row| seen.insert(row.data().to_vec())))
}

fn unbuilt(relation: &Relation, error: &ArrowError) -> Refusal {
    Refusal::new(
        RefusalCode::Internal,
        format!("the rows of `{}` can't be put together: {error}.", relation.source()),
    )
}
