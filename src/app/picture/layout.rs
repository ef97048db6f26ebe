//! Where on the picture which part of the earth goes.

use std::collections::BTreeMap;

use super::frame::{Drawn, Frame, Panel};
use super::{MARGIN, Scene, TITLE};
use crate::spatial::projection::{HALF_WORLD_METERS, project};

/// One panel around what was asked about, or the country with its far states in panels of their own.
pub(super) fn lay_out(scene: &Scene<'_>, drawn: &[Drawn<'_>], width: f64) -> Vec<Panel> {
    let all: Vec<usize> = (0..drawn.len()).collect();
    let union = |members: &[usize]| {
        members.iter().map(|at| drawn[*at].frame).reduce(Frame::around).unwrap_or(Frame {
            x1: -HALF_WORLD_METERS,
            y1: -HALF_WORLD_METERS / 2.0,
            x2: HALF_WORLD_METERS,
            y2: HALF_WORLD_METERS / 2.0,
        })
    };
    if let Some(asked) = asked_about(scene, drawn) {
        return vec![main_panel(asked, all, width)];
    }
    // The contiguous states; a source without them is drawn whole.
    let corners = project(-127.0, 22.5).zip(project(-64.5, 50.5));
    let near: Vec<usize> = match corners {
        Some((low, high)) => {
            let contiguous = Frame { x1: low.x, y1: low.y, x2: high.x, y2: high.y };
            all.iter().copied().filter(|at| contiguous.holds(drawn[*at].frame.center())).collect()
        }
        None => Vec::new(),
    };
    if near.len() * 2 < all.len() {
        let frame = union(&all);
        return vec![main_panel(frame.grown(frame.width() * 0.02), all, width)];
    }
    let frame = union(&near);
    let mut panels = vec![main_panel(frame.grown(frame.width() * 0.02), near.clone(), width)];
    let mut far: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for at in all.iter().filter(|at| !near.contains(at)) {
        far.entry(drawn[*at].state()).or_default().push(*at);
    }
    // A row below the map, over no part of it; lower if there are many.
    const GAP: f64 = 12.0;
    let main = panels[0].screen;
    let views: Vec<(&str, Vec<usize>, Frame, f64)> = far
        .into_iter()
        .map(|(state, members)| {
            let view = union(&members);
            let view = view.grown(view.width().max(view.height()) * 0.06);
            let proportion = (view.width() / view.height()).clamp(0.7, 1.7);
            (state, members, view, proportion)
        })
        .collect();
    let proportions: f64 = views.iter().map(|(.., proportion)| proportion).sum();
    let gaps = GAP * views.len().saturating_sub(1) as f64;
    let tall = (main.height() * 0.22).min((main.width() - gaps) / proportions);
    let mut left = main.x1;
    for (state, members, view, proportion) in views {
        let wide = tall * proportion;
        // The view takes the panel's proportions.
        let per = (view.width() / wide).max(view.height() / tall);
        let middle = view.center();
        let view = Frame {
            x1: middle.x - per * wide / 2.0,
            y1: middle.y - per * tall / 2.0,
            x2: middle.x + per * wide / 2.0,
            y2: middle.y + per * tall / 2.0,
        };
        let screen = Frame { x1: left, y1: main.y2 + GAP, x2: left + wide, y2: main.y2 + GAP + tall };
        left += wide + GAP;
        panels.push(Panel { view, screen, title: Some(state.to_owned()), members });
    }
    panels
}

/// The part of the earth a question is about.
pub(super) fn asked_about(scene: &Scene<'_>, drawn: &[Drawn<'_>]) -> Option<Frame> {
    let marked = scene.marked;
    if let Some((low, high)) = marked.bbox {
        let frame = Frame { x1: low.x, y1: low.y, x2: high.x, y2: high.y };
        return Some(frame.grown(frame.width().max(frame.height()).max(2_000.0) * 0.12));
    }
    if let Some(point) = marked.point {
        let here = Frame { x1: point.x, y1: point.y, x2: point.x, y2: point.y };
        if let Some(radius) = marked.radius {
            return Some(here.grown(radius * 1.6));
        }
        let around = drawn.iter().find(|district| Some(district.shape.district.id) == marked.containing);
        return Some(around.map_or_else(
            || here.grown(200_000.0),
            |district| district.frame.grown(district.frame.width().max(district.frame.height()) * 0.15),
        ));
    }
    let places =
        marked.places.iter().map(|(place, _)| Frame { x1: place.x, y1: place.y, x2: place.x, y2: place.y });
    let frame = places.reduce(Frame::around)?;
    // Places all over the country are shown on the country.
    let wide = frame.width().max(frame.height());
    (wide < 2.5e6).then(|| frame.grown((wide * 0.08).max(5_000.0)))
}

/// The panel across the picture, between a third and nine tenths as high as wide.
pub(super) fn main_panel(view: Frame, members: Vec<usize>, width: f64) -> Panel {
    let wide = width - 2.0 * MARGIN;
    let proportion = (view.height() / view.width()).clamp(0.45, 0.8);
    let middle = view.center();
    let half_width = (view.width() / 2.0).max(view.height() / 2.0 / proportion);
    let view = Frame {
        x1: middle.x - half_width,
        y1: middle.y - half_width * proportion,
        x2: middle.x + half_width,
        y2: middle.y + half_width * proportion,
    };
    let screen = Frame { x1: MARGIN, y1: TITLE, x2: MARGIN + wide, y2: TITLE + wide * proportion };
    Panel { view, screen, title: None, members }
}
