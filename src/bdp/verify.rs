//! The verification as a whole: what every caller uses.

use bytes::Bytes;
use serde_json::{Map, Value};

use super::document::{Collection, Document, Manifest};
use super::error::{SchemaFault, VerifyError};
use super::hash::PayloadHash;
use super::keys::TrustedKeys;
use super::parse::Limits;
use super::schema::{self, DocumentKind};
use super::signature::{Opened, open};

/// A document that passed every check. Only this room can make one.
#[derive(Debug, Clone)]
pub struct Verified<T> {
    /// The document.
    pub document: T,
    /// Hash of its payload; its identity.
    pub payload_hash: PayloadHash,
    /// The key that signed it, Base64.
    pub signed_by: String,
    /// When, by the signer's word: outside the hash, so not authenticated and no ground for any decision.
    pub signed_at: Option<String>,
    /// The bytes exactly as received.
    pub bytes: Bytes,
    /// What was tolerated, e.g. members of a later minor version.
    pub warnings: Vec<String>,
    /// Keeps other rooms from making one.
    seal: Seal,
}

#[derive(Debug, Clone, Copy)]
struct Seal;

impl<T> Verified<T> {
    fn new(document: T, opened: Opened, bytes: &[u8], warnings: Vec<String>) -> Self {
        Self {
            document,
            payload_hash: opened.payload_hash,
            signed_by: opened.signed_by,
            signed_at: opened.signed_at,
            bytes: Bytes::copy_from_slice(bytes),
            warnings,
            seal: Seal,
        }
    }

    fn map<U>(self, change: impl FnOnce(T) -> U) -> Verified<U> {
        Verified {
            document: change(self.document),
            payload_hash: self.payload_hash,
            signed_by: self.signed_by,
            signed_at: self.signed_at,
            bytes: self.bytes,
            warnings: self.warnings,
            seal: self.seal,
        }
    }
}

impl Verified<Document> {
    /// The collection, if it is one.
    pub fn into_collection(self) -> Option<Verified<Collection>> {
        match &self.document {
            Document::Collection(collection) => {
                let collection = Collection::clone(collection);
                Some(self.map(|_| collection))
            }
            Document::Manifest(_) => None,
        }
    }

    /// The manifest, if it is one.
    pub fn into_manifest(self) -> Option<Verified<Manifest>> {
        match &self.document {
            Document::Manifest(manifest) => {
                let manifest = Manifest::clone(manifest);
                Some(self.map(|_| manifest))
            }
            Document::Collection(_) => None,
        }
    }
}

/// Verifies a collection: steps 1 to 6, and that no dataset is listed twice.
///
/// Which collection it is remains to be compared by [`check_collection_name`](super::check_collection_name).
///
/// # Errors
/// [`VerifyError`], one variant per rule; the first broken rule in the order of the steps decides.
pub fn verify_collection(
    bytes: &[u8],
    keys: &TrustedKeys,
    limits: &Limits,
) -> Result<Verified<Collection>, VerifyError> {
    let opened = open(bytes, keys, limits)?;
    collection_from(opened, bytes)
}

/// Verifies a manifest: steps 1 to 6.
///
/// Whether a collection pins this revision remains to be checked by [`check_member`](super::check_member).
///
/// # Errors
/// As [`verify_collection`].
pub fn verify_manifest(
    bytes: &[u8],
    keys: &TrustedKeys,
    limits: &Limits,
) -> Result<Verified<Manifest>, VerifyError> {
    let opened = open(bytes, keys, limits)?;
    manifest_from(opened, bytes)
}

/// Verifies either document, telling them apart by their members once the signature holds.
///
/// # Errors
/// As [`verify_collection`]; [`VerifyError::UnknownDocument`] if it is neither.
pub fn verify_document(
    bytes: &[u8],
    keys: &TrustedKeys,
    limits: &Limits,
) -> Result<Verified<Document>, VerifyError> {
    let opened = open(bytes, keys, limits)?;
    match DocumentKind::of(&opened.members) {
        Some(DocumentKind::Collection) => {
            Ok(collection_from(opened, bytes)?.map(|collection| Document::Collection(Box::new(collection))))
        }
        Some(DocumentKind::Manifest) => {
            Ok(manifest_from(opened, bytes)?.map(|manifest| Document::Manifest(Box::new(manifest))))
        }
        None => Err(VerifyError::UnknownDocument),
    }
}

/// Verifies the signature alone, steps 1 to 5: for documents of other kinds signed in the same form, such as the
/// snapshot documents of a mirror. `keys` is the list for that kind, never the publisher's.
///
/// # Errors
/// As [`verify_collection`], without the variants of the later steps.
pub fn verify_signed_value(
    bytes: &[u8],
    keys: &TrustedKeys,
    limits: &Limits,
) -> Result<Verified<Map<String, Value>>, VerifyError> {
    let opened = open(bytes, keys, limits)?;
    let members = opened.members.clone();
    Ok(Verified::new(members, opened, bytes, Vec::new()))
}

fn collection_from(mut opened: Opened, bytes: &[u8]) -> Result<Verified<Collection>, VerifyError> {
    let members = std::mem::take(&mut opened.members);
    let (members, warnings) = schema::check(DocumentKind::Collection, members)?;
    let collection: Collection = read(DocumentKind::Collection, members)?;
    for (position, member) in collection.members.iter().enumerate() {
        if collection.members.iter().take(position).any(|earlier| earlier.dataset_name == member.dataset_name)
        {
            return Err(VerifyError::DuplicateDataset {
                collection: collection.collection_name.clone(),
                dataset: member.dataset_name.clone(),
            });
        }
    }
    Ok(Verified::new(collection, opened, bytes, warnings))
}

fn manifest_from(mut opened: Opened, bytes: &[u8]) -> Result<Verified<Manifest>, VerifyError> {
    let members = std::mem::take(&mut opened.members);
    let (members, warnings) = schema::check(DocumentKind::Manifest, members)?;
    let manifest = read(DocumentKind::Manifest, members)?;
    Ok(Verified::new(manifest, opened, bytes, warnings))
}

/// The schema has passed, so what can still fail is a number too large for its type.
fn read<T: serde::de::DeserializeOwned>(
    kind: DocumentKind,
    members: Map<String, Value>,
) -> Result<T, VerifyError> {
    serde_json::from_value(Value::Object(members)).map_err(|error| VerifyError::Schema {
        document: kind.name(),
        faults: vec![SchemaFault { pointer: String::new(), message: error.to_string() }],
    })
}
