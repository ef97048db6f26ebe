//! One panel: sea, graticule, districts, and what is marked on them.

use std::collections::BTreeMap;
use std::fmt::Write;

use geo::Coord;

use super::frame::{Drawn, Frame, Panel, unwrapped};
use super::labels::labels;
use super::text::{Text, text};
use super::{ACCENT, FILLS, HIT, SEA, Scene};
use crate::spatial::projection::{EARTH_RADIUS_METERS, project};

/// Vertices closer than this many pixels to the last one drawn are left out.
const DETAIL: f64 = 0.6;
/// Most places and hits drawn one by one.
const MAX_DOTS: usize = 60_000;

/// A fill for each district. On the country's map states are told apart and their districts shaded; on a closer one,
/// neighbouring districts are told apart.
pub(super) fn colours(drawn: &[Drawn<'_>], by_state: bool, view: Option<Frame>) -> Vec<(&'static str, f64)> {
    let mut groups: Vec<(Frame, Vec<usize>)> = Vec::new();
    if by_state {
        let mut states: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, district) in drawn.iter().enumerate() {
            states.entry(district.state()).or_default().push(at);
        }
        for members in states.into_values() {
            let frame = members.iter().map(|at| drawn[*at].frame).reduce(Frame::around);
            groups.extend(frame.map(|frame| (frame, members)));
        }
    } else {
        // Those out of sight would only use up colours.
        let visible = drawn.iter().enumerate().filter_map(|(at, district)| match view {
            Some(view) => view.overlaps(&district.frame).then(|| (district.frame.shared(&view), vec![at])),
            None => Some((district.frame, vec![at])),
        });
        groups.extend(visible);
    }
    let mut chosen: Vec<usize> = Vec::with_capacity(groups.len());
    let mut fills = vec![(FILLS[0], 1.0); drawn.len()];
    for (at, (frame, members)) in groups.iter().enumerate() {
        // How much of each colour is near: the longer the common part of two frames, the likelier a common border.
        let mut near = [0.0f64; FILLS.len()];
        for (other, colour) in groups.iter().zip(&chosen) {
            if other.0.overlaps(frame) {
                let common = other.0.shared(frame);
                near[*colour] += 1.0 + common.width() + common.height();
            }
        }
        // Which one of equals goes round, so that all are seen.
        let turn = |colour: &usize| (colour + at) % FILLS.len();
        let colour = (0..FILLS.len())
            .min_by(|a, b| near[*a].total_cmp(&near[*b]).then(turn(a).cmp(&turn(b))))
            .unwrap_or(0);
        chosen.push(colour);
        for (place, member) in members.iter().enumerate() {
            let shade = if by_state { [1.0, 0.72, 0.86][place % 3] } else { 1.0 };
            fills[*member] = (FILLS[colour], shade);
        }
    }
    fills
}

pub(super) fn draw_panel(
    svg: &mut String,
    scene: &Scene<'_>,
    drawn: &[Drawn<'_>],
    colours: &[(&'static str, f64)],
    panel: &Panel,
    number: usize,
    whole_country: bool,
) {
    let Frame { x1, y1, x2, y2 } = panel.screen;
    let (wide, tall) = (x2 - x1, y2 - y1);
    let _ = writeln!(
        svg,
        "<clipPath id=\"panel{number}\"><rect x=\"{x1:.1}\" y=\"{y1:.1}\" width=\"{wide:.1}\" \
         height=\"{tall:.1}\"/></clipPath>\n<g clip-path=\"url(#panel{number})\">\n<rect x=\"{x1:.1}\" y=\"{y1:.1}\" \
         width=\"{wide:.1}\" height=\"{tall:.1}\" fill=\"{SEA}\"/>"
    );
    if panel.title.is_none() {
        graticule(svg, panel);
    }
    let visible: Vec<usize> =
        panel.members.iter().copied().filter(|at| drawn[*at].frame.overlaps(&panel.view)).collect();
    let _ = writeln!(
        svg,
        "<g stroke=\"#74808e\" stroke-width=\"0.6\" stroke-linejoin=\"round\" fill-rule=\"evenodd\">"
    );
    let is_marked = |at: &usize| {
        let id = drawn[*at].shape.district.id;
        scene.marked.containing == Some(id) || scene.marked.in_box.contains(&id)
    };
    for at in visible.iter().filter(|at| !is_marked(at)) {
        let (fill, shade) = colours[*at];
        let _ = writeln!(
            svg,
            "<path fill=\"{fill}\" fill-opacity=\"{shade}\" d=\"{}\"/>",
            path(&drawn[*at], panel)
        );
    }
    svg.push_str("</g>\n");
    // Marked ones last, so that no neighbour's border lies over theirs.
    for at in visible.iter().filter(|at| is_marked(at)) {
        let strong = scene.marked.containing == Some(drawn[*at].shape.district.id);
        let fill = if strong { "#f9b787" } else { colours[*at].0 };
        let line = if strong { 2.2 } else { 1.3 };
        let stroke = if strong { ACCENT } else { "#3e4a57" };
        let _ = writeln!(
            svg,
            "<path fill=\"{fill}\" stroke=\"{stroke}\" stroke-width=\"{line}\" stroke-linejoin=\"round\" \
             fill-rule=\"evenodd\" d=\"{}\"/>",
            path(&drawn[*at], panel)
        );
    }
    overlays(svg, scene, panel);
    labels(svg, scene, drawn, &visible, panel, whole_country);
    svg.push_str("</g>\n");
    let _ = writeln!(
        svg,
        "<rect x=\"{x1:.1}\" y=\"{y1:.1}\" width=\"{wide:.1}\" height=\"{tall:.1}\" fill=\"none\" stroke=\"#8794a3\"/>"
    );
}

/// The district's outline in pixels, without what is too fine to be seen.
pub(super) fn path(district: &Drawn<'_>, panel: &Panel) -> String {
    let mut path = String::new();
    for ring in district.shape.rings() {
        let mut last: Option<Coord<f64>> = None;
        let mut points = 0;
        let mut outline = String::new();
        for vertex in ring {
            let vertex = Coord { x: unwrapped(vertex.x, district.moved), y: vertex.y };
            let point = panel.to_screen(vertex);
            let far =
                last.is_none_or(|last| (point.x - last.x).abs().max((point.y - last.y).abs()) >= DETAIL);
            if far {
                let _ =
                    write!(outline, "{}{:.1} {:.1}", if points == 0 { "M" } else { "L" }, point.x, point.y);
                last = Some(point);
                points += 1;
            }
        }
        if points >= 3 {
            path.push_str(&outline);
            path.push('Z');
        }
    }
    path
}

/// Lines of longitude and latitude at round degrees, named along the edges.
pub(super) fn graticule(svg: &mut String, panel: &Panel) {
    let view = panel.view;
    let degrees_of = |x: f64| (x / EARTH_RADIUS_METERS).to_degrees();
    let latitude_of = |y: f64| (y / EARTH_RADIUS_METERS).sinh().atan().to_degrees();
    let span = degrees_of(view.width());
    let steps = [30.0, 20.0, 10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002];
    let step = steps.into_iter().find(|step| span / step >= 5.0).unwrap_or(0.001);
    let decimals = if step >= 1.0 { 0 } else { (-f64::log10(step)).ceil().clamp(0.0, 4.0) as usize };
    let mut line = |from: Coord<f64>, to: Coord<f64>| {
        let (from, to) = (panel.to_screen(from), panel.to_screen(to));
        let _ = writeln!(
            svg,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"#ccd8e2\" stroke-width=\"0.8\"/>",
            from.x, from.y, to.x, to.y
        );
    };
    let mut names = Vec::new();
    let named = |value: f64, positive: &str, negative: &str| {
        let side = if value > 0.0 {
            positive
        } else if value < 0.0 {
            negative
        } else {
            ""
        };
        format!("{:.decimals$}°{side}", value.abs())
    };
    let first = (degrees_of(view.x1) / step).ceil() as i64;
    let last = (degrees_of(view.x2) / step).floor() as i64;
    for number in first..=last.min(first + 60) {
        let degrees = number as f64 * step;
        let x = degrees.to_radians() * EARTH_RADIUS_METERS;
        line(Coord { x, y: view.y1 }, Coord { x, y: view.y2 });
        let at = panel.to_screen(Coord { x, y: view.y2 });
        // West of the antimeridian the count goes on in the east.
        let shown = if degrees < -180.0 { degrees + 360.0 } else { degrees };
        names.push((at.x + 3.0, panel.screen.y1 + 12.0, named(shown, "E", "W")));
    }
    let first = (latitude_of(view.y1) / step).ceil() as i64;
    let last = (latitude_of(view.y2) / step).floor() as i64;
    for number in first..=last.min(first + 60) {
        let degrees = number as f64 * step;
        let Some(Coord { y, .. }) = project(0.0, degrees.clamp(-90.0, 90.0)) else { continue };
        line(Coord { x: view.x1, y }, Coord { x: view.x2, y });
        let at = panel.to_screen(Coord { x: view.x1, y });
        names.push((panel.screen.x1 + 3.0, at.y - 3.0, named(degrees, "N", "S")));
    }
    for (x, y, name) in names {
        text(svg, &Text { size: 10.5, fill: "#6f8093", ..Text::at(x, y) }, &name);
    }
}

/// The box, the circle, the hits, the places and the point, from the largest to the smallest.
pub(super) fn overlays(svg: &mut String, scene: &Scene<'_>, panel: &Panel) {
    let marked = scene.marked;
    if let Some((low, high)) = marked.bbox {
        let frame = panel.frame_to_screen(&Frame { x1: low.x, y1: low.y, x2: high.x, y2: high.y });
        let _ = writeln!(
            svg,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{ACCENT}\" fill-opacity=\"0.06\" \
             stroke=\"{ACCENT}\" stroke-width=\"1.8\" stroke-dasharray=\"7 4\"/>",
            frame.x1,
            frame.y1,
            frame.width().max(1.0),
            frame.height().max(1.0)
        );
    }
    if let (Some(point), Some(radius)) = (marked.point, marked.radius) {
        let center = panel.to_screen(point);
        let _ = writeln!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{:.1}\" fill=\"{HIT}\" fill-opacity=\"0.08\" stroke=\"{HIT}\" \
             stroke-width=\"1.8\"/>",
            center.x,
            center.y,
            radius * panel.scale()
        );
    }
    let mut dots = |points: &mut dyn Iterator<Item = Coord<f64>>, count: usize, style: &str| {
        let size = if count > 3_000 {
            1.3
        } else if count > 300 {
            2.0
        } else {
            3.2
        };
        let _ = writeln!(svg, "<g {style}>");
        for point in points.filter(|point| panel.view.holds(*point)).take(MAX_DOTS) {
            let at = panel.to_screen(point);
            let _ = writeln!(svg, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{size}\"/>", at.x, at.y);
        }
        svg.push_str("</g>\n");
    };
    let hit_style = format!("fill=\"{HIT}\" fill-opacity=\"0.65\"");
    dots(&mut marked.hits.iter().copied(), marked.hits.len(), &hit_style);
    for inside in [true, false] {
        let style = place_style(inside);
        let mut places = marked.places.iter().filter(|(_, found)| *found == inside).map(|(place, _)| *place);
        dots(&mut places, marked.places.len(), &style);
    }
    if let Some(point) = marked.point {
        let at = panel.to_screen(point);
        let _ = writeln!(
            svg,
            "<circle cx=\"{0:.1}\" cy=\"{1:.1}\" r=\"6.5\" fill=\"{ACCENT}\" stroke=\"#ffffff\" stroke-width=\"2\"/>\
             <circle cx=\"{0:.1}\" cy=\"{1:.1}\" r=\"1.8\" fill=\"#ffffff\"/>",
            at.x, at.y
        );
    }
}

pub(super) fn place_style(inside: bool) -> String {
    match inside {
        true => "fill=\"#17643a\" stroke=\"#ffffff\" stroke-width=\"0.5\"".to_owned(),
        false => format!("fill=\"#ffffff\" stroke=\"{ACCENT}\" stroke-width=\"1.3\""),
    }
}
