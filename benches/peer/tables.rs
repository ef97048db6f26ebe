//! A store of the generator's tables: a signed catalogue of its own, rows written as a pull writes them.

use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::cast;
use arrow::datatypes::{Schema, SchemaRef};
use benthic_mirror::bdp::sign::sign_document;
use benthic_mirror::demo;
use benthic_mirror::store::{
    Capture, CapturedAt, CollectionEntry, CurrentOrder, Evidence, Hash256, ManifestEntry, MirrorKey,
    RelationEntry, RelationState, SNAPSHOT_FORMAT, Scope, SnapshotDocument, Store, StoreWriter, StoredColumn,
    StoredType, content_id,
};
use benthic_mirror::sync::{Ordering, Sorter, Uniqueness, UnsortedRows, sort_and_write_rows};
use datafusion::common::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use ed25519_dalek::SigningKey;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Map, Value, json};

/// Name, key, columns as `name declared-type native-type stored-type`, columns that signed paths join on.
type Table = (&'static str, &'static str, &'static str, &'static [&'static str]);
const TABLES: [Table; 3] = [
    (
        "entities",
        "uei",
        "uei string text utf8; duns string text utf8; legal_business_name string text utf8; state string text utf8;
         congressional_district string text utf8; entity_type string text utf8;
         total_obligation number numeric(23,2) decimal128(18,2); total_obligation_f64 number double precision float64;
         award_count integer bigint int64; date_last_award date date date32; latitude number double precision float64;
         longitude number double precision float64; is_geocoded boolean boolean boolean",
        &["duns", "congressional_district"],
    ),
    (
        "bmf",
        "id",
        "id integer integer int32; ein string text utf8; org_name_current string text utf8; ntee_irs string text utf8;
         f990_org_addr_state string text utf8; is_current boolean boolean boolean;
         latitude number double precision float64; longitude number double precision float64",
        &["ein"],
    ),
    (
        "terms",
        "term_id",
        "term_id integer integer int32; bioguide_id string text utf8; state string text utf8; district integer integer int32;
         term_start date date date32; term_end date date date32; party string text utf8",
        &["district"],
    ),
];

pub(crate) fn store_path(data: &Path) -> PathBuf {
    data.join("tables-store")
}

pub(crate) async fn prepare(data: &Path) {
    let store = Store::create_or_open(&store_path(data)).unwrap();
    let mut writer = store.writer().unwrap();
    let now = chrono::Utc::now();
    let (manifest, hash) = signed(manifest());
    let manifest_bytes = manifest.to_string().into_bytes();
    let (collection, collection_hash) = signed(collection(&hash));
    let entry = ManifestEntry {
        dataset: "bench".to_owned(),
        payload_hash: Hash256::from_bytes(hash_bytes(&hash)),
        object: writer.put_object(&manifest_bytes).unwrap(),
    };
    let collection = CollectionEntry {
        name: "bench".to_owned(),
        payload_hash: Hash256::from_bytes(hash_bytes(&collection_hash)),
        object: writer.put_object(collection.to_string().as_bytes()).unwrap(),
    };
    let mut relations = Vec::new();
    for (name, key, columns, joined) in TABLES {
        let started = std::time::Instant::now();
        let capture = write(&writer, data, name, key, &stored_columns(columns), joined).await;
        println!(
            "{name}: {} rows, {} parts, {} bytes, written in {:.1} s",
            capture.rows,
            capture.parts.len(),
            capture.parts.iter().map(|part| part.bytes).sum::<u64>(),
            started.elapsed().as_secs_f64()
        );
        relations.push(RelationEntry {
            dataset: "bench".to_owned(),
            relation: name.to_owned(),
            state: RelationState::Captured(Box::new(capture)),
        });
    }
    let document = SnapshotDocument {
        format: SNAPSHOT_FORMAT.to_owned(),
        created_at: now,
        tool_version: "benchmark".to_owned(),
        collection,
        content_id: content_id(std::slice::from_ref(&entry), &relations).unwrap(),
        manifests: vec![entry],
        relations,
    };
    let key = MirrorKey::generate(demo::DEMO_KEY_SEED);
    writer.publish(&document, &key, None, CurrentOrder::AllowOlder).unwrap();
}

fn hash_bytes(hash: &str) -> [u8; 32] {
    hex::decode(hash.trim_start_matches("sha256:")).unwrap().try_into().unwrap()
}

fn signed(payload: Value) -> (Value, String) {
    let key = SigningKey::from_bytes(&demo::DEMO_KEY_SEED);
    let Value::Object(payload) = payload else { unreachable!() };
    let (signed, hash) = sign_document(payload, &key, Some("2026-01-16T00:00:00Z")).unwrap();
    (Value::Object(signed), hash.to_string())
}

fn fields(columns: &str) -> impl Iterator<Item = (&str, &str, String, StoredType)> {
    columns.split(';').map(|column| {
        let words: Vec<&str> = column.split_whitespace().collect();
        let (name, declared, stored) = (words[0], words[1], words[words.len() - 1]);
        (name, declared, words[2..words.len() - 1].join(" "), stored.parse().unwrap())
    })
}

fn stored_columns(columns: &str) -> Vec<StoredColumn> {
    fields(columns)
        .map(|(name, _, _, stored_type)| StoredColumn {
            name: name.to_owned(),
            stored_type,
            inexact: false,
            geometry: None,
        })
        .collect()
}

fn manifest() -> Value {
    let relation = |(name, key, columns, _): &Table| {
        let columns: Vec<Value> = fields(columns)
            .map(|(name, declared, native, _)| {
                json!({"name": name, "type": declared, "native_type": native, "nullable": true})
            })
            .collect();
        json!({
            "name": name, "relation_type": "table", "provenance": "upstream", "queryable": true,
            "primary_key": [key], "columns": columns,
        })
    };
    let mut manifest = unsigned("demo/usaspending/manifest.json");
    manifest.insert("dataset_name".to_owned(), json!("bench"));
    manifest.insert("collection".to_owned(), json!("bench"));
    manifest.insert("schema_definition".to_owned(), TABLES.iter().map(relation).collect::<Vec<_>>().into());
    Value::Object(manifest)
}

fn collection(manifest_hash: &str) -> Value {
    let end = |relation: &str, column: &str| json!({"dataset_name": "bench", "relation": relation, "column": column});
    let mut collection = unsigned("demo/collection.json");
    collection.insert("collection_name".to_owned(), json!("bench"));
    collection.insert(
        "members".to_owned(),
        json!([{
            "dataset_name": "bench",
            "manifest_url": format!("{}/bdp/bench/manifest.json", demo::ORIGIN),
            "payload_hash": manifest_hash,
            "title": "Generated tables",
        }]),
    );
    collection.insert(
        "join_paths".to_owned(),
        json!([
            {
                "from": end("entities", "congressional_district"), "to": end("terms", "district"),
                "join_type": "identifier", "reliability": "partial", "notes": "a district needs its state",
            },
            {
                "from": end("entities", "duns"), "to": end("bmf", "ein"),
                "join_type": "identifier", "reliability": "reliable",
            },
        ]),
    );
    Value::Object(collection)
}

/// A demo document to start from, its signature taken off.
fn unsigned(name: &str) -> Map<String, Value> {
    let mut members: Map<String, Value> = serde_json::from_slice(&demo::documents()[name]).unwrap();
    members.remove("cryptographic_signature");
    members
}

async fn write(
    writer: &StoreWriter,
    data: &Path,
    name: &str,
    key: &str,
    columns: &[StoredColumn],
    joined: &[&str],
) -> Capture {
    let schema = Arc::new(Schema::new(columns.iter().map(StoredColumn::field).collect::<Vec<_>>()));
    let file = data.join(format!("{name}.parquet"));
    let count = reader(&file).metadata().file_metadata().num_rows() as u64;
    let stream = Arc::new(FileRows { file, schema });
    let sorter = Sorter::new(512 << 20, 16 << 30, writer.spill_directory("bench").unwrap()).unwrap();
    let ordering = Ordering { sort_key: vec![key.to_owned()], uniqueness: Uniqueness::Unique };
    let joined: HashSet<String> = joined.iter().map(|name| (*name).to_owned()).collect();
    let rows = UnsortedRows { columns: columns.to_vec(), stream, count };
    let written = sort_and_write_rows(&sorter, Some(writer), name, &joined, rows, &ordering).await.unwrap();
    let now = chrono::Utc::now();
    Capture {
        evidence: Evidence::Counted,
        scope: Scope::Full,
        rows: written.rows,
        row_digest: written.row_digest,
        parts: written.parts,
        columns: written.columns,
        sort_key: ordering.sort_key,
        captured_at: CapturedAt { start: now, end: now },
        count_before: Some(count),
        count_after: Some(count),
        retries: 0,
        indexes: Vec::new(),
    }
}

fn reader(file: &Path) -> ParquetRecordBatchReaderBuilder<File> {
    ParquetRecordBatchReaderBuilder::try_new(File::open(file).unwrap()).unwrap()
}

/// A generator's file, its columns in the types they are stored in.
#[derive(Debug)]
struct FileRows {
    file: PathBuf,
    schema: SchemaRef,
}

impl PartitionStream for FileRows {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let schema = Arc::clone(&self.schema);
        let batches = reader(&self.file).with_batch_size(8_192).build().unwrap().map(move |batch| {
            let batch = batch?;
            let columns = schema
                .fields()
                .iter()
                .map(|field| cast(batch.column_by_name(field.name()).unwrap(), field.data_type()))
                .collect::<Result<Vec<_>, _>>()?;
            Ok::<_, DataFusionError>(RecordBatch::try_new(Arc::clone(&schema), columns)?)
        });
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), futures::stream::iter(batches)))
    }
}
