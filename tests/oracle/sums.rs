//! Sums and averages at the edge of the widest types: exact digits or a refusal, never a wrapped number.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, Decimal128Array, Decimal256Array, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray,
};
use arrow::datatypes::{DataType, Field, Schema, i256};
use benthic_mirror::config::Limits;
use benthic_mirror::engine::{EngineRuntime, QueryArguments, RefusalCode, RunError, check_query, run_query};
use serde_json::Value;

use crate::differential::OPTIONS;
use crate::relations::one_relation;
use crate::stored::{Layout, write};

/// What the metrics over `x` are, with one and with eight partitions; `None` if refused as not exact. `g` is `a` for
/// even rows and `b` for odd ones.
fn answer(
    native: &'static str,
    values: ArrayRef,
    change: impl Fn(&mut QueryArguments),
) -> Option<Vec<Value>> {
    let directory = tempfile::tempdir().unwrap();
    let count = values.len();
    let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(0..count as i32));
    let groups: ArrayRef =
        Arc::new(StringArray::from_iter_values((0..count).map(|n| if n % 2 == 0 { "a" } else { "b" })));
    let schema = Schema::new(vec![
        Field::new("id", DataType::Int32, true),
        Field::new("g", DataType::Utf8, true),
        Field::new("x", values.data_type().clone(), true),
    ]);
    let batch = RecordBatch::try_new(Arc::new(schema), vec![ids, groups, values]).unwrap();
    let catalog = one_relation(&[("id", "integer"), ("g", "text"), ("x", native)], &["id"]);
    let mut arguments = QueryArguments {
        source: "o.r".to_owned(),
        metrics: vec!["s=sum:x".to_owned(), "m=avg:x".to_owned()],
        ..QueryArguments::default()
    };
    change(&mut arguments);
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let answers = [(Layout::Plain, 1), (Layout::Pairs, 8)].map(|(layout, partitions)| {
        let data = write(directory.path(), "r", batch.clone(), vec!["id".to_owned()], Vec::new(), layout);
        let runtime = EngineRuntime::new(Limits::default(), partitions)
            .and_then(|runtime| {
                runtime.with_settings(&[("datafusion.optimizer.repartition_file_min_size", "1")])
            })
            .unwrap();
        let query = check_query(&catalog, &arguments, runtime.limits())
            .unwrap_or_else(|refusal| panic!("{}", refusal.to_text()));
        match tokio.block_on(run_query(&query, &data, "", &runtime, OPTIONS)) {
            Ok(answer) => Some(answer.rows.into_iter().map(Value::Object).collect::<Vec<_>>()),
            Err(RunError::Refused(refusal)) if refusal.code == RefusalCode::NotExact => {
                assert!(refusal.next_step.is_some(), "{}", refusal.to_text());
                None
            }
            Err(other) => panic!("{other}"),
        }
    });
    let [one, eight] = answers;
    assert_eq!(one, eight, "partitions change the answer");
    one
}

fn only(native: &'static str, values: ArrayRef) -> Option<[String; 2]> {
    let rows = answer(native, values, |_| {})?;
    let text = |name: &str| match &rows[0][name] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    Some([text("s"), text("m")])
}

fn decimals(values: &[i128]) -> ArrayRef {
    Arc::new(Decimal128Array::from(values.to_vec()).with_precision_and_scale(38, 0).unwrap())
}

fn wide(values: &[&str]) -> ArrayRef {
    let values: Vec<i256> = values.iter().map(|text| i256::from_string(text).unwrap()).collect();
    Arc::new(Decimal256Array::from(values).with_precision_and_scale(76, 0).unwrap())
}

const NINES: i128 = 10_i128.pow(38) - 1;

#[test]
fn thirty_eight_digits() {
    let nines = "9".repeat(38);
    // Expected digits are PostgreSQL's.
    assert_eq!(
        only("numeric(38,0)", decimals(&[NINES, NINES])),
        Some([format!("1{}8", "9".repeat(37)), nines.clone()])
    );
    // 101 · (10^38 − 1) = 101 · 10^38 − 101.
    assert_eq!(
        only("numeric(38,0)", decimals(&[-NINES; 101])),
        Some([format!("-100{}899", "9".repeat(35)), format!("-{nines}")])
    );
    let mut many = vec![NINES; 400];
    many.extend([-NINES; 400]);
    assert_eq!(only("numeric(38,0)", decimals(&many)).map(|[sum, _]| sum).as_deref(), Some("0"));
}

#[test]
fn seventy_six_digits() {
    let nines = "9".repeat(76);
    let minus = format!("-{nines}");
    assert_eq!(only("numeric(76,0)", wide(&[&nines, &nines])), None, "77 digits");
    assert_eq!(only("numeric(76,0)", wide(&[minus.as_str(); 9])), None);
    assert_eq!(only("numeric(76,0)", wide(&[&nines, "1", "-1"])).map(|[sum, _]| sum), Some(nines.clone()));
    assert_eq!(only("numeric(76,0)", wide(&[&nines])), Some([nines.clone(), nines.clone()]));
    assert_eq!(
        only("numeric(76,0)", wide(&[&nines, &minus, "1"])),
        Some(["1".to_owned(), "0.33333333333333333333".to_owned()])
    );
}

#[test]
fn integers_beyond_their_own_type() {
    let sum = |values: Vec<i64>| only("bigint", Arc::new(Int64Array::from(values)));
    assert_eq!(
        sum(vec![i64::MAX, i64::MAX, 1]),
        Some(["18446744073709551615".to_owned(), "6148914691236517205".to_owned()])
    );
    assert_eq!(
        sum(vec![i64::MIN, i64::MIN]),
        Some(["-18446744073709551616".to_owned(), "-9223372036854775808".to_owned()])
    );
}

/// Groups, conditions and order compare the exact sums and averages, however many digits they have.
#[test]
fn groups_compare_exactly() {
    let nines = "9".repeat(75);
    let next = format!("{}8", "9".repeat(74));
    let values = || wide(&[&nines, &next, "0", "0"]);
    let grouped = |arguments: &mut QueryArguments| {
        arguments.group_by = vec!["g".to_owned()];
        arguments.order = vec!["m:asc".to_owned()];
    };
    let rows = answer("numeric(76,0)", values(), grouped).unwrap();
    let order: Vec<&str> = rows.iter().map(|row| row["g"].as_str().unwrap()).collect();
    assert_eq!(order, ["b", "a"]);
    let above = |condition: String| {
        let rows = answer("numeric(76,0)", values(), |arguments| {
            grouped(arguments);
            arguments.having = vec![condition.clone()];
        });
        rows.unwrap().len()
    };
    assert_eq!(above(format!("s>{next}")), 1);
    assert_eq!(above(format!("s>={next}")), 2);
    assert_eq!(above(format!("s={nines}")), 1);
    assert_eq!(above("s<1e80".to_owned()), 2);
    assert_eq!(above("m>1e80".to_owned()), 0);
    assert_eq!(above("m>1e70".to_owned()), 2);
}

#[test]
fn doubles_beyond_their_range() {
    let sum = |values: Vec<f64>| only("double precision", Arc::new(Float64Array::from(values)));
    assert_eq!(sum(vec![f64::MAX, f64::MAX]), None);
    assert_eq!(
        sum(vec![f64::MAX, f64::MAX, -f64::MAX, -f64::MAX, 1.0]),
        Some(["1".to_owned(), "0.2".to_owned()])
    );
    assert_eq!(
        sum(vec![f64::INFINITY, f64::MAX, f64::MAX]),
        Some(["Infinity".to_owned(), "Infinity".to_owned()])
    );
    let mean = answer("double precision", Arc::new(Float64Array::from(vec![1e308, 1e308])), |arguments| {
        arguments.metrics = vec!["m=avg:x".to_owned()];
    });
    assert_eq!(mean.unwrap()[0]["m"].to_string(), "1e+308", "the sum is out of range, the average isn't");
}

/// `character(n)` is compared without its blanks and matched with them, in groups and extremes as in filters.
#[test]
fn conditions_on_padded_text() {
    let values = || -> ArrayRef { Arc::new(StringArray::from(vec!["A    ", "A    ", "     ", "AB   "])) };
    let groups = |condition: &str| -> Vec<u64> {
        let rows = answer("character(5)", values(), |arguments| {
            arguments.group_by = vec!["x".to_owned()];
            arguments.metrics = vec!["n=count:*".to_owned(), "m=max:x".to_owned()];
            arguments.having = vec![condition.to_owned()];
        });
        rows.unwrap().iter().map(|row| row["n"].as_u64().unwrap()).collect()
    };
    for output in ["x", "m"] {
        assert_eq!(groups(&format!("{output}:like:A_")), Vec::<u64>::new());
        assert_eq!(groups(&format!("{output}:like:A____")), [2, 1]);
        assert_eq!(groups(&format!("{output}:like:\"A    \"")), [2]);
        assert_eq!(groups(&format!("{output}:ilike:\"\"")), Vec::<u64>::new());
        assert_eq!(groups(&format!("{output}=A")), [2]);
        assert_eq!(groups(&format!("{output}=\"\"")), [1]);
    }
}
