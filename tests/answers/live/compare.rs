//! When a live answer is the local one.

use arrow::datatypes::i256;
use benthic_mirror::app::AppError;
use serde_json::Value;

/// What one request came to.
#[derive(Debug)]
pub enum Verdict {
    /// Both answered the same.
    Answered,
    /// Both refused the same, with this code.
    Refused(String),
    /// Only live refused, with a code that says the server's rules would decide.
    OnlyLive(String),
    /// Anything else.
    Different(String),
}

impl Verdict {
    pub fn kind(&self) -> String {
        match self {
            Self::Answered => "answered".to_owned(),
            Self::Refused(code) => format!("refused: {code}"),
            Self::OnlyLive(code) => format!("only live: {code}"),
            Self::Different(_) => "different".to_owned(),
        }
    }
}

fn short(outcome: &Result<Value, AppError>) -> String {
    let text = match outcome {
        Ok(answer) => answer.to_string(),
        Err(error) => error.to_string(),
    };
    text.chars().take(600).collect()
}

/// Members that must be equal.
const MEMBERS: &[&str] = &[
    "columns",
    "row_count",
    "source_complete",
    "truncated",
    "truncated_by",
    "next_offset",
    "joins",
    "warnings",
];

/// Compares; the outputs in `averages` are averages of decimals without a declared scale, whose digits depend on how many
/// the rows read have (docs/parity.md).
pub fn verdict(
    local: &Result<Value, AppError>,
    live: &Result<Value, AppError>,
    averages: &[String],
) -> Verdict {
    match (local, live) {
        (Ok(local), Ok(live)) => match difference(local, live, averages) {
            Some(why) => Verdict::Different(why),
            None => Verdict::Answered,
        },
        (Err(AppError::Refused(local)), Err(AppError::Refused(live))) if local == live => {
            Verdict::Refused(local.code.as_str().to_owned())
        }
        (local, Err(AppError::Refused(live))) => {
            let live_only = match live.code.as_str() {
                "collation_unknown" => true,
                // An offset without a key, and ties without one.
                "bad_argument" => live.facts.get("argument").is_some_and(|argument| argument == "offset"),
                "no_primary_key" => live.facts.contains_key("candidate_rows"),
                _ => false,
            };
            let local_answers = match local {
                Ok(_) => true,
                // Whether the rows that match are too many is known only where text is compared.
                Err(AppError::Refused(local)) => {
                    ["scan_limit", "no_primary_key"].contains(&local.code.as_str())
                }
                Err(_) => false,
            };
            match live_only && local_answers {
                true => Verdict::OnlyLive(live.code.as_str().to_owned()),
                false => Verdict::Different(format!("live {}\n  local {}", live.to_text(), short(local))),
            }
        }
        (local, live) => Verdict::Different(format!("live {}\n  local {}", short(live), short(local))),
    }
}

fn difference(local: &Value, live: &Value, averages: &[String]) -> Option<String> {
    for member in MEMBERS {
        if local[member] != live[member] {
            return Some(format!("{member}: local {}, live {}", local[member], live[member]));
        }
    }
    let rows = |answer: &Value| answer["rows"].as_array().cloned().unwrap_or_default();
    for (index, (here, there)) in rows(local).iter().zip(rows(live)).enumerate() {
        if let Some(name) = unequal(here, &there, averages) {
            return Some(format!("row {index}, {name}: local {}, live {}", here[&name], there[&name]));
        }
    }
    let sources = |answer: &Value| answer["sources"].as_array().cloned().unwrap_or_default();
    for (here, there) in sources(local).iter().zip(sources(live)) {
        for member in ["alias", "source", "manifest_hash", "complete"] {
            if here[member] != there[member] {
                return Some(format!("{member}: local {}, live {}", here[member], there[member]));
            }
        }
        // A snapshot isn't read once more only to count; the live API counts in the same breath.
        let counted = &there["matched_rows"];
        let agrees = match here["matched_rows_at_least"].as_u64() {
            Some(seen) => counted.as_u64().is_some_and(|rows| seen <= rows),
            None => here["matched_rows"] == *counted,
        };
        if !agrees {
            return Some(format!("matched_rows: local {here}, live {counted}"));
        }
        // Not counted where only matching rows are.
        if there.get("row_count").is_some_and(|rows| *rows != here["row_count"]) {
            return Some(format!("row_count: local {}, live {}", here["row_count"], there["row_count"]));
        }
    }
    (rows(local).len() != rows(live).len()).then(|| "the number of rows".to_owned())
}

/// The first member that differs, in order.
fn unequal(here: &Value, there: &Value, averages: &[String]) -> Option<String> {
    let (Value::Object(here), Value::Object(there)) = (here, there) else { return Some("row".to_owned()) };
    if here.len() != there.len() {
        return Some("members".to_owned());
    }
    let same = |(here, there): &((&String, &Value), (&String, &Value))| {
        here == there || (here.0 == there.0 && averages.contains(here.0) && same_average(here.1, there.1))
    };
    here.iter().zip(there).find(|pair| !same(pair)).map(|((name, _), _)| name.clone())
}

/// Whether one is the other rounded to fewer digits.
pub fn same_average(here: &Value, there: &Value) -> bool {
    let text = |value: &Value| match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let (here, there) = (text(here), text(there));
    let scale = |text: &str| text.split_once('.').map_or(0, |(_, digits)| digits.len());
    let most = scale(&here).max(scale(&there));
    let units = |text: &str| {
        let padded = format!("{}{}", text.replace('.', ""), "0".repeat(most - scale(text)));
        i256::from_string(&padded)
    };
    let (Some(one), Some(other)) = (units(&here), units(&there)) else { return false };
    let fewest = scale(&here).min(scale(&there));
    let unit = i256::from_string(&format!("1{}", "0".repeat(most - fewest))).expect("a power of ten");
    (one - other).wrapping_abs() * i256::from(2) <= unit
}

#[test]
fn averages_agree_to_the_digits_both_have() {
    use serde_json::json;
    assert!(same_average(&json!("7.0000"), &json!("7.00000000")));
    assert!(same_average(&json!("0.3333"), &json!("0.33333333")));
    assert!(same_average(&json!("-0.6667"), &json!("-0.66666667")));
    assert!(!same_average(&json!("0.3334"), &json!("0.33333333")));
    assert!(!same_average(&json!("0.3333"), &json!("0.3334")));
    assert!(!same_average(&Value::Null, &json!("0.3334")));
}
