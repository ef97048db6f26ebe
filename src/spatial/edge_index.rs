//! Multipolygons with their edges indexed by height, so that a point test visits few of them.
//!
//! A point test needs only the edges whose heights (y) reach the point's and that don't lie wholly to its west.
//! Consecutive edges of a ring are grouped in runs of eight, runs in runs of eight, and so on; each run keeps its lowest
//! and highest y and its easternmost x, as 32-bit floats rounded outward: that is half the memory, and a run that is
//! opened in vain changes no answer. Because a run is a connected path, its heights form one interval, and a run whose
//! interval holds the point's y holds at least one edge that does: with k such edges at most k·log₈(n) runs are opened,
//! whatever the shape. Memory is linear, unlike slabs, which an adversary fills with n² entries by drawing a zigzag.
//!
//! Edges to the west are irrelevant to the last bit: let the edge a→b rise past the point p, `a.y ≤ p.y < b.y`, with
//! `a.x < p.x` and `b.x < p.x`. Rounding is monotonic, so `fl(b.x−a.x) ≤ fl(p.x−a.x)` and `fl(p.y−a.y) ≤ fl(b.y−a.y)`,
//! hence the determinant's first product is at most its second, and its sign is never the one that counts. It can be
//! zero, but the point isn't in the edge's box then. Falling edges are the mirror image.
//!
//! The edges that are visited go through the same arithmetic as in the linear scan, and the ones that are not can't
//! contribute there, so the two agree on every input, borders included; a property test holds them together.
//!
//! All arrays are flat (coordinates, reaches, offsets), shared by all shapes of a congress, and stored and opened as
//! they are.

use std::ops::Range;

use arrow::buffer::ScalarBuffer;
use geo::{Coord, MultiPolygon};

use super::containment::{Location, Winding, locate_in_parts};
use super::index_file::{IndexFile, IndexFileError, IndexFileWriter};

/// Edges per run, and runs per run of runs.
const FAN_OUT: usize = 8;

/// Numbers that describe a run: lowest y, highest y, easternmost x.
const RUN_NUMBERS: usize = 3;

/// Some multipolygons ready for point tests.
#[derive(Debug)]
pub struct EdgeIndex {
    /// x and y of the vertices of all rings, ring after ring, each closed.
    vertices: ScalarBuffer<f64>,
    /// [`RUN_NUMBERS`] for each run of all rings and levels.
    reaches: ScalarBuffer<f32>,
    /// Where each ring begins among the vertices, and the end of the last.
    rings: ScalarBuffer<u32>,
    /// Where each ring's runs begin among the reaches, and the end of the last.
    runs: ScalarBuffer<u32>,
    /// The first ring of each part, its outer one, and the end of the last.
    parts: ScalarBuffer<u32>,
    /// The first part of each shape, and the end of the last.
    shapes: ScalarBuffer<u32>,
}

/// One congress has more vertices than 32 bits count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("more than {} vertices", u32::MAX)]
pub struct TooManyVertices;

impl EdgeIndex {
    /// Indexes shapes; a shape's number is its place in the iteration.
    pub fn new<'s>(shapes: impl IntoIterator<Item = &'s MultiPolygon<f64>>) -> Result<Self, TooManyVertices> {
        let mut builder = Builder::default();
        for shape in shapes {
            for part in &shape.0 {
                for ring in std::iter::once(part.exterior()).chain(part.interiors()) {
                    builder.push_ring(&ring.0)?;
                }
                builder.parts.push(count(builder.rings.len() - 1)?);
            }
            builder.shapes.push(count(builder.parts.len() - 1)?);
        }
        Ok(builder.finish())
    }

    /// How many shapes there are.
    pub fn len(&self) -> usize {
        self.shapes.len().saturating_sub(1)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the point lies relative to a shape; the same answer as [`super::containment::locate`].
    pub fn locate(&self, shape: usize, point: Coord<f64>) -> Location {
        let in_ring = |ring: usize| self.locate_in_ring(ring, point);
        locate_in_parts(range(&self.shapes, shape).filter_map(|part| {
            let mut rings = range(&self.parts, part);
            let outer = rings.next()?;
            Some((in_ring(outer), rings.map(in_ring)))
        }))
    }

    /// The rings of a shape, part after part: the outer ring first, then its holes.
    pub fn rings(&self, shape: usize) -> impl Iterator<Item = impl Iterator<Item = Coord<f64>>> {
        range(&self.shapes, shape)
            .flat_map(|part| range(&self.parts, part))
            .map(|ring| self.ring(ring).chunks_exact(2).map(|vertex| Coord { x: vertex[0], y: vertex[1] }))
    }

    /// How many vertices the shapes have, closing ones included.
    pub fn vertex_count(&self) -> usize {
        self.vertices.len() / 2
    }

    /// Bytes the index holds.
    pub fn size(&self) -> usize {
        let offsets = self.rings.len() + self.runs.len() + self.parts.len() + self.shapes.len();
        self.vertices.len() * size_of::<f64>() + (self.reaches.len() + offsets) * size_of::<u32>()
    }

    /// The numbers of a ring's vertices.
    fn ring(&self, ring: usize) -> &[f64] {
        let vertices = range(&self.rings, ring);
        &self.vertices[vertices.start * 2..vertices.end * 2]
    }

    fn locate_in_ring(&self, ring: usize, point: Coord<f64>) -> Location {
        let mut winding = Winding::new(point);
        let vertices = self.ring(ring);
        let runs = range(&self.runs, ring);
        let levels = Levels::of((vertices.len() / 2).saturating_sub(1));
        let Some(top) = levels.count.checked_sub(1) else { return Location::Outside };
        let reaches = &self.reaches[runs.start * RUN_NUMBERS..runs.end * RUN_NUMBERS];
        let search = Search { vertices, reaches, levels, point };
        let on_ring = search.visit(top, 0..search.levels.len(top), &mut winding);
        if on_ring { Location::Boundary } else { winding.location() }
    }

    /// Writes the index's six sections, the first with the given tag.
    pub(super) fn write(&self, file: &mut IndexFileWriter, tag: u32) {
        file.numbers(tag, &self.vertices, f64::to_le_bytes);
        file.numbers(tag + 1, &self.reaches, f32::to_le_bytes);
        file.numbers(tag + 2, &self.rings, u32::to_le_bytes);
        file.numbers(tag + 3, &self.runs, u32::to_le_bytes);
        file.numbers(tag + 4, &self.parts, u32::to_le_bytes);
        file.numbers(tag + 5, &self.shapes, u32::to_le_bytes);
    }

    /// Opens a stored index, after checking that every offset leads into the array it is an offset of.
    pub(super) fn open(file: &IndexFile, tag: u32) -> Result<Self, IndexFileError> {
        let index = Self {
            vertices: file.numbers(tag)?,
            reaches: file.numbers(tag + 1)?,
            rings: file.numbers(tag + 2)?,
            runs: file.numbers(tag + 3)?,
            parts: file.numbers(tag + 4)?,
            shapes: file.numbers(tag + 5)?,
        };
        let spans = |offsets: &[u32], items: usize| {
            offsets.first() == Some(&0)
                && offsets.last().is_some_and(|end| *end as usize == items)
                && offsets.windows(2).all(|pair| pair[0] <= pair[1])
        };
        let whole = index.vertices.len().is_multiple_of(2) && index.reaches.len().is_multiple_of(RUN_NUMBERS);
        let fits = whole
            && spans(&index.rings, index.vertices.len() / 2)
            && spans(&index.runs, index.reaches.len() / RUN_NUMBERS)
            && index.runs.len() == index.rings.len()
            && spans(&index.parts, index.rings.len() - 1)
            && spans(&index.shapes, index.parts.len() - 1)
            && (0..index.rings.len() - 1).all(|ring| {
                let edges = range(&index.rings, ring).len().saturating_sub(1);
                range(&index.runs, ring).len() == Levels::of(edges).total
            });
        if fits { Ok(index) } else { Err(IndexFileError::damaged("the shapes' arrays don't fit each other")) }
    }
}

/// The positions between two neighbouring offsets.
fn range(offsets: &[u32], at: usize) -> Range<usize> {
    offsets[at] as usize..offsets[at + 1] as usize
}

fn count(length: usize) -> Result<u32, TooManyVertices> {
    u32::try_from(length).map_err(|_| TooManyVertices)
}

/// One multipolygon ready for point tests.
#[derive(Debug)]
pub struct IndexedMultiPolygon(EdgeIndex);

impl IndexedMultiPolygon {
    /// Indexes a shape.
    pub fn new(shape: &MultiPolygon<f64>) -> Result<Self, TooManyVertices> {
        EdgeIndex::new([shape]).map(Self)
    }

    /// Where the point lies; the same answer as [`super::containment::locate`].
    pub fn locate(&self, point: Coord<f64>) -> Location {
        self.0.locate(0, point)
    }

    /// How many vertices the shape has, closing ones included.
    pub fn vertex_count(&self) -> usize {
        self.0.vertex_count()
    }
}

/// How many levels a ring's runs have; with [`FAN_OUT`] 8, eleven hold more edges than 32 bits count.
const MAX_LEVELS: usize = 12;

/// The levels of runs over a ring's edges, from the runs of edges up to the level with at most [`FAN_OUT`] runs. They
/// follow from the number of edges, so they aren't stored.
#[derive(Debug, Clone, Copy)]
struct Levels {
    /// Where each level begins, and the end of the last.
    starts: [usize; MAX_LEVELS + 1],
    count: usize,
    /// Runs of all levels.
    total: usize,
}

impl Levels {
    fn of(edges: usize) -> Self {
        let mut levels = Self { starts: [0; MAX_LEVELS + 1], count: 0, total: 0 };
        let mut runs = edges.div_ceil(FAN_OUT);
        while levels.count < MAX_LEVELS && runs > 0 {
            levels.total += runs;
            levels.count += 1;
            levels.starts[levels.count] = levels.total;
            runs = if runs > FAN_OUT { runs.div_ceil(FAN_OUT) } else { 0 };
        }
        levels
    }

    fn len(&self, level: usize) -> usize {
        self.starts[level + 1] - self.starts[level]
    }
}

/// One ring being searched.
struct Search<'a> {
    vertices: &'a [f64],
    reaches: &'a [f32],
    levels: Levels,
    point: Coord<f64>,
}

impl Search<'_> {
    /// Visits the runs of a level that reach the point's height and aren't wholly west of it; whether the point is on
    /// one of their edges.
    fn visit(&self, level: usize, runs: Range<usize>, winding: &mut Winding) -> bool {
        let first = self.levels.starts[level];
        let reaches = &self.reaches[(first + runs.start) * RUN_NUMBERS..(first + runs.end) * RUN_NUMBERS];
        for (run, reach) in runs.zip(reaches.chunks_exact(RUN_NUMBERS)) {
            let (lowest, highest, east) = (f64::from(reach[0]), f64::from(reach[1]), f64::from(reach[2]));
            // Three comparisons without a branch between them: each alone is a coin toss.
            if !((lowest <= self.point.y) & (self.point.y <= highest) & (self.point.x <= east)) {
                continue;
            }
            let below = run * FAN_OUT;
            if let Some(lower) = level.checked_sub(1) {
                let end = (below + FAN_OUT).min(self.levels.len(lower));
                if self.visit(lower, below..end, winding) {
                    return true;
                }
                continue;
            }
            let end = (below + FAN_OUT).min(self.vertices.len() / 2 - 1);
            let mut vertices = self.vertices[below * 2..(end + 1) * 2]
                .chunks_exact(2)
                .map(|vertex| Coord { x: vertex[0], y: vertex[1] });
            let Some(mut start) = vertices.next() else { continue };
            for end in vertices {
                if winding.visit(start, end).is_break() {
                    return true;
                }
                start = end;
            }
        }
        false
    }
}

/// The arrays while shapes are added.
struct Builder {
    vertices: Vec<f64>,
    reaches: Vec<f32>,
    rings: Vec<u32>,
    runs: Vec<u32>,
    parts: Vec<u32>,
    shapes: Vec<u32>,
}

impl Default for Builder {
    fn default() -> Self {
        let (rings, runs, parts, shapes) = (vec![0], vec![0], vec![0], vec![0]);
        Self { vertices: Vec::new(), reaches: Vec::new(), rings, runs, parts, shapes }
    }
}

impl Builder {
    fn push_ring(&mut self, ring: &[Coord<f64>]) -> Result<(), TooManyVertices> {
        self.vertices.extend(ring.iter().flat_map(|vertex| [vertex.x, vertex.y]));
        // A run of edges spans one vertex more than it has edges.
        let edges = ring.len().saturating_sub(1);
        let first = self.reaches.len() / RUN_NUMBERS;
        for start in (0..edges).step_by(FAN_OUT) {
            let end = (start + FAN_OUT).min(edges);
            self.reaches.extend(reach(
                ring[start..=end]
                    .iter()
                    .map(|vertex| [float_below(vertex.y), float_above(vertex.y), float_above(vertex.x)]),
            ));
        }
        let levels = Levels::of(edges);
        for level in 1..levels.count {
            for start in (levels.starts[level - 1]..levels.starts[level]).step_by(FAN_OUT) {
                let end = (start + FAN_OUT).min(levels.starts[level]);
                let below = &self.reaches[(first + start) * RUN_NUMBERS..(first + end) * RUN_NUMBERS];
                let above = reach(below.chunks_exact(RUN_NUMBERS).map(|run| [run[0], run[1], run[2]]));
                self.reaches.extend(above);
            }
        }
        self.rings.push(count(self.vertices.len() / 2)?);
        self.runs.push(count(self.reaches.len() / RUN_NUMBERS)?);
        Ok(())
    }

    fn finish(mut self) -> EdgeIndex {
        self.vertices.shrink_to_fit();
        self.reaches.shrink_to_fit();
        EdgeIndex {
            vertices: self.vertices.into(),
            reaches: self.reaches.into(),
            rings: self.rings.into(),
            runs: self.runs.into(),
            parts: self.parts.into(),
            shapes: self.shapes.into(),
        }
    }
}

/// The reach of some runs together.
fn reach(runs: impl Iterator<Item = [f32; RUN_NUMBERS]>) -> [f32; RUN_NUMBERS] {
    const NOTHING: [f32; RUN_NUMBERS] = [f32::INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY];
    runs.fold(NOTHING, |[lowest, highest, east], [low, high, x]| {
        [lowest.min(low), highest.max(high), east.max(x)]
    })
}

/// A 32-bit float not above the value; infinite where none is finite. (The boxes' rounding stops at the largest finite
/// float, as PostGIS's does; here nothing may be left out.)
fn float_below(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) > value { nearest.next_down() } else { nearest }
}

/// A 32-bit float not below the value.
fn float_above(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) < value { nearest.next_up() } else { nearest }
}
