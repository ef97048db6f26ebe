//! Names on a map: the largest first, none over another.

use std::collections::BTreeMap;

use geo::Coord;

use super::Scene;
use super::frame::{Drawn, Frame, Panel};
use super::text::{Text, text};
use crate::spatial::projection::HALF_WORLD_METERS;

/// Names where they fit, the largest first; none over another.
pub(super) fn labels(
    svg: &mut String,
    scene: &Scene<'_>,
    drawn: &[Drawn<'_>],
    visible: &[usize],
    panel: &Panel,
    whole_country: bool,
) {
    struct Wanted {
        name: String,
        anchor: Coord<f64>,
        room: f64,
        strong: bool,
    }
    let mut wanted = Vec::new();
    if let Some(title) = &panel.title {
        let screen = panel.screen;
        text(svg, &Text { size: 11.5, halo: true, ..Text::at(screen.x1 + 6.0, screen.y1 + 15.0) }, title);
        return;
    }
    if whole_country {
        let mut states: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for at in visible {
            states.entry(drawn[*at].state()).or_default().push(*at);
        }
        for (state, members) in states {
            let frames = || members.iter().map(|at| drawn[*at].frame);
            let Some(frame) = frames().reduce(Frame::around) else { continue };
            // The middle of the districts by area, which lies within most states.
            let area: f64 = frames().map(|frame| frame.width() * frame.height()).sum();
            let middle = |of: fn(Coord<f64>) -> f64| {
                frames().map(|frame| of(frame.center()) * frame.width() * frame.height()).sum::<f64>() / area
            };
            let anchor = panel.to_screen(Coord { x: middle(|at| at.x), y: middle(|at| at.y) });
            let room = frame.width() * panel.scale();
            wanted.push(Wanted { name: state.to_owned(), anchor, room, strong: false });
        }
    } else {
        for at in visible {
            let district = &drawn[*at];
            let shown = district.frame.shared(&panel.view);
            let Some(anchor) = inner_point(district, &shown) else { continue };
            let strong = scene.marked.containing == Some(district.shape.district.id);
            let room = shown.width() * panel.scale();
            wanted.push(Wanted { name: district.name(), anchor: panel.to_screen(anchor), room, strong });
        }
    }
    wanted.sort_by(|a, b| b.strong.cmp(&a.strong).then(b.room.total_cmp(&a.room)));
    // What is marked must stay visible.
    let mut taken: Vec<Frame> = scene
        .marked
        .point
        .map(|point| panel.to_screen(point))
        .map(|at| Frame { x1: at.x - 9.0, y1: at.y - 9.0, x2: at.x + 9.0, y2: at.y + 9.0 })
        .into_iter()
        .collect();
    for label in wanted {
        let sizes: &[f64] = if label.strong { &[17.0] } else { &[14.0, 11.5] };
        for size in sizes {
            let half = label.name.chars().count() as f64 * size * 0.26;
            if half * 1.7 > label.room && !label.strong {
                continue;
            }
            let Coord { x, mut y } = label.anchor;
            let around = |y: f64| Frame { x1: x - half - 3.0, y1: y - size, x2: x + half + 3.0, y2: y + 5.0 };
            if label.strong && taken.iter().any(|other| other.overlaps(&around(y))) {
                y -= 24.0;
            }
            let fits = panel.screen.grown(-2.0);
            let inside =
                fits.holds(Coord { x: x - half, y: y - size }) && fits.holds(Coord { x: x + half, y });
            if !inside || taken.iter().any(|other| other.overlaps(&around(y))) {
                continue;
            }
            taken.push(around(y));
            let style = Text { size: *size, middle: true, halo: true, ..Text::at(x, y) };
            text(svg, &style, &label.name);
            break;
        }
    }
}

/// A point of the shape far from its border, among a grid over the part that is shown.
pub(super) fn inner_point(district: &Drawn<'_>, shown: &Frame) -> Option<Coord<f64>> {
    const STEPS: usize = 11;
    if shown.width() <= 0.0 || shown.height() <= 0.0 {
        return None;
    }
    let at = |column: usize, row: usize| Coord {
        x: shown.x1 + shown.width() * (column as f64 + 0.5) / STEPS as f64,
        y: shown.y1 + shown.height() * (row as f64 + 0.5) / STEPS as f64,
    };
    let cells: Vec<(Coord<f64>, bool)> = (0..STEPS * STEPS)
        .map(|cell| {
            let point = at(cell % STEPS, cell / STEPS);
            let true_x =
                if point.x < -HALF_WORLD_METERS { point.x + 2.0 * HALF_WORLD_METERS } else { point.x };
            (point, district.shape.contains(Coord { x: true_x, y: point.y }))
        })
        .collect();
    let room = |point: Coord<f64>| {
        let edge = (point.x - shown.x1)
            .min(shown.x2 - point.x)
            .min((point.y - shown.y1).min(shown.y2 - point.y) * 2.0);
        let outside = cells.iter().filter(|(_, inside)| !inside).map(|(other, _)| {
            // Text is wide and flat: what is beside it is nearer than what is above.
            ((other.x - point.x) * 0.6).hypot((other.y - point.y) * 1.4)
        });
        outside.fold(edge, f64::min)
    };
    cells
        .iter()
        .filter(|(_, inside)| *inside)
        .map(|(point, _)| *point)
        .max_by(|a, b| room(*a).total_cmp(&room(*b)))
}
