//! The same rows give the same bytes and the same identity, however they arrived.

use benthic_mirror::demo::DemoValue;
use benthic_mirror::demo::origin::{DemoOrigin, OriginOptions};
use benthic_mirror::store::{Evidence, RelationState};
use benthic_mirror::sync::{EvidenceWanted, PullOptions};

use crate::support::{self, TestStore, capture, numbered, relation};

#[tokio::test(flavor = "multi_thread")]
async fn page_size_and_concurrency_leave_no_trace() {
    let origin = support::demo_origin().await;
    let first = TestStore::new();
    first.pull(&origin, &PullOptions { concurrency: 1, ..support::options() }).await.unwrap();
    let second = TestStore::new();
    let other = PullOptions { page_size: Some(137), concurrency: 7, ..support::options() };
    second.pull(&origin, &other).await.unwrap();

    let (a, b) = (first.current(), second.current());
    assert_eq!(a.document.content_id, b.document.content_id);
    for (a, b) in a.document.relations.iter().zip(&b.document.relations) {
        let (RelationState::Captured(one), RelationState::Captured(two)) = (&a.state, &b.state) else {
            panic!("{a:?} {b:?}");
        };
        assert_eq!(one.parts, two.parts, "{}", a.source());
        assert_eq!(one.columns, two.columns, "{}", a.source());
    }
    // Equal hashes name equal bytes; the only objects are documents and parts, so the stores hold the same ones.
    assert_eq!(first.objects(), second.objects());
    assert_ne!(a.id, b.id, "evidence differs, so the documents do");
}

/// More rows than one row group, sorted within less memory than they need: the spilled sort gives the same bytes.
#[tokio::test(flavor = "multi_thread")]
async fn a_spilling_sort_gives_the_same_bytes() {
    let rows = 140_000;
    let big = relation(
        "big",
        &[("id", "integer"), ("label", "text"), ("state", "character(2)"), ("amount", "numeric")],
        &["id"],
        (0..rows)
            .map(|index| {
                let id = (index * 7919) % rows;
                vec![
                    DemoValue::Int(id),
                    DemoValue::from(format!(
                        "label number {id} with some more text to carry around {}",
                        id * 31
                    )),
                    DemoValue::from(["AK", "CA", "VT"][usize::try_from(id % 3).unwrap()]),
                    DemoValue::Null,
                ]
            })
            .collect(),
    );
    let catalogue = support::catalogue_with(vec![big], "2026-01-15T00:00:00Z", 50_000);
    let options = OriginOptions { page_cap: 50_000, catalogue, ..OriginOptions::default() };
    let origin = DemoOrigin::start(options).await.unwrap();
    let roomy = TestStore::new();
    roomy.pull(&origin, &support::options()).await.unwrap();
    let tight = TestStore::new();
    let options = PullOptions { sort_memory_bytes: 6 * 1024 * 1024, ..support::options() };
    tight.pull(&origin, &options).await.unwrap();
    let (a, b) = (roomy.current(), tight.current());
    let (a, b) = (capture(&a, "d.big"), capture(&b, "d.big"));
    assert_eq!(a.row_digest, b.row_digest);
    assert_eq!(a.parts, b.parts);
    assert_eq!((a.rows, a.parts.len(), a.parts[0].row_groups), (140_000, 1, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_pull_reuses_every_object() {
    let origin = support::origin_of(vec![numbered("a", 2500), numbered("b", 10)]).await;
    let store = TestStore::new();
    let first = store.pull(&origin, &support::options()).await.unwrap();
    let objects = store.objects();
    let later = benthic_mirror::config::FixedClock(support::moment("2026-03-02T00:00:00Z"));
    let second = store.pull_at(&origin, &support::options(), &later, &support::Log::default()).await.unwrap();
    assert_eq!(first.content_id, second.content_id);
    assert_ne!(first.snapshot, second.snapshot);
    assert_eq!(store.objects(), objects);
    assert_eq!(store.store.ledger().unwrap().len(), 1, "the same collection is accepted once");

    // One changed value is another identity.
    assert!(origin.update_relation("d.b", |relation| relation.rows[0][1] = DemoValue::from("changed")));
    let latest = benthic_mirror::config::FixedClock(support::moment("2026-03-03T00:00:00Z"));
    let third = store.pull_at(&origin, &support::options(), &latest, &support::Log::default()).await.unwrap();
    assert_ne!(third.content_id, second.content_id);
}

#[tokio::test(flavor = "multi_thread")]
async fn double_read_can_be_asked_for() {
    let origin = support::origin_of(vec![numbered("a", 2500)]).await;
    let (one, two) = (TestStore::new(), TestStore::new());
    one.pull(&origin, &support::options()).await.unwrap();
    let options = PullOptions { evidence: EvidenceWanted::DoubleRead, ..support::options() };
    two.pull(&origin, &options).await.unwrap();
    let (a, b) = (one.current(), two.current());
    assert_eq!(capture(&a, "d.a").evidence, Evidence::Counted);
    assert_eq!(capture(&b, "d.a").evidence, Evidence::DoubleRead);
    assert_eq!(a.document.content_id, b.document.content_id);
}

/// Shapes that are read differently when they don't fit one page: no key, columns the server can't order, a declared
/// key that isn't one. The sort they end up in is the same.
#[tokio::test(flavor = "multi_thread")]
async fn the_method_of_reading_leaves_no_trace() {
    let json = |index: i64| DemoValue::Json(format!("{{\"z\":{}}}", (index * 31) % 300));
    let unordered = relation(
        "unordered",
        &[("j", "json"), ("n", "integer")],
        &[],
        (0..300).map(|index| vec![json(index), DemoValue::Int((index * 7) % 300)]).collect(),
    );
    let mut half_null = relation(
        "half_null",
        &[("label", "text"), ("id", "integer"), ("j", "json")],
        &["id"],
        (0..300)
            .map(|index| vec![DemoValue::from(format!("{}", index % 9)), DemoValue::Int(index), json(index)])
            .collect(),
    );
    half_null.rows[3][1] = DemoValue::Null;
    let origin = support::origin_of(vec![unordered, half_null]).await;
    let (whole, paged) = (TestStore::new(), TestStore::new());
    whole.pull(&origin, &support::options()).await.unwrap();
    let options = PullOptions { page_size: Some(37), ..support::options() };
    let report = paged.pull(&origin, &options).await.unwrap();
    assert_eq!(report.failures(), 0, "{report:#?}");
    let (a, b) = (whole.current(), paged.current());
    for source in ["d.unordered", "d.half_null"] {
        let (a, b) = (capture(&a, source), capture(&b, source));
        assert_eq!((a.evidence, b.evidence), (Evidence::SingleResponse, Evidence::DoubleRead), "{source}");
        assert_eq!(a.sort_key, b.sort_key, "{source}");
        assert_eq!(a.parts, b.parts, "{source}");
    }
    assert_eq!(a.document.content_id, b.document.content_id);
}
