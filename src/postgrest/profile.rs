//! What the values of a relation need of their column types: decimal digits, spatial reference.
//!
//! Types at rest are decided from all values at once, so the same rows give the same types whatever pages they came
//! in. Profiles of pages merge by maximum, in any order.

use serde::{Deserialize, Serialize};

use crate::catalog::{Column, ColumnType, StoredColumn, StoredGeometry, StoredType};

use super::error::{DecodeError, RejectedValue, ValueError};
use super::geometry::geojson_srid;
use super::rows::{OnRow, read_rows};
use super::value::{Numeric, is_null, numeric};

/// What one column's values need.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnProfile {
    /// Most digits before the point of any `numeric`.
    pub integer_digits: u32,
    /// Most digits after the point.
    pub scale: u32,
    /// NaN or an infinity among them.
    pub special: bool,
    /// Spatial reference the geometries name.
    pub srid: Option<i32>,
}

/// What a relation's columns need, in their order, and how many rows were seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableProfile {
    /// One per column.
    pub columns: Vec<ColumnProfile>,
    /// Rows seen.
    pub rows: u64,
}

impl TableProfile {
    /// A profile that has seen nothing.
    pub fn new(columns: usize) -> Self {
        Self { columns: vec![ColumnProfile::default(); columns], rows: 0 }
    }

    /// Reads a page and takes its values into account. `on_row` sees every row's place in the page and its cells as
    /// JSON text. Returns the number of rows.
    pub fn observe(
        &mut self,
        relation: &str,
        columns: &[Column],
        key: &[String],
        body: &[u8],
        on_row: OnRow<'_>,
    ) -> Result<u64, DecodeError> {
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let profiles = &mut self.columns;
        let rows = read_rows(relation, &names, body, &mut |row, cells| {
            for (index, column) in columns.iter().enumerate() {
                let (Some(profile), Some(cell)) = (profiles.get_mut(index), cells.get(index)) else {
                    continue;
                };
                profile
                    .observe(&column.column_type, cell)
                    .map_err(|error| value_error(relation, column, &names, key, row, cells, cell, &error))?;
            }
            on_row(row, cells)
        })?;
        self.rows += rows as u64;
        Ok(rows as u64)
    }

    /// Takes another profile of the same columns into account.
    pub fn merge(&mut self, other: &Self) -> Result<(), ValueError> {
        for (mine, theirs) in self.columns.iter_mut().zip(&other.columns) {
            mine.integer_digits = mine.integer_digits.max(theirs.integer_digits);
            mine.scale = mine.scale.max(theirs.scale);
            mine.special |= theirs.special;
            if let Some(srid) = theirs.srid {
                mine.observe_srid(srid)?;
            }
        }
        self.rows += other.rows;
        Ok(())
    }
}

impl ColumnProfile {
    fn observe(&mut self, column_type: &ColumnType, cell: &str) -> Result<(), ValueError> {
        if is_null(cell) {
            return Ok(());
        }
        match column_type {
            ColumnType::Numeric { declared } => match numeric(cell)? {
                Numeric::Special(_) => self.special = true,
                Numeric::Decimal(decimal) => {
                    if let Some((precision, scale)) = declared {
                        let scale = u32::try_from(*scale).unwrap_or(0);
                        decimal.check_declared(u32::from(*precision).max(scale), scale)?;
                    } else {
                        self.scale = self.scale.max(decimal.scale);
                    }
                    self.integer_digits = self.integer_digits.max(decimal.integer_digits());
                }
            },
            ColumnType::Array(element) if matches!(**element, ColumnType::Numeric { .. }) => {
                for cell in super::decode::elements(cell)? {
                    self.observe(element, cell.get())?;
                }
            }
            ColumnType::Geometry { srid: declared } => {
                if let Some(found) = geojson_srid(cell)? {
                    match declared {
                        Some(declared) if *declared != found => {
                            return Err(ValueError::new(format!(
                                "it names SRID {found}, the manifest {declared}"
                            )));
                        }
                        _ => self.observe_srid(found)?,
                    }
                }
            }
            // The rest decides nothing, but a value that doesn't fit is better found now than after all pages.
            _ => super::value::check(column_type, cell)?,
        }
        Ok(())
    }

    fn observe_srid(&mut self, found: i32) -> Result<(), ValueError> {
        match self.srid {
            Some(known) if known != found => {
                Err(ValueError::new(format!("SRID {found} after SRID {known} in one column")))
            }
            _ => {
                self.srid = Some(found);
                Ok(())
            }
        }
    }

    /// The stored type of a column, and whether it is a numeric kept as text.
    fn stored_type(&self, column_type: &ColumnType) -> (StoredType, bool) {
        let stored = match column_type {
            ColumnType::Text
            | ColumnType::Character { .. }
            | ColumnType::Uuid
            | ColumnType::Json
            | ColumnType::Jsonb
            | ColumnType::Opaque => StoredType::Utf8,
            ColumnType::Integer => StoredType::Int32,
            ColumnType::BigInt => StoredType::Int64,
            ColumnType::Numeric { declared } => {
                let scale = match declared {
                    Some((_, scale)) => u32::try_from(*scale).unwrap_or(0),
                    None => self.scale,
                };
                let decimal = StoredType::narrowest_decimal(self.integer_digits, scale);
                return match decimal.filter(|_| !self.special) {
                    Some(decimal) => (decimal, false),
                    None => (StoredType::Utf8, true),
                };
            }
            ColumnType::Real => StoredType::Float32,
            ColumnType::Double => StoredType::Float64,
            ColumnType::Boolean => StoredType::Boolean,
            ColumnType::Date => StoredType::Date32,
            ColumnType::Timestamp => StoredType::TimestampUs,
            ColumnType::TimestampTz => StoredType::TimestampUsUtc,
            ColumnType::Binary | ColumnType::Geometry { .. } => StoredType::Binary,
            ColumnType::Array(element) => {
                let (element, inexact) = self.stored_type(element);
                return (StoredType::List(Box::new(element)), inexact);
            }
        };
        (stored, false)
    }
}

/// The stored columns of a relation whose values have this profile.
pub fn stored_columns(columns: &[Column], profile: &TableProfile) -> Vec<StoredColumn> {
    let untouched = ColumnProfile::default();
    columns
        .iter()
        .enumerate()
        .map(|(index, column)| {
            let profile = profile.columns.get(index).unwrap_or(&untouched);
            let (stored_type, inexact) = profile.stored_type(&column.column_type);
            let geometry = match &column.column_type {
                ColumnType::Geometry { srid } => Some(StoredGeometry {
                    srid: srid.or(profile.srid),
                    covering: covering_name(columns, &column.name),
                }),
                _ => None,
            };
            StoredColumn { name: column.name.clone(), stored_type, inexact, geometry }
        })
        .collect()
}

/// A name for the covering column that no column of the relation has.
fn covering_name(columns: &[Column], column: &str) -> String {
    let mut name = format!("{column}_bbox");
    while columns.iter().any(|column| column.name == name) {
        name.push('_');
    }
    name
}

/// The error for one cell: where it is, what it holds, what it should be.
#[allow(clippy::too_many_arguments, reason = "the place of a value is many things")]
pub(super) fn value_error(
    relation: &str,
    column: &Column,
    names: &[&str],
    key: &[String],
    row: usize,
    cells: &[&str],
    cell: &str,
    error: &ValueError,
) -> DecodeError {
    let parts: Vec<String> = key
        .iter()
        .filter_map(|key| {
            let index = names.iter().position(|name| name == key)?;
            Some(format!("{key}={}", shorten(cells.get(index)?)))
        })
        .collect();
    let key = if parts.is_empty() { format!("{} of the page", row + 1) } else { parts.join(", ") };
    DecodeError::Value(Box::new(RejectedValue {
        relation: relation.to_owned(),
        column: column.name.clone(),
        key,
        value: shorten(cell),
        expected: column.column_type.label(),
        problem: error.clone(),
    }))
}

fn shorten(cell: &str) -> String {
    let mut short: String = cell.chars().take(80).collect();
    if short.len() < cell.len() {
        short.push('…');
    }
    short
}
