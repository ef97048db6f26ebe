//! The first rows of an order in two steps, so that wide columns are decoded for the winners alone.
//!
//! The first step reads the filters' columns and the first column ordered by, and finds the value of the last row wanted:
//! no row beyond it can be among the first. The second step is the whole question with that as one more filter, for which
//! the pages' statistics leave out nearly everything. Ties at the value stay in, so the answer is the same.

use arrow::array::RecordBatch;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{Expr, LogicalPlan, lit};

use super::expression::{column, has_key_of_its_own};
use super::query::filtered;
use super::table::{RelationData, RowSource};
use crate::engine::check::{CheckedQuery, QueryShape};
use crate::engine::parse::Direction;

/// An answer that reaches further than this has hardly a page to leave out.
const MAX_REACH: u64 = 10_000;

/// The first column a question's rows are ordered by, and how far its answer reaches.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::engine) struct TopRows {
    column: String,
    direction: Direction,
    /// Rows skipped and returned, and the one that shows whether there are more.
    reach: usize,
}

impl TopRows {
    /// Whether a question is answered faster in two steps, which needs `min_rows` rows in the relation.
    pub(in crate::engine) fn of(
        query: &CheckedQuery<'_>,
        data: &RelationData,
        min_rows: u64,
    ) -> Option<Self> {
        let QueryShape::Rows { order, .. } = &query.shape else { return None };
        let first = order.first()?;
        let declared = &query.relation.columns[first.column];
        let is_stored_first = data.sort_key.first() == Some(&declared.name);
        let reach = query.offset.checked_add(query.limit)?.checked_add(1)?;
        let pays = matches!(data.source, RowSource::Parts(_)) && data.rows >= min_rows && reach <= MAX_REACH;
        // Values whose order isn't the stored values' own have no threshold a footer could be compared with.
        if !pays || is_stored_first || has_key_of_its_own(&declared.column_type) {
            return None;
        }
        Some(Self {
            column: declared.name.clone(),
            direction: first.direction,
            reach: usize::try_from(reach).ok()?,
        })
    }

    /// The first step: the column's values, as far as the answer reaches.
    pub(in crate::engine) fn plan(
        &self,
        query: &CheckedQuery<'_>,
        data: &RelationData,
    ) -> Result<LogicalPlan> {
        let value = column(&self.column);
        filtered(query.relation, data, &query.predicates)?
            .project([value.clone()])?
            .sort([value.sort(self.direction == Direction::Ascending, false)])?
            .limit(0, Some(self.reach))?
            .build()
    }

    /// What every row of the answer passes; `None` where the answer reaches into the nulls, or there are fewer rows.
    pub(in crate::engine) fn threshold(&self, batches: &[RecordBatch]) -> Result<Option<Expr>> {
        let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
        let Some(last) = batches.iter().rev().find(|batch| batch.num_rows() > 0) else { return Ok(None) };
        if rows < self.reach {
            return Ok(None);
        }
        let value = ScalarValue::try_from_array(last.column(0), last.num_rows() - 1)?;
        // Nulls come last: beyond one there are only nulls, which no comparison would keep.
        if value.is_null() {
            return Ok(None);
        }
        let value = lit(value);
        Ok(Some(match self.direction {
            Direction::Ascending => column(&self.column).lt_eq(value),
            Direction::Descending => column(&self.column).gt_eq(value),
        }))
    }
}
