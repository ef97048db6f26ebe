//! Answers as files: CSV that any reader takes apart again, Parquet with the engine's types, whole or not at all.

use std::path::Path;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Date32Type, Int32Type, Int64Type, TimeUnit};
use benthic_mirror::demo::{self, DemoValue};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

use super::binary::files_below;
use super::own;

const LEGISLATORS: &str = "usp_cl.legislators";

/// Arguments with `--format` and `--out`.
fn with<'a>(arguments: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [arguments, more].concat()
}

fn json_rows(arguments: &[&str]) -> Vec<Value> {
    let printed = own().home.run(with(arguments, &["--format", "json"])).with(0, "rows").stdout;
    let answer: Value = serde_json::from_str(&printed).expect("JSON");
    answer["rows"].as_array().expect("rows").clone()
}

/// A CSV file's header and records.
fn records(bytes: &[u8]) -> (Vec<String>, Vec<Vec<String>>) {
    let mut reader = csv::ReaderBuilder::new().from_reader(bytes);
    let header = reader.headers().expect("a header").iter().map(str::to_owned).collect();
    let records =
        reader.records().map(|record| record.expect("a record").iter().map(str::to_owned).collect());
    (header, records.collect())
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A Parquet file as one batch, and its metadata under `benthic.`.
fn read(path: &Path) -> (RecordBatch, Vec<(String, Value)>) {
    let file = std::fs::File::open(path).expect("the file");
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).expect("Parquet");
    let carried = builder.metadata().file_metadata().key_value_metadata().cloned().unwrap_or_default();
    let carried = carried
        .into_iter()
        .filter_map(|pair| Some((pair.key.strip_prefix("benthic.")?.to_owned(), pair.value?)))
        .map(|(key, value)| (key, serde_json::from_str(&value).expect("JSON")))
        .collect();
    let schema = builder.schema().clone();
    let batches: Vec<RecordBatch> =
        builder.build().expect("a reader").map(|batch| batch.expect("rows")).collect();
    (arrow::compute::concat_batches(&schema, &batches).expect("one batch"), carried)
}

const QUERY: [&str; 8] = [
    "query",
    LEGISLATORS,
    "--select",
    "bioguide_id,official_full,nickname,gender,birthday,govtrack_id,house_history_id,is_current,fec_ids,created_at",
    "--where",
    "last_name=not.is.null",
    "--limit",
    "400",
];

#[test]
fn csv_holds_what_json_shows() {
    let rows = json_rows(&QUERY);
    let printed = own().home.run(with(&QUERY, &["--format", "csv"])).with(0, "\r\n");
    let (header, records) = records(printed.stdout.as_bytes());
    assert_eq!(records.len(), rows.len());
    assert!(rows.len() > 100);
    for (record, row) in records.iter().zip(&rows) {
        for (name, cell) in header.iter().zip(record) {
            assert_eq!(*cell, shown(&row[name]), "{name} of {row}");
        }
    }
    // What must be said is said, elsewhere.
    assert!(printed.stderr.contains("rows, more not shown"), "{}", printed.stderr);
    let served = printed.stderr.lines().find_map(|line| line.strip_prefix("served ")).expect("provenance");
    let served: Value = serde_json::from_str(served).expect("JSON");
    assert_eq!(
        (&served["mode"], &served["capture"]),
        (&Value::from("local"), &Value::from("single_response"))
    );
}

#[test]
fn parquet_keeps_the_engines_types() {
    let home = &own().home;
    let path = home.path("legislators.parquet");
    let out = path.to_str().expect("UTF-8");
    let printed = home.run(with(&QUERY, &["--format", "parquet", "--out", out])).with(0, "");
    assert_eq!(printed.stdout, "");
    let (batch, carried) = read(&path);
    let rows = json_rows(&QUERY);
    assert_eq!(batch.num_rows(), rows.len());
    let types: Vec<DataType> =
        batch.schema().fields().iter().take(11).map(|field| field.data_type().clone()).collect();
    let list = DataType::new_list(DataType::Utf8, true);
    let expected = [
        DataType::Utf8,
        DataType::Utf8,
        DataType::Utf8,
        DataType::Utf8,
        DataType::Date32,
        DataType::Int32,
        DataType::Int64,
        DataType::Boolean,
        list,
        DataType::Timestamp(TimeUnit::Microsecond, None),
    ];
    for (index, (found, expected)) in types.iter().zip(&expected).enumerate() {
        let is_same = match (found, expected) {
            (DataType::List(found), DataType::List(expected)) => found.data_type() == expected.data_type(),
            _ => found == expected,
        };
        assert!(is_same, "column {index} is {found}, not {expected}");
    }
    // Value for value what the generator made.
    let relation = demo::relation(LEGISLATORS).expect("relation");
    for index in 0..batch.num_rows() {
        let id = batch["bioguide_id"].as_string::<i32>().value(index);
        let made = relation.rows().find(|row| row.text("bioguide_id") == Some(id)).expect("the row");
        let birthday = batch["birthday"].as_primitive::<Date32Type>();
        match made.get("birthday") {
            DemoValue::Date(day) => assert_eq!(birthday.value(index), *day),
            _ => assert!(birthday.is_null(index)),
        }
        let number = batch["govtrack_id"].as_primitive::<Int32Type>();
        assert_eq!(number.is_valid(index).then(|| i64::from(number.value(index))), made.int("govtrack_id"));
        let number = batch["house_history_id"].as_primitive::<Int64Type>();
        assert_eq!(number.is_valid(index).then(|| number.value(index)), made.int("house_history_id"));
    }
    let member = |name: &str| &carried.iter().find(|(key, _)| key == name).expect(name).1;
    assert!(member("served")["snapshot_id"].is_string());
    assert!(member("warnings").is_array());
    assert_eq!(member("truncated"), &Value::Bool(true));
}

#[test]
fn exact_numbers_stay_exact_and_geometry_is_well_known_binary() {
    let home = &own().home;
    let path = home.path("districts.parquet");
    let arguments = [
        "query",
        "up_cdmaps.congressional_districts",
        "--select",
        "startcong,geom",
        "--order",
        "id",
        "--limit",
        "3",
        "--format",
        "parquet",
        "--out",
        path.to_str().expect("UTF-8"),
    ];
    home.run(arguments).with(0, "");
    let (batch, _) = read(&path);
    assert!(matches!(batch["startcong"].data_type(), DataType::Decimal128(_, _)), "{}", batch.schema());
    assert_eq!(batch["geom"].data_type(), &DataType::Binary);
    assert!(batch["geom"].as_binary::<i32>().value(0).starts_with(&[1]), "little-endian WKB");

    let path = home.path("groups.parquet");
    let out = path.to_str().expect("UTF-8");
    let arguments = [
        "query",
        "usp_cl.legislator_terms",
        "--group-by",
        "state",
        "--metric",
        "n=count:*",
        "--metric",
        "s=sum:district",
        "--metric",
        "a=avg:district",
        "--metric",
        "first=min:term_start",
        "--order",
        "n:desc",
        "--limit",
        "7",
    ];
    home.run(with(&arguments, &["--format", "parquet", "--out", out])).with(0, "");
    let (batch, _) = read(&path);
    let rows = json_rows(&arguments);
    assert_eq!((batch.num_rows(), batch.num_columns()), (rows.len(), 5));
    assert_eq!(batch["n"].data_type(), &DataType::Int64);
    assert_eq!(batch["first"].data_type(), &DataType::Date32);
    assert!(matches!(batch["s"].data_type(), DataType::Decimal128(38, 0)), "{}", batch.schema());
    for (index, row) in rows.iter().enumerate() {
        let digits = |name: &str| {
            let text = arrow::util::display::array_value_to_string(&batch[name], index).expect("a value");
            crate::harness::digits(&Value::from(text))
        };
        for name in ["n", "s", "a"] {
            assert_eq!(
                digits(name),
                crate::harness::digits(&row[name]).or(Some(String::new())),
                "{name} of {row}"
            );
        }
        // Blank-padded, as it is shown.
        assert_eq!(batch["state"].as_string::<i32>().value(index), row["state"].as_str().expect("text"));
    }
    // A single count has no plan behind it.
    let path = home.path("count.parquet");
    let out = path.to_str().expect("UTF-8");
    home.run(["query", LEGISLATORS, "--metric", "n=count:*", "--format", "parquet", "--out", out])
        .with(0, "");
    let total = demo::relation(LEGISLATORS).expect("relation").rows.len() as i64;
    assert_eq!(read(&path).0["n"].as_primitive::<Int64Type>().value(0), total);
}

#[test]
fn joins_places_and_relations_are_tables_too() {
    let home = &own().home;
    let join =
        ["join", LEGISLATORS, "usp_cl.legislator_terms", "--right-where", "state=eq.VT", "--limit", "50"];
    let rows = json_rows(&join);
    let (header, found) =
        records(home.run(with(&join, &["--format", "csv"])).with(0, "left.").stdout.as_bytes());
    assert!(header.contains(&"right.state".to_owned()));
    assert_eq!(found.len(), rows.len());
    let path = home.path("join.parquet");
    home.run(with(&join, &["--format", "parquet", "--out", path.to_str().expect("UTF-8")])).with(0, "");
    let (batch, carried) = read(&path);
    assert_eq!(batch.num_rows(), rows.len());
    assert!(carried.iter().any(|(key, joins)| key == "joins" && joins[0]["joined_rows"].is_number()));

    let place = ["rpc", "find_district", "--lat", "39.7392", "--lon", "-104.9903", "--format", "csv"];
    let (header, found) = records(home.run(place).with(0, "Colorado").stdout.as_bytes());
    assert_eq!(header, ["district_id", "statename", "district", "congress_number"]);
    assert_eq!(found.len(), 1);
    // No district there: a header all the same.
    let nowhere = ["rpc", "find_district", "--lat", "0", "--lon", "0", "--format", "csv"];
    let ended = home.run(nowhere).with(0, "district_id,statename,district,congress_number\r\n");
    assert!(ended.stderr.contains("! "), "{}", ended.stderr);
    assert_eq!(ended.stdout.lines().count(), 1);

    let discover = ["discover", "--relation", "usp_cl.legislators", "--full", "--format", "csv"];
    let (header, found) = records(home.run(discover).with(0, "bioguide_id").stdout.as_bytes());
    assert_eq!(header[..2], ["source", "column"]);
    assert_eq!(found.len(), demo::relation(LEGISLATORS).expect("relation").columns.len());
    let path = home.path("columns.parquet");
    home.run(with(&discover[..5], &["parquet", "--out", path.to_str().expect("UTF-8")])).with(0, "");
    assert_eq!(read(&path).0.num_rows(), found.len());
}

#[test]
fn a_file_is_written_whole_or_not_at_all() {
    let home = &own().home;
    let path = home.write("kept/answer.csv", "what was there before");
    let out = path.to_str().expect("UTF-8");
    let before = || std::fs::read_to_string(&path).expect("the file");
    // Refused, mistaken, explained: nothing is touched.
    home.run(["query", "usp_cl.legislator", "--format", "csv", "--out", out]).with(3, "usp_cl.legislators");
    home.run(["query", LEGISLATORS, "--explain", "--format", "csv", "--out", out]).with(3, "explain");
    home.run(["query", LEGISLATORS, "--limit", "x", "--out", out]).with(64, "x");
    home.run(["query", LEGISLATORS, "--format", "parquet"]).with(64, "--out FILE");
    home.run(["rpc", "find_district", "--lat", "91", "--lon", "0", "--format", "csv", "--out", out])
        .with(3, "90");
    assert_eq!(before(), "what was there before");
    home.run(["query", LEGISLATORS, "--limit", "2", "--format", "csv", "--out", out]).with(0, "");
    assert!(before().starts_with("bioguide_id,"), "{}", before());
    let nowhere = home.path("nowhere/answer.parquet");
    let ended =
        home.run(["query", LEGISLATORS, "--format", "parquet", "--out", nowhere.to_str().expect("UTF-8")]);
    ended.with(1, "nowhere");
    // JSON and tables go to files as well.
    home.run(["query", LEGISLATORS, "--limit", "2", "--format", "json", "--out", out]).with(0, "");
    assert!(serde_json::from_str::<Value>(&before()).expect("JSON")["served"].is_object());
    home.run(["query", LEGISLATORS, "--limit", "2", "--out", out]).with(0, "");
    assert!(before().contains("2 rows, more not shown") && !before().contains('\u{1b}'));
    home.run(["discover", "legislators", "--out", out]).with(0, "");
    assert!(before().contains(LEGISLATORS));
    assert_eq!(files_below(&home.path("kept")), [path]);
}
