//! Executing plans under the request's deadline and memory pool.

use std::future::Future;
use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::Int64Type;
use datafusion::common::DataFusionError;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::{ExecutionPlan, collect};

use crate::config::Limits;
use crate::engine::plan::{EngineRuntime, RelationData, plan_columns, plan_columns_of};
use crate::engine::refusal::{Refusal, RefusalCode};
use crate::engine::shape::UnreadableValue;
use crate::engine::wide_sum::SumOverflow;

/// Why a checked request has no answer.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It is refused.
    #[error("{}", .0.to_text())]
    Refused(Box<Refusal>),
    /// The plan failed for a reason that is no caller's: a defect or a damaged store.
    #[error("the engine failed: {0}")]
    Failed(Box<DataFusionError>),
}

impl From<Refusal> for RunError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

impl From<DataFusionError> for RunError {
    /// Exhausted resources and unreadable objects are refusals with a way out; anything else is a failure.
    fn from(error: DataFusionError) -> Self {
        // What goes beyond the spill cap is an I/O error like any other to DataFusion; only its words tell it apart,
        // which a test holds it to.
        if error.to_string().contains("used disk space during the spilling process") {
            return too_expensive("spill", "spill space").into();
        }
        match error.find_root() {
            DataFusionError::ResourcesExhausted(_) => too_expensive("memory", "memory").into(),
            DataFusionError::External(inner) if inner.is::<SumOverflow>() => {
                Refusal::new(RefusalCode::NotExact, format!("{inner}."))
                    .next("add a filter that leaves fewer rows, or ask for min, max or count")
                    .into()
            }
            DataFusionError::ObjectStore(_)
            | DataFusionError::ParquetError(_)
            | DataFusionError::IoError(_) => {
                Refusal::new(RefusalCode::CorruptStore, format!("a stored file can't be read: {error}."))
                    .fact("detail", error.to_string())
                    .next("run `benthic-mirror status` to see what is damaged, then `benthic-mirror sync`")
                    .into()
            }
            _ => Self::Failed(Box::new(error)),
        }
    }
}

/// `bound` names the limit; its size is added where the limits are known.
fn too_expensive(bound: &str, room: &str) -> Refusal {
    let message = format!("the request needs more {room} than one request may use.");
    Refusal::new(RefusalCode::TooExpensive, message)
        .fact("bound", bound)
        .next("add a filter that leaves fewer rows, group by fewer columns, or return fewer columns")
}

impl From<UnreadableValue> for RunError {
    fn from(error: UnreadableValue) -> Self {
        Refusal::new(RefusalCode::CorruptStore, format!("{error}."))
            .next("run `benthic-mirror status` to see what is damaged, then `benthic-mirror sync`")
            .into()
    }
}

/// Says how large the bound is that a request ran into.
fn with_limit(refusal: Refusal, limits: &Limits) -> Refusal {
    match refusal.facts.get("bound").and_then(serde_json::Value::as_str) {
        Some("memory") => refusal.fact("limit_bytes", limits.memory_limit_bytes),
        Some("spill") => refusal.fact("limit_bytes", limits.spill_limit_bytes),
        _ => refusal,
    }
}

/// Has every scan keep the order of its rows. A limit that reaches a scan without it may keep row groups that pass a filter
/// altogether and leave out earlier ones that pass in part, and the first rows are missing (DataFusion issue 24272).
fn in_order(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
    let ordered = plan.transform_up(|node| {
        Ok(match node.children().is_empty().then(|| node.with_preserve_order(true)).flatten() {
            Some(ordered) => Transformed::yes(ordered),
            None => Transformed::no(node),
        })
    });
    Ok(ordered?.data)
}

/// Runs a plan to its batches.
pub(super) async fn run(state: &SessionState, plan: &LogicalPlan) -> Result<Vec<RecordBatch>, RunError> {
    let physical = state.create_physical_plan(plan).await?;
    Ok(collect(in_order(physical)?, state.task_ctx()).await?)
}

/// Named columns of every row, in sort order: what indexes are built from.
pub async fn read_columns(
    data: &RelationData,
    columns: &[&str],
    runtime: &EngineRuntime,
) -> Result<Vec<RecordBatch>, RunError> {
    run(&runtime.session()?, &plan_columns(data, columns)?).await
}

/// Named columns of the rows that hold a whole number in a column, in sort order.
pub async fn read_columns_of(
    data: &RelationData,
    columns: &[&str],
    value: (&str, i64),
    runtime: &EngineRuntime,
) -> Result<Vec<RecordBatch>, RunError> {
    run(&runtime.session()?, &plan_columns_of(data, columns, value)?).await
}

/// Runs a plan of one row with one integer.
pub(super) async fn run_count(state: &SessionState, plan: &LogicalPlan) -> Result<u64, RunError> {
    let batches = run(state, plan).await?;
    let count = batches
        .iter()
        .find(|batch| batch.num_rows() == 1)
        .and_then(|batch| batch.columns().first())
        .and_then(|array| array.as_primitive_opt::<Int64Type>())
        .and_then(|values| u64::try_from(values.value(0)).ok());
    count.ok_or_else(|| {
        RunError::Failed(Box::new(DataFusionError::Internal("a count returned no count".to_owned())))
    })
}

/// Ends a request at its deadline; dropping the future stops its plan and frees its memory.
pub(super) async fn within_deadline<T>(
    limits: &Limits,
    request: impl Future<Output = Result<T, RunError>>,
) -> Result<T, RunError> {
    match tokio::time::timeout(limits.request_deadline, request).await {
        Ok(Err(RunError::Refused(refusal))) => Err(RunError::Refused(Box::new(with_limit(*refusal, limits)))),
        Ok(result) => result,
        Err(_) => {
            let seconds = limits.request_deadline.as_secs_f64();
            Err(Refusal::new(RefusalCode::TimedOut, format!("the request took longer than {seconds} s."))
                .fact("bound", "deadline")
                .fact("limit_seconds", seconds)
                .next("add a filter, or return fewer columns")
                .into())
        }
    }
}
