//! Every value of every demo relation, read back from Parquet and compared with the generator's rows.
//!
//! Both sides are turned into words by code of this file alone: neither the decoder nor the digest is asked.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int32Type, Int64Type,
    TimestampMicrosecondType, i256,
};
use benthic_mirror::catalog::ColumnType;
use benthic_mirror::demo::{self, DemoRelation, DemoValue};
use benthic_mirror::postgrest::geometry::from_wkb;
use benthic_mirror::store::{Capture, Evidence};
use geo::Geometry;

use crate::support::{self, TestStore, capture, relation};

/// The value a stored cell holds, in words.
fn stored(array: &ArrayRef, row: usize, geometry: bool) -> String {
    if array.is_null(row) {
        return "null".to_owned();
    }
    match array.data_type() {
        DataType::Utf8 => format!("text {}", array.as_string::<i32>().value(row)),
        DataType::Int32 => format!("int {}", array.as_primitive::<Int32Type>().value(row)),
        DataType::Int64 => format!("int {}", array.as_primitive::<Int64Type>().value(row)),
        DataType::Boolean => format!("bool {}", array.as_boolean().value(row)),
        DataType::Float32 => format!("real {:08x}", array.as_primitive::<Float32Type>().value(row).to_bits()),
        DataType::Float64 => {
            format!("double {:016x}", array.as_primitive::<Float64Type>().value(row).to_bits())
        }
        DataType::Date32 => format!("date {}", array.as_primitive::<Date32Type>().value(row)),
        DataType::Timestamp(_, zone) => {
            let micros = array.as_primitive::<TimestampMicrosecondType>().value(row);
            format!("{} {micros}", if zone.is_some() { "timestamptz" } else { "timestamp" })
        }
        DataType::Decimal128(_, scale) => {
            decimal(&array.as_primitive::<Decimal128Type>().value(row).to_string(), i64::from(*scale))
        }
        DataType::Decimal256(_, scale) => {
            decimal(&array.as_primitive::<Decimal256Type>().value(row).to_string(), i64::from(*scale))
        }
        DataType::Binary if geometry => shape(&from_wkb(array.as_binary::<i32>().value(row)).unwrap()),
        DataType::Binary => format!("bytes {:?}", array.as_binary::<i32>().value(row)),
        DataType::List(_) => {
            let elements = array.as_list::<i32>().value(row);
            let words: Vec<String> =
                (0..elements.len()).map(|index| stored(&elements, index, false)).collect();
            format!("list [{}]", words.join("; "))
        }
        other => panic!("no words for {other}"),
    }
}

/// The value a demo cell holds, in the same words.
fn generated(value: &DemoValue, column_type: &ColumnType) -> String {
    match (value, column_type) {
        (DemoValue::Null, _) => "null".to_owned(),
        (DemoValue::Text(text), ColumnType::Character { length: Some(length) }) => {
            let width = usize::try_from(*length).unwrap();
            format!("text {text:width$}")
        }
        (DemoValue::Text(text) | DemoValue::Json(text), _) => format!("text {text}"),
        (DemoValue::Uuid(uuid), _) => format!("text {}", uuid.hyphenated()),
        (DemoValue::Int(value), _) => format!("int {value}"),
        (DemoValue::Bool(value), _) => format!("bool {value}"),
        (DemoValue::Real(value), _) => format!("real {:08x}", value.to_bits()),
        (DemoValue::Double(value), _) => format!("double {:016x}", value.to_bits()),
        (DemoValue::Date(days), _) => format!("date {days}"),
        (DemoValue::Timestamp(micros), _) => format!("timestamp {micros}"),
        (DemoValue::TimestampTz(micros), _) => format!("timestamptz {micros}"),
        (DemoValue::Numeric(number), _) => {
            let text = number.to_string();
            let (integer, fraction) = text.split_once('.').unwrap_or((&text, ""));
            decimal(&format!("{integer}{fraction}"), i64::try_from(fraction.len()).unwrap())
        }
        (DemoValue::Bytes(bytes), _) => format!("bytes {bytes:?}"),
        (DemoValue::Array(elements), ColumnType::Array(element)) => {
            let words: Vec<String> = elements.iter().map(|value| generated(value, element)).collect();
            format!("list [{}]", words.join("; "))
        }
        (DemoValue::Geometry(geometry), _) => shape(&geometry.shape),
        other => panic!("no words for {other:?}"),
    }
}

/// One spelling per number: no zeros that say nothing.
fn decimal(digits: &str, mut scale: i64) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let mut digits = digits.trim_start_matches('0').to_owned();
    while digits.ends_with('0') {
        digits.pop();
        scale -= 1;
    }
    if digits.is_empty() { "decimal 0".to_owned() } else { format!("decimal {sign}{digits} / 10^{scale}") }
}

/// A geometry with every coordinate's bits.
fn shape(geometry: &Geometry<f64>) -> String {
    use geo::MapCoords;
    // Debug prints the shortest text that reads back as the same double, so equal words are equal bits (but for -0).
    format!("{:?}", geometry.map_coords(|coordinate| coordinate))
}

fn words(batches: &[RecordBatch], capture: &Capture) -> Vec<String> {
    let mut rows = Vec::new();
    for batch in batches {
        for row in 0..batch.num_rows() {
            let cells: Vec<String> = capture
                .columns
                .iter()
                .enumerate()
                .map(|(index, column)| stored(batch.column(index), row, column.geometry.is_some()))
                .collect();
            rows.push(cells.join(" | "));
        }
    }
    rows
}

fn expected(relation: &DemoRelation) -> Vec<String> {
    relation
        .rows
        .iter()
        .map(|row| {
            let cells: Vec<String> = row
                .iter()
                .zip(&relation.columns)
                .map(|(value, column)| generated(value, &column.column_type))
                .collect();
            cells.join(" | ")
        })
        .collect()
}

/// Compares everything of a relation; returns the number of values compared.
fn compare(store: &TestStore, capture: &Capture, relation: &DemoRelation) -> usize {
    let source = relation.source();
    let batches = store.rows(capture);
    let names: Vec<&str> = capture.columns.iter().map(|column| column.name.as_str()).collect();
    let declared: Vec<&str> = relation.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, declared, "{source}");
    assert_eq!(capture.rows, relation.rows.len() as u64, "{source}");

    let mut found = words(&batches, capture);
    let mut wanted = expected(relation);
    found.sort();
    wanted.sort();
    for (found, wanted) in found.iter().zip(&wanted) {
        assert_eq!(found, wanted, "{source}");
    }
    assert_eq!(found.len(), wanted.len(), "{source}");
    check_order(&batches, capture, &source);
    found.len() * capture.columns.len()
}

/// Rows ascend by the sort key, nulls last, text by code point.
fn check_order(batches: &[RecordBatch], capture: &Capture, source: &str) {
    let mut before: Option<Vec<(bool, Key)>> = None;
    for batch in batches {
        for row in 0..batch.num_rows() {
            let key: Vec<(bool, Key)> = capture
                .sort_key
                .iter()
                .map(|name| {
                    let array = batch.column_by_name(name).unwrap();
                    (array.is_null(row), Key::of(array, row))
                })
                .collect();
            // Comparing tuples compares "is null" first: false before true, so nulls last.
            if let Some(before) = &before {
                assert!(*before <= key, "{source}: {before:?} before {key:?}");
            }
            before = Some(key);
        }
    }
}

#[derive(Debug, PartialEq, PartialOrd)]
enum Key {
    Number(i128),
    Wide(i256),
    Float(f64),
    Text(Vec<char>),
    Bytes(Vec<u8>),
    Other,
}

impl Key {
    fn of(array: &ArrayRef, row: usize) -> Self {
        if array.is_null(row) {
            return Self::Other;
        }
        match array.data_type() {
            DataType::Utf8 => Self::Text(array.as_string::<i32>().value(row).chars().collect()),
            DataType::Int32 => Self::Number(array.as_primitive::<Int32Type>().value(row).into()),
            DataType::Int64 => Self::Number(array.as_primitive::<Int64Type>().value(row).into()),
            DataType::Date32 => Self::Number(array.as_primitive::<Date32Type>().value(row).into()),
            DataType::Decimal128(..) => Self::Number(array.as_primitive::<Decimal128Type>().value(row)),
            DataType::Decimal256(..) => Self::Wide(array.as_primitive::<Decimal256Type>().value(row)),
            DataType::Boolean => Self::Number(array.as_boolean().value(row).into()),
            DataType::Timestamp(..) => {
                Self::Number(array.as_primitive::<TimestampMicrosecondType>().value(row).into())
            }
            DataType::Float64 => Self::Float(array.as_primitive::<Float64Type>().value(row)),
            DataType::Binary => Self::Bytes(array.as_binary::<i32>().value(row).to_vec()),
            other => panic!("no order for {other}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_demo_value_comes_back() {
    let origin = support::demo_origin().await;
    let store = TestStore::new();
    let report = store.pull(&origin, &support::options()).await.unwrap();
    assert_eq!(report.failures(), 0, "{report:#?}");

    let snapshot = store.current();
    let mut values = 0;
    let mut relations = 0;
    for relation in demo::data().relations.iter().filter(|relation| relation.queryable) {
        let capture = capture(&snapshot, &relation.source());
        values += compare(&store, capture, relation);
        relations += 1;
        let keyless = relation.primary_key.is_empty();
        let expected = match (relation.rows.len() <= 1000, keyless) {
            (true, _) => Evidence::SingleResponse,
            (false, true) => Evidence::DoubleRead,
            (false, false) => Evidence::Counted,
        };
        assert_eq!(capture.evidence, expected, "{}", relation.source());
        if !keyless {
            assert_eq!(capture.sort_key, relation.primary_key);
        }
    }
    // What isn't queryable has no place in a snapshot.
    assert_eq!(snapshot.document.relations.len(), relations);
    assert!(values > 50_000, "only {values} values compared");
}

/// One row per edge of each type, through the whole way.
#[tokio::test(flavor = "multi_thread")]
async fn edges_of_every_type_come_back() {
    let text = |value: &str| DemoValue::from(value);
    let columns = [
        ("id", "integer"),
        ("t", "text"),
        ("c", "character(3)"),
        ("b", "bigint"),
        ("d", "double precision"),
        ("r", "real"),
        ("flag", "boolean"),
        ("day", "date"),
        ("ts", "timestamp without time zone"),
        ("tz", "timestamp with time zone"),
        ("j", "json"),
        ("x", "bytea"),
        ("a", "integer[]"),
        ("ta", "text[]"),
    ];
    let list = |values: &[Option<i64>]| {
        DemoValue::Array(values.iter().map(|value| value.map_or(DemoValue::Null, DemoValue::Int)).collect())
    };
    let rows = vec![
        vec![
            DemoValue::Int(1),
            text("quote \" back \\ tab \t nul-free é 𝔘 \u{7f}"),
            text("A"),
            DemoValue::Int(i64::MIN),
            DemoValue::Double(-0.0),
            DemoValue::Real(0.1),
            DemoValue::Bool(true),
            DemoValue::Date(-719_528),
            DemoValue::Timestamp(-1),
            DemoValue::TimestampTz(253_402_300_799_999_999),
            DemoValue::Json("{\"a\": 1, \"a\":1.10}".to_owned()),
            DemoValue::Bytes(vec![0, 255, 92]),
            list(&[Some(1), None, Some(-3)]),
            DemoValue::Array(vec![text("a,b"), text(""), DemoValue::Null, text("\"")]),
        ],
        vec![
            DemoValue::Int(2),
            text(""),
            text(""),
            DemoValue::Int(9_007_199_254_740_993),
            DemoValue::Double(1.112_536_929_253_600_7e-308),
            DemoValue::Real(f32::MAX),
            DemoValue::Bool(false),
            DemoValue::Date(2_932_896),
            DemoValue::Timestamp(1),
            DemoValue::TimestampTz(-1),
            DemoValue::Json("[]".to_owned()),
            DemoValue::Bytes(vec![]),
            list(&[]),
            DemoValue::Array(vec![]),
        ],
        std::iter::once(DemoValue::Int(3)).chain(vec![DemoValue::Null; columns.len() - 1]).collect(),
    ];
    let edges = relation("edges", &columns, &["id"], rows);
    let origin = support::origin_of(vec![edges.clone()]).await;
    let store = TestStore::new();
    let report = store.pull(&origin, &support::options()).await.unwrap();
    assert_eq!(report.failures(), 0, "{report:#?}");
    assert_eq!(compare(&store, capture(&store.current(), "d.edges"), &edges), 3 * columns.len());
}
