//! What can go wrong with a store, by the decision a caller can take.

use std::io;
use std::path::{Path, PathBuf};

/// A failure of the store. Every variant names the file it is about.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The store, snapshot or object isn't there: pull or import it first.
    #[error("{what} not found at {}", path.display())]
    NotFound {
        /// What was looked for.
        what: String,
        /// Where it was looked for.
        path: PathBuf,
    },
    /// Trusted state doesn't match what it must be: run `store verify --repair` or restore the file.
    #[error("corrupt store: {} should hold {expected}, but holds {actual}", path.display())]
    Corrupt {
        /// The damaged file.
        path: PathBuf,
        /// What it must hold.
        expected: String,
        /// What it holds.
        actual: String,
    },
    /// A signature, hash or key in a document isn't one the configured keys vouch for.
    #[error("{} is not trusted: {reason}", path.display())]
    Untrusted {
        /// The document.
        path: PathBuf,
        /// The verification failure.
        reason: String,
    },
    /// Another process writes to this store: wait for it, or use another store.
    #[error("the store {} is being written by another process; wait for it to finish or use another store", path.display())]
    Busy {
        /// The store.
        path: PathBuf,
    },
    /// The store was made by a newer version of the tool: upgrade the tool.
    #[error("{} has format {found:?}, this version reads {supported:?}; use a newer benthic-mirror", path.display())]
    NewerFormat {
        /// The file that names the format.
        path: PathBuf,
        /// The format it names.
        found: String,
        /// The newest format this version reads.
        supported: String,
    },
    /// The disk is full: free at least `needed` bytes.
    #[error("no space left while writing {needed} bytes to {}; free at least that much and run again", path.display())]
    Full {
        /// The file being written.
        path: PathBuf,
        /// Bytes the write needed.
        needed: u64,
    },
    /// The store was opened read-only, or its file system is.
    #[error("the store {} is read-only; open it for writing or choose another with --store", path.display())]
    ReadOnly {
        /// The store, or the file that could not be written.
        path: PathBuf,
    },
    /// `current` would move to an older snapshot of the same mirror key.
    #[error(
        "refusing to move current from snapshot {current} (created {current_created_at}) to {offered}, which is older (created {offered_created_at}); check the clock, or allow it explicitly"
    )]
    Superseded {
        /// The snapshot `current` names.
        current: String,
        /// Its `created_at`.
        current_created_at: String,
        /// The snapshot that was to replace it.
        offered: String,
        /// Its `created_at`.
        offered_created_at: String,
    },
    /// A mirror key file that must not be used as it is.
    #[error("mirror key file {}: {problem}", path.display())]
    KeyFile {
        /// The key file.
        path: PathBuf,
        /// What is wrong and how to put it right.
        problem: String,
    },
    /// A document given by the user is larger than anything of its kind may be.
    #[error("{} holds {actual} bytes, more than the {limit} allowed", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        actual: u64,
        /// The cap in bytes.
        limit: u64,
    },
    /// Any other failure of the file system.
    #[error("could not {action} {}: {source}", path.display())]
    Io {
        /// What was attempted.
        action: &'static str,
        /// On which path.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
}

impl StoreError {
    /// Sorts an operating-system error from *reading* `path` by what the caller can do about it.
    pub(super) fn reading(path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::NotFound => Self::NotFound { what: "file".to_owned(), path: path.to_owned() },
            _ => Self::Io { action: "read", path: path.to_owned(), source },
        }
    }

    /// Sorts an operating-system error from *writing* `needed` bytes to `path`.
    pub(super) fn writing(action: &'static str, path: &Path, needed: u64, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::Full { path: path.to_owned(), needed }
            }
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path: path.to_owned() },
            _ => Self::Io { action, path: path.to_owned(), source },
        }
    }

    /// A damaged file.
    pub(super) fn corrupt(path: &Path, expected: impl Into<String>, actual: impl Into<String>) -> Self {
        Self::Corrupt { path: path.to_owned(), expected: expected.into(), actual: actual.into() }
    }
}
