//! How far a keyset pass has come, so that a run that was stopped continues instead of starting again.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::postgrest::TableProfile;
use crate::store::{Scope, StagingArea, StoreError};

/// Bumped when the meaning of a member changes; other versions are started again.
const VERSION: u32 = 1;

/// Written after each page, once the page itself is durable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Checkpoint {
    version: u32,
    /// Manifest the columns were taken from.
    pub(super) manifest_hash: String,
    /// Which part of the relation is read.
    pub(super) scope: Scope,
    /// Columns paged by.
    pub(super) key: Vec<String>,
    /// When the first request of the pass was sent, microseconds since 1970.
    started_at_micros: i64,
    /// The server's count before the pass.
    pub(super) count_before: u64,
    /// Finished pages.
    pub(super) pages: u64,
    /// Filter values of the last row's key.
    pub(super) last_key: Vec<String>,
    /// What the values of the finished pages need; its row count is theirs.
    pub(super) profile: TableProfile,
}

impl Checkpoint {
    pub(super) fn new(
        manifest_hash: &str,
        key: &[String],
        started_at: DateTime<Utc>,
        count_before: u64,
        columns: usize,
    ) -> Self {
        Self {
            version: VERSION,
            manifest_hash: manifest_hash.to_owned(),
            scope: Scope::Full,
            key: key.to_vec(),
            started_at_micros: started_at.timestamp_micros(),
            count_before,
            pages: 0,
            last_key: Vec::new(),
            profile: TableProfile::new(columns),
        }
    }

    pub(super) fn started_at(&self) -> DateTime<Utc> {
        DateTime::from_timestamp_micros(self.started_at_micros).unwrap_or(DateTime::UNIX_EPOCH)
    }

    /// The area's checkpoint, if it can be continued from: same manifest, scope and key, by this version. Anything
    /// else, unreadable ones included, is work in progress that is simply done again.
    pub(super) fn resumable(
        area: &StagingArea,
        manifest_hash: &str,
        key: &[String],
        columns: usize,
    ) -> Result<Option<Self>, StoreError> {
        let Some(bytes) = area.checkpoint()? else { return Ok(None) };
        let Ok(found) = serde_json::from_slice::<Self>(&bytes) else { return Ok(None) };
        let same = found.version == VERSION
            && found.manifest_hash == manifest_hash
            && found.scope == Scope::Full
            && found.key == key
            && found.last_key.len() == key.len()
            && found.profile.columns.len() == columns
            && found.pages > 0;
        Ok(same.then_some(found))
    }

    pub(super) fn save(&self, area: &StagingArea) -> Result<(), StoreError> {
        // A checkpoint is plain data; if it can't be written the run only loses the chance to continue.
        match serde_json::to_vec(self) {
            Ok(bytes) => area.put_checkpoint(&bytes),
            Err(_) => Ok(()),
        }
    }
}
