//! What a signature grants: the catalogue keeps exactly that, and says what it left out.

use benthic_mirror::bdp::{Limits, verify_collection, verify_manifest};
use benthic_mirror::catalog::{Catalog, CatalogError, JoinType, Reliability, SignedFile};
use serde_json::{Map, Value, json};

use crate::fixtures::{collection, manifest, sign, trusted, written};

/// The catalogue of one manifest, changed at JSON pointers, in a collection with these join paths.
fn catalog_of(changes: &[(&str, Value)], joins: Value) -> Result<Catalog, CatalogError> {
    let mut payload = Value::Object(manifest("rivers"));
    for (pointer, value) in changes {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        match payload.pointer_mut(parent).unwrap() {
            Value::Object(object) => {
                object.insert((*name).to_owned(), value.clone());
            }
            Value::Array(items) => items.push(value.clone()),
            other => panic!("{pointer}: {other}"),
        }
    }
    let (document, hash) = sign(payload.as_object().unwrap().clone());
    let mut pins: Map<String, Value> = collection(&[("rivers", hash)]);
    pins.insert("join_paths".to_owned(), joins);
    let manifest = verify_manifest(&written(&document), &trusted(), &Limits::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let collection = verify_collection(&written(&sign(pins).0), &trusted(), &Limits::default())
        .unwrap_or_else(|error| panic!("{error}"));
    Catalog::from_verified(&collection, &[manifest])
}

fn end(relation: &str, column: &str) -> Value {
    json!({"dataset_name": "rivers", "relation": relation, "column": column, "srid": 4326})
}

fn join(from: Value, to: Value) -> Value {
    json!({"from": from, "to": to, "join_type": "spatial", "reliability": "partial", "notes": "n"})
}

fn assert_one_warning(catalog: &Catalog, about: &str) {
    assert_eq!(catalog.warnings.len(), 1, "{:?}", catalog.warnings);
    assert!(catalog.warnings[0].contains(about), "{:?}", catalog.warnings);
}

#[test]
fn everything_declared_arrives() {
    let catalog = catalog_of(&[], json!([])).unwrap();
    assert_eq!(catalog.warnings, Vec::<String>::new());
    assert_eq!(catalog.created_at.as_deref(), Some("2026-08-02T12:00:00Z"));
    let rivers = catalog.relation("rivers.rivers").unwrap();
    assert_eq!(rivers.primary_key, ["id"]);
    assert_eq!(rivers.relation_type, "table");
    assert_eq!(rivers.row_count_estimate, Some(12));
    assert!(rivers.queryable);
    let (position, length) = rivers.column("length_km").unwrap();
    assert_eq!((position, length.unit.as_deref(), length.nullable), (1, Some("km"), true));
    assert!(!rivers.column("id").unwrap().1.nullable);
    assert_eq!(catalog.relation("rivers.raw.gauges").unwrap().row_count_estimate, None);
}

#[test]
fn join_paths_need_both_ends() {
    let good = join(end("rivers", "id"), end("raw.gauges", "id"));
    let catalog = catalog_of(&[], json!([good])).unwrap();
    let path = &catalog.joins[0];
    assert_eq!((path.join_type, path.reliability), (JoinType::Spatial, Reliability::Partial));
    assert_eq!((path.from.srid, path.notes.as_deref()), (Some(4326), Some("n")));
    assert_eq!(catalog.joins_between("rivers.raw.gauges", "rivers.rivers").len(), 1);

    for absent in [
        end("rivers", "absent"),
        end("absent", "id"),
        json!({"dataset_name": "absent", "relation": "rivers", "column": "id"}),
    ] {
        for path in [join(absent.clone(), end("rivers", "id")), join(end("rivers", "id"), absent.clone())] {
            let catalog = catalog_of(&[], json!([good, path])).unwrap();
            assert_eq!(catalog.joins.len(), 1);
            assert_one_warning(&catalog, "absent");
        }
    }
}

#[test]
fn a_primary_key_over_missing_columns_is_none() {
    let changes = [("/schema_definition/0/primary_key", json!(["id", "basin"]))];
    let catalog = catalog_of(&changes, json!([])).unwrap();
    assert!(catalog.relation("rivers.rivers").unwrap().primary_key.is_empty());
    assert_one_warning(&catalog, "basin");
}

#[test]
fn only_open_postgrest_endpoints_count() {
    let endpoint =
        |changes: &[(&str, Value)]| catalog_of(changes, json!([])).unwrap().datasets[0].endpoint.clone();
    assert_eq!(endpoint(&[("/endpoints/0/meta/requires_auth", json!(true))]), None);
    assert_eq!(endpoint(&[("/endpoints/0/transport_type", json!("arrow_flight"))]), None);
    assert_eq!(endpoint(&[("/endpoints/0/base_url", json!("https://u:p@data.example/"))]), None);
    let second = json!({"transport_type": "postgrest_api", "base_url": "https://open.example/api/"});
    let found = endpoint(&[("/endpoints/0/meta/requires_auth", json!(true)), ("/endpoints/1", second)]);
    assert_eq!(found.unwrap().base_url, "https://open.example/api/");
    let profile = endpoint(&[("/endpoints/0/meta/accept_profile", json!("river_api"))]);
    assert_eq!(profile.unwrap().accept_profile.as_deref(), Some("river_api"));

    let prose = [("/endpoints/0/meta/accept_profile", json!("rivers (default)"))];
    let catalog = catalog_of(&prose, json!([])).unwrap();
    assert_eq!(catalog.datasets[0].endpoint.as_ref().unwrap().accept_profile, None);
    assert_one_warning(&catalog, "accept_profile");
}

#[test]
fn files_count_only_with_a_hash_and_as_the_whole_relation() {
    let hash = "ab".repeat(32);
    let files = |transport: &str, files: Value| {
        let endpoint = json!({
            "transport_type": transport, "base_url": "https://files.example/r", "meta": {"files": files}
        });
        catalog_of(&[("/endpoints/1", endpoint)], json!([])).unwrap()
    };
    let file = |relation: &str, path: &str| json!({"relation": relation, "path": path, "sha256": hash, "byte_size": 5});
    let good = file("rivers", "v1/rivers.parquet");
    for transport in ["parquet", "geoparquet"] {
        let catalog = files(transport, json!([good]));
        assert_eq!(
            catalog.datasets[0].files,
            [SignedFile {
                relation: "rivers".to_owned(),
                url: "https://files.example/r/v1/rivers.parquet".to_owned(),
                byte_size: Some(5),
                sha256: hash.clone(),
            }]
        );
        assert_eq!(catalog.warnings, Vec::<String>::new());
    }
    for (refused, about) in [
        (json!([{"relation": "rivers", "path": "a.parquet"}]), "sha256"),
        (json!([file("rivers", "../a.parquet")]), "plain relative"),
        (json!([file("rivers", "https://evil.example/a")]), "plain relative"),
        (json!([file("absent", "a.parquet")]), "no such relation"),
        (json!([file("raw.gauges", "a.parquet")]), "queryable"),
    ] {
        let catalog = files("parquet", refused);
        assert_eq!(catalog.datasets[0].files, Vec::new(), "{about}");
        assert_one_warning(&catalog, about);
    }
    // Two files of one relation are pieces of it; neither is the whole.
    let pieces = files("parquet", json!([good, file("rivers", "v1/rivers-2.parquet")]));
    assert_eq!(pieces.datasets[0].files, Vec::new());
    assert_eq!(pieces.warnings.len(), 2);
    assert_eq!(files("arrow_flight", json!([good])).datasets[0].files, Vec::new());
}

#[test]
fn contradictions_are_errors() {
    let again = json!({"name": "rivers", "columns": [{"name": "other", "type": "string"}]});
    assert!(matches!(
        catalog_of(&[("/schema_definition/2", again)], json!([])),
        Err(CatalogError::DuplicateRelation { relation, .. }) if relation == "rivers"
    ));
    let again = json!({"name": "id", "type": "string"});
    assert!(matches!(
        catalog_of(&[("/schema_definition/0/columns/2", again)], json!([])),
        Err(CatalogError::DuplicateColumn { column, .. }) if column == "id"
    ));
}

#[test]
fn what_is_odd_but_harmless_is_said() {
    let catalog = catalog_of(&[("/collection", json!("elsewhere"))], json!([])).unwrap();
    assert_one_warning(&catalog, "elsewhere");
    let catalog =
        catalog_of(&[("/schema_definition/0/columns/1/srid", json!(99_999_999_999_u64))], json!([]));
    let catalog = catalog.unwrap();
    assert_eq!(catalog.relation("rivers.rivers").unwrap().column("length_km").unwrap().1.srid, None);
    assert_one_warning(&catalog, "SRID");
}
