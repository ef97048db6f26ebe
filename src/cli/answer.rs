//! `discover`, `query`, `join`: the tools on the command line, through the same code.

use serde_json::{Map, Value, json};

use super::arguments::{DiscoverCommand, Format, JoinCommand, QueryCommand};
use super::context::Context;
use super::error::CliError;
use super::output::{deliver, deliver_table, deliver_text};

/// Prints relations.
pub(super) fn discover(context: &Context, command: DiscoverCommand) -> Result<(), CliError> {
    let mut arguments = Map::new();
    arguments.insert("query".to_owned(), command.query.join(" ").into());
    put(&mut arguments, "dataset", command.dataset);
    put(&mut arguments, "relation", command.relation);
    put(&mut arguments, "limit", command.limit);
    if command.full {
        arguments.insert("detail".to_owned(), "full".into());
    }
    command.output.check()?;
    let mirror = context.mirror()?;
    if command.output.is_table_file() {
        return deliver_table(&command.output, &mirror.discover_table(arguments)?);
    }
    let answer = mirror.discover(arguments)?;
    match command.output.format {
        Format::Table => deliver_text(&command.output, &relations_text(&answer)),
        _ => deliver(&command.output, &answer),
    }
}

fn relations_text(answer: &Value) -> String {
    let mut lines = Vec::new();
    let list =
        |value: &Value, name: &str| value.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap_or("").to_owned();
    for relation in list(answer, "relations") {
        let rows = relation.pointer("/mirrored/rows").and_then(Value::as_u64);
        let rows = rows.map_or_else(
            || "not mirrored".to_owned(),
            |rows| format!("{} rows", super::output::grouped(rows)),
        );
        lines.push(format!(
            "{}  {}",
            console::style(text(&relation, "source")).bold(),
            console::style(rows).dim()
        ));
        let description = text(&relation, "description");
        if !description.is_empty() {
            lines.push(format!("  {description}"));
        }
        for column in list(&relation, "columns") {
            let kind = text(&column, "native_type");
            let kind = if kind.is_empty() { text(&column, "type") } else { kind };
            lines.push(format!("    {}  {}", text(&column, "name"), console::style(kind).dim()));
        }
        if relation.get("columns_truncated").and_then(Value::as_bool) == Some(true) {
            lines.push(format!("    {}", console::style("… (--full with --relation shows all)").dim()));
        }
    }
    for path in list(answer, "join_paths") {
        lines.push(format!(
            "{} → {}  {}",
            text(&path, "from_endpoint"),
            text(&path, "to_endpoint"),
            console::style(format!("{}, {}", text(&path, "join_type"), text(&path, "reliability"))).dim()
        ));
    }
    for warning in list(answer, "warnings") {
        lines.push(format!("{}", console::style(format!("! {}", warning.as_str().unwrap_or(""))).dim()));
    }
    lines.join("\n")
}

/// Prints rows of one relation.
pub(super) async fn query(context: &Context, command: QueryCommand) -> Result<(), CliError> {
    let mut arguments = object(json!({
        "source": command.source,
        "select": command.select,
        "where": command.filters,
        "group_by": command.group_by,
        "metrics": command.metrics,
        "having": command.having,
        "order": command.order,
        "explain": command.explain,
    }));
    put(&mut arguments, "limit", command.limit);
    put(&mut arguments, "offset", command.offset);
    command.output.check()?;
    let mirror = context.mirror()?;
    match command.output.is_table_file() {
        true => deliver_table(&command.output, &mirror.query_table(arguments).await?),
        false => deliver(&command.output, &mirror.query(arguments).await?),
    }
}

/// Prints joined rows.
pub(super) async fn join(context: &Context, command: JoinCommand) -> Result<(), CliError> {
    let mut arguments = object(json!({
        "left_source": command.left_source,
        "right_source": command.right_source,
        "left_where": command.left_where,
        "right_where": command.right_where,
        "context_conditions": command.context_conditions,
        "left_select": command.left_select,
        "right_select": command.right_select,
        "explain": command.explain,
    }));
    put(&mut arguments, "left_column", command.left_column);
    put(&mut arguments, "right_column", command.right_column);
    put(&mut arguments, "mode", command.mode);
    put(&mut arguments, "limit", command.limit);
    command.output.check()?;
    let mirror = context.mirror()?;
    match command.output.is_table_file() {
        true => deliver_table(&command.output, &mirror.join_table(arguments).await?),
        false => deliver(&command.output, &mirror.join(arguments).await?),
    }
}

fn put(arguments: &mut Map<String, Value>, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        arguments.insert(name.to_owned(), value.into());
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
