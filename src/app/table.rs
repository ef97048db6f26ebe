//! Answers as tables: the tool result, and its rows as one typed batch for files.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use serde_json::{Map, Value};

use super::answer::Outcome;
use super::error::AppError;
use super::mirror::Mirror;
use crate::engine::{JoinArguments, QueryArguments, Refusal, RefusalCode, read_arguments};
use crate::spatial::{DistrictsInBbox, FindDistrict};

/// An answer and its rows.
#[derive(Debug, Clone)]
pub struct Tabular {
    /// The tool result, as MCP clients get it.
    pub answer: Value,
    /// Its rows as they are shown.
    pub rows: Vec<Value>,
    /// The same rows, each column of its own type.
    pub table: RecordBatch,
}

/// The types of columns that are no relation's.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Text,
    Whole,
    Double,
    Flag,
}

/// Fields of the upstream functions' rows.
const FIND_DISTRICT: &[(&str, Kind)] = &[
    ("district_id", Kind::Text),
    ("statename", Kind::Text),
    ("district", Kind::Whole),
    ("congress_number", Kind::Whole),
];
const DISTRICTS_IN_BBOX: &[(&str, Kind)] =
    &[("id", Kind::Whole), ("statename", Kind::Text), ("district", Kind::Whole), ("district_id", Kind::Text)];
const NONPROFITS_NEARBY: &[(&str, Kind)] = &[
    ("ein", Kind::Text),
    ("org_name", Kind::Text),
    ("ntee", Kind::Text),
    ("state", Kind::Text),
    ("distance_meters", Kind::Double),
];

/// Fields of discovered columns, one row each.
const DISCOVERED: &[(&str, Kind)] = &[
    ("source", Kind::Text),
    ("column", Kind::Text),
    ("type", Kind::Text),
    ("native_type", Kind::Text),
    ("nullable", Kind::Flag),
    ("primary_key", Kind::Flag),
    ("description", Kind::Text),
    ("unit", Kind::Text),
    ("srid", Kind::Whole),
    ("mirrored_rows", Kind::Whole),
];

impl Mirror {
    /// `benthic_query` as a table. Refuses an explained request, which has no rows.
    pub async fn query_table(&self, arguments: Map<String, Value>) -> Result<Tabular, AppError> {
        let arguments: QueryArguments = read_arguments(arguments)?;
        self.tabular(self.run_query(&arguments).await?)
    }

    /// `benthic_join` as a table. Refuses an explained request, which has no rows.
    pub async fn join_table(&self, arguments: Map<String, Value>) -> Result<Tabular, AppError> {
        let arguments: JoinArguments = read_arguments(arguments)?;
        self.tabular(self.run_join(&arguments).await?)
    }

    /// `benthic_rpc` as a table: the fields of the upstream function, also where there is no row.
    pub async fn rpc_table(&self, arguments: Map<String, Value>) -> Result<Tabular, AppError> {
        let answer = self.rpc(arguments).await?;
        let fields = match answer.pointer("/metadata/operation").and_then(Value::as_str) {
            Some(FindDistrict::NAME) => FIND_DISTRICT,
            Some(DistrictsInBbox::NAME) => DISTRICTS_IN_BBOX,
            _ => NONPROFITS_NEARBY,
        };
        let rows = members(&answer, "rows").to_vec();
        let table = table(fields, &rows)?;
        Ok(Tabular { answer, rows, table })
    }

    /// `benthic_discover` as a table: a row for each column shown, so that it can be filtered and counted. Join paths are
    /// left to the tool result.
    pub fn discover_table(&self, arguments: Map<String, Value>) -> Result<Tabular, AppError> {
        let answer = self.discover(arguments)?;
        let rows: Vec<Value> = members(&answer, "relations")
            .iter()
            .flat_map(|relation| {
                members(relation, "columns").iter().map(|column| discovered(relation, column))
            })
            .collect();
        let table = table(DISCOVERED, &rows)?;
        Ok(Tabular { answer, rows, table })
    }

    fn tabular(&self, outcome: Outcome) -> Result<Tabular, AppError> {
        let Outcome::Answered(answer, served) = outcome else {
            return Err(Refusal::new(
                RefusalCode::BadArgument,
                "an explained request has no rows to make a table of.",
            )
            .fact("argument", "explain")
            .next("drop `explain`, or ask for JSON")
            .into());
        };
        let whole = answer.table(usize::MAX)?;
        let answer = self.finished(Outcome::Answered(answer, served))?;
        // The size cap may have left rows out from the end.
        let rows = members(&answer, "rows").to_vec();
        let table = whole.slice(0, rows.len().min(whole.num_rows()));
        Ok(Tabular { answer, rows, table })
    }
}

fn members<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// One column of a discovered relation as a row.
fn discovered(relation: &Value, column: &Value) -> Value {
    let mut row = column.as_object().cloned().unwrap_or_default();
    let name = row.remove("name").unwrap_or(Value::Null);
    let is_key = members(relation, "primary_key").contains(&name);
    row.insert("column".to_owned(), name);
    row.insert("primary_key".to_owned(), is_key.into());
    row.insert("source".to_owned(), relation.get("source").cloned().unwrap_or(Value::Null));
    let rows = relation.pointer("/mirrored/rows").cloned().unwrap_or(Value::Null);
    row.insert("mirrored_rows".to_owned(), rows);
    Value::Object(row)
}

/// Objects as a batch of these fields; a member that isn't there is null.
fn table(fields: &[(&str, Kind)], rows: &[Value]) -> Result<RecordBatch, AppError> {
    let (declared, arrays): (Vec<Field>, Vec<ArrayRef>) = fields
        .iter()
        .map(|(name, kind)| {
            let values = rows.iter().map(|row| row.get(*name).unwrap_or(&Value::Null));
            let (data_type, array): (DataType, ArrayRef) = match kind {
                Kind::Text => (DataType::Utf8, Arc::new(values.map(Value::as_str).collect::<StringArray>())),
                Kind::Whole => (DataType::Int64, Arc::new(values.map(Value::as_i64).collect::<Int64Array>())),
                Kind::Double => {
                    (DataType::Float64, Arc::new(values.map(Value::as_f64).collect::<Float64Array>()))
                }
                Kind::Flag => {
                    (DataType::Boolean, Arc::new(values.map(Value::as_bool).collect::<BooleanArray>()))
                }
            };
            (Field::new(*name, data_type, true), array)
        })
        .unzip();
    RecordBatch::try_new(Arc::new(Schema::new(declared)), arrays)
        .map_err(|error| AppError::Internal { detail: format!("the rows make no table: {error}") })
}

#[cfg(test)]
mod tests {
    use arrow::array::AsArray;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_table_has_its_columns_without_rows_too() {
        let empty = table(NONPROFITS_NEARBY, &[]).expect("a table");
        assert_eq!((empty.num_rows(), empty.num_columns()), (0, 5));
        let rows = [json!({"district_id": "x", "district": null}), json!({"district": 7})];
        let districts = table(FIND_DISTRICT, &rows).expect("a table");
        assert_eq!(districts["district_id"].as_string::<i32>().value(0), "x");
        assert_eq!(districts["district"].null_count(), 1);
    }
}
