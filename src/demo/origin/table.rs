//! One read of one relation: filter, order, page, count, encode.

use std::cmp::Ordering;

use super::answer::{Answer, ApiError};
use super::grammar::{self, Logic, OrderTerm, Parameter, Selected};
use super::predicate::{Predicate, bind, check_names, find};
use super::request::ApiRequest;
use super::window::{Window, window};
use crate::catalog::ColumnType;
use crate::demo::relation::{DemoColumn, DemoRelation};
use crate::demo::value::{DemoValue, compare_values, row_json, type_name};

/// A parsed request, still without a relation.
pub(super) struct Query {
    filters: Vec<Logic>,
    /// Parameters without an operator, in order.
    pub(super) arguments: Vec<(String, String)>,
    order: Vec<OrderTerm>,
    select: Vec<Selected>,
    window: Window,
}

/// How the rows lie before any order is applied.
#[derive(Debug, Clone, Copy)]
pub(super) struct Serving {
    /// Rows of a page at most, silently.
    pub(super) page_cap: usize,
    /// Starts the rows at another place for every request, as a server without `ORDER BY` may.
    pub(super) rotation: Option<u64>,
}

/// Parses every parameter of a request.
pub(super) fn parse(request: &ApiRequest) -> Result<Query, ApiError> {
    let values = |name: &str| -> Vec<&str> {
        request.parameters.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str()).collect()
    };
    let (mut filters, mut arguments, mut order) = (Vec::new(), Vec::new(), Vec::new());
    for (key, value) in &request.parameters {
        match key.as_str() {
            "select" | "columns" | "on_conflict" | "limit" | "offset" => {}
            "order" => order = grammar::order(value)?,
            _ => match grammar::parameter(key, value)? {
                Parameter::Filter(logic) => filters.push(logic),
                Parameter::Plain { name, value } => arguments.push((name, value)),
            },
        }
    }
    let select = match values("select").first() {
        Some(first) => grammar::select(first)?,
        None => vec![Selected::All],
    };
    // The header counts on GET only.
    let range = request.header("range").filter(|_| request.method == "GET");
    let window = window(&values("limit"), &values("offset"), range)?;
    Ok(Query { filters, arguments, order, select, window })
}

/// Runs a query over a relation.
pub(super) fn run(
    relation: &DemoRelation,
    query: &Query,
    request: &ApiRequest,
    serving: Serving,
) -> Result<Answer, ApiError> {
    let (_, table) = relation.schema_and_table();
    let columns = &relation.columns;
    let shown = shown(&query.select, columns, table)?;
    query.filters.iter().try_for_each(|filter| check_names(filter, columns, table))?;
    let order = sort_keys(&query.order, columns, table)?;
    let filters =
        query.filters.iter().map(|filter| bind(filter, columns, table)).collect::<Result<Vec<_>, _>>()?;

    let mut rows: Vec<&Vec<DemoValue>> = relation.rows.iter().collect();
    if let Some(rotation) = serving.rotation
        && !rows.is_empty()
    {
        let by = usize::try_from(rotation % rows.len() as u64).unwrap_or(0);
        rows.rotate_left(by);
    }
    let filter = Predicate::All(filters);
    let mut kept = Vec::with_capacity(rows.len());
    for row in rows {
        if filter.evaluate(row)? == Some(true) {
            kept.push(row);
        }
    }
    let mut rows = kept;
    rows.sort_by(|left, right| compare_rows(left, right, &order));

    let total = rows.len() as u64;
    let counted = request.counts().then_some(total);
    if counted.is_some_and(|total| query.window.offset > total) {
        let mut error = ApiError::new(416, "PGRST103", "Requested range not satisfiable").details(format!(
            "An offset of {} was requested, but there are only {total} rows.",
            query.window.offset
        ));
        error.content_range = Some(format!("*/{total}"));
        return Err(error);
    }
    let offset = usize::try_from(query.window.offset).unwrap_or(usize::MAX);
    let limit = query.window.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let page: Vec<&Vec<DemoValue>> =
        rows.into_iter().skip(offset).take(limit.min(serving.page_cap)).collect();

    let mut answer = encode(&page, &shown, columns, request)?;
    answer.status = if counted.is_some_and(|total| (page.len() as u64) < total) { 206 } else { 200 };
    let range = match page.len() {
        0 => "*".to_owned(),
        length => format!("{offset}-{}", offset + length - 1),
    };
    let total = counted.map_or("*".to_owned(), |total| total.to_string());
    answer.set("content-range", &format!("{range}/{total}"));
    answer.rows = Some(page.len());
    Ok(answer)
}

/// Positions and keys of the selected columns.
fn shown(select: &[Selected], columns: &[DemoColumn], table: &str) -> Result<Vec<(usize, String)>, ApiError> {
    let mut shown = Vec::new();
    for item in select {
        match item {
            Selected::All => {
                shown.extend(columns.iter().enumerate().map(|(at, column)| (at, column.name.clone())))
            }
            Selected::Column { column, key } => shown.push((find(columns, column, table)?.0, key.clone())),
        }
    }
    Ok(shown)
}

struct SortKey {
    column: usize,
    descending: bool,
    nulls_first: bool,
    character: bool,
}

fn sort_keys(terms: &[OrderTerm], columns: &[DemoColumn], table: &str) -> Result<Vec<SortKey>, ApiError> {
    terms
        .iter()
        .map(|term| {
            let (position, column) = find(columns, &term.column, table)?;
            if column.column_type == ColumnType::Json {
                let message = format!(
                    "could not identify an ordering operator for type {}",
                    type_name(&column.column_type)
                );
                return Err(ApiError::new(404, "42883", message)
                    .hint("Use an explicit ordering operator or modify the query."));
            }
            Ok(SortKey {
                column: position,
                descending: term.descending,
                nulls_first: term.nulls_first,
                character: matches!(column.column_type, ColumnType::Character { .. }),
            })
        })
        .collect()
}

fn compare_rows(left: &[DemoValue], right: &[DemoValue], keys: &[SortKey]) -> Ordering {
    for key in keys {
        let (Some(left), Some(right)) = (left.get(key.column), right.get(key.column)) else { continue };
        let order = match (left.is_null(), right.is_null()) {
            (true, true) => Ordering::Equal,
            (true, false) if key.nulls_first => Ordering::Less,
            (true, false) => Ordering::Greater,
            (false, true) if key.nulls_first => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) if key.descending => compare_values(right, left, key.character),
            (false, false) => compare_values(left, right, key.character),
        };
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

fn encode(
    page: &[&Vec<DemoValue>],
    shown: &[(usize, String)],
    columns: &[DemoColumn],
    request: &ApiRequest,
) -> Result<Answer, ApiError> {
    let objects = page.iter().map(|row| {
        row_json(shown.iter().filter_map(|(position, key)| {
            Some((key.as_str(), &columns.get(*position)?.column_type, row.get(*position)?))
        }))
    });
    match request.media_type()? {
        MediaType::Json => {
            let body = format!("[{}]", objects.collect::<Vec<_>>().join(", \n "));
            Ok(Answer::new(200, "application/json; charset=utf-8", body))
        }
        MediaType::SingleObject if page.len() == 1 => {
            let body: String = objects.collect();
            Ok(Answer::new(200, "application/vnd.pgrst.object+json; charset=utf-8", body))
        }
        MediaType::SingleObject => {
            Err(ApiError::new(406, "PGRST116", "Cannot coerce the result to a single JSON object")
                .details(format!("The result contains {} rows", page.len())))
        }
    }
}

/// The forms a result can be asked in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MediaType {
    Json,
    SingleObject,
}
