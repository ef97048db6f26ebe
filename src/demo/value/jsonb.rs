//! `jsonb`: PostgreSQL's normal form and order.

use std::cmp::Ordering;

use serde_json::Value;

use super::Decimal;
use super::json::json_string;

/// The text `jsonb` prints for a JSON text: keys by length then bytes, the last duplicate kept, numbers as `numeric`.
/// `None` when the input is no JSON.
pub(super) fn normalize(text: &str) -> Option<String> {
    Some(print(&serde_json::from_str::<Value>(text).ok()?))
}

fn print(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(_) => value.to_string(),
        Value::Number(number) => Decimal::from_text(&number.to_string()).to_string(),
        Value::String(text) => json_string(text),
        Value::Array(items) => format!("[{}]", items.iter().map(print).collect::<Vec<_>>().join(", ")),
        Value::Object(_) => {
            let members = members(value)
                .into_iter()
                .map(|(key, member)| format!("{}: {}", json_string(key), print(member)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
    }
}

/// An object's members in storage order.
fn members(value: &Value) -> Vec<(&str, &Value)> {
    let mut members: Vec<(&str, &Value)> =
        value.as_object().into_iter().flatten().map(|(key, member)| (key.as_str(), member)).collect();
    members.sort_by(|left, right| (left.0.len(), left.0).cmp(&(right.0.len(), right.0)));
    members
}

/// The b-tree order of two `jsonb` texts.
pub(super) fn compare(left: &str, right: &str) -> Ordering {
    let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap_or(Value::Null);
    let (left, right) = (parse(left), parse(right));
    let is_empty_array = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
    let is_scalar = |value: &Value| !value.is_array() && !value.is_object();
    // A bare scalar is held as an array of one, so the empty array sorts before it; a PostgreSQL oddity.
    if is_empty_array(&left) && is_scalar(&right) {
        return Ordering::Less;
    }
    if is_scalar(&left) && is_empty_array(&right) {
        return Ordering::Greater;
    }
    compare_parsed(&left, &right)
}

/// Null < string < number < boolean < array < object.
fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::String(_) => 1,
        Value::Number(_) => 2,
        Value::Bool(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}

fn compare_parsed(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Number(left), Value::Number(right)) => {
            Decimal::from_text(&left.to_string()).cmp(&Decimal::from_text(&right.to_string()))
        }
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::Array(left), Value::Array(right)) => {
            // More elements sort after fewer, whatever they are.
            left.len().cmp(&right.len()).then_with(|| {
                left.iter()
                    .zip(right)
                    .map(|(left, right)| compare_parsed(left, right))
                    .find(|o| o.is_ne())
                    .unwrap_or(Ordering::Equal)
            })
        }
        (Value::Object(_), Value::Object(_)) => {
            let (left, right) = (members(left), members(right));
            left.len().cmp(&right.len()).then_with(|| {
                left.iter()
                    .zip(&right)
                    .map(|(left, right)| left.0.cmp(right.0).then_with(|| compare_parsed(left.1, right.1)))
                    .find(|order| order.is_ne())
                    .unwrap_or(Ordering::Equal)
            })
        }
        _ => rank(left).cmp(&rank(right)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_form() {
        let text = r#"{"bb" : 1.10, "a":[1e2,  "x\u00e9"], "bb":2,"c":null}"#;
        assert_eq!(normalize(text).unwrap(), "{\"a\": [100, \"xé\"], \"c\": null, \"bb\": 2}");
        assert_eq!(normalize("{bad"), None);
    }

    #[test]
    fn order_is_by_kind_then_size_then_content() {
        let ascending = [
            "[]",
            "null",
            "\"a\"",
            "\"b\"",
            "1.0",
            "2",
            "false",
            "true",
            "[3]",
            "[1, 2]",
            "{\"z\": 1}",
            "{\"a\": 1, \"b\": 2}",
        ];
        for (index, left) in ascending.iter().enumerate() {
            for (other, right) in ascending.iter().enumerate() {
                assert_eq!(compare(left, right), index.cmp(&other), "{left} {right}");
            }
        }
        assert!(compare("1.0", "1.00").is_eq());
    }
}
