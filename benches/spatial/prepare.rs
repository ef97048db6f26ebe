//! A store from the generator's files.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, BooleanArray, Float64Array, RecordBatch};
use arrow::datatypes::Float64Type;
use benthic_mirror::app::SpatialIndexes;

use benthic_mirror::config::SystemClock;
use benthic_mirror::demo::{
    self,
    origin::{DemoOrigin, OriginOptions},
};
use benthic_mirror::net::{ConnectOverride, Net, NetOptions};
use benthic_mirror::store::{
    Capture, CapturedAt, CurrentOrder, Evidence, MirrorKey, Part, RelationEntry, RelationState, RowDigest,
    Scope, Store, StoreWriter, StoredColumn, StoredGeometry, StoredType, content_id, file_schema,
};
use benthic_mirror::sync::{IndexBuilder, NoProgress, PullOptions, Selection, pull};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::{DISTRICTS, NONPROFITS, config, keys, snapshot, store_path};

pub(crate) async fn run(data: &Path) {
    let path = store_path(data);
    let store = Store::create_or_open(&path).unwrap();
    let mut writer = store.writer().unwrap();
    pull_documents(&mut writer).await;
    let base = snapshot(&store);
    let builder = SpatialIndexes::new(&config()).unwrap();
    let mut document = base.document.clone();
    for (source, file, columns) in [
        (DISTRICTS, "districts.parquet", district_columns()),
        (NONPROFITS, "bmf.parquet", nonprofit_columns()),
    ] {
        let mut capture = write(&writer, &data.join(file), columns);
        let relation = base.catalog.relation(&format!("{}.{}", source.0, source.1)).unwrap();
        let started = std::time::Instant::now();
        capture.indexes = builder.build(relation, &capture, &writer).await.unwrap();
        println!(
            "{}: {} rows, {} bytes of Parquet, {} indexes with {} bytes, built in {:.1} s",
            source.1,
            capture.rows,
            capture.parts.iter().map(|part| part.bytes).sum::<u64>(),
            capture.indexes.len(),
            capture.indexes.iter().map(|index| index.bytes).sum::<u64>(),
            started.elapsed().as_secs_f64()
        );
        document.relations.retain(|entry| (entry.dataset.as_str(), entry.relation.as_str()) != source);
        document.relations.push(RelationEntry {
            dataset: source.0.to_owned(),
            relation: source.1.to_owned(),
            state: RelationState::Captured(Box::new(capture)),
        });
    }
    document.content_id = content_id(&document.manifests, &document.relations).unwrap();
    let key = MirrorKey::generate(demo::DEMO_KEY_SEED);
    writer.publish(&document, &key, None, CurrentOrder::AllowOlder).unwrap();
}

/// The demo's signed documents and one small relation.
async fn pull_documents(writer: &mut StoreWriter) {
    let origin = DemoOrigin::start(OriginOptions::default()).await.unwrap();
    let net = Net::new(NetOptions {
        allowed_hosts: vec![demo::ORIGIN_HOST.to_owned()],
        connect_overrides: vec![ConnectOverride { origin: demo::ORIGIN.to_owned(), to: origin.address() }],
        ..NetOptions::default()
    })
    .unwrap();
    let key = MirrorKey::generate(demo::DEMO_KEY_SEED);
    let mut options = PullOptions::new(demo::DOCUMENT_ROOT.parse().unwrap(), demo::COLLECTION, keys(), key);
    options.relations = Selection::Patterns(vec!["usp_cl.legislators".to_owned()]);
    options.current_order = CurrentOrder::AllowOlder;
    pull(&net, writer, &options, &SystemClock, &NoProgress).await.unwrap();
    origin.stop().await;
}

fn column(name: &str, stored_type: StoredType) -> StoredColumn {
    StoredColumn { name: name.to_owned(), stored_type, inexact: false, geometry: None }
}

fn geometry(name: &str, srid: i32) -> StoredColumn {
    let geometry = StoredGeometry { srid: Some(srid), covering: format!("{name}_bbox") };
    StoredColumn { geometry: Some(geometry), ..column(name, StoredType::Binary) }
}

fn district_columns() -> Vec<StoredColumn> {
    vec![
        column("id", StoredType::Int32),
        column("congress_number", StoredType::Int32),
        column("statename", StoredType::Utf8),
        column("district", StoredType::Int32),
        column("district_id", StoredType::Utf8),
        geometry("geom", 3857),
    ]
}

fn nonprofit_columns() -> Vec<StoredColumn> {
    vec![
        column("id", StoredType::Int32),
        column("ein", StoredType::Utf8),
        column("org_name_current", StoredType::Utf8),
        column("ntee_irs", StoredType::Utf8),
        column("f990_org_addr_state", StoredType::Utf8),
        column("is_current", StoredType::Boolean),
        geometry("geom_point", 4326),
    ]
}

/// One part with the columns, coverings left null.
fn write(writer: &StoreWriter, file: &Path, columns: Vec<StoredColumn>) -> Capture {
    let schema = file_schema(&columns);
    let mut object = writer.object_writer().unwrap();
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3).unwrap()))
        .set_max_row_group_row_count(Some(131_072))
        .build();
    let mut parquet = ArrowWriter::try_new(&mut object, schema.clone(), Some(properties)).unwrap();
    let mut digest = RowDigest::new(columns.iter().map(|column| column.name.as_str()));
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(file).unwrap()).unwrap();
    let mut rows = 0;
    for batch in reader.with_batch_size(8_192).build().unwrap() {
        let batch = batch.unwrap();
        let arrays: Vec<ArrayRef> = columns.iter().map(|column| values(&batch, &column.name)).collect();
        let stored =
            arrow::datatypes::Schema::new(columns.iter().map(StoredColumn::field).collect::<Vec<_>>());
        digest.update(&RecordBatch::try_new(Arc::new(stored), arrays.clone()).unwrap()).unwrap();
        let coverings = schema.fields()[columns.len()..]
            .iter()
            .map(|field| arrow::array::new_null_array(field.data_type(), batch.num_rows()));
        let all = arrays.into_iter().chain(coverings).collect();
        rows += batch.num_rows() as u64;
        parquet.write(&RecordBatch::try_new(schema.clone(), all).unwrap()).unwrap();
    }
    let metadata = parquet.close().unwrap();
    object.flush().unwrap();
    let object = object.finish().unwrap();
    let now = chrono::Utc::now();
    Capture {
        evidence: Evidence::Counted,
        scope: Scope::Full,
        rows,
        row_digest: digest.finish(),
        parts: vec![Part {
            sha256: object.sha256,
            bytes: object.bytes,
            rows,
            row_groups: metadata.num_row_groups() as u64,
        }],
        columns,
        sort_key: vec!["id".to_owned()],
        captured_at: CapturedAt { start: now, end: now },
        count_before: Some(rows),
        count_after: Some(rows),
        retries: 0,
        indexes: Vec::new(),
    }
}

/// A column of the generator's file in our terms. The harness's other peers take every row as current, so ours do.
fn values(batch: &RecordBatch, name: &str) -> ArrayRef {
    match name {
        "is_current" => Arc::new(BooleanArray::from(vec![true; batch.num_rows()])),
        "geom_point" => {
            let degrees = |name: &str| -> Float64Array {
                batch.column_by_name(name).unwrap().as_primitive::<Float64Type>().clone()
            };
            let (lats, lons) = (degrees("latitude"), degrees("longitude"));
            let points = (0..batch.num_rows()).map(|row| {
                (lats.is_valid(row) && lons.is_valid(row)).then(|| {
                    let mut wkb = vec![1, 1, 0, 0, 0];
                    wkb.extend(lons.value(row).to_le_bytes());
                    wkb.extend(lats.value(row).to_le_bytes());
                    wkb
                })
            });
            Arc::new(points.collect::<BinaryArray>())
        }
        name => Arc::clone(batch.column_by_name(name).unwrap()),
    }
}
