//! Files a user names on the command line: documents to read, output to write. The only other door to the file system.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
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

/// Opens a file for reading from its start, and says how many bytes it has.
pub fn open_input(path: &Path) -> Result<(File, u64), StoreError> {
    let file = File::open(path).map_err(|error| StoreError::reading(path, error))?;
    let bytes = file.metadata().map_err(|error| StoreError::reading(path, error))?.len();
    Ok((file, bytes))
}

/// An output file written piece by piece; the final name shows all of it or nothing.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    temporary: PathBuf,
    /// `None` once finished.
    file: Option<BufWriter<File>>,
}

impl OutputFile {
    /// Starts the file beside its final name.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(".part");
        let temporary = PathBuf::from(temporary);
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&temporary)
            .map_err(|error| StoreError::writing("create", &temporary, 0, error))?;
        Ok(Self { path: path.to_owned(), temporary, file: Some(BufWriter::with_capacity(256 * 1024, file)) })
    }

    /// Gives the file its name.
    pub fn finish(mut self) -> Result<(), StoreError> {
        let Some(file) = self.file.take() else { return Ok(()) };
        let synced =
            file.into_inner().map_err(io::IntoInnerError::into_error).and_then(|file| file.sync_all());
        if let Err(error) = synced {
            let _ = disk::remove_file(&self.temporary);
            return Err(StoreError::writing("write", &self.temporary, 0, error));
        }
        disk::rename(&self.temporary, &self.path)
    }
}

impl Write for OutputFile {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self.file.as_mut() {
            Some(file) => file.write(buffer),
            None => Err(io::Error::other("the file is finished")),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            // Abandoned half-way: nothing of it is worth keeping.
            let _ = disk::remove_file(&self.temporary);
        }
    }
}

/// Makes a directory and its parents.
pub fn create_directory(path: &Path) -> Result<(), StoreError> {
    disk::create_dirs(path)
}
