//! An open store: reading snapshots and objects.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::disk;
use super::document::ObjectRef;
use super::error::StoreError;
use super::hash::{Hash256, SnapshotId};
use super::layout::Layout;
use super::objects::{self, HashedObjects, ObjectCheck};
use super::snapshot::{Snapshot, Trust};
use super::writer::StoreWriter;

/// The `format` member of `store.json`; the number is the major version.
pub const STORE_FORMAT: &str = "benthic-mirror/store/1";
const FORMAT_FAMILY: &str = "benthic-mirror/store/";

/// What a caller means to do with a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read only; works on read-only media and never makes a file.
    ReadOnly,
    /// Read, and take the writer's lock when needed.
    ReadWrite,
}

/// An open store. Cheap to clone; clones share what they know about hashed objects.
#[derive(Debug, Clone)]
pub struct Store {
    pub(super) layout: Layout,
    access: Access,
    hashed: Arc<HashedObjects>,
}

/// `store.json`.
#[derive(Serialize, Deserialize)]
struct FormatFile {
    format: String,
}

impl Store {
    /// Opens the store at `path`.
    ///
    /// Errors: `NotFound` if there is no store, `NewerFormat` if a newer version made it, `Corrupt` if `store.json`
    /// is damaged.
    pub fn open(path: &Path, access: Access) -> Result<Self, StoreError> {
        let layout = Layout::new(path);
        let format_path = layout.format();
        let bytes = disk::read_capped(&format_path, 64 * 1024).map_err(|error| match error {
            StoreError::NotFound { .. } => {
                StoreError::NotFound { what: "store".to_owned(), path: path.to_owned() }
            }
            other => other,
        })?;
        let file: FormatFile = serde_json::from_slice(&bytes).map_err(|error| {
            StoreError::corrupt(&format_path, format!("{{\"format\":{STORE_FORMAT:?}}}"), error.to_string())
        })?;
        check_format(&format_path, &file.format, FORMAT_FAMILY, STORE_FORMAT)?;
        Ok(Self { layout, access, hashed: Arc::default() })
    }

    /// Opens the store at `path`, making an empty one if there is none. A directory that holds anything else than a
    /// store is refused rather than written into.
    pub fn create_or_open(path: &Path) -> Result<Self, StoreError> {
        let layout = Layout::new(path);
        if disk::size(&layout.format())?.is_none() {
            disk::create_dirs(path)?;
            const OURS: [&str; 6] = ["objects", "snapshots", "refs", "ledger", "work", "lock"];
            if let Some(stranger) = disk::list(path)?.into_iter().find(|name| !OURS.contains(&name.as_str()))
            {
                return Err(StoreError::corrupt(
                    path,
                    "a store or an empty directory",
                    format!("no store.json, but {stranger:?}; choose another directory"),
                ));
            }
            let directories =
                [layout.objects(), layout.snapshots(), layout.pins(), layout.ledger_dir(), layout.work()];
            for directory in directories {
                disk::create_dirs(&directory)?;
            }
            // Last: a directory without it is an unfinished store, and the next run finishes it.
            let format = FormatFile { format: STORE_FORMAT.to_owned() };
            let bytes = serde_json::to_vec(&format).map_err(|error| StoreError::Io {
                action: "encode",
                path: layout.format(),
                source: error.into(),
            })?;
            disk::write_atomic(&layout.work().join("store.json.part"), &layout.format(), &bytes)?;
        }
        Self::open(path, Access::ReadWrite)
    }

    /// The store's directory.
    pub fn path(&self) -> &Path {
        self.layout.root()
    }

    /// Takes the writer's lock. Errors: `ReadOnly` if opened so, `Busy` if another writer has it.
    pub fn writer(&self) -> Result<StoreWriter, StoreError> {
        match self.access {
            Access::ReadOnly => Err(StoreError::ReadOnly { path: self.path().to_owned() }),
            Access::ReadWrite => StoreWriter::lock(self.clone()),
        }
    }

    /// Where an object is. The file is one of an immutable set: it can be read in place for as long as a
    /// [`Snapshot`] that refers to it is held.
    pub fn object_path(&self, hash: &Hash256) -> PathBuf {
        self.layout.object(hash)
    }

    /// Checks an object before its first use in this process: presence and size always, its hash if it is at most
    /// [`super::HASH_BEFORE_USE_MAX_BYTES`].
    pub fn check_object(&self, object: &ObjectRef) -> Result<ObjectCheck, StoreError> {
        objects::check_before_use(&self.layout, &self.hashed, object)
    }

    /// Reads a whole object of at most [`super::HASH_BEFORE_USE_MAX_BYTES`]; the bytes returned are the bytes hashed.
    pub fn read_object(&self, hash: &Hash256) -> Result<Vec<u8>, StoreError> {
        objects::read(&self.layout, hash)
    }

    /// Reads a whole object of any size into memory, and says how far its bytes were checked.
    pub fn read_for_use(&self, object: &ObjectRef) -> Result<(Vec<u8>, ObjectCheck), StoreError> {
        objects::read_for_use(&self.layout, &self.hashed, object)
    }

    /// The snapshot `current` names, if there is one.
    pub fn current_id(&self) -> Result<Option<SnapshotId>, StoreError> {
        let path = self.layout.current();
        let bytes = match disk::read_capped(&path, 4096) {
            Ok(bytes) => bytes,
            Err(StoreError::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let text = String::from_utf8_lossy(&bytes);
        text.trim_end()
            .parse()
            .map(Some)
            .map_err(|_| StoreError::corrupt(&path, "one line: a snapshot id", format!("{:.80?}", text)))
    }

    /// Loads the snapshot `current` names, if there is one.
    pub fn current(&self, trust: &Trust) -> Result<Option<Snapshot>, StoreError> {
        self.current_id()?.map(|id| self.snapshot(&id, trust)).transpose()
    }

    /// Loads and verifies a snapshot: its signature by a trusted mirror key, its documents by trusted publisher keys,
    /// presence and size of every object.
    pub fn snapshot(&self, id: &SnapshotId, trust: &Trust) -> Result<Snapshot, StoreError> {
        Snapshot::load(self, id, trust)
    }

    /// Every snapshot in the store, by id.
    pub fn snapshot_ids(&self) -> Result<Vec<SnapshotId>, StoreError> {
        let directory = self.layout.snapshots();
        disk::list(&directory)?
            .into_iter()
            .map(|name| {
                let id = name.strip_suffix(".json").and_then(|id| id.parse().ok());
                id.ok_or_else(|| {
                    StoreError::corrupt(&directory, "only snapshot documents", format!("{name:?}"))
                })
            })
            .collect()
    }
}

/// Refuses formats of a newer major version as such, and anything else that isn't ours as corrupt.
pub(super) fn check_format(
    path: &Path,
    found: &str,
    family: &str,
    supported: &str,
) -> Result<(), StoreError> {
    if found == supported {
        return Ok(());
    }
    let newer = found.strip_prefix(family).is_some_and(|major| {
        !major.is_empty() && major.bytes().all(|byte| byte.is_ascii_digit()) && !major.starts_with('0')
    });
    Err(match newer {
        true => StoreError::NewerFormat {
            path: path.to_owned(),
            found: found.to_owned(),
            supported: supported.to_owned(),
        },
        false => StoreError::corrupt(path, format!("format {supported:?}"), format!("{:.80?}", found)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_store_opens_and_strangers_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store");
        assert!(matches!(Store::open(&path, Access::ReadOnly), Err(StoreError::NotFound { .. })));
        Store::create_or_open(&path).unwrap();
        let store = Store::create_or_open(&path).unwrap();
        assert_eq!(store.current_id().unwrap(), None);
        assert_eq!(store.snapshot_ids().unwrap(), []);

        let other = tempfile::tempdir().unwrap();
        std::fs::write(other.path().join("thesis.txt"), "years of work").unwrap();
        assert!(matches!(Store::create_or_open(other.path()), Err(StoreError::Corrupt { .. })));
    }

    #[test]
    fn newer_and_damaged_formats_are_told_apart() {
        let directory = tempfile::tempdir().unwrap();
        Store::create_or_open(directory.path()).unwrap();
        let format = directory.path().join("store.json");
        for (content, newer) in [
            (r#"{"format":"benthic-mirror/store/2"}"#, true),
            (r#"{"format":"benthic-mirror/store/0"}"#, false),
            (r#"{"format":"something else"}"#, false),
            ("{}", false),
            ("", false),
        ] {
            std::fs::write(&format, content).unwrap();
            match Store::open(directory.path(), Access::ReadOnly) {
                Err(StoreError::NewerFormat { .. }) => assert!(newer, "{content}"),
                Err(StoreError::Corrupt { .. }) => assert!(!newer, "{content}"),
                other => panic!("{content}: {other:?}"),
            }
        }
    }

    #[test]
    fn one_writer_and_none_when_read_only() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::create_or_open(directory.path()).unwrap();
        let writer = store.writer().unwrap();
        assert!(matches!(store.writer(), Err(StoreError::Busy { .. })));
        drop(writer);
        store.writer().unwrap();
        let reader = Store::open(directory.path(), Access::ReadOnly).unwrap();
        assert!(matches!(reader.writer(), Err(StoreError::ReadOnly { .. })));
    }

    #[test]
    fn objects_are_named_by_their_content_and_checked() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::create_or_open(directory.path()).unwrap();
        let writer = store.writer().unwrap();
        let object = writer.put_object(b"rows").unwrap();
        assert_eq!(object, ObjectRef { sha256: Hash256::of(b"rows"), bytes: 4 });
        assert_eq!(writer.put_object(b"rows").unwrap(), object, "written twice, stored once");
        assert_eq!(store.read_object(&object.sha256).unwrap(), b"rows");
        assert_eq!(store.check_object(&object).unwrap(), ObjectCheck::Hashed);

        // A fresh handle hasn't hashed anything yet, so it notices.
        std::fs::write(store.object_path(&object.sha256), b"rowz").unwrap();
        let store = Store::open(directory.path(), Access::ReadOnly).unwrap();
        assert!(matches!(store.check_object(&object), Err(StoreError::Corrupt { .. })));
        assert!(matches!(store.read_object(&object.sha256), Err(StoreError::Corrupt { .. })));
        std::fs::remove_file(store.object_path(&object.sha256)).unwrap();
        assert!(matches!(store.check_object(&object), Err(StoreError::Corrupt { .. })));
    }

    #[test]
    fn an_abandoned_object_leaves_nothing() {
        use std::io::Write;
        let directory = tempfile::tempdir().unwrap();
        let store = Store::create_or_open(directory.path()).unwrap();
        let writer = store.writer().unwrap();
        let mut object = writer.object_writer().unwrap();
        object.write_all(b"half").unwrap();
        drop(object);
        assert_eq!(disk::list(&store.layout.objects()).unwrap(), Vec::<String>::new());
        assert_eq!(disk::list(&store.layout.work()).unwrap(), Vec::<String>::new());
    }
}
