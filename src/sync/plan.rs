//! Step 2: how each relation will be captured, or why it is skipped. Pure: the counts are asked for elsewhere.

use crate::catalog::{Column, Dataset, Relation};
use crate::postgrest::cursor::can_be_cursor;
use crate::postgrest::{Endpoint, Order, PostgrestError};

use super::options::PullOptions;

/// The server's page cap where a manifest names none.
pub const DEFAULT_PAGE_ROWS: u64 = 1_000;

/// How a relation is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Method {
    /// Everything in one response: one transaction.
    SingleResponse,
    /// Pages that start after the last key of the page before.
    Keyset {
        /// The primary key.
        key: Vec<String>,
    },
    /// No key: pages by offset, in a total order over every column the server can order.
    Keyless {
        /// The columns ordered by.
        order: Vec<String>,
        /// The columns the server can't order.
        unordered: Vec<String>,
    },
}

/// What is known before a relation's rows are counted.
#[derive(Debug, Clone)]
pub enum Candidate {
    /// To be counted, then captured.
    Readable(Box<Endpoint>),
    /// Skipped without asking the server.
    Skip(String),
}

/// Whether a relation can be read at all. `None` for relations that aren't queryable: they are lineage, nothing to
/// capture and nothing to report.
pub fn candidate(
    dataset: &Dataset,
    relation: &Relation,
    options: &PullOptions,
) -> Result<Option<Candidate>, PostgrestError> {
    if !relation.queryable || !options.relations.includes(&relation.source()) {
        return Ok(None);
    }
    if relation.relation_type == "function" {
        return Ok(Some(Candidate::Skip("it is a function: it has no rows of its own".to_owned())));
    }
    if relation.columns.is_empty() {
        return Ok(Some(Candidate::Skip("the manifest grants no column of it".to_owned())));
    }
    let Some(endpoint) = &dataset.endpoint else {
        return Ok(Some(Candidate::Skip(format!(
            "the manifest of {} names no endpoint that can be read without authentication",
            dataset.name
        ))));
    };
    if let (Some(estimate), Some(budget)) = (relation.row_count_estimate, options.max_rows_per_relation)
        && estimate > budget
    {
        return Ok(Some(Candidate::Skip(over_budget("about ", estimate, budget, &relation.source()))));
    }
    Ok(Some(Candidate::Readable(Box::new(Endpoint::new(endpoint, relation)?))))
}

/// Why a relation of `count` rows is skipped, if it is.
pub fn over_count(relation: &Relation, count: u64, options: &PullOptions) -> Option<String> {
    let budget = options.max_rows_per_relation.filter(|budget| count > *budget)?;
    Some(over_budget("", count, budget, &relation.source()))
}

fn over_budget(about: &str, rows: u64, budget: u64, source: &str) -> String {
    format!(
        "{about}{rows} rows exceed the budget of {budget} per relation; raise --max-rows-per-relation to include {source}"
    )
}

/// Rows to ask for per page: what the caller wants, within what the server is declared to send.
pub fn page_rows(dataset: &Dataset, options: &PullOptions) -> u64 {
    let cap = dataset.endpoint.as_ref().and_then(|endpoint| endpoint.max_rows).unwrap_or(DEFAULT_PAGE_ROWS);
    options.page_size.unwrap_or(cap).min(cap).max(1)
}

/// The method for a relation of `count` rows when the server sends `page_rows` at once.
pub fn method(relation: &Relation, count: u64, page_rows: u64) -> Method {
    match count <= page_rows {
        true => Method::SingleResponse,
        false => paged_method(relation),
    }
}

/// The method when one response doesn't hold the relation.
pub fn paged_method(relation: &Relation) -> Method {
    let key = &relation.primary_key;
    let usable = key
        .iter()
        .all(|name| relation.column(name).is_some_and(|(_, column)| can_be_cursor(&column.column_type)));
    match !key.is_empty() && usable {
        true => Method::Keyset { key: key.clone() },
        false => keyless_method(relation),
    }
}

/// The method when no column is known to tell rows apart.
pub fn keyless_method(relation: &Relation) -> Method {
    let (order, unordered) = by_server_order(relation);
    Method::Keyless { order, unordered }
}

/// A relation's columns: those the server can order by, and the others; each in the manifest's order.
pub fn by_server_order(relation: &Relation) -> (Vec<String>, Vec<String>) {
    let (order, unordered): (Vec<&Column>, Vec<&Column>) =
        relation.columns.iter().partition(|column| column.column_type.is_orderable_upstream());
    let names = |columns: Vec<&Column>| columns.into_iter().map(|column| column.name.clone()).collect();
    (names(order), names(unordered))
}

/// The order in which the server is asked for rows: always total, so pages don't overlap.
pub fn server_order(relation: &Relation, method: &Method) -> Vec<Order> {
    let columns = match method {
        Method::Keyset { key } => key.clone(),
        // One response needs no order to be complete, but a total one costs nothing and is easier on readers of logs.
        Method::SingleResponse => match paged_method(relation) {
            Method::Keyset { key } => key,
            Method::Keyless { order, .. } => order,
            Method::SingleResponse => Vec::new(),
        },
        Method::Keyless { order, .. } => order.clone(),
    };
    columns.into_iter().map(Order::ascending).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bdp::TrustedKeys;
    use crate::catalog::ColumnType;
    use crate::catalog::{PostgrestEndpoint, testing};
    use crate::store::MirrorKey;
    use crate::sync::Selection;

    fn relation(columns: &[(&str, ColumnType)], key: &[&str]) -> Relation {
        Relation {
            primary_key: key.iter().map(|name| (*name).to_owned()).collect(),
            columns: columns
                .iter()
                .map(|(name, column_type)| Column {
                    name: (*name).to_owned(),
                    declared_type: "string".to_owned(),
                    native_type: None,
                    column_type: column_type.clone(),
                    nullable: true,
                    description: None,
                    srid: None,
                    unit: None,
                })
                .collect(),
            ..testing::relation("d", "r", &[])
        }
    }

    fn dataset(max_rows: Option<u64>) -> Dataset {
        Dataset {
            name: "d".to_owned(),
            title: None,
            description: None,
            manifest_hash: String::new(),
            endpoint: Some(PostgrestEndpoint {
                base_url: "https://benthic.io/api/".to_owned(),
                accept_profile: None,
                max_rows,
            }),
            files: Vec::new(),
            relations: Vec::new(),
        }
    }

    fn options() -> PullOptions {
        let root = url::Url::parse("https://benthic.io/bdp").unwrap();
        PullOptions::new(root, "c", TrustedKeys::default(), MirrorKey::generate([1; 32]))
    }

    #[test]
    fn method_by_size_and_key() {
        let keyed = relation(&[("id", ColumnType::Integer), ("j", ColumnType::Json)], &["id"]);
        assert_eq!(method(&keyed, 1000, 1000), Method::SingleResponse);
        assert_eq!(method(&keyed, 1001, 1000), Method::Keyset { key: vec!["id".to_owned()] });
        let keyless = Method::Keyless { order: vec!["id".to_owned()], unordered: vec!["j".to_owned()] };
        let without = relation(&[("id", ColumnType::Integer), ("j", ColumnType::Json)], &[]);
        assert_eq!(method(&without, 1001, 1000), keyless);
        // A key the server can't order, or that isn't granted, can't be paged by.
        let odd = relation(&[("id", ColumnType::Integer), ("j", ColumnType::Json)], &["j"]);
        assert_eq!(method(&odd, 1001, 1000), keyless);
        let missing = relation(&[("id", ColumnType::Integer), ("j", ColumnType::Json)], &["id", "gone"]);
        assert_eq!(method(&missing, 1001, 1000), keyless);
    }

    #[test]
    fn page_rows_stay_within_the_declared_cap() {
        let with = |page_size| PullOptions { page_size, ..options() };
        assert_eq!(page_rows(&dataset(None), &with(None)), 1000);
        assert_eq!(page_rows(&dataset(Some(200)), &with(None)), 200);
        assert_eq!(page_rows(&dataset(Some(200)), &with(Some(500))), 200);
        assert_eq!(page_rows(&dataset(Some(200)), &with(Some(7))), 7);
        assert_eq!(page_rows(&dataset(Some(200)), &with(Some(0))), 1);
    }

    #[test]
    fn what_is_not_captured_says_why() {
        let plain = relation(&[("id", ColumnType::Integer)], &["id"]);
        let decide = |relation: &Relation, options: &PullOptions| {
            candidate(&dataset(None), relation, options).unwrap()
        };
        assert!(matches!(decide(&plain, &options()), Some(Candidate::Readable(_))));
        let lineage = Relation { queryable: false, ..plain.clone() };
        assert!(decide(&lineage, &options()).is_none());
        let other = PullOptions { relations: Selection::Patterns(vec!["x.*".to_owned()]), ..options() };
        assert!(decide(&plain, &other).is_none());
        let function = Relation { relation_type: "function".to_owned(), ..plain.clone() };
        assert!(matches!(decide(&function, &options()), Some(Candidate::Skip(_))));
        let closed = Dataset { endpoint: None, ..dataset(None) };
        assert!(matches!(candidate(&closed, &plain, &options()).unwrap(), Some(Candidate::Skip(_))));

        let budget = PullOptions { max_rows_per_relation: Some(10), ..options() };
        let large = Relation { row_count_estimate: Some(11), ..plain.clone() };
        assert!(
            matches!(decide(&large, &budget), Some(Candidate::Skip(reason)) if reason.contains("about 11 rows"))
        );
        assert!(over_count(&plain, 11, &budget).unwrap().contains("11 rows exceed"));
        assert_eq!(over_count(&plain, 10, &budget), None);
    }
}
