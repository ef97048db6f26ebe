//! Answers as files for other programs: CSV for any of them, Parquet for those that keep types.

use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use serde_json::Value;

use crate::app::Tabular;

/// Members of an answer that a Parquet file carries beside its rows, as JSON under `benthic.<name>`.
const CARRIED: [&str; 8] =
    ["served", "warnings", "sources", "joins", "truncated", "next_offset", "source_complete", "metadata"];

/// RFC 4180: a header, CRLF line ends, quotes where they are needed. Numbers have all their digits; null is nothing, the
/// empty text is `""`; nested values are JSON.
pub(super) fn csv(tabular: &Tabular) -> String {
    let schema = tabular.table.schema();
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let mut text = String::new();
    let mut line = |cells: &mut dyn Iterator<Item = Option<String>>| {
        for (index, cell) in cells.enumerate() {
            if index > 0 {
                text.push(',');
            }
            text.push_str(&cell.map(quoted).unwrap_or_default());
        }
        text.push_str("\r\n");
    };
    line(&mut names.iter().map(|name| Some((*name).to_owned())));
    for row in &tabular.rows {
        line(&mut names.iter().map(|name| row.get(*name).and_then(cell)));
    }
    text
}

fn cell(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

fn quoted(cell: String) -> String {
    let is_plain = !cell.is_empty()
        && !cell.contains([',', '"', '\r', '\n'])
        && !cell.starts_with(char::is_whitespace)
        && !cell.ends_with(char::is_whitespace);
    if is_plain { cell } else { format!("\"{}\"", cell.replace('"', "\"\"")) }
}

/// A Parquet file of the typed rows; where they come from and what must be said with them is in its metadata.
pub(super) fn parquet(tabular: &Tabular) -> Result<Vec<u8>, ParquetError> {
    let carried = CARRIED
        .iter()
        .filter_map(|name| tabular.answer.get(*name).map(|value| (name, value)))
        .map(|(name, value)| KeyValue::new(format!("benthic.{name}"), value.to_string()))
        .collect();
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(carried))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), tabular.table.schema(), Some(properties))?;
    writer.write(&tabular.table)?;
    writer.into_inner()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
    use serde_json::json;

    use super::*;

    fn tabular() -> Tabular {
        let columns: [(&str, ArrayRef); 2] = [
            ("a,b", Arc::new(StringArray::from(vec![Some("x"), None, Some("")]))),
            ("n", Arc::new(Int64Array::from(vec![Some(1), None, Some(i64::MAX)]))),
        ];
        let rows = vec![
            json!({"a,b": "say \"hi\"\nthen", "n": 1}),
            json!({"a,b": null, "n": [1, {"k": "v"}]}),
            json!({"a,b": "", "n": "9223372036854775807"}),
            json!({"a,b": " é", "n": true}),
        ];
        let table = RecordBatch::try_from_iter(columns).expect("a batch");
        Tabular { answer: json!({"served": {"mode": "local"}, "warnings": []}), rows, table }
    }

    #[test]
    fn csv_keeps_every_value_apart() {
        let expected = [
            "\"a,b\",n",
            "\"say \"\"hi\"\"\nthen\",1",
            ",\"[1,{\"\"k\"\":\"\"v\"\"}]\"",
            "\"\",9223372036854775807",
            "\" é\",true",
            "",
        ];
        assert_eq!(csv(&tabular()), expected.join("\r\n"));
    }

    #[test]
    fn parquet_carries_where_it_comes_from() {
        use parquet::file::reader::{FileReader, SerializedFileReader};
        let bytes = parquet(&tabular()).expect("a file");
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).expect("readable");
        let metadata = reader.metadata().file_metadata();
        assert_eq!(metadata.num_rows(), 3);
        let carried = metadata.key_value_metadata().cloned().unwrap_or_default();
        let value =
            |key: &str| carried.iter().find(|pair| pair.key == key).and_then(|pair| pair.value.clone());
        assert_eq!(value("benthic.served").as_deref(), Some("{\"mode\":\"local\"}"));
        assert_eq!(value("benthic.warnings").as_deref(), Some("[]"));
    }
}
