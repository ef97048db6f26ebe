//! The boundaries: a partition with exactly shared borders, a hole, several parts, and a box around the world.

use std::collections::{BTreeMap, BTreeSet};

use benthic_mirror::demo::{self, DemoRow};
use geo::{Area, BoundingRect, Contains, Geometry, LineString, MultiPolygon, Point, Validation};

const HALF_WORLD: f64 = 20_037_508.342_789_244;

/// Coordinates of a vertex, bit for bit.
type Corner = (u64, u64);

fn districts(congress: i64) -> Vec<(DemoRow<'static>, &'static MultiPolygon<f64>)> {
    demo::relation("up_cdmaps.congressional_districts")
        .unwrap()
        .rows()
        .filter(|row| row.int("congress_number") == Some(congress))
        .filter_map(|row| match &row.get("geom").as_geometry()?.shape {
            Geometry::MultiPolygon(shape) => Some((row, shape)),
            _ => None,
        })
        .collect()
}

fn rings(shape: &MultiPolygon<f64>) -> impl Iterator<Item = &LineString<f64>> {
    shape.0.iter().flat_map(|polygon| std::iter::once(polygon.exterior()).chain(polygon.interiors()))
}

fn mercator(longitude: f64, latitude: f64) -> Point<f64> {
    let radius = 6_378_137.0;
    Point::new(radius * longitude.to_radians(), radius * latitude.to_radians().tan().asinh())
}

#[test]
fn both_congresses_are_drawn_and_valid() {
    for congress in [117, 118] {
        let drawn = districts(congress);
        assert!(drawn.len() > 100);
        for (row, shape) in &drawn {
            assert!(shape.is_valid(), "{:?}", row.text("district_id"));
            assert!(shape.unsigned_area() > 0.0);
        }
    }
    let undrawn = demo::relation("up_cdmaps.congressional_districts")
        .unwrap()
        .rows()
        .filter(|row| row.get("geom").is_null());
    assert_eq!(undrawn.count(), 3);
}

/// Every edge is used once in each direction at most, and inner borders exactly twice: no gap, no overlap.
#[test]
fn neighbours_share_their_borders_vertex_by_vertex() {
    for congress in [117, 118] {
        let mut edges: BTreeMap<(Corner, Corner), usize> = BTreeMap::new();
        let drawn = districts(congress);
        for (_, shape) in &drawn {
            for ring in rings(shape) {
                for edge in ring.lines() {
                    let key = |c: geo::Coord<f64>| (c.x.to_bits(), c.y.to_bits());
                    *edges.entry((key(edge.start), key(edge.end))).or_default() += 1;
                }
            }
        }
        assert!(
            edges.values().all(|count| *count == 1),
            "an edge runs twice in one direction: districts overlap"
        );
        let shared = edges.keys().filter(|(start, end)| edges.contains_key(&(*end, *start))).count();
        assert!(shared * 2 > edges.len(), "{shared} of {} edges are shared", edges.len());
        // The pieces add up to the area inside the outer edges: sum of areas by the shoelace rule over unshared edges.
        let area: f64 = drawn.iter().map(|(_, shape)| shape.unsigned_area()).sum();
        let outline: f64 = edges
            .keys()
            .filter(|(start, end)| !edges.contains_key(&(*end, *start)))
            .map(|(start, end)| {
                let value = |bits: u64| f64::from_bits(bits);
                (value(end.0) * value(start.1) - value(start.0) * value(end.1)) / 2.0
            })
            .sum();
        assert!((area - outline).abs() / area < 1e-9, "{area} {outline}");
    }
}

#[test]
fn an_enclave_fills_its_neighbours_hole_exactly() {
    let drawn = districts(118);
    let points = |ring: &LineString<f64>| {
        ring.0.iter().map(|c| (c.x.to_bits(), c.y.to_bits())).collect::<BTreeSet<_>>()
    };
    let holes: Vec<_> =
        drawn.iter().flat_map(|(_, shape)| shape.0.iter()).flat_map(|polygon| polygon.interiors()).collect();
    assert!(holes.len() >= 4, "Texas, Colorado, California and Nevada have one each");
    let filled = holes
        .iter()
        .filter(|hole| {
            drawn.iter().any(|(_, shape)| shape.0.iter().any(|part| points(part.exterior()) == points(hole)))
        })
        .count();
    assert_eq!(filled, holes.len());
    // A whole district lies in a hole; and a part of another does.
    let enclave = drawn.iter().any(|(_, shape)| {
        shape.0.len() == 1 && holes.iter().any(|h| points(h) == points(shape.0[0].exterior()))
    });
    let exclave = drawn.iter().any(|(_, shape)| {
        shape.0.len() > 1
            && shape.0.iter().any(|part| holes.iter().any(|h| points(h) == points(part.exterior())))
    });
    assert!(enclave && exclave);
}

#[test]
fn alaska_spans_the_world() {
    let (row, shape) =
        districts(118).into_iter().find(|(row, _)| row.text("statename") == Some("Alaska")).unwrap();
    assert_eq!(row.int("district"), Some(0));
    assert!(shape.0.len() > 1);
    let bounds = shape.bounding_rect().unwrap();
    assert!(bounds.min().x < -HALF_WORLD + 1.0 && bounds.min().x >= -HALF_WORLD);
    assert!(bounds.max().x > HALF_WORLD - 1.0 && bounds.max().x <= HALF_WORLD);
    let norfolk = (mercator(1.2823954, 52.6185576), mercator(1.3023954, 52.6385576));
    assert!(bounds.min().y <= norfolk.1.y() && bounds.max().y >= norfolk.0.y(), "its box must reach Norfolk");
    // Both sides of the antimeridian are inside.
    for longitude in [-179.3, 179.3] {
        assert!(shape.contains(&mercator(longitude, 52.4)), "{longitude}");
    }
}

#[test]
fn at_large_states_have_one_district_numbered_zero() {
    for name in ["Alaska", "Delaware", "North Dakota", "South Dakota", "Vermont", "Wyoming"] {
        let numbers: Vec<_> = districts(118)
            .iter()
            .filter(|(row, _)| row.text("statename") == Some(name))
            .map(|(row, _)| row.int("district"))
            .collect();
        assert_eq!(numbers, [Some(0)], "{name}");
    }
    let montana = |congress| {
        districts(congress).iter().filter(|(row, _)| row.text("statename") == Some("Montana")).count()
    };
    assert_eq!((montana(117), montana(118)), (1, 2));
}

#[test]
fn most_recipients_lie_in_the_district_their_row_names() {
    let drawn = districts(118);
    let by_number: BTreeMap<(&str, i64), &MultiPolygon<f64>> = drawn
        .iter()
        .map(|(row, shape)| ((row.text("statename").unwrap_or(""), row.int("district").unwrap()), *shape))
        .collect();
    let names: BTreeMap<&str, &str> = demo::relation("usaspending.state_data")
        .unwrap()
        .rows()
        .filter_map(|row| Some((row.text("code")?, row.text("name")?)))
        .collect();
    let (mut inside, mut placed) = (0, 0);
    for entity in demo::relation("usaspending.all_entities").unwrap().rows() {
        let Some(Geometry::Point(point)) =
            entity.get("geom_point").as_geometry().map(|geometry| &geometry.shape)
        else {
            continue;
        };
        let number: i64 = entity.text("congressional_district").unwrap().parse().unwrap();
        let Some(shape) = by_number.get(&(names[entity.text("state").unwrap()], number)) else { continue };
        placed += 1;
        inside += usize::from(shape.contains(&mercator(point.x(), point.y())));
    }
    assert!(placed > 1_500 && inside * 100 > placed * 80, "{inside} of {placed}");
}

#[test]
fn coordinates_survive_their_text() {
    for relation in &demo::data().relations {
        for row in relation.rows() {
            for geometry in row.values().iter().filter_map(|value| value.as_geometry()) {
                let text = demo::geometry_json(geometry);
                let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
                let mut read = Vec::new();
                collect(&parsed["coordinates"], &mut read);
                let held: Vec<f64> =
                    geo::CoordsIter::coords_iter(&geometry.shape).flat_map(|c| [c.x, c.y]).collect();
                assert_eq!(read, held, "{}", relation.source());
            }
        }
    }
}

fn collect(value: &serde_json::Value, into: &mut Vec<f64>) {
    match value {
        serde_json::Value::Array(items) => items.iter().for_each(|item| collect(item, into)),
        other => into.push(other.to_string().parse().unwrap()),
    }
}
