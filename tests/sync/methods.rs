//! How relations of each shape are read, and which are refused.

use benthic_mirror::demo::origin::{DemoOrigin, Fault, FaultRule, Occurrence, OriginOptions};
use benthic_mirror::demo::{DemoRelation, DemoValue};
use benthic_mirror::store::{Evidence, RelationState};
use benthic_mirror::sync::{PullOptions, RelationOutcome};

use crate::support::{self, Log, TestStore, capture, numbered, relation};

fn text(value: &str) -> DemoValue {
    DemoValue::from(value)
}

/// The labels of a relation's second column, in stored order.
fn labels(store: &TestStore, source: &str) -> Vec<String> {
    use arrow::array::AsArray;
    let snapshot = store.current();
    let mut labels = Vec::new();
    for batch in store.rows(capture(&snapshot, source)) {
        labels.extend(batch.column(1).as_string::<i32>().iter().flatten().map(str::to_owned));
    }
    labels
}

/// Two key columns, the first of them text with everything that means something in a filter.
#[tokio::test(flavor = "multi_thread")]
async fn composite_text_keys_survive_the_grammar() {
    let awkward = [
        "",
        " lead",
        "a,b",
        "a)b",
        "(",
        "\"q\"",
        "back\\slash",
        "plus+",
        "per%cent",
        "é𝔘",
        "null",
        "a.eq.b",
        "{x}",
        "*",
    ];
    let mut rows = Vec::new();
    for (outer, name) in awkward.iter().enumerate() {
        for inner in 0..100 {
            rows.push(vec![
                text(name),
                DemoValue::from(format!("{outer}/{inner}")),
                DemoValue::Int((inner * 37) % 100),
            ]);
        }
    }
    let count = rows.len();
    let keyed =
        relation("keyed", &[("name", "text"), ("label", "text"), ("n", "integer")], &["name", "n"], rows);
    let origin = support::origin_of(vec![keyed]).await;
    // Page boundaries fall inside every group.
    let store = TestStore::new();
    let options = PullOptions { page_size: Some(33), ..support::options() };
    let report = store.pull(&origin, &options).await.unwrap();
    assert_eq!(report.failures(), 0, "{report:#?}");
    let mut found = labels(&store, "d.keyed");
    found.sort();
    found.dedup();
    assert_eq!(found.len(), count);
    // The comparison that bounds an index scan is there beside the group.
    let queries: Vec<String> = origin.requests().iter().map(|request| request.query().to_owned()).collect();
    assert!(queries.iter().any(|query| query.contains("or=") && query.contains("&name=gte.")), "{queries:?}");
    assert!(
        queries.iter().all(|query| !query.contains("offset=")),
        "a keyed relation is never paged by offset"
    );
}

fn keyless(columns: &[(&str, &str)], rows: Vec<Vec<DemoValue>>) -> DemoRelation {
    relation("log", columns, &[], rows)
}

/// Nulls, duplicates and no key: the multiset comes back, by two equal passes in a total order.
#[tokio::test(flavor = "multi_thread")]
async fn keyless_relations_are_read_twice_in_a_total_order() {
    let rows: Vec<Vec<DemoValue>> = (0..2500)
        .map(|index| {
            let number = if index % 5 == 0 { DemoValue::Null } else { DemoValue::Int((index * 7) % 40) };
            vec![number, DemoValue::from(format!("label {}", index % 30))]
        })
        .collect();
    let log = keyless(&[("n", "integer"), ("label", "text")], rows);
    let options = OriginOptions {
        catalogue: support::catalogue(vec![log.clone()]),
        rotate_unordered: true,
        ..OriginOptions::default()
    };
    let origin = DemoOrigin::start(options).await.unwrap();
    let store = TestStore::new();
    store.pull(&origin, &support::options()).await.unwrap();
    let snapshot = store.current();
    let found = capture(&snapshot, "d.log");
    assert_eq!((found.rows, found.evidence), (2500, Evidence::DoubleRead));
    assert_eq!(found.sort_key, ["n", "label"]);
    let mut expected: Vec<String> = log.rows.iter().map(|row| row[1].as_text().unwrap().to_owned()).collect();
    let mut labels = labels(&store, "d.log");
    expected.sort();
    labels.sort();
    assert_eq!(labels, expected);
}

/// An update between the two passes leaves every count as it was: only comparing the passes notices.
#[tokio::test(flavor = "multi_thread")]
async fn an_update_between_two_passes_is_noticed() {
    let rows = (0..1500).map(|n| vec![DemoValue::Int(n), text("same")]).collect();
    let log = keyless(&[("n", "integer"), ("label", "text")], rows);
    let origin = support::origin_of(vec![log]).await;
    let update: benthic_mirror::demo::origin::Mutation = std::sync::Arc::new(|data| {
        data.relation_mut("d.log").unwrap().rows[3][1] = DemoValue::from("updated");
    });
    // Two pages make the first pass.
    origin.add_fault(FaultRule::new("/d/log", Occurrence::Nth(3), Fault::MutateRows(update)).method("GET"));
    let store = TestStore::new();
    store.pull(&origin, &support::options()).await.unwrap();
    let snapshot = store.current();
    let found = capture(&snapshot, "d.log");
    assert_eq!((found.rows, found.retries, found.evidence), (1500, 1, Evidence::DoubleRead));
    assert!(labels(&store, "d.log").contains(&"updated".to_owned()));
}

/// A column the server can't order: fine while rows differ elsewhere, refused when only it tells rows apart.
#[tokio::test(flavor = "multi_thread")]
async fn ties_in_what_the_server_can_order_are_refused() {
    let json = |text: String| DemoValue::Json(text);
    let columns = [("n", "integer"), ("j", "json")];
    let distinct: Vec<Vec<DemoValue>> =
        (0..1500).map(|n| vec![DemoValue::Int(n), json(format!("{{\"n\":{n}}}"))]).collect();
    // Two rows agree in n and differ in j, inside one page.
    let mut differing = distinct.clone();
    differing[11] = vec![DemoValue::Int(10), json("{}".to_owned())];
    // Two equal rows on both sides of the boundary between the first pages: who says the server sent both?
    let mut straddling = distinct.clone();
    straddling[1000] = straddling[999].clone();
    // Two equal rows within a page: one statement sent them.
    let mut equal = distinct.clone();
    equal[11] = equal[10].clone();

    for (rows, captured) in [(distinct, true), (differing, false), (straddling, false), (equal, true)] {
        let origin = support::origin_of(vec![keyless(&columns, rows), numbered("other", 5)]).await;
        let store = TestStore::new();
        let report = store.pull(&origin, &support::options()).await.unwrap();
        match report.outcome("d.log").unwrap() {
            RelationOutcome::Captured { rows: 1500, evidence: Evidence::DoubleRead, .. } => assert!(captured),
            RelationOutcome::Skipped { reason } => {
                assert!(!captured && reason.starts_with("not capturable deterministically"), "{reason}");
                let snapshot = store.current();
                let entry = snapshot.document.relation("d", "log").unwrap();
                assert!(matches!(&entry.state, RelationState::Skipped { reason: found } if found == reason));
            }
            other => panic!("{other:?}"),
        }
    }
}

/// The manifest says 1,000 rows a page, the server sends 100 and says nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_lower_cap_than_declared_loses_nothing() {
    let keyless = relation(
        "log",
        &[("n", "integer"), ("label", "text")],
        &[],
        (0..730).map(|n| vec![DemoValue::Int(n), DemoValue::from(format!("{n}"))]).collect(),
    );
    let relations = vec![numbered("large", 2050), numbered("small", 730), keyless];
    let options =
        OriginOptions { catalogue: support::catalogue(relations), page_cap: 100, ..OriginOptions::default() };
    let origin = DemoOrigin::start(options).await.unwrap();
    let store = TestStore::new();
    let report = store.pull(&origin, &support::options()).await.unwrap();
    assert_eq!(report.failures(), 0, "{report:#?}");
    let snapshot = store.current();
    for (source, rows, evidence) in [
        ("d.large", 2050, Evidence::Counted),
        ("d.small", 730, Evidence::Counted),
        ("d.log", 730, Evidence::DoubleRead),
    ] {
        let found = capture(&snapshot, source);
        assert_eq!((found.rows, found.evidence), (rows, evidence), "{source}");
    }
}

/// A declared key that holds nulls or repeats itself isn't a key; the rows are captured all the same.
#[tokio::test(flavor = "multi_thread")]
async fn declared_keys_are_not_believed() {
    let columns = [("id", "integer"), ("label", "text")];
    let mut rows: Vec<Vec<DemoValue>> =
        (0..1500).map(|n| vec![DemoValue::Int(n), DemoValue::from(format!("{n}"))]).collect();
    rows[7][0] = DemoValue::Null;
    let nulls = relation("nulls", &columns, &["id"], rows.clone());
    let few_nulls = relation("few_nulls", &columns, &["id"], rows[..20].to_vec());
    let twins = relation("twins", &columns, &["id"], vec![rows[1].clone(), rows[1].clone(), rows[0].clone()]);
    let origin = support::origin_of(vec![nulls, few_nulls, twins]).await;
    let store = TestStore::new();
    let report = store.pull(&origin, &support::options()).await.unwrap();
    assert_eq!(report.failures(), 0, "{report:#?}");
    let snapshot = store.current();
    for (source, rows) in [("d.nulls", 1500), ("d.few_nulls", 20), ("d.twins", 3)] {
        let found = capture(&snapshot, source);
        assert_eq!(found.rows, rows, "{source}");
        assert_eq!(found.sort_key, ["id", "label"], "{source} is sorted by everything");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn budgets_and_patterns_decide_before_rows_are_fetched() {
    let origin = support::origin_of(vec![numbered("large", 1200), numbered("small", 12)]).await;
    let store = TestStore::new();
    let options = PullOptions { max_rows_per_relation: Some(100), ..support::options() };
    let report = store.pull(&origin, &options).await.unwrap();
    let Some(RelationOutcome::Skipped { reason }) = report.outcome("d.large") else { panic!("{report:#?}") };
    assert!(reason.contains("1200 rows") && reason.contains("d.large"), "{reason}");
    let rows_fetched = |name: &str| {
        let path = format!("/d/{name}");
        origin.requests().iter().any(|request| request.method == "GET" && request.path() == path)
    };
    assert!(!rows_fetched("large") && rows_fetched("small"));

    let one = TestStore::new();
    one.pull(&origin, &support::only(&["d.sm*"])).await.unwrap();
    assert_eq!(one.current().document.relations.len(), 1);
    let none = TestStore::new();
    let error = none.pull(&origin, &support::only(&["d.small", "d.nothing"])).await.unwrap_err();
    assert!(error.to_string().contains("d.nothing"), "{error}");
}

/// A statement timeout halves the page until it passes.
#[tokio::test(flavor = "multi_thread")]
async fn statement_timeouts_make_smaller_pages() {
    let origin = support::origin_of(vec![numbered("slow", 2000)]).await;
    origin.add_fault(
        FaultRule::new("/d/slow", Occurrence::Always, Fault::TimeoutAbove { rows: 300 }).method("GET"),
    );
    let store = TestStore::new();
    let log = Log::default();
    let report = store.pull_at(&origin, &support::options(), &support::clock(), &log).await.unwrap();
    assert_eq!(report.failures(), 0, "{report:#?} {:#?}", log.lines());
    assert_eq!(capture(&store.current(), "d.slow").rows, 2000);
}
