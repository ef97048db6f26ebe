//! What the origin answers: a status, headers and a body; errors in PostgREST's four members.

use serde_json::json;

/// A complete answer, before any fault is applied to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    /// Rows in the body, for faults that depend on the size of a page.
    pub(super) rows: Option<usize>,
}

impl Answer {
    pub(super) fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: vec![("content-type".to_owned(), content_type.to_owned())],
            body: body.into(),
            rows: None,
        }
    }

    /// The kind of page a web server in front writes, which is no JSON.
    pub(super) fn html(status: u16, title: &str) -> Self {
        let body =
            format!("<html>\r\n<head><title>{title}</title></head>\r\n<body>{title}</body>\r\n</html>\r\n");
        Self::new(status, "text/html", body)
    }

    /// Sets a header, replacing one of the same name.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        self.headers.retain(|(held, _)| !held.eq_ignore_ascii_case(name));
        self.headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
}

/// An error as PostgREST reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ApiError {
    pub(super) status: u16,
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) details: Option<String>,
    pub(super) hint: Option<String>,
    pub(super) content_range: Option<String>,
}

impl ApiError {
    pub(super) fn new(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), details: None, hint: None, content_range: None }
    }

    pub(super) fn details(mut self, details: impl Into<String>) -> Self {
        self.details = Some(details.into());
        self
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// A request that doesn't parse.
    pub(super) fn grammar(what: &str, text: &str) -> Self {
        Self::new(400, "PGRST100", format!("\"failed to parse {what} ({text})\" (line 1, column 1)"))
            .details("unexpected input")
    }

    /// A part of PostgREST the demo doesn't serve; the real one would.
    pub(super) fn not_served(what: &str) -> Self {
        Self::new(501, "DEMO501", format!("the demo origin doesn't serve {what}"))
            .hint("PostgREST does; this origin holds the part that a mirror uses")
    }

    pub(super) fn unknown_column(table: &str, column: &str) -> Self {
        Self::new(400, "42703", format!("column {table}.{column} does not exist"))
    }

    pub(super) fn into_answer(self) -> Answer {
        let body =
            json!({"code": self.code, "details": self.details, "hint": self.hint, "message": self.message});
        let mut answer = Answer::new(self.status, "application/json; charset=utf-8", body.to_string());
        if let Some(range) = &self.content_range {
            answer.set("content-range", range);
        }
        answer
    }
}
