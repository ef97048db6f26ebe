//! Publication: a snapshot is complete or does not exist, and `current` names the old one or the new one.
//!
//! The steps, in the order that keeps every kill point safe:
//! 1. objects, each durable before it has a name;
//! 2. the snapshot document;
//! 3. the ledger line;
//! 4. `refs/current`.
//!
//! After 1 or 2 nothing refers to what was written; after 3 the collection counts as accepted, which the next run
//! finds true; 4 is one rename.

use super::disk;
use super::document::SnapshotDocument;
use super::error::StoreError;
use super::hash::SnapshotId;
use super::ledger::LedgerLine;
use super::mirror_key::MirrorKey;
use super::snapshot::Trust;
use super::writer::StoreWriter;
use super::{content_id, objects, signing};

/// Whether `current` may move to a snapshot that is older than the one it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CurrentOrder {
    /// Only forward in `created_at`, per mirror key.
    #[default]
    ForwardOnly,
    /// The operator asked for it.
    AllowOlder,
}

impl StoreWriter {
    /// Publishes a snapshot: document, ledger, `current`. `ledger` is the line to append, if the collection is new to
    /// the ledger.
    pub fn publish(
        &mut self,
        document: &SnapshotDocument,
        key: &MirrorKey,
        ledger: Option<&LedgerLine>,
        order: CurrentOrder,
    ) -> Result<SnapshotId, StoreError> {
        self.check_order(document, key, order)?;
        let id = self.write_snapshot(document, key)?;
        if let Some(line) = ledger {
            self.append_ledger(line)?;
        }
        self.switch_current(&id)?;
        Ok(id)
    }

    /// Step 2: signs and writes the document, after checking that everything it refers to is there.
    pub fn write_snapshot(
        &mut self,
        document: &SnapshotDocument,
        key: &MirrorKey,
    ) -> Result<SnapshotId, StoreError> {
        let layout = &self.store.layout;
        for object in document.objects() {
            objects::check_presence(layout, &object)?;
        }
        let directory = layout.snapshots();
        let expected = content_id(&document.manifests, &document.relations)
            .map_err(|error| StoreError::corrupt(&directory, "a content id", error.to_string()))?;
        if expected != document.content_id {
            return Err(StoreError::corrupt(
                &directory,
                format!("content_id {expected}"),
                format!("content_id {}", document.content_id),
            ));
        }
        let (bytes, id) = signing::sign(&directory, document, key)?;
        disk::create_dirs(&directory)?;
        disk::write_atomic(&self.temporary(), &layout.snapshot(&id), &bytes)?;
        Ok(id)
    }

    /// Step 4: makes `current` name a snapshot whose document is in the store.
    pub fn switch_current(&mut self, id: &SnapshotId) -> Result<(), StoreError> {
        let layout = &self.store.layout;
        let document = layout.snapshot(id);
        if disk::size(&document)?.is_none() {
            return Err(StoreError::NotFound { what: format!("snapshot {id}"), path: document });
        }
        disk::create_dirs(&layout.refs())?;
        disk::write_atomic(&self.temporary(), &layout.current(), format!("{id}\n").as_bytes())
    }

    /// The rollback rule for snapshots: of one mirror key, `current` only moves forward in `created_at`.
    fn check_order(
        &self,
        offered: &SnapshotDocument,
        key: &MirrorKey,
        order: CurrentOrder,
    ) -> Result<(), StoreError> {
        let Some(id) = self.store.current_id()? else { return Ok(()) };
        if order == CurrentOrder::AllowOlder {
            return Ok(());
        }
        let path = self.store.layout.snapshot(&id);
        let bytes = disk::read_capped(&path, super::snapshot::MAX_SNAPSHOT_BYTES)?;
        let own = crate::bdp::TrustedKeys::from_base64([key.public_base64()])
            .map_err(|error| StoreError::Untrusted { path: path.clone(), reason: error.to_string() })?;
        // A snapshot by another key says nothing about our order; one that can't be verified by ours neither.
        let Ok((current, _, _)) = signing::verify(&path, &bytes, &own) else { return Ok(()) };
        if offered.created_at < current.created_at {
            return Err(StoreError::Superseded {
                current: id.to_string(),
                current_created_at: current.created_at.to_rfc3339(),
                offered: "the new snapshot".to_owned(),
                offered_created_at: offered.created_at.to_rfc3339(),
            });
        }
        Ok(())
    }
}

/// What a store holds under a trust, for callers that need to know whether to start from nothing.
impl StoreWriter {
    /// The snapshot `current` names, verified.
    pub fn current(&self, trust: &Trust) -> Result<Option<super::Snapshot>, StoreError> {
        self.store.current(trust)
    }
}
