//! The heaviest requests that are allowed: they end at their memory pool, spill cap or deadline with a refusal that says
//! which, spilling changes no answer, and an abandoned request gives its memory back.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, Decimal128Array, Int32Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use benthic_mirror::catalog::{Catalog, JoinEnd, JoinPath, JoinType, Reliability};
use benthic_mirror::config::{ExactNumbers, Limits, ScanPolicy};
use benthic_mirror::engine::{
    Answer, EngineRuntime, JoinArguments, JoinMode, JoinSource, QueryArguments, Refusal, RelationData,
    RunError, RunOptions, check_join, check_query, run_join, run_query,
};
use serde_json::Value;

use crate::relations::one_relation;
use crate::stored::{Layout, write};

const ROWS: i32 = 60_000;

/// Without the size rules, which would refuse first.
const COMPLETE: RunOptions = RunOptions { policy: ScanPolicy::Complete, exact_numbers: ExactNumbers::String };

struct Big {
    catalog: Catalog,
    data: RelationData,
    tokio: tokio::runtime::Runtime,
    _directory: tempfile::TempDir,
}

/// `o.r` with a distinct text in every row, joined to itself along it.
fn big() -> &'static Big {
    static BIG: OnceLock<Big> = OnceLock::new();
    BIG.get_or_init(|| {
        let directory = tempfile::tempdir().unwrap();
        let text = |n: i32| format!("{:08}-{}", (n * 7_919) % ROWS, "x".repeat(40));
        let amounts: Vec<i128> = (0..ROWS).map(|n| i128::from(n % 1_000) * 12_345).collect();
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("id", Arc::new(Int32Array::from_iter_values(0..ROWS))),
            ("k", Arc::new(StringArray::from_iter_values((0..ROWS).map(text)))),
            ("v", Arc::new(Decimal128Array::from(amounts).with_precision_and_scale(38, 2).unwrap())),
        ];
        let field = |(name, array): &(&str, ArrayRef)| Field::new(*name, array.data_type().clone(), true);
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        assert_eq!(schema.field(1).data_type(), &DataType::Utf8);
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        let batch = RecordBatch::try_new(schema, arrays).unwrap();
        let data = write(directory.path(), "r", batch, vec!["id".to_owned()], Vec::new(), Layout::Plain);
        let mut catalog = one_relation(&[("id", "integer"), ("k", "text"), ("v", "numeric(38,2)")], &["id"]);
        let end = || JoinEnd {
            dataset: "o".to_owned(),
            relation: "r".to_owned(),
            column: "k".to_owned(),
            srid: None,
        };
        catalog.joins.push(JoinPath {
            from: end(),
            to: end(),
            join_type: JoinType::Identifier,
            reliability: Reliability::Reliable,
            notes: None,
        });
        let tokio =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        Big { catalog, data, tokio, _directory: directory }
    })
}

/// A group per row, every kind of aggregate, ordered by one of them.
fn grouped() -> QueryArguments {
    let list = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect();
    QueryArguments {
        source: "o.r".to_owned(),
        group_by: list(&["k"]),
        metrics: list(&["s=sum:v", "a=avg:v", "lo=min:k", "hi=max:k", "n=count:*"]),
        order: list(&["s:desc", "k"]),
        limit: Some(1_000),
        ..QueryArguments::default()
    }
}

fn runtime(change: impl FnOnce(&mut Limits)) -> EngineRuntime {
    let mut limits = Limits { request_deadline: Duration::from_secs(600), ..Limits::default() };
    change(&mut limits);
    EngineRuntime::new(limits, 4).unwrap()
}

fn query(runtime: &EngineRuntime) -> Result<Answer, RunError> {
    let Big { catalog, data, tokio, .. } = big();
    let arguments = grouped();
    let query = check_query(catalog, &arguments, runtime.limits()).unwrap();
    tokio.block_on(run_query(&query, data, "", runtime, COMPLETE))
}

fn join(runtime: &EngineRuntime) -> Result<Answer, RunError> {
    let Big { catalog, data, tokio, .. } = big();
    let column = Some("k".to_owned());
    let arguments = JoinArguments {
        left_source: "o.r".to_owned(),
        right_source: "o.r".to_owned(),
        left_column: column.clone(),
        right_column: column,
        mode: Some("left".to_owned()),
        ..JoinArguments::default()
    };
    let join = check_join(catalog, &arguments, runtime.limits()).unwrap();
    assert_eq!(join.mode, JoinMode::Left);
    let side = || JoinSource { data, manifest_hash: "", served: Value::Null };
    tokio.block_on(run_join(&join, side(), side(), runtime, COMPLETE))
}

/// The refusal; afterwards nothing is reserved.
fn refused(runtime: &EngineRuntime, outcome: Result<Answer, RunError>) -> Refusal {
    let refusal = match outcome {
        Err(RunError::Refused(refusal)) => *refusal,
        Err(RunError::Failed(error)) => panic!("failed: {error}"),
        Ok(answer) => panic!("answered with {} rows", answer.rows.len()),
    };
    assert!(!refusal.terminal && refusal.next_step.is_some(), "{}", refusal.to_text());
    freed(runtime);
    refusal
}

/// Waits until no memory is reserved. An idle machine needs milliseconds; the bound allows for a loaded one.
fn freed(runtime: &EngineRuntime) {
    let started = Instant::now();
    while runtime.reserved_bytes() > 0 {
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "{} bytes are still reserved",
            runtime.reserved_bytes()
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn bound(refusal: &Refusal) -> (&str, &str, u64) {
    let bound = refusal.facts["bound"].as_str().unwrap();
    (refusal.code.as_str(), bound, refusal.facts["limit_bytes"].as_u64().unwrap())
}

#[test]
fn without_bounds_it_is_answered() {
    let runtime = runtime(|_| {});
    let answer = query(&runtime).unwrap();
    assert_eq!(answer.rows.len(), 1_000);
    assert_eq!(answer.rows[0]["s"].to_string(), "123326.55");
    freed(&runtime);
    // The join's memory suffices too; it is its width that refuses it.
    let refusal = refused(&runtime, join(&runtime));
    assert_eq!((refusal.code.as_str(), &refusal.facts["joined_rows"]), ("join_too_wide", &ROWS.into()));
}

#[test]
fn the_memory_pool_holds() {
    let bytes = 1 << 20;
    let runtime = runtime(|limits| limits.memory_limit_bytes = bytes);
    let refusal = refused(&runtime, join(&runtime));
    assert_eq!(bound(&refusal), ("too_expensive", "memory", bytes));
    let refusal = refused(&runtime, query(&runtime));
    assert_eq!(bound(&refusal), ("too_expensive", "memory", bytes));
}

#[test]
fn the_spill_cap_holds_and_spilling_changes_nothing() {
    let memory = 32 << 20;
    let capped = 64 << 10;
    let small = runtime(|limits| (limits.memory_limit_bytes, limits.spill_limit_bytes) = (memory, capped));
    let refusal = refused(&small, query(&small));
    assert_eq!(bound(&refusal), ("too_expensive", "spill", capped));
    let spilling = runtime(|limits| limits.memory_limit_bytes = memory);
    let answer = query(&spilling).unwrap();
    assert_eq!(answer.rows, query(&runtime(|_| {})).unwrap().rows, "an answer that spilled");
    freed(&spilling);
}

#[test]
fn the_deadline_holds() {
    let runtime = runtime(|limits| limits.request_deadline = Duration::from_millis(20));
    for outcome in [query(&runtime), join(&runtime)] {
        let refusal = refused(&runtime, outcome);
        assert_eq!((refusal.code.as_str(), &refusal.facts["bound"]), ("timed_out", &"deadline".into()));
        assert_eq!(refusal.facts["limit_seconds"], 0.02);
    }
}

#[test]
fn an_abandoned_request_gives_its_memory_back() {
    let runtime = Arc::new(runtime(|_| {}));
    let tokio = &big().tokio;
    for attempt in 0..3 {
        let shared = Arc::clone(&runtime);
        let request = tokio.spawn(async move {
            let arguments = grouped();
            let query = check_query(&big().catalog, &arguments, shared.limits()).unwrap();
            run_query(&query, &big().data, "", &shared, COMPLETE).await.map(|answer| answer.rows.len())
        });
        while runtime.reserved_bytes() == 0 {
            assert!(!request.is_finished(), "attempt {attempt}: it ended without ever reserving memory");
            std::thread::yield_now();
        }
        request.abort();
        freed(&runtime);
        assert!(tokio.block_on(request).is_err_and(|ended| ended.is_cancelled()), "attempt {attempt}");
    }
    // And the next one is answered.
    assert_eq!(query(&runtime).unwrap().rows.len(), 1_000);
}
