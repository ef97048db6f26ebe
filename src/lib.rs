//! Offline-first, verifying mirror of Benthic's signed federal open data.
//!
//! The rooms, in the order data passes through them. `docs/architecture.md` walks one sync and one request.

pub mod app;
pub mod bdp;
pub mod catalog;
pub mod cli;
pub mod config;
pub mod demo;
pub mod engine;
pub mod mcp;
pub mod net;
pub mod postgrest;
pub mod spatial;
pub mod store;
pub mod sync;
