//! Bounding boxes as PostGIS compares them, and the list that is searched for them.
//!
//! PostGIS keeps a geometry's box as four 32-bit floats rounded **outward**, and the `&&` operator compares those,
//! inclusively, on both sides. Two shapes whose exact boxes are a metre apart in the Pacific may therefore overlap:
//! at x = 2·10⁷ neighbouring 32-bit floats are two metres apart.

use geo::Coord;

use super::projection::project;

/// A box in metres, rounded outward to 32-bit floats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FloatBox {
    /// West edge.
    pub min_x: f32,
    /// South edge.
    pub min_y: f32,
    /// East edge.
    pub max_x: f32,
    /// North edge.
    pub max_y: f32,
}

impl FloatBox {
    /// The box around some points; `None` when there are none, or one of them isn't a number.
    pub fn around(points: impl IntoIterator<Item = Coord<f64>>) -> Option<Self> {
        Extent::around(points).map(|extent| extent.outward())
    }

    /// The box of an envelope in degrees: its four corners are projected, and the box is theirs. `None` when a
    /// corner has no projection.
    pub fn of_envelope(min_lat: f64, max_lat: f64, min_lon: f64, max_lon: f64) -> Option<Self> {
        let corners = [(min_lon, min_lat), (min_lon, max_lat), (max_lon, max_lat), (max_lon, min_lat)];
        let projected: Option<Vec<_>> = corners.iter().map(|(lon, lat)| project(*lon, *lat)).collect();
        Self::around(projected?)
    }

    /// Whether two boxes share a point, edges included.
    #[inline]
    pub fn overlaps(&self, other: &Self) -> bool {
        // Without branches: in a list of boxes each comparison alone is a coin toss.
        (self.min_x <= other.max_x)
            & (other.min_x <= self.max_x)
            & (self.min_y <= other.max_y)
            & (other.min_y <= self.max_y)
    }

    /// The box around both.
    pub fn union(&self, other: &Self) -> Self {
        Self {
            min_x: self.min_x.min(other.min_x),
            min_y: self.min_y.min(other.min_y),
            max_x: self.max_x.max(other.max_x),
            max_y: self.max_y.max(other.max_y),
        }
    }

    /// Whether the other box lies within this one, edges included.
    #[inline]
    pub fn covers(&self, other: &Self) -> bool {
        (self.min_x <= other.min_x)
            & (other.max_x <= self.max_x)
            & (self.min_y <= other.min_y)
            & (other.max_y <= self.max_y)
    }
}

/// The exact bounding box of some points, in metres.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extent {
    /// South-west corner.
    pub min: Coord<f64>,
    /// North-east corner.
    pub max: Coord<f64>,
}

impl Extent {
    /// The extent of some points; `None` when there are none, or one of them isn't a number.
    pub fn around(points: impl IntoIterator<Item = Coord<f64>>) -> Option<Self> {
        let mut points = points.into_iter();
        let first = points.next()?;
        let mut extent = Self { min: first, max: first };
        let mut all_numbers = !first.x.is_nan() && !first.y.is_nan();
        for point in points {
            all_numbers &= !point.x.is_nan() && !point.y.is_nan();
            extent.min = Coord { x: extent.min.x.min(point.x), y: extent.min.y.min(point.y) };
            extent.max = Coord { x: extent.max.x.max(point.x), y: extent.max.y.max(point.y) };
        }
        all_numbers.then_some(extent)
    }

    /// The box PostGIS would store.
    pub fn outward(&self) -> FloatBox {
        FloatBox {
            min_x: float_down(self.min.x),
            min_y: float_down(self.min.y),
            max_x: float_up(self.max.x),
            max_y: float_up(self.max.y),
        }
    }

    /// East–west extent in metres.
    pub fn width(&self) -> f64 {
        self.max.x - self.min.x
    }
}

/// The largest 32-bit float that is not above the value; values beyond the type's range stay at its ends.
pub fn float_down(value: f64) -> f32 {
    let clamped = value.clamp(f64::from(f32::MIN), f64::from(f32::MAX));
    let nearest = clamped as f32;
    if f64::from(nearest) <= clamped { nearest } else { nearest.next_down().max(f32::MIN) }
}

/// The smallest 32-bit float that is not below the value; values beyond the type's range stay at its ends.
pub fn float_up(value: f64) -> f32 {
    let clamped = value.clamp(f64::from(f32::MIN), f64::from(f32::MAX));
    let nearest = clamped as f32;
    if f64::from(nearest) >= clamped { nearest } else { nearest.next_up().min(f32::MAX) }
}

/// Boxes per block of a [`BoxList`].
const BLOCK: usize = 16;

/// Boxes in their own order, searched block by block.
///
/// A congress has some 435 districts, and ids run by state, so sixteen neighbours in the list are neighbours on the
/// map. One pass over the 28 boxes of the blocks, then over the few blocks that overlap, takes less time than walking a
/// tree of as many nodes would, yields the positions in order without sorting, and needs
/// nothing stored.
#[derive(Debug)]
pub struct BoxList {
    boxes: Vec<FloatBox>,
    /// The box around each block.
    blocks: Vec<FloatBox>,
}

impl BoxList {
    /// Takes the boxes; a box's position is its place in the iteration.
    pub fn new(boxes: impl IntoIterator<Item = FloatBox>) -> Self {
        let boxes: Vec<FloatBox> = boxes.into_iter().collect();
        let blocks = boxes
            .chunks(BLOCK)
            .filter_map(|block| block.iter().copied().reduce(|a, b| a.union(&b)))
            .collect();
        Self { boxes, blocks }
    }

    /// Positions of the boxes that overlap the given one, ascending.
    pub fn overlapping(&self, bounds: &FloatBox) -> impl Iterator<Item = usize> {
        self.matching(bounds, FloatBox::overlaps)
    }

    /// Positions of the boxes that cover a box, ascending.
    pub fn covering(&self, bounds: &FloatBox) -> impl Iterator<Item = usize> {
        self.matching(bounds, FloatBox::covers)
    }

    fn matching(
        &self,
        bounds: &FloatBox,
        matches: impl Fn(&FloatBox, &FloatBox) -> bool + Copy,
    ) -> impl Iterator<Item = usize> {
        let bounds = *bounds;
        self.blocks
            .iter()
            .zip(self.boxes.chunks(BLOCK))
            .enumerate()
            .filter(move |(_, (around, _))| matches(around, &bounds))
            .flat_map(move |(block, (_, boxes))| {
                let found =
                    boxes.iter().enumerate().filter(move |(_, candidate)| matches(candidate, &bounds));
                found.map(move |(place, _)| block * BLOCK + place)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(x: f64, y: f64) -> Coord<f64> {
        Coord { x, y }
    }

    #[test]
    fn boxes_round_outward() {
        // 0.1 is not a 32-bit float: the nearest is above it.
        assert!(f64::from(float_down(0.1)) < 0.1 && f64::from(float_up(0.1)) > 0.1);
        assert_eq!(float_down(0.1).next_up(), float_up(0.1));
        assert_eq!((float_down(0.5), float_up(0.5)), (0.5, 0.5));
        assert_eq!((float_down(-0.0), float_up(0.0)), (0.0, 0.0));
        assert_eq!((float_down(1e300), float_up(1e300)), (f32::MAX, f32::MAX));
        assert_eq!((float_down(-1e300), float_up(-1e300)), (f32::MIN, f32::MIN));
        let beyond = f64::from(f32::MAX).next_down();
        assert_eq!(float_up(beyond), f32::MAX);
    }

    #[test]
    fn boxes_a_metre_apart_may_overlap_and_two_floats_apart_do_not() {
        let west = FloatBox::around([at(0.0, 0.0), at(20_000_000.4, 1.0)]).unwrap();
        let near = FloatBox::around([at(20_000_001.2, 0.0), at(20_000_100.0, 1.0)]).unwrap();
        let far = FloatBox::around([at(20_000_004.2, 0.0), at(20_000_100.0, 1.0)]).unwrap();
        assert!(west.overlaps(&near) && near.overlaps(&west));
        assert!(!west.overlaps(&far) && !far.overlaps(&west));
    }

    #[test]
    fn no_points_or_no_numbers_have_no_box() {
        assert_eq!(FloatBox::around([]), None);
        assert_eq!(FloatBox::around([at(0.0, 0.0), at(f64::NAN, 1.0)]), None);
        assert_eq!(FloatBox::around([at(0.0, f64::NAN)]), None);
        assert_eq!(FloatBox::of_envelope(0.0, 91.0, 0.0, 1.0), None);
    }

    #[test]
    fn the_envelope_of_the_whole_earth_reaches_the_poles() {
        let earth = FloatBox::of_envelope(-90.0, 90.0, -180.0, 180.0).unwrap();
        assert!(f64::from(earth.max_y) >= 242_528_680.9 && f64::from(earth.max_x) >= 20_037_508.3);
        assert_eq!((earth.min_x, earth.min_y), (-earth.max_x, -earth.max_y));
    }

    #[test]
    fn an_empty_list_answers_nothing_and_a_huge_box_still_holds_its_points() {
        let list = BoxList::new([FloatBox::around([at(1e300, 1e300), at(2e300, 3e300)]).unwrap()]);
        let point = FloatBox::around([at(1.5e300, 1.5e300)]).unwrap();
        assert_eq!(list.covering(&point).collect::<Vec<_>>(), [0], "beyond the 32-bit range");
        let list = BoxList::new([]);
        assert_eq!(list.covering(&point).count(), 0);
        assert_eq!(list.overlapping(&point).count(), 0);
    }

    proptest! {
        #[test]
        fn rounding_is_tight_and_outward(value in proptest::num::f64::NORMAL) {
            let (down, up) = (float_down(value), float_up(value));
            if value.abs() <= f64::from(f32::MAX) {
                prop_assert!(f64::from(down) <= value && value <= f64::from(up));
                prop_assert!(down == up || down.next_up() == up);
            }
        }

        #[test]
        fn the_list_finds_what_a_scan_finds(
            corners in prop::collection::vec((-9i32..9, -9i32..9, 0i32..4, 0i32..4), 0..60),
            query in (-9i32..9, -9i32..9, 0i32..3, 0i32..3),
        ) {
            let around = |(x, y, width, height): (i32, i32, i32, i32)| FloatBox::around([
                at(f64::from(x), f64::from(y)),
                at(f64::from(x + width), f64::from(y + height)),
            ]).unwrap();
            let boxes: Vec<FloatBox> = corners.into_iter().map(around).collect();
            let query = around(query);
            let list = BoxList::new(boxes.clone());
            let found: Vec<usize> = list.overlapping(&query).collect();
            let scanned: Vec<usize> = (0..boxes.len()).filter(|at| boxes[*at].overlaps(&query)).collect();
            prop_assert_eq!(found, scanned);
            let covering: Vec<usize> = list.covering(&query).collect();
            let scanned: Vec<usize> = (0..boxes.len()).filter(|at| boxes[*at].covers(&query)).collect();
            prop_assert_eq!(covering, scanned);
        }
    }
}
