//! RFC 8785 against canonical forms that another implementation made.

use benthic_mirror::bdp::canonical::canonicalize;
use serde_json::Value;

fn vectors(kind: &str) -> Vec<(String, String)> {
    let vectors: Value = serde_json::from_str(include_str!("vectors/rfc8785.json")).unwrap();
    let pairs: Vec<(String, String)> = serde_json::from_value(vectors[kind].clone()).unwrap();
    assert!(pairs.len() >= 50, "{kind}");
    pairs
}

#[test]
fn doubles_are_written_as_by_an_independent_implementation() {
    for (bits, expected) in vectors("numbers") {
        let double = f64::from_bits(u64::from_str_radix(&bits, 16).unwrap());
        assert_eq!(serde_json_canonicalizer::to_string(&double).unwrap(), expected, "{bits}");
        // And from text, as documents have them.
        let value: Value = serde_json::from_str(&expected).unwrap();
        assert_eq!(canonicalize(&value).unwrap(), expected.as_bytes(), "{bits}");
    }
}

#[test]
fn objects_are_written_as_by_an_independent_implementation() {
    for (input, expected) in vectors("objects") {
        let value: Value = serde_json::from_str(&input).unwrap();
        assert_eq!(String::from_utf8(canonicalize(&value).unwrap()).unwrap(), expected, "{input}");
    }
}
