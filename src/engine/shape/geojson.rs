//! WKB at rest to the GeoJSON object PostgREST shows.

use geo_traits::{
    CoordTrait, GeometryCollectionTrait, GeometryTrait, GeometryType, LineStringTrait, MultiLineStringTrait,
    MultiPointTrait, MultiPolygonTrait, PointTrait, PolygonTrait,
};
use serde_json::{Map, Value, json};
use wkb::reader::Wkb;

use super::number::double_value;

/// The GeoJSON object, with a `crs` member whenever the spatial reference is known and not 0 (PostGIS's
/// `ST_AsGeoJSON` as PostgREST calls it). `None` for bytes that aren't WKB.
pub(super) fn geojson(bytes: &[u8], srid: Option<i32>) -> Option<Value> {
    let geometry = Wkb::try_new(bytes).ok()?;
    let mut object = Map::new();
    let (name, member, content) = describe(&geometry);
    object.insert("type".to_owned(), name.into());
    if let Some(srid) = srid.filter(|srid| *srid != 0) {
        object.insert(
            "crs".to_owned(),
            json!({"type": "name", "properties": {"name": format!("EPSG:{srid}")}}),
        );
    }
    object.insert(member.to_owned(), content);
    Some(Value::Object(object))
}

fn describe(geometry: &impl GeometryTrait<T = f64>) -> (&'static str, &'static str, Value) {
    const COORDINATES: &str = "coordinates";
    match geometry.as_type() {
        GeometryType::Point(point) => ("Point", COORDINATES, position(point.coord())),
        GeometryType::LineString(line) => ("LineString", COORDINATES, positions(line)),
        GeometryType::Polygon(polygon) => ("Polygon", COORDINATES, rings(polygon)),
        GeometryType::MultiPoint(multi) => {
            ("MultiPoint", COORDINATES, multi.points().map(|point| position(point.coord())).collect())
        }
        GeometryType::MultiLineString(multi) => {
            ("MultiLineString", COORDINATES, multi.line_strings().map(|line| positions(&line)).collect())
        }
        GeometryType::MultiPolygon(multi) => {
            ("MultiPolygon", COORDINATES, multi.polygons().map(|polygon| rings(&polygon)).collect())
        }
        GeometryType::GeometryCollection(collection) => {
            let members = collection
                .geometries()
                .map(|part| {
                    let (name, member, content) = describe(&part);
                    json!({"type": name, member: content})
                })
                .collect();
            ("GeometryCollection", "geometries", members)
        }
        // The remaining variants are in-memory helper shapes that WKB has no code for.
        _ => ("GeometryCollection", "geometries", Value::Array(Vec::new())),
    }
}

fn position(coord: Option<impl CoordTrait<T = f64>>) -> Value {
    match coord {
        // WKB writes the empty point with NaN coordinates.
        Some(coord) if !coord.x().is_nan() => {
            (0..coord.dim().size()).map(|n| coord.nth(n).map_or(Value::Null, double_value)).collect()
        }
        _ => Value::Array(Vec::new()),
    }
}

fn positions(line: &impl LineStringTrait<T = f64>) -> Value {
    line.coords().map(|coord| position(Some(coord))).collect()
}

fn rings(polygon: &impl PolygonTrait<T = f64>) -> Value {
    polygon
        .exterior()
        .map(|ring| positions(&ring))
        .into_iter()
        .chain(polygon.interiors().map(|ring| positions(&ring)))
        .collect()
}
