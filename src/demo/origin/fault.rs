//! Scripted misbehaviour: which requests go wrong, and how.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::demo::relation::DemoData;

/// A change of the rows, made between two requests.
pub type Mutation = Arc<dyn Fn(&mut DemoData) + Send + Sync>;

/// What goes wrong with a request.
#[derive(Clone)]
pub enum Fault {
    /// Another answer altogether.
    Status {
        /// HTTP status.
        status: u16,
        /// Headers, e.g. `retry-after`.
        headers: Vec<(String, String)>,
        /// Body, e.g. a proxy's HTML page.
        body: String,
    },
    /// PostgreSQL's statement timeout (57014, a 500) for every page of more than this many rows.
    TimeoutAbove {
        /// The largest page that still succeeds.
        rows: usize,
    },
    /// The connection is reset after so many bytes of the body.
    ResetMidBody {
        /// Bytes sent before.
        after_bytes: usize,
    },
    /// The connection closes after so many bytes although `Content-Length` promises all of them.
    TruncatedBody {
        /// Bytes sent.
        after_bytes: usize,
    },
    /// The body is complete but shorter than the real one, with a `Content-Length` to match.
    CutBody {
        /// Bytes sent.
        after_bytes: usize,
    },
    /// The body comes in pieces with pauses.
    SlowBody {
        /// Bytes a piece.
        chunk_bytes: usize,
        /// Pause before each piece.
        pause: Duration,
    },
    /// A redirect.
    Redirect {
        /// 301, 302, 307 or 308.
        status: u16,
        /// Target.
        location: String,
    },
    /// The right answer under another content type.
    ContentType(String),
    /// The right status and headers with another body.
    ReplaceBody(Vec<u8>),
    /// The right answer with one header set, or left out if `None`.
    Header {
        /// Header name.
        name: String,
        /// Value.
        value: Option<String>,
    },
    /// The right answer, late.
    Delay(Duration),
    /// A smaller page cap than usual.
    PageCap(usize),
    /// The rows change just before this request is answered.
    MutateRows(Mutation),
}

impl Fault {
    /// A status with PostgREST's error members.
    pub fn api_error(status: u16, code: &str, message: &str) -> Self {
        let body = serde_json::json!({"code": code, "details": null, "hint": null, "message": message});
        Self::Status {
            status,
            headers: vec![("content-type".to_owned(), "application/json; charset=utf-8".to_owned())],
            body: body.to_string(),
        }
    }

    /// PostgreSQL's statement timeout.
    pub fn statement_timeout() -> Self {
        Self::api_error(500, "57014", "canceling statement due to statement timeout")
    }

    /// A web server's own page, as a proxy in front answers: HTML, with `Retry-After` only if asked.
    pub fn gateway(status: u16, retry_after: Option<&str>) -> Self {
        let mut headers = vec![("content-type".to_owned(), "text/html".to_owned())];
        headers.extend(retry_after.map(|value| ("retry-after".to_owned(), value.to_owned())));
        Self::Status { status, headers, body: format!("<html><body><h1>{status}</h1></body></html>") }
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status { status, .. } => write!(formatter, "Status({status})"),
            Self::TimeoutAbove { rows } => write!(formatter, "TimeoutAbove({rows} rows)"),
            Self::ResetMidBody { after_bytes } => write!(formatter, "ResetMidBody({after_bytes})"),
            Self::TruncatedBody { after_bytes } => write!(formatter, "TruncatedBody({after_bytes})"),
            Self::CutBody { after_bytes } => write!(formatter, "CutBody({after_bytes})"),
            Self::SlowBody { chunk_bytes, pause } => write!(formatter, "SlowBody({chunk_bytes}, {pause:?})"),
            Self::Redirect { status, location } => write!(formatter, "Redirect({status}, {location})"),
            Self::ContentType(value) => write!(formatter, "ContentType({value})"),
            Self::ReplaceBody(body) => write!(formatter, "ReplaceBody({} bytes)", body.len()),
            Self::Header { name, .. } => write!(formatter, "Header({name})"),
            Self::Delay(pause) => write!(formatter, "Delay({pause:?})"),
            Self::PageCap(rows) => write!(formatter, "PageCap({rows})"),
            Self::MutateRows(_) => formatter.write_str("MutateRows"),
        }
    }
}

/// Which of the requests a rule matches it applies to, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occurrence {
    /// Every one.
    Always,
    /// Only this one.
    Nth(usize),
    /// Up to and including this one.
    First(usize),
    /// From this one on.
    From(usize),
    /// Every multiple of it.
    Every(usize),
}

impl Occurrence {
    fn holds(self, number: usize) -> bool {
        match self {
            Self::Always => true,
            Self::Nth(nth) => number == nth,
            Self::First(count) => number <= count,
            Self::From(first) => number >= first,
            Self::Every(step) => step > 0 && number.is_multiple_of(step),
        }
    }
}

/// One rule of a script.
#[derive(Debug, Clone)]
pub struct FaultRule {
    /// Beginning of the path, e.g. `/usaspending/all_entities`; empty for every request.
    pub path_prefix: String,
    /// Text the undecoded query must hold, e.g. `offset=1000`.
    pub query_contains: Option<String>,
    /// Method, e.g. `HEAD`; any if `None`.
    pub method: Option<String>,
    /// Which matching requests.
    pub occurrence: Occurrence,
    /// What happens to them.
    pub fault: Fault,
    seen: usize,
}

impl FaultRule {
    /// A rule by path prefix and occurrence.
    pub fn new(path_prefix: &str, occurrence: Occurrence, fault: Fault) -> Self {
        Self {
            path_prefix: path_prefix.to_owned(),
            query_contains: None,
            method: None,
            occurrence,
            fault,
            seen: 0,
        }
    }

    /// Only requests of that method.
    pub fn method(mut self, method: &str) -> Self {
        self.method = Some(method.to_owned());
        self
    }

    /// Only requests whose query holds that text.
    pub fn query_contains(mut self, text: &str) -> Self {
        self.query_contains = Some(text.to_owned());
        self
    }

    /// Counts a request if the rule matches it, and says whether its turn has come.
    fn fires(&mut self, method: &str, target: &str) -> bool {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let matches = path.starts_with(&self.path_prefix)
            && self.method.as_deref().is_none_or(|wanted| wanted == method)
            && self.query_contains.as_deref().is_none_or(|text| query.contains(text));
        if !matches {
            return false;
        }
        self.seen += 1;
        self.occurrence.holds(self.seen)
    }
}

/// Rules in order; every rule whose turn it is applies to a request, one after the other.
#[derive(Debug, Clone, Default)]
pub struct FaultScript {
    rules: Vec<FaultRule>,
}

impl FaultScript {
    /// A script of these rules.
    pub fn new(rules: impl IntoIterator<Item = FaultRule>) -> Self {
        Self { rules: rules.into_iter().collect() }
    }

    /// Adds a rule after the others; it starts counting now.
    pub fn push(&mut self, rule: FaultRule) {
        self.rules.push(rule);
    }

    /// Drops every rule.
    pub fn clear(&mut self) {
        self.rules.clear();
    }

    /// The faults of one request. Each rule counts it, whether or not another one fires.
    pub(super) fn faults_for(&mut self, method: &str, target: &str) -> Vec<Fault> {
        self.rules
            .iter_mut()
            .filter_map(|rule| rule.fires(method, target).then(|| rule.fault.clone()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_count_only_what_they_match() {
        let delay = |occurrence| FaultRule::new("/a", occurrence, Fault::Delay(Duration::ZERO));
        let mut script = FaultScript::new([
            delay(Occurrence::Nth(2)).method("GET"),
            delay(Occurrence::Every(2)).query_contains("offset="),
        ]);
        let fired = |script: &mut FaultScript, method, target| script.faults_for(method, target).len();
        assert_eq!(fired(&mut script, "GET", "/a?offset=0"), 0);
        assert_eq!(fired(&mut script, "HEAD", "/a"), 0);
        assert_eq!(fired(&mut script, "GET", "/b?offset=1"), 0);
        assert_eq!(fired(&mut script, "GET", "/a?offset=1"), 2);
        assert_eq!(fired(&mut script, "GET", "/a?offset=2"), 0);
        for (occurrence, expected) in [
            (Occurrence::First(2), [true, true, false]),
            (Occurrence::From(2), [false, true, true]),
            (Occurrence::Always, [true, true, true]),
        ] {
            assert_eq!([1, 2, 3].map(|number| occurrence.holds(number)), expected);
        }
    }
}
