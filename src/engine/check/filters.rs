//! Resolving filters: column, operator, typed values.

use super::columns::{malformed, resolve_columns};
use super::{Predicate, Test};
use crate::catalog::{Column, ColumnType, Relation};
use crate::config::Limits;
use crate::engine::parse::{Comparison, FILTER_OPERATORS, FilterExpression, FilterTest, parse_filter};
use crate::engine::refusal::{Refusal, RefusalCode};
use crate::engine::value::{Literal, RawValue, type_value};

/// Reads and types every filter of one relation.
pub(super) fn check_filters(
    relation: &Relation,
    filters: &[String],
    argument: &str,
    limits: &Limits,
) -> Result<Vec<Predicate>, Refusal> {
    super::columns::check_size(limits, argument, filters, limits.max_expressions)?;
    let parsed = filters
        .iter()
        .map(|text| {
            parse_filter(text)
                .map(|filter| (text.as_str(), filter))
                .map_err(|problem| malformed(RefusalCode::BadFilter, text, problem))
        })
        .collect::<Result<Vec<_>, _>>()?;
    let names: Vec<String> = parsed.iter().map(|(_, filter)| filter.column.clone()).collect();
    resolve_columns(relation, &names, argument)?;
    parsed.into_iter().map(|(text, filter)| check_filter(relation, text, filter, limits)).collect()
}

fn check_filter(
    relation: &Relation,
    text: &str,
    filter: FilterExpression,
    limits: &Limits,
) -> Result<Predicate, Refusal> {
    let Some((position, column)) = relation.column(&filter.column) else {
        return Err(super::columns::unknown_columns(relation, &[&filter.column], "where"));
    };
    let bare_numbers = bare_numbers(column, &filter.test);
    let test = match filter.test {
        FilterTest::IsNull => Test::IsNull,
        FilterTest::IsNotNull => Test::IsNotNull,
        FilterTest::Compare(comparison, value) => check_comparison(column, text, comparison, &value)?,
        FilterTest::In(values) => check_list(column, text, &values, limits)?,
        FilterTest::Like { pattern, ignore_case } => check_like(column, text, &pattern, ignore_case)?,
    };
    Ok(Predicate { column: position, test, bare_numbers })
}

/// The numbers a text column is asked to equal, as far as they were written without quotes.
fn bare_numbers(column: &Column, test: &FilterTest) -> Vec<String> {
    let values = match test {
        FilterTest::Compare(Comparison::Equal, value) => std::slice::from_ref(value),
        FilterTest::In(values) => values.as_slice(),
        _ => &[],
    };
    values
        .iter()
        .filter(|value| column.column_type.is_text() && !value.quoted && digits_of(&value.text).is_some())
        .map(|value| value.text.clone())
        .collect()
}

/// The digits of a number as people write identifiers: digits with hyphens or blanks between them.
pub(crate) fn digits_of(text: &str) -> Option<String> {
    let is_separator = |c: char| c == '-' || c == ' ';
    let ends_in_digits = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let well_formed = ends_in_digits(text.chars().next())
        && ends_in_digits(text.chars().next_back())
        && text.chars().all(|c| c.is_ascii_digit() || is_separator(c));
    well_formed.then(|| text.chars().filter(|c| !is_separator(*c)).collect())
}

/// Comparison of one column with one value.
fn check_comparison(
    column: &Column,
    text: &str,
    comparison: Comparison,
    value: &RawValue,
) -> Result<Test, Refusal> {
    require_comparable(column, text)?;
    Ok(Test::Compare(comparison, typed(column, value)?))
}

fn check_list(column: &Column, text: &str, values: &[RawValue], limits: &Limits) -> Result<Test, Refusal> {
    require_comparable(column, text)?;
    if values.is_empty() {
        return Err(bad_value(column, "[]", "an empty list matches nothing", "a list of at least one value"));
    }
    if values.len() > limits.max_in_values {
        return Err(Refusal::new(
            RefusalCode::TooMany,
            format!(
                "the list for `{}` has {} values; at most {} are taken.",
                column.name,
                values.len(),
                limits.max_in_values
            ),
        )
        .fact("column", column.name.as_str())
        .fact("given", values.len())
        .fact("limit", limits.max_in_values)
        .next("send the list in several calls"));
    }
    let literals = values.iter().map(|value| typed(column, value)).collect::<Result<Vec<Literal>, _>>()?;
    Ok(Test::In(literals))
}

fn check_like(column: &Column, text: &str, pattern: &str, ignore_case: bool) -> Result<Test, Refusal> {
    if !column.column_type.is_text() {
        return Err(Refusal::new(
            RefusalCode::BadFilter,
            format!("`like` needs a text column; `{}` is {}.", column.name, column.column_type.label()),
        )
        .fact("expression", text)
        .fact("column", column.name.as_str())
        .fact("type", column.column_type.label())
        .fact("operators", operators_of(&column.column_type))
        .next(format!("compare it: `{}=eq.value`", column.name)));
    }
    sql_pattern(pattern).map(|pattern| Test::Like { pattern, ignore_case }).ok_or_else(|| {
        bad_value(column, pattern, "the pattern ends in a lone backslash", "`\\\\` for a backslash")
    })
}

/// `*` works like `%`; a pattern may not end in an escape that escapes nothing.
pub(super) fn sql_pattern(pattern: &str) -> Option<String> {
    let pattern = pattern.replace('*', "%");
    let trailing = pattern.bytes().rev().take_while(|byte| *byte == b'\\').count();
    (trailing % 2 == 0).then_some(pattern)
}

/// Types PostgreSQL can't compare, or whose text doesn't decide equality, take null tests only.
fn takes_only_null_tests(column_type: &ColumnType) -> bool {
    matches!(
        column_type,
        ColumnType::Json
            | ColumnType::Jsonb
            | ColumnType::Binary
            | ColumnType::Array(_)
            | ColumnType::Geometry { .. }
            | ColumnType::Opaque
    )
}

/// The operators a column of this type takes.
fn operators_of(column_type: &ColumnType) -> Vec<&'static str> {
    let is_null_test = |operator: &&str| operator.ends_with("is.null");
    let is_pattern = |operator: &&str| operator.ends_with("like");
    FILTER_OPERATORS
        .into_iter()
        .filter(|operator| is_null_test(operator) || !takes_only_null_tests(column_type))
        .filter(|operator| column_type.is_text() || !is_pattern(operator))
        .collect()
}

fn require_comparable(column: &Column, text: &str) -> Result<(), Refusal> {
    if takes_only_null_tests(&column.column_type) {
        return Err(Refusal::new(
            RefusalCode::BadFilter,
            format!("`{}` is {}; only null tests are exact on it.", column.name, column.column_type.label()),
        )
        .fact("expression", text)
        .fact("column", column.name.as_str())
        .fact("type", column.column_type.label())
        .fact("operators", operators_of(&column.column_type))
        .next(format!("`{0}=is.null` or `{0}=not.is.null`", column.name)));
    }
    Ok(())
}

fn typed(column: &Column, value: &RawValue) -> Result<Literal, Refusal> {
    if !value.quoted && value.text.eq_ignore_ascii_case("null") {
        return Err(bad_value(
            column,
            &value.text,
            "null equals nothing",
            "is.null for missing values, or in.[\"null\"] for the text",
        ));
    }
    type_value(&column.column_type, value)
        .map_err(|problem| bad_value(column, &value.text, &problem.why, problem.accepted))
}

/// The refusal for a value that doesn't fit its column.
fn bad_value(column: &Column, value: &str, why: &str, accepted: &str) -> Refusal {
    let shown: String = value.chars().take(80).collect();
    Refusal::new(
        RefusalCode::BadValue,
        format!("`{shown}` for `{}` ({}): {why}.", column.name, column.column_type.label()),
    )
    .fact("column", column.name.as_str())
    .fact("type", column.column_type.label())
    .fact("value", shown)
    .next(format!("write {accepted}"))
}
