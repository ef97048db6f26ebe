//! The project's own rules, checked over its files: who calls whom, documents that say what is true, no stray paths.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::disallowed_methods, reason = "these tests read the project's own files")]

mod arrows;
mod documents;
mod files;
mod rust_source;
