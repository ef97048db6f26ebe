//! What the origin serves and remembers, behind locks so that tests can change it while it runs.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use tokio::time::Instant;

use super::answer::{Answer, ApiError};
use super::fault::{Fault, FaultScript};
use super::request::ApiRequest;
use super::table::{self, Serving};
use super::{OriginCatalogue, OriginOptions, RecordedRequest, rpc};
use crate::demo::relation::DemoData;

/// The longest request line served; the web server in front of the real API stops there too.
const MAX_TARGET_BYTES: usize = 8 * 1024;

/// Shared by all connections.
pub(super) struct State {
    documents: RwLock<BTreeMap<String, Vec<u8>>>,
    data: RwLock<Arc<DemoData>>,
    faults: Mutex<FaultScript>,
    log: Mutex<Vec<RecordedRequest>>,
    in_flight: AtomicUsize,
    most_in_flight: AtomicUsize,
    page_cap: usize,
    rotate_unordered: bool,
    started: Instant,
}

/// A lock held across a panic of a test's own closure is still usable here: the data behind it is plain.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    pub(super) fn new(options: OriginOptions) -> Self {
        let OriginCatalogue { documents, data } = options.catalogue;
        Self {
            documents: RwLock::new(documents),
            data: RwLock::new(data),
            faults: Mutex::new(options.faults),
            log: Mutex::default(),
            in_flight: AtomicUsize::new(0),
            most_in_flight: AtomicUsize::new(0),
            page_cap: options.page_cap,
            rotate_unordered: options.rotate_unordered,
            started: Instant::now(),
        }
    }

    pub(super) fn documents(&self, change: impl FnOnce(&mut BTreeMap<String, Vec<u8>>)) {
        change(&mut self.documents.write().unwrap_or_else(PoisonError::into_inner));
    }

    pub(super) fn data(&self) -> Arc<DemoData> {
        self.data.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn change_data<T>(&self, change: impl FnOnce(&mut DemoData) -> T) -> T {
        change(Arc::make_mut(&mut self.data.write().unwrap_or_else(PoisonError::into_inner)))
    }

    pub(super) fn faults(&self, change: impl FnOnce(&mut FaultScript)) {
        change(&mut lock(&self.faults));
    }

    pub(super) fn requests(&self) -> Vec<RecordedRequest> {
        lock(&self.log).clone()
    }

    pub(super) fn clear_requests(&self) {
        lock(&self.log).clear();
        self.most_in_flight.store(0, Ordering::SeqCst);
    }

    pub(super) fn most_in_flight(&self) -> usize {
        self.most_in_flight.load(Ordering::SeqCst)
    }

    /// Notes an arriving request; the token goes to [`Self::finish`].
    pub(super) fn arrive(
        &self,
        method: &str,
        target: &str,
        headers: &[(String, String)],
    ) -> (usize, Vec<Fault>) {
        let now = self.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_in_flight.fetch_max(now, Ordering::SeqCst);
        let faults = lock(&self.faults).faults_for(method, target);
        let mut log = lock(&self.log);
        log.push(RecordedRequest {
            method: method.to_owned(),
            target: target.to_owned(),
            headers: headers.to_vec(),
            status: 0,
            faults: faults.iter().map(|fault| format!("{fault:?}")).collect(),
            at: self.elapsed(),
        });
        (log.len() - 1, faults)
    }

    /// Notes the status a request was answered with.
    pub(super) fn finish(&self, token: usize, status: u16) {
        self.in_flight.fetch_sub(1, Ordering::SeqCst);
        if let Some(entry) = lock(&self.log).get_mut(token) {
            entry.status = status;
        }
    }

    fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// The answer of a well-behaved server, but for the faults that change what it reads.
    pub(super) fn answer(
        &self,
        method: &str,
        target: &str,
        headers: &[(String, String)],
        number: usize,
        faults: &[Fault],
    ) -> Answer {
        if target.len() > MAX_TARGET_BYTES {
            return Answer::html(414, "414 Request-URI Too Large");
        }
        let mut page_cap = self.page_cap;
        for fault in faults {
            match fault {
                Fault::MutateRows(mutation) => self.change_data(|data| mutation(data)),
                Fault::PageCap(rows) => page_cap = *rows,
                _ => {}
            }
        }
        let request = ApiRequest::new(method, target, headers.to_vec());
        if request.segments.first().is_some_and(|segment| segment == "bdp") {
            return self.document(&request);
        }
        // A stride that is no divisor of anything likely, so that successive requests start far apart.
        let rotation = self.rotate_unordered.then_some(number as u64 * 7_919);
        let mut answer =
            self.api(&request, Serving { page_cap, rotation }).unwrap_or_else(ApiError::into_answer);
        if let Some(count) = request.preferred_count().filter(|_| answer.status < 300) {
            answer.set("preference-applied", &format!("count={count}"));
        }
        answer
    }

    fn document(&self, request: &ApiRequest) -> Answer {
        let path = request.segments.get(1..).unwrap_or_default().join("/");
        let documents = self.documents.read().unwrap_or_else(PoisonError::into_inner);
        match documents.get(&path) {
            Some(bytes) if request.method == "GET" || request.method == "HEAD" => {
                Answer::new(200, "application/json", bytes.clone())
            }
            Some(_) => Answer::html(405, "405 Not Allowed"),
            None => Answer::html(404, "404 Not Found"),
        }
    }

    /// `/<dataset>/<table>` or `/<dataset>/rpc/<function>`. Checks in PostgREST's order: path, schema, method,
    /// parameters, relation, form of the answer.
    fn api(&self, request: &ApiRequest, serving: Serving) -> Result<Answer, ApiError> {
        let data = self.data();
        let segments: Vec<&str> = request.segments.iter().map(String::as_str).collect();
        let (dataset, table, is_function) = match segments.as_slice() {
            [dataset, table] => (*dataset, *table, false),
            [dataset, "rpc", function] => (*dataset, *function, true),
            [dataset] if data.dataset(dataset).next().is_some() => {
                return Err(ApiError::not_served("the OpenAPI description"));
            }
            _ => return Err(ApiError::new(404, "PGRST125", "Invalid path specified in request URL")),
        };
        if data.dataset(dataset).next().is_none() {
            return Ok(Answer::html(404, "404 Not Found"));
        }
        let mut schemas = vec!["public"];
        for relation in data.dataset(dataset) {
            let (schema, _) = relation.schema_and_table();
            if !schemas.contains(&schema) {
                schemas.push(schema);
            }
        }
        let schema = request.header("accept-profile").unwrap_or("public");
        if !schemas.contains(&schema) {
            return Err(ApiError::new(406, "PGRST106", format!("Invalid schema: {schema}"))
                .hint(format!("Only the following schemas are exposed: {}", schemas.join(", "))));
        }
        if request.method != "GET" && request.method != "HEAD" {
            let code = if is_function { "PGRST101" } else { "PGRST117" };
            return Err(ApiError::new(405, code, format!("Unsupported HTTP method: {}", request.method)));
        }
        let query = table::parse(request)?;
        let mut answer = if is_function {
            let found = rpc::call(&data, dataset, table, &query.arguments)?;
            request.media_type()?;
            // A function's rows come in its own order.
            table::run(&found, &query, request, Serving { rotation: None, ..serving })?
        } else {
            if let Some((_, value)) = query.arguments.first() {
                return Err(ApiError::grammar("filter", value));
            }
            let relation = data
                .dataset(dataset)
                .find(|relation| relation.queryable && relation.schema_and_table() == (schema, table))
                .ok_or_else(|| {
                    let message = format!("Could not find the table '{schema}.{table}' in the schema cache");
                    ApiError::new(404, "PGRST205", message)
                })?;
            request.media_type()?;
            table::run(relation, &query, request, serving)?
        };
        if schemas.len() > 1 {
            answer.set("content-profile", schema);
        }
        Ok(answer)
    }
}
