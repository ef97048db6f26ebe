//! A query answered live.

use serde_json::{Value, json};

use super::fetch::{Passing, RelationReader};
use super::refusal::changed;
use super::{LiveContext, LiveReader, within_deadline};
use crate::app::error::AppError;
use crate::config::{Limits, ScanPolicy};
use crate::engine::live::{
    LiveFilters, LiveRead, Probe, check_live_query, fetch_bound, live_filters, live_read,
};
use crate::engine::{
    Answer, CheckedQuery, Coverage, Refusal, RefusalCode, RelationData, RunOptions, planned_over_nothing,
    run_covered_query,
};
use crate::postgrest::{Filter, Order};

impl LiveReader {
    /// Answers a checked query.
    pub async fn query(
        &self,
        context: LiveContext<'_>,
        query: &CheckedQuery<'_>,
        manifest_hash: &str,
    ) -> Result<Answer, AppError> {
        within_deadline(context, async {
            check_live_query(query)?;
            let reader = self.relation(context, query.relation)?;
            let (data, coverage) = rows_for(&reader, query, context.runtime.limits()).await?;
            let options = RunOptions { policy: ScanPolicy::Parity, ..context.options };
            Ok(run_covered_query(query, &data, &coverage, manifest_hash, context.runtime, options).await?)
        })
        .await
    }

    /// What would happen: the count, the refusal if any, how rows would be read; no rows.
    pub async fn explain_query(
        &self,
        context: LiveContext<'_>,
        query: &CheckedQuery<'_>,
    ) -> Result<Value, AppError> {
        within_deadline(context, async {
            check_live_query(query)?;
            let reader = self.relation(context, query.relation)?;
            let filters = live_filters(query.relation, &query.predicates, reader.filter_budget());
            let passing = reader.count(&filters, None).await?;
            let read = live_read(query, &filters, passing.total(), context.runtime.limits());
            let nothing = reader.nothing()?;
            Ok(json!({
                "source": query.relation.source(),
                "candidate_rows": passing.total(),
                "matched_rows": filters.widened.is_none().then(|| passing.total()),
                "read": match &read {
                    Ok(LiveRead::All { .. }) => "every matching row".into(),
                    Ok(LiveRead::Page { .. }) => "the page asked for".into(),
                    Ok(LiveRead::Probes { probes, .. }) => format!("{} probes", probes.len()).into(),
                    Err(_) => Value::Null,
                },
                "refusal": read.err().map_or(Value::Null, |refusal| refusal.to_json()),
                "logical_plan": planned_over_nothing(query, &nothing)?,
                "files": [],
            }))
        })
        .await
    }
}

async fn rows_for(
    reader: &RelationReader<'_>,
    query: &CheckedQuery<'_>,
    limits: &Limits,
) -> Result<(RelationData, Coverage), AppError> {
    let filters = live_filters(query.relation, &query.predicates, reader.filter_budget());
    reader.require_finite(&filters).await?;
    let passing = reader.count(&filters, None).await?;
    match live_read(query, &filters, passing.total(), limits)? {
        LiveRead::All { columns } => {
            Ok((reader.whole(&filters, &passing, &columns, query.is_rows()).await?, Coverage::Matching))
        }
        LiveRead::Page { columns, order, decided, otherwise } => {
            let read = PageRead { columns: &columns, order: &order, decided: &decided, otherwise };
            page(reader, query, limits, &filters, &passing, read).await
        }
        LiveRead::Probes { columns, probes } => probed(reader, &filters, &passing, &columns, &probes).await,
    }
}

impl RelationReader<'_> {
    /// Every row the filters let through. Where rows are returned and the key doesn't tell them apart, every column is
    /// read, since every column then orders them.
    pub(super) async fn whole(
        &self,
        filters: &LiveFilters,
        passing: &Passing,
        columns: &[usize],
        ordered: bool,
    ) -> Result<RelationData, Refusal> {
        let pages = self.all(filters, passing, columns).await?;
        let every: Vec<usize> = (0..self.relation().columns.len()).collect();
        if ordered && columns != every && !pages.keys_differ()? {
            return self.all(filters, passing, &every).await?.into_data();
        }
        pages.into_data()
    }

    /// The relation without rows.
    fn nothing(&self) -> Result<RelationData, Refusal> {
        super::pages::Pages::new(self.relation(), &[], 0).into_data()
    }
}

/// How a page is read.
struct PageRead<'r> {
    columns: &'r [usize],
    order: &'r [Order],
    decided: &'r [usize],
    otherwise: Result<(), Box<Refusal>>,
}

/// The page asked for. A list of values split over several requests is read from the start of each.
async fn page(
    reader: &RelationReader<'_>,
    query: &CheckedQuery<'_>,
    limits: &Limits,
    filters: &LiveFilters,
    passing: &Passing,
    read: PageRead<'_>,
) -> Result<(RelationData, Coverage), AppError> {
    let matched = passing.total();
    let bound = fetch_bound(query.relation, limits);
    let split = filters.chunks.len() > 1;
    let end = query.offset.saturating_add(query.limit);
    if split && end > bound && matched > bound {
        return Err(too_deep(query, matched, bound).into());
    }
    let offset = if split { 0 } else { query.offset };
    let order = (read.order, read.decided);
    let (mut pages, is_determined) =
        reader.window(filters, passing, read.columns, order, (offset, end)).await?;
    if !is_determined {
        read.otherwise.map_err(|refusal| *refusal)?;
        return Ok((reader.whole(filters, passing, read.columns, true).await?, Coverage::Matching));
    }
    let every: Vec<usize> = (0..query.relation.columns.len()).collect();
    if read.columns != every && !pages.keys_differ()? {
        // Every column orders rows whose key is the same.
        (pages, _) = reader.window(filters, passing, &every, order, (offset, end)).await?;
    }
    if split {
        return Ok((pages.into_data()?, Coverage::Head { matched }));
    }
    let small = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let before = usize::from(offset > 0);
    Ok((pages.into_data_of(before, small(query.limit))?, Coverage::Window { matched }))
}

async fn probed(
    reader: &RelationReader<'_>,
    filters: &LiveFilters,
    passing: &Passing,
    columns: &[usize],
    probes: &[Probe],
) -> Result<(RelationData, Coverage), AppError> {
    let relation = reader.relation();
    let matched = passing.total();
    let name = |at: usize| relation.columns.get(at).map(|column| column.name.clone()).unwrap_or_default();
    let mut counts = Vec::with_capacity(probes.len());
    let mut orders: Vec<Order> = Vec::new();
    for probe in probes {
        let order = match probe {
            Probe::Count => {
                counts.push(Some(matched));
                continue;
            }
            Probe::CountPresent(column) => {
                let present = Filter::negate(Filter::is_null(name(*column)));
                let counted = reader.count(filters, Some(&present)).await?.total();
                if counted > matched {
                    return Err(changed(relation, matched, counted, None).into());
                }
                counts.push(Some(counted));
                continue;
            }
            Probe::Smallest(column) => Order::ascending(name(*column)),
            Probe::Largest(column) => Order { descending: true, ..Order::ascending(name(*column)) },
        };
        counts.push(None);
        if !orders.contains(&order) {
            orders.push(order);
        }
    }
    let pages = reader.firsts(filters, passing, columns, &orders).await?;
    Ok((pages.into_data()?, Coverage::Extremes { matched, counts }))
}

fn too_deep(query: &CheckedQuery<'_>, matched: u64, bound: u64) -> Refusal {
    Refusal::new(
        RefusalCode::TooMany,
        format!(
            "the list of values takes several live requests, which are read from their start: at most {bound} rows, offset and limit together."
        ),
    )
    .fact("source", query.relation.source())
    .fact("matched_rows", matched)
    .fact("limit", bound)
    .next("send a shorter list")
}
