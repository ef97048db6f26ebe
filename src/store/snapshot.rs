//! Loading a snapshot: nothing in it is believed before both signatures and every object's presence are checked.

use serde::Deserialize;

use super::document::{SNAPSHOT_FORMAT, SnapshotDocument};
use super::error::StoreError;
use super::handle::{Store, check_format};
use super::hash::{Hash256, SnapshotId};
use super::lock::SnapshotLease;
use super::{content_id, disk, objects};
use crate::bdp::{self, Limits, TrustedKeys};
use crate::catalog::Catalog;

/// First part of every snapshot document's `format`.
const FORMAT_FAMILY: &str = "benthic-mirror/snapshot/";

/// Snapshot documents list every part of every relation; 64 MiB is far beyond any real one.
pub(super) const MAX_SNAPSHOT_BYTES: u64 = 64 * 1024 * 1024;

/// Whose signatures count. Two lists that are never mixed, from configuration only (spec bdp.md, two trust lists).
#[derive(Debug, Clone)]
pub struct Trust {
    /// Keys whose collections and manifests are believed.
    pub publisher: TrustedKeys,
    /// Keys whose snapshot documents are believed.
    pub mirror: TrustedKeys,
}

/// A verified snapshot. While it is held, clean-up leaves its objects alone.
#[derive(Debug)]
pub struct Snapshot {
    /// Its name: the payload hash of the document.
    pub id: SnapshotId,
    /// The verified document.
    pub document: SnapshotDocument,
    /// What the publisher's documents in it grant.
    pub catalog: Catalog,
    /// The mirror key that signed it, Base64.
    pub mirror_key: String,
    _lease: SnapshotLease,
}

/// The one member that is looked at before verification, because it says how to verify.
#[derive(Deserialize)]
struct FormatPeek {
    format: String,
}

impl Snapshot {
    /// Loads and verifies a snapshot, in this order: format, mirror signature, name, content id, publisher's
    /// documents, objects.
    pub(super) fn load(store: &Store, id: &SnapshotId, trust: &Trust) -> Result<Self, StoreError> {
        let path = store.layout.snapshot(id);
        let lease = SnapshotLease::take(&path).map_err(|error| match error {
            StoreError::NotFound { .. } => {
                StoreError::NotFound { what: format!("snapshot {id}"), path: path.clone() }
            }
            other => other,
        })?;
        let bytes = disk::read_capped(&path, MAX_SNAPSHOT_BYTES)?;
        let peek: FormatPeek = serde_json::from_slice(&bytes).map_err(|error| {
            StoreError::corrupt(&path, "a snapshot document", format!("something else: {error}"))
        })?;
        check_format(&path, &peek.format, FORMAT_FAMILY, SNAPSHOT_FORMAT)?;

        let (document, found, mirror_key) = super::signing::verify(&path, &bytes, &trust.mirror)?;
        if found != *id {
            return Err(StoreError::corrupt(&path, format!("snapshot {id}"), format!("snapshot {found}")));
        }
        let expected = content_id(&document.manifests, &document.relations)
            .map_err(|error| StoreError::corrupt(&path, "a content id", error.to_string()))?;
        if expected != document.content_id {
            return Err(StoreError::corrupt(
                &path,
                format!("content_id {expected}"),
                format!("content_id {}", document.content_id),
            ));
        }
        let catalog = load_catalog(store, &document, &trust.publisher)?;
        // Indexes are looked at when they are used: whatever is wrong with one, the rows answer too.
        for object in document.required_objects() {
            objects::check_presence(&store.layout, &object)?;
        }
        Ok(Self { id: *id, document, catalog, mirror_key, _lease: lease })
    }
}

/// Verifies the stored collection and manifests again, byte for byte as they were received.
fn load_catalog(
    store: &Store,
    document: &SnapshotDocument,
    publisher: &TrustedKeys,
) -> Result<Catalog, StoreError> {
    let limits = Limits::default();
    let object_path = |hash: &Hash256| store.layout.object(hash);
    let untrusted = |hash: &Hash256, error: &dyn std::error::Error| StoreError::Untrusted {
        path: object_path(hash),
        reason: error.to_string(),
    };
    let same = |path: std::path::PathBuf, expected: Hash256, found: &bdp::PayloadHash| {
        let found = Hash256::from_bytes(*found.as_bytes());
        match found == expected {
            true => Ok(()),
            false => Err(StoreError::corrupt(
                &path,
                format!("the document {expected}"),
                format!("the document {found}"),
            )),
        }
    };

    let entry = &document.collection;
    let hash = entry.object.sha256;
    let bytes = objects::read(&store.layout, &hash)?;
    let collection =
        bdp::verify_collection(&bytes, publisher, &limits).map_err(|error| untrusted(&hash, &error))?;
    same(object_path(&hash), entry.payload_hash, &collection.payload_hash)?;
    bdp::check_collection_name(&collection, &entry.name).map_err(|error| untrusted(&hash, &error))?;

    let mut manifests = Vec::with_capacity(document.manifests.len());
    for entry in &document.manifests {
        let hash = entry.object.sha256;
        let bytes = objects::read(&store.layout, &hash)?;
        let manifest =
            bdp::verify_manifest(&bytes, publisher, &limits).map_err(|error| untrusted(&hash, &error))?;
        same(object_path(&hash), entry.payload_hash, &manifest.payload_hash)?;
        manifests.push(manifest);
    }
    Catalog::from_verified(&collection, &manifests).map_err(|error| untrusted(&hash, &error))
}
