//! What the files' footers say about a relation without reading rows: how many rows, how many nulls, smallest and largest
//! values of the types whose statistics are the values themselves.
//!
//! DataFusion answers counts, minima and maxima from these and puts the smaller side of a join into memory. Its own way of
//! gathering them passes over row groups that carry no statistics, whose rows could hold the extreme; here one such row
//! group makes the column's bounds unknown. Floats (NaN, two zeros) and text (cut short in a footer) have no bounds either.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::Array;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, Result, ScalarValue, Statistics};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::metadata::DFParquetMetadata;
use datafusion::execution::cache::cache_manager::FileMetadataCache;
use datafusion::object_store::ObjectStore;
use parquet::arrow::arrow_reader::statistics::StatisticsConverter;
use parquet::arrow::parquet_to_arrow_schema;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

/// Statistics of each file's rows; columns that aren't `wanted` stay unknown.
pub(super) async fn of_files(
    store: &dyn ObjectStore,
    cache: &Arc<FileMetadataCache>,
    files: &[PartitionedFile],
    schema: &SchemaRef,
    wanted: &BTreeSet<usize>,
) -> Result<Vec<Statistics>> {
    let mut all = Vec::with_capacity(files.len());
    for file in files {
        let metadata = DFParquetMetadata::new(store, &file.object_meta)
            .with_file_metadata_cache(Some(Arc::clone(cache)))
            .fetch_metadata()
            .await?;
        let mut known = Statistics::new_unknown(schema);
        let rows = usize::try_from(metadata.file_metadata().num_rows()).ok();
        known.num_rows = rows.map_or(Precision::Absent, Precision::Exact);
        let described = metadata.file_metadata();
        let physical = parquet_to_arrow_schema(described.schema_descr(), described.key_value_metadata())?;
        for position in wanted {
            known.column_statistics[*position] = column(&metadata, &physical, schema.field(*position))?;
        }
        all.push(known);
    }
    Ok(all)
}

/// Statistics over the rows of all files, which are so many.
pub(super) fn of_all(files: &[Statistics], rows: u64) -> Statistics {
    let mut all = files.first().cloned().unwrap_or_default();
    all.num_rows = usize::try_from(rows).map_or(Precision::Absent, Precision::Exact);
    for file in files.iter().skip(1) {
        for (known, more) in all.column_statistics.iter_mut().zip(&file.column_statistics) {
            *known = merged(known, more);
        }
    }
    all
}

/// What a footer's bounds of a type are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bounds {
    /// Two of the column's values, in the order PostgreSQL has.
    Values,
    /// Texts that no value is below or above: a footer keeps their beginnings.
    Outside,
    /// Nothing to rely on.
    None,
}

/// `stored` is the file's own type.
fn bounds_of(data_type: &DataType, stored: Option<&DataType>) -> Bounds {
    match data_type {
        DataType::Utf8View => Bounds::Outside,
        DataType::Int32
        | DataType::Int64
        | DataType::Decimal128(..)
        | DataType::Date32
        | DataType::Timestamp(..)
            if stored == Some(data_type) =>
        {
            Bounds::Values
        }
        _ => Bounds::None,
    }
}

/// One file's statistics of one column.
fn column(metadata: &ParquetMetaData, physical: &Schema, field: &Field) -> Result<ColumnStatistics> {
    let (name, data_type) = (field.name(), field.data_type());
    let unknown = ColumnStatistics::new_unknown();
    let groups = metadata.row_groups();
    let described = metadata.file_metadata().schema_descr();
    let Ok(converter) = StatisticsConverter::try_new(name, physical, described) else {
        return Ok(unknown);
    };
    let Some(leaf) = converter.parquet_column_index() else { return Ok(unknown) };
    let Some(nulls) = null_counts(groups, leaf) else { return Ok(unknown) };
    let null_count = Precision::Exact(usize::try_from(nulls.iter().sum::<u64>()).unwrap_or(usize::MAX));
    let bounds = bounds_of(data_type, physical.field_with_name(name).ok().map(|field| field.data_type()));
    if bounds == Bounds::None || !has_bounds(groups, leaf, &nulls, bounds) {
        return Ok(ColumnStatistics { null_count, ..unknown });
    }
    let known =
        |value| if bounds == Bounds::Values { Precision::Exact(value) } else { Precision::Inexact(value) };
    let mins = cast(&converter.row_group_mins(groups)?, data_type)?;
    let maxes = cast(&converter.row_group_maxes(groups)?, data_type)?;
    Ok(ColumnStatistics {
        null_count,
        min_value: known(extreme(mins.as_ref(), Ordering::Less)?),
        max_value: known(extreme(maxes.as_ref(), Ordering::Greater)?),
        ..unknown
    })
}

/// Nulls of each row group; `None` if one doesn't say.
fn null_counts(groups: &[RowGroupMetaData], leaf: usize) -> Option<Vec<u64>> {
    groups.iter().map(|group| group.columns().get(leaf)?.statistics()?.null_count_opt()).collect()
}

/// Whether every row group that holds a value has bounds, and exact ones where they are taken for values.
fn has_bounds(groups: &[RowGroupMetaData], leaf: usize, nulls: &[u64], bounds: Bounds) -> bool {
    groups.iter().zip(nulls).all(|(group, nulls)| {
        let only_nulls = u64::try_from(group.num_rows()).is_ok_and(|rows| rows == *nulls);
        let statistics = group.columns().get(leaf).and_then(|column| column.statistics());
        only_nulls
            || statistics.is_some_and(|known| {
                let both = known.min_bytes_opt().is_some() && known.max_bytes_opt().is_some();
                both && (bounds == Bounds::Outside || (known.min_is_exact() && known.max_is_exact()))
            })
    })
}

/// The smallest (`Less`) or largest of the row groups' bounds; a typed null where no row group has a value.
fn extreme(bounds: &dyn Array, wanted: Ordering) -> Result<ScalarValue> {
    let mut found = ScalarValue::try_from(bounds.data_type())?;
    for row in (0..bounds.len()).filter(|row| bounds.is_valid(*row)) {
        let value = ScalarValue::try_from_array(bounds, row)?;
        if found.is_null() || value.partial_cmp(&found) == Some(wanted) {
            found = value;
        }
    }
    Ok(found)
}

/// Statistics over the rows of both. Bounds of text only say which file comes first.
fn merged(a: &ColumnStatistics, b: &ColumnStatistics) -> ColumnStatistics {
    let bound = |a: &Precision<ScalarValue>, b: &Precision<ScalarValue>, wanted| match (a, b) {
        (Precision::Exact(a), Precision::Exact(b)) if a.is_null() => Precision::Exact(b.clone()),
        (Precision::Exact(a), Precision::Exact(b)) if b.is_null() => Precision::Exact(a.clone()),
        (Precision::Exact(a), Precision::Exact(b)) => {
            Precision::Exact(if b.partial_cmp(a) == Some(wanted) { b.clone() } else { a.clone() })
        }
        _ => Precision::Absent,
    };
    ColumnStatistics {
        null_count: match (&a.null_count, &b.null_count) {
            (Precision::Exact(a), Precision::Exact(b)) => Precision::Exact(a.saturating_add(*b)),
            _ => Precision::Absent,
        },
        min_value: bound(&a.min_value, &b.min_value, Ordering::Less),
        max_value: bound(&a.max_value, &b.max_value, Ordering::Greater),
        ..ColumnStatistics::new_unknown()
    }
}
