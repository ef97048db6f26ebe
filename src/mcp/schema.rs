//! Input and output schemas in the form every client takes: flat, no `$ref`, no type lists, no integer formats.

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

/// The input schema of a tool: its argument type's properties, simplified, with these required.
pub(super) fn input_schema<T: JsonSchema>(required: &[&str]) -> Map<String, Value> {
    let generated = schemars::schema_for!(T).to_value();
    let properties: Map<String, Value> = generated
        .get("properties")
        .and_then(Value::as_object)
        .map(|properties| {
            properties.iter().map(|(name, property)| (name.clone(), simplified(name, property))).collect()
        })
        .unwrap_or_default();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), Value::Object(properties));
    schema.insert("required".to_owned(), required.to_vec().into());
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}

/// One property without what some clients stumble over.
fn simplified(name: &str, property: &Value) -> Value {
    let Some(property) = property.as_object() else { return property.clone() };
    let mut simple = Map::new();
    for (member, value) in property {
        match (member.as_str(), value) {
            ("title" | "$schema" | "format", _) => {}
            ("default", Value::Null) => {}
            ("type", Value::Array(types)) => {
                let first = types.iter().find(|kind| kind.as_str() != Some("null"));
                simple.insert("type".to_owned(), first.cloned().unwrap_or_else(|| "string".into()));
            }
            ("description", Value::String(text)) => {
                // Doc comments are wrapped for people who read the source.
                simple.insert(member.clone(), text.split_whitespace().collect::<Vec<_>>().join(" ").into());
            }
            // An enum with documented values comes as alternatives of constants.
            ("oneOf", Value::Array(alternatives)) => {
                let constants: Vec<Value> =
                    alternatives.iter().filter_map(|alternative| alternative.get("const").cloned()).collect();
                simple.insert("type".to_owned(), "string".into());
                simple.insert("enum".to_owned(), constants.into());
            }
            _ => {
                simple.insert(member.clone(), value.clone());
            }
        }
    }
    if name == "limit" {
        simple.insert("minimum".to_owned(), 1.into());
    }
    Value::Object(simple)
}

/// The output schema of a data tool: the members a caller can rely on; more may come.
pub(super) fn output_schema(members: &[(&str, Value)]) -> Map<String, Value> {
    let mut properties = Map::new();
    for (name, schema) in members {
        properties.insert((*name).to_owned(), schema.clone());
    }
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), Value::Object(properties));
    schema
}

/// A list of objects.
pub(super) fn objects(description: &str) -> Value {
    json!({"type": "array", "items": {"type": "object"}, "description": description})
}

/// A list of texts.
pub(super) fn texts(description: &str) -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": description})
}

/// A count.
pub(super) fn count(description: &str) -> Value {
    json!({"type": "integer", "description": description})
}

/// A yes or no.
pub(super) fn flag(description: &str) -> Value {
    json!({"type": "boolean", "description": description})
}

/// An object.
pub(super) fn object(description: &str) -> Value {
    json!({"type": "object", "description": description})
}
