//! Writes chunks into Parquet objects, a new one every [`layout::PART_ROWS`] rows.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use crate::catalog::StoredColumn;
use crate::store::{ObjectWriter, Part, StoreWriter, file_schema};
use crate::sync::error::CaptureError;

use super::coverings::Coverings;
use super::{layout, write_failure};

/// What is known about the rows before the first one comes.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartPlan<'a> {
    pub(super) columns: &'a [StoredColumn],
    pub(super) sort_key: &'a [String],
    /// Columns that signed join paths use.
    pub(super) joined: &'a HashSet<String>,
    pub(super) rows: u64,
}

/// The parts of one relation being written.
pub(super) struct PartsWriter<'a> {
    store: &'a StoreWriter,
    relation: String,
    plan: PartPlan<'a>,
    /// The first chunks, until there are enough to decide the layout.
    sample: Vec<RecordBatch>,
    properties: Option<WriterProperties>,
    open: Option<OpenPart<'a>>,
    parts: Vec<Part>,
}

struct OpenPart<'a> {
    writer: ArrowWriter<ObjectWriter>,
    coverings: Coverings<'a>,
    rows: u64,
}

impl<'a> PartsWriter<'a> {
    pub(super) fn new(store: &'a StoreWriter, relation: &str, plan: PartPlan<'a>) -> Self {
        Self {
            store,
            relation: relation.to_owned(),
            plan,
            sample: Vec::new(),
            properties: None,
            open: None,
            parts: Vec::new(),
        }
    }

    /// Writes the next chunk. All but the last have [`layout::CHUNK_ROWS`] rows.
    pub(super) fn write(&mut self, chunk: RecordBatch) -> Result<(), CaptureError> {
        if self.properties.is_some() {
            return self.write_now(chunk);
        }
        self.sample.push(chunk);
        let rows: usize = self.sample.iter().map(RecordBatch::num_rows).sum();
        if rows >= layout::SAMPLE_ROWS { self.decide() } else { Ok(()) }
    }

    /// Closes the last part. A relation without rows has one part without rows, so its schema can be read.
    pub(super) fn finish(mut self) -> Result<Vec<Part>, CaptureError> {
        if self.properties.is_none() {
            self.decide()?;
        }
        if self.parts.is_empty() && self.open.is_none() {
            self.open = Some(self.start()?);
        }
        self.close()?;
        Ok(self.parts)
    }

    fn decide(&mut self) -> Result<(), CaptureError> {
        let PartPlan { columns, sort_key, joined, rows } = self.plan;
        let layouts = layout::decide(&self.sample, columns, sort_key, joined, rows)
            .map_err(|error| write_failure(&self.relation, &error))?;
        let properties = layout::properties(columns, &layouts, sort_key, rows)
            .map_err(|error| write_failure(&self.relation, &error))?;
        self.properties = Some(properties);
        for chunk in std::mem::take(&mut self.sample) {
            self.write_now(chunk)?;
        }
        Ok(())
    }

    fn write_now(&mut self, chunk: RecordBatch) -> Result<(), CaptureError> {
        let mut part = match self.open.take() {
            Some(part) => part,
            None => self.start()?,
        };
        let rows = chunk.num_rows() as u64;
        let chunk = part.coverings.extend(chunk)?;
        part.writer.write(&chunk).map_err(|error| self.failure(&part.writer, error))?;
        part.rows += rows;
        let full = part.rows >= layout::PART_ROWS;
        self.open = Some(part);
        if full { self.close() } else { Ok(()) }
    }

    fn start(&self) -> Result<OpenPart<'a>, CaptureError> {
        let object = self.store.object_writer()?;
        let schema = file_schema(self.plan.columns);
        let writer = ArrowWriter::try_new(object, Arc::clone(&schema), self.properties.clone())
            .map_err(|error| write_failure(&self.relation, &error))?;
        Ok(OpenPart { writer, coverings: Coverings::new(&self.relation, self.plan.columns), rows: 0 })
    }

    fn close(&mut self) -> Result<(), CaptureError> {
        let Some(mut part) = self.open.take() else { return Ok(()) };
        if let Some(metadata) = part.coverings.metadata() {
            part.writer.append_key_value_metadata(KeyValue::new("geo".to_owned(), metadata));
        }
        part.writer.flush().map_err(|error| self.failure(&part.writer, error))?;
        let row_groups = part.writer.flushed_row_groups().len() as u64;
        let object =
            part.writer.into_inner().map_err(|error| write_failure(&self.relation, &error))?.finish()?;
        self.parts.push(Part { sha256: object.sha256, bytes: object.bytes, rows: part.rows, row_groups });
        Ok(())
    }

    /// A full disk is told as such, not as trouble with Parquet.
    fn failure(&self, writer: &ArrowWriter<ObjectWriter>, error: ParquetError) -> CaptureError {
        if let ParquetError::External(source) = error {
            return match source.downcast::<std::io::Error>() {
                Ok(source) => writer.inner().error(*source).into(),
                Err(other) => write_failure(&self.relation, other.as_ref()),
            };
        }
        write_failure(&self.relation, &error)
    }
}
