//! The hook through which indexes over a capture are built; what they are is decided above.
//!
//! Sync stores what a builder gives it and names it in the snapshot document. Indexes are derived from the rows: they
//! don't enter `content_id`, and a capture without them is complete.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::catalog::Relation;
use crate::store::{Capture, IndexEntry, StoreWriter};

/// Builds the indexes of a captured relation.
#[async_trait]
pub trait IndexBuilder: Debug + Send + Sync {
    /// Writes the indexes of a relation as objects and returns their entries, in an order that follows from the rows.
    /// Called when the capture's parts are objects already. Most relations have none.
    async fn build(
        &self,
        relation: &Relation,
        capture: &Capture,
        writer: &StoreWriter,
    ) -> Result<Vec<IndexEntry>, IndexBuildError>;
}

/// Why a relation has no indexes. The capture is published all the same: answers are then computed from the rows.
#[derive(Debug, thiserror::Error)]
#[error("{problem}")]
pub struct IndexBuildError {
    /// What went wrong.
    pub problem: String,
}

/// Builds nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoIndexes;

#[async_trait]
impl IndexBuilder for NoIndexes {
    async fn build(
        &self,
        _: &Relation,
        _: &Capture,
        _: &StoreWriter,
    ) -> Result<Vec<IndexEntry>, IndexBuildError> {
        Ok(Vec::new())
    }
}
