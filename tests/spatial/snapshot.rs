//! Indexes in a snapshot: built by a pull, opened by the first question, rebuilt from the rows when they can't be used.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use benthic_mirror::app::{MapRequest, Mirror, MirrorOptions, SpatialIndexes};
use benthic_mirror::bdp::TrustedKeys;
use benthic_mirror::config::{Config, ExactNumbers, Layers, ScanPolicy, SystemClock};
use benthic_mirror::demo::origin::{DemoOrigin, OriginOptions};
use benthic_mirror::demo::{self};
use benthic_mirror::engine::RunOptions;
use benthic_mirror::net::{ConnectOverride, Net, NetOptions};
use benthic_mirror::spatial::SpatialArguments;
use benthic_mirror::store::{
    CurrentOrder, MirrorKey, RelationState, SnapshotDocument, Store, Trust, content_id,
};
use benthic_mirror::sync::{NoProgress, PullOptions, Selection, pull};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

const DISTRICTS: (&str, &str) = ("up_cdmaps", "congressional_districts");
const NONPROFITS: (&str, &str) = ("irs_ng", "bmf_organizations");

struct Pulled {
    runtime: Runtime,
    directory: tempfile::TempDir,
}

impl Pulled {
    fn store(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn ask(&self, mirror: &Mirror, arguments: &Value) -> Value {
        self.runtime.block_on(mirror.rpc(arguments.as_object().unwrap().clone())).unwrap()
    }
}

/// Two stores of the same rows: `indexed` by the pull, and `plain`.
fn pulled() -> &'static Pulled {
    static PULLED: OnceLock<Pulled> = OnceLock::new();
    PULLED.get_or_init(|| {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let directory = tempfile::tempdir().unwrap();
        runtime.block_on(async {
            let origin = DemoOrigin::start(OriginOptions::default()).await.unwrap();
            let net = Net::new(NetOptions {
                allowed_hosts: vec![demo::ORIGIN_HOST.to_owned()],
                connect_overrides: vec![ConnectOverride {
                    origin: demo::ORIGIN.to_owned(),
                    to: origin.address(),
                }],
                ..NetOptions::default()
            })
            .unwrap();
            for (name, indexed, page_size) in
                [("indexed", true, None), ("again", true, Some(97)), ("plain", false, None)]
            {
                let mut options =
                    PullOptions::new(demo::DOCUMENT_ROOT.parse().unwrap(), demo::COLLECTION, keys(), key());
                options.relations = Selection::Patterns(
                    [DISTRICTS, NONPROFITS]
                        .map(|(dataset, relation)| format!("{dataset}.{relation}"))
                        .to_vec(),
                );
                options.page_size = page_size;
                if indexed {
                    options.indexes = Arc::new(SpatialIndexes::new(&config()).unwrap());
                }
                let store = Store::create_or_open(&directory.path().join(name)).unwrap();
                let mut writer = store.writer().unwrap();
                let report = pull(&net, &mut writer, &options, &SystemClock, &NoProgress).await.unwrap();
                assert_eq!(report.failures(), 0, "{:?}", report.relations);
            }
            origin.stop().await;
        });
        Pulled { runtime, directory }
    })
}

fn key() -> MirrorKey {
    MirrorKey::generate(demo::DEMO_KEY_SEED)
}

fn keys() -> TrustedKeys {
    TrustedKeys::from_base64([demo::PUBLIC_KEY]).unwrap()
}

fn config() -> Config {
    Config::resolve(&Layers::default(), Path::new("/nowhere")).unwrap()
}

fn trust() -> Trust {
    Trust { publisher: keys(), mirror: keys() }
}

fn open(store: &Path) -> Mirror {
    let options = MirrorOptions {
        trust: trust(),
        run: RunOptions { policy: ScanPolicy::Parity, exact_numbers: ExactNumbers::String },
        max_age_seconds: 1_000_000,
        concurrency: 8,
    };
    Mirror::open(store, &config(), options, Arc::new(SystemClock)).unwrap()
}

fn document(store: &Path) -> SnapshotDocument {
    Store::open(store, benthic_mirror::store::Access::ReadOnly)
        .unwrap()
        .current(&trust())
        .unwrap()
        .unwrap()
        .document
        .clone()
}

/// Kind, hash and size of every index of a relation.
fn indexes(
    document: &SnapshotDocument,
    (dataset, relation): (&str, &str),
) -> BTreeMap<String, (String, u64)> {
    let capture = document.relation(dataset, relation).unwrap().capture().unwrap();
    let entry = |index: &benthic_mirror::store::IndexEntry| {
        (index.kind.clone(), (index.sha256.to_string(), index.bytes))
    };
    capture.indexes.iter().map(entry).collect()
}

fn questions() -> Vec<Value> {
    let mut questions = Vec::new();
    for (lat, lon) in
        [(39.74, -104.99), (38.9, -77.04), (64.8, -147.7), (0.0, 0.0), (34.05, -118.24), (51.9, 179.9)]
    {
        for congress in [117, 118, 5] {
            questions
                .push(json!({"operation": "find_district", "lat": lat, "lon": lon, "congress": congress}));
        }
        questions.push(json!({"operation": "find_district", "lat": lat, "lon": lon}));
        questions.push(json!({
            "operation": "districts_in_bbox", "min_lat": lat - 1.0, "max_lat": lat + 1.0,
            "min_lon": lon - 0.1, "max_lon": lon + 0.1, "congress": 118,
        }));
        questions
            .push(json!({"operation": "nonprofits_nearby", "lat": lat, "lon": lon, "radius_meters": 90_000}));
    }
    questions
}

/// Rows, total and truncation; what may not depend on how the index came about.
fn substance(answer: &Value) -> Value {
    json!([answer["rows"], answer["row_count"], answer["total"], answer["truncated"], answer["metadata"]])
}

fn warned(answer: &Value) -> bool {
    answer["warnings"].to_string().contains("computed from the rows")
}

#[test]
fn a_pull_names_its_indexes_and_content_id_does_not_depend_on_them() {
    let pulled = pulled();
    let [indexed, again, plain] = ["indexed", "again", "plain"].map(|name| document(&pulled.store(name)));
    assert_eq!(indexed.content_id, plain.content_id);
    assert_eq!(indexed.content_id, again.content_id);
    let kinds: Vec<String> = indexes(&indexed, DISTRICTS).into_keys().collect();
    assert!(
        kinds.contains(&"districts".to_owned()) && kinds.contains(&"districts/118".to_owned()),
        "{kinds:?}"
    );
    assert_eq!(indexes(&indexed, NONPROFITS).into_keys().collect::<Vec<_>>(), ["nonprofits"]);
    // The same rows, pulled in other pages: the same bytes.
    for relation in [DISTRICTS, NONPROFITS] {
        assert_eq!(indexes(&indexed, relation), indexes(&again, relation));
        assert!(indexes(&plain, relation).is_empty());
    }
}

#[test]
fn stored_indexes_and_a_snapshot_without_them_answer_alike() {
    let pulled = pulled();
    let (indexed, plain) = (open(&pulled.store("indexed")), open(&pulled.store("plain")));
    let mut rows = 0;
    for question in questions() {
        let (stored, built) = (pulled.ask(&indexed, &question), pulled.ask(&plain, &question));
        assert_eq!(substance(&stored), substance(&built), "{question}");
        assert_eq!(stored["warnings"], built["warnings"], "{question}");
        assert!(!warned(&stored) && !warned(&built));
        assert_eq!(stored["served"]["verified"], "hashed");
        rows += stored["rows"].as_array().unwrap().len();
    }
    assert!(rows > 50, "{rows}");
}

/// A copy of the indexed store.
fn copied(name: &str) -> PathBuf {
    let (from, to) = (pulled().store("indexed"), pulled().store(name));
    copy(&from, &to);
    to
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn damaged_indexes_are_replaced_by_the_rows_with_a_warning() {
    let pulled = pulled();
    let whole = open(&pulled.store("plain"));
    let flip: fn(&Path) = |path| {
        let mut bytes = std::fs::read(path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x40;
        std::fs::write(path, bytes).unwrap();
    };
    let cut: fn(&Path) = |path| {
        let bytes = std::fs::read(path).unwrap();
        std::fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
    };
    let remove: fn(&Path) = |path| std::fs::remove_file(path).unwrap();
    for (name, damage) in [("flipped", flip), ("cut", cut), ("removed", remove)] {
        let store = copied(name);
        let document = document(&store);
        let all = [DISTRICTS, NONPROFITS].map(|relation| indexes(&document, relation));
        for (hash, _) in all.iter().flat_map(BTreeMap::values) {
            damage(&store.join("objects").join(&hash[..2]).join(hash));
        }
        let damaged = open(&store);
        for question in questions() {
            let answer = pulled.ask(&damaged, &question);
            assert_eq!(substance(&answer), substance(&pulled.ask(&whole, &question)), "{question}");
            assert!(warned(&answer), "{name}: {question}: {}", answer["warnings"]);
        }
    }
}

#[test]
fn indexes_of_other_rows_are_replaced_by_the_rows_with_a_warning() {
    let pulled = pulled();
    // Signed by the right key, whole by every hash, and wrong: each map under another congress's name, one missing,
    // and the nonprofits' index built from other rows.
    let store = copied("mismatched");
    let handle = Store::create_or_open(&store).unwrap();
    let mut document = document(&store);
    let mut writer = handle.writer().unwrap();
    let foreign = {
        let nothing = benthic_mirror::spatial::Nonprofits::build([]).unwrap();
        let from = benthic_mirror::spatial::index_file::BuiltFrom { row_digest: [9; 32], rows: 0 };
        writer.put_object(&nothing.to_bytes(from)).unwrap()
    };
    for relation in &mut document.relations {
        let RelationState::Captured(capture) = &mut relation.state else { continue };
        let maps: Vec<usize> = (0..capture.indexes.len())
            .filter(|at| capture.indexes[*at].kind.starts_with("districts/"))
            .collect();
        if let [first, .., last] = maps.as_slice() {
            let (a, b) = (capture.indexes[*first].clone(), capture.indexes[*last].clone());
            (capture.indexes[*first].sha256, capture.indexes[*first].bytes) = (b.sha256, b.bytes);
            (capture.indexes[*last].sha256, capture.indexes[*last].bytes) = (a.sha256, a.bytes);
            assert!(maps.len() >= 2);
        }
        for index in capture.indexes.iter_mut().filter(|index| index.kind == "nonprofits") {
            (index.sha256, index.bytes) = (foreign.sha256, foreign.bytes);
        }
    }
    assert_eq!(document.content_id, content_id(&document.manifests, &document.relations).unwrap());
    writer.publish(&document, &key(), None, CurrentOrder::AllowOlder).unwrap();
    drop(writer);
    let (mismatched, whole) = (open(&store), open(&pulled.store("plain")));
    let mut warnings = 0;
    for question in questions() {
        let answer = pulled.ask(&mismatched, &question);
        assert_eq!(substance(&answer), substance(&pulled.ask(&whole, &question)), "{question}");
        warnings += usize::from(warned(&answer));
    }
    assert!(warnings >= 12, "{warnings}");
}

#[test]
fn a_file_of_places_answers_as_single_questions_do() {
    let pulled = pulled();
    let mirror = open(&pulled.store("indexed"));
    let arguments = |congress: Option<i64>, radius: Option<i64>| SpatialArguments {
        lat: Some(0.into()),
        lon: Some(0.into()),
        congress: congress.map(Into::into),
        radius_meters: radius.map(Into::into),
        ..SpatialArguments::default()
    };
    let districts =
        pulled.runtime.block_on(mirror.place_lookup("find_district", &arguments(Some(117), None))).unwrap();
    let counts = pulled
        .runtime
        .block_on(mirror.place_lookup("nonprofits_nearby", &arguments(None, Some(60_000))))
        .unwrap();
    let mut dice = crate::world::Dice::new(3);
    let mut found = 0;
    for _ in 0..200 {
        let (lat, lon) = (dice.between(25.0, 49.0), dice.between(-124.0, -67.0));
        let single = pulled
            .ask(&mirror, &json!({"operation": "find_district", "lat": lat, "lon": lon, "congress": 117}));
        let expected = match single["rows"].get(0) {
            Some(row) => vec![
                row["district_id"].as_str().unwrap_or("").to_owned(),
                row["statename"].as_str().unwrap_or("").to_owned(),
                row["district"].to_string(),
                "117".to_owned(),
            ],
            None => vec![String::new(), String::new(), String::new(), "117".to_owned()],
        };
        found += usize::from(!expected[1].is_empty());
        assert_eq!(districts.answer(lat, lon), expected);
        let single = pulled.ask(
            &mirror,
            &json!({"operation": "nonprofits_nearby", "lat": lat, "lon": lon, "radius_meters": 60_000}),
        );
        assert_eq!(counts.answer(lat, lon), [single["total"].to_string(), "60000".to_owned()]);
    }
    assert!(found > 40, "{found}");
    assert!(
        pulled.runtime.block_on(mirror.place_lookup("districts_in_bbox", &arguments(None, None))).is_err()
    );
}

#[test]
fn a_map_is_drawn_from_the_snapshot_alone() {
    let pulled = pulled();
    let mirror = open(&pulled.store("indexed"));
    let draw = |request: MapRequest| pulled.runtime.block_on(mirror.map(&request));
    let country = draw(MapRequest { congress: 118, width: 1200, ..MapRequest::default() }).unwrap();
    assert!(country.svg.contains("118th Congress") && country.svg.contains(">Alaska</text>"));
    let near = MapRequest {
        congress: 118,
        width: 700,
        point: Some((39.74, -104.99)),
        radius_meters: Some(50_000),
        places: vec![(39.7, -104.9), (0.0, 0.0)],
        ..MapRequest::default()
    };
    let near = draw(near).unwrap();
    assert!(near.svg.contains("nonprofits within 50,000 planar metres"), "the legend counts the hits");
    let boxed = MapRequest {
        congress: 118,
        width: 700,
        bbox: Some([-105.5, 39.0, -104.0, 40.2]),
        ..MapRequest::default()
    };
    assert!(draw(boxed).unwrap().svg.contains("stroke-dasharray"));
    for (name, picture) in [("country", &country), ("near", &near)] {
        let png = picture.png().unwrap();
        // For people who want to look.
        if let Ok(directory) = std::env::var("BENTHIC_PICTURES") {
            std::fs::write(Path::new(&directory).join(format!("{name}.png")), &png).unwrap();
        }
        assert!(png.starts_with(b"\x89PNG") && png.len() > 20_000, "{} bytes", png.len());
    }
    assert!(draw(MapRequest { congress: 7, width: 700, ..MapRequest::default() }).is_err());
    let bad = MapRequest { congress: 118, width: 700, point: Some((f64::NAN, 0.0)), ..MapRequest::default() };
    assert!(draw(bad).is_err());
}
