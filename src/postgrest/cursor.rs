//! Where a page ended, and the filter for what comes after it.

use std::borrow::Cow;

use super::filter::{Filter, Operator};
use crate::catalog::ColumnType;

/// Whether a value of the type, as received, can be sent back in a filter that means the same value.
pub fn can_be_cursor(column_type: &ColumnType) -> bool {
    let structured =
        matches!(column_type, ColumnType::Array(_) | ColumnType::Geometry { .. } | ColumnType::Jsonb);
    column_type.is_orderable_upstream() && !structured
}

/// The text of a JSON cell as a filter value: a string's content, anything else as written. `None` for a string that
/// isn't one.
pub fn filter_value(cell: &str) -> Option<Cow<'_, str>> {
    match cell.starts_with('"') {
        true => serde_json::from_str::<String>(cell).ok().map(Cow::Owned),
        false => Some(Cow::Borrowed(cell)),
    }
}

/// The filters for the rows after `last` in ascending order of `key`. The two have the same, non-zero length.
///
/// One column: `a=gt.X`. Several: `or=(a.gt.X,and(a.eq.X,b.gt.Y))`, and `a=gte.X` beside it, because the group is only
/// a filter to PostgreSQL while the plain comparison bounds an index scan.
pub fn after(key: &[String], last: &[String]) -> Vec<Filter> {
    let pairs: Vec<(&String, &String)> = key.iter().zip(last).collect();
    let Some(((column, value), rest)) = pairs.split_first() else { return Vec::new() };
    if rest.is_empty() {
        return vec![Filter::compare(*column, Operator::Gt, *value)];
    }
    let alternatives = (0..pairs.len())
        .filter_map(|depth| {
            let (equal, beyond) = pairs.split_at_checked(depth)?;
            let (column, value) = beyond.first()?;
            let beyond = Filter::compare(*column, Operator::Gt, *value);
            if equal.is_empty() {
                return Some(beyond);
            }
            let equal = equal.iter().map(|(column, value)| Filter::compare(*column, Operator::Eq, *value));
            Some(Filter::And(equal.chain([beyond]).collect()))
        })
        .collect();
    vec![Filter::Or(alternatives), Filter::compare(*column, Operator::Gte, *value)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(key: &[&str], last: &[&str]) -> String {
        let own = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        after(&own(key), &own(last))
            .iter()
            .flat_map(|filter| filter.parameters().unwrap())
            .map(|(name, value)| format!("{name}={value}"))
            .collect::<Vec<_>>()
            .join("&")
    }

    #[test]
    fn cursors_for_one_and_more_columns() {
        assert_eq!(query(&["a"], &["x,y"]), "a=gt.x,y");
        assert_eq!(query(&["a", "b"], &["1", "x,y"]), r#"or=(a.gt.1,and(a.eq.1,b.gt."x,y"))&a=gte.1"#);
        assert_eq!(
            query(&["a", "b", "c"], &["1", "2", "3"]),
            "or=(a.gt.1,and(a.eq.1,b.gt.2),and(a.eq.1,b.eq.2,c.gt.3))&a=gte.1"
        );
    }

    #[test]
    fn values_are_sent_back_as_they_came() {
        assert_eq!(filter_value(r#""a\"\u00e9""#).unwrap(), "a\"é");
        assert_eq!(filter_value("9007199254740993").unwrap(), "9007199254740993");
        assert_eq!(filter_value("1.10").unwrap(), "1.10");
    }
}
