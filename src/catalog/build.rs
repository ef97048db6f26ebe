//! From verified documents to a [`Catalog`]: what the signatures grant, and nothing a later room must filter again.
//!
//! The rules are bdp.md's "What the signature grants". A grant that can't be honoured as written (a join end that
//! isn't there, a key naming a missing column, a file without a hash) is left out with a warning: dropping a grant
//! never widens what may be asked. A contradiction (two relations or columns of one name) is an error, because
//! either reading of it could answer wrongly.

use std::collections::HashSet;

use url::Url;

use super::column_type::ColumnType;
use super::model::{
    Catalog, Column, Dataset, JoinEnd, JoinPath, JoinType, PostgrestEndpoint, Relation, Reliability,
    SignedFile,
};
use crate::bdp::{
    Collection, DeclaredColumn, DeclaredEndpoint, DeclaredFile, DeclaredJoinEnd, DeclaredJoinPath,
    DeclaredJoinType, DeclaredRelation, DeclaredReliability, Manifest, TransportType, Verified, VerifyError,
    check_complete,
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

/// The endpoint as a PostgREST one that anybody may read; `None` for others.
fn postgrest(
    dataset: &str,
    endpoint: &DeclaredEndpoint,
    warnings: &mut Vec<String>,
) -> Option<PostgrestEndpoint> {
    let meta = &endpoint.meta;
    if endpoint.transport_type != TransportType::PostgrestApi || meta.requires_auth.unwrap_or(false) {
        return None;
    }
    let base_url = match base_url(&endpoint.base_url) {
        Ok(url) => url.to_string(),
        Err(reason) => {
            warnings.push(format!("the endpoint {} of '{dataset}' is ignored: {reason}", endpoint.base_url));
            return None;
        }
    };
    let accept_profile = meta.accept_profile.as_ref().filter(|profile| is_plain_identifier(profile)).cloned();
    if let (Some(declared), None) = (&meta.accept_profile, &accept_profile) {
        warnings.push(format!(
            "the accept_profile of '{dataset}' ('{}') isn't a schema name and is ignored",
            declared.chars().take(80).collect::<String>()
        ));
    }
    Some(PostgrestEndpoint { base_url, accept_profile, max_rows: meta.max_rows })
}

/// An endpoint's base address, ending in `/`. Which hosts and schemes may be contacted is decided when fetching.
fn base_url(text: &str) -> Result<Url, String> {
    let mut url = Url::parse(text).map_err(|error| format!("it isn't an address ({error})"))?;
    if url.cannot_be_a_base() || !url.has_host() {
        return Err("it names no host".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it carries credentials".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("it carries a query or a fragment".to_owned());
    }
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    Ok(url)
}

/// Whether a text can be a PostgreSQL schema name without quoting.
fn is_plain_identifier(text: &str) -> bool {
    let mut characters = text.chars();
    let starts_well = characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    let goes_on_well = characters.all(|character| character.is_ascii_alphanumeric() || character == '_');
    starts_well && goes_on_well && text.len() <= 63
}

/// The files that make a relation end-to-end signed: named with their hash by a public Parquet endpoint, and the
/// only file of their relation there, so that the file is the whole of it.
fn signed_files(
    dataset: &str,
    endpoints: &[DeclaredEndpoint],
    relations: &[Relation],
    warnings: &mut Vec<String>,
) -> Vec<SignedFile> {
    let mut files: Vec<SignedFile> = Vec::new();
    for endpoint in endpoints {
        let is_parquet =
            matches!(endpoint.transport_type, TransportType::Parquet | TransportType::Geoparquet);
        if !is_parquet || endpoint.meta.requires_auth.unwrap_or(false) {
            continue;
        }
        for file in &endpoint.meta.files {
            let same_relation =
                endpoint.meta.files.iter().filter(|other| other.relation == file.relation).count();
            let signed = if same_relation > 1 {
                Err(format!(
                    "the endpoint lists {same_relation} files for the relation, so none is the whole"
                ))
            } else {
                signed_file(endpoint, file, relations)
            };
            match signed {
                // Both a Parquet and a GeoParquet endpoint may hold the relation; the first listed counts.
                Ok(signed) if files.iter().any(|earlier| earlier.relation == signed.relation) => {}
                Ok(signed) => files.push(signed),
                Err(reason) => warnings.push(format!(
                    "the file '{}' for '{dataset}.{}' is not used: {reason}",
                    file.path, file.relation
                )),
            }
        }
    }
    files
}

fn signed_file(
    endpoint: &DeclaredEndpoint,
    file: &DeclaredFile,
    relations: &[Relation],
) -> Result<SignedFile, String> {
    let relation = relations
        .iter()
        .find(|relation| relation.name == file.relation)
        .ok_or("the manifest has no such relation")?;
    if !relation.queryable {
        return Err("the relation isn't queryable".to_owned());
    }
    let sha256 = file.sha256.clone().ok_or("it has no sha256, so nothing signs its content")?;
    let base = base_url(&endpoint.base_url)?;
    Ok(SignedFile {
        relation: file.relation.clone(),
        url: file_url(&base, &file.path)?.to_string(),
        byte_size: file.byte_size,
        sha256,
    })
}

/// Resolves a file's path; it must stay below the base address.
fn file_url(base: &Url, path: &str) -> Result<Url, String> {
    let lower = path.to_ascii_lowercase();
    let hidden = ["%2e", "%2f", "%5c"].iter().any(|encoded| lower.contains(encoded));
    let odd = path.chars().any(|character| character.is_control() || matches!(character, '\\' | '?' | '#'));
    let segments_are_plain = path.split('/').all(|segment| !matches!(segment, "" | "." | ".."));
    if hidden || odd || !segments_are_plain {
        return Err("its path isn't a plain relative one".to_owned());
    }
    // A path whose first segment has a colon would be read as an absolute address.
    let url =
        base.join(&format!("./{path}")).map_err(|error| format!("its path can't be resolved ({error})"))?;
    if url.origin() != base.origin() || !url.as_str().starts_with(base.as_str()) {
        return Err("its path leaves the endpoint".to_owned());
    }
    Ok(url)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_identifiers_are_schema_names() {
        for plain in ["public", "vpic", "_x", "api_reference"] {
            assert!(is_plain_identifier(plain), "{plain}");
        }
        for prose in
            ["vpic (default), api_reference (/reference)", "", "1a", "a-b", "a\r\nx: y", &"a".repeat(64)]
        {
            assert!(!is_plain_identifier(prose), "{prose}");
        }
    }

    #[test]
    fn files_stay_below_their_endpoint() {
        let base = base_url("https://data.example/x").unwrap();
        assert_eq!(base.as_str(), "https://data.example/x/");
        assert_eq!(
            file_url(&base, "2026/a:b.parquet").unwrap().as_str(),
            "https://data.example/x/2026/a:b.parquet"
        );
        for path in [
            "/etc/a",
            "//evil.example/a",
            "https://evil.example/a",
            "../a",
            "a/../../b",
            "a/%2e%2e/%2E%2E/b",
            "a\\..\\b",
            "a?x",
            "a#x",
            "a\nb",
            "",
            ".",
        ] {
            assert!(file_url(&base, path).is_err(), "{path}: {:?}", file_url(&base, path));
        }
    }

    #[test]
    fn base_addresses_carry_nothing_else() {
        for wrong in
            ["https://u:p@data.example/", "https://data.example/?a=1", "https://data.example/#a", "s3:bucket"]
        {
            assert!(base_url(wrong).is_err(), "{wrong}");
        }
    }
}
