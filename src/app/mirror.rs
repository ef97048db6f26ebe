//! An open store and the snapshot being served.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OnceCell, Semaphore, SemaphorePermit};

use super::error::AppError;
use super::live::{LiveContext, LiveReader};
use super::shelf::{DistrictShelf, ShelvedNonprofits};
use crate::catalog::{Catalog, Relation, ranking};
use crate::config::{Clock, Config, Mode};
use crate::engine::{EngineRuntime, PartFile, Refusal, RefusalCode, RelationData, RowSource, RunOptions};
use crate::store::{
    Access, Capture, ObjectCheck, Part, RelationState, Snapshot, SnapshotId, Store, StoreError, Trust,
};
use crate::sync::Upstream;

/// What a mirror is opened with.
#[derive(Debug, Clone)]
pub struct MirrorOptions {
    /// Whose signatures count.
    pub trust: Trust,
    /// How answers are bounded and written.
    pub run: RunOptions,
    /// Age beyond which a capture counts as stale, in seconds.
    pub max_age_seconds: u64,
    /// Requests answered at the same time.
    pub concurrency: usize,
}

/// Answers questions from a store, or from the API its catalogue grants.
pub struct Mirror {
    pub(super) store: Store,
    pub(super) options: MirrorOptions,
    pub(super) runtime: EngineRuntime,
    pub(super) clock: Arc<dyn Clock>,
    /// Where answers may come from.
    pub(super) mode: Mode,
    /// Reads the API; made only where it may be asked.
    live: Option<LiveReader>,
    permits: Semaphore,
    serving: Mutex<Option<Arc<Serving>>>,
}

/// One loaded snapshot with what is built from it on first use.
pub(super) struct Serving {
    pub(super) snapshot: Snapshot,
    pub(super) ranking: ranking::Index,
    pub(super) districts: OnceCell<DistrictShelf>,
    pub(super) nonprofits: OnceCell<ShelvedNonprofits>,
}

/// A relation's rows together with what is known about them.
pub(super) struct Held<'a> {
    pub(super) capture: &'a Capture,
    pub(super) data: RelationData,
    /// Whether every part was hashed in this process.
    pub(super) hashed: bool,
}

impl Mirror {
    /// Opens a store for reading. In live mode the API is asked instead of the snapshot, whose verified catalogue still
    /// says what is granted; in any other mode nothing that could reach the network is made. The snapshot itself is loaded by the first question, or by [`Mirror::load`].
    pub fn open(
        path: &Path,
        config: &Config,
        options: MirrorOptions,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, AppError> {
        let store = Store::open(path, Access::ReadOnly)?;
        let runtime = EngineRuntime::new(config.limits.clone(), config.concurrency)
            .map_err(|error| AppError::Internal { detail: format!("the engine can't start: {error}") })?;
        let live = match config.mode {
            Mode::Live => {
                let upstream = Upstream::new(config).map_err(|error| AppError::Internal {
                    detail: format!("the API can't be asked: {error}"),
                })?;
                Some(LiveReader::new(&upstream, clock.now().timestamp_micros().unsigned_abs()))
            }
            Mode::Auto | Mode::Offline => None,
        };
        Ok(Self {
            store,
            mode: config.mode,
            live,
            permits: Semaphore::new(options.concurrency.max(1)),
            options,
            runtime,
            clock,
            serving: Mutex::new(None),
        })
    }

    /// Whether answers may come from the network.
    pub fn is_live(&self) -> bool {
        self.live.is_some()
    }

    /// What reads the API, and what it needs for a snapshot's catalogue.
    pub(super) fn live<'a>(
        &'a self,
        serving: &'a Serving,
    ) -> Result<(&'a LiveReader, LiveContext<'a>), AppError> {
        let context = LiveContext {
            catalog: &serving.snapshot.catalog,
            runtime: &self.runtime,
            options: self.options.run,
        };
        let reader = self.live.as_ref().ok_or_else(|| AppError::Internal {
            detail: "a live answer was asked of a mirror without a reader".to_owned(),
        })?;
        Ok((reader, context))
    }

    /// Loads and verifies the current snapshot; an error says why it can't be served.
    pub fn load(&self) -> Result<SnapshotId, AppError> {
        self.serving().map(|serving| serving.snapshot.id)
    }

    /// The snapshot `current` names now, loaded once and kept until `current` moves.
    pub(super) fn serving(&self) -> Result<Arc<Serving>, AppError> {
        let current = self.store.current_id()?.ok_or_else(|| AppError::NotFound {
            what: format!("the store {} holds no snapshot", self.store.path().display()),
        })?;
        let mut slot = self.serving.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(serving) = slot.as_ref().filter(|serving| serving.snapshot.id == current) {
            return Ok(Arc::clone(serving));
        }
        let snapshot = self.store.snapshot(&current, &self.options.trust).map_err(|error| match error {
            // What `current` names was there once: a loss, not an empty store.
            StoreError::NotFound { what, path } => AppError::Corrupt {
                detail: format!(
                    "corrupt store: `current` names {what}, but there is none at {}",
                    path.display()
                ),
            },
            error => error.into(),
        })?;
        let serving = Arc::new(Serving {
            ranking: ranking::Index::build(&snapshot.catalog, &[]),
            snapshot,
            districts: OnceCell::new(),
            nonprofits: OnceCell::new(),
        });
        *slot = Some(Arc::clone(&serving));
        Ok(serving)
    }

    /// Room for one request. Waits a quarter of the deadline for it, then refuses.
    pub(super) async fn admit(&self) -> Result<SemaphorePermit<'_>, Refusal> {
        let patience = self.runtime.limits().request_deadline / 4;
        match tokio::time::timeout(patience, self.permits.acquire()).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(Refusal::new(
                RefusalCode::Busy,
                format!(
                    "{} requests have been running for {} s, as many as are allowed.",
                    self.options.concurrency,
                    patience.as_secs()
                ),
            )
            .fact("concurrency", self.options.concurrency)
            .fact("retry_after_seconds", patience.as_secs().max(1))
            .next("send the same request again in a few seconds")),
        }
    }

    /// The rows of a relation in a snapshot, each part checked before its first use, or why they aren't there.
    pub(super) fn held<'a>(&self, serving: &'a Serving, relation: &Relation) -> Result<Held<'a>, AppError> {
        let mut held = self.unchecked(serving, relation)?;
        for part in &held.capture.parts {
            held.hashed &= self.store.check_object(&part.object())? == ObjectCheck::Hashed;
        }
        Ok(held)
    }

    /// The same with no part checked yet, for answers that read none.
    pub(super) fn unchecked<'a>(
        &self,
        serving: &'a Serving,
        relation: &Relation,
    ) -> Result<Held<'a>, AppError> {
        let capture = match serving.snapshot.document.relation(&relation.dataset, &relation.name) {
            Some(entry) => match entry.capture() {
                Some(capture) => capture,
                None => return Err(not_mirrored(serving, relation, skipped(&entry.state)).into()),
            },
            None => return Err(not_mirrored(serving, relation, None).into()),
        };
        Ok(Held { capture, data: relation_data(&self.store, capture), hashed: true })
    }
}

/// A capture's rows as the engine reads them.
pub(super) fn relation_data(store: &Store, capture: &Capture) -> RelationData {
    let part =
        |part: &Part| PartFile { path: store.object_path(&part.sha256), bytes: part.bytes, rows: part.rows };
    let inexact = capture.columns.iter().filter(|column| column.inexact).map(|column| column.name.clone());
    RelationData {
        schema: capture.schema(),
        source: RowSource::Parts(capture.parts.iter().map(part).collect()),
        sort_key: capture.sort_key.clone(),
        rows: capture.rows,
        inexact: inexact.collect(),
    }
}

fn skipped(state: &RelationState) -> Option<&str> {
    match state {
        RelationState::Skipped { reason } => Some(reason),
        RelationState::Captured(_) => None,
    }
}

/// The refusal for a relation the snapshot doesn't hold.
fn not_mirrored(serving: &Serving, relation: &Relation, reason: Option<&str>) -> Refusal {
    let source = relation.source();
    let mirrored: Vec<String> = serving
        .snapshot
        .document
        .relations
        .iter()
        .filter(|entry| entry.capture().is_some())
        .map(|entry| entry.source())
        .take(12)
        .collect();
    let why = reason.map_or_else(|| "it was not captured".to_owned(), str::to_owned);
    Refusal::new(RefusalCode::NotMirrored, format!("`{source}` is signed but not mirrored here: {why}."))
        .fact("source", source.as_str())
        .fact("reason", why)
        .fact("mirrored", mirrored)
        .next(format!("ask the operator to run `benthic-mirror sync --relation {source}`"))
}

/// The manifest hash of each dataset, by name.
pub(super) fn manifest_hashes(catalog: &Catalog) -> HashMap<&str, &str> {
    catalog.datasets.iter().map(|dataset| (dataset.name.as_str(), dataset.manifest_hash.as_str())).collect()
}
