//! No text in any argument makes the checks panic, hang or allocate without bound; what they accept, runs.

use std::time::{Duration, Instant};

use benthic_mirror::catalog::Catalog;
use benthic_mirror::config::Limits;
use benthic_mirror::engine::{
    EngineRuntime, JoinArguments, JoinSource, QueryArguments, RelationData, RunError, check_join,
    check_query, run_join, run_query,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::Value;

use crate::differential::OPTIONS;
use crate::relations::{World, world};
use crate::stored::{Layout, store};

/// Text that looks like the request language now and then.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "id", "small", "n12", "free", "f8", "f4", "flag", "day", "at", "moment", "u", "c2", "txt", "odd name.x", "j", "bin",
            "=", ".", ":", ">", ">=", "!=", "<", "eq", "neq", "gt", "lt", "in", "like", "ilike", "is.null", "not.is.null",
            "sum", "avg", "min", "max", "count", "*", "n", "m", "total", "desc", "asc", "[", "]", "\"", "\\", "%", "_", ",",
            "1", "-1", "1e5", "1e-400", "1e400", "NaN", "Infinity", "null", "true", "2024-02-29", "2024-02-29T12:00:00Z",
            "0044-03-15 BC", " BC", "+", "-", "e", "0", "99999999999999999999999999999999999999999999999999999999999999999999999999999999", "\u{301}", "😀", "İ", "\0", " ", "\n", "(", ")",
        ]).prop_map(str::to_owned),
        1 => ".{0,12}",
        1 => "[0-9eE.+:TZ -]{0,40}",
    ];
    vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn list() -> impl Strategy<Value = Vec<String>> {
    vec(prop_oneof![3 => text(), 1 => plausible()], 0..3)
}

/// Expressions that are read more often than not.
fn plausible() -> impl Strategy<Value = String> {
    let column = prop::sample::select(vec![
        "id", "n12", "n50", "free", "f8", "f4", "flag", "day", "at", "moment", "u", "c2", "txt",
    ]);
    let operator = prop::sample::select(vec!["eq", "neq", "gt", "gte", "lt", "lte", "like", "ilike", "in"]);
    (column, operator, text()).prop_map(|(column, operator, value)| format!("{column}={operator}.{value}"))
}

fn source() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(vec!["o.types", "o.pairs", "o.words", "o.bag", "o.empty"]).prop_map(str::to_owned),
        1 => text(),
    ]
}

fn query() -> impl Strategy<Value = QueryArguments> {
    let lists = (list(), list(), list(), list(), list(), list());
    let numbers = (option::of(any::<i64>()), option::of(any::<i64>()), any::<bool>());
    (option::of(text()), source(), lists, numbers).prop_map(
        |(question, source, lists, (limit, offset, tame))| {
            let (select, filters, group_by, metrics, having, order) = lists;
            let limit = if tame { limit.map(|limit| limit.rem_euclid(1_000) + 1) } else { limit };
            QueryArguments {
                question,
                source,
                select,
                filters,
                group_by,
                metrics,
                having,
                order,
                limit,
                offset,
                explain: false,
            }
        },
    )
}

fn join() -> impl Strategy<Value = JoinArguments> {
    let columns = (option::of(text()), option::of(text()), option::of(text()));
    let lists = (list(), list(), list(), list(), list());
    (source(), source(), columns, lists, option::of(any::<i64>())).prop_map(
        |(left, right, columns, lists, limit)| {
            let (left_column, right_column, mode) = columns;
            let (left_where, right_where, context_conditions, left_select, right_select) = lists;
            JoinArguments {
                question: None,
                left_source: left,
                right_source: right,
                left_column,
                right_column,
                left_where,
                right_where,
                context_conditions,
                mode,
                limit,
                left_select,
                right_select,
                explain: false,
            }
        },
    )
}

fn catalog() -> &'static Catalog {
    static WORLD: std::sync::OnceLock<World> = std::sync::OnceLock::new();
    &WORLD.get_or_init(|| world(7)).catalog
}

/// A refusal says what to do next, or that nothing helps.
fn well_formed<T>(checked: Result<T, benthic_mirror::engine::Refusal>) -> Result<(), TestCaseError> {
    if let Err(refusal) = checked {
        prop_assert!(refusal.terminal != refusal.next_step.is_some(), "{}", refusal.to_text());
        prop_assert!(!refusal.message.is_empty());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_query_is_checked_or_refused(arguments in query()) {
        well_formed(check_query(catalog(), &arguments, &Limits::default()))?;
    }

    #[test]
    fn any_join_is_checked_or_refused(arguments in join()) {
        well_formed(check_join(catalog(), &arguments, &Limits::default()))?;
    }

    /// One filter on each type with any value: what most often gets as far as being typed.
    #[test]
    fn any_value_is_typed_or_refused(filters in vec(plausible(), 1..4)) {
        let arguments = QueryArguments { source: "o.types".to_owned(), filters, ..QueryArguments::default() };
        well_formed(check_query(catalog(), &arguments, &Limits::default()))?;
    }
}

/// What is accepted can be planned and run: over no rows, so that only the plan can fail.
#[test]
fn whatever_is_accepted_runs() {
    let directory = tempfile::tempdir().unwrap();
    let relation = catalog().relation("o.empty").unwrap();
    let data = store(directory.path(), relation, true, b"[]", Layout::Plain);
    let runtime = EngineRuntime::new(Limits::default(), 1).unwrap();
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 60,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    runner
        .run(&vec(plausible(), 1..3), |filters| {
            let arguments =
                QueryArguments { source: "o.empty".to_owned(), filters, ..QueryArguments::default() };
            if let Ok(query) = check_query(catalog(), &arguments, runtime.limits()) {
                let answer = tokio.block_on(run_query(&query, &data, "", &runtime, OPTIONS));
                prop_assert!(answer.is_ok(), "{arguments:?}: {answer:?}");
            }
            Ok(())
        })
        .unwrap();
}

/// Numbers that stand for many digits, and patterns that invite backtracking.
#[test]
fn large_arguments_are_bounded() {
    let nines = "9".repeat(4_000);
    let mut filters = Vec::new();
    for column in ["id", "big", "n12", "n38", "n50", "free", "f4", "f8"] {
        for value in [
            "1e1000",
            "-1e1000",
            "1e-1000",
            "1e1001",
            "1e999999999999",
            "1e-999999999999",
            "1e99999999999999999999",
            nines.as_str(),
            format!("0.{nines}").as_str(),
            format!("{nines}e-1000").as_str(),
            format!("{nines}e1000").as_str(),
            format!("-{}1", "0".repeat(4_000)).as_str(),
        ] {
            filters.push(format!("{column}=eq.{value}"));
            filters.push(format!("{column}=gt.{value}"));
        }
    }
    for pattern in
        ["%a".repeat(2_000), "_".repeat(4_000), "%_".repeat(2_000), "\\%".repeat(2_000), "é%".repeat(1_300)]
    {
        filters.push(format!("txt=like.{pattern}"));
        filters.push(format!("txt=ilike.{pattern}"));
    }
    filters.push(format!("txt=in.{}{}", "[".repeat(2_000), "]".repeat(2_000)));
    filters.push(format!("txt=in.[{}]", vec!["1"; 1_500].join(",")));
    for filter in filters {
        let arguments = QueryArguments {
            source: "o.types".to_owned(),
            filters: vec![filter.clone()],
            ..QueryArguments::default()
        };
        let started = Instant::now();
        let checked = check_query(catalog(), &arguments, &Limits::default());
        let shown: String = filter.chars().take(60).collect();
        assert!(started.elapsed() < Duration::from_secs(2), "{shown}");
        if let Err(refusal) = checked {
            assert!(refusal.to_json().to_string().len() < 20_000, "{shown}: a refusal of its own size");
        }
    }
}

fn held(directory: &std::path::Path, rows: usize) -> RelationData {
    let body: Vec<String> = (0..rows)
        .map(|n| format!(r#"{{"word":"{n}","code":"{}","ccode":null,"n":{n},"amount":1.00,"f4":1,"f8":1,"moment":null,"c5":null,"flag":true}}"#, "a".repeat(5)))
        .collect();
    let relation = catalog().relation("o.words").unwrap();
    store(directory, relation, true, format!("[{}]", body.join(",")).as_bytes(), Layout::Plain)
}

/// Patterns at the argument limit against text, and the largest offset there is.
#[test]
fn large_arguments_run() {
    let directory = tempfile::tempdir().unwrap();
    let data = held(directory.path(), 300);
    let runtime = EngineRuntime::new(Limits::default(), 2).unwrap();
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let run = |change: &dyn Fn(&mut QueryArguments)| {
        let mut arguments = QueryArguments { source: "o.words".to_owned(), ..QueryArguments::default() };
        change(&mut arguments);
        let query = check_query(catalog(), &arguments, runtime.limits()).unwrap();
        match tokio.block_on(run_query(&query, &data, "", &runtime, OPTIONS)) {
            Ok(answer) => answer.rows.len(),
            Err(RunError::Refused(refusal)) => panic!("{}", refusal.to_text()),
            Err(other) => panic!("{other}"),
        }
    };
    for pattern in
        ["%a".repeat(2_000), "_".repeat(4_000), "%_".repeat(2_000), "\\%".repeat(2_000), "é%".repeat(1_300)]
    {
        for word in ["like", "ilike"] {
            assert_eq!(run(&|arguments| arguments.filters = vec![format!("code={word}.{pattern}")]), 0);
        }
    }
    assert_eq!(run(&|arguments| arguments.filters = vec!["code=ilike.%A%a%A%".to_owned()]), 100);
    for offset in [i64::MAX, i64::MAX - 1_000, 1 << 40, 299] {
        let expected = usize::from(offset == 299);
        assert_eq!(run(&|arguments| arguments.offset = Some(offset)), expected, "{offset}");
        assert_eq!(
            run(&|arguments| {
                arguments.offset = Some(offset);
                arguments.order = vec!["n:desc".to_owned()];
            }),
            expected
        );
    }
    let list: Vec<String> = (0..1_000).map(|n| n.to_string()).collect();
    assert_eq!(
        run(&|arguments| {
            arguments.filters = vec![format!("n=in.[{}]", list[..900].join(",")); 32];
            arguments.limit = Some(1_000);
        }),
        300
    );
    let join = JoinArguments {
        left_source: "o.words".to_owned(),
        right_source: "o.types".to_owned(),
        left_column: Some("n".to_owned()),
        right_column: Some("small".to_owned()),
        ..JoinArguments::default()
    };
    let checked = check_join(catalog(), &join, runtime.limits()).unwrap();
    let empty = store(directory.path(), catalog().relation("o.types").unwrap(), true, b"[]", Layout::Plain);
    let side = |data| JoinSource { data, manifest_hash: "", served: Value::Null };
    let answer = tokio.block_on(run_join(&checked, side(&data), side(&empty), &runtime, OPTIONS)).unwrap();
    assert!(answer.rows.is_empty());
}
