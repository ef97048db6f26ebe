//! An origin, a store and a pull in few words.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arrow::array::RecordBatch;
use benthic_mirror::bdp::TrustedKeys;
use benthic_mirror::bdp::sign::sign_document;
use benthic_mirror::config::{Clock, FixedClock};
use benthic_mirror::demo::origin::{DemoOrigin, OriginCatalogue, OriginOptions};
use benthic_mirror::demo::{self, DemoColumn, DemoData, DemoRelation, DemoValue};
use benthic_mirror::net::retry::RetryPolicy;
use benthic_mirror::net::{ConnectOverride, Net, NetOptions};
use benthic_mirror::store::{Capture, MirrorKey, Snapshot, Store, Trust};
use benthic_mirror::sync::{Event, Progress, PullOptions, PullReport, Selection, SyncError, pull};
use chrono::{DateTime, Utc};
use ed25519_dalek::SigningKey;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use url::Url;

pub(crate) const MIRROR_SEED: [u8; 32] = [42; 32];

pub(crate) fn moment(text: &str) -> DateTime<Utc> {
    DateTime::parse_from_rfc3339(text).unwrap().with_timezone(&Utc)
}

/// A clock that shows the same moment: runs are reproducible to the byte.
pub(crate) fn clock() -> FixedClock {
    FixedClock(moment("2026-03-01T12:00:00Z"))
}

pub(crate) fn net(origin: &DemoOrigin) -> Net {
    Net::new(NetOptions {
        request_timeout: Duration::from_secs(60),
        allowed_hosts: vec![demo::ORIGIN_HOST.to_owned()],
        connect_overrides: vec![ConnectOverride { origin: demo::ORIGIN.to_owned(), to: origin.address() }],
        ..NetOptions::default()
    })
    .unwrap()
}

pub(crate) fn options() -> PullOptions {
    let root = Url::parse(demo::DOCUMENT_ROOT).unwrap();
    PullOptions {
        // Fast, and still many enough for every fault scripted here.
        retry: RetryPolicy {
            max_attempts: 4,
            base_delay: Duration::from_millis(5),
            max_delay: Duration::from_millis(50),
        },
        ..PullOptions::new(root, demo::COLLECTION, publisher(), MirrorKey::generate(MIRROR_SEED))
    }
}

pub(crate) fn only(patterns: &[&str]) -> PullOptions {
    let patterns = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
    PullOptions { relations: Selection::Patterns(patterns), ..options() }
}

pub(crate) fn publisher() -> TrustedKeys {
    TrustedKeys::from_base64([demo::PUBLIC_KEY]).unwrap()
}

pub(crate) fn trust() -> Trust {
    let mirror = MirrorKey::generate(MIRROR_SEED).public_base64();
    Trust { publisher: publisher(), mirror: TrustedKeys::from_base64([mirror]).unwrap() }
}

/// A store in a directory that goes away.
pub(crate) struct TestStore {
    pub(crate) store: Store,
    directory: TempDir,
}

impl TestStore {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::create_or_open(&directory.path().join("store")).unwrap();
        Self { store, directory }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("store")
    }

    pub(crate) async fn pull(
        &self,
        origin: &DemoOrigin,
        options: &PullOptions,
    ) -> Result<PullReport, SyncError> {
        self.pull_at(origin, options, &clock(), &Log::default()).await
    }

    pub(crate) async fn pull_at(
        &self,
        origin: &DemoOrigin,
        options: &PullOptions,
        clock: &dyn Clock,
        progress: &dyn Progress,
    ) -> Result<PullReport, SyncError> {
        let mut writer = self.store.writer().unwrap();
        pull(&net(origin), &mut writer, options, clock, progress).await
    }

    /// The current snapshot, loaded by a handle that has verified nothing yet.
    pub(crate) fn current(&self) -> Snapshot {
        let store = Store::open(&self.path(), benthic_mirror::store::Access::ReadOnly).unwrap();
        store.current(&trust()).unwrap().expect("a snapshot was published")
    }

    /// Every row of a capture, in file order, as stored.
    pub(crate) fn rows(&self, capture: &Capture) -> Vec<RecordBatch> {
        capture
            .parts
            .iter()
            .flat_map(|part| {
                let path = self.store.object_path(&part.sha256);
                let file = std::fs::File::open(path).unwrap();
                let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
                assert_eq!(reader.schema().fields(), capture.file_schema().fields());
                reader.build().unwrap().map(Result::unwrap).collect::<Vec<_>>()
            })
            .collect()
    }

    /// Names of all objects.
    pub(crate) fn objects(&self) -> Vec<String> {
        let mut names = Vec::new();
        for directory in std::fs::read_dir(self.path().join("objects")).unwrap() {
            for object in std::fs::read_dir(directory.unwrap().path()).unwrap() {
                names.push(object.unwrap().file_name().into_string().unwrap());
            }
        }
        names.sort();
        names
    }
}

pub(crate) fn capture<'a>(snapshot: &'a Snapshot, source: &str) -> &'a Capture {
    let (dataset, relation) = source.split_once('.').unwrap();
    let entry =
        snapshot.document.relation(dataset, relation).unwrap_or_else(|| panic!("no entry for {source}"));
    entry.capture().unwrap_or_else(|| panic!("{source} was skipped: {entry:?}"))
}

/// Remembers what happened, in words.
#[derive(Default)]
pub(crate) struct Log(Mutex<Vec<String>>);

impl Log {
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Progress for Log {
    fn event(&self, event: Event<'_>) {
        self.0.lock().unwrap().push(format!("{event:?}"));
    }
}

/// A catalogue of one dataset `d` with these relations, signed with the demo key.
pub(crate) fn catalogue(relations: Vec<DemoRelation>) -> OriginCatalogue {
    catalogue_with(relations, "2026-01-15T00:00:00Z", 1000)
}

/// The same with another `created_at`, and another page cap declared.
pub(crate) fn catalogue_with(
    relations: Vec<DemoRelation>,
    created_at: &str,
    max_rows: u64,
) -> OriginCatalogue {
    let key = SigningKey::from_bytes(&demo::DEMO_KEY_SEED);
    let definitions: Vec<Value> = relations.iter().map(definition).collect();
    let manifest = json!({
        "protocol_version": "1.0.0",
        "author_identity": "demo@benthic-mirror.example",
        "author_pubkey": demo::PUBLIC_KEY,
        "dataset_name": "d",
        "title": "Test",
        "created_at": created_at,
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
            "meta": {"max_rows": max_rows, "requires_auth": false},
        }],
        "schema_definition": definitions,
    });
    let (manifest, hash) = sign(manifest, &key);
    let collection = json!({
        "protocol_version": "1.0.0",
        "author_identity": "demo@benthic-mirror.example",
        "author_pubkey": demo::PUBLIC_KEY,
        "collection_name": demo::COLLECTION,
        "title": "Test",
        "created_at": created_at,
        "members": [{
            "dataset_name": "d",
            "manifest_url": format!("{}/{}/d/manifest.json", demo::DOCUMENT_ROOT, demo::COLLECTION),
            "payload_hash": hash,
        }],
        "join_paths": [],
    });
    let (collection, _) = sign(collection, &key);
    OriginCatalogue {
        documents: BTreeMap::from([
            ("demo/collection.json".to_owned(), collection),
            ("demo/d/manifest.json".to_owned(), manifest),
        ]),
        data: Arc::new(DemoData { relations }),
    }
}

fn sign(document: Value, key: &SigningKey) -> (Vec<u8>, String) {
    let payload: Map<String, Value> = document.as_object().unwrap().clone();
    let (signed, hash) = sign_document(payload, key, None).unwrap();
    (Value::Object(signed).to_string().into_bytes(), hash.to_string())
}

fn definition(relation: &DemoRelation) -> Value {
    let columns: Vec<Value> = relation
        .columns
        .iter()
        .map(|column| {
            let mut members = json!({
                "name": column.name,
                "type": column.declared_type,
                "native_type": column.native_type,
                "nullable": column.nullable,
            });
            if let Some(srid) = column.srid {
                members["srid"] = json!(srid);
            }
            members
        })
        .collect();
    let mut members = json!({"name": relation.name, "relation_type": "table", "columns": columns});
    if !relation.primary_key.is_empty() {
        members["primary_key"] = json!(relation.primary_key);
    }
    members
}

/// A relation `d.<name>`.
pub(crate) fn relation(
    name: &str,
    columns: &[(&str, &str)],
    key: &[&str],
    rows: Vec<Vec<DemoValue>>,
) -> DemoRelation {
    let columns = columns.iter().map(|(name, native)| DemoColumn::new(name, native, true)).collect();
    DemoRelation { rows, ..DemoRelation::new("d", name, columns, key) }
}

/// `d.<name>` with an integer key and a text, `rows` rows in an order of no meaning.
pub(crate) fn numbered(name: &str, rows: i64) -> DemoRelation {
    let rows = (0..rows)
        .map(|index| {
            let id = (index * 7919) % rows;
            vec![DemoValue::Int(id), DemoValue::from(format!("row {id}"))]
        })
        .collect();
    relation(name, &[("id", "integer"), ("label", "text")], &["id"], rows)
}

pub(crate) async fn origin_of(relations: Vec<DemoRelation>) -> DemoOrigin {
    DemoOrigin::start(OriginOptions { catalogue: catalogue(relations), ..OriginOptions::default() })
        .await
        .unwrap()
}

pub(crate) async fn demo_origin() -> DemoOrigin {
    DemoOrigin::start(OriginOptions::default()).await.unwrap()
}
