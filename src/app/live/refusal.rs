//! What goes wrong with a live read, as refusals.

use crate::catalog::Relation;
use crate::engine::{Refusal, RefusalCode};
use crate::postgrest::{DecodeError, PostgrestError};

/// The refusal for a request that gave no rows and no count.
pub(super) fn failed(relation: &Relation, error: &PostgrestError) -> Refusal {
    let mut refusal = upstream(relation, format!("reading `{}` live failed: {error}.", relation.source()));
    if let Some(status) = error.status() {
        refusal = refusal.fact("status", status);
    }
    match error.code() {
        Some(code) => refusal.fact("postgrest_code", code),
        None => refusal,
    }
}

/// The refusal for rows that aren't what the manifest declares.
pub(super) fn undecodable(relation: &Relation, error: &DecodeError) -> Refusal {
    upstream(relation, format!("the server's rows aren't those the manifest declares: {error}."))
}

/// The refusal for rows that changed while they were read.
pub(super) fn changed(relation: &Relation, before: u64, rows: u64, after: Option<u64>) -> Refusal {
    let source = relation.source();
    let later = after.map_or_else(String::new, |after| format!(", {after} when they were counted again"));
    // Rows that agree in the key, or lack it, are after no page's last row.
    let key = match after == Some(before) && rows < before {
        true => {
            format!(", or its declared key ({}) doesn't tell them apart", relation.primary_key.join(", "))
        }
        false => String::new(),
    };
    let refusal = upstream(
        relation,
        format!(
            "the rows of `{source}` changed while they were read, or the server left some out{key}: {before} were counted, {rows} came{later}."
        ),
    )
    .fact("count_before", before)
    .fact("rows", rows)
    .next("send the same request again");
    match after {
        Some(after) => refusal.fact("count_after", after),
        None => refusal,
    }
}

/// The refusal for a server that sends fewer rows at once than it is declared to, where nothing tells where to go on.
pub(super) fn capped(relation: &Relation, expected: u64, rows: u64) -> Refusal {
    upstream(
        relation,
        format!(
            "the server sends only {rows} of {expected} rows of `{}` at once, and nothing says where to go on.",
            relation.source()
        ),
    )
    .fact("rows", rows)
    .fact("matched_rows", expected)
}

/// The refusal for a decimal column that holds what no decimal does.
pub(super) fn not_finite(relation: &Relation, column: &str, rows: u64) -> Refusal {
    Refusal::new(
        RefusalCode::NotExact,
        format!(
            "`{column}` of `{}` holds NaN or an infinity in {rows} rows; comparing with one could be wrong.",
            relation.source()
        ),
    )
    .fact("column", column)
    .fact("rows", rows)
    .next(format!("n=count:{column}, or select `{column}` and read its values as text"))
}

/// The refusal for rows that take more memory than one request may use.
pub(super) fn too_large(relation: &Relation, bytes: u64, limit: u64) -> Refusal {
    Refusal::new(
        RefusalCode::TooExpensive,
        format!("the rows of `{}` take more than {limit} bytes.", relation.source()),
    )
    .fact("source", relation.source())
    .fact("bytes", bytes)
    .fact("limit_bytes", limit)
    .next("add a filter, or return fewer columns; leave out long text and geometry")
}

/// A refusal for what the server did.
pub(super) fn upstream(relation: &Relation, message: String) -> Refusal {
    let source = relation.source();
    Refusal::new(RefusalCode::UpstreamFailed, message)
        .fact("source", source.as_str())
        .next(format!("try again later, or mirror the relation: `benthic-mirror sync --relation {source}`"))
}
