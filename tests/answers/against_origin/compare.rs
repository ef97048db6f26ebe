//! Whether our value says what the origin's says.

use benthic_mirror::catalog::ColumnType;
use benthic_mirror::demo::Decimal;
use serde_json::Value;

use super::values::decimal;

/// Compares one value of a column; the error says how they differ.
pub fn same_value(ours: &Value, theirs: &Value, column_type: &ColumnType) -> Result<(), String> {
    if ours.is_null() || theirs.is_null() {
        return equal(ours, theirs, ours == theirs);
    }
    match column_type {
        ColumnType::Integer | ColumnType::BigInt | ColumnType::Numeric { .. } => {
            let text = exact_text(ours)?;
            // A declared scale is part of the value's text; without one trailing zeros are dropped (docs/parity.md).
            let as_text = !matches!(column_type, ColumnType::Numeric { declared: None });
            let same = match as_text {
                true => text == theirs.to_string(),
                false => Decimal::from_text(&text) == decimal(theirs),
            };
            equal(ours, theirs, same)
        }
        ColumnType::Double | ColumnType::Real => equal(ours, theirs, ours.to_string() == theirs.to_string()),
        ColumnType::Json | ColumnType::Jsonb | ColumnType::Geometry { .. } => {
            equal(ours, theirs, same_json(ours, theirs))
        }
        ColumnType::Array(element) => match (ours, theirs) {
            (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
                left.iter().zip(right).try_for_each(|(left, right)| same_value(left, right, element))
            }
            _ => equal(ours, theirs, false),
        },
        _ => equal(ours, theirs, ours == theirs),
    }
}

fn equal(ours: &Value, theirs: &Value, same: bool) -> Result<(), String> {
    if same { Ok(()) } else { Err(format!("ours {ours}, theirs {theirs}")) }
}

/// The digits of an exact number; an error if it is a string without need, or a number a double would change.
pub fn exact_text(ours: &Value) -> Result<String, String> {
    let (text, quoted) = match ours {
        Value::Number(number) => (number.to_string(), false),
        Value::String(text) => (text.clone(), true),
        _ => return Err(format!("{ours} is no number")),
    };
    let nearest: f64 = text.parse().map_err(|_| format!("{ours} is no number"))?;
    let changed = Decimal::from_text(&format!("{nearest:e}")) != Decimal::from_text(&text);
    match (changed, quoted) {
        (true, false) => Err(format!("{text} is a JSON number, but a double changes it")),
        (false, true) => Err(format!("{text} is a string, but a double keeps it")),
        _ => Ok(text),
    }
}

/// Equal structure, numbers by their exact value, members in any order.
fn same_json(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(_), Value::Number(_)) => decimal(left) == decimal(right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same_json(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(name, value)| right.get(name).is_some_and(|other| same_json(value, other)))
        }
        _ => left == right,
    }
}
