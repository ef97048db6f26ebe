//! The request language's small expressions. Every parser is total: text in, expression or [`Malformed`] out.

mod filter;
mod having;
mod metric;
mod order;

pub(crate) use filter::{FilterExpression, FilterTest, parse_filter};
pub(crate) use having::{HavingTest, parse_having};
pub(crate) use metric::{Function, MetricExpression, parse_metric};
pub(crate) use order::{Direction, parse_order};

use super::value::RawValue;

/// Operators of a filter.
pub(crate) const FILTER_OPERATORS: [&str; 11] =
    ["eq", "neq", "gt", "gte", "lt", "lte", "like", "ilike", "in", "is.null", "not.is.null"];
/// Operators of a having condition.
pub(crate) const HAVING_OPERATORS: [&str; 15] =
    ["=", "!=", ">", ">=", "<", "<=", "eq", "neq", "gt", "gte", "lt", "lte", "in", "like", "ilike"];
/// Functions of a metric.
pub(crate) const FUNCTIONS: [&str; 5] = ["count", "sum", "avg", "min", "max"];

/// Comparison operators shared by filters and having.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
}

impl Comparison {
    fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "eq" => Self::Equal,
            "neq" => Self::NotEqual,
            "gt" => Self::Greater,
            "gte" => Self::GreaterOrEqual,
            "lt" => Self::Less,
            "lte" => Self::LessOrEqual,
            _ => return None,
        })
    }

    /// Whether it asks for an order rather than equality.
    pub fn is_ordering(self) -> bool {
        !matches!(self, Self::Equal | Self::NotEqual)
    }
}

/// An expression that can't be read: what is wrong with it, and the form with the caller's own words in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Malformed {
    /// What is wrong with this expression.
    pub why: String,
    /// The form and an example.
    pub form: String,
}

impl Malformed {
    fn new(why: impl Into<String>, form: impl Into<String>) -> Self {
        Self { why: why.into(), form: form.into() }
    }
}

/// Reads one value: blanks around it are trimmed; a JSON string is unquoted and kept exactly.
fn parse_value(text: &str) -> Result<RawValue, String> {
    let trimmed = text.trim();
    if trimmed.starts_with('"') {
        return serde_json::from_str::<String>(trimmed)
            .map(|text| RawValue { text, quoted: true })
            .map_err(|_| format!("`{trimmed}` opens a quote but isn't a JSON string"));
    }
    Ok(RawValue { text: trimmed.to_owned(), quoted: false })
}

/// Reads the JSON array of an `in`; numbers keep their digits, booleans their words.
fn parse_list(text: &str) -> Result<Vec<RawValue>, String> {
    let trimmed = text.trim();
    let items: Vec<serde_json::Value> =
        serde_json::from_str(trimmed).map_err(|_| format!("`in` takes a JSON array, not `{trimmed}`"))?;
    items
        .into_iter()
        .map(|item| match item {
            serde_json::Value::String(text) => Ok(RawValue { text, quoted: true }),
            serde_json::Value::Number(number) => Ok(RawValue { text: number.to_string(), quoted: false }),
            serde_json::Value::Bool(flag) => Ok(RawValue { text: flag.to_string(), quoted: false }),
            serde_json::Value::Null => {
                Err("null can't be in the list; use is.null for missing values".to_owned())
            }
            _ => Err("the list holds something other than text, numbers and booleans".to_owned()),
        })
        .collect()
}
