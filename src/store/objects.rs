//! Content-addressed objects: written once, never changed, named by what they hold.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};

use super::disk;
use super::document::ObjectRef;
use super::error::StoreError;
use super::hash::Hash256;
use super::layout::Layout;

/// Objects up to this size are hashed before their first use in a process; larger ones rely on a full verification
/// of the store, because hashing them would make the first answer wait for minutes.
pub const HASH_BEFORE_USE_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// How far an object's bytes are known to be what its name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectCheck {
    /// Hashed in this process.
    Hashed,
    /// Too large to hash before use: only its size was checked here.
    SizeOnly,
}

/// Which objects this process has hashed already.
#[derive(Debug, Default)]
pub(super) struct HashedObjects(Mutex<HashSet<Hash256>>);

impl HashedObjects {
    fn contains(&self, hash: &Hash256) -> bool {
        // A poisoned set is still a set of hashes: insertions can't be half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(hash)
    }

    fn insert(&self, hash: Hash256) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(hash);
    }
}

/// Checks that an object is present and has its size.
pub(super) fn check_presence(layout: &Layout, object: &ObjectRef) -> Result<(), StoreError> {
    let path = layout.object(&object.sha256);
    match disk::size(&path)? {
        Some(bytes) if bytes == object.bytes => Ok(()),
        Some(bytes) => {
            Err(StoreError::corrupt(&path, format!("{} bytes", object.bytes), format!("{bytes} bytes")))
        }
        None => Err(StoreError::corrupt(
            &path,
            format!("{} bytes", object.bytes),
            "nothing: the object is missing",
        )),
    }
}

/// Checks an object before its first use in this process.
pub(super) fn check_before_use(
    layout: &Layout,
    hashed: &HashedObjects,
    object: &ObjectRef,
) -> Result<ObjectCheck, StoreError> {
    if hashed.contains(&object.sha256) {
        return Ok(ObjectCheck::Hashed);
    }
    check_presence(layout, object)?;
    if object.bytes > HASH_BEFORE_USE_MAX_BYTES {
        return Ok(ObjectCheck::SizeOnly);
    }
    let path = layout.object(&object.sha256);
    let actual = hash_file(&path)?;
    if actual != object.sha256 {
        return Err(StoreError::corrupt(
            &path,
            format!("SHA-256 {}", object.sha256),
            format!("SHA-256 {actual}"),
        ));
    }
    hashed.insert(object.sha256);
    Ok(ObjectCheck::Hashed)
}

/// Reads a whole object of at most [`HASH_BEFORE_USE_MAX_BYTES`]; what is returned is what was hashed.
pub(super) fn read(layout: &Layout, hash: &Hash256) -> Result<Vec<u8>, StoreError> {
    let path = layout.object(hash);
    let bytes = disk::read_capped(&path, HASH_BEFORE_USE_MAX_BYTES)?;
    let actual = Hash256::of(&bytes);
    if actual != *hash {
        return Err(StoreError::corrupt(&path, format!("SHA-256 {hash}"), format!("SHA-256 {actual}")));
    }
    Ok(bytes)
}

/// Reads a whole object of any size for use in memory. Up to [`HASH_BEFORE_USE_MAX_BYTES`] what is returned is what was
/// hashed; of a larger one only the size is checked, as for objects that are read in place.
pub(super) fn read_for_use(
    layout: &Layout,
    hashed: &HashedObjects,
    object: &ObjectRef,
) -> Result<(Vec<u8>, ObjectCheck), StoreError> {
    let path = layout.object(&object.sha256);
    if object.bytes <= HASH_BEFORE_USE_MAX_BYTES {
        let bytes = read(layout, &object.sha256)?;
        hashed.insert(object.sha256);
        return Ok((bytes, ObjectCheck::Hashed));
    }
    let bytes = disk::read_capped(&path, object.bytes)?;
    if bytes.len() as u64 != object.bytes {
        let expected = format!("{} bytes", object.bytes);
        return Err(StoreError::corrupt(&path, expected, format!("{} bytes", bytes.len())));
    }
    Ok((bytes, ObjectCheck::SizeOnly))
}

/// The SHA-256 of a file's bytes.
fn hash_file(path: &Path) -> Result<Hash256, StoreError> {
    let mut file = File::open(path).map_err(|error| StoreError::reading(path, error))?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(Hash256::finish(hasher)),
            Ok(count) => hasher.update(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(StoreError::reading(path, error)),
        }
    }
}

/// An object being written: invisible until [`ObjectWriter::finish`] gives it its name. Dropping it leaves nothing.
#[derive(Debug)]
pub struct ObjectWriter {
    layout: Layout,
    temporary: PathBuf,
    /// `None` once finished.
    file: Option<BufWriter<File>>,
    hasher: Sha256,
    bytes: u64,
}

impl ObjectWriter {
    /// Starts an object in the file `temporary`, which nobody else uses.
    pub(super) fn create(layout: &Layout, temporary: PathBuf) -> Result<Self, StoreError> {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&temporary)
            .map_err(|error| StoreError::writing("create", &temporary, 0, error))?;
        Ok(Self {
            layout: layout.clone(),
            temporary,
            file: Some(BufWriter::with_capacity(256 * 1024, file)),
            hasher: Sha256::new(),
            bytes: 0,
        })
    }

    /// Bytes written so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Sorts an error of writing this object by what the caller can do; for callers that write through [`Write`].
    pub fn error(&self, source: io::Error) -> StoreError {
        StoreError::writing("write", &self.temporary, self.bytes, source)
    }

    /// Makes the object durable and gives it its name. An object that is there already is kept, not written again.
    pub fn finish(mut self) -> Result<ObjectRef, StoreError> {
        let object =
            ObjectRef { sha256: Hash256::finish(std::mem::take(&mut self.hasher)), bytes: self.bytes };
        let Some(file) = self.file.take() else {
            return Err(StoreError::corrupt(&self.temporary, "an open object", "a finished one"));
        };
        let sync = file.into_inner().map_err(io::IntoInnerError::into_error).and_then(|file| file.sync_all());
        if let Err(error) = sync {
            let failure = self.error(error);
            let _ = disk::remove_file(&self.temporary);
            return Err(failure);
        }
        let target = self.layout.object(&object.sha256);
        // Same name, same size: the same bytes, unless the disk damaged them, which `store verify` finds.
        if disk::size(&target)? == Some(object.bytes) {
            disk::remove_file(&self.temporary)?;
            return Ok(object);
        }
        if let Some(parent) = target.parent() {
            disk::create_dirs(parent)?;
            disk::sync_dir(&self.layout.objects())?;
        }
        disk::rename(&self.temporary, &target)?;
        Ok(object)
    }
}

impl Write for ObjectWriter {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let Some(file) = self.file.as_mut() else {
            return Err(io::Error::other("the object is finished"));
        };
        let count = file.write(buffer)?;
        self.hasher.update(buffer.get(..count).unwrap_or_default());
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for ObjectWriter {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            // Abandoned: nothing refers to it, and work/ is cleared by the next run in any case.
            let _ = disk::remove_file(&self.temporary);
        }
    }
}
