//! The relations both sides hold, from one seed, and the catalogue that grants them.

use benthic_mirror::catalog::{
    Catalog, Column, ColumnType, Dataset, JoinEnd, JoinPath, JoinType, Relation, Reliability,
};

use crate::dice::Dice;
use crate::values;

/// What can be asked of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Integer,
    /// With declared scale.
    Numeric,
    /// Without; carries the most digits after the point of any value.
    FreeNumeric(usize),
    Real,
    Double,
    Boolean,
    Date,
    Timestamp,
    TimestampTz,
    Uuid,
    Character,
    Text,
    /// Null tests and counts only: types without an order here, and numerics no decimal holds.
    Unordered,
}

impl Kind {
    pub(crate) fn is_numeric(self) -> bool {
        self.is_float() || matches!(self, Self::Integer | Self::Numeric | Self::FreeNumeric(_))
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self, Self::Real | Self::Double)
    }

    pub(crate) fn is_text(self) -> bool {
        matches!(self, Self::Character | Self::Text)
    }

    /// The type a literal is compared in.
    pub(crate) fn literal_type(self) -> &'static str {
        match self {
            Self::Integer => "bigint",
            Self::Numeric | Self::FreeNumeric(_) => "numeric",
            Self::Real => "real",
            Self::Double => "float8",
            Self::Boolean => "boolean",
            Self::Date => "date",
            Self::Timestamp => "timestamp",
            Self::TimestampTz => "timestamptz",
            Self::Uuid => "uuid",
            Self::Character => "bpchar",
            Self::Text | Self::Unordered => "text",
        }
    }
}

type Draw = fn(&mut Dice, usize) -> String;

#[derive(Debug, Clone)]
pub(crate) struct Col {
    pub(crate) name: &'static str,
    pub(crate) native: &'static str,
    pub(crate) kind: Kind,
    draw: Draw,
    nulls: usize,
}

#[derive(Debug, Clone)]
pub(crate) struct Rel {
    pub(crate) name: &'static str,
    pub(crate) columns: Vec<Col>,
    /// Declared primary key.
    pub(crate) key: &'static [&'static str],
    /// Whether the key tells the rows apart.
    pub(crate) key_is_unique: bool,
    pub(crate) rows: Vec<Vec<Option<String>>>,
}

impl Rel {
    pub(crate) fn source(&self) -> String {
        format!("o.{}", self.name)
    }

    pub(crate) fn column(&self, name: &str) -> &Col {
        self.columns.iter().find(|column| column.name == name).unwrap()
    }

    /// A value some row has in the column.
    pub(crate) fn value(&self, dice: &mut Dice, column: &Col) -> Option<String> {
        let position = self.columns.iter().position(|other| other.name == column.name).unwrap();
        if self.rows.is_empty() {
            return None;
        }
        self.rows[dice.below(self.rows.len())][position].clone()
    }

    /// A value the column could have.
    pub(crate) fn drawn(&self, dice: &mut Dice, column: &Col) -> String {
        let row = dice.below(50);
        (column.draw)(dice, row)
    }
}

/// A path both relations are joined along.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Path {
    pub(crate) left: (&'static str, &'static str),
    pub(crate) right: (&'static str, &'static str),
}

pub(crate) struct World {
    pub(crate) relations: Vec<Rel>,
    pub(crate) paths: Vec<Path>,
    pub(crate) catalog: Catalog,
}

fn col(name: &'static str, native: &'static str, kind: Kind, nulls: usize, draw: Draw) -> Col {
    Col { name, native, kind, draw, nulls }
}

/// Any unordered value that keeps its text: derived from the row's number, so that rows are reproducible.
fn json(_: &mut Dice, row: usize) -> String {
    let forms = [
        r#"{"b" : 1,  "a":[1, 2.50]}"#,
        "1.10",
        r#""s""#,
        "[]",
        r#"{"k":1e400,"z":12345678901234567890}"#,
        r#""a\nb""#,
        "true",
        r#"{"é":{"x":null}}"#,
        r#"[[1],[2,{"c":"d"}]]"#,
    ];
    forms[row % forms.len()].to_owned()
}

fn interval(_: &mut Dice, row: usize) -> String {
    ["1 day", "24:00:00", "1 mon", "1 year 2 mons 3 days 04:05:06.5", "-1 day", "00:00:00"][row % 6]
        .to_owned()
}

fn time(_: &mut Dice, row: usize) -> String {
    ["00:00:00", "24:00:00", "12:34:56.7", "23:59:59.999999"][row % 4].to_owned()
}

fn ints(_: &mut Dice, row: usize) -> String {
    ["{}", "{1,NULL,3}", "{-2147483648,2147483647}", "{7}"][row % 4].to_owned()
}

fn texts(_: &mut Dice, row: usize) -> String {
    ["{}", r#"{"a,b","c\"d","",NULL}"#, r"{é,😀,NULL}", r#"{"NULL","null"}"#][row % 4].to_owned()
}

fn decimals(_: &mut Dice, row: usize) -> String {
    ["{}", "{1.50,NULL,-2}", "{12345678901234567890.5}"][row % 3].to_owned()
}

fn bytes(_: &mut Dice, row: usize) -> String {
    [r"\x", r"\xdeadbeef", r"\x00", r"\xff00ff"][row % 4].to_owned()
}

fn nan_decimal(dice: &mut Dice, row: usize) -> String {
    match row % 7 {
        0 => "NaN".to_owned(),
        _ => values::decimal(dice, 5, 3),
    }
}

fn number(_: &mut Dice, row: usize) -> String {
    row.to_string()
}

fn label(_: &mut Dice, row: usize) -> String {
    format!("{}{row}", values::TEXTS[row % values::TEXTS.len()])
}

/// District-like codes: the same number with and without leading zeros, and what isn't a number.
fn code(dice: &mut Dice, _: usize) -> String {
    let number = dice.below(25);
    match dice.below(8) {
        0 | 1 => format!("{number:02}"),
        2 => format!("{number:03}"),
        3 | 4 => number.to_string(),
        _ => (*dice.pick(&["AL", "", "0", "00", "-3", "3.0", "3.5", " 3", "3 ", "12.00", "٣", "+3", "1e1"]))
            .to_owned(),
    }
}

fn types_columns() -> Vec<Col> {
    use Kind::*;
    vec![
        col("id", "integer", Integer, 0, number),
        col("small", "smallint", Integer, 10, |d, _| values::integer(d, -32768, 32767)),
        col("big", "bigint", Integer, 10, |d, _| values::integer(d, i64::MIN, i64::MAX)),
        col("n12", "numeric(12,2)", Numeric, 10, |d, _| values::decimal(d, 10, 2)),
        col("n38", "numeric(38,6)", Numeric, 10, |d, _| values::decimal(d, 32, 6)),
        col("n50", "numeric(50,10)", Numeric, 10, |d, _| values::decimal(d, 40, 10)),
        col("free", "numeric", FreeNumeric(30), 10, |d, _| values::free_decimal(d)),
        col("nan", "numeric", Unordered, 10, nan_decimal),
        col("f4", "real", Real, 10, |d, _| values::real(d)),
        col("f8", "double precision", Double, 10, |d, _| values::double(d)),
        col("flag", "boolean", Boolean, 20, |d, _| values::boolean(d)),
        col("day", "date", Date, 10, |d, _| values::date(d)),
        col("at", "timestamp without time zone", Timestamp, 10, |d, _| values::timestamp(d)),
        col("moment", "timestamp with time zone", TimestampTz, 10, |d, _| values::timestamp_tz(d)),
        col("u", "uuid", Uuid, 10, |d, _| values::uuid(d)),
        col("c2", "character(2)", Character, 10, |d, _| values::short_text(d)),
        col("c5", "character(5)", Character, 10, |d, _| values::short_text(d)),
        col("odd name.x", "character varying(40)", Text, 10, |d, _| values::short_text(d)),
        col("txt", "text", Text, 10, |d, _| values::text(d)),
        col("ints", "integer[]", Unordered, 20, ints),
        col("texts", "text[]", Unordered, 20, texts),
        col("decimals", "numeric[]", Unordered, 20, decimals),
        col("j", "json", Unordered, 20, json),
        col("jb", "jsonb", Unordered, 20, json),
        col("bin", "bytea", Unordered, 20, bytes),
        col("iv", "interval", Unordered, 20, interval),
        col("t", "time without time zone", Unordered, 20, time),
    ]
}

fn pairs_columns() -> Vec<Col> {
    use Kind::*;
    vec![
        col("a", "integer", Integer, 0, |_, row| (row / 7).to_string()),
        col("b", "text", Text, 0, |_, row| {
            format!("{}{}", values::TEXTS[(row * 31) % values::TEXTS.len()], row % 7)
        }),
        col("v", "bigint", Integer, 10, |d, _| values::integer(d, -1_000_000, 1_000_000)),
        col("n9", "numeric(9,2)", Numeric, 5, |d, _| values::decimal(d, 7, 2)),
        col("n18", "numeric(18,0)", Numeric, 10, |d, _| values::decimal(d, 18, 0)),
        col("n19", "numeric(19,2)", Numeric, 10, |d, _| values::decimal(d, 17, 2)),
        col("n38", "numeric(38,38)", Numeric, 10, |d, _| values::decimal(d, 0, 38)),
        col("f8", "double precision", Double, 10, |d, _| values::double(d)),
        col("c2", "character(2)", Character, 10, |d, _| values::short_text(d)),
        col("state", "text", Text, 10, |d, _| values::short_text(d)),
        col("code", "text", Text, 10, code),
        col("day", "date", Date, 10, |d, _| values::date(d)),
        col("u", "uuid", Uuid, 10, |d, _| values::uuid(d)),
    ]
}

fn words_columns() -> Vec<Col> {
    use Kind::*;
    vec![
        col("word", "text", Text, 0, label),
        col("code", "character varying(5)", Text, 10, code),
        col("ccode", "character(4)", Character, 10, |d, _| format!("{:02}", d.below(30))),
        col("n", "integer", Integer, 10, |d, _| d.between(-3, 25).to_string()),
        col("amount", "numeric(18,2)", Numeric, 10, |d, _| values::decimal(d, 2, 2)),
        col("f4", "real", Real, 10, |d, _| values::real(d)),
        col("f8", "double precision", Double, 10, |d, _| values::double(d)),
        col("moment", "timestamp with time zone", TimestampTz, 10, |d, _| values::timestamp_tz(d)),
        col("c5", "character(5)", Character, 10, |d, _| values::short_text(d)),
        col("flag", "boolean", Boolean, 20, |d, _| values::boolean(d)),
    ]
}

/// No key, repeated rows, and columns no order helps with.
fn bag_columns() -> Vec<Col> {
    use Kind::*;
    vec![
        col("k", "integer", Integer, 10, |d, _| d.between(0, 5).to_string()),
        col("iv", "interval", Unordered, 20, interval),
        col("g", "text", Text, 10, |d, _| (*d.pick(&["x", "y", "Y", "ÿ", ""])).to_owned()),
        col("x", "double precision", Double, 10, |d, _| {
            (*d.pick(&["0", "-0", "1", "NaN", "2.5"])).to_owned()
        }),
        col("r", "real", Real, 10, |d, _| (*d.pick(&["0", "-0", "0.1"])).to_owned()),
        col("c3", "character(3)", Character, 10, |d, _| (*d.pick(&["a", "a ", "b"])).to_owned()),
        col("free", "numeric", FreeNumeric(3), 10, |d, _| {
            (*d.pick(&["1", "1.0", "1.50", "-2.125"])).to_owned()
        }),
        col("code", "text", Text, 10, code),
        col("j", "json", Unordered, 10, json),
    ]
}

/// A declared key that doesn't tell rows apart.
fn loose_columns() -> Vec<Col> {
    use Kind::*;
    vec![
        col("id", "integer", Integer, 0, |d, _| d.between(1, 40).to_string()),
        col("t", "text", Text, 20, |d, _| values::short_text(d)),
        col("v", "numeric(10,4)", Numeric, 20, |d, _| values::decimal(d, 3, 4)),
        col("j", "jsonb", Unordered, 20, json),
    ]
}

fn rows(dice: &mut Dice, columns: &[Col], count: usize, copies: usize) -> Vec<Vec<Option<String>>> {
    let mut rows = Vec::new();
    let mut index = 0;
    while rows.len() < count {
        let row: Vec<Option<String>> =
            columns.iter().map(|c| (!dice.percent(c.nulls)).then(|| (c.draw)(dice, index))).collect();
        index += 1;
        for _ in 0..=dice.below(copies) {
            rows.push(row.clone());
        }
    }
    rows
}

/// The relations, their rows and the paths between them.
pub(crate) fn world(seed: u64) -> World {
    let mut dice = Dice::new(seed);
    let mut rel = |name, columns: Vec<Col>, key, key_is_unique, count, copies| {
        let rows = rows(&mut dice, &columns, count, copies);
        Rel { name, columns, key, key_is_unique, rows }
    };
    let relations = vec![
        rel("types", types_columns(), &["id"], true, 600, 1),
        rel("pairs", pairs_columns(), &["a", "b"], true, 1_000, 1),
        rel("words", words_columns(), &["word"], true, 450, 1),
        rel("bag", bag_columns(), &[], false, 600, 4),
        rel("loose", loose_columns(), &["id"], false, 300, 2),
        rel("empty", types_columns(), &["id"], true, 0, 1),
    ];
    let path = |left, right| Path { left, right };
    let paths = vec![
        path(("types", "id"), ("pairs", "a")),
        path(("types", "small"), ("words", "n")),
        path(("types", "big"), ("pairs", "v")),
        path(("types", "n12"), ("pairs", "n9")),
        path(("types", "n38"), ("pairs", "n19")),
        path(("types", "n50"), ("pairs", "n38")),
        path(("types", "free"), ("words", "amount")),
        path(("types", "n12"), ("words", "n")),
        path(("types", "big"), ("pairs", "n18")),
        path(("types", "big"), ("types", "f8")),
        path(("types", "f8"), ("pairs", "f8")),
        path(("types", "f4"), ("words", "f4")),
        path(("types", "f4"), ("pairs", "f8")),
        path(("types", "n12"), ("words", "f8")),
        path(("types", "free"), ("pairs", "f8")),
        path(("types", "n12"), ("words", "f4")),
        path(("types", "day"), ("pairs", "day")),
        path(("types", "moment"), ("words", "moment")),
        path(("types", "u"), ("pairs", "u")),
        path(("types", "c2"), ("pairs", "c2")),
        path(("types", "c5"), ("words", "c5")),
        path(("types", "c2"), ("pairs", "state")),
        path(("types", "odd name.x"), ("words", "c5")),
        path(("types", "flag"), ("words", "flag")),
        path(("types", "txt"), ("words", "word")),
        path(("pairs", "code"), ("words", "n")),
        path(("words", "code"), ("types", "small")),
        path(("words", "ccode"), ("bag", "k")),
        path(("pairs", "code"), ("words", "amount")),
        path(("pairs", "code"), ("types", "f8")),
        path(("words", "code"), ("types", "f4")),
        path(("pairs", "code"), ("types", "free")),
        path(("bag", "code"), ("pairs", "a")),
        path(("bag", "code"), ("words", "code")),
        path(("bag", "k"), ("loose", "id")),
        path(("empty", "id"), ("words", "n")),
        path(("bag", "x"), ("words", "f8")),
    ];
    let catalog = catalog(&relations, &paths);
    World { relations, paths, catalog }
}

pub(crate) fn catalog(relations: &[Rel], paths: &[Path]) -> Catalog {
    let column = |column: &Col| Column {
        name: column.name.to_owned(),
        declared_type: "unknown".to_owned(),
        native_type: Some(column.native.to_owned()),
        column_type: ColumnType::from_manifest("unknown", Some(column.native), None),
        nullable: true,
        description: None,
        srid: None,
        unit: None,
    };
    let relations = relations
        .iter()
        .map(|rel| Relation {
            dataset: "o".to_owned(),
            name: rel.name.to_owned(),
            relation_type: "table".to_owned(),
            provenance: None,
            queryable: true,
            description: None,
            primary_key: rel.key.iter().map(|name| (*name).to_owned()).collect(),
            row_count_estimate: None,
            columns: rel.columns.iter().map(column).collect(),
        })
        .collect();
    let end = |(relation, column): (&str, &str)| JoinEnd {
        dataset: "o".to_owned(),
        relation: relation.to_owned(),
        column: column.to_owned(),
        srid: None,
    };
    Catalog {
        collection: "oracle".to_owned(),
        collection_hash: String::new(),
        created_at: None,
        datasets: vec![Dataset {
            name: "o".to_owned(),
            title: None,
            description: None,
            manifest_hash: String::new(),
            endpoint: None,
            files: Vec::new(),
            relations,
        }],
        joins: paths
            .iter()
            .map(|path| JoinPath {
                from: end(path.left),
                to: end(path.right),
                join_type: JoinType::Identifier,
                reliability: Reliability::Reliable,
                notes: None,
            })
            .collect(),
        warnings: Vec::new(),
    }
}
