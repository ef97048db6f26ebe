//! Writing to a store: objects, staging and publication, by the one process that holds the lock.

use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use super::disk;
use super::document::ObjectRef;
use super::error::StoreError;
use super::handle::Store;
use super::lock::WriterLock;
use super::objects::ObjectWriter;
use super::work::StagingArea;

/// The right to write to a store. Dropping it releases the lock.
#[derive(Debug)]
pub struct StoreWriter {
    pub(super) store: Store,
    _lock: WriterLock,
    counter: AtomicU64,
}

impl StoreWriter {
    pub(super) fn lock(store: Store) -> Result<Self, StoreError> {
        let lock = WriterLock::acquire(store.path())?;
        disk::create_dirs(&store.layout.work())?;
        Ok(Self { store, _lock: lock, counter: AtomicU64::new(0) })
    }

    /// The store, for reading.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// A file in `work/` that nobody else uses: we hold the lock, and the counter is ours.
    pub(super) fn temporary(&self) -> PathBuf {
        let number = self.counter.fetch_add(1, Ordering::Relaxed);
        self.store.layout.work().join(format!("object-{number}.part"))
    }

    /// Starts an object that is written piece by piece.
    pub fn object_writer(&self) -> Result<ObjectWriter, StoreError> {
        ObjectWriter::create(&self.store.layout, self.temporary())
    }

    /// Stores bytes as an object.
    pub fn put_object(&self, bytes: &[u8]) -> Result<ObjectRef, StoreError> {
        let mut object = self.object_writer()?;
        object.write_all(bytes).map_err(|error| object.error(error))?;
        object.finish()
    }

    /// Removes what earlier runs left in `work/`, except the run named (whose pages may be continued from).
    pub fn clear_work(&self, keep_run: Option<&str>) -> Result<(), StoreError> {
        let work = self.store.layout.work();
        for name in disk::list(&work)? {
            if Some(name.as_str()) != keep_run {
                let path = work.join(&name);
                if path.is_dir() { disk::remove_dir(&path)? } else { disk::remove_file(&path)? }
            }
        }
        Ok(())
    }

    /// The staging area of one relation in a run. `run` is a plain name, e.g. a hash in hex.
    pub fn staging(&self, run: &str, relation: &str) -> Result<StagingArea, StoreError> {
        StagingArea::open(&self.store.layout.work().join(run), relation)
    }

    /// An empty directory for sort runs that don't fit into memory; what a killed run left there goes.
    pub fn spill_directory(&self, run: &str) -> Result<PathBuf, StoreError> {
        let path = self.store.layout.work().join(run).join("spill");
        disk::remove_dir(&path)?;
        disk::create_dirs(&path)?;
        Ok(path)
    }
}
