//! Aggregates by a plain fold over rows, in exact arithmetic.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use arrow::datatypes::i256;
use benthic_mirror::catalog::ColumnType;
use benthic_mirror::demo::{Decimal, DemoColumn, DemoRelation};
use serde_json::Value;

use super::compare::{exact_text, same_value};
use super::generator::{AggregateRequest, Metric, is_float, is_numeric};
use super::values::decimal;

/// One output value.
#[derive(Debug, Clone)]
pub enum Folded {
    Null,
    /// A group's value, a minimum or a maximum, as the origin shows it.
    Shown(Value, ColumnType),
    Count(usize),
    /// A sum of exact numbers in units of 10^-scale.
    Sum {
        units: i256,
        scale: usize,
        declared: bool,
    },
    /// The same divided by a count.
    Average {
        units: i256,
        scale: usize,
        count: i256,
    },
    Double(f64),
}

/// Groups, each with its output values: group columns, then metrics.
pub fn fold(relation: &DemoRelation, request: &AggregateRequest, rows: &[Value]) -> Vec<Vec<Folded>> {
    let mut groups: BTreeMap<Vec<String>, Vec<&Value>> = BTreeMap::new();
    if request.groups.is_empty() {
        groups.insert(Vec::new(), Vec::new());
    }
    for row in rows {
        let identity = request.groups.iter().map(|at| identity(&relation.columns[*at], row)).collect();
        groups.entry(identity).or_default().push(row);
    }
    groups
        .into_values()
        .map(|members| {
            let keys = request.groups.iter().map(|at| {
                let column = &relation.columns[*at];
                present(members[0], column)
                    .map_or(Folded::Null, |value| Folded::Shown(value.clone(), column.column_type.clone()))
            });
            let metrics = request.metrics.iter().map(|metric| metric_of(relation, metric, &members));
            keys.chain(metrics).collect()
        })
        .collect()
}

fn present<'a>(row: &'a Value, column: &DemoColumn) -> Option<&'a Value> {
    row.get(&column.name).filter(|value| !value.is_null())
}

/// Equal exactly for values that PostgreSQL calls equal.
fn identity(column: &DemoColumn, row: &Value) -> String {
    match (present(row, column), &column.column_type) {
        (None, _) => "null".to_owned(),
        (Some(value), ColumnType::Character { .. }) => {
            format!("={}", value.as_str().expect("text").trim_end_matches(' '))
        }
        (Some(value), _) if is_numeric(column) => {
            let text = decimal(value).to_string();
            match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
                false => text,
            }
        }
        (Some(value), _) => format!("={value}"),
    }
}

fn metric_of(relation: &DemoRelation, metric: &Metric, rows: &[&Value]) -> Folded {
    let Some(at) = metric.column else { return Folded::Count(rows.len()) };
    let column = &relation.columns[at];
    let values: Vec<&Value> = rows.iter().filter_map(|row| present(row, column)).collect();
    if metric.function == "count" {
        return Folded::Count(values.len());
    }
    if values.is_empty() {
        return Folded::Null;
    }
    match metric.function {
        "min" | "max" => {
            let order = |left: &&Value, right: &&Value| compare_shown(left, right, &column.column_type);
            let found = match metric.function {
                "min" => values.into_iter().min_by(order),
                _ => values.into_iter().max_by(order),
            };
            Folded::Shown(found.expect("a value").clone(), column.column_type.clone())
        }
        function if is_float(column) => {
            let numbers: Vec<f64> = values.iter().map(|value| value.as_f64().expect("double")).collect();
            let sum = rounded_sum(&numbers);
            Folded::Double(if function == "sum" { sum } else { sum / numbers.len() as f64 })
        }
        function => {
            let numbers: Vec<Decimal> = values.iter().map(|value| decimal(value)).collect();
            let scale = numbers.iter().map(Decimal::scale).max().unwrap_or(0);
            let units = numbers
                .iter()
                .map(|number| units_of(number, scale))
                .try_fold(i256::ZERO, i256::checked_add)
                .expect("fits in 256 bits");
            match function {
                "sum" => {
                    let declared = !matches!(column.column_type, ColumnType::Numeric { declared: None });
                    Folded::Sum { units, scale, declared }
                }
                _ => Folded::Average { units, scale, count: i256::from_i128(numbers.len() as i128) },
            }
        }
    }
}

/// The sum of finite doubles, correctly rounded: Shewchuk's partials, then the rounding of ties decided by the rest.
pub fn rounded_sum(numbers: &[f64]) -> f64 {
    let mut partials: Vec<f64> = Vec::new();
    for number in numbers {
        let mut carried = *number;
        let mut kept = 0;
        for index in 0..partials.len() {
            let mut other = partials[index];
            if carried.abs() < other.abs() {
                std::mem::swap(&mut carried, &mut other);
            }
            let high = carried + other;
            let low = other - (high - carried);
            if low != 0.0 {
                partials[kept] = low;
                kept += 1;
            }
            carried = high;
        }
        partials.truncate(kept);
        partials.push(carried);
    }
    let mut sum = partials.pop().unwrap_or(0.0);
    while let Some(partial) = partials.pop() {
        let before = sum;
        sum = before + partial;
        let low = partial - (sum - before);
        if low != 0.0 {
            // Half-way cases round to even unless what is left points the same way.
            if partials.last().is_some_and(|rest| (low < 0.0) == (*rest < 0.0)) {
                let doubled = low * 2.0;
                let moved = sum + doubled;
                if moved - sum == doubled {
                    sum = moved;
                }
            }
            break;
        }
    }
    sum
}

/// PostgreSQL's order of two present values as the API shows them; text by code point.
fn compare_shown(left: &Value, right: &Value, column_type: &ColumnType) -> Ordering {
    match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::String(left), Value::String(right)) => match column_type {
            ColumnType::Character { .. } => left.trim_end_matches(' ').cmp(right.trim_end_matches(' ')),
            // ISO dates and timestamps of four-digit years sort as text.
            _ => left.cmp(right),
        },
        _ => decimal(left).cmp(&decimal(right)),
    }
}

/// Order of two outputs of one column, nulls last both ways.
pub fn compare_outputs(left: &Folded, right: &Folded, descending: bool) -> Ordering {
    let order = match (left, right) {
        (Folded::Null, Folded::Null) => return Ordering::Equal,
        (Folded::Null, _) => return Ordering::Greater,
        (_, Folded::Null) => return Ordering::Less,
        (Folded::Shown(left, column_type), Folded::Shown(right, _)) => {
            compare_shown(left, right, column_type)
        }
        (Folded::Count(left), Folded::Count(right)) => left.cmp(right),
        (Folded::Double(left), Folded::Double(right)) => left.total_cmp(right),
        (left, right) => compare_ratios(left, right),
    };
    if descending { order.reverse() } else { order }
}

/// `units × 10^places`, if 256 bits hold it.
fn raised(units: i256, places: usize) -> Option<i256> {
    i256::from(10).checked_pow(u32::try_from(places).ok()?)?.checked_mul(units)
}

/// A finite decimal in units of 10^-scale; it must have no more digits than that.
pub fn units_of(number: &Decimal, scale: usize) -> i256 {
    let digits = i256::from_string(&number.to_string().replace('.', "")).expect("a finite number");
    raised(digits, scale - number.scale()).expect("fits in 256 bits")
}

/// Units of 10^-scale as PostgreSQL prints them.
pub fn spelled(units: i256, scale: usize) -> String {
    Decimal::from_text(&format!("{units}e-{scale}")).to_string()
}

/// Sums and averages as fractions, by cross-multiplication.
fn compare_ratios(left: &Folded, right: &Folded) -> Ordering {
    let parts = |folded: &Folded| match folded {
        Folded::Sum { units, scale, .. } => (*units, *scale, i256::ONE),
        Folded::Average { units, scale, count } => (*units, *scale, *count),
        other => panic!("{other:?} is no fraction"),
    };
    let (left, left_scale, left_count) = parts(left);
    let (right, right_scale, right_count) = parts(right);
    let scale = left_scale.max(right_scale);
    let common = |units: i256, from: usize, count: i256| {
        raised(units, scale - from).and_then(|raised| raised.checked_mul(count)).expect("fits in 256 bits")
    };
    common(left, left_scale, right_count).cmp(&common(right, right_scale, left_count))
}

/// Compares an output of ours with the folded one.
pub fn same_output(ours: &Value, expected: &Folded) -> Result<(), String> {
    let wrong = || Err(format!("ours {ours}, expected {expected:?}"));
    match expected {
        Folded::Null if ours.is_null() => Ok(()),
        Folded::Null => wrong(),
        Folded::Shown(theirs, column_type) => same_value(ours, theirs, column_type),
        Folded::Count(count) if ours.to_string() == count.to_string() => Ok(()),
        Folded::Count(_) => wrong(),
        Folded::Sum { units, scale, declared } => {
            let text = exact_text(ours)?;
            let sum = spelled(*units, *scale);
            let same = match declared {
                true => text == sum,
                false => Decimal::from_text(&text) == Decimal::from_text(&sum),
            };
            if same { Ok(()) } else { wrong() }
        }
        Folded::Average { units, scale, count } => {
            let text = exact_text(ours)?;
            same_average(&text, *units, *scale, *count).map_err(|why| format!("{text}: {why}; {expected:?}"))
        }
        Folded::Double(expected) => match ours.as_f64() {
            Some(found) if found == *expected => Ok(()),
            _ => wrong(),
        },
    }
}

/// An average is right if it is the quotient rounded half away from zero at its own scale, shows no digit of its
/// input less, and has at least sixteen significant digits, as PostgreSQL's has.
fn same_average(text: &str, units: i256, scale: usize, count: i256) -> Result<(), String> {
    let average = Decimal::from_text(text);
    let shown = average.scale();
    if shown < scale {
        return Err("fewer digits after the point than the input".to_owned());
    }
    let found = i256::from_string(&text.replace('.', "")).ok_or("too many digits")?;
    let raised = raised(units, shown - scale).ok_or("too many digits")?;
    let zero = i256::ZERO;
    let magnitude = |value: i256| if value < zero { value.wrapping_neg() } else { value };
    let (quotient, rest) = (magnitude(raised) / count, magnitude(raised) % count);
    let rounded = if rest * i256::from(2) >= count { quotient + i256::ONE } else { quotient };
    if magnitude(found) != rounded || (found != zero && (found < zero) != (units < zero)) {
        return Err(format!("not {rounded} units of 10^-{shown}"));
    }
    if rest != zero && rounded.to_string().len() < 16 {
        return Err("fewer than sixteen significant digits".to_owned());
    }
    Ok(())
}

#[test]
fn sums_of_doubles_round_once() {
    for (numbers, sum) in [
        (vec![], 0.0),
        (vec![1e100, 1.0, -1e100], 1.0),
        (vec![0.1; 10], 1.0),
        (vec![1e16, 1.0, 1e-16], 10_000_000_000_000_002.0),
        (vec![1e16, 1.0, -1e-16], 1e16),
        (vec![-1e308, 1e308, 5e-324], 5e-324),
    ] {
        assert_eq!(rounded_sum(&numbers), sum, "{numbers:?}");
    }
}
