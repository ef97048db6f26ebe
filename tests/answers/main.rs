//! Answers from a snapshot of the demo catalogue, pulled over loopback: every tool, the command line and MCP.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used
)]
#![allow(missing_docs, unreachable_pub, clippy::cmp_owned)]

mod against_origin;
mod command_line;
mod demo_questions;
mod discovery;
mod harness;
mod joins;
mod live;
mod mcp_stdio;
mod queries;
mod refusals;
mod spatial;
