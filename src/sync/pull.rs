//! One pull from start to end.

use std::collections::HashSet;

use futures::future::BoxFuture;
use futures::{StreamExt, stream};

use crate::catalog::{Catalog, JoinType, Relation};
use crate::config::Clock;
use crate::net::Net;
use crate::postgrest::PostgrestClient;
use crate::store::{StagingArea, StoreError, StoreWriter};

use super::capture::count;
use super::documents::{self, Documents};
use super::error::{CaptureError, SyncError};
use super::options::PullOptions;
use super::plan::{self, Candidate};
use super::progress::{Event, Progress};
use super::publish::{self, Captured};
use super::relation::{self, Outcome, Task};
use super::report::PullReport;
use super::write::Sorter;

/// What the steps of a run share.
pub(super) struct Run<'a> {
    pub(super) client: &'a PostgrestClient,
    pub(super) writer: &'a StoreWriter,
    pub(super) sorter: &'a Sorter,
    pub(super) options: &'a PullOptions,
    pub(super) clock: &'a dyn Clock,
    pub(super) progress: &'a dyn Progress,
    pub(super) catalog: &'a Catalog,
    /// Name of the run's directory in `work/`.
    pub(super) name: &'a str,
}

impl Run<'_> {
    /// Payload hash of the manifest a relation comes from.
    pub(super) fn manifest_hash(&self, relation: &Relation) -> &str {
        self.catalog.dataset(&relation.dataset).map_or("", |dataset| &dataset.manifest_hash)
    }

    /// The staging area for a pass. A retry never continues from what was inconsistent.
    pub(super) fn staging(&self, name: &str, retries: u32) -> Result<StagingArea, StoreError> {
        let area = self.writer.staging(self.name, name)?;
        if retries > 0 {
            area.clear()?;
        }
        Ok(area)
    }

    /// Columns of a relation that signed join paths look up by equality.
    pub(super) fn joined_columns(&self, relation: &Relation) -> HashSet<String> {
        let joins = self.catalog.joins.iter().filter(|join| join.join_type != JoinType::Spatial);
        joins
            .flat_map(|join| [&join.from, &join.to])
            .filter(|end| end.dataset == relation.dataset && end.relation == relation.name)
            .map(|end| end.column.clone())
            .collect()
    }
}

/// Pulls a collection once and publishes a snapshot of it.
///
/// Errors stop everything and leave the store as it was. A relation that fails is in the report and not in the
/// snapshot; if every one failed, nothing is published.
pub async fn pull(
    net: &Net,
    writer: &mut StoreWriter,
    options: &PullOptions,
    clock: &dyn Clock,
    progress: &dyn Progress,
) -> Result<PullReport, SyncError> {
    let mut documents = step_documents(net, writer, options, clock, progress).await?;
    for last_try in [false, true] {
        let captured = capture_all(net, writer, options, clock, progress, &documents).await?;
        // The manifests are pinned by the collection, so one hash stands for all of them.
        let now = documents::fetch_collection(net, options).await?;
        if now.payload_hash == documents.collection.payload_hash {
            return publish::publish(writer, options, clock, progress, &documents, captured);
        }
        let (before, after) = (documents.collection.payload_hash.to_string(), now.payload_hash.to_string());
        if last_try {
            return Err(SyncError::ChangedDuringRun {
                collection: options.collection.clone(),
                before,
                after,
            });
        }
        progress.event(Event::Restarted { before: &before, after: &after });
        documents = step_documents(net, writer, options, clock, progress).await?;
    }
    // The second try returns above; the loop can't be left otherwise.
    let hash = documents.collection.payload_hash.to_string();
    Err(SyncError::ChangedDuringRun {
        collection: options.collection.clone(),
        before: hash.clone(),
        after: hash,
    })
}

/// Step 1, told.
async fn step_documents(
    net: &Net,
    writer: &StoreWriter,
    options: &PullOptions,
    clock: &dyn Clock,
    progress: &dyn Progress,
) -> Result<Documents, SyncError> {
    let documents = documents::load(net, writer.store(), options, clock).await?;
    progress.event(Event::DocumentsVerified {
        collection: &options.collection,
        hash: &documents.collection.payload_hash.to_string(),
        signed_by: &documents.collection.signed_by,
        manifests: documents.manifests.len(),
    });
    Ok(documents)
}

/// Steps 2 to 4 for every selected relation, several at a time, in the collection's order.
async fn capture_all(
    net: &Net,
    writer: &StoreWriter,
    options: &PullOptions,
    clock: &dyn Clock,
    progress: &dyn Progress,
    documents: &Documents,
) -> Result<Vec<Captured>, SyncError> {
    let catalog = &documents.catalog;
    let name = documents.collection.payload_hash.to_string();
    writer.clear_work(Some(&name))?;
    let sorter =
        Sorter::new(options.sort_memory_bytes, options.spill_limit_bytes, writer.spill_directory(&name)?)?;
    let client = PostgrestClient::new(net.clone(), options.retry, options.jitter_seed);
    let run =
        Run { client: &client, writer, sorter: &sorter, options, clock, progress, catalog, name: &name };

    let sources: Vec<String> =
        catalog.relations().filter(|relation| relation.queryable).map(Relation::source).collect();
    if let Some(pattern) = options.relations.idle_pattern(&sources) {
        return Err(SyncError::NothingSelected {
            pattern: pattern.to_owned(),
            collection: options.collection.clone(),
            examples: sources.into_iter().take(5).collect(),
        });
    }
    let concurrency = options.concurrency.max(1);
    let mut plans: Vec<BoxFuture<'_, Option<Planned<'_>>>> = Vec::new();
    for relation in catalog.relations() {
        plans.push(Box::pin(plan_one(&run, relation)));
    }
    let planned: Vec<Option<Planned<'_>>> = stream::iter(plans).buffered(concurrency).collect().await;
    announce(progress, &planned);

    let mut captures: Vec<BoxFuture<'_, Captured>> = Vec::new();
    for (relation, planned) in catalog.relations().zip(planned) {
        if let Some(planned) = planned {
            captures.push(Box::pin(finish_one(&run, relation, planned)));
        }
    }
    Ok(stream::iter(captures).buffered(concurrency).collect().await)
}

/// A relation after step 2.
enum Planned<'a> {
    Task(Box<Task<'a>>),
    Skip(String),
    Fail(CaptureError),
}

/// Step 2 for one relation: count, then decide. `None` for relations that have no place in the snapshot.
async fn plan_one<'a>(run: &Run<'a>, relation: &'a Relation) -> Option<Planned<'a>> {
    let dataset = run.catalog.dataset(&relation.dataset)?;
    let endpoint = match plan::candidate(dataset, relation, run.options) {
        Ok(None) => return None,
        Ok(Some(Candidate::Skip(reason))) => return Some(Planned::Skip(reason)),
        Ok(Some(Candidate::Readable(endpoint))) => endpoint,
        Err(error) => return Some(Planned::Fail(error.into())),
    };
    let count = match count(run, &endpoint).await {
        Ok(count) => count,
        Err(error) => return Some(Planned::Fail(error.into())),
    };
    if let Some(reason) = plan::over_count(relation, count, run.options) {
        return Some(Planned::Skip(reason));
    }
    let page_rows = plan::page_rows(dataset, run.options);
    let method = plan::method(relation, count, page_rows);
    Some(Planned::Task(Box::new(Task { relation, endpoint: *endpoint, count, page_rows, method })))
}

fn announce(progress: &dyn Progress, planned: &[Option<Planned<'_>>]) {
    let (mut relations, mut skipped, mut rows) = (0, 0, 0_u64);
    for planned in planned {
        match planned {
            Some(Planned::Task(task)) => {
                relations += 1;
                rows = rows.saturating_add(task.count);
            }
            Some(Planned::Skip(_)) => skipped += 1,
            Some(Planned::Fail(_)) | None => {}
        }
    }
    progress.event(Event::Planned { relations, skipped, rows });
}

/// Steps 3 and 4 for one relation, and the news of it.
async fn finish_one(run: &Run<'_>, relation: &Relation, planned: Planned<'_>) -> Captured {
    let source = relation.source();
    let outcome = match planned {
        Planned::Task(task) => relation::capture(run, *task).await,
        Planned::Skip(reason) => Outcome::Skipped(reason),
        Planned::Fail(error) => Outcome::Failed(error),
    };
    match &outcome {
        Outcome::Captured(capture) => run.progress.event(Event::RelationFinished {
            source: &source,
            rows: capture.rows,
            bytes: capture.parts.iter().map(|part| part.bytes).sum(),
        }),
        Outcome::Skipped(reason) => run.progress.event(Event::RelationSkipped { source: &source, reason }),
        Outcome::Failed(error) => {
            run.progress.event(Event::RelationFailed { source: &source, reason: &error.to_string() });
        }
    }
    Captured { dataset: relation.dataset.clone(), relation: relation.name.clone(), outcome }
}
