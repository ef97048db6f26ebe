//! Steps 2 to 5: the signature block, the trusted key, the payload hash and the signature over it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::Signature;
use serde_json::{Map, Value};

use super::canonical::canonicalize_object;
use super::error::{VerifyError, readable};
use super::hash::PayloadHash;
use super::keys::TrustedKeys;
use super::parse::{Limits, parse_object};

/// The member that holds the signature block and is removed before hashing.
pub const SIGNATURE_MEMBER: &str = "cryptographic_signature";
/// The only signature algorithm.
pub const ALGORITHM: &str = "EdDSA";
/// The only canonical form.
pub const CANONICALIZATION: &str = "RFC8785";
/// The only hash.
pub const HASH_ALGORITHM: &str = "SHA-256";

/// A document whose signature holds; nothing is known yet about its shape.
#[derive(Debug, Clone)]
pub(super) struct Opened {
    /// All members, the signature block included.
    pub(super) members: Map<String, Value>,
    /// Hash of the payload.
    pub(super) payload_hash: PayloadHash,
    /// The key that signed, Base64.
    pub(super) signed_by: String,
    /// When, by the signer's word.
    pub(super) signed_at: Option<String>,
}

/// What the signature block says, in the only forms it may say it.
struct Block {
    payload_hash: PayloadHash,
    signature: [u8; 64],
    signed_at: Option<String>,
}

/// Runs steps 1 to 5 over the bytes of a document.
pub(super) fn open(bytes: &[u8], keys: &TrustedKeys, limits: &Limits) -> Result<Opened, VerifyError> {
    let mut members = parse_object(bytes, limits)?;
    // Removed, not nulled: the payload is the document without this member.
    let block_value = members.shift_remove(SIGNATURE_MEMBER).ok_or(VerifyError::MissingSignature)?;
    let block = read_block(&block_value)?;

    let author = match members.get("author_pubkey") {
        Some(Value::String(author)) => author.clone(),
        other => {
            let found = readable(&other.map(Value::to_string).unwrap_or_default());
            return Err(VerifyError::MalformedKey { found, reason: "'author_pubkey' must be a string" });
        }
    };
    let key = keys.find(&author)?;

    let computed = PayloadHash::of(&canonicalize_object(&members)?);
    if computed != block.payload_hash {
        return Err(VerifyError::HashMismatch { declared: block.payload_hash, computed });
    }

    if !scalar_is_reduced(&block.signature) {
        return Err(VerifyError::NonCanonicalSignature { hash: computed });
    }
    key.verify_strict(computed.as_bytes(), &Signature::from_bytes(&block.signature))
        .map_err(|_| VerifyError::BadSignature { hash: computed, key: author.clone() })?;

    members.insert(SIGNATURE_MEMBER.to_owned(), block_value);
    Ok(Opened { members, payload_hash: computed, signed_by: author, signed_at: block.signed_at })
}

fn malformed(field: &'static str, reason: &'static str) -> VerifyError {
    VerifyError::MalformedSignature { field, reason }
}

fn read_block(block: &Value) -> Result<Block, VerifyError> {
    let block = block.as_object().ok_or_else(|| malformed(SIGNATURE_MEMBER, "must be an object"))?;
    check_algorithm(block, "algorithm", ALGORITHM, true)?;
    check_algorithm(block, "canonicalization", CANONICALIZATION, false)?;
    check_algorithm(block, "hash_algorithm", HASH_ALGORITHM, false)?;

    let text = |field: &'static str| match block.get(field) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(malformed(field, "must be a string")),
        None => Err(malformed(field, "is missing")),
    };
    let payload_hash = PayloadHash::parse(text("payload_hash")?)
        .map_err(|_| malformed("payload_hash", "must be 64 lowercase hex digits"))?;
    let signature = STANDARD
        .decode(text("signature_base64")?)
        .ok()
        .and_then(|bytes| <[u8; 64]>::try_from(bytes).ok())
        .ok_or_else(|| malformed("signature_base64", "must be 64 bytes in standard Base64 with padding"))?;
    let signed_at = match block.get("signed_at") {
        None => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(_) => return Err(malformed("signed_at", "must be a string")),
    };
    Ok(Block { payload_hash, signature, signed_at })
}

fn check_algorithm(
    block: &Map<String, Value>,
    field: &'static str,
    expected: &'static str,
    required: bool,
) -> Result<(), VerifyError> {
    match block.get(field) {
        None if required => Err(malformed(field, "is missing")),
        None => Ok(()),
        Some(Value::String(found)) if found == expected => Ok(()),
        Some(found) => {
            let found = readable(&found.to_string());
            Err(VerifyError::UnsupportedAlgorithm { field, found, expected })
        }
    }
}

/// Whether S, the second half of a signature, is below the order of the base point (RFC 8032, 5.1.7).
///
/// `verify_strict` refuses such signatures too, but with the same error as any other.
fn scalar_is_reduced(signature: &[u8; 64]) -> bool {
    /// 2^252 + 27742317777372353535851937790883648493, little-endian (RFC 8032, 5.1).
    const ORDER: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let scalar = signature.iter().skip(32).rev();
    scalar.cmp(ORDER.iter().rev()).is_lt()
}
