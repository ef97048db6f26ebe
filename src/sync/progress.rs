//! What happens during a pull, told to whoever shows it.

/// Something that happened. Relations are named `dataset.relation`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// All signed documents passed every check.
    DocumentsVerified {
        /// Collection name.
        collection: &'a str,
        /// Its payload hash.
        hash: &'a str,
        /// The key that signed it, Base64.
        signed_by: &'a str,
        /// Number of manifests.
        manifests: usize,
    },
    /// It is decided what will be captured.
    Planned {
        /// Relations to capture.
        relations: usize,
        /// Relations skipped.
        skipped: usize,
        /// Rows to capture, by the server's counts.
        rows: u64,
    },
    /// A relation's capture starts, for the first time or again.
    RelationStarted {
        /// The relation.
        source: &'a str,
        /// Rows to expect.
        rows: u64,
    },
    /// A page arrived.
    Page {
        /// The relation.
        source: &'a str,
        /// Rows in it.
        rows: u64,
        /// Bytes of its body.
        bytes: u64,
    },
    /// All pages are there; sorting and writing starts.
    Sorting {
        /// The relation.
        source: &'a str,
        /// Rows to write.
        rows: u64,
    },
    /// The relation is read again.
    RelationRetried {
        /// The relation.
        source: &'a str,
        /// Why.
        reason: &'a str,
    },
    /// The relation is captured.
    RelationFinished {
        /// The relation.
        source: &'a str,
        /// Its rows.
        rows: u64,
        /// Bytes of its Parquet files.
        bytes: u64,
    },
    /// No index could be built over the relation; it is captured all the same.
    IndexFailed {
        /// The relation.
        source: &'a str,
        /// Why.
        reason: &'a str,
    },
    /// The relation is not captured, on purpose.
    RelationSkipped {
        /// The relation.
        source: &'a str,
        /// Why.
        reason: &'a str,
    },
    /// The relation couldn't be captured.
    RelationFailed {
        /// The relation.
        source: &'a str,
        /// Why.
        reason: &'a str,
    },
    /// The collection changed during the run; everything starts again.
    Restarted {
        /// The hash at the start.
        before: &'a str,
        /// The hash now.
        after: &'a str,
    },
    /// The snapshot is published.
    Published {
        /// Its id.
        snapshot: &'a str,
    },
}

/// Is told what happens. Called from wherever it happens, so it must be quick.
pub trait Progress: Send + Sync {
    /// Something happened.
    fn event(&self, event: Event<'_>);
}

/// Tells nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn event(&self, _event: Event<'_>) {}
}
