//! Random conditions: as a caller spells them, and as SQL.

use crate::dice::Dice;
use crate::postgres::{identifier, quoted};
use crate::relations::{Col, Kind, Rel};

/// A condition on a relation's rows.
pub(crate) struct Condition {
    /// As a caller spells it.
    pub(crate) text: String,
    pub(crate) column: &'static str,
    /// What it means, over the relation's columns.
    pub(crate) sql: String,
}

/// A value to compare with: mostly one that occurs.
pub(crate) fn literal(dice: &mut Dice, rel: &Rel, column: &Col) -> String {
    let found = if dice.percent(75) { rel.value(dice, column) } else { None };
    let value = found.unwrap_or_else(|| rel.drawn(dice, column));
    match column.kind {
        // Between two values the column can hold, or beyond all of them.
        Kind::Numeric | Kind::FreeNumeric(_) if dice.percent(15) => match dice.below(6) {
            0 => "NaN".to_owned(),
            1 => "-Infinity".to_owned(),
            2 => "1e80".to_owned(),
            3 => "-1e45".to_owned(),
            4 => "1.5e-3".to_owned(),
            _ if value.contains('.') => format!("{value}4"),
            _ => format!("{value}.4"),
        },
        Kind::Real | Kind::Double if dice.percent(10) => {
            (*dice.pick(&["0.1", "1e10", "-1e-30", "Infinity", "NaN", "16777217", "0.30000000000000004"]))
                .to_owned()
        }
        _ => value,
    }
}

/// A value as a caller spells it after an operator.
pub(crate) fn spelled(dice: &mut Dice, value: &str) -> String {
    let bare = value.trim() == value
        && !value.is_empty()
        && !value.starts_with('"')
        && !value.eq_ignore_ascii_case("null");
    match bare && dice.percent(70) {
        true => value.to_owned(),
        false => serde_json::Value::from(value).to_string(),
    }
}

/// A JSON list of values, numbers sometimes bare.
pub(crate) fn spelled_list(dice: &mut Dice, kind: Kind, values: &[String]) -> String {
    let items: Vec<String> = values
        .iter()
        .map(|value| {
            let is_number = kind.is_numeric() && serde_json::from_str::<serde_json::Number>(value).is_ok();
            match is_number && dice.percent(70) {
                true => value.clone(),
                false => serde_json::Value::from(value.as_str()).to_string(),
            }
        })
        .collect();
    format!("[{}]", items.join(if dice.percent(50) { "," } else { ", " }))
}

/// A literal of a column's type in SQL; numerics and characters without the column's length.
pub(crate) fn typed(value: &str, kind: Kind) -> String {
    format!("{}::{}", quoted(value), kind.literal_type())
}

/// One condition on one column.
pub(crate) fn condition(dice: &mut Dice, rel: &Rel, column: &Col) -> Condition {
    let name = identifier(column.name);
    let make = |text: String, sql: String| Condition { text, column: column.name, sql };
    if column.kind == Kind::Unordered || dice.percent(10) {
        return match dice.percent(50) {
            true => make(format!("{}=is.null", column.name), format!("{name} is null")),
            false => make(format!("{}=not.is.null", column.name), format!("{name} is not null")),
        };
    }
    if column.kind.is_text() && dice.percent(35) {
        let (pattern, ignore_case) = (like_pattern(dice, rel, column), dice.percent(50));
        let word = if ignore_case { "ilike" } else { "like" };
        let spelled = spelled(dice, &pattern.spelled);
        let sql = match ignore_case {
            true => format!("{name}::text collate fold ilike {}", quoted(&pattern.sql)),
            false => format!("{name} like {}", quoted(&pattern.sql)),
        };
        // A cast would cut the blanks that a pattern sees.
        let sql = match column.kind == Kind::Character && ignore_case {
            true => format!("{name} collate fold ilike {}", quoted(&pattern.sql)),
            false => sql,
        };
        return make(format!("{}={word}.{spelled}", column.name), sql);
    }
    if dice.percent(20) {
        let values: Vec<String> =
            (0..dice.below(30).min(dice.below(30)) + 1).map(|_| literal(dice, rel, column)).collect();
        let list: Vec<String> = values.iter().map(|value| typed(value, column.kind)).collect();
        let spelled = spelled_list(dice, column.kind, &values);
        return make(format!("{}=in.{spelled}", column.name), format!("{name} in ({})", list.join(", ")));
    }
    let (word, symbol) =
        *dice.pick(&[("eq", "="), ("neq", "<>"), ("gt", ">"), ("gte", ">="), ("lt", "<"), ("lte", "<=")]);
    let value = literal(dice, rel, column);
    let spelled = spelled(dice, &value);
    let text = match dice.below(4) {
        // `>` before a value that begins with `=` would read as `>=`.
        0 if word != "eq" && word != "neq" && !spelled.starts_with('=') => {
            format!("{}{symbol}{spelled}", column.name)
        }
        1 => format!("{}={word}:{spelled}", column.name),
        2 => format!("{} = {}. {spelled} ", column.name, word.to_uppercase()),
        _ => format!("{}={word}.{spelled}", column.name),
    };
    make(text, format!("{name} {symbol} {}", typed(&value, column.kind)))
}

pub(crate) struct Pattern {
    pub(crate) spelled: String,
    pub(crate) sql: String,
}

/// A pattern made from a value: pieces replaced by wildcards, cases flipped, escapes where needed and where not.
pub(crate) fn like_pattern(dice: &mut Dice, rel: &Rel, column: &Col) -> Pattern {
    let value = rel.value(dice, column).unwrap_or_default();
    let mut pattern = Pattern { spelled: String::new(), sql: String::new() };
    let mut push = |spelled: &str, sql: &str| {
        pattern.spelled.push_str(spelled);
        pattern.sql.push_str(sql);
    };
    let wildcard = |dice: &mut Dice| if dice.percent(50) { "*" } else { "%" };
    if dice.percent(40) {
        push(wildcard(dice), "%");
    }
    for character in value.chars() {
        match dice.below(10) {
            0 => push("_", "_"),
            1 => push(wildcard(dice), "%"),
            2 => {}
            _ => {
                let mut piece = String::new();
                let flipped = match dice.below(6) {
                    0 => character.to_uppercase().next().unwrap_or(character),
                    1 => character.to_lowercase().next().unwrap_or(character),
                    _ => character,
                };
                // A star can't be matched by itself: it is a wildcard whatever stands before it.
                if flipped == '*' {
                    push("_", "_");
                    continue;
                }
                if matches!(flipped, '%' | '_' | '\\') || dice.percent(5) {
                    piece.push('\\');
                }
                piece.push(flipped);
                push(&piece, &piece);
            }
        }
    }
    if dice.percent(40) {
        push(wildcard(dice), "%");
    }
    pattern
}

/// Up to three conditions.
pub(crate) fn conditions(dice: &mut Dice, rel: &Rel, percent: usize) -> Vec<Condition> {
    let mut conditions = Vec::new();
    while conditions.len() < 3 && dice.percent(percent) {
        let column = dice.pick(&rel.columns).clone();
        conditions.push(condition(dice, rel, &column));
    }
    conditions
}

/// All of them as one SQL condition.
pub(crate) fn all(conditions: &[Condition]) -> String {
    match conditions.is_empty() {
        true => "true".to_owned(),
        false => conditions.iter().map(|c| format!("({})", c.sql)).collect::<Vec<_>>().join(" and "),
    }
}
