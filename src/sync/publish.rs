//! Step 5: the documents become objects, the captures a signed snapshot, and `current` moves to it.

use crate::bdp::PayloadHash;
use crate::config::Clock;
use crate::store::{
    CollectionEntry, Hash256, ManifestEntry, RelationEntry, RelationState, SNAPSHOT_FORMAT, SnapshotDocument,
    StoreError, StoreWriter, content_id,
};

use super::documents::Documents;
use super::error::SyncError;
use super::options::PullOptions;
use super::progress::{Event, Progress};
use super::relation::Outcome;
use super::report::{PullReport, RelationOutcome, RelationReport};

/// What became of a relation.
pub(super) struct Captured {
    pub(super) dataset: String,
    pub(super) relation: String,
    pub(super) outcome: Outcome,
}

/// Publishes what was captured, if anything was.
pub(super) fn publish(
    writer: &mut StoreWriter,
    options: &PullOptions,
    clock: &dyn Clock,
    progress: &dyn Progress,
    documents: &Documents,
    captured: Vec<Captured>,
) -> Result<PullReport, SyncError> {
    let manifests = documents
        .manifests
        .iter()
        .map(|manifest| {
            Ok(ManifestEntry {
                dataset: manifest.document.dataset_name.clone(),
                payload_hash: hash(&manifest.payload_hash),
                object: writer.put_object(&manifest.bytes)?,
            })
        })
        .collect::<Result<Vec<_>, StoreError>>()?;
    let collection = CollectionEntry {
        name: options.collection.clone(),
        payload_hash: hash(&documents.collection.payload_hash),
        object: writer.put_object(&documents.collection.bytes)?,
    };

    let relations = entries(&captured);
    let content_id = content_id(&manifests, &relations).map_err(|error| StoreError::Io {
        action: "identify the content of",
        path: writer.store().path().to_owned(),
        source: error.into(),
    })?;
    let mut report = PullReport {
        collection: options.collection.clone(),
        collection_hash: documents.collection.payload_hash.to_string(),
        snapshot: None,
        content_id,
        relations: captured.iter().map(report_of).collect(),
        warnings: documents.catalog.warnings.clone(),
    };
    let first_failure = captured.iter().find_map(|captured| match &captured.outcome {
        Outcome::Failed(error) => Some(error.to_string()),
        _ => None,
    });
    let any_captured = captured.iter().any(|captured| matches!(captured.outcome, Outcome::Captured(_)));
    if let (Some(first), false) = (first_failure, any_captured) {
        return Err(SyncError::NothingCaptured { first, report: Box::new(report) });
    }

    let document = SnapshotDocument {
        format: SNAPSHOT_FORMAT.to_owned(),
        created_at: clock.now(),
        tool_version: options.tool_version.clone(),
        collection,
        manifests,
        relations,
        content_id,
    };
    let id = writer.publish(
        &document,
        &options.mirror_key,
        documents.ledger_line.as_ref(),
        options.current_order,
    )?;
    progress.event(Event::Published { snapshot: &id.to_string() });
    // Published: nothing in work/ is needed any more. A failure to tidy up doesn't undo that.
    if let Err(error) = writer.clear_work(None) {
        tracing::warn!(%error, "work/ could not be cleared; the next run will try again");
    }
    report.snapshot = Some(id);
    Ok(report)
}

/// The relations a snapshot lists: captured and skipped ones. Failed ones are absent.
fn entries(captured: &[Captured]) -> Vec<RelationEntry> {
    captured
        .iter()
        .filter_map(|captured| {
            let state = match &captured.outcome {
                Outcome::Captured(capture) => RelationState::Captured(capture.clone()),
                Outcome::Skipped(reason) => RelationState::Skipped { reason: reason.clone() },
                Outcome::Failed(_) => return None,
            };
            Some(RelationEntry {
                dataset: captured.dataset.clone(),
                relation: captured.relation.clone(),
                state,
            })
        })
        .collect()
}

fn report_of(captured: &Captured) -> RelationReport {
    let outcome = match &captured.outcome {
        Outcome::Captured(capture) => RelationOutcome::Captured {
            rows: capture.rows,
            bytes: capture.parts.iter().map(|part| part.bytes).sum(),
            evidence: capture.evidence,
            retries: capture.retries,
        },
        Outcome::Skipped(reason) => RelationOutcome::Skipped { reason: reason.clone() },
        Outcome::Failed(error) => RelationOutcome::Failed { reason: error.to_string() },
    };
    RelationReport { source: format!("{}.{}", captured.dataset, captured.relation), outcome }
}

fn hash(payload_hash: &PayloadHash) -> Hash256 {
    Hash256::from_bytes(*payload_hash.as_bytes())
}
