//! The filter, order and select grammar: text to syntax, knowing nothing of columns or types.
//!
//! The numbers in comments are the items of the specification's PostgREST page.

use super::answer::ApiError;

/// A condition on one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Logic {
    All(Vec<Logic>),
    Any(Vec<Logic>),
    Not(Box<Logic>),
    Test { column: String, operator: Operator },
}

/// What a column is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operator {
    Compare(Comparison, String),
    Like { pattern: String, ignore_case: bool },
    In(Vec<String>),
    Is(IsTest),
    IsDistinct(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IsTest {
    Null,
    NotNull,
    True,
    False,
    Unknown,
}

/// One term of `order`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OrderTerm {
    pub(super) column: String,
    pub(super) descending: bool,
    pub(super) nulls_first: bool,
}

/// One item of `select`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Selected {
    /// `*`.
    All,
    /// A column and the key it is shown under.
    Column { column: String, key: String },
}

/// Operators PostgREST has and this origin hasn't.
const OTHER_OPERATORS: &[&str] =
    &["match", "imatch", "cs", "cd", "ov", "sl", "sr", "nxr", "nxl", "adj", "fts", "plfts", "phfts", "wfts"];

/// A place in a text being read.
struct Cursor<'a> {
    whole: &'a str,
    rest: &'a str,
    what: &'static str,
}

impl<'a> Cursor<'a> {
    fn new(what: &'static str, text: &'a str) -> Self {
        Self { whole: text, rest: text, what }
    }

    fn error(&self) -> ApiError {
        ApiError::grammar(self.what, self.whole)
    }

    fn take(&mut self, prefix: &str) -> bool {
        match self.rest.strip_prefix(prefix) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn need(&mut self, prefix: &str) -> Result<(), ApiError> {
        if self.take(prefix) { Ok(()) } else { Err(self.error()) }
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    fn until(&mut self, stops: &[char]) -> &'a str {
        let at = self.rest.find(stops).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(at);
        self.rest = rest;
        taken
    }

    /// A column name: letters, digits, `_`, `$` and blanks, hyphens within; anything in double quotes (12).
    fn name(&mut self) -> Result<String, ApiError> {
        if self.rest.starts_with('"')
            && let Some((text, length)) = quoted(self.rest)
        {
            self.rest = self.rest.get(length..).unwrap_or("");
            return Ok(text);
        }
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | ' ');
        let mut end = 0;
        for (at, character) in self.rest.char_indices() {
            let hyphen_within = character == '-'
                && end > 0
                && self.rest.get(at + 1..).is_some_and(|after| after.starts_with(plain));
            if !plain(character) && !hyphen_within {
                break;
            }
            end = at + character.len_utf8();
        }
        let (name, rest) = self.rest.split_at(end);
        if name.trim().is_empty() {
            return Err(self.error());
        }
        self.rest = rest;
        if rest.starts_with("->") {
            return Err(ApiError::not_served("paths into JSON columns"));
        }
        Ok(name.trim().to_owned())
    }

    /// A quoted value, if it is followed by an end: otherwise its quotes are data (6).
    fn quoted_value(&mut self) -> Option<String> {
        let (text, length) = quoted(self.rest)?;
        let after = self.rest.get(length..)?;
        if after.is_empty() || after.starts_with([',', ')']) {
            self.rest = after;
            return Some(text);
        }
        None
    }

    /// The list of `in`: blanks are skipped after `(` only (8); whatever follows `)` is left alone (9).
    fn list(&mut self) -> Result<Vec<String>, ApiError> {
        self.blanks();
        self.need("(")?;
        self.blanks();
        let mut items = Vec::new();
        loop {
            let item = self.quoted_value().unwrap_or_else(|| self.until(&[',', ')']).to_owned());
            items.push(item);
            if !self.take(",") {
                break;
            }
        }
        self.need(")")?;
        // One empty item is no item (7).
        if items == [""] {
            items.clear();
        }
        Ok(items)
    }

    /// A value inside `and=(…)`: quoted, a bare array literal, or up to the next separator (6).
    fn inner_value(&mut self) -> String {
        if let Some(text) = self.quoted_value() {
            return text;
        }
        if self.rest.starts_with('{')
            && let Some(end) = self.rest.find('}')
            && !self.rest[1..end].contains('{')
        {
            let (text, rest) = self.rest.split_at(end + 1);
            self.rest = rest;
            return text.to_owned();
        }
        self.until(&[',', ')']).to_owned()
    }

    /// `not.`, an operator and its value; `None` when the text is no operator expression.
    fn operation(&mut self, column: &str, inside_logic: bool) -> Result<Option<Logic>, ApiError> {
        let start = self.rest;
        let negated = self.take("not.");
        let operator = match self.operator(inside_logic)? {
            Some(operator) => operator,
            None => {
                self.rest = start;
                return Ok(None);
            }
        };
        let test = Logic::Test { column: column.to_owned(), operator };
        Ok(Some(if negated { Logic::Not(Box::new(test)) } else { test }))
    }

    fn operator(&mut self, inside_logic: bool) -> Result<Option<Operator>, ApiError> {
        if self.take("in.") {
            return self.list().map(|items| Some(Operator::In(items)));
        }
        if self.take("is.") {
            return self.is_test().map(|test| Some(Operator::Is(test)));
        }
        let word_end = self.rest.find(['.', '(']).unwrap_or(self.rest.len());
        let word = &self.rest[..word_end];
        if OTHER_OPERATORS.contains(&word) && word_end < self.rest.len() {
            return Err(ApiError::not_served(&format!("the operator {word}")));
        }
        let known = ["eq", "neq", "gt", "gte", "lt", "lte", "like", "ilike", "isdistinct"].contains(&word);
        let after = &self.rest[word_end..];
        if known && (after.starts_with("(any)") || after.starts_with("(all)")) {
            return Err(ApiError::not_served("operators over lists, (any) and (all)"));
        }
        if !known || !after.starts_with('.') {
            return Ok(None);
        }
        self.rest = &after[1..];
        let value = if inside_logic { self.inner_value() } else { std::mem::take(&mut self.rest).to_owned() };
        Ok(Some(match word {
            "eq" => Operator::Compare(Comparison::Equal, value),
            "neq" => Operator::Compare(Comparison::NotEqual, value),
            "gt" => Operator::Compare(Comparison::Greater, value),
            "gte" => Operator::Compare(Comparison::GreaterOrEqual, value),
            "lt" => Operator::Compare(Comparison::Less, value),
            "lte" => Operator::Compare(Comparison::LessOrEqual, value),
            "isdistinct" => Operator::IsDistinct(value),
            // Every star is a percent sign, even behind a backslash (3).
            like => Operator::Like { pattern: value.replace('*', "%"), ignore_case: like == "ilike" },
        }))
    }

    fn is_test(&mut self) -> Result<IsTest, ApiError> {
        const WORDS: &[(&str, IsTest)] = &[
            ("null", IsTest::Null),
            ("not_null", IsTest::NotNull),
            ("true", IsTest::True),
            ("false", IsTest::False),
            ("unknown", IsTest::Unknown),
        ];
        for (word, test) in WORDS {
            if let Some((head, rest)) = self.rest.split_at_checked(word.len())
                && head.eq_ignore_ascii_case(word)
            {
                self.rest = rest;
                return Ok(*test);
            }
        }
        Err(self.error())
    }

    /// `and(…)`, `not.or(…)` or `column.operator.value`.
    fn logic(&mut self) -> Result<Logic, ApiError> {
        self.blanks();
        let start = self.rest;
        let negated = self.take("not.");
        let and = self.take("and");
        let or = !and && self.take("or");
        self.blanks();
        if !(and || or) || !self.rest.starts_with('(') {
            self.rest = start;
            let column = self.name()?;
            self.need(".")?;
            return self.operation(&column, true)?.ok_or_else(|| self.error());
        }
        self.need("(")?;
        let mut members = Vec::new();
        loop {
            self.blanks();
            members.push(self.logic()?);
            self.blanks();
            if !self.take(",") {
                break;
            }
        }
        self.need(")")?;
        self.blanks();
        let group = if and { Logic::All(members) } else { Logic::Any(members) };
        Ok(if negated { Logic::Not(Box::new(group)) } else { group })
    }
}

/// The text of a leading `"…"` with `\x` read as `x`, and the length it took.
fn quoted(text: &str) -> Option<(String, usize)> {
    let mut characters = text.char_indices();
    if characters.next()?.1 != '"' {
        return None;
    }
    let mut out = String::new();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => out.push(characters.next()?.1),
            '"' => return Some((out, at + 1)),
            other => out.push(other),
        }
    }
    None
}

/// What a query parameter beside the reserved ones means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Parameter {
    Filter(Logic),
    /// A value without an operator: a function's argument, or an error on a table.
    Plain {
        name: String,
        value: String,
    },
}

/// Reads `name=value` as a filter or logic group.
pub(super) fn parameter(key: &str, value: &str) -> Result<Parameter, ApiError> {
    if matches!(key, "and" | "or" | "not.and" | "not.or") {
        let text = format!("{key}{value}");
        return Cursor::new("logic tree", &text).logic().map(Parameter::Filter);
    }
    let mut names = Cursor::new("tree path", key);
    let column = names.name()?;
    if !names.rest.is_empty() {
        // `relation.column=…` filters an embedded resource (12).
        return Err(ApiError::new(
            400,
            "PGRST108",
            format!("'{column}' is not an embedded resource in this request"),
        )
        .hint(format!("Verify that '{column}' is included in the 'select' query parameter.")));
    }
    match Cursor::new("filter", value).operation(&column, false)? {
        Some(filter) => Ok(Parameter::Filter(filter)),
        None => Ok(Parameter::Plain { name: column, value: value.to_owned() }),
    }
}

/// Reads `order` (13).
pub(super) fn order(text: &str) -> Result<Vec<OrderTerm>, ApiError> {
    let mut cursor = Cursor::new("order", text);
    let mut terms = Vec::new();
    loop {
        cursor.blanks();
        let column = cursor.name()?;
        let descending = cursor.take(".desc");
        if !descending {
            cursor.take(".asc");
        }
        let nulls_first = cursor.take(".nullsfirst") || (!cursor.take(".nullslast") && descending);
        terms.push(OrderTerm { column, descending, nulls_first });
        cursor.blanks();
        if !cursor.take(",") {
            break;
        }
    }
    if cursor.rest.is_empty() { Ok(terms) } else { Err(cursor.error()) }
}

/// Reads `select`; empty means everything (23).
pub(super) fn select(text: &str) -> Result<Vec<Selected>, ApiError> {
    if text.is_empty() {
        return Ok(vec![Selected::All]);
    }
    let mut cursor = Cursor::new("select parameter", text);
    let mut items = Vec::new();
    loop {
        cursor.blanks();
        if cursor.take("*") {
            items.push(Selected::All);
        } else {
            let first = cursor.name()?;
            if cursor.rest.starts_with("::") {
                return Err(ApiError::not_served("casts"));
            }
            let column = if cursor.take(":") { cursor.name()? } else { first.clone() };
            if cursor.rest.starts_with("::") {
                return Err(ApiError::not_served("casts"));
            }
            if cursor.rest.starts_with(['(', '!']) {
                return Err(ApiError::not_served("embedded resources"));
            }
            if cursor.rest.starts_with('.') {
                return Err(ApiError::new(400, "PGRST123", "Use of aggregate functions is not allowed"));
            }
            items.push(Selected::Column { column, key: first });
        }
        cursor.blanks();
        if !cursor.take(",") {
            break;
        }
    }
    if cursor.rest.is_empty() { Ok(items) } else { Err(cursor.error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(value: &str) -> Vec<String> {
        match parameter("c", value).unwrap() {
            Parameter::Filter(Logic::Test { operator: Operator::In(items), .. }) => items,
            other => panic!("{value}: {other:?}"),
        }
    }

    #[test]
    fn lists() {
        assert_eq!(items("in.(a,b)"), ["a", "b"]);
        assert_eq!(items(r#"in.("a,b","(x)","q\"q","b\\s")"#), ["a,b", "(x)", "q\"q", "b\\s"]);
        assert_eq!(items("in.( a, b )"), ["a", " b "], "blanks count, except after the parenthesis");
        assert_eq!(items(r#"in.(q"q,a\b,a.b)"#), ["q\"q", "a\\b", "a.b"]);
        assert_eq!(items(r#"in.("a"b)"#), ["\"a\"b"]);
        assert_eq!(items("in.()"), [""; 0]);
        assert_eq!(items(r#"in.("")"#), [""; 0]);
        assert_eq!(items("in.(,)"), ["", ""]);
        assert_eq!(items("in.(a)junk"), ["a"]);
        assert!(parameter("c", "in.a").is_err());
    }

    #[test]
    fn values_outside_lists_are_raw() {
        let raw = |value: &str| match parameter("c", value).unwrap() {
            Parameter::Filter(Logic::Test { operator: Operator::Compare(_, text), .. }) => text,
            other => panic!("{other:?}"),
        };
        assert_eq!(raw("eq.\"a\", b.c"), "\"a\", b.c");
        assert_eq!(raw("eq."), "");
        assert!(matches!(parameter("c", "a").unwrap(), Parameter::Plain { .. }));
        assert!(
            matches!(parameter("c", "EQ.a").unwrap(), Parameter::Plain { .. }),
            "operators are lower case"
        );
        assert_eq!(parameter("c", "cs.{1}").unwrap_err().status, 501);
        assert_eq!(parameter("a.b", "eq.1").unwrap_err().code, "PGRST108");
        assert!(parameter("\"a.b\"", "eq.1").is_ok());
    }

    #[test]
    fn logic_nests() {
        let logic = |key: &str, value: &str| match parameter(key, value).unwrap() {
            Parameter::Filter(logic) => logic,
            other => panic!("{other:?}"),
        };
        let Logic::Not(inner) = logic("not.or", "( a.eq.1 , and(b.gt.2,c.not.in.(x,\"y,z\")) )junk") else {
            panic!()
        };
        let Logic::Any(members) = *inner else { panic!() };
        assert_eq!(members.len(), 2);
        let Logic::Any(members) = logic("or", r#"(w.eq.{k},w.eq."a\"b",w.eq.)"#) else { panic!() };
        let texts: Vec<String> = members
            .into_iter()
            .map(|member| match member {
                Logic::Test { operator: Operator::Compare(_, text), .. } => text,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(texts, ["{k}", "a\"b", ""]);
        assert!(parameter("or", "()").is_err());
    }

    #[test]
    fn orders_and_selections() {
        let term = |text: &str| order(text).unwrap().remove(0);
        assert!(!term("k").nulls_first && term("k.desc").nulls_first);
        assert!(term("k.nullsfirst").nulls_first && !term("k.desc.nullslast").nulls_first);
        for wrong in ["", "k.up", "k,", ",k"] {
            assert_eq!(order(wrong).unwrap_err().code, "PGRST100", "{wrong}");
        }
        assert_eq!(select("a,x:b,*").unwrap().len(), 3);
        assert_eq!(select("a(b)").unwrap_err().status, 501);
    }
}
