//! Makes the documents under `fixtures/`, one folder per attack, from worthless test keys.
//!
//! The files are committed and the attacks read them from there; a test makes them again and compares, so that a
//! change in how documents are signed can't pass unseen. `BENTHIC_WRITE_FIXTURES=1` writes them instead.

use std::collections::BTreeMap;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use benthic_mirror::bdp::canonical::canonicalize_object;
use benthic_mirror::bdp::ledger::LedgerLine;
use benthic_mirror::bdp::sign::sign_document;
use benthic_mirror::bdp::{PayloadHash, TrustedKeys};
use ed25519_dalek::{Signer, SigningKey};
use serde_json::{Map, Value, json};

/// The signature block's member.
const BLOCK: &str = "cryptographic_signature";

/// The trusted test key. Its secret is these bytes, for everyone to read: worthless.
pub(crate) fn publisher() -> SigningKey {
    SigningKey::from_bytes(&[0x11; 32])
}

/// A key nobody trusts; worthless as well.
fn stranger() -> SigningKey {
    SigningKey::from_bytes(&[0x22; 32])
}

/// The list that trusts the test publisher.
pub(crate) fn trusted() -> TrustedKeys {
    TrustedKeys::from_base64([STANDARD.encode(publisher().verifying_key().as_bytes())]).unwrap()
}

/// The bytes of a committed fixture, as `attack/file`.
pub(crate) fn fixture(path: &str) -> Vec<u8> {
    let path = folder().join(path);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/documents/fixtures")
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("not an object: {other}"),
    }
}

/// An unsigned manifest with two relations.
pub(crate) fn manifest(dataset: &str) -> Map<String, Value> {
    object(json!({
        "protocol_version": "1.0.0",
        "author_identity": "Test Publisher",
        "collection": "trial",
        "dataset_name": dataset,
        "created_at": "2026-08-01T12:00:00Z",
        "etl_provenance": {
            "repository_url": "https://code.example/trial",
            "commit_hash": "0123456789abcdef0123456789abcdef01234567"
        },
        "schema_definition": [
            {
                "name": "rivers",
                "primary_key": ["id"],
                "row_count_estimate": 12,
                "columns": [
                    {"name": "id", "type": "integer", "native_type": "bigint", "nullable": false},
                    {"name": "length_km", "type": "number", "unit": "km"}
                ]
            },
            {"name": "raw.gauges", "queryable": false, "columns": [{"name": "id", "type": "string"}]}
        ],
        "endpoints": [{
            "transport_type": "postgrest_api",
            "base_url": "https://data.example/trial",
            "meta": {"max_rows": 1000, "requires_auth": false, "weight": 0.5}
        }]
    }))
}

/// An unsigned collection that pins these datasets.
pub(crate) fn collection(members: &[(&str, PayloadHash)]) -> Map<String, Value> {
    let members: Vec<Value> = members
        .iter()
        .map(|(dataset, hash)| {
            json!({
                "dataset_name": dataset,
                "manifest_url": format!("https://documents.example/bdp/trial/{dataset}/manifest.json"),
                "payload_hash": hash.to_string()
            })
        })
        .collect();
    object(json!({
        "protocol_version": "1.0.0",
        "author_identity": "Test Publisher",
        "collection_name": "trial",
        "created_at": "2026-08-02T12:00:00Z",
        "members": members,
        "join_paths": []
    }))
}

pub(crate) fn sign(payload: Map<String, Value>) -> (Map<String, Value>, PayloadHash) {
    sign_document(payload, &publisher(), Some("2026-09-01T00:00:00Z")).unwrap()
}

pub(crate) fn written(document: &Map<String, Value>) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(document).unwrap();
    bytes.push(b'\n');
    bytes
}

fn signed(payload: Map<String, Value>) -> Vec<u8> {
    written(&sign(payload).0)
}

/// Changes the text of a signed document; the change must happen.
pub(crate) fn edited(document: &[u8], from: &str, to: &str) -> Vec<u8> {
    let text = std::str::from_utf8(document).unwrap();
    assert!(text.contains(from), "nothing to edit: {from}");
    text.replacen(from, to, 1).into_bytes()
}

/// Replaces members of the signature block.
pub(crate) fn with_block(mut document: Map<String, Value>, changes: &[(&str, Value)]) -> Vec<u8> {
    let block = document[BLOCK].as_object_mut().unwrap();
    for (member, value) in changes {
        block.insert((*member).to_owned(), value.clone());
    }
    written(&document)
}

fn with(mut payload: Map<String, Value>, pointer: &str, value: Value) -> Map<String, Value> {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let mut document = Value::Object(std::mem::take(&mut payload));
    document.pointer_mut(parent).unwrap().as_object_mut().unwrap().insert(name.to_owned(), value);
    object(document)
}

/// The signature with the group order added to its scalar: the same signature to a verifier that doesn't look.
fn with_order_added(signature: &str) -> String {
    const ORDER: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let mut bytes = STANDARD.decode(signature).unwrap();
    let mut carry = 0_u16;
    for (byte, order) in bytes[32..].iter_mut().zip(ORDER) {
        let sum = u16::from(*byte) + u16::from(order) + carry;
        *byte = u8::try_from(sum & 0xff).unwrap();
        carry = sum >> 8;
    }
    assert_eq!(carry, 0);
    STANDARD.encode(bytes)
}

/// Signs any 32 or more bytes in place of the digest, with a block that declares `hash`.
fn signed_over(payload: Map<String, Value>, hash: PayloadHash, message: &[u8]) -> Vec<u8> {
    let signature = STANDARD.encode(publisher().sign(message).to_bytes());
    with_block(
        sign(payload).0,
        &[("payload_hash", json!(hash.to_string())), ("signature_base64", json!(signature))],
    )
}

/// Every fixture, by `attack/file`.
pub(crate) fn generate() -> BTreeMap<String, Vec<u8>> {
    let (rivers, rivers_hash) = sign(manifest("rivers"));
    let (lakes, lakes_hash) = sign(manifest("lakes"));
    let (trial, trial_hash) = sign(collection(&[("rivers", rivers_hash), ("lakes", lakes_hash)]));
    let genuine = written(&rivers);
    let block = |name: &str| rivers[BLOCK][name].as_str().unwrap().to_owned();
    let mut files = BTreeMap::new();
    let mut add =
        |path: &str, bytes: Vec<u8>| assert!(files.insert(path.to_owned(), bytes).is_none(), "{path}");

    add("genuine/collection.json", written(&trial));
    add("genuine/rivers.json", genuine.clone());
    add("genuine/lakes.json", written(&lakes));

    add("bad-hash/manifest.json", edited(&genuine, r#""nullable": false"#, r#""nullable": true"#));
    // The changed payload with its own hash, under the old signature.
    let changed = with(manifest("rivers"), "/title", json!("changed"));
    let changed_hash = sign(changed.clone()).1;
    let old_signature = ("signature_base64", json!(block("signature_base64")));
    add("bad-signature/manifest.json", with_block(sign(changed).0, &[old_signature]));
    let hex = rivers_hash.to_string();
    add("signature-of-hex/manifest.json", signed_over(manifest("rivers"), rivers_hash, hex.as_bytes()));
    let unknown = sign_document(manifest("rivers"), &stranger(), None).unwrap().0;
    add("unknown-key/manifest.json", written(&unknown));
    let without_block: Vec<u8> = {
        let mut document = rivers.clone();
        document.shift_remove(BLOCK);
        written(&document)
    };
    add("missing-signature/manifest.json", without_block);
    // Hashed with the block set to null instead of removed.
    let mut nulled = rivers.clone();
    nulled.insert(BLOCK.to_owned(), Value::Null);
    let nulled_hash = PayloadHash::of(&canonicalize_object(&nulled).unwrap());
    add("nulled-signature/hash.json", signed_over(manifest("rivers"), nulled_hash, nulled_hash.as_bytes()));
    add("nulled-signature/block.json", written(&nulled));

    add("duplicate-members/top.json", edited(&genuine, "{", r#"{ "dataset_name": "rivers","#));
    add(
        "duplicate-members/nested.json",
        edited(&genuine, r#""nullable": false"#, r#""nullable": true, "nullable": false"#),
    );
    add(
        "duplicate-members/escaped.json",
        edited(&genuine, r#""nullable": false"#, r#""nullab\u006ce": true, "nullable": false"#),
    );
    add(
        "duplicate-members/signature-block.json",
        edited(&genuine, r#""algorithm": "EdDSA""#, r#""algorithm": "none", "algorithm": "EdDSA""#),
    );
    add("trailing-data/manifest.json", [genuine.as_slice(), b"{}\n"].concat());
    add("byte-order-mark/manifest.json", ["\u{feff}".as_bytes(), &genuine].concat());
    add("not-utf8/manifest.json", [&genuine[..40], b"\xff", &genuine[40..]].concat());
    add("lone-surrogate/manifest.json", edited(&genuine, "Test Publisher", r"Test \ud83d Publisher"));
    add("not-an-object/manifest.json", [b"[", genuine.as_slice(), b"]"].concat());
    for (name, number) in [
        ("beyond-doubles", "1e400"),
        ("integer-rounds", "9007199254740993"),
        ("fraction-rounds", "0.1000000000000000055511151231257827"),
        ("vanishes", "1e-400"),
    ] {
        add(&format!("huge-numbers/{name}.json"), edited(&genuine, "0.5", number));
    }
    let nested = format!("{}0.5{}", "[".repeat(100), "]".repeat(100));
    add("deep-nesting/manifest.json", edited(&genuine, "0.5", &nested));
    add(
        "reserved-member/manifest.json",
        edited(&genuine, "0.5", r#"{"$serde_json::private::Number": "0.5"}"#),
    );

    // Anyone can "sign" for the identity point: R = identity, S = 0 satisfies the plain equation for every message.
    let mut identity = [0_u8; 32];
    identity[0] = 1;
    let mut forged_signature = [0_u8; 64];
    forged_signature[0] = 1;
    let mut forged = with(manifest("rivers"), "/author_pubkey", json!(STANDARD.encode(identity)));
    let forged_hash = PayloadHash::of(&canonicalize_object(&forged).unwrap());
    forged.insert(BLOCK.to_owned(), rivers[BLOCK].clone());
    let forged = with_block(
        forged,
        &[
            ("payload_hash", json!(forged_hash.to_string())),
            ("signature_base64", json!(STANDARD.encode(forged_signature))),
        ],
    );
    add("small-order-key/manifest.json", forged);
    let openssh =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBEREREREREREREREREREREREREREREREREREREREREREREREREREQ==";
    add("malformed-key/manifest.json", edited(&genuine, rivers["author_pubkey"].as_str().unwrap(), openssh));
    let twin = with_order_added(&block("signature_base64"));
    add(
        "non-canonical-signature/manifest.json",
        with_block(rivers.clone(), &[("signature_base64", json!(twin))]),
    );
    for (member, value) in [("algorithm", "none"), ("canonicalization", "none"), ("hash_algorithm", "SHA-1")]
    {
        add(
            &format!("algorithm-downgrade/{member}.json"),
            with_block(rivers.clone(), &[(member, json!(value))]),
        );
    }
    add(
        "malformed-signature/not-an-object.json",
        written(&with(rivers.clone(), "/cryptographic_signature", json!("x"))),
    );
    add(
        "malformed-signature/uppercase-hash.json",
        with_block(rivers.clone(), &[("payload_hash", json!(block("payload_hash").to_uppercase()))]),
    );
    add(
        "malformed-signature/short-signature.json",
        with_block(rivers.clone(), &[("signature_base64", json!("AAAA"))]),
    );

    add(
        "schema-fault/bad-date.json",
        signed(with(manifest("rivers"), "/created_at", json!("2026-02-30T00:00:00Z"))),
    );
    add(
        "schema-fault/negative-count.json",
        signed(with(manifest("rivers"), "/schema_definition/0/row_count_estimate", json!(-1))),
    );
    add(
        "schema-fault/relative-address.json",
        signed(with(manifest("rivers"), "/endpoints/0/base_url", json!("/data"))),
    );
    add("schema-fault/manifest-as-collection.json", genuine.clone());
    let tag = |payload| with(payload, "/schema_definition/0/columns/1/sensitivity", json!("low"));
    add("unknown-member/manifest.json", signed(tag(manifest("rivers"))));
    add(
        "unknown-member/newer-minor.json",
        signed(with(tag(manifest("rivers")), "/protocol_version", json!("1.7.0"))),
    );
    add(
        "unknown-version/manifest.json",
        signed(with(manifest("rivers"), "/protocol_version", json!("2.0.0"))),
    );
    add(
        "neither-document/document.json",
        signed(object(json!({"protocol_version": "1.0.0", "kind": "snapshot"}))),
    );

    add("swapped-member/collection.json", written(&trial));
    add("swapped-member/rivers.json", written(&lakes));
    add("swapped-member/lakes.json", genuine.clone());
    add("pin-mismatch/collection.json", written(&trial));
    add("pin-mismatch/rivers.json", signed(with(manifest("rivers"), "/title", json!("changed"))));
    add("pin-mismatch/lakes.json", written(&lakes));
    add("missing-member/collection.json", written(&trial));
    add("missing-member/lakes.json", written(&lakes));
    add(
        "duplicate-dataset/collection.json",
        signed(collection(&[("rivers", rivers_hash), ("rivers", changed_hash)])),
    );
    let elsewhere = collection(&[("rivers", rivers_hash)]);
    add(
        "manifest-elsewhere/collection.json",
        signed(with(
            elsewhere,
            "/members",
            json!([{
                "dataset_name": "rivers",
                "manifest_url": "https://documents.example/bdp/%2e%2e/private/manifest.json",
                "payload_hash": rivers_hash.to_string()
            }]),
        )),
    );

    let newer = with(collection(&[("lakes", lakes_hash)]), "/created_at", json!("2026-08-03T12:00:00Z"));
    let newer_hash = sign(newer.clone()).1;
    let line = |hash, created_at: &str, accepted_at: &str| {
        let line = LedgerLine {
            collection: "trial".to_owned(),
            hash,
            created_at: Some(created_at.to_owned()),
            accepted_at: accepted_at.to_owned(),
            by_operator: false,
        };
        serde_json::to_string(&line).unwrap() + "\n"
    };
    let first = line(trial_hash, "2026-08-02T12:00:00Z", "2026-09-01T06:00:00Z");
    let second = line(newer_hash, "2026-08-03T12:00:00Z", "2026-09-02T06:00:00Z");
    add("rollback-by-hash/ledger.jsonl", [first.as_str(), second.as_str()].concat().into_bytes());
    add("rollback-by-hash/offered.json", written(&trial));
    add("rollback-by-hash/current.json", signed(newer));
    // Never seen, and earlier than the accepted one although it reads later.
    let offset = "2026-08-03T13:00:00+02:00";
    add("rollback-by-created-at/ledger.jsonl", second.into_bytes());
    add(
        "rollback-by-created-at/offered.json",
        signed(with(collection(&[("rivers", rivers_hash)]), "/created_at", json!(offset))),
    );
    files
}

#[test]
fn committed_fixtures_are_the_generated_ones() {
    let generated = generate();
    if std::env::var("BENTHIC_WRITE_FIXTURES").is_ok_and(|value| value == "1") {
        for (path, bytes) in &generated {
            let path = folder().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, bytes).unwrap();
        }
    }
    let mut committed = BTreeMap::new();
    for attack in std::fs::read_dir(folder()).unwrap() {
        let attack = attack.unwrap();
        for file in std::fs::read_dir(attack.path()).unwrap() {
            let file = file.unwrap();
            let path = format!("{}/{}", attack.file_name().display(), file.file_name().display());
            committed.insert(path, std::fs::read(file.path()).unwrap());
        }
    }
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&committed), names(&generated));
    for (path, bytes) in &generated {
        assert_eq!(&committed[path], bytes, "{path} differs; BENTHIC_WRITE_FIXTURES=1 writes it anew");
        assert!(bytes.len() < 8_192, "{path} isn't small");
    }
}
