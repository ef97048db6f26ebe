//! Random valid queries, each with the SQL that means the same.

use benthic_mirror::engine::{JoinArguments, QueryArguments};

use crate::dice::Dice;
use crate::filters::{Condition, all, conditions, like_pattern, literal, spelled, spelled_list, typed};
use crate::postgres::{identifier, quoted};
use crate::relations::{Col, Kind, Rel, World};

/// A request both sides are asked.
pub(crate) struct Request {
    pub(crate) ask: Ask,
    /// One JSON value: matching (or joined) rows, then the rows, each an array of output values.
    pub(crate) sql: String,
    /// Output columns in the order promised.
    pub(crate) outputs: Vec<Output>,
    pub(crate) limit: usize,
    pub(crate) offset: usize,
}

pub(crate) enum Ask {
    Query(QueryArguments),
    /// With its two relations.
    Join(JoinArguments, [&'static str; 2]),
}

/// One output column.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    pub(crate) name: String,
    /// Whether trailing zeros are left out (numeric without declared scale).
    pub(crate) scale_is_free: bool,
}

pub(crate) fn output(name: String, column: &Col) -> Output {
    let scale_is_free = matches!(column.kind, Kind::FreeNumeric(_)) || column.name == "decimals";
    Output { name, scale_is_free }
}

/// The n-th request of a seed.
pub(crate) fn request(world: &World, seed: u64, number: usize) -> Request {
    let mut dice = Dice::new(seed.wrapping_mul(1_000_003).wrapping_add(number as u64));
    if dice.percent(25) {
        return crate::joins::join(&mut dice, world);
    }
    let rel = &world.relations[[0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 5][dice.below(14)]];
    match dice.percent(50) {
        true => rows(&mut dice, rel),
        false => aggregate(&mut dice, rel),
    }
}

/// `limit` as sent, and as it counts.
pub(crate) fn limit(dice: &mut Dice) -> (Option<i64>, usize) {
    match dice.below(5) {
        0 => (None, 100),
        1 => (Some(1_000), 1_000),
        2 => (Some(1), 1),
        _ => {
            let limit = dice.between(1, 40);
            (Some(limit), limit as usize)
        }
    }
}

/// The terms of a relation's own order, after those given: key, or every orderable column; where that leaves ties, what
/// still tells rows apart.
pub(crate) fn completed(rel: &Rel, given: &[(String, bool)], prefix: &str) -> String {
    let mut terms: Vec<String> = Vec::new();
    let named = |name: &str| format!("{prefix}{}", identifier(name));
    let term = |column: &Col, ascending: bool| {
        let collation = if column.kind.is_text() { " collate \"C\"" } else { "" };
        format!("{}{collation} {} nulls last", named(column.name), if ascending { "asc" } else { "desc" })
    };
    for (name, ascending) in given {
        terms.push(term(rel.column(name), *ascending));
    }
    let given = |column: &Col| given.iter().any(|(name, _)| name == column.name);
    let keys: Vec<&Col> = rel.key.iter().map(|name| rel.column(name)).collect();
    let orderable: Vec<&Col> = rel.columns.iter().filter(|c| c.kind != Kind::Unordered).collect();
    let first = if keys.is_empty() { &orderable } else { &keys };
    terms.extend(first.iter().filter(|column| !given(column)).map(|column| term(column, true)));
    if !rel.key_is_unique {
        terms.extend(orderable.iter().map(|column| term(column, true)));
        for column in &rel.columns {
            let name = named(column.name);
            match column.kind {
                Kind::Unordered => terms.push(format!("{name}::text collate \"C\" nulls last")),
                // The two zeros are equal; the negative one comes first.
                Kind::Real | Kind::Double => terms.push(format!("({name}::text = '-0') desc nulls last")),
                _ => {}
            }
        }
    }
    terms.join(", ")
}

/// Order terms as sent, drawn from these names.
fn order(dice: &mut Dice, names: &[String]) -> (Vec<String>, Vec<(String, bool)>) {
    let chosen = if dice.percent(70) { dice.some(names, 3) } else { Vec::new() };
    chosen
        .into_iter()
        .map(|name| match dice.below(4) {
            0 => (name.clone(), (name, true)),
            1 => (format!("{name}:asc"), (name, true)),
            2 => (format!("{name}.DESC"), (name, false)),
            _ => (format!("{name}:desc"), (name, false)),
        })
        .unzip()
}

fn texts(conditions: &[Condition]) -> Vec<String> {
    conditions.iter().map(|condition| condition.text.clone()).collect()
}

/// The columns returned: those selected, then the filters'; with neither, the first three.
pub(crate) fn returned<'a>(rel: &'a Rel, selected: &[String], more: &[&str], default: bool) -> Vec<&'a Col> {
    let mut names: Vec<&str> = Vec::new();
    for name in selected.iter().map(String::as_str) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() && default {
        names.extend(rel.columns.iter().take(3).map(|column| column.name));
    }
    for name in more {
        if !names.contains(name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        names.extend(rel.columns.iter().take(3).map(|column| column.name));
    }
    names.into_iter().map(|name| rel.column(name)).collect()
}

fn rows(dice: &mut Dice, rel: &Rel) -> Request {
    let conditions = conditions(dice, rel, 60);
    let names: Vec<String> = rel.columns.iter().map(|column| column.name.to_owned()).collect();
    let select = if dice.percent(70) { dice.some(&names, 6) } else { Vec::new() };
    let orderable: Vec<String> =
        rel.columns.iter().filter(|c| c.kind != Kind::Unordered).map(|c| c.name.to_owned()).collect();
    let (order, terms) = order(dice, &orderable);
    let (sent_limit, limit) = limit(dice);
    let offset = if dice.percent(40) { dice.below(rel.rows.len() + 20) } else { 0 };
    let filtered: Vec<&str> = conditions.iter().map(|condition| condition.column).collect();
    let columns = returned(rel, &select, &filtered, false);
    let list: Vec<String> =
        columns.iter().enumerate().map(|(n, c)| format!("{} as c{n}", identifier(c.name))).collect();
    let aliases: Vec<String> = (0..columns.len()).map(|n| format!("x.c{n}")).collect();
    let (table, test) = (rel.name, all(&conditions));
    let sql = format!(
        "select json_build_array((select count(*) from {table} where {test}), (select coalesce(json_agg(json_build_array({})), '[]') from (select {} from {table} where {test} order by {} limit {limit} offset {offset}) x))",
        aliases.join(", "),
        list.join(", "),
        completed(rel, &terms, ""),
    );
    Request {
        ask: Ask::Query(QueryArguments {
            source: rel.source(),
            select,
            filters: texts(&conditions),
            order,
            limit: sent_limit,
            offset: (offset > 0 || dice.percent(10)).then_some(offset as i64),
            ..QueryArguments::default()
        }),
        sql,
        outputs: columns.iter().map(|column| output(column.name.to_owned(), column)).collect(),
        limit,
        offset,
    }
}

/// An output of an aggregate: its SQL, and what it can be compared with.
struct Computed {
    output: Output,
    sql: String,
    /// The type having reads its value as.
    kind: Kind,
    /// The column values to compare with come from.
    column: Option<Col>,
    /// Whether it orders as text.
    is_text: bool,
}

fn group(column: &Col) -> Computed {
    let name = identifier(column.name);
    // The two zeros are one group, shown as 0.
    let sql = match column.kind {
        Kind::Real => format!("({name} + 0::real)"),
        Kind::Double => format!("({name} + 0::float8)"),
        _ => name,
    };
    Computed {
        output: output(column.name.to_owned(), column),
        sql,
        kind: column.kind,
        column: Some(column.clone()),
        is_text: column.kind.is_text(),
    }
}

/// A metric; the functions a column's type has.
fn metric(dice: &mut Dice, rel: &Rel, index: usize) -> (String, Computed) {
    let name = format!("m{index}");
    let whole = |sql: String| Computed {
        output: Output { name: name.clone(), scale_is_free: false },
        sql,
        kind: Kind::Numeric,
        column: None,
        is_text: false,
    };
    if dice.percent(15) {
        let text = if dice.percent(50) { format!("{name}=count:*") } else { format!("{name}:COUNT:*") };
        return (text, whole("count(*)".to_owned()));
    }
    let column = dice.pick(&rel.columns).clone();
    let quoted_name = identifier(column.name);
    let functions: &[&str] = match column.kind {
        Kind::Unordered => &["count"],
        kind if kind.is_numeric() => &["count", "sum", "avg", "min", "max", "sum", "avg"],
        _ => &["count", "min", "max"],
    };
    let function = *dice.pick(functions);
    let text = format!("{name}={function}:{}", column.name);
    let computed = Computed {
        output: Output { name: name.clone(), scale_is_free: matches!(column.kind, Kind::FreeNumeric(_)) },
        sql: String::new(),
        kind: column.kind,
        column: Some(column.clone()),
        is_text: column.kind.is_text(),
    };
    let special = format!(
        "special_sum(bool_or({0} = 'NaN'), bool_or({0} = 'Infinity'), bool_or({0} = '-Infinity'))",
        quoted_name
    );
    let exact = format!("sum(exact({quoted_name}::float8))");
    let computed = match (function, column.kind) {
        ("count", _) => whole(format!("count({quoted_name})")),
        ("sum", Kind::Real) => {
            Computed { sql: format!("coalesce({special}::real, {exact}::real)"), ..computed }
        }
        ("sum", Kind::Double) => {
            Computed { sql: format!("coalesce({special}::float8, {exact}::float8)"), ..computed }
        }
        // Sixty digits more than the sum has, so that only the last step rounds.
        ("avg", Kind::Real | Kind::Double) => Computed {
            sql: format!(
                "coalesce({special}::float8, (round({exact}, scale({exact}) + 60) / count({quoted_name}))::float8)"
            ),
            kind: Kind::Double,
            ..computed
        },
        ("avg", Kind::FreeNumeric(scale)) => {
            Computed { sql: format!("avg(round({quoted_name}, {scale}))"), ..computed }
        }
        ("sum" | "avg", Kind::Integer) => {
            Computed { sql: format!("{function}({quoted_name}::numeric)"), kind: Kind::Numeric, ..computed }
        }
        ("sum" | "avg", _) => Computed { sql: format!("{function}({quoted_name})"), ..computed },
        // PostgreSQL has no min and max of these, but it orders them.
        (_, Kind::Uuid | Kind::Boolean) => Computed {
            sql: format!(
                "(array_agg({quoted_name} order by {quoted_name} {}) filter (where {quoted_name} is not null))[1]",
                if function == "min" { "asc" } else { "desc" }
            ),
            ..computed
        },
        (_, Kind::Real) => Computed { sql: format!("{function}({quoted_name} + 0::real)"), ..computed },
        (_, Kind::Double) => Computed { sql: format!("{function}({quoted_name} + 0::float8)"), ..computed },
        _ => Computed { sql: format!("{function}({quoted_name})"), ..computed },
    };
    (text, computed)
}

/// A condition on the n-th output: as sent, and over its alias.
fn having(dice: &mut Dice, rel: &Rel, n: usize, computed: &Computed) -> (String, String) {
    let name = &computed.output.name;
    // Whole numbers compare with any decimal.
    let kind = if computed.kind == Kind::Integer { Kind::Numeric } else { computed.kind };
    let value = |dice: &mut Dice| match &computed.column {
        Some(column) if dice.percent(70) => literal(dice, rel, column),
        Some(column) if !column.kind.is_numeric() => literal(dice, rel, column),
        _ if kind.is_float() => (*dice.pick(&["0", "1.5", "-3", "NaN", "0.1"])).to_owned(),
        _ => (*dice.pick(&["0", "1", "2", "3", "10", "2.5", "-1", "100", "0.3333333333333333"])).to_owned(),
    };
    let alias = format!("a.o{n}");
    if computed.is_text
        && dice.percent(40)
        && let Some(column) = &computed.column
    {
        let (pattern, ignore_case) = (like_pattern(dice, rel, column), dice.percent(50));
        let spelled = spelled(dice, &pattern.spelled);
        return match ignore_case {
            true => (
                format!("{name}:ilike:{spelled}"),
                format!("{alias} collate fold ilike {}", quoted(&pattern.sql)),
            ),
            false => (format!("{name}:like:{spelled}"), format!("{alias} like {}", quoted(&pattern.sql))),
        };
    }
    if dice.percent(20) {
        let values: Vec<String> = (0..=dice.below(3)).map(|_| value(dice)).collect();
        let list: Vec<String> = values.iter().map(|value| typed(value, kind)).collect();
        return (
            format!("{name}:in:{}", spelled_list(dice, kind, &values)),
            format!("{alias} in ({})", list.join(", ")),
        );
    }
    let (word, symbol, sql) = match kind.is_numeric() {
        true => *dice.pick(&[
            ("gte", ">=", ">="),
            ("gt", ">", ">"),
            ("lt", "<", "<"),
            ("lte", "<=", "<="),
            ("eq", "=", "="),
            ("neq", "!=", "<>"),
        ]),
        false => *dice.pick(&[("eq", "=", "="), ("neq", "!=", "<>")]),
    };
    let value = value(dice);
    let spelled = spelled(dice, &value);
    let text = match dice.percent(50) && !spelled.starts_with('=') {
        true => format!("{name}{symbol}{spelled}"),
        false => format!("{name}:{word}:{spelled}"),
    };
    (text, format!("{alias} {sql} {}", typed(&value, kind)))
}

fn aggregate(dice: &mut Dice, rel: &Rel) -> Request {
    let conditions = conditions(dice, rel, 45);
    let groupable: Vec<Col> = rel.columns.iter().filter(|c| c.kind != Kind::Unordered).cloned().collect();
    let groups: Vec<Col> = if dice.percent(75) { dice.some(&groupable, 3) } else { Vec::new() };
    let mut computed: Vec<Computed> = groups.iter().map(group).collect();
    let mut metrics = Vec::new();
    for index in 0..=dice.below(4) {
        let (text, metric) = metric(dice, rel, index);
        metrics.push(text);
        computed.push(metric);
    }
    let mut having_texts = Vec::new();
    let mut having_sql = vec!["true".to_owned()];
    while having_texts.len() < 2 && dice.percent(30) {
        let n = dice.below(computed.len());
        let (text, sql) = having(dice, rel, n, &computed[n]);
        having_texts.push(text);
        having_sql.push(format!("({sql})"));
    }
    let names: Vec<String> = computed.iter().map(|c| c.output.name.clone()).collect();
    let (order, given) = order(dice, &names);
    let (sent_limit, limit) = limit(dice);
    let mut terms: Vec<String> = Vec::new();
    let mut ordered: Vec<usize> = Vec::new();
    let completion = (0..groups.len()).map(|n| (names[n].clone(), true));
    for (name, ascending) in given.iter().cloned().chain(completion) {
        let n = names.iter().position(|other| *other == name).unwrap();
        if ordered.contains(&n) {
            continue;
        }
        ordered.push(n);
        let collation = if computed[n].is_text { " collate \"C\"" } else { "" };
        terms.push(format!("a.o{n}{collation} {} nulls last", if ascending { "asc" } else { "desc" }));
    }
    let order_by = match terms.is_empty() {
        true => String::new(),
        false => format!("order by {}", terms.join(", ")),
    };
    let list: Vec<String> = computed.iter().enumerate().map(|(n, c)| format!("{} as o{n}", c.sql)).collect();
    let group_by = match groups.is_empty() {
        true => String::new(),
        false => {
            format!(
                "group by {}",
                computed[..groups.len()].iter().map(|c| c.sql.clone()).collect::<Vec<_>>().join(", ")
            )
        }
    };
    let aliases: Vec<String> = (0..computed.len()).map(|n| format!("x.o{n}")).collect();
    let (table, test) = (rel.name, all(&conditions));
    // One group more than asked shows whether any was left out.
    let sql = format!(
        "select json_build_array((select count(*) from {table} where {test}), (select coalesce(json_agg(json_build_array({})), '[]') from (select a.* from (select {} from {table} where {test} {group_by}) a where {} {order_by} limit {}) x))",
        aliases.join(", "),
        list.join(", "),
        having_sql.join(" and "),
        limit + 1,
    );
    Request {
        ask: Ask::Query(QueryArguments {
            source: rel.source(),
            filters: texts(&conditions),
            group_by: groups.iter().map(|column| column.name.to_owned()).collect(),
            metrics,
            having: having_texts,
            order,
            limit: sent_limit,
            ..QueryArguments::default()
        }),
        sql,
        outputs: computed.into_iter().map(|c| c.output).collect(),
        limit,
        offset: 0,
    }
}
