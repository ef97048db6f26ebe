//! The demo catalogue and its loopback origin, checked against plain folds over the rows.

// Helpers of tests may stop a test as the tests themselves may.
#![allow(clippy::unwrap_used, clippy::panic)]

mod catalogue;
mod client;
mod documents;
mod encoding;
mod faults;
mod filters;
mod geography;
mod joins;
mod lab;
mod ordering;
mod paging;
mod rpc;
mod schemas;
mod typed;
