//! Content-addressed objects, snapshots, refs, ledger; the only room touching the file system.
//!
//! A store is a local directory. Everything in it is either content-addressed and immutable, or a tiny ref switched
//! atomically (`docs/store-format.md` is the whole format):
//!
//! ```text
//! <store>/
//!   store.json                      format version
//!   objects/<aa>/<sha256>           documents, Parquet parts, indexes
//!   snapshots/<id>.json             signed snapshot documents
//!   refs/current  refs/pins/<name>  one line: a snapshot id
//!   ledger/collections.jsonl        every collection accepted, append-only
//!   work/<run>/                     unpublished captures; safe to delete
//!   lock                            one writer
//! ```
//!
//! Reading: [`Store::open`], [`Store::current`], [`Store::check_object`], [`Store::object_path`].
//! Writing: [`Store::writer`] takes the lock; [`StoreWriter`] puts objects and publishes snapshots.

#![allow(clippy::disallowed_methods, reason = "this room is the door to the file system")]

mod content_id;
mod digest;
mod disk;
mod document;
mod error;
pub mod files;
mod handle;
mod hash;
mod layout;
mod ledger;
mod lock;
mod mirror_key;
mod objects;
mod publish;
mod signing;
mod snapshot;
mod work;
mod writer;

pub use crate::catalog::{StoredColumn, StoredGeometry, StoredType};

pub use content_id::content_id;
pub use digest::{RowDigest, UnsupportedType};
pub use document::{
    Capture, CapturedAt, CollectionEntry, Evidence, IndexEntry, ManifestEntry, ObjectRef, Part,
    RelationEntry, RelationState, SNAPSHOT_FORMAT, Scope, SnapshotDocument, covering_fields, file_schema,
};
pub use error::StoreError;
pub use handle::{Access, STORE_FORMAT, Store};
pub use hash::{Hash256, InvalidHash, SnapshotId};
pub use ledger::LedgerLine;
pub use mirror_key::MirrorKey;
pub use objects::{HASH_BEFORE_USE_MAX_BYTES, ObjectCheck, ObjectWriter};
pub use publish::CurrentOrder;
pub use snapshot::{Snapshot, Trust};
pub use work::StagingArea;
pub use writer::StoreWriter;
