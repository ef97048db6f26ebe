//! `sync`: pull every configured collection once.

use super::arguments::SyncArguments;
use super::context::Context;
use super::error::CliError;
use super::output::grouped;
use super::progress::Shown;
use crate::bdp::PayloadHash;
use crate::store::Store;
use crate::sync::{EvidenceWanted, PullOptions, PullReport, RelationOutcome, Selection, pull};

/// Exit code: a snapshot was published, but relations failed.
const PUBLISHED_WITH_FAILURES: u8 = 2;

/// Pulls and publishes.
pub(super) async fn run(context: &Context, arguments: SyncArguments) -> Result<(), CliError> {
    let [collection] = context.config.collections.as_slice() else {
        return Err(CliError::with_code(
            format!(
                "`collections` names {}; one store mirrors one collection, so run once per collection with its own --store",
                context.config.collections.join(", ")
            ),
            64,
        ));
    };
    let mut options = PullOptions::new(
        context.config.bdp_root.clone(),
        collection,
        context.publisher_keys()?,
        context.mirror_key()?,
    );
    options.concurrency = context.config.concurrency;
    options.page_size = arguments.page_size;
    options.max_rows_per_relation = arguments.max_rows_per_relation;
    if arguments.double_read {
        options.evidence = EvidenceWanted::DoubleRead;
    }
    if !arguments.relations.is_empty() {
        options.relations = Selection::Patterns(arguments.relations);
    }
    if let Some(hash) = &arguments.collection_hash {
        let hash: PayloadHash = hash
            .parse()
            .map_err(|error| CliError::with_code(format!("--collection-hash {hash}: {error}"), 64))?;
        options.expected_collection_hash = Some(hash);
    }
    options.indexes = context.indexes()?;
    let store = Store::create_or_open(&context.config.store)?;
    let mut writer = store.writer()?;
    let upstream = context.upstream()?;
    let shown = Shown::new();
    let report = pull(upstream.net(), &mut writer, &options, context.clock.as_ref(), &shown).await?;
    print_report(&report);
    match report.failures() {
        0 => Ok(()),
        failures => Err(CliError::with_code(
            format!(
                "{failures} relation{} failed; the others are published",
                if failures == 1 { "" } else { "s" }
            ),
            PUBLISHED_WITH_FAILURES,
        )),
    }
}

/// What was pulled, in one screen.
pub(super) fn print_report(report: &PullReport) {
    let (mut relations, mut rows) = (0_u64, 0_u64);
    for relation in &report.relations {
        match &relation.outcome {
            RelationOutcome::Captured { rows: captured, .. } => {
                relations += 1;
                rows += captured;
            }
            RelationOutcome::Skipped { reason } => println!("skipped  {}: {reason}", relation.source),
            RelationOutcome::Failed { reason } => println!("failed   {}: {reason}", relation.source),
        }
    }
    for warning in &report.warnings {
        println!("warning  {warning}");
    }
    println!("captured {relations} relations, {} rows of {}", grouped(rows), report.collection);
    println!("content  {}", report.content_id);
    if let Some(snapshot) = &report.snapshot {
        println!("snapshot {snapshot}");
    }
}
