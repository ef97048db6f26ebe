//! Random valid joins, each with the SQL that means the same.

use benthic_mirror::engine::JoinArguments;

use crate::dice::Dice;
use crate::filters::{Condition, all, condition, conditions};
use crate::postgres::identifier;
use crate::relations::{Col, Kind, Path, Rel, World};
use crate::requests::{Ask, Request, completed, limit, output, returned};

/// How two key columns are equal.
fn equal(left: &Col, right: &Col) -> Option<String> {
    let l = format!("l.{}", identifier(left.name));
    let r = format!("r.{}", identifier(right.name));
    let stripped = |text: &str, column: &Col| match column.kind {
        Kind::Character | Kind::Text => format!("stripped({text}::text)"),
        // Not straight to numeric, which would keep six digits.
        Kind::Real => {
            format!("case when abs({text}) < 1e15 then stripped({text}::float8::numeric) end")
        }
        Kind::Double => format!("case when abs({text}) < 1e15 then stripped({text}::numeric) end"),
        _ => format!("stripped({text}::numeric)"),
    };
    if left.kind.is_text() != right.kind.is_text() && (left.kind.is_numeric() || right.kind.is_numeric()) {
        return Some(format!("{} = {}", stripped(&l, left), stripped(&r, right)));
    }
    let comparable = left.kind == right.kind
        || (left.kind.is_text() && right.kind.is_text())
        || (left.kind.is_numeric() && right.kind.is_numeric());
    // Blanks at the end of `character` don't count; those of any other text do (PostgreSQL would drop them from a
    // varchar as well; docs/parity.md).
    let text = |sql: &str, column: &Col| match column.kind {
        Kind::Character | Kind::Text => format!("{sql}::text"),
        _ => sql.to_owned(),
    };
    comparable.then(|| format!("{} = {}", text(&l, left), text(&r, right)))
}

/// Conditions on one side, now and then on its key.
fn side(dice: &mut Dice, rel: &Rel, key: &str) -> Vec<Condition> {
    let mut found = conditions(dice, rel, 50);
    if dice.percent(40) {
        found.push(condition(dice, rel, &rel.column(key).clone()));
    }
    found
}

pub(crate) fn join(dice: &mut Dice, world: &World) -> Request {
    let relation = |name: &str| world.relations.iter().find(|rel| rel.name == name).unwrap();
    let signed = *dice.pick(&world.paths);
    let path = match dice.percent(50) {
        true => signed,
        false => Path { left: signed.right, right: signed.left },
    };
    let (left, right) = (relation(path.left.0), relation(path.right.0));
    let mut keys = vec![(left.column(path.left.1), right.column(path.right.1))];
    let mut context = Vec::new();
    for _ in 0..3 {
        if dice.percent(20) {
            let pair = (dice.pick(&left.columns), dice.pick(&right.columns));
            let orderable = pair.0.kind != Kind::Unordered && pair.1.kind != Kind::Unordered;
            if orderable && equal(pair.0, pair.1).is_some() {
                context.push(format!("{} = {}", pair.0.name, pair.1.name));
                keys.push(pair);
            }
        }
    }
    let left_conditions = side(dice, left, path.left.1);
    let right_conditions = side(dice, right, path.right.1);
    let is_left = dice.percent(40);
    let (sent_limit, limit) = limit(dice);
    let names = |rel: &Rel| rel.columns.iter().map(|c| c.name.to_owned()).collect::<Vec<_>>();
    let left_select = if dice.percent(60) { dice.some(&names(left), 3) } else { Vec::new() };
    let right_select = if dice.percent(60) { dice.some(&names(right), 3) } else { Vec::new() };

    let columns_of = |rel, select: &[String], keys: Vec<&'static str>, conditions: &[Condition]| {
        let more: Vec<&str> = keys.into_iter().chain(conditions.iter().map(|c| c.column)).collect();
        returned(rel, select, &more, true)
    };
    let left_columns =
        columns_of(left, &left_select, keys.iter().map(|pair| pair.0.name).collect(), &left_conditions);
    let right_columns =
        columns_of(right, &right_select, keys.iter().map(|pair| pair.1.name).collect(), &right_conditions);
    let outputs = left_columns
        .iter()
        .map(|column| output(format!("left.{}", column.name), column))
        .chain(right_columns.iter().map(|column| output(format!("right.{}", column.name), column)))
        .collect();
    let list: Vec<String> = left_columns
        .iter()
        .map(|column| format!("l.{}", identifier(column.name)))
        .chain(right_columns.iter().map(|column| format!("r.{}", identifier(column.name))))
        .enumerate()
        .map(|(n, column)| format!("{column} as c{n}"))
        .collect();
    let aliases: Vec<String> = (0..list.len()).map(|n| format!("x.c{n}")).collect();
    let on: Vec<String> = keys.iter().filter_map(|(l, r)| equal(l, r)).collect();
    let joined = format!(
        "(select * from {} where {}) l {} join (select * from {} where {}) r on {}",
        left.name,
        all(&left_conditions),
        if is_left { "left" } else { "inner" },
        right.name,
        all(&right_conditions),
        on.join(" and "),
    );
    let sql = format!(
        "select json_build_array((select count(*) from {joined}), (select coalesce(json_agg(json_build_array({})), '[]') from (select {} from {joined} order by {}, {} limit 1001) x))",
        aliases.join(", "),
        list.join(", "),
        completed(left, &[], "l."),
        completed(right, &[], "r."),
    );
    let texts = |conditions: &[Condition]| conditions.iter().map(|c| c.text.clone()).collect();
    Request {
        ask: Ask::Join(
            JoinArguments {
                left_source: left.source(),
                right_source: right.source(),
                left_column: Some(path.left.1.to_owned()),
                right_column: Some(path.right.1.to_owned()),
                left_where: texts(&left_conditions),
                right_where: texts(&right_conditions),
                context_conditions: context,
                mode: if is_left {
                    Some("left".to_owned())
                } else {
                    dice.percent(50).then(|| "inner".to_owned())
                },
                limit: sent_limit,
                left_select,
                right_select,
                ..JoinArguments::default()
            },
            [path.left.0, path.right.0],
        ),
        sql,
        outputs,
        limit,
        offset: 0,
    }
}
