//! Publication step by step: a stop between any two leaves the old snapshot readable.

use benthic_mirror::config::FixedClock;
use benthic_mirror::store::{
    Access, CurrentOrder, LedgerLine, MirrorKey, SnapshotDocument, Store, StoreError, content_id,
};
use benthic_mirror::sync::{PullOptions, SyncError};

use crate::support::{self, Log, MIRROR_SEED, TestStore, capture, numbered};

fn at(day: u32) -> FixedClock {
    FixedClock(support::moment(&format!("2026-03-{day:02}T00:00:00Z")))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pull_publishes_a_snapshot_that_says_how_it_was_made() {
    let origin = support::origin_of(vec![numbered("t", 1234)]).await;
    let store = TestStore::new();
    let log = Log::default();
    let report = store.pull_at(&origin, &support::options(), &at(1), &log).await.unwrap();
    let snapshot = store.current();
    assert_eq!(report.snapshot, Some(snapshot.id));
    assert_eq!(snapshot.mirror_key, MirrorKey::generate(MIRROR_SEED).public_base64());
    let document = &snapshot.document;
    assert_eq!(document.format, "benthic-mirror/snapshot/1");
    assert_eq!(document.created_at, at(1).0);
    assert_eq!(document.collection.name, "demo");
    assert_eq!(document.manifests.len(), 1);
    assert_eq!(document.content_id, content_id(&document.manifests, &document.relations).unwrap());
    let found = capture(&snapshot, "d.t");
    assert_eq!((found.rows, found.count_before, found.count_after), (1234, Some(1234), Some(1234)));
    assert_eq!((found.captured_at.start, found.captured_at.end), (at(1).0, at(1).0));
    // Nothing is left to tidy up.
    let work: Vec<_> = std::fs::read_dir(store.path().join("work")).unwrap().collect();
    assert!(work.is_empty(), "{work:?}");
    let lines = log.lines();
    for expected in [
        "DocumentsVerified",
        "Planned",
        "RelationStarted",
        "Page",
        "Sorting",
        "RelationFinished",
        "Published",
    ] {
        assert!(lines.iter().any(|line| line.starts_with(expected)), "{expected} in {lines:#?}");
    }
}

/// The document of the current snapshot, as a new one a day later with a relation less.
fn successor(store: &TestStore) -> SnapshotDocument {
    let mut document = store.current().document.clone();
    document.relations.pop();
    document.created_at = at(20).0;
    document.content_id = content_id(&document.manifests, &document.relations).unwrap();
    document
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_between_any_two_steps_leaves_the_old_snapshot() {
    let origin = support::origin_of(vec![numbered("a", 10), numbered("b", 10)]).await;
    let key = MirrorKey::generate(MIRROR_SEED);
    for stop_after in 0..4 {
        let store = TestStore::new();
        store.pull_at(&origin, &support::options(), &at(1), &Log::default()).await.unwrap();
        let old = store.current();
        let document = successor(&store);
        let line = LedgerLine {
            collection: "demo".to_owned(),
            hash: old.catalog.collection_hash.parse().unwrap(),
            created_at: None,
            accepted_at: "2026-03-20T00:00:00Z".to_owned(),
            by_operator: false,
        };
        let mut writer = store.store.writer().unwrap();
        writer.put_object(b"an object nobody refers to").unwrap();
        let mut id = None;
        if stop_after >= 1 {
            id = Some(writer.write_snapshot(&document, &key).unwrap());
        }
        if stop_after >= 2 {
            writer.append_ledger(&line).unwrap();
        }
        if stop_after >= 3 {
            writer.switch_current(&id.unwrap()).unwrap();
        }
        drop(writer);
        let now = store.current();
        match stop_after {
            3 => assert_eq!((Some(now.id), now.document.relations.len()), (id, 1)),
            _ => {
                assert_eq!((now.id, now.document.relations.len()), (old.id, 2), "stopped after {stop_after}")
            }
        }
        // And the next run goes through.
        store.pull_at(&origin, &support::options(), &at(21), &Log::default()).await.unwrap();
        assert_eq!(store.current().document.relations.len(), 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_incomplete_snapshot_is_never_written() {
    let origin = support::origin_of(vec![numbered("a", 10), numbered("b", 10)]).await;
    let key = MirrorKey::generate(MIRROR_SEED);
    let store = TestStore::new();
    store.pull_at(&origin, &support::options(), &at(1), &Log::default()).await.unwrap();
    let old = store.current().id;
    let document = successor(&store);
    let part = capture(&store.current(), "d.a").parts[0];
    std::fs::rename(store.store.object_path(&part.sha256), store.path().join("work/aside")).unwrap();
    let mut writer = store.store.writer().unwrap();
    let refused = writer.publish(&document, &key, None, CurrentOrder::ForwardOnly);
    assert!(matches!(refused, Err(StoreError::Corrupt { .. })), "{refused:?}");
    let wrong_identity = SnapshotDocument { content_id: part.sha256, ..document.clone() };
    std::fs::rename(store.path().join("work/aside"), store.store.object_path(&part.sha256)).unwrap();
    let refused = writer.publish(&wrong_identity, &key, None, CurrentOrder::ForwardOnly);
    assert!(matches!(refused, Err(StoreError::Corrupt { .. })), "{refused:?}");
    let missing = "0".repeat(64).parse().unwrap();
    assert!(matches!(writer.switch_current(&missing), Err(StoreError::NotFound { .. })));
    assert_eq!(store.current().id, old);
    assert_eq!(store.store.snapshot_ids().unwrap(), [old]);
}

#[tokio::test(flavor = "multi_thread")]
async fn current_moves_forward_only() {
    let origin = support::origin_of(vec![numbered("t", 10)]).await;
    let store = TestStore::new();
    store.pull_at(&origin, &support::options(), &at(5), &Log::default()).await.unwrap();
    let current = store.current().id;
    let error = store.pull_at(&origin, &support::options(), &at(4), &Log::default()).await.unwrap_err();
    assert!(matches!(error, SyncError::Store(StoreError::Superseded { .. })), "{error:?}");
    assert_eq!(store.current().id, current);
    let allowed = PullOptions { current_order: CurrentOrder::AllowOlder, ..support::options() };
    store.pull_at(&origin, &allowed, &at(4), &Log::default()).await.unwrap();
    assert_ne!(store.current().id, current);
    // Another mirror's clock is its own affair.
    let other = PullOptions { mirror_key: MirrorKey::generate([1; 32]), ..support::options() };
    store.pull_at(&origin, &other, &at(3), &Log::default()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_and_the_one_writer() {
    let origin = support::origin_of(vec![numbered("t", 10)]).await;
    let store = TestStore::new();
    store.pull(&origin, &support::options()).await.unwrap();
    let reader = Store::open(&store.path(), Access::ReadOnly).unwrap();
    assert!(matches!(reader.writer(), Err(StoreError::ReadOnly { .. })));
    let writer = store.store.writer().unwrap();
    let second = Store::open(&store.path(), Access::ReadWrite).unwrap();
    let Err(StoreError::Busy { path }) = second.writer() else { panic!("two writers") };
    assert_eq!(path, store.path());
    // Readers don't mind the writer.
    assert!(reader.current(&support::trust()).unwrap().is_some());
    drop(writer);
    second.writer().unwrap();
}

/// A whole store can be carried to a medium that can't be written.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_copy_is_served() {
    use std::os::unix::fs::PermissionsExt;
    fn lock_down(path: &std::path::Path) {
        if path.is_dir() {
            for entry in std::fs::read_dir(path).unwrap() {
                lock_down(&entry.unwrap().path());
            }
        }
        let mode = if path.is_dir() { 0o555 } else { 0o444 };
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    fn open_up(path: &std::path::Path) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        if path.is_dir() {
            for entry in std::fs::read_dir(path).unwrap() {
                open_up(&entry.unwrap().path());
            }
        }
    }
    let origin = support::origin_of(vec![numbered("t", 10)]).await;
    let store = TestStore::new();
    store.pull(&origin, &support::options()).await.unwrap();
    lock_down(&store.path());
    let reader = Store::open(&store.path(), Access::ReadOnly).unwrap();
    let snapshot = reader.current(&support::trust()).unwrap().unwrap();
    for part in &capture(&snapshot, "d.t").parts {
        reader.check_object(&part.object()).unwrap();
    }
    open_up(&store.path());
}
