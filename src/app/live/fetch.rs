//! Reading one relation: counts, whole reads by key, windows by offset, single rows.

use std::sync::atomic::{AtomicU64, Ordering};

use super::pages::Pages;
use super::refusal::{capped, changed, failed};
use crate::catalog::{PostgrestEndpoint, Relation};
use crate::config::Limits;
use crate::engine::Refusal;
use crate::engine::live::{LiveFilters, has_key, not_finite};
use crate::postgrest::cursor::{after, can_be_cursor};
use crate::postgrest::{Endpoint, Filter, Order, Page, PageRequest, PostgrestClient, encoded_bytes};

/// Rows of a page where the manifest doesn't say how many the server sends.
const DEFAULT_PAGE_ROWS: u64 = 1_000;
/// Longest address. Web servers stop at 8 KB.
const MAX_URL_BYTES: usize = 6 * 1024;
/// What an address needs besides names, filters and cursor.
const URL_MARGIN_BYTES: usize = 700;
/// Filters always get this much of an address.
const MIN_FILTER_BYTES: usize = 1_500;

/// Reads one relation through its endpoint.
pub(super) struct RelationReader<'a> {
    client: &'a PostgrestClient,
    endpoint: Endpoint,
    relation: &'a Relation,
    page_rows: u64,
    /// Smaller once the server can't manage full pages.
    limit: AtomicU64,
    max_bytes: u64,
}

/// Which rows pass, by chunk of the filters.
#[derive(Debug, Clone)]
pub(super) struct Passing {
    by_chunk: Vec<u64>,
}

impl Passing {
    pub(super) fn total(&self) -> u64 {
        self.by_chunk.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }
}

impl<'a> RelationReader<'a> {
    pub(super) fn new(
        client: &'a PostgrestClient,
        endpoint: &PostgrestEndpoint,
        relation: &'a Relation,
        limits: &Limits,
    ) -> Result<Self, Refusal> {
        let page_rows = endpoint.max_rows.unwrap_or(DEFAULT_PAGE_ROWS).clamp(1, limits.max_rows.max(1));
        Ok(Self {
            client,
            endpoint: Endpoint::new(endpoint, relation).map_err(|error| failed(relation, &error))?,
            relation,
            page_rows,
            limit: AtomicU64::new(u64::MAX),
            max_bytes: limits.memory_limit_bytes / 4,
        })
    }

    pub(super) fn relation(&self) -> &'a Relation {
        self.relation
    }

    /// What filters may take of an address beside the names of the columns.
    pub(super) fn filter_budget(&self) -> usize {
        let names: Vec<(String, String)> =
            self.relation.columns.iter().map(|column| (String::new(), column.name.clone())).collect();
        let reserved = self.endpoint.base_url.as_str().len()
            + self.endpoint.table.len()
            + URL_MARGIN_BYTES
            + 2 * encoded_bytes(&names);
        MAX_URL_BYTES.saturating_sub(reserved).max(MIN_FILTER_BYTES)
    }

    /// Rows each chunk lets through, with one more condition on all of them.
    pub(super) async fn count(
        &self,
        filters: &LiveFilters,
        besides: Option<&Filter>,
    ) -> Result<Passing, Refusal> {
        let mut by_chunk = Vec::with_capacity(filters.chunks.len());
        for chunk in &filters.chunks {
            let all: Vec<Filter> = chunk.iter().chain(besides).cloned().collect();
            by_chunk.push(self.count_one(all).await?);
        }
        Ok(Passing { by_chunk })
    }

    /// Refuses a comparison with NaN or an infinity in columns that hold such values.
    pub(super) async fn require_finite(&self, filters: &LiveFilters) -> Result<(), Refusal> {
        for position in &filters.must_be_finite {
            let Some(column) = self.relation.columns.get(*position) else { continue };
            let rows = self.count_one(vec![not_finite(&column.name)]).await?;
            if rows > 0 {
                return Err(super::refusal::not_finite(self.relation, &column.name, rows));
            }
        }
        Ok(())
    }

    async fn count_one(&self, filters: Vec<Filter>) -> Result<u64, Refusal> {
        let request = PageRequest { filters, ..PageRequest::default() };
        self.client.count(&self.endpoint, &request).await.map_err(|error| failed(self.relation, &error))
    }

    /// Every row the filters let through.
    pub(super) async fn all(
        &self,
        filters: &LiveFilters,
        passing: &Passing,
        columns: &[usize],
    ) -> Result<Pages<'a>, Refusal> {
        let mut pages = Pages::new(self.relation, columns, self.max_bytes);
        for (chunk, expected) in filters.chunks.iter().zip(&passing.by_chunk) {
            self.all_of(chunk, *expected, &mut pages).await?;
        }
        Ok(pages)
    }

    /// Every row one chunk lets through: one page that carries its own count, or pages by key with a count before and
    /// after.
    async fn all_of(&self, filters: &[Filter], expected: u64, pages: &mut Pages<'a>) -> Result<(), Refusal> {
        if expected == 0 {
            return Ok(());
        }
        let key = &self.relation.primary_key;
        let is_cursor = |name: &String| {
            self.relation.column(name).is_some_and(|(_, column)| can_be_cursor(&column.column_type))
        };
        let keyed = has_key(self.relation) && key.iter().all(is_cursor);
        let order: Vec<Order> = if keyed { key.iter().map(Order::ascending).collect() } else { Vec::new() };
        // Without a cursor everything has to come at once, whatever the server is declared to send.
        let wanted = if keyed { self.page_rows } else { expected };
        let mut rows = 0_u64;
        let mut last: Vec<String> = Vec::new();
        loop {
            let mut all = filters.to_vec();
            if !last.is_empty() {
                all.extend(after(key, &last));
            }
            let first = rows == 0;
            let request = PageRequest {
                columns: pages.names(),
                filters: all,
                order: order.clone(),
                count: first,
                ..PageRequest::default()
            };
            let page = self.page(request, wanted).await?;
            let counted = page.range.and_then(|range| range.total);
            let end = pages.push(page.body)?;
            rows = rows.saturating_add(end.rows);
            if first && let Some(total) = counted {
                if total != expected {
                    return Err(changed(self.relation, expected, rows, Some(total)));
                }
                // The statement that sent the rows counted them too.
                if rows == total {
                    return Ok(());
                }
            }
            if rows >= expected || end.rows == 0 {
                break;
            }
            match end.last_key.filter(|_| keyed) {
                Some(next) if next != last => last = next,
                Some(_) => return Err(changed(self.relation, expected, rows, None)),
                None => return Err(capped(self.relation, expected, rows)),
            }
        }
        let again = self.count_one(filters.to_vec()).await?;
        match rows == expected && again == expected {
            true => Ok(()),
            false => Err(changed(self.relation, expected, rows, Some(again))),
        }
    }

    /// Rows `offset` to `offset + wanted` of one chunk in a total order, as far as there are so many. Every page carries
    /// the count of its own statement, which must stay what it was. Returns where pages meet, in rows from the first.
    async fn window_of(
        &self,
        filters: &[Filter],
        expected: u64,
        order: &[Order],
        offset: u64,
        wanted: u64,
        pages: &mut Pages<'a>,
    ) -> Result<Vec<u64>, Refusal> {
        let end = offset.saturating_add(wanted).min(expected);
        let mut at = offset;
        let mut seams = Vec::new();
        while at < end {
            let request = PageRequest {
                columns: pages.names(),
                filters: filters.to_vec(),
                order: order.to_vec(),
                offset: Some(at),
                count: true,
                ..PageRequest::default()
            };
            let page = self.page(request, (end - at).min(self.page_rows)).await?;
            let total = match page.range.and_then(|range| range.total) {
                Some(total) => total,
                None => self.count_one(filters.to_vec()).await?,
            };
            let got = pages.push(page.body)?.rows;
            at = at.saturating_add(got);
            if total != expected || got == 0 || at > end {
                return Err(changed(self.relation, expected, at - offset, Some(total)));
            }
            seams.push(at - offset);
        }
        // The last page ends the window, not a page within it.
        seams.pop();
        Ok(seams)
    }

    /// Of each chunk the rows `offset` to `end` in the order with a row on either side, and whether those differ from
    /// what is between them in the columns `decided`, as rows on both sides of where pages meet must: then the server's order says which rows these are.
    pub(super) async fn window(
        &self,
        filters: &LiveFilters,
        passing: &Passing,
        columns: &[usize],
        order: (&[Order], &[usize]),
        (offset, end): (u64, u64),
    ) -> Result<(Pages<'a>, bool), Refusal> {
        let before = u64::from(offset > 0);
        let start = offset - before;
        let wanted = end.saturating_sub(start).saturating_add(1);
        let mut pages = Pages::new(self.relation, columns, self.max_bytes);
        let mut is_determined = true;
        for (chunk, expected) in filters.chunks.iter().zip(&passing.by_chunk) {
            let mut part = Pages::new(self.relation, columns, self.max_bytes);
            let seams = self.window_of(chunk, *expected, order.0, start, wanted, &mut part).await?;
            // Rows that tie may change places between two requests.
            for seam in seams {
                is_determined &= !part.tied((seam - 1, seam), order.1)?;
            }
            let last = end.saturating_sub(start).saturating_sub(1);
            is_determined &= before == 0 || !part.tied((0, 1), order.1)?;
            is_determined &= !part.tied((last, last + 1), order.1)?;
            pages.append(part)?;
        }
        Ok((pages, is_determined))
    }

    /// The first row in each of these orders, of every chunk.
    pub(super) async fn firsts(
        &self,
        filters: &LiveFilters,
        passing: &Passing,
        columns: &[usize],
        orders: &[Order],
    ) -> Result<Pages<'a>, Refusal> {
        let mut pages = Pages::new(self.relation, columns, self.max_bytes);
        for order in orders {
            for (chunk, _) in filters.chunks.iter().zip(&passing.by_chunk).filter(|(_, count)| **count > 0) {
                let request = PageRequest {
                    columns: pages.names(),
                    filters: chunk.clone(),
                    order: vec![order.clone()],
                    ..PageRequest::default()
                };
                let page = self.page(request, 1).await?;
                let rows = pages.push(page.body)?.rows;
                if rows != 1 {
                    return Err(changed(self.relation, 1, rows, None));
                }
            }
        }
        Ok(pages)
    }

    /// One page of at most `rows`; smaller ones once the server or the body cap asks for less.
    async fn page(&self, request: PageRequest, rows: u64) -> Result<Page, Refusal> {
        loop {
            let limit = self.limit.load(Ordering::Relaxed).min(rows).max(1);
            let request = PageRequest { limit: Some(limit), ..request.clone() };
            match self.client.fetch_page(&self.endpoint, &request).await {
                Err(error) if error.asks_for_less() && limit > 1 => {
                    self.limit.store(limit / 2, Ordering::Relaxed);
                }
                Err(error) => return Err(failed(self.relation, &error)),
                Ok(page) => return Ok(page),
            }
        }
    }
}
