//! Errors of the dialect: what the server said, and rows that don't hold what was declared.

use std::fmt;

use serde::Deserialize;

use crate::net::NetError;

use super::filter::EmptyGroup;

/// A request that gave no page or no count.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PostgrestError {
    /// No response at all.
    #[error(transparent)]
    Net(#[from] NetError),
    /// The server answered with an error.
    #[error("{0}")]
    Server(Box<ServerError>),
    /// A 2xx answer that isn't what was asked for.
    #[error("unexpected answer from {url}: {problem}")]
    Unexpected {
        /// The address.
        url: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The request can't be written.
    #[error(transparent)]
    Filter(#[from] EmptyGroup),
    /// The endpoint's address and the relation make no address.
    #[error("no address for relation {relation:?} below {base_url}: {problem}")]
    Address {
        /// The relation.
        relation: String,
        /// The endpoint.
        base_url: String,
        /// Why.
        problem: String,
    },
}

impl PostgrestError {
    /// Whether a smaller page may pass: the body was beyond the cap, or the statement took too long.
    pub fn asks_for_less(&self) -> bool {
        match self {
            Self::Net(NetError::TooLarge { .. }) => true,
            Self::Server(error) => error.is_statement_timeout(),
            _ => false,
        }
    }

    /// The HTTP status, if a server answered at all.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Server(error) => Some(error.status),
            Self::Net(NetError::Redirected { status, .. }) => Some(*status),
            _ => None,
        }
    }

    /// PostgREST's or PostgreSQL's code, if the answer was theirs.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Server(error) => error.code.as_deref(),
            _ => None,
        }
    }
}

/// What the server said instead of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerError {
    /// The address.
    pub url: String,
    /// HTTP status.
    pub status: u16,
    /// PostgREST's or PostgreSQL's code, e.g. `57014`; `None` if the answer wasn't PostgREST's (a proxy's page).
    pub code: Option<String>,
    /// The message, or the start of whatever the body was.
    pub message: String,
    /// PostgreSQL's details.
    pub details: Option<String>,
    /// PostgreSQL's hint.
    pub hint: Option<String>,
    /// Seconds the server asked to wait.
    pub retry_after_seconds: Option<u64>,
}

impl fmt::Display for ServerError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} answered {}", self.url, self.status)?;
        if let Some(code) = &self.code {
            write!(formatter, " {code}")?;
        }
        write!(formatter, ": {}", self.message)?;
        if let Some(details) = &self.details {
            write!(formatter, " ({details})")?;
        }
        Ok(())
    }
}

impl std::error::Error for ServerError {}

impl ServerError {
    /// Whether the statement ran into the server's time limit: a smaller page may pass.
    pub fn is_statement_timeout(&self) -> bool {
        self.code.as_deref() == Some("57014")
    }
}

/// PostgREST's error body.
#[derive(Deserialize, Default)]
pub(super) struct ErrorBody {
    pub(super) code: Option<String>,
    pub(super) message: Option<String>,
    pub(super) details: Option<String>,
    pub(super) hint: Option<String>,
}

/// A page that doesn't hold what was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// Not a JSON array of objects.
    #[error("{relation}: the page is not a JSON array of rows: {problem}")]
    NotRows {
        /// `dataset.relation`.
        relation: String,
        /// The parser's words, with line and column.
        problem: String,
    },
    /// A row lacks a column.
    #[error("{relation}: row {row} of the page lacks column {column:?}")]
    MissingColumn {
        /// `dataset.relation`.
        relation: String,
        /// Row in the page, from 1.
        row: usize,
        /// The column.
        column: String,
    },
    /// A row holds a column nobody asked for, or one twice.
    #[error("{relation}: row {row} of the page holds column {column:?} {problem}")]
    ExtraColumn {
        /// `dataset.relation`.
        relation: String,
        /// Row in the page, from 1.
        row: usize,
        /// The column.
        column: String,
        /// `which was not asked for` or `twice`.
        problem: &'static str,
    },
    /// A value doesn't fit its declared type.
    #[error("{0}")]
    Value(Box<RejectedValue>),
    /// The column types can't be put together as Arrow arrays.
    #[error("{relation}: {problem}")]
    Arrow {
        /// `dataset.relation`.
        relation: String,
        /// Arrow's words.
        problem: String,
    },
}

/// A value that doesn't fit its declared type, and where it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{relation}: column {column:?} of row {key} holds {value}, which is no {expected}: {problem}")]
pub struct RejectedValue {
    /// `dataset.relation`.
    pub relation: String,
    /// The column.
    pub column: String,
    /// The row's key columns and values, or its place in the page.
    pub key: String,
    /// The value as received, shortened.
    pub value: String,
    /// The declared type.
    pub expected: String,
    /// What doesn't fit.
    pub problem: ValueError,
}

/// What doesn't fit about a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ValueError(pub String);

impl ValueError {
    pub(super) fn new(problem: impl Into<String>) -> Self {
        Self(problem.into())
    }
}
