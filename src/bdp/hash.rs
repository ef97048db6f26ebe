//! The hash that names a signed document.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

use super::error::readable;

/// SHA-256 of a document's canonical payload; written as 64 lowercase hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PayloadHash([u8; 32]);

/// Text that is not 64 lowercase hex digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{found}' is not a payload hash; expected 64 lowercase hex digits")]
pub struct MalformedHash {
    /// The text, cut to a readable length.
    pub found: String,
}

impl PayloadHash {
    /// The hash of a canonical payload.
    pub fn of(canonical: &[u8]) -> Self {
        Self(Sha256::digest(canonical).into())
    }

    /// A digest computed elsewhere.
    pub fn from_bytes(digest: [u8; 32]) -> Self {
        Self(digest)
    }

    /// The 32 raw bytes: what the signature is made over.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Reads the written form. Uppercase digits are refused: one hash has one spelling.
    ///
    /// # Errors
    /// [`MalformedHash`] for anything but 64 lowercase hex digits.
    pub fn parse(text: &str) -> Result<Self, MalformedHash> {
        let malformed = || MalformedHash { found: readable(text) };
        if text.len() != 64 || text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Err(malformed());
        }
        let mut digest = [0; 32];
        hex::decode_to_slice(text, &mut digest).map_err(|_| malformed())?;
        Ok(Self(digest))
    }
}

impl fmt::Display for PayloadHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for PayloadHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PayloadHash({self})")
    }
}

impl FromStr for PayloadHash {
    type Err = MalformedHash;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl serde::Serialize for PayloadHash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for PayloadHash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_written_form_is_one_spelling() {
        let text = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let hash = PayloadHash::of(b"");
        assert_eq!(hash.to_string(), text);
        assert_eq!(PayloadHash::parse(text), Ok(hash));
        for wrong in [&text.to_uppercase(), &text[1..], "", &format!("{text}0"), &text.replace('e', "g")] {
            assert!(PayloadHash::parse(wrong).is_err(), "{wrong}");
        }
    }
}
