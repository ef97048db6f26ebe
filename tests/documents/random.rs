//! Random input: nothing panics, nothing changed passes, everything signed verifies.

use benthic_mirror::bdp::canonical::{CanonicalError, canonicalize};
use benthic_mirror::bdp::sign::{SignError, sign_document};
use benthic_mirror::bdp::{Limits, verify_document, verify_manifest, verify_signed_value};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::fixtures::{fixture, publisher, trusted};

/// Any JSON value with numbers a double holds.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<f64>().prop_map(|double| json!(double)),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((".{0,4}", inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec((".{0,6}", value()), 0..6).prop_map(|members| members.into_iter().collect())
}

/// Text that looks like JSON more often than chance would have it.
fn nearly_json() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        Just("{".to_owned()),
        Just("}".to_owned()),
        Just("[".to_owned()),
        Just("]".to_owned()),
        Just(",".to_owned()),
        Just(":".to_owned()),
        Just("\"cryptographic_signature\"".to_owned()),
        Just("\"author_pubkey\"".to_owned()),
        Just("\"$serde_json::private::Number\"".to_owned()),
        Just("\"\\ud800\"".to_owned()),
        "\"[a-c]\"",
        "-?[0-9]{1,3}(\\.[0-9]{1,3})?([eE][+-]?[0-9]{1,5})?",
        "(true|false|null| )",
    ];
    prop::collection::vec(token, 0..40).prop_map(|tokens| tokens.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_are_refused_without_panicking(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(verify_document(&bytes, &trusted(), &Limits::default()).is_err());
    }

    #[test]
    fn nearly_json_is_refused_without_panicking(text in nearly_json()) {
        prop_assert!(verify_document(text.as_bytes(), &trusted(), &Limits::default()).is_err());
    }

    #[test]
    fn what_is_signed_verifies_as_the_same_payload(payload in object(), pretty in any::<bool>()) {
        let mut payload = payload;
        payload.shift_remove("author_pubkey");
        payload.shift_remove("cryptographic_signature");
        match sign_document(payload.clone(), &publisher(), None) {
            Ok((document, hash)) => {
                let bytes = if pretty { serde_json::to_vec_pretty(&document) } else { serde_json::to_vec(&document) };
                let verified = verify_signed_value(&bytes.unwrap(), &trusted(), &Limits::default());
                let verified = verified.map_err(|error| TestCaseError::fail(error.to_string()))?;
                prop_assert_eq!(verified.payload_hash, hash);
                for (name, member) in &payload {
                    prop_assert_eq!(canonicalize(&verified.document[name]), canonicalize(member));
                }
            }
            // A double whose shortest text here isn't the canonical one of two equally near ones.
            Err(SignError::Canonical(CanonicalError::NumberNotExact { .. })) => {}
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        }
    }

    #[test]
    fn the_canonical_form_is_its_own_and_ignores_member_order(object in object()) {
        let Ok(canonical) = canonicalize(&Value::Object(object.clone())) else { return Ok(()) };
        let reread: Value = serde_json::from_slice(&canonical).unwrap();
        prop_assert_eq!(&canonicalize(&reread).unwrap(), &canonical);
        let reversed: Map<String, Value> = object.into_iter().rev().collect();
        prop_assert_eq!(&canonicalize(&Value::Object(reversed)).unwrap(), &canonical);
    }
}

/// Every byte of a signed document, changed in several ways: refused, or (in blanks and in `signed_at`, which the
/// hash doesn't cover) the same payload by the same key.
#[test]
fn no_changed_byte_changes_what_is_believed() {
    let genuine = fixture("genuine/rivers.json");
    let original = verify_manifest(&genuine, &trusted(), &Limits::default()).unwrap();
    let payload = |bytes: &[u8]| {
        let mut members: Map<String, Value> = serde_json::from_slice(bytes).unwrap();
        members.shift_remove("cryptographic_signature");
        canonicalize(&Value::Object(members)).unwrap()
    };
    let (mut accepted, mut refused) = (0, 0);
    for position in 0..genuine.len() {
        for change in [b' ', b'0', genuine[position] ^ 1] {
            let mut changed = genuine.clone();
            changed[position] = change;
            match verify_manifest(&changed, &trusted(), &Limits::default()) {
                Ok(verified) => {
                    accepted += usize::from(change != genuine[position]);
                    assert_eq!(verified.payload_hash, original.payload_hash, "byte {position}");
                    assert_eq!(verified.signed_by, original.signed_by);
                    assert_eq!(payload(&changed), payload(&genuine), "byte {position}");
                }
                Err(_) => refused += 1,
            }
        }
    }
    assert!(accepted > 0 && refused > genuine.len(), "{accepted} accepted, {refused} refused");
}
