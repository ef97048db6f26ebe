//! A signed join over two relations of one snapshot.

use std::sync::Arc;

use serde_json::{Value, json};

use super::RunOptions;
use super::answer::{Answer, Matched, SourceReport, TruncatedBy};
use super::execute::{RunError, run, run_count, within_deadline};
use super::near_miss::refuse_near_misses;
use super::query::{compared, displayed, matched_rows, relation_rows, require_exact};
use super::typed::TypedRows;
use crate::engine::check::{CheckedJoin, JoinSide};
use crate::engine::plan::{EngineRuntime, RelationData, plan_join, plan_join_count};
use crate::engine::shape::shape_rows;
use crate::engine::size::{Reading, check_joined, check_size};

/// One side's rows and what the answer says about them.
#[derive(Debug, Clone)]
pub struct JoinSource<'a> {
    /// The rows.
    pub data: &'a RelationData,
    /// Hash of the manifest that grants the relation.
    pub manifest_hash: &'a str,
    /// Provenance of this side.
    pub served: Value,
}

/// Rows of each side that take part, and of the join.
struct Counts {
    left: u64,
    right: u64,
    joined: u64,
}

/// Answers a checked join from stored rows.
pub async fn run_join(
    join: &CheckedJoin<'_>,
    left: JoinSource<'_>,
    right: JoinSource<'_>,
    runtime: &EngineRuntime,
    options: RunOptions,
) -> Result<Answer, RunError> {
    within_deadline(runtime.limits(), async {
        let counts = admit(join, left.data, right.data, runtime, options).await?;
        let planned = plan_join(join, left.data, right.data)?;
        let batches = run(&runtime.session()?, &planned.plan).await?;
        let mut rows = shape_rows(&batches, &planned.outputs, options.exact_numbers)?;
        let mut warnings: Vec<(Option<String>, String)> =
            join.warnings.iter().map(|warning| (None, warning.clone())).collect();
        let identical = rows.len() > 1 && rows.windows(2).all(|pair| pair[0] == pair[1]);
        let mut represented = None;
        let mut truncated = None;
        if identical {
            rows.truncate(1);
            represented = Some(counts.joined);
            warnings.push((
                None,
                format!("all {} joined rows are identical in the returned columns; one representative row is returned", counts.joined),
            ));
        } else {
            let limit = usize::try_from(join.limit).unwrap_or(usize::MAX);
            if rows.len() > limit {
                rows.truncate(limit);
                truncated = Some(TruncatedBy::Limit);
            }
        }
        Ok(Answer {
            columns: planned.outputs.iter().map(|output| output.name.clone()).collect(),
            rows,
            represented_rows: represented,
            source_complete: true,
            truncated,
            offset: None,
            sources: vec![
                report("left", &join.left, left, counts.left),
                report("right", &join.right, right, counts.right),
            ],
            joins: vec![described(join, counts.joined)],
            warnings,
            typed: TypedRows::Batches {
                batches,
                schema: Arc::new(planned.plan.schema().as_arrow().clone()),
                outputs: planned.outputs,
            },
        })
    })
    .await
}

/// What would happen: counts, refusal if any, plan; no rows.
pub async fn explain_join(
    join: &CheckedJoin<'_>,
    left: &RelationData,
    right: &RelationData,
    runtime: &EngineRuntime,
    options: RunOptions,
) -> Result<Value, RunError> {
    within_deadline(runtime.limits(), async {
        let (refusal, joined) = match admit(join, left, right, runtime, options).await {
            Ok(counts) => (Value::Null, Some(counts.joined)),
            Err(RunError::Refused(refusal)) => (refusal.to_json(), None),
            Err(failed) => return Err(failed),
        };
        Ok(json!({
            "left": {"source": join.left.relation.source(), "row_count": left.rows},
            "right": {"source": join.right.relation.source(), "row_count": right.rows},
            "path": join.path,
            "joined_rows": joined,
            "refusal": refusal,
            "logical_plan": displayed(&plan_join(join, left, right)?.plan),
        }))
    })
    .await
}

/// Exactness, then per side `no_primary_key` and `scan_limit`, then the width of the join.
async fn admit(
    join: &CheckedJoin<'_>,
    left: &RelationData,
    right: &RelationData,
    runtime: &EngineRuntime,
    options: RunOptions,
) -> Result<Counts, RunError> {
    let sides = [
        (&join.left, left, join.keys.iter().map(|pair| pair.left).collect::<Vec<_>>()),
        (&join.right, right, join.keys.iter().map(|pair| pair.right).collect()),
    ];
    let mut matched = [0; 2];
    for ((side, data, keys), matched) in sides.iter().zip(&mut matched) {
        for position in keys.iter().copied().chain(compared(&side.predicates)) {
            require_exact(side.relation, data, position, runtime).await?;
        }
        *matched = matched_rows(side.relation, data, &side.predicates, runtime).await?;
        refuse_near_misses(side.relation, data, &side.predicates, Matched::Exactly(*matched), runtime)
            .await?;
    }
    for ((side, ..), matched) in sides.iter().zip(matched) {
        check_size(side.relation, matched, Reading::JoinSide, runtime.limits(), options.policy)?;
    }
    let joined = run_count(&runtime.session()?, &plan_join_count(join, left, right)?).await?;
    check_joined(joined, runtime.limits())?;
    Ok(Counts { left: matched[0], right: matched[1], joined })
}

fn report(
    alias: &'static str,
    side: &JoinSide<'_>,
    source: JoinSource<'_>,
    matched_rows: u64,
) -> SourceReport {
    SourceReport {
        alias,
        source: side.relation.source(),
        manifest_hash: source.manifest_hash.to_owned(),
        row_count: relation_rows(source.data, &side.predicates, Matched::Exactly(matched_rows)),
        matched: Matched::Exactly(matched_rows),
        complete: true,
        served: Some(source.served),
    }
}

fn described(join: &CheckedJoin<'_>, joined_rows: u64) -> Value {
    let mut path = join.path.clone();
    if let Some(object) = path.as_object_mut() {
        object.insert("joined_rows".to_owned(), joined_rows.into());
        let context: Vec<String> = join
            .keys
            .iter()
            .skip(1)
            .map(|pair| {
                format!(
                    "{}={}",
                    join.left.relation.columns[pair.left].name, join.right.relation.columns[pair.right].name
                )
            })
            .collect();
        if !context.is_empty() {
            object.insert("context_conditions".to_owned(), context.into());
        }
    }
    path
}
