//! How rows are laid out in Parquet: constants, and per column what the first sorted rows say.
//!
//! The measurements behind the numbers are in the spec's performance.md. Changing any of them changes the bytes of
//! every part (never its row digest), so [`CREATED_BY`] carries a version.

use std::collections::HashSet;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::DataType;
use arrow::row::{RowConverter, SortField};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::schema::types::ColumnPath;

use crate::catalog::{StoredColumn, StoredType};

/// Written into every file; no version of anything that doesn't change the bytes.
pub(super) const CREATED_BY: &str = "benthic-mirror parquet layout 1";

/// Rows handed to the writer at once. A divisor of [`ROW_GROUP_ROWS`], so chunks never straddle row groups.
pub(super) const CHUNK_ROWS: usize = 8_192;

/// Rows per row group: enough to compress, few enough to skip.
const ROW_GROUP_ROWS: usize = 131_072;

/// Rows per file.
pub(super) const PART_ROWS: u64 = 32 * ROW_GROUP_ROWS as u64;

/// Rows per data page: a key look-up decodes one page per column.
const PAGE_ROWS: usize = 5_120;

/// The writer looks at its page limits every so many rows; divides [`PAGE_ROWS`] and [`CHUNK_ROWS`].
const WRITE_BATCH_ROWS: usize = 1_024;

/// Rows the column decisions are made from.
pub(super) const SAMPLE_ROWS: usize = 4 * CHUNK_ROWS;

/// A dictionary pays when values repeat at least this often; on unique ones it costs a multiple.
const DICTIONARY_MIN_REPEATS: usize = 4;

/// Text longer than this on average is prose, not an identifier.
const IDENTIFIER_MAX_BYTES: usize = 64;

/// Below this many rows every row group is read in one go anyway.
const BLOOM_MIN_ROWS: u64 = 4_096;

/// False positives of a Bloom filter.
const BLOOM_FPP: f64 = 0.01;

const ZSTD_LEVEL: i32 = 3;

/// What a column gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ColumnLayout {
    pub(super) dictionary: bool,
    pub(super) bloom_filter: bool,
}

/// Decides every column's layout from the first sorted rows.
pub(super) fn decide(
    sample: &[RecordBatch],
    columns: &[StoredColumn],
    sort_key: &[String],
    joined: &HashSet<String>,
    rows: u64,
) -> Result<Vec<ColumnLayout>, arrow::error::ArrowError> {
    columns
        .iter()
        .enumerate()
        .map(|(index, column)| {
            let data_type = column.stored_type.data_type();
            // Lists, booleans and geometry: distinct values say nothing about what the writer could save.
            if matches!(column.stored_type, StoredType::List(_) | StoredType::Boolean | StoredType::Binary) {
                return Ok(ColumnLayout { dictionary: false, bloom_filter: false });
            }
            let sample = Sample::of(sample, index, &data_type)?;
            let dictionary = sample.values > 0 && sample.distinct * DICTIONARY_MIN_REPEATS <= sample.values;
            let short_text = column.stored_type == StoredType::Utf8
                && !column.inexact
                && sample.bytes <= sample.values * IDENTIFIER_MAX_BYTES;
            let identifies = short_text && sample.distinct * 2 > sample.values;
            // The first sort column is found by its statistics: each value lies in one row group.
            let leads = sort_key.first() == Some(&column.name);
            let asked_for = joined.contains(&column.name) || sort_key_is_key(sort_key, columns, &column.name);
            Ok(ColumnLayout {
                dictionary,
                bloom_filter: rows >= BLOOM_MIN_ROWS && !leads && (asked_for || identifies),
            })
        })
        .collect()
}

/// Whether a column belongs to a real key; without one the rows are sorted by every column, which says nothing.
fn sort_key_is_key(sort_key: &[String], columns: &[StoredColumn], name: &str) -> bool {
    sort_key.len() < columns.len() && sort_key.iter().any(|key| key == name)
}

/// What the sample says about a column.
struct Sample {
    /// Values that aren't null.
    values: usize,
    distinct: usize,
    /// Bytes of text.
    bytes: usize,
}

impl Sample {
    fn of(
        batches: &[RecordBatch],
        index: usize,
        data_type: &DataType,
    ) -> Result<Self, arrow::error::ArrowError> {
        let converter = RowConverter::new(vec![SortField::new(data_type.clone())])?;
        let mut found = Self { values: 0, distinct: 0, bytes: 0 };
        let mut seen: HashSet<Vec<u8>> = HashSet::new();
        for batch in batches {
            let column = batch.column(index);
            let rows = converter.convert_columns(std::slice::from_ref(column))?;
            for (position, row) in rows.iter().enumerate() {
                if column.is_valid(position) {
                    found.values += 1;
                    if !seen.contains(row.data()) {
                        seen.insert(row.data().to_vec());
                    }
                }
            }
            if let Some(text) = column.as_string_opt::<i32>() {
                found.bytes += text.iter().flatten().map(str::len).sum::<usize>();
            }
        }
        found.distinct = seen.len();
        Ok(found)
    }
}

/// The writer's settings for these columns.
pub(super) fn properties(
    columns: &[StoredColumn],
    layouts: &[ColumnLayout],
    sort_key: &[String],
    rows: u64,
) -> Result<WriterProperties, ParquetError> {
    let distinct = rows.min(ROW_GROUP_ROWS as u64).max(1);
    let mut builder = WriterProperties::builder()
        .set_created_by(CREATED_BY.to_owned())
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?))
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_data_page_row_count_limit(PAGE_ROWS)
        .set_write_batch_size(WRITE_BATCH_ROWS)
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_dictionary_enabled(false)
        .set_sorting_columns(Some(sorting_columns(columns, sort_key)));
    for (column, layout) in columns.iter().zip(layouts) {
        let path = ColumnPath::new(vec![column.name.clone()]);
        if layout.dictionary {
            builder = builder.set_column_dictionary_enabled(path.clone(), true);
        }
        if layout.bloom_filter {
            builder = builder
                .set_column_bloom_filter_enabled(path.clone(), true)
                .set_column_bloom_filter_fpp(path.clone(), BLOOM_FPP)
                .set_column_bloom_filter_max_ndv(path.clone(), distinct);
        }
        if column.geometry.is_some() {
            // The order of WKB bytes means nothing; the covering column's statistics do.
            builder = builder.set_column_statistics_enabled(path, EnabledStatistics::None);
        }
    }
    Ok(builder.build())
}

/// The sort order as Parquet records it: leaf columns, as far as the sort key consists of plain columns.
fn sorting_columns(columns: &[StoredColumn], sort_key: &[String]) -> Vec<SortingColumn> {
    sort_key
        .iter()
        .map_while(|name| {
            let index = columns.iter().position(|column| column.name == *name)?;
            let plain =
                columns.get(index).is_some_and(|column| !matches!(column.stored_type, StoredType::List(_)));
            // Every column before it has exactly one leaf (a list has one too), so positions are leaf positions.
            let column_idx = i32::try_from(index).ok()?;
            plain.then_some(SortingColumn { column_idx, descending: false, nulls_first: false })
        })
        .collect()
}
