//! `verify`: what was checked, by which key, and every fault.

use std::collections::BTreeMap;
use std::path::Path;

use url::Url;

use super::arguments::VerifyArguments;
use super::context::Context;
use super::error::{CliError, NO_FILE};
use crate::bdp::report::{examine, examine_folder};
use crate::bdp::{Limits, TrustedKeys};
use crate::store::{StoreError, files};

/// How deep a directory of published documents is searched.
const MAX_DEPTH: u8 = 6;
/// Exit code when anything isn't believed.
const UNVERIFIED: u8 = 5;

/// Verifies a file, a directory or an address.
pub(super) async fn run(context: &Context, arguments: VerifyArguments) -> Result<(), CliError> {
    let keys = match arguments.keys.as_slice() {
        [] => context.publisher_keys()?,
        keys => TrustedKeys::from_base64(keys)
            .map_err(|error| CliError::with_code(format!("--key: {error}"), 64))?,
    };
    let limits = Limits::default();
    let target = arguments.target.as_str();
    if target.contains("://") {
        let bytes = fetch(context, target, &limits).await?;
        return one(target, &bytes, &keys, &limits);
    }
    let path = Path::new(target);
    if files::is_directory(path) {
        return directory(path, &keys, &limits);
    }
    // One byte more than allowed is read, so that the document check names the excess.
    let bytes = files::read_document(path, limits.max_document_bytes as u64 + 1).map_err(unreadable)?;
    one(target, &bytes, &keys, &limits)
}

fn unreadable(error: StoreError) -> CliError {
    CliError::with_code(error.to_string(), NO_FILE)
}

async fn fetch(context: &Context, target: &str, limits: &Limits) -> Result<Vec<u8>, CliError> {
    let url = Url::parse(target).map_err(|error| CliError::with_code(format!("{target}: {error}"), 64))?;
    let bytes = context.upstream()?.document(&url, limits.max_document_bytes as u64 + 1).await;
    bytes.map_err(|error| CliError::failed(error.to_string()))
}

fn one(name: &str, bytes: &[u8], keys: &TrustedKeys, limits: &Limits) -> Result<(), CliError> {
    let report = examine(name, bytes, keys, limits);
    println!("{report}");
    if report.is_verified() {
        Ok(())
    } else {
        Err(CliError::with_code(format!("{name} is not verified"), UNVERIFIED))
    }
}

fn directory(path: &Path, keys: &TrustedKeys, limits: &Limits) -> Result<(), CliError> {
    let mut documents = BTreeMap::new();
    for file in files::json_files(path, MAX_DEPTH).map_err(unreadable)? {
        let name = file.strip_prefix(path).unwrap_or(&file).display().to_string();
        documents.insert(
            name,
            files::read_document(&file, limits.max_document_bytes as u64 + 1).map_err(unreadable)?,
        );
    }
    let report = examine_folder(&documents, keys, limits);
    println!("{report}");
    if !report.documents.iter().any(|document| document.is_verified()) && report.faults().is_empty() {
        return Err(CliError::with_code(format!("{} holds no signed document", path.display()), UNVERIFIED));
    }
    match report.faults().len() {
        0 => Ok(()),
        faults => Err(CliError::with_code(
            format!("{faults} fault{} found", if faults == 1 { "" } else { "s" }),
            UNVERIFIED,
        )),
    }
}
