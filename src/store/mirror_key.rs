//! The mirror key: signs the snapshots this mirror makes. A file of its own, readable by its owner only.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::SigningKey;

use super::disk;
use super::error::StoreError;

/// First word of a key file: says what it is and which version.
const PREFIX: &str = "benthic-mirror-key-1";

/// The Ed25519 key that signs snapshots.
#[derive(Clone)]
pub struct MirrorKey {
    signing: SigningKey,
}

impl std::fmt::Debug for MirrorKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Never the secret half.
        formatter.debug_struct("MirrorKey").field("public", &self.public_base64()).finish()
    }
}

impl MirrorKey {
    /// The key made from 32 secret random bytes, which the caller draws.
    pub fn generate(seed: [u8; 32]) -> Self {
        Self { signing: SigningKey::from_bytes(&seed) }
    }

    /// Writes the key to a new file that only its owner can read. An existing file is never replaced.
    pub fn save(&self, path: &Path) -> Result<(), StoreError> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        let mut file = options.open(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => StoreError::KeyFile {
                path: path.to_owned(),
                problem: "there is a file already; a key is never overwritten, choose another path"
                    .to_owned(),
            },
            _ => StoreError::writing("create", path, 0, error),
        })?;
        let text = format!("{PREFIX} {}\n", STANDARD.encode(self.signing.to_bytes()));
        file.write_all(text.as_bytes())
            .and_then(|()| file.sync_all())
            .map_err(|error| StoreError::writing("write", path, text.len() as u64, error))
    }

    /// Reads a key file. One that others can read is refused: its secret may be known.
    pub fn load(path: &Path) -> Result<Self, StoreError> {
        let problem = |problem: String| StoreError::KeyFile { path: path.to_owned(), problem };
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let metadata = std::fs::metadata(path).map_err(|error| StoreError::reading(path, error))?;
            let mode = metadata.mode() & 0o777;
            if mode & 0o077 != 0 {
                return Err(problem(format!(
                    "its mode is {mode:04o}, so others could read it; run chmod 600 on it, or make a new key if it may be known"
                )));
            }
        }
        let bytes = disk::read_capped(path, 4096)?;
        let malformed =
            || problem(format!("it doesn't hold `{PREFIX} <Base64 of 32 bytes>`; make one with keygen"));
        let text = std::str::from_utf8(&bytes).map_err(|_| malformed())?;
        let encoded = text.trim_end().strip_prefix(PREFIX).and_then(|rest| rest.strip_prefix(' '));
        let seed = STANDARD.decode(encoded.ok_or_else(malformed)?).map_err(|_| malformed())?;
        Ok(Self::generate(seed.try_into().map_err(|_| malformed())?))
    }

    /// The public half as raw 32 bytes in standard Base64: what readers put into their list of trusted mirror keys.
    pub fn public_base64(&self) -> String {
        STANDARD.encode(self.signing.verifying_key().to_bytes())
    }

    /// The signing half, for [`crate::bdp::sign`].
    pub(super) fn signing(&self) -> &SigningKey {
        &self.signing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_key_comes_back_and_is_private() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("mirror.key");
        let key = MirrorKey::generate([7; 32]);
        key.save(&path).unwrap();
        assert_eq!(MirrorKey::load(&path).unwrap().public_base64(), key.public_base64());
        assert!(matches!(key.save(&path), Err(StoreError::KeyFile { .. })), "never overwritten");
        assert!(!format!("{key:?}").contains(&STANDARD.encode([7; 32])), "the secret is not shown");
    }

    #[cfg(unix)]
    #[test]
    fn wider_modes_and_other_contents_are_refused() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("mirror.key");
        MirrorKey::generate([7; 32]).save(&path).unwrap();
        for mode in [0o640, 0o604, 0o660] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            assert!(matches!(MirrorKey::load(&path), Err(StoreError::KeyFile { .. })), "{mode:o}");
        }
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        for content in ["", "benthic-mirror-key-1 AAAA", "ssh-ed25519 AAAA"] {
            std::fs::write(&path, content).unwrap();
            assert!(matches!(MirrorKey::load(&path), Err(StoreError::KeyFile { .. })), "{content:?}");
        }
        assert!(matches!(MirrorKey::load(&directory.path().join("none")), Err(StoreError::NotFound { .. })));
    }
}
