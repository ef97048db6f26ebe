//! Geometry on the wire (GeoJSON as PostGIS writes it) and at rest (WKB).
//!
//! Coordinates are read from their text with correct rounding and are two-dimensional: a third one is refused rather
//! than dropped. Empty geometries survive; an empty point is a point of NaNs, as WKB has it.

use geo::{
    Coord, Geometry, GeometryCollection, LineString, MultiLineString, MultiPoint, MultiPolygon, Point,
    Polygon,
};
use geo_traits::to_geo::ToGeoGeometry;
use serde::Deserialize;
use serde_json::value::RawValue;
use wkb::Endianness;
use wkb::writer::{WriteOptions, write_geometry};

use super::error::ValueError;

/// Deepest nesting of collections read; PostGIS data has one level.
const MAX_COLLECTION_DEPTH: u8 = 8;

/// A GeoJSON object's members that mean something here.
#[derive(Deserialize)]
struct GeoJson<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(borrow)]
    coordinates: Option<&'a RawValue>,
    #[serde(borrow)]
    geometries: Option<Vec<&'a RawValue>>,
    crs: Option<NamedCrs>,
}

/// PostGIS names the reference system whenever it isn't 0 or unknown, 4326 included.
#[derive(Deserialize)]
struct NamedCrs {
    properties: CrsProperties,
}

#[derive(Deserialize)]
struct CrsProperties {
    name: String,
}

/// Reads a GeoJSON geometry and the SRID it names, if it names one.
pub fn from_geojson(text: &str) -> Result<(Geometry<f64>, Option<i32>), ValueError> {
    let object = parse(text)?;
    let srid = object.crs.as_ref().map(srid_of).transpose()?;
    Ok((geometry(&object, 0)?, srid))
}

/// The SRID a GeoJSON geometry names, without reading its coordinates.
pub fn geojson_srid(text: &str) -> Result<Option<i32>, ValueError> {
    parse(text)?.crs.as_ref().map(srid_of).transpose()
}

/// Writes WKB: little-endian, two-dimensional, no SRID (it is the column's).
pub fn to_wkb(geometry: &Geometry<f64>) -> Result<Vec<u8>, ValueError> {
    let mut out = Vec::new();
    let options = WriteOptions { endianness: Endianness::LittleEndian };
    write_geometry(&mut out, geometry, &options).map_err(|error| ValueError::new(error.to_string()))?;
    Ok(out)
}

/// Reads WKB. An empty point comes back as a point of NaNs.
pub fn from_wkb(bytes: &[u8]) -> Result<Geometry<f64>, ValueError> {
    let read = wkb::reader::read_wkb(bytes).map_err(|error| ValueError::new(error.to_string()))?;
    // geo has no empty point; an absent coordinate can only be one.
    Ok(read.try_to_geometry().unwrap_or_else(|| Geometry::Point(Point::new(f64::NAN, f64::NAN))))
}

fn parse(text: &str) -> Result<GeoJson<'_>, ValueError> {
    serde_json::from_str(text)
        .map_err(|error| ValueError::new(format!("it is not a GeoJSON geometry: {error}")))
}

fn srid_of(crs: &NamedCrs) -> Result<i32, ValueError> {
    let name = &crs.properties.name;
    let code = match name.strip_prefix("EPSG:") {
        Some(code) => Some(code),
        None => name.strip_prefix("urn:ogc:def:crs:EPSG:").and_then(|rest| rest.split(':').next_back()),
    };
    code.and_then(|code| code.parse().ok())
        .ok_or_else(|| ValueError::new(format!("its reference system {name:?} has no EPSG number")))
}

fn geometry(object: &GeoJson<'_>, depth: u8) -> Result<Geometry<f64>, ValueError> {
    if object.kind == "GeometryCollection" {
        if depth >= MAX_COLLECTION_DEPTH {
            return Err(ValueError::new("its collections nest too deep"));
        }
        let members = object.geometries.as_ref().ok_or_else(|| ValueError::new("it has no geometries"))?;
        let members = members
            .iter()
            .map(|member| geometry(&parse(member.get())?, depth + 1))
            .collect::<Result<Vec<_>, _>>()?;
        return Ok(Geometry::GeometryCollection(GeometryCollection::from(members)));
    }
    let text = object.coordinates.ok_or_else(|| ValueError::new("it has no coordinates"))?;
    let mut scanner = Scanner { rest: text.get() };
    let found = match object.kind.as_str() {
        "Point" => Geometry::Point(scanner.point()?),
        "LineString" => Geometry::LineString(scanner.line()?),
        "Polygon" => Geometry::Polygon(scanner.polygon()?),
        "MultiPoint" => Geometry::MultiPoint(MultiPoint::new(scanner.list(Scanner::point)?)),
        "MultiLineString" => Geometry::MultiLineString(MultiLineString::new(scanner.list(Scanner::line)?)),
        "MultiPolygon" => Geometry::MultiPolygon(MultiPolygon::new(scanner.list(Scanner::polygon)?)),
        other => return Err(ValueError::new(format!("{other:?} is not a geometry type"))),
    };
    scanner.end()?;
    Ok(found)
}

/// Reads nested arrays of numbers. The text is known to be JSON; what is checked is the nesting the type asks for.
struct Scanner<'a> {
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\n', '\r', '\t']);
    }

    fn take(&mut self, expected: char) -> bool {
        self.skip_blanks();
        match self.rest.strip_prefix(expected) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn shape(&self) -> ValueError {
        let near: String = self.rest.chars().take(20).collect();
        ValueError::new(format!("its coordinates don't nest as its type asks, near {near:?}"))
    }

    /// `[item, item, …]`, possibly empty.
    fn list<T>(&mut self, item: impl Fn(&mut Self) -> Result<T, ValueError>) -> Result<Vec<T>, ValueError> {
        if !self.take('[') {
            return Err(self.shape());
        }
        let mut items = Vec::new();
        if self.take(']') {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.take(']') {
                return Ok(items);
            }
            if !self.take(',') {
                return Err(self.shape());
            }
        }
    }

    fn number(&mut self) -> Result<f64, ValueError> {
        self.skip_blanks();
        let end = self.rest.find([',', ']', ' ', '\n', '\r', '\t']).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        if !text.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
            return Err(self.shape());
        }
        let value: f64 = text.parse().map_err(|_| self.shape())?;
        if !value.is_finite() {
            return Err(ValueError::new(format!("the coordinate {text} is beyond a double")));
        }
        self.rest = rest;
        Ok(value)
    }

    /// `[x, y]`, or `[]`.
    fn numbers(&mut self) -> Result<Option<Coord<f64>>, ValueError> {
        if !self.take('[') {
            return Err(self.shape());
        }
        if self.take(']') {
            return Ok(None);
        }
        let x = self.number()?;
        if !self.take(',') {
            return Err(ValueError::new("a position has 1 coordinate instead of 2"));
        }
        let y = self.number()?;
        match self.take(']') {
            true => Ok(Some(Coord { x, y })),
            false if self.take(',') => Err(ValueError::new("a position has more than 2 coordinates")),
            false => Err(self.shape()),
        }
    }

    fn position(&mut self) -> Result<Coord<f64>, ValueError> {
        self.numbers()?.ok_or_else(|| ValueError::new("a position has no coordinates"))
    }

    /// A position, or `[]` for an empty point.
    fn point(&mut self) -> Result<Point<f64>, ValueError> {
        Ok(Point::from(self.numbers()?.unwrap_or(Coord { x: f64::NAN, y: f64::NAN })))
    }

    fn line(&mut self) -> Result<LineString<f64>, ValueError> {
        Ok(LineString::new(self.list(Self::position)?))
    }

    fn polygon(&mut self) -> Result<Polygon<f64>, ValueError> {
        let rings = self.list(Self::line)?;
        // `Polygon::new` would close open rings, that is, add a vertex the publisher didn't write.
        if rings.iter().any(|ring| ring.0.first() != ring.0.last()) {
            return Err(ValueError::new("a ring of it isn't closed"));
        }
        let mut rings = rings.into_iter();
        let exterior = rings.next().unwrap_or_else(|| LineString::new(Vec::new()));
        Ok(Polygon::new(exterior, rings.collect()))
    }

    fn end(&mut self) -> Result<(), ValueError> {
        self.skip_blanks();
        if self.rest.is_empty() { Ok(()) } else { Err(self.shape()) }
    }
}

#[cfg(test)]
mod tests {
    use geo::{line_string, polygon};

    use super::*;

    fn round_trip(text: &str) -> Geometry<f64> {
        let (geometry, _) = from_geojson(text).unwrap();
        let wkb = to_wkb(&geometry).unwrap();
        let back = from_wkb(&wkb).unwrap();
        assert_eq!(to_wkb(&back).unwrap(), wkb, "{text}");
        back
    }

    #[test]
    fn every_type_survives() {
        let point = r#"{"type":"Point","crs":{"type":"name","properties":{"name":"EPSG:4326"}},"coordinates":[-77.03654,38.897]}"#;
        assert_eq!(from_geojson(point).unwrap().1, Some(4326));
        assert_eq!(geojson_srid(point).unwrap(), Some(4326));
        assert_eq!(round_trip(point), Geometry::Point(Point::new(-77.03654, 38.897)));
        assert_eq!(
            round_trip(r#"{"type":"LineString","coordinates":[[0,0],[1.5,-2e1]]}"#),
            Geometry::LineString(line_string![(x: 0.0, y: 0.0), (x: 1.5, y: -20.0)])
        );
        let with_hole = polygon![
            exterior: [(x: 0., y: 0.), (x: 9., y: 0.), (x: 9., y: 9.), (x: 0., y: 0.)],
            interiors: [[(x: 5., y: 1.), (x: 6., y: 1.), (x: 6., y: 2.), (x: 5., y: 1.)]],
        ];
        let rings = "[[[0,0],[9,0],[9,9],[0,0]],[[5,1],[6,1],[6,2],[5,1]]]";
        assert_eq!(
            round_trip(&format!(r#"{{"type":"Polygon","coordinates":{rings}}}"#)),
            Geometry::Polygon(with_hole.clone())
        );
        assert_eq!(
            round_trip(&format!(r#"{{"type":"MultiPolygon","coordinates":[{rings}, {rings}]}}"#)),
            Geometry::MultiPolygon(MultiPolygon::new(vec![with_hole.clone(), with_hole]))
        );
        round_trip(r#"{"type":"MultiPoint","coordinates":[[0,0],[1,1]]}"#);
        round_trip(r#"{"type":"MultiLineString","coordinates":[[[0,0],[1,1]]]}"#);
        round_trip(r#"{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]}]}"#);
    }

    #[test]
    fn empty_geometries_stay_empty() {
        for kind in ["LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon"] {
            round_trip(&format!(r#"{{"type":"{kind}","coordinates":[]}}"#));
        }
        round_trip(r#"{"type":"GeometryCollection","geometries":[]}"#);
        let Geometry::Point(point) = round_trip(r#"{"type":"Point","coordinates":[]}"#) else { panic!() };
        assert!(point.x().is_nan() && point.y().is_nan());
    }

    #[test]
    fn whatever_would_lose_something_is_refused() {
        for bad in [
            r#"{"type":"Point","coordinates":[1,2,3]}"#,
            r#"{"type":"Point","coordinates":[1]}"#,
            r#"{"type":"Point","coordinates":["1",2]}"#,
            r#"{"type":"Point","coordinates":[1e999,2]}"#,
            r#"{"type":"Point","coordinates":[[1,2]]}"#,
            r#"{"type":"LineString","coordinates":[1,2]}"#,
            r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1]]]}"#,
            r#"{"type":"Point"}"#,
            r#"{"type":"Feature","coordinates":[1,2]}"#,
            r#"{"type":"Point","crs":{"type":"name","properties":{"name":"mine"}},"coordinates":[1,2]}"#,
            r#"{"type":"Point","coordinates":{"x":1}}"#,
            "[]",
            "\"0101\"",
        ] {
            assert!(from_geojson(bad).is_err(), "{bad}");
        }
        let mut nested = r#"{"type":"Point","coordinates":[1,2]}"#.to_owned();
        for _ in 0..20 {
            nested = format!(r#"{{"type":"GeometryCollection","geometries":[{nested}]}}"#);
        }
        assert!(from_geojson(&nested).is_err());
        assert!(from_wkb(&[1, 2, 3]).is_err());
    }
}
