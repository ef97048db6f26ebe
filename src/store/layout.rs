//! Where everything is inside a store's directory.

use std::path::{Path, PathBuf};

use super::hash::{Hash256, SnapshotId};

/// The paths of one store.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    root: PathBuf,
}

impl Layout {
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Format version of the store.
    pub(super) fn format(&self) -> PathBuf {
        self.root.join("store.json")
    }

    pub(super) fn objects(&self) -> PathBuf {
        self.root.join("objects")
    }

    /// An object; 256 directories keep each one small.
    pub(super) fn object(&self, hash: &Hash256) -> PathBuf {
        let name = hash.to_string();
        self.objects().join(name.get(..2).unwrap_or_default()).join(name)
    }

    pub(super) fn snapshots(&self) -> PathBuf {
        self.root.join("snapshots")
    }

    pub(super) fn snapshot(&self, id: &SnapshotId) -> PathBuf {
        self.snapshots().join(format!("{id}.json"))
    }

    pub(super) fn refs(&self) -> PathBuf {
        self.root.join("refs")
    }

    pub(super) fn pins(&self) -> PathBuf {
        self.refs().join("pins")
    }

    pub(super) fn current(&self) -> PathBuf {
        self.refs().join("current")
    }

    pub(super) fn ledger_dir(&self) -> PathBuf {
        self.root.join("ledger")
    }

    pub(super) fn ledger(&self) -> PathBuf {
        self.ledger_dir().join("collections.jsonl")
    }

    pub(super) fn work(&self) -> PathBuf {
        self.root.join("work")
    }
}
