//! Conditions bound to columns: names and operators resolved, literals parsed, then evaluated with SQL's three values.

use super::answer::ApiError;
use super::grammar::{Comparison, IsTest, Logic, Operator};
use super::like::Pattern;
use crate::catalog::ColumnType;
use crate::demo::relation::DemoColumn;
use crate::demo::value::{DemoValue, compare_values, parse_input, type_name};

/// A condition ready to be asked about rows.
#[derive(Debug, Clone)]
pub(super) enum Predicate {
    All(Vec<Predicate>),
    Any(Vec<Predicate>),
    Not(Box<Predicate>),
    Compare { column: usize, comparison: Comparison, value: DemoValue, character: bool },
    Like { column: usize, pattern: Pattern, length: Option<u32> },
    In { column: usize, values: Vec<DemoValue>, character: bool },
    Is { column: usize, test: IsTest },
    IsDistinct { column: usize, value: DemoValue, character: bool },
}

/// PostgreSQL resolves every name and operator before it reads any literal: a wrong column wins over a wrong value.
pub(super) fn check_names(logic: &Logic, columns: &[DemoColumn], table: &str) -> Result<(), ApiError> {
    match logic {
        Logic::All(members) | Logic::Any(members) => {
            members.iter().try_for_each(|member| check_names(member, columns, table))
        }
        Logic::Not(inner) => check_names(inner, columns, table),
        Logic::Test { column, operator } => {
            let (_, column) = find(columns, column, table)?;
            check_operator(operator, &column.column_type)
        }
    }
}

pub(super) fn find<'a>(
    columns: &'a [DemoColumn],
    name: &str,
    table: &str,
) -> Result<(usize, &'a DemoColumn), ApiError> {
    columns
        .iter()
        .enumerate()
        .find(|(_, column)| column.name == name)
        .ok_or_else(|| ApiError::unknown_column(table, name))
}

fn check_operator(operator: &Operator, column_type: &ColumnType) -> Result<(), ApiError> {
    let symbol = match operator {
        Operator::Is(IsTest::Null | IsTest::NotNull) => return Ok(()),
        Operator::Is(test) => {
            return match column_type {
                ColumnType::Boolean => Ok(()),
                other => {
                    let word = match test {
                        IsTest::True => "TRUE",
                        IsTest::False => "FALSE",
                        _ => "UNKNOWN",
                    };
                    let message =
                        format!("argument of IS {word} must be type boolean, not type {}", type_name(other));
                    Err(ApiError::new(400, "42804", message))
                }
            };
        }
        Operator::Like { ignore_case, .. } => {
            if column_type.is_text() {
                return Ok(());
            }
            if *ignore_case { "~~*" } else { "~~" }
        }
        Operator::Compare(comparison, _) => match comparison {
            Comparison::Equal => "=",
            Comparison::NotEqual => "<>",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
        },
        Operator::In(_) | Operator::IsDistinct(_) => "=",
    };
    match column_type {
        ColumnType::Geometry { .. } if !matches!(operator, Operator::Like { .. }) => {
            Err(ApiError::not_served("filters on geometry"))
        }
        ColumnType::Json => Err(no_operator(column_type, symbol)),
        _ if matches!(operator, Operator::Like { .. }) => Err(no_operator(column_type, symbol)),
        _ => Ok(()),
    }
}

fn no_operator(column_type: &ColumnType, symbol: &str) -> ApiError {
    ApiError::new(
        404,
        "42883",
        format!("operator does not exist: {} {symbol} unknown", type_name(column_type)),
    )
    .hint("No operator matches the given name and argument types. You might need to add explicit type casts.")
}

/// Binds a condition whose names were checked.
pub(super) fn bind(logic: &Logic, columns: &[DemoColumn], table: &str) -> Result<Predicate, ApiError> {
    let all = |members: &[Logic]| {
        members.iter().map(|member| bind(member, columns, table)).collect::<Result<Vec<_>, _>>()
    };
    Ok(match logic {
        Logic::All(members) => Predicate::All(all(members)?),
        Logic::Any(members) => Predicate::Any(all(members)?),
        Logic::Not(inner) => Predicate::Not(Box::new(bind(inner, columns, table)?)),
        Logic::Test { column, operator } => {
            let (column, declared) = find(columns, column, table)?;
            bind_test(column, &declared.column_type, operator)?
        }
    })
}

fn literal(text: &str, column_type: &ColumnType) -> Result<DemoValue, ApiError> {
    parse_input(text, column_type).map_err(|error| ApiError::new(400, error.code, error.message))
}

fn bind_test(column: usize, column_type: &ColumnType, operator: &Operator) -> Result<Predicate, ApiError> {
    // Trailing blanks of character(n) don't count in comparisons, and do in LIKE (11).
    let character = matches!(column_type, ColumnType::Character { .. });
    Ok(match operator {
        Operator::Compare(comparison, text) => Predicate::Compare {
            column,
            comparison: *comparison,
            value: literal(text, column_type)?,
            character,
        },
        Operator::Like { pattern, ignore_case } => {
            literal(pattern, &ColumnType::Text)?;
            let length = match column_type {
                ColumnType::Character { length } => Some(length.unwrap_or(1)),
                _ => None,
            };
            Predicate::Like { column, pattern: Pattern::new(pattern, *ignore_case), length }
        }
        Operator::In(items) => {
            let values =
                items.iter().map(|item| literal(item, column_type)).collect::<Result<Vec<_>, _>>()?;
            Predicate::In { column, values, character }
        }
        Operator::Is(test) => Predicate::Is { column, test: *test },
        Operator::IsDistinct(text) => {
            Predicate::IsDistinct { column, value: literal(text, column_type)?, character }
        }
    })
}

impl Predicate {
    /// SQL's answer for a row: true, false, or unknown (`None`).
    pub(super) fn evaluate(&self, row: &[DemoValue]) -> Result<Option<bool>, ApiError> {
        Ok(match self {
            Self::All(members) => {
                let mut result = Some(true);
                for member in members {
                    match member.evaluate(row)? {
                        Some(false) => return Ok(Some(false)),
                        None => result = None,
                        Some(true) => {}
                    }
                }
                result
            }
            Self::Any(members) => {
                let mut result = Some(false);
                for member in members {
                    match member.evaluate(row)? {
                        Some(true) => return Ok(Some(true)),
                        None => result = None,
                        Some(false) => {}
                    }
                }
                result
            }
            Self::Not(inner) => inner.evaluate(row)?.map(|value| !value),
            Self::Compare { column, comparison, value, character } => held(row, *column).map(|held| {
                let order = compare_values(held, value, *character);
                match comparison {
                    Comparison::Equal => order.is_eq(),
                    Comparison::NotEqual => order.is_ne(),
                    Comparison::Greater => order.is_gt(),
                    Comparison::GreaterOrEqual => order.is_ge(),
                    Comparison::Less => order.is_lt(),
                    Comparison::LessOrEqual => order.is_le(),
                }
            }),
            Self::Like { column, pattern, length } => match held(row, *column).and_then(DemoValue::as_text) {
                Some(text) => {
                    let missing =
                        length.map_or(0, |length| (length as usize).saturating_sub(text.chars().count()));
                    Some(pattern.matches(&format!("{text}{}", " ".repeat(missing)))?)
                }
                None => None,
            },
            // Nothing is in an empty list, null included.
            Self::In { values, .. } if values.is_empty() => Some(false),
            Self::In { column, values, character } => held(row, *column)
                .map(|held| values.iter().any(|value| compare_values(held, value, *character).is_eq())),
            Self::Is { column, test } => {
                let value = row.get(*column).unwrap_or(&DemoValue::Null);
                Some(match test {
                    IsTest::Null | IsTest::Unknown => value.is_null(),
                    IsTest::NotNull => !value.is_null(),
                    IsTest::True => value.as_bool() == Some(true),
                    IsTest::False => value.as_bool() == Some(false),
                })
            }
            Self::IsDistinct { column, value, character } => {
                Some(held(row, *column).is_none_or(|held| compare_values(held, value, *character).is_ne()))
            }
        })
    }
}

/// The value of a column unless it is null.
fn held(row: &[DemoValue], column: usize) -> Option<&DemoValue> {
    row.get(column).filter(|value| !value.is_null())
}
