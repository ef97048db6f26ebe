//! Signed documents end to end: the real published ones, one fixture per attack, and random changes.

#![allow(clippy::disallowed_methods, reason = "tests read fixtures and their own settings")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may stop"
)]

mod attacks;
mod discovery;
mod fixtures;
mod grants;
mod random;
mod real;
mod vectors;
