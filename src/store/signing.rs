//! Snapshot documents as signed bytes: the same signature block as the publisher's documents, by the mirror's key.

use std::path::Path;

use serde_json::Value;

use super::document::SnapshotDocument;
use super::error::StoreError;
use super::hash::{Hash256, SnapshotId};
use super::mirror_key::MirrorKey;
use crate::bdp::{self, Limits, TrustedKeys};

/// Signs a document. The signed bytes are RFC 8785 themselves, so the file is reproducible from its content.
pub(super) fn sign(
    path: &Path,
    document: &SnapshotDocument,
    key: &MirrorKey,
) -> Result<(Vec<u8>, SnapshotId), StoreError> {
    let invalid =
        |reason: String| StoreError::corrupt(path, "a snapshot document that can be signed", reason);
    let value = serde_json::to_value(document).map_err(|error| invalid(error.to_string()))?;
    let Value::Object(payload) = value else { return Err(invalid("not an object".to_owned())) };
    let signed_at = document.created_at.to_rfc3339_opts(chrono::SecondsFormat::Micros, true);
    let (signed, hash) = bdp::sign::sign_document(payload, key.signing(), Some(&signed_at))
        .map_err(|error| invalid(error.to_string()))?;
    let bytes = serde_json_canonicalizer::to_vec(&Value::Object(signed))
        .map_err(|error| invalid(error.to_string()))?;
    Ok((bytes, SnapshotId(Hash256::from_bytes(*hash.as_bytes()))))
}

/// Verifies a document by the trusted mirror keys; returns it with its id and the key that signed it.
pub(super) fn verify(
    path: &Path,
    bytes: &[u8],
    trusted: &TrustedKeys,
) -> Result<(SnapshotDocument, SnapshotId, String), StoreError> {
    let limits = Limits { max_document_bytes: bytes.len(), ..Limits::default() };
    let verified = bdp::verify_signed_value(bytes, trusted, &limits)
        .map_err(|error| StoreError::Untrusted { path: path.to_owned(), reason: error.to_string() })?;
    let id = SnapshotId(Hash256::from_bytes(*verified.payload_hash.as_bytes()));
    let document = serde_json::from_value(Value::Object(verified.document)).map_err(|error| {
        StoreError::corrupt(path, "a snapshot document of this version", error.to_string())
    })?;
    Ok((document, id, verified.signed_by))
}
