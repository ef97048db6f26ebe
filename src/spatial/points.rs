//! A packed tree over planar points: everything within a radius, counted exactly.
//!
//! Points are sorted once (by x into vertical slices, by y within a slice) and kept in flat arrays, sixteen to a
//! leaf; above the leaves are the boxes of sixteen leaves, of sixteen of those, and so on. Neighbours on the map are
//! neighbours in memory, a query opens few leaves, and nothing points anywhere, so the arrays can be stored and
//! opened as they are. `rstar` would answer too, but its nodes are scattered over the heap, three to four times the
//! size for two million points, and can't be stored; the ready-made packed trees measure distances in their own
//! way, while here the arithmetic is the answer.
//!
//! The distance is `sqrt(dx² + dy²)`, evaluated plainly, and a point belongs to the answer when that is `<=` the
//! radius, as PostGIS computes `ST_Distance` and `ST_DWithin` between points. A box is skipped when the distance to
//! its nearest side, by the same arithmetic, is larger than the radius. Rounding is monotonic in each step, so that
//! distance is never above the one of a point in the box: skipping loses nothing, to the last bit.

use geo::Coord;

/// Points per leaf, and boxes per box.
const FAN_OUT: usize = 16;

/// Points in the plane, ready for radius queries.
#[derive(Debug)]
pub struct PackedPoints {
    /// The points in packed order.
    points: Vec<Coord<f64>>,
    /// The caller's number of each point: its place in what was given.
    numbers: Vec<u32>,
    /// South-west and north-east corners of the boxes of all levels, leaves first.
    boxes: Vec<(Coord<f64>, Coord<f64>)>,
    /// Where each level begins in `boxes`, with the end of the last.
    levels: Vec<usize>,
}

/// A point within the radius.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointHit {
    /// The caller's number of the point.
    pub number: u32,
    /// Planar distance in metres.
    pub distance: f64,
}

/// More points than the tree can number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{given} points, more than the {} a point index can number", u32::MAX)]
pub struct TooManyPoints {
    /// How many were given.
    pub given: usize,
}

/// The plain planar distance between two points, in the unit of their coordinates.
#[inline]
pub fn planar_distance(from: Coord<f64>, to: Coord<f64>) -> f64 {
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    (dx * dx + dy * dy).sqrt()
}

impl PackedPoints {
    /// Packs finite points; a point's number is its place in the slice.
    pub fn new(given: &[Coord<f64>]) -> Result<Self, TooManyPoints> {
        let count = u32::try_from(given.len()).map_err(|_| TooManyPoints { given: given.len() })?;
        let coordinate = |number: &u32| given[*number as usize];
        let mut numbers: Vec<u32> = (0..count).collect();
        // Sort-tile-recursive packing: as many slices as leaves in a slice, ties by number for one result everywhere.
        let by_x = |a: &u32, b: &u32| coordinate(a).x.total_cmp(&coordinate(b).x).then(a.cmp(b));
        let by_y = |a: &u32, b: &u32| coordinate(a).y.total_cmp(&coordinate(b).y).then(a.cmp(b));
        numbers.sort_unstable_by(by_x);
        let slices = (given.len().div_ceil(FAN_OUT) as f64).sqrt().ceil().max(1.0) as usize;
        let slice = given.len().div_ceil(slices).next_multiple_of(FAN_OUT).max(FAN_OUT);
        for column in numbers.chunks_mut(slice) {
            column.sort_unstable_by(by_y);
        }
        let points: Vec<Coord<f64>> = numbers.iter().map(coordinate).collect();
        let mut boxes: Vec<_> =
            points.chunks(FAN_OUT).map(|leaf| bounds(leaf.iter().map(|point| (*point, *point)))).collect();
        let mut levels = vec![0, boxes.len()];
        let mut level = 0..boxes.len();
        while level.len() > 1 {
            let above: Vec<_> =
                boxes[level].chunks(FAN_OUT).map(|group| bounds(group.iter().copied())).collect();
            level = boxes.len()..boxes.len() + above.len();
            boxes.extend(above);
            levels.push(boxes.len());
        }
        Ok(Self { points, numbers, boxes, levels })
    }

    /// How many points there are.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Every point whose distance from the centre is at most the radius, in no order. A centre or radius that isn't
    /// a number, or a negative radius, is near nothing.
    pub fn within(&self, center: Coord<f64>, radius: f64) -> Vec<PointHit> {
        let mut hits = Vec::new();
        if let Some(top) = self.levels.len().checked_sub(2) {
            self.visit(top, 0..self.levels[top + 1] - self.levels[top], center, radius, &mut hits);
        }
        hits
    }

    fn visit(
        &self,
        level: usize,
        boxes: std::ops::Range<usize>,
        center: Coord<f64>,
        radius: f64,
        hits: &mut Vec<PointHit>,
    ) {
        let first = self.levels[level];
        for position in boxes {
            let (min, max) = self.boxes[first + position];
            let nearest = Coord { x: center.x.max(min.x).min(max.x), y: center.y.max(min.y).min(max.y) };
            // Asked this way round so that NaN opens nothing.
            let may_hold_hits = planar_distance(center, nearest) <= radius;
            if !may_hold_hits {
                continue;
            }
            let below = position * FAN_OUT;
            if let Some(lower) = level.checked_sub(1) {
                let end = (below + FAN_OUT).min(self.levels[lower + 1] - self.levels[lower]);
                self.visit(lower, below..end, center, radius, hits);
                continue;
            }
            let end = (below + FAN_OUT).min(self.points.len());
            for (point, number) in self.points[below..end].iter().zip(&self.numbers[below..end]) {
                let distance = planar_distance(center, *point);
                if distance <= radius {
                    hits.push(PointHit { number: *number, distance });
                }
            }
        }
    }
}

/// The box around some boxes.
fn bounds(boxes: impl Iterator<Item = (Coord<f64>, Coord<f64>)>) -> (Coord<f64>, Coord<f64>) {
    let nothing =
        (Coord { x: f64::INFINITY, y: f64::INFINITY }, Coord { x: f64::NEG_INFINITY, y: f64::NEG_INFINITY });
    boxes.fold(nothing, |(low, high), (min, max)| {
        (
            Coord { x: low.x.min(min.x), y: low.y.min(min.y) },
            Coord { x: high.x.max(max.x), y: high.y.max(max.y) },
        )
    })
}
