//! What stops a pull, and what stops one relation of it.

use crate::bdp::VerifyError;
use crate::catalog::CatalogError;
use crate::net::NetError;
use crate::postgrest::{DecodeError, PostgrestError, ValueError};
use crate::store::{StoreError, UnsupportedType};

/// A pull that published nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SyncError {
    /// A document couldn't be fetched.
    #[error("{document}: {source}")]
    Fetch {
        /// Which document.
        document: String,
        /// Why.
        source: NetError,
    },
    /// The server answered a document request with an error status.
    #[error("{document}: {url} answered {status}")]
    Document {
        /// Which document.
        document: String,
        /// Its address.
        url: String,
        /// The HTTP status.
        status: u16,
    },
    /// A document isn't to be believed, or is older than one accepted before.
    #[error("{document}: {source}")]
    Verify {
        /// Which document.
        document: String,
        /// The rule it breaks.
        source: VerifyError,
    },
    /// The verified documents contradict themselves.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The collection isn't the one the operator named.
    #[error("the collection {collection} is {found}, not {expected} as asked for")]
    NotTheExpected {
        /// Collection name.
        collection: String,
        /// The hash asked for.
        expected: String,
        /// The hash found.
        found: String,
    },
    /// The collection changed during the run, and again during the second try.
    #[error(
        "the collection {collection} changed from {before} to {after} while it was being pulled; run again"
    )]
    ChangedDuringRun {
        /// Collection name.
        collection: String,
        /// The hash at the start.
        before: String,
        /// The hash at the end.
        after: String,
    },
    /// A pattern names no relation of the collection.
    #[error("{pattern:?} matches no queryable relation of {collection}; there are for example: {}", examples.join(", "))]
    NothingSelected {
        /// The pattern.
        pattern: String,
        /// Collection name.
        collection: String,
        /// Some relations there are.
        examples: Vec<String>,
    },
    /// Every relation failed: the snapshot there was stays.
    #[error("no relation could be captured, nothing was published; the first failure: {first}")]
    NothingCaptured {
        /// The first failure.
        first: String,
        /// Everything that happened.
        report: Box<super::PullReport>,
    },
    /// The address of a document can't be made.
    #[error("root {root}: {problem}")]
    Root {
        /// The configured root.
        root: String,
        /// What is wrong.
        problem: String,
    },
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The sorter couldn't be set up.
    #[error("sorter: {0}")]
    Sorter(String),
}

/// What stops the capture of one relation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// A page or count couldn't be had.
    #[error(transparent)]
    Fetch(#[from] PostgrestError),
    /// A page doesn't hold what was asked for.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// Values of different pages contradict each other.
    #[error("{relation}: {source}")]
    Values {
        /// `dataset.relation`.
        relation: String,
        /// The contradiction.
        source: ValueError,
    },
    /// The rows changed while they were read: worth another try.
    #[error("{relation} changed while it was read: {problem}")]
    Inconsistent {
        /// `dataset.relation`.
        relation: String,
        /// What doesn't add up.
        problem: String,
    },
    /// Rows share a key that was to be unique.
    #[error("{relation}: two rows have the key ({})", key.join(", "))]
    DuplicateKey {
        /// `dataset.relation`.
        relation: String,
        /// The key's columns.
        key: Vec<String>,
    },
    /// A key column holds null, so paging by it would lose rows.
    #[error("{relation}: key column {column:?} holds null")]
    NullKey {
        /// `dataset.relation`.
        relation: String,
        /// The column.
        column: String,
    },
    /// The server sends fewer rows in one response than asked for.
    #[error("{relation}: the server sends at most {rows} rows in one response")]
    ServerCap {
        /// `dataset.relation`.
        relation: String,
        /// Rows it sent.
        rows: u64,
    },
    /// The relation can't be read in a way that always gives the same rows: skipped, never approximated.
    #[error("not capturable deterministically: {0}")]
    NotDeterministic(String),
    /// Sorting or writing failed.
    #[error("{relation}: {problem}")]
    Write {
        /// `dataset.relation`.
        relation: String,
        /// What failed.
        problem: String,
    },
    /// The row digest has no form for a column.
    #[error(transparent)]
    Digest(#[from] UnsupportedType),
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl CaptureError {
    /// Whether reading the relation again may succeed: it changed under us.
    pub fn is_inconsistent(&self) -> bool {
        matches!(self, Self::Inconsistent { .. } | Self::DuplicateKey { .. })
    }
}
