//! The loopback origin: serves the demo documents and rows as the real publisher does, and misbehaves on request.
//!
//! It answers the part of PostgREST 14 that a mirror uses, written from the project's own description of it and apart
//! from the mirror's client, so that each can find the other's mistakes: filters, logic, typed literals, order, paging,
//! counts, schemas, the three spatial functions, error bodies, JSON exactly as PostgreSQL writes it. What it doesn't
//! serve (embedding, casts, JSON paths, CSV, writes) it says, with status 501 or PostgREST's own refusal.
//!
//! Its text collation is `C.UTF-8`: text is ordered by code point and `ilike` folds case by character.

// The servers are one of the two places where sockets live.
#![allow(clippy::disallowed_types)]

mod answer;
mod connection;
mod fault;
mod grammar;
mod like;
mod predicate;
mod request;
mod rpc;
mod serve;
mod state;
mod table;
mod window;

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub use fault::{Fault, FaultRule, FaultScript, Mutation, Occurrence};

use super::relation::{DemoData, DemoRelation};
use super::value::DemoValue;
use connection::{ConnectionSwitch, LoopbackListener};
use state::State;

/// Rows of a page at most, as the demo documents say (`meta.max_rows`).
pub const PAGE_CAP: usize = 1_000;
/// How long [`DemoOrigin::stop`] waits for answers in flight.
const STOP_GRACE: Duration = Duration::from_secs(2);

/// Documents and rows an origin starts with.
#[derive(Debug, Clone)]
pub struct OriginCatalogue {
    /// Documents by path below `/bdp/`, e.g. `demo/collection.json`.
    pub documents: BTreeMap<String, Vec<u8>>,
    /// Relations, served at `/<dataset>/<table>`.
    pub data: Arc<DemoData>,
}

impl Default for OriginCatalogue {
    /// The demo catalogue as committed.
    fn default() -> Self {
        Self { documents: super::documents(), data: super::shared_data() }
    }
}

/// What one of the three spatial functions answers over some rows, by brute force; `None` for arguments it refuses.
pub(super) fn call_function(
    data: &DemoData,
    dataset: &str,
    function: &str,
    arguments: &[(String, String)],
) -> Option<DemoRelation> {
    rpc::call(data, dataset, function, arguments).ok()
}

/// How an origin behaves.
#[derive(Debug, Clone)]
pub struct OriginOptions {
    /// Port on 127.0.0.1; any free one if `None`.
    pub port: Option<u16>,
    /// Rows of a page at most, whatever is asked for.
    pub page_cap: usize,
    /// Starts unordered rows at another place for every request, as a server may that is asked for no order: whoever
    /// pages without a unique order then reads some rows twice and others never.
    pub rotate_unordered: bool,
    /// What goes wrong.
    pub faults: FaultScript,
    /// What is served.
    pub catalogue: OriginCatalogue,
}

impl Default for OriginOptions {
    fn default() -> Self {
        Self {
            port: None,
            page_cap: PAGE_CAP,
            rotate_unordered: false,
            faults: FaultScript::default(),
            catalogue: OriginCatalogue::default(),
        }
    }
}

/// A request as it arrived, and how it was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedRequest {
    /// Method.
    pub method: String,
    /// Path and query, undecoded.
    pub target: String,
    /// Headers, names in lower case, in order.
    pub headers: Vec<(String, String)>,
    /// Status answered; 0 while no answer has been decided.
    pub status: u16,
    /// The faults applied, as text.
    pub faults: Vec<String>,
    /// Arrival, counted from the start of the origin.
    pub at: Duration,
}

impl RecordedRequest {
    /// The path without the query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or("")
    }

    /// The undecoded query, empty if there is none.
    pub fn query(&self) -> &str {
        self.target.split_once('?').map_or("", |(_, query)| query)
    }

    /// The first header of that lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(held, _)| held == name).map(|(_, value)| value.as_str())
    }
}

/// A running origin. Dropping it stops it at once; [`Self::stop`] lets answers in flight finish.
pub struct DemoOrigin {
    address: SocketAddr,
    state: Arc<State>,
    stop: Option<oneshot::Sender<()>>,
    /// Breaks connections that are still open.
    closed: Arc<AtomicBool>,
    server: JoinHandle<()>,
}

impl DemoOrigin {
    /// Starts serving on 127.0.0.1. Must be called inside a Tokio runtime.
    ///
    /// # Errors
    /// The port is taken, or the loopback interface can't be bound.
    pub async fn start(options: OriginOptions) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port.unwrap_or(0))).await?;
        let address = listener.local_addr()?;
        let state = Arc::new(State::new(options));
        let service = Router::new()
            .fallback(serve::respond)
            .with_state(state.clone())
            .into_make_service_with_connect_info::<ConnectionSwitch>();
        let closed = Arc::new(AtomicBool::new(false));
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = axum::serve(LoopbackListener::new(listener, closed.clone()), service)
            .with_graceful_shutdown(async {
                // A dropped sender stops the server just as a sent message does.
                let _ = stopped.await;
            });
        let server = tokio::spawn(async move {
            // Serving ends when told to; it has no error of its own.
            let _ = serving.await;
        });
        Ok(Self { address, state, stop: Some(stop), closed, server })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://127.0.0.1:<port>`, without a slash at the end.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request so far, in order of arrival.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.state.requests()
    }

    /// Forgets the requests so far. Only while none is in flight.
    pub fn clear_requests(&self) {
        self.state.clear_requests();
    }

    /// The most requests that were being answered at one time.
    pub fn most_in_flight(&self) -> usize {
        self.state.most_in_flight()
    }

    /// Adds a fault; it counts requests from now on.
    pub fn add_fault(&self, rule: FaultRule) {
        self.state.faults(|script| script.push(rule));
    }

    /// Behaves from now on.
    pub fn clear_faults(&self) {
        self.state.faults(FaultScript::clear);
    }

    /// Serves other bytes at a path below `/bdp/`, e.g. `demo/collection.json`.
    pub fn replace_document(&self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.state.documents(|documents| {
            documents.insert(path.to_owned(), bytes.into());
        });
    }

    /// Answers 404 at a path below `/bdp/`.
    pub fn remove_document(&self, path: &str) {
        self.state.documents(|documents| {
            documents.remove(path);
        });
    }

    /// The relations as they are now.
    pub fn data(&self) -> Arc<DemoData> {
        self.state.data()
    }

    /// Replaces the rows of a relation; `false` when there is no such relation.
    pub fn update_rows(&self, source: &str, rows: Vec<Vec<DemoValue>>) -> bool {
        self.update_relation(source, |relation| relation.rows = rows)
    }

    /// Changes a relation; `false` when there is no such relation.
    pub fn update_relation(&self, source: &str, change: impl FnOnce(&mut DemoRelation)) -> bool {
        self.state.change_data(|data| data.relation_mut(source).map(change).is_some())
    }

    /// Stops accepting, lets answers in flight finish for a moment, then closes everything.
    pub async fn stop(mut self) {
        if let Some(stop) = self.stop.take() {
            // The server may be gone already.
            let _ = stop.send(());
        }
        // What isn't done by then is cut off by dropping the origin.
        let _ = tokio::time::timeout(STOP_GRACE, &mut self.server).await;
    }
}

impl Drop for DemoOrigin {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::SeqCst);
        self.server.abort();
    }
}
