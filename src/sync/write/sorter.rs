//! The external merge sort: DataFusion's, with a memory bound and a spill directory of its own.
//!
//! Rows come from a [`PartitionStream`]: staged pages, or anything else that is Arrow already.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::SortOptions;
use arrow::datatypes::SchemaRef;
use datafusion::common::DataFusionError;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::GreedyMemoryPool;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use datafusion::prelude::SessionConfig;
use futures::{StreamExt, stream};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::postgrest::TableDecoder;
use crate::store::StagingArea;
use crate::sync::capture::Staged;
use crate::sync::error::{CaptureError, SyncError};

/// Rows per batch between decoding, sorting and writing.
const BATCH_ROWS: usize = 8_192;

/// Pages decoded ahead of the sort.
const PAGES_AHEAD: usize = 2;

/// Sorts rows within a memory bound.
pub struct Sorter {
    runtime: Arc<RuntimeEnv>,
    config: SessionConfig,
    turns: Semaphore,
}

impl fmt::Debug for Sorter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Sorter").finish_non_exhaustive()
    }
}

impl Sorter {
    /// A sorter that uses at most `memory_bytes`, and `spill_bytes` in `spill_directory` beyond that.
    pub fn new(memory_bytes: usize, spill_bytes: u64, spill_directory: PathBuf) -> Result<Self, SyncError> {
        let disk = DiskManagerBuilder::default()
            .with_mode(DiskManagerMode::Directories(vec![spill_directory]))
            .with_max_temp_directory_size(spill_bytes);
        let runtime = RuntimeEnvBuilder::new()
            .with_memory_pool(Arc::new(GreedyMemoryPool::new(memory_bytes)))
            .with_disk_manager_builder(disk)
            .build_arc()
            .map_err(|error| SyncError::Sorter(error.to_string()))?;
        // What the final merge needs is set aside early, so that it can't fail for want of memory.
        let config = SessionConfig::new()
            .with_batch_size(BATCH_ROWS)
            .with_sort_spill_reservation_bytes((memory_bytes / 8).min(16 * 1024 * 1024));
        Ok(Self { runtime, config, turns: Semaphore::new(1) })
    }

    /// Waits for the one place there is.
    pub(super) async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        // The semaphore is never closed, so there always is a permit.
        self.turns.acquire().await.ok()
    }

    /// The rows, sorted ascending by `sort_key`, nulls last, text by code point.
    pub(super) fn sort(
        &self,
        relation: &str,
        rows: Arc<dyn PartitionStream>,
        sort_key: &[String],
    ) -> Result<SendableRecordBatchStream, CaptureError> {
        let schema = Arc::clone(rows.schema());
        let ascending = SortOptions { descending: false, nulls_first: false };
        let terms: Vec<PhysicalSortExpr> = sort_key
            .iter()
            .filter_map(|name| schema.index_of(name).ok().map(|index| (name, index)))
            .map(|(name, index)| PhysicalSortExpr::new(Arc::new(Column::new(name, index)), ascending))
            .collect();
        let order = LexOrdering::new(terms).ok_or_else(|| CaptureError::Write {
            relation: relation.to_owned(),
            problem: "there is no column to sort by".to_owned(),
        })?;
        let input = StreamingTableExec::try_new(schema, vec![rows], None, std::iter::empty(), false, None)
            .map_err(|error| failure(relation, error))?;
        let context = TaskContext::default()
            .with_session_config(self.config.clone())
            .with_runtime(Arc::clone(&self.runtime));
        SortExec::new(order, Arc::new(input))
            .execute(0, Arc::new(context))
            .map_err(|error| failure(relation, error))
    }
}

/// The staged pages as a source of batches.
pub(super) struct StagedPages {
    area: StagingArea,
    pages: u64,
    decoder: Arc<TableDecoder>,
    schema: SchemaRef,
}

impl StagedPages {
    pub(super) fn new(staged: &Staged, decoder: TableDecoder) -> Self {
        let schema = Arc::clone(decoder.schema());
        Self { area: staged.area.clone(), pages: staged.pages, decoder: Arc::new(decoder), schema }
    }
}

impl fmt::Debug for StagedPages {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("StagedPages").field("pages", &self.pages).finish_non_exhaustive()
    }
}

impl PartitionStream for StagedPages {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let (area, decoder) = (self.area.clone(), Arc::clone(&self.decoder));
        // Decoded on threads of their own, so that other relations' requests are served meanwhile; in order, so that
        // nothing depends on which page is ready first.
        let pages = stream::iter(1..=self.pages).map(move |page| {
            let (area, decoder) = (area.clone(), Arc::clone(&decoder));
            tokio::task::spawn_blocking(move || decode(&area, &decoder, page))
        });
        let batches = pages.buffered(PAGES_AHEAD).flat_map(|page| {
            stream::iter(match page {
                Ok(Ok(batches)) => batches.into_iter().map(Ok).collect::<Vec<_>>(),
                Ok(Err(error)) => vec![Err(error)],
                Err(stopped) => vec![Err(DataFusionError::External(Box::new(stopped)))],
            })
        });
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), batches))
    }
}

/// One page's rows, in batches the sorter can take in small steps.
fn decode(
    area: &StagingArea,
    decoder: &TableDecoder,
    page: u64,
) -> Result<Vec<RecordBatch>, DataFusionError> {
    let outside = |error: CaptureError| DataFusionError::External(Box::new(error));
    let body = area.page(page).map_err(|error| outside(error.into()))?;
    decoder.decode_in_batches(&body, BATCH_ROWS).map_err(|error| outside(error.into()))
}

/// Our own error back from where DataFusion wrapped it, or its words.
pub(super) fn failure(relation: &str, error: DataFusionError) -> CaptureError {
    let text = error.to_string();
    let mut inner = error;
    loop {
        inner = match inner {
            DataFusionError::External(boxed) => match boxed.downcast::<CaptureError>() {
                Ok(own) => return *own,
                Err(_) => break,
            },
            DataFusionError::Context(_, boxed) => *boxed,
            _ => break,
        };
    }
    CaptureError::Write { relation: relation.to_owned(), problem: text }
}
