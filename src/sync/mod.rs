//! Plan a pull, fetch pages, sort and write parts, checkpoint, publish.
//!
//! One pull, in numbered steps, one file (or folder) each:
//!
//! 1. [`documents`]: fetch and verify the collection and its manifests, ask the ledger. Nothing else is fetched before
//!    that succeeds.
//! 2. [`plan`]: per relation, how it will be captured or why it is skipped. A pure function of the catalogue, counts
//!    and options.
//! 3. [`capture`]: pages, staged exactly as received, with a checkpoint after each.
//! 4. [`write`](mod@write): one external merge sort per relation, then one pass that writes Parquet and digests the
//!    rows. Then [`IndexBuilder`] may build indexes over them.
//! 5. [`publish`]: check that the collection is still the one verified in step 1, then document, signature, ledger,
//!    `current`.
//!
//! A relation that fails doesn't stop the others. The same rows give byte-identical parts and the same `content_id`,
//! whatever the page size, concurrency or number of retries.

pub mod capture;
pub mod documents;
mod error;
mod indexes;
mod options;
pub mod plan;
mod progress;
pub mod publish;
mod pull;
mod relation;
mod report;
mod upstream;
pub mod write;

pub use error::{CaptureError, SyncError};
pub use indexes::{IndexBuildError, IndexBuilder, NoIndexes};
pub use options::{EvidenceWanted, PullOptions, Selection};
pub use progress::{Event, NoProgress, Progress};
pub use pull::pull;
pub use report::{PullReport, RelationOutcome, RelationReport};
pub use upstream::Upstream;
