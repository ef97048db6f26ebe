//! Which points a multipolygon contains, decided as PostGIS decides `ST_Contains(multipolygon, point)`.
//!
//! - Interior only: a point on a ring is on the boundary and not contained.
//! - The side of a point relative to an edge is the sign of the plain double determinant, evaluated in vertex order:
//!   `(b.x − a.x)·(p.y − a.y) − (p.x − a.x)·(b.y − a.y)`. No exact predicate: a point that rounding puts on the
//!   wrong side is on that side upstream too. Debug builds and tests compare with an exact predicate and report
//!   where the two differ.
//! - A point is on an edge only when the determinant is exactly zero and the point lies within the edge's box.
//! - Within a ring is a non-zero winding number, so a ring that overlaps itself has no holes in its overlap.
//! - Edges shorter than 1e-12 m take no part.
//! - Parts are visited in order and the first that decides wins: inside its outer ring and outside its holes is
//!   inside; on any of its rings is on the boundary, whatever later parts would say. Within a part, holes are
//!   visited in order, and the first that contains the point or carries it decides.
//! - Before all that, the shape's box must cover the point's, both as 32-bit floats rounded outward. On a map this
//!   changes nothing; with numbers so small or large that the determinant underflows or overflows, edges drop out of
//!   the winding, and the box is what keeps a point far away from being inside.
//!
//! [`contains`] is the definition, visiting every edge. [`super::edge_index`] gives the same answers faster.

use std::ops::ControlFlow;

use geo::{Coord, Kernel, MultiPolygon, Orientation, kernels::RobustKernel};

use super::boxes::FloatBox;

/// Where a point lies relative to a ring or a multipolygon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Location {
    /// Not in it and not on it.
    Outside,
    /// On one of its rings.
    Boundary,
    /// In its interior: contained.
    Inside,
}

/// Squared length in square metres below which an edge takes no part.
const NEGLIGIBLE_EDGE_SQUARED: f64 = 1e-12 * 1e-12;

/// Whether the shape contains the point, visiting every edge of every ring.
pub fn contains(shape: &MultiPolygon<f64>, point: Coord<f64>) -> bool {
    let outline = shape.0.iter().flat_map(|part| part.exterior().0.iter().copied());
    let boxes = FloatBox::around(outline).zip(FloatBox::around([point]));
    boxes.is_some_and(|(shape, point)| shape.covers(&point)) && locate(shape, point) == Location::Inside
}

/// Where the point lies by the rings alone, visiting every edge.
pub fn locate(shape: &MultiPolygon<f64>, point: Coord<f64>) -> Location {
    let in_ring = |ring: &geo::LineString<f64>| {
        let mut winding = Winding::new(point);
        for edge in ring.0.windows(2) {
            if let [start, end] = edge
                && winding.visit(*start, *end).is_break()
            {
                return Location::Boundary;
            }
        }
        winding.location()
    };
    locate_in_parts(
        shape.0.iter().map(|part| (in_ring(part.exterior()), part.interiors().iter().map(in_ring))),
    )
}

/// Combines the locations in the rings of each part, outer ring first. Both are evaluated lazily, so an index pays
/// for no ring that a former one has made irrelevant.
pub(super) fn locate_in_parts<Holes: Iterator<Item = Location>>(
    parts: impl Iterator<Item = (Location, Holes)>,
) -> Location {
    for (outer, mut holes) in parts {
        match outer {
            Location::Outside => {}
            Location::Boundary => return Location::Boundary,
            Location::Inside => match holes.find(|hole| *hole != Location::Outside) {
                None => return Location::Inside,
                Some(Location::Boundary) => return Location::Boundary,
                // In a hole: not in this part, perhaps in an island of another.
                Some(_) => {}
            },
        }
    }
    Location::Outside
}

/// The winding number of a ring around a point, fed one edge at a time in any order.
#[derive(Debug)]
pub(super) struct Winding {
    point: Coord<f64>,
    number: i64,
}

impl Winding {
    pub(super) fn new(point: Coord<f64>) -> Self {
        Self { point, number: 0 }
    }

    /// Counts one edge; breaks when the point is on it.
    #[inline]
    pub(super) fn visit(&mut self, start: Coord<f64>, end: Coord<f64>) -> ControlFlow<()> {
        let point = self.point;
        let rising = start.y <= point.y && point.y < end.y;
        let falling = end.y <= point.y && point.y < start.y;
        // An edge whose heights don't reach the point's can neither carry it nor wind around it, and a horizontal
        // one at its height can only carry it.
        if !rising && !falling && start.y != point.y && end.y != point.y {
            return ControlFlow::Continue(());
        }
        let (dx, dy) = (end.x - start.x, end.y - start.y);
        if dx * dx + dy * dy < NEGLIGIBLE_EDGE_SQUARED {
            return ControlFlow::Continue(());
        }
        let side = side(start, end, point);
        if side == 0.0 && within_box(start, end, point) {
            return ControlFlow::Break(());
        }
        if rising && side > 0.0 {
            self.number += 1;
        } else if falling && side < 0.0 {
            self.number -= 1;
        }
        ControlFlow::Continue(())
    }

    /// The verdict once every edge has been counted.
    pub(super) fn location(&self) -> Location {
        if self.number == 0 { Location::Outside } else { Location::Inside }
    }
}

/// Twice the signed area of the triangle, positive when the point is left of the edge.
#[inline]
fn side(start: Coord<f64>, end: Coord<f64>, point: Coord<f64>) -> f64 {
    let determinant = (end.x - start.x) * (point.y - start.y) - (point.x - start.x) * (end.y - start.y);
    #[cfg(debug_assertions)]
    if differs_from_exact(determinant, start, end, point) {
        tracing::debug!(
            ?start,
            ?end,
            ?point,
            determinant,
            "the plain determinant and the exact predicate disagree on the side of an edge"
        );
    }
    determinant
}

/// Whether the exact sign of the determinant differs from the computed one.
#[cfg(debug_assertions)]
fn differs_from_exact(determinant: f64, start: Coord<f64>, end: Coord<f64>, point: Coord<f64>) -> bool {
    exact_sign(start, end, point) != determinant.partial_cmp(&0.0)
}

/// The sign of the determinant in exact arithmetic; the cross-check of the plain one.
pub fn exact_sign(start: Coord<f64>, end: Coord<f64>, point: Coord<f64>) -> Option<std::cmp::Ordering> {
    Some(match RobustKernel::orient2d(start, end, point) {
        Orientation::CounterClockwise => std::cmp::Ordering::Greater,
        Orientation::Clockwise => std::cmp::Ordering::Less,
        Orientation::Collinear => std::cmp::Ordering::Equal,
    })
}

fn within_box(start: Coord<f64>, end: Coord<f64>, point: Coord<f64>) -> bool {
    let between = |a: f64, b: f64, value: f64| a.min(b) <= value && value <= a.max(b);
    between(start.x, end.x, point.x) && between(start.y, end.y, point.y)
}
