//! The three ways to read a relation's pages.

use chrono::{DateTime, Utc};

use crate::catalog::Relation;
use crate::postgrest::cursor;
use crate::postgrest::{Endpoint, Filter, Order, Page, PageRequest, PostgrestError, TableProfile};
use crate::store::StagingArea;
use crate::sync::error::CaptureError;
use crate::sync::plan::{Method, server_order};
use crate::sync::progress::Event;
use crate::sync::pull::Run;

use super::checkpoint::Checkpoint;

/// A pass over a relation: its pages in the staging area, and what is known about them.
#[derive(Debug)]
pub(in crate::sync) struct Staged {
    /// Where the pages are.
    pub(in crate::sync) area: StagingArea,
    /// Number of pages.
    pub(in crate::sync) pages: u64,
    /// What the values need; its row count is the pass's.
    pub(in crate::sync) profile: TableProfile,
    /// Before the first request.
    pub(in crate::sync) started_at: DateTime<Utc>,
    /// After the last response.
    pub(in crate::sync) ended_at: DateTime<Utc>,
    /// The server's count before.
    pub(in crate::sync) count_before: u64,
    /// The server's count after (for a single response: its own).
    pub(in crate::sync) count_after: u64,
    /// Rows equal in every ordered column lie on both sides of a page boundary.
    pub(in crate::sync) tie_across_pages: bool,
}

/// The exact count of a relation's rows.
pub(in crate::sync) async fn count(run: &Run<'_>, endpoint: &Endpoint) -> Result<u64, PostgrestError> {
    run.client.count(endpoint, &PageRequest::default()).await
}

/// Everything in one response. The response carries its own exact count, made by the same statement, so it proves its
/// completeness whatever was counted before.
pub(in crate::sync) async fn single_response(
    run: &Run<'_>,
    relation: &Relation,
    endpoint: &Endpoint,
    page_rows: u64,
    count_before: u64,
    area: StagingArea,
) -> Result<Staged, CaptureError> {
    area.clear()?;
    let started_at = run.clock.now();
    let mut pass = Pass::new(run, relation, endpoint, area);
    let order = server_order(relation, &Method::SingleResponse);
    let request = PageRequest { count: true, ..pass.request(Vec::new(), order, page_rows, None) };
    let page = run.client.fetch_page(endpoint, &request).await?;
    let rows = pass.stage(&page, &[])?.rows;
    let count_after = match page.range.and_then(|range| range.total) {
        Some(total) => total,
        // A server that doesn't count in the response is asked once more.
        None => count(run, endpoint).await?,
    };
    if count_after > rows {
        return Err(CaptureError::ServerCap { relation: relation.source(), rows });
    }
    if count_after < rows {
        return Err(inconsistent(relation, format!("{rows} rows came, the count says {count_after}")));
    }
    Ok(pass.finish(started_at, run.clock.now(), count_before, count_after, false))
}

/// Pages by primary key.
pub(in crate::sync) async fn keyset_pass(
    run: &Run<'_>,
    relation: &Relation,
    endpoint: &Endpoint,
    key: &[String],
    page_rows: u64,
    area: StagingArea,
) -> Result<Staged, CaptureError> {
    let manifest_hash = run.manifest_hash(relation);
    let mut pass = Pass::new(run, relation, endpoint, area);
    let mut checkpoint = match Checkpoint::resumable(&pass.area, manifest_hash, key, relation.columns.len())?
    {
        Some(checkpoint) => {
            pass.pages = checkpoint.pages;
            pass.profile = checkpoint.profile.clone();
            checkpoint
        }
        None => {
            pass.area.clear()?;
            let started_at = run.clock.now();
            let count_before = count(run, endpoint).await?;
            Checkpoint::new(manifest_hash, key, started_at, count_before, relation.columns.len())
        }
    };
    let order: Vec<Order> = key.iter().map(Order::ascending).collect();
    let mut limit = page_rows;
    loop {
        let filters = if checkpoint.last_key.is_empty() {
            Vec::new()
        } else {
            cursor::after(key, &checkpoint.last_key)
        };
        let request = pass.request(filters, order.clone(), limit, None);
        let Some(page) = pass.fetch(&request, &mut limit).await? else { continue };
        let edges = pass.stage(&page, key)?;
        if let Some(last) = edges.last {
            if edges.first == checkpoint.last_key || last == checkpoint.last_key {
                return Err(inconsistent(relation, "a page starts where the page before ended".to_owned()));
            }
            checkpoint.last_key = last;
            checkpoint.pages = pass.pages;
            checkpoint.profile = pass.profile.clone();
            checkpoint.save(&pass.area)?;
        }
        if pass.is_at_end(edges.rows, limit, checkpoint.count_before)? {
            break;
        }
    }
    let ended_at = run.clock.now();
    let count_after = count(run, endpoint).await?;
    let staged = pass.finish(checkpoint.started_at(), ended_at, checkpoint.count_before, count_after, false);
    if staged.profile.rows < count_after {
        refuse_null_keys(run, relation, endpoint, key).await?;
    }
    check_counts(relation, &staged)?;
    Ok(staged)
}

/// Rows with null in the key are after no cursor, so they are missing from every pass. Asked for when rows are
/// missing, to tell a key that isn't one from rows that changed.
async fn refuse_null_keys(
    run: &Run<'_>,
    relation: &Relation,
    endpoint: &Endpoint,
    key: &[String],
) -> Result<(), CaptureError> {
    for column in key {
        let filters = vec![Filter::is_null(column)];
        let nulls = run.client.count(endpoint, &PageRequest { filters, ..PageRequest::default() }).await?;
        if nulls > 0 {
            return Err(CaptureError::NullKey { relation: relation.source(), column: column.clone() });
        }
    }
    Ok(())
}

/// Pages by offset in a total order over every orderable column.
pub(in crate::sync) async fn keyless_pass(
    run: &Run<'_>,
    relation: &Relation,
    endpoint: &Endpoint,
    order: &[String],
    page_rows: u64,
    area: StagingArea,
) -> Result<Staged, CaptureError> {
    area.clear()?;
    let started_at = run.clock.now();
    let count_before = count(run, endpoint).await?;
    let mut pass = Pass::new(run, relation, endpoint, area);
    let mut limit = page_rows;
    let mut last: Vec<String> = Vec::new();
    let mut tie_across_pages = false;
    loop {
        let terms = order.iter().map(Order::ascending).collect();
        let request = pass.request(Vec::new(), terms, limit, Some(pass.profile.rows));
        let Some(page) = pass.fetch(&request, &mut limit).await? else { continue };
        let edges = pass.stage(&page, order)?;
        if edges.rows > 0 {
            tie_across_pages |= !last.is_empty() && last == edges.first;
            last = edges.last.unwrap_or_default();
        }
        if pass.is_at_end(edges.rows, limit, count_before)? {
            break;
        }
    }
    let ended_at = run.clock.now();
    let count_after = count(run, endpoint).await?;
    let staged = pass.finish(started_at, ended_at, count_before, count_after, tie_across_pages);
    check_counts(relation, &staged)?;
    Ok(staged)
}

/// What is true of every pass that took more than one response.
fn check_counts(relation: &Relation, staged: &Staged) -> Result<(), CaptureError> {
    let rows = staged.profile.rows;
    match staged.count_before == rows && staged.count_after == rows {
        true => Ok(()),
        false => Err(inconsistent(
            relation,
            format!(
                "{rows} rows came, the count was {} before and {} after",
                staged.count_before, staged.count_after
            ),
        )),
    }
}

fn inconsistent(relation: &Relation, problem: String) -> CaptureError {
    CaptureError::Inconsistent { relation: relation.source(), problem }
}

/// A pass under way.
struct Pass<'r> {
    run: &'r Run<'r>,
    relation: &'r Relation,
    endpoint: &'r Endpoint,
    source: String,
    area: StagingArea,
    pages: u64,
    profile: TableProfile,
}

/// The ends of a page in the columns that matter to the pass.
struct Edges {
    rows: u64,
    first: Vec<String>,
    last: Option<Vec<String>>,
}

impl<'r> Pass<'r> {
    fn new(run: &'r Run<'r>, relation: &'r Relation, endpoint: &'r Endpoint, area: StagingArea) -> Self {
        let profile = TableProfile::new(relation.columns.len());
        Self { run, relation, endpoint, source: relation.source(), area, pages: 0, profile }
    }

    fn request(
        &self,
        filters: Vec<Filter>,
        order: Vec<Order>,
        limit: u64,
        offset: Option<u64>,
    ) -> PageRequest {
        let columns = self.relation.columns.iter().map(|column| column.name.clone()).collect();
        PageRequest { columns, filters, order, limit: Some(limit), offset, ..PageRequest::default() }
    }

    /// Fetches a page. `None` if the statement took the server too long: then `limit` is halved, to be asked again.
    async fn fetch(&self, request: &PageRequest, limit: &mut u64) -> Result<Option<Page>, CaptureError> {
        match self.run.client.fetch_page(self.endpoint, request).await {
            Ok(page) => Ok(Some(page)),
            Err(PostgrestError::Server(error)) if error.is_statement_timeout() && *limit > 1 => {
                *limit /= 2;
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Reads a page's values, stages its body, and returns its ends in the columns `edge`. An empty page isn't kept.
    fn stage(&mut self, page: &Page, edge: &[String]) -> Result<Edges, CaptureError> {
        let columns = &self.relation.columns;
        let key = &self.relation.primary_key;
        let positions: Vec<usize> =
            edge.iter().filter_map(|name| columns.iter().position(|column| column.name == *name)).collect();
        let pick = |cells: &[&str]| -> Vec<String> {
            positions
                .iter()
                .filter_map(|position| cells.get(*position))
                .map(|cell| (*cell).to_owned())
                .collect()
        };
        let mut first: Vec<String> = Vec::new();
        let mut last: Vec<String> = Vec::new();
        let is_key = edge == key.as_slice();
        let mut null_key: Option<usize> = None;
        // A page's values count only once the whole page is known to be sound.
        let mut profile = TableProfile::new(columns.len());
        let rows = profile.observe(&self.source, columns, key, &page.body, &mut |row, cells| {
            if row == 0 {
                first = pick(cells);
            }
            if is_key && null_key.is_none() {
                null_key = positions.iter().position(|position| cells.get(*position) == Some(&"null"));
            }
            // Reuses the row's strings; only the last one survives.
            last.resize(positions.len(), String::new());
            for (slot, position) in last.iter_mut().zip(&positions) {
                slot.clear();
                slot.push_str(cells.get(*position).copied().unwrap_or_default());
            }
            Ok(())
        })?;
        self.profile
            .merge(&profile)
            .map_err(|source| CaptureError::Values { relation: self.source.clone(), source })?;
        if let Some(column) = null_key.and_then(|index| edge.get(index)) {
            return Err(CaptureError::NullKey { relation: self.source.clone(), column: column.clone() });
        }
        if rows == 0 {
            return Ok(Edges { rows, first: Vec::new(), last: None });
        }
        self.pages += 1;
        self.area.put_page(self.pages, &page.body)?;
        self.run.progress.event(Event::Page { source: &self.source, rows, bytes: page.body.len() as u64 });
        let values = |cells: Vec<String>| -> Result<Vec<String>, CaptureError> {
            let values: Option<Vec<String>> = cells
                .iter()
                .map(|cell| cursor::filter_value(cell).map(std::borrow::Cow::into_owned))
                .collect();
            values.ok_or_else(|| inconsistent(self.relation, "a key value is no JSON string".to_owned()))
        };
        Ok(match is_key {
            true => Edges { rows, first: values(first)?, last: Some(values(last)?) },
            // Not a cursor, only compared: the cells as they came, null included.
            false => Edges { rows, first, last: Some(last) },
        })
    }

    /// Whether the pass is complete after a page of `rows` when `limit` were asked for.
    fn is_at_end(&self, rows: u64, limit: u64, count_before: u64) -> Result<bool, CaptureError> {
        let seen = self.profile.rows;
        // A server that keeps sending what nobody counted would never end otherwise.
        if seen > count_before.saturating_add(limit) {
            return Err(inconsistent(
                self.relation,
                format!("{seen} rows came, the count was {count_before}"),
            ));
        }
        Ok(rows == 0 || (seen >= count_before && rows < limit))
    }

    fn finish(
        self,
        started_at: DateTime<Utc>,
        ended_at: DateTime<Utc>,
        count_before: u64,
        count_after: u64,
        tie_across_pages: bool,
    ) -> Staged {
        let Self { area, pages, profile, .. } = self;
        Staged { area, pages, profile, started_at, ended_at, count_before, count_after, tie_across_pages }
    }
}
