//! The rmcp server: tools over stdio.
//!
//! A thin layer: `tools` says what is offered, `handler` maps calls to [`crate::app::Mirror`] and outcomes to MCP.
//! Refusals are tool results with `isError`; only protocol faults are JSON-RPC errors.

mod handler;
mod schema;
mod stdio;
mod tools;

pub use handler::MirrorServer;
pub use stdio::{StdioError, serve_stdio};
