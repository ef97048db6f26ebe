//! Rows as the API sends them, through the decoder, as Parquet in two layouts.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::{SortColumn, SortOptions, lexsort_to_indices, take};
use benthic_mirror::catalog::Relation;
use benthic_mirror::engine::{PartFile, RelationData, RowSource};
use benthic_mirror::postgrest::decode_rows;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

/// How the rows are cut up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// As a sync writes small relations: one row group, no Bloom filters.
    Plain,
    /// Row groups and pages of a few rows, Bloom filters and page statistics everywhere, three files.
    Crumbs,
    /// The same without any statistics: only Bloom filters can leave something out.
    BloomOnly,
    /// One file, row groups of fifty rows: what the declared order of a scan is kept over.
    Groups,
    /// Two rows per row group, Bloom filters and statistics.
    Pairs,
    /// Two rows per row group, Bloom filters only.
    PairsBloomOnly,
}

impl Layout {
    fn has_statistics(self) -> bool {
        matches!(self, Self::Plain | Self::Crumbs | Self::Groups | Self::Pairs)
    }

    fn group_rows(self) -> usize {
        match self {
            Self::Plain => 131_072,
            Self::Crumbs | Self::BloomOnly | Self::Groups => 50,
            Self::Pairs | Self::PairsBloomOnly => 2,
        }
    }
}

/// Decodes a page and writes it sorted.
pub(crate) fn store(
    directory: &Path,
    relation: &Relation,
    key_is_unique: bool,
    body: &[u8],
    layout: Layout,
) -> RelationData {
    let (stored, batch) =
        decode_rows(&relation.source(), &relation.columns, &relation.primary_key, body).unwrap();
    let sort_key: Vec<String> = match key_is_unique {
        true => relation.primary_key.clone(),
        false => relation.columns.iter().map(|column| column.name.clone()).collect(),
    };
    let inexact = stored.iter().filter(|c| c.inexact).map(|c| c.name.clone()).collect();
    write(directory, &relation.name, sorted(&batch, &sort_key), sort_key, inexact, layout)
}

/// The files of written rows.
pub(crate) fn parts(data: &mut RelationData) -> &mut Vec<PartFile> {
    match &mut data.source {
        RowSource::Parts(parts) => parts,
        RowSource::Batches(_) => panic!("what is written is parts"),
    }
}

/// Writes one batch as parts of a relation.
pub(crate) fn write(
    directory: &Path,
    name: &str,
    batch: RecordBatch,
    sort_key: Vec<String>,
    inexact: Vec<String>,
    layout: Layout,
) -> RelationData {
    let rows_per_part = match layout {
        Layout::Plain | Layout::Groups => batch.num_rows().max(1),
        _ => batch.num_rows().div_ceil(3).max(1),
    };
    let mut parts = Vec::new();
    let mut start = 0;
    loop {
        let slice = batch.slice(start, rows_per_part.min(batch.num_rows() - start));
        let path = directory.join(format!("{name}-{layout:?}-{start}.parquet"));
        let mut writer = ArrowWriter::try_new(
            std::fs::File::create(&path).unwrap(),
            batch.schema(),
            Some(properties(layout)),
        )
        .unwrap();
        writer.write(&slice).unwrap();
        writer.close().unwrap();
        let bytes = std::fs::metadata(&path).unwrap().len();
        parts.push(PartFile { path, bytes, rows: slice.num_rows() as u64 });
        start += rows_per_part;
        if start >= batch.num_rows() {
            break;
        }
    }
    RelationData {
        schema: batch.schema(),
        source: RowSource::Parts(parts),
        sort_key,
        rows: batch.num_rows() as u64,
        inexact,
    }
}

fn properties(layout: Layout) -> WriterProperties {
    let builder = WriterProperties::builder().set_statistics_enabled(match layout.has_statistics() {
        true => EnabledStatistics::Page,
        false => EnabledStatistics::None,
    });
    let builder = match layout {
        Layout::Plain => builder.set_dictionary_enabled(false),
        _ => builder
            .set_max_row_group_row_count(Some(layout.group_rows()))
            .set_data_page_row_count_limit(8)
            .set_write_batch_size(4)
            .set_bloom_filter_enabled(true),
    };
    builder.build()
}

/// Ascending by the key, nulls last, as a sync sorts.
fn sorted(batch: &RecordBatch, sort_key: &[String]) -> RecordBatch {
    let options = Some(SortOptions { descending: false, nulls_first: false });
    // Lists compare like nothing else; their rows keep their place.
    let terms: Vec<SortColumn> = sort_key
        .iter()
        .map(|name| SortColumn { values: Arc::clone(batch.column_by_name(name).unwrap()), options })
        .collect();
    let order = lexsort_to_indices(&terms, None).unwrap();
    let columns: Vec<ArrayRef> = batch.columns().iter().map(|c| take(c, &order, None).unwrap()).collect();
    RecordBatch::try_new(batch.schema(), columns).unwrap()
}
