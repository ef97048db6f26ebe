//! Files a user names on the command line: documents to read, output to write. The only other door to the file system.

use std::path::{Path, PathBuf};

use super::disk;
use super::error::StoreError;

/// Reads a document of at most `limit_bytes`.
pub fn read_document(path: &Path, limit_bytes: u64) -> Result<Vec<u8>, StoreError> {
    disk::read_capped(path, limit_bytes)
}

/// Whether the path is a directory.
pub fn is_directory(path: &Path) -> bool {
    path.is_dir()
}

/// Every `.json` file below a directory, at most `depth` levels down, sorted. Links are not followed.
pub fn json_files(directory: &Path, depth: u8) -> Result<Vec<PathBuf>, StoreError> {
    let mut found = Vec::new();
    for name in disk::list(directory)? {
        let path = directory.join(name);
        let kind = std::fs::symlink_metadata(&path).map_err(|error| StoreError::reading(&path, error))?;
        if kind.is_dir() && depth > 0 {
            found.extend(json_files(&path, depth - 1)?);
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "json") {
            found.push(path);
        }
    }
    Ok(found)
}

/// Writes an output file in one step: the final name shows all of it or nothing.
pub fn write_output(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".part");
    disk::write_atomic(Path::new(&temporary), path, bytes)
}

/// Makes a directory and its parents.
pub fn create_directory(path: &Path) -> Result<(), StoreError> {
    disk::create_dirs(path)
}
