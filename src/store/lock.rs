//! The two advisory locks: one writer per store, and readers that keep a snapshot from being cleaned away.
//!
//! Both live in the operating system, not in files: a crashed process leaves nothing behind that must be removed.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use super::error::StoreError;

/// Held by the one process that may write; released when dropped.
#[derive(Debug)]
pub(super) struct WriterLock {
    _file: File,
}

impl WriterLock {
    /// Takes the lock of the store at `root`, or says who can't have it.
    pub(super) fn acquire(root: &Path) -> Result<Self, StoreError> {
        let path = root.join("lock");
        let file =
            OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(|error| {
                match error.kind() {
                    std::io::ErrorKind::PermissionDenied => StoreError::ReadOnly { path: root.to_owned() },
                    _ => StoreError::writing("open the lock", &path, 0, error),
                }
            })?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(StoreError::Busy { path: root.to_owned() }),
            Err(TryLockError::Error(error)) => Err(StoreError::writing("lock", &path, 0, error)),
        }
    }
}

/// Held while a snapshot is served, so clean-up leaves its objects alone.
#[derive(Debug)]
pub(super) struct SnapshotLease {
    _file: Option<File>,
}

impl SnapshotLease {
    /// Takes a shared lock on a snapshot document. Where the medium can't lock (read-only, some network file
    /// systems) nothing can be cleaned up by us either, so there is nothing to guard against.
    pub(super) fn take(document: &Path) -> Result<Self, StoreError> {
        let file = File::open(document).map_err(|error| StoreError::reading(document, error))?;
        match file.try_lock_shared() {
            Ok(()) => Ok(Self { _file: Some(file) }),
            // Clean-up holds it exclusively: the snapshot is about to go.
            Err(TryLockError::WouldBlock) => Err(StoreError::NotFound {
                what: "snapshot (being removed)".to_owned(),
                path: document.to_owned(),
            }),
            Err(TryLockError::Error(_)) => Ok(Self { _file: None }),
        }
    }
}
