//! `column=operator.value` and its accepted variants.

use super::{Comparison, Malformed, parse_list, parse_value};
use crate::engine::value::RawValue;

/// One filter as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FilterExpression {
    /// Column name.
    pub column: String,
    /// The test.
    pub test: FilterTest,
}

/// What a filter asks of its column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FilterTest {
    /// A comparison with one value.
    Compare(Comparison, RawValue),
    /// Membership in a list.
    In(Vec<RawValue>),
    /// `like` (or `ilike`): the pattern, with `*` not yet replaced.
    Like {
        /// The pattern as written.
        pattern: String,
        /// Whether case is ignored.
        ignore_case: bool,
    },
    /// `is.null`.
    IsNull,
    /// `not.is.null`.
    IsNotNull,
}

const OPERATORS: &str = "eq, neq, gt, gte, lt, lte, like, ilike, in, is.null, not.is.null";

/// Reads one filter.
pub(crate) fn parse_filter(text: &str) -> Result<FilterExpression, Malformed> {
    let Some(position) = text.find(['=', '>', '<', '!']) else {
        let column = text.trim();
        let column = if column.is_empty() { "state" } else { column };
        return Err(Malformed::new(format!("`{text}` has no operator"), form(column)));
    };
    let (column, rest) = text.split_at(position);
    let column = column.trim();
    if column.is_empty() {
        return Err(Malformed::new(format!("`{text}` names no column"), form("state")));
    }
    let symbol = if rest.starts_with(">=") || rest.starts_with("<=") || rest.starts_with("!=") {
        rest.get(..2)
    } else {
        rest.get(..1)
    }
    .unwrap_or("");
    let value = rest.get(symbol.len()..).unwrap_or("");
    let test = match symbol {
        "=" => parse_operator(text, column, value)?,
        ">" | ">=" | "<" | "<=" => {
            let comparison = match symbol {
                ">" => Comparison::Greater,
                ">=" => Comparison::GreaterOrEqual,
                "<" => Comparison::Less,
                _ => Comparison::LessOrEqual,
            };
            FilterTest::Compare(comparison, nonempty(text, column, value)?)
        }
        _ => {
            let shown = value.trim();
            return Err(Malformed::new(
                format!("`{text}` uses `{symbol}`"),
                format!("write `{column}=neq.{shown}`; operators: {OPERATORS}"),
            ));
        }
    };
    Ok(FilterExpression { column: column.to_owned(), test })
}

fn parse_operator(text: &str, column: &str, value: &str) -> Result<FilterTest, Malformed> {
    let value = value.trim_start();
    let lower = value.to_ascii_lowercase();
    match lower.trim_end() {
        "is.null" | "is:null" => return Ok(FilterTest::IsNull),
        "not.is.null" | "not:is:null" | "is.not.null" | "is.not_null" => return Ok(FilterTest::IsNotNull),
        _ => {}
    }
    let Some(position) = value.find(['.', ':']) else {
        return Err(no_operator(text, column, value));
    };
    let (word, rest) = value.split_at(position);
    let operand = rest.get(1..).unwrap_or("");
    let word = word.trim().to_ascii_lowercase();
    if let Some(comparison) = Comparison::from_word(&word) {
        return Ok(FilterTest::Compare(comparison, nonempty(text, column, operand)?));
    }
    match word.as_str() {
        "like" | "ilike" => {
            let pattern = nonempty(text, column, operand)?.text;
            Ok(FilterTest::Like { pattern, ignore_case: word == "ilike" })
        }
        "in" => parse_list(operand)
            .map(FilterTest::In)
            .map_err(|why| Malformed::new(why, format!("write `{column}=in.[\"first\",\"second\"]`"))),
        "is" | "not" => Err(Malformed::new(
            format!("`{value}` is not a null test"),
            format!("write `{column}=is.null` or `{column}=not.is.null`; operators: {OPERATORS}"),
        )),
        _ => Err(no_operator(text, column, value)),
    }
}

/// A value must be written; an empty text is the JSON string `""`.
fn nonempty(text: &str, column: &str, value: &str) -> Result<RawValue, Malformed> {
    let value = parse_value(value).map_err(|why| Malformed::new(why, form(column)))?;
    if value.text.is_empty() && !value.quoted {
        return Err(Malformed::new(
            format!("`{text}` has no value"),
            format!("write `{column}=eq.\"\"` for the empty text, `{column}=is.null` for missing values"),
        ));
    }
    Ok(value)
}

fn no_operator(text: &str, column: &str, value: &str) -> Malformed {
    Malformed::new(
        format!("`{text}` has no operator between `{column}=` and its value"),
        format!("write `{column}=eq.{}`; operators: {OPERATORS}", value.trim()),
    )
}

fn form(column: &str) -> String {
    format!("write `column=operator.value`, e.g. `{column}=eq.value`; operators: {OPERATORS}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bare(text: &str) -> RawValue {
        RawValue { text: text.to_owned(), quoted: false }
    }

    #[test]
    fn accepted_spellings() {
        let compare = |comparison, text: &str| FilterTest::Compare(comparison, bare(text));
        for (text, column, test) in [
            ("state=eq.MA", "state", compare(Comparison::Equal, "MA")),
            ("state=EQ.MA", "state", compare(Comparison::Equal, "MA")),
            ("state=eq:MA", "state", compare(Comparison::Equal, "MA")),
            (" state = eq. MA ", "state", compare(Comparison::Equal, "MA")),
            ("amount>0", "amount", compare(Comparison::Greater, "0")),
            ("amount>=1.5", "amount", compare(Comparison::GreaterOrEqual, "1.5")),
            ("amount<=1", "amount", compare(Comparison::LessOrEqual, "1")),
            ("name=eq.a.b=c", "name", compare(Comparison::Equal, "a.b=c")),
            ("name=is.NULL", "name", FilterTest::IsNull),
            ("name=not.is.null", "name", FilterTest::IsNotNull),
            (
                "name=eq.\"  x \"",
                "name",
                FilterTest::Compare(Comparison::Equal, RawValue { text: "  x ".to_owned(), quoted: true }),
            ),
            (
                "name=eq.\"\"",
                "name",
                FilterTest::Compare(Comparison::Equal, RawValue { text: String::new(), quoted: true }),
            ),
            (
                "state=in.[\"MA\", 3, true]",
                "state",
                FilterTest::In(vec![
                    RawValue { text: "MA".to_owned(), quoted: true },
                    bare("3"),
                    bare("true"),
                ]),
            ),
            (
                "name=ilike.*bank*",
                "name",
                FilterTest::Like { pattern: "*bank*".to_owned(), ignore_case: true },
            ),
        ] {
            assert_eq!(
                parse_filter(text),
                Ok(FilterExpression { column: column.to_owned(), test }),
                "{text}"
            );
        }
    }

    #[test]
    fn malformed_spellings_show_the_callers_own_column() {
        for (text, needle) in [
            ("state=MA", "state=eq.MA"),
            ("state", "state=eq."),
            ("=eq.MA", "names no column"),
            ("state!=MA", "state=neq.MA"),
            ("state=in.(MA,NY)", "state=in.["),
            ("state=in.[null]", "is.null"),
            ("state=in.[[1]]", "text, numbers"),
            ("state=eq.", "state=is.null"),
            ("state=eq.\"open", "JSON string"),
            ("state=is.true", "state=is.null"),
            ("state=between.1.2", "operators"),
            ("", "no operator"),
        ] {
            let malformed = parse_filter(text).expect_err(text);
            let shown = format!("{} {}", malformed.why, malformed.form);
            assert!(shown.contains(needle), "{text}: {shown}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in ".{0,60}") {
            let _ = parse_filter(&text);
        }
    }
}
