//! The arguments of `benthic_query` and `benthic_join` as callers send them.
//!
//! Reading is total: an unknown argument or a wrong JSON type is a refusal that names it.

use schemars::JsonSchema;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::refusal::{Refusal, RefusalCode};

/// Arguments of `benthic_query`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueryArguments {
    /// The question being answered, in the user's words.
    pub question: Option<String>,
    /// Relation to read, `dataset.relation`, exactly as benthic_discover returns it in `source`.
    #[serde(default)]
    pub source: String,
    /// Columns to return. Empty: the filter columns, else the first three.
    #[serde(default)]
    pub select: Vec<String>,
    /// Filters, all of which must hold: `column=operator.value` with eq, neq, gt, gte, lt, lte, like, ilike,
    /// `in.["a","b"]`, is.null, not.is.null. Dates are ISO. Example: `state=eq.MA`.
    #[serde(default, rename = "where")]
    pub filters: Vec<String>,
    /// Columns to group by; needs `metrics`.
    #[serde(default)]
    pub group_by: Vec<String>,
    /// Aggregates, `out=function:column` with count, sum, avg, min, max. Example: `total=sum:amount`, `n=count:*`.
    #[serde(default)]
    pub metrics: Vec<String>,
    /// Conditions on metric outputs or group columns, e.g. `n>=10`.
    #[serde(default)]
    pub having: Vec<String>,
    /// Order, applied before the limit: `column`, `column:asc`, `column:desc`. Nulls last.
    #[serde(default)]
    pub order: Vec<String>,
    /// Rows to return, 1 to 1000 (default 100).
    pub limit: Option<i64>,
    /// Rows to skip; not with metrics.
    pub offset: Option<i64>,
    /// Check and plan only: returns what would happen and no rows.
    #[serde(default)]
    pub explain: bool,
}

/// Arguments of `benthic_join`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JoinArguments {
    /// The question being answered, in the user's words.
    pub question: Option<String>,
    /// Left relation, `dataset.relation`.
    #[serde(default)]
    pub left_source: String,
    /// Right relation, `dataset.relation`.
    #[serde(default)]
    pub right_source: String,
    /// Left column of a signed join path; give both columns or neither.
    pub left_column: Option<String>,
    /// Right column of the same path.
    pub right_column: Option<String>,
    /// Filters on the left relation, as in benthic_query.
    #[serde(default)]
    pub left_where: Vec<String>,
    /// Filters on the right relation, applied before a left join.
    #[serde(default)]
    pub right_where: Vec<String>,
    /// Further equalities a partial path needs: `left_col=right_col`.
    #[serde(default)]
    pub context_conditions: Vec<String>,
    /// `inner` (default) or `left`.
    pub mode: Option<String>,
    /// Rows to return, 1 to 1000 (default 100).
    pub limit: Option<i64>,
    /// Left columns to return.
    #[serde(default)]
    pub left_select: Vec<String>,
    /// Right columns to return.
    #[serde(default)]
    pub right_select: Vec<String>,
    /// Check and plan only: returns what would happen and no rows.
    #[serde(default)]
    pub explain: bool,
}

/// Reads a tool's arguments; null members count as absent, as most clients send them.
pub fn read_arguments<T: DeserializeOwned + JsonSchema>(arguments: Map<String, Value>) -> Result<T, Refusal> {
    let given: Map<String, Value> = arguments.into_iter().filter(|(_, value)| !value.is_null()).collect();
    let known = argument_names::<T>();
    if let Some(name) = given.keys().find(|name| !known.contains(name)) {
        let nearest = known
            .iter()
            .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
            .filter(|(score, _)| *score > 0.75)
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, candidate)| candidate.clone());
        let refusal =
            Refusal::new(RefusalCode::BadArgument, format!("`{name}` is not an argument of this tool."))
                .fact("argument", name.as_str())
                .fact("arguments", known.clone());
        return Err(match nearest {
            Some(candidate) => refusal.next(format!("use `{candidate}`")),
            None => refusal.next(format!("use only: {}", known.join(", "))),
        });
    }
    // One member at a time, so that the refusal can name the one that doesn't fit.
    serde_json::from_value(Value::Object(given.clone())).map_err(|error| {
        let culprit = given.iter().find_map(|(name, value)| {
            let single = Map::from_iter([(name.clone(), value.clone())]);
            serde_json::from_value::<T>(Value::Object(single)).is_err().then_some(name.as_str())
        });
        let name = culprit.unwrap_or("arguments");
        Refusal::new(RefusalCode::BadArgument, format!("`{name}` has the wrong JSON type: {error}."))
            .fact("argument", name)
            .next(form_of::<T>(name))
    })
}

fn schema_properties<T: JsonSchema>() -> Map<String, Value> {
    let schema = schemars::schema_for!(T).to_value();
    schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default()
}

/// The argument names of a tool, in declaration order.
fn argument_names<T: JsonSchema>() -> Vec<String> {
    schema_properties::<T>().keys().cloned().collect()
}

fn form_of<T: JsonSchema>(name: &str) -> String {
    let described = schema_properties::<T>()
        .get(name)
        .and_then(|property| property.get("description"))
        .and_then(Value::as_str)
        .map(str::to_owned);
    match described {
        Some(description) => format!("`{name}`: {description}"),
        None => "send a JSON object of the tool's arguments".to_owned(),
    }
}

/// A limit within 1 to `max_rows`, or the default.
pub(super) fn limit_of(given: Option<i64>, default: u64, max_rows: u64) -> Result<u64, Refusal> {
    match given {
        None => Ok(default),
        Some(limit) => {
            u64::try_from(limit).ok().filter(|limit| (1..=max_rows).contains(limit)).ok_or_else(|| {
                Refusal::new(
                    RefusalCode::BadArgument,
                    format!("`limit` is {limit}; it goes from 1 to {max_rows}."),
                )
                .fact("argument", "limit")
                .fact("minimum", 1)
                .fact("maximum", max_rows)
                .next(format!("limit={}", if limit < 1 { default } else { max_rows }))
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: Value) -> Result<QueryArguments, Refusal> {
        read_arguments(value.as_object().cloned().unwrap_or_default())
    }

    #[test]
    fn unknown_and_mistyped_arguments_are_named() {
        let refusal = read(json!({"source": "a.b", "wheres": []})).expect_err("unknown");
        assert_eq!(refusal.facts["argument"], "wheres");
        assert_eq!(refusal.next_step.as_deref(), Some("use `where`"));
        let refusal = read(json!({"source": "a.b", "limit": "many"})).expect_err("type");
        assert_eq!(refusal.facts["argument"], "limit");
        let refusal = read(json!({"source": "a.b", "where": "state=eq.MA"})).expect_err("type");
        assert_eq!(refusal.facts["argument"], "where");
    }

    #[test]
    fn nulls_count_as_absent() {
        let arguments = read(json!({"source": "a.b", "limit": null, "where": null})).expect("valid");
        assert_eq!(arguments.limit, None);
    }

    #[test]
    fn limits_name_their_range() {
        assert_eq!(limit_of(None, 100, 1000), Ok(100));
        assert_eq!(limit_of(Some(1000), 100, 1000), Ok(1000));
        for bad in [0, -1, 1001, i64::MIN] {
            assert!(limit_of(Some(bad), 100, 1000).is_err_and(|r| r.facts["maximum"] == 1000));
        }
    }
}
