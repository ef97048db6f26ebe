//! Frames on the earth and on the picture, and districts in them.

use geo::Coord;

use crate::spatial::districts::MapShape;
use crate::spatial::projection::HALF_WORLD_METERS;

/// A rectangle: west, south, east, north in metres; or left, top, right, bottom in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Frame {
    pub(super) x1: f64,
    pub(super) y1: f64,
    pub(super) x2: f64,
    pub(super) y2: f64,
}

impl Frame {
    pub(super) fn around(a: Self, b: Self) -> Self {
        Self { x1: a.x1.min(b.x1), y1: a.y1.min(b.y1), x2: a.x2.max(b.x2), y2: a.y2.max(b.y2) }
    }

    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.x1 <= other.x2 && other.x1 <= self.x2 && self.y1 <= other.y2 && other.y1 <= self.y2
    }

    pub(super) fn width(&self) -> f64 {
        self.x2 - self.x1
    }

    pub(super) fn height(&self) -> f64 {
        self.y2 - self.y1
    }

    pub(super) fn center(&self) -> Coord<f64> {
        Coord { x: (self.x1 + self.x2) / 2.0, y: (self.y1 + self.y2) / 2.0 }
    }

    pub(super) fn holds(&self, point: Coord<f64>) -> bool {
        (self.x1..=self.x2).contains(&point.x) && (self.y1..=self.y2).contains(&point.y)
    }

    pub(super) fn grown(&self, by: f64) -> Self {
        Self { x1: self.x1 - by, y1: self.y1 - by, x2: self.x2 + by, y2: self.y2 + by }
    }

    /// The part shared with another; where there is none, a frame turned inside out.
    pub(super) fn shared(&self, other: &Self) -> Self {
        Self {
            x1: self.x1.max(other.x1),
            y1: self.y1.max(other.y1),
            x2: self.x2.min(other.x2),
            y2: self.y2.min(other.y2),
        }
    }
}

/// A district with the frame it is drawn in, unwrapped.
pub(super) struct Drawn<'a> {
    pub(super) shape: MapShape<'a>,
    pub(super) frame: Frame,
    /// Whether its eastern part moves one world to the west.
    pub(super) moved: bool,
}

impl<'a> Drawn<'a> {
    pub(super) fn new(shape: MapShape<'a>) -> Self {
        let extent = shape.extent;
        let moved = extent.width() > HALF_WORLD_METERS;
        let frame = if moved {
            let xs = shape.rings().flatten().map(|vertex| unwrapped(vertex.x, true));
            let (west, east) = xs.fold((f64::INFINITY, f64::NEG_INFINITY), |(w, e), x| (w.min(x), e.max(x)));
            Frame { x1: west, y1: extent.min.y, x2: east, y2: extent.max.y }
        } else {
            Frame { x1: extent.min.x, y1: extent.min.y, x2: extent.max.x, y2: extent.max.y }
        };
        Self { shape, frame, moved }
    }

    pub(super) fn state(&self) -> &str {
        self.shape.district.statename.as_deref().unwrap_or("")
    }

    pub(super) fn name(&self) -> String {
        match self.shape.district.district {
            Some(0) => format!("{} at large", self.state()),
            Some(number) => format!("{} {number}", self.state()),
            None => self.state().to_owned(),
        }
    }
}

pub(super) fn unwrapped(x: f64, moved: bool) -> f64 {
    if moved && x > 0.0 { x - 2.0 * HALF_WORLD_METERS } else { x }
}

/// A part of the earth on a part of the picture.
pub(super) struct Panel {
    pub(super) view: Frame,
    pub(super) screen: Frame,
    pub(super) title: Option<String>,
    /// Positions of the districts drawn in it.
    pub(super) members: Vec<usize>,
}

impl Panel {
    pub(super) fn scale(&self) -> f64 {
        self.screen.width() / self.view.width()
    }

    pub(super) fn to_screen(&self, point: Coord<f64>) -> Coord<f64> {
        let scale = self.scale();
        Coord {
            x: self.screen.x1 + (point.x - self.view.x1) * scale,
            y: self.screen.y1 + (self.view.y2 - point.y) * scale,
        }
    }

    pub(super) fn frame_to_screen(&self, frame: &Frame) -> Frame {
        let top_left = self.to_screen(Coord { x: frame.x1, y: frame.y2 });
        let bottom_right = self.to_screen(Coord { x: frame.x2, y: frame.y1 });
        Frame { x1: top_left.x, y1: top_left.y, x2: bottom_right.x, y2: bottom_right.y }
    }
}
