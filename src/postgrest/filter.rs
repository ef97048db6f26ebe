//! Filters as a tree, and the two ways PostgREST writes them (spec postgrest.md, 1–12).
//!
//! A value is text that PostgreSQL's input function for the column's type will parse. As a top-level parameter it is
//! everything after the operator's dot, raw; inside `in.(…)`, `and=(…)` and `or=(…)` it must be quoted where it could
//! end early. Both are then percent-encoded; `+` would be read as a space, so it is always `%2B`.

/// A comparison of a column with one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `=`; never true of null.
    Eq,
    /// `<>`; never true of null.
    Neq,
    /// `>`.
    Gt,
    /// `>=`.
    Gte,
    /// `<`.
    Lt,
    /// `<=`.
    Lte,
    /// `LIKE`; every `*` in the pattern becomes `%`.
    Like,
    /// `ILIKE`.
    Ilike,
    /// `IS DISTINCT FROM`: true of null unless both are.
    IsDistinct,
}

impl Operator {
    fn as_str(self) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::Neq => "neq",
            Self::Gt => "gt",
            Self::Gte => "gte",
            Self::Lt => "lt",
            Self::Lte => "lte",
            Self::Like => "like",
            Self::Ilike => "ilike",
            Self::IsDistinct => "isdistinct",
        }
    }
}

/// A condition on rows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Filter {
    /// The column compared with a value.
    Compare {
        /// Column name.
        column: String,
        /// The comparison.
        operator: Operator,
        /// The value as PostgreSQL's input function reads it.
        value: String,
    },
    /// The column equals one of the values. None at all matches no row.
    In {
        /// Column name.
        column: String,
        /// The values.
        values: Vec<String>,
    },
    /// The column is null.
    IsNull {
        /// Column name.
        column: String,
    },
    /// All of them; none at all is true.
    And(Vec<Filter>),
    /// One of them; none at all is false.
    Or(Vec<Filter>),
    /// The contrary, in SQL's three-valued logic.
    Not(Box<Filter>),
}

impl Filter {
    /// `column operator value`.
    pub fn compare(column: impl Into<String>, operator: Operator, value: impl Into<String>) -> Self {
        Self::Compare { column: column.into(), operator, value: value.into() }
    }

    /// `column IS NULL`.
    pub fn is_null(column: impl Into<String>) -> Self {
        Self::IsNull { column: column.into() }
    }

    /// The contrary of a filter.
    pub fn negate(filter: Filter) -> Self {
        Self::Not(Box::new(filter))
    }

    /// The filter as query parameters, decoded. Parameters are ANDed, so a top-level `And` becomes several.
    ///
    /// Errors: a group of no filters below the top, which the dialect can't say (`or=()` is a syntax error there).
    pub fn parameters(&self) -> Result<Vec<(String, String)>, EmptyGroup> {
        match self {
            Self::And(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    all.extend(part.parameters()?);
                }
                Ok(all)
            }
            other => Ok(vec![other.parameter(false)?]),
        }
    }

    fn parameter(&self, negated: bool) -> Result<(String, String), EmptyGroup> {
        let not = if negated { "not." } else { "" };
        Ok(match self {
            Self::Compare { column, operator, value } => {
                (quote_name(column), format!("{not}{}.{value}", operator.as_str()))
            }
            Self::In { column, values } => match values.as_slice() {
                [single] => (quote_name(column), format!("{not}eq.{single}")),
                values => (quote_name(column), format!("{not}in.{}", value_list(values))),
            },
            Self::IsNull { column } => (quote_name(column), format!("{not}is.null")),
            Self::And(parts) => (format!("{not}and"), group(parts)?),
            Self::Or(parts) => (format!("{not}or"), group(parts)?),
            Self::Not(inner) => inner.parameter(!negated)?,
        })
    }

    /// The filter as a term inside `and=(…)` or `or=(…)`.
    fn term(&self, negated: bool) -> Result<String, EmptyGroup> {
        let not = if negated { "not." } else { "" };
        Ok(match self {
            Self::Compare { column, operator, value } => {
                format!("{}.{not}{}.{}", quote_name(column), operator.as_str(), quote_value(value))
            }
            Self::In { column, values } => match values.as_slice() {
                [single] => format!("{}.{not}eq.{}", quote_name(column), quote_value(single)),
                values => format!("{}.{not}in.{}", quote_name(column), value_list(values)),
            },
            Self::IsNull { column } => format!("{}.{not}is.null", quote_name(column)),
            Self::And(parts) => format!("{not}and{}", group(parts)?),
            Self::Or(parts) => format!("{not}or{}", group(parts)?),
            Self::Not(inner) => inner.term(!negated)?,
        })
    }
}

/// A group of no filters where the dialect needs at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a group of filters is empty; PostgREST has no form for that, leave the group out")]
pub struct EmptyGroup;

fn group(parts: &[Filter]) -> Result<String, EmptyGroup> {
    if parts.is_empty() {
        return Err(EmptyGroup);
    }
    let terms = parts.iter().map(|part| part.term(false)).collect::<Result<Vec<_>, _>>()?;
    Ok(format!("({})", terms.join(",")))
}

/// `(a,b)` with every value quoted that needs it. `()` matches nothing.
fn value_list(values: &[String]) -> String {
    let quoted: Vec<String> = values.iter().map(|value| quote_value(value)).collect();
    format!("({})", quoted.join(","))
}

/// A value inside parentheses: quoted unless it plainly needs none. Quoting more than necessary is harmless there.
fn quote_value(value: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':' | b'+');
    match !value.is_empty() && value.bytes().all(plain) {
        true => value.to_owned(),
        false => quoted(value),
    }
}

/// A column name: quoted unless it is a plain identifier (a dot would make it an embedded resource's filter).
pub(super) fn quote_name(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    match !name.is_empty() && name.bytes().all(plain) {
        true => name.to_owned(),
        false => quoted(name),
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        if matches!(character, '"' | '\\') {
            out.push('\\');
        }
        out.push(character);
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eq(column: &str, value: &str) -> Filter {
        Filter::compare(column, Operator::Eq, value)
    }

    fn encoded(filter: &Filter) -> String {
        let pairs = filter.parameters().unwrap();
        pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
    }

    #[test]
    fn top_level_values_are_raw_and_nested_ones_quoted() {
        let awkward = r#"a,b) "c" \ d"#;
        assert_eq!(encoded(&eq("n", awkward)), format!("n=eq.{awkward}"));
        assert_eq!(
            encoded(&Filter::Or(vec![eq("n", awkward), eq("n", "x")])),
            r#"or=(n.eq."a,b) \"c\" \\ d",n.eq.x)"#
        );
        assert_eq!(encoded(&eq("n", "")), "n=eq.");
        assert_eq!(encoded(&Filter::Or(vec![eq("n", ""), eq("n", " x")])), r#"or=(n.eq."",n.eq." x")"#);
    }

    #[test]
    fn lists_avoid_the_single_empty_string_quirk() {
        let list = |values: &[&str]| Filter::In {
            column: "n".to_owned(),
            values: values.iter().map(|value| (*value).to_owned()).collect(),
        };
        assert_eq!(encoded(&list(&[])), "n=in.()");
        assert_eq!(encoded(&list(&[""])), "n=eq.");
        assert_eq!(encoded(&list(&["", "a b", "1.5"])), r#"n=in.("","a b",1.5)"#);
        assert_eq!(encoded(&Filter::negate(list(&["a", "b"]))), "n=not.in.(a,b)");
    }

    #[test]
    fn groups_nest_and_negate() {
        let cursor = Filter::Or(vec![
            Filter::compare("a", Operator::Gt, "1"),
            Filter::And(vec![eq("a", "1"), Filter::compare("b", Operator::Gt, "x,y")]),
        ]);
        assert_eq!(encoded(&cursor), r#"or=(a.gt.1,and(a.eq.1,b.gt."x,y"))"#);
        assert_eq!(encoded(&Filter::negate(cursor.clone())), r#"not.or=(a.gt.1,and(a.eq.1,b.gt."x,y"))"#);
        assert_eq!(
            encoded(&Filter::And(vec![cursor, Filter::compare("a", Operator::Gte, "1")])),
            r#"or=(a.gt.1,and(a.eq.1,b.gt."x,y"))&a=gte.1"#
        );
        assert_eq!(
            encoded(&Filter::Or(vec![Filter::negate(Filter::is_null("a")), Filter::is_null("b")])),
            "or=(a.not.is.null,b.is.null)"
        );
        assert_eq!(encoded(&Filter::negate(Filter::negate(eq("a", "1")))), "a=eq.1");
        assert_eq!(encoded(&Filter::And(vec![])), "");
        assert_eq!(Filter::Or(vec![]).parameters(), Err(EmptyGroup));
        assert_eq!(Filter::Or(vec![Filter::And(vec![])]).parameters(), Err(EmptyGroup));
    }

    #[test]
    fn names_that_are_not_identifiers_are_quoted() {
        assert_eq!(encoded(&eq("x.y", "1")), r#""x.y"=eq.1"#);
        assert_eq!(encoded(&Filter::Or(vec![eq("a b", "1"), eq("or", "2")])), r#"or=("a b".eq.1,or.eq.2)"#);
    }
}
