//! One refused question and its answered neighbour.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use benthic_mirror::demo;
use benthic_mirror::engine::Refusal;
use serde_json::Value;

use crate::world::{Ask, On, ask};

/// A question that must be refused, and a near one that must not be.
pub(crate) struct Case {
    on: On,
    refused: Ask,
    pub(crate) code: &'static str,
    /// What the message or the next step must say.
    says: &'static str,
    /// Facts with these values, besides those every refusal of the code carries.
    facts: Vec<(&'static str, Value)>,
    near: Vec<Near>,
}

/// An answered neighbour: at a place of the answer there is a value.
struct Near {
    on: On,
    ask: Ask,
    pointer: &'static str,
    value: Value,
}

/// A question the demo refuses.
pub(crate) fn refuse(refused: Ask, code: &'static str, says: &'static str) -> Case {
    Case { on: On::Demo, refused, code, says, facts: Vec::new(), near: Vec::new() }
}

impl Case {
    /// Asks another mirror.
    pub(crate) fn on(mut self, on: On) -> Self {
        self.on = on;
        self
    }

    /// A fact with its value.
    pub(crate) fn fact(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.facts.push((name, value.into()));
        self
    }

    /// A neighbour on the same mirror that is answered with this value at this place.
    pub(crate) fn near(self, ask: Ask, pointer: &'static str, value: impl Into<Value>) -> Self {
        let on = self.on;
        self.near_on(on, ask, pointer, value)
    }

    /// The same on another mirror.
    pub(crate) fn near_on(
        mut self,
        on: On,
        ask: Ask,
        pointer: &'static str,
        value: impl Into<Value>,
    ) -> Self {
        self.near.push(Near { on, ask, pointer, value: value.into() });
        self
    }
}

/// Codes that no rewording helps.
const TERMINAL: [&str; 2] = ["not_queryable", "no_primary_key"];

/// The facts each code carries, from the specification's "must carry" column.
pub(crate) const MUST_CARRY: &[(&str, &[&str])] = &[
    ("unknown_dataset", &["dataset", "nearest"]),
    ("unknown_relation", &["source", "nearest"]),
    ("not_queryable", &["source", "queryable_relatives"]),
    ("unknown_column", &["source", "argument", "candidates"]),
    ("bad_argument", &["argument"]),
    ("bad_filter", &["expression", "operators"]),
    ("bad_metric", &["expression", "functions"]),
    ("bad_having", &["expression", "operators"]),
    ("bad_order", &["expression", "directions"]),
    ("bad_context", &["expression", "form"]),
    ("bad_value", &["column", "type"]),
    ("too_many", &["given", "limit"]),
    ("numeric_required", &["type"]),
    ("offset_on_aggregate", &["offset"]),
    ("scan_limit", &["source", "matched_rows", "limit", "excess", "narrowing_can_help"]),
    ("no_primary_key", &["source", "matched_rows", "max_rows"]),
    ("join_too_wide", &["joined_rows", "limit"]),
    ("unsigned_join", &[]),
    ("ambiguous_join", &["candidates"]),
    ("partial_join_needs_context", &["path", "note", "shared_columns"]),
    ("spatial_join", &["operation", "signed_paths"]),
    ("bad_rpc_arguments", &["operation", "argument"]),
    ("not_mirrored", &["source", "mirrored"]),
    ("response_too_large", &["row_bytes", "limit_bytes", "largest_columns"]),
    ("not_exact", &["column"]),
    ("too_expensive", &["bound", "limit_bytes"]),
    ("timed_out", &["bound", "limit_seconds"]),
    ("busy", &["concurrency", "retry_after_seconds"]),
    ("untrusted_catalog", &[]),
    ("corrupt_store", &[]),
    ("internal", &[]),
];

/// What the next step must name, where the code decides it.
const WAYS_OUT: &[(&str, &str)] = &[
    ("unknown_dataset", "benthic_discover"),
    ("unknown_relation", "benthic_discover"),
    ("unknown_column", "benthic_discover"),
    ("spatial_join", "benthic_rpc"),
    ("not_mirrored", "benthic-mirror sync"),
    ("untrusted_catalog", "benthic-mirror status"),
    ("corrupt_store", "benthic-mirror s"),
];

/// Runs a table of cases; every failure is told, not only the first.
pub(crate) fn check(cases: Vec<Case>) {
    let mut problems = Vec::new();
    for case in &cases {
        let asked = shown(&format!("{:?}", case.refused));
        match ask(case.on, &case.refused) {
            Ok(answer) => problems.push(format!("{asked} was answered: {}", shown(&answer.to_string()))),
            Err(refusal) => {
                let found = faults(&refusal, case);
                problems.extend(found.into_iter().map(|fault| {
                    format!("{asked}: {fault}\n      {}", shown(&refusal.to_json().to_string()))
                }));
            }
        }
        for near in &case.near {
            match ask(near.on, &near.ask) {
                Ok(answer) if answer.pointer(near.pointer) == Some(&near.value) => {}
                Ok(answer) => problems.push(format!(
                    "neighbour {}: {} is {:?}, not {}",
                    shown(&format!("{:?}", near.ask)),
                    near.pointer,
                    answer.pointer(near.pointer),
                    near.value
                )),
                Err(refusal) => {
                    let asked = shown(&format!("{:?}", near.ask));
                    problems.push(format!("neighbour {asked} was refused: {}", refusal.to_text()));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{} faults:\n{}", problems.len(), problems.join("\n"));
}

fn shown(text: &str) -> String {
    text.chars().take(500).collect()
}

fn faults(refusal: &Refusal, case: &Case) -> Vec<String> {
    let mut faults = shape_faults(refusal, case.code);
    if !refusal.to_text().contains(case.says) {
        faults.push(format!("doesn't say {:?}", case.says));
    }
    for (name, value) in &case.facts {
        if refusal.facts.get(*name) != Some(value) {
            faults.push(format!("the fact {name} isn't {value}"));
        }
    }
    faults
}

/// What every refusal of a code must be.
pub(crate) fn shape_faults(refusal: &Refusal, code: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut require = |holds: bool, fault: String| {
        if !holds {
            faults.push(fault);
        }
    };
    require(refusal.code.as_str() == code, format!("the code isn't {code}"));
    let must_carry = MUST_CARRY.iter().find(|(of, _)| *of == code).map(|(_, facts)| *facts);
    require(must_carry.is_some(), format!("MUST_CARRY has no line for {code}"));
    for name in must_carry.unwrap_or_default() {
        require(refusal.facts.contains_key(*name), format!("lacks the fact {name}"));
    }
    require(refusal.terminal == TERMINAL.contains(&code), format!("terminal is {}", refusal.terminal));
    require(refusal.terminal != refusal.next_step.is_some(), "a next step, or terminal".to_owned());
    require(!refusal.message.is_empty() && refusal.message.len() < 700, "the message's length".to_owned());
    if refusal.terminal {
        let message = &refusal.message;
        require(message.contains("can't be answered from the signed catalogue"), "doesn't say so".to_owned());
        for hope in ["narrow", "add a filter", "fewer rows", "smaller"] {
            require(
                !message.to_lowercase().contains(hope),
                format!("suggests that {hope:?} reaches the total"),
            );
        }
    }
    let step = refusal.next_step.as_deref().unwrap_or("");
    if let Some((_, way)) = WAYS_OUT.iter().find(|(of, _)| *of == code) {
        require(step.contains(way), format!("the next step doesn't name {way}"));
    }
    for name in named_candidates(refusal) {
        require(signed_names().contains(name.as_str()), format!("offers {name:?}, which isn't signed"));
    }
    faults
}

/// Everything a refusal offers instead of what was asked.
fn named_candidates(refusal: &Refusal) -> Vec<String> {
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
    };
    let mut names = Vec::new();
    for fact in
        ["nearest", "datasets", "queryable_relatives", "numeric_columns", "shared_columns", "mirrored"]
    {
        names.extend(refusal.facts.get(fact).map(texts).unwrap_or_default());
    }
    let candidates = refusal.facts.get("candidates");
    names
        .extend(candidates.and_then(Value::as_object).into_iter().flat_map(|of| of.values()).flat_map(texts));
    for fact in ["candidates", "signed_paths", "signed_neighbours"] {
        let paths = refusal.facts.get(fact).and_then(Value::as_array).into_iter().flatten();
        for path in paths {
            for member in ["left_source", "left_column", "right_source", "right_column"] {
                names.extend(path.get(member).and_then(Value::as_str).map(str::to_owned));
            }
        }
    }
    names
}

/// Datasets, sources and columns of the catalogues asked here.
fn signed_names() -> &'static BTreeSet<String> {
    static NAMES: OnceLock<BTreeSet<String>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let mut names = BTreeSet::new();
        let made = crate::staged::made().0;
        for relation in demo::data().relations.iter().chain(&made) {
            names.insert(relation.dataset.clone());
            names.insert(relation.source());
            names.extend(relation.columns.iter().map(|column| column.name.clone()));
        }
        names
    })
}
