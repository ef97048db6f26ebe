//! The logical plan of a query.

use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::{DataType, Int64Type};
use datafusion::common::Result;
use datafusion::datasource::provider_as_source;
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::logical_expr::expr::Sort;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, lit};

use super::aggregate::{MetricDisplay, plan_metric};
use super::expression::{column, has_key_of_its_own, having, key, test};
use super::session::RowFilters;
use super::table::{RelationData, RelationTable};
use crate::catalog::{ColumnType, Relation};
use crate::engine::check::{
    AggregateOrder, CheckedQuery, Having, Metric, OrderTerm, OutputColumn, Predicate, QueryShape, Test,
};
use crate::engine::parse::Direction;

/// A plan and how its columns become an answer's columns.
pub(in crate::engine) struct PlannedQuery {
    /// The plan. It fetches one row more than asked, which shows whether there is more.
    pub(in crate::engine) plan: LogicalPlan,
    /// Output columns in order.
    pub(in crate::engine) outputs: Vec<Output>,
    /// What kind of session it needs.
    pub(in crate::engine) row_filters: RowFilters,
}

/// The hidden column of a one-row aggregate that counts the rows it was made from.
const MATCHED: &str = "matched";

impl PlannedQuery {
    /// Rows a one-row aggregate was made from, if its row is there.
    pub(in crate::engine) fn matched(&self, batches: &[RecordBatch]) -> Option<u64> {
        let batch = batches.iter().find(|batch| batch.num_rows() > 0)?;
        let counts = batch.column_by_name(MATCHED)?.as_primitive_opt::<Int64Type>()?;
        u64::try_from(counts.value(0)).ok()
    }
}

/// One output column.
#[derive(Debug, Clone)]
pub(in crate::engine) struct Output {
    /// Name in the answer.
    pub(in crate::engine) name: String,
    /// Name in the plan's batches.
    pub(in crate::engine) alias: String,
    /// How values are shown.
    pub(in crate::engine) display: Display,
}

/// How values of an output column are shown.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::engine) enum Display {
    /// As values of a column.
    Column(ColumnType),
    /// As a metric.
    Metric(MetricDisplay),
}

/// The relation's rows that pass its predicates.
pub(super) fn filtered(
    relation: &Relation,
    data: &RelationData,
    predicates: &[Predicate],
) -> Result<LogicalPlanBuilder> {
    scan(relation, data, predicates, RowFilters::Off, false)
}

/// The same; `row_filters` as [`RelationTable::with_row_filters`] has it.
fn scan(
    relation: &Relation,
    data: &RelationData,
    predicates: &[Predicate],
    row_filters: RowFilters,
    in_order: bool,
) -> Result<LogicalPlanBuilder> {
    let table = RelationTable::new(relation, data)?.with_row_filters(row_filters).in_stored_order(in_order);
    let mut builder = LogicalPlanBuilder::scan("relation", provider_as_source(Arc::new(table)), None)?;
    for predicate in predicates {
        let declared = &relation.columns[predicate.column];
        let stored = stored_type(relation, data, predicate.column)?;
        builder =
            builder.filter(test(column(&declared.name), &declared.column_type, &stored, &predicate.test))?;
    }
    Ok(builder)
}

/// The Arrow type a column is stored in.
pub(super) fn stored_type(relation: &Relation, data: &RelationData, position: usize) -> Result<DataType> {
    Ok(data.schema.field_with_name(&relation.columns[position].name)?.data_type().clone())
}

/// One row: how many rows pass the predicates.
pub(in crate::engine) fn plan_count(
    relation: &Relation,
    data: &RelationData,
    predicates: &[Predicate],
) -> Result<LogicalPlan> {
    let rows = count(lit(1_i64)).alias("n");
    filtered(relation, data, predicates)?.aggregate(Vec::<Expr>::new(), vec![rows])?.build()
}

/// The files' order, said as one: without that, a scan that several cores share comes in any.
fn stored_order(data: &RelationData) -> Vec<Sort> {
    data.sort_key.iter().map(|name| column(name).sort(true, false)).collect()
}

/// Named columns of every row, in sort order.
pub(in crate::engine) fn plan_columns(data: &RelationData, columns: &[&str]) -> Result<LogicalPlan> {
    let table = RelationTable::stored(data).in_stored_order(true);
    LogicalPlanBuilder::scan("relation", provider_as_source(Arc::new(table)), None)?
        .sort(stored_order(data))?
        .project(columns.iter().map(|name| column(name)))?
        .build()
}

/// Named columns of the rows that hold a whole number in a column, in sort order.
pub(in crate::engine) fn plan_columns_of(
    data: &RelationData,
    columns: &[&str],
    (name, value): (&str, i64),
) -> Result<LogicalPlan> {
    let table = RelationTable::stored(data).in_stored_order(true);
    LogicalPlanBuilder::scan("relation", provider_as_source(Arc::new(table)), None)?
        .filter(column(name).eq(lit(value)))?
        .sort(stored_order(data))?
        .project(columns.iter().map(|name| column(name)))?
        .build()
}

/// At most one row: a present value of a column.
pub(in crate::engine) fn plan_example(
    relation: &Relation,
    data: &RelationData,
    position: usize,
) -> Result<LogicalPlan> {
    let present = Predicate { column: position, test: Test::IsNotNull, bare_numbers: Vec::new() };
    filtered(relation, data, &[present])?
        .project(vec![column(&relation.columns[position].name)])?
        .limit(0, Some(1))?
        .build()
}

/// The distinct values of a column whose form without leading zeros is one of these.
pub(in crate::engine) fn plan_values(
    relation: &Relation,
    data: &RelationData,
    position: usize,
    zero_stripped: Vec<String>,
) -> Result<LogicalPlan> {
    // Each form has a few spellings at most in data anybody would keep; this only bounds the memory of odd data.
    const MOST_VALUES: usize = 10_000;
    let test = Test::ZeroStripped(zero_stripped);
    filtered(relation, data, &[Predicate { column: position, test, bare_numbers: Vec::new() }])?
        .project(vec![column(&relation.columns[position].name)])?
        .aggregate(vec![column(&relation.columns[position].name)], Vec::<Expr>::new())?
        .limit(0, Some(MOST_VALUES))?
        .build()
}

/// What need not be computed from the rows at hand.
#[derive(Debug, Clone, Default)]
pub(in crate::engine) struct Known<'a> {
    /// Whether the rows before the offset have been left out.
    pub(in crate::engine) skipped: bool,
    /// Results of metrics by their place; missing ones are computed.
    pub(in crate::engine) counts: &'a [Option<u64>],
    /// What every row of the answer passes besides the filters, as [`TopRows::threshold`](super::TopRows::threshold) found it.
    pub(in crate::engine) threshold: Option<Expr>,
}

/// The plan of a query over the rows at hand.
pub(in crate::engine) fn plan_query(
    query: &CheckedQuery<'_>,
    data: &RelationData,
    known: Known<'_>,
) -> Result<PlannedQuery> {
    match &query.shape {
        QueryShape::Rows { columns, order } => plan_rows(query, data, columns, order, known),
        QueryShape::Aggregate { groups, metrics, having, order } => {
            plan_aggregate(query, data, groups, metrics, having, order, known.counts)
        }
    }
}

fn plan_rows(
    query: &CheckedQuery<'_>,
    data: &RelationData,
    columns: &[usize],
    order: &[OrderTerm],
    known: Known<'_>,
) -> Result<PlannedQuery> {
    let relation = query.relation;
    let skip = if known.skipped { 0 } else { usize::try_from(query.offset).unwrap_or(usize::MAX) };
    let fetch = usize::try_from(query.limit).unwrap_or(usize::MAX).saturating_add(1);
    let (projection, outputs) = column_outputs(relation, columns, "c");
    let order = completed_order(relation, data, order);
    // In the order the files have there is nothing to sort, so no top-k either.
    let in_order = is_stored_order(&order, data);
    let row_filters = match !query.predicates.is_empty() && in_order {
        true => RowFilters::On,
        false => RowFilters::Off,
    };
    let mut rows = scan(relation, data, &query.predicates, row_filters, in_order)?;
    if let Some(threshold) = known.threshold {
        rows = rows.filter(threshold)?;
    }
    let plan = rows.sort(order)?.limit(skip, Some(fetch))?.project(projection)?.build()?;
    Ok(PlannedQuery { plan, outputs, row_filters })
}

/// Whether rows come in this order from the files.
fn is_stored_order(order: &[Sort], data: &RelationData) -> bool {
    order.len() <= data.sort_key.len()
        && order
            .iter()
            .zip(&data.sort_key)
            .all(|(term, stored)| term.asc && !term.nulls_first && term.expr == column(stored))
}

/// Columns under positional aliases, so that no name can collide.
pub(super) fn column_outputs(
    relation: &Relation,
    columns: &[usize],
    prefix: &str,
) -> (Vec<Expr>, Vec<Output>) {
    columns
        .iter()
        .map(|position| {
            let declared = &relation.columns[*position];
            let alias = format!("{prefix}{position}");
            let output = Output {
                name: declared.name.clone(),
                alias: alias.clone(),
                display: Display::Column(declared.column_type.clone()),
            };
            (column(&declared.name).alias(alias), output)
        })
        .unzip()
}

/// The order asked for, completed so that it is total: by the primary key, else by every orderable column. Where that
/// may leave different rows equal (there is no key, or it doesn't tell the rows apart), every column as it is stored
/// follows, so that only identical rows are left and pages never overlap.
pub(super) fn completed_order(relation: &Relation, data: &RelationData, order: &[OrderTerm]) -> Vec<Sort> {
    let by_key: Vec<usize> =
        relation.primary_key.iter().filter_map(|name| relation.column(name).map(|(p, _)| p)).collect();
    let is_orderable = |position: &usize| {
        let declared = &relation.columns[*position];
        declared.column_type.is_orderable() && !data.inexact.contains(&declared.name)
    };
    // Rows sorted by the key alone were found to differ in it.
    let is_unique = !by_key.is_empty() && data.sort_key == relation.primary_key;
    let mut completion = by_key;
    if !is_unique {
        completion.extend((0..relation.columns.len()).filter(is_orderable));
    }
    let mut terms: Vec<OrderTerm> = Vec::with_capacity(order.len() + completion.len());
    let completing =
        completion.into_iter().map(|column| OrderTerm { column, direction: Direction::Ascending });
    for term in order.iter().copied().chain(completing) {
        // What comes after a column's first term has nothing left to decide.
        if terms.iter().all(|earlier| earlier.column != term.column) {
            terms.push(term);
        }
    }
    let keyed = terms.into_iter().map(|term| {
        let declared = &relation.columns[term.column];
        let expression = key(column(&declared.name), &declared.column_type);
        expression.sort(term.direction == Direction::Ascending, false)
    });
    let as_stored = relation.columns.iter().enumerate().filter(|(position, declared)| {
        !is_unique && (!is_orderable(position) || has_key_of_its_own(&declared.column_type))
    });
    keyed.chain(as_stored.map(|(_, declared)| column(&declared.name).sort(true, false))).collect()
}

fn plan_aggregate(
    query: &CheckedQuery<'_>,
    data: &RelationData,
    groups: &[usize],
    metrics: &[Metric],
    conditions: &[Having],
    order: &[AggregateOrder],
    counts: &[Option<u64>],
) -> Result<PlannedQuery> {
    let relation = query.relation;
    let planned = metrics
        .iter()
        .enumerate()
        .map(|(index, metric)| {
            plan_metric(relation, |position| stored_type(relation, data, position), index, metric)
        })
        .collect::<Result<Vec<_>>>()?;
    let group_expressions: Vec<Expr> = groups
        .iter()
        .enumerate()
        .map(|(index, position)| {
            let declared = &relation.columns[*position];
            key(column(&declared.name), &declared.column_type).alias(format!("g{index}"))
        })
        .collect();
    let mut aggregates: Vec<Expr> = planned.iter().flat_map(|metric| metric.aggregates.clone()).collect();
    let mut projection: Vec<Expr> = (0..groups.len()).map(|index| column(&format!("g{index}"))).collect();
    for (index, metric) in planned.iter().enumerate() {
        let known = counts.get(index).copied().flatten().and_then(|count| i64::try_from(count).ok());
        let output = known.map_or_else(|| metric.output.clone(), lit);
        projection.push(output.alias(format!("o{index}")));
        if let MetricDisplay::Average { sum, count, .. } = &metric.display {
            projection.extend([column(sum), column(count)]);
        }
    }
    if groups.is_empty() && !query.predicates.is_empty() {
        aggregates.push(count(lit(1_i64)).alias(MATCHED));
        projection.push(column(MATCHED));
    }
    let mut builder = filtered(relation, data, &query.predicates)?
        .aggregate(group_expressions, aggregates)?
        .project(projection)?;
    if groups.is_empty() && !conditions.is_empty() {
        // DataFusion moves a condition that comes to a constant (two that contradict each other, a value no count can
        // have) below the aggregate, where it leaves out rows instead of the aggregate's one row. A limit stops it.
        builder = builder.limit(0, Some(1))?;
    }
    let alias = |output: OutputColumn| match output {
        OutputColumn::Group(index) => format!("g{index}"),
        OutputColumn::Metric(index) => format!("o{index}"),
    };
    for condition in conditions {
        let name = alias(condition.output);
        let stored = builder.schema().field_with_unqualified_name(&name)?.data_type().clone();
        let shown = match condition.output {
            OutputColumn::Group(index) => Some(groups[index]),
            OutputColumn::Metric(index) => metrics[index].column,
        };
        let length = shown.and_then(|position| match relation.columns[position].column_type {
            ColumnType::Character { length } => length,
            _ => None,
        });
        builder = builder.filter(having(column(&name), &stored, length, &condition.test))?;
    }
    if !groups.is_empty() {
        let remaining = (0..groups.len())
            .map(OutputColumn::Group)
            .filter(|group| order.iter().all(|term| term.output != *group))
            .map(|output| AggregateOrder { output, direction: Direction::Ascending });
        let sort: Vec<Sort> = order
            .iter()
            .copied()
            .chain(remaining)
            .map(|term| column(&alias(term.output)).sort(term.direction == Direction::Ascending, false))
            .collect();
        // One more than asked shows whether anything was left out.
        let fetch = usize::try_from(query.limit).unwrap_or(usize::MAX).saturating_add(1);
        builder = builder.sort(sort)?.limit(0, Some(fetch))?;
    }
    let outputs = groups
        .iter()
        .enumerate()
        .map(|(index, position)| Output {
            name: relation.columns[*position].name.clone(),
            alias: format!("g{index}"),
            display: Display::Column(relation.columns[*position].column_type.clone()),
        })
        .chain(metrics.iter().zip(&planned).enumerate().map(|(index, (metric, planned))| Output {
            name: metric.output.clone(),
            alias: format!("o{index}"),
            display: Display::Metric(planned.display.clone()),
        }))
        .collect();
    Ok(PlannedQuery { plan: builder.build()?, outputs, row_filters: RowFilters::Off })
}
