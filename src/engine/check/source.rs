//! Which relation a source names.

use serde_json::Value;

use crate::catalog::{Catalog, Relation};
use crate::engine::refusal::{Refusal, RefusalCode};

/// The queryable relation a qualified source names.
pub(super) fn resolve_source<'a>(
    catalog: &'a Catalog,
    source: &str,
    argument: &str,
) -> Result<&'a Relation, Refusal> {
    let source = source.trim();
    if source.is_empty() {
        return Err(Refusal::new(RefusalCode::BadArgument, format!("`{argument}` is missing."))
            .fact("argument", argument)
            .next(format!("call benthic_discover and pass a `source` it returns as `{argument}`")));
    }
    let relation = match source.split_once('.') {
        None => return Err(unqualified(catalog, source, argument)),
        Some((dataset_name, relation_name)) => {
            let Some(dataset) = catalog.dataset(dataset_name) else {
                return Err(unknown_dataset(catalog, source, dataset_name));
            };
            match dataset.relation(relation_name) {
                Some(relation) => relation,
                None => return Err(unknown_relation(catalog, source)),
            }
        }
    };
    if relation.queryable { Ok(relation) } else { Err(not_queryable(catalog, relation)) }
}

fn unqualified(catalog: &Catalog, source: &str, argument: &str) -> Refusal {
    let owners: Vec<String> =
        catalog.relations().filter(|r| r.name == source).map(Relation::source).collect();
    let refusal = Refusal::new(
        RefusalCode::UnknownRelation,
        format!("`{source}` isn't qualified; a source is `dataset.relation`."),
    )
    .fact("source", source);
    match owners.first() {
        Some(first) => refusal
            .fact("nearest", owners.clone())
            .next(format!("{argument}={first}; benthic_discover(relation=\"{first}\") shows its columns")),
        None => with_nearest(refusal, catalog, source),
    }
}

fn unknown_dataset(catalog: &Catalog, source: &str, dataset: &str) -> Refusal {
    let names: Vec<Value> = catalog.datasets.iter().map(|dataset| dataset.name.as_str().into()).collect();
    let refusal = Refusal::new(
        RefusalCode::UnknownDataset,
        format!("`{dataset}` is not a dataset of `{}`.", catalog.collection),
    )
    .fact("dataset", dataset)
    .fact("datasets", names);
    with_nearest(refusal, catalog, source)
}

fn unknown_relation(catalog: &Catalog, source: &str) -> Refusal {
    let refusal = Refusal::new(RefusalCode::UnknownRelation, format!("`{source}` is not a signed relation."))
        .fact("source", source);
    with_nearest(refusal, catalog, source)
}

fn with_nearest(refusal: Refusal, catalog: &Catalog, source: &str) -> Refusal {
    let nearest = catalog.nearest_sources(source, 3);
    let step = match nearest.first() {
        Some(first) => format!("try `{first}`, or benthic_discover(query=\"{}\")", words_of(source)),
        None => format!("benthic_discover(query=\"{}\")", words_of(source)),
    };
    refusal.fact("nearest", nearest).next(step)
}

fn words_of(source: &str) -> String {
    let words: String = source.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).take(80).collect();
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn not_queryable(catalog: &Catalog, relation: &Relation) -> Refusal {
    let relatives: Vec<String> = catalog
        .dataset(&relation.dataset)
        .map(|dataset| {
            dataset.relations.iter().filter(|r| r.queryable).map(Relation::source).take(6).collect()
        })
        .unwrap_or_default();
    Refusal::new(
        RefusalCode::NotQueryable,
        format!(
            "`{}` is published as lineage only; its rows can't be read. Queryable in the same dataset: {}.",
            relation.source(),
            relatives.join(", ")
        ),
    )
    .fact("source", relation.source())
    .fact("queryable_relatives", relatives)
    .terminal()
}
