//! What the mirror holds, for people.

use super::error::AppError;
use super::mirror::Mirror;
use crate::store::RelationState;

/// One relation of the current snapshot.
#[derive(Debug, Clone, PartialEq)]
pub struct RelationStatus {
    /// `dataset.relation`.
    pub source: String,
    /// Rows held; `None` if it isn't captured.
    pub rows: Option<u64>,
    /// Evidence level, or why there is no capture.
    pub state: String,
    /// Bytes at rest.
    pub bytes: u64,
    /// When it was read.
    pub captured_at: Option<chrono::DateTime<chrono::Utc>>,
}

impl Mirror {
    /// Every relation of the current snapshot, captured or skipped, in the collection's order.
    pub fn status(&self) -> Result<Vec<RelationStatus>, AppError> {
        let serving = self.serving()?;
        Ok(serving
            .snapshot
            .document
            .relations
            .iter()
            .map(|entry| match &entry.state {
                RelationState::Captured(capture) => RelationStatus {
                    source: entry.source(),
                    rows: Some(capture.rows),
                    state: capture.evidence.as_str().to_owned(),
                    bytes: capture.parts.iter().map(|part| part.bytes).sum(),
                    captured_at: Some(capture.captured_at.end),
                },
                RelationState::Skipped { reason } => RelationStatus {
                    source: entry.source(),
                    rows: None,
                    state: format!("skipped: {reason}"),
                    bytes: 0,
                    captured_at: None,
                },
            })
            .collect())
    }
}
