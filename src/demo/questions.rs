//! The demo's questions, each with the answer a plain fold over the generator's rows gives.
//!
//! Nothing here uses the engine, the store or the spatial room: an answer that agrees was computed twice.

use std::collections::BTreeMap;

use serde_json::{Map, Number, Value, json};

use super::relation::{DemoData, DemoRow};
use super::value::{Decimal, DemoValue};

/// A question and how to ask it.
#[derive(Debug, Clone)]
pub struct Question {
    /// In a person's words.
    pub asked: String,
    /// The tool that answers it.
    pub tool: Tool,
    /// The tool's arguments.
    pub arguments: Map<String, Value>,
    /// What must come back.
    pub expected: Expected,
}

/// Which tool answers a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// `benthic_query`
    Query,
    /// `benthic_join`
    Join,
    /// `benthic_rpc`
    Rpc,
}

impl Tool {
    /// The tool's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Query => "benthic_query",
            Self::Join => "benthic_join",
            Self::Rpc => "benthic_rpc",
        }
    }
}

/// What must come back.
#[derive(Debug, Clone, PartialEq)]
pub enum Expected {
    /// These rows in this order.
    Rows(Vec<Map<String, Value>>),
    /// A refusal with this code.
    Refusal(&'static str),
}

impl Expected {
    /// Whether an answer's rows are these. Numbers agree by value, exactly unless they are distances, which two
    /// formulas may round differently in the last bits.
    pub fn matches_rows(&self, rows: &[Value]) -> bool {
        match self {
            Self::Refusal(_) => false,
            Self::Rows(expected) => {
                expected.len() == rows.len()
                    && expected.iter().zip(rows).all(|(expected, row)| {
                        row.as_object().is_some_and(|row| {
                            expected.len() == row.len()
                                && expected.iter().all(|(name, value)| {
                                    row.get(name).is_some_and(|found| same(name, value, found))
                                })
                        })
                    })
            }
        }
    }
}

fn same(name: &str, expected: &Value, found: &Value) -> bool {
    if expected == found {
        return true;
    }
    let digits = |value: &Value| match value {
        Value::Number(number) => Some(number.to_string()),
        // A number that a double would change is written as a string.
        Value::String(text) if text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.".contains(&byte)) => {
            Some(text.clone())
        }
        _ => None,
    };
    match (digits(expected), digits(found)) {
        (Some(expected), Some(found)) if name == "distance_meters" => {
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-6;
            expected.parse::<f64>().ok().zip(found.parse::<f64>().ok()).is_some_and(|(a, b)| close(a, b))
        }
        (Some(expected), Some(found)) => plain(&expected) == plain(&found),
        _ => false,
    }
}

/// Digits without a fraction's trailing zeros.
fn plain(text: &str) -> &str {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text,
    }
}

/// The demo's questions over its rows.
pub fn questions(data: &DemoData) -> Vec<Question> {
    [
        count_current(data),
        largest_obligation(data),
        spending_by_year(data),
        terms_of_a_legislator(data),
        entities_and_their_members(data),
        refused_total(data),
        district_of(data),
        districts_in_a_box(data),
        nonprofits_near(data),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn question(asked: &str, tool: Tool, arguments: Value, expected: Expected) -> Question {
    let arguments = match arguments {
        Value::Object(object) => object,
        _ => Map::new(),
    };
    Question { asked: asked.to_owned(), tool, arguments, expected }
}

fn row<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A demo value as the JSON the API would write.
fn json_of(row: &DemoRow<'_>, column: &str) -> Value {
    row.json(column).and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(Value::Null)
}

fn count_current(data: &DemoData) -> Option<Question> {
    let relation = data.relation("irs_ng.bmf_organizations")?;
    let current = relation.rows().filter(|row| row.get("is_current").as_bool() == Some(true)).count();
    Some(question(
        "How many nonprofit records are current?",
        Tool::Query,
        json!({"source": "irs_ng.bmf_organizations", "where": ["is_current=eq.true"], "metrics": ["n=count:*"]}),
        Expected::Rows(vec![row([("n", current.into())])]),
    ))
}

fn largest_obligation(data: &DemoData) -> Option<Question> {
    let relation = data.relation("usaspending.all_entities")?;
    let amount =
        |row: &DemoRow<'_>| row.get("total_obligation").as_numeric().and_then(|value| value.units(SCALE));
    let best = relation.rows().filter(|row| amount(row).is_some()).max_by_key(|row| amount(row))?;
    Some(question(
        "Which contractor has the largest total obligation? (more digits than a double holds; nulls must not win)",
        Tool::Query,
        json!({
            "source": "usaspending.all_entities",
            "select": ["legal_business_name", "state", "total_obligation"],
            "order": ["total_obligation:desc"],
            "limit": 1,
        }),
        Expected::Rows(vec![row([
            ("legal_business_name", json_of(&best, "legal_business_name")),
            ("state", json_of(&best, "state")),
            ("total_obligation", json_of(&best, "total_obligation")),
        ])]),
    ))
}

/// Digits after the point that every amount of the demo fits in.
const SCALE: usize = 12;

/// An exact sum as text.
fn text_of(units: i128) -> String {
    Decimal::scaled(units, SCALE).to_string()
}

fn spending_by_year(data: &DemoData) -> Option<Question> {
    let relation = data.relation("usaspending.mv_district_spending")?;
    let amount_column = relation
        .columns
        .iter()
        .find(|column| column.native_type.starts_with("numeric"))
        .map(|column| column.name.clone())?;
    let mut totals: BTreeMap<i64, (i128, u64)> = BTreeMap::new();
    for row in relation.rows() {
        let entry = totals.entry(row.int("fiscal_year")?).or_default();
        if let Some(units) = row.get(&amount_column).as_numeric().and_then(|value| value.units(SCALE)) {
            entry.0 += units;
        }
        entry.1 += 1;
    }
    let mut rows: Vec<(i64, i128, u64)> = totals.into_iter().map(|(year, (sum, n))| (year, sum, n)).collect();
    rows.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let expected = rows
        .into_iter()
        .map(|(year, sum, n)| {
            row([("fiscal_year", year.into()), ("total", number(&text_of(sum))), ("districts", n.into())])
        })
        .collect();
    Some(question(
        "How much was spent in all districts, by fiscal year, largest first?",
        Tool::Query,
        json!({
            "source": "usaspending.mv_district_spending",
            "group_by": ["fiscal_year"],
            "metrics": [format!("total=sum:{amount_column}"), "districts=count:*"],
            "order": ["total:desc"],
        }),
        Expected::Rows(expected),
    ))
}

fn number(text: &str) -> Value {
    serde_json::from_str::<Number>(text).map_or(Value::Null, Value::Number)
}

/// The legislator with the most terms, smallest id first among equals.
fn terms_of_a_legislator(data: &DemoData) -> Option<Question> {
    let legislators = data.relation("usp_cl.legislators")?;
    let terms = data.relation("usp_cl.legislator_terms")?;
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for term in terms.rows() {
        *counts.entry(term.text("bioguide_id")?).or_default() += 1;
    }
    let id = counts.iter().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0))).map(|(id, _)| *id)?;
    let legislator = legislators.rows().find(|row| row.text("bioguide_id") == Some(id))?;
    let mut own: Vec<DemoRow<'_>> = terms.rows().filter(|row| row.text("bioguide_id") == Some(id)).collect();
    own.sort_by_key(|term| term.int("term_id"));
    let expected = own
        .iter()
        .map(|term| {
            row([
                ("left.official_full", json_of(&legislator, "official_full")),
                ("left.bioguide_id", id.into()),
                ("right.term_start", json_of(term, "term_start")),
                ("right.state", json_of(term, "state")),
                ("right.district", json_of(term, "district")),
                ("right.bioguide_id", id.into()),
            ])
        })
        .collect();
    Some(question(
        "Which terms did the longest-serving legislator serve? (joined along the signed key)",
        Tool::Join,
        json!({
            "left_source": "usp_cl.legislators",
            "right_source": "usp_cl.legislator_terms",
            "left_where": [format!("bioguide_id=eq.{id}")],
            "left_select": ["official_full"],
            "right_select": ["term_start", "state", "district"],
        }),
        Expected::Rows(expected),
    ))
}

/// Entities of one state's third district and the members whose terms began last: '03' is text, 3 is a number.
fn entities_and_their_members(data: &DemoData) -> Option<Question> {
    let entities = data.relation("usaspending.all_entities")?;
    let terms = data.relation("usp_cl.legislator_terms")?;
    let start = |term: &DemoRow<'_>| match term.get("term_start") {
        DemoValue::Date(days) => Some(*days),
        _ => None,
    };
    let third: Vec<DemoRow<'_>> = terms.rows().filter(|term| term.int("district") == Some(3)).collect();
    let latest = third.iter().filter_map(start).max()?;
    let state_terms = |state: &str| -> Vec<DemoRow<'_>> {
        let mut found: Vec<DemoRow<'_>> = third
            .iter()
            .copied()
            .filter(|term| term.text("state") == Some(state) && start(term) == Some(latest))
            .collect();
        found.sort_by_key(|term| term.int("term_id"));
        found
    };
    // The contractors of one city whose third district has few enough of them to read.
    let mut cities: BTreeMap<(&str, &str), Vec<DemoRow<'_>>> = BTreeMap::new();
    for entity in entities.rows().filter(|row| row.text("congressional_district") == Some("03")) {
        if let (Some(state), Some(city)) = (entity.text("state"), entity.text("city")) {
            cities.entry((state, city)).or_default().push(entity);
        }
    }
    let ((state, city), mut left) = cities
        .into_iter()
        .filter(|((state, _), found)| !found.is_empty() && !state_terms(state).is_empty())
        .min_by_key(|(_, found)| found.len().abs_diff(4))?;
    // A relation without a primary key is ordered by its columns from the first on; the first one is unique here.
    left.sort_by_key(|row| row.int("entity_id"));
    let expected = left
        .iter()
        .flat_map(|entity| state_terms(state).into_iter().map(move |term| (*entity, term)))
        .map(|(entity, term)| {
            row([
                ("left.legal_business_name", json_of(&entity, "legal_business_name")),
                ("left.congressional_district", "03".into()),
                ("left.state", state.into()),
                ("left.city", city.into()),
                ("right.bioguide_id", json_of(&term, "bioguide_id")),
                ("right.district", 3.into()),
                ("right.state", state.into()),
                ("right.term_start", json_of(&term, "term_start")),
            ])
        })
        .collect();
    let latest =
        third.iter().find(|term| start(term) == Some(latest)).map(|term| json_of(term, "term_start"))?;
    Some(question(
        &format!(
            "Who represents the contractors of {city} in {state}'s third district? ('03' is text, 3 a number; the state is the context)"
        ),
        Tool::Join,
        json!({
            "left_source": "usaspending.all_entities",
            "right_source": "usp_cl.legislator_terms",
            "left_column": "congressional_district",
            "right_column": "district",
            "context_conditions": ["state=state"],
            "left_where": [format!("state=eq.{state}"), format!("city=eq.{city}"), "congressional_district=eq.03".to_owned()],
            "right_where": [format!("state=eq.{state}"), format!("term_start=eq.{}", latest.as_str()?)],
            "left_select": ["legal_business_name"],
            "right_select": ["bioguide_id"],
        }),
        Expected::Rows(expected),
    ))
}

fn refused_total(data: &DemoData) -> Option<Question> {
    data.relation("usaspending.all_entities")?;
    Some(question(
        "What is the total obligation by state? (no primary key, more than one page: upstream can't read it all)",
        Tool::Query,
        json!({
            "source": "usaspending.all_entities",
            "group_by": ["state"],
            "metrics": ["total=sum:total_obligation"],
        }),
        Expected::Refusal("no_primary_key"),
    ))
}

/// The rows one of the brute-force functions gives, by column name.
fn computed(
    data: &DemoData,
    dataset: &str,
    function: &str,
    arguments: &[(&str, &str)],
) -> Option<Vec<Map<String, Value>>> {
    let arguments: Vec<(String, String)> =
        arguments.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let found = super::origin::call_function(data, dataset, function, &arguments)?;
    let rows = found.rows().map(|row| {
        found.columns.iter().map(|column| (column.name.clone(), json_of(&row, &column.name))).collect()
    });
    Some(rows.collect())
}

fn district_of(data: &DemoData) -> Option<Question> {
    let rows = computed(data, "up_cdmaps", "rpc_find_district", &[("lat", "39.7392"), ("lon", "-104.9903")])?;
    Some(question(
        "Which congressional district is Denver in?",
        Tool::Rpc,
        json!({"operation": "find_district", "lat": number("39.7392"), "lon": number("-104.9903")}),
        Expected::Rows(rows),
    ))
}

fn districts_in_a_box(data: &DemoData) -> Option<Question> {
    let box_of = [
        ("min_lat", "52.6185576"),
        ("max_lat", "52.6385576"),
        ("min_lon", "1.2823954"),
        ("max_lon", "1.3023954"),
    ];
    let mut rows = computed(data, "up_cdmaps", "rpc_districts_in_bbox", &box_of)?;
    rows.sort_by_key(|row| row.get("id").and_then(Value::as_i64));
    let mut arguments = json!({"operation": "districts_in_bbox"});
    if let Some(object) = arguments.as_object_mut() {
        object.extend(box_of.iter().map(|(name, value)| ((*name).to_owned(), number(value))));
    }
    Some(question(
        "Which districts' boxes touch Norwich in England? (one spans the antimeridian)",
        Tool::Rpc,
        arguments,
        Expected::Rows(rows),
    ))
}

fn nonprofits_near(data: &DemoData) -> Option<Question> {
    let place = [("lat", "39.7392"), ("lon", "-104.9903"), ("radius_meters", "3000")];
    let rows = computed(data, "irs_ng", "rpc_nonprofits_nearby", &place)?;
    let mut arguments = json!({"operation": "nonprofits_nearby"});
    if let Some(object) = arguments.as_object_mut() {
        object.extend(place.iter().map(|(name, value)| ((*name).to_owned(), number(value))));
    }
    Some(question(
        "Which nonprofits are within 3 km of central Denver?",
        Tool::Rpc,
        arguments,
        Expected::Rows(rows),
    ))
}
