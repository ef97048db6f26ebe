//! Columns of text in an index: flat offsets and bytes, or codes into a short list of words.
//!
//! Arrow's own arrays would do in memory, but their constructors panic on offsets that don't ascend, and a stored
//! index may hold anything. Here every offset and the UTF-8 between them are checked once when a column is opened.

use std::collections::HashMap;

use arrow::buffer::{Buffer, ScalarBuffer};

use super::index_file::{IndexFile, IndexFileError, IndexFileWriter};

/// A column has more than 4 GiB of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("more than {} bytes of text", u32::MAX)]
pub struct TooMuchText;

/// Texts, some of them absent, one after the other.
#[derive(Debug)]
pub(super) struct TextColumn {
    /// Where each text begins, and the end of the last.
    offsets: ScalarBuffer<u32>,
    bytes: Buffer,
    /// One byte per text: 1 if it is there.
    present: Buffer,
}

impl TextColumn {
    pub(super) fn new<'t>(texts: impl Iterator<Item = Option<&'t str>>) -> Result<Self, TooMuchText> {
        let (mut offsets, mut bytes, mut present) = (vec![0u32], Vec::new(), Vec::new());
        for text in texts {
            bytes.extend_from_slice(text.unwrap_or_default().as_bytes());
            offsets.push(u32::try_from(bytes.len()).map_err(|_| TooMuchText)?);
            present.push(u8::from(text.is_some()));
        }
        bytes.shrink_to_fit();
        Ok(Self { offsets: offsets.into(), bytes: Buffer::from(bytes), present: Buffer::from(present) })
    }

    pub(super) fn get(&self, row: usize) -> Option<&str> {
        if self.present.get(row) != Some(&1) {
            return None;
        }
        let range = *self.offsets.get(row)? as usize..*self.offsets.get(row + 1)? as usize;
        std::str::from_utf8(self.bytes.get(range)?).ok()
    }

    /// Writes the column's three sections, the first with the given tag.
    pub(super) fn write(&self, file: &mut IndexFileWriter, tag: u32) {
        file.numbers(tag, &self.offsets, u32::to_le_bytes);
        file.bytes(tag + 1, self.bytes.to_vec());
        file.bytes(tag + 2, self.present.to_vec());
    }

    /// Opens a column that must have so many texts.
    pub(super) fn open(file: &IndexFile, tag: u32, rows: usize) -> Result<Self, IndexFileError> {
        let column =
            Self { offsets: file.numbers(tag)?, bytes: file.bytes(tag + 1)?, present: file.bytes(tag + 2)? };
        let ascending = column.offsets.windows(2).all(|pair| pair[0] <= pair[1]);
        let spans = column.offsets.first() == Some(&0)
            && column.offsets.last().is_some_and(|end| *end as usize == column.bytes.len());
        if column.present.len() != rows || column.offsets.len() != rows + 1 || !ascending || !spans {
            return Err(IndexFileError::damaged(format!("text {tag} doesn't fit {rows} rows")));
        }
        let text = std::str::from_utf8(&column.bytes)
            .map_err(|_| IndexFileError::damaged(format!("text {tag} isn't UTF-8")))?;
        // In text that is all ASCII every place is a boundary.
        if !text.is_ascii() && !column.offsets.iter().all(|offset| text.is_char_boundary(*offset as usize)) {
            return Err(IndexFileError::damaged(format!("text {tag} is cut within a character")));
        }
        Ok(column)
    }
}

/// Texts of few distinct values.
#[derive(Debug)]
pub(super) struct WordColumn {
    codes: Codes,
    words: TextColumn,
    word_count: usize,
}

/// Codes as wide as the number of words needs; the largest number of the width stands for an absent word.
#[derive(Debug)]
enum Codes {
    Narrow(ScalarBuffer<u16>),
    Wide(ScalarBuffer<u32>),
}

impl Codes {
    fn are_narrow(word_count: usize) -> bool {
        word_count < usize::from(u16::MAX)
    }

    fn get(&self, row: usize) -> Option<usize> {
        match self {
            Self::Narrow(codes) => {
                codes.get(row).filter(|code| **code != u16::MAX).map(|code| usize::from(*code))
            }
            Self::Wide(codes) => codes.get(row).filter(|code| **code != u32::MAX).map(|code| *code as usize),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Narrow(codes) => codes.len(),
            Self::Wide(codes) => codes.len(),
        }
    }
}

impl WordColumn {
    pub(super) fn new<'t>(texts: impl Iterator<Item = Option<&'t str>>) -> Result<Self, TooMuchText> {
        let (mut codes, mut words, mut known) = (Vec::new(), Vec::new(), HashMap::new());
        for text in texts {
            codes.push(match text {
                None => u32::MAX,
                Some(text) => *known.entry(text).or_insert_with(|| {
                    words.push(text);
                    // Fewer words than rows, and those are numbered with 32 bits.
                    u32::try_from(words.len() - 1).unwrap_or(u32::MAX)
                }),
            });
        }
        let word_count = words.len();
        let codes = match Codes::are_narrow(word_count) {
            // Every code fits but the one for absent words, which becomes the narrow one for them.
            true => {
                Codes::Narrow(codes.into_iter().map(|code| u16::try_from(code).unwrap_or(u16::MAX)).collect())
            }
            false => Codes::Wide(codes.into()),
        };
        Ok(Self { codes, words: TextColumn::new(words.into_iter().map(Some))?, word_count })
    }

    pub(super) fn get(&self, row: usize) -> Option<&str> {
        self.words.get(self.codes.get(row)?)
    }

    /// Writes the column's five sections, the first with the given tag.
    pub(super) fn write(&self, file: &mut IndexFileWriter, tag: u32) {
        match &self.codes {
            Codes::Narrow(codes) => file.numbers(tag, codes, u16::to_le_bytes),
            Codes::Wide(codes) => file.numbers(tag, codes, u32::to_le_bytes),
        }
        file.numbers(tag + 1, &[self.word_count as u64], u64::to_le_bytes);
        self.words.write(file, tag + 2);
    }

    /// Opens a column that must have so many texts.
    pub(super) fn open(file: &IndexFile, tag: u32, rows: usize) -> Result<Self, IndexFileError> {
        let counts = file.numbers::<u64>(tag + 1)?;
        let word_count = counts.first().and_then(|count| usize::try_from(*count).ok());
        let word_count = word_count
            .filter(|count| *count <= rows)
            .ok_or_else(|| IndexFileError::damaged(format!("words {tag} have no count")))?;
        let codes = match Codes::are_narrow(word_count) {
            true => Codes::Narrow(file.numbers(tag)?),
            false => Codes::Wide(file.numbers(tag)?),
        };
        let known = match &codes {
            Codes::Narrow(codes) => {
                codes.iter().all(|code| *code == u16::MAX || usize::from(*code) < word_count)
            }
            Codes::Wide(codes) => codes.iter().all(|code| *code == u32::MAX || (*code as usize) < word_count),
        };
        if codes.len() != rows || !known {
            return Err(IndexFileError::damaged(format!("words {tag} don't fit {rows} rows")));
        }
        Ok(Self { codes, words: TextColumn::open(file, tag + 2, word_count)?, word_count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spatial::index_file::{BuiltFrom, IndexKind};

    fn reopened(words: &WordColumn, rows: usize) -> WordColumn {
        let from = BuiltFrom { row_digest: [0; 32], rows: 1 };
        let mut file = IndexFileWriter::new(IndexKind::Nonprofits, from, 0);
        words.write(&mut file, 1);
        let file = IndexFile::open(file.finish(), IndexKind::Nonprofits, from, 0).unwrap();
        WordColumn::open(&file, 1, rows).unwrap()
    }

    #[test]
    fn few_words_and_many_words_are_read_as_written() {
        for distinct in [0usize, 1, 300, 65_534, 65_535, 65_536, 70_000] {
            let text = |at: usize| {
                (!at.is_multiple_of(7) && distinct > 0).then(|| format!("w{}", at % distinct.max(1)))
            };
            let texts: Vec<Option<String>> = (0..distinct * 2 + 5).map(text).collect();
            let column = WordColumn::new(texts.iter().map(Option::as_deref)).unwrap();
            let opened = reopened(&column, texts.len());
            for (row, text) in texts.iter().enumerate() {
                assert_eq!(column.get(row), text.as_deref());
                assert_eq!(opened.get(row), text.as_deref());
            }
            assert_eq!(opened.get(texts.len()), None);
        }
    }
}
