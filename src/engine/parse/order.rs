//! `column`, `column:asc`, `column:desc`.

use super::Malformed;

/// Sort direction; nulls come last in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Smallest first.
    Ascending,
    /// Largest first.
    Descending,
}

/// One order term as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OrderExpression {
    /// Column, group column or metric output.
    pub name: String,
    /// Direction.
    pub direction: Direction,
}

/// Reads one order term; a dot works like the colon (`total.desc`) unless the whole text is a known name.
pub(crate) fn parse_order(text: &str, is_name: impl Fn(&str) -> bool) -> Result<OrderExpression, Malformed> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Malformed::new("an order term is empty", form("total")));
    }
    let ascending = |name: &str| OrderExpression { name: name.to_owned(), direction: Direction::Ascending };
    if is_name(text) {
        return Ok(ascending(text));
    }
    let Some((name, word)) = text.rsplit_once([':', '.', ' ']) else {
        return Ok(ascending(text));
    };
    let direction = match word.trim().to_ascii_lowercase().as_str() {
        "asc" => Direction::Ascending,
        "desc" => Direction::Descending,
        other => {
            return Err(Malformed::new(format!("`{other}` is not a direction"), form(name.trim())));
        }
    };
    let name = name.trim();
    if name.is_empty() {
        return Err(Malformed::new(format!("`{text}` names no column"), form("total")));
    }
    Ok(OrderExpression { name: name.to_owned(), direction })
}

fn form(name: &str) -> String {
    let name = if name.is_empty() { "total" } else { name };
    format!("write `{name}`, `{name}:asc` or `{name}:desc`; nulls come last in both directions")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_and_names() {
        let parse = |text: &str| parse_order(text, |name| name == "a:b");
        assert_eq!(parse("x").map(|o| (o.name, o.direction)), Ok(("x".to_owned(), Direction::Ascending)));
        assert_eq!(
            parse("x:DESC").map(|o| (o.name, o.direction)),
            Ok(("x".to_owned(), Direction::Descending))
        );
        assert_eq!(parse("x.desc").map(|o| o.direction), Ok(Direction::Descending));
        assert_eq!(parse("a:b").map(|o| o.name), Ok("a:b".to_owned()));
        for text in ["", "x:up", ":desc"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
