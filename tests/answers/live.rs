//! Live answers against local ones: the same questions asked of a snapshot and of the origin it was pulled from.
//!
//! `BENTHIC_DIFFERENTIAL_REQUESTS` and `BENTHIC_DIFFERENTIAL_SEED` widen the search, as for `against_origin`.

mod compare;
mod faults;

use std::collections::BTreeMap;

use benthic_mirror::app::{AppError, Mirror};
use benthic_mirror::catalog::ColumnType;
use benthic_mirror::config::ScanPolicy;
use benthic_mirror::demo::origin::{DemoOrigin, OriginOptions};
use benthic_mirror::demo::questions::{Expected, Tool, questions};
use benthic_mirror::demo::{self, DemoRelation};
use benthic_mirror::spatial::SpatialArguments;
use serde_json::{Map, Value, json};

use self::compare::{Verdict, verdict};
use crate::against_origin::generator::{AggregateRequest, RowsRequest};
use crate::against_origin::values::Chooser;
use crate::harness::{block, fixture, object, open, rows};

/// Requests asked when nothing else is said.
const REQUESTS: u64 = 300;

/// A live mirror over the demo's store, asking this origin.
pub fn live(origin: &DemoOrigin, settings: &[(&str, &str)]) -> Mirror {
    let connect = format!("{}={}", demo::ORIGIN, origin.address());
    let mut all =
        vec![("mode", "live"), ("allowed_data_hosts", demo::ORIGIN_HOST), ("connect_to", connect.as_str())];
    all.extend(settings);
    // Never applies to live answers.
    open(&fixture().store, ScanPolicy::Complete, &all)
}

/// An origin that sends rows in another order whenever none is asked for.
pub fn origin(options: OriginOptions) -> DemoOrigin {
    block(DemoOrigin::start(OriginOptions { rotate_unordered: true, ..options })).expect("origin")
}

pub fn ask(mirror: &Mirror, tool: Tool, arguments: Map<String, Value>) -> Result<Value, AppError> {
    block(async {
        match tool {
            Tool::Query => mirror.query(arguments).await,
            Tool::Join => mirror.join(arguments).await,
            Tool::Rpc => mirror.rpc(arguments).await,
        }
    })
}

#[test]
fn every_demo_question_has_its_answer_live() {
    let origin = origin(OriginOptions::default());
    let mirror = live(&origin, &[]);
    for question in questions(demo::data()) {
        let mut local = ask(&fixture().mirror, question.tool, question.arguments.clone());
        let live = ask(&mirror, question.tool, question.arguments.clone());
        if let (Tool::Rpc, Ok(local), Ok(live)) = (question.tool, &mut local, &live) {
            // What the map itself makes uncertain is known only where the map is (docs/parity.md).
            local["warnings"] = live["warnings"].clone();
        }
        let verdict = verdict(&local, &live, &[]);
        assert!(
            matches!(verdict, Verdict::Answered | Verdict::Refused(_)),
            "{}: {verdict:?}",
            question.asked
        );
        if let (Expected::Rows(_), Ok(answer)) = (&question.expected, &live) {
            assert!(question.expected.matches_rows(rows(answer)), "{}", question.asked);
            assert_eq!(answer["served"]["mode"], "live");
            assert_eq!(answer["served"]["policy"], "parity");
            assert_eq!(answer["served"]["stale"], false);
        }
    }
    block(origin.stop());
}

#[test]
fn every_side_of_a_join_says_where_it_was_read() {
    let origin = origin(OriginOptions::default());
    let mirror = live(&origin, &[]);
    let asked =
        questions(demo::data()).into_iter().find(|question| question.tool == Tool::Join).expect("a join");
    let answer = ask(&mirror, Tool::Join, asked.arguments).expect("answer");
    for source in answer["sources"].as_array().expect("sources") {
        assert_eq!(source["served"]["mode"], "live");
        assert_eq!(source["served"]["manifest_hash"], source["manifest_hash"]);
    }
    assert_eq!(answer["served"]["mode"], "live");
    block(origin.stop());
}

#[test]
fn spatial_questions_have_their_answers_live() {
    let origin = origin(OriginOptions::default());
    let mirror = live(&origin, &[("max_rows", "100"), ("default_query_limit", "100")]);
    let local =
        open(&fixture().store, ScanPolicy::Parity, &[("max_rows", "100"), ("default_query_limit", "100")]);
    let mut found = 0;
    for (lat, lon) in
        [(39.7392, -104.9903), (38.9072, -77.0369), (34.05, -118.24), (61.2, -149.9), (0.0, 0.0)]
    {
        for arguments in [
            json!({"operation": "find_district", "lat": lat, "lon": lon, "congress": 117}),
            json!({"operation": "nonprofits_nearby", "lat": lat, "lon": lon, "radius_meters": 90000}),
            json!({"operation": "districts_in_bbox", "min_lat": lat - 2.0, "max_lat": lat + 2.0,
                   "min_lon": lon - 2.0, "max_lon": lon + 2.0}),
        ] {
            let here = ask(&local, Tool::Rpc, object(arguments.clone())).expect("local");
            let there = ask(&mirror, Tool::Rpc, object(arguments.clone())).expect("live");
            for member in ["row_count", "truncated", "total", "metadata"] {
                assert_eq!(here[member], there[member], "{arguments}: {member}\n{here:#}\n{there:#}");
            }
            let rounded = |answer: &Value| {
                let mut rows = rows(answer).clone();
                for row in &mut rows {
                    // The two compute distances by different formulas.
                    if let Some(distance) = row["distance_meters"].as_f64() {
                        row["distance_meters"] = json!((distance * 1e4).round() / 1e4);
                    }
                }
                rows
            };
            assert_eq!(rounded(&here), rounded(&there), "{arguments}");
            found += rows(&here).len();
            assert_eq!(there["served"]["mode"], "live");
        }
    }
    assert!(found > 20, "{found}");
    block(origin.stop());
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text}")))
}

/// The n-th request of a seed, over a demo relation, and its outputs that are averages of decimals without a declared
/// scale.
fn request(relations: &[&'static DemoRelation], seed: u64, number: u64) -> (Value, Vec<String>) {
    let mut chooser = Chooser::new(seed, number);
    let relation = chooser.pick(relations);
    match chooser.chance(60) {
        true => (RowsRequest::random(relation, &mut chooser).ours(relation, &mut chooser), Vec::new()),
        false => {
            let request = AggregateRequest::random(relation, &mut chooser);
            let having = match chooser.chance(20) {
                true => vec![format!("{}>=1", request.metrics[0].output)],
                false => Vec::new(),
            };
            let is_free = |column: &usize| {
                relation.columns[*column].column_type == ColumnType::Numeric { declared: None }
            };
            let averages = request
                .metrics
                .iter()
                .filter(|metric| metric.function == "avg" && metric.column.as_ref().is_some_and(is_free));
            let averages = averages.map(|metric| metric.output.clone()).collect();
            (request.ours(relation, &having, &[], &mut chooser), averages)
        }
    }
}

#[test]
fn random_requests_have_the_same_answers_live() {
    let requests = number("BENTHIC_DIFFERENTIAL_REQUESTS", REQUESTS);
    let seed = number("BENTHIC_DIFFERENTIAL_SEED", 1);
    let relations: Vec<_> = demo::data().relations.iter().filter(|relation| relation.queryable).collect();
    let settings = [("aggregate_scan_limit", "1200")];
    let origin = origin(OriginOptions::default());
    let (local, live) = (open(&fixture().store, ScanPolicy::Parity, &settings), live(&origin, &settings));
    let mut tally: BTreeMap<String, u64> = BTreeMap::new();
    let mut differences = Vec::new();
    for n in 0..requests {
        let (arguments, averages) = request(&relations, seed, n);
        let here = ask(&local, Tool::Query, object(arguments.clone()));
        let there = ask(&live, Tool::Query, object(arguments.clone()));
        let verdict = verdict(&here, &there, &averages);
        *tally.entry(verdict.kind()).or_default() += 1;
        if let Verdict::Different(why) = verdict {
            differences.push(format!("seed {seed}, request {n}: {why}\n  {arguments}"));
        }
    }
    println!("compared {requests} requests, local and live: {tally:?}");
    assert!(
        differences.is_empty(),
        "{} differ\n{}",
        differences.len(),
        differences[..differences.len().min(10)].join("\n\n")
    );
    let of = |kind: &str| tally.get(kind).copied().unwrap_or(0);
    assert!(of("answered") * 10 > requests * 5, "{tally:?}");
    // Text keys order the larger relations, which only a snapshot does by code point: a fixed share, no more.
    assert!(of("only live: collation_unknown") * 100 <= requests * 15, "{tally:?}");
    let longest = origin.requests().iter().map(|request| request.target.len()).max().unwrap_or(0);
    assert!(longest <= 6 * 1024, "an address of {longest} bytes");
    block(origin.stop());
}

#[test]
fn a_list_too_long_for_one_address_is_split_and_the_answer_is_the_same() {
    let origin = origin(OriginOptions::default());
    let mirror = live(&origin, &[]);
    let terms = demo::relation("usp_cl.legislator_terms").expect("terms");
    let mut names: Vec<&str> = terms.rows().filter_map(|row| row.text("bioguide_id")).collect();
    names.sort_unstable();
    names.dedup();
    // Within one argument's length, beyond an address's: what isn't a letter takes three bytes a byte there.
    names.truncate(140);
    let odd: Vec<String> = (0..140).map(|n| format!("ä ö{n}")).collect();
    let values: Vec<&str> = names.iter().copied().zip(&odd).flat_map(|(name, odd)| [name, odd]).collect();
    let list = format!("bioguide_id=in.{}", json!(values));
    for arguments in [
        json!({"where": [list], "select": ["term_start"], "order": ["term_start:desc"], "limit": 40, "offset": 25}),
        json!({"where": [list], "group_by": ["state"], "metrics": ["n=count:*", "s=sum:term_id"]}),
        json!({"where": [list], "metrics": ["n=count:*", "d=count:district", "lo=min:term_id", "hi=max:term_start"]}),
    ] {
        let mut arguments = object(arguments);
        arguments.insert("source".to_owned(), "usp_cl.legislator_terms".into());
        origin.clear_requests();
        let here = ask(&fixture().mirror, Tool::Query, arguments.clone());
        let there = ask(&mirror, Tool::Query, arguments);
        let found = verdict(&here, &there, &[]);
        assert!(matches!(found, Verdict::Answered), "{found:?}");
        assert!(here.is_ok_and(|answer| !rows(&answer).is_empty()));
        let sent: Vec<String> = origin.requests().into_iter().map(|request| request.target).collect();
        let counts = origin.requests().iter().filter(|request| request.method == "HEAD").count();
        assert!(counts > 1 && sent.iter().all(|target| target.len() <= 6 * 1024), "{counts} {sent:?}");
    }
    block(origin.stop());
}

#[test]
fn explain_counts_and_decides_without_fetching_rows() {
    let origin = origin(OriginOptions::default());
    let mirror = live(&origin, &[("aggregate_scan_limit", "1200")]);
    let explain = |tool, arguments| ask(&mirror, tool, object(arguments)).expect("explained");
    let aggregate =
        json!({"source": "usp_cl.legislator_terms", "metrics": ["s=sum:term_id"], "explain": true});
    let answer = explain(Tool::Query, aggregate);
    assert_eq!(answer["explain"]["refusal"]["code"], "scan_limit");
    assert_eq!(answer["explain"]["matched_rows"], 1654);
    let page = json!({"source": "usp_cl.legislator_terms", "where": ["state=eq.MA"], "explain": true});
    let answer = explain(Tool::Query, page);
    assert_eq!(answer["explain"]["refusal"], Value::Null);
    assert!(answer["explain"]["logical_plan"].as_str().is_some_and(|plan| plan.contains("TableScan")));
    assert_eq!(answer["served"]["mode"], "live");
    let join = json!({"left_source": "usp_cl.legislators", "right_source": "usp_cl.legislator_terms", "explain": true});
    let answer = explain(Tool::Join, join);
    assert_eq!(answer["explain"]["refusal"]["code"], "scan_limit");
    assert_eq!(answer["explain"]["right"]["candidate_rows"], 1654);
    assert!(origin.requests().iter().all(|request| request.method == "HEAD"), "rows were fetched");
    block(origin.stop());
}

#[test]
fn a_file_of_places_is_refused_live() {
    let origin = origin(OriginOptions::default());
    let mirror = live(&origin, &[]);
    let arguments =
        SpatialArguments { lat: Some(0.into()), lon: Some(0.into()), ..SpatialArguments::default() };
    let refused = block(mirror.place_lookup("find_district", &arguments)).err();
    assert!(matches!(refused, Some(AppError::Refused(refusal)) if refusal.facts["argument"] == "mode"));
    assert!(origin.requests().is_empty());
    block(origin.stop());
}

#[test]
fn only_live_mode_makes_a_door_to_the_network() {
    // An origin the door refuses: whoever makes one fails.
    let settings = |mode| [("mode", mode), ("connect_to", "http://not.https=127.0.0.1:1")];
    assert!(!open(&fixture().store, ScanPolicy::Parity, &settings("offline")).is_live());
    assert!(!open(&fixture().store, ScanPolicy::Parity, &settings("auto")).is_live());
    let made = std::panic::catch_unwind(|| open(&fixture().store, ScanPolicy::Parity, &settings("live")));
    assert!(made.is_err());
}
