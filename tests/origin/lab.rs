//! Small relations of the tests' own, with the values PostgreSQL treats in particular ways.

use benthic_mirror::demo::{
    DATE_INFINITY, DATE_MINUS_INFINITY, Decimal, DemoColumn, DemoGeometry, DemoRelation, DemoValue,
    TIMESTAMP_INFINITY, TIMESTAMP_MINUS_INFINITY,
};
use geo::{LineString, MultiPolygon, Point, Polygon};
use uuid::Uuid;

const DAY: i64 = 86_400_000_000;

/// The texts of `words`, whose ids count from 1; `None` is null.
pub(crate) const WORDS: &[Option<&str>] = &[
    Some("apple"),
    Some("Banana"),
    Some("banana"),
    Some("zebra"),
    Some("Äpfel"),
    None,
    Some(""),
    Some("a,b"),
    Some("a.b"),
    Some("(x)"),
    Some("q\"q"),
    Some("50%"),
    Some("a_b"),
    Some("axb"),
    Some("back\\slash"),
    Some("star*"),
    Some(" lead"),
    Some("trail "),
    Some("a-b"),
    Some("ab"),
    Some("null"),
    Some("{k}"),
    Some("1+1"),
    Some("[3]"),
    Some("\"qq\""),
];

fn column(name: &str, native_type: &str) -> DemoColumn {
    DemoColumn::new(name, native_type, true)
}

fn int(value: i64) -> DemoValue {
    DemoValue::Int(value)
}

fn numeric(text: &str) -> DemoValue {
    DemoValue::Numeric(Decimal::from_text(text))
}

fn point(x: f64, y: f64) -> DemoValue {
    DemoValue::Geometry(DemoGeometry { srid: 4326, shape: Point::new(x, y).into() })
}

pub(crate) fn relations() -> Vec<DemoRelation> {
    let mut words =
        DemoRelation::new("lab", "words", vec![column("id", "integer"), column("w", "text")], &["id"]);
    words.rows = WORDS
        .iter()
        .enumerate()
        .map(|(index, word)| vec![int(index as i64 + 1), DemoValue::from(*word)])
        .collect();

    let mut numbers =
        DemoRelation::new("lab", "numbers", vec![column("id", "integer"), column("name", "text")], &["id"]);
    numbers.rows = (1..=2_500).map(|id| vec![int(id), DemoValue::Text(format!("row {id}"))]).collect();

    let pair_columns = vec![column("a", "integer"), column("b", "text"), column("id", "integer")];
    let mut pairs = DemoRelation::new("lab", "pairs", pair_columns, &["a", "b"]);
    pairs.rows = (0..30)
        .map(|id| vec![int(id / 3), ["x", "y", "z,\"q\""][(id % 3) as usize].into(), int(id)])
        .collect();

    let mut gaps =
        DemoRelation::new("lab", "gaps", vec![column("id", "integer"), column("k", "integer")], &["id"]);
    gaps.rows = [Some(10), None, Some(5), None, Some(7)]
        .into_iter()
        .enumerate()
        .map(|(index, k): (usize, Option<i64>)| vec![int(index as i64 + 1), k.into()])
        .collect();

    let nothing = DemoRelation::new("lab", "nothing", vec![column("id", "integer")], &["id"]);
    let mut things = DemoRelation::new("lab", "side.things", vec![column("id", "integer")], &["id"]);
    things.rows = vec![vec![int(1)], vec![int(2)]];
    let mut hidden = DemoRelation::new("lab", "hidden", vec![column("id", "integer")], &["id"]);
    hidden.queryable = false;
    vec![kinds(), words, numbers, pairs, gaps, nothing, things, hidden]
}

/// One column of each type; row 4 is null throughout.
fn kinds() -> DemoRelation {
    let columns = [
        ("id", "integer"),
        ("money", "numeric(23,2)"),
        ("free", "numeric"),
        ("wide", "double precision"),
        ("narrow", "real"),
        ("big", "bigint"),
        ("flag", "boolean"),
        ("day", "date"),
        ("moment", "timestamp without time zone"),
        ("instant", "timestamp with time zone"),
        ("key", "uuid"),
        ("bytes", "bytea"),
        ("code", "character(2)"),
        ("name", "text"),
        ("counts", "integer[]"),
        ("tags", "text[]"),
        ("raw", "json"),
        ("doc", "jsonb"),
        ("area", "geometry(MultiPolygon,3857)"),
        ("place", "geometry(Point,4326)"),
    ];
    let mut kinds = DemoRelation::new(
        "lab",
        "kinds",
        columns.iter().map(|(name, native)| column(name, native)).collect(),
        &["id"],
    );
    let uuid = |last: u8| {
        DemoValue::Uuid(Uuid::parse_str(&format!("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a{last:02x}")).unwrap())
    };
    let ring =
        |offset: f64| LineString::from(vec![(offset, 0.0), (1_000_000.125, 0.0), (1.0, 1.0), (offset, 0.0)]);
    let area = |polygons: Vec<Polygon<f64>>| {
        DemoValue::Geometry(DemoGeometry { srid: 3857, shape: MultiPolygon::new(polygons).into() })
    };
    let tags =
        |tags: &[Option<&str>]| DemoValue::Array(tags.iter().map(|tag| DemoValue::from(*tag)).collect());
    let counts = |counts: &[Option<i64>]| {
        DemoValue::Array(counts.iter().map(|count| DemoValue::from(*count)).collect())
    };
    let json = |text: &str| DemoValue::Json(text.to_owned());
    kinds.rows = vec![
        vec![
            int(1),
            numeric("12.30"),
            numeric("1.500"),
            DemoValue::Double(0.1),
            DemoValue::Real(0.1),
            int(9_007_199_254_740_993),
            true.into(),
            DemoValue::Date(19_782),
            DemoValue::Timestamp(19_782 * DAY + 45_296_120_000),
            DemoValue::TimestampTz(19_782 * DAY + 38_096_123_456),
            uuid(0x11),
            DemoValue::Bytes(vec![0xde, 0xad]),
            "A".into(),
            "plain".into(),
            counts(&[Some(1), None, Some(3)]),
            tags(&[Some("a,b"), Some("c\"d"), Some("")]),
            json("{\"b\" : 1,  \"a\":[1, 2],\"b\":2}"),
            json("{\"b\": 2, \"aa\": [1, 2]}"),
            area(vec![Polygon::new(ring(0.5), vec![])]),
            point(8.123_456_789_012_345, 50.1),
        ],
        vec![
            int(2),
            numeric("-0.05"),
            numeric("NaN"),
            DemoValue::Double(f64::NAN),
            DemoValue::Real(f32::INFINITY),
            int(i64::MIN),
            false.into(),
            DemoValue::Date(-735_160),
            DemoValue::Timestamp(TIMESTAMP_INFINITY),
            DemoValue::TimestampTz(TIMESTAMP_MINUS_INFINITY),
            uuid(0x12),
            DemoValue::Bytes(vec![]),
            "AB".into(),
            "".into(),
            counts(&[]),
            tags(&[]),
            json("null"),
            json("\"s\""),
            area(vec![]),
            DemoValue::Null,
        ],
        vec![
            int(3),
            numeric("99999999999999999999.99"),
            numeric("1e30"),
            DemoValue::Double(1e20),
            DemoValue::Real(1e-7),
            int(i64::MAX),
            DemoValue::Null,
            DemoValue::Date(2_932_896),
            DemoValue::Timestamp(946_684_799_999_999),
            DemoValue::TimestampTz(1_719_792_000_000_000),
            DemoValue::Null,
            DemoValue::Bytes(vec![0]),
            "".into(),
            "é€😀\ttab\nnl \"q\" \\ \u{1}\u{7f}/".into(),
            DemoValue::Array(vec![counts(&[Some(1), Some(2)]), counts(&[Some(3), Some(4)])]),
            DemoValue::Null,
            DemoValue::Null,
            json("[1.10, 100]"),
            DemoValue::Null,
            point(0.123_456_789_012_345_68, -0.000_000_001),
        ],
        std::iter::once(int(4)).chain(std::iter::repeat_n(DemoValue::Null, columns.len() - 1)).collect(),
        vec![
            int(5),
            numeric("0.00"),
            numeric("0.1"),
            DemoValue::Double(-0.0),
            DemoValue::Real(16_777_217.0),
            int(0),
            true.into(),
            DemoValue::Date(DATE_INFINITY),
            DemoValue::Timestamp(-62_135_596_800_000_000),
            DemoValue::TimestampTz(1_704_067_200_100_000),
            DemoValue::Null,
            DemoValue::Null,
            "b".into(),
            " lead".into(),
            counts(&[Some(1)]),
            tags(&[Some("x"), None]),
            DemoValue::Null,
            json("[]"),
            DemoValue::Null,
            point(-0.0, 1e16),
        ],
        vec![
            int(6),
            numeric("1.00"),
            numeric("0.0000000001"),
            DemoValue::Double(1e15),
            DemoValue::Real(0.0001),
            int(1),
            false.into(),
            DemoValue::Date(DATE_MINUS_INFINITY),
            DemoValue::Null,
            DemoValue::Null,
            DemoValue::Null,
            DemoValue::Null,
            "B".into(),
            "lead ".into(),
            DemoValue::Null,
            DemoValue::Null,
            DemoValue::Null,
            json("true"),
            DemoValue::Null,
            point(0.999_999_999_999_999_9, 0.000_012_345_678_901_234_568),
        ],
    ];
    kinds
}
