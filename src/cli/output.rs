//! Answers for people: tables, notes, numbers with separators.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets::UTF8_FULL_CONDENSED};
use console::style;
use serde_json::Value;

use super::arguments::Format;

/// Longest text shown in a cell.
const MAX_CELL_CHARS: usize = 60;

/// Prints a tool result.
pub(super) fn print_answer(answer: &Value, format: Format) {
    match format {
        Format::Json => {
            println!("{}", serde_json::to_string_pretty(answer).unwrap_or_else(|_| answer.to_string()))
        }
        Format::Table => {
            if let Some(explained) = answer.get("explain") {
                println!("{}", serde_json::to_string_pretty(explained).unwrap_or_default());
                if let Some(plan) = explained.get("logical_plan").and_then(Value::as_str) {
                    println!("\n{plan}");
                }
                return;
            }
            println!("{}", rows_table(answer));
            for note in notes(answer) {
                println!("{}", style(note).dim());
            }
        }
    }
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
    let count = answer.get("row_count").and_then(Value::as_u64).unwrap_or(0);
    let more =
        if answer.get("truncated").and_then(Value::as_bool) == Some(true) { ", more not shown" } else { "" };
    notes.push(format!("{count} row{}{more}", if count == 1 { "" } else { "s" }));
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
