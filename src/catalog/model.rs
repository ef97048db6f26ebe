//! The verified catalogue as plain data: what may be asked for, and nothing else.

use super::column_type::ColumnType;

/// Everything one verified collection and its verified manifests grant.
#[derive(Debug, Clone)]
pub struct Catalog {
    /// Collection name, e.g. `ngopen`.
    pub collection: String,
    /// Payload hash of the collection document, lowercase hex.
    pub collection_hash: String,
    /// Authenticated `created_at` of the collection, RFC 3339, when present.
    pub created_at: Option<String>,
    /// Member datasets in the collection's order.
    pub datasets: Vec<Dataset>,
    /// Signed join paths in the collection's order; usable in either direction.
    pub joins: Vec<JoinPath>,
    /// What verification warned about (e.g. unknown members of a higher minor version).
    pub warnings: Vec<String>,
}

/// One member dataset.
#[derive(Debug, Clone)]
pub struct Dataset {
    /// Dataset name, the part of a source before its first dot.
    pub name: String,
    /// Title for people.
    pub title: Option<String>,
    /// Description from the manifest.
    pub description: Option<String>,
    /// Payload hash of the manifest, lowercase hex.
    pub manifest_hash: String,
    /// The PostgREST endpoint to read from; `None` when there is none without authentication.
    pub endpoint: Option<PostgrestEndpoint>,
    /// Signed files, each the whole of one relation.
    pub files: Vec<SignedFile>,
    /// Relations in the manifest's order.
    pub relations: Vec<Relation>,
}

/// Where a dataset's relations are served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgrestEndpoint {
    /// Base URL, ending in `/`.
    pub base_url: String,
    /// Default `Accept-Profile`, only if it is a plain identifier.
    pub accept_profile: Option<String>,
    /// The server's page cap.
    pub max_rows: Option<u64>,
}

/// A file named by a signed manifest with its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedFile {
    /// The relation it holds.
    pub relation: String,
    /// Absolute URL.
    pub url: String,
    /// Declared size in bytes.
    pub byte_size: Option<u64>,
    /// Declared SHA-256, lowercase hex. Files without one are not listed.
    pub sha256: String,
}

/// One relation of a dataset.
#[derive(Debug, Clone)]
pub struct Relation {
    /// Dataset name.
    pub dataset: String,
    /// Relation name; may hold a dot (`vpic.make`).
    pub name: String,
    /// `table`, `view`, `materialized_view`, `function` or `file`.
    pub relation_type: String,
    /// `upstream`, `derived` or `recovered`.
    pub provenance: Option<String>,
    /// Whether it may be read at all; lineage relations may not.
    pub queryable: bool,
    /// Description from the manifest.
    pub description: Option<String>,
    /// Declared primary key; empty when there is none.
    pub primary_key: Vec<String>,
    /// Advisory row count: `Some(0)` says empty, `None` says unknown.
    pub row_count_estimate: Option<u64>,
    /// Columns in the manifest's order.
    pub columns: Vec<Column>,
}

/// One column of a relation.
#[derive(Debug, Clone)]
pub struct Column {
    /// Column name, any text of up to 128 characters.
    pub name: String,
    /// The manifest's neutral type, as declared.
    pub declared_type: String,
    /// The manifest's native type, as declared.
    pub native_type: Option<String>,
    /// What the two mean together.
    pub column_type: ColumnType,
    /// Whether nulls may occur (default true).
    pub nullable: bool,
    /// Description from the manifest.
    pub description: Option<String>,
    /// Declared spatial reference.
    pub srid: Option<i32>,
    /// Unit of measure, e.g. `USD`.
    pub unit: Option<String>,
}

/// One end of a join path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct JoinEnd {
    /// Dataset name.
    pub dataset: String,
    /// Relation name.
    pub relation: String,
    /// Column name.
    pub column: String,
    /// Spatial reference named by the path, if any.
    pub srid: Option<i32>,
}

/// How a join path compares its two columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JoinType {
    /// Exact key equality.
    Identifier,
    /// A geometric predicate; served by the spatial operations, never by a join.
    Spatial,
    /// Approximate correspondence.
    Heuristic,
}

/// The publisher's own assessment of a join path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reliability {
    /// High confidence.
    Reliable,
    /// Correct where present, incomplete, needs context.
    Partial,
    /// Unverified.
    Heuristic,
}

/// A signed join path between two columns.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct JoinPath {
    /// One end.
    pub from: JoinEnd,
    /// The other end.
    pub to: JoinEnd,
    /// How the ends compare.
    pub join_type: JoinType,
    /// How far to trust it.
    pub reliability: Reliability,
    /// The publisher's note.
    pub notes: Option<String>,
}

impl Catalog {
    /// The dataset of that name.
    pub fn dataset(&self, name: &str) -> Option<&Dataset> {
        self.datasets.iter().find(|dataset| dataset.name == name)
    }

    /// The relation a qualified source names; split at the first dot.
    pub fn relation(&self, source: &str) -> Option<&Relation> {
        let (dataset, relation) = source.split_once('.')?;
        self.dataset(dataset)?.relation(relation)
    }

    /// Every relation, dataset by dataset, in signed order.
    pub fn relations(&self) -> impl Iterator<Item = &Relation> {
        self.datasets.iter().flat_map(|dataset| &dataset.relations)
    }
}

impl Dataset {
    /// The relation of that name.
    pub fn relation(&self, name: &str) -> Option<&Relation> {
        self.relations.iter().find(|relation| relation.name == name)
    }
}

impl Relation {
    /// `dataset.relation`, the form every tool takes and returns.
    pub fn source(&self) -> String {
        format!("{}.{}", self.dataset, self.name)
    }

    /// The column of that name and its position.
    pub fn column(&self, name: &str) -> Option<(usize, &Column)> {
        self.columns.iter().enumerate().find(|(_, column)| column.name == name)
    }

    /// PostgreSQL schema and table of the relation: a dotted name carries its schema (spec bdp.md).
    pub fn schema_and_table(&self) -> (Option<&str>, &str) {
        match self.name.split_once('.') {
            Some((schema, table)) => (Some(schema), table),
            None => (None, &self.name),
        }
    }
}

impl JoinEnd {
    /// `dataset.relation`.
    pub fn source(&self) -> String {
        format!("{}.{}", self.dataset, self.relation)
    }
}

impl JoinType {
    /// The word the signed document uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Identifier => "identifier",
            Self::Spatial => "spatial",
            Self::Heuristic => "heuristic",
        }
    }
}

impl Reliability {
    /// The word the signed document uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reliable => "reliable",
            Self::Partial => "partial",
            Self::Heuristic => "heuristic",
        }
    }
}
