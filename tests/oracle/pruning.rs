//! What pruning leaves out never changes an answer: row-group and page statistics, Bloom filters.
//!
//! Each relation is small enough to evaluate every filter here in plain Rust; each is stored with tiny row groups, so
//! that nearly every filter can leave some out.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, Decimal128Array, Decimal256Array, Float32Array, Float64Array, Int32Array, Int64Array,
    RecordBatch, StringArray,
};
use arrow::datatypes::{DataType, Field, Schema, i256};
use benthic_mirror::catalog::Catalog;
use benthic_mirror::config::Limits;
use benthic_mirror::engine::{EngineRuntime, Matched, QueryArguments, RelationData, check_query, run_query};

use parquet::data_type::{
    ByteArray, ByteArrayType, FixedLenByteArray, FixedLenByteArrayType, Int32Type, Int64Type,
};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::differential::OPTIONS;
use crate::relations::one_relation;
use crate::stored::{Layout, parts, write};

const LAYOUTS: [Layout; 4] = [Layout::Plain, Layout::Crumbs, Layout::Pairs, Layout::PairsBloomOnly];

/// An operator's name and what it asks of an order.
type OperatorOf = (&'static str, fn(Ordering) -> bool);

const OPERATORS: [OperatorOf; 6] = [
    ("eq", Ordering::is_eq),
    ("neq", Ordering::is_ne),
    ("gt", Ordering::is_gt),
    ("gte", Ordering::is_ge),
    ("lt", Ordering::is_lt),
    ("lte", Ordering::is_le),
];

struct Stored {
    catalog: Catalog,
    data: Vec<RelationData>,
    runtime: EngineRuntime,
    tokio: tokio::runtime::Runtime,
    _directory: tempfile::TempDir,
}

/// A relation of `id` and `x`, the values in the order given.
fn stored(native: &'static str, values: ArrayRef) -> Stored {
    let directory = tempfile::tempdir().unwrap();
    let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(0..values.len() as i32));
    let schema = Schema::new(vec![
        Field::new("id", DataType::Int32, true),
        Field::new("x", values.data_type().clone(), true),
    ]);
    let batch = RecordBatch::try_new(Arc::new(schema), vec![ids, values]).unwrap();
    let data = LAYOUTS
        .iter()
        .map(|layout| write(directory.path(), "r", batch.clone(), vec!["id".to_owned()], Vec::new(), *layout))
        .collect();
    Stored {
        catalog: one_relation(&[("id", "integer"), ("x", native)], &["id"]),
        data,
        runtime: EngineRuntime::new(Limits::default(), 2).unwrap(),
        tokio: tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap(),
        _directory: directory,
    }
}

impl Stored {
    /// The filter selects exactly the rows for which `expected` holds, in every layout.
    fn check(&self, filter: &str, expected: impl Fn(usize) -> bool) {
        let arguments = QueryArguments {
            source: "o.r".to_owned(),
            select: vec!["id".to_owned()],
            filters: vec![filter.to_owned()],
            limit: Some(1_000),
            ..QueryArguments::default()
        };
        let query = check_query(&self.catalog, &arguments, self.runtime.limits())
            .unwrap_or_else(|refusal| panic!("{filter}: {}", refusal.to_text()));
        for (layout, data) in LAYOUTS.iter().zip(&self.data) {
            let answer = self.tokio.block_on(run_query(&query, data, "", &self.runtime, OPTIONS)).unwrap();
            let found: Vec<u64> = answer.rows.iter().map(|row| row["id"].as_u64().unwrap()).collect();
            let wanted: Vec<u64> = (0..data.rows).filter(|id| expected(*id as usize)).collect();
            assert_eq!(found, wanted, "{filter} in {layout:?}");
            assert_eq!(
                answer.sources[0].matched,
                Matched::Exactly(wanted.len() as u64),
                "{filter} in {layout:?}"
            );
        }
    }
}

/// Equality filters on decimals of every width: what is in the file's Bloom filter is fixed-length bytes for some
/// widths and integers for others.
#[test]
fn decimals_of_every_width() {
    let signed = |value: i128| Some(value).filter(|value| *value != 13);
    for (native, precision) in
        [("numeric(9,2)", 9), ("numeric(18,2)", 18), ("numeric(19,2)", 19), ("numeric(38,2)", 38)]
    {
        let largest = 10_i128.pow(precision) - 1;
        let values: Vec<i128> =
            vec![100, 200, 300, 400, 500, 600, -100, -500, 0, largest, -largest, 1, -1, 13, 13, 500];
        let array = Decimal128Array::from(values.iter().map(|v| signed(*v)).collect::<Vec<_>>())
            .with_precision_and_scale(precision as u8, 2)
            .unwrap();
        let relation = stored(native, Arc::new(array));
        for literal in [500, -500, 0, largest, -largest, 1, 550, 100] {
            let text = format!(
                "{}{}.{:02}",
                if literal < 0 { "-" } else { "" },
                literal.abs() / 100,
                literal.abs() % 100
            );
            for (word, holds) in OPERATORS {
                relation.check(&format!("x={word}.{text}"), |id| {
                    signed(values[id]).is_some_and(|value| holds(value.cmp(&literal)))
                });
            }
            relation.check(&format!("x=in.[{text}, 77.77]"), |id| signed(values[id]) == Some(literal));
        }
        // Between two values and beyond all of them.
        relation.check("x=eq.5.001", |_| false);
        relation.check("x=gt.4.999", |id| signed(values[id]).is_some_and(|value| value >= 500));
        relation.check("x=lte.-4.999", |id| signed(values[id]).is_some_and(|value| value <= -500));
        relation.check("x=lt.1e60", |id| signed(values[id]).is_some());
        relation.check("x=neq.1e60", |id| signed(values[id]).is_some());
        relation.check("x=is.null", |id| signed(values[id]).is_none());
    }
}

/// Decimals as other writers lay them out: bytes of any length, or an integer wider than needed. Such files come signed.
#[test]
fn decimals_as_others_write_them() {
    let values: Vec<i128> = vec![100, 200, 300, 400, 500, 600, -100, -500, 0, 99_999, -99_999, 1, -1, 500];
    for (physical, precision) in [
        ("FIXED_LEN_BYTE_ARRAY(4)", 9),
        ("FIXED_LEN_BYTE_ARRAY(16)", 9),
        ("INT64", 9),
        ("FIXED_LEN_BYTE_ARRAY(8)", 18),
        ("FIXED_LEN_BYTE_ARRAY(9)", 19),
        ("FIXED_LEN_BYTE_ARRAY(16)", 38),
        ("BYTE_ARRAY", 9),
        ("BYTE_ARRAY", 38),
    ] {
        for statistics in [EnabledStatistics::None, EnabledStatistics::Page] {
            let relation = foreign(physical, precision, &values, statistics);
            for literal in [500, -500, 0, 99_999, -99_999, 1, -1, 550, 123_456] {
                let sign = if literal < 0 { "-" } else { "" };
                let text = format!("{sign}{}.{:02}", i128::abs(literal) / 100, i128::abs(literal) % 100);
                for (word, holds) in OPERATORS {
                    relation.check(&format!("x={word}.{text}"), |id| holds(values[id].cmp(&literal)));
                }
                relation.check(&format!("x=in.[{text}, 77.77]"), |id| values[id] == literal);
            }
        }
    }
}

/// A file of two rows per row group with Bloom filters, written column by column in a physical type of choice.
fn foreign(physical: &str, precision: u8, values: &[i128], statistics: EnabledStatistics) -> Stored {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("foreign.parquet");
    let (base, length) = match physical.strip_suffix(')').and_then(|text| text.split_once('(')) {
        Some((base, length)) => (base, length.parse().unwrap()),
        None => (physical, 16),
    };
    let message =
        format!("message m {{ optional INT32 id; optional {physical} x (DECIMAL({precision},2)); }}")
            .replace("BYTE_ARRAY x", "BINARY x");
    let schema = Arc::new(parse_message_type(&message).unwrap());
    let properties =
        WriterProperties::builder().set_bloom_filter_enabled(true).set_statistics_enabled(statistics).build();
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
    let bytes = |value: &i128| value.to_be_bytes()[16 - length..].to_vec();
    for (group, values) in values.chunks(2).enumerate() {
        let levels = vec![1; values.len()];
        let mut row_group = writer.next_row_group().unwrap();
        let mut column = row_group.next_column().unwrap().unwrap();
        let ids: Vec<i32> = (0..values.len()).map(|n| (2 * group + n) as i32).collect();
        column.typed::<Int32Type>().write_batch(&ids, Some(&levels), None).unwrap();
        column.close().unwrap();
        let mut column = row_group.next_column().unwrap().unwrap();
        match base {
            "INT64" => {
                let values: Vec<i64> = values.iter().map(|value| *value as i64).collect();
                column.typed::<Int64Type>().write_batch(&values, Some(&levels), None).unwrap();
            }
            "BYTE_ARRAY" => {
                let values: Vec<ByteArray> = values.iter().map(|value| bytes(value).into()).collect();
                column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None).unwrap();
            }
            _ => {
                let values: Vec<FixedLenByteArray> =
                    values.iter().map(|value| ByteArray::from(bytes(value)).into()).collect();
                column.typed::<FixedLenByteArrayType>().write_batch(&values, Some(&levels), None).unwrap();
            }
        }
        column.close().unwrap();
        row_group.close().unwrap();
    }
    writer.close().unwrap();
    let native = match precision {
        9 => "numeric(9,2)",
        18 => "numeric(18,2)",
        19 => "numeric(19,2)",
        _ => "numeric(38,2)",
    };
    // The writer of batches makes the description; its file is replaced by the foreign one.
    let batch = RecordBatch::new_empty(Arc::new(Schema::new(vec![
        Field::new("id", DataType::Int32, true),
        Field::new("x", DataType::Decimal128(precision, 2), true),
    ])));
    let mut data = write(directory.path(), "r", batch, vec!["id".to_owned()], Vec::new(), Layout::Plain);
    parts(&mut data)[0].path = path.clone();
    parts(&mut data)[0].bytes = std::fs::metadata(&path).unwrap().len();
    parts(&mut data)[0].rows = values.len() as u64;
    data.rows = values.len() as u64;
    Stored {
        catalog: one_relation(&[("id", "integer"), ("x", native)], &["id"]),
        data: vec![data],
        runtime: EngineRuntime::new(Limits::default(), 2).unwrap(),
        tokio: tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap(),
        _directory: directory,
    }
}

#[test]
fn decimals_of_seventy_six_digits() {
    let largest = i256::from_string(&"9".repeat(76)).unwrap();
    let one = i256::ONE;
    let values = [
        largest,
        largest.wrapping_neg(),
        one,
        one.wrapping_neg(),
        i256::ZERO,
        i256::from(500),
        i256::from(-500),
    ];
    let array = Decimal256Array::from(values.to_vec()).with_precision_and_scale(76, 0).unwrap();
    let relation = stored("numeric(76,0)", Arc::new(array));
    for literal in values {
        for (word, holds) in OPERATORS {
            relation.check(&format!("x={word}.{literal}"), |id| holds(values[id].cmp(&literal)));
        }
    }
}

/// Statistics leave NaN out and may or may not tell the two zeros apart.
#[test]
fn doubles_with_nan_and_both_zeros() {
    let values = [
        Some(f64::NAN),
        Some(1.0),
        Some(-0.0),
        Some(-0.0),
        Some(0.0),
        Some(0.0),
        Some(f64::NAN),
        Some(f64::NAN),
        Some(2.0),
        Some(3.0),
        None,
        Some(f64::INFINITY),
        Some(f64::NEG_INFINITY),
        Some(0.1),
        Some(5e-324),
        Some(-5e-324),
        Some(1e300),
        None,
    ];
    // PostgreSQL's order: the zeros are equal, NaN is equal to itself and above everything.
    let order = |a: f64, b: f64| match (a.is_nan(), b.is_nan()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        _ => a.partial_cmp(&b).unwrap(),
    };
    let doubles = stored("double precision", Arc::new(Float64Array::from(values.to_vec())));
    for (text, literal) in [
        ("0", 0.0),
        ("-0", 0.0),
        ("1", 1.0),
        ("2.5", 2.5),
        ("NaN", f64::NAN),
        ("Infinity", f64::INFINITY),
        ("-Infinity", f64::NEG_INFINITY),
        ("0.1", 0.1),
        ("5e-324", 5e-324),
        ("1e300", 1e300),
        ("10", 10.0),
    ] {
        for (word, holds) in OPERATORS {
            doubles.check(&format!("x={word}.{text}"), |id| {
                values[id].is_some_and(|v| holds(order(v, literal)))
            });
        }
        doubles.check(&format!("x=in.[\"{text}\",\"NaN\"]"), |id| {
            values[id].is_some_and(|v| order(v, literal).is_eq() || v.is_nan())
        });
    }
    let reals: Vec<Option<f32>> = values.iter().map(|value| value.map(|value| value as f32)).collect();
    let relation = stored("real", Arc::new(Float32Array::from(reals.clone())));
    for (text, literal) in
        [("0", 0.0_f32), ("0.1", 0.1), ("2.5", 2.5), ("NaN", f32::NAN), ("Infinity", f32::INFINITY)]
    {
        for (word, holds) in OPERATORS {
            relation.check(&format!("x={word}.{text}"), |id| {
                reals[id].is_some_and(|v| holds(order(f64::from(v), f64::from(literal))))
            });
        }
    }
}

/// Statistics keep the first 64 bytes of a text: cut within a character, before one that has no successor, and where
/// everything is alike up to there.
#[test]
fn texts_longer_than_their_statistics() {
    let alike = "x".repeat(70);
    let last = "\u{10ffff}".repeat(20);
    let values: Vec<Option<String>> = vec![
        Some(format!("{alike}a")),
        Some(format!("{alike}b")),
        Some(format!("{alike}c")),
        Some(alike.clone()),
        Some("x".to_owned()),
        Some(String::new()),
        Some(format!("{last}z")),
        Some(last.clone()),
        Some("é".repeat(40)),
        Some(format!("{}a", "é".repeat(40))),
        None,
        Some("\u{10ffff}".to_owned()),
        Some(format!("{}é", "a".repeat(63))),
        Some("a".repeat(64)),
        Some("a".repeat(65)),
        Some("\u{7f}".repeat(64)),
        Some(format!("{}\u{80}", "\u{7f}".repeat(64))),
        Some("%".repeat(66)),
        Some("_x".repeat(40)),
    ];
    let relation = stored("text", Arc::new(StringArray::from(values.clone())));
    for literal in values.iter().flatten().cloned().chain([
        "y".to_owned(),
        format!("{alike}bb"),
        "\u{10fffe}".to_owned(),
    ]) {
        let spelled = serde_json::Value::from(literal.as_str()).to_string();
        for (word, holds) in OPERATORS {
            relation.check(&format!("x={word}.{spelled}"), |id| {
                values[id].as_deref().is_some_and(|value| holds(value.cmp(literal.as_str())))
            });
        }
        relation.check(&format!("x=in.[{spelled}]"), |id| values[id].as_deref() == Some(literal.as_str()));
        // Patterns with a fixed beginning are pruned as ranges.
        let beginning: String = literal.chars().take(66).collect();
        let escaped = beginning.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
        let pattern = serde_json::Value::from(format!("{escaped}%")).to_string();
        relation.check(&format!("x=like.{pattern}"), |id| {
            values[id].as_deref().is_some_and(|value| value.starts_with(&beginning))
        });
    }
}

/// `character(n)` ignores its trailing blanks; statistics and Bloom filters of the stored text don't.
#[test]
fn padded_text() {
    let values = ["A  ", "AB ", "ABC", "   ", "a  ", "B  ", "é  ", "A\t "];
    let relation = stored("character(3)", Arc::new(StringArray::from(values.to_vec())));
    for literal in ["A", "A ", "A   ", "AB", "", " ", "B", "é", "A\t"] {
        let spelled = serde_json::Value::from(literal).to_string();
        for (word, holds) in OPERATORS {
            relation.check(&format!("x={word}.{spelled}"), |id| {
                holds(values[id].trim_end_matches(' ').cmp(literal.trim_end_matches(' ')))
            });
        }
    }
    relation.check("x=like.A_\u{20}", |_| false);
    relation.check("x=like.\"A  \"", |id| values[id] == "A  ");
    relation.check("x=like.A%", |id| values[id].starts_with('A'));
}

/// Counts and extremes come from footers where those say enough. The smallest value, the largest and two nulls lie in
/// files or row groups whose footers say nothing.
#[test]
fn footers_that_are_silent_hide_no_extreme() {
    let directory = tempfile::tempdir().unwrap();
    let catalog = one_relation(&[("id", "bigint"), ("x", "bigint")], &["id"]);
    let schema = Arc::new(Schema::new(vec![
        Field::new("id", DataType::Int64, true),
        Field::new("x", DataType::Int64, true),
    ]));
    let values = [vec![Some(5), Some(7), None, None], vec![Some(-1), None, Some(99), None], vec![None, None]];
    for silent in [None, Some(0), Some(1), Some(2)] {
        let mut data: Option<RelationData> = None;
        let mut first = 0;
        for (at, values) in values.iter().enumerate() {
            let ids: Vec<i64> = (first..).take(values.len()).collect();
            first += values.len() as i64;
            let columns: Vec<ArrayRef> =
                vec![Arc::new(Int64Array::from(ids)), Arc::new(Int64Array::from(values.clone()))];
            let batch = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
            let layout = if silent == Some(at) { Layout::PairsBloomOnly } else { Layout::Pairs };
            let name = format!("r-{silent:?}-{at}");
            let part = write(directory.path(), &name, batch, vec!["id".to_owned()], Vec::new(), layout);
            match &mut data {
                Some(data) => {
                    let mut part = part;
                    data.rows += part.rows;
                    parts(data).append(parts(&mut part));
                }
                None => data = Some(part),
            }
        }
        let arguments = QueryArguments {
            source: "o.r".to_owned(),
            metrics: ["n=count:*", "c=count:x", "lo=min:x", "hi=max:x"].map(str::to_owned).to_vec(),
            ..QueryArguments::default()
        };
        let runtime = EngineRuntime::new(Limits::default(), 2).unwrap();
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let query = check_query(&catalog, &arguments, runtime.limits()).unwrap();
        let answer = tokio.block_on(run_query(&query, &data.unwrap(), "", &runtime, OPTIONS)).unwrap();
        let row = &answer.rows[0];
        let found = ["n", "c", "lo", "hi"].map(|name| row[name].as_i64().unwrap());
        assert_eq!(found, [10, 4, -1, 99], "silent: {silent:?}");
    }
}
