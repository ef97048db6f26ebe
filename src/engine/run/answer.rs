//! An answer as it leaves: rows, counts, sources, warnings, provenance, within the size cap.

use arrow::array::RecordBatch;
use serde_json::{Map, Value, json};

use super::execute::RunError;
use super::typed::TypedRows;

use crate::engine::refusal::{Refusal, RefusalCode};
use crate::engine::shape::{Row, cap_size};

/// Why rows were left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TruncatedBy {
    /// The request's limit.
    Limit,
    /// The most rows any answer may have.
    MaxRows,
    /// The answer's size.
    Bytes,
}

impl TruncatedBy {
    fn as_str(self) -> &'static str {
        match self {
            Self::Limit => "limit",
            Self::MaxRows => "max_rows",
            Self::Bytes => "bytes",
        }
    }
}

/// What is known of how many rows pass the filters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matched {
    /// So many.
    Exactly(u64),
    /// So many were seen; counting the rest would have meant to read it.
    AtLeast(u64),
}

/// What an answer says about one relation it read.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceReport {
    /// `source`, `left` or `right`.
    pub alias: &'static str,
    /// `dataset.relation`.
    pub source: String,
    /// Hash of the manifest that grants it.
    pub manifest_hash: String,
    /// Rows in the relation; `None` where only its matching rows were counted.
    pub row_count: Option<u64>,
    /// Rows that pass the filters.
    pub matched: Matched,
    /// Whether every row the answer needed was read.
    pub complete: bool,
    /// Provenance of this side, for joins.
    pub served: Option<Value>,
}

impl SourceReport {
    fn to_json(&self) -> Value {
        let mut value = json!({
            "alias": self.alias,
            "source": self.source,
            "manifest_hash": self.manifest_hash,
            "complete": self.complete,
        });
        if let Some(object) = value.as_object_mut() {
            if let Some(rows) = self.row_count {
                object.insert("row_count".to_owned(), rows.into());
            }
            match self.matched {
                Matched::Exactly(rows) => object.insert("matched_rows".to_owned(), rows.into()),
                Matched::AtLeast(rows) => object.insert("matched_rows_at_least".to_owned(), rows.into()),
            };
            if let Some(served) = &self.served {
                object.insert("served".to_owned(), served.clone());
            }
        }
        value
    }
}

/// The answer to a query or a join.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Output columns in order.
    pub columns: Vec<String>,
    /// Rows, each by output name.
    pub rows: Vec<Row>,
    /// Rows the answer stands for where they differ from the rows returned (a representative row).
    pub represented_rows: Option<u64>,
    /// Whether every source row the answer needed was read.
    pub source_complete: bool,
    /// Whether rows were left out, and why.
    pub truncated: Option<TruncatedBy>,
    /// Rows skipped before the first one returned; `None` where paging isn't possible.
    pub offset: Option<u64>,
    /// Relations read.
    pub sources: Vec<SourceReport>,
    /// Joins made.
    pub joins: Vec<Value>,
    /// What a reader must know, with the source it concerns.
    pub warnings: Vec<(Option<String>, String)>,
    /// The rows with their types.
    pub(super) typed: TypedRows,
}

impl Answer {
    /// The first `rows` rows as one typed batch; a row of the answer is a row of it.
    pub fn table(&self, rows: usize) -> Result<RecordBatch, RunError> {
        self.typed.table(rows.min(self.rows.len()))
    }

    /// The tool result: provenance added, whole rows left out from the end beyond `max_bytes`.
    pub fn into_json(mut self, served: Value, max_bytes: u64) -> Result<Value, Refusal> {
        // Room for the truncation members that the cap itself may add.
        const MARGIN: u64 = 512;
        let all_rows = self.rows.len();
        let bare = self.to_json(&served, &[], all_rows);
        let overhead = serde_json::to_vec(&bare).map_or(0, |bytes| bytes.len() as u64).saturating_add(MARGIN);
        let mut rows = std::mem::take(&mut self.rows);
        let largest = rows.first().map(largest_members).unwrap_or_default();
        let left_out = cap_size(&mut rows, max_bytes.saturating_sub(overhead)).map_err(|row_bytes| {
            Refusal::new(
                RefusalCode::ResponseTooLarge,
                format!("one row alone has {row_bytes} bytes; an answer holds at most {max_bytes}."),
            )
            .fact("row_bytes", row_bytes)
            .fact("limit_bytes", max_bytes)
            .fact("largest_columns", largest.clone())
            .next(format!("select other columns than {}", largest.join(", ")))
        })?;
        if left_out > 0 {
            self.truncated = Some(TruncatedBy::Bytes);
            self.warnings.push((
                None,
                format!("{left_out} rows were left out because the answer would exceed {max_bytes} bytes"),
            ));
        }
        let returned = rows.len();
        Ok(self.to_json(&served, &rows, returned))
    }

    fn to_json(&self, served: &Value, rows: &[Row], returned: usize) -> Value {
        let mut answer = Map::new();
        let mut put = |name: &str, value: Value| answer.insert(name.to_owned(), value);
        put("columns", self.columns.clone().into());
        put("rows", rows.iter().cloned().map(Value::Object).collect());
        put("row_count", self.represented_rows.unwrap_or(returned as u64).into());
        put("source_complete", self.source_complete.into());
        put("truncated", self.truncated.is_some().into());
        if let Some(reason) = self.truncated {
            put("truncated_by", reason.as_str().into());
            if let Some(offset) = self.offset {
                put("next_offset", (offset + returned as u64).into());
            }
        }
        put("sources", self.sources.iter().map(SourceReport::to_json).collect());
        put("joins", self.joins.clone().into());
        let warnings = self
            .warnings
            .iter()
            .map(|(source, message)| match source {
                Some(source) => json!({"source": source, "message": message}),
                None => json!({"message": message}),
            })
            .collect();
        put("warnings", warnings);
        put("served", served.clone());
        Value::Object(answer)
    }
}

/// The names of a row's largest values, largest first: as many as make up half of it.
fn largest_members(row: &Row) -> Vec<String> {
    let mut sizes: Vec<(usize, &String)> =
        row.iter().map(|(name, value)| (value.to_string().len(), name)).collect();
    sizes.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
    let half = sizes.iter().map(|(size, _)| size).sum::<usize>() / 2;
    let mut named = 0;
    sizes
        .into_iter()
        .take_while(|(size, _)| {
            let wanted = named <= half;
            named += size;
            wanted
        })
        .map(|(_, name)| name.clone())
        .collect()
}
