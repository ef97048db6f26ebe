//! The demo catalogue and its loopback origin, checked against plain folds over the rows.

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
