//! Bounds on requests and answers, with the reason for each.

use std::time::Duration;

/// What one request may ask for and cost. Defaults are the upstream server's where it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Rows one answer may hold, and the page a source without a primary key may be read in: beyond it the upstream
    /// server can't read such a source completely, so neither do we under `parity`.
    pub max_rows: u64,
    /// Rows returned when a request names no limit; at most `max_rows`.
    pub default_query_limit: u64,
    /// Matching rows beyond which a grouped or summed aggregate, or one side of a join, is refused under `parity`.
    pub aggregate_scan_limit: u64,
    /// Size of an answer's JSON in bytes; whole rows beyond it are left out.
    pub max_response_bytes: u64,
    /// Longest string argument in bytes: longer ones are mistakes or attacks.
    pub max_argument_bytes: usize,
    /// Values of one `in` list.
    pub max_in_values: usize,
    /// Filters, metrics and groups of one request, each.
    pub max_expressions: usize,
    /// Columns of one answer.
    pub max_columns: usize,
    /// Order terms of one request.
    pub max_orders: usize,
    /// Context conditions of one join.
    pub max_context_conditions: usize,
    /// Time one request may take in all.
    pub request_deadline: Duration,
    /// Memory pool of one request, in bytes.
    pub memory_limit_bytes: u64,
    /// Spill files of one request, in bytes.
    pub spill_limit_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_rows: 1_000,
            default_query_limit: 100,
            aggregate_scan_limit: 10_000,
            max_response_bytes: 1_048_576,
            max_argument_bytes: 4_096,
            max_in_values: 1_000,
            max_expressions: 32,
            max_columns: 128,
            max_orders: 16,
            max_context_conditions: 8,
            request_deadline: Duration::from_secs(20),
            memory_limit_bytes: 512 * 1024 * 1024,
            spill_limit_bytes: 2 * 1024 * 1024 * 1024,
        }
    }
}
