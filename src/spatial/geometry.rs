//! WKB and EWKB bytes from outside, decoded to `geo` shapes.
//!
//! The `wkb` crate walks the bytes. It reads the parts of a collection with the outer byte order whatever they say,
//! and takes curve type codes for the plain types that share their low bits, so the headers, outer and inner, are
//! checked here first. Defined outcomes for what an upstream could send:
//!
//! | bytes | outcome |
//! | --- | --- |
//! | null or empty geometry, parts without rings | no geometry |
//! | Z or M coordinates | the plane part; the operations are planar |
//! | a spatial reference other than the column's | [`GeometryError::SpatialReference`] |
//! | another type (curves, collections, a point among polygons) | [`GeometryError::WrongType`] |
//! | NaN or infinite coordinates | [`GeometryError::NotFinite`]: no comparison with them means anything |
//! | a ring that doesn't end where it starts | closed by a straight edge |
//! | crossing rings, repeated points, slivers | kept as they are; containment is defined on any ring |
//! | truncated, trailing or inconsistent bytes | [`GeometryError::Malformed`] |

use geo::{Coord, LineString, MultiPolygon, Polygon};
use geo_traits::{
    CoordTrait, GeometryTrait, GeometryType, LineStringTrait, MultiPolygonTrait, PointTrait, PolygonTrait,
};
use wkb::reader::Wkb;

/// Why bytes are no usable geometry. The row they came from takes no part in an answer, and the answer says so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GeometryError {
    /// Not well-formed WKB.
    #[error("malformed WKB: {detail}")]
    Malformed {
        /// What the decoder found.
        detail: String,
    },
    /// Well-formed, but not the type the column holds.
    #[error("expected a {expected}, found {found}")]
    WrongType {
        /// What the column holds.
        expected: &'static str,
        /// The type found, by name or code.
        found: String,
    },
    /// The bytes name another spatial reference than the column's.
    #[error("expected spatial reference {expected}, found {found}")]
    SpatialReference {
        /// The column's EPSG code.
        expected: i32,
        /// The code in the bytes.
        found: u32,
    },
    /// A coordinate is NaN or infinite.
    #[error("a coordinate is not a finite number")]
    NotFinite,
    /// A longitude or latitude that has no projection.
    #[error("longitude {longitude}, latitude {latitude} has no projection")]
    NoProjection {
        /// Degrees as stored, as text.
        longitude: String,
        /// Degrees as stored, as text.
        latitude: String,
    },
}

/// EWKB's flags above the type code: Z, M and "a spatial reference follows".
const EWKB_Z: u32 = 0x8000_0000;
const EWKB_M: u32 = 0x4000_0000;
const EWKB_SRID: u32 = 0x2000_0000;

/// WKB type codes.
const POINT: u32 = 1;
const POLYGON: u32 = 3;
const MULTI_POLYGON: u32 = 6;

/// Decodes a polygon or multipolygon in the given spatial reference; `None` when it is empty.
pub fn decode_multipolygon(bytes: &[u8], srid: i32) -> Result<Option<MultiPolygon<f64>>, GeometryError> {
    const EXPECTED: &str = "Polygon or MultiPolygon";
    let header = Header::read(bytes)?;
    header.expect(&[POLYGON, MULTI_POLYGON], EXPECTED, srid)?;
    let geometry = read_whole(bytes)?;
    let parts = match geometry.as_type() {
        GeometryType::Polygon(polygon) => vec![decode_polygon(polygon)?],
        GeometryType::MultiPolygon(multi) => multi
            .polygons()
            .map(|part| {
                let inner = Header::read(part.buf())?;
                inner.expect(&[POLYGON], "Polygon in a MultiPolygon", srid)?;
                if (inner.little_endian, inner.dimensions()) != (header.little_endian, header.dimensions()) {
                    return Err(malformed("a part differs from the whole in byte order or dimensions"));
                }
                decode_polygon(part)
            })
            .collect::<Result<_, _>>()?,
        // The header said otherwise; a decoder that disagrees is reported, not trusted.
        _ => return Err(malformed("the decoder disagrees with the header")),
    };
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.exterior().0.is_empty()).collect();
    Ok((!parts.is_empty()).then(|| MultiPolygon::new(parts)))
}

/// Decodes a point in the given spatial reference; `None` when it is empty (all coordinates NaN, as WKB writes it).
pub fn decode_point(bytes: &[u8], srid: i32) -> Result<Option<Coord<f64>>, GeometryError> {
    Header::read(bytes)?.expect(&[POINT], "Point", srid)?;
    let geometry = read_whole(bytes)?;
    match geometry.as_type() {
        GeometryType::Point(point) => point.coord().map(|coord| finite(&coord)).transpose(),
        _ => Err(malformed("the decoder disagrees with the header")),
    }
}

fn decode_polygon(polygon: &wkb::reader::Polygon<'_>) -> Result<Polygon<f64>, GeometryError> {
    let ring = |ring: &wkb::reader::LinearRing<'_>| {
        ring.coords().map(|coord| finite(&coord)).collect::<Result<Vec<_>, _>>().map(LineString::new)
    };
    let exterior = polygon.exterior().map(ring).transpose()?.unwrap_or_else(|| LineString::new(Vec::new()));
    let interiors = polygon.interiors().map(ring).collect::<Result<Vec<_>, _>>()?;
    // `Polygon::new` closes open rings.
    Ok(Polygon::new(exterior, interiors))
}

fn finite(coord: &impl CoordTrait<T = f64>) -> Result<Coord<f64>, GeometryError> {
    let (x, y) = (coord.x(), coord.y());
    if x.is_finite() && y.is_finite() { Ok(Coord { x, y }) } else { Err(GeometryError::NotFinite) }
}

/// Parses the bytes and requires that nothing follows the geometry.
fn read_whole(bytes: &[u8]) -> Result<Wkb<'_>, GeometryError> {
    let geometry = Wkb::try_new(bytes).map_err(|error| malformed(&error.to_string()))?;
    let unread = bytes.len().saturating_sub(geometry.buf().len());
    if unread == 0 { Ok(geometry) } else { Err(malformed(&format!("{unread} bytes follow the geometry"))) }
}

fn malformed(detail: &str) -> GeometryError {
    GeometryError::Malformed { detail: detail.to_owned() }
}

/// Byte order, type word and spatial reference at the start of every WKB geometry.
struct Header {
    little_endian: bool,
    word: u32,
    srid: Option<u32>,
}

impl Header {
    fn read(bytes: &[u8]) -> Result<Self, GeometryError> {
        let little_endian = match bytes.first() {
            Some(0) => false,
            Some(1) => true,
            Some(other) => return Err(malformed(&format!("byte order {other}"))),
            None => return Err(malformed("no bytes")),
        };
        let number = |at: usize| {
            let field: [u8; 4] = bytes
                .get(at..at + 4)
                .and_then(|field| field.try_into().ok())
                .ok_or_else(|| malformed("it ends within its header"))?;
            Ok(if little_endian { u32::from_le_bytes(field) } else { u32::from_be_bytes(field) })
        };
        let word = number(1)?;
        let (flags, plain) = (word & (EWKB_Z | EWKB_M | EWKB_SRID), word & !(EWKB_Z | EWKB_M | EWKB_SRID));
        if flags != 0 && plain >= 1000 {
            return Err(malformed(&format!("type word {word:#x} mixes the ISO and the EWKB notation")));
        }
        let srid = (word & EWKB_SRID != 0).then(|| number(5)).transpose()?;
        Ok(Self { little_endian, word, srid })
    }

    /// The type code without EWKB's flags and ISO's thousands.
    fn code(&self) -> u32 {
        let code = self.word & !(EWKB_Z | EWKB_M | EWKB_SRID);
        if code < 4000 { code % 1000 } else { code }
    }

    /// Everything of the word that says how many numbers make a coordinate.
    fn dimensions(&self) -> u32 {
        (self.word & (EWKB_Z | EWKB_M)) | ((self.word & !(EWKB_Z | EWKB_M | EWKB_SRID)) / 1000)
    }

    fn expect(&self, codes: &[u32], expected: &'static str, srid: i32) -> Result<(), GeometryError> {
        const NAMES: [&str; 8] = [
            "Geometry",
            "Point",
            "LineString",
            "Polygon",
            "MultiPoint",
            "MultiLineString",
            "MultiPolygon",
            "GeometryCollection",
        ];
        let code = self.code();
        if !codes.contains(&code) {
            let name = usize::try_from(code).ok().and_then(|code| NAMES.get(code));
            let found = name.map_or_else(|| format!("type code {}", self.word), |name| (*name).to_owned());
            return Err(GeometryError::WrongType { expected, found });
        }
        match self.srid {
            // 0 is EWKB's way of saying unknown.
            Some(found) if found != 0 && i64::from(found) != i64::from(srid) => {
                Err(GeometryError::SpatialReference { expected: srid, found })
            }
            _ => Ok(()),
        }
    }
}
