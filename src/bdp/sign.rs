//! Making signed documents: the demo catalogue and the snapshot documents of a mirror.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signer, SigningKey};
use serde_json::{Map, Value, json};

use super::canonical::{CanonicalError, canonicalize_object};
use super::hash::PayloadHash;
use super::keys::encode_key;
use super::signature::{ALGORITHM, CANONICALIZATION, HASH_ALGORITHM, SIGNATURE_MEMBER};

/// Why a payload can't be signed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignError {
    /// It carries a signature block.
    #[error("the payload is signed already; remove its member '{SIGNATURE_MEMBER}' first")]
    AlreadySigned,
    /// It names another key as its author's.
    #[error("the payload names the author key {found}, but would be signed by {expected}")]
    WrongAuthor {
        /// `author_pubkey` of the payload, as JSON.
        found: String,
        /// The signing key, Base64.
        expected: String,
    },
    /// It has no faithful canonical form.
    #[error("the payload can't be signed")]
    Canonical(#[from] CanonicalError),
}

/// Signs a payload: the document that comes back has `author_pubkey` (added if absent) and the signature block.
///
/// `signed_at` (RFC 3339) goes into the block, outside the hash, so it is not authenticated. Whether the payload
/// follows a schema isn't looked at: snapshot documents are signed the same way.
///
/// # Errors
/// [`SignError`] when the payload is signed already, names another author key or has no canonical form.
pub fn sign_document(
    mut payload: Map<String, Value>,
    key: &SigningKey,
    signed_at: Option<&str>,
) -> Result<(Map<String, Value>, PayloadHash), SignError> {
    if payload.contains_key(SIGNATURE_MEMBER) {
        return Err(SignError::AlreadySigned);
    }
    let author = encode_key(&key.verifying_key());
    match payload.get("author_pubkey") {
        None => {
            payload.insert("author_pubkey".to_owned(), Value::String(author));
        }
        Some(Value::String(found)) if *found == author => {}
        Some(found) => return Err(SignError::WrongAuthor { found: found.to_string(), expected: author }),
    }
    let payload_hash = PayloadHash::of(&canonicalize_object(&payload)?);
    let signature = key.sign(payload_hash.as_bytes());
    let mut block = json!({
        "algorithm": ALGORITHM,
        "canonicalization": CANONICALIZATION,
        "hash_algorithm": HASH_ALGORITHM,
        "payload_hash": payload_hash.to_string(),
        "signature_base64": STANDARD.encode(signature.to_bytes()),
    });
    if let (Some(signed_at), Some(block)) = (signed_at, block.as_object_mut()) {
        block.insert("signed_at".to_owned(), Value::String(signed_at.to_owned()));
    }
    payload.insert(SIGNATURE_MEMBER.to_owned(), block);
    Ok((payload, payload_hash))
}

#[cfg(test)]
mod tests {
    use super::super::{Limits, TrustedKeys, VerifyError, verify_signed_value};
    use super::*;

    fn payload(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn what_is_signed_verifies_under_that_key_only() {
        let key = SigningKey::from_bytes(&[7; 32]);
        let (document, hash) = sign_document(
            payload(json!({"kind": "snapshot", "rows": 3})),
            &key,
            Some("2026-10-01T00:00:00Z"),
        )
        .unwrap();
        let bytes = serde_json::to_vec_pretty(&document).unwrap();
        let trusted = TrustedKeys::from_base64([encode_key(&key.verifying_key())]).unwrap();
        let verified = verify_signed_value(&bytes, &trusted, &Limits::default()).unwrap();
        assert_eq!(verified.payload_hash, hash);
        assert_eq!(verified.signed_by, encode_key(&key.verifying_key()));
        assert_eq!(verified.signed_at.as_deref(), Some("2026-10-01T00:00:00Z"));
        assert_eq!(verified.document["rows"], json!(3));
        assert_eq!(verified.bytes, bytes);
        assert!(matches!(
            verify_signed_value(&bytes, &TrustedKeys::publisher_default(), &Limits::default()),
            Err(VerifyError::UntrustedKey { trusted: 1, .. })
        ));
    }

    #[test]
    fn what_would_not_verify_is_not_signed() {
        let key = SigningKey::from_bytes(&[7; 32]);
        let signed = sign_document(payload(json!({})), &key, None).unwrap().0;
        assert_eq!(sign_document(signed, &key, None), Err(SignError::AlreadySigned));
        let foreign = payload(json!({"author_pubkey": super::super::PUBLISHER_KEY}));
        assert!(matches!(sign_document(foreign, &key, None), Err(SignError::WrongAuthor { .. })));
        let inexact = payload(json!({"n": 9_007_199_254_740_993_u64}));
        assert!(matches!(sign_document(inexact, &key, None), Err(SignError::Canonical(_))));
    }
}
