//! Step 3: the keys whose signatures are believed. They come from configuration only.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::VerifyingKey;

use super::error::{VerifyError, readable};

/// The publisher's key, trusted unless the configuration names others.
pub const PUBLISHER_KEY: &str = "qwG8vQQN7m/uB0Nwgor3s1EJCKjqZM/SNThV+V7XumM=";

/// The configured trusted keys. An empty list trusts nobody.
#[derive(Debug, Clone, Default)]
pub struct TrustedKeys {
    keys: Vec<VerifyingKey>,
}

impl TrustedKeys {
    /// The list as configured: each key as its 32 raw bytes in standard Base64 with padding.
    ///
    /// # Errors
    /// [`VerifyError::MalformedKey`] for anything else (OpenSSH lines and PEM included) and
    /// [`VerifyError::SmallOrderKey`] for keys anyone can sign for.
    pub fn from_base64<I, S>(keys: I) -> Result<Self, VerifyError>
    where
        I: IntoIterator<Item = S>,
        S: AsRef<str>,
    {
        let mut list = Vec::new();
        for text in keys {
            let key = strong_key(text.as_ref())?;
            if !list.contains(&key) {
                list.push(key);
            }
        }
        Ok(Self { keys: list })
    }

    /// The list that trusts the publisher alone, [`PUBLISHER_KEY`].
    pub fn publisher_default() -> Self {
        // A constant that a test parses; were it ever broken, nobody is trusted.
        Self::from_base64([PUBLISHER_KEY]).unwrap_or_default()
    }

    /// The keys in Base64, in the configured order.
    pub fn to_base64(&self) -> Vec<String> {
        self.keys.iter().map(encode_key).collect()
    }

    /// How many keys are trusted.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether nobody is trusted.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The trusted key a document names as its author's.
    pub(super) fn find(&self, author: &str) -> Result<&VerifyingKey, VerifyError> {
        let bytes = key_bytes(author)?;
        if let Some(key) = self.keys.iter().find(|key| key.as_bytes() == &bytes) {
            return Ok(key);
        }
        // Untrusted either way; a small-order key is worth telling apart, since it can only be an attack.
        strong_key(author)?;
        Err(VerifyError::UntrustedKey { found: author.to_owned(), trusted: self.keys.len() })
    }
}

/// A key in the protocol's written form.
pub fn encode_key(key: &VerifyingKey) -> String {
    STANDARD.encode(key.as_bytes())
}

fn malformed(text: &str, reason: &'static str) -> VerifyError {
    VerifyError::MalformedKey { found: readable(text), reason }
}

fn key_bytes(text: &str) -> Result<[u8; 32], VerifyError> {
    let bytes = STANDARD.decode(text).map_err(|_| malformed(text, "it isn't Base64"))?;
    bytes.try_into().map_err(|_| malformed(text, "it isn't 32 bytes long"))
}

fn strong_key(text: &str) -> Result<VerifyingKey, VerifyError> {
    let key = VerifyingKey::from_bytes(&key_bytes(text)?)
        .map_err(|_| malformed(text, "the bytes aren't a point of the curve"))?;
    if key.is_weak() {
        return Err(VerifyError::SmallOrderKey { found: text.to_owned() });
    }
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_the_publisher_alone() {
        assert_eq!(TrustedKeys::publisher_default().to_base64(), [PUBLISHER_KEY]);
        assert!(TrustedKeys::default().find(PUBLISHER_KEY).is_err());
    }

    #[test]
    fn other_spellings_of_keys_are_refused() {
        let openssh = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKsBvL0EDe5v7gdDcIKK97NRCQio6mTP0jU4VfleV7pj";
        let unpadded = PUBLISHER_KEY.trim_end_matches('=');
        let url_safe = PUBLISHER_KEY.replace('/', "_").replace('+', "-");
        // The last digit carries two bits beyond the 32 bytes; set ones would be a second spelling.
        let loose = PUBLISHER_KEY.replace("M=", "N=");
        for wrong in [openssh, unpadded, &url_safe, &loose, "", "AAAA", &format!("{PUBLISHER_KEY}\n")] {
            assert!(
                matches!(TrustedKeys::from_base64([wrong]), Err(VerifyError::MalformedKey { .. })),
                "{wrong:?}"
            );
        }
        // y = 2 is on no point of the curve.
        let mut off_curve = [0; 32];
        off_curve[0] = 2;
        assert!(matches!(
            TrustedKeys::from_base64([STANDARD.encode(off_curve)]),
            Err(VerifyError::MalformedKey { .. })
        ));
    }

    #[test]
    fn small_order_keys_are_never_trusted() {
        // The eight-torsion points in their canonical encodings: order 1, 2, 4, 4, 8, 8, 8, 8.
        for point in [
            "0100000000000000000000000000000000000000000000000000000000000000",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0000000000000000000000000000000000000000000000000000000000000080",
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        ] {
            let key = STANDARD.encode(hex::decode(point).unwrap());
            let refused = VerifyError::SmallOrderKey { found: key.clone() };
            assert_eq!(TrustedKeys::from_base64([&key]).err(), Some(refused.clone()));
            assert_eq!(TrustedKeys::publisher_default().find(&key).err(), Some(refused));
        }
    }
}
