//! From verified documents to a [`Catalog`]: what the signatures grant, and nothing a later room must filter again.
//!
//! The rules are bdp.md's "What the signature grants". A grant that can't be honoured as written (a join end that
//! isn't there, a key naming a missing column, a file without a hash) is left out with a warning: dropping a grant
//! never widens what may be asked. A contradiction (two relations or columns of one name) is an error, because
//! either reading of it could answer wrongly.

use std::collections::HashSet;

use super::column_type::ColumnType;
use super::endpoints::{postgrest, signed_files};
use super::model::{Catalog, Column, Dataset, JoinEnd, JoinPath, JoinType, Relation, Reliability};
use crate::bdp::{
    Collection, DeclaredColumn, DeclaredJoinEnd, DeclaredJoinPath, DeclaredJoinType, DeclaredRelation,
    DeclaredReliability, Manifest, Verified, VerifyError, check_complete,
};

/// Why verified documents don't make a catalogue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// The manifests aren't exactly the ones the collection pins.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// A manifest declares the same relation twice.
    #[error(
        "the manifest of '{dataset}' declares the relation '{relation}' twice; its publisher must decide which counts"
    )]
    DuplicateRelation {
        /// The dataset.
        dataset: String,
        /// The relation.
        relation: String,
    },
    /// A relation declares the same column twice.
    #[error("'{source_name}' declares the column '{column}' twice; its publisher must decide which counts")]
    DuplicateColumn {
        /// `dataset.relation`.
        source_name: String,
        /// The column.
        column: String,
    },
}

impl Catalog {
    /// The catalogue that a collection and all its pinned manifests grant.
    ///
    /// `manifests` may come in any order and hold others too; only pinned ones are read.
    ///
    /// # Errors
    /// [`CatalogError::Verify`] if a member's manifest is missing or another revision; the other variants for
    /// contradictions inside a manifest.
    pub fn from_verified(
        collection: &Verified<Collection>,
        manifests: &[Verified<Manifest>],
    ) -> Result<Self, CatalogError> {
        let members = check_complete(collection, manifests)?;
        let document = &collection.document;
        let mut warnings = collection.warnings.clone();
        let mut datasets = Vec::with_capacity(members.len());
        for manifest in members {
            warnings.extend(manifest.warnings.iter().cloned());
            if let Some(claimed) = &manifest.document.collection
                && *claimed != document.collection_name
            {
                warnings.push(format!(
                    "the manifest of '{}' says it belongs to the collection '{claimed}', but '{}' pins it",
                    manifest.document.dataset_name, document.collection_name
                ));
            }
            let title = document
                .members
                .iter()
                .find(|member| member.dataset_name == manifest.document.dataset_name)
                .and_then(|member| member.title.clone());
            datasets.push(dataset(manifest, title, &mut warnings)?);
        }
        let mut catalog = Self {
            collection: document.collection_name.clone(),
            collection_hash: collection.payload_hash.to_string(),
            created_at: document.created_at.clone(),
            datasets,
            joins: Vec::new(),
            warnings,
        };
        for path in &document.join_paths {
            match join_path(&catalog, path) {
                Ok(path) => catalog.joins.push(path),
                Err(warning) => catalog.warnings.push(warning),
            }
        }
        Ok(catalog)
    }
}

fn dataset(
    manifest: &Verified<Manifest>,
    member_title: Option<String>,
    warnings: &mut Vec<String>,
) -> Result<Dataset, CatalogError> {
    let document = &manifest.document;
    let name = &document.dataset_name;
    let mut relations = Vec::with_capacity(document.schema_definition.len());
    let mut names = HashSet::new();
    for declared in &document.schema_definition {
        if !names.insert(declared.name.as_str()) {
            let (dataset, relation) = (name.clone(), declared.name.clone());
            return Err(CatalogError::DuplicateRelation { dataset, relation });
        }
        relations.push(relation(name, declared, warnings)?);
    }
    let endpoint = document.endpoints.iter().find_map(|endpoint| postgrest(name, endpoint, warnings));
    let files = signed_files(name, &document.endpoints, &relations, warnings);
    Ok(Dataset {
        name: name.clone(),
        title: document.title.clone().or(member_title),
        description: document.description.clone(),
        manifest_hash: manifest.payload_hash.to_string(),
        endpoint,
        files,
        relations,
    })
}

fn relation(
    dataset: &str,
    declared: &DeclaredRelation,
    warnings: &mut Vec<String>,
) -> Result<Relation, CatalogError> {
    let source = format!("{dataset}.{}", declared.name);
    let mut names = HashSet::new();
    for column in &declared.columns {
        if !names.insert(column.name.as_str()) {
            return Err(CatalogError::DuplicateColumn { source_name: source, column: column.name.clone() });
        }
    }
    let missing = declared.primary_key.iter().find(|column| !names.contains(column.as_str()));
    let primary_key = match missing {
        None => declared.primary_key.clone(),
        Some(column) => {
            warnings.push(format!(
                "'{source}' declares a primary key with the column '{column}', which it doesn't have; \
                 it counts as having none"
            ));
            Vec::new()
        }
    };
    let columns = declared.columns.iter().map(|column| self::column(&source, column, warnings)).collect();
    Ok(Relation {
        dataset: dataset.to_owned(),
        name: declared.name.clone(),
        relation_type: declared.relation_type.clone().unwrap_or_else(|| "table".to_owned()),
        provenance: declared.provenance.clone(),
        queryable: declared.queryable.unwrap_or(true),
        description: declared.description.clone(),
        primary_key,
        row_count_estimate: declared.row_count_estimate,
        columns,
    })
}

fn column(source: &str, declared: &DeclaredColumn, warnings: &mut Vec<String>) -> Column {
    let srid = declared.srid.and_then(|srid| {
        srid_in_range(srid, || format!("the column '{source}.{}'", declared.name), warnings)
    });
    Column {
        name: declared.name.clone(),
        declared_type: declared.neutral_type.clone(),
        native_type: declared.native_type.clone(),
        column_type: ColumnType::from_manifest(&declared.neutral_type, declared.native_type.as_deref(), srid),
        nullable: declared.nullable.unwrap_or(true),
        description: declared.description.clone(),
        srid,
        unit: declared.unit.clone(),
    }
}

/// The schema bounds an SRID from below only; PostGIS keeps them in 32 bits.
fn srid_in_range(srid: u64, place: impl Fn() -> String, warnings: &mut Vec<String>) -> Option<i32> {
    let converted = i32::try_from(srid).ok();
    if converted.is_none() {
        warnings.push(format!("{} declares the SRID {srid}, which no system has; it is ignored", place()));
    }
    converted
}

fn join_path(catalog: &Catalog, declared: &DeclaredJoinPath) -> Result<JoinPath, String> {
    let end = |end: &DeclaredJoinEnd| {
        let name = format!("{}.{}.{}", end.dataset_name, end.relation, end.column);
        let exists = catalog
            .dataset(&end.dataset_name)
            .and_then(|dataset| dataset.relation(&end.relation))
            .is_some_and(|relation| relation.column(&end.column).is_some());
        if !exists {
            return Err(format!(
                "a signed join path ends at '{name}', which no manifest declares; it is dropped"
            ));
        }
        let mut ignored = Vec::new();
        let srid = end.srid.and_then(|srid| srid_in_range(srid, || name.clone(), &mut ignored));
        match ignored.pop() {
            Some(warning) => Err(format!("{warning}, and so is the join path")),
            None => Ok(JoinEnd {
                dataset: end.dataset_name.clone(),
                relation: end.relation.clone(),
                column: end.column.clone(),
                srid,
            }),
        }
    };
    Ok(JoinPath {
        from: end(&declared.from)?,
        to: end(&declared.to)?,
        join_type: match declared.join_type {
            DeclaredJoinType::Identifier => JoinType::Identifier,
            DeclaredJoinType::Spatial => JoinType::Spatial,
            DeclaredJoinType::Heuristic => JoinType::Heuristic,
        },
        reliability: match declared.reliability {
            DeclaredReliability::Reliable => Reliability::Reliable,
            DeclaredReliability::Partial => Reliability::Partial,
            DeclaredReliability::Heuristic => Reliability::Heuristic,
        },
        notes: declared.notes.clone(),
    })
}
