//! Checking a `benthic_query` request.

use super::Predicate;
use super::columns::{check_length, check_size, malformed, resolve_column, resolve_columns, unknown_columns};
use super::filters::{check_filters, sql_pattern};
use super::source::resolve_source;
use crate::catalog::{Catalog, ColumnType, Relation};
use crate::config::Limits;
use crate::engine::parse::{
    Comparison, Direction, FUNCTIONS, Function, HAVING_OPERATORS, HavingTest, MetricExpression, parse_having,
    parse_metric, parse_order,
};
use crate::engine::refusal::{Refusal, RefusalCode};
use crate::engine::request::{QueryArguments, limit_of};
use crate::engine::value::{Literal, RawValue, type_value};

/// A query that may be answered, as far as the catalogue decides.
#[derive(Debug, Clone)]
pub struct CheckedQuery<'a> {
    /// The relation.
    pub relation: &'a Relation,
    /// Filters, all of which must hold.
    pub predicates: Vec<Predicate>,
    /// Rows or an aggregate.
    pub shape: QueryShape,
    /// Rows to return.
    pub limit: u64,
    /// Rows to skip.
    pub offset: u64,
    /// What the checks want said beside the answer.
    pub warnings: Vec<String>,
}

/// What is asked of the matching rows.
#[derive(Debug, Clone)]
pub enum QueryShape {
    /// The rows themselves.
    Rows {
        /// Columns to return, by position.
        columns: Vec<usize>,
        /// Order as asked; completed when planned.
        order: Vec<OrderTerm>,
    },
    /// One row per group.
    Aggregate {
        /// Group columns, by position; empty for one row in all.
        groups: Vec<usize>,
        /// Metrics in the order asked.
        metrics: Vec<Metric>,
        /// Conditions on the output.
        having: Vec<Having>,
        /// Order as asked; completed by the group columns.
        order: Vec<AggregateOrder>,
    },
}

/// Order by a relation's column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderTerm {
    /// Column position.
    pub column: usize,
    /// Direction.
    pub direction: Direction,
}

/// A column of an aggregate's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputColumn {
    /// The n-th group column.
    Group(usize),
    /// The n-th metric.
    Metric(usize),
}

/// Order by an output column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AggregateOrder {
    /// The output column.
    pub output: OutputColumn,
    /// Direction.
    pub direction: Direction,
}

/// One metric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    /// Output column.
    pub output: String,
    /// Function.
    pub function: Function,
    /// Column position; `None` counts rows.
    pub column: Option<usize>,
}

/// One condition on the output.
#[derive(Debug, Clone, PartialEq)]
pub struct Having {
    /// The output column.
    pub output: OutputColumn,
    /// The test.
    pub test: HavingCheck,
}

/// A typed having test.
#[derive(Debug, Clone, PartialEq)]
pub enum HavingCheck {
    /// Comparison with one value.
    Compare(Comparison, Literal),
    /// Membership.
    In(Vec<Literal>),
    /// Text pattern.
    Like {
        /// The pattern as SQL has it.
        pattern: String,
        /// Whether case is ignored.
        ignore_case: bool,
    },
}

impl CheckedQuery<'_> {
    /// Whether rows are asked for, rather than an aggregate of them.
    pub fn is_rows(&self) -> bool {
        matches!(self.shape, QueryShape::Rows { .. })
    }

    /// Whether the answer is one row whatever the source's size: only count, min and max, and no groups.
    pub fn is_one_row(&self) -> bool {
        match &self.shape {
            QueryShape::Rows { .. } => false,
            QueryShape::Aggregate { groups, metrics, .. } => {
                groups.is_empty()
                    && metrics.iter().all(|m| !matches!(m.function, Function::Sum | Function::Avg))
            }
        }
    }

    /// Whether the answer is only how many rows pass.
    pub fn counts_rows_only(&self) -> bool {
        match &self.shape {
            QueryShape::Rows { .. } => false,
            QueryShape::Aggregate { groups, metrics, having, .. } => {
                groups.is_empty() && having.is_empty() && metrics.iter().all(|metric| metric.column.is_none())
            }
        }
    }
}

/// Resolves a query against the catalogue.
pub fn check_query<'a>(
    catalog: &'a Catalog,
    arguments: &QueryArguments,
    limits: &Limits,
) -> Result<CheckedQuery<'a>, Refusal> {
    check_length(limits, "source", &arguments.source)?;
    check_length(limits, "question", arguments.question.as_deref().unwrap_or(""))?;
    let relation = resolve_source(catalog, &arguments.source, "source")?;
    check_size(limits, "select", &arguments.select, limits.max_columns)?;
    check_size(limits, "group_by", &arguments.group_by, limits.max_expressions)?;
    check_size(limits, "metrics", &arguments.metrics, limits.max_expressions)?;
    check_size(limits, "having", &arguments.having, limits.max_expressions)?;
    check_size(limits, "order", &arguments.order, limits.max_orders)?;
    let predicates = check_filters(relation, &arguments.filters, "where", limits)?;
    let limit = limit_of(arguments.limit, limits.default_query_limit, limits.max_rows)?;
    let offset = u64::try_from(arguments.offset.unwrap_or(0)).map_err(|_| {
        Refusal::new(RefusalCode::BadArgument, "`offset` is negative.".to_owned())
            .fact("argument", "offset")
            .fact("minimum", 0)
            .next("offset=0 or more")
    })?;
    let mut warnings = Vec::new();
    let shape = if arguments.metrics.is_empty() {
        check_rows(relation, arguments, &predicates)?
    } else {
        if offset > 0 {
            return Err(Refusal::new(RefusalCode::OffsetOnAggregate, "`offset` doesn't go with metrics.")
                .fact("offset", offset)
                .next("drop `offset`; order and limit decide which groups are returned"));
        }
        check_aggregate(relation, arguments, &mut warnings)?
    };
    Ok(CheckedQuery { relation, predicates, shape, limit, offset, warnings })
}

fn check_rows(
    relation: &Relation,
    arguments: &QueryArguments,
    predicates: &[Predicate],
) -> Result<QueryShape, Refusal> {
    if let Some(group) = arguments.group_by.first() {
        resolve_columns(relation, &arguments.group_by, "group_by")?;
        return Err(Refusal::new(RefusalCode::BadMetric, "`group_by` needs at least one metric.")
            .fact("expression", group.as_str())
            .fact("functions", FUNCTIONS.to_vec())
            .next(format!("add metrics=[\"n=count:*\"] to count rows per `{group}`")));
    }
    if let Some(having) = arguments.having.first() {
        return Err(Refusal::new(
            RefusalCode::BadHaving,
            "`having` needs metrics; rows are filtered by `where`.",
        )
        .fact("expression", having.as_str())
        .fact("operators", HAVING_OPERATORS.to_vec())
        .next("move the condition to `where`, or add metrics"));
    }
    let mut columns = resolve_columns(relation, &arguments.select, "select")?;
    for predicate in predicates {
        if !columns.contains(&predicate.column) {
            columns.push(predicate.column);
        }
    }
    if columns.is_empty() {
        columns.extend(0..relation.columns.len().min(3));
    }
    let order = arguments
        .order
        .iter()
        .map(|text| {
            let term = parse_order(text, |name| relation.column(name).is_some())
                .map_err(|problem| malformed(RefusalCode::BadOrder, text, problem))?;
            let column = resolve_column(relation, &term.name, "order")?;
            require_orderable(relation, column, "order")?;
            Ok(OrderTerm { column, direction: term.direction })
        })
        .collect::<Result<_, Refusal>>()?;
    Ok(QueryShape::Rows { columns, order })
}

fn check_aggregate(
    relation: &Relation,
    arguments: &QueryArguments,
    warnings: &mut Vec<String>,
) -> Result<QueryShape, Refusal> {
    let parsed = arguments
        .metrics
        .iter()
        .map(|text| parse_metric(text).map_err(|problem| malformed(RefusalCode::BadMetric, text, problem)))
        .collect::<Result<Vec<MetricExpression>, _>>()?;
    let names: Vec<String> = parsed.iter().filter_map(|metric| metric.column.clone()).collect();
    resolve_columns(relation, &names, "metrics")?;
    let groups = resolve_columns(relation, &arguments.group_by, "group_by")?;
    for group in &groups {
        require_orderable(relation, *group, "group_by")?;
    }
    let mut metrics: Vec<Metric> = Vec::with_capacity(parsed.len());
    for expression in parsed {
        let taken = metrics.iter().any(|metric| metric.output == expression.output)
            || groups.iter().any(|group| relation.columns[*group].name == expression.output);
        if taken {
            return Err(Refusal::new(
                RefusalCode::BadMetric,
                format!("two output columns are named `{}`.", expression.output),
            )
            .fact("expression", expression.output.as_str())
            .fact("functions", FUNCTIONS.to_vec())
            .next("give each metric its own output name"));
        }
        metrics.push(check_metric(relation, expression)?);
    }
    let resolve = |name: &str| -> Option<OutputColumn> {
        metrics.iter().position(|metric| metric.output == name).map(OutputColumn::Metric).or_else(|| {
            groups.iter().position(|g| relation.columns[*g].name == name).map(OutputColumn::Group)
        })
    };
    let having = arguments
        .having
        .iter()
        .map(|text| check_having(relation, text, &groups, &metrics, &resolve))
        .collect::<Result<_, _>>()?;
    let order = arguments
        .order
        .iter()
        .map(|text| {
            let term = parse_order(text, |name| resolve(name).is_some())
                .map_err(|problem| malformed(RefusalCode::BadOrder, text, problem))?;
            let output = resolve(&term.name).ok_or_else(|| {
                not_an_output(relation, RefusalCode::BadOrder, "order", text, &term.name, &groups, &metrics)
            })?;
            Ok(AggregateOrder { output, direction: term.direction })
        })
        .collect::<Result<_, Refusal>>()?;
    let unused: Vec<&str> =
        arguments.select.iter().map(|name| name.trim()).filter(|name| resolve(name).is_none()).collect();
    let unknown: Vec<&str> = unused.iter().copied().filter(|name| relation.column(name).is_none()).collect();
    if !unknown.is_empty() {
        return Err(unknown_columns(relation, &unknown, "select"));
    }
    if !unused.is_empty() {
        warnings.push(format!(
            "`select` names {}, which an aggregate doesn't return; it returns the group columns and the metrics",
            unused.join(", ")
        ));
    }
    Ok(QueryShape::Aggregate { groups, metrics, having, order })
}

fn check_metric(relation: &Relation, expression: MetricExpression) -> Result<Metric, Refusal> {
    let column =
        expression.column.as_deref().map(|name| resolve_column(relation, name, "metrics")).transpose()?;
    if let Some(position) = column {
        let declared = &relation.columns[position];
        match expression.function {
            Function::Sum | Function::Avg if !declared.column_type.is_numeric() => {
                let numeric: Vec<&str> = relation
                    .columns
                    .iter()
                    .filter(|column| column.column_type.is_numeric())
                    .map(|column| column.name.as_str())
                    .take(8)
                    .collect();
                let step = match numeric.first() {
                    Some(first) => format!(
                        "{}={}:{first}, or {0}=count:{}",
                        expression.output,
                        expression.function.as_str(),
                        declared.name
                    ),
                    None => format!("{}=count:{}", expression.output, declared.name),
                };
                return Err(Refusal::new(
                    RefusalCode::NumericRequired,
                    format!(
                        "{} needs a number; `{}` is {}.",
                        expression.function.as_str(),
                        declared.name,
                        declared.column_type.label()
                    ),
                )
                .fact("column", declared.name.as_str())
                .fact("type", declared.column_type.label())
                .fact("numeric_columns", numeric)
                .next(step));
            }
            Function::Min | Function::Max => require_orderable(relation, position, "metrics")?,
            _ => {}
        }
    }
    Ok(Metric { output: expression.output, function: expression.function, column })
}

fn check_having(
    relation: &Relation,
    text: &str,
    groups: &[usize],
    metrics: &[Metric],
    resolve: &impl Fn(&str) -> Option<OutputColumn>,
) -> Result<Having, Refusal> {
    let parsed = parse_having(text).map_err(|problem| malformed(RefusalCode::BadHaving, text, problem))?;
    let output = resolve(&parsed.output).ok_or_else(|| {
        not_an_output(relation, RefusalCode::BadHaving, "having", text, &parsed.output, groups, metrics)
    })?;
    let column_type = output_type(relation, groups, metrics, output);
    let typed = |value: &RawValue| -> Result<Literal, Refusal> {
        type_value(&column_type, value).map_err(|problem| {
            Refusal::new(
                RefusalCode::BadValue,
                format!(
                    "`{}` for `{}` ({}): {}.",
                    value.text,
                    parsed.output,
                    column_type.label(),
                    problem.why
                ),
            )
            .fact("expression", text)
            .fact("column", parsed.output.as_str())
            .fact("type", column_type.label())
            .next(format!("write {}", problem.accepted))
        })
    };
    let numeric_required = || {
        Refusal::new(
            RefusalCode::NumericRequired,
            format!("`{}` is {}; having orders numbers only.", parsed.output, column_type.label()),
        )
        .fact("expression", text)
        .fact("type", column_type.label())
        .next(format!("use `{}=value`, or filter rows with `where`", parsed.output))
    };
    let test = match &parsed.test {
        HavingTest::Compare(comparison, _) if comparison.is_ordering() && !column_type.is_numeric() => {
            return Err(numeric_required());
        }
        HavingTest::Compare(comparison, value) => HavingCheck::Compare(*comparison, typed(value)?),
        HavingTest::In(values) if values.is_empty() => {
            return Err(Refusal::new(RefusalCode::BadValue, "an empty list matches nothing.")
                .fact("expression", text)
                .fact("column", parsed.output.as_str())
                .fact("type", column_type.label())
                .next(format!("{}:in:[1,2]", parsed.output)));
        }
        HavingTest::In(values) => HavingCheck::In(values.iter().map(typed).collect::<Result<_, _>>()?),
        HavingTest::Like { pattern, ignore_case } => {
            if !column_type.is_text() {
                return Err(Refusal::new(
                    RefusalCode::BadHaving,
                    format!("`like` needs text; `{}` is {}.", parsed.output, column_type.label()),
                )
                .fact("expression", text)
                .fact("operators", HAVING_OPERATORS.to_vec())
                .next(format!("write `{0}=value` or `{0}!=value`", parsed.output)));
            }
            let pattern = sql_pattern(pattern).ok_or_else(|| {
                Refusal::new(RefusalCode::BadValue, "the pattern ends in a lone backslash.")
                    .fact("expression", text)
                    .fact("column", parsed.output.as_str())
                    .fact("type", column_type.label())
                    .next("write `\\\\` for a backslash")
            })?;
            HavingCheck::Like { pattern, ignore_case: *ignore_case }
        }
    };
    Ok(Having { output, test })
}

/// The type a having value is read as. Whole-number outputs compare with any decimal.
fn output_type(
    relation: &Relation,
    groups: &[usize],
    metrics: &[Metric],
    output: OutputColumn,
) -> ColumnType {
    let widened = |column_type: &ColumnType| match column_type {
        ColumnType::Integer | ColumnType::BigInt => ColumnType::Numeric { declared: None },
        other => other.clone(),
    };
    match output {
        OutputColumn::Group(n) => widened(&relation.columns[groups[n]].column_type),
        OutputColumn::Metric(n) => match (metrics[n].function, metrics[n].column) {
            (Function::Min | Function::Max, Some(column)) => widened(&relation.columns[column].column_type),
            (Function::Sum, Some(column)) => match &relation.columns[column].column_type {
                float @ (ColumnType::Double | ColumnType::Real) => float.clone(),
                _ => ColumnType::Numeric { declared: None },
            },
            (Function::Avg, Some(column)) => match &relation.columns[column].column_type {
                ColumnType::Double | ColumnType::Real => ColumnType::Double,
                _ => ColumnType::Numeric { declared: None },
            },
            _ => ColumnType::Numeric { declared: None },
        },
    }
}

fn not_an_output(
    relation: &Relation,
    code: RefusalCode,
    argument: &str,
    text: &str,
    name: &str,
    groups: &[usize],
    metrics: &[Metric],
) -> Refusal {
    if relation.column(name).is_none()
        && !metrics.iter().any(|metric| metric.output.eq_ignore_ascii_case(name))
    {
        return unknown_columns(relation, &[name], argument);
    }
    let outputs: Vec<String> = groups
        .iter()
        .map(|group| relation.columns[*group].name.clone())
        .chain(metrics.iter().map(|metric| metric.output.clone()))
        .collect();
    let refusal = Refusal::new(
        code,
        format!("`{name}` is not a column of the aggregate; it returns {}.", outputs.join(", ")),
    )
    .fact("expression", text)
    .fact("outputs", outputs.clone());
    let refusal = match code {
        RefusalCode::BadHaving => refusal.fact("operators", HAVING_OPERATORS.to_vec()),
        _ => refusal.fact("directions", ["asc", "desc"].to_vec()),
    };
    refusal.next(match outputs.first() {
        Some(first) => format!("use `{first}`, or add `{name}` to group_by"),
        None => format!("add `{name}` to group_by"),
    })
}

/// Order, grouping and min/max need a type whose order the mirror reproduces exactly.
fn require_orderable(relation: &Relation, position: usize, argument: &str) -> Result<(), Refusal> {
    let column = &relation.columns[position];
    if column.column_type.is_orderable() {
        return Ok(());
    }
    Err(Refusal::new(
        RefusalCode::NotExact,
        format!(
            "`{}` is {}, which can't be ordered or grouped exactly.",
            column.name,
            column.column_type.label()
        ),
    )
    .fact("column", column.name.as_str())
    .fact("type", column.column_type.label())
    .fact("argument", argument)
    .next(format!("n=count:{0}, or a null test in `where`: `{0}=not.is.null`", column.name)))
}
