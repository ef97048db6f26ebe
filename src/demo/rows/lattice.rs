//! Shapes with exactly shared borders: cells of a jittered lattice, joined and traced.
//!
//! Every lattice point has one position whatever shape uses it, so neighbours share their border vertex by vertex. The
//! jitter is small enough (0.08° at corners, 0.04° more at edge middles, cells of 0.5°) that no two edges can cross.

use std::collections::{BTreeMap, BTreeSet};

use geo::{Coord, LineString, MultiPolygon, Polygon};

/// Column and row of a cell, counted from 0° in half degrees.
pub(super) type Cell = (i32, i32);

/// A point of the half-cell grid: even coordinates are corners, one odd coordinate is the middle of an edge.
type Point = (i32, i32);

/// Degrees per cell.
const STEP: f64 = 0.5;
/// Column whose west edge is the antimeridian.
const ANTIMERIDIAN: i32 = -360;
/// The sphere of Web Mercator, metres.
const RADIUS: f64 = 6_378_137.0;

/// The cell that holds a place.
pub(super) fn cell_at(longitude: f64, latitude: f64) -> Cell {
    ((longitude / STEP).floor() as i32, (latitude / STEP).floor() as i32)
}

/// Middle of a cell, degrees.
pub(super) fn centre((column, row): Cell) -> (f64, f64) {
    ((f64::from(column) + 0.5) * STEP, (f64::from(row) + 0.5) * STEP)
}

/// Offset in -1..=1 that depends on the point, the axis and the seed only.
fn jitter(seed: u64, (a, b): Point, axis: u64) -> f64 {
    // The finaliser of SplitMix64, a published mixing function.
    let mut word = seed ^ ((i64::from(a) as u64) << 32) ^ (i64::from(b) as u64 & 0xffff_ffff) ^ (axis << 62);
    word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^= word >> 31;
    // 2001 steps: exact in binary floating point.
    (word % 2001) as f64 / 1000.0 - 1.0
}

/// Position of a lattice point, degrees.
fn position(seed: u64, point: Point) -> (f64, f64) {
    let (a, b) = point;
    // Points on the antimeridian stay on it, or a part would spill over the edge of the world.
    let fixed_longitude = a == 2 * ANTIMERIDIAN;
    let at = |reach: f64, base: (f64, f64)| {
        let longitude = if fixed_longitude { base.0 } else { base.0 + reach * jitter(seed, point, 1) };
        (longitude, base.1 + reach * jitter(seed, point, 2))
    };
    if a % 2 == 0 && b % 2 == 0 {
        return at(0.08, (f64::from(a) * STEP / 2.0, f64::from(b) * STEP / 2.0));
    }
    let (before, after) = if a % 2 == 0 { ((a, b - 1), (a, b + 1)) } else { ((a - 1, b), (a + 1, b)) };
    let (before, after) = (position(seed, before), position(seed, after));
    at(0.04, ((before.0 + after.0) / 2.0, (before.1 + after.1) / 2.0))
}

/// Web Mercator metres, cut to eighths so that every coordinate is a short exact decimal.
fn project((longitude, latitude): (f64, f64)) -> Coord<f64> {
    let x = RADIUS * longitude.to_radians();
    let y = RADIUS * libm::asinh(libm::tan(latitude.to_radians()));
    Coord { x: (x * 8.0).trunc() / 8.0, y: (y * 8.0).trunc() / 8.0 }
}

/// The outline of a set of cells in EPSG:3857: one polygon per connected part, holes as interior rings, exterior rings
/// clockwise as shapefiles have them.
pub(super) fn outline(cells: &BTreeSet<Cell>, seed: u64) -> MultiPolygon<f64> {
    MultiPolygon::new(parts(cells).iter().map(|part| part_outline(part, seed)).collect())
}

/// Cells connected by edges; never across the antimeridian.
fn parts(cells: &BTreeSet<Cell>) -> Vec<BTreeSet<Cell>> {
    let mut left = cells.clone();
    let mut parts = Vec::new();
    while let Some(first) = left.pop_first() {
        let mut part = BTreeSet::from([first]);
        let mut open = vec![first];
        while let Some((column, row)) = open.pop() {
            for next in [(column + 1, row), (column - 1, row), (column, row + 1), (column, row - 1)] {
                if (next.0 < ANTIMERIDIAN) == (column < ANTIMERIDIAN) && left.remove(&next) {
                    part.insert(next);
                    open.push(next);
                }
            }
        }
        parts.push(part);
    }
    parts
}

fn part_outline(part: &BTreeSet<Cell>, seed: u64) -> Polygon<f64> {
    let wraps = part.first().is_some_and(|(column, _)| *column < ANTIMERIDIAN);
    let mut exterior = LineString::new(Vec::new());
    let mut interiors = Vec::new();
    for ring in rings(part) {
        let turn: i64 = ring
            .iter()
            .zip(ring.iter().cycle().skip(1))
            .map(|(p, q)| i64::from(p.0) * i64::from(q.1) - i64::from(q.0) * i64::from(p.1))
            .sum();
        let mut coordinates = Vec::with_capacity(ring.len() * 2 + 1);
        for (index, corner) in ring.iter().enumerate() {
            let next = ring[(index + 1) % ring.len()];
            for point in [*corner, ((corner.0 + next.0) / 2, (corner.1 + next.1) / 2)] {
                let (longitude, latitude) = position(seed, point);
                coordinates.push(project((if wraps { longitude + 360.0 } else { longitude }, latitude)));
            }
        }
        coordinates.push(coordinates[0]);
        coordinates.reverse();
        let line = LineString::new(coordinates);
        if turn > 0 { exterior = line } else { interiors.push(line) }
    }
    Polygon::new(exterior, interiors)
}

/// Boundary rings of a connected part as corner points (interior to the left), each corner once per ring.
fn rings(part: &BTreeSet<Cell>) -> Vec<Vec<Point>> {
    let mut edges: BTreeMap<Point, Vec<Point>> = BTreeMap::new();
    for &(column, row) in part {
        let (west, south) = (2 * column, 2 * row);
        let corners = [(west, south), (west + 2, south), (west + 2, south + 2), (west, south + 2)];
        let beyond = [(column, row - 1), (column + 1, row), (column, row + 1), (column - 1, row)];
        for side in 0..4 {
            if !part.contains(&beyond[side]) {
                edges.entry(corners[side]).or_default().push(corners[(side + 1) % 4]);
            }
        }
    }
    let mut rings = Vec::new();
    while let Some((&start, _)) = edges.first_key_value() {
        let mut path = vec![start];
        let mut here = start;
        while let Some(next) = take_edge(&mut edges, here) {
            // A corner met again closes a ring: two parts touching there become two rings, not one that touches itself.
            match path.iter().position(|corner| *corner == next) {
                Some(at) => {
                    rings.push(path.split_off(at));
                    path.push(next);
                }
                None => path.push(next),
            }
            here = next;
        }
    }
    rings
}

fn take_edge(edges: &mut BTreeMap<Point, Vec<Point>>, from: Point) -> Option<Point> {
    let targets = edges.get_mut(&from)?;
    let target = targets.pop();
    if targets.is_empty() {
        edges.remove(&from);
    }
    target
}

#[cfg(test)]
mod tests {
    use super::*;
    use geo::{Area, Validation};

    fn block(columns: std::ops::Range<i32>, rows: std::ops::Range<i32>) -> BTreeSet<Cell> {
        columns.flat_map(|column| rows.clone().map(move |row| (column, row))).collect()
    }

    #[test]
    fn a_hole_and_what_fills_it_share_every_vertex() {
        let mut ring = block(-200..-195, 70..75);
        let middle = BTreeSet::from([(-198, 72)]);
        ring.remove(&(-198, 72));
        let (outer, inner) = (outline(&ring, 5), outline(&middle, 5));
        assert!(outer.is_valid() && inner.is_valid());
        assert_eq!(outer.0.len(), 1);
        assert_eq!(outer.0[0].interiors().len(), 1);
        let points = |line: &LineString<f64>| {
            line.0.iter().map(|c| (c.x.to_bits(), c.y.to_bits())).collect::<BTreeSet<_>>()
        };
        assert_eq!(points(&outer.0[0].interiors()[0]), points(inner.0[0].exterior()));
    }

    #[test]
    fn touching_corners_stay_valid() {
        let diagonal = BTreeSet::from([(0, 0), (1, 1)]);
        let shape = outline(&diagonal, 1);
        assert_eq!(shape.0.len(), 2);
        assert!(shape.is_valid());
        // A hole that touches the outside at one corner.
        let mut ring = block(0..4, 0..4);
        ring.remove(&(1, 1));
        ring.remove(&(0, 0));
        let shape = outline(&ring, 1);
        assert!(shape.is_valid(), "{shape:?}");
        assert_eq!((shape.0.len(), shape.0[0].interiors().len()), (1, 1));
    }

    #[test]
    fn parts_on_both_sides_of_the_antimeridian() {
        let shape = outline(&block(-362..-358, 103..105), 3);
        assert_eq!(shape.0.len(), 2);
        let edge = |value: f64| shape.0.iter().flat_map(|p| p.exterior().0.iter()).any(|c| c.x == value);
        assert!(edge(20_037_508.25) && edge(-20_037_508.25));
        assert!(shape.unsigned_area() > 0.0 && shape.is_valid());
    }
}
