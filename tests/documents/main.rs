//! Signed documents end to end: the real published ones, one fixture per attack, and random changes.

#![allow(clippy::disallowed_methods, reason = "tests read fixtures and their own settings")]

mod real;
