//! Geometry nobody should send: each kind has one defined outcome, and no bytes at all panic.

use benthic_mirror::spatial::containment::{Location, contains, locate};
use benthic_mirror::spatial::geometry::{GeometryError, decode_multipolygon, decode_point};
use benthic_mirror::spatial::{DistrictRow, Districts, NonprofitRow, Nonprofits};
use geo::{Coord, Geometry, LineString, MultiPolygon, Polygon};
use proptest::prelude::*;
use wkb::Endianness;
use wkb::writer::{WriteOptions, write_geometry};

use crate::world::*;

const SRID_FLAG: u32 = 0x2000_0000;
const Z_FLAG: u32 = 0x8000_0000;
const M_FLAG: u32 = 0x4000_0000;

/// WKB written by hand, so that anything can be said in it.
struct Writer {
    bytes: Vec<u8>,
    little: bool,
}

impl Writer {
    fn new(little: bool) -> Self {
        Self { bytes: Vec::new(), little }
    }

    fn header(mut self, word: u32) -> Self {
        self.bytes.push(u8::from(self.little));
        self.number(word)
    }

    fn number(mut self, value: u32) -> Self {
        self.bytes.extend(if self.little { value.to_le_bytes() } else { value.to_be_bytes() });
        self
    }

    fn doubles(mut self, values: &[f64]) -> Self {
        for value in values {
            self.bytes.extend(if self.little { value.to_le_bytes() } else { value.to_be_bytes() });
        }
        self
    }

    /// A ring of a count and its coordinates.
    fn ring(self, points: &[[f64; 2]]) -> Self {
        let writer = self.number(points.len() as u32);
        points.iter().fold(writer, |writer, point| writer.doubles(point))
    }
}

const SQUARE: [[f64; 2]; 5] = [[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0], [0.0, 0.0]];

fn square(writer: Writer) -> Writer {
    writer.header(3).number(1).ring(&SQUARE)
}

fn decode(bytes: &[u8]) -> Result<Option<MultiPolygon<f64>>, GeometryError> {
    decode_multipolygon(bytes, 3857)
}

/// Whether the decoded shape contains (5, 5).
fn holds_the_middle(bytes: &[u8]) -> bool {
    locate(&decode(bytes).unwrap().unwrap(), at(5.0, 5.0)) == Location::Inside
}

#[test]
fn well_formed_bytes_in_every_notation() {
    for little in [true, false] {
        let plain = square(Writer::new(little)).bytes;
        assert!(holds_the_middle(&plain));
        let with_srid = Writer::new(little).header(3 | SRID_FLAG).number(3857).number(1).ring(&SQUARE).bytes;
        assert!(holds_the_middle(&with_srid));
        let unknown_srid = Writer::new(little).header(3 | SRID_FLAG).number(0).number(1).ring(&SQUARE).bytes;
        assert!(holds_the_middle(&unknown_srid));
        let parts = square(square(Writer::new(little).header(6).number(2))).bytes;
        assert_eq!(decode(&parts).unwrap().unwrap().0.len(), 2);
        let part_with_srid = Writer::new(little)
            .header(6 | SRID_FLAG)
            .number(3857)
            .number(1)
            .header(3 | SRID_FLAG)
            .number(3857)
            .number(1)
            .ring(&SQUARE)
            .bytes;
        assert!(holds_the_middle(&part_with_srid));
        // Z, M and both, in the ISO and the EWKB notation: the plane part counts.
        for (word, extra) in
            [(1003, 1), (2003, 1), (3003, 2), (3 | Z_FLAG, 1), (3 | M_FLAG, 1), (3 | Z_FLAG | M_FLAG, 2)]
        {
            let writer = Writer::new(little).header(word).number(1).number(5);
            let bytes = SQUARE
                .iter()
                .fold(writer, |writer, point| writer.doubles(point).doubles(&vec![f64::NAN; extra]))
                .bytes;
            assert!(holds_the_middle(&bytes), "{word:#x}");
        }
        let point = Writer::new(little).header(1).doubles(&[-104.99, 39.74]).bytes;
        assert_eq!(decode_point(&point, 4326), Ok(Some(at(-104.99, 39.74))));
    }
}

#[test]
fn empty_geometry_is_no_geometry() {
    let empty_multi = Writer::new(true).header(6).number(0).bytes;
    let empty_polygon = Writer::new(true).header(3).number(0).bytes;
    let empty_ring = Writer::new(true).header(3).number(1).number(0).bytes;
    let hole_without_outline = Writer::new(true).header(3).number(2).number(0).ring(&SQUARE).bytes;
    let empty_parts = Writer::new(true).header(6).number(2).header(3).number(0).header(3).number(0).bytes;
    for bytes in [empty_multi, empty_polygon, empty_ring, hole_without_outline, empty_parts] {
        assert_eq!(decode(&bytes), Ok(None));
    }
    let one_part = square(Writer::new(true).header(6).number(2).header(3).number(0)).bytes;
    assert_eq!(decode(&one_part).unwrap().unwrap().0.len(), 1);
    let empty_point = Writer::new(true).header(1).doubles(&[f64::NAN, f64::NAN]).bytes;
    assert_eq!(decode_point(&empty_point, 4326), Ok(None));
}

#[test]
fn what_cannot_be_used_is_named() {
    let malformed = |bytes: &[u8]| matches!(decode(bytes), Err(GeometryError::Malformed { .. }));
    let whole = square(Writer::new(true)).bytes;
    for end in 0..whole.len() {
        assert!(malformed(&whole[..end]), "cut at {end}");
    }
    assert!(malformed(&[&whole[..], &[0]].concat()), "trailing byte");
    assert!(malformed(&[7, 3, 0, 0, 0, 0, 0, 0, 0]), "byte order");
    // Counts that promise more than there is, up to the largest: no allocation by a promise.
    for count in [2, 1_000, u32::MAX] {
        assert!(malformed(&Writer::new(true).header(6).number(count).bytes));
        assert!(malformed(&Writer::new(true).header(3).number(count).ring(&SQUARE).bytes));
        assert!(malformed(&Writer::new(true).header(3).number(1).number(count).bytes));
    }
    // A part in another byte order or with other dimensions would be misread by a decoder that trusts the whole.
    let mut mixed_order = Writer::new(true).header(6).number(1);
    mixed_order.little = false;
    assert!(decode(&square(mixed_order).bytes).is_err());
    assert!(
        decode(&Writer::new(true).header(6).number(1).header(1003).number(1).ring(&SQUARE).bytes).is_err()
    );
    assert!(malformed(&Writer::new(true).header(1003 | SRID_FLAG).number(3857).number(0).bytes));

    let wrong_type = |bytes: &[u8], name: &str| match decode(bytes) {
        Err(GeometryError::WrongType { found, .. }) => assert!(found.contains(name), "{found}"),
        other => panic!("{other:?}"),
    };
    wrong_type(&Writer::new(true).header(1).doubles(&[1.0, 2.0]).bytes, "Point");
    wrong_type(&square(Writer::new(true).header(7).number(1)).bytes, "GeometryCollection");
    // CurvePolygon and MultiSurface share their low bits with plain types.
    wrong_type(&Writer::new(true).header(10).number(0).bytes, "10");
    wrong_type(&Writer::new(true).header(11).number(0).bytes, "11");
    wrong_type(&Writer::new(true).header(6 | 0x1000_0000).number(0).bytes, "type code");
    wrong_type(&Writer::new(true).header(6).number(1).header(2).number(0).bytes, "LineString");
    assert!(matches!(decode_point(&whole, 4326), Err(GeometryError::WrongType { .. })));

    let elsewhere = Writer::new(true).header(3 | SRID_FLAG).number(4326).number(1).ring(&SQUARE).bytes;
    assert_eq!(decode(&elsewhere), Err(GeometryError::SpatialReference { expected: 3857, found: 4326 }));
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let ring = [[0.0, 0.0], [10.0, 0.0], [10.0, bad], [0.0, 0.0]];
        assert_eq!(
            decode(&Writer::new(true).header(3).number(1).ring(&ring).bytes),
            Err(GeometryError::NotFinite)
        );
        let point = Writer::new(true).header(1).doubles(&[1.0, bad]).bytes;
        assert_eq!(decode_point(&point, 4326), Err(GeometryError::NotFinite));
    }
}

/// A shape's name, and points with where they lie.
type Case<'a> = (&'a str, &'a [(f64, f64, Location)]);

/// Shapes that are no valid polygons, with points and where those lie, worked out by hand from the rules.
#[test]
fn invalid_rings_have_defined_insides() {
    use Location::{Boundary, Inside, Outside};
    let shapes = shapes();
    let named = |name: &str| shapes.iter().find(|shape| shape.name == name).unwrap();
    let cases: &[Case<'_>] = &[
        (
            "bow-tie",
            &[
                (1.0, 5.0, Inside),
                (9.0, 5.0, Inside),
                (5.0, 1.0, Outside),
                (5.0, 5.0, Boundary),
                (5.0, 9.0, Outside),
            ],
        ),
        // Winding number two is still inside.
        ("a ring that goes round twice", &[(22.0, 2.0, Inside), (28.0, 8.0, Inside), (25.0, 2.0, Boundary)]),
        (
            "repeated points and a spike",
            &[(45.0, 2.0, Inside), (40.0, 0.0, Boundary), (55.0, 5.0, Boundary), (55.0, 4.0, Outside)],
        ),
        ("no area", &[(80.0, 5.0, Boundary), (75.0, 2.5, Boundary), (80.0, 5.1, Outside)]),
        // Every edge is shorter than counts, so nothing is even on it.
        ("one point", &[(95.0, 5.0, Outside)]),
        // On the first part's border the first part decides, though the point is inside the second; inside the first
        // part the first decides, though the point is on the second's border.
        (
            "overlapping parts",
            &[(107.0, 7.0, Inside), (110.0, 7.0, Boundary), (105.0, 7.0, Inside), (112.0, 12.0, Inside)],
        ),
        (
            "holes that touch, overlap, stick out and lie outside",
            &[
                (122.0, 7.0, Outside),
                (131.0, 11.0, Outside),
                (129.0, 9.0, Outside),
                (134.0, 14.0, Outside),
                (120.0, 7.0, Boundary),
                (132.0, 9.0, Boundary),
                // On the second hole's border and inside the first: the first decides.
                (130.0, 11.0, Outside),
                (142.0, 3.0, Outside),
                (152.0, 2.0, Outside),
                (137.0, 18.0, Inside),
            ],
        ),
    ];
    for (name, points) in cases {
        for (x, y, expected) in *points {
            assert_eq!(locate(&named(name).shape, at(*x, *y)), *expected, "{name} at {x}, {y}");
        }
    }
}

#[test]
fn an_open_ring_is_closed() {
    let open = Writer::new(true).header(3).number(1).ring(&SQUARE[..4]).bytes;
    let shape = decode(&open).unwrap().unwrap();
    assert_eq!(locate(&shape, at(5.0, 5.0)), Location::Inside);
    assert_eq!(locate(&shape, at(0.0, 5.0)), Location::Boundary);
    for points in 1..3 {
        let stump = Writer::new(true).header(3).number(1).ring(&SQUARE[..points]).bytes;
        assert_eq!(locate(&decode(&stump).unwrap().unwrap(), at(5.0, 5.0)), Location::Outside);
    }
}

#[test]
fn numbers_that_underflow_contain_nothing_outside_the_box() {
    // The determinant of the long edges underflows to zero beside subnormal coordinates, so the ring seems to wind
    // around a point ten thousand kilometres to its west.
    let tiny = 1.390671161567e-309;
    let outline = [(0.0, -9_922_522.0), (0.0, tiny), (0.0, 0.0), (0.0, tiny), (0.0, 0.0)];
    let shape = multi(vec![polygon(&outline, &[])]);
    let west = at(-9_830_442.0, 0.0);
    assert_eq!(locate(&shape, west), Location::Inside);
    assert!(!contains(&shape, west));
}

#[test]
fn unusable_rows_are_left_out_and_reported() {
    let row = |id: i64, geometry: Option<Vec<u8>>| DistrictRow {
        id,
        statename: None,
        district: None,
        district_id: None,
        congress_number: 118,
        geometry,
    };
    let districts = Districts::build([
        row(4, Some(square(Writer::new(true)).bytes)),
        row(3, Some(vec![1, 2, 3])),
        row(2, None),
        row(1, Some(Writer::new(true).header(6).number(0).bytes)),
    ]);
    let map = districts.congress(118).unwrap();
    assert_eq!((map.len(), map.is_empty()), (1, false));
    assert_eq!(map.find(at(5.0, 5.0)).unwrap().district.id, 4);
    // Null and empty are nowhere, which is no fault.
    let unusable: Vec<&str> = map.unusable().iter().map(|unusable| unusable.row.as_str()).collect();
    assert_eq!(unusable, ["3"]);

    let nonprofit = |ein: &str, is_current, geometry: Option<Vec<u8>>| NonprofitRow {
        ein: Some(ein.to_owned()),
        org_name: None,
        ntee: None,
        state: None,
        is_current,
        geometry,
    };
    let point = |lon: f64, lat: f64| Some(Writer::new(true).header(1).doubles(&[lon, lat]).bytes);
    let nonprofits = Nonprofits::build([
        nonprofit("1", Some(true), point(0.0, 0.0)),
        nonprofit("2", Some(false), point(0.0, 0.0)),
        nonprofit("3", None, point(0.0, 0.0)),
        nonprofit("4", Some(true), None),
        nonprofit("5", Some(true), point(0.0, 90.5)),
        nonprofit("6", Some(true), Some(vec![1])),
        nonprofit("7", Some(false), Some(vec![1])),
    ])
    .unwrap();
    assert_eq!((nonprofits.len(), nonprofits.is_empty()), (1, false));
    let (count, unusable) = nonprofits.unusable();
    assert_eq!(count, 2);
    assert!(unusable[0].reason.contains("latitude 90.5 has no projection"), "{}", unusable[0].reason);
    assert_eq!(unusable.iter().map(|unusable| unusable.row.as_str()).collect::<Vec<_>>(), ["5", "6"]);
}

#[test]
fn an_empty_relation_answers_and_does_not_fail() {
    let nonprofits = Nonprofits::build([]).unwrap();
    assert!(nonprofits.is_empty());
    assert_eq!(nonprofits.nearby(at(0.0, 0.0), 1e9, 10).total, 0);
    let districts = Districts::build([]);
    assert_eq!(districts.congresses().count(), 0);
    assert!(districts.congress(118).is_none());
}

/// Valid WKB of some geometry, to be damaged.
fn some_wkb() -> impl Strategy<Value = Vec<u8>> {
    let points = prop::collection::vec((-1e7..1e7f64, -1e7..1e7f64), 0..12);
    let polygon = prop::collection::vec(points, 1..4).prop_map(|rings| {
        let mut rings = rings.into_iter().map(|ring| ring.into_iter().collect::<LineString<f64>>());
        Polygon::new(rings.next().unwrap(), rings.collect())
    });
    (prop::collection::vec(polygon, 0..4), any::<bool>(), 0..3).prop_map(|(parts, little, kind)| {
        let geometry = match kind {
            0 => Geometry::MultiPolygon(MultiPolygon::new(parts)),
            1 => parts.into_iter().next().map_or_else(|| geo::Point::new(1.0, 2.0).into(), Geometry::Polygon),
            _ => Geometry::Point(geo::Point::new(parts.len() as f64, 2.0)),
        };
        let mut bytes = Vec::new();
        let endianness = if little { Endianness::LittleEndian } else { Endianness::BigEndian };
        write_geometry(&mut bytes, &geometry, &WriteOptions { endianness }).unwrap();
        bytes
    })
}

/// Decodes and, when that works, asks: nothing may panic.
fn use_anyhow(bytes: &[u8]) {
    let _ = decode_point(bytes, 4326);
    if let Ok(Some(shape)) = decode(bytes) {
        let points: Vec<Coord<f64>> = edges(&shape).map(|(start, _)| start).chain([at(0.0, 0.0)]).collect();
        let districts = Districts::build([DistrictRow {
            id: 1,
            statename: None,
            district: None,
            district_id: None,
            congress_number: 1,
            geometry: Some(bytes.to_vec()),
        }]);
        let map = districts.congress(1).unwrap();
        for point in points {
            let expected = contains(&shape, point);
            assert_eq!(map.find(point).is_some(), expected, "{point:?} in {shape:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        use_anyhow(&bytes);
    }

    #[test]
    fn no_damaged_geometry_panics(
        bytes in some_wkb(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
        cuts in any::<bool>(),
    ) {
        let mut bytes = bytes;
        for (place, value) in damage {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        if cuts {
            bytes.truncate(cut.index(bytes.len()));
        }
        use_anyhow(&bytes);
    }
}
