//! When an answer is PostgreSQL's answer.

use benthic_mirror::engine::{Answer, Matched, Refusal, RefusalCode};
use serde_json::Value;

use crate::requests::{Ask, Output, Request};

/// What the engine did.
pub(crate) enum Outcome {
    Answered(Box<Answer>),
    Refused(Box<Refusal>),
    Failed(String),
}

/// A number's digits, or any text; trailing zeros of a fraction left out where the scale is free.
fn canonical(value: &Value, scale_is_free: bool) -> Value {
    let free = |text: String| match scale_is_free && text.contains('.') && !text.contains('e') {
        true => Value::String(text.trim_end_matches('0').trim_end_matches('.').to_owned()),
        false => Value::String(text),
    };
    match value {
        Value::Number(number) => free(number.to_string()),
        Value::String(text) if scale_is_free => free(text.clone()),
        Value::Array(items) if scale_is_free => {
            Value::Array(items.iter().map(|item| canonical(item, scale_is_free)).collect())
        }
        other => other.clone(),
    }
}

/// Whether ours is theirs: the same digits, ours as a string only where a double would change them.
fn same(ours: &Value, theirs: &Value, output: &Output) -> bool {
    if let (Value::String(_), Value::Number(number)) = (ours, theirs)
        && survives_double(&number.to_string())
    {
        return false;
    }
    canonical(ours, output.scale_is_free) == canonical(theirs, output.scale_is_free)
}

/// Whether the nearest double, spelt by its shortest digits, is this number: compared as digits and exponent.
fn survives_double(text: &str) -> bool {
    let parts = |text: &str| {
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{}{after}", before.trim_start_matches('-'));
        let point = before.trim_start_matches('-').len() as i64 + exponent.parse::<i64>().unwrap();
        let leading = digits.len() - digits.trim_start_matches('0').len();
        let digits = digits.trim_matches('0').to_owned();
        let point = if digits.is_empty() { 0 } else { point - leading as i64 };
        (text.starts_with('-') && !digits.is_empty(), digits, point)
    };
    let double: f64 = text.parse().unwrap();
    double.is_finite() && parts(text) == parts(&format!("{double:e}"))
}

/// What PostgreSQL says, as `[matched, rows]`.
pub(crate) struct Theirs {
    pub(crate) matched: u64,
    pub(crate) rows: Vec<Vec<Value>>,
}

impl Theirs {
    pub(crate) fn read(text: &str) -> Self {
        let mut value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let rows = value[1].take();
        let matched = value[0].as_u64().unwrap();
        let rows = match rows {
            Value::Array(rows) => rows,
            other => panic!("no rows: {other}"),
        };
        let rows = rows
            .into_iter()
            .map(|row| match row {
                Value::Array(cells) => cells,
                other => panic!("no row: {other}"),
            })
            .collect();
        Self { matched, rows }
    }
}

/// The rows an answer should have, whether any are left out, and how many it stands for.
fn expected(request: &Request, theirs: &Theirs) -> (Vec<Vec<Value>>, bool, Option<u64>) {
    let mut rows = theirs.rows.clone();
    match &request.ask {
        Ask::Query(arguments) if arguments.metrics.is_empty() => {
            let more = (request.offset + rows.len()) < theirs.matched as usize;
            (rows, more, None)
        }
        Ask::Query(_) => {
            let more = rows.len() > request.limit;
            rows.truncate(request.limit);
            (rows, more, None)
        }
        Ask::Join(..) => {
            if rows.len() > 1 && rows.windows(2).all(|pair| pair[0] == pair[1]) {
                rows.truncate(1);
                return (rows, false, Some(theirs.matched));
            }
            let more = rows.len() > request.limit;
            rows.truncate(request.limit);
            (rows, more, None)
        }
    }
}

/// `None` if they agree, else what differs.
pub(crate) fn difference(request: &Request, outcome: &Outcome, theirs: Option<&Theirs>) -> Option<String> {
    let theirs = match (outcome, theirs) {
        (Outcome::Failed(error), _) => return Some(format!("the engine failed: {error}")),
        // A sum of doubles beyond their range is an error there and a refusal here.
        (Outcome::Refused(refusal), None) if refusal.code == RefusalCode::NotExact => return None,
        (_, None) => return Some("PostgreSQL failed, the engine didn't".to_owned()),
        (Outcome::Refused(refusal), Some(theirs)) => {
            let too_wide = refusal.code == RefusalCode::JoinTooWide
                && theirs.matched > 1_000
                && refusal.facts["joined_rows"] == theirs.matched;
            return (!too_wide).then(|| refusal.to_text());
        }
        (Outcome::Answered(_), Some(theirs)) => theirs,
    };
    let Outcome::Answered(answer) = outcome else { return None };
    let names: Vec<&str> = request.outputs.iter().map(|output| output.name.as_str()).collect();
    if answer.columns != names {
        return Some(format!("columns {:?}, expected {names:?}", answer.columns));
    }
    if matches!(request.ask, Ask::Join(..)) {
        if theirs.matched > 1_000 {
            return Some(format!("{} joined rows were answered", theirs.matched));
        }
        if answer.joins[0]["joined_rows"] != theirs.matched {
            return Some(format!("{} joined rows, expected {}", answer.joins[0], theirs.matched));
        }
    } else {
        let ours = answer.sources[0].matched;
        let is_right = match ours {
            Matched::Exactly(rows) => rows == theirs.matched,
            // Left uncounted only where rows are left out, or groups stand for them.
            Matched::AtLeast(rows) => {
                rows <= theirs.matched
                    && (answer.truncated.is_some() || answer.offset.is_none_or(|skipped| skipped > 0))
            }
        };
        if !is_right {
            return Some(format!("{ours:?} rows matched, expected {}", theirs.matched));
        }
    }
    let (rows, more, represented) = expected(request, theirs);
    for (index, (ours, theirs)) in answer.rows.iter().zip(&rows).enumerate() {
        for (output, theirs) in request.outputs.iter().zip(theirs) {
            let ours = &ours[output.name.as_str()];
            if !same(ours, theirs, output) {
                return Some(format!("row {index}, `{}`: {ours}, expected {theirs}", output.name));
            }
        }
    }
    if answer.rows.len() != rows.len() {
        return Some(format!("{} rows, expected {}", answer.rows.len(), rows.len()));
    }
    if answer.truncated.is_some() != more {
        return Some(format!("truncated: {:?}, expected {more}", answer.truncated));
    }
    (answer.represented_rows != represented)
        .then(|| format!("stands for {:?} rows, expected {represented:?}", answer.represented_rows))
}
