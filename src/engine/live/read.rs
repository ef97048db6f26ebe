//! Which rows a live query needs, and when it is refused.

use super::filters::{LiveFilters, Widening};
use crate::catalog::{ColumnType, Relation};
use crate::config::{Limits, ScanPolicy};
use crate::engine::check::{CheckedQuery, OrderTerm, QueryShape};
use crate::engine::parse::{Direction, Function};
use crate::engine::refusal::{Refusal, RefusalCode};
use crate::engine::size::{Reading, check_size};
use crate::postgrest::Order;

/// How the rows of a live query are read. Columns are positions in the relation.
#[derive(Debug, Clone, PartialEq)]
pub enum LiveRead {
    /// Every row the filters let through; then the plan runs as over a snapshot.
    All {
        /// Columns needed.
        columns: Vec<usize>,
    },
    /// The rows asked for, in the completed order. The server decides its leading terms as the mirror would, so the page
    /// holds the right rows if its first and last differ in them from the rows beyond.
    Page {
        /// Columns needed.
        columns: Vec<usize>,
        /// The completed order.
        order: Vec<Order>,
        /// Columns of the leading terms.
        decided: Vec<usize>,
        /// Whether every matching row may be read instead where the page isn't determined; else the refusal.
        otherwise: Result<(), Box<Refusal>>,
    },
    /// One row of counts, smallest and largest values: a probe for each metric.
    Probes {
        /// Columns every probe's row must have.
        columns: Vec<usize>,
        /// By metric.
        probes: Vec<Probe>,
    },
}

/// One question whose answer is one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    /// How many rows pass.
    Count,
    /// How many of them have a value in this column.
    CountPresent(usize),
    /// The smallest value of this column.
    Smallest(usize),
    /// The largest value of this column.
    Largest(usize),
}

/// What needs no count: live pages of rows without a key can't follow each other.
pub fn check_live_query(query: &CheckedQuery<'_>) -> Result<(), Refusal> {
    if query.offset == 0 || has_key(query.relation) {
        return Ok(());
    }
    let source = query.relation.source();
    Err(Refusal::new(
        RefusalCode::BadArgument,
        format!("`{source}` declares no primary key, so live pages of it can't follow each other."),
    )
    .fact("argument", "offset")
    .fact("offset", query.offset)
    .fact("source", source)
    .next("leave `offset` out and narrow the filters instead"))
}

/// Rows one bounded read may bring: what aggregates may scan, or one page where pages can't follow each other.
pub fn fetch_bound(relation: &Relation, limits: &Limits) -> u64 {
    if relation.primary_key.is_empty() { limits.max_rows } else { limits.aggregate_scan_limit }
}

/// How to read a query's rows when the filters let `passing` through. The order of decisions is the local one: size
/// where all rows are needed, then what the server would decide by other rules.
pub fn live_read(
    query: &CheckedQuery<'_>,
    filters: &LiveFilters,
    passing: u64,
    limits: &Limits,
) -> Result<LiveRead, Refusal> {
    let relation = query.relation;
    let reads_all = matches!(query.shape, QueryShape::Aggregate { .. }) && !query.is_one_row();
    if reads_all && filters.widened.is_none() {
        check_size(relation, passing, Reading::Aggregate, limits, ScanPolicy::Parity)?;
    }
    let fits = passing <= fetch_bound(relation, limits);
    let refused = |why| undecidable(relation, why, passing, limits);
    if let Some(widening) = filters.widened
        && !fits
    {
        return Err(refused(widening.into()));
    }
    let columns = needed_columns(query);
    let decided_here = filters.widened.is_some();
    match &query.shape {
        QueryShape::Rows { order, .. } => {
            let completed = completed_terms(relation, order);
            let asked =
                completed.iter().filter(|term| order.iter().any(|one| one.column == term.column)).count();
            let decided = decided_terms(relation, &completed, asked);
            let rest = completed.get(decided.len()..).unwrap_or_default();
            let mut rest = rest.iter().filter_map(|term| relation.columns.get(term.column));
            let why = match rest.any(|column| column.column_type.is_text()) {
                true => Undecidable::Collation("an order by text"),
                false => Undecidable::Ties,
            };
            match decided.is_empty() || decided_here {
                true if fits => Ok(LiveRead::All { columns }),
                true => Err(refused(why)),
                false => {
                    let order = completed.iter().filter_map(|term| order_of(relation, term)).collect();
                    let otherwise = if fits { Ok(()) } else { Err(Box::new(refused(why))) };
                    Ok(LiveRead::Page { columns, order, decided, otherwise })
                }
            }
        }
        QueryShape::Aggregate { metrics, .. } if query.is_one_row() => {
            let text_extreme = metrics.iter().any(|metric| {
                let is_text = metric
                    .column
                    .and_then(|at| relation.columns.get(at))
                    .is_some_and(|column| column.column_type.is_text());
                metric.function != Function::Count && is_text
            });
            if text_extreme && !fits {
                return Err(refused(Undecidable::Collation("the smallest or largest text")));
            }
            if decided_here || text_extreme {
                return Ok(LiveRead::All { columns });
            }
            let probe = |function, column| match (function, column) {
                (_, None) => Probe::Count,
                (Function::Min, Some(column)) => Probe::Smallest(column),
                (Function::Max, Some(column)) => Probe::Largest(column),
                (_, Some(column)) => Probe::CountPresent(column),
            };
            let probes = metrics.iter().map(|metric| probe(metric.function, metric.column)).collect();
            Ok(LiveRead::Probes { columns, probes })
        }
        QueryShape::Aggregate { .. } => Ok(LiveRead::All { columns }),
    }
}

/// What the server would decide by other rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Undecidable {
    Collation(&'static str),
    LeadingZeros,
    TooLong,
    /// Rows that tie in everything the server orders by may differ in the rest.
    Ties,
}

impl From<Widening> for Undecidable {
    fn from(widening: Widening) -> Self {
        match widening {
            Widening::Collation => Self::Collation("a range of text or a pattern without regard to case"),
            Widening::LeadingZeros => Self::LeadingZeros,
            Widening::TooLong => Self::TooLong,
        }
    }
}

/// The refusal where more rows may match than one bounded read brings.
pub(super) fn undecidable(relation: &Relation, why: Undecidable, passing: u64, limits: &Limits) -> Refusal {
    let source = relation.source();
    let bound = fetch_bound(relation, limits);
    let (code, what) = match why {
        Undecidable::Collation(what) => (RefusalCode::CollationUnknown, what),
        Undecidable::LeadingZeros => {
            (RefusalCode::CollationUnknown, "a key compared without its leading zeros")
        }
        Undecidable::TooLong => (RefusalCode::TooMany, "a condition too long for one live request"),
        Undecidable::Ties => (
            RefusalCode::NoPrimaryKey,
            "an order that leaves rows equal, without a key that tells them apart,",
        ),
    };
    Refusal::new(
        code,
        format!(
            "{what} is decided here rather than by the server, which takes all the rows of `{source}` that may match: {passing}, of which one live read brings at most {bound}.",
        ),
    )
    .fact("source", source.as_str())
    .fact("candidate_rows", passing)
    .fact("limit", bound)
    .next(format!(
        "add a filter that leaves fewer rows (equality, a number or a date), or mirror the relation: `benthic-mirror sync --relation {source}`"
    ))
}

/// The order asked for, completed by the primary key, else by every orderable column.
pub(super) fn completed_terms(relation: &Relation, order: &[OrderTerm]) -> Vec<OrderTerm> {
    let mut completion = key_positions(relation);
    if !has_key(relation) {
        let is_orderable =
            |at: &usize| relation.columns.get(*at).is_some_and(|column| column.column_type.is_orderable());
        completion.extend((0..relation.columns.len()).filter(is_orderable));
    }
    let completion =
        completion.into_iter().map(|column| OrderTerm { column, direction: Direction::Ascending });
    let mut terms: Vec<OrderTerm> = Vec::new();
    for term in order.iter().copied().chain(completion) {
        if terms.iter().all(|earlier| earlier.column != term.column) {
            terms.push(term);
        }
    }
    terms
}

/// Whether a primary key is declared and granted in full.
pub fn has_key(relation: &Relation) -> bool {
    let granted = |name: &String| relation.column(name).is_some();
    !relation.primary_key.is_empty() && relation.primary_key.iter().all(granted)
}

/// Positions of the primary key's columns that are granted.
pub(super) fn key_positions(relation: &Relation) -> Vec<usize> {
    let position = |name: &String| relation.column(name).map(|(position, _)| position);
    relation.primary_key.iter().filter_map(position).collect()
}

/// Columns of the leading terms that the server orders as the mirror does: up to the first text. Of the terms beyond the
/// `asked` ones, without a key, up to the first decimal too: one that holds NaN doesn't order rows here.
fn decided_terms(relation: &Relation, completed: &[OrderTerm], asked: usize) -> Vec<usize> {
    let is_decided = |place: usize, term: &OrderTerm| {
        relation.columns.get(term.column).is_some_and(|column| match column.column_type {
            ColumnType::Text | ColumnType::Character { .. } => false,
            ColumnType::Numeric { .. } => place < asked || has_key(relation),
            _ => true,
        })
    };
    let leading = completed.iter().enumerate().take_while(|(place, term)| is_decided(*place, term));
    leading.map(|(_, term)| term.column).collect()
}

fn order_of(relation: &Relation, term: &OrderTerm) -> Option<Order> {
    Some(Order {
        column: relation.columns.get(term.column)?.name.clone(),
        descending: term.direction == Direction::Descending,
        nulls_first: false,
    })
}

/// Columns a live read must bring: what is filtered, returned, grouped, computed or ordered by, and the key. Without a
/// key every column, since every one orders the rows.
fn needed_columns(query: &CheckedQuery<'_>) -> Vec<usize> {
    let relation = query.relation;
    let mut columns: Vec<usize> = query.predicates.iter().map(|predicate| predicate.column).collect();
    match &query.shape {
        QueryShape::Rows { .. } if !has_key(relation) => columns.extend(0..relation.columns.len()),
        QueryShape::Rows { columns: selected, order } => {
            columns.extend(selected);
            columns.extend(completed_terms(relation, order).iter().map(|term| term.column));
        }
        QueryShape::Aggregate { groups, metrics, .. } => {
            columns.extend(groups);
            columns.extend(metrics.iter().filter_map(|metric| metric.column));
            columns.extend(key_positions(relation));
        }
    }
    tidy(columns)
}

/// Sorted, each once, at least one: an empty list would ask for every column the server has.
pub(super) fn tidy(mut columns: Vec<usize>) -> Vec<usize> {
    columns.sort_unstable();
    columns.dedup();
    if columns.is_empty() {
        columns.push(0);
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::super::filters::live_filters;
    use super::super::filters::tests::relation;
    use super::*;
    use crate::catalog::{Catalog, Dataset};
    use crate::engine::check::check_query;
    use crate::engine::request::QueryArguments;

    const COLUMNS: &[(&str, &str)] = &[
        ("id", "integer"),
        ("name", "text"),
        ("n", "numeric(9,2)"),
        ("f", "double precision"),
        ("day", "date"),
        ("j", "json"),
    ];

    /// `All`, `Page` with its decided columns, `Probes`, or the refusal's code.
    fn decide(key: &[&str], columns: &[(&str, &str)], passing: u64, arguments: QueryArguments) -> String {
        let relation = relation(columns, key);
        let dataset = Dataset {
            name: "d".to_owned(),
            title: None,
            description: None,
            manifest_hash: String::new(),
            endpoint: None,
            files: Vec::new(),
            relations: vec![relation],
        };
        let catalog = Catalog {
            collection: "c".to_owned(),
            collection_hash: String::new(),
            created_at: None,
            datasets: vec![dataset],
            joins: Vec::new(),
            warnings: Vec::new(),
        };
        let limits = Limits::default();
        let arguments = QueryArguments { source: "d.r".to_owned(), ..arguments };
        let query = check_query(&catalog, &arguments, &limits).unwrap();
        let filters = live_filters(query.relation, &query.predicates, 4_000);
        let code = |refusal: Refusal| refusal.code.as_str().to_owned();
        match live_read(&query, &filters, passing, &limits) {
            Ok(LiveRead::All { .. }) => "all".to_owned(),
            Ok(LiveRead::Page { decided, otherwise, .. }) => {
                let names: Vec<&str> = decided.iter().map(|at| columns[*at].0).collect();
                let otherwise = otherwise.map_or_else(|refusal| code(*refusal), |()| "all".to_owned());
                format!("page by {}, else {otherwise}", names.join(" "))
            }
            Ok(LiveRead::Probes { probes, .. }) => format!("{probes:?}"),
            Err(refusal) => code(refusal),
        }
    }

    fn texts(list: &[&str]) -> Vec<String> {
        list.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn rows_are_read_as_far_as_the_server_decides() {
        let rows = |key: &[&str], passing, filters: &[&str], order: &[&str]| {
            let arguments =
                QueryArguments { filters: texts(filters), order: texts(order), ..QueryArguments::default() };
            decide(key, COLUMNS, passing, arguments)
        };
        // One bounded read: 10,000 rows with a key, a page of 1,000 without.
        assert_eq!(rows(&["id"], 10_001, &[], &[]), "page by id, else no_primary_key");
        assert_eq!(rows(&["id"], 10_000, &[], &["n:desc"]), "page by n id, else all");
        assert_eq!(rows(&["name"], 10_000, &[], &[]), "all");
        assert_eq!(rows(&["name"], 10_001, &[], &[]), "collation_unknown");
        assert_eq!(rows(&["name"], 10_001, &[], &["day"]), "page by day, else collation_unknown");
        assert_eq!(rows(&["id"], 10_001, &[], &["name"]), "collation_unknown");
        assert_eq!(rows(&["id"], 10_001, &["name>a"], &["day"]), "collation_unknown");
        assert_eq!(rows(&["id"], 10_000, &["name=ilike.a*"], &["day"]), "all");
        assert_eq!(rows(&["id"], 10_001, &["name=like.a*"], &["day"]), "page by day id, else no_primary_key");
        assert_eq!(rows(&[], 1_000, &[], &["n:desc"]), "page by n id, else all");
        assert_eq!(rows(&[], 1_001, &[], &["n:desc"]), "page by n id, else collation_unknown");
        // A decimal that holds NaN doesn't complete an order here.
        assert_eq!(
            decide(&[], &COLUMNS[2..4], 1_001, QueryArguments::default()),
            "no_primary_key",
            "a decimal comes first"
        );
        assert_eq!(
            decide(&[], &COLUMNS[3..], 1_001, QueryArguments::default()),
            "page by f day, else no_primary_key"
        );
    }

    #[test]
    fn aggregates_are_read_whole_probed_or_refused() {
        let aggregate = |key: &[&str], passing, filters: &[&str], groups: &[&str], metrics: &[&str]| {
            let arguments = QueryArguments {
                filters: texts(filters),
                group_by: texts(groups),
                metrics: texts(metrics),
                ..QueryArguments::default()
            };
            decide(key, COLUMNS, passing, arguments)
        };
        assert_eq!(aggregate(&["id"], 10_000, &[], &["name"], &["n=count:*"]), "all");
        assert_eq!(aggregate(&["id"], 10_001, &[], &["name"], &["n=count:*"]), "scan_limit");
        assert_eq!(aggregate(&[], 1_001, &[], &["name"], &["n=count:*"]), "no_primary_key");
        assert_eq!(aggregate(&[], 20_000, &[], &[], &["s=sum:n"]), "no_primary_key");
        // More rows may match than do: which refusal it would be isn't known.
        assert_eq!(aggregate(&["id"], 10_001, &["name>a"], &["name"], &["n=count:*"]), "collation_unknown");
        assert_eq!(
            aggregate(&[], 1_000_000, &[], &[], &["n=count:*", "p=count:j", "lo=min:n", "hi=max:day"]),
            "[Count, CountPresent(5), Smallest(2), Largest(4)]"
        );
        assert_eq!(aggregate(&["id"], 10_000, &[], &[], &["lo=min:name"]), "all");
        assert_eq!(aggregate(&["id"], 10_001, &[], &[], &["lo=min:name"]), "collation_unknown");
        assert_eq!(aggregate(&["id"], 10_000, &["name=ilike.a"], &[], &["n=count:*"]), "all");
        assert_eq!(aggregate(&["id"], 10_001, &["name=ilike.a"], &[], &["n=count:*"]), "collation_unknown");
    }

    #[test]
    fn what_is_refused_says_why_and_what_helps() {
        let relation = relation(COLUMNS, &["id"]);
        for why in [
            Undecidable::Collation("an order by text"),
            Undecidable::LeadingZeros,
            Undecidable::TooLong,
            Undecidable::Ties,
        ] {
            let refusal = undecidable(&relation, why, 20_000, &Limits::default());
            assert!(
                !refusal.terminal
                    && refusal.next_step.is_some_and(|step| step.contains("sync --relation d.r"))
            );
            assert_eq!(
                (&refusal.facts["candidate_rows"], &refusal.facts["limit"]),
                (&20_000.into(), &10_000.into())
            );
        }
    }
}
