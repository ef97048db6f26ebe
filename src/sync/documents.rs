//! Step 1: fetch and verify the collection and its manifests, and ask the ledger whether it is older than what was
//! accepted before. Nothing else is fetched before that succeeds.

use url::Url;

use crate::bdp::ledger::{Candidate, LedgerLine, Verdict, judge, replay};
use crate::bdp::{
    Collection, LoopbackHttp, Manifest, PayloadHash, Verified, check_collection_name, check_member,
    manifest_url, verify_collection, verify_manifest,
};
use crate::catalog::Catalog;
use crate::config::Clock;
use crate::net::retry::Outcome;
use crate::net::{Net, Purpose, Response};
use crate::store::Store;

use super::error::SyncError;
use super::options::PullOptions;

/// The verified documents of a run.
#[derive(Debug)]
pub struct Documents {
    /// The collection.
    pub collection: Verified<Collection>,
    /// Its members' manifests, in its order.
    pub manifests: Vec<Verified<Manifest>>,
    /// What they grant together.
    pub catalog: Catalog,
    /// The ledger line to append when the snapshot is published; `None` if the collection is accepted already.
    pub ledger_line: Option<LedgerLine>,
}

/// Fetches, verifies and judges.
pub async fn load(
    net: &Net,
    store: &Store,
    options: &PullOptions,
    clock: &dyn Clock,
) -> Result<Documents, SyncError> {
    let collection = fetch_collection(net, options).await?;
    if let Some(expected) = options.expected_collection_hash
        && expected != collection.payload_hash
    {
        return Err(SyncError::NotTheExpected {
            collection: options.collection.clone(),
            expected: expected.to_string(),
            found: collection.payload_hash.to_string(),
        });
    }
    let ledger_line = ask_ledger(store, options, &collection, clock)?;
    let manifests = fetch_manifests(net, options, &collection).await?;
    let catalog = Catalog::from_verified(&collection, &manifests)?;
    Ok(Documents { collection, manifests, catalog, ledger_line })
}

/// The collection as it is published now, verified. Step 5 asks again.
pub async fn fetch_collection(net: &Net, options: &PullOptions) -> Result<Verified<Collection>, SyncError> {
    let mut url = options.root.clone();
    match url.path_segments_mut() {
        Ok(mut segments) => {
            segments.pop_if_empty().push(&options.collection).push("collection.json");
        }
        Err(()) => {
            return Err(SyncError::Root {
                root: options.root.to_string(),
                problem: "it has no path to look below".to_owned(),
            });
        }
    }
    let name = format!("collection {}", options.collection);
    let response = fetch(net, options, &url, &name).await?;
    let untrusted = |source| SyncError::Verify { document: name.clone(), source };
    let collection =
        verify_collection(&response.body, &options.publisher_keys, &options.limits).map_err(untrusted)?;
    check_collection_name(&collection, &options.collection).map_err(untrusted)?;
    Ok(collection)
}

async fn fetch_manifests(
    net: &Net,
    options: &PullOptions,
    collection: &Verified<Collection>,
) -> Result<Vec<Verified<Manifest>>, SyncError> {
    let loopback = match net.options().loopback_http {
        crate::net::LoopbackHttp::Allowed => LoopbackHttp::Allowed,
        crate::net::LoopbackHttp::Refused => LoopbackHttp::Refused,
    };
    let mut manifests = Vec::with_capacity(collection.document.members.len());
    for member in &collection.document.members {
        let name = format!("manifest of {}", member.dataset_name);
        let untrusted = |source| SyncError::Verify { document: name.clone(), source };
        let url = manifest_url(&options.root, member, loopback).map_err(untrusted)?;
        let response = fetch(net, options, &url, &name).await?;
        let manifest =
            verify_manifest(&response.body, &options.publisher_keys, &options.limits).map_err(untrusted)?;
        check_member(collection, &member.dataset_name, &manifest).map_err(untrusted)?;
        manifests.push(manifest);
    }
    Ok(manifests)
}

/// One document, asked for again where that makes sense.
async fn fetch(net: &Net, options: &PullOptions, url: &Url, document: &str) -> Result<Response, SyncError> {
    let purpose = Purpose::Document { root: &options.root };
    let cap = u64::try_from(options.limits.max_document_bytes).unwrap_or(u64::MAX);
    let mut attempt = 1;
    let response = loop {
        let result = net.get(purpose, url, &[("accept", "application/json")], Some(cap)).await;
        let (outcome, retry_after) = match &result {
            Ok(response) => (Outcome::Status(response.status), response.retry_after_seconds()),
            Err(error) => (Outcome::of(error), None),
        };
        if !options.retry.pause(attempt, outcome, retry_after, options.jitter_seed).await {
            break result.map_err(|source| SyncError::Fetch { document: document.to_owned(), source })?;
        }
        attempt += 1;
    };
    match response.is_success() {
        true => Ok(response),
        false => Err(SyncError::Document {
            document: document.to_owned(),
            url: url.to_string(),
            status: response.status,
        }),
    }
}

/// Refuses rollbacks; says what to record on acceptance.
fn ask_ledger(
    store: &Store,
    options: &PullOptions,
    collection: &Verified<Collection>,
    clock: &dyn Clock,
) -> Result<Option<LedgerLine>, SyncError> {
    let lines = store.ledger()?;
    let hash: PayloadHash = collection.payload_hash;
    let name = &collection.document.collection_name;
    let created_at = collection.document.created_at.clone();
    let candidate = Candidate { collection: name.clone(), hash, created_at: created_at.clone() };
    let verdict = judge(&replay(&lines), &candidate, options.expected_collection_hash)
        .into_result(name)
        .map_err(|source| SyncError::Verify { document: format!("collection {name}"), source })?;
    let by_operator = matches!(verdict, Verdict::AllowedByOperator { .. });
    Ok(match verdict {
        Verdict::Current => None,
        _ => Some(LedgerLine {
            collection: name.clone(),
            hash,
            created_at,
            accepted_at: clock.now().to_rfc3339_opts(chrono::SecondsFormat::Micros, true),
            by_operator,
        }),
    })
}
