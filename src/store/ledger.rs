//! The ledger of accepted collections: appended to, never rewritten, checked before `current` moves.
//!
//! It outlives snapshots and clean-up. [`crate::bdp::ledger`] says what its lines mean.

use std::fs::OpenOptions;
use std::io::Write;

pub use crate::bdp::ledger::LedgerLine;

use super::disk;
use super::error::StoreError;
use super::handle::Store;
use super::writer::StoreWriter;

/// A line is about 300 bytes and a collection changes a few times a year.
const MAX_LEDGER_BYTES: u64 = 64 * 1024 * 1024;

impl Store {
    /// Every line of the ledger, oldest first; none if nothing was accepted yet.
    ///
    /// A line that can't be read is corruption, never "no history": the rollback defence rests on it. Only an
    /// unfinished last line (no newline) is passed over: it is what a kill during the append leaves, and the
    /// acceptance it was to record hadn't happened.
    pub fn ledger(&self) -> Result<Vec<LedgerLine>, StoreError> {
        let path = self.layout.ledger();
        let bytes = match disk::read_capped(&path, MAX_LEDGER_BYTES) {
            Ok(bytes) => bytes,
            Err(StoreError::NotFound { .. }) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let complete = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let lines = bytes.get(..complete).unwrap_or_default().split(|byte| *byte == b'\n');
        lines
            .enumerate()
            .filter(|(_, line)| !line.is_empty())
            .map(|(number, line)| {
                serde_json::from_slice(line).map_err(|error| {
                    StoreError::corrupt(
                        &path,
                        "one ledger entry per line",
                        format!("line {}: {error}", number + 1),
                    )
                })
            })
            .collect()
    }
}

impl StoreWriter {
    /// Appends a line and makes it durable.
    pub fn append_ledger(&mut self, line: &LedgerLine) -> Result<(), StoreError> {
        let path = self.store.layout.ledger();
        disk::create_dirs(&self.store.layout.ledger_dir())?;
        let mut bytes = serde_json::to_vec(line)
            .map_err(|error| StoreError::corrupt(&path, "an entry that can be written", error.to_string()))?;
        bytes.push(b'\n');
        let needed = bytes.len() as u64;
        let failed = |error| StoreError::writing("append to", &path, needed, error);
        let existing = match disk::read_capped(&path, MAX_LEDGER_BYTES) {
            Ok(existing) => existing,
            Err(StoreError::NotFound { .. }) => Vec::new(),
            Err(error) => return Err(error),
        };
        let mut file = OpenOptions::new().create(true).append(true).open(&path).map_err(failed)?;
        // Cut off what a kill left unfinished, so the new line starts on its own.
        let complete = existing.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        if complete != existing.len() {
            file.set_len(complete as u64).map_err(failed)?;
        }
        file.write_all(&bytes).and_then(|()| file.sync_all()).map_err(failed)?;
        disk::sync_dir(&self.store.layout.ledger_dir())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bdp::PayloadHash;

    fn line(byte: u8) -> LedgerLine {
        LedgerLine {
            collection: "demo".to_owned(),
            hash: PayloadHash::from_bytes([byte; 32]),
            created_at: None,
            accepted_at: "2026-01-01T00:00:00Z".to_owned(),
            by_operator: false,
        }
    }

    #[test]
    fn lines_are_kept_and_a_torn_one_is_not_history() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::create_or_open(directory.path()).unwrap();
        let mut writer = store.writer().unwrap();
        assert_eq!(store.ledger().unwrap(), []);
        writer.append_ledger(&line(1)).unwrap();
        writer.append_ledger(&line(2)).unwrap();
        assert_eq!(store.ledger().unwrap(), [line(1), line(2)]);

        let path = store.layout.ledger();
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.extend(br#"{"collection":"de"#);
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(store.ledger().unwrap(), [line(1), line(2)]);
        writer.append_ledger(&line(3)).unwrap();
        assert_eq!(store.ledger().unwrap(), [line(1), line(2), line(3)]);

        std::fs::write(&path, "nonsense\n").unwrap();
        assert!(matches!(store.ledger(), Err(StoreError::Corrupt { .. })));
    }
}
