//! The plain determinant against an exact predicate: where they differ, and that nothing else does.

use std::cmp::Ordering;

use benthic_mirror::spatial::containment::{Location, exact_sign, locate};
use geo::{Coord, MultiPolygon};

use crate::world::*;

/// Containment by the same rules with exact arithmetic, written the other way round: crossings of a ray, by the
/// exact side, instead of an accumulated winding. Right for simple rings only.
fn exactly_inside(shape: &MultiPolygon<f64>, point: Coord<f64>) -> Location {
    let mut crossings = 0;
    for (start, end) in edges(shape) {
        let side = exact_sign(start, end, point).unwrap();
        let in_box = point.x >= start.x.min(end.x)
            && point.x <= start.x.max(end.x)
            && point.y >= start.y.min(end.y)
            && point.y <= start.y.max(end.y);
        if side == Ordering::Equal && in_box {
            return Location::Boundary;
        }
        let (low, high, side) =
            if start.y <= end.y { (start, end, side) } else { (end, start, side.reverse()) };
        if low.y <= point.y && point.y < high.y && side == Ordering::Greater {
            crossings += 1;
        }
    }
    if crossings % 2 == 1 { Location::Inside } else { Location::Outside }
}

#[test]
fn random_points_never_depend_on_the_predicate() {
    let shapes = shapes();
    let mut inside = 0;
    for point in random_points(&shapes, 118, 2_000, 17) {
        for shape in shapes.iter().filter(|shape| shape.congress == 118) {
            let plain = locate(&shape.shape, point);
            assert_eq!(plain, exactly_inside(&shape.shape, point), "{} at {point:?}", shape.name);
            inside += usize::from(plain == Location::Inside);
        }
    }
    assert!(inside > 500, "{inside}");
}

#[test]
fn on_borders_rounding_decides_where_it_can() {
    let shapes = shapes();
    for (congress, expected) in [(118, 0..=40), (117, 5..=400)] {
        let (mut same, mut differs) = (0, 0);
        for point in border_points(&shapes, congress, 1 + 12 * usize::from(congress == 118)) {
            for shape in shapes.iter().filter(|shape| shape.congress == congress) {
                if locate(&shape.shape, point) == exactly_inside(&shape.shape, point) {
                    same += 1;
                } else {
                    differs += 1;
                }
            }
        }
        // On a map of ordinary size the two predicates hardly ever differ. Where they can, they must: otherwise an
        // exact predicate in the plain one's place would pass every other test too.
        assert!(expected.contains(&differs), "congress {congress}: {differs} different, {same} alike");
    }
}

#[test]
fn a_point_beside_a_shared_border_is_in_neither_district_when_rounding_says_so() {
    // (0.3 − 0.1)·… : exactly left of the border, but the plain determinant is zero in both directions, so the
    // point is on both borders and in no district.
    let shapes = shapes();
    let pair: Vec<_> =
        shapes.iter().filter(|shape| ["across the origin", "its neighbour"].contains(&shape.name)).collect();
    assert_eq!(pair.len(), 2);
    let mut neither = 0;
    for point in border_points(&shapes, 117, 1) {
        let plain = pair.iter().map(|shape| locate(&shape.shape, point));
        let exact = pair.iter().map(|shape| exactly_inside(&shape.shape, point));
        let on_both = plain.filter(|location| *location == Location::Boundary).count() == 2;
        neither +=
            usize::from(on_both && exact.filter(|location| *location == Location::Inside).count() == 1);
    }
    assert!(neither > 0);
}
