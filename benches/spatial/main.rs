//! The spatial operations at full size, as a peer of the comparison harness (scripts/bench-spatial.sh runs it).
//!
//! `prepare DATA` makes a store in `DATA/benthic-store` from the generator's Parquet files: the demo catalogue's signed
//! documents, with the generated districts and nonprofits as rows, indexed as a pull indexes them. `open DATA` times
//! opening the indexes. `maps DATA` draws a few pictures into DATA. `peer [--stats FILE] DATA` answers JSON lines on stdin: each question is answered in process
//! (timed, `us`), and once more as a whole request through `Mirror::rpc`, whose times go to FILE at the end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]
#![allow(clippy::disallowed_methods, reason = "a benchmark reads its own files and clocks")]

mod peer;
mod prepare;

use std::path::{Path, PathBuf};
use std::time::Instant;

use benthic_mirror::app::MapRequest;
use benthic_mirror::bdp::TrustedKeys;
use benthic_mirror::config::{Config, Layers};
use benthic_mirror::demo;
use benthic_mirror::spatial::districts::{CongressMap, congresses_from_bytes};
use benthic_mirror::spatial::index_file::BuiltFrom;
use benthic_mirror::spatial::nonprofits::Nonprofits;
use benthic_mirror::store::{Access, Capture, Snapshot, Store, Trust};

pub(crate) const DISTRICTS: (&str, &str) = ("up_cdmaps", "congressional_districts");
pub(crate) const NONPROFITS: (&str, &str) = ("irs_ng", "bmf_organizations");

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    match words.as_slice() {
        ["prepare", data] => runtime.block_on(prepare::run(Path::new(data))),
        ["open", data] => open(Path::new(data)),
        ["maps", data] => runtime.block_on(maps(Path::new(data))),
        ["peer", "--stats", stats, data] => peer::run(&runtime, Path::new(data), Some(Path::new(stats))),
        ["peer", data] => peer::run(&runtime, Path::new(data), None),
        // `cargo bench` and `cargo test --benches` start it without arguments.
        _ => eprintln!("spatial benchmark: prepare DATA | open DATA | maps DATA | peer [--stats FILE] DATA"),
    }
}

pub(crate) fn store_path(data: &Path) -> PathBuf {
    data.join("benthic-store")
}

pub(crate) fn keys() -> TrustedKeys {
    TrustedKeys::from_base64([demo::PUBLIC_KEY]).unwrap()
}

pub(crate) fn trust() -> Trust {
    Trust { publisher: keys(), mirror: keys() }
}

pub(crate) fn config() -> Config {
    Config::resolve(&Layers::default(), Path::new("/nowhere")).unwrap()
}

pub(crate) fn snapshot(store: &Store) -> Snapshot {
    store.current(&trust()).unwrap().expect("run `prepare` first")
}

pub(crate) fn capture<'s>(snapshot: &'s Snapshot, (dataset, relation): (&str, &str)) -> &'s Capture {
    snapshot.document.relation(dataset, relation).and_then(|entry| entry.capture()).unwrap()
}

pub(crate) fn from(capture: &Capture) -> BuiltFrom {
    BuiltFrom { row_digest: *capture.row_digest.as_bytes(), rows: capture.rows }
}

/// The bytes of an index, as the product reads them before use.
pub(crate) fn index(store: &Store, capture: &Capture, kind: &str) -> Vec<u8> {
    let entry = capture.indexes.iter().find(|entry| entry.kind == kind).unwrap();
    store.read_for_use(&entry.object()).unwrap().0
}

pub(crate) fn congresses(store: &Store, capture: &Capture) -> Vec<i64> {
    congresses_from_bytes(index(store, capture, "districts"), from(capture)).unwrap()
}

/// Times opening each index: read, hash or size check, checksums, validation. Page cache warm.
fn open(data: &Path) {
    let store = Store::open(&store_path(data), Access::ReadOnly).unwrap();
    let snapshot = snapshot(&store);
    let (districts, nonprofits) = (capture(&snapshot, DISTRICTS), capture(&snapshot, NONPROFITS));
    let bytes = |capture: &Capture| capture.indexes.iter().map(|entry| entry.bytes).sum::<u64>();
    println!("districts: {} indexes, {} bytes", districts.indexes.len(), bytes(districts));
    println!("nonprofits: {} indexes, {} bytes", nonprofits.indexes.len(), bytes(nonprofits));
    let mut times = Vec::new();
    let numbers = congresses(&store, districts);
    for number in numbers.iter().cycle().take(numbers.len() * 2) {
        let started = Instant::now();
        let read = index(&store, districts, &format!("districts/{number}"));
        let read_in = started.elapsed();
        let map = CongressMap::from_bytes(read, *number, from(districts)).unwrap();
        times.push((started.elapsed().as_secs_f64() * 1e3, read_in.as_secs_f64() * 1e3, map.len()));
    }
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (all, read, _) = times[times.len() / 2];
    println!("open one congress: median {all:.2} ms, of which read and SHA-256 {read:.2} ms");
    let mut times = Vec::new();
    for _ in 0..7 {
        let started = Instant::now();
        let read = index(&store, nonprofits, "nonprofits");
        let read_in = started.elapsed();
        let index = Nonprofits::from_bytes(read, from(nonprofits)).unwrap();
        times.push((started.elapsed().as_secs_f64() * 1e3, read_in.as_secs_f64() * 1e3, index.len()));
    }
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (all, read, points) = times[times.len() / 2];
    println!("open {points} nonprofits: median {all:.1} ms, of which read {read:.1} ms");
}

/// Draws the country, a place with its radius, and a box.
async fn maps(data: &Path) {
    let mirror = peer::mirror(data);
    let whole = MapRequest { congress: 118, width: 1600, ..MapRequest::default() };
    let near = MapRequest { point: Some((39.74, -104.99)), radius_meters: Some(20_000), ..whole.clone() };
    let place = MapRequest { point: Some((41.88, -87.63)), ..whole.clone() };
    let boxed = MapRequest { bbox: Some([-80.0, 38.0, -74.0, 41.5]), ..whole.clone() };
    let places = (0..200).map(|at| (26.0 + f64::from(at % 20), -120.0 + f64::from(at) * 0.27)).collect();
    let places = MapRequest { places, ..whole.clone() };
    for (name, request) in
        [("whole", whole), ("near", near), ("place", place), ("box", boxed), ("places", places)]
    {
        let started = Instant::now();
        let picture = mirror.map(&request).await.unwrap();
        let drawn = started.elapsed();
        let png = picture.png().unwrap();
        println!(
            "{name}: {} bytes of SVG in {drawn:.0?}, PNG in {:.0?}",
            picture.svg.len(),
            started.elapsed() - drawn
        );
        std::fs::write(data.join(format!("{name}.svg")), &picture.svg).unwrap();
        std::fs::write(data.join(format!("{name}.png")), png).unwrap();
    }
}
