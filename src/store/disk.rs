//! Durable file operations: what is visible under its final name is complete and on the disk.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use super::error::StoreError;

/// Reads a whole file of at most `limit` bytes.
pub(super) fn read_capped(path: &Path, limit: u64) -> Result<Vec<u8>, StoreError> {
    let file = File::open(path).map_err(|error| StoreError::reading(path, error))?;
    let size = file.metadata().map_err(|error| StoreError::reading(path, error))?.len();
    if size > limit {
        return Err(StoreError::TooLarge { path: path.to_owned(), actual: size, limit });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    // The size can change under us; the cap can't.
    file.take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| StoreError::reading(path, error))?;
    if bytes.len() as u64 > limit {
        return Err(StoreError::TooLarge { path: path.to_owned(), actual: bytes.len() as u64, limit });
    }
    Ok(bytes)
}

/// Makes a directory and its parents.
pub(super) fn create_dirs(path: &Path) -> Result<(), StoreError> {
    fs::create_dir_all(path).map_err(|error| StoreError::writing("create the directory", path, 0, error))
}

/// Forces a directory's entries to the disk, so a rename into it survives a power cut.
pub(super) fn sync_dir(path: &Path) -> Result<(), StoreError> {
    let sync = || -> io::Result<()> { File::open(path)?.sync_all() };
    match sync() {
        Ok(()) => Ok(()),
        // Some file systems can't sync a directory; the rename is still atomic there.
        Err(error) if matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput) => {
            Ok(())
        }
        Err(error) => Err(StoreError::writing("sync the directory", path, 0, error)),
    }
}

/// Puts `bytes` at `target` in one step: written to `temporary` (same file system), synced, renamed, directory synced.
pub(super) fn write_atomic(temporary: &Path, target: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let needed = bytes.len() as u64;
    let write = || -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(temporary)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    if let Err(error) = write() {
        // Best effort: a leftover in work/ is harmless and the next run clears it.
        let _ = fs::remove_file(temporary);
        return Err(StoreError::writing("write", temporary, needed, error));
    }
    rename(temporary, target)
}

/// Moves a finished file to its final name and makes the move durable.
pub(super) fn rename(from: &Path, to: &Path) -> Result<(), StoreError> {
    fs::rename(from, to).map_err(|error| StoreError::writing("move into place", to, 0, error))?;
    match to.parent() {
        Some(parent) => sync_dir(parent),
        None => Ok(()),
    }
}

/// The size of a file, `None` if there is no such file.
pub(super) fn size(path: &Path) -> Result<Option<u64>, StoreError> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(Some(metadata.len())),
        Ok(_) => Err(StoreError::corrupt(path, "a file", "something else")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::reading(path, error)),
    }
}

/// Removes a file if it is there.
pub(super) fn remove_file(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(StoreError::writing("remove", path, 0, error)),
    }
}

/// Removes a directory and everything in it, if it is there.
pub(super) fn remove_dir(path: &Path) -> Result<(), StoreError> {
    match fs::remove_dir_all(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(StoreError::writing("remove", path, 0, error)),
    }
}

/// Names of the entries of a directory, sorted; none if the directory isn't there.
pub(super) fn list(path: &Path) -> Result<Vec<String>, StoreError> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(StoreError::reading(path, error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| StoreError::reading(path, error))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}
