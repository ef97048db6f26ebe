//! Every request to both, and to the engine in several ways.
//!
//! `BENTHIC_ORACLE_REQUESTS` says how many (default few enough for every run; `scripts/postgres-oracle.sh --all` asks
//! 20,000), `BENTHIC_ORACLE_SEED` which, `BENTHIC_ORACLE_ONLY` asks a single one and shows it.

use std::collections::BTreeMap;
use std::sync::Arc;

use benthic_mirror::catalog::Catalog;
use benthic_mirror::config::{ExactNumbers, Limits, ScanPolicy};
use benthic_mirror::engine::{
    EngineRuntime, JoinSource, RelationData, RunError, RunOptions, check_join, check_query, run_join,
    run_query,
};
use serde_json::Value;

use crate::compare::{Outcome, Theirs, difference};
use crate::postgres;
use crate::relations::{World, world};
use crate::requests::{Ask, Request, request};
use crate::stored::{Layout, store};

pub(crate) const DEFAULT_REQUESTS: usize = 300;

pub(crate) const OPTIONS: RunOptions =
    RunOptions { policy: ScanPolicy::Parity, exact_numbers: ExactNumbers::String };

/// One way to run the same request: a layout and DataFusion settings. The answer must not depend on it.
struct Way {
    layout: Layout,
    runtime: EngineRuntime,
    settings: &'static [(&'static str, &'static str)],
}

/// A layout, a number of partitions and DataFusion settings.
type WayOf = (Layout, usize, &'static [(&'static str, &'static str)]);

/// The first way is how requests are run in service.
const WAYS: &[WayOf] = &[
    (Layout::Plain, 2, &[]),
    (Layout::Crumbs, 2, &[]),
    (Layout::BloomOnly, 1, &[]),
    (Layout::Crumbs, 2, &[("datafusion.optimizer.max_passes", "0")]),
    (Layout::Crumbs, 1, &[("datafusion.optimizer.enable_dynamic_filter_pushdown", "false")]),
    (Layout::Crumbs, 4, &[("datafusion.execution.batch_size", "7")]),
    (
        Layout::Crumbs,
        3,
        &[
            ("datafusion.optimizer.repartition_file_min_size", "1"),
            ("datafusion.optimizer.hash_join_single_partition_threshold", "0"),
            ("datafusion.optimizer.hash_join_single_partition_threshold_rows", "0"),
            ("datafusion.optimizer.filter_null_join_keys", "true"),
        ],
    ),
    (
        Layout::Crumbs,
        2,
        &[
            ("datafusion.optimizer.enable_topk_aggregation", "false"),
            ("datafusion.optimizer.enable_sort_pushdown", "false"),
            ("datafusion.optimizer.enable_round_robin_repartition", "false"),
            ("datafusion.optimizer.repartition_aggregations", "false"),
            ("datafusion.optimizer.join_reordering", "false"),
            ("datafusion.execution.perfect_hash_join_small_build_threshold", "0"),
        ],
    ),
    (
        Layout::Crumbs,
        2,
        &[
            ("datafusion.execution.skip_partial_aggregation_probe_rows_threshold", "0"),
            ("datafusion.execution.skip_partial_aggregation_probe_ratio_threshold", "0.0"),
            ("datafusion.execution.batch_size", "16"),
            ("datafusion.optimizer.prefer_existing_sort", "true"),
        ],
    ),
];

pub(crate) fn number_from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

#[test]
fn postgresql_agrees() {
    let seed = number_from_environment("BENTHIC_ORACLE_SEED").unwrap_or(7);
    let count = number_from_environment("BENTHIC_ORACLE_REQUESTS").map_or(DEFAULT_REQUESTS, |n| n as usize);
    let only = number_from_environment("BENTHIC_ORACLE_ONLY").map(|n| n as usize);
    let world = world(seed);
    let numbers: Vec<usize> = only.map_or_else(|| (0..count).collect(), |only| vec![only]);
    let requests: Vec<Request> = numbers.iter().map(|n| request(&world, seed, *n)).collect();
    let sql: Vec<String> = requests.iter().map(|request| request.sql.clone()).collect();
    let Some(answers) = postgres::ask(&world, &sql) else { return };
    let directory = tempfile::tempdir().unwrap();
    let data: Arc<Held> = Arc::new(hold(directory.path(), &world, &answers.rows));
    let ways: Vec<Way> = WAYS
        .iter()
        .map(|(layout, partitions, settings)| Way {
            layout: *layout,
            runtime: EngineRuntime::new(Limits::default(), *partitions)
                .and_then(|runtime| runtime.with_settings(settings))
                // In service these relations are too small for it.
                .map(|runtime| if *layout == Layout::Plain { runtime } else { runtime.with_two_step_rows(0) })
                .unwrap(),
            settings,
        })
        .collect();

    let next = std::sync::atomic::AtomicUsize::new(0);
    let problems = std::sync::Mutex::new(BTreeMap::new());
    let tally = std::sync::Mutex::new(BTreeMap::<&str, usize>::new());
    let worker = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        loop {
            let index = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let Some(request) = requests.get(index) else { break };
            let theirs = answers.requests.get(&index).map(|text| Theirs::read(text));
            // How requests are run in service, and one other way in turn.
            let other = 1 + numbers[index] % (ways.len() - 1);
            for way in [&ways[0], &ways[other]] {
                let outcome = runtime.block_on(run(&world.catalog, &data, way, request));
                *tally.lock().unwrap().entry(kind(&outcome, theirs.as_ref())).or_default() += 1;
                if only.is_some() {
                    show(request, &outcome, theirs.as_ref());
                }
                if let Some(difference) = difference(request, &outcome, theirs.as_ref()) {
                    let asked = match &request.ask {
                        Ask::Query(arguments) => format!("{arguments:?}"),
                        Ask::Join(arguments, _) => format!("{arguments:?}"),
                    };
                    let way = format!("{:?} {:?}", way.layout, way.settings);
                    problems.lock().unwrap().insert(
                        (numbers[index], way.clone()),
                        format!("#{} [{way}] {difference}\n    {asked}\n    {}", numbers[index], request.sql),
                    );
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(worker);
        }
    });
    let tally = tally.into_inner().unwrap();
    eprintln!("PostgreSQL oracle of the engine: {} requests compared, twice each: {tally:?}", requests.len());
    let problems = problems.into_inner().unwrap();
    let shown: Vec<&str> = problems.values().take(40).map(String::as_str).collect();
    assert!(
        problems.is_empty(),
        "{} differences (seed {seed}):\n{}\nPostgreSQL's errors: {:#?}",
        problems.len(),
        shown.join("\n"),
        answers.errors.iter().take(10).collect::<Vec<_>>()
    );
    // A generator that asks nothing proves nothing.
    if only.is_none() {
        let answered = tally.get("answered").copied().unwrap_or(0);
        let empty = tally.get("answered, no rows").copied().unwrap_or(0);
        assert!(answered > empty, "{tally:?}");
    }
}

fn kind(outcome: &Outcome, theirs: Option<&Theirs>) -> &'static str {
    match outcome {
        Outcome::Answered(answer) if answer.rows.is_empty() => "answered, no rows",
        Outcome::Answered(_) => "answered",
        Outcome::Refused(_) if theirs.is_none() => "refused, PostgreSQL failed",
        Outcome::Refused(_) => "refused",
        Outcome::Failed(_) => "failed",
    }
}

fn show(request: &Request, outcome: &Outcome, theirs: Option<&Theirs>) {
    eprintln!("{}", request.sql);
    match outcome {
        Outcome::Answered(answer) => {
            answer.rows.iter().take(50).for_each(|row| eprintln!("ours   {}", Value::Object(row.clone())));
        }
        Outcome::Refused(refusal) => eprintln!("ours   {}", refusal.to_text()),
        Outcome::Failed(error) => eprintln!("ours   {error}"),
    }
    match theirs {
        Some(theirs) => {
            theirs.rows.iter().take(50).for_each(|row| eprintln!("theirs {}", Value::from(row.clone())))
        }
        None => eprintln!("theirs: failed"),
    }
}

/// The rows by relation and layout.
type Held = BTreeMap<(&'static str, String), RelationData>;

fn hold(directory: &std::path::Path, world: &World, bodies: &BTreeMap<String, String>) -> Held {
    let mut held = Held::new();
    for rel in &world.relations {
        let relation = world.catalog.relation(&rel.source()).unwrap();
        for layout in [Layout::Plain, Layout::Crumbs, Layout::BloomOnly] {
            let body = bodies[rel.name].as_bytes();
            let data = store(directory, relation, rel.key_is_unique, body, layout);
            assert_eq!(data.rows, rel.rows.len() as u64, "{}", rel.name);
            held.insert((rel.name, format!("{layout:?}")), data);
        }
    }
    held
}

async fn run(catalog: &Catalog, held: &Held, way: &Way, request: &Request) -> Outcome {
    let limits = way.runtime.limits();
    let data = |name: &'static str| &held[&(name, format!("{:?}", way.layout))];
    let answered = match &request.ask {
        Ask::Query(arguments) => match check_query(catalog, arguments, limits) {
            Ok(query) => {
                let name = held.keys().map(|key| key.0).find(|name| *name == query.relation.name).unwrap();
                run_query(&query, data(name), "", &way.runtime, OPTIONS).await
            }
            Err(refusal) => Err(refusal.into()),
        },
        Ask::Join(arguments, names) => match check_join(catalog, arguments, limits) {
            Ok(join) => {
                let side = |name| JoinSource { data: data(name), manifest_hash: "", served: Value::Null };
                run_join(&join, side(names[0]), side(names[1]), &way.runtime, OPTIONS).await
            }
            Err(refusal) => Err(refusal.into()),
        },
    };
    match answered {
        Ok(answer) => Outcome::Answered(Box::new(answer)),
        Err(RunError::Refused(refusal)) => Outcome::Refused(refusal),
        Err(RunError::Failed(error)) => Outcome::Failed(error.to_string()),
    }
}
