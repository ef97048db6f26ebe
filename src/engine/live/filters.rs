//! Predicates as filters of the API.

use super::fit;
use super::spelling::{integer_range, spell};
use crate::catalog::{Column, ColumnType, Relation};
use crate::engine::check::{Predicate, Test};
use crate::engine::parse::Comparison;
use crate::engine::value::Literal;
use crate::postgrest::{Filter, Operator};

/// The filters of a request as the server is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveFilters {
    /// Filters of each request; a list of values too long for one address is split over several. No row passes two of
    /// them, and every row that matches passes one.
    pub chunks: Vec<Vec<Filter>>,
    /// Why they may let rows through that don't match, if they may: then counting needs the rows.
    pub widened: Option<Widening>,
    /// Columns compared with NaN or an infinity, by position. What the filters say of them is true only where the
    /// column holds numbers, all of them, whatever else is asked.
    pub must_be_finite: Vec<usize>,
}

/// Why the server is asked for more than what matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Widening {
    /// The server's collation would decide.
    Collation,
    /// Leading zeros don't count, which the server can't be asked for.
    LeadingZeros,
    /// The condition is too long for an address.
    TooLong,
}

/// One test as the server is asked.
pub(super) struct Asked {
    pub(super) filter: Filter,
    /// Why it lets through more than what matches, if it does.
    pub(super) widened: Option<Widening>,
}

/// The filters to send for a relation's predicates. `budget_bytes` is what they may take of an address.
pub fn live_filters(relation: &Relation, predicates: &[Predicate], budget_bytes: usize) -> LiveFilters {
    let asked = predicates
        .iter()
        .filter_map(|predicate| Some(ask(relation.columns.get(predicate.column)?, &predicate.test)))
        .collect();
    let (chunks, widened) = fit::fit(asked, budget_bytes);
    let special = predicates.iter().filter(|predicate| names_special(&predicate.test));
    let mut must_be_finite: Vec<usize> = special.map(|predicate| predicate.column).collect();
    must_be_finite.sort_unstable();
    must_be_finite.dedup();
    LiveFilters { chunks, widened, must_be_finite }
}

/// The filter for the values of a decimal column that are no numbers.
pub fn not_finite(name: &str) -> Filter {
    Filter::In { column: name.to_owned(), values: ["NaN", "Infinity", "-Infinity"].map(str::to_owned).into() }
}

/// Whether a test compares with a value above or below all decimals.
fn names_special(test: &Test) -> bool {
    let special =
        |literal: &Literal| matches!(literal, Literal::AboveAllDecimals | Literal::BelowAllDecimals);
    match test {
        Test::Compare(_, literal) => special(literal),
        Test::In(literals) => literals.iter().any(special),
        _ => false,
    }
}

/// Whatever a test of values is, null doesn't pass it.
pub(super) fn present(name: &str) -> Filter {
    Filter::negate(Filter::is_null(name))
}

/// A filter no row passes.
fn nothing(name: &str) -> Filter {
    Filter::In { column: name.to_owned(), values: Vec::new() }
}

fn ask(column: &Column, test: &Test) -> Asked {
    let name = column.name.as_str();
    let exact = |filter| Asked { filter, widened: None };
    let widened = |why| Asked { filter: present(name), widened: Some(why) };
    let folds_case = column.native_type.as_deref().is_some_and(|native| native.contains("citext"));
    match test {
        Test::IsNull => exact(Filter::is_null(name)),
        Test::IsNotNull => exact(present(name)),
        Test::Compare(..) | Test::In(_) | Test::Like { .. } if folds_case => widened(Widening::Collation),
        Test::Compare(comparison, _) if comparison.is_ordering() && column.column_type.is_text() => {
            widened(Widening::Collation)
        }
        Test::Compare(comparison, Literal::Integer(number)) => {
            exact(compare_integer(column, *comparison, *number))
        }
        Test::Compare(comparison, Literal::AboveAllDecimals) => exact(beyond(name, *comparison, true)),
        Test::Compare(comparison, Literal::BelowAllDecimals) => exact(beyond(name, *comparison, false)),
        Test::Compare(comparison, literal) if ends_in_blanks(column, literal) => {
            exact(if *comparison == Comparison::Equal { nothing(name) } else { present(name) })
        }
        Test::Compare(comparison, literal) => match spell(literal) {
            Some(value) => exact(Filter::compare(name, operator(*comparison), value)),
            None => exact(present(name)),
        },
        // No number equals a value beyond all of them.
        Test::In(literals) => {
            let possible = literals.iter().filter(|literal| !ends_in_blanks(column, literal));
            exact(among(column, possible.filter_map(spell).collect()))
        }
        // A locale folds case as it likes; bytes are compared alike everywhere.
        Test::Like { ignore_case: true, .. } => widened(Widening::Collation),
        // The pattern has no star: each has become a per cent sign, as it does there.
        Test::Like { pattern, ignore_case: false } => {
            exact(Filter::compare(name, Operator::Like, pattern.as_str()))
        }
        Test::ZeroStripped(values) => zero_stripped(column, values),
    }
}

fn operator(comparison: Comparison) -> Operator {
    match comparison {
        Comparison::Equal => Operator::Eq,
        Comparison::NotEqual => Operator::Neq,
        Comparison::Greater => Operator::Gt,
        Comparison::GreaterOrEqual => Operator::Gte,
        Comparison::Less => Operator::Lt,
        Comparison::LessOrEqual => Operator::Lte,
    }
}

/// Whether a text, propagated from a join's other side, ends in blanks that a `character(n)` doesn't have here, and that
/// wouldn't count there.
fn ends_in_blanks(column: &Column, literal: &Literal) -> bool {
    let is_character = matches!(column.column_type, ColumnType::Character { .. });
    is_character && matches!(literal, Literal::Text(text) if text.ends_with(' '))
}

/// Comparison with a whole number that may lie beyond the column's type.
fn compare_integer(column: &Column, comparison: Comparison, number: i64) -> Filter {
    let name = column.name.as_str();
    let range = integer_range(column).unwrap_or(i64::MIN..=i64::MAX);
    if range.contains(&number) {
        return Filter::compare(name, operator(comparison), number.to_string());
    }
    beyond(name, comparison, number > *range.end())
}

/// Comparison with a value above, or below, every value the column holds.
fn beyond(name: &str, comparison: Comparison, above: bool) -> Filter {
    use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    match comparison {
        NotEqual => present(name),
        Less | LessOrEqual if above => present(name),
        Greater | GreaterOrEqual if !above => present(name),
        Equal | Less | LessOrEqual | Greater | GreaterOrEqual => nothing(name),
    }
}

/// Membership, each value once and none the column's type can't hold.
fn among(column: &Column, values: Vec<String>) -> Filter {
    let fits = |value: &str| match integer_range(column) {
        Some(range) => value.parse::<i64>().is_ok_and(|number| range.contains(&number)),
        None => true,
    };
    let mut kept: Vec<String> = Vec::with_capacity(values.len());
    for value in values {
        if fits(&value) && !kept.contains(&value) {
            kept.push(value);
        }
    }
    Filter::In { column: column.name.clone(), values: kept }
}

/// The value without leading zeros is one of these plain integers.
fn zero_stripped(column: &Column, values: &[String]) -> Asked {
    let name = column.name.as_str();
    if values.is_empty() {
        return Asked { filter: nothing(name), widened: None };
    }
    match column.column_type {
        ColumnType::Integer | ColumnType::BigInt | ColumnType::Numeric { .. } => {
            Asked { filter: among(column, values.to_vec()), widened: None }
        }
        // A float that reads the digits as the nearest value of its own may be another number.
        ColumnType::Real | ColumnType::Double => {
            Asked { filter: among(column, values.to_vec()), widened: Some(Widening::LeadingZeros) }
        }
        ColumnType::Text | ColumnType::Character { .. } => {
            // `character(n)` is followed by blanks.
            let blanks = if matches!(column.column_type, ColumnType::Character { .. }) { "%" } else { "" };
            let ends: Vec<Filter> = values
                .iter()
                .map(|value| Filter::compare(name, Operator::Like, format!("%{value}{blanks}")))
                .collect();
            Asked { filter: Filter::Or(ends), widened: Some(Widening::LeadingZeros) }
        }
        _ => Asked { filter: present(name), widened: Some(Widening::LeadingZeros) },
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::catalog::testing;
    use crate::engine::number::DecimalText;

    pub(in crate::engine::live) fn relation(columns: &[(&str, &str)], key: &[&str]) -> Relation {
        let column = |(name, native): &(&str, &str)| Column {
            name: (*name).to_owned(),
            declared_type: "unknown".to_owned(),
            native_type: Some((*native).to_owned()),
            column_type: ColumnType::from_manifest("unknown", Some(native), None),
            nullable: true,
            description: None,
            srid: None,
            unit: None,
        };
        Relation {
            primary_key: key.iter().map(|name| (*name).to_owned()).collect(),
            columns: columns.iter().map(column).collect(),
            ..testing::relation("d", "r", &[])
        }
    }

    pub(in crate::engine::live) fn written(filters: &[Filter]) -> String {
        let pairs = filters.iter().flat_map(|filter| filter.parameters().unwrap());
        pairs.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
    }

    #[test]
    fn every_test_is_sent_or_widened() {
        use Comparison::{Equal, Greater, Less, NotEqual};
        let text = |text: &str| Literal::Text(text.to_owned());
        let decimal = |text: &str| Literal::Decimal(DecimalText::parse(text).unwrap());
        let like = |pattern: &str, ignore_case| Test::Like { pattern: pattern.to_owned(), ignore_case };
        let zeros = |values: &[&str]| Test::ZeroStripped(values.iter().map(|v| (*v).to_owned()).collect());
        let collation = Some(Widening::Collation);
        let leading = Some(Widening::LeadingZeros);
        for (native, test, expected, widened) in [
            ("text", Test::IsNull, "c=is.null", None),
            ("json", Test::IsNotNull, "c=not.is.null", None),
            ("text", Test::Compare(Equal, text("a,\"b\"")), "c=eq.a,\"b\"", None),
            ("text", Test::Compare(Greater, text("a")), "c=not.is.null", collation),
            ("character(2)", Test::Compare(Less, text("a")), "c=not.is.null", collation),
            ("character(2)", Test::Compare(NotEqual, text(" ")), "c=not.is.null", None),
            ("character(2)", Test::Compare(Equal, text("a ")), "c=in.()", None),
            ("character(2)", Test::In(vec![text("a "), text("b")]), "c=eq.b", None),
            ("citext", Test::Compare(Equal, text("a")), "c=not.is.null", collation),
            ("uuid", Test::Compare(Greater, text("a0")), "c=gt.a0", None),
            ("text", Test::In(vec![text("a"), text("b,"), text("a")]), "c=in.(a,\"b,\")", None),
            ("text", like(r"a\_%", false), r"c=like.a\_%", None),
            ("text", like("a%", true), "c=not.is.null", collation),
            ("integer", Test::Compare(Greater, Literal::Integer(5)), "c=gt.5", None),
            ("smallint", Test::Compare(Greater, Literal::Integer(40_000)), "c=in.()", None),
            ("smallint", Test::Compare(Greater, Literal::Integer(-40_000)), "c=not.is.null", None),
            ("smallint", Test::Compare(NotEqual, Literal::Integer(40_000)), "c=not.is.null", None),
            ("smallint", Test::In(vec![Literal::Integer(40_000)]), "c=in.()", None),
            ("smallint", Test::In([7, 40_000].map(Literal::Integer).into()), "c=eq.7", None),
            ("numeric", Test::Compare(Equal, decimal("1.50")), "c=eq.1.5", None),
            ("numeric", Test::Compare(Less, Literal::AboveAllDecimals), "c=not.is.null", None),
            ("numeric", Test::Compare(Less, Literal::BelowAllDecimals), "c=in.()", None),
            ("numeric", Test::In(vec![decimal("1"), Literal::AboveAllDecimals]), "c=eq.1", None),
            ("double precision", Test::Compare(Equal, Literal::Double(0.1)), "c=eq.1e-1", None),
            ("integer", zeros(&["3", "99999999999"]), "c=eq.3", None),
            ("real", zeros(&["3"]), "c=eq.3", leading),
            ("text", zeros(&["3"]), "or=(c.like.\"%3\")", leading),
            ("character(4)", zeros(&["3", "0"]), "or=(c.like.\"%3%\",c.like.\"%0%\")", leading),
            ("text", zeros(&[]), "c=in.()", None),
        ] {
            let relation = relation(&[("c", native)], &[]);
            let found = live_filters(
                &relation,
                &[Predicate { column: 0, test: test.clone(), bare_numbers: Vec::new() }],
                4_000,
            );
            assert_eq!(found.chunks.len(), 1);
            assert_eq!(written(&found.chunks[0]), expected, "{native} {test:?}");
            assert_eq!(found.widened, widened, "{native} {test:?}");
            let special = format!("{test:?}").contains("AllDecimals");
            assert_eq!(found.must_be_finite, if special { vec![0] } else { Vec::new() }, "{native} {test:?}");
        }
    }
}
