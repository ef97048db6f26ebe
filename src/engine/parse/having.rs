//! `out>=10`, `out!=x`, `out=x`, or `out:operator:value`.

use super::{Comparison, Malformed, parse_list, parse_value};
use crate::engine::value::RawValue;

/// One having condition as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HavingExpression {
    /// A metric output or group column.
    pub output: String,
    /// The test.
    pub test: HavingTest,
}

/// What a having condition asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HavingTest {
    /// A comparison with one value.
    Compare(Comparison, RawValue),
    /// Membership in a list.
    In(Vec<RawValue>),
    /// A text pattern.
    Like {
        /// The pattern as written.
        pattern: String,
        /// Whether case is ignored.
        ignore_case: bool,
    },
}

/// Reads one having condition.
pub(crate) fn parse_having(text: &str) -> Result<HavingExpression, Malformed> {
    let Some(position) = text.find(['=', '>', '<', '!', ':']) else {
        return Err(Malformed::new(format!("`{text}` has no operator"), form(text.trim())));
    };
    let (output, rest) = text.split_at(position);
    let output = output.trim();
    if output.is_empty() {
        return Err(Malformed::new(format!("`{text}` names no output"), form("total")));
    }
    let malformed = |why: String| Malformed::new(why, form(output));
    if let Some(rest) = rest.strip_prefix(':') {
        let Some((word, value)) = rest.split_once([':', '.']) else {
            return Err(malformed(format!("`{text}` has no value")));
        };
        let word = word.trim().to_ascii_lowercase();
        let test = if let Some(comparison) = Comparison::from_word(&word) {
            HavingTest::Compare(comparison, value_of(text, output, value)?)
        } else {
            match word.as_str() {
                "in" => HavingTest::In(parse_list(value).map_err(malformed)?),
                "like" | "ilike" => {
                    let pattern = value_of(text, output, value)?.text;
                    HavingTest::Like { pattern, ignore_case: word == "ilike" }
                }
                _ => return Err(malformed(format!("`{word}` is not an operator here"))),
            }
        };
        return Ok(HavingExpression { output: output.to_owned(), test });
    }
    let (comparison, length) = match (rest.get(..2), rest.get(..1)) {
        (Some(">="), _) => (Comparison::GreaterOrEqual, 2),
        (Some("<="), _) => (Comparison::LessOrEqual, 2),
        (Some("!=" | "<>"), _) => (Comparison::NotEqual, 2),
        (Some("=="), _) => (Comparison::Equal, 2),
        (_, Some(">")) => (Comparison::Greater, 1),
        (_, Some("<")) => (Comparison::Less, 1),
        (_, Some("=")) => (Comparison::Equal, 1),
        _ => return Err(malformed(format!("`{text}` has no operator"))),
    };
    let value = value_of(text, output, rest.get(length..).unwrap_or(""))?;
    Ok(HavingExpression { output: output.to_owned(), test: HavingTest::Compare(comparison, value) })
}

fn value_of(text: &str, output: &str, value: &str) -> Result<RawValue, Malformed> {
    let value = parse_value(value).map_err(|why| Malformed::new(why, form(output)))?;
    if value.text.is_empty() && !value.quoted {
        return Err(Malformed::new(format!("`{text}` has no value"), form(output)));
    }
    Ok(value)
}

fn form(output: &str) -> String {
    let output = if output.is_empty() { "total" } else { output };
    format!(
        "write `{output}>=10`, `{output}!=10`, or `{output}:gte:10`; operators: =, !=, >, >=, <, <=, or eq, neq, gt, gte, lt, lte, in, like, ilike in the colon form"
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn accepted_spellings() {
        let value = |text: &str| RawValue { text: text.to_owned(), quoted: false };
        for (text, comparison) in [
            ("n>=10", Comparison::GreaterOrEqual),
            ("n:gte:10", Comparison::GreaterOrEqual),
            ("n != 10", Comparison::NotEqual),
            ("n=10", Comparison::Equal),
            ("n<10", Comparison::Less),
        ] {
            let test = HavingTest::Compare(comparison, value("10"));
            assert_eq!(parse_having(text), Ok(HavingExpression { output: "n".to_owned(), test }), "{text}");
        }
        assert!(
            matches!(parse_having("s:in:[1,2]"), Ok(HavingExpression { test: HavingTest::In(list), .. }) if list.len() == 2)
        );
    }

    #[test]
    fn malformed_spellings_show_the_form() {
        for text in ["n", "", ">5", "n>", "n:between:1", "n:gt", "n:in:5", "n!5"] {
            assert!(parse_having(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in ".{0,60}") {
            let _ = parse_having(&text);
        }
    }
}
