//! Rows built by column name, and the finishing touches every relation gets.

use std::collections::HashMap;

use super::super::random::Chooser;
use super::super::relation::DemoRelation;
use super::super::value::DemoValue;

/// Fills a relation row by row.
pub(super) struct RowWriter {
    relation: DemoRelation,
    positions: HashMap<String, usize>,
}

impl RowWriter {
    pub(super) fn new(relation: DemoRelation) -> Self {
        let positions =
            relation.columns.iter().enumerate().map(|(index, column)| (column.name.clone(), index)).collect();
        Self { relation, positions }
    }

    /// Adds a row; columns not named are null.
    pub(super) fn push<const N: usize>(&mut self, cells: [(&str, DemoValue); N]) {
        let mut row = vec![DemoValue::Null; self.relation.columns.len()];
        for (name, value) in cells {
            match self.positions.get(name) {
                Some(&position) => row[position] = value,
                None => debug_assert!(false, "{} has no column {name}", self.relation.source()),
            }
        }
        self.relation.rows.push(row);
    }

    /// Sets one cell of the row last added.
    pub(super) fn set(&mut self, name: &str, value: DemoValue) {
        if let (Some(&position), Some(row)) = (self.positions.get(name), self.relation.rows.last_mut()) {
            row[position] = value;
        } else {
            debug_assert!(false, "{} has no column {name}", self.relation.source());
        }
    }

    /// Puts nulls into nullable columns (about one in `one_in`, one at least), except the `kept` ones, and shuffles the rows: the order
    /// the origin holds them in is no key's, so a reader that forgets to ask for an order shows it.
    pub(super) fn finish(mut self, chooser: &mut Chooser, one_in: u64, kept: &[&str]) -> DemoRelation {
        let open: Vec<usize> = self
            .relation
            .columns
            .iter()
            .enumerate()
            .filter(|(_, column)| column.nullable && !kept.contains(&column.name.as_str()))
            .map(|(index, _)| index)
            .collect();
        for row in &mut self.relation.rows {
            for &column in &open {
                if chooser.below(one_in) == 0 {
                    row[column] = DemoValue::Null;
                }
            }
        }
        // Chance may have missed a column of a small relation.
        for column in open {
            let at = chooser.index(self.relation.rows.len());
            if !self.relation.rows.iter().any(|row| row[column].is_null())
                && let Some(row) = self.relation.rows.get_mut(at)
            {
                row[column] = DemoValue::Null;
            }
        }
        chooser.shuffle(&mut self.relation.rows);
        self.relation
    }
}

/// A text value.
pub(super) fn text(value: impl Into<String>) -> DemoValue {
    DemoValue::Text(value.into())
}

/// An integer value.
pub(super) fn int(value: i64) -> DemoValue {
    DemoValue::Int(value)
}

/// A text array.
pub(super) fn texts<'a>(values: impl IntoIterator<Item = &'a str>) -> DemoValue {
    DemoValue::Array(values.into_iter().map(DemoValue::from).collect())
}
