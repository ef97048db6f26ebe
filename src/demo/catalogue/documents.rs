//! Collection, manifests and the unsigned files beside them, byte for byte reproducible.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::SigningKey;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::super::relation::{DemoColumn, DemoData, DemoRelation};
use super::super::{COLLECTION, DemoError, ORIGIN};
use crate::bdp::sign::sign_document;

/// The Ed25519 seed of the demo key. **Worthless as a secret**: it is published here, anyone can sign with it, and only
/// `demo` and `serve --demo` trust it.
pub const DEMO_KEY_SEED: [u8; 32] = *b"benthic-mirror worthless demokey";

/// Authenticated creation time of every demo document.
const CREATED_AT: &str = "2026-01-15T00:00:00Z";
/// Time named in the signature block, which the signature doesn't cover.
const SIGNED_AT: &str = "2026-01-16T00:00:00Z";
const AUTHOR: &str = "demo@benthic-mirror.example";

/// Name, title and description of the datasets, in collection order.
const DATASETS: &[(&str, &str, &str)] = &[
    (
        "usaspending",
        "Demo federal awards",
        "Invented awards and recipients in the shape of federal spending data.",
    ),
    ("irs_ng", "Demo nonprofit organizations", "Invented nonprofits and returns. Points are in EPSG:4326."),
    ("samer", "Demo entity registrations", "Invented registrations of invented entities."),
    (
        "up_cdmaps",
        "Demo district boundaries",
        "Invented boundaries in EPSG:3857; project points before testing them.",
    ),
    ("usp_cl", "Demo legislators", "Invented members of Congress, their terms, committees and offices."),
];

/// The seven signed join paths: from, to, type, reliability, note, spatial references.
type Path =
    (&'static str, &'static str, &'static str, &'static str, Option<&'static str>, Option<(i32, i32)>);
const JOIN_PATHS: &[Path] = &[
    (
        "usaspending.all_entities.uei",
        "samer.sam_registrations.uei",
        "identifier",
        "reliable",
        Some("Entities moved from DUNS to UEI in 2022; uei_crosswalk holds the older identifiers"),
        None,
    ),
    ("usaspending.all_entities.duns", "irs_ng.bmf_organizations.ein", "heuristic", "heuristic", None, None),
    ("samer.sam_registrations.duns", "irs_ng.bmf_organizations.ein", "heuristic", "heuristic", None, None),
    (
        "usaspending.all_entities.geom_point",
        "up_cdmaps.congressional_districts.geom",
        "spatial",
        "reliable",
        Some("The two use different reference systems; rpc_find_district reprojects for you"),
        Some((4326, 3857)),
    ),
    (
        "usp_cl.district_offices.geom_point",
        "up_cdmaps.congressional_districts.geom",
        "spatial",
        "partial",
        Some("An office need not lie in the district it serves"),
        None,
    ),
    (
        "usaspending.all_entities.congressional_district",
        "usp_cl.legislator_terms.district",
        "identifier",
        "partial",
        Some("A number means a district only together with its state, and a term only within its dates"),
        None,
    ),
    (
        "usp_cl.legislators.bioguide_id",
        "usp_cl.legislator_terms.bioguide_id",
        "identifier",
        "reliable",
        Some("Every term resolves to a legislator"),
        None,
    ),
];

/// Every file below `data/demo`, by relative path.
pub(in crate::demo) fn documents(data: &DemoData) -> Result<BTreeMap<String, Vec<u8>>, DemoError> {
    let key = SigningKey::from_bytes(&DEMO_KEY_SEED);
    let public_key = STANDARD.encode(key.verifying_key().as_bytes());
    let mut files = BTreeMap::new();
    let mut members = Vec::new();
    for (dataset, title, description) in DATASETS {
        let manifest = manifest(data, dataset, title, description, &public_key);
        let (signed, hash) = sign(manifest, &key)?;
        let path = format!("{dataset}/manifest.json");
        members.push(json!({
            "dataset_name": dataset,
            "manifest_url": format!("{ORIGIN}/bdp/{COLLECTION}/{path}"),
            "payload_hash": hash,
            "title": title,
        }));
        files.insert(path, pretty(&signed));
    }
    let (collection, collection_hash) = sign(collection(members, &public_key), &key)?;
    files.insert("collection.json".to_owned(), pretty(&collection));
    files.insert("index.json".to_owned(), pretty(&index(&collection_hash)));
    files.insert("keys.json".to_owned(), pretty(&keys(&public_key)));
    files.insert("demo-key.json".to_owned(), pretty(&demo_key(&public_key)));
    files.insert("rows.sha256".to_owned(), row_digests(data).into_bytes());
    files.insert("README.md".to_owned(), readme(&public_key).into_bytes());
    Ok(files)
}

fn sign(document: Value, key: &SigningKey) -> Result<(Value, String), DemoError> {
    let Value::Object(payload) = sorted(document) else { return Err(DemoError::NotAnObject) };
    let (signed, hash) =
        sign_document(payload, key, Some(SIGNED_AT)).map_err(|error| DemoError::Sign(error.to_string()))?;
    Ok((sorted(Value::Object(signed)), hash.to_string()))
}

/// Members sorted by name at every depth, as the real documents are written.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let ordered: BTreeMap<String, Value> =
                members.into_iter().map(|(name, member)| (name, sorted(member))).collect();
            Value::Object(ordered.into_iter().collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}

fn pretty(value: &Value) -> Vec<u8> {
    // `{:#}` prints a Value with two blanks of indentation and can't fail.
    format!("{:#}\n", sorted(value.clone())).into_bytes()
}

fn manifest(data: &DemoData, dataset: &str, title: &str, description: &str, public_key: &str) -> Value {
    let base_url = format!("{ORIGIN}/{dataset}/");
    json!({
        "protocol_version": "1.0.0",
        "author_identity": AUTHOR,
        "author_pubkey": public_key,
        "dataset_name": dataset,
        "collection": COLLECTION,
        "title": title,
        "description": description,
        "license": "CC0",
        "created_at": CREATED_AT,
        "etl_provenance": {
            "repository_url": format!("{ORIGIN}/source"),
            "commit_hash": "0000000000000000000000000000000000000000",
            "pipeline_entrypoint": "src/demo/rows/mod.rs",
            "migration_status": "pending",
            "source_attribution": [{"name": "invented by a seeded generator"}],
        },
        "endpoints": [{
            "transport_type": "postgrest_api",
            "base_url": base_url,
            "meta": {"accept_profile": "public", "max_rows": 1000, "openapi_url": base_url, "requires_auth": false},
        }],
        "schema_definition": data.dataset(dataset).map(relation).collect::<Vec<_>>(),
    })
}

fn relation(relation: &DemoRelation) -> Value {
    let mut members = json!({
        "name": relation.name,
        "relation_type": relation.relation_type,
        "provenance": relation.provenance,
        "queryable": relation.queryable,
        "columns": relation.columns.iter().map(column).collect::<Vec<_>>(),
    });
    // Absent rather than null or empty: that is how the real documents say "none".
    if let Some(description) = &relation.description {
        members["description"] = json!(description);
    }
    if !relation.primary_key.is_empty() {
        members["primary_key"] = json!(relation.primary_key);
    }
    if let Some(estimate) = relation.row_count_estimate {
        members["row_count_estimate"] = json!(estimate);
    }
    members
}

fn column(column: &DemoColumn) -> Value {
    let mut members = json!({
        "name": column.name,
        "type": column.declared_type,
        "native_type": column.native_type,
        "nullable": column.nullable,
    });
    if let Some(description) = &column.description {
        members["description"] = json!(description);
    }
    if let Some(srid) = column.srid {
        members["srid"] = json!(srid);
    }
    if let Some(unit) = &column.unit {
        members["unit"] = json!(unit);
    }
    members
}

fn collection(members: Vec<Value>, public_key: &str) -> Value {
    json!({
        "protocol_version": "1.0.0",
        "author_identity": AUTHOR,
        "author_pubkey": public_key,
        "collection_name": COLLECTION,
        "title": "Demo",
        "description": "Five invented datasets in the shape of the published ones, for trying the mirror without a network.",
        "purpose": "To show and test every path through the mirror on rows that name nobody.",
        "license": "CC0",
        "created_at": CREATED_AT,
        "members": members,
        "join_paths": JOIN_PATHS.iter().map(join_path).collect::<Vec<_>>(),
    })
}

fn join_path((from, to, join_type, reliability, notes, srids): &Path) -> Value {
    let mut members = json!({
        "from": join_end(from, srids.map(|(srid, _)| srid)),
        "to": join_end(to, srids.map(|(_, srid)| srid)),
        "join_type": join_type,
        "reliability": reliability,
    });
    if let Some(notes) = notes {
        members["notes"] = json!(notes);
    }
    members
}

fn join_end(endpoint: &str, srid: Option<i32>) -> Value {
    let (dataset, rest) = endpoint.split_once('.').unwrap_or((endpoint, ""));
    let (relation, column) = rest.rsplit_once('.').unwrap_or((rest, ""));
    let mut members = json!({"dataset_name": dataset, "relation": relation, "column": column});
    if let Some(srid) = srid {
        members["srid"] = json!(srid);
    }
    members
}

fn index(collection_hash: &str) -> Value {
    json!({
        "author_identity": AUTHOR,
        "collections": [{
            "collection_name": COLLECTION,
            "collection_url": format!("{ORIGIN}/bdp/{COLLECTION}/collection.json"),
            "description": "Invented datasets for the demo.",
            "member_count": DATASETS.len(),
            "payload_hash": collection_hash,
            "title": "Demo",
        }],
        "keys_url": format!("{ORIGIN}/bdp/keys.json"),
        "notes": "Unsigned: a way in, nothing to believe.",
        "protocol_version": "1.0.0",
        "publisher": "benthic-mirror.example",
    })
}

fn keys(public_key: &str) -> Value {
    json!({
        "keys": [{
            "algorithm": "Ed25519",
            "author_identity": AUTHOR,
            "author_pubkey": public_key,
            "encoding": "raw 32-byte public key, standard Base64 with padding",
            "scope": "The demo collection only.",
            "status": "active",
            "valid_from": "2026-01-15",
        }],
        "notes": "Unsigned, and never a root of trust.",
        "protocol_version": "1.0.0",
        "revoked": [],
    })
}

fn demo_key(public_key: &str) -> Value {
    json!({
        "warning": "WORTHLESS KEY. Its seed is published here; anyone can sign with it. Trusted only by `demo` and `serve --demo`.",
        "algorithm": "Ed25519",
        "seed_hex": hex::encode(DEMO_KEY_SEED),
        "author_pubkey": public_key,
    })
}

/// One line a relation: SHA-256 over its rows as JSON objects, each followed by a line feed, in the held order; row
/// count; source.
fn row_digests(data: &DemoData) -> String {
    let lines = data.relations.iter().map(|relation| {
        let mut digest = Sha256::new();
        for row in &relation.rows {
            digest.update(relation.row_json(row).as_bytes());
            digest.update(b"\n");
        }
        format!("{} {:>5} {}\n", hex::encode(digest.finalize()), relation.rows.len(), relation.source())
    });
    lines.collect()
}

fn readme(public_key: &str) -> String {
    format!(
        "# The demo catalogue

Signed documents of an invented collection named `{COLLECTION}`, in the shape of a real one. The rows behind them aren't
stored: `benthic_mirror::demo` generates them from a seed, and `rows.sha256` pins what it must generate.

Everything here is generated. To change it, change the generator and run its tests with `UPDATE_DEMO=1`.

**The key is worthless.** `demo-key.json` publishes the seed of the Ed25519 key that signs these documents
(`{public_key}`), so anyone can sign with it. Only `demo` and `serve --demo` trust it; every other command refuses a store
made with it.

Nobody and nothing in the rows is real except the names and places of states and cities. District boundaries are drawn on a
lattice and aren't those of any real district.
"
    )
}
