//! `benthic_discover`: the smallest relevant relations, their columns and join paths.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::error::AppError;
use super::mirror::{Mirror, Serving};
use crate::catalog::{Catalog, Column, OrientedJoin, Relation, ranking::Match};
use crate::engine::{Refusal, RefusalCode, read_arguments};

/// Columns shown per relation unless all are asked for.
const SUMMARY_COLUMNS: usize = 12;
/// Join paths shown.
const MAX_JOIN_PATHS: usize = 8;
/// Relations shown at most.
const MAX_LIMIT: i64 = 8;
/// Relations shown when nothing is said.
const DEFAULT_LIMIT: i64 = 6;

/// Arguments of `benthic_discover`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiscoverArguments {
    /// What you are looking for, in plain words. Empty lists the relations by name.
    #[serde(default)]
    pub query: String,
    /// Only this dataset.
    pub dataset: Option<String>,
    /// Only this relation, `dataset.relation`.
    pub relation: Option<String>,
    /// Relations to return, 1 to 8 (default 6).
    pub limit: Option<i64>,
    /// `summary` (default): up to 12 columns each. `full`: one relation with every column.
    #[serde(default)]
    pub detail: Detail,
}

/// How much is said about each relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Detail {
    /// Up to 12 columns each.
    #[default]
    Summary,
    /// One relation with every column.
    Full,
}

impl Mirror {
    /// `benthic_discover` with its arguments as a caller sent them.
    pub fn discover(&self, arguments: Map<String, Value>) -> Result<Value, AppError> {
        let arguments: DiscoverArguments = read_arguments(arguments)?;
        let serving = self.serving()?;
        Ok(discover(&serving, &arguments, self.runtime.limits().max_argument_bytes)?)
    }
}

fn discover(serving: &Serving, arguments: &DiscoverArguments, max_bytes: usize) -> Result<Value, Refusal> {
    let catalog = &serving.snapshot.catalog;
    if arguments.query.len() > max_bytes {
        return Err(Refusal::new(
            RefusalCode::BadArgument,
            format!("`query` has {} bytes; at most {max_bytes} are taken.", arguments.query.len()),
        )
        .fact("argument", "query")
        .next("describe what you look for in a few words"));
    }
    let limit = arguments.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(Refusal::new(
            RefusalCode::BadArgument,
            format!("`limit` is {limit}; it goes from 1 to {MAX_LIMIT}."),
        )
        .fact("argument", "limit")
        .fact("minimum", 1)
        .fact("maximum", MAX_LIMIT)
        .next(format!("limit={DEFAULT_LIMIT}")));
    }
    let limit = if arguments.detail == Detail::Full { 1 } else { usize::try_from(limit).unwrap_or(1) };
    let (matches, total) = selected(serving, arguments)?;
    let shown: Vec<(&Relation, &Match)> = matches
        .iter()
        .filter_map(|found| catalog.relation(&found.source).map(|relation| (relation, found)))
        .take(limit)
        .collect();
    let columns = if arguments.detail == Detail::Full { usize::MAX } else { SUMMARY_COLUMNS };
    let relations: Vec<Value> =
        shown.iter().map(|(relation, found)| describe(serving, relation, found, columns)).collect();
    let mut warnings = catalog.warnings.clone();
    if relations.is_empty() {
        warnings.push("nothing in the signed catalogue matches these words; try other words, or leave `query` empty to list relations by name".to_owned());
    }
    Ok(json!({
        "query": arguments.query,
        "relations": relations,
        "join_paths": join_paths(catalog, &shown),
        "total_matches": total,
        "more_available": total > shown.len(),
        "warnings": warnings,
    }))
}

/// The relations to show, best first, and how many there are.
fn selected(serving: &Serving, arguments: &DiscoverArguments) -> Result<(Vec<Match>, usize), Refusal> {
    let catalog = &serving.snapshot.catalog;
    let named =
        |relation: &Relation| Match { source: relation.source(), score: 0.0, match_terms: Vec::new() };
    if let Some(name) = trimmed(&arguments.dataset)
        && catalog.dataset(name).is_none()
    {
        let names: Vec<&str> = catalog.datasets.iter().map(|dataset| dataset.name.as_str()).collect();
        return Err(Refusal::new(
            RefusalCode::UnknownDataset,
            format!("`{name}` is not a dataset; there are {}.", names.join(", ")),
        )
        .fact("dataset", name)
        .fact("datasets", names.clone())
        .fact("nearest", [nearest(name, &names)].to_vec())
        .next(format!("benthic_discover(dataset=\"{}\")", nearest(name, &names))));
    }
    if let Some(name) = trimmed(&arguments.relation) {
        let found = one_relation(catalog, name, trimmed(&arguments.dataset))?;
        return Ok((vec![named(found)], 1));
    }
    let within = |source: &str| {
        trimmed(&arguments.dataset)
            .is_none_or(|dataset| source.split_once('.').is_some_and(|(owner, _)| owner == dataset))
    };
    if arguments.query.trim().is_empty() {
        let mut all: Vec<Match> =
            catalog.relations().filter(|relation| within(&relation.source())).map(named).collect();
        all.sort_by(|a, b| a.source.cmp(&b.source));
        let total = all.len();
        return Ok((all, total));
    }
    let ranked = serving.ranking.rank(&arguments.query, usize::MAX);
    let inside: Vec<Match> = ranked.matches.into_iter().filter(|found| within(&found.source)).collect();
    let total = match trimmed(&arguments.dataset) {
        Some(_) => inside.iter().filter(|found| !found.match_terms.is_empty()).count(),
        None => ranked.total_matches,
    };
    Ok((inside, total))
}

fn one_relation<'a>(
    catalog: &'a Catalog,
    name: &str,
    dataset: Option<&str>,
) -> Result<&'a Relation, Refusal> {
    let qualified = match dataset {
        Some(dataset) if catalog.relation(name).is_none() => format!("{dataset}.{name}"),
        _ => name.to_owned(),
    };
    if let Some(relation) = catalog.relation(&qualified) {
        return match dataset {
            Some(dataset) if relation.dataset != dataset => Err(Refusal::new(
                RefusalCode::BadArgument,
                format!("`relation` names dataset `{}` and `dataset` is `{dataset}`.", relation.dataset),
            )
            .fact("argument", "dataset")
            .next(format!("drop `dataset`, or dataset=\"{}\"", relation.dataset))),
            _ => Ok(relation),
        };
    }
    let owners: Vec<&Relation> = catalog.relations().filter(|relation| relation.name == name).collect();
    if let ([only], None) = (owners.as_slice(), dataset) {
        return Ok(only);
    }
    let near = catalog.nearest_sources(&qualified, 3);
    let step = match near.first() {
        Some(first) => format!("benthic_discover(relation=\"{first}\")"),
        None => "leave `relation` empty and describe it in `query` of benthic_discover".to_owned(),
    };
    Err(Refusal::new(RefusalCode::UnknownRelation, format!("`{qualified}` is not a signed relation."))
        .fact("source", qualified)
        .fact("nearest", near)
        .next(step))
}

fn trimmed(text: &Option<String>) -> Option<&str> {
    text.as_deref().map(str::trim).filter(|text| !text.is_empty())
}

fn nearest<'a>(name: &str, names: &[&'a str]) -> &'a str {
    names
        .iter()
        .max_by(|a, b| strsim::jaro_winkler(name, a).total_cmp(&strsim::jaro_winkler(name, b)))
        .copied()
        .unwrap_or("")
}

/// One relation; null members are left out.
fn describe(serving: &Serving, relation: &Relation, found: &Match, max_columns: usize) -> Value {
    let mut value = Map::new();
    let mut put = |name: &str, member: Value| {
        if !member.is_null() {
            value.insert(name.to_owned(), member);
        }
    };
    put("source", relation.source().into());
    put("dataset", relation.dataset.as_str().into());
    put("relation", relation.name.as_str().into());
    put("description", relation.description.as_deref().map_or(Value::Null, Value::from));
    put("relation_type", relation.relation_type.as_str().into());
    put("provenance", relation.provenance.as_deref().map_or(Value::Null, Value::from));
    if !relation.queryable {
        put("queryable", false.into());
    }
    put("primary_key", relation.primary_key.clone().into());
    put("row_count_estimate", relation.row_count_estimate.map_or(Value::Null, Value::from));
    put("columns", relation.columns.iter().take(max_columns).map(describe_column).collect());
    put("columns_truncated", (relation.columns.len() > max_columns).into());
    put("match_terms", found.match_terms.clone().into());
    put("mirrored", mirrored(serving, relation));
    Value::Object(value)
}

fn describe_column(column: &Column) -> Value {
    let mut value = Map::new();
    let mut put = |name: &str, member: Option<Value>| {
        if let Some(member) = member {
            value.insert(name.to_owned(), member);
        }
    };
    put("name", Some(column.name.as_str().into()));
    put("type", Some(column.declared_type.as_str().into()));
    put("native_type", column.native_type.as_deref().map(Value::from));
    put("nullable", Some(column.nullable.into()));
    put("description", column.description.as_deref().map(Value::from));
    put("srid", column.srid.map(Value::from));
    put("unit", column.unit.as_deref().map(Value::from));
    Value::Object(value)
}

/// What the snapshot holds of a relation; null if nothing.
fn mirrored(serving: &Serving, relation: &Relation) -> Value {
    serving
        .snapshot
        .document
        .relation(&relation.dataset, &relation.name)
        .and_then(|entry| entry.capture())
        .map_or(Value::Null, |capture| {
            json!({
                "rows": capture.rows,
                "captured_at": capture.captured_at.end.to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
                "scope": "full",
            })
        })
}

/// Signed paths from the shown relations, those between two shown ones first.
fn join_paths(catalog: &Catalog, shown: &[(&Relation, &Match)]) -> Vec<Value> {
    let is_shown = |source: &str| shown.iter().any(|(relation, _)| relation.source() == source);
    let mut paths: Vec<(bool, OrientedJoin<'_>)> = Vec::new();
    for (relation, _) in shown {
        for join in catalog.neighbours(&relation.source()) {
            if !paths.iter().any(|(_, known)| std::ptr::eq(known.path, join.path)) {
                paths.push((!is_shown(&join.right.source()), join));
            }
        }
    }
    paths.sort_by_key(|(outside, _)| *outside);
    paths
        .into_iter()
        .take(MAX_JOIN_PATHS)
        .map(|(_, join)| {
            let mut value = json!({
                "from_endpoint": format!("{}.{}", join.left.source(), join.left.column),
                "to_endpoint": format!("{}.{}", join.right.source(), join.right.column),
                "join_type": join.path.join_type.as_str(),
                "reliability": join.path.reliability.as_str(),
            });
            if let (Some(object), Some(notes)) = (value.as_object_mut(), &join.path.notes) {
                object.insert("notes".to_owned(), notes.as_str().into());
            }
            value
        })
        .collect()
}
