//! A query over one relation.

use std::sync::Arc;

use arrow::array::Array;
use datafusion::logical_expr::LogicalPlan;
use serde_json::{Value, json};

use super::answer::{Answer, Matched, SourceReport, TruncatedBy};
use super::execute::{RunError, run, run_count, within_deadline};
use super::near_miss::refuse_near_misses;
use super::typed::TypedRows;
use super::{RunOptions, ScanPolicy};
use crate::catalog::Relation;
use crate::engine::check::{CheckedQuery, Predicate, QueryShape, Test};
use crate::engine::parse::Function;
use crate::engine::plan::{
    EngineRuntime, Known, RelationData, RowSource, TopRows, plan_count, plan_example, plan_query,
};
use crate::engine::refusal::{Refusal, RefusalCode};
use crate::engine::shape::{Row, shape_rows};
use crate::engine::size::{Reading, check_size};

/// Which of the rows an answer needs are at hand, and what is known about the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Coverage {
    /// Every row that matches, others perhaps among them.
    Matching,
    /// Exactly the rows asked for, offset and limit applied, all of them matching.
    Window {
        /// Rows that match in all.
        matched: u64,
    },
    /// Matching rows, the first `offset + limit` in the completed order among them.
    Head {
        /// Rows that match in all.
        matched: u64,
    },
    /// Matching rows, those with the smallest and largest values asked for among them; counts were made elsewhere.
    Extremes {
        /// Rows that match in all.
        matched: u64,
        /// The result of every metric that counts, by its place among the metrics.
        counts: Vec<Option<u64>>,
    },
}

/// Answers a checked query from stored rows.
pub async fn run_query(
    query: &CheckedQuery<'_>,
    data: &RelationData,
    manifest_hash: &str,
    runtime: &EngineRuntime,
    options: RunOptions,
) -> Result<Answer, RunError> {
    run_covered_query(query, data, &Coverage::Matching, manifest_hash, runtime, options).await
}

/// Answers a checked query from rows of which some may have been left where they are.
pub async fn run_covered_query(
    query: &CheckedQuery<'_>,
    data: &RelationData,
    coverage: &Coverage,
    manifest_hash: &str,
    runtime: &EngineRuntime,
    options: RunOptions,
) -> Result<Answer, RunError> {
    within_deadline(runtime.limits(), async {
        let known = admit(query, data, coverage, runtime, options.policy).await?;
        let found = match known.and_then(|matched| counted(query, matched)) {
            Some(counted) => counted,
            None => read(query, data, coverage, runtime, options, known).await?,
        };
        let Found { columns, rows, truncated, matched, typed } = found;
        if known.is_none() {
            refuse_near_misses(query.relation, data, &query.predicates, matched, runtime).await?;
        }
        let is_rows = matches!(query.shape, QueryShape::Rows { .. });
        Ok(Answer {
            columns,
            rows,
            represented_rows: None,
            source_complete: true,
            truncated,
            offset: is_rows.then_some(query.offset),
            sources: vec![SourceReport {
                alias: "source",
                source: query.relation.source(),
                manifest_hash: manifest_hash.to_owned(),
                row_count: relation_rows(data, &query.predicates, matched),
                matched,
                complete: true,
                served: None,
            }],
            joins: Vec::new(),
            warnings: query
                .warnings
                .iter()
                .map(|warning| (Some(query.relation.source()), warning.clone()))
                .collect(),
            typed,
        })
    })
    .await
}

/// What would happen: counts, refusal if any, plan and files; no rows.
pub async fn explain_query(
    query: &CheckedQuery<'_>,
    data: &RelationData,
    runtime: &EngineRuntime,
    options: RunOptions,
) -> Result<Value, RunError> {
    within_deadline(runtime.limits(), async {
        let (refusal, counted) = match admit(query, data, &Coverage::Matching, runtime, options.policy).await {
            Ok(counted) => (Value::Null, counted),
            Err(RunError::Refused(refusal)) => (refusal.to_json(), None),
            Err(failed) => return Err(failed),
        };
        let matched = match counted {
            Some(matched) => matched,
            None => matched_rows(query.relation, data, &query.predicates, runtime).await?,
        };
        let plan = plan_query(query, data, Known::default())?.plan;
        let files = match &data.source {
            RowSource::Parts(parts) => parts.as_slice(),
            RowSource::Batches(_) => &[],
        };
        Ok(json!({
            "source": query.relation.source(),
            "row_count": data.rows,
            "matched_rows": matched,
            "refusal": refusal,
            "logical_plan": displayed(&plan),
            "files": files.iter().map(|part| json!({"rows": part.rows, "bytes": part.bytes})).collect::<Vec<_>>(),
        }))
    })
    .await
}

/// The plan of a query over no rows: what would run once they are there.
pub fn planned_over_nothing(query: &CheckedQuery<'_>, data: &RelationData) -> Result<String, RunError> {
    Ok(displayed(&plan_query(query, data, Known::default())?.plan))
}

/// Rows of the whole relation, where the rows at hand say so.
pub(super) fn relation_rows(data: &RelationData, predicates: &[Predicate], matched: Matched) -> Option<u64> {
    match (&data.source, matched) {
        (RowSource::Parts(_), _) => Some(data.rows),
        (RowSource::Batches(_), Matched::Exactly(matched)) => predicates.is_empty().then_some(matched),
        (RowSource::Batches(_), Matched::AtLeast(_)) => None,
    }
}

/// A logical plan as text, without the machine's paths.
pub(super) fn displayed(plan: &LogicalPlan) -> String {
    plan.display_indent().to_string()
}

/// Exact number of rows that pass the predicates: from the snapshot where there are none, else by a pruned scan.
pub(super) async fn matched_rows(
    relation: &Relation,
    data: &RelationData,
    predicates: &[Predicate],
    runtime: &EngineRuntime,
) -> Result<u64, RunError> {
    if predicates.is_empty() {
        return Ok(data.rows);
    }
    run_count(&runtime.session()?, &plan_count(relation, data, predicates)?).await
}

/// The rules that need the stored rows: exactness of the columns used, then size. Returns the matching rows where a rule
/// needed them counted, or nothing is filtered; reading them twice would double the cost of every other question.
async fn admit(
    query: &CheckedQuery<'_>,
    data: &RelationData,
    coverage: &Coverage,
    runtime: &EngineRuntime,
    policy: ScanPolicy,
) -> Result<Option<u64>, RunError> {
    for position in compared(&query.predicates) {
        require_exact(query.relation, data, position, runtime).await?;
    }
    let reads_all = matches!(query.shape, QueryShape::Aggregate { .. }) && !query.is_one_row();
    let counts = matches!(data.source, RowSource::Batches(_))
        || query.predicates.is_empty()
        || (reads_all && policy == ScanPolicy::Parity)
        || query.counts_rows_only();
    let found = match counts {
        true => Some(matched_rows(query.relation, data, &query.predicates, runtime).await?),
        false => None,
    };
    let matched = match coverage {
        Coverage::Matching => found,
        Coverage::Window { matched } | Coverage::Head { matched } | Coverage::Extremes { matched, .. } => {
            let found = found.unwrap_or(data.rows);
            // Whoever chose these rows had to apply the same filters. One row may hold several extremes.
            let more = found > *matched && !matches!(coverage, Coverage::Extremes { .. });
            if found != data.rows || more {
                return Err(RunError::from(disagreement(query.relation, data.rows, found)));
            }
            Some(*matched)
        }
    };
    if let Some(matched) = matched {
        refuse_near_misses(query.relation, data, &query.predicates, Matched::Exactly(matched), runtime)
            .await?;
    }
    if let (true, Some(matched)) = (reads_all, matched) {
        check_size(query.relation, matched, Reading::Aggregate, runtime.limits(), policy)?;
    }
    for position in used(query) {
        require_exact(query.relation, data, position, runtime).await?;
    }
    Ok(matched)
}

/// The refusal where rows were sent that the request's own filters don't let through.
fn disagreement(relation: &Relation, sent: u64, passing: u64) -> Refusal {
    let source = relation.source();
    Refusal::new(
        RefusalCode::UpstreamFailed,
        format!(
            "the server sent {sent} rows of `{source}` of which {passing} pass the filters it was given."
        ),
    )
    .fact("source", source.as_str())
    .fact("rows", sent)
    .fact("passing_rows", passing)
    .next(format!("mirror the relation: `benthic-mirror sync --relation {source}`"))
}

/// Columns whose values are ordered, grouped or computed with.
fn used(query: &CheckedQuery<'_>) -> Vec<usize> {
    let mut positions: Vec<usize> = match &query.shape {
        QueryShape::Rows { order, .. } => order.iter().map(|term| term.column).collect(),
        QueryShape::Aggregate { groups, metrics, .. } => {
            let computed = metrics.iter().filter(|metric| metric.function != Function::Count);
            groups.iter().copied().chain(computed.filter_map(|metric| metric.column)).collect()
        }
    };
    positions.sort_unstable();
    positions.dedup();
    positions
}

/// Columns with a test that compares values.
pub(super) fn compared(predicates: &[Predicate]) -> Vec<usize> {
    predicates
        .iter()
        .filter(|predicate| !matches!(predicate.test, Test::IsNull | Test::IsNotNull))
        .map(|predicate| predicate.column)
        .collect()
}

/// Refuses a numeric column that is kept as text because no decimal holds all its values.
pub(super) async fn require_exact(
    relation: &Relation,
    data: &RelationData,
    position: usize,
    runtime: &EngineRuntime,
) -> Result<(), RunError> {
    let name = &relation.columns[position].name;
    if !data.inexact.contains(name) {
        return Ok(());
    }
    let batches = run(&runtime.session()?, &plan_example(relation, data, position)?).await?;
    let example =
        batches.iter().find(|batch| batch.num_rows() > 0).and_then(|batch| batch.columns().first()).and_then(
            |array| arrow::util::display::array_value_to_string(array.as_ref() as &dyn Array, 0).ok(),
        );
    Err(not_exact(relation, position, example).into())
}

fn not_exact(relation: &Relation, position: usize, example: Option<String>) -> Refusal {
    let column = &relation.columns[position];
    let refusal = Refusal::new(
        RefusalCode::NotExact,
        format!(
            "`{}` holds values that no number type keeps exactly; computing with them could be wrong.",
            column.name
        ),
    )
    .fact("column", column.name.as_str());
    match example {
        Some(example) => refusal.fact("example", example),
        None => refusal,
    }
    .next(format!("n=count:{0}, or select `{0}` and read its values as text", column.name))
}

/// An answer's rows before it is put together.
struct Found {
    columns: Vec<String>,
    rows: Vec<Row>,
    truncated: Option<TruncatedBy>,
    matched: Matched,
    typed: TypedRows,
}

/// Says which columns were added up, where a sum turned out to have no exact value.
fn with_summed_columns(error: RunError, query: &CheckedQuery<'_>) -> RunError {
    let (RunError::Refused(refusal), QueryShape::Aggregate { metrics, .. }) = (&error, &query.shape) else {
        return error;
    };
    if refusal.code != RefusalCode::NotExact {
        return error;
    }
    let columns: Vec<&str> = metrics
        .iter()
        .filter(|metric| matches!(metric.function, Function::Sum | Function::Avg))
        .filter_map(|metric| metric.column.map(|position| query.relation.columns[position].name.as_str()))
        .collect();
    refusal.as_ref().clone().fact("column", columns.join(", ")).into()
}

/// An answer that is only the number of matching rows.
fn counted(query: &CheckedQuery<'_>, matched: u64) -> Option<Found> {
    let QueryShape::Aggregate { metrics, .. } = &query.shape else { return None };
    query.counts_rows_only().then(|| {
        let columns: Vec<String> = metrics.iter().map(|metric| metric.output.clone()).collect();
        let row = columns.iter().map(|name| (name.clone(), matched.into())).collect();
        let typed = TypedRows::Counts(Row::clone(&row));
        Found { columns, rows: vec![row], truncated: None, matched: Matched::Exactly(matched), typed }
    })
}

async fn read(
    query: &CheckedQuery<'_>,
    data: &RelationData,
    coverage: &Coverage,
    runtime: &EngineRuntime,
    options: RunOptions,
    matched: Option<u64>,
) -> Result<Found, RunError> {
    let top = TopRows::of(query, data, runtime.two_step_rows());
    let threshold = match top {
        Some(top) => top.threshold(&run(&runtime.session()?, &top.plan(query, data)?).await?)?,
        None => None,
    };
    let known = match coverage {
        Coverage::Matching | Coverage::Head { .. } => Known { threshold, ..Known::default() },
        Coverage::Window { .. } => Known { skipped: true, ..Known::default() },
        Coverage::Extremes { counts, .. } => Known { counts, ..Known::default() },
    };
    let planned = plan_query(query, data, known)?;
    let batches = run(&runtime.session_for(planned.row_filters)?, &planned.plan)
        .await
        .map_err(|error| with_summed_columns(error, query))?;
    let mut rows = shape_rows(&batches, &planned.outputs, options.exact_numbers)?;
    // The plan fetches one row more than asked, which shows whether there is more.
    let limit = usize::try_from(query.limit).unwrap_or(usize::MAX);
    let mut more = rows.len() > limit;
    rows.truncate(limit);
    let seen = query.offset.saturating_add(rows.len() as u64);
    // A window of the rows shows nothing beyond itself; there the count does.
    more |= matches!(query.shape, QueryShape::Rows { .. }) && matched.is_some_and(|matched| seen < matched);
    let matched = match (&query.shape, matched) {
        (_, Some(matched)) => Matched::Exactly(matched),
        (QueryShape::Rows { .. }, None) if more => Matched::AtLeast(seen.saturating_add(1)),
        // Beyond the last row there is nothing to see.
        (QueryShape::Rows { .. }, None) if rows.is_empty() && query.offset > 0 => Matched::AtLeast(0),
        (QueryShape::Rows { .. }, None) => Matched::Exactly(seen),
        (QueryShape::Aggregate { .. }, None) => {
            // Each group is made from one row at least.
            planned.matched(&batches).map_or(Matched::AtLeast(rows.len() as u64), Matched::Exactly)
        }
    };
    let reason =
        if query.limit == runtime.limits().max_rows { TruncatedBy::MaxRows } else { TruncatedBy::Limit };
    let columns = planned.outputs.iter().map(|output| output.name.clone()).collect();
    let schema = Arc::new(planned.plan.schema().as_arrow().clone());
    let typed = TypedRows::Batches { batches, schema, outputs: planned.outputs };
    Ok(Found { columns, rows, truncated: more.then_some(reason), matched, typed })
}
