//! `keygen`: the key that signs this mirror's snapshots.

use std::path::Path;

use super::context::Context;
use super::error::CliError;
use crate::store::{MirrorKey, files};

/// Makes the configured key file and prints the public half.
pub(super) fn run(context: &Context) -> Result<(), CliError> {
    let key = make(&context.config.key_file)?;
    println!("{}", key.public_base64());
    Ok(())
}

/// Makes a new key file (mode 0600); an existing one is never replaced.
pub(super) fn make(path: &Path) -> Result<MirrorKey, CliError> {
    if let Some(parent) = path.parent() {
        files::create_directory(parent)?;
    }
    let mut seed = [0_u8; 32];
    getrandom::fill(&mut seed)
        .map_err(|error| CliError::failed(format!("the system's random generator failed: {error}")))?;
    let key = MirrorKey::generate(seed);
    key.save(path)?;
    eprintln!("made the mirror key {} (keep it private)", path.display());
    eprintln!("its public half, for other readers' trusted_mirror_keys: {}", key.public_base64());
    Ok(key)
}
