//! Answers for people: tables, notes, numbers with separators.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets::UTF8_FULL_CONDENSED};
use console::style;
use serde_json::Value;

use super::arguments::{Format, OutputArguments};
use super::error::{CliError, USAGE};
use super::table_file;
use crate::app::Tabular;
use crate::store::files::write_output;

/// Longest text shown in a cell.
const MAX_CELL_CHARS: usize = 60;

impl OutputArguments {
    /// Whether the rows are asked for as a file for other programs.
    pub(super) fn is_table_file(&self) -> bool {
        matches!(self.format, Format::Csv | Format::Parquet)
    }

    /// A mistake that needn't wait for the answer.
    pub(super) fn check(&self) -> Result<(), CliError> {
        match (self.format, &self.out) {
            (Format::Parquet, None) => {
                Err(CliError::with_code("--format parquet isn't text: name a file with --out FILE", USAGE))
            }
            _ => Ok(()),
        }
    }
}

/// Writes a tool result as JSON or as a table for people.
pub(super) fn deliver(output: &OutputArguments, answer: &Value) -> Result<(), CliError> {
    deliver_text(output, &rendered(answer, output.format))
}

/// Writes text to where it should go.
pub(super) fn deliver_text(output: &OutputArguments, text: &str) -> Result<(), CliError> {
    match &output.out {
        // A file gets no colours, whatever stdout is.
        Some(path) => write_output(path, format!("{}\n", console::strip_ansi_codes(text)).as_bytes())?,
        None => println!("{text}"),
    }
    Ok(())
}

/// Writes an answer's rows as CSV or Parquet. CSV has no place for what must be said with them: that goes to stderr.
pub(super) fn deliver_table(output: &OutputArguments, tabular: &Tabular) -> Result<(), CliError> {
    match (output.format, &output.out) {
        (Format::Parquet, Some(path)) => {
            let bytes = table_file::parquet(tabular).map_err(|error| {
                CliError::failed(format!("the rows can't be written as Parquet: {error}"))
            })?;
            write_output(path, &bytes)?;
        }
        (_, Some(path)) => write_output(path, table_file::csv(tabular).as_bytes())?,
        (_, None) => print!("{}", table_file::csv(tabular)),
    }
    for note in notes(&tabular.answer) {
        eprintln!("{note}");
    }
    if let Some(served) = tabular.answer.get("served") {
        eprintln!("served {served}");
    }
    Ok(())
}

/// A tool result as JSON, or as a table with notes.
fn rendered(answer: &Value, format: Format) -> String {
    let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string());
    if format == Format::Json {
        return pretty(answer);
    }
    if let Some(explained) = answer.get("explain") {
        let plan = explained.get("logical_plan").and_then(Value::as_str);
        return match plan {
            Some(plan) => format!("{}\n\n{plan}", pretty(explained)),
            None => pretty(explained),
        };
    }
    let notes = notes(answer).into_iter().map(|note| style(note).dim().to_string());
    std::iter::once(rows_table(answer).to_string()).chain(notes).collect::<Vec<_>>().join("\n")
}

/// The rows of an answer as a table.
pub(super) fn rows_table(answer: &Value) -> Table {
    let rows = answer.get("rows").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let columns: Vec<String> = match answer.get("columns").and_then(Value::as_array) {
        Some(columns) => columns.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        None => rows
            .first()
            .and_then(Value::as_object)
            .map(|row| row.keys().cloned().collect())
            .unwrap_or_default(),
    };
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(&columns);
    for row in rows {
        table.add_row(columns.iter().map(|column| cell(row.get(column).unwrap_or(&Value::Null))));
    }
    table
}

fn cell(value: &Value) -> Cell {
    match value {
        Value::Null => Cell::new("∅"),
        Value::Number(number) => Cell::new(number).set_alignment(CellAlignment::Right),
        Value::String(text) => Cell::new(shortened(text)),
        other => Cell::new(shortened(&other.to_string())),
    }
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= MAX_CELL_CHARS {
        return text.to_owned();
    }
    text.chars().take(MAX_CELL_CHARS - 1).chain(std::iter::once('…')).collect()
}

/// What must be said with an answer, a line each.
pub(super) fn notes(answer: &Value) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(count) = answer.get("row_count").and_then(Value::as_u64) {
        let is_cut = answer.get("truncated").and_then(Value::as_bool) == Some(true);
        let more = if is_cut { ", more not shown" } else { "" };
        notes.push(format!("{count} row{}{more}", if count == 1 { "" } else { "s" }));
    }
    let warnings = answer.get("warnings").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    notes.extend(warnings.iter().filter_map(|warning| match warning {
        Value::String(text) => Some(format!("! {text}")),
        other => other.get("message").and_then(Value::as_str).map(|text| format!("! {text}")),
    }));
    if let Some(served) = answer.get("served") {
        let text = |name: &str| served.get(name).and_then(Value::as_str).unwrap_or("");
        let content: String = text("content_id").chars().take(12).collect();
        let capture =
            if text("capture").is_empty() { String::new() } else { format!(" ({})", text("capture")) };
        notes.push(
            format!("from snapshot content {content}{capture} {}", text("captured_at")).trim_end().to_owned(),
        );
    }
    notes
}

/// `1,234,567`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `12.3 KiB`.
pub(super) fn size(bytes: u64) -> String {
    indicatif::BinaryBytes(bytes).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn long_cells_are_cut_by_characters() {
        assert_eq!(shortened(&"é".repeat(60)).chars().count(), 60);
        assert!(shortened(&"é".repeat(61)).ends_with('…'));
    }
}
