//! Values as PostgreSQL's `row_to_json` writes them (spec postgrest.md, items 23 to 30).

use geo::{Coord, Geometry, LineString, Polygon};

use super::moment::{date_text, timestamp_text};
use super::number::{coordinate_text, double_text, real_text};
use super::{DemoGeometry, DemoValue};
use crate::catalog::ColumnType;

/// A JSON string with PostgreSQL's escapes: the short forms, `\u00xx` for other control characters, the rest raw.
pub fn json_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_string(&mut out, text);
    out
}

fn push_string(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if (control as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", control as u32)),
            other => out.push(other),
        }
    }
    out.push('"');
}

/// One value of a column of the given type.
pub fn value_json(value: &DemoValue, column_type: &ColumnType) -> String {
    let mut out = String::new();
    push_value(&mut out, value, column_type);
    out
}

/// A row object: keys in the given order, no spaces.
pub fn row_json<'a>(cells: impl Iterator<Item = (&'a str, &'a ColumnType, &'a DemoValue)>) -> String {
    let mut out = String::from("{");
    for (index, (name, column_type, value)) in cells.enumerate() {
        if index > 0 {
            out.push(',');
        }
        push_string(&mut out, name);
        out.push(':');
        push_value(&mut out, value, column_type);
    }
    out.push('}');
    out
}

/// NaN and the infinities are no JSON numbers: they become strings.
fn push_number(out: &mut String, text: &str) {
    if text.bytes().any(|b| b.is_ascii_digit()) { out.push_str(text) } else { push_string(out, text) }
}

fn push_value(out: &mut String, value: &DemoValue, column_type: &ColumnType) {
    match value {
        DemoValue::Null => out.push_str("null"),
        DemoValue::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        DemoValue::Int(value) => out.push_str(&value.to_string()),
        DemoValue::Numeric(value) => push_number(out, &value.to_string()),
        DemoValue::Double(value) => push_number(out, &double_text(*value)),
        DemoValue::Real(value) => push_number(out, &real_text(*value)),
        DemoValue::Text(text) => match column_type {
            ColumnType::Character { length } => push_string(out, &padded(text, *length)),
            _ => push_string(out, text),
        },
        DemoValue::Date(days) => push_string(out, &date_text(*days)),
        DemoValue::Timestamp(micros) => push_string(out, &timestamp_text(*micros, "")),
        DemoValue::TimestampTz(micros) => push_string(out, &timestamp_text(*micros, "+00:00")),
        DemoValue::Uuid(uuid) => push_string(out, &uuid.hyphenated().to_string()),
        DemoValue::Json(text) => out.push_str(text),
        DemoValue::Bytes(bytes) => push_string(out, &format!("\\x{}", hex::encode(bytes))),
        DemoValue::Array(elements) => {
            let element_type = match column_type {
                ColumnType::Array(element) => element.as_ref(),
                other => other,
            };
            out.push('[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                // A further dimension keeps the element type.
                push_value(
                    out,
                    element,
                    if matches!(element, DemoValue::Array(_)) { column_type } else { element_type },
                );
            }
            out.push(']');
        }
        DemoValue::Geometry(geometry) => out.push_str(&geometry_json(geometry)),
    }
}

/// `character(n)` is stored and shown blank-padded.
pub(super) fn padded(text: &str, length: Option<u32>) -> String {
    let missing = (length.unwrap_or(1) as usize).saturating_sub(text.chars().count());
    format!("{text}{}", " ".repeat(missing))
}

/// GeoJSON as PostGIS's cast to json writes it: a `crs` member whenever the spatial reference is known.
pub fn geometry_json(geometry: &DemoGeometry) -> String {
    let crs = match geometry.srid {
        0 => String::new(),
        srid => format!(r#""crs":{{"type":"name","properties":{{"name":"EPSG:{srid}"}}}},"#),
    };
    shape_json(&geometry.shape, &crs)
}

fn shape_json(shape: &Geometry<f64>, crs: &str) -> String {
    let (name, body) = match shape {
        Geometry::Point(point) => ("Point", position(&point.0)),
        Geometry::Line(line) => {
            ("LineString", format!("[{},{}]", position(&line.start), position(&line.end)))
        }
        Geometry::LineString(line) => ("LineString", positions(line)),
        Geometry::Polygon(polygon) => ("Polygon", rings(polygon)),
        Geometry::MultiPoint(points) => ("MultiPoint", list(points.iter().map(|point| position(&point.0)))),
        Geometry::MultiLineString(lines) => ("MultiLineString", list(lines.iter().map(positions))),
        Geometry::MultiPolygon(polygons) => ("MultiPolygon", list(polygons.iter().map(rings))),
        Geometry::Rect(rect) => ("Polygon", rings(&rect.to_polygon())),
        Geometry::Triangle(triangle) => ("Polygon", rings(&triangle.to_polygon())),
        Geometry::GeometryCollection(members) => {
            let members = list(members.iter().map(|member| shape_json(member, "")));
            return format!(r#"{{"type":"GeometryCollection",{crs}"geometries":{members}}}"#);
        }
    };
    format!(r#"{{"type":"{name}",{crs}"coordinates":{body}}}"#)
}

fn position(coordinate: &Coord<f64>) -> String {
    // An empty point is held as NaN, NaN, the way WKB writes it.
    if coordinate.x.is_nan() && coordinate.y.is_nan() {
        return "[]".to_owned();
    }
    format!("[{},{}]", coordinate_text(coordinate.x), coordinate_text(coordinate.y))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

fn positions(line: &LineString<f64>) -> String {
    list(line.coords().map(position))
}

fn rings(polygon: &Polygon<f64>) -> String {
    if polygon.exterior().0.is_empty() {
        return "[]".to_owned();
    }
    list(std::iter::once(polygon.exterior()).chain(polygon.interiors()).map(positions))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::value::Decimal;

    #[test]
    fn scalars() {
        let text = ColumnType::Text;
        for (value, column_type, expected) in [
            (DemoValue::Null, &text, "null"),
            (DemoValue::Numeric(Decimal::from_text("12.30")), &text, "12.30"),
            (DemoValue::Numeric(Decimal::from_text("NaN")), &text, "\"NaN\""),
            (DemoValue::Double(f64::NEG_INFINITY), &text, "\"-Infinity\""),
            (DemoValue::Int(9_007_199_254_740_993), &text, "9007199254740993"),
            (DemoValue::from("tab\tq\"b\\é\u{1}/"), &text, "\"tab\\tq\\\"b\\\\é\\u0001/\""),
            (DemoValue::from("A"), &ColumnType::Character { length: Some(2) }, "\"A \""),
            (DemoValue::Bytes(vec![0xde, 0xad]), &text, "\"\\\\xdead\""),
            (DemoValue::Bytes(Vec::new()), &text, "\"\\\\x\""),
        ] {
            assert_eq!(value_json(&value, column_type), expected);
        }
        let array = ColumnType::Array(Box::new(ColumnType::Integer));
        let nested = DemoValue::Array(vec![
            DemoValue::Array(vec![DemoValue::Int(1), DemoValue::Null]),
            DemoValue::Array(vec![DemoValue::Int(3), DemoValue::Int(4)]),
        ]);
        assert_eq!(value_json(&nested, &array), "[[1,null],[3,4]]");
        assert_eq!(value_json(&DemoValue::Array(Vec::new()), &array), "[]");
    }

    #[test]
    fn geometry_carries_its_reference_system() {
        let point = DemoGeometry { srid: 4326, shape: geo::Point::new(-1.5, 52.25).into() };
        assert_eq!(
            geometry_json(&point),
            r#"{"type":"Point","crs":{"type":"name","properties":{"name":"EPSG:4326"}},"coordinates":[-1.5,52.25]}"#
        );
        let empty = DemoGeometry { srid: 0, shape: geo::MultiPolygon::<f64>::new(Vec::new()).into() };
        assert_eq!(geometry_json(&empty), r#"{"type":"MultiPolygon","coordinates":[]}"#);
    }
}
