//! A query over one relation.

use std::sync::Arc;

use arrow::array::Array;
use datafusion::logical_expr::LogicalPlan;
use serde_json::{Value, json};

use super::answer::{Answer, SourceReport, TruncatedBy};
use super::execute::{RunError, run, run_count, within_deadline};
use super::near_miss::refuse_near_misses;
use super::typed::TypedRows;
use super::{RunOptions, ScanPolicy};
use crate::catalog::Relation;
use crate::engine::check::{CheckedQuery, Predicate, QueryShape, Test};
use crate::engine::parse::Function;
use crate::engine::plan::{EngineRuntime, RelationData, plan_count, plan_example, plan_query};
use crate::engine::refusal::{Refusal, RefusalCode};
use crate::engine::shape::{Row, shape_rows};
use crate::engine::size::{Reading, check_size};

/// Answers a checked query from stored rows.
pub async fn run_query(
    query: &CheckedQuery<'_>,
    data: &RelationData,
    manifest_hash: &str,
    runtime: &EngineRuntime,
    options: RunOptions,
) -> Result<Answer, RunError> {
    within_deadline(runtime.limits(), async {
        let matched = admit(query, data, runtime, options.policy).await?;
        let (columns, rows, truncated, typed) = match counted(query, matched) {
            Some((columns, row)) => (columns, vec![row.clone()], None, TypedRows::Counts(row)),
            None => read(query, data, runtime, options, matched).await?,
        };
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
                row_count: data.rows,
                matched_rows: matched,
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
        let refusal = match admit(query, data, runtime, options.policy).await {
            Ok(_) => Value::Null,
            Err(RunError::Refused(refusal)) => refusal.to_json(),
            Err(failed) => return Err(failed),
        };
        let matched = matched_rows(query.relation, data, &query.predicates, runtime).await?;
        let plan = plan_query(query, data)?.plan;
        Ok(json!({
            "source": query.relation.source(),
            "row_count": data.rows,
            "matched_rows": matched,
            "refusal": refusal,
            "logical_plan": displayed(&plan),
            "files": data.parts.iter().map(|part| json!({"rows": part.rows, "bytes": part.bytes})).collect::<Vec<_>>(),
        }))
    })
    .await
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

/// The rules that need the stored rows: exactness of the columns used, then size. Returns the matching rows.
async fn admit(
    query: &CheckedQuery<'_>,
    data: &RelationData,
    runtime: &EngineRuntime,
    policy: ScanPolicy,
) -> Result<u64, RunError> {
    for position in compared(&query.predicates) {
        require_exact(query.relation, data, position, runtime).await?;
    }
    let matched = matched_rows(query.relation, data, &query.predicates, runtime).await?;
    refuse_near_misses(query.relation, data, &query.predicates, matched, runtime).await?;
    let reads_all = matches!(query.shape, QueryShape::Aggregate { .. }) && !query.is_one_row();
    if reads_all {
        check_size(query.relation, matched, Reading::Aggregate, runtime.limits(), policy)?;
    }
    for position in used(query) {
        require_exact(query.relation, data, position, runtime).await?;
    }
    Ok(matched)
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
fn counted(query: &CheckedQuery<'_>, matched: u64) -> Option<(Vec<String>, Row)> {
    let QueryShape::Aggregate { groups, metrics, having, .. } = &query.shape else { return None };
    let only_rows = groups.is_empty() && having.is_empty() && metrics.iter().all(|m| m.column.is_none());
    only_rows.then(|| {
        let columns: Vec<String> = metrics.iter().map(|metric| metric.output.clone()).collect();
        let row = columns.iter().map(|name| (name.clone(), matched.into())).collect();
        (columns, row)
    })
}

async fn read(
    query: &CheckedQuery<'_>,
    data: &RelationData,
    runtime: &EngineRuntime,
    options: RunOptions,
    matched: u64,
) -> Result<(Vec<String>, Vec<Row>, Option<TruncatedBy>, TypedRows), RunError> {
    let planned = plan_query(query, data)?;
    let batches =
        run(&runtime.session()?, &planned.plan).await.map_err(|error| with_summed_columns(error, query))?;
    let mut rows = shape_rows(&batches, &planned.outputs, options.exact_numbers)?;
    let more = match &query.shape {
        QueryShape::Rows { .. } => query.offset.saturating_add(rows.len() as u64) < matched,
        QueryShape::Aggregate { .. } => {
            let limit = usize::try_from(query.limit).unwrap_or(usize::MAX);
            let more = rows.len() > limit;
            rows.truncate(limit);
            more
        }
    };
    let reason =
        if query.limit == runtime.limits().max_rows { TruncatedBy::MaxRows } else { TruncatedBy::Limit };
    let columns = planned.outputs.iter().map(|output| output.name.clone()).collect();
    let schema = Arc::new(planned.plan.schema().as_arrow().clone());
    let typed = TypedRows::Batches { batches, schema, outputs: planned.outputs };
    Ok((columns, rows, more.then_some(reason), typed))
}
