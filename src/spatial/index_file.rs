//! The file an index is stored in: a header that says what it was built from, then checked sections of flat numbers.
//!
//! `docs/index-format.md` draws the bytes. Everything is little-endian and every section begins at a multiple of 64, so
//! that the numbers are used where they lie after one read. A file is believed only when all of this holds: magic,
//! version, kind, the row count and row digest of the capture it claims to index, its own length, and a CRC-32 over
//! header, table and each section. Whatever is wrong is an [`IndexFileError`]; the caller then builds the index from
//! the rows again. Nothing here panics on any bytes.

use arrow::buffer::{Buffer, ScalarBuffer};
use arrow::datatypes::ArrowNativeType;

/// First bytes of every index file.
const MAGIC: &[u8; 8] = b"BMINDEX\n";
/// The layout this version writes and reads.
const VERSION: u32 = 1;
/// Bytes of the header.
const HEADER_BYTES: usize = 128;
/// Bytes of a section's entry in the table: tag, checksum, offset, length.
const ENTRY_BYTES: usize = 24;
/// Where sections may begin.
const ALIGNMENT: usize = 64;
/// More sections than any kind has.
const MAX_SECTIONS: usize = 64;

/// What a file indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum IndexKind {
    /// Which congresses there are.
    Districts = 1,
    /// The districts of one congress.
    Congress = 2,
    /// The nonprofits by place.
    Nonprofits = 3,
}

/// The rows an index was built from; it is used for no others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuiltFrom {
    /// Row digest of the capture.
    pub row_digest: [u8; 32],
    /// Rows of the capture.
    pub rows: u64,
}

/// Why bytes are no usable index.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IndexFileError {
    /// Not an index file, or another version's.
    #[error("{0}")]
    Format(String),
    /// An index of other rows.
    #[error(
        "it was built from {found} rows with digest {found_digest}…, the capture has {expected} with digest {expected_digest}…"
    )]
    OtherRows {
        /// Rows it says it was built from.
        found: u64,
        /// First digits of their digest.
        found_digest: String,
        /// Rows of the capture.
        expected: u64,
        /// First digits of the capture's digest.
        expected_digest: String,
    },
    /// Damaged bytes.
    #[error("{0}")]
    Damaged(String),
}

impl IndexFileError {
    pub(super) fn damaged(detail: impl Into<String>) -> Self {
        Self::Damaged(detail.into())
    }
}

/// Puts an index file together.
#[derive(Debug)]
pub(super) struct IndexFileWriter {
    kind: IndexKind,
    from: BuiltFrom,
    parameter: i64,
    sections: Vec<(u32, Vec<u8>)>,
}

impl IndexFileWriter {
    pub(super) fn new(kind: IndexKind, from: BuiltFrom, parameter: i64) -> Self {
        Self { kind, from, parameter, sections: Vec::new() }
    }

    /// Adds a section of bytes.
    pub(super) fn bytes(&mut self, tag: u32, bytes: Vec<u8>) {
        self.sections.push((tag, bytes));
    }

    /// Adds a section of numbers.
    pub(super) fn numbers<const WIDTH: usize, N: Copy>(
        &mut self,
        tag: u32,
        numbers: &[N],
        to_bytes: fn(N) -> [u8; WIDTH],
    ) {
        self.bytes(tag, numbers.iter().flat_map(|number| to_bytes(*number)).collect());
    }

    /// The file's bytes: the same sections give the same bytes.
    pub(super) fn finish(self) -> Vec<u8> {
        let table_end = HEADER_BYTES + self.sections.len() * ENTRY_BYTES;
        let mut offset = table_end.next_multiple_of(ALIGNMENT);
        let mut table = Vec::with_capacity(self.sections.len() * ENTRY_BYTES);
        for (tag, bytes) in &self.sections {
            table.extend(tag.to_le_bytes());
            table.extend(crc32fast::hash(bytes).to_le_bytes());
            table.extend((offset as u64).to_le_bytes());
            table.extend((bytes.len() as u64).to_le_bytes());
            offset = (offset + bytes.len()).next_multiple_of(ALIGNMENT);
        }
        let mut file = Vec::with_capacity(offset);
        file.extend(MAGIC);
        file.extend(VERSION.to_le_bytes());
        file.extend((self.kind as u32).to_le_bytes());
        file.extend(self.from.row_digest);
        file.extend(self.from.rows.to_le_bytes());
        file.extend(self.parameter.to_le_bytes());
        file.extend((offset as u64).to_le_bytes());
        file.extend((self.sections.len() as u32).to_le_bytes());
        file.extend(crc32fast::hash(&table).to_le_bytes());
        file.extend(crc32fast::hash(&file).to_le_bytes());
        file.resize(HEADER_BYTES, 0);
        file.extend(table);
        for (_, bytes) in &self.sections {
            file.resize(file.len().next_multiple_of(ALIGNMENT), 0);
            file.extend(bytes);
        }
        file.resize(offset, 0);
        file
    }
}

/// An index file whose header and checksums are right.
#[derive(Debug)]
pub(super) struct IndexFile {
    sections: Vec<(u32, Buffer)>,
}

impl IndexFile {
    /// Checks a file's bytes against what they have to be an index of.
    pub(super) fn open(
        bytes: Vec<u8>,
        kind: IndexKind,
        from: BuiltFrom,
        parameter: i64,
    ) -> Result<Self, IndexFileError> {
        if cfg!(target_endian = "big") {
            return Err(IndexFileError::Format(
                "index files are read on little-endian hosts only".to_owned(),
            ));
        }
        let mut header = Fields(
            bytes
                .get(..HEADER_BYTES)
                .ok_or_else(|| IndexFileError::Format(format!("{} bytes are no index file", bytes.len())))?,
        );
        if header.take::<8>() != Some(*MAGIC) {
            return Err(IndexFileError::Format("it doesn't begin as an index file does".to_owned()));
        }
        let version = header.u32()?;
        if version != VERSION {
            return Err(IndexFileError::Format(format!(
                "it has version {version}, this program reads {VERSION}"
            )));
        }
        let found_kind = header.u32()?;
        let found = BuiltFrom {
            row_digest: header
                .take::<32>()
                .ok_or_else(|| IndexFileError::damaged("it ends in its header"))?,
            rows: header.u64()?,
        };
        let found_parameter = header.u64()?.cast_signed();
        let (length, count) = (header.u64()?, header.u32()?);
        let table_checksum = header.u32()?;
        // Everything up to here is what the header's own checksum covers.
        let covered = HEADER_BYTES - header.0.len();
        let header_checksum = header.u32()?;
        if crc32fast::hash(bytes.get(..covered).unwrap_or_default()) != header_checksum {
            return Err(IndexFileError::damaged("its header doesn't have its checksum"));
        }
        if found_kind != kind as u32 || found_parameter != parameter {
            return Err(IndexFileError::Format(format!(
                "it is of kind {found_kind} ({found_parameter}), not {} ({parameter})",
                kind as u32
            )));
        }
        if found != from {
            let digits = |digest: &[u8; 32]| hex::encode(digest.get(..4).unwrap_or_default());
            return Err(IndexFileError::OtherRows {
                found: found.rows,
                found_digest: digits(&found.row_digest),
                expected: from.rows,
                expected_digest: digits(&from.row_digest),
            });
        }
        if length != bytes.len() as u64 {
            return Err(IndexFileError::damaged(format!("{} bytes instead of {length}", bytes.len())));
        }
        let count = usize::try_from(count).ok().filter(|count| *count <= MAX_SECTIONS);
        let table_end = count.map(|count| HEADER_BYTES + count * ENTRY_BYTES);
        let table = table_end
            .and_then(|end| bytes.get(HEADER_BYTES..end))
            .ok_or_else(|| IndexFileError::damaged("its table reaches beyond its end"))?;
        if crc32fast::hash(table) != table_checksum {
            return Err(IndexFileError::damaged("its table doesn't have its checksum"));
        }
        let mut entries = Vec::new();
        for entry in table.chunks_exact(ENTRY_BYTES) {
            let mut entry = Fields(entry);
            entries.push((entry.u32()?, entry.u32()?, entry.u64()?, entry.u64()?));
        }
        let whole = Buffer::from(bytes);
        let mut sections = Vec::with_capacity(entries.len());
        for (tag, checksum, offset, length) in entries {
            let range = usize::try_from(offset).ok().zip(usize::try_from(length).ok());
            let (offset, length) = range
                .filter(|(offset, length)| offset.checked_add(*length).is_some_and(|end| end <= whole.len()))
                .ok_or_else(|| IndexFileError::damaged(format!("section {tag} reaches beyond its end")))?;
            let section = whole.slice_with_length(offset, length);
            if crc32fast::hash(&section) != checksum {
                return Err(IndexFileError::damaged(format!("section {tag} doesn't have its checksum")));
            }
            sections.push((tag, section));
        }
        Ok(Self { sections })
    }

    /// A section's bytes.
    pub(super) fn bytes(&self, tag: u32) -> Result<Buffer, IndexFileError> {
        let section = self.sections.iter().find(|(found, _)| *found == tag);
        section
            .map(|(_, bytes)| bytes.clone())
            .ok_or_else(|| IndexFileError::damaged(format!("section {tag} is missing")))
    }

    /// A section of numbers, used where it lies.
    pub(super) fn numbers<N: ArrowNativeType>(&self, tag: u32) -> Result<ScalarBuffer<N>, IndexFileError> {
        let bytes = self.bytes(tag)?;
        if bytes.len() % size_of::<N>() != 0 {
            return Err(IndexFileError::damaged(format!("section {tag} holds part of a number")));
        }
        // Sections are aligned within the file; should the allocator have put the file itself elsewhere, copy.
        let aligned = bytes.as_ptr().align_offset(align_of::<N>()) == 0;
        let bytes = if aligned { bytes } else { copied_to_alignment(&bytes) };
        Ok(ScalarBuffer::from(bytes))
    }
}

/// The bytes in an allocation of Arrow's, which aligns them for every number.
fn copied_to_alignment(bytes: &[u8]) -> Buffer {
    let mut copy = arrow::buffer::MutableBuffer::with_capacity(bytes.len());
    copy.extend_from_slice(bytes);
    copy.into()
}

/// Little-endian fields, taken from the front.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const WIDTH: usize>(&mut self) -> Option<[u8; WIDTH]> {
        let (field, rest) = self.0.split_first_chunk::<WIDTH>()?;
        self.0 = rest;
        Some(*field)
    }

    fn u32(&mut self) -> Result<u32, IndexFileError> {
        self.take().map(u32::from_le_bytes).ok_or_else(|| IndexFileError::damaged("it ends within a field"))
    }

    fn u64(&mut self) -> Result<u64, IndexFileError> {
        self.take().map(u64::from_le_bytes).ok_or_else(|| IndexFileError::damaged("it ends within a field"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FROM: BuiltFrom = BuiltFrom { row_digest: [7; 32], rows: 3 };

    fn file() -> Vec<u8> {
        let mut writer = IndexFileWriter::new(IndexKind::Congress, FROM, 118);
        writer.numbers(1, &[1.5f64, -2.5], f64::to_le_bytes);
        writer.bytes(2, Vec::new());
        writer.numbers(3, &[9u32, 8, 7], u32::to_le_bytes);
        writer.finish()
    }

    fn open(bytes: Vec<u8>) -> Result<IndexFile, IndexFileError> {
        IndexFile::open(bytes, IndexKind::Congress, FROM, 118)
    }

    #[test]
    fn what_is_written_is_read_in_place() {
        let opened = open(file()).unwrap();
        assert_eq!(opened.numbers::<f64>(1).unwrap().as_ref(), [1.5, -2.5]);
        assert!(opened.bytes(2).unwrap().is_empty());
        assert_eq!(opened.numbers::<u32>(3).unwrap().as_ref(), [9, 8, 7]);
        assert!(opened.bytes(4).is_err());
        assert!(opened.numbers::<f64>(3).is_err(), "12 bytes are no whole doubles");
        assert_eq!(file(), file());
    }

    #[test]
    fn misaligned_numbers_are_copied() {
        let bytes = Buffer::from(vec![0u8; 64]).slice_with_length(1, 16);
        let copy = copied_to_alignment(&bytes);
        assert_eq!(copy.as_ptr().align_offset(8), 0);
        assert_eq!(copy.as_slice(), bytes.as_slice());
    }

    #[test]
    fn other_rows_kinds_and_versions_are_told_apart() {
        let other = |from, kind, parameter| IndexFile::open(file(), kind, from, parameter).unwrap_err();
        let rows = BuiltFrom { rows: 4, ..FROM };
        assert!(matches!(other(rows, IndexKind::Congress, 118), IndexFileError::OtherRows { .. }));
        let digest = BuiltFrom { row_digest: [8; 32], ..FROM };
        assert!(matches!(other(digest, IndexKind::Congress, 118), IndexFileError::OtherRows { .. }));
        assert!(matches!(other(FROM, IndexKind::Nonprofits, 118), IndexFileError::Format(_)));
        assert!(matches!(other(FROM, IndexKind::Congress, 117), IndexFileError::Format(_)));
        let mut newer = file();
        newer[8] = 2;
        assert!(matches!(open(newer).unwrap_err(), IndexFileError::Format(_)));
    }

    #[test]
    fn every_flipped_bit_that_is_read_is_noticed() {
        let whole = file();
        // The end of the header and the gaps between sections are read by nobody.
        let unread = |at: usize| (84..128).contains(&at) || at >= 128 + 3 * 24 && !in_section(at);
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut flipped = whole.clone();
                flipped[at] ^= 1 << bit;
                assert_eq!(open(flipped).is_ok(), unread(at), "byte {at}, bit {bit}");
            }
        }
        for length in 0..whole.len() {
            assert!(open(whole[..length].to_vec()).is_err(), "{length} bytes");
        }
    }

    fn in_section(at: usize) -> bool {
        (256..256 + 16).contains(&at) || (320..320 + 12).contains(&at)
    }

    proptest! {
        #[test]
        fn no_bytes_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..400), keep in 0usize..128) {
            // Some of the true header in front reaches the later checks.
            let whole = file();
            let keep = keep.min(bytes.len());
            bytes[..keep].copy_from_slice(&whole[..keep]);
            let _ = open(bytes);
        }
    }
}
