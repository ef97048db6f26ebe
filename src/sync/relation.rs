//! One relation from plan to capture: the method, its fall-backs, and another try when the rows changed meanwhile.

use std::collections::HashSet;

use crate::catalog::Relation;
use crate::postgrest::Endpoint;
use crate::store::{Capture, CapturedAt, Evidence, IndexEntry, Scope, StagingArea};

use super::capture::{Staged, keyless_pass, keyset_pass, single_response};
use super::error::CaptureError;
use super::options::EvidenceWanted;
use super::plan::{Method, by_server_order, keyless_method, paged_method};
use super::progress::Event;
use super::pull::Run;
use super::write::{Ordering, Uniqueness, Written, sort_and_write};

/// A relation that is to be captured.
#[derive(Debug)]
pub(super) struct Task<'a> {
    pub(super) relation: &'a Relation,
    pub(super) endpoint: Endpoint,
    /// The server's count when the plan was made.
    pub(super) count: u64,
    pub(super) page_rows: u64,
    pub(super) method: Method,
}

/// What became of a task.
pub(super) enum Outcome {
    Captured(Box<Capture>),
    Skipped(String),
    Failed(CaptureError),
}

/// Captures a relation, whatever it takes within the rules.
pub(super) async fn capture(run: &Run<'_>, task: Task<'_>) -> Outcome {
    let source = task.relation.source();
    let mut method = task.method.clone();
    let mut page_rows = task.page_rows;
    let mut retries = 0;
    loop {
        run.progress.event(Event::RelationStarted { source: &source, rows: task.count });
        let error = match attempt(run, &task, &method, page_rows, retries).await {
            Ok(mut capture) => {
                capture.indexes = indexes(run, task.relation, &capture).await;
                return Outcome::Captured(Box::new(capture));
            }
            Err(error) => error,
        };
        let reason = error.to_string();
        match error {
            CaptureError::NotDeterministic(_) => return Outcome::Skipped(reason),
            // The server sends less at once than its manifest says: page by what it does send.
            CaptureError::ServerCap { rows, .. } if method == Method::SingleResponse && rows > 0 => {
                page_rows = rows;
                method = paged_method(task.relation);
            }
            // The declared key isn't one.
            CaptureError::NullKey { .. } if matches!(method, Method::Keyset { .. }) => {
                method = keyless_method(task.relation);
            }
            error if error.is_inconsistent() && retries < run.options.relation_retries => retries += 1,
            error => return Outcome::Failed(error),
        }
        run.progress.event(Event::RelationRetried { source: &source, reason: &reason });
    }
}

/// The indexes of a capture; none if they can't be built, since the rows answer without them.
async fn indexes(run: &Run<'_>, relation: &Relation, capture: &Capture) -> Vec<IndexEntry> {
    match run.options.indexes.build(relation, capture, run.writer).await {
        Ok(indexes) => indexes,
        Err(error) => {
            let (source, reason) = (relation.source(), error.to_string());
            tracing::warn!(relation = source, reason, "no index could be built");
            run.progress.event(Event::IndexFailed { source: &source, reason: &reason });
            Vec::new()
        }
    }
}

/// One try: read, and if need be read again, sort, write.
async fn attempt(
    run: &Run<'_>,
    task: &Task<'_>,
    method: &Method,
    page_rows: u64,
    retries: u32,
) -> Result<Capture, CaptureError> {
    let relation = task.relation;
    let source = relation.source();
    let area = run.staging(&source, retries)?;
    let staged = pass(run, task, method, page_rows, area).await?;
    run.progress.event(Event::Sorting { source: &source, rows: staged.profile.rows });
    let (written, sort_key) = write(run, relation, method, &staged).await?;

    let keyless = matches!(method, Method::Keyless { .. });
    let single = *method == Method::SingleResponse;
    let double = !single && (keyless || run.options.evidence == EvidenceWanted::DoubleRead);
    let mut ended_at = staged.ended_at;
    if double {
        let area = run.staging(&format!("{source}#again"), retries)?;
        let again = pass(run, task, method, page_rows, area).await?;
        let ordering = Ordering { sort_key: sort_key.clone(), uniqueness: Uniqueness::Any };
        let second = sort_and_write(run.sorter, None, relation, &HashSet::new(), &again, &ordering).await?;
        if second.row_digest != written.row_digest {
            return Err(CaptureError::Inconsistent {
                relation: source,
                problem: "two passes gave different rows".to_owned(),
            });
        }
        ended_at = again.ended_at;
        again.area.remove()?;
    }
    let evidence = match (single, double) {
        (true, _) => Evidence::SingleResponse,
        (false, true) => Evidence::DoubleRead,
        (false, false) => Evidence::Counted,
    };
    let Staged { area, started_at, count_before, count_after, .. } = staged;
    area.remove()?;
    let Written { parts, row_digest, rows, columns } = written;
    Ok(Capture {
        evidence,
        scope: Scope::Full,
        rows,
        row_digest,
        parts,
        columns,
        sort_key,
        captured_at: CapturedAt { start: started_at, end: ended_at },
        count_before: Some(count_before),
        count_after: Some(count_after),
        retries,
        indexes: Vec::new(),
    })
}

/// One pass over the relation's rows.
async fn pass(
    run: &Run<'_>,
    task: &Task<'_>,
    method: &Method,
    page_rows: u64,
    area: StagingArea,
) -> Result<Staged, CaptureError> {
    let (relation, endpoint) = (task.relation, &task.endpoint);
    match method {
        Method::SingleResponse => single_response(run, relation, endpoint, page_rows, task.count, area).await,
        Method::Keyset { key } => keyset_pass(run, relation, endpoint, key, page_rows, area).await,
        Method::Keyless { order, .. } if order.is_empty() => {
            Err(CaptureError::NotDeterministic("the server can order none of its columns".to_owned()))
        }
        Method::Keyless { order, unordered } => {
            let staged = keyless_pass(run, relation, endpoint, order, page_rows, area).await?;
            // Rows that tie in everything the server can order may swap places between two pages.
            match staged.tie_across_pages && !unordered.is_empty() {
                true => Err(CaptureError::NotDeterministic(format!(
                    "rows that agree in every column the server can order lie on both sides of a page boundary, and it can't order {}",
                    unordered.join(", ")
                ))),
                false => Ok(staged),
            }
        }
    }
}

/// Sorts and writes a pass; returns what was written and what it is sorted by.
async fn write(
    run: &Run<'_>,
    relation: &Relation,
    method: &Method,
    staged: &Staged,
) -> Result<(Written, Vec<String>), CaptureError> {
    let source = relation.source();
    let joined = run.joined_columns(relation);
    let key = &relation.primary_key;
    let key_is_granted = !key.is_empty() && key.iter().all(|name| relation.column(name).is_some());
    if key_is_granted && !matches!(method, Method::Keyless { .. }) {
        let ordering = Ordering { sort_key: key.clone(), uniqueness: Uniqueness::Unique };
        match sort_and_write(run.sorter, Some(run.writer), relation, &joined, staged, &ordering).await {
            // One response is what the server holds: a key that doesn't tell its rows apart isn't one.
            Err(CaptureError::DuplicateKey { .. } | CaptureError::NullKey { .. })
                if *method == Method::SingleResponse =>
            {
                tracing::debug!(relation = source, "declared key isn't unique, sorting by every column");
            }
            written => return Ok((written?, key.clone())),
        }
    }
    // One order for every method, or the result would depend on the page size. The columns the server can order come
    // first, so rows that tie in them lie next to each other.
    let (order, unordered) = by_server_order(relation);
    let uniqueness = match method {
        Method::Keyless { .. } if !unordered.is_empty() => Uniqueness::TiesAreEqual(order.clone()),
        _ => Uniqueness::Any,
    };
    let sort_key: Vec<String> = order.into_iter().chain(unordered).collect();
    let ordering = Ordering { sort_key: sort_key.clone(), uniqueness };
    let written = sort_and_write(run.sorter, Some(run.writer), relation, &joined, staged, &ordering).await?;
    Ok((written, sort_key))
}
