//! Every attack is refused, and for its own reason.

use std::collections::{BTreeMap, BTreeSet};

use benthic_mirror::bdp::ledger::{Candidate, LedgerLine, Verdict, judge, replay};
use benthic_mirror::bdp::{
    Check, Collection, Limits, LoopbackHttp, Manifest, PayloadHash, RollbackReason, Verified, VerifyError,
    check_collection_name, check_member, manifest_url, verify_collection, verify_document, verify_manifest,
    verify_set,
};
use benthic_mirror::catalog::Catalog;
use serde_json::json;
use url::Url;

use crate::fixtures::{self, edited, fixture, trusted, with_block};

fn refuse_manifest(path: &str) -> VerifyError {
    match verify_manifest(&fixture(path), &trusted(), &Limits::default()) {
        Ok(_) => panic!("{path} was accepted"),
        Err(error) => error,
    }
}

fn manifest(path: &str) -> Verified<Manifest> {
    verify_manifest(&fixture(path), &trusted(), &Limits::default())
        .unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn collection(path: &str) -> Verified<Collection> {
    verify_collection(&fixture(path), &trusted(), &Limits::default())
        .unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Asserts the variant of one attack's documents.
macro_rules! refused {
    ($name:ident, $pattern:pat $(if $guard:expr)?, $($path:literal),+) => {
        #[test]
        fn $name() {
            for path in [$($path),+] {
                let error = refuse_manifest(path);
                assert!(matches!(&error, $pattern $(if $guard)?), "{path}: {error:?}");
            }
        }
    };
}

refused!(a_changed_payload, VerifyError::HashMismatch { .. }, "bad-hash/manifest.json");
refused!(an_old_signature, VerifyError::BadSignature { .. }, "bad-signature/manifest.json");
refused!(a_signature_over_hex, VerifyError::BadSignature { .. }, "signature-of-hex/manifest.json");
refused!(an_unknown_key, VerifyError::UntrustedKey { trusted: 1, .. }, "unknown-key/manifest.json");
refused!(a_stripped_signature, VerifyError::MissingSignature, "missing-signature/manifest.json");
refused!(a_hash_with_the_block_nulled, VerifyError::HashMismatch { .. }, "nulled-signature/hash.json");
refused!(
    a_malformed_block,
    VerifyError::MalformedSignature { .. },
    "nulled-signature/block.json",
    "malformed-signature/not-an-object.json",
    "malformed-signature/uppercase-hash.json",
    "malformed-signature/short-signature.json"
);
refused!(
    duplicate_members,
    VerifyError::DuplicateMember { .. },
    "duplicate-members/top.json",
    "duplicate-members/nested.json",
    "duplicate-members/escaped.json",
    "duplicate-members/signature-block.json"
);
refused!(trailing_data, VerifyError::TrailingData { .. }, "trailing-data/manifest.json");
refused!(a_byte_order_mark, VerifyError::ByteOrderMark, "byte-order-mark/manifest.json");
refused!(invalid_utf8, VerifyError::NotUtf8 { offset: 40 }, "not-utf8/manifest.json");
refused!(a_lone_surrogate, VerifyError::NotJson { .. }, "lone-surrogate/manifest.json");
refused!(an_array, VerifyError::NotAnObject { found: "an array" }, "not-an-object/manifest.json");
refused!(
    numbers_that_change,
    VerifyError::NumberNotExact { path, .. } if path == "/endpoints/0/meta/weight",
    "huge-numbers/beyond-doubles.json",
    "huge-numbers/integer-rounds.json",
    "huge-numbers/fraction-rounds.json",
    "huge-numbers/vanishes.json"
);
refused!(deep_nesting, VerifyError::TooDeep { limit: 64, .. }, "deep-nesting/manifest.json");
refused!(a_reserved_member, VerifyError::ReservedMember { .. }, "reserved-member/manifest.json");
refused!(a_small_order_key, VerifyError::SmallOrderKey { .. }, "small-order-key/manifest.json");
refused!(a_key_in_another_form, VerifyError::MalformedKey { .. }, "malformed-key/manifest.json");
refused!(
    a_non_canonical_signature,
    VerifyError::NonCanonicalSignature { .. },
    "non-canonical-signature/manifest.json"
);
refused!(
    an_algorithm_downgrade,
    VerifyError::UnsupportedAlgorithm { .. },
    "algorithm-downgrade/algorithm.json",
    "algorithm-downgrade/canonicalization.json",
    "algorithm-downgrade/hash_algorithm.json"
);
refused!(
    unknown_members_of_a_known_version,
    VerifyError::UnknownMember { members, .. } if members == &["/schema_definition/0/columns/1/sensitivity"],
    "unknown-member/manifest.json"
);
refused!(
    an_unknown_major_version,
    VerifyError::UnsupportedVersion { found, .. } if found == "2.0.0",
    "unknown-version/manifest.json"
);

#[test]
fn schema_faults_name_their_place() {
    for (path, pointer) in [
        ("schema-fault/bad-date.json", "/created_at"),
        ("schema-fault/negative-count.json", "/schema_definition/0/row_count_estimate"),
        ("schema-fault/relative-address.json", "/endpoints/0/base_url"),
    ] {
        let error = refuse_manifest(path);
        assert!(
            matches!(&error, VerifyError::Schema { faults, .. } if faults.iter().all(|fault| fault.pointer == pointer)),
            "{path}: {error:?}"
        );
        assert!(error.to_string().contains(pointer), "{error}");
    }
    let bytes = fixture("schema-fault/manifest-as-collection.json");
    let error = verify_collection(&bytes, &trusted(), &Limits::default()).unwrap_err();
    assert!(matches!(error, VerifyError::Schema { document: "collection", .. }), "{error:?}");
    let bytes = fixture("neither-document/document.json");
    assert_eq!(
        verify_document(&bytes, &trusted(), &Limits::default()).unwrap_err(),
        VerifyError::UnknownDocument
    );
}

#[test]
fn oversize_is_refused_before_it_is_read() {
    let limits = Limits::default();
    // Not even JSON: only its length may count.
    let oversize = vec![b'x'; limits.max_document_bytes + 1];
    assert_eq!(
        verify_manifest(&oversize, &trusted(), &limits).unwrap_err(),
        VerifyError::TooLarge { size: 8 * 1024 * 1024 + 1, limit: 8 * 1024 * 1024 }
    );
    let padded = |length: usize| {
        let mut bytes = fixture("genuine/rivers.json");
        bytes.resize(length, b' ');
        verify_manifest(&bytes, &trusted(), &limits)
    };
    assert!(padded(limits.max_document_bytes).is_ok());
    assert!(padded(limits.max_document_bytes + 1).is_err());
}

#[test]
fn a_later_minor_version_is_read_with_a_warning() {
    let verified = manifest("unknown-member/newer-minor.json");
    assert_eq!(verified.warnings.len(), 1);
    assert!(
        verified.warnings[0].contains("/schema_definition/0/columns/1/sensitivity"),
        "{:?}",
        verified.warnings
    );
    // The member stays in the hash: changing it breaks the document.
    let changed = edited(&verified.bytes, r#""low""#, r#""high""#);
    let error = verify_manifest(&changed, &trusted(), &Limits::default()).unwrap_err();
    assert!(matches!(error, VerifyError::HashMismatch { .. }), "{error:?}");
}

#[test]
fn the_genuine_set_makes_a_catalogue() {
    let collection = collection("genuine/collection.json");
    check_collection_name(&collection, "trial").unwrap();
    assert!(matches!(check_collection_name(&collection, "other"), Err(VerifyError::WrongCollection { .. })));
    let manifests = verify_set(&collection, &set("genuine"), &trusted(), &Limits::default()).unwrap();
    // In any order, and with others among them.
    let mut shuffled = manifests.clone();
    shuffled.reverse();
    shuffled.push(manifest("bad-signature/../pin-mismatch/rivers.json"));
    let catalog = Catalog::from_verified(&collection, &shuffled).unwrap();
    let sources: Vec<String> = catalog.relations().map(|relation| relation.source()).collect();
    assert_eq!(sources, ["rivers.rivers", "rivers.raw.gauges", "lakes.rivers", "lakes.raw.gauges"]);
    assert!(!catalog.relation("rivers.raw.gauges").unwrap().queryable);
    assert_eq!(
        catalog.dataset("rivers").unwrap().endpoint.as_ref().unwrap().base_url,
        "https://data.example/trial/"
    );
    assert!(Catalog::from_verified(&collection, &manifests[..1]).is_err());
}

/// The manifests of an attack's folder by dataset name, as a server would serve them.
fn set(attack: &str) -> BTreeMap<String, Vec<u8>> {
    fixtures::generate()
        .into_keys()
        .filter_map(|path| {
            let dataset = path.strip_prefix(attack)?.strip_prefix('/')?.strip_suffix(".json")?.to_owned();
            (dataset != "collection").then(|| (dataset, fixture(&path)))
        })
        .collect()
}

fn refuse_set(attack: &str) -> VerifyError {
    let collection = collection(&format!("{attack}/collection.json"));
    verify_set(&collection, &set(attack), &trusted(), &Limits::default()).unwrap_err()
}

#[test]
fn members_must_be_the_pinned_ones() {
    assert_eq!(
        refuse_set("swapped-member"),
        VerifyError::MemberNameMismatch { expected: "rivers".to_owned(), found: "lakes".to_owned() }
    );
    let mismatch = refuse_set("pin-mismatch");
    assert!(
        matches!(&mismatch, VerifyError::PinMismatch { dataset, .. } if dataset == "rivers"),
        "{mismatch:?}"
    );
    assert_eq!(
        refuse_set("missing-member"),
        VerifyError::MissingMember { collection: "trial".to_owned(), datasets: vec!["rivers".to_owned()] }
    );
    let mut extra = set("genuine");
    extra.insert("seas".to_owned(), fixture("genuine/rivers.json"));
    let genuine = collection("genuine/collection.json");
    let unlisted = verify_set(&genuine, &extra, &trusted(), &Limits::default()).unwrap_err();
    assert!(matches!(unlisted, VerifyError::UnlistedDataset { .. }), "{unlisted:?}");
    let rivers = manifest("genuine/rivers.json");
    assert!(check_member(&genuine, "rivers", &rivers).is_ok());
    assert!(matches!(check_member(&genuine, "seas", &rivers), Err(VerifyError::UnlistedDataset { .. })));

    let bytes = fixture("duplicate-dataset/collection.json");
    let duplicate = verify_collection(&bytes, &trusted(), &Limits::default()).unwrap_err();
    assert!(matches!(duplicate, VerifyError::DuplicateDataset { .. }), "{duplicate:?}");
}

#[test]
fn manifest_addresses_stay_below_the_root() {
    let root = Url::parse("https://documents.example/bdp").unwrap();
    let genuine = collection("genuine/collection.json");
    for member in &genuine.document.members {
        assert!(manifest_url(&root, member, LoopbackHttp::Refused).is_ok());
    }
    let elsewhere = collection("manifest-elsewhere/collection.json");
    let error = manifest_url(&root, &elsewhere.document.members[0], LoopbackHttp::Allowed).unwrap_err();
    assert!(matches!(&error, VerifyError::ManifestUrl { dataset, .. } if dataset == "rivers"), "{error:?}");
}

fn verdict(attack: &str, document: &str, operator: Option<PayloadHash>) -> (Verdict, Verified<Collection>) {
    let text = String::from_utf8(fixture(&format!("{attack}/ledger.jsonl"))).unwrap();
    let lines: Vec<LedgerLine> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let offered = collection(&format!("{attack}/{document}.json"));
    let candidate = Candidate {
        collection: offered.document.collection_name.clone(),
        hash: offered.payload_hash,
        created_at: offered.document.created_at.clone(),
    };
    (judge(&replay(&lines), &candidate, operator), offered)
}

#[test]
fn rollbacks_are_refused_with_both_hashes() {
    let (current, accepted) = verdict("rollback-by-hash", "current", None);
    assert_eq!(current, Verdict::Current);
    let (rolled_back, offered) = verdict("rollback-by-hash", "offered", None);
    let error = rolled_back.into_result("trial").unwrap_err();
    assert!(
        matches!(&error, VerifyError::Rollback { reason, .. } if matches!(**reason, RollbackReason::ReplacedBefore { .. })),
        "{error:?}"
    );
    for hash in [accepted.payload_hash, offered.payload_hash] {
        assert!(error.to_string().contains(&hash.to_string()), "{error}");
    }
    let (allowed, _) = verdict("rollback-by-hash", "offered", Some(offered.payload_hash));
    assert!(matches!(allowed, Verdict::AllowedByOperator { .. }), "{allowed:?}");

    let (older, _) = verdict("rollback-by-created-at", "offered", None);
    assert!(
        matches!(older, Verdict::Rollback { reason: RollbackReason::CreatedEarlier { .. }, .. }),
        "{older:?}"
    );
}

/// Documents with two faults: the earlier check decides, for every pair of neighbouring checks.
#[test]
fn checks_run_in_their_order() {
    let verify = |bytes: &[u8]| {
        let error = verify_manifest(bytes, &trusted(), &Limits::default()).unwrap_err();
        (error.check(), error)
    };
    let genuine = fixture("genuine/rivers.json");
    let downgraded = fixture("algorithm-downgrade/algorithm.json");
    let mut seen = BTreeSet::new();
    let mut first_of = |bytes: &[u8], expected: Check| {
        let (check, error) = verify(bytes);
        assert_eq!(check, expected, "{error}");
        seen.insert(check);
    };
    // 1 before 2: a number that changes, in a document with a forbidden algorithm.
    first_of(&edited(&downgraded, "0.5", "1e400"), Check::Form);
    // 2 before 3: a forbidden algorithm, under an unknown key.
    let unknown = fixture("unknown-key/manifest.json");
    first_of(&edited(&unknown, "EdDSA", "none"), Check::SignatureBlock);
    // 3 before 4: an unknown key, over a changed payload.
    first_of(&edited(&unknown, r#""nullable": false"#, r#""nullable": true"#), Check::TrustedKey);
    // 4 before 5: a changed payload, under a twin signature.
    let twin = fixture("non-canonical-signature/manifest.json");
    first_of(&edited(&twin, r#""nullable": false"#, r#""nullable": true"#), Check::PayloadHash);
    // 5 before 6: an unusable signature, over a document against the schema.
    let (against_schema, _) = fixtures::sign(
        serde_json::from_value(json!({"protocol_version": "9.0.0", "schema_definition": []})).unwrap(),
    );
    let other_signature =
        fixtures::sign(fixtures::manifest("rivers")).0["cryptographic_signature"]["signature_base64"].clone();
    first_of(&with_block(against_schema, &[("signature_base64", other_signature)]), Check::Signature);
    // 6 before 7: a collection of another shape, with the same dataset twice.
    let hash = manifest("genuine/rivers.json").payload_hash;
    let mut twice = fixtures::collection(&[("rivers", hash), ("rivers", hash)]);
    twice.insert("colour".to_owned(), json!("red"));
    let twice = fixtures::written(&fixtures::sign(twice).0);
    let error = verify_collection(&twice, &trusted(), &Limits::default()).unwrap_err();
    assert_eq!(error.check(), Check::Schema, "{error}");

    assert_eq!(seen.len(), 5);
    assert!(verify_manifest(&genuine, &trusted(), &Limits::default()).is_ok());
}
