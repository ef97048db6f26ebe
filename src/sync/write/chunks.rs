//! Cuts a stream of batches into chunks of a fixed number of rows, so nothing downstream sees where batches ended.

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use arrow::error::ArrowError;

/// Chunks that became ready.
pub(super) struct Ready {
    pub(super) chunks: Vec<RecordBatch>,
    /// Nothing comes after these.
    pub(super) is_last: bool,
}

/// Rows waiting for their chunk to fill up.
pub(super) struct Chunks {
    rows: usize,
    waiting: Vec<RecordBatch>,
    waiting_rows: usize,
}

impl Chunks {
    pub(super) fn new(rows: usize) -> Self {
        Self { rows: rows.max(1), waiting: Vec::new(), waiting_rows: 0 }
    }

    /// Adds a batch; returns the chunks it filled.
    pub(super) fn push(&mut self, batch: RecordBatch) -> Result<Ready, ArrowError> {
        let mut chunks = Vec::new();
        let mut rest = batch;
        while self.waiting_rows + rest.num_rows() >= self.rows {
            let taken = self.rows - self.waiting_rows;
            self.waiting.push(rest.slice(0, taken));
            rest = rest.slice(taken, rest.num_rows() - taken);
            chunks.extend(self.take()?);
        }
        if rest.num_rows() > 0 {
            self.waiting_rows += rest.num_rows();
            self.waiting.push(rest);
        }
        Ok(Ready { chunks, is_last: false })
    }

    /// Returns what is left.
    pub(super) fn finish(&mut self) -> Result<Ready, ArrowError> {
        Ok(Ready { chunks: self.take()?.into_iter().collect(), is_last: true })
    }

    fn take(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        self.waiting_rows = 0;
        let waiting = std::mem::take(&mut self.waiting);
        match waiting.first() {
            Some(first) => concat_batches(&first.schema(), &waiting).map(Some),
            None => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{AsArray, Int32Array};
    use arrow::datatypes::{DataType, Field, Int32Type, Schema};

    use super::*;

    #[test]
    fn chunks_depend_on_rows_alone() {
        let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int32, false)]));
        let cut = |sizes: &[i32]| {
            let mut chunks = Chunks::new(4);
            let mut out = Vec::new();
            let mut next = 0;
            for size in sizes {
                let values = Int32Array::from_iter_values(next..next + size);
                next += size;
                let batch = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(values)]).unwrap();
                out.extend(chunks.push(batch).unwrap().chunks);
            }
            out.extend(chunks.finish().unwrap().chunks);
            out.iter()
                .map(|chunk| chunk.column(0).as_primitive::<Int32Type>().values().to_vec())
                .collect::<Vec<_>>()
        };
        let expected = vec![vec![0, 1, 2, 3], vec![4, 5, 6, 7], vec![8, 9]];
        for sizes in [vec![10], vec![1; 10], vec![3, 0, 7], vec![4, 4, 2], vec![9, 1]] {
            assert_eq!(cut(&sizes), expected, "{sizes:?}");
        }
        assert_eq!(cut(&[4, 4]).len(), 2);
        assert!(cut(&[]).is_empty());
    }
}
