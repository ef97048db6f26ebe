//! Readers while snapshots are published: every answer is of one generation, whole.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use benthic_mirror::app::{Mirror, MirrorOptions};
use benthic_mirror::config::{Config, ExactNumbers, FixedClock, Layers, ScanPolicy, SystemClock};
use benthic_mirror::demo::DemoValue;
use benthic_mirror::demo::origin::DemoOrigin;
use benthic_mirror::engine::RunOptions;
use serde_json::{Value, json};

use crate::support::{self, Log, TestStore, trust};

const GENERATIONS: u32 = 5;

/// Writes the generation's number into one legislator and into all of their terms.
fn mark(origin: &DemoOrigin, id: &str, generation: u32) {
    for (source, column) in [("usp_cl.legislators", "nickname"), ("usp_cl.legislator_terms", "how")] {
        let is_there = origin.update_relation(source, |relation| {
            let (key, marked) =
                (relation.column_index("bioguide_id").unwrap(), relation.column_index(column).unwrap());
            for row in relation.rows.iter_mut().filter(|row| row[key].as_text() == Some(id)) {
                row[marked] = DemoValue::from(format!("generation {generation}"));
            }
        });
        assert!(is_there, "{source}");
    }
}

fn open(store: &TestStore) -> Mirror {
    let config = Config::resolve(&Layers::default(), Path::new("/nowhere")).unwrap();
    let options = MirrorOptions {
        trust: trust(),
        run: RunOptions { policy: ScanPolicy::Parity, exact_numbers: ExactNumbers::String },
        max_age_seconds: u64::MAX,
        concurrency: 8,
    };
    Mirror::open(&store.path(), &config, options, Arc::new(SystemClock)).unwrap()
}

/// The generation of an answer, after everything in it was found to be of it.
fn generation_of(answer: &Value) -> (String, String) {
    let snapshot = answer["served"]["snapshot_id"].as_str().unwrap();
    for side in answer["sources"].as_array().unwrap() {
        assert_eq!(side["served"]["snapshot_id"], snapshot, "{answer}");
        assert_eq!(side["served"]["content_id"], answer["served"]["content_id"], "{answer}");
    }
    let rows = answer["rows"].as_array().unwrap();
    assert!(!rows.is_empty());
    let first = rows[0]["left.nickname"].as_str().unwrap();
    for row in rows {
        assert_eq!((&row["left.nickname"], &row["right.how"]), (&json!(first), &json!(first)), "{answer}");
    }
    (snapshot.to_owned(), first.to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_join_never_sees_two_generations() {
    let origin = support::demo_origin().await;
    let id = {
        let data = origin.data();
        let terms = data.relation("usp_cl.legislator_terms").unwrap();
        let id = terms.rows().find_map(|row| row.text("bioguide_id").map(str::to_owned));
        id.unwrap()
    };
    let store = TestStore::new();
    let pull = async |generation: u32| {
        mark(&origin, &id, generation);
        let clock = FixedClock(support::moment(&format!("2026-03-{:02}T00:00:00Z", generation + 1)));
        let options = support::only(&["usp_cl.legislators", "usp_cl.legislator_terms"]);
        let report = store.pull_at(&origin, &options, &clock, &Log::default()).await.unwrap();
        assert_eq!(report.failures(), 0);
        report.snapshot.unwrap().to_string()
    };
    let mut published = vec![pull(0).await];
    let mirror = Arc::new(open(&store));
    let arguments = json!({
        "left_source": "usp_cl.legislators", "right_source": "usp_cl.legislator_terms",
        "left_where": [format!("bioguide_id=eq.{id}")], "left_select": ["nickname"], "right_select": ["how"],
        // Rows that differ, or one would stand for all of them.
        "limit": 1_000,
    });
    let stop = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let (mirror, stop, arguments) = (Arc::clone(&mirror), Arc::clone(&stop), arguments.clone());
            tokio::spawn(async move {
                let mut seen = BTreeSet::new();
                let mut asked = 0;
                // Once more after the last publication, so that it is seen too.
                loop {
                    let is_last = stop.load(Ordering::SeqCst);
                    let answer = mirror.join(arguments.as_object().unwrap().clone()).await.unwrap();
                    seen.insert(generation_of(&answer));
                    asked += 1;
                    if is_last {
                        return (seen, asked);
                    }
                }
            })
        })
        .collect();
    for generation in 1..GENERATIONS {
        published.push(pull(generation).await);
    }
    stop.store(true, Ordering::SeqCst);
    let expected: BTreeSet<(String, String)> =
        published.into_iter().enumerate().map(|(n, id)| (id, format!("generation {n}"))).collect();
    for reader in readers {
        let (seen, asked) = reader.await.unwrap();
        assert!(seen.is_subset(&expected), "{seen:?}");
        assert!(seen.iter().any(|(_, generation)| generation == &format!("generation {}", GENERATIONS - 1)));
        assert!(asked > seen.len() && seen.len() > 1, "{asked} answers of {} generations", seen.len());
    }
}
