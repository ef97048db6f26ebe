//! The files themselves: what other engines find in them.

use std::fs::File;

use benthic_mirror::demo::DemoValue;
use benthic_mirror::store::Capture;
use parquet::basic::Type;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};
use serde_json::Value;

use crate::support::{self, TestStore, capture, relation};

fn metadata(store: &TestStore, capture: &Capture) -> ParquetMetaData {
    let file = File::open(store.store.object_path(&capture.parts[0].sha256)).unwrap();
    let mut reader = ParquetMetaDataReader::new().with_page_index_policy(PageIndexPolicy::Required);
    reader.try_parse(&file).unwrap();
    reader.finish().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_layout_is_what_the_engine_counts_on() {
    let rows: i64 = 6000;
    let big = relation(
        "big",
        &[
            ("id", "integer"),
            ("code", "text"),
            ("state", "text"),
            ("amount", "numeric(14,2)"),
            ("flag", "boolean"),
            ("tags", "text[]"),
        ],
        &["id"],
        (0..rows)
            .map(|index| {
                vec![
                    DemoValue::Int(index),
                    DemoValue::from(format!("code-{}", (index * 7919) % rows)),
                    DemoValue::from(["AK", "CA", "VT"][usize::try_from(index % 3).unwrap()]),
                    DemoValue::Null,
                    DemoValue::Bool(index % 2 == 0),
                    DemoValue::Array(vec![DemoValue::from("x")]),
                ]
            })
            .collect(),
    );
    let origin = support::origin_of(vec![big]).await;
    let store = TestStore::new();
    store.pull(&origin, &support::options()).await.unwrap();
    let snapshot = store.current();
    let metadata = metadata(&store, capture(&snapshot, "d.big"));
    assert_eq!(metadata.file_metadata().created_by(), Some("benthic-mirror parquet layout 1"));
    let group = metadata.row_group(0);
    let sorting = group.sorting_columns().unwrap();
    assert_eq!((sorting[0].column_idx, sorting[0].descending, sorting[0].nulls_first), (0, false, false));
    let column =
        |name: &str| group.columns().iter().find(|column| column.column_path().parts()[0] == name).unwrap();
    assert_eq!(column("amount").column_type(), Type::INT64, "decimals of up to 18 digits");
    assert!(column("state").dictionary_page_offset().is_some(), "three values");
    assert!(column("code").dictionary_page_offset().is_none(), "as many values as rows");
    assert!(column("code").bloom_filter_offset().is_some(), "an identifier the rows aren't sorted by");
    assert!(column("id").bloom_filter_offset().is_none(), "statistics find it");
    assert!(column("state").bloom_filter_offset().is_none(), "it would match everywhere");
    assert!(column("id").statistics().is_some());
    // Pages of about 5,000 rows.
    let pages = metadata.offset_index().unwrap()[0][0].page_locations();
    assert_eq!(pages.iter().map(|page| page.first_row_index).collect::<Vec<_>>(), [0, 5120]);
}

#[tokio::test(flavor = "multi_thread")]
async fn geometry_is_geoparquet_with_boxes() {
    let origin = support::demo_origin().await;
    let store = TestStore::new();
    store.pull(&origin, &support::only(&["up_cdmaps.*", "irs_ng.*"])).await.unwrap();
    let snapshot = store.current();
    let mut seen = 0;
    for entry in &snapshot.document.relations {
        let capture = entry.capture().unwrap();
        let Some(column) = capture.columns.iter().find(|column| column.geometry.is_some()) else { continue };
        let srid = column.geometry.as_ref().unwrap().srid;
        let metadata = metadata(&store, capture);
        let pairs = metadata.file_metadata().key_value_metadata().unwrap();
        let geo = pairs.iter().find(|pair| pair.key == "geo").unwrap().value.as_ref().unwrap();
        let geo: Value = serde_json::from_str(geo).unwrap();
        assert_eq!(geo["version"], "1.1.0");
        assert_eq!(geo["primary_column"], column.name.as_str());
        let described = &geo["columns"][&column.name];
        assert_eq!(described["encoding"], "WKB");
        let covering = format!("{}_bbox", column.name);
        assert_eq!(described["covering"]["bbox"]["xmin"], serde_json::json!([covering, "xmin"]));
        match srid {
            Some(4326) => assert!(described.get("crs").is_none(), "longitude, latitude is the default"),
            other => {
                assert_eq!((&described["crs"], &described["srid"]), (&Value::Null, &serde_json::json!(other)))
            }
        }
        check_boxes(&store, capture, &column.name, &covering, described);
        seen += 1;
    }
    assert!(seen >= 2, "points and polygons");
}

/// Every box is the box of its geometry, and the file's box holds them all.
fn check_boxes(store: &TestStore, capture: &Capture, column: &str, covering: &str, described: &Value) {
    use arrow::array::{Array, AsArray};
    use arrow::datatypes::Float64Type;
    use geo::CoordsIter;
    let file_box: Vec<f64> =
        described["bbox"].as_array().unwrap().iter().map(|corner| corner.as_f64().unwrap()).collect();
    let mut union = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
    for batch in store.rows(capture) {
        let geometries = batch.column_by_name(column).unwrap().as_binary::<i32>();
        let boxes = batch.column_by_name(covering).unwrap().as_struct();
        for row in 0..batch.num_rows() {
            assert_eq!(geometries.is_null(row), boxes.is_null(row));
            if geometries.is_null(row) {
                continue;
            }
            let geometry = benthic_mirror::postgrest::geometry::from_wkb(geometries.value(row)).unwrap();
            let mut expected = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
            for coordinate in geometry.coords_iter() {
                expected[0] = expected[0].min(coordinate.x);
                expected[1] = expected[1].min(coordinate.y);
                expected[2] = expected[2].max(coordinate.x);
                expected[3] = expected[3].max(coordinate.y);
            }
            let found: Vec<f64> = ["xmin", "ymin", "xmax", "ymax"]
                .map(|corner| boxes.column_by_name(corner).unwrap().as_primitive::<Float64Type>().value(row))
                .into();
            assert_eq!(found, expected);
            union = [
                union[0].min(expected[0]),
                union[1].min(expected[1]),
                union[2].max(expected[2]),
                union[3].max(expected[3]),
            ];
        }
    }
    assert_eq!(file_box, union);
}
