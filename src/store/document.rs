//! The snapshot document as data: what was captured, how well it is known to be consistent, and where the bytes are.
//!
//! `docs/store-format.md` lists every member. The enums are written the way serde writes them by default
//! (`"full"`, `{"limited": …}`), so a later version adds cases without a new layout; an older reader refuses a case
//! it doesn't know instead of misreading it.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::hash::Hash256;
use crate::catalog::StoredColumn;

/// The `format` member of every document this version writes; the number is the major version.
pub const SNAPSHOT_FORMAT: &str = "benthic-mirror/snapshot/1";

/// The payload of a signed snapshot document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SnapshotDocument {
    /// [`SNAPSHOT_FORMAT`]; looked at before anything else.
    pub format: String,
    /// When the snapshot was put together.
    #[serde(with = "rfc3339")]
    pub created_at: DateTime<Utc>,
    /// Name and version of the tool that wrote it.
    pub tool_version: String,
    /// The collection document the snapshot follows.
    pub collection: CollectionEntry,
    /// The manifests the collection pins, in its order.
    pub manifests: Vec<ManifestEntry>,
    /// Captured and skipped relations, in the collection's order. A relation that isn't listed was not captured.
    pub relations: Vec<RelationEntry>,
    /// Identity of the captured data (see [`super::content_id()`]).
    pub content_id: Hash256,
}

/// An object by its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectRef {
    /// SHA-256 of the bytes: the object's name.
    pub sha256: Hash256,
    /// Size in bytes.
    pub bytes: u64,
}

/// The signed collection document of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectionEntry {
    /// Collection name.
    pub name: String,
    /// Payload hash the publisher signed.
    pub payload_hash: Hash256,
    /// The document, byte for byte as received.
    pub object: ObjectRef,
}

/// One signed manifest of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestEntry {
    /// Dataset name.
    pub dataset: String,
    /// Payload hash the publisher signed and the collection pins.
    pub payload_hash: Hash256,
    /// The document, byte for byte as received.
    pub object: ObjectRef,
}

/// What became of one relation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RelationEntry {
    /// Dataset name.
    pub dataset: String,
    /// Relation name as signed; may hold a dot.
    pub relation: String,
    /// Captured, or why not.
    pub state: RelationState,
}

/// Captured, or why not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RelationState {
    /// The rows are in the store.
    Captured(Box<Capture>),
    /// The rows are not in the store, on purpose.
    Skipped {
        /// Why, for people.
        reason: String,
    },
}

/// What is known about the consistency of a capture, best first (spec store.md, evidence).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// One pass; counts before and after equal the rows; no duplicate keys.
    Counted,
    /// Two full passes with equal row digests.
    DoubleRead,
    /// One response, so one transaction.
    SingleResponse,
    /// The file's hash is in a signed manifest.
    Signed,
}

impl Evidence {
    /// The word used in documents and results.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Signed => "signed",
            Self::SingleResponse => "single_response",
            Self::DoubleRead => "double_read",
            Self::Counted => "counted",
        }
    }
}

/// Which part of the relation the capture holds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Scope {
    /// All rows, all columns of the signed manifest.
    #[default]
    Full,
}

/// Start and end of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapturedAt {
    /// Before the first request.
    #[serde(with = "rfc3339")]
    pub start: DateTime<Utc>,
    /// After the last response.
    #[serde(with = "rfc3339")]
    pub end: DateTime<Utc>,
}

/// The rows of one relation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Capture {
    /// How well it is known to be consistent.
    pub evidence: Evidence,
    /// Which part of the relation it holds.
    pub scope: Scope,
    /// Number of rows over all parts.
    pub rows: u64,
    /// Identity of the rows (see [`super::RowDigest`]).
    pub row_digest: Hash256,
    /// Parquet files in sort order; row ranges don't overlap.
    pub parts: Vec<Part>,
    /// The relation's columns, in the manifest's order.
    pub columns: Vec<StoredColumn>,
    /// Columns the rows are sorted by, ascending, nulls last, text by code point. The primary key where there is one,
    /// else every column.
    pub sort_key: Vec<String>,
    /// When it was read.
    pub captured_at: CapturedAt,
    /// The server's exact count before the capture.
    pub count_before: Option<u64>,
    /// The server's exact count after the capture.
    pub count_after: Option<u64>,
    /// How often the capture was started again before it was consistent.
    pub retries: u32,
    /// Indexes built over the parts.
    pub indexes: Vec<IndexEntry>,
}

/// One Parquet file of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// SHA-256 of the file: the object's name.
    pub sha256: Hash256,
    /// Size in bytes.
    pub bytes: u64,
    /// Rows in it.
    pub rows: u64,
    /// Row groups in it.
    pub row_groups: u64,
}

/// An index over a capture; an object like any other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexEntry {
    /// What it answers, e.g. `nonprofits` or `districts/118`; an index of a kind a reader doesn't know is ignored.
    pub kind: String,
    /// SHA-256 of the file: the object's name.
    pub sha256: Hash256,
    /// Size in bytes.
    pub bytes: u64,
}

impl IndexEntry {
    /// The object the index is.
    pub fn object(&self) -> ObjectRef {
        ObjectRef { sha256: self.sha256, bytes: self.bytes }
    }
}

impl Part {
    /// The object the part is.
    pub fn object(&self) -> ObjectRef {
        ObjectRef { sha256: self.sha256, bytes: self.bytes }
    }
}

impl Capture {
    /// The relation's columns as Arrow sees them, in the manifest's order; what queries run over.
    pub fn schema(&self) -> SchemaRef {
        Arc::new(Schema::new(self.columns.iter().map(StoredColumn::field).collect::<Vec<_>>()))
    }

    /// The schema of the Parquet files: [`Capture::schema`], then one covering struct per geometry column.
    pub fn file_schema(&self) -> SchemaRef {
        file_schema(&self.columns)
    }
}

/// The Parquet schema of stored columns: the columns, then one covering struct per geometry column.
pub fn file_schema(columns: &[StoredColumn]) -> SchemaRef {
    let coverings = columns
        .iter()
        .filter_map(|column| column.geometry.as_ref())
        .map(|geometry| Field::new(&geometry.covering, DataType::Struct(covering_fields()), true));
    Arc::new(Schema::new(columns.iter().map(StoredColumn::field).chain(coverings).collect::<Vec<_>>()))
}

/// The members of a covering struct, in the order GeoParquet names them.
pub fn covering_fields() -> Fields {
    ["xmin", "ymin", "xmax", "ymax"]
        .map(|name| Field::new(name, DataType::Float64, false))
        .into_iter()
        .collect::<Vec<_>>()
        .into()
}

impl RelationEntry {
    /// `dataset.relation`.
    pub fn source(&self) -> String {
        format!("{}.{}", self.dataset, self.relation)
    }

    /// The capture, if there is one.
    pub fn capture(&self) -> Option<&Capture> {
        match &self.state {
            RelationState::Captured(capture) => Some(capture),
            RelationState::Skipped { .. } => None,
        }
    }
}

impl SnapshotDocument {
    /// The entry of a relation, whether captured or skipped.
    pub fn relation(&self, dataset: &str, relation: &str) -> Option<&RelationEntry> {
        self.relations.iter().find(|entry| entry.dataset == dataset && entry.relation == relation)
    }

    /// Every object the snapshot names, each once, in document order.
    pub fn objects(&self) -> Vec<ObjectRef> {
        let captures = self.relations.iter().filter_map(RelationEntry::capture);
        let indexes = captures.flat_map(|capture| capture.indexes.iter().map(IndexEntry::object));
        once_each(self.required_objects().into_iter().chain(indexes))
    }

    /// The objects no answer can do without: all but the indexes, which the rows can stand in for.
    pub fn required_objects(&self) -> Vec<ObjectRef> {
        let documents = std::iter::once(self.collection.object)
            .chain(self.manifests.iter().map(|manifest| manifest.object));
        let captures = self.relations.iter().filter_map(RelationEntry::capture);
        once_each(documents.chain(captures.flat_map(|capture| capture.parts.iter().map(Part::object))))
    }
}

fn once_each(objects: impl Iterator<Item = ObjectRef>) -> Vec<ObjectRef> {
    let mut seen = std::collections::HashSet::new();
    objects.filter(|object| seen.insert(object.sha256)).collect()
}

/// Moments as RFC 3339 text in UTC with microseconds: one spelling per moment.
mod rfc3339 {
    use chrono::{DateTime, SecondsFormat, Utc};
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(moment: &DateTime<Utc>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&moment.to_rfc3339_opts(SecondsFormat::Micros, true))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DateTime<Utc>, D::Error> {
        let text = String::deserialize(deserializer)?;
        DateTime::parse_from_rfc3339(&text)
            .map(|moment| moment.with_timezone(&Utc))
            .map_err(|error| serde::de::Error::custom(format!("{text:?} is not an RFC 3339 moment: {error}")))
    }
}
