//! A refusal: a value, not an error. It says why a question isn't answered, with facts, and what to do next.
//!
//! Codes, facts and `terminal` follow the specification's refusals page. Text is built from names, counts and limits,
//! and candidates come from the signed catalogue only.

use serde_json::{Map, Value};

/// Why a question isn't answered. The wire form is [`RefusalCode::as_str`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names are the codes; the refusals page says when each is used
pub enum RefusalCode {
    UnknownDataset,
    UnknownRelation,
    NotQueryable,
    UnknownColumn,
    BadArgument,
    BadFilter,
    BadMetric,
    BadHaving,
    BadOrder,
    BadContext,
    BadValue,
    TooMany,
    NumericRequired,
    OffsetOnAggregate,
    ScanLimit,
    NoPrimaryKey,
    JoinTooWide,
    UnsignedJoin,
    AmbiguousJoin,
    PartialJoinNeedsContext,
    SpatialJoin,
    BadRpcArguments,
    NotMirrored,
    ResponseTooLarge,
    NotExact,
    CollationUnknown,
    UpstreamFailed,
    TooExpensive,
    TimedOut,
    Busy,
    UntrustedCatalog,
    CorruptStore,
    Internal,
}

impl RefusalCode {
    /// The code as it crosses the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UnknownDataset => "unknown_dataset",
            Self::UnknownRelation => "unknown_relation",
            Self::NotQueryable => "not_queryable",
            Self::UnknownColumn => "unknown_column",
            Self::BadArgument => "bad_argument",
            Self::BadFilter => "bad_filter",
            Self::BadMetric => "bad_metric",
            Self::BadHaving => "bad_having",
            Self::BadOrder => "bad_order",
            Self::BadContext => "bad_context",
            Self::BadValue => "bad_value",
            Self::TooMany => "too_many",
            Self::NumericRequired => "numeric_required",
            Self::OffsetOnAggregate => "offset_on_aggregate",
            Self::ScanLimit => "scan_limit",
            Self::NoPrimaryKey => "no_primary_key",
            Self::JoinTooWide => "join_too_wide",
            Self::UnsignedJoin => "unsigned_join",
            Self::AmbiguousJoin => "ambiguous_join",
            Self::PartialJoinNeedsContext => "partial_join_needs_context",
            Self::SpatialJoin => "spatial_join",
            Self::BadRpcArguments => "bad_rpc_arguments",
            Self::NotMirrored => "not_mirrored",
            Self::ResponseTooLarge => "response_too_large",
            Self::NotExact => "not_exact",
            Self::CollationUnknown => "collation_unknown",
            Self::UpstreamFailed => "upstream_failed",
            Self::TooExpensive => "too_expensive",
            Self::TimedOut => "timed_out",
            Self::Busy => "busy",
            Self::UntrustedCatalog => "untrusted_catalog",
            Self::CorruptStore => "corrupt_store",
            Self::Internal => "internal",
        }
    }
}

/// A question that isn't answered, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// The kind.
    pub code: RefusalCode,
    /// One or two short sentences.
    pub message: String,
    /// Names, counts and limits the message is built from.
    pub facts: Map<String, Value>,
    /// One concrete call or argument; never set when `terminal`.
    pub next_step: Option<String>,
    /// Whether no rewording helps.
    pub terminal: bool,
}

impl Refusal {
    /// A refusal that a changed request may overcome.
    pub fn new(code: RefusalCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), facts: Map::new(), next_step: None, terminal: false }
    }

    /// Adds one fact.
    pub fn fact(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.facts.insert(name.to_owned(), value.into());
        self
    }

    /// Says what to do next.
    pub fn next(mut self, step: impl Into<String>) -> Self {
        self.next_step = Some(step.into());
        self
    }

    /// Marks that no rewording helps; says so instead of a next step.
    pub fn terminal(mut self) -> Self {
        self.terminal = true;
        self.next_step = None;
        self.message.push_str(
            " This question can't be answered from the signed catalogue; say so instead of approximating.",
        );
        self
    }

    /// `{code, message, facts, next_step?, terminal}`: the value of `structuredContent.error`.
    pub fn to_json(&self) -> Value {
        let mut error = Map::new();
        error.insert("code".to_owned(), self.code.as_str().into());
        error.insert("message".to_owned(), self.message.clone().into());
        error.insert("facts".to_owned(), Value::Object(self.facts.clone()));
        if let Some(step) = &self.next_step {
            error.insert("next_step".to_owned(), step.clone().into());
        }
        error.insert("terminal".to_owned(), self.terminal.into());
        Value::Object(error)
    }

    /// The same for people and for models that read text only.
    pub fn to_text(&self) -> String {
        let mut text = format!("Refused ({}): {}", self.code.as_str(), self.message);
        if let Some(step) = &self.next_step {
            text.push_str(" Next: ");
            text.push_str(step);
        }
        text
    }
}
