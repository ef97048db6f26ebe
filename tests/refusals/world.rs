//! The mirrors asked: the demo's rows under several settings, and small stores made for one rule.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use benthic_mirror::app::{AppError, Mirror, MirrorOptions, Tabular};
use benthic_mirror::bdp::TrustedKeys;
use benthic_mirror::bdp::sign::sign_document;
use benthic_mirror::config::{Config, ExactNumbers, Layers, Limits, ScanPolicy, SystemClock};
use benthic_mirror::demo::origin::{DemoOrigin, OriginCatalogue, OriginOptions};
use benthic_mirror::demo::{self, DemoData, DemoRelation, DemoRow};
use benthic_mirror::engine::{Refusal, RunOptions};
use benthic_mirror::net::{ConnectOverride, Net, NetOptions};
use benthic_mirror::store::{MirrorKey, Store, Trust};
use benthic_mirror::sync::{NoProgress, PullOptions, Selection, pull};
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;

/// A question to one of the tools.
#[derive(Debug, Clone)]
pub(crate) enum Ask {
    Query(Value),
    Join(Value),
    Rpc(Value),
    Discover(Value),
}

pub(crate) fn query(arguments: Value) -> Ask {
    Ask::Query(arguments)
}

pub(crate) fn join(arguments: Value) -> Ask {
    Ask::Join(arguments)
}

/// Which mirror is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum On {
    /// The demo's rows, default settings.
    Demo,
    /// The demo's rows, with a scan limit of [`STRICT_SCAN_LIMIT`], which some relations exceed.
    Strict,
    /// The same with `scan_policy=complete`.
    Complete,
    /// The demo's rows, with answers of at most 2,000 bytes.
    Small,
    /// The demo's catalogue, of which only `usp_cl` is mirrored.
    Partial,
    /// A catalogue of its own, see [`made`].
    Made,
}

/// Above the 1,654 terms, below the 2,600 keyless entities and the 3,500 keyed organizations.
pub(crate) const STRICT_SCAN_LIMIT: u64 = 2_000;

pub(crate) fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
    })
}

/// A store and the directory it goes away with.
pub(crate) struct Held {
    pub(crate) store: PathBuf,
    _directory: tempfile::TempDir,
}

/// Pulls what the patterns name from a catalogue served on the loopback interface.
fn pulled(options: OriginOptions, patterns: &[&str]) -> Held {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    runtime().block_on(async {
        let origin = DemoOrigin::start(options).await.unwrap();
        let net = Net::new(NetOptions {
            allowed_hosts: vec![demo::ORIGIN_HOST.to_owned()],
            connect_overrides: vec![ConnectOverride {
                origin: demo::ORIGIN.to_owned(),
                to: origin.address(),
            }],
            ..NetOptions::default()
        })
        .unwrap();
        let relations = match patterns {
            [] => Selection::All,
            patterns => Selection::Patterns(patterns.iter().map(|pattern| (*pattern).to_owned()).collect()),
        };
        let key = MirrorKey::generate(demo::DEMO_KEY_SEED);
        let root = demo::DOCUMENT_ROOT.parse().unwrap();
        let options =
            PullOptions { relations, ..PullOptions::new(root, demo::COLLECTION, trust().publisher, key) };
        let store = Store::create_or_open(&path).unwrap();
        let mut writer = store.writer().unwrap();
        let report = pull(&net, &mut writer, &options, &SystemClock, &NoProgress).await.unwrap();
        assert_eq!(report.failures(), 0, "{:?}", report.relations);
        origin.stop().await;
    });
    Held { store: path, _directory: directory }
}

/// The whole demo.
pub(crate) fn demo_store() -> &'static Held {
    static STORE: OnceLock<Held> = OnceLock::new();
    STORE.get_or_init(|| pulled(OriginOptions::default(), &[]))
}

fn partial_store() -> &'static Held {
    static STORE: OnceLock<Held> = OnceLock::new();
    STORE.get_or_init(|| pulled(OriginOptions::default(), &["usp_cl.*"]))
}

/// A catalogue for what the demo has no case of.
fn made_store() -> &'static Held {
    static STORE: OnceLock<Held> = OnceLock::new();
    STORE.get_or_init(|| {
        let (relations, paths) = super::staged::made();
        let options = OriginOptions { catalogue: catalogue(relations, paths), ..OriginOptions::default() };
        pulled(options, &[])
    })
}

pub(crate) fn trust() -> Trust {
    let keys = || TrustedKeys::from_base64([demo::PUBLIC_KEY]).unwrap();
    Trust { publisher: keys(), mirror: keys() }
}

/// A mirror with its own limits, policy and trust.
pub(crate) fn open(
    store: &Path,
    policy: ScanPolicy,
    trust: Trust,
    concurrency: usize,
    change: impl FnOnce(&mut Limits),
) -> Mirror {
    let mut config = Config::resolve(&Layers::default(), Path::new("/nowhere")).unwrap();
    change(&mut config.limits);
    let options = MirrorOptions {
        trust,
        run: RunOptions { policy, exact_numbers: ExactNumbers::String },
        max_age_seconds: config.max_age.as_secs(),
        concurrency,
    };
    Mirror::open(store, &config, options, Arc::new(SystemClock)).unwrap()
}

fn mirror(on: On) -> &'static Mirror {
    static MIRRORS: [OnceLock<Mirror>; 6] = [const { OnceLock::new() }; 6];
    MIRRORS[on as usize].get_or_init(|| {
        let store = match on {
            On::Partial => partial_store(),
            On::Made => made_store(),
            _ => demo_store(),
        };
        let policy = if on == On::Complete { ScanPolicy::Complete } else { ScanPolicy::Parity };
        open(&store.store, policy, trust(), 64, |limits| match on {
            On::Strict | On::Complete => limits.aggregate_scan_limit = STRICT_SCAN_LIMIT,
            On::Small => limits.max_response_bytes = 2_000,
            _ => {}
        })
    })
}

/// The answer, or the refusal as it would cross MCP.
pub(crate) fn ask_of(mirror: &Mirror, ask: &Ask) -> Result<Value, Refusal> {
    runtime().block_on(asked(mirror, ask)).map_err(AppError::into_refusal)
}

/// The same as a future.
pub(crate) async fn asked(mirror: &Mirror, ask: &Ask) -> Result<Value, AppError> {
    let object = |arguments: &Value| -> Map<String, Value> { arguments.as_object().unwrap().clone() };
    match ask {
        Ask::Query(arguments) => mirror.query(object(arguments)).await,
        Ask::Join(arguments) => mirror.join(object(arguments)).await,
        Ask::Rpc(arguments) => mirror.rpc(object(arguments)).await,
        Ask::Discover(arguments) => mirror.discover(object(arguments)),
    }
}

pub(crate) fn ask(on: On, ask: &Ask) -> Result<Value, Refusal> {
    ask_of(mirror(on), ask)
}

/// The demo's answer to a query as a table.
pub(crate) fn tabular(arguments: &Value) -> Tabular {
    runtime().block_on(mirror(On::Demo).query_table(arguments.as_object().unwrap().clone())).unwrap()
}

/// Rows of a demo relation for which a condition holds.
pub(crate) fn count(source: &str, holds: impl Fn(&DemoRow<'_>) -> bool) -> usize {
    demo::relation(source).unwrap().rows().filter(holds).count()
}

/// The number of rows of a demo relation.
pub(crate) fn total(source: &str) -> usize {
    demo::relation(source).unwrap().rows.len()
}

/// A signed catalogue of one dataset `d` with these relations and paths.
fn catalogue(relations: Vec<DemoRelation>, paths: Value) -> OriginCatalogue {
    let key = ed25519_dalek::SigningKey::from_bytes(&demo::DEMO_KEY_SEED);
    let sign = |document: Value| -> (Vec<u8>, String) {
        let (signed, hash) = sign_document(document.as_object().unwrap().clone(), &key, None).unwrap();
        (Value::Object(signed).to_string().into_bytes(), hash.to_string())
    };
    let common = json!({
        "protocol_version": "1.0.0",
        "author_identity": "demo@benthic-mirror.example",
        "author_pubkey": demo::PUBLIC_KEY,
        "title": "Test",
        "created_at": "2026-01-15T00:00:00Z",
    });
    let with = |members: Value| -> Value {
        let mut document = common.clone();
        document.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        document
    };
    let columns = |relation: &DemoRelation| -> Vec<Value> {
        let column = |column: &demo::DemoColumn| {
            json!({
                "name": column.name, "type": column.declared_type, "native_type": column.native_type,
                "nullable": column.nullable,
            })
        };
        relation.columns.iter().map(column).collect()
    };
    let definitions: Vec<Value> = relations
        .iter()
        .map(|relation| {
            let mut definition =
                json!({"name": relation.name, "relation_type": "table", "columns": columns(relation)});
            if !relation.primary_key.is_empty() {
                definition["primary_key"] = json!(relation.primary_key);
            }
            definition
        })
        .collect();
    let (manifest, hash) = sign(with(json!({
        "dataset_name": "d",
        "etl_provenance": {
            "repository_url": "https://demo.benthic-mirror.example/source",
            "commit_hash": "0000000000000000000000000000000000000000",
            "pipeline_entrypoint": "main",
            "migration_status": "pending",
            "source_attribution": [{"name": "test"}],
        },
        "endpoints": [{
            "transport_type": "postgrest_api",
            "base_url": format!("{}/d/", demo::ORIGIN),
            "meta": {"max_rows": 1000, "requires_auth": false},
        }],
        "schema_definition": definitions,
    })));
    let (collection, _) = sign(with(json!({
        "collection_name": demo::COLLECTION,
        "members": [{
            "dataset_name": "d",
            "manifest_url": format!("{}/{}/d/manifest.json", demo::DOCUMENT_ROOT, demo::COLLECTION),
            "payload_hash": hash,
        }],
        "join_paths": paths,
    })));
    OriginCatalogue {
        documents: BTreeMap::from([
            ("demo/collection.json".to_owned(), collection),
            ("demo/d/manifest.json".to_owned(), manifest),
        ]),
        data: Arc::new(DemoData { relations }),
    }
}
