//! `out=function:column` and `out:function:column`.

use super::Malformed;

/// Aggregate functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// Rows, or non-null values of a column.
    Count,
    /// Exact sum.
    Sum,
    /// Average.
    Avg,
    /// Smallest value.
    Min,
    /// Largest value.
    Max,
}

impl Function {
    /// The function's name in requests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Sum => "sum",
            Self::Avg => "avg",
            Self::Min => "min",
            Self::Max => "max",
        }
    }
}

/// One metric as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MetricExpression {
    /// Name of the output column.
    pub output: String,
    /// The function.
    pub function: Function,
    /// The column; `None` is `*`, for count only.
    pub column: Option<String>,
}

/// Reads one metric.
pub(crate) fn parse_metric(text: &str) -> Result<MetricExpression, Malformed> {
    let Some((output, rest)) = text.split_once(['=', ':']) else {
        return Err(Malformed::new(format!("`{text}` names no output column"), form("total", "amount")));
    };
    let output = output.trim();
    if !is_output_name(output) {
        return Err(Malformed::new(
            format!("`{output}` can't name an output column"),
            format!("output names match [A-Za-z][A-Za-z0-9_]{{0,63}}; {}", form("total", "amount")),
        ));
    }
    let Some((function, column)) = rest.split_once([':', '.']).or_else(|| call_form(rest)) else {
        return Err(Malformed::new(
            format!("`{text}` has no function and column"),
            form(output, rest.trim()),
        ));
    };
    let column = column.trim();
    let function = match function.trim().to_ascii_lowercase().as_str() {
        "count" => Function::Count,
        "sum" => Function::Sum,
        "avg" | "average" | "mean" => Function::Avg,
        "min" => Function::Min,
        "max" => Function::Max,
        other => {
            return Err(Malformed::new(format!("`{other}` is not a function"), form(output, column)));
        }
    };
    match (function, column) {
        (_, "") => Err(Malformed::new(format!("`{text}` names no column"), form(output, "amount"))),
        (Function::Count, "*") => Ok(MetricExpression { output: output.to_owned(), function, column: None }),
        (_, "*") => Err(Malformed::new(
            format!("`{}` needs a column; only count takes `*`", function.as_str()),
            form(output, "amount"),
        )),
        _ => Ok(MetricExpression { output: output.to_owned(), function, column: Some(column.to_owned()) }),
    }
}

/// `function(column)`, which callers who think in SQL write.
fn call_form(rest: &str) -> Option<(&str, &str)> {
    rest.trim().strip_suffix(')')?.split_once('(')
}

/// Whether a text can name an output column.
fn is_output_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn form(output: &str, column: &str) -> String {
    let column = if column.is_empty() { "amount" } else { column };
    format!(
        "write `out=function:column`, e.g. `{output}=sum:{column}`; functions: count, sum, avg, min, max; rows: `n=count:*`"
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn accepted_spellings() {
        for (text, output, function, column) in [
            ("n=count:*", "n", Function::Count, None),
            ("total=sum:amount", "total", Function::Sum, Some("amount")),
            ("total:SUM:amount", "total", Function::Sum, Some("amount")),
            (" hi = max : a b ", "hi", Function::Max, Some("a b")),
            ("n=count(*)", "n", Function::Count, None),
            ("n=count:class", "n", Function::Count, Some("class")),
        ] {
            let column = column.map(str::to_owned);
            assert_eq!(
                parse_metric(text),
                Ok(MetricExpression { output: output.to_owned(), function, column })
            );
        }
    }

    #[test]
    fn malformed_spellings_show_the_callers_own_words() {
        for (text, needle) in [
            ("sum", "names no output"),
            ("1st=sum:a", "can't name"),
            ("total=median:amount", "total=sum:amount"),
            ("total=sum:*", "only count"),
            ("total=sum:", "names no column"),
            ("total=amount", "total=sum:amount"),
        ] {
            let malformed = parse_metric(text).expect_err(text);
            assert!(
                format!("{} {}", malformed.why, malformed.form).contains(needle),
                "{text}: {malformed:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in ".{0,60}") {
            let _ = parse_metric(&text);
        }
    }
}
