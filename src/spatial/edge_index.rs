//! A multipolygon with its edges indexed by height, so that a point test visits few of them.
//!
//! A point test needs only the edges whose heights (y) reach the point's. Consecutive edges of a ring are grouped in
//! runs of eight, runs in runs of eight, and so on; each run keeps its lowest and highest y. Because a run is a
//! connected path, its heights form one interval, and a run whose interval holds the point's y holds at least one
//! edge that does: with k such edges at most k·log₈(n) runs are opened, whatever the shape. Memory is linear, unlike
//! slabs, which an adversary fills with n² entries by drawing a zigzag.
//!
//! The edges that are visited go through the same arithmetic as in the linear scan, and the ones that are not can't
//! contribute there, so the two agree on every input, borders included; a property test holds them together.
//!
//! All arrays are flat (coordinates, heights, offsets), so that they can be stored and read back as they are.

use std::ops::Range;

use geo::{Coord, MultiPolygon};

use super::containment::{Location, Winding, locate_in_parts};

/// Edges per run, and runs per run of runs.
const FAN_OUT: usize = 8;

/// A multipolygon ready for point tests.
#[derive(Debug)]
pub struct IndexedMultiPolygon {
    /// The vertices of all rings, ring after ring, each closed.
    vertices: Vec<Coord<f64>>,
    /// Lowest and highest y of the runs of all rings and levels.
    heights: Vec<(f64, f64)>,
    rings: Vec<Ring>,
    /// The rings of each part, outer ring first.
    parts: Vec<Range<usize>>,
}

/// Where a ring's vertices and runs are.
#[derive(Debug)]
struct Ring {
    vertices: Range<usize>,
    /// Ranges of `heights`, from the runs of edges up to the level with at most [`FAN_OUT`] runs.
    levels: Vec<Range<usize>>,
}

impl IndexedMultiPolygon {
    /// Indexes a shape.
    pub fn new(shape: &MultiPolygon<f64>) -> Self {
        let mut index =
            Self { vertices: Vec::new(), heights: Vec::new(), rings: Vec::new(), parts: Vec::new() };
        for part in &shape.0 {
            let first = index.rings.len();
            for ring in std::iter::once(part.exterior()).chain(part.interiors()) {
                index.push_ring(&ring.0);
            }
            index.parts.push(first..index.rings.len());
        }
        index.vertices.shrink_to_fit();
        index.heights.shrink_to_fit();
        index
    }

    fn push_ring(&mut self, ring: &[Coord<f64>]) {
        let vertices = self.vertices.len()..self.vertices.len() + ring.len();
        self.vertices.extend_from_slice(ring);
        let mut levels: Vec<Range<usize>> = Vec::new();
        let first = self.heights.len();
        // A run of edges spans one vertex more than it has edges.
        let edges = ring.len().saturating_sub(1);
        for start in (0..edges).step_by(FAN_OUT) {
            let end = (start + FAN_OUT).min(edges);
            let run = ring[start..=end].iter().map(|vertex| (vertex.y, vertex.y));
            self.heights.push(spanned(run));
        }
        let mut level = first..self.heights.len();
        while level.len() > FAN_OUT {
            let above = self.heights.len();
            for start in level.clone().step_by(FAN_OUT) {
                let end = (start + FAN_OUT).min(level.end);
                let run = spanned(self.heights[start..end].iter().copied());
                self.heights.push(run);
            }
            levels.push(level);
            level = above..self.heights.len();
        }
        levels.push(level);
        self.rings.push(Ring { vertices, levels });
    }

    /// Where the point lies; the same answer as [`super::containment::locate`].
    pub fn locate(&self, point: Coord<f64>) -> Location {
        let in_ring = |ring: &Ring| self.locate_in_ring(ring, point);
        locate_in_parts(self.parts.iter().filter_map(|rings| {
            let (outer, holes) = self.rings.get(rings.clone())?.split_first()?;
            Some((in_ring(outer), holes.iter().map(in_ring)))
        }))
    }

    /// How many vertices the shape has, closing ones included.
    pub fn vertex_count(&self) -> usize {
        self.vertices.len()
    }

    fn locate_in_ring(&self, ring: &Ring, point: Coord<f64>) -> Location {
        let mut winding = Winding::new(point);
        let Some(top) = ring.levels.len().checked_sub(1) else { return Location::Outside };
        let on_ring = self.visit_runs(ring, top, 0..ring.levels[top].len(), &mut winding, point.y);
        if on_ring { Location::Boundary } else { winding.location() }
    }

    /// Visits the runs of a level that reach the height `y`; whether the point is on one of their edges.
    fn visit_runs(
        &self,
        ring: &Ring,
        level: usize,
        runs: Range<usize>,
        winding: &mut Winding,
        y: f64,
    ) -> bool {
        let heights = &self.heights[ring.levels[level].clone()];
        let vertices = &self.vertices[ring.vertices.clone()];
        for run in runs {
            let (lowest, highest) = heights[run];
            if !(lowest <= y && y <= highest) {
                continue;
            }
            let below = run * FAN_OUT;
            if let Some(lower) = level.checked_sub(1) {
                let end = (below + FAN_OUT).min(ring.levels[lower].len());
                if self.visit_runs(ring, lower, below..end, winding, y) {
                    return true;
                }
                continue;
            }
            let end = (below + FAN_OUT).min(vertices.len() - 1);
            for edge in vertices[below..=end].windows(2) {
                if winding.visit(edge[0], edge[1]).is_break() {
                    return true;
                }
            }
        }
        false
    }
}

/// The lowest and highest of some intervals.
fn spanned(intervals: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    intervals.fold((f64::INFINITY, f64::NEG_INFINITY), |(lowest, highest), (low, high)| {
        (lowest.min(low), highest.max(high))
    })
}
