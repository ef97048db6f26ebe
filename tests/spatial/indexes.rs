//! Every index answers what a plain scan answers, on the map and on random shapes and points.

use benthic_mirror::spatial::boxes::{Extent, FloatBox};
use benthic_mirror::spatial::containment::{contains, locate};
use benthic_mirror::spatial::edge_index::IndexedMultiPolygon;
use benthic_mirror::spatial::nonprofits::Nonprofits;
use benthic_mirror::spatial::points::{PackedPoints, planar_distance};
use benthic_mirror::spatial::projection::project;
use benthic_mirror::spatial::{NonprofitRow, nonprofits::NearbyNonprofit};
use geo::{Coord, MultiPolygon};
use proptest::prelude::*;

use crate::world::*;

#[test]
fn edge_index_equals_the_scan_on_the_whole_map() {
    let shapes = shapes();
    let mut seen = [0usize; 3];
    for congress in [116, 117, 118] {
        let mut points = border_points(&shapes, congress, 5);
        points.extend(random_points(&shapes, congress, 2_000, 1));
        for shape in shapes.iter().filter(|shape| shape.congress == congress) {
            let index = IndexedMultiPolygon::new(&shape.shape).unwrap();
            assert_eq!(index.vertex_count(), edges(&shape.shape).count() + ring_count(&shape.shape));
            for point in &points {
                let scanned = locate(&shape.shape, *point);
                assert_eq!(index.locate(*point), scanned, "{} at {point:?}", shape.name);
                seen[scanned as usize] += 1;
            }
        }
    }
    // The points reach every outcome often enough for the comparison to mean something.
    assert!(seen.iter().all(|count| *count > 1_000), "{seen:?}");
}

fn ring_count(shape: &MultiPolygon<f64>) -> usize {
    shape.0.iter().map(|part| 1 + part.interiors().len()).sum()
}

#[test]
fn find_equals_a_scan_over_the_congress() {
    let shapes = shapes();
    let districts = districts(&shapes);
    let mut several = 0;
    for congress in [116, 117, 118] {
        let map = districts.congress(congress).unwrap();
        let mut points = border_points(&shapes, congress, 11);
        points.extend(random_points(&shapes, congress, 500, 2));
        for point in points {
            let containing: Vec<i64> = shapes
                .iter()
                .filter(|shape| shape.congress == congress && contains(&shape.shape, point))
                .map(|shape| shape.id)
                .collect();
            let found = map.find(point);
            assert_eq!(found.map(|found| found.district.id), containing.iter().min().copied(), "{point:?}");
            assert_eq!(found.map_or(0, |found| found.count), containing.len(), "{point:?}");
            several += usize::from(containing.len() > 1);
        }
    }
    assert!(several > 20, "only {several} points lie in several districts");
}

#[test]
fn boxes_equal_a_scan_over_the_congress() {
    let shapes = shapes();
    let districts = districts(&shapes);
    let mut dice = Dice::new(5);
    for congress in [117, 118] {
        let map = districts.congress(congress).unwrap();
        for point in random_points(&shapes, congress, 1_000, 3) {
            let size = dice.between(0.0, 3e6) * f64::from(u8::from(dice.below(4) > 0));
            let query = FloatBox::around([point, at(point.x + size, point.y + size)]).unwrap();
            let scanned: Vec<i64> = shapes
                .iter()
                .filter(|shape| shape.congress == congress)
                .filter(|shape| {
                    let corners = edges(&shape.shape).map(|(start, _)| start);
                    Extent::around(corners).unwrap().outward().overlaps(&query)
                })
                .map(|shape| shape.id)
                .collect();
            let found: Vec<i64> = map.in_box(&query).iter().map(|district| district.id).collect();
            assert_eq!(found, scanned, "{query:?}");
        }
    }
}

#[test]
fn points_equal_a_scan_at_every_size_and_radius() {
    let mut dice = Dice::new(9);
    for count in [0usize, 1, 2, 15, 16, 17, 255, 256, 257, 5_000] {
        let points: Vec<Coord<f64>> = (0..count)
            .map(|_| {
                // Half of them in one town, many on the same spot.
                let spread = if dice.below(2) == 0 { 1e4 } else { 3e6 };
                at(dice.between(-spread, spread).round(), dice.between(-spread, spread))
            })
            .collect();
        let packed = PackedPoints::new(&points).unwrap();
        assert_eq!((packed.len(), packed.is_empty()), (count, count == 0));
        for _ in 0..200 {
            let center = at(dice.between(-2e4, 2e4), dice.between(-2e4, 2e4));
            // A radius that is exactly a distance, its neighbours, or any.
            let exact =
                points.get(dice.below(count.max(1))).map_or(1.0, |point| planar_distance(center, *point));
            for radius in [exact, exact.next_down(), exact.next_up(), dice.between(0.0, 4e6), 0.0] {
                let mut scanned: Vec<(u32, u64)> = (0u32..)
                    .zip(&points)
                    .map(|(number, point)| (number, planar_distance(center, *point)))
                    .filter(|(_, distance)| *distance <= radius)
                    .map(|(number, distance)| (number, distance.to_bits()))
                    .collect();
                let mut found: Vec<(u32, u64)> = packed
                    .within(center, radius)
                    .into_iter()
                    .map(|hit| (hit.number, hit.distance.to_bits()))
                    .collect();
                found.sort_unstable();
                scanned.sort_unstable();
                assert_eq!(found, scanned, "{count} points, {center:?}, radius {radius}");
            }
        }
        for (center, radius) in [(at(f64::NAN, 0.0), 1e9), (at(0.0, 0.0), f64::NAN), (at(0.0, 0.0), -1.0)] {
            assert!(packed.within(center, radius).is_empty());
        }
    }
}

#[test]
fn the_nearest_are_in_order_and_the_total_is_exact_whatever_the_cap() {
    let mut dice = Dice::new(31);
    let rows: Vec<NonprofitRow> = (0..3_000)
        .map(|number| {
            // A coarse grid, so that many are at the same distance and the identifier decides.
            let (lon, lat) = (-100.0 + dice.below(20) as f64 * 0.01, 40.0 + dice.below(20) as f64 * 0.01);
            NonprofitRow {
                ein: (number % 10 != 0).then(|| format!("{:09}", dice.below(2_000))),
                org_name: Some(format!("Organisation {number}")),
                ntee: (number % 3 != 0).then(|| format!("T{}", number % 30)),
                state: Some("KS".to_owned()),
                is_current: Some(true),
                geometry: Some(wkb_of(&geo::Point::new(lon, lat))),
            }
        })
        .collect();
    let index = Nonprofits::build(rows.clone()).unwrap();
    let center = project(-99.93, 40.07).unwrap();
    // The order by its words: distance, then EIN with null last, then the order given.
    let mut expected: Vec<(f64, bool, Option<&str>, usize)> = rows
        .iter()
        .enumerate()
        .map(|(place, row)| {
            let text = row.org_name.as_deref().unwrap();
            let number: usize = text.rsplit(' ').next().unwrap().parse().unwrap();
            assert_eq!(number, place);
            let bytes = row.geometry.as_deref().unwrap();
            let coordinate = |at: usize| f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
            let distance = planar_distance(center, project(coordinate(5), coordinate(13)).unwrap());
            (distance, row.ein.is_none(), row.ein.as_deref(), place)
        })
        .filter(|(distance, ..)| *distance <= 12_000.0)
        .collect();
    expected.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)).then(a.3.cmp(&b.3)));
    assert!(expected.len() > 500);
    for cap in [0, 1, 7, 499, expected.len() - 1, expected.len(), 100_000] {
        let nearby = index.nearby(center, 12_000.0, cap);
        assert_eq!(nearby.total, expected.len());
        let found: Vec<NearbyNonprofit<'_>> = nearby.nearest;
        assert_eq!(found.len(), cap.min(expected.len()));
        for (found, (distance, _, ein, place)) in found.iter().zip(&expected) {
            let row = &rows[*place];
            assert_eq!(found.distance_meters.to_bits(), distance.to_bits());
            assert_eq!(
                (found.ein, found.org_name, found.ntee, found.state),
                (*ein, row.org_name.as_deref(), row.ntee.as_deref(), row.state.as_deref())
            );
        }
    }
}

/// Rings on a small grid, so that points hit borders and edges cross and repeat; anything goes.
fn any_shape() -> impl Strategy<Value = MultiPolygon<f64>> {
    let vertex = (-6i32..6, -6i32..6).prop_map(|(x, y)| (f64::from(x), f64::from(y) * 0.1));
    let outline = prop::collection::vec(vertex, 1..90);
    let part = (outline.clone(), prop::collection::vec(outline, 0..3)).prop_map(|(outer, holes)| {
        let holes: Vec<&[(f64, f64)]> = holes.iter().map(Vec::as_slice).collect();
        polygon(&outer, &holes)
    });
    prop::collection::vec(part, 0..4).prop_map(multi)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn edge_index_equals_the_scan_on_any_rings(
        shape in any_shape(),
        points in prop::collection::vec((-7i32..7, -70i32..70), 40),
    ) {
        let index = IndexedMultiPolygon::new(&shape).unwrap();
        for (x, y) in points {
            let point = at(f64::from(x) * 0.5, f64::from(y) * 0.01);
            prop_assert_eq!(index.locate(point), locate(&shape, point));
        }
    }

    #[test]
    fn edge_index_equals_the_scan_on_any_numbers(
        vertices in prop::collection::vec((proptest::num::f64::ANY, proptest::num::f64::ANY), 1..40),
        point in (proptest::num::f64::ANY, proptest::num::f64::ANY),
        pick in any::<prop::sample::Index>(),
    ) {
        // Shapes from outside hold finite numbers only; the index must still neither panic nor disagree on others.
        let finite: Vec<(f64, f64)> =
            vertices.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
        let shape = multi(vec![polygon(&vertices, &[])]);
        let _ = IndexedMultiPolygon::new(&shape).unwrap().locate(at(point.0, point.1));
        if !finite.is_empty() {
            let shape = multi(vec![polygon(&finite, &[])]);
            let index = IndexedMultiPolygon::new(&shape).unwrap();
            let vertex = finite[pick.index(finite.len())];
            for point in [at(point.0, point.1), at(vertex.0, vertex.1), at(point.0, vertex.1)] {
                prop_assert_eq!(index.locate(point), locate(&shape, point));
            }
        }
    }
}
