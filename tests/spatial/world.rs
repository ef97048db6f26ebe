//! A seeded, made-up map with everything that makes containment hard, and the points and boxes that try it.
//!
//! Three congresses: 118 is a country (a partition with shared, crooked borders, a hole with an island in it, a
//! district in two parts, one across the antimeridian, two that overlap); 117 is small and exact (rectangles on
//! whole metres, tiny coordinates, a district that reaches the pole); 116 holds shapes no valid map has, but which
//! PostGIS accepts.

use benthic_mirror::spatial::{DistrictRow, Districts};
use geo::{Coord, LineString, MultiPolygon, Polygon};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use wkb::writer::{WriteOptions, write_geometry};

/// Half the projected world, as the projection computes it for ±180°.
pub(crate) const HALF_WORLD: f64 = 20_037_508.342_789_244;

pub(crate) struct Shape {
    pub(crate) id: i64,
    pub(crate) congress: i64,
    pub(crate) name: &'static str,
    pub(crate) shape: MultiPolygon<f64>,
}

/// Random numbers that are the same on every run.
pub(crate) struct Dice(ChaCha8Rng);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Uniform in `low..high`.
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        let unit = (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        low + unit * (high - low)
    }

    /// Uniform in `0..count`.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        (self.0.next_u64() % count as u64) as usize
    }
}

pub(crate) fn at(x: f64, y: f64) -> Coord<f64> {
    Coord { x, y }
}

pub(crate) fn ring(points: &[(f64, f64)]) -> LineString<f64> {
    let mut ring: Vec<_> = points.iter().map(|(x, y)| at(*x, *y)).collect();
    ring.push(ring[0]);
    LineString::new(ring)
}

pub(crate) fn polygon(outer: &[(f64, f64)], holes: &[&[(f64, f64)]]) -> Polygon<f64> {
    Polygon::new(ring(outer), holes.iter().map(|hole| ring(hole)).collect())
}

pub(crate) fn rectangle(x1: f64, y1: f64, x2: f64, y2: f64) -> [(f64, f64); 4] {
    [(x1, y1), (x2, y1), (x2, y2), (x1, y2)]
}

pub(crate) fn multi(parts: Vec<Polygon<f64>>) -> MultiPolygon<f64> {
    MultiPolygon::new(parts)
}

/// The map.
pub(crate) fn shapes() -> Vec<Shape> {
    let mut shapes = country();
    let mut add = |congress, name, shape| {
        let id = shapes.len() as i64 + 1;
        shapes.push(Shape { id, congress, name, shape });
    };
    add(117, "west rectangle", multi(vec![polygon(&rectangle(1e6, 1e6, 2e6, 2e6), &[])]));
    add(117, "east rectangle", multi(vec![polygon(&rectangle(2e6, 1e6, 3e6, 2e6), &[])]));
    add(
        117,
        "rectangle with a square hole and an island part",
        multi(vec![
            polygon(&rectangle(1e6, 3e6, 2e6, 4e6), &[&rectangle(1.25e6, 3.25e6, 1.75e6, 3.75e6)]),
            polygon(&rectangle(1.4e6, 3.4e6, 1.6e6, 3.6e6), &[]),
        ]),
    );
    let tiny = [(0.1, 0.1), (0.7, 0.30000000000000004), (0.9, 1.1), (0.3, 0.8)];
    add(117, "tiny", multi(vec![polygon(&tiny, &[])]));
    // Long edges through the origin, where a point is known a million times more finely than its distance to a vertex.
    let long = [(-3e6 - 0.3, -2e6 - 0.7), (3e6 + 0.1, 2e6 + 0.3), (-1e6, 2.5e6)];
    add(117, "across the origin", multi(vec![polygon(&long, &[])]));
    let reversed = [(3e6 + 0.1, 2e6 + 0.3), (-3e6 - 0.3, -2e6 - 0.7), (2.5e6, -1e6)];
    add(117, "its neighbour", multi(vec![polygon(&reversed, &[])]));
    add(117, "sliver", multi(vec![polygon(&[(5e6, 5e6), (6e6, 5e6 + 1.0), (7e6, 5e6 + 2.0 + 1e-9)], &[])]));
    add(117, "to the pole", multi(vec![polygon(&rectangle(-1e6, 1.5e7, 1e6, 242_528_680.943_742_72), &[])]));
    add(
        117,
        "to the other pole",
        multi(vec![polygon(&rectangle(-HALF_WORLD, -242_528_680.943_742_72, HALF_WORLD, -1.5e7), &[])]),
    );
    add(116, "bow-tie", multi(vec![polygon(&[(0.0, 0.0), (10.0, 10.0), (10.0, 0.0), (0.0, 10.0)], &[])]));
    add(
        116,
        "a ring that goes round twice",
        multi(vec![polygon(
            &[&rectangle(20.0, 0.0, 30.0, 10.0)[..], &rectangle(20.0, 0.0, 25.0, 5.0)[..]].concat(),
            &[],
        )]),
    );
    add(
        116,
        "repeated points and a spike",
        multi(vec![polygon(
            &[
                (40.0, 0.0),
                (40.0, 0.0),
                (50.0, 0.0),
                (50.0, 0.0),
                (50.0, 5.0),
                (60.0, 5.0),
                (50.0, 5.0),
                (40.0, 10.0),
            ],
            &[],
        )]),
    );
    add(116, "no area", multi(vec![polygon(&[(70.0, 0.0), (80.0, 5.0), (90.0, 10.0)], &[])]));
    add(116, "one point", multi(vec![polygon(&[(95.0, 5.0), (95.0, 5.0), (95.0, 5.0)], &[])]));
    add(
        116,
        "overlapping parts",
        multi(vec![
            polygon(&rectangle(100.0, 0.0, 110.0, 10.0), &[]),
            polygon(&rectangle(105.0, 5.0, 115.0, 15.0), &[]),
        ]),
    );
    add(
        116,
        "holes that touch, overlap, stick out and lie outside",
        multi(vec![polygon(
            &rectangle(120.0, 0.0, 140.0, 20.0),
            &[
                &rectangle(120.0, 5.0, 125.0, 10.0),
                &rectangle(128.0, 8.0, 132.0, 12.0),
                &rectangle(130.0, 10.0, 135.0, 15.0),
                &rectangle(138.0, 2.0, 145.0, 4.0),
                &rectangle(150.0, 0.0, 155.0, 5.0),
            ],
        )]),
    );
    shapes
}

/// Congress 118.
fn country() -> Vec<Shape> {
    const COLUMNS: usize = 8;
    const ROWS: usize = 6;
    let mut dice = Dice::new(118);
    let (west, south, width, height) = (-13_800_000.0, 2_800_000.0, 800_000.0, 600_000.0);
    let mut nodes = vec![vec![at(0.0, 0.0); ROWS + 1]; COLUMNS + 1];
    for (column, line) in nodes.iter_mut().enumerate() {
        for (row, node) in line.iter_mut().enumerate() {
            *node = at(
                west + width * (column as f64 + dice.between(-0.2, 0.2)),
                south + height * (row as f64 + dice.between(-0.2, 0.2)),
            );
        }
    }
    // Each border is drawn once and walked in both directions, so neighbours share it to the last bit.
    let mut border = |from: Coord<f64>, to: Coord<f64>| -> Vec<Coord<f64>> {
        const STEPS: usize = 30;
        let mut points = vec![from];
        for step in 1..STEPS {
            let along = step as f64 / STEPS as f64;
            points.push(at(
                from.x + along * (to.x - from.x) + dice.between(-9e3, 9e3),
                from.y + along * (to.y - from.y) + dice.between(-9e3, 9e3),
            ));
        }
        points
    };
    let (mut eastward, mut northward) = (Vec::new(), Vec::new());
    for column in 0..=COLUMNS {
        for row in 0..=ROWS {
            let node = nodes[column][row];
            eastward.push(nodes.get(column + 1).map(|line| border(node, line[row])).unwrap_or_default());
            northward.push(nodes[column].get(row + 1).map(|up| border(node, *up)).unwrap_or_default());
        }
    }
    let cell = |column: usize, row: usize| -> Vec<(f64, f64)> {
        let reversed = |border: &Vec<Coord<f64>>, end: Coord<f64>| -> Vec<Coord<f64>> {
            std::iter::once(end).chain(border.iter().skip(1).rev().copied()).collect()
        };
        let place = |column: usize, row: usize| column * (ROWS + 1) + row;
        [
            eastward[place(column, row)].clone(),
            northward[place(column + 1, row)].clone(),
            reversed(&eastward[place(column, row + 1)], nodes[column + 1][row + 1]),
            reversed(&northward[place(column, row)], nodes[column][row + 1]),
        ]
        .concat()
        .into_iter()
        .map(|point| (point.x, point.y))
        .collect()
    };
    let mut shapes = Vec::new();
    let mut add = |name, shape| {
        let id = shapes.len() as i64 + 1;
        shapes.push(Shape { id, congress: 118, name, shape });
    };
    let lake = |x: f64, y: f64, radius: f64| -> Vec<(f64, f64)> {
        (0..24)
            .map(|step| {
                let angle = f64::from(step) * std::f64::consts::TAU / 24.0;
                (x + radius * angle.cos(), y + radius * angle.sin())
            })
            .collect()
    };
    let center = |column: usize, row: usize| {
        (west + width * (column as f64 + 0.5), south + height * (row as f64 + 0.5))
    };
    for column in 0..COLUMNS {
        for row in 0..ROWS {
            match (column, row) {
                (2, 2) => {
                    let (x, y) = center(2, 2);
                    let shore = lake(x, y, 120_000.0);
                    add("around the lake", multi(vec![polygon(&cell(2, 2), &[&shore])]));
                    let island = lake(x, y, 30_000.0);
                    // Another district fills the hole, walking the shore the other way, and has a hole itself.
                    let inside: Vec<_> = shore.iter().rev().copied().collect();
                    add("the lake", multi(vec![polygon(&inside, &[&island])]));
                }
                (5, 1) => {
                    add("in two parts", multi(vec![polygon(&cell(5, 1), &[]), polygon(&cell(7, 5), &[])]))
                }
                (7, 5) => {}
                _ => add("plain", multi(vec![polygon(&cell(column, row), &[])])),
            }
        }
    }
    add("overlaps its neighbours", {
        let (x, y) = center(4, 4);
        multi(vec![polygon(&lake(x, y, 300_000.0), &[])])
    });
    let far_north = [(-HALF_WORLD, 8.0e6), (-1.4e7, 7.5e6), (-1.45e7, 1.1e7), (-HALF_WORLD, 1.05e7)];
    let other_side = [(HALF_WORLD, 6.6e6), (HALF_WORLD, 6.9e6), (1.92e7, 6.8e6)];
    add("across the antimeridian", multi(vec![polygon(&far_north, &[]), polygon(&other_side, &[])]));
    shapes
}

/// The shapes as rows of the source.
pub(crate) fn rows(shapes: &[Shape]) -> Vec<DistrictRow> {
    shapes
        .iter()
        .map(|shape| DistrictRow {
            id: shape.id,
            statename: Some(shape.name.to_owned()),
            district: Some(shape.id % 7),
            district_id: Some(format!("{:04}", shape.id)),
            congress_number: shape.congress,
            geometry: Some(wkb_of(&shape.shape)),
        })
        .collect()
}

pub(crate) fn districts(shapes: &[Shape]) -> Districts {
    Districts::build(rows(shapes))
}

pub(crate) fn wkb_of(shape: &impl geo_traits::GeometryTrait<T = f64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_geometry(&mut bytes, shape, &WriteOptions::default()).unwrap();
    bytes
}

/// All edges of a shape.
pub(crate) fn edges(shape: &MultiPolygon<f64>) -> impl Iterator<Item = (Coord<f64>, Coord<f64>)> + Clone {
    shape
        .0
        .iter()
        .flat_map(|part| std::iter::once(part.exterior()).chain(part.interiors()))
        .flat_map(|ring| ring.0.windows(2).map(|edge| (edge[0], edge[1])))
}

/// A point and its neighbours one unit in the last place away.
pub(crate) fn with_neighbours(point: Coord<f64>) -> [Coord<f64>; 5] {
    [
        point,
        at(point.x.next_up(), point.y),
        at(point.x.next_down(), point.y),
        at(point.x, point.y.next_up()),
        at(point.x, point.y.next_down()),
    ]
}

/// Points on and beside every border of a congress: vertices, midpoints, points along edges, and their neighbours.
/// `take` keeps one edge in so many.
pub(crate) fn border_points(shapes: &[Shape], congress: i64, take: usize) -> Vec<Coord<f64>> {
    let mut dice = Dice::new(7);
    let edges: Vec<_> = shapes
        .iter()
        .filter(|shape| shape.congress == congress)
        .flat_map(|shape| edges(&shape.shape))
        .collect();
    let mut points = Vec::new();
    for (start, end) in edges.iter().step_by(take) {
        let along = dice.between(0.0, 1.0);
        points.extend(with_neighbours(*start));
        points.extend(with_neighbours(at((start.x + end.x) / 2.0, (start.y + end.y) / 2.0)));
        points.push(at(start.x + along * (end.x - start.x), start.y + along * (end.y - start.y)));
        let crossing = -start.x / (end.x - start.x);
        if crossing > 0.0 && crossing < 1.0 {
            let y = start.y + crossing * (end.y - start.y);
            points.extend(with_neighbours(at(dice.between(-1.0, 1.0) * 1e-9, y)));
            points.extend(with_neighbours(at(dice.between(-1.0, 1.0), y)));
        }
        // At the height of a vertex, to the side: the ray passes through vertices.
        points.push(at(start.x - dice.between(0.0, 5e5), start.y));
    }
    points
}

/// Random points around a congress's shapes.
pub(crate) fn random_points(shapes: &[Shape], congress: i64, count: usize, seed: u64) -> Vec<Coord<f64>> {
    let mut dice = Dice::new(seed);
    let shapes: Vec<_> = shapes.iter().filter(|shape| shape.congress == congress).collect();
    (0..count)
        .map(|_| {
            let shape = shapes[dice.below(shapes.len())];
            let corners: Vec<Coord<f64>> = edges(&shape.shape).map(|(start, _)| start).collect();
            let low =
                corners.iter().fold(corners[0], |low, corner| at(low.x.min(corner.x), low.y.min(corner.y)));
            let high = corners
                .iter()
                .fold(corners[0], |high, corner| at(high.x.max(corner.x), high.y.max(corner.y)));
            let (wide, tall) = ((high.x - low.x) * 0.1 + 1.0, (high.y - low.y) * 0.1 + 1.0);
            at(dice.between(low.x - wide, high.x + wide), dice.between(low.y - tall, high.y + tall))
        })
        .collect()
}
