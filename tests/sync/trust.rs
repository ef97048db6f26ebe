//! What is believed: signatures, pins, the ledger, and the two lists of keys.

use std::sync::Mutex;

use benthic_mirror::bdp::{PayloadHash, TrustedKeys, VerifyError};
use benthic_mirror::config::FixedClock;
use benthic_mirror::demo;
use benthic_mirror::demo::origin::{DemoOrigin, OriginCatalogue};
use benthic_mirror::store::{MirrorKey, StoreError, Trust};
use benthic_mirror::sync::{Event, Progress, PullOptions, SyncError};

use crate::support::{self, Log, TestStore, numbered};

const COLLECTION: &str = "demo/collection.json";
const MANIFEST: &str = "demo/d/manifest.json";

fn revision(created_at: &str, rows: i64) -> OriginCatalogue {
    support::catalogue_with(vec![numbered("t", rows)], created_at, 1000)
}

fn serve(origin: &DemoOrigin, catalogue: &OriginCatalogue) {
    for (path, bytes) in &catalogue.documents {
        origin.replace_document(path, bytes.clone());
    }
}

/// Pulls at a later moment each time, so only the documents decide.
async fn pull(store: &TestStore, origin: &DemoOrigin, day: u32) -> Result<PayloadHash, SyncError> {
    pull_with(store, origin, day, &support::options()).await
}

async fn pull_with(
    store: &TestStore,
    origin: &DemoOrigin,
    day: u32,
    options: &PullOptions,
) -> Result<PayloadHash, SyncError> {
    let clock = FixedClock(support::moment(&format!("2026-03-{day:02}T00:00:00Z")));
    let report = store.pull_at(origin, options, &clock, &Log::default()).await?;
    Ok(report.collection_hash.parse().unwrap())
}

/// Whatever is wrong with a document, no row is asked for and nothing is published.
#[tokio::test(flavor = "multi_thread")]
async fn tampered_documents_stop_everything() {
    let good = revision("2026-01-15T00:00:00Z", 10);
    let other = revision("2026-01-16T00:00:00Z", 10);
    let edited = |path: &str, from: &str, to: &str| {
        let text = String::from_utf8(good.documents[path].clone()).unwrap();
        assert!(text.contains(from), "{from} in {path}");
        text.replacen(from, to, 1).into_bytes()
    };
    type Expected = fn(&SyncError) -> bool;
    let is_hash: Expected =
        |error| matches!(error, SyncError::Verify { source: VerifyError::HashMismatch { .. }, .. });
    let cases: Vec<(&str, &str, Vec<u8>, Expected)> = vec![
        ("collection edited", COLLECTION, edited(COLLECTION, "\"Test\"", "\"Best\""), is_hash),
        ("manifest edited", MANIFEST, edited(MANIFEST, "\"integer\"", "\"bigint\""), is_hash),
        ("another manifest", MANIFEST, other.documents[MANIFEST].clone(), |error| {
            matches!(error, SyncError::Verify { source: VerifyError::PinMismatch { .. }, .. })
        }),
        ("not JSON", COLLECTION, b"<html>".to_vec(), |error| matches!(error, SyncError::Verify { .. })),
        (
            "unknown key",
            COLLECTION,
            {
                let text = String::from_utf8(good.documents[COLLECTION].clone()).unwrap();
                text.replace(demo::PUBLIC_KEY, &MirrorKey::generate([9; 32]).public_base64()).into_bytes()
            },
            |error| matches!(error, SyncError::Verify { source: VerifyError::UntrustedKey { .. }, .. }),
        ),
    ];
    for (name, path, bytes, expected) in cases {
        let origin = support::origin_of(vec![numbered("t", 10)]).await;
        serve(&origin, &good);
        origin.replace_document(path, bytes);
        let store = TestStore::new();
        let error = pull(&store, &origin, 1).await.unwrap_err();
        assert!(expected(&error), "{name}: {error:?}");
        assert!(origin.requests().iter().all(|request| request.path().starts_with("/bdp/")), "{name}");
        assert_eq!(store.store.current_id().unwrap(), None, "{name}");
        assert_eq!(store.objects(), Vec::<String>::new(), "{name}");
        assert_eq!(store.store.ledger().unwrap(), [], "{name}");
    }

    let origin = support::origin_of(vec![numbered("t", 10)]).await;
    origin.remove_document(MANIFEST);
    let error = pull(&TestStore::new(), &origin, 1).await.unwrap_err();
    assert!(error.to_string().contains("manifest of d") && error.to_string().contains("404"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn rollbacks_are_refused_by_hash_and_by_date() {
    let origin = support::origin_of(vec![numbered("t", 10)]).await;
    let (first, second) = (revision("2026-01-15T00:00:00Z", 10), revision("2026-01-16T00:00:00Z", 10));
    let older = revision("2026-01-01T00:00:00Z", 10);
    let store = TestStore::new();
    serve(&origin, &first);
    let first_hash = pull(&store, &origin, 1).await.unwrap();
    serve(&origin, &second);
    let second_hash = pull(&store, &origin, 2).await.unwrap();
    let current = store.current().id;

    for rollback in [&first, &older] {
        serve(&origin, rollback);
        origin.clear_requests();
        let error = pull(&store, &origin, 3).await.unwrap_err();
        let SyncError::Verify { source: VerifyError::Rollback { accepted, .. }, .. } = &error else {
            panic!("{error:?}");
        };
        assert_eq!(*accepted, second_hash);
        assert_eq!(store.current().id, current);
        assert!(origin.requests().iter().all(|request| request.path().starts_with("/bdp/")));
    }

    // The operator may name the very hash.
    serve(&origin, &first);
    let named = PullOptions { expected_collection_hash: Some(first_hash), ..support::options() };
    assert_eq!(pull_with(&store, &origin, 4, &named).await.unwrap(), first_hash);
    let ledger = store.store.ledger().unwrap();
    assert_eq!(
        ledger.iter().map(|line| line.hash).collect::<Vec<_>>(),
        [first_hash, second_hash, first_hash]
    );
    assert!(ledger[2].by_operator);

    // And is held to it.
    serve(&origin, &second);
    let error = pull_with(&store, &origin, 5, &named).await.unwrap_err();
    assert!(matches!(error, SyncError::NotTheExpected { .. }), "{error:?}");
}

/// Publishes other documents whenever a relation is finished.
struct Publisher<'a> {
    origin: &'a DemoOrigin,
    next: Mutex<Vec<OriginCatalogue>>,
}

impl Progress for Publisher<'_> {
    fn event(&self, event: Event<'_>) {
        if let Event::RelationFinished { .. } = event
            && let Some(next) = self.next.lock().unwrap().pop()
        {
            serve(self.origin, &next);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collection_that_changes_during_the_run_starts_it_again_once() {
    let revisions = || vec![revision("2026-01-17T00:00:00Z", 10), revision("2026-01-16T00:00:00Z", 10)];
    let origin = support::origin_of(vec![numbered("t", 10)]).await;
    let store = TestStore::new();
    let once = Publisher { origin: &origin, next: Mutex::new(revisions()[1..].to_vec()) };
    let report = store.pull_at(&origin, &support::options(), &support::clock(), &once).await.unwrap();
    let snapshot = store.current();
    assert_eq!(snapshot.catalog.created_at.as_deref(), Some("2026-01-16T00:00:00Z"));
    assert_eq!(snapshot.catalog.collection_hash, report.collection_hash);

    let origin = support::origin_of(vec![numbered("t", 10)]).await;
    let store = TestStore::new();
    let twice = Publisher { origin: &origin, next: Mutex::new(revisions()) };
    let error = store.pull_at(&origin, &support::options(), &support::clock(), &twice).await.unwrap_err();
    assert!(matches!(error, SyncError::ChangedDuringRun { .. }), "{error:?}");
    assert_eq!(store.store.current_id().unwrap(), None);
    assert_eq!(store.store.ledger().unwrap(), [], "what was never published was never accepted");
}

/// Neither list of keys stands in for the other, and other people's stores aren't believed.
#[tokio::test(flavor = "multi_thread")]
async fn the_two_lists_of_keys_are_not_mixed() {
    let origin = support::origin_of(vec![numbered("t", 10)]).await;
    let store = TestStore::new();
    pull(&store, &origin, 1).await.unwrap();
    let right = support::trust();
    assert!(store.store.current(&right).unwrap().is_some());
    let nobody = TrustedKeys::default;
    for (name, wrong) in [
        ("swapped", Trust { publisher: right.mirror.clone(), mirror: right.publisher.clone() }),
        ("no mirror key", Trust { mirror: nobody(), ..right.clone() }),
        ("no publisher key", Trust { publisher: nobody(), ..right.clone() }),
        ("the real publisher", Trust { publisher: TrustedKeys::publisher_default(), ..right.clone() }),
    ] {
        let found = store.store.current(&wrong);
        assert!(matches!(found, Err(StoreError::Untrusted { .. })), "{name}: {found:?}");
    }
}

/// A snapshot is checked every time it is loaded: its document, its name, its objects.
#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_store_is_an_error_never_no_state() {
    let origin = support::origin_of(vec![numbered("t", 10)]).await;
    type Damage = fn(&TestStore);
    let damage: [(&str, Damage); 6] = [
        ("document edited", |store| {
            let path = store.path().join(format!("snapshots/{}.json", store.current().id));
            let text = std::fs::read_to_string(&path).unwrap();
            std::fs::write(path, text.replace("\"rows\":10", "\"rows\":11")).unwrap();
        }),
        ("document of another name", |store| {
            let id = store.current().id.to_string();
            let other = "0".repeat(64);
            let snapshots = store.path().join("snapshots");
            std::fs::rename(snapshots.join(format!("{id}.json")), snapshots.join(format!("{other}.json")))
                .unwrap();
            std::fs::write(store.path().join("refs/current"), format!("{other}\n")).unwrap();
        }),
        ("object missing", |store| {
            let part = support::capture(&store.current(), "d.t").parts[0].sha256;
            std::fs::remove_file(store.store.object_path(&part)).unwrap();
        }),
        ("object cut", |store| {
            let part = support::capture(&store.current(), "d.t").parts[0].sha256;
            let path = store.store.object_path(&part);
            let bytes = std::fs::read(&path).unwrap();
            std::fs::write(path, &bytes[..bytes.len() - 1]).unwrap();
        }),
        ("manifest object edited", |store| {
            let object = store.current().document.manifests[0].object.sha256;
            let path = store.store.object_path(&object);
            let text = std::fs::read_to_string(&path).unwrap();
            std::fs::write(path, text.replace("\"Test\"", "\"Best\"")).unwrap();
        }),
        ("ref edited", |store| std::fs::write(store.path().join("refs/current"), "latest\n").unwrap()),
    ];
    for (name, damage) in damage {
        let store = TestStore::new();
        pull(&store, &origin, 1).await.unwrap();
        damage(&store);
        let found =
            benthic_mirror::store::Store::open(&store.path(), benthic_mirror::store::Access::ReadOnly)
                .unwrap()
                .current(&support::trust());
        assert!(
            matches!(found, Err(StoreError::Corrupt { .. } | StoreError::Untrusted { .. })),
            "{name}: {found:?}"
        );
    }
    // A part whose bytes were swapped is noticed before its first use.
    let store = TestStore::new();
    pull(&store, &origin, 1).await.unwrap();
    let snapshot = store.current();
    let part = support::capture(&snapshot, "d.t").parts[0];
    let path = store.store.object_path(&part.sha256);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[100] ^= 1;
    std::fs::write(path, bytes).unwrap();
    assert!(matches!(store.store.check_object(&part.object()), Err(StoreError::Corrupt { .. })));
}
