//! Answers from the live API: what `engine::live` says is needed, fetched here, through the plan every answer uses.
//!
//! Nothing is cut short in silence: a read of several pages needs the same count before and after, a page carries the
//! count of its own statement, and whatever doesn't add up is a refusal that names it.

mod fetch;
mod join;
mod pages;
mod query;
mod refusal;
mod rpc;

use std::future::Future;

use super::error::AppError;
use crate::catalog::{Catalog, PostgrestEndpoint, Relation};
use crate::engine::{EngineRuntime, Refusal, RefusalCode, RunOptions};
use crate::postgrest::PostgrestClient;
use crate::sync::Upstream;

/// Reads relations from the API their manifests name.
#[derive(Debug, Clone)]
pub struct LiveReader {
    client: PostgrestClient,
}

/// What a live answer is computed with.
#[derive(Debug, Clone, Copy)]
pub struct LiveContext<'a> {
    /// What is granted, and where it is read.
    pub catalog: &'a Catalog,
    /// Runs the plans; its limits bound the reads.
    pub runtime: &'a EngineRuntime,
    /// How values are written. The size rules are always those of `parity`.
    pub options: RunOptions,
}

impl LiveReader {
    /// A reader through the publisher's door. `seed` makes the jitter of repeated requests.
    pub fn new(upstream: &Upstream, seed: u64) -> Self {
        Self { client: upstream.reader(seed) }
    }

    fn relation<'a>(
        &'a self,
        context: LiveContext<'a>,
        relation: &'a Relation,
    ) -> Result<fetch::RelationReader<'a>, Refusal> {
        let endpoint = self.endpoint(context, relation)?;
        fetch::RelationReader::new(&self.client, endpoint, relation, context.runtime.limits())
    }

    /// Where a relation's manifest says it is read.
    fn endpoint<'a>(
        &self,
        context: LiveContext<'a>,
        relation: &Relation,
    ) -> Result<&'a PostgrestEndpoint, Refusal> {
        let dataset = context.catalog.dataset(&relation.dataset);
        let endpoint = dataset.and_then(|dataset| dataset.endpoint.as_ref());
        endpoint.filter(|_| relation.relation_type != "function").ok_or_else(|| {
            Refusal::new(
                RefusalCode::UpstreamFailed,
                format!(
                    "`{}` can't be read live: its manifest names no endpoint that can be read without authentication.",
                    relation.source()
                ),
            )
            .fact("source", relation.source())
            .terminal()
        })
    }
}

/// Ends a live request at its deadline, fetching included.
async fn within_deadline<T>(
    context: LiveContext<'_>,
    request: impl Future<Output = Result<T, AppError>>,
) -> Result<T, AppError> {
    let deadline = context.runtime.limits().request_deadline;
    match tokio::time::timeout(deadline, request).await {
        Ok(result) => result,
        Err(_) => {
            let seconds = deadline.as_secs();
            Err(Refusal::new(
                RefusalCode::TimedOut,
                format!("the live request took longer than {seconds} s."),
            )
            .fact("deadline_seconds", seconds)
            .next("add a filter, or return fewer columns")
            .into())
        }
    }
}
