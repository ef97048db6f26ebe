//! The two documents as data, member for member as the schema has them.
//!
//! Read only after verification. Members these types don't know are passed over here; whether they may be there at
//! all was decided in [`schema`](super::schema).

use serde::{Deserialize, Deserializer};

use super::hash::PayloadHash;

/// Either signed document.
#[derive(Debug, Clone)]
pub enum Document {
    /// Groups datasets and declares join paths.
    Collection(Box<Collection>),
    /// Describes one dataset.
    Manifest(Box<Manifest>),
}

/// A signed collection.
#[derive(Debug, Clone, Deserialize)]
pub struct Collection {
    /// Protocol version, `major.minor.patch`.
    pub protocol_version: String,
    /// Who says they published it; the key decides.
    pub author_identity: String,
    /// The signing key, Base64.
    pub author_pubkey: String,
    /// Name, e.g. `ngopen`.
    pub collection_name: String,
    /// Title for people.
    pub title: Option<String>,
    /// Summary for people.
    pub description: Option<String>,
    /// Why the datasets are grouped.
    pub purpose: Option<String>,
    /// License or its address.
    pub license: Option<String>,
    /// Authenticated creation time, RFC 3339.
    pub created_at: Option<String>,
    /// Member datasets, each pinned by hash.
    pub members: Vec<CollectionMember>,
    /// Declared join paths.
    #[serde(default)]
    pub join_paths: Vec<DeclaredJoinPath>,
    /// The signature block.
    pub cryptographic_signature: SignatureBlock,
}

/// One member of a collection.
#[derive(Debug, Clone, Deserialize)]
pub struct CollectionMember {
    /// Dataset name.
    pub dataset_name: String,
    /// Where the manifest is published; see [`manifest_url`](super::manifest_url).
    pub manifest_url: String,
    /// The exact manifest revision.
    pub payload_hash: PayloadHash,
    /// Title for people.
    pub title: Option<String>,
}

/// A declared join path.
#[derive(Debug, Clone, Deserialize)]
pub struct DeclaredJoinPath {
    /// One end.
    pub from: DeclaredJoinEnd,
    /// The other end.
    pub to: DeclaredJoinEnd,
    /// How the ends compare.
    pub join_type: DeclaredJoinType,
    /// The publisher's assessment.
    pub reliability: DeclaredReliability,
    /// The publisher's note.
    pub notes: Option<String>,
}

/// One end of a declared join path.
#[derive(Debug, Clone, Deserialize)]
pub struct DeclaredJoinEnd {
    /// Dataset name.
    pub dataset_name: String,
    /// Relation name.
    pub relation: String,
    /// Column name.
    pub column: String,
    /// Spatial reference identifier.
    #[serde(default, deserialize_with = "whole_number")]
    pub srid: Option<u64>,
}

/// `join_type` of a join path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeclaredJoinType {
    /// Key equality.
    Identifier,
    /// A geometric predicate.
    Spatial,
    /// Approximate correspondence.
    Heuristic,
}

/// `reliability` of a join path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeclaredReliability {
    /// High confidence.
    Reliable,
    /// Correct where present, incomplete.
    Partial,
    /// Unverified.
    Heuristic,
}

/// A signed dataset manifest.
#[derive(Debug, Clone, Deserialize)]
pub struct Manifest {
    /// Protocol version, `major.minor.patch`.
    pub protocol_version: String,
    /// Who says they published it; the key decides.
    pub author_identity: String,
    /// The signing key, Base64.
    pub author_pubkey: String,
    /// Dataset name.
    pub dataset_name: String,
    /// The collection it says it belongs to; the collection's pin decides.
    pub collection: Option<String>,
    /// Title for people.
    pub title: Option<String>,
    /// Summary for people.
    pub description: Option<String>,
    /// License or its address.
    pub license: Option<String>,
    /// Authenticated creation time, RFC 3339.
    pub created_at: Option<String>,
    /// What produced the data.
    pub etl_provenance: EtlProvenance,
    /// The published relations.
    pub schema_definition: Vec<DeclaredRelation>,
    /// Where they are served.
    pub endpoints: Vec<DeclaredEndpoint>,
    /// The signature block.
    pub cryptographic_signature: SignatureBlock,
}

/// The code and sources behind a dataset.
#[derive(Debug, Clone, Deserialize)]
pub struct EtlProvenance {
    /// Source repository.
    pub repository_url: String,
    /// Full commit hash.
    pub commit_hash: String,
    /// Path of the entry point in the repository.
    pub pipeline_entrypoint: Option<String>,
    /// When the served data was built, RFC 3339.
    pub built_at: Option<String>,
    /// `pending`, `in_progress` or `migrated`: how tightly the commit binds the data.
    pub migration_status: Option<String>,
    /// When it became `migrated`, RFC 3339.
    pub migrated_at: Option<String>,
    /// Upstream sources.
    #[serde(default)]
    pub source_attribution: Vec<SourceAttribution>,
}

/// One upstream source.
#[derive(Debug, Clone, Deserialize)]
pub struct SourceAttribution {
    /// Its name.
    pub name: String,
    /// Its address.
    pub url: Option<String>,
    /// When it was read, RFC 3339.
    pub retrieved_at: Option<String>,
}

/// A relation of the published contract.
#[derive(Debug, Clone, Deserialize)]
pub struct DeclaredRelation {
    /// Name; may hold a dot.
    pub name: String,
    /// `table` (default), `view`, `materialized_view`, `function` or `file`.
    pub relation_type: Option<String>,
    /// `upstream`, `derived` or `recovered`.
    pub provenance: Option<String>,
    /// Whether it may be read; default true.
    pub queryable: Option<bool>,
    /// Summary for people.
    pub description: Option<String>,
    /// Declared primary key.
    #[serde(default)]
    pub primary_key: Vec<String>,
    /// Advisory row count.
    #[serde(default, deserialize_with = "whole_number")]
    pub row_count_estimate: Option<u64>,
    /// Columns.
    pub columns: Vec<DeclaredColumn>,
}

/// A column of a declared relation.
#[derive(Debug, Clone, Deserialize)]
pub struct DeclaredColumn {
    /// Name.
    pub name: String,
    /// Transport-neutral type.
    #[serde(rename = "type")]
    pub neutral_type: String,
    /// The engine's type.
    pub native_type: Option<String>,
    /// Whether nulls may occur; default true.
    pub nullable: Option<bool>,
    /// Summary for people.
    pub description: Option<String>,
    /// Spatial reference identifier.
    #[serde(default, deserialize_with = "whole_number")]
    pub srid: Option<u64>,
    /// Unit of measure.
    pub unit: Option<String>,
}

/// Where a dataset is served.
#[derive(Debug, Clone, Deserialize)]
pub struct DeclaredEndpoint {
    /// How.
    pub transport_type: TransportType,
    /// Where.
    pub base_url: String,
    /// Summary for people.
    pub description: Option<String>,
    /// Settings of the transport.
    #[serde(default)]
    pub meta: EndpointMeta,
}

/// `transport_type` of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TransportType {
    /// A PostgREST API.
    PostgrestApi,
    /// GeoParquet files.
    Geoparquet,
    /// Parquet files.
    Parquet,
    /// Arrow Flight.
    ArrowFlight,
}

/// Settings of an endpoint. The object is open: further members are allowed in every version and not read here.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct EndpointMeta {
    /// Meant for `Accept-Profile`; one real manifest holds prose here.
    pub accept_profile: Option<String>,
    /// OpenAPI document.
    pub openapi_url: Option<String>,
    /// Page cap, rows.
    #[serde(default, deserialize_with = "whole_number")]
    pub max_rows: Option<u64>,
    /// Whether credentials are needed; default false.
    pub requires_auth: Option<bool>,
    /// Storage region.
    pub region: Option<String>,
    /// Files with their relations.
    #[serde(default)]
    pub files: Vec<DeclaredFile>,
}

/// A file of an endpoint.
#[derive(Debug, Clone, Deserialize)]
pub struct DeclaredFile {
    /// The relation it holds.
    pub relation: String,
    /// Path, resolved against the endpoint's `base_url`.
    pub path: String,
    /// Size, bytes.
    #[serde(default, deserialize_with = "whole_number")]
    pub byte_size: Option<u64>,
    /// SHA-256, lowercase hex.
    pub sha256: Option<String>,
}

/// The signature block. It is outside the hash: only what the verification itself checks in it is authenticated.
#[derive(Debug, Clone, Deserialize)]
pub struct SignatureBlock {
    /// Hash of the payload.
    pub payload_hash: PayloadHash,
    /// The signature, Base64.
    pub signature_base64: String,
    /// When it was signed, by the signer's word; not authenticated.
    pub signed_at: Option<String>,
}

/// Reads an integer however JSON spells it (`5`, `5.0` and `5e0` are one number, and the schema accepts all three).
fn whole_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    /// Above this a double no longer tells neighbouring integers apart.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let Some(number) = Option::<serde_json::Number>::deserialize(deserializer)? else { return Ok(None) };
    if let Some(integer) = number.as_u64() {
        return Ok(Some(integer));
    }
    match number.as_f64() {
        // The cast is exact: a whole number within the range just checked.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Some(double) if double.fract() == 0.0 && (0.0..=EXACT).contains(&double) => Ok(Some(double as u64)),
        _ => Err(serde::de::Error::custom(format!("{number} is not a whole number this program can hold"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_read_in_every_spelling() {
        let read = |srid: &str| {
            serde_json::from_str::<DeclaredColumn>(&format!(
                r#"{{"name":"geom","type":"geometry","srid":{srid}}}"#
            ))
            .map(|column| column.srid)
        };
        for spelling in ["3857", "3857.0", "3.857e3"] {
            assert_eq!(read(spelling).unwrap(), Some(3857), "{spelling}");
        }
        assert_eq!(read("-0").unwrap(), Some(0));
        for wrong in ["0.5", "-1", "1e300", "\"3857\""] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
