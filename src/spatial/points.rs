//! A packed tree over planar points: everything within a radius, counted exactly.
//!
//! Points are sorted once (by x into vertical slices, by y within a slice) and kept in flat arrays, sixteen to a
//! leaf; above the leaves are the boxes of sixteen leaves, of sixteen of those, and so on. Neighbours on the map are
//! neighbours in memory, a query opens few leaves, and nothing points anywhere, so the arrays are stored in a snapshot
//! and opened as they are. `rstar` would answer too, but its nodes are scattered over the heap, three to four times the
//! size for two million points, and can't be stored; the ready-made packed trees measure distances in their own
//! way, while here the arithmetic is the answer.
//!
//! The distance is `sqrt(dx² + dy²)`, evaluated plainly, and a point belongs to the answer when that is `<=` the
//! radius, as PostGIS computes `ST_Distance` and `ST_DWithin` between points. A box is skipped when the distance to
//! its nearest side, by the same arithmetic, is larger than the radius. Rounding is monotonic in each step, so that
//! distance is never above the one of a point in the box: skipping loses nothing, to the last bit.

use arrow::buffer::ScalarBuffer;
use geo::Coord;

use super::index_file::{IndexFile, IndexFileError, IndexFileWriter};

/// Points per leaf, and boxes per box.
const FAN_OUT: usize = 16;

/// Numbers that make a box: west, south, east, north.
const BOX_NUMBERS: usize = 4;

/// Points in the plane, ready for radius queries.
#[derive(Debug)]
pub struct PackedPoints {
    /// East of the points in packed order; apart from `ys`, so that a leaf's distances are computed side by side.
    xs: ScalarBuffer<f64>,
    /// North of the points in packed order.
    ys: ScalarBuffer<f64>,
    /// The caller's number of each point: its place in what was given.
    numbers: ScalarBuffer<u32>,
    /// [`BOX_NUMBERS`] for each box of all levels, leaves first.
    boxes: ScalarBuffer<f64>,
    /// Where each level begins in `boxes`, with the end of the last.
    levels: Vec<usize>,
}

/// A point within the radius.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointHit {
    /// The caller's number of the point.
    pub number: u32,
    /// The point's place in packed order, in which columns beside the points are kept.
    pub position: u32,
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
        let xs: Vec<f64> = numbers.iter().map(|number| coordinate(number).x).collect();
        let ys: Vec<f64> = numbers.iter().map(|number| coordinate(number).y).collect();
        let levels = levels_of(given.len());
        let mut boxes: Vec<f64> = Vec::with_capacity(levels.last().map_or(0, |end| end * BOX_NUMBERS));
        for (xs, ys) in xs.chunks(FAN_OUT).zip(ys.chunks(FAN_OUT)) {
            boxes.extend(bounds(xs.iter().zip(ys).map(|(x, y)| [*x, *y, *x, *y])));
        }
        for level in levels.windows(2).take(levels.len().saturating_sub(2)) {
            for group in (level[0]..level[1]).step_by(FAN_OUT) {
                let end = (group + FAN_OUT).min(level[1]);
                let above = bounds((group..end).map(|at| box_at(&boxes, at)));
                boxes.extend(above);
            }
        }
        Ok(Self { xs: xs.into(), ys: ys.into(), numbers: numbers.into(), boxes: boxes.into(), levels })
    }

    /// How many points there are.
    pub fn len(&self) -> usize {
        self.xs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.xs.is_empty()
    }

    /// The callers' numbers in packed order.
    pub fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// Every point whose distance from the centre is at most the radius, in no order. A centre or radius that isn't
    /// a number, or a negative radius, is near nothing.
    pub fn within(&self, center: Coord<f64>, radius: f64) -> Vec<PointHit> {
        let mut hits = Vec::new();
        self.leaves(center, radius, &mut |leaf| {
            for position in leaf {
                let distance = planar_distance(center, Coord { x: self.xs[position], y: self.ys[position] });
                if distance <= radius {
                    let number = self.numbers[position];
                    // Positions are fewer than numbers can count.
                    hits.push(PointHit { number, position: position as u32, distance });
                }
            }
        });
        hits
    }

    /// Where a hit's point lies.
    pub fn point(&self, hit: &PointHit) -> Coord<f64> {
        let position = hit.position as usize;
        Coord { x: self.xs[position], y: self.ys[position] }
    }

    /// How many points [`PackedPoints::within`] would return.
    pub fn count_within(&self, center: Coord<f64>, radius: f64) -> usize {
        let mut count = 0;
        self.leaves(center, radius, &mut |leaf| {
            let points = self.xs[leaf.clone()].iter().zip(&self.ys[leaf]);
            count += points
                .map(|(x, y)| usize::from(planar_distance(center, Coord { x: *x, y: *y }) <= radius))
                .sum::<usize>();
        });
        count
    }

    /// Visits the leaves whose boxes reach into the circle, as ranges of positions.
    fn leaves(&self, center: Coord<f64>, radius: f64, visit: &mut impl FnMut(std::ops::Range<usize>)) {
        if let Some(top) = self.levels.len().checked_sub(2) {
            self.descend(top, 0..self.levels[top + 1] - self.levels[top], center, radius, visit);
        }
    }

    fn descend(
        &self,
        level: usize,
        boxes: std::ops::Range<usize>,
        center: Coord<f64>,
        radius: f64,
        visit: &mut impl FnMut(std::ops::Range<usize>),
    ) {
        let first = self.levels[level];
        for position in boxes {
            let [west, south, east, north] = box_at(&self.boxes, first + position);
            let nearest = Coord { x: center.x.max(west).min(east), y: center.y.max(south).min(north) };
            // Asked this way round so that NaN opens nothing.
            let may_hold_hits = planar_distance(center, nearest) <= radius;
            if !may_hold_hits {
                continue;
            }
            let below = position * FAN_OUT;
            match level.checked_sub(1) {
                Some(lower) => {
                    let end = (below + FAN_OUT).min(self.levels[lower + 1] - self.levels[lower]);
                    self.descend(lower, below..end, center, radius, visit);
                }
                None => visit(below..(below + FAN_OUT).min(self.xs.len())),
            }
        }
    }

    /// Writes the tree's four sections, the first with the given tag.
    pub(super) fn write(&self, file: &mut IndexFileWriter, tag: u32) {
        file.numbers(tag, &self.xs, f64::to_le_bytes);
        file.numbers(tag + 1, &self.ys, f64::to_le_bytes);
        file.numbers(tag + 2, &self.numbers, u32::to_le_bytes);
        file.numbers(tag + 3, &self.boxes, f64::to_le_bytes);
    }

    /// Opens a stored tree. Only sizes are checked here: any numbers in arrays of these sizes are safe to search.
    pub(super) fn open(file: &IndexFile, tag: u32) -> Result<Self, IndexFileError> {
        let (xs, ys) = (file.numbers(tag)?, file.numbers(tag + 1)?);
        let (numbers, boxes) = (file.numbers(tag + 2)?, file.numbers(tag + 3)?);
        let levels = levels_of(xs.len());
        let all_boxes = levels.last().map_or(0, |end| end * BOX_NUMBERS);
        let fits = ys.len() == xs.len() && numbers.len() == xs.len() && boxes.len() == all_boxes;
        if !fits || u32::try_from(xs.len()).is_err() {
            return Err(IndexFileError::damaged("the tree's arrays don't fit each other"));
        }
        Ok(Self { xs, ys, numbers, boxes, levels })
    }
}

/// Where each level of the tree over so many points begins, counted in boxes, with the end of the last.
fn levels_of(points: usize) -> Vec<usize> {
    let mut boxes = points.div_ceil(FAN_OUT);
    let mut levels = vec![0, boxes];
    while boxes > 1 {
        boxes = boxes.div_ceil(FAN_OUT);
        let end = levels.last().map_or(boxes, |end| end + boxes);
        levels.push(end);
    }
    levels
}

fn box_at(boxes: &[f64], at: usize) -> [f64; BOX_NUMBERS] {
    let first = at * BOX_NUMBERS;
    [boxes[first], boxes[first + 1], boxes[first + 2], boxes[first + 3]]
}

/// The box around some boxes.
fn bounds(boxes: impl Iterator<Item = [f64; BOX_NUMBERS]>) -> [f64; BOX_NUMBERS] {
    const NOTHING: [f64; BOX_NUMBERS] = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
    boxes.fold(NOTHING, |[west, south, east, north], [w, s, e, n]| {
        [west.min(w), south.min(s), east.max(e), north.max(n)]
    })
}
