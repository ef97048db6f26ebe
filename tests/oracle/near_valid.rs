//! Valid expressions with one character changed, in every position and argument; arguments of every JSON shape.
//!
//! Random text seldom gets past a parser's first decision; a valid expression with one fault gets past all but one.

use std::sync::OnceLock;

use benthic_mirror::catalog::{Catalog, ranking};
use benthic_mirror::config::Limits;
use benthic_mirror::engine::{
    EngineRuntime, JoinArguments, QueryArguments, Refusal, check_join, check_query, read_arguments, run_query,
};
use benthic_mirror::spatial::{SpatialArguments, SpatialRequest};
use proptest::prelude::*;
use serde_json::{Map, Number, Value, json};

use crate::differential::OPTIONS;
use crate::relations::{World, world};
use crate::stored::{Layout, store};

fn catalog() -> &'static Catalog {
    static WORLD: OnceLock<World> = OnceLock::new();
    &WORLD.get_or_init(|| world(7)).catalog
}

/// Characters that mean something somewhere, and some that are odd everywhere.
const CHARACTERS: [char; 24] = [
    '=', '>', '<', '!', '.', ':', '"', '\\', '[', ']', '{', ',', '*', '%', '0', '9', '-', '+', 'e', ' ',
    '\0', 'é', '\u{301}', '😀',
];

/// Every text that differs from a valid one in one place: a character left out, doubled, replaced, put in, or swapped
/// with the next.
fn mutations(valid: &str) -> Vec<String> {
    let characters: Vec<char> = valid.chars().collect();
    let mut found = vec![String::new()];
    let with = |change: &dyn Fn(&mut Vec<char>)| -> String {
        let mut changed = characters.clone();
        change(&mut changed);
        changed.into_iter().collect()
    };
    for at in 0..=characters.len() {
        if at < characters.len() {
            found.push(with(&|text| {
                text.remove(at);
            }));
            found.push(with(&|text| text.insert(at, characters[at])));
            found.push(with(&|text| text.truncate(at)));
            found.push(with(&|text| text[at] = text[at].to_ascii_uppercase()));
        }
        if at + 1 < characters.len() {
            found.push(with(&|text| text.swap(at, at + 1)));
        }
        for character in CHARACTERS {
            found.push(with(&|text| text.insert(at, character)));
            if at < characters.len() {
                found.push(with(&|text| text[at] = character));
            }
        }
    }
    found
}

fn well_formed<T>(checked: Result<T, Refusal>, asked: &dyn std::fmt::Debug) -> bool {
    match checked {
        Ok(_) => true,
        Err(refusal) => {
            assert!(refusal.terminal != refusal.next_step.is_some(), "{asked:?}: {}", refusal.to_text());
            assert!(
                !refusal.message.is_empty() && !refusal.facts.is_empty(),
                "{asked:?}: {}",
                refusal.to_text()
            );
            false
        }
    }
}

type Put<T> = fn(&mut T, Vec<String>);

/// A valid request, the list that is changed, and valid expressions for it.
type Position<T> = (&'static str, Put<T>, &'static [&'static str]);

const QUERY_POSITIONS: [Position<QueryArguments>; 7] = [
    (
        "where",
        |arguments, list| arguments.filters = list,
        &[
            "small=eq.12",
            "n12>=1.5e3",
            "txt=ilike.\"a\\\"%b\\\\\"",
            "txt=in.[\"a\",null,3,true]",
            "f8=lt.-1e-3",
            "day=eq.0044-03-15 BC",
            "at=gte.2024-02-29T12:00:00.123456",
            "moment=eq.2024-02-29 12:00:00+05:30",
            "u=eq.00000000-0000-0000-0000-000000000001",
            "flag=neq.true",
            "odd name.x=not.is.null",
            "c2=like.A_",
            "free=eq.-0.000",
        ],
    ),
    ("select", |arguments, list| arguments.select = list, &["small", "odd name.x"]),
    ("group_by", |arguments, list| arguments.group_by = list, &["c2", "odd name.x"]),
    (
        "metrics",
        |arguments, list| arguments.metrics = list,
        &["n=count:*", "total:sum:n12", "m=max(day)", "a_1=avg.f8"],
    ),
    (
        "having",
        |arguments, list| arguments.having = list,
        &["n>=10", "n:in:[1,2]", "c2!=\"A \"", "n:like:1%"],
    ),
    ("order", |arguments, list| arguments.order = list, &["c2:desc", "n asc", "n.desc"]),
    ("source", |arguments, list| arguments.source = list.concat(), &["o.types"]),
];

fn valid_query(position: &str) -> QueryArguments {
    let list = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect();
    let is_aggregate = !matches!(position, "where" | "select" | "source");
    QueryArguments {
        source: "o.types".to_owned(),
        group_by: if is_aggregate { list(&["c2"]) } else { Vec::new() },
        metrics: if is_aggregate { list(&["n=count:*"]) } else { Vec::new() },
        ..QueryArguments::default()
    }
}

#[test]
fn every_near_valid_query_is_checked_or_refused_and_what_is_accepted_runs() {
    let directory = tempfile::tempdir().unwrap();
    let relation = catalog().relation("o.types").unwrap();
    let data = store(directory.path(), relation, true, b"[]", Layout::Plain);
    let runtime = EngineRuntime::new(Limits::default(), 1).unwrap();
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (mut accepted, mut refused) = (0, 0);
    for (position, put, valid) in QUERY_POSITIONS {
        for valid in valid {
            for (index, mutation) in mutations(valid).into_iter().enumerate() {
                let mut arguments = valid_query(position);
                put(&mut arguments, vec![mutation]);
                let checked = check_query(catalog(), &arguments, &Limits::default());
                match checked {
                    Ok(query) => {
                        accepted += 1;
                        // Planning costs more than checking: every so many.
                        if index % 23 == 0 {
                            let answer = tokio.block_on(run_query(&query, &data, "", &runtime, OPTIONS));
                            assert!(answer.is_ok(), "{arguments:?}: {answer:?}");
                        }
                    }
                    Err(refusal) => {
                        refused += 1;
                        well_formed::<()>(Err(refusal), &arguments);
                    }
                }
            }
        }
    }
    assert!(accepted > 1_000 && refused > 5_000, "{accepted} accepted, {refused} refused");
}

const JOIN_POSITIONS: [Position<JoinArguments>; 9] = [
    ("left_where", |arguments, list| arguments.left_where = list, &["small=eq.12"]),
    ("right_where", |arguments, list| arguments.right_where = list, &["n=in.[1,2]"]),
    ("context", |arguments, list| arguments.context_conditions = list, &["txt=word", "f4=f8"]),
    ("mode", |arguments, list| arguments.mode = Some(list.concat()), &["left", "inner"]),
    ("left_select", |arguments, list| arguments.left_select = list, &["odd name.x"]),
    ("left_column", |arguments, list| arguments.left_column = Some(list.concat()), &["small"]),
    ("right_column", |arguments, list| arguments.right_column = Some(list.concat()), &["n"]),
    ("left_source", |arguments, list| arguments.left_source = list.concat(), &["o.types"]),
    ("right_source", |arguments, list| arguments.right_source = list.concat(), &["o.words"]),
];

#[test]
fn every_near_valid_join_is_checked_or_refused() {
    let (mut accepted, mut refused) = (0, 0);
    for (_, put, valid) in JOIN_POSITIONS {
        for mutation in valid.iter().flat_map(|valid| mutations(valid)) {
            let mut arguments = JoinArguments {
                left_source: "o.types".to_owned(),
                right_source: "o.words".to_owned(),
                left_column: Some("small".to_owned()),
                right_column: Some("n".to_owned()),
                ..JoinArguments::default()
            };
            put(&mut arguments, vec![mutation]);
            match well_formed(check_join(catalog(), &arguments, &Limits::default()), &arguments) {
                true => accepted += 1,
                false => refused += 1,
            }
        }
    }
    assert!(accepted > 100 && refused > 1_000, "{accepted} accepted, {refused} refused");
}

/// JSON of any shape, shallow.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        "[0-9]{1,40}(\\.[0-9]{1,20})?(e-?[0-9]{1,5})?"
            .prop_map(|text| serde_json::from_str(&text).unwrap_or(Value::String(text))),
        ".{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((".{0,6}", inner), 0..3).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

fn arguments(names: &'static [&'static str]) -> impl Strategy<Value = Map<String, Value>> {
    let name = prop_oneof![8 => prop::sample::select(names).prop_map(str::to_owned), 1 => ".{0,12}"];
    prop::collection::vec((name, any_json()), 0..6).prop_map(|members| members.into_iter().collect())
}

fn number() -> impl Strategy<Value = Option<Number>> {
    prop::option::of(prop_oneof![
        (-200_i64..1_200).prop_map(Number::from),
        "-?[1-9][0-9]{0,30}(\\.[0-9]{1,30})?(e-?[0-9]{1,4})?"
            .prop_filter_map("a number", |text| serde_json::from_str(&text).ok()),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_arguments_of_a_query_are_read_or_refused(
        given in arguments(&["source", "select", "where", "group_by", "metrics", "having", "order", "limit", "offset", "explain", "question"]),
    ) {
        if let Ok(read) = read_arguments::<QueryArguments>(given.clone()) {
            well_formed(check_query(catalog(), &read, &Limits::default()), &given);
        } else {
            well_formed(read_arguments::<QueryArguments>(given.clone()), &given);
        }
    }

    #[test]
    fn any_arguments_of_a_join_are_read_or_refused(
        given in arguments(&["left_source", "right_source", "left_column", "right_column", "left_where", "mode", "limit", "context_conditions"]),
    ) {
        if let Ok(read) = read_arguments::<JoinArguments>(given.clone()) {
            well_formed(check_join(catalog(), &read, &Limits::default()), &given);
        } else {
            well_formed(read_arguments::<JoinArguments>(given.clone()), &given);
        }
    }

    #[test]
    fn any_place_is_checked_or_refused(
        operation in prop_oneof![4 => prop::sample::select(vec!["find_district", "districts_in_bbox", "nonprofits_nearby"]).prop_map(str::to_owned), 1 => ".{0,20}"],
        numbers in prop::collection::vec(number(), 8),
    ) {
        let [lat, lon, congress, min_lat, max_lat, min_lon, max_lon, radius_meters]: [Option<Number>; 8] =
            numbers.try_into().unwrap();
        let arguments = SpatialArguments { lat, lon, congress, min_lat, max_lat, min_lon, max_lon, radius_meters };
        if let Err(refusal) = SpatialRequest::parse(&operation, &arguments) {
            prop_assert!(!refusal.message.is_empty() && !refusal.next_step.is_empty() && !refusal.facts.is_empty());
            prop_assert!(refusal.message.len() < 400, "{}", refusal.message);
        }
    }

    #[test]
    fn any_words_are_ranked(query in ".{0,80}") {
        let ranking = ranking::rank(catalog(), &[], &query, 8);
        prop_assert!(ranking.matches.len() <= 8);
    }
}
