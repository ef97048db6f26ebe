//! The same random requests answered from a capture of the rows and live from an origin that serves them.
//!
//! `BENTHIC_ORACLE_REQUESTS`, `BENTHIC_ORACLE_SEED` and `BENTHIC_ORACLE_ONLY` as in [`crate::differential`]. Half of the
//! requests run under a scan limit some relations exceed and over pages of a hundred rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::datatypes::i256;
use benthic_mirror::app::{AppError, LiveContext, LiveReader};
use benthic_mirror::catalog::{Catalog, PostgrestEndpoint};
use benthic_mirror::config::Limits;
use benthic_mirror::demo::origin::{DemoOrigin, OriginCatalogue, OriginOptions};
use benthic_mirror::demo::{DemoColumn, DemoData, DemoRelation, DemoValue};
use benthic_mirror::engine::{
    Answer, EngineRuntime, JoinSource, Matched, Refusal, RelationData, RunError, check_join, check_query,
    run_join, run_query,
};
use benthic_mirror::sync::Upstream;
use serde_json::Value;

use crate::differential::{DEFAULT_REQUESTS, OPTIONS, number_from_environment};
use crate::relations::{Kind, Rel, World, world};
use crate::requests::{Ask, Request, request};
use crate::stored::{Layout, store};

const ORIGIN: &str = "https://live.oracle.example";
const HOST: &str = "live.oracle.example";

/// However many are asked for elsewhere.
const MOST_REQUESTS: usize = 5_000;

/// What both sides came to.
type Outcome = Result<Box<Answer>, Box<Refusal>>;

/// The rows as the origin serves them.
fn served(rel: &Rel) -> DemoRelation {
    let columns: Vec<DemoColumn> =
        rel.columns.iter().map(|column| DemoColumn::new(column.name, column.native, true)).collect();
    let mut relation = DemoRelation::new("o", rel.name, columns, rel.key);
    relation.rows = rel
        .rows
        .iter()
        .map(|row| {
            row.iter()
                .zip(&relation.columns)
                .map(|(value, column)| match value {
                    None => DemoValue::Null,
                    Some(text) => DemoValue::read(text, &column.column_type)
                        .unwrap_or_else(|| panic!("{} {}: {text}", column.name, column.native_type)),
                })
                .collect()
        })
        .collect();
    relation
}

/// One way to ask: limits and the page size the manifest declares.
struct Way {
    runtime: EngineRuntime,
    catalog: Catalog,
}

fn ways(world: &World) -> [Way; 2] {
    let with = |limits: Limits, max_rows| {
        let mut catalog = world.catalog.clone();
        catalog.datasets[0].endpoint =
            Some(PostgrestEndpoint { base_url: format!("{ORIGIN}/o/"), accept_profile: None, max_rows });
        Way { runtime: EngineRuntime::new(limits, 1).unwrap(), catalog }
    };
    [
        with(Limits::default(), None),
        with(Limits { aggregate_scan_limit: 350, ..Limits::default() }, Some(100)),
    ]
}

#[test]
fn live_answers_are_the_local_ones() {
    let seed = number_from_environment("BENTHIC_ORACLE_SEED").unwrap_or(7);
    let count = number_from_environment("BENTHIC_ORACLE_REQUESTS").map_or(DEFAULT_REQUESTS, |n| n as usize);
    // Each takes a few requests over loopback, one after the other.
    let count = count.min(MOST_REQUESTS);
    let only = number_from_environment("BENTHIC_ORACLE_ONLY").map(|n| n as usize);
    let numbers: Vec<usize> = only.map_or_else(|| (0..count).collect(), |only| vec![only]);
    let world = world(seed);
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let data = DemoData { relations: world.relations.iter().map(served).collect() };
    let directory = tempfile::tempdir().unwrap();
    let local: BTreeMap<&str, RelationData> = world
        .relations
        .iter()
        .zip(&data.relations)
        .map(|(rel, served)| {
            let rows: Vec<String> = served.rows.iter().map(|row| served.row_json(row)).collect();
            let body = format!("[{}]", rows.join(","));
            let relation = world.catalog.relation(&rel.source()).unwrap();
            let held = store(directory.path(), relation, rel.key_is_unique, body.as_bytes(), Layout::Plain);
            (rel.name, held)
        })
        .collect();
    let options = OriginOptions {
        rotate_unordered: true,
        catalogue: OriginCatalogue { documents: BTreeMap::new(), data: Arc::new(data) },
        ..OriginOptions::default()
    };
    let origin = tokio.block_on(DemoOrigin::start(options)).unwrap();
    let reader = LiveReader::new(&Upstream::answered_by(ORIGIN, HOST, origin.address()).unwrap(), seed);
    let ways = ways(&world);

    let mut tally: BTreeMap<String, usize> = BTreeMap::new();
    let mut problems = Vec::new();
    for number in numbers.iter().copied() {
        let way = &ways[number % ways.len()];
        let request = request(&world, seed, number);
        let here = tokio.block_on(locally(way, &local, &request));
        let there = tokio.block_on(live(way, &reader, &request));
        match compare(&world, &request, &here, &there) {
            Ok(kind) => *tally.entry(kind).or_default() += 1,
            Err(why) => {
                let asked = match &request.ask {
                    Ask::Query(arguments) => format!("{arguments:?}"),
                    Ask::Join(arguments, _) => format!("{arguments:?}"),
                };
                problems.push(format!("#{number} {why}\n    {asked}"));
            }
        }
    }
    let asked: Vec<String> = origin.requests().into_iter().map(|request| request.target).collect();
    let longest = asked.iter().map(String::len).max().unwrap_or(0);
    eprintln!("live against local: {} requests, {} sent: {tally:?}", numbers.len(), asked.len());
    assert!(
        problems.is_empty(),
        "{} differences (seed {seed}):\n{}",
        problems.len(),
        problems.iter().take(20).map(String::as_str).collect::<Vec<_>>().join("\n")
    );
    assert!(longest <= 6 * 1024, "an address of {longest} bytes");
    if only.is_none() {
        // More refusals than these would leave little to compare.
        let share = |kind: &str| tally.get(kind).copied().unwrap_or(0) * 100 / numbers.len();
        assert!(share("answered") >= 40 && share("answered") + share("answered, no rows") >= 60, "{tally:?}");
        assert!(share("only live: collation_unknown") <= 10, "{tally:?}");
    }
    tokio.block_on(origin.stop());
}

async fn locally(way: &Way, local: &BTreeMap<&str, RelationData>, request: &Request) -> Outcome {
    let limits = way.runtime.limits();
    let answered = match &request.ask {
        Ask::Query(arguments) => match check_query(&way.catalog, arguments, limits) {
            Ok(query) => {
                run_query(&query, &local[query.relation.name.as_str()], "", &way.runtime, OPTIONS).await
            }
            Err(refusal) => Err(refusal.into()),
        },
        Ask::Join(arguments, names) => match check_join(&way.catalog, arguments, limits) {
            Ok(join) => {
                let side = |name| JoinSource { data: &local[name], manifest_hash: "", served: Value::Null };
                run_join(&join, side(names[0]), side(names[1]), &way.runtime, OPTIONS).await
            }
            Err(refusal) => Err(refusal.into()),
        },
    };
    match answered {
        Ok(answer) => Ok(Box::new(answer)),
        Err(RunError::Refused(refusal)) => Err(refusal),
        Err(RunError::Failed(error)) => panic!("{error}"),
    }
}

async fn live(way: &Way, reader: &LiveReader, request: &Request) -> Outcome {
    let context = LiveContext { catalog: &way.catalog, runtime: &way.runtime, options: OPTIONS };
    let limits = way.runtime.limits();
    let answered = match &request.ask {
        Ask::Query(arguments) => match check_query(&way.catalog, arguments, limits) {
            Ok(query) => reader.query(context, &query, "").await,
            Err(refusal) => Err(refusal.into()),
        },
        Ask::Join(arguments, _) => match check_join(&way.catalog, arguments, limits) {
            Ok(join) => reader.join(context, &join, [("", Value::Null), ("", Value::Null)]).await,
            Err(refusal) => Err(refusal.into()),
        },
    };
    match answered {
        Ok(answer) => Ok(Box::new(answer)),
        Err(AppError::Refused(refusal)) => Err(refusal),
        Err(error) => panic!("{error}"),
    }
}

/// What the two outcomes are together, or how they differ.
fn compare(world: &World, request: &Request, here: &Outcome, there: &Outcome) -> Result<String, String> {
    match (here, there) {
        (Ok(here), Ok(there)) => same_answer(request, here, there)
            .map(|()| if here.rows.is_empty() { "answered, no rows" } else { "answered" }.to_owned()),
        (Err(here), Err(there)) if here == there => Ok(format!("refused: {}", here.code.as_str())),
        (here, Err(refusal)) => {
            let code = refusal.code.as_str();
            let answered_or_too_many = here.as_ref().err().is_none_or(|here| {
                ["scan_limit", "no_primary_key", "join_too_wide"].contains(&here.code.as_str())
            });
            let is_offset = code == "bad_argument" && refusal.facts.get("argument") == Some(&"offset".into());
            let is_tie = code == "no_primary_key" && refusal.facts.contains_key("candidate_rows");
            // Only where there is no key, or none that tells rows apart.
            let keyless = world.relations.iter().filter(|rel| !rel.key_is_unique);
            let asks_keyless = match &request.ask {
                Ask::Query(arguments) => keyless.map(Rel::source).any(|source| source == arguments.source),
                Ask::Join(..) => false,
            };
            // A declared key that doesn't tell rows apart: pages can't follow each other (docs/parity.md).
            let is_loose = code == "upstream_failed"
                && refusal.message.contains("doesn't tell them apart")
                && refusal.facts["source"] == "o.loose";
            if answered_or_too_many && is_loose {
                return Ok("only live: a declared key that is none".to_owned());
            }
            match answered_or_too_many
                && (code == "collation_unknown" || (asks_keyless && (is_offset || is_tie)))
            {
                true => Ok(format!("only live: {code}")),
                false => Err(format!(
                    "live {}\n    local {}",
                    refusal.to_text(),
                    here.as_ref()
                        .map_or_else(|here| here.to_text(), |here| format!("{} rows", here.rows.len()))
                )),
            }
        }
        (Err(here), Ok(there)) => Err(format!("local {}, live {} rows", here.to_text(), there.rows.len())),
    }
}

fn same_answer(request: &Request, here: &Answer, there: &Answer) -> Result<(), String> {
    let differ = |what: &str, here: &dyn std::fmt::Debug, there: &dyn std::fmt::Debug| {
        Err(format!("{what}: local {here:?}, live {there:?}"))
    };
    if here.columns != there.columns {
        return differ("columns", &here.columns, &there.columns);
    }
    let averages = free_averages(request);
    for (index, (left, right)) in here.rows.iter().zip(&there.rows).enumerate() {
        for name in &here.columns {
            let (left, right) = (&left[name], &right[name]);
            // A column with NaN is kept as text as a whole; without one among the rows read it is a decimal.
            let is_nan = name.ends_with("nan") && same_number(left, right);
            if left != right && !is_nan && !(averages.contains(name) && same_average(left, right)) {
                return Err(format!("row {index}, {name}: local {left}, live {right}"));
            }
        }
    }
    if here.rows.len() != there.rows.len() {
        return differ("rows", &here.rows.len(), &there.rows.len());
    }
    if here.represented_rows != there.represented_rows {
        return differ("represented", &here.represented_rows, &there.represented_rows);
    }
    if (here.truncated, here.offset, &here.joins, &here.warnings)
        != (there.truncated, there.offset, &there.joins, &there.warnings)
    {
        return differ("truncation, joins or warnings", &here.joins, &there.joins);
    }
    for (left, right) in here.sources.iter().zip(&there.sources) {
        // A snapshot isn't read once more only to count; the live API counts in the same breath.
        let agree = match (left.matched, right.matched) {
            (Matched::AtLeast(seen), Matched::Exactly(rows)) => seen <= rows,
            (here, there) => here == there,
        };
        if !agree || right.row_count.is_some_and(|rows| left.row_count != Some(rows)) {
            return differ("source", left, right);
        }
    }
    Ok(())
}

/// Whether both are the same number, trailing zeros aside.
fn same_number(here: &Value, there: &Value) -> bool {
    let plain = |value: &Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
            false => text,
        }
    };
    plain(here) == plain(there)
}

/// Outputs that are averages of decimals without a declared scale: how many digits they show depends on the rows read
/// (docs/parity.md).
fn free_averages(request: &Request) -> Vec<String> {
    let Ask::Query(arguments) = &request.ask else { return Vec::new() };
    let is_free = |text: &&String| text.contains("avg:free") || text.contains("AVG:free");
    arguments
        .metrics
        .iter()
        .filter(is_free)
        .filter_map(|text| Some(text.split(['=', ':']).next()?.to_owned()))
        .collect()
}

/// Whether one is the other rounded to fewer digits.
fn same_average(here: &Value, there: &Value) -> bool {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let (here, there) = (text(here), text(there));
    let scale = |text: &str| text.split_once('.').map_or(0, |(_, digits)| digits.len());
    let most = scale(&here).max(scale(&there));
    let units = |text: &str| {
        i256::from_string(&format!("{}{}", text.replace('.', ""), "0".repeat(most - scale(text))))
    };
    let (Some(one), Some(other)) = (units(&here), units(&there)) else { return false };
    let fewest = scale(&here).min(scale(&there));
    let unit = i256::from_string(&format!("1{}", "0".repeat(most - fewest))).unwrap();
    (one - other).wrapping_abs() * i256::from(2) <= unit
}

#[test]
fn every_kind_of_column_is_served_as_it_is_held() {
    let world = world(7);
    for rel in &world.relations {
        let served = served(rel);
        assert_eq!(served.rows.len(), rel.rows.len());
        for (column, held) in rel.columns.iter().zip(&served.columns) {
            let is_text = matches!(column.kind, Kind::Text | Kind::Character);
            assert_eq!(is_text, held.column_type.is_text(), "{}", column.name);
        }
    }
}
