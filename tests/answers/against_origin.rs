//! Our answers against another implementation's: random requests asked of a mirror and, in PostgREST's own form, of the
//! origin it was pulled from.
//!
//! The origin reads the generator's rows with its own grammar, value parsing, order and JSON; aggregates are folded here,
//! in exact arithmetic, from rows it returns. `BENTHIC_DIFFERENTIAL_REQUESTS` and `BENTHIC_DIFFERENTIAL_SEED` widen the
//! search; every difference names the seed and the request that shows it.

mod compare;
mod fold;
pub(crate) mod generator;
mod origin;
pub(crate) mod values;

use std::cmp::Ordering;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering as AtomicOrdering};

use arrow::datatypes::i256;
use benthic_mirror::app::{AppError, Mirror};
use benthic_mirror::catalog::ColumnType;
use benthic_mirror::config::ScanPolicy;
use benthic_mirror::demo::{self, DemoRelation};
use serde_json::Value;

use self::compare::same_value;
use self::fold::{Folded, compare_outputs, fold, same_output, spelled, units_of};
use self::generator::{
    AggregateRequest, Filter, Order, RowsRequest, completed, is_numeric, is_text, order_parameter,
    select_parameter, written,
};
use self::origin::{Page, Upstream};
use self::values::{Chooser, decimal, shown};
use crate::harness::{block, fixture, object, open};

/// Requests asked when nothing else is said.
const REQUESTS: u64 = 1_000;
/// So that the scan limit is met by some relations and not by others.
const SCAN_LIMIT: usize = 2_000;
/// Rows of an upstream page: the limit for relations without a primary key.
const PAGE: usize = 1_000;
/// Differences shown before giving up.
const SHOWN: usize = 10;

struct Arena {
    upstream: Upstream,
    parity: Mirror,
    complete: Mirror,
    relations: Vec<&'static DemoRelation>,
    seed: u64,
}

/// What one request came to.
#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    rows: u64,
    aggregates: u64,
    refused: u64,
    invalid: u64,
}

#[test]
fn answers_are_those_of_an_independent_implementation() {
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text}")))
    };
    let requests = number("BENTHIC_DIFFERENTIAL_REQUESTS", REQUESTS);
    let seed = number("BENTHIC_DIFFERENTIAL_SEED", 1);
    let limit = SCAN_LIMIT.to_string();
    let settings = [("aggregate_scan_limit", limit.as_str())];
    let arena = Arc::new(Arena {
        upstream: block(Upstream::start()),
        parity: open(&fixture().store, ScanPolicy::Parity, &settings),
        complete: open(&fixture().store, ScanPolicy::Complete, &settings),
        relations: demo::data().relations.iter().filter(|relation| relation.queryable).collect(),
        seed,
    });
    let next = Arc::new(AtomicU64::new(0));
    let workers: Vec<_> = (0..4)
        .map(|_| {
            let (arena, next) = (Arc::clone(&arena), Arc::clone(&next));
            fixture().runtime.spawn(async move {
                let (mut tally, mut differences) = (Tally::default(), Vec::new());
                loop {
                    let request = next.fetch_add(1, AtomicOrdering::Relaxed);
                    if request >= requests || differences.len() >= SHOWN {
                        return (tally, differences);
                    }
                    if let Err(difference) = arena.ask(request, &mut tally).await {
                        differences.push(format!("seed {seed}, request {request}: {difference}"));
                    }
                }
            })
        })
        .collect();
    let (mut sum, mut differences) = (Tally::default(), Vec::new());
    for worker in workers {
        let (tally, found) = block(worker).expect("worker");
        sum.rows += tally.rows;
        sum.aggregates += tally.aggregates;
        sum.refused += tally.refused;
        sum.invalid += tally.invalid;
        differences.extend(found);
    }
    println!("compared {requests} requests with the origin: {sum:?}");
    assert!(differences.is_empty(), "{} differ\n{}", differences.len(), differences.join("\n\n"));
    // Each kind of outcome has to have been met, or the generator no longer asks what it should.
    assert!(sum.rows * 2 > requests && sum.aggregates * 8 > requests, "{sum:?}");
    assert!(sum.refused > 0 && sum.invalid > 0 && sum.invalid * 10 < requests, "{sum:?}");
}

impl Arena {
    async fn ask(&self, request: u64, tally: &mut Tally) -> Result<(), String> {
        let mut chooser = Chooser::new(self.seed, request);
        let relation = chooser.pick(&self.relations);
        if chooser.chance(70) {
            self.ask_rows(relation, &mut chooser, tally).await
        } else {
            self.ask_aggregate(relation, &mut chooser, tally).await
        }
    }

    async fn ask_rows(
        &self,
        relation: &DemoRelation,
        chooser: &mut Chooser,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let request = RowsRequest::random(relation, chooser);
        let arguments = request.ours(relation, chooser);
        let columns = request.columns(relation);
        let mut parameters: Vec<_> = request.filters.iter().map(|filter| filter.theirs.clone()).collect();
        parameters.push(select_parameter(relation, &columns));
        parameters.push(order_parameter(relation, &completed(relation, &request.order)));
        let theirs = self.upstream.page(relation, &parameters, request.limit, request.offset).await;
        let ours = self.parity.query(object(arguments.clone())).await;
        let context = |why: String| format!("{why}\n  ours   {arguments}\n  theirs {parameters:?}");
        let Some(ours) = both_answer(relation, &request.filters, ours, &theirs).map_err(context)? else {
            tally.invalid += 1;
            return Ok(());
        };
        tally.rows += 1;
        same_rows(relation, &request, &columns, &ours, &theirs).map_err(context)
    }

    async fn ask_aggregate(
        &self,
        relation: &DemoRelation,
        chooser: &mut Chooser,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let request = AggregateRequest::random(relation, chooser);
        let parity = chooser.chance(70);
        let mirror = if parity { &self.parity } else { &self.complete };
        let filters: Vec<_> = request.filters.iter().map(|filter| filter.theirs.clone()).collect();
        let mut columns = request.groups.clone();
        columns.extend(request.metrics.iter().filter_map(|metric| metric.column));
        let mut parameters = filters.clone();
        // `count(*)` alone needs rows, not columns; any will do.
        parameters.push(select_parameter(relation, if columns.is_empty() { &[0] } else { &columns }));
        let theirs = self.upstream.page(relation, &parameters, relation.rows.len(), 0).await;
        let refusal = match theirs.total {
            _ if !parity || request.is_one_row() => None,
            total if relation.primary_key.is_empty() && total > PAGE => Some("no_primary_key"),
            total if total > SCAN_LIMIT => Some("scan_limit"),
            _ => None,
        };
        let mut groups = match theirs.rows.len() == theirs.total {
            true => fold(relation, &request, &theirs.rows),
            false => {
                return Err(format!("{parameters:?} gave {} of {} rows", theirs.rows.len(), theirs.total));
            }
        };
        let outputs = Outputs { relation, request: &request };
        let (having, order) = (outputs.having(&groups, chooser), outputs.order(chooser));
        let having_texts: Vec<String> = having.iter().map(|having| having.ours.clone()).collect();
        let order_texts: Vec<String> =
            order.iter().map(|(at, descending)| outputs.term(*at, *descending)).collect();
        let arguments = request.ours(relation, &having_texts, &order_texts, chooser);
        let answer = mirror.query(object(arguments.clone())).await;
        let context = |why: String| format!("{why}\n  ours   {arguments}\n  theirs {filters:?}");
        if let (Some(code), Err(AppError::Refused(found))) = (refusal, &answer)
            && theirs.status < 400
            && found.code.as_str() == code
        {
            tally.refused += 1;
            let stated = found.facts.get("matched_rows").and_then(Value::as_u64);
            return match stated == Some(theirs.total as u64) {
                true => Ok(()),
                false => Err(context(format!("refused with {stated:?} rows instead of {}", theirs.total))),
            };
        }
        let Some(ours) = both_answer(relation, &request.filters, answer, &theirs).map_err(context)? else {
            tally.invalid += 1;
            return Ok(());
        };
        if let Some(code) = refusal {
            return Err(context(format!("answered instead of refused with {code}: {ours}")));
        }
        tally.aggregates += 1;
        groups.retain(|group| having.iter().all(|having| having.holds(group)));
        sort_groups(&mut groups, &order, request.groups.len());
        outputs.same_groups(&groups, theirs.total, &ours).map_err(context)
    }
}

/// Our answer if both sides answer, `None` if both refuse the values; anything else is a difference.
fn both_answer(
    relation: &DemoRelation,
    filters: &[Filter],
    ours: Result<Value, AppError>,
    theirs: &Page,
) -> Result<Option<Value>, String> {
    // An offset beyond the last row is an empty page here and 416 there.
    let answered = theirs.status < 400 || theirs.status == 416;
    match ours {
        Ok(answer) if answered => Ok(Some(answer)),
        Ok(answer) => Err(format!("answered {answer}\n  but they: {} {}", theirs.status, theirs.body)),
        Err(AppError::Refused(refusal)) => {
            let code = refusal.code.as_str();
            let stricter = code == "bad_value" && filters.iter().any(|filter| is_finer(relation, filter));
            match stricter || (!answered && ["bad_value", "bad_filter"].contains(&code)) {
                true => Ok(None),
                false => Err(format!("refused: {}\n  but they: {}", refusal.to_text(), theirs.status)),
            }
        }
        Err(error) => Err(format!("failed: {error}")),
    }
}

/// A moment finer than a microsecond is rounded there and refused here (docs/parity.md).
fn is_finer(relation: &DemoRelation, filter: &Filter) -> bool {
    let (_, value) = &filter.theirs;
    let digits = |part: &str| part.bytes().take_while(u8::is_ascii_digit).count();
    matches!(relation.columns[filter.column].column_type, ColumnType::Timestamp | ColumnType::TimestampTz)
        && value.split('.').skip(2).any(|part| digits(part) > 6)
}

fn same_rows(
    relation: &DemoRelation,
    request: &RowsRequest,
    columns: &[usize],
    ours: &Value,
    theirs: &Page,
) -> Result<(), String> {
    let names: Vec<&str> = columns.iter().map(|at| relation.columns[*at].name.as_str()).collect();
    expect("columns", &ours["columns"], &Value::from(names.clone()))?;
    let rows = ours["rows"].as_array().ok_or("no rows")?;
    let by_size = ours["truncated_by"] == "bytes";
    if rows.len() > theirs.rows.len() || (rows.len() < theirs.rows.len() && !by_size) {
        return Err(format!("{} rows, theirs {}", rows.len(), theirs.rows.len()));
    }
    for (index, (our_row, their_row)) in rows.iter().zip(&theirs.rows).enumerate() {
        let keys: Vec<&str> =
            our_row.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
        if keys != names {
            return Err(format!("row {index} has {keys:?}"));
        }
        for at in columns {
            let column = &relation.columns[*at];
            same_value(&our_row[&column.name], &their_row[&column.name], &column.column_type)
                .map_err(|why| format!("row {index}, {}: {why}\n  {our_row}\n  {their_row}", column.name))?;
        }
    }
    let end = request.offset + rows.len();
    let truncated = end < theirs.total;
    expect("row_count", &ours["row_count"], &rows.len().into())?;
    expect_matched(ours, theirs.total)?;
    expect("row_count of the source", &ours["sources"][0]["row_count"], &relation.rows.len().into())?;
    expect("source_complete", &ours["source_complete"], &true.into())?;
    expect("truncated", &ours["truncated"], &truncated.into())?;
    let next = if truncated { end.into() } else { Value::Null };
    expect("next_offset", &ours["next_offset"], &next)
}

/// The rows that pass: exactly, or at least so many where rows are left out or were skipped.
fn expect_matched(ours: &Value, total: usize) -> Result<(), String> {
    let source = &ours["sources"][0];
    match source["matched_rows_at_least"].as_u64() {
        None => expect("matched_rows", &source["matched_rows"], &total.into()),
        Some(seen) if seen <= total as u64 && source["matched_rows"].is_null() => Ok(()),
        Some(seen) => Err(format!("at least {seen} rows pass, but {total} do")),
    }
}

fn expect(what: &str, found: &Value, expected: &Value) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what} is {found}, not {expected}")) }
}

/// Groups in the order asked for, completed by the group columns.
fn sort_groups(groups: &mut [Vec<Folded>], order: &[Order], group_columns: usize) {
    let completion = (0..group_columns).map(|at| (at, false));
    let order: Vec<Order> = order.iter().copied().chain(completion).collect();
    groups.sort_by(|left, right| {
        order
            .iter()
            .map(|(at, descending)| compare_outputs(&left[*at], &right[*at], *descending))
            .find(|found| found.is_ne())
            .unwrap_or(Ordering::Equal)
    });
}

/// The output columns of an aggregate.
struct Outputs<'a> {
    relation: &'a DemoRelation,
    request: &'a AggregateRequest,
}

/// A having condition: as written, and what it asks.
struct Having {
    ours: String,
    output: usize,
    test: HavingTest,
}

enum HavingTest {
    /// Operator and value, compared as numbers.
    Number(&'static str, Value),
    /// Operator and text, compared for equality.
    Text(&'static str, String),
}

impl Outputs<'_> {
    fn name(&self, output: usize) -> &str {
        match self.request.groups.get(output) {
            Some(column) => &self.relation.columns[*column].name,
            None => &self.request.metrics[output - self.request.groups.len()].output,
        }
    }

    fn term(&self, output: usize, descending: bool) -> String {
        format!("{}:{}", self.name(output), if descending { "desc" } else { "asc" })
    }

    fn order(&self, chooser: &mut Chooser) -> Vec<Order> {
        let outputs = self.request.groups.len() + self.request.metrics.len();
        (0..chooser.below(3)).map(|_| (chooser.below(outputs), chooser.chance(50))).collect()
    }

    /// At most one condition, with a value that splits the groups.
    fn having(&self, groups: &[Vec<Folded>], chooser: &mut Chooser) -> Vec<Having> {
        if groups.is_empty() || !chooser.chance(40) {
            return Vec::new();
        }
        let group = &groups[chooser.below(groups.len())];
        let output = chooser.below(group.len());
        let name = self.name(output);
        let number = |value: String, chooser: &mut Chooser| {
            let (symbol, word) = chooser.pick(&[
                (">=", "gte"),
                (">", "gt"),
                ("<=", "lte"),
                ("<", "lt"),
                ("=", "eq"),
                ("!=", "neq"),
            ]);
            let ours = match chooser.chance(50) {
                true => format!("{name}{symbol}{value}"),
                false => format!("{name}:{word}:{value}"),
            };
            Some(Having { ours, output, test: HavingTest::Number(word, Value::from(value)) })
        };
        let having = match &group[output] {
            Folded::Null => None,
            Folded::Count(count) => number(count.to_string(), chooser),
            Folded::Sum { units, scale, .. } => number(spelled(*units, *scale), chooser),
            // Between two averages rather than on one: where it is cut off must not decide.
            Folded::Average { units, scale, count } => {
                number(spelled(*units / *count * i256::from(10) + i256::from(5), *scale + 1), chooser)
            }
            Folded::Double(value) => number(value.to_string(), chooser),
            // Its last bit must not decide.
            Folded::DoubleAverage(_) => None,
            Folded::Shown(value, column_type) => {
                let column = self.column(output);
                match value {
                    Value::Number(_) if is_numeric(column) => number(value.to_string(), chooser),
                    Value::String(text) if is_text(column) => {
                        let trimmed = match column_type {
                            ColumnType::Character { .. } => text.trim_end_matches(' '),
                            _ => text,
                        };
                        let operator = chooser.pick(&["eq", "neq"]);
                        let written = written(text, chooser);
                        let ours = format!("{name}:{operator}:{written}");
                        Some(Having { ours, output, test: HavingTest::Text(operator, trimmed.to_owned()) })
                    }
                    _ => None,
                }
            }
        };
        having.into_iter().collect()
    }

    fn column(&self, output: usize) -> &demo::DemoColumn {
        let column = match self.request.groups.get(output) {
            Some(column) => Some(*column),
            None => self.request.metrics[output - self.request.groups.len()].column,
        };
        &self.relation.columns[column.expect("a column")]
    }

    fn same_groups(&self, expected: &[Vec<Folded>], total: usize, ours: &Value) -> Result<(), String> {
        let outputs = self.request.groups.len() + self.request.metrics.len();
        let names: Vec<&str> = (0..outputs).map(|at| self.name(at)).collect();
        expect("columns", &ours["columns"], &Value::from(names.clone()))?;
        let rows = ours["rows"].as_array().ok_or("no rows")?;
        let returned = expected.len().min(self.request.limit);
        if rows.len() != returned {
            return Err(format!("{} rows, expected {returned} of {}", rows.len(), expected.len()));
        }
        for (index, (row, group)) in rows.iter().zip(expected).enumerate() {
            for (name, folded) in names.iter().zip(group) {
                same_output(&row[*name], folded).map_err(|why| format!("row {index}, {name}: {why}"))?;
            }
        }
        expect("truncated", &ours["truncated"], &(returned < expected.len()).into())?;
        expect_matched(ours, total)
    }
}

impl Having {
    fn holds(&self, group: &[Folded]) -> bool {
        let decide = |word: &str, order: Ordering| match word {
            "gte" => order.is_ge(),
            "gt" => order.is_gt(),
            "lte" => order.is_le(),
            "lt" => order.is_lt(),
            "eq" => order.is_eq(),
            _ => order.is_ne(),
        };
        match (&self.test, &group[self.output]) {
            (_, Folded::Null) => false,
            (HavingTest::Text(word, text), Folded::Shown(value, column_type)) => {
                let found = value.as_str().unwrap_or("");
                let found = match column_type {
                    ColumnType::Character { .. } => found.trim_end_matches(' '),
                    _ => found,
                };
                decide(word, found.cmp(text))
            }
            (HavingTest::Number(word, value), folded) => {
                let number = decimal(value);
                let order = match folded {
                    Folded::Count(count) => demo::Decimal::from_text(&count.to_string()).cmp(&number),
                    Folded::Shown(found, _) => decimal(found).cmp(&number),
                    Folded::Double(found) => {
                        found.total_cmp(&value.as_str().unwrap_or("").parse::<f64>().expect("a double"))
                    }
                    fraction => {
                        let scale = number.scale();
                        let units = units_of(&number, scale);
                        let bound = Folded::Sum { units, scale, declared: false };
                        compare_outputs(fraction, &bound, false)
                    }
                };
                decide(word, order)
            }
            (HavingTest::Text(..), _) => false,
        }
    }
}

#[test]
fn every_type_of_the_demo_is_drawn_from() {
    // A column of nulls only would test nothing.
    for relation in demo::data().relations.iter().filter(|relation| relation.queryable) {
        let drawn = (0..relation.columns.len())
            .filter(|at| {
                relation.rows.iter().any(|row| shown(&row[*at], &relation.columns[*at].column_type).is_some())
            })
            .count();
        assert!(drawn * 2 > relation.columns.len(), "{}", relation.source());
    }
}
