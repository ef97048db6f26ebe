//! Checking a `benthic_join` request: the signed path, its context, both sides' filters and propagation.

use serde_json::{Value, json};

use super::columns::{check_length, check_size, resolve_column, resolve_columns, unknown_columns};
use super::filters::check_filters;
use super::source::resolve_source;
use super::{Predicate, Test};
use crate::catalog::{Catalog, Column, JoinType, OrientedJoin, Relation, Reliability};
use crate::config::Limits;
use crate::engine::parse::Comparison;
use crate::engine::plan::{strip_zeros, whole_double};
use crate::engine::refusal::{Refusal, RefusalCode};
use crate::engine::request::{JoinArguments, limit_of};
use crate::engine::value::Literal;

/// A join that may be answered, as far as the catalogue decides.
#[derive(Debug, Clone)]
pub struct CheckedJoin<'a> {
    /// The left side.
    pub left: JoinSide<'a>,
    /// The right side.
    pub right: JoinSide<'a>,
    /// The key pair first, then the context pairs.
    pub keys: Vec<KeyPair>,
    /// Inner or left.
    pub mode: JoinMode,
    /// Rows to return.
    pub limit: u64,
    /// The signed path, described for the answer.
    pub path: Value,
    /// What the checks want said beside the answer.
    pub warnings: Vec<String>,
}

/// One side of a join.
#[derive(Debug, Clone)]
pub struct JoinSide<'a> {
    /// The relation.
    pub relation: &'a Relation,
    /// Its own filters and those propagated from the other side.
    pub predicates: Vec<Predicate>,
    /// Columns to return, by position.
    pub columns: Vec<usize>,
}

/// Which left rows survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinMode {
    /// Those with a match.
    Inner,
    /// All.
    Left,
}

/// Two columns that must be equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyPair {
    /// Left column position.
    pub left: usize,
    /// Right column position.
    pub right: usize,
    /// How they compare.
    pub comparison: KeyComparison,
}

/// How two key columns compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyComparison {
    /// As text (trailing blanks of `character(n)` ignored).
    Text,
    /// As exact numbers.
    Number,
    /// As values of one type.
    SameType,
    /// Text on one side, a number on the other: without leading zeros.
    ZeroStripped,
}

/// Resolves a join against the catalogue.
pub fn check_join<'a>(
    catalog: &'a Catalog,
    arguments: &JoinArguments,
    limits: &Limits,
) -> Result<CheckedJoin<'a>, Refusal> {
    for (name, text) in [("left_source", &arguments.left_source), ("right_source", &arguments.right_source)] {
        check_length(limits, name, text)?;
    }
    let left = resolve_source(catalog, &arguments.left_source, "left_source")?;
    let right = resolve_source(catalog, &arguments.right_source, "right_source")?;
    let mode = match arguments.mode.as_deref().map(|mode| mode.trim().to_ascii_lowercase()).as_deref() {
        None | Some("inner") => JoinMode::Inner,
        Some("left") => JoinMode::Left,
        Some(other) => {
            return Err(Refusal::new(
                RefusalCode::BadArgument,
                format!("`mode` is `{other}`; it is inner or left."),
            )
            .fact("argument", "mode")
            .fact("accepted", ["inner", "left"].to_vec())
            .next("mode=\"inner\" or mode=\"left\""));
        }
    };
    let limit = limit_of(arguments.limit, limits.default_query_limit, limits.max_rows)?;
    check_size(limits, "left_select", &arguments.left_select, limits.max_columns)?;
    check_size(limits, "right_select", &arguments.right_select, limits.max_columns)?;
    check_size(limits, "context_conditions", &arguments.context_conditions, limits.max_context_conditions)?;
    let path = resolve_path(catalog, left, right, arguments)?;
    let left_key = resolve_column(left, &path.left.column, "left_column")?;
    let right_key = resolve_column(right, &path.right.column, "right_column")?;
    let mut warnings = Vec::new();
    let mut keys = vec![key_pair(left, right, left_key, right_key, &mut warnings)?];
    for condition in &arguments.context_conditions {
        let (left_column, right_column) = parse_condition(left, right, condition)?;
        let pair = key_pair(left, right, left_column, right_column, &mut warnings)?;
        if !keys.contains(&pair) {
            keys.push(pair);
        }
    }
    if path.path.reliability == Reliability::Partial && keys.len() == 1 {
        return Err(partial_needs_context(left, right, &path));
    }
    warnings.extend(reliability_warning(&path));
    let left_own = check_filters(left, &arguments.left_where, "left_where", limits)?;
    let right_own = check_filters(right, &arguments.right_where, "right_where", limits)?;
    let mut left_side =
        join_side(left, left_own, &arguments.left_select, "left_select", keys.iter().map(|k| k.left))?;
    let mut right_side =
        join_side(right, right_own, &arguments.right_select, "right_select", keys.iter().map(|k| k.right))?;
    let to_right =
        propagated(&left_side, keys[0].left, &right.columns[right_key], right_key, keys[0].comparison);
    let to_left = match mode {
        JoinMode::Inner => {
            propagated(&right_side, keys[0].right, &left.columns[left_key], left_key, keys[0].comparison)
        }
        JoinMode::Left => Vec::new(),
    };
    right_side.predicates.extend(to_right);
    left_side.predicates.extend(to_left);
    let described = describe(&path);
    Ok(CheckedJoin { left: left_side, right: right_side, keys, mode, limit, path: described, warnings })
}

fn join_side<'a>(
    relation: &'a Relation,
    predicates: Vec<Predicate>,
    select: &[String],
    argument: &str,
    keys: impl Iterator<Item = usize>,
) -> Result<JoinSide<'a>, Refusal> {
    let mut columns = resolve_columns(relation, select, argument)?;
    if columns.is_empty() {
        columns.extend(0..relation.columns.len().min(3));
    }
    for column in keys.chain(predicates.iter().map(|predicate| predicate.column)) {
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    Ok(JoinSide { relation, predicates, columns })
}

/// The signed path the request names, or the only one it can mean.
fn resolve_path<'a>(
    catalog: &'a Catalog,
    left: &Relation,
    right: &Relation,
    arguments: &JoinArguments,
) -> Result<OrientedJoin<'a>, Refusal> {
    let (left_source, right_source) = (left.source(), right.source());
    let paths = catalog.joins_between(&left_source, &right_source);
    let candidates: Vec<Value> = paths.iter().map(describe).collect();
    let named = match (trimmed(&arguments.left_column), trimmed(&arguments.right_column)) {
        (Some(left_column), Some(right_column)) => Some((left_column, right_column)),
        (None, None) => None,
        (given, _) => {
            let (present, missing) = if given.is_some() {
                ("left_column", "right_column")
            } else {
                ("right_column", "left_column")
            };
            return Err(Refusal::new(
                RefusalCode::BadArgument,
                format!("`{present}` is given without `{missing}`; give both or neither."),
            )
            .fact("argument", missing)
            .fact("signed_paths", candidates)
            .next(format!("add `{missing}`, or drop `{present}` to use the signed path")));
        }
    };
    if paths.is_empty() {
        return Err(unsigned(catalog, &left_source, &right_source));
    }
    let path = match named {
        Some((left_column, right_column)) => {
            let unknown_left = left.column(left_column).is_none();
            if unknown_left || right.column(right_column).is_none() {
                let (relation, name, argument) = if unknown_left {
                    (left, left_column, "left_column")
                } else {
                    (right, right_column, "right_column")
                };
                return Err(unknown_columns(relation, &[name], argument));
            }
            paths
                .into_iter()
                .find(|path| path.left.column == left_column && path.right.column == right_column)
                .ok_or_else(|| {
                    Refusal::new(
                        RefusalCode::UnsignedJoin,
                        format!("joining {left_source}.{left_column} to {right_source}.{right_column} isn't signed."),
                    )
                    .fact("signed_paths", candidates.clone())
                    .next(columns_step(&candidates))
                })?
        }
        None => {
            if paths.iter().all(|path| path.path.join_type == JoinType::Spatial) {
                return Err(spatial(&paths, &candidates));
            }
            let mut iter = paths.into_iter();
            match (iter.next(), iter.next()) {
                (Some(only), None)
                    if only.path.join_type == JoinType::Identifier
                        && only.path.reliability == Reliability::Reliable =>
                {
                    only
                }
                _ => {
                    return Err(Refusal::new(
                        RefusalCode::AmbiguousJoin,
                        format!(
                            "{left_source} and {right_source} don't have exactly one reliable identifier path; name the columns."
                        ),
                    )
                    .fact("candidates", candidates.clone())
                    .next(columns_step(&candidates)));
                }
            }
        }
    };
    if path.path.join_type == JoinType::Spatial {
        return Err(spatial(&[path], &candidates));
    }
    Ok(path)
}

fn trimmed(text: &Option<String>) -> Option<&str> {
    text.as_deref().map(str::trim).filter(|text| !text.is_empty())
}

/// The columns to name: those of the first path that can be joined here, the most reliable kind first.
fn columns_step(candidates: &[Value]) -> String {
    let is = |path: &Value, name: &str, value: &str| path.get(name).and_then(Value::as_str) == Some(value);
    let candidate = candidates.iter().min_by_key(|path| {
        (
            is(path, "join_type", "spatial"),
            !is(path, "join_type", "identifier"),
            !is(path, "reliability", "reliable"),
        )
    });
    let member =
        |name: &str| candidate.and_then(|c| c.get(name)).and_then(Value::as_str).unwrap_or("…").to_owned();
    format!("left_column=\"{}\", right_column=\"{}\"", member("left_column"), member("right_column"))
}

fn describe(path: &OrientedJoin<'_>) -> Value {
    let mut value = json!({
        "left_source": path.left.source(),
        "left_column": path.left.column,
        "right_source": path.right.source(),
        "right_column": path.right.column,
        "join_type": path.path.join_type.as_str(),
        "reliability": path.path.reliability.as_str(),
    });
    if let (Some(object), Some(notes)) = (value.as_object_mut(), &path.path.notes) {
        object.insert("notes".to_owned(), notes.as_str().into());
    }
    value
}

fn unsigned(catalog: &Catalog, left: &str, right: &str) -> Refusal {
    let neighbours: Vec<Value> = catalog.neighbours(left).iter().map(describe).collect();
    let step = match neighbours.first().and_then(|path| path.get("right_source")).and_then(Value::as_str) {
        Some(neighbour) => format!("{left} is signed to {neighbour}; join along a signed path"),
        None => format!("no join from {left} is signed; query it on its own"),
    };
    Refusal::new(RefusalCode::UnsignedJoin, format!("no join between {left} and {right} is signed."))
        .fact("left_source", left)
        .fact("right_source", right)
        .fact("signed_neighbours", neighbours)
        .next(step)
}

fn spatial(paths: &[OrientedJoin<'_>], candidates: &[Value]) -> Refusal {
    let districts = paths.iter().any(|path| {
        path.left.relation == "congressional_districts" || path.right.relation == "congressional_districts"
    });
    let operation = if districts { "find_district" } else { "nonprofits_nearby" };
    Refusal::new(
        RefusalCode::SpatialJoin,
        format!("this path is spatial; it is served by benthic_rpc(operation=\"{operation}\"), one point at a time."),
    )
    .fact("operation", operation)
    .fact("signed_paths", candidates.to_vec())
    .next(match operation {
        "find_district" => "benthic_rpc(operation=\"find_district\", lat=…, lon=…) with the row's coordinates",
        _ => "benthic_rpc(operation=\"nonprofits_nearby\", lat=…, lon=…, radius_meters=…)",
    })
}

fn partial_needs_context(left: &Relation, right: &Relation, path: &OrientedJoin<'_>) -> Refusal {
    let shared: Vec<&str> = left
        .columns
        .iter()
        .map(|column| column.name.as_str())
        .filter(|name| right.column(name).is_some() && *name != path.left.column)
        .collect();
    let step = match shared.first() {
        Some(name) => format!("context_conditions=[\"{name}={name}\"]"),
        None => "context_conditions=[\"left_col=right_col\"] with the columns the note names".to_owned(),
    };
    let refusal = Refusal::new(
        RefusalCode::PartialJoinNeedsContext,
        format!(
            "{} to {} is a partial path: on {} alone it matches rows that don't belong together.",
            left.source(),
            right.source(),
            path.left.column
        ),
    )
    .fact("path", describe(path))
    .fact("shared_columns", shared.clone());
    match &path.path.notes {
        Some(notes) => refusal.fact("note", notes.as_str()),
        None => refusal,
    }
    .next(step)
}

fn reliability_warning(path: &OrientedJoin<'_>) -> Option<String> {
    let named = format!(
        "{}.{} = {}.{}",
        path.left.source(),
        path.left.column,
        path.right.source(),
        path.right.column
    );
    match (path.path.join_type, path.path.reliability) {
        (JoinType::Heuristic, _) | (_, Reliability::Heuristic) => Some(format!(
            "{named} is a heuristic path: equal values are not entity matches and need manual review"
        )),
        (_, Reliability::Partial) => Some(format!(
            "{named} is a partial path: correct where present, incomplete; the result is provisional"
        )),
        (_, Reliability::Reliable) => None,
    }
}

fn parse_condition(left: &Relation, right: &Relation, condition: &str) -> Result<(usize, usize), Refusal> {
    let Some((left_name, right_name)) = condition.split_once('=') else {
        return Err(Refusal::new(
            RefusalCode::BadContext,
            format!("`{condition}` isn't `left_col=right_col`."),
        )
        .fact("expression", condition)
        .fact("form", "left_col=right_col")
        .next(format!("write `{0}={0}`", condition.trim())));
    };
    let left_column = resolve_column(left, left_name.trim(), "context_conditions")?;
    let right_column = resolve_column(right, right_name.trim(), "context_conditions")?;
    Ok((left_column, right_column))
}

fn key_pair(
    left: &Relation,
    right: &Relation,
    left_column: usize,
    right_column: usize,
    warnings: &mut Vec<String>,
) -> Result<KeyPair, Refusal> {
    let (a, b) = (&left.columns[left_column], &right.columns[right_column]);
    let (left_type, right_type) = (&a.column_type, &b.column_type);
    let comparison = if left_type.is_text() && right_type.is_text() {
        KeyComparison::Text
    } else if left_type.is_numeric() && right_type.is_numeric() {
        KeyComparison::Number
    } else if left_type == right_type && left_type.is_orderable() {
        KeyComparison::SameType
    } else if (left_type.is_text() && right_type.is_numeric())
        || (left_type.is_numeric() && right_type.is_text())
    {
        warnings.push(format!(
            "{}.{} is {} and {}.{} is {}; they are compared without leading zeros, and text that isn't a plain integer never matches",
            left.source(), a.name, left_type.label(), right.source(), b.name, right_type.label()
        ));
        KeyComparison::ZeroStripped
    } else {
        return Err(Refusal::new(
            RefusalCode::BadContext,
            format!(
                "`{}` ({}) and `{}` ({}) can't be compared.",
                a.name,
                left_type.label(),
                b.name,
                right_type.label()
            ),
        )
        .fact("expression", format!("{}={}", a.name, b.name))
        .fact("form", "left_col=right_col")
        .fact("left_type", left_type.label())
        .fact("right_type", right_type.label())
        .next("compare columns of one type"));
    };
    Ok(KeyPair { left: left_column, right: right_column, comparison })
}

/// Filters on one side's key, restated for the other side's key. Null tests and patterns are never propagated.
fn propagated(
    from: &JoinSide<'_>,
    from_key: usize,
    to_column: &Column,
    to_key: usize,
    comparison: KeyComparison,
) -> Vec<Predicate> {
    let from_type = &from.relation.columns[from_key].column_type;
    let same_type = *from_type == to_column.column_type;
    from.predicates
        .iter()
        .filter(|predicate| predicate.column == from_key)
        .filter_map(|predicate| {
            let test = match (comparison, &predicate.test) {
                (KeyComparison::Text, Test::Compare(..) | Test::In(_)) => predicate.test.clone(),
                (KeyComparison::Number | KeyComparison::SameType, Test::Compare(..) | Test::In(_))
                    if same_type =>
                {
                    predicate.test.clone()
                }
                (KeyComparison::ZeroStripped, Test::Compare(Comparison::Equal, literal)) => {
                    Test::ZeroStripped(stripped(std::slice::from_ref(literal)))
                }
                (KeyComparison::ZeroStripped, Test::In(literals)) => Test::ZeroStripped(stripped(literals)),
                _ => return None,
            };
            Some(Predicate { column: to_key, test, bare_numbers: Vec::new() })
        })
        .collect()
}

fn stripped(literals: &[Literal]) -> Vec<String> {
    literals
        .iter()
        .filter_map(|literal| match literal {
            Literal::Text(text) => strip_zeros(text),
            Literal::Integer(number) => strip_zeros(&number.to_string()),
            Literal::Decimal(number) => number.to_whole().and_then(|whole| strip_zeros(&whole)),
            Literal::Double(number) => whole_double(*number),
            Literal::Real(number) => whole_double(f64::from(*number)),
            _ => None,
        })
        .collect()
}
