//! Resolving column names, with candidates for those that don't exist.

use serde_json::{Map, Value};

use crate::catalog::{Relation, column_candidates};
use crate::config::Limits;
use crate::engine::parse::{FILTER_OPERATORS, FUNCTIONS, HAVING_OPERATORS, Malformed};
use crate::engine::refusal::{Refusal, RefusalCode};

/// Positions of the named columns, without repetition; all unknown names are refused together.
pub(super) fn resolve_columns(
    relation: &Relation,
    names: &[String],
    argument: &str,
) -> Result<Vec<usize>, Refusal> {
    let mut positions = Vec::with_capacity(names.len());
    let mut unknown = Vec::new();
    for name in names {
        match relation.column(name.trim()) {
            Some((position, _)) if positions.contains(&position) => {}
            Some((position, _)) => positions.push(position),
            None => unknown.push(name.trim()),
        }
    }
    if unknown.is_empty() { Ok(positions) } else { Err(unknown_columns(relation, &unknown, argument)) }
}

/// Position of one named column.
pub(super) fn resolve_column(relation: &Relation, name: &str, argument: &str) -> Result<usize, Refusal> {
    relation
        .column(name)
        .map(|(position, _)| position)
        .ok_or_else(|| unknown_columns(relation, &[name], argument))
}

/// The refusal for names that aren't columns: up to three candidates each.
pub(super) fn unknown_columns(relation: &Relation, names: &[&str], argument: &str) -> Refusal {
    let mut candidates = Map::new();
    let mut parts = Vec::new();
    for name in names {
        let near: Vec<String> = column_candidates(relation, name, 3).into_iter().map(str::to_owned).collect();
        parts.push(match near.is_empty() {
            true => format!("`{name}`"),
            false => format!("`{name}` (did you mean {}?)", quoted(&near)),
        });
        candidates.insert((*name).to_owned(), near.into());
    }
    let source = relation.source();
    let first = candidates.values().find_map(|near| near.get(0).and_then(Value::as_str)).map(str::to_owned);
    let step = match first {
        Some(candidate) => format!(
            "use `{candidate}`, or list all columns: benthic_discover(relation=\"{source}\", detail=\"full\")"
        ),
        None => format!("list all columns: benthic_discover(relation=\"{source}\", detail=\"full\")"),
    };
    Refusal::new(RefusalCode::UnknownColumn, format!("`{source}` has no column {}.", parts.join(", ")))
        .fact("source", source)
        .fact("argument", argument)
        .fact("candidates", candidates)
        .next(step)
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ")
}

/// Refuses lists and strings beyond the limits before anything reads them.
pub(super) fn check_size(
    limits: &Limits,
    argument: &str,
    items: &[String],
    maximum: usize,
) -> Result<(), Refusal> {
    if items.len() > maximum {
        return Err(Refusal::new(
            RefusalCode::TooMany,
            format!("`{argument}` has {} entries; at most {maximum} are taken.", items.len()),
        )
        .fact("argument", argument)
        .fact("given", items.len())
        .fact("limit", maximum)
        .next(format!("send at most {maximum} in `{argument}`")));
    }
    items.iter().try_for_each(|item| check_length(limits, argument, item))
}

/// Refuses one over-long string.
pub(super) fn check_length(limits: &Limits, argument: &str, text: &str) -> Result<(), Refusal> {
    if text.len() > limits.max_argument_bytes {
        return Err(Refusal::new(
            RefusalCode::BadArgument,
            format!(
                "a string in `{argument}` has {} bytes; at most {} are taken.",
                text.len(),
                limits.max_argument_bytes
            ),
        )
        .fact("argument", argument)
        .fact("limit_bytes", limits.max_argument_bytes)
        .next(format!("shorten `{argument}`")));
    }
    Ok(())
}

/// The refusal for an expression that can't be read, with the words the language has for it.
pub(super) fn malformed(code: RefusalCode, expression: &str, problem: Malformed) -> Refusal {
    let refusal =
        Refusal::new(code, format!("{}.", problem.why)).fact("expression", expression).next(problem.form);
    match code {
        RefusalCode::BadFilter => refusal.fact("operators", FILTER_OPERATORS.to_vec()),
        RefusalCode::BadHaving => refusal.fact("operators", HAVING_OPERATORS.to_vec()),
        RefusalCode::BadMetric => refusal.fact("functions", FUNCTIONS.to_vec()),
        RefusalCode::BadOrder => refusal.fact("directions", ["asc", "desc"].to_vec()),
        _ => refusal,
    }
}
