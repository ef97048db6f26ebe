//! Step 4: one external merge sort, then one pass that writes Parquet and digests the rows.
//!
//! Nothing here depends on how the rows arrived. Types are decided from all values; rows are sorted by key in
//! code-point order (without a key: by every column); the sorted stream is cut into chunks of a fixed number of rows
//! before anything is written, so row groups, pages, dictionaries and parts follow from the rows alone. Writer
//! settings are constants of `layout`. Same rows, same version: same bytes.

mod chunks;
mod coverings;
mod layout;
mod parts;
mod rows;
mod sorter;

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::physical_plan::streaming::PartitionStream;
use futures::StreamExt;

use crate::catalog::{Relation, StoredColumn};
use crate::postgrest::{TableDecoder, stored_columns};
use crate::store::{Hash256, Part, RowDigest, StoreWriter};

use super::capture::Staged;
use super::error::CaptureError;

pub use sorter::Sorter;

/// A relation's sorted rows, written.
#[derive(Debug)]
pub struct Written {
    /// Parquet files in sort order.
    pub parts: Vec<Part>,
    /// Identity of the rows.
    pub row_digest: Hash256,
    /// Number of rows over all parts.
    pub rows: u64,
    /// The columns as stored.
    pub columns: Vec<StoredColumn>,
}

/// Rows before the sort.
#[derive(Debug)]
pub struct UnsortedRows {
    /// The columns as they will be stored, in the order of the stream's.
    pub columns: Vec<StoredColumn>,
    /// The rows.
    pub stream: Arc<dyn PartitionStream>,
    /// How many there are; another number coming out is an error.
    pub count: u64,
}

/// What is to be sorted by, and what has to be true of the sorted rows.
#[derive(Debug, Clone)]
pub struct Ordering {
    /// Columns sorted by.
    pub sort_key: Vec<String>,
    /// Whether two rows may agree in the sort key.
    pub uniqueness: Uniqueness,
}

/// Whether two rows may agree in some columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Uniqueness {
    /// The sort key tells rows apart and holds no null.
    Unique,
    /// Rows may be equal.
    Any,
    /// Rows may be equal, but rows equal in these columns must be equal altogether: the server can't order the rest,
    /// so it may have sent one of them twice and another never.
    TiesAreEqual(Vec<String>),
}

/// Sorts a staged pass and writes its parts; with `writer` absent, only digests it.
pub(super) async fn sort_and_write(
    sorter: &Sorter,
    writer: Option<&StoreWriter>,
    relation: &Relation,
    joined: &HashSet<String>,
    staged: &Staged,
    ordering: &Ordering,
) -> Result<Written, CaptureError> {
    let source = relation.source();
    let columns = stored_columns(&relation.columns, &staged.profile);
    let decoder = TableDecoder::new(&source, &relation.columns, &columns, &relation.primary_key);
    let stream = Arc::new(sorter::StagedPages::new(staged, decoder));
    let rows = UnsortedRows { columns, stream, count: staged.profile.rows };
    sort_and_write_rows(sorter, writer, &source, joined, rows, ordering).await
}

/// Sorts rows that are Arrow already and writes their parts; with `writer` absent, only digests them.
///
/// `source` names the relation in errors; `joined` are its columns that signed join paths use.
///
/// # Errors
/// [`CaptureError`] when the rows break what `ordering` promises, aren't `rows.count`, or can't be written.
pub async fn sort_and_write_rows(
    sorter: &Sorter,
    writer: Option<&StoreWriter>,
    source: &str,
    joined: &HashSet<String>,
    rows: UnsortedRows,
    ordering: &Ordering,
) -> Result<Written, CaptureError> {
    let UnsortedRows { columns, stream, count } = rows;
    // One sort at a time: the memory bound is for all of them together.
    let _turn = sorter.turn().await;
    let mut sorted = sorter.sort(source, stream, &ordering.sort_key)?;

    let mut digest = RowDigest::new(columns.iter().map(|column| column.name.as_str()));
    let mut check = rows::RowCheck::new(source, &columns, ordering)?;
    let mut output = writer.map(|writer| {
        let plan = parts::PartPlan { columns: &columns, sort_key: &ordering.sort_key, joined, rows: count };
        parts::PartsWriter::new(writer, source, plan)
    });
    let mut chunks = chunks::Chunks::new(layout::CHUNK_ROWS);
    loop {
        let next = sorted.next().await;
        let ready = match next {
            Some(batch) => chunks.push(batch.map_err(|error| sorter::failure(source, error))?),
            None => chunks.finish(),
        }
        .map_err(|error| write_failure(source, &error))?;
        let done = ready.is_last;
        for chunk in ready.chunks {
            check.check(&chunk)?;
            digest.update(&chunk)?;
            if let Some(output) = output.as_mut() {
                output.write(chunk)?;
            }
        }
        if done {
            break;
        }
        // A sorted stream is nearly always ready: without this, other relations' requests would wait, and time out.
        tokio::task::yield_now().await;
    }
    let rows = digest.rows();
    if rows != count {
        return Err(CaptureError::Write {
            relation: source.to_owned(),
            problem: format!("{count} rows went into the sort, {rows} came out"),
        });
    }
    let parts = output.map(parts::PartsWriter::finish).transpose()?.unwrap_or_default();
    Ok(Written { parts, row_digest: digest.finish(), rows, columns })
}

fn write_failure(relation: &str, error: &dyn std::error::Error) -> CaptureError {
    CaptureError::Write { relation: relation.to_owned(), problem: error.to_string() }
}
