//! What a pull did.

use crate::store::{Evidence, Hash256, SnapshotId};

/// A pull that published a snapshot (or would have, inside [`super::SyncError::NothingCaptured`]).
#[derive(Debug, Clone)]
pub struct PullReport {
    /// Collection name.
    pub collection: String,
    /// Its payload hash, hex.
    pub collection_hash: String,
    /// The snapshot published; `None` if nothing was.
    pub snapshot: Option<SnapshotId>,
    /// Identity of the captured data.
    pub content_id: Hash256,
    /// What became of each relation, in the collection's order.
    pub relations: Vec<RelationReport>,
    /// What verification warned about.
    pub warnings: Vec<String>,
}

/// What became of one relation.
#[derive(Debug, Clone)]
pub struct RelationReport {
    /// `dataset.relation`.
    pub source: String,
    /// What became of it.
    pub outcome: RelationOutcome,
}

/// What became of one relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RelationOutcome {
    /// Its rows are in the snapshot.
    Captured {
        /// Rows.
        rows: u64,
        /// Bytes of its Parquet files.
        bytes: u64,
        /// How well it is known to be consistent.
        evidence: Evidence,
        /// How often it was read again.
        retries: u32,
    },
    /// Not captured, on purpose.
    Skipped {
        /// Why.
        reason: String,
    },
    /// Couldn't be captured; not in the snapshot.
    Failed {
        /// Why.
        reason: String,
    },
}

impl PullReport {
    /// How many relations failed.
    pub fn failures(&self) -> usize {
        self.relations
            .iter()
            .filter(|report| matches!(report.outcome, RelationOutcome::Failed { .. }))
            .count()
    }

    /// The relation's outcome.
    pub fn outcome(&self, source: &str) -> Option<&RelationOutcome> {
        self.relations.iter().find(|report| report.source == source).map(|report| &report.outcome)
    }
}
