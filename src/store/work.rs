//! Staging: what a run has received but not yet published. Safe to delete at any time.

use std::path::{Path, PathBuf};

use super::disk;
use super::error::StoreError;

/// The staging directory of one relation in one run: pages as received, and a checkpoint.
#[derive(Debug, Clone)]
pub struct StagingArea {
    directory: PathBuf,
}

impl StagingArea {
    /// Opens (and creates) the area. `name` is turned into one safe path component, whatever it holds.
    pub(super) fn open(run: &Path, name: &str) -> Result<Self, StoreError> {
        let directory = run.join(component(name));
        disk::create_dirs(&directory)?;
        Ok(Self { directory })
    }

    /// Stores a page's body exactly as received.
    pub fn put_page(&self, page: u64, body: &[u8]) -> Result<(), StoreError> {
        disk::write_atomic(&self.directory.join("page.part"), &self.page_path(page), body)
    }

    /// A stored page's body.
    pub fn page(&self, page: u64) -> Result<Vec<u8>, StoreError> {
        disk::read_capped(&self.page_path(page), u64::MAX - 1)
    }

    /// Replaces the checkpoint.
    pub fn put_checkpoint(&self, bytes: &[u8]) -> Result<(), StoreError> {
        disk::write_atomic(
            &self.directory.join("checkpoint.part"),
            &self.directory.join("checkpoint.json"),
            bytes,
        )
    }

    /// The last checkpoint, if there is one.
    pub fn checkpoint(&self) -> Result<Option<Vec<u8>>, StoreError> {
        match disk::read_capped(&self.directory.join("checkpoint.json"), 16 * 1024 * 1024) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Forgets everything staged here and starts with an empty area.
    pub fn clear(&self) -> Result<(), StoreError> {
        disk::remove_dir(&self.directory)?;
        disk::create_dirs(&self.directory)
    }

    /// Removes the area; its content has been published or given up.
    pub fn remove(self) -> Result<(), StoreError> {
        disk::remove_dir(&self.directory)
    }

    fn page_path(&self, page: u64) -> PathBuf {
        self.directory.join(format!("page-{page:05}.json"))
    }
}

/// One path component for any name: letters, digits, `_`, `-` and inner dots stay, every other byte becomes `%XX`.
fn component(name: &str) -> String {
    let mut out = String::new();
    for (index, byte) in name.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' => out.push(char::from(byte)),
            b'.' if index > 0 => out.push('.'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_inside_the_run() {
        assert_eq!(component("vpic.make"), "vpic.make");
        assert_eq!(component("../x"), "%2E.%2Fx");
        assert_eq!(component(".."), "%2E.");
        assert_eq!(component("a/b\0"), "a%2Fb%00");
    }

    #[test]
    fn pages_and_checkpoint_come_back_as_stored() {
        let run = tempfile::tempdir().unwrap();
        let area = StagingArea::open(run.path(), "d.r").unwrap();
        assert_eq!(area.checkpoint().unwrap(), None);
        area.put_page(1, b"[1]").unwrap();
        area.put_checkpoint(b"{}").unwrap();
        assert_eq!(area.page(1).unwrap(), b"[1]");
        assert_eq!(area.checkpoint().unwrap().as_deref(), Some(b"{}".as_slice()));
        area.clear().unwrap();
        assert!(matches!(area.page(1), Err(StoreError::NotFound { .. })));
        assert_eq!(area.checkpoint().unwrap(), None);
    }
}
