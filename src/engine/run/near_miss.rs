//! Digits asked of a text column in a form its rows don't have: `10203040` where `010203040` is stored.
//!
//! A text column compares text, so such a filter matches nothing, and an empty answer would read as "there is none".
//! It is refused instead, with the stored form. Text in quotes is meant as it stands and is never questioned, nor is a
//! value some row has.

use std::collections::BTreeSet;

use arrow::array::AsArray;

use super::answer::Matched;
use super::execute::{RunError, run};
use crate::catalog::{Column, Relation};
use crate::engine::check::{Predicate, Test, digits_of};
use crate::engine::plan::{EngineRuntime, RelationData, RowSource, plan_values, strip_zeros};
use crate::engine::refusal::{Refusal, RefusalCode};
use crate::engine::value::Literal;

/// Refuses the first unquoted number among the filters that no row has as text while some row has it with other leading
/// zeros or without its hyphens. The `matched` rows passed all filters: where there are any, every `eq` found its value, and
/// only lists remain to be looked at.
pub(super) async fn refuse_near_misses(
    relation: &Relation,
    data: &RelationData,
    predicates: &[Predicate],
    matched: Matched,
    runtime: &EngineRuntime,
) -> Result<(), RunError> {
    // Rows fetched for one request are those its filters let through: the stored form isn't among them.
    if matches!(data.source, RowSource::Batches(_)) {
        return Ok(());
    }
    let (Matched::Exactly(matched_rows) | Matched::AtLeast(matched_rows)) = matched;
    for predicate in predicates {
        let may_have_missed =
            matched_rows == 0 || matches!(&predicate.test, Test::In(values) if values.len() > 1);
        if predicate.bare_numbers.is_empty() || !may_have_missed {
            continue;
        }
        let forms: Vec<String> =
            predicate.bare_numbers.iter().filter_map(|text| zero_stripped(text)).collect();
        let plan = plan_values(relation, data, predicate.column, forms)?;
        let mut stored = BTreeSet::new();
        for batch in run(&runtime.session()?, &plan).await? {
            if let Some(values) = batch.columns().first().and_then(|array| array.as_string_view_opt()) {
                stored.extend(values.iter().flatten().map(|value| value.trim_end_matches(' ').to_owned()));
            }
        }
        for text in &predicate.bare_numbers {
            let form = zero_stripped(text);
            let near = stored.iter().find(|value| strip_zeros(value) == form);
            let is_asked_for = |value: &str| stored.contains(text) || asks_for(&predicate.test, value);
            if let Some(near) = near.filter(|near| !is_asked_for(near)) {
                return Err(near_miss(&relation.columns[predicate.column], text, near).into());
            }
        }
    }
    Ok(())
}

/// Whether a test names the value as it is stored.
fn asks_for(test: &Test, value: &str) -> bool {
    match test {
        Test::In(values) => {
            values.iter().any(|literal| matches!(literal, Literal::Text(text) if text == value))
        }
        _ => false,
    }
}

fn zero_stripped(text: &str) -> Option<String> {
    digits_of(text).as_deref().and_then(strip_zeros)
}

fn near_miss(column: &Column, text: &str, stored: &str) -> Refusal {
    let (name, length) = (&column.name, stored.chars().count());
    Refusal::new(
        RefusalCode::BadValue,
        format!(
            "`{text}` for `{name}` ({}): no row has this text, but there is `{stored}`; digits in a text column are compared as text, leading zeros and all.",
            column.column_type.label()
        ),
    )
    .fact("column", name.as_str())
    .fact("type", column.column_type.label())
    .fact("value", text)
    .fact("stored", stored)
    .next(format!("use {length}-character text: `{name}=eq.{stored}`; to ask for exactly this text, quote it: `{name}=eq.\"{text}\"`"))
}
