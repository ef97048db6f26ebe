//! Small catalogues made by hand for unit tests.

use super::column_type::ColumnType;
use super::model::{Catalog, Column, Dataset, JoinEnd, JoinPath, JoinType, Relation, Reliability};

/// A readable relation of the dataset with text columns.
pub(crate) fn relation(dataset: &str, name: &str, columns: &[&str]) -> Relation {
    let column = |name: &&str| Column {
        name: (*name).to_owned(),
        declared_type: "string".to_owned(),
        native_type: None,
        column_type: ColumnType::Text,
        nullable: true,
        description: None,
        srid: None,
        unit: None,
    };
    Relation {
        dataset: dataset.to_owned(),
        name: name.to_owned(),
        relation_type: "table".to_owned(),
        provenance: None,
        queryable: true,
        description: None,
        primary_key: Vec::new(),
        row_count_estimate: None,
        columns: columns.iter().map(column).collect(),
    }
}

/// A catalogue of these relations, with join paths from (`dataset.relation`, column) to the same.
pub(super) fn catalog(relations: Vec<Relation>, joins: &[[(&str, &str); 2]]) -> Catalog {
    let mut datasets: Vec<Dataset> = Vec::new();
    for relation in relations {
        if let Some(dataset) = datasets.iter_mut().find(|dataset| dataset.name == relation.dataset) {
            dataset.relations.push(relation);
            continue;
        }
        datasets.push(Dataset {
            name: relation.dataset.clone(),
            title: None,
            description: None,
            manifest_hash: String::new(),
            endpoint: None,
            files: Vec::new(),
            relations: vec![relation],
        });
    }
    let end = |(source, column): (&str, &str)| {
        let (dataset, relation) = source.split_once('.').unwrap();
        JoinEnd {
            dataset: dataset.to_owned(),
            relation: relation.to_owned(),
            column: column.to_owned(),
            srid: None,
        }
    };
    Catalog {
        collection: "c".to_owned(),
        collection_hash: String::new(),
        created_at: None,
        datasets,
        joins: joins
            .iter()
            .map(|[from, to]| JoinPath {
                from: end(*from),
                to: end(*to),
                join_type: JoinType::Identifier,
                reliability: Reliability::Reliable,
                notes: None,
            })
            .collect(),
        warnings: Vec::new(),
    }
}
