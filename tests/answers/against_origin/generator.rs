//! Random valid requests, each written in our form and in PostgREST's.

use benthic_mirror::catalog::ColumnType;
use benthic_mirror::demo::{DemoColumn, DemoRelation};
use serde_json::{Value, json};

use super::values::{Chooser, literal, pattern};

/// One filter in both forms.
#[derive(Debug, Clone)]
pub struct Filter {
    pub column: usize,
    pub ours: String,
    /// Name and value of the query parameter.
    pub theirs: (String, String),
}

/// An order term: column position and whether descending.
pub type Order = (usize, bool);

/// A request for rows.
#[derive(Debug, Clone)]
pub struct RowsRequest {
    pub filters: Vec<Filter>,
    pub select: Vec<usize>,
    pub order: Vec<Order>,
    pub limit: usize,
    pub offset: usize,
}

/// One metric: output, function, column (`None` counts rows).
#[derive(Debug, Clone)]
pub struct Metric {
    pub output: String,
    pub function: &'static str,
    pub column: Option<usize>,
}

/// A request for an aggregate; having and order follow once the groups are known.
#[derive(Debug, Clone)]
pub struct AggregateRequest {
    pub filters: Vec<Filter>,
    pub groups: Vec<usize>,
    pub metrics: Vec<Metric>,
    pub limit: usize,
}

/// Whether values of a type can be compared, as the specification's list of types says.
pub fn comparable(column: &DemoColumn) -> bool {
    !matches!(
        column.column_type,
        ColumnType::Json
            | ColumnType::Jsonb
            | ColumnType::Binary
            | ColumnType::Array(_)
            | ColumnType::Geometry { .. }
            | ColumnType::Opaque
    )
}

pub fn is_text(column: &DemoColumn) -> bool {
    matches!(column.column_type, ColumnType::Text | ColumnType::Character { .. })
}

pub fn is_numeric(column: &DemoColumn) -> bool {
    matches!(column.column_type, ColumnType::Integer | ColumnType::BigInt | ColumnType::Numeric { .. })
        || is_float(column)
}

pub fn is_float(column: &DemoColumn) -> bool {
    matches!(column.column_type, ColumnType::Double | ColumnType::Real)
}

/// The order that makes paging stable: the primary key, else every orderable column in signed order.
pub fn completed(relation: &DemoRelation, order: &[Order]) -> Vec<Order> {
    let completion: Vec<usize> = match relation.primary_key.as_slice() {
        [] => (0..relation.columns.len()).filter(|at| comparable(&relation.columns[*at])).collect(),
        key => key.iter().map(|name| relation.column_index(name).expect("key column")).collect(),
    };
    let rest = completion.into_iter().filter(|at| order.iter().all(|(column, _)| column != at));
    order.iter().copied().chain(rest.map(|at| (at, false))).collect()
}

/// PostgREST's `order` parameter, nulls last both ways.
pub fn order_parameter(relation: &DemoRelation, order: &[Order]) -> (String, String) {
    let terms: Vec<String> = order
        .iter()
        .map(|(column, descending)| {
            let direction = if *descending { "desc" } else { "asc" };
            format!("{}.{direction}.nullslast", relation.columns[*column].name)
        })
        .collect();
    ("order".to_owned(), terms.join(","))
}

pub fn select_parameter(relation: &DemoRelation, columns: &[usize]) -> (String, String) {
    let names: Vec<&str> = columns.iter().map(|at| relation.columns[*at].name.as_str()).collect();
    ("select".to_owned(), names.join(","))
}

impl RowsRequest {
    pub fn random(relation: &DemoRelation, chooser: &mut Chooser) -> Self {
        let columns = relation.columns.len();
        let select = match chooser.below(10) {
            0 => Vec::new(),
            1 => (0..columns).collect(),
            _ => distinct(1 + chooser.below(6), columns, chooser),
        };
        let orderable = positions(relation, comparable);
        let order = (0..chooser.below(4)).map(|_| (chooser.pick(&orderable), chooser.chance(50))).collect();
        let limit = match chooser.below(12) {
            0 => 1_000,
            1 => 1,
            _ => 1 + chooser.below(60),
        };
        let offset = match chooser.below(4) {
            0 => chooser.below(relation.rows.len() + 20),
            1 => chooser.below(60),
            _ => 0,
        };
        Self { filters: filters(relation, chooser), select, order, limit, offset }
    }

    /// Arguments of `benthic_query`.
    pub fn ours(&self, relation: &DemoRelation, chooser: &mut Chooser) -> Value {
        let order: Vec<String> = self
            .order
            .iter()
            .map(|(column, descending)| {
                let name = &relation.columns[*column].name;
                match (descending, chooser.below(3)) {
                    (true, 0) => format!("{name}.desc"),
                    (true, _) => format!("{name}:desc"),
                    (false, 0) => name.clone(),
                    (false, _) => format!("{name}:asc"),
                }
            })
            .collect();
        json!({
            "source": relation.source(),
            "select": self.select.iter().map(|at| relation.columns[*at].name.as_str()).collect::<Vec<_>>(),
            "where": self.filters.iter().map(|filter| filter.ours.as_str()).collect::<Vec<_>>(),
            "order": order,
            "limit": self.limit,
            "offset": self.offset,
        })
    }

    /// Columns returned: `select`, then those of filters, else the first three.
    pub fn columns(&self, relation: &DemoRelation) -> Vec<usize> {
        let mut columns = self.select.clone();
        for filter in &self.filters {
            if !columns.contains(&filter.column) {
                columns.push(filter.column);
            }
        }
        if columns.is_empty() { (0..relation.columns.len().min(3)).collect() } else { columns }
    }
}

impl AggregateRequest {
    pub fn random(relation: &DemoRelation, chooser: &mut Chooser) -> Self {
        let groupable = positions(relation, comparable);
        let numeric = positions(relation, is_numeric);
        let all = positions(relation, |_| true);
        let groups = match chooser.below(3) {
            0 => Vec::new(),
            n => distinct(n, groupable.len(), chooser).into_iter().map(|at| groupable[at]).collect(),
        };
        let metrics = (0..1 + chooser.below(4))
            .map(|index| {
                let function = match chooser.below(6) {
                    0 => "count",
                    1 if !numeric.is_empty() => "avg",
                    2 | 3 if !numeric.is_empty() => "sum",
                    4 => "min",
                    _ => "max",
                };
                let column = match function {
                    "count" if chooser.chance(60) => None,
                    "count" => Some(chooser.pick(&all)),
                    "sum" | "avg" => Some(chooser.pick(&numeric)),
                    _ => Some(chooser.pick(&groupable)),
                };
                Metric { output: format!("out_{index}"), function, column }
            })
            .collect();
        let limit = if chooser.chance(30) { 1 + chooser.below(8) } else { 1_000 };
        Self { filters: filters(relation, chooser), groups, metrics, limit }
    }

    /// Arguments of `benthic_query`.
    pub fn ours(
        &self,
        relation: &DemoRelation,
        having: &[String],
        order: &[String],
        chooser: &mut Chooser,
    ) -> Value {
        let metrics: Vec<String> = self
            .metrics
            .iter()
            .map(|metric| {
                let column = metric.column.map_or("*", |at| relation.columns[at].name.as_str());
                let sign = chooser.pick(&["=", ":"]);
                format!("{}{sign}{}:{column}", metric.output, metric.function)
            })
            .collect();
        json!({
            "source": relation.source(),
            "where": self.filters.iter().map(|filter| filter.ours.as_str()).collect::<Vec<_>>(),
            "group_by": self.groups.iter().map(|at| relation.columns[*at].name.as_str()).collect::<Vec<_>>(),
            "metrics": metrics,
            "having": having,
            "order": order,
            "limit": self.limit,
        })
    }

    /// One row however wide the source, so never refused for its size.
    pub fn is_one_row(&self) -> bool {
        self.groups.is_empty() && self.metrics.iter().all(|metric| !matches!(metric.function, "sum" | "avg"))
    }
}

fn positions(relation: &DemoRelation, wanted: impl Fn(&DemoColumn) -> bool) -> Vec<usize> {
    (0..relation.columns.len()).filter(|at| wanted(&relation.columns[*at])).collect()
}

/// Distinct numbers below a bound.
fn distinct(count: usize, bound: usize, chooser: &mut Chooser) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    for _ in 0..count {
        let candidate = chooser.below(bound);
        if !found.contains(&candidate) {
            found.push(candidate);
        }
    }
    found
}

fn filters(relation: &DemoRelation, chooser: &mut Chooser) -> Vec<Filter> {
    (0..chooser.pick(&[0, 1, 1, 1, 2, 2, 3])).map(|_| filter(relation, chooser)).collect()
}

fn filter(relation: &DemoRelation, chooser: &mut Chooser) -> Filter {
    let column = chooser.below(relation.columns.len());
    let declared = &relation.columns[column];
    let name = &declared.name;
    let build = |ours: String, theirs: String| Filter {
        column,
        ours: format!("{name}{ours}"),
        theirs: (name.clone(), theirs),
    };
    if !comparable(declared) || chooser.chance(12) {
        let test = chooser.pick(&["is.null", "not.is.null"]);
        return build(format!("={test}"), test.to_owned());
    }
    if is_text(declared) && chooser.chance(30) {
        let operator = chooser.pick(&["like", "ilike"]);
        let pattern = pattern(relation, column, chooser);
        return build(format!("={operator}.{}", written(&pattern, chooser)), format!("{operator}.{pattern}"));
    }
    if chooser.chance(15) {
        let values: Vec<String> =
            (0..1 + chooser.below(4)).map(|_| literal(relation, column, chooser)).collect();
        let items: Vec<Value> = values.iter().map(|value| list_item(value, chooser)).collect();
        return build(format!("=in.{}", Value::Array(items)), in_list(&values));
    }
    let operator = chooser.pick(&["eq", "neq", "gt", "gte", "lt", "lte"]);
    let value = literal(relation, column, chooser);
    let written = written(&value, chooser);
    let symbol = match operator {
        "gt" => Some(">"),
        "gte" => Some(">="),
        "lt" => Some("<"),
        "lte" => Some("<="),
        _ => None,
    };
    let ours = match (symbol, chooser.below(6)) {
        (Some(symbol), 0) if !written.starts_with('=') => format!("{symbol}{written}"),
        (_, 1) => format!("={operator}:{written}"),
        (_, 2) => format!("={}.{written}", operator.to_uppercase()),
        _ => format!("={operator}.{written}"),
    };
    build(ours, format!("{operator}.{value}"))
}

/// A value as a caller writes it: bare where that keeps it, else a JSON string.
pub fn written(value: &str, chooser: &mut Chooser) -> String {
    let bare = !value.is_empty()
        && value.trim() == value
        && !value.starts_with('"')
        && !value.eq_ignore_ascii_case("null");
    if bare && chooser.chance(60) { value.to_owned() } else { Value::from(value).to_string() }
}

/// A list item: a JSON number where the text is one, at times; else a string.
fn list_item(value: &str, chooser: &mut Chooser) -> Value {
    match serde_json::from_str::<serde_json::Number>(value) {
        // Blanks around it would be lost.
        Ok(number) if chooser.chance(50) && number.to_string() == value => Value::Number(number),
        _ => Value::from(value),
    }
}

/// PostgREST's list: every item quoted; the empty text alone can't be listed there.
fn in_list(values: &[String]) -> String {
    if values.iter().all(|value| value.is_empty()) {
        return "eq.".to_owned();
    }
    let quoted: Vec<String> = values
        .iter()
        .map(|value| format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"")))
        .collect();
    format!("in.({})", quoted.join(","))
}
