//! The harness's line protocol: a question a line in, an answer a line out.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use benthic_mirror::app::{Mirror, MirrorOptions};
use benthic_mirror::config::SystemClock;
use benthic_mirror::engine::RunOptions;
use benthic_mirror::spatial::boxes::FloatBox;
use benthic_mirror::spatial::districts::CongressMap;
use benthic_mirror::spatial::nonprofits::Nonprofits;
use benthic_mirror::spatial::projection::project;
use benthic_mirror::store::{Access, Store};
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;

use crate::{DISTRICTS, NONPROFITS, capture, config, congresses, from, index, snapshot, store_path, trust};

pub(crate) fn run(runtime: &Runtime, data: &Path, stats: Option<&Path>) {
    let store = Store::open(&store_path(data), Access::ReadOnly).unwrap();
    let snapshot = snapshot(&store);
    let (districts, nonprofits) = (capture(&snapshot, DISTRICTS), capture(&snapshot, NONPROFITS));
    let mut maps: BTreeMap<i64, CongressMap> = BTreeMap::new();
    let known = congresses(&store, districts);
    let points = Nonprofits::from_bytes(index(&store, nonprofits, "nonprofits"), from(nonprofits)).unwrap();
    // The product's own copy of the indexes, only where whole requests are timed too.
    let mirror = stats.map(|_| mirror(data));
    let mut requests: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let question: Value = serde_json::from_str(&line).unwrap();
        let (name, arguments) = (question["query"].as_str().unwrap(), &question["args"]);
        let number = |name: &str| arguments[name].as_f64().unwrap();
        let map = arguments["congress"]
            .as_f64()
            .map(|congress| congress as i64)
            .filter(|congress| known.contains(congress));
        let map = map.map(|congress| {
            &*maps.entry(congress).or_insert_with(|| {
                let bytes = index(&store, districts, &format!("districts/{congress}"));
                CongressMap::from_bytes(bytes, congress, from(districts)).unwrap()
            })
        });
        let started = Instant::now();
        let (rows, elapsed): (Vec<Value>, _) = match name {
            "find_district" => {
                let found = map.and_then(|map| map.find(project(number("lon"), number("lat"))?));
                let elapsed = started.elapsed();
                (found.map(|found| json!([found.district.id])).into_iter().collect(), elapsed)
            }
            "find_district_batch" => {
                let degrees = |name: &str| -> Vec<f64> {
                    arguments[name].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
                };
                let places: Vec<(f64, f64)> = degrees("lon").into_iter().zip(degrees("lat")).collect();
                let map = map.unwrap();
                let started = Instant::now();
                let single = find_all(map, &places);
                requests
                    .entry("find_district_batch on one thread".to_owned())
                    .or_default()
                    .push(micros(started));
                let started = Instant::now();
                let (first, second) = places.split_at(places.len() / 2);
                let found: Vec<Option<i64>> = std::thread::scope(|scope| {
                    let first = scope.spawn(|| find_all(map, first));
                    let second = find_all(map, second);
                    first.join().unwrap().into_iter().chain(second).collect()
                });
                let elapsed = started.elapsed();
                assert_eq!(found, single);
                let rows =
                    found.iter().enumerate().filter_map(|(at, id)| Some(json!([at, (*id)?]))).collect();
                (rows, elapsed)
            }
            name if name.starts_with("bbox") => {
                let bounds =
                    FloatBox::of_envelope(number("ymin"), number("ymax"), number("xmin"), number("xmax"));
                let found = map.zip(bounds).map(|(map, bounds)| map.in_box(&bounds)).unwrap_or_default();
                let elapsed = started.elapsed();
                (found.iter().map(|district| json!([district.id])).collect(), elapsed)
            }
            name if name.starts_with("nearby") => {
                let center = project(number("lon"), number("lat")).unwrap();
                let nearby = points.nearby(center, number("radius"), usize::MAX);
                let elapsed = started.elapsed();
                assert_eq!(points.count_nearby(center, number("radius")), nearby.total);
                (nearby.nearest.iter().map(|hit| json!([hit.ein, hit.distance_meters])).collect(), elapsed)
            }
            _ => {
                println!("{}", json!({"unsupported": true}));
                continue;
            }
        };
        if let (Some(mirror), Some(request)) = (&mirror, request(name, arguments)) {
            let started = Instant::now();
            let answer = runtime.block_on(mirror.rpc(request));
            // The harness draws some boxes beyond ±180°, which the tool refuses.
            if let Ok(answer) = answer {
                let bytes = serde_json::to_vec(&answer).unwrap();
                requests.entry(name.to_owned()).or_default().push(micros(started));
                std::hint::black_box(bytes);
                if name.starts_with("nearby") {
                    assert_eq!(answer["total"], rows.len());
                }
            }
        }
        println!("{}", json!({"rows": rows, "us": elapsed.as_secs_f64() * 1e6}));
        std::io::stdout().flush().unwrap();
    }
    if let Some(stats) = stats {
        let line = serde_json::to_string(&requests).unwrap();
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(stats).unwrap();
        writeln!(file, "{line}").unwrap();
    }
}

fn micros(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1e6
}

fn find_all(map: &CongressMap, places: &[(f64, f64)]) -> Vec<Option<i64>> {
    let nowhere = geo::Coord { x: f64::NAN, y: f64::NAN };
    let points: Vec<_> = places.iter().map(|(lon, lat)| project(*lon, *lat).unwrap_or(nowhere)).collect();
    map.find_all(&points).into_iter().map(|found| found.map(|found| found.district.id)).collect()
}

pub(crate) fn mirror(data: &Path) -> Mirror {
    let config = config();
    let options = MirrorOptions {
        trust: trust(),
        run: RunOptions { policy: config.scan_policy, exact_numbers: config.exact_numbers },
        max_age_seconds: config.max_age.as_secs(),
        concurrency: 4,
    };
    Mirror::open(&store_path(data), &config, options, Arc::new(SystemClock)).unwrap()
}

/// The question as the tool takes it.
fn request(name: &str, arguments: &Value) -> Option<Map<String, Value>> {
    let value = |name: &str| arguments[name].clone();
    let request = match name {
        "find_district" => json!({
            "operation": "find_district", "lat": value("lat"), "lon": value("lon"), "congress": value("congress"),
        }),
        name if name.starts_with("bbox") => json!({
            "operation": "districts_in_bbox", "min_lat": value("ymin"), "max_lat": value("ymax"),
            "min_lon": value("xmin"), "max_lon": value("xmax"), "congress": value("congress"),
        }),
        name if name.starts_with("nearby") => json!({
            "operation": "nonprofits_nearby", "lat": value("lat"), "lon": value("lon"), "radius_meters": value("radius"),
        }),
        _ => return None,
    };
    request.as_object().cloned()
}
