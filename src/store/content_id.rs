//! `content_id`: the identity of captured data, whoever captured it and whatever wrote the files.

use std::collections::HashMap;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::document::{ManifestEntry, RelationEntry};
use super::hash::Hash256;
use crate::catalog::StoredColumn;

/// SHA-256 over the RFC 8785 form of the list of (manifest hash, dataset, relation, scope, columns, row digest), one
/// entry per captured relation, ordered by dataset, then relation, by code point.
///
/// No time, evidence, part or index enters it: two mirrors that hold the same data agree on it. Skipped relations
/// don't enter it either.
pub fn content_id(
    manifests: &[ManifestEntry],
    relations: &[RelationEntry],
) -> Result<Hash256, serde_json::Error> {
    let hashes: HashMap<&str, Hash256> =
        manifests.iter().map(|manifest| (manifest.dataset.as_str(), manifest.payload_hash)).collect();
    let mut captured: Vec<&RelationEntry> =
        relations.iter().filter(|entry| entry.capture().is_some()).collect();
    captured.sort_by(|a, b| (&a.dataset, &a.relation).cmp(&(&b.dataset, &b.relation)));
    let mut list = Vec::with_capacity(captured.len());
    for entry in captured {
        let Some(capture) = entry.capture() else { continue };
        let mut item = Map::new();
        let manifest = hashes.get(entry.dataset.as_str()).map(Hash256::to_string);
        item.insert("manifest_hash".to_owned(), manifest.map_or(Value::Null, Value::String));
        item.insert("dataset".to_owned(), Value::String(entry.dataset.clone()));
        item.insert("relation".to_owned(), Value::String(entry.relation.clone()));
        item.insert("scope".to_owned(), serde_json::to_value(&capture.scope)?);
        item.insert("columns".to_owned(), Value::Array(capture.columns.iter().map(identity).collect()));
        item.insert("row_digest".to_owned(), Value::String(capture.row_digest.to_string()));
        list.push(Value::Object(item));
    }
    let mut hasher = Sha256::new();
    hasher.update(serde_json_canonicalizer::to_vec(&Value::Array(list))?);
    Ok(Hash256::finish(hasher))
}

/// What of a column belongs to the identity of the data: not the name of its covering column.
fn identity(column: &StoredColumn) -> Value {
    let mut item = Map::new();
    item.insert("name".to_owned(), Value::String(column.name.clone()));
    item.insert("type".to_owned(), Value::String(column.stored_type.to_string()));
    if column.inexact {
        item.insert("inexact".to_owned(), Value::Bool(true));
    }
    if let Some(geometry) = &column.geometry {
        item.insert("srid".to_owned(), geometry.srid.map_or(Value::Null, Value::from));
        item.insert("geometry".to_owned(), Value::Bool(true));
    }
    Value::Object(item)
}
