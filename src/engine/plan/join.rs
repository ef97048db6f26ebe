//! The logical plan of a signed join: each side filtered and keyed, then joined on its keys.

use datafusion::common::{JoinType, Result};
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::logical_expr::expr::Sort;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, lit};

use super::expression::column;
use super::join_key::KeyForm;
use super::query::{Output, PlannedQuery, column_outputs, completed_order, filtered, stored_type};
use super::session::RowFilters;
use super::table::RelationData;
use crate::engine::check::{CheckedJoin, JoinMode, JoinSide};

/// One side before the join. Its order travels along as columns, since the join doesn't keep it.
struct PlannedSide {
    builder: LogicalPlanBuilder,
    outputs: Vec<Output>,
    order: Vec<Sort>,
}

/// One row: how many rows the join has.
pub(in crate::engine) fn plan_join_count(
    join: &CheckedJoin<'_>,
    left: &RelationData,
    right: &RelationData,
) -> Result<LogicalPlan> {
    let (builder, _, _) = joined(join, left, right)?;
    builder.aggregate(Vec::<Expr>::new(), vec![count(lit(1_i64)).alias("n")])?.build()
}

/// The joined rows, in the left side's completed order, then the right side's.
pub(in crate::engine) fn plan_join(
    join: &CheckedJoin<'_>,
    left: &RelationData,
    right: &RelationData,
) -> Result<PlannedQuery> {
    let (builder, outputs, order) = joined(join, left, right)?;
    let projection: Vec<Expr> = outputs.iter().map(|output| column(&output.alias)).collect();
    let plan = builder.sort(order)?.project(projection)?.build()?;
    Ok(PlannedQuery { plan, outputs, row_filters: RowFilters::Off })
}

fn joined(
    join: &CheckedJoin<'_>,
    left: &RelationData,
    right: &RelationData,
) -> Result<(LogicalPlanBuilder, Vec<Output>, Vec<Sort>)> {
    let forms = join
        .keys
        .iter()
        .map(|pair| {
            let left = stored_type(join.left.relation, left, pair.left)?;
            let right = stored_type(join.right.relation, right, pair.right)?;
            Ok(KeyForm::of(pair.comparison, &left, &right))
        })
        .collect::<Result<Vec<_>>>()?;
    let left_keys = join.keys.iter().map(|pair| pair.left).zip(&forms);
    let left_side = plan_side(&join.left, left, "left", left_keys)?;
    let right_keys = join.keys.iter().map(|pair| pair.right).zip(&forms);
    let right_side = plan_side(&join.right, right, "right", right_keys)?;
    let join_type = match join.mode {
        JoinMode::Inner => JoinType::Inner,
        JoinMode::Left => JoinType::Left,
    };
    let keys = |side: &str| (0..forms.len()).map(|n| column(&format!("{side}_key{n}"))).collect::<Vec<_>>();
    let builder = left_side.builder.join_with_expr_keys(
        right_side.builder.build()?,
        join_type,
        (keys("left"), keys("right")),
        None,
    )?;
    let outputs = left_side.outputs.into_iter().chain(right_side.outputs).collect();
    let order = left_side.order.into_iter().chain(right_side.order).collect();
    Ok((builder, outputs, order))
}

fn plan_side<'a>(
    side: &JoinSide<'_>,
    data: &RelationData,
    name: &str,
    keys: impl Iterator<Item = (usize, &'a KeyForm)>,
) -> Result<PlannedSide> {
    let relation = side.relation;
    let (mut projection, mut outputs) = column_outputs(relation, &side.columns, &format!("{name}_c"));
    for output in &mut outputs {
        output.name = format!("{name}.{}", output.name);
    }
    for (index, (position, form)) in keys.enumerate() {
        let stored = stored_type(relation, data, position)?;
        let expression = form.apply(&relation.columns[position], &stored);
        projection.push(expression.alias(format!("{name}_key{index}")));
    }
    let mut order = Vec::new();
    for (index, term) in completed_order(relation, data, &[]).into_iter().enumerate() {
        let alias = format!("{name}_order{index}");
        projection.push(term.expr.alias(&alias));
        order.push(column(&alias).sort(term.asc, term.nulls_first));
    }
    let builder = filtered(relation, data, &side.predicates)?.project(projection)?;
    Ok(PlannedSide { builder, outputs, order })
}
