//! Random values for filters: real ones, their neighbours, and the edges of each type.

use benthic_mirror::catalog::ColumnType;
use benthic_mirror::demo::{Decimal, DemoRelation, DemoValue, value_json};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::Value;

/// Seeded choices.
pub struct Chooser(ChaCha8Rng);

impl Chooser {
    /// The choices of one request.
    pub fn new(seed: u64, request: u64) -> Self {
        let mut key = [0_u8; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&request.to_le_bytes());
        Self(ChaCha8Rng::from_seed(key))
    }

    /// Below `bound`, evenly enough for tests.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.0.next_u64() % bound.max(1) as u64) as usize
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of the items.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

/// The text of a value as the API shows it, without JSON's quotes; `None` for null.
pub fn shown(value: &DemoValue, column_type: &ColumnType) -> Option<String> {
    match serde_json::from_str(&value_json(value, column_type)).expect("the demo writes JSON") {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    }
}

/// The text of some present value of a column.
fn real(relation: &DemoRelation, column: usize, chooser: &mut Chooser) -> Option<String> {
    (0..8).find_map(|_| {
        let row = relation.rows.get(chooser.below(relation.rows.len()))?;
        shown(&row[column], &relation.columns[column].column_type)
    })
}

/// A value to compare a column with.
pub fn literal(relation: &DemoRelation, column: usize, chooser: &mut Chooser) -> String {
    let column_type = &relation.columns[column].column_type;
    let real = real(relation, column, chooser);
    match column_type {
        ColumnType::Text | ColumnType::Character { .. } => text(real, chooser),
        ColumnType::Integer => integer(real, &["2147483647", "-2147483648", "0", "-0", "+7"], chooser),
        ColumnType::BigInt => {
            let edges = ["9223372036854775807", "-9223372036854775808", "9007199254740993", "0", "-0", "+12"];
            integer(real, &edges, chooser)
        }
        ColumnType::Numeric { .. } => numeric(real, chooser),
        ColumnType::Double | ColumnType::Real => double(real, chooser),
        ColumnType::Boolean => {
            chooser.pick(&["true", "false", "t", "f", "yes", "no", "on", "off", "1", "0", "TRUE"]).to_owned()
        }
        ColumnType::Date => date(real, chooser),
        ColumnType::Timestamp => timestamp(real, "", chooser),
        ColumnType::TimestampTz => timestamp(real, "+00:00", chooser),
        ColumnType::Uuid => uuid(real, chooser),
        other => panic!("{} takes null tests only", other.label()),
    }
}

const TEXTS: &[&str] = &[
    "",
    " ",
    "  ",
    "A ",
    " A",
    ",",
    "a,b",
    "\"",
    "\"quoted\"",
    "\\",
    "\\\\",
    "%",
    "_",
    "*",
    "null",
    "NULL",
    "(x)",
    ")",
    "{y}",
    "eq.1",
    "in.(a)",
    "a.b",
    "+",
    "&=?#;/",
    "\t",
    "\n",
    "ß",
    "É",
    "e\u{301}",
    "Я",
    "星",
    "🜁",
    "\u{10ffff}",
    "\u{7f}",
    "~",
    "0",
    "03",
    "3",
    "Z",
    "a",
    "[1]",
    "true",
];

fn text(real: Option<String>, chooser: &mut Chooser) -> String {
    let Some(real) = real.filter(|_| chooser.chance(80)) else { return chooser.pick(TEXTS).to_owned() };
    match chooser.below(10) {
        0 => format!("{real} "),
        1 => format!(" {real}"),
        2 => real.to_uppercase(),
        3 => real.to_lowercase(),
        4 => real.trim_end().to_owned(),
        5 => real.chars().take(chooser.below(real.chars().count() + 1)).collect(),
        6 => format!("{real}{}", chooser.pick(TEXTS)),
        _ => real,
    }
}

fn integer(real: Option<String>, edges: &[&str], chooser: &mut Chooser) -> String {
    let Some(number) = real.filter(|_| chooser.chance(85)).and_then(|text| text.parse::<i64>().ok()) else {
        return chooser.pick(edges).to_owned();
    };
    match chooser.below(5) {
        0 => (number - 1).to_string(),
        1 => (number + 1).to_string(),
        2 => format!("0{number}").replace("0-", "-0"),
        _ => number.to_string(),
    }
}

const NUMERICS: &[&str] = &[
    "0",
    "-0",
    "-0.00",
    "0.000000000000000000000000000001",
    "1e30",
    "-1e30",
    "99999999999999999999999999999999999999999999999999.99",
    "NaN",
    "Infinity",
    "-Infinity",
    "1.5e-7",
    ".5",
    "5.",
    "+1",
];

fn numeric(real: Option<String>, chooser: &mut Chooser) -> String {
    let Some(text) = real.filter(|_| chooser.chance(80)) else { return chooser.pick(NUMERICS).to_owned() };
    let fraction = if text.contains('.') { "" } else { "." };
    match chooser.below(7) {
        0 => format!("{text}{fraction}00000000000000000000"),
        1 => format!("{text}{fraction}00000000000000000001"),
        2 => text.split('.').next().unwrap_or("0").to_owned(),
        3 => format!("{text}e0"),
        4 => text.strip_prefix('-').map_or_else(|| format!("-{text}"), str::to_owned),
        _ => text,
    }
}

fn double(real: Option<String>, chooser: &mut Chooser) -> String {
    const EDGES: &[&str] =
        &["0", "-0", "1e300", "-1e300", "5e-324", "NaN", "Infinity", "-Infinity", "1e-400", "1e400", "0e999"];
    let Some(number) = real.filter(|_| chooser.chance(80)).and_then(|text| text.parse::<f64>().ok()) else {
        return chooser.pick(EDGES).to_owned();
    };
    match chooser.below(6) {
        0 => number.next_up().to_string(),
        1 => number.next_down().to_string(),
        2 => format!("{number:e}"),
        // More digits than a double holds: rounded, not compared as a decimal.
        3 => format!("{number:.30}"),
        _ => number.to_string(),
    }
}

fn date(real: Option<String>, chooser: &mut Chooser) -> String {
    let edge = chooser.pick(&["0001-01-01", "9999-12-31", "1970-01-01", "2024-02-29", "2023-01-03"]);
    let Some(day) =
        real.filter(|_| chooser.chance(85)).and_then(|text| text.parse::<chrono::NaiveDate>().ok())
    else {
        return edge.to_owned();
    };
    (day + chrono::TimeDelta::days(chooser.below(5) as i64 - 2)).to_string()
}

/// With the column's zone if it has one; other offsets say the same moment.
fn timestamp(real: Option<String>, zone: &str, chooser: &mut Chooser) -> String {
    let moment = real
        .and_then(|text| {
            chrono::NaiveDateTime::parse_from_str(text.strip_suffix(zone)?, "%Y-%m-%dT%H:%M:%S%.f").ok()
        })
        .unwrap_or_default();
    let moment = moment + chrono::TimeDelta::microseconds(chooser.below(5) as i64 - 2);
    let text = moment.format("%Y-%m-%dT%H:%M:%S%.6f").to_string();
    match (zone, chooser.below(6)) {
        ("", 0) => moment.format("%Y-%m-%d").to_string(),
        ("", 1) => text.replace('T', " "),
        ("", 2) => moment.format("%Y-%m-%dT%H:%M").to_string(),
        // Half a microsecond more than is stored.
        ("", 3) => format!("{text}5"),
        ("", _) => text,
        (_, 0) => {
            format!("{}+05:30", (moment + chrono::TimeDelta::minutes(330)).format("%Y-%m-%dT%H:%M:%S%.6f"))
        }
        (_, 1) => format!("{}-08", (moment - chrono::TimeDelta::hours(8)).format("%Y-%m-%d %H:%M:%S%.6f")),
        (_, 2) => format!("{text}+00:00"),
        (_, 3) => format!("{text}5Z"),
        (_, _) => format!("{text}Z"),
    }
}

fn uuid(real: Option<String>, chooser: &mut Chooser) -> String {
    let real = real.filter(|_| chooser.chance(80));
    let text = real.unwrap_or_else(|| "00000000-0000-0000-0000-000000000000".to_owned());
    match chooser.below(5) {
        0 => text.to_uppercase(),
        1 => text.replace('-', ""),
        2 => format!("{{{text}}}"),
        _ => text,
    }
}

/// A pattern for `like`: a piece of a real value with wildcards, escapes and awkward characters.
pub fn pattern(relation: &DemoRelation, column: usize, chooser: &mut Chooser) -> String {
    let real = real(relation, column, chooser).unwrap_or_else(|| chooser.pick(TEXTS).to_owned());
    let characters: Vec<char> = real.chars().collect();
    let from = chooser.below(characters.len() + 1);
    let length = chooser.below(characters.len() - from + 1);
    let mut pattern = String::new();
    for character in &characters[from..from + length] {
        match chooser.below(12) {
            0 => pattern.push('_'),
            1 => pattern.push('%'),
            2 => pattern.extend(['\\', *character]),
            3 => pattern.extend(character.to_uppercase()),
            4 => pattern.extend(character.to_lowercase()),
            _ if matches!(character, '\\' | '%' | '_') => pattern.extend(['\\', *character]),
            _ => pattern.push(*character),
        }
    }
    if chooser.chance(5) {
        pattern.push_str(chooser.pick(&["\\*", "ſ", "\u{212a}", "İ", "ς", "\\%", "\\_", "\\\\"]));
    }
    match chooser.below(5) {
        0 => format!("%{pattern}"),
        1 => format!("{pattern}*"),
        2 => pattern,
        _ => format!("*{pattern}%"),
    }
}

/// The decimal a JSON number or a spelled-out one stands for; NaN for anything else.
pub fn decimal(value: &Value) -> Decimal {
    match value {
        Value::Number(number) => Decimal::from_text(&number.to_string()),
        Value::String(text) => Decimal::from_text(text),
        _ => Decimal::from_text("NaN"),
    }
}
