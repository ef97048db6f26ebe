//! The publisher's own documents, read where they are; see `real_documents` for where.

use std::collections::BTreeMap;
use std::path::PathBuf;

use benthic_mirror::bdp::report::{Finding, Standing, examine_folder};
use benthic_mirror::bdp::{
    Limits, TrustedKeys, Verified, VerifyError, check_collection_name, check_member, verify_collection,
    verify_document, verify_manifest, verify_set,
};
use benthic_mirror::catalog::{Catalog, ColumnType};

/// The folder with the real documents: `BENTHIC_REAL_BDP`, else `shared/real-bdp` beside the checkout.
///
/// `None`, with a message, when it isn't there; a failure where absence must not pass unseen (CI, or
/// `BENTHIC_REQUIRE_REAL_BDP=1`).
pub(crate) fn real_documents() -> Option<PathBuf> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let folder = std::env::var_os("BENTHIC_REAL_BDP").map(PathBuf::from).or_else(|| {
        here.ancestors()
            .skip(1)
            .take(2)
            .map(|parent| parent.join("shared/real-bdp"))
            .find(|path| path.is_dir())
    });
    if let Some(folder) = folder.filter(|folder| folder.join("bdp").is_dir()) {
        return Some(folder);
    }
    let required = std::env::var_os("CI").is_some()
        || std::env::var("BENTHIC_REQUIRE_REAL_BDP").is_ok_and(|value| value == "1");
    assert!(!required, "the real documents are required here; set BENTHIC_REAL_BDP to their folder");
    eprintln!("skipped: no real documents; set BENTHIC_REAL_BDP to their folder");
    None
}

fn read(path: &str) -> Option<Vec<u8>> {
    let path = real_documents()?.join(path);
    Some(std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

fn publisher() -> TrustedKeys {
    TrustedKeys::publisher_default()
}

fn collection(name: &str) -> Option<Verified<benthic_mirror::bdp::Collection>> {
    let bytes = read(&format!("bdp/{name}/collection.json"))?;
    Some(verify_collection(&bytes, &publisher(), &Limits::default()).unwrap())
}

#[test]
fn every_published_document_verifies() {
    let Some(root) = real_documents() else { return };
    let mut verified = 0;
    for collection in ["ngopen", "parts"] {
        let mut folders = vec![root.join("bdp").join(collection)];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let bytes = std::fs::read(&path).unwrap();
                let document = verify_document(&bytes, &publisher(), &Limits::default())
                    .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                assert_eq!(document.warnings, Vec::<String>::new(), "{}", path.display());
                assert_eq!(document.bytes, bytes);
                verified += 1;
            }
        }
    }
    assert!(verified >= 9, "only {verified} documents");
}

#[test]
fn known_hashes_are_the_computed_ones() {
    let Some(ngopen) = collection("ngopen") else { return };
    assert_eq!(
        ngopen.payload_hash.to_string(),
        "9763813abf4e925e5633da6ab515b44decafd36d4032ebd835ccbf3cddc14a27"
    );
    assert_eq!(ngopen.signed_by, benthic_mirror::bdp::PUBLISHER_KEY);
    assert_eq!(ngopen.signed_at.as_deref(), Some("2026-10-02T01:54:26Z"));
    assert_eq!(ngopen.document.created_at.as_deref(), Some("2026-08-11T15:14:04Z"));
    check_collection_name(&ngopen, "ngopen").unwrap();
    assert!(matches!(
        check_collection_name(&ngopen, "parts"),
        Err(VerifyError::WrongCollection { expected, found }) if expected == "parts" && found == "ngopen"
    ));
}

#[test]
fn every_tampered_document_is_refused_for_its_own_reason() {
    let verify = |name: &str| {
        let bytes = read(&format!("tampered/{name}"))?;
        Some(verify_document(&bytes, &publisher(), &Limits::default()).unwrap_err())
    };
    let Some(flipped) = verify("nullable-flipped.json") else { return };
    assert!(matches!(flipped, VerifyError::HashMismatch { .. }), "{flipped}");
    let edited = verify("hash-edited.json").unwrap();
    assert!(matches!(edited, VerifyError::BadSignature { .. }), "{edited}");
    let resigned = verify("resigned-unknown-key.json").unwrap();
    assert!(matches!(resigned, VerifyError::UntrustedKey { .. }), "{resigned}");
}

#[test]
fn genuine_but_superseded_manifests_don_t_match_their_pins() {
    let Some(ngopen) = collection("ngopen") else { return };
    for (dataset, file) in [
        ("samer", "manifest.64daff15.json"),
        ("up_cdmaps", "manifest.0b02c530.json"),
        ("up_cdmaps", "manifest.e3442fd3.json"),
    ] {
        let bytes = read(&format!("bdp/ngopen/{dataset}/{file}")).unwrap();
        let manifest = verify_manifest(&bytes, &publisher(), &Limits::default()).unwrap();
        let refused = check_member(&ngopen, dataset, &manifest);
        assert!(
            matches!(&refused, Err(VerifyError::PinMismatch { dataset: named, pinned, found })
                if named == dataset && pinned != found && file.contains(&found.to_string()[..8])),
            "{file}: {refused:?}"
        );
    }
    for dataset in ["samer", "up_cdmaps", "usp_cl"] {
        let bytes = read(&format!("bdp/ngopen/{dataset}/manifest.json")).unwrap();
        let manifest = verify_manifest(&bytes, &publisher(), &Limits::default()).unwrap();
        check_member(&ngopen, dataset, &manifest).unwrap();
    }
}

#[test]
fn an_incomplete_collection_names_the_missing_members() {
    let Some(ngopen) = collection("ngopen") else { return };
    let documents: BTreeMap<String, Vec<u8>> = ["samer", "up_cdmaps", "usp_cl"]
        .map(|dataset| (dataset.to_owned(), read(&format!("bdp/ngopen/{dataset}/manifest.json")).unwrap()))
        .into();
    let refused = verify_set(&ngopen, &documents, &publisher(), &Limits::default()).unwrap_err();
    assert_eq!(
        refused,
        VerifyError::MissingMember {
            collection: "ngopen".to_owned(),
            datasets: vec!["usaspending".to_owned(), "irs_ng".to_owned()]
        }
    );
    assert!(refused.to_string().contains("usaspending, irs_ng"), "{refused}");
}

#[test]
fn parts_becomes_a_whole_catalogue() {
    let Some(parts) = collection("parts") else { return };
    let documents = BTreeMap::from([("nhtsa".to_owned(), read("bdp/parts/nhtsa/manifest.json").unwrap())]);
    let manifests = verify_set(&parts, &documents, &publisher(), &Limits::default()).unwrap();
    let catalog = Catalog::from_verified(&parts, &manifests).unwrap();

    assert_eq!(catalog.relations().count(), 107);
    assert_eq!(catalog.relations().map(|relation| relation.columns.len()).sum::<usize>(), 383);
    assert_eq!(catalog.collection_hash, parts.payload_hash.to_string());
    assert_eq!(catalog.relations().filter(|relation| relation.primary_key.is_empty()).count(), 4);
    assert!(catalog.relations().all(|relation| relation.schema_and_table().0.is_some()));

    let nhtsa = catalog.dataset("nhtsa").unwrap();
    let endpoint = nhtsa.endpoint.as_ref().unwrap();
    assert_eq!(endpoint.base_url, "https://benthic.io/parts/NHTSA/");
    assert_eq!(endpoint.accept_profile, None, "prose is not a header value");
    assert_eq!(endpoint.max_rows, Some(1000));
    assert!(
        catalog.warnings.iter().any(|warning| warning.contains("accept_profile")),
        "{:?}",
        catalog.warnings
    );

    let plants = catalog.relation("nhtsa.api_reference.equipment_plants").unwrap();
    assert_eq!(plants.row_count_estimate, Some(11_274));
    assert_eq!(plants.column("source_updated_at").unwrap().1.column_type, ColumnType::TimestampTz);
    let odd = catalog.relation("nhtsa.vpic.wmiyearvalidchars_cacheexceptions").unwrap();
    assert!(odd.columns.iter().any(|column| matches!(column.column_type, ColumnType::Array(_))));
}

#[test]
fn our_schemas_constrain_exactly_what_the_published_ones_do() {
    let Some(root) = real_documents() else { return };
    for kind in ["collection", "manifest"] {
        let published = std::fs::read(root.join(format!("bdp/v1/{kind}.schema.json"))).unwrap();
        let ours = std::fs::read(
            PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("src/bdp/schemas/{kind}.json")),
        );
        let published: serde_json::Value = serde_json::from_slice(&published).unwrap();
        let ours: serde_json::Value = serde_json::from_slice(&ours.unwrap()).unwrap();
        assert_eq!(constraints(&ours, &ours), constraints(&published, &published), "{kind}");
    }
}

/// A schema without its prose and names: references resolved, annotations dropped, members sorted.
fn constraints(schema: &serde_json::Value, root: &serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    let Value::Object(members) = schema else { return schema.clone() };
    if let Some(Value::String(reference)) = members.get("$ref") {
        return constraints(root.pointer(reference.trim_start_matches('#')).unwrap(), root);
    }
    let mut kept = BTreeMap::new();
    for (keyword, value) in members {
        let value = match keyword.as_str() {
            "$schema" | "$id" | "$defs" | "title" | "description" | "examples" | "default" => continue,
            "properties" => {
                let properties: BTreeMap<_, _> = value
                    .as_object()
                    .unwrap()
                    .iter()
                    .map(|(name, schema)| (name.clone(), constraints(schema, root)))
                    .collect();
                serde_json::json!(properties)
            }
            "items" => constraints(value, root),
            "required" => {
                let mut names: Vec<&str> =
                    value.as_array().unwrap().iter().filter_map(Value::as_str).collect();
                names.sort_unstable();
                serde_json::json!(names)
            }
            // Two spellings of one pattern.
            "pattern" => serde_json::json!(value.as_str().unwrap().replace(r"\d", "[0-9]")),
            _ => value.clone(),
        };
        kept.insert(keyword.clone(), value);
    }
    serde_json::json!(kept)
}

#[test]
fn the_folder_report_tells_complete_from_incomplete() {
    let Some(root) = real_documents() else { return };
    let mut files = BTreeMap::new();
    let mut folders = vec![root.join("bdp")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root.join("bdp")).unwrap().to_str().unwrap().to_owned();
                files.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    let report = examine_folder(&files, &publisher(), &Limits::default());
    let finding =
        |path: &str| &report.documents.iter().find(|document| document.path == path).unwrap().finding;
    for list in ["index.json", "keys.json"] {
        assert_eq!(finding(list), &Finding::UnsignedList, "{list}");
    }
    assert_eq!(finding("v1/manifest.schema.json"), &Finding::OtherJson);
    let standing = |path: &str| match finding(path) {
        Finding::Verified(facts) => facts.standing.clone(),
        other => panic!("{path}: {other:?}"),
    };
    assert_eq!(standing("parts/nhtsa/manifest.json"), Some(Standing::Pinned { by: "parts".to_owned() }));
    for superseded in
        ["samer/manifest.64daff15", "up_cdmaps/manifest.0b02c530", "up_cdmaps/manifest.e3442fd3"]
    {
        let path = format!("ngopen/{superseded}.json");
        assert!(matches!(standing(&path), Some(Standing::Superseded { by, .. }) if by == "ngopen"), "{path}");
    }
    let missing = VerifyError::MissingMember {
        collection: "ngopen".to_owned(),
        datasets: vec!["usaspending".to_owned(), "irs_ng".to_owned()],
    };
    assert_eq!(report.faults(), [("ngopen/collection.json", &missing)]);
    let printed = report.to_string();
    assert!(printed.contains("complete  parts/collection.json: 'parts' with 1 members"), "{printed}");
    assert!(printed.contains("unsigned  index.json: not believed"), "{printed}");

    // Without the pinned revision, the superseded one is named as what it is.
    files.remove("ngopen/samer/manifest.json");
    let report = examine_folder(&files, &publisher(), &Limits::default());
    assert!(
        report.faults().iter().any(
            |(_, fault)| matches!(fault, VerifyError::PinMismatch { dataset, .. } if dataset == "samer")
        ),
        "{report}"
    );

    // A signature stripped off is a fault, not a document of another kind.
    let stripped = String::from_utf8(files["parts/collection.json"].clone()).unwrap();
    let stripped = stripped.replace("cryptographic_signature", "signature");
    files.insert("parts/collection.json".to_owned(), stripped.into_bytes());
    let report = examine_folder(&files, &publisher(), &Limits::default());
    assert!(report.faults().contains(&("parts/collection.json", &VerifyError::MissingSignature)), "{report}");
}
