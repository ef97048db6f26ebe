//! The harness's tabular questions as requests of the two tools.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use benthic_mirror::app::{Mirror, MirrorOptions};
use benthic_mirror::config::{ExactNumbers, ScanPolicy, SystemClock};
use benthic_mirror::engine::RunOptions;
use benthic_mirror::store::{Access, Store};
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext, col, lit};
use serde_json::{Map, Value, json};

use crate::{capture, config, snapshot, tables, trust};

/// A mirror over the tables that doesn't refuse what the harness's questions ask of every engine: sums over all rows,
/// and answers longer than a page.
pub(crate) fn mirror(data: &Path) -> Mirror {
    let mut config = config();
    config.concurrency = 2;
    config.limits.max_rows = 100_000;
    config.limits.max_response_bytes = 1 << 30;
    config.limits.request_deadline = Duration::from_secs(120);
    let options = MirrorOptions {
        trust: trust(),
        run: RunOptions { policy: ScanPolicy::Complete, exact_numbers: ExactNumbers::Number },
        max_age_seconds: config.max_age.as_secs(),
        concurrency: 4,
    };
    let mirror = Mirror::open(&tables::store_path(data), &config, options, Arc::new(SystemClock)).unwrap();
    mirror.load().unwrap();
    mirror
}

/// A question as a request: which tool, its arguments, and the columns of the answer in the harness's order.
pub(crate) struct Request {
    pub(crate) join: bool,
    pub(crate) arguments: Map<String, Value>,
    columns: &'static [&'static str],
}

/// `None` for what the tools can't be asked (an aggregate over a join).
pub(crate) fn request(name: &str, arguments: &Value) -> Option<Request> {
    const ALL: &[&str] = &[
        "uei",
        "duns",
        "legal_business_name",
        "state",
        "congressional_district",
        "entity_type",
        "total_obligation",
        "total_obligation_f64",
        "award_count",
        "date_last_award",
        "latitude",
        "longitude",
        "is_geocoded",
    ];
    const FOUR: &[&str] = &["uei", "legal_business_name", "state", "total_obligation"];
    let key = arguments["k"].as_str().unwrap_or_default();
    let rows = |columns: &'static [&'static str], filters: &[&str], order: &[&str], limit: u64| {
        let request = json!({"select": columns, "where": filters, "order": order, "limit": limit});
        Some((request, columns))
    };
    let one = |filters: &[&str], metric: &str| {
        Some((json!({"where": filters, "metrics": [metric]}), &["n"] as &'static [&'static str]))
    };
    let grouped = |groups: &[&str], metric: &str, columns: &'static [&'static str]| {
        Some((json!({"group_by": groups, "metrics": [metric], "limit": 100_000}), columns))
    };
    let (mut request, columns) = match name {
        "pk_eq" => rows(ALL, &[&format!("uei=eq.{key}")], &[], 100),
        "duns_eq" => rows(FOUR, &[&format!("duns=eq.{key}")], &[], 50),
        "filter_common" => rows(FOUR, &["state=eq.TX", "entity_type=eq.prime"], &[], 100),
        "filter_rare" => rows(FOUR, &["state=eq.WY", "total_obligation=gt.300000000"], &[], 100_000),
        "ilike" => rows(
            &["uei", "legal_business_name"],
            &[&format!("legal_business_name=ilike.%{key}%")],
            &[],
            100_000,
        ),
        "count_all" => one(&[], "n=count:*"),
        "count_filter" => one(&["state=eq.TX"], "n=count:*"),
        "count_date" => one(&["date_last_award=gte.2025-01-01", "entity_type=eq.prime"], "n=count:*"),
        "count_col" => one(&[], "n=count:duns"),
        "count_col_filter" => one(&["state=eq.TX"], "n=count:duns"),
        "top1" => rows(&["uei", "total_obligation"], &[], &["total_obligation:desc"], 1),
        "top1_filter" => rows(
            &["uei", "legal_business_name", "total_obligation"],
            &["state=eq.TX"],
            &["total_obligation:desc"],
            1,
        ),
        "page_by_key" => rows(FOUR, &["state=eq.TX"], &["uei"], 1_000),
        "sum_by_state" => grouped(&["state"], "n=sum:total_obligation", &["state", "n"]),
        "sum_by_state_f64" => grouped(&["state"], "n=sum:total_obligation_f64", &["state", "n"]),
        "sum_by_district" => grouped(
            &["state", "congressional_district"],
            "n=sum:total_obligation",
            &["state", "congressional_district", "n"],
        ),
        "join_rows" => Some((
            json!({
                "left_source": "bench.entities", "right_source": "bench.terms",
                "left_column": "congressional_district", "right_column": "district",
                "left_where": ["state=eq.WY", "award_count=gt.20"], "right_where": ["term_start=eq.2025-01-03"],
                "context_conditions": ["state=state"], "left_select": ["uei", "legal_business_name"],
                "right_select": ["bioguide_id", "party"], "limit": 100,
            }),
            &["left.uei", "left.legal_business_name", "right.bioguide_id", "right.party"] as &[&str],
        )),
        "join_text_keys" => Some((
            json!({
                "left_source": "bench.entities", "right_source": "bench.bmf", "left_column": "duns",
                "right_column": "ein", "explain": true,
            }),
            &[] as &[&str],
        )),
        _ => None,
    }?;
    let join = name.starts_with("join");
    request["question"] = json!(name);
    if !join {
        request["source"] = json!("bench.entities");
    }
    Some(Request { join, arguments: request.as_object().cloned()?, columns })
}

impl Request {
    /// The answer's rows in the harness's order of columns.
    pub(crate) fn rows(&self, answer: &Value) -> Vec<Value> {
        if self.columns.is_empty() {
            return vec![json!([answer["explain"]["joined_rows"]])];
        }
        let row = |row: &Value| self.columns.iter().map(|column| row[*column].clone()).collect::<Vec<_>>();
        answer["rows"].as_array().unwrap().iter().map(|found| row(found).into()).collect()
    }

    pub(crate) async fn ask(&self, mirror: &Mirror) -> Value {
        let arguments = self.arguments.clone();
        let answer = if self.join { mirror.join(arguments).await } else { mirror.query(arguments).await };
        answer.unwrap_or_else(|error| panic!("{:?}: {error}", self.arguments))
    }
}

/// Times each question a few times and prints medians: for looking at one change without the other engines.
pub(crate) async fn quick(data: &Path, questions: &Value, only: &[&str]) {
    let mirror = mirror(data);
    let mut medians: BTreeMap<&str, (f64, f64, usize)> = BTreeMap::new();
    for (name, arguments) in questions.as_object().unwrap() {
        if !only.is_empty() && !only.contains(&name.as_str()) {
            continue;
        }
        let mut times = Vec::new();
        let mut rows = 0;
        let asked: Vec<Request> =
            arguments.as_array().unwrap().iter().filter_map(|arguments| request(name, arguments)).collect();
        if asked.is_empty() {
            continue;
        }
        let mut first = None;
        for turn in 0..if asked.len() > 1 { 3 } else { 9 } {
            for request in &asked {
                let started = Instant::now();
                let answer = request.ask(&mirror).await;
                let elapsed = started.elapsed().as_secs_f64() * 1e3;
                first.get_or_insert(elapsed);
                if turn > 0 {
                    times.push(elapsed);
                }
                rows = rows.max(request.rows(&answer).len());
            }
        }
        times.sort_by(f64::total_cmp);
        medians.insert(name, (times[times.len() / 2], first.unwrap_or_default(), rows));
    }
    for (name, (median, first, rows)) in medians {
        println!("{name:20} {median:9.2} ms   first {first:9.2} ms   {rows} rows");
    }
}

/// What the request costs over the plan it runs, on a relation of some thousand rows: the same question through
/// `Mirror::query` and as a bare DataFusion plan over the same files (one session for all, footers cached), in turns.
pub(crate) async fn small(data: &Path) {
    let mirror = mirror(data);
    let store = Store::open(&tables::store_path(data), Access::ReadOnly).unwrap();
    let snapshot = snapshot(&store);
    let files: Vec<String> = capture(&snapshot, ("bench", "terms"))
        .parts
        .iter()
        .map(|part| format!("file://{}", store.object_path(&part.sha256).display()))
        .collect();
    let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(2));
    let options = ParquetReadOptions::default().file_extension("");
    let terms = context.read_parquet(files, options).await.unwrap();
    let questions = [
        (
            "rows",
            json!({"select": ["term_id", "bioguide_id", "party"], "where": ["state=eq.TX"], "order": ["term_id"], "limit": 100}),
            terms
                .clone()
                .filter(col("state").eq(lit("TX")))
                .and_then(|rows| rows.select(["term_id", "bioguide_id", "party", "state"].map(col)))
                .and_then(|rows| rows.sort(vec![col("term_id").sort(true, false)]))
                .and_then(|rows| rows.limit(0, Some(100)))
                .unwrap(),
        ),
        (
            "count",
            json!({"where": ["state=eq.TX"], "metrics": ["n=count:*"]}),
            terms
                .clone()
                .filter(col("state").eq(lit("TX")))
                .and_then(|rows| rows.aggregate(vec![], vec![count(lit(1_i64)).alias("n")]))
                .unwrap(),
        ),
        (
            "groups",
            json!({"group_by": ["party"], "metrics": ["n=count:*"], "order": ["party"]}),
            terms
                .clone()
                .aggregate(vec![col("party")], vec![count(lit(1_i64)).alias("n")])
                .and_then(|rows| rows.sort(vec![col("party").sort(true, false)]))
                .unwrap(),
        ),
    ];
    for (name, mut arguments, plan) in questions {
        arguments["source"] = json!("bench.terms");
        arguments["question"] = json!(name);
        let arguments = arguments.as_object().cloned().unwrap();
        let (mut ours, mut bare) = (Vec::new(), Vec::new());
        for turn in 0..220 {
            let started = Instant::now();
            let answer = mirror.query(arguments.clone()).await.unwrap();
            let asked = started.elapsed().as_secs_f64() * 1e3;
            let started = Instant::now();
            let batches = plan.clone().collect().await.unwrap();
            let planned = started.elapsed().as_secs_f64() * 1e3;
            let rows: usize = batches.iter().map(|batch| batch.num_rows()).sum();
            assert_eq!(answer["row_count"], rows, "{name}");
            if turn >= 20 {
                ours.push(asked);
                bare.push(planned);
            }
        }
        ours.sort_by(f64::total_cmp);
        bare.sort_by(f64::total_cmp);
        let (ours, bare) = (ours[ours.len() / 2], bare[bare.len() / 2]);
        println!("{name:8} request {ours:6.3} ms, bare plan {bare:6.3} ms, ratio {:.2}", ours / bare);
    }
}
