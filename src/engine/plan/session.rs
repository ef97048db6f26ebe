//! The one place a DataFusion session is made: functions, memory pool, spill cap.

use std::sync::Arc;

use datafusion::execution::SessionStateBuilder;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::execution::session_state::SessionState;
use datafusion::prelude::SessionConfig;

use super::pool::{RequestPool, Reserved};
use crate::config::Limits;

/// Rows below which finding the first ones in one step costs less than in two.
const TWO_STEP_ROWS: u64 = 100_000;

/// Whether a plan's scans filter rows while they decode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum RowFilters {
    /// Whole batches are decoded, then filtered.
    Off,
    /// Columns that only the answer needs are decoded for passing rows alone.
    On,
}

/// What requests share: file metadata caches and the directory for spill files.
#[derive(Debug, Clone)]
pub struct EngineRuntime {
    limits: Limits,
    partitions: usize,
    settings: Vec<(String, String)>,
    two_step_rows: u64,
    reserved: Reserved,
    shared: Arc<RuntimeEnv>,
}

impl EngineRuntime {
    /// `partitions` is the parallelism of one request.
    pub fn new(limits: Limits, partitions: usize) -> datafusion::common::Result<Self> {
        let shared = RuntimeEnvBuilder::new().build_arc()?;
        Ok(Self {
            limits,
            partitions: partitions.max(1),
            settings: Vec::new(),
            two_step_rows: TWO_STEP_ROWS,
            reserved: Reserved::default(),
            shared,
        })
    }

    /// The same with DataFusion settings by name (`datafusion.optimizer.max_passes`), over the ones chosen here. Settings
    /// change how an answer is found, never the answer; this is how that is checked. An error for unknown names and
    /// values.
    pub fn with_settings(mut self, settings: &[(&str, &str)]) -> datafusion::common::Result<Self> {
        self.settings.extend(settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        self.session()?;
        Ok(self)
    }

    /// The same with another number of rows from which the first ones are found in two steps. Changes how an answer is
    /// found, never the answer.
    pub fn with_two_step_rows(self, rows: u64) -> Self {
        Self { two_step_rows: rows, ..self }
    }

    /// Rows from which the first ones of an order are found in two steps.
    pub(in crate::engine) fn two_step_rows(&self) -> u64 {
        self.two_step_rows
    }

    /// The limits requests run under.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Bytes of memory that running requests have reserved; 0 when none runs.
    pub fn reserved_bytes(&self) -> usize {
        self.reserved.bytes()
    }

    /// A fresh session for one request: its own memory pool and spill cap, the shared caches.
    pub(in crate::engine) fn session(&self) -> datafusion::common::Result<SessionState> {
        self.session_for(RowFilters::Off)
    }

    /// The same for a plan whose scans filter while they decode.
    pub(in crate::engine) fn session_for(
        &self,
        row_filters: RowFilters,
    ) -> datafusion::common::Result<SessionState> {
        let pool = usize::try_from(self.limits.memory_limit_bytes).unwrap_or(usize::MAX);
        let spill = DiskManagerBuilder::default()
            .with_mode(DiskManagerMode::OsTmpDirectory)
            .with_max_temp_directory_size(self.limits.spill_limit_bytes);
        let runtime = RuntimeEnvBuilder::from_runtime_env(&self.shared)
            .with_memory_pool(Arc::new(RequestPool::new(pool, self.reserved.clone())))
            .with_disk_manager_builder(spill)
            .build_arc()?;
        let mut config = SessionConfig::new()
            .with_target_partitions(self.partitions)
            .with_information_schema(false)
            .with_create_default_catalog_and_schema(false);
        // Small relations gain nothing from being split, and an answer must not depend on the split anyway.
        config.options_mut().optimizer.repartition_file_min_size = 8 * 1024 * 1024;
        // Should such a plan need a top-k after all (files whose order isn't proven), its bound must not reach the scan:
        // filters that change while rows are filtered in the decoder lose rows (DataFusion issue 24352).
        config.options_mut().optimizer.enable_topk_dynamic_filter_pushdown = row_filters == RowFilters::Off;
        // The bound of an extreme of a column prunes rows that hold the extreme of another's key (docs/engine-notes.md).
        config.options_mut().optimizer.enable_aggregate_dynamic_filter_pushdown = false;
        for (name, value) in &self.settings {
            config.options_mut().set(name, value)?;
        }
        Ok(SessionStateBuilder::new().with_config(config).with_runtime_env(runtime).build())
    }
}
