//! Checks on sorted rows: keys are unique and not null; rows the server couldn't tell apart are equal.

use arrow::array::{ArrayRef, RecordBatch};
use arrow::row::{OwnedRow, RowConverter, Rows, SortField};

use crate::catalog::StoredColumn;
use crate::sync::error::CaptureError;

use super::{Ordering, Uniqueness, write_failure};

/// Compares each row with the one before, across chunks.
pub(super) struct RowCheck {
    relation: String,
    sort_key: Vec<String>,
    mode: Mode,
}

enum Mode {
    Unique(Projection),
    Any,
    Ties { ordered: Projection, all: Projection },
}

/// Some columns of a chunk in comparable form, and their last row so far.
struct Projection {
    indices: Vec<usize>,
    converter: RowConverter,
    last: Option<OwnedRow>,
}

impl Projection {
    fn new(relation: &str, columns: &[StoredColumn], names: &[String]) -> Result<Self, CaptureError> {
        let indices: Vec<usize> =
            names.iter().filter_map(|name| columns.iter().position(|column| column.name == *name)).collect();
        let fields = indices
            .iter()
            .filter_map(|index| columns.get(*index))
            .map(|column| SortField::new(column.stored_type.data_type()))
            .collect();
        let converter = RowConverter::new(fields).map_err(|error| write_failure(relation, &error))?;
        Ok(Self { indices, converter, last: None })
    }

    fn columns(&self, chunk: &RecordBatch) -> Vec<ArrayRef> {
        self.indices.iter().map(|index| chunk.column(*index).clone()).collect()
    }

    fn convert(&self, relation: &str, chunk: &RecordBatch) -> Result<Rows, CaptureError> {
        self.converter.convert_columns(&self.columns(chunk)).map_err(|error| write_failure(relation, &error))
    }

    /// For each row of the chunk, whether it equals the row before.
    fn repeats(&mut self, relation: &str, chunk: &RecordBatch) -> Result<Vec<bool>, CaptureError> {
        let rows = self.convert(relation, chunk)?;
        let repeats = (0..rows.num_rows())
            .map(|index| match index.checked_sub(1) {
                Some(before) => rows.row(before) == rows.row(index),
                None => self.last.as_ref().is_some_and(|last| last.row() == rows.row(index)),
            })
            .collect();
        if let Some(last) = rows.num_rows().checked_sub(1) {
            self.last = Some(rows.row(last).owned());
        }
        Ok(repeats)
    }
}

impl RowCheck {
    pub(super) fn new(
        relation: &str,
        columns: &[StoredColumn],
        ordering: &Ordering,
    ) -> Result<Self, CaptureError> {
        let all: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        let mode = match &ordering.uniqueness {
            Uniqueness::Unique => Mode::Unique(Projection::new(relation, columns, &ordering.sort_key)?),
            Uniqueness::Any => Mode::Any,
            Uniqueness::TiesAreEqual(ordered) => Mode::Ties {
                ordered: Projection::new(relation, columns, ordered)?,
                all: Projection::new(relation, columns, &all)?,
            },
        };
        Ok(Self { relation: relation.to_owned(), sort_key: ordering.sort_key.clone(), mode })
    }

    /// Checks the next chunk. Rows equal in the ordered columns must lie next to each other.
    pub(super) fn check(&mut self, chunk: &RecordBatch) -> Result<(), CaptureError> {
        let relation = &self.relation;
        match &mut self.mode {
            Mode::Any => Ok(()),
            Mode::Unique(key) => {
                for (index, name) in key.indices.iter().zip(&self.sort_key) {
                    if chunk.column(*index).null_count() > 0 {
                        return Err(CaptureError::NullKey {
                            relation: relation.clone(),
                            column: name.clone(),
                        });
                    }
                }
                match key.repeats(relation, chunk)?.contains(&true) {
                    true => Err(CaptureError::DuplicateKey {
                        relation: relation.clone(),
                        key: self.sort_key.clone(),
                    }),
                    false => Ok(()),
                }
            }
            Mode::Ties { ordered, all } => {
                let ties = ordered.repeats(relation, chunk)?;
                let equal = all.repeats(relation, chunk)?;
                match ties.into_iter().zip(equal).any(|(tie, equal)| tie && !equal) {
                    true => Err(CaptureError::NotDeterministic(
                        "rows differ only in columns the server can't order".to_owned(),
                    )),
                    false => Ok(()),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::StringArray;
    use arrow::datatypes::Schema;

    use super::*;
    use crate::catalog::StoredType;

    fn check(uniqueness: Uniqueness, chunks: &[&[(Option<&str>, &str)]]) -> Result<(), CaptureError> {
        let columns: Vec<StoredColumn> = ["k", "v"]
            .map(|name| StoredColumn {
                name: name.to_owned(),
                stored_type: StoredType::Utf8,
                inexact: false,
                geometry: None,
            })
            .into();
        let ordering = Ordering { sort_key: vec!["k".to_owned()], uniqueness };
        let mut check = RowCheck::new("d.r", &columns, &ordering).unwrap();
        let schema = Arc::new(Schema::new(columns.iter().map(StoredColumn::field).collect::<Vec<_>>()));
        for chunk in chunks {
            let keys: StringArray = chunk.iter().map(|(key, _)| *key).collect();
            let values: StringArray = chunk.iter().map(|(_, value)| Some(*value)).collect();
            check.check(
                &RecordBatch::try_new(schema.clone(), vec![Arc::new(keys), Arc::new(values)]).unwrap(),
            )?;
        }
        Ok(())
    }

    #[test]
    fn keys_are_unique_across_chunks_and_not_null() {
        let unique = |chunks| check(Uniqueness::Unique, chunks);
        assert!(unique(&[&[(Some("a"), "1"), (Some("b"), "1")], &[(Some("c"), "1")]]).is_ok());
        let within: &[&[_]] = &[&[(Some("a"), "1"), (Some("a"), "2")]];
        let across: &[&[_]] = &[&[(Some("a"), "1")], &[(Some("a"), "2")]];
        for chunks in [within, across] {
            assert!(matches!(unique(chunks), Err(CaptureError::DuplicateKey { .. })));
        }
        assert!(matches!(unique(&[&[(None, "1")]]), Err(CaptureError::NullKey { .. })));
    }

    #[test]
    fn ties_are_fine_only_if_the_rows_are_equal() {
        let ties = |chunks| check(Uniqueness::TiesAreEqual(vec!["k".to_owned()]), chunks);
        assert!(ties(&[&[(Some("a"), "1"), (Some("a"), "1")], &[(Some("a"), "1"), (None, "2")]]).is_ok());
        let within: &[&[_]] = &[&[(Some("a"), "1"), (Some("a"), "2")]];
        let across: &[&[_]] = &[&[(None, "1")], &[(None, "2")]];
        for chunks in [within, across] {
            assert!(matches!(ties(chunks), Err(CaptureError::NotDeterministic(_))));
        }
    }
}
