//! Why a request gave no response.

use std::time::Duration;

/// A request that gave no usable response. Every variant names the address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NetError {
    /// A rule forbids the request; nothing was sent.
    #[error("not requested: {url}: {why}")]
    Refused {
        /// The address.
        url: String,
        /// The rule, and what would satisfy it.
        why: String,
    },
    /// No connection, or it broke before an answer came.
    #[error("{url} can't be reached: {reason}")]
    Unreachable {
        /// The address.
        url: String,
        /// The transport's reason.
        reason: String,
    },
    /// No complete answer in time.
    #[error("{url} gave no complete answer within {} s", after.as_secs_f64())]
    TimedOut {
        /// The address.
        url: String,
        /// The time allowed.
        after: Duration,
    },
    /// The body is larger than allowed; reading stopped at the cap.
    #[error("the answer from {url} is larger than the {limit} bytes allowed")]
    TooLarge {
        /// The address.
        url: String,
        /// The cap in bytes.
        limit: u64,
    },
    /// The server pointed elsewhere; redirects are never followed.
    #[error(
        "{url} redirects ({status}) to {target}; redirects are not followed, configure the final address"
    )]
    Redirected {
        /// The address.
        url: String,
        /// The HTTP status.
        status: u16,
        /// Where it pointed.
        target: String,
    },
    /// The body ended early or couldn't be decompressed.
    #[error("the answer from {url} broke off after {received} bytes: {reason}")]
    Truncated {
        /// The address.
        url: String,
        /// Decompressed bytes received.
        received: u64,
        /// The transport's reason.
        reason: String,
    },
    /// The door itself can't be made from these options.
    #[error("network options: {0}")]
    Options(String),
}
