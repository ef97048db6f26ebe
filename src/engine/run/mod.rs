//! Running a checked request over rows: a snapshot's, or those a live read brought.

mod answer;
mod execute;
mod join;
mod near_miss;
mod query;
mod typed;

pub use answer::{Answer, Matched, SourceReport, TruncatedBy};
pub use execute::{RunError, read_columns, read_columns_of};
pub use join::{JoinSource, explain_join, run_join};
pub use query::{Coverage, explain_query, planned_over_nothing, run_covered_query, run_query};

use crate::config::{ExactNumbers, ScanPolicy};

/// How answers are bounded and written.
#[derive(Debug, Clone, Copy)]
pub struct RunOptions {
    /// Which size rules apply.
    pub policy: ScanPolicy,
    /// How numbers that a double would change are written.
    pub exact_numbers: ExactNumbers,
}
