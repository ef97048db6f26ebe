//! Step 7: the collection that was asked for, its pinned members, and addresses that stay below the root.

use std::collections::BTreeMap;

use url::{Host, Url};

use super::document::{Collection, CollectionMember, Manifest};
use super::error::{VerifyError, readable};
use super::keys::TrustedKeys;
use super::parse::Limits;
use super::verify::{Verified, verify_manifest};

/// Whether plain HTTP to this machine is acceptable (test and demo origins).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LoopbackHttp {
    /// HTTPS only.
    #[default]
    Refused,
    /// HTTPS anywhere, plain HTTP to loopback addresses.
    Allowed,
}

/// Checks that a collection is the one asked for.
///
/// # Errors
/// [`VerifyError::WrongCollection`].
pub fn check_collection_name(collection: &Verified<Collection>, expected: &str) -> Result<(), VerifyError> {
    let found = &collection.document.collection_name;
    if found != expected {
        return Err(VerifyError::WrongCollection { expected: expected.to_owned(), found: found.clone() });
    }
    Ok(())
}

/// Checks that a manifest is the revision a collection pins for a dataset.
///
/// # Errors
/// [`VerifyError::UnlistedDataset`], [`VerifyError::MemberNameMismatch`] or [`VerifyError::PinMismatch`].
pub fn check_member(
    collection: &Verified<Collection>,
    dataset: &str,
    manifest: &Verified<Manifest>,
) -> Result<(), VerifyError> {
    let members = &collection.document.members;
    let member = members.iter().find(|member| member.dataset_name == dataset).ok_or_else(|| {
        VerifyError::UnlistedDataset {
            collection: collection.document.collection_name.clone(),
            dataset: dataset.to_owned(),
            members: members.iter().map(|member| member.dataset_name.clone()).collect(),
        }
    })?;
    if manifest.document.dataset_name != dataset {
        return Err(VerifyError::MemberNameMismatch {
            expected: dataset.to_owned(),
            found: manifest.document.dataset_name.clone(),
        });
    }
    if manifest.payload_hash != member.payload_hash {
        return Err(VerifyError::PinMismatch {
            dataset: dataset.to_owned(),
            pinned: member.payload_hash,
            found: manifest.payload_hash,
        });
    }
    Ok(())
}

/// Checks that every member of a collection has its pinned manifest among `manifests`.
///
/// Returns the manifests in the collection's order. A dataset's manifest of another revision is a pin mismatch
/// rather than a missing one, so that the message can name both hashes.
///
/// # Errors
/// [`VerifyError::MissingMember`] naming all datasets without a manifest, or [`VerifyError::PinMismatch`].
pub fn check_complete<'a>(
    collection: &Verified<Collection>,
    manifests: &'a [Verified<Manifest>],
) -> Result<Vec<&'a Verified<Manifest>>, VerifyError> {
    let mut missing = Vec::new();
    let mut complete = Vec::new();
    for member in &collection.document.members {
        let same_dataset =
            || manifests.iter().filter(|manifest| manifest.document.dataset_name == member.dataset_name);
        let pinned = same_dataset().find(|manifest| manifest.payload_hash == member.payload_hash);
        match pinned.or_else(|| same_dataset().next()) {
            None => missing.push(member.dataset_name.clone()),
            Some(manifest) => {
                check_member(collection, &member.dataset_name, manifest)?;
                complete.push(manifest);
            }
        }
    }
    if !missing.is_empty() {
        return Err(VerifyError::MissingMember {
            collection: collection.document.collection_name.clone(),
            datasets: missing,
        });
    }
    Ok(complete)
}

/// Verifies every member of a collection from its bytes, by dataset name. Returns them in the collection's order.
///
/// # Errors
/// [`VerifyError::MissingMember`] naming all datasets without bytes (decided first: a partial collection is never
/// loaded), [`VerifyError::UnlistedDataset`] for bytes of a dataset it doesn't list, and what
/// [`verify_manifest`] and [`check_member`] refuse.
pub fn verify_set(
    collection: &Verified<Collection>,
    documents: &BTreeMap<String, Vec<u8>>,
    keys: &TrustedKeys,
    limits: &Limits,
) -> Result<Vec<Verified<Manifest>>, VerifyError> {
    let members = &collection.document.members;
    let missing: Vec<String> = members
        .iter()
        .filter(|member| !documents.contains_key(&member.dataset_name))
        .map(|member| member.dataset_name.clone())
        .collect();
    if !missing.is_empty() {
        return Err(VerifyError::MissingMember {
            collection: collection.document.collection_name.clone(),
            datasets: missing,
        });
    }
    let mut manifests = Vec::new();
    for member in members {
        let Some(bytes) = documents.get(&member.dataset_name) else { continue };
        let manifest = verify_manifest(bytes, keys, limits)?;
        check_member(collection, &member.dataset_name, &manifest)?;
        manifests.push(manifest);
    }
    for dataset in documents.keys() {
        if !members.iter().any(|member| member.dataset_name == *dataset) {
            return Err(VerifyError::UnlistedDataset {
                collection: collection.document.collection_name.clone(),
                dataset: dataset.clone(),
                members: members.iter().map(|member| member.dataset_name.clone()).collect(),
            });
        }
    }
    Ok(manifests)
}

/// The address a member's manifest may be fetched from: same origin as the configured root, below its path.
///
/// The address is signed, but a signed address must still not send a mirror elsewhere. Spellings that another
/// program could resolve differently (dot segments, encoded separators, backslashes) are refused, not normalised.
///
/// # Errors
/// [`VerifyError::ManifestUrl`] naming the rule.
pub fn manifest_url(
    root: &Url,
    member: &CollectionMember,
    loopback: LoopbackHttp,
) -> Result<Url, VerifyError> {
    checked_url(root, &member.manifest_url, loopback).map_err(|reason| VerifyError::ManifestUrl {
        dataset: member.dataset_name.clone(),
        url: readable(&member.manifest_url),
        reason,
    })
}

fn checked_url(root: &Url, text: &str, loopback: LoopbackHttp) -> Result<Url, String> {
    let lower = text.to_ascii_lowercase();
    if text.chars().any(|character| character.is_whitespace() || character.is_control() || character == '\\')
    {
        return Err("it holds a blank, a control character or a backslash".to_owned());
    }
    if ["%2e", "%2f", "%5c", "%00"].iter().any(|encoded| lower.contains(encoded)) {
        return Err("it holds an encoded dot or separator".to_owned());
    }
    if text.split('/').any(|segment| segment == "." || segment == "..") {
        return Err("it holds a dot segment".to_owned());
    }
    let url = Url::parse(text).map_err(|error| format!("it isn't an absolute address ({error})"))?;
    if !url.username().is_empty() || url.password().is_some() || text.contains('@') {
        return Err("it carries credentials".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("it carries a query or a fragment".to_owned());
    }
    match url.scheme() {
        "https" => {}
        "http" if loopback == LoopbackHttp::Allowed && is_loopback(&url) => {}
        "http" => return Err("plain HTTP is only for loopback addresses, when allowed".to_owned()),
        scheme => return Err(format!("the scheme {scheme} isn't HTTPS")),
    }
    if url.origin() != root.origin() {
        return Err(format!("its origin isn't that of the root {root}"));
    }
    let below = format!("{}/", root.path().trim_end_matches('/'));
    match url.path().strip_prefix(&below) {
        Some(rest) if !rest.is_empty() && !rest.split('/').any(str::is_empty) => Ok(url),
        _ => Err(format!("it isn't below the root {root}")),
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(domain)) => domain.eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(root: &str, url: &str, loopback: LoopbackHttp) -> Result<String, String> {
        checked_url(&Url::parse(root).unwrap(), url, loopback).map(String::from)
    }

    #[test]
    fn addresses_below_the_root_pass() {
        for root in ["https://benthic.io/bdp", "https://benthic.io/bdp/"] {
            let url = "https://benthic.io/bdp/parts/nhtsa/manifest.json";
            assert_eq!(check(root, url, LoopbackHttp::Refused).as_deref(), Ok(url));
        }
        for root in ["http://127.0.0.1:8089/bdp", "http://[::1]:8089/bdp", "http://localhost:8089/bdp"] {
            let url = format!("{root}/demo/a/manifest.json");
            assert_eq!(check(root, &url, LoopbackHttp::Allowed).as_deref(), Ok(url.as_str()));
            assert!(check(root, &url, LoopbackHttp::Refused).is_err());
        }
        assert!(check("https://benthic.io", "https://benthic.io/m.json", LoopbackHttp::Refused).is_ok());
    }

    #[test]
    fn everything_that_leaves_it_is_refused() {
        for url in [
            "https://evil.example/bdp/m.json",
            "https://benthic.io.evil.example/bdp/m.json",
            "https://benthic.io:8443/bdp/m.json",
            "http://benthic.io/bdp/m.json",
            "ftp://benthic.io/bdp/m.json",
            "file:///bdp/m.json",
            "//benthic.io/bdp/m.json",
            "/bdp/m.json",
            "https://benthic.io/bdpx/m.json",
            "https://benthic.io/m.json",
            "https://benthic.io/bdp",
            "https://benthic.io/bdp/",
            "https://benthic.io/bdp//m.json",
            "https://benthic.io/bdp/../m.json",
            "https://benthic.io/x/../bdp/m.json",
            "https://benthic.io/bdp/./m.json",
            "https://benthic.io/bdp/x/../m.json",
            "https://benthic.io/bdp/x/%2e%2e/m.json",
            "https://benthic.io/bdp/%2e/m.json",
            "https://benthic.io/bdp/%2e%2e/m.json",
            "https://benthic.io/bdp/.%2E/m.json",
            "https://benthic.io/bdp/a%2fm.json",
            "https://benthic.io/bdp\\..\\m.json",
            "https://user@benthic.io/bdp/m.json",
            "https://user:secret@benthic.io/bdp/m.json",
            "https://@benthic.io/bdp/m.json",
            "https://benthic.io/bdp/m.json?x=1",
            "https://benthic.io/bdp/m.json?",
            "https://benthic.io/bdp/m.json#x",
            "https://benthic.io/bdp/m.json\n",
            "https://benthic.io/b\tdp/m.json",
            "http://127.0.0.1/bdp/m.json",
        ] {
            let outcome = check("https://benthic.io/bdp", url, LoopbackHttp::Allowed);
            assert!(outcome.is_err(), "{url}: {outcome:?}");
        }
        // Allowing plain HTTP to this machine doesn't allow it to others, even when the root has it.
        let plain = check("http://data.example/bdp", "http://data.example/bdp/m.json", LoopbackHttp::Allowed);
        assert!(plain.is_err(), "{plain:?}");
    }
}
