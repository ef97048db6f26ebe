//! What a pull is to do.

use std::sync::Arc;

use url::Url;

use crate::bdp::{Limits, PayloadHash, TrustedKeys};
use crate::net::retry::RetryPolicy;
use crate::store::{CurrentOrder, MirrorKey};

use super::indexes::{IndexBuilder, NoIndexes};

/// Settings of one pull.
#[derive(Debug, Clone)]
pub struct PullOptions {
    /// Root of the signed documents, e.g. `https://benthic.io/bdp`.
    pub root: Url,
    /// Collection name, e.g. `ngopen`.
    pub collection: String,
    /// Keys whose documents are believed.
    pub publisher_keys: TrustedKeys,
    /// Key that signs the snapshot.
    pub mirror_key: MirrorKey,
    /// Collection hash the operator named: any other is refused, and this one is accepted even if it is a rollback.
    pub expected_collection_hash: Option<PayloadHash>,
    /// Which relations to capture.
    pub relations: Selection,
    /// Rows per page; never more than the server's declared cap. `None`: that cap.
    pub page_size: Option<u64>,
    /// Relations captured at the same time.
    pub concurrency: usize,
    /// Larger relations are skipped with their count. `None`: no bound.
    pub max_rows_per_relation: Option<u64>,
    /// How well a capture must be known to be consistent.
    pub evidence: EvidenceWanted,
    /// Whether `current` may move to a snapshot older than the one it names.
    pub current_order: CurrentOrder,
    /// How often a relation that changed while it was read is read again.
    pub relation_retries: u32,
    /// How single requests are repeated.
    pub retry: RetryPolicy,
    /// Makes the jitter of waits.
    pub jitter_seed: u64,
    /// Caps on signed documents.
    pub limits: Limits,
    /// Memory of the sorter, bytes; what doesn't fit spills to `work/`.
    pub sort_memory_bytes: usize,
    /// Most bytes spilled at the same time.
    pub spill_limit_bytes: u64,
    /// Name and version written into the snapshot.
    pub tool_version: String,
    /// Builds indexes over what was captured.
    pub indexes: Arc<dyn IndexBuilder>,
}

impl PullOptions {
    /// The defaults for a collection below a root, signed by `mirror_key`.
    pub fn new(
        root: Url,
        collection: impl Into<String>,
        publisher_keys: TrustedKeys,
        mirror_key: MirrorKey,
    ) -> Self {
        Self {
            root,
            collection: collection.into(),
            publisher_keys,
            mirror_key,
            expected_collection_hash: None,
            relations: Selection::All,
            page_size: None,
            concurrency: 4,
            max_rows_per_relation: None,
            evidence: EvidenceWanted::BestAvailable,
            current_order: CurrentOrder::ForwardOnly,
            relation_retries: 3,
            retry: RetryPolicy::default(),
            jitter_seed: 0,
            limits: Limits::default(),
            sort_memory_bytes: 128 * 1024 * 1024,
            spill_limit_bytes: 100 * 1024 * 1024 * 1024,
            tool_version: concat!("benthic-mirror ", env!("CARGO_PKG_VERSION")).to_owned(),
            indexes: Arc::new(NoIndexes),
        }
    }
}

/// How well captures must be known to be consistent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EvidenceWanted {
    /// The best level each relation's method gives.
    #[default]
    BestAvailable,
    /// Two equal passes, wherever one response doesn't hold everything.
    DoubleRead,
}

/// Which relations to capture.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Selection {
    /// Every queryable one.
    #[default]
    All,
    /// Those a pattern matches: `dataset.relation`, where `*` stands for any text, e.g. `usp_cl.*`.
    Patterns(Vec<String>),
}

impl Selection {
    /// Whether `dataset.relation` is selected.
    pub fn includes(&self, source: &str) -> bool {
        match self {
            Self::All => true,
            Self::Patterns(patterns) => patterns.iter().any(|pattern| matches(pattern, source)),
        }
    }

    /// The first pattern that matches none of `sources`.
    pub fn idle_pattern(&self, sources: &[String]) -> Option<&str> {
        match self {
            Self::All => None,
            Self::Patterns(patterns) => patterns
                .iter()
                .find(|pattern| !sources.iter().any(|source| matches(pattern, source)))
                .map(String::as_str),
        }
    }
}

/// Whether `text` has the form of `pattern`, in which `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    // Without a star the whole text was the first part.
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let cases = [
            ("usp_cl.*", "usp_cl.legislators", true),
            ("usp_cl.*", "usp_cl_2.legislators", false),
            ("*", "a.b", true),
            ("a.b", "a.b", true),
            ("a.b", "a.bc", false),
            ("*.b*d", "a.bcd", true),
            ("*.b*d", "a.bcde", false),
            ("a*a", "a", false),
            ("a.b*c*", "a.bXcY", true),
            ("", "a.b", false),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
        let selection = Selection::Patterns(vec!["a.*".to_owned(), "z.*".to_owned()]);
        assert_eq!(selection.idle_pattern(&["a.b".to_owned()]), Some("z.*"));
    }
}
