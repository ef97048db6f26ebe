//! The picture of a map as SVG: panels, districts, what was asked about, a scale and a legend.
//!
//! Drawn in the projection the answers are computed in, so that a circle is the radius and a box the box. A shape on
//! both sides of the antimeridian is drawn in one piece: its eastern part moves one world to the west. When the whole
//! country is drawn, states far from most others (Alaska, Hawaii, islands) get panels of their own.

use std::collections::BTreeMap;
use std::fmt::Write;

use geo::Coord;

use super::raster::FONT_FAMILY;
use crate::spatial::districts::{CongressMap, MapShape};
use crate::spatial::projection::{EARTH_RADIUS_METERS, HALF_WORLD_METERS, ground_distance_factor, project};

/// What is marked on a map, in projected metres.
#[derive(Debug, Clone, Default)]
pub(super) struct Marked {
    pub(super) point: Option<Coord<f64>>,
    /// Id of the district the point lies in.
    pub(super) containing: Option<i64>,
    pub(super) radius: Option<f64>,
    pub(super) hits: Vec<Coord<f64>>,
    /// South-west and north-east corners.
    pub(super) bbox: Option<(Coord<f64>, Coord<f64>)>,
    /// Ids of the districts whose boxes overlap the box.
    pub(super) in_box: Vec<i64>,
    /// Places of a file, and whether each lies in a district.
    pub(super) places: Vec<(Coord<f64>, bool)>,
}

/// Everything a picture is drawn from.
pub(super) struct Scene<'a> {
    pub(super) congress: i64,
    pub(super) map: &'a CongressMap,
    pub(super) marked: &'a Marked,
    pub(super) width: u32,
    pub(super) source: &'a str,
}

/// Soft fills that neighbours are told apart by.
const FILLS: [&str; 7] = ["#f3cfa8", "#bfdab5", "#f5e6a9", "#b9d0e8", "#e6c1d3", "#d3c8ea", "#bde0db"];
const SEA: &str = "#eaf1f6";
const INK: &str = "#28323e";
const ACCENT: &str = "#d1480b";
const HIT: &str = "#1f5fa8";
/// Pixels around the map, and above it for the title.
const MARGIN: f64 = 24.0;
const TITLE: f64 = 62.0;
const LEGEND: f64 = 108.0;
/// Vertices closer than this many pixels to the last one drawn are left out.
const DETAIL: f64 = 0.6;
/// Most places and hits drawn one by one.
const MAX_DOTS: usize = 60_000;

/// A rectangle: west, south, east, north in metres; or left, top, right, bottom in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Frame {
    x1: f64,
    y1: f64,
    x2: f64,
    y2: f64,
}

impl Frame {
    fn around(a: Self, b: Self) -> Self {
        Self { x1: a.x1.min(b.x1), y1: a.y1.min(b.y1), x2: a.x2.max(b.x2), y2: a.y2.max(b.y2) }
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.x1 <= other.x2 && other.x1 <= self.x2 && self.y1 <= other.y2 && other.y1 <= self.y2
    }

    fn width(&self) -> f64 {
        self.x2 - self.x1
    }

    fn height(&self) -> f64 {
        self.y2 - self.y1
    }

    fn center(&self) -> Coord<f64> {
        Coord { x: (self.x1 + self.x2) / 2.0, y: (self.y1 + self.y2) / 2.0 }
    }

    fn holds(&self, point: Coord<f64>) -> bool {
        (self.x1..=self.x2).contains(&point.x) && (self.y1..=self.y2).contains(&point.y)
    }

    fn grown(&self, by: f64) -> Self {
        Self { x1: self.x1 - by, y1: self.y1 - by, x2: self.x2 + by, y2: self.y2 + by }
    }

    /// The part shared with another; where there is none, a frame turned inside out.
    fn shared(&self, other: &Self) -> Self {
        Self {
            x1: self.x1.max(other.x1),
            y1: self.y1.max(other.y1),
            x2: self.x2.min(other.x2),
            y2: self.y2.min(other.y2),
        }
    }
}

/// A district with the frame it is drawn in, unwrapped.
struct Drawn<'a> {
    shape: MapShape<'a>,
    frame: Frame,
    /// Whether its eastern part moves one world to the west.
    moved: bool,
}

impl<'a> Drawn<'a> {
    fn new(shape: MapShape<'a>) -> Self {
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

    fn state(&self) -> &str {
        self.shape.district.statename.as_deref().unwrap_or("")
    }

    fn name(&self) -> String {
        match self.shape.district.district {
            Some(0) => format!("{} at large", self.state()),
            Some(number) => format!("{} {number}", self.state()),
            None => self.state().to_owned(),
        }
    }
}

fn unwrapped(x: f64, moved: bool) -> f64 {
    if moved && x > 0.0 { x - 2.0 * HALF_WORLD_METERS } else { x }
}

/// A part of the earth on a part of the picture.
struct Panel {
    view: Frame,
    screen: Frame,
    title: Option<String>,
    /// Positions of the districts drawn in it.
    members: Vec<usize>,
}

impl Panel {
    fn scale(&self) -> f64 {
        self.screen.width() / self.view.width()
    }

    fn to_screen(&self, point: Coord<f64>) -> Coord<f64> {
        let scale = self.scale();
        Coord {
            x: self.screen.x1 + (point.x - self.view.x1) * scale,
            y: self.screen.y1 + (self.view.y2 - point.y) * scale,
        }
    }

    fn frame_to_screen(&self, frame: &Frame) -> Frame {
        let top_left = self.to_screen(Coord { x: frame.x1, y: frame.y2 });
        let bottom_right = self.to_screen(Coord { x: frame.x2, y: frame.y1 });
        Frame { x1: top_left.x, y1: top_left.y, x2: bottom_right.x, y2: bottom_right.y }
    }
}

/// Draws the scene.
pub(super) fn draw(scene: &Scene<'_>) -> String {
    let drawn: Vec<Drawn<'_>> = scene.map.shapes().map(Drawn::new).collect();
    let width = f64::from(scene.width);
    let panels = lay_out(scene, &drawn, width);
    let bottom = panels.first().map_or(width / 2.0, |panel| panel.screen.y2);
    let height = bottom + LEGEND;
    let mut svg = String::new();
    let _ = write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} \
         {height:.0}\" font-family=\"{FONT_FAMILY}, 'DejaVu Sans', sans-serif\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    text(&mut svg, &Text { size: 27.0, ..Text::at(MARGIN, 40.0) }, &title(scene));
    let colours = colours(&drawn, panels.len() > 1);
    for (number, panel) in panels.iter().enumerate() {
        draw_panel(&mut svg, scene, &drawn, &colours, panel, number, panels.len() > 1);
    }
    draw_legend(&mut svg, scene, &drawn, panels.first(), bottom, width);
    svg.push_str("</svg>\n");
    svg
}

fn title(scene: &Scene<'_>) -> String {
    let number = scene.congress;
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("Congressional districts of the {number}{ending} Congress")
}

/// One panel around what was asked about, or the country with its far states in panels of their own.
fn lay_out(scene: &Scene<'_>, drawn: &[Drawn<'_>], width: f64) -> Vec<Panel> {
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
    // From the lower left corner, each as high as a sixth of the map.
    let (main, mut left) = (panels[0].screen, panels[0].screen.x1 + 10.0);
    for (state, members) in far {
        let view = union(&members);
        let view = view.grown(view.width().max(view.height()) * 0.06);
        let tall = main.height() * 0.2;
        let wide = (tall * view.width() / view.height()).clamp(tall * 0.7, tall * 1.7);
        // The view takes the panel's proportions.
        let (per_x, per_y) = (view.width() / wide, view.height() / tall);
        let per = per_x.max(per_y);
        let middle = view.center();
        let view = Frame {
            x1: middle.x - per * wide / 2.0,
            y1: middle.y - per * tall / 2.0,
            x2: middle.x + per * wide / 2.0,
            y2: middle.y + per * tall / 2.0,
        };
        if left + wide > main.x2 {
            break;
        }
        let screen = Frame { x1: left, y1: main.y2 - tall - 10.0, x2: left + wide, y2: main.y2 - 10.0 };
        left += wide + 10.0;
        panels.push(Panel { view, screen, title: Some(state.to_owned()), members });
    }
    panels
}

/// The part of the earth a question is about.
fn asked_about(scene: &Scene<'_>, drawn: &[Drawn<'_>]) -> Option<Frame> {
    let marked = scene.marked;
    if let Some((low, high)) = marked.bbox {
        let frame = Frame { x1: low.x, y1: low.y, x2: high.x, y2: high.y };
        return Some(frame.grown(frame.width().max(frame.height()).max(2_000.0) * 0.12));
    }
    if let Some(point) = marked.point {
        let here = Frame { x1: point.x, y1: point.y, x2: point.x, y2: point.y };
        if let Some(radius) = marked.radius {
            return Some(here.grown(radius * 1.35));
        }
        let around = drawn.iter().find(|district| Some(district.shape.district.id) == marked.containing);
        return Some(around.map_or_else(
            || here.grown(200_000.0),
            |district| district.frame.grown(district.frame.width().max(district.frame.height()) * 0.15),
        ));
    }
    let places = marked.places.iter().map(|(place, _)| Frame { x1: place.x, y1: place.y, x2: place.x, y2: place.y });
    let frame = places.reduce(Frame::around)?;
    // Places all over the country are shown on the country.
    let wide = frame.width().max(frame.height());
    (wide < 2.5e6).then(|| frame.grown((wide * 0.08).max(5_000.0)))
}

/// The panel across the picture, between a third and nine tenths as high as wide.
fn main_panel(view: Frame, members: Vec<usize>, width: f64) -> Panel {
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

/// A fill for each district. On the country's map states are told apart and their districts shaded; on a closer one,
/// neighbouring districts are told apart.
fn colours(drawn: &[Drawn<'_>], by_state: bool) -> Vec<(&'static str, f64)> {
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
        groups.extend(drawn.iter().enumerate().map(|(at, district)| (district.frame, vec![at])));
    }
    let mut chosen: Vec<usize> = Vec::with_capacity(groups.len());
    let mut fills = vec![(FILLS[0], 1.0); drawn.len()];
    for (at, (frame, members)) in groups.iter().enumerate() {
        let mut used = [0usize; FILLS.len()];
        for (other, colour) in groups.iter().zip(&chosen) {
            used[*colour] += usize::from(other.0.overlaps(frame));
        }
        // The least used among neighbours; which one of equals goes round, so that all are seen.
        let colour = (0..FILLS.len()).min_by_key(|colour| (used[*colour], (colour + at) % FILLS.len())).unwrap_or(0);
        chosen.push(colour);
        for (place, member) in members.iter().enumerate() {
            let shade = if by_state { [1.0, 0.72, 0.86][place % 3] } else { 1.0 };
            fills[*member] = (FILLS[colour], shade);
        }
    }
    fills
}

fn draw_panel(
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
    let _ = writeln!(svg, "<g stroke=\"#74808e\" stroke-width=\"0.6\" stroke-linejoin=\"round\" fill-rule=\"evenodd\">");
    let is_marked = |at: &usize| {
        let id = drawn[*at].shape.district.id;
        scene.marked.containing == Some(id) || scene.marked.in_box.contains(&id)
    };
    for at in visible.iter().filter(|at| !is_marked(at)) {
        let (fill, shade) = colours[*at];
        let _ = writeln!(svg, "<path fill=\"{fill}\" fill-opacity=\"{shade}\" d=\"{}\"/>", path(&drawn[*at], panel));
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
fn path(district: &Drawn<'_>, panel: &Panel) -> String {
    let mut path = String::new();
    for ring in district.shape.rings() {
        let mut last: Option<Coord<f64>> = None;
        let mut points = 0;
        let mut outline = String::new();
        for vertex in ring {
            let vertex = Coord { x: unwrapped(vertex.x, district.moved), y: vertex.y };
            let point = panel.to_screen(vertex);
            let far = last.is_none_or(|last| (point.x - last.x).abs().max((point.y - last.y).abs()) >= DETAIL);
            if far {
                let _ = write!(outline, "{}{:.1} {:.1}", if points == 0 { "M" } else { "L" }, point.x, point.y);
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
fn graticule(svg: &mut String, panel: &Panel) {
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
        let side = if value > 0.0 { positive } else if value < 0.0 { negative } else { "" };
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
fn overlays(svg: &mut String, scene: &Scene<'_>, panel: &Panel) {
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
        let size = if count > 3_000 { 1.3 } else if count > 300 { 2.0 } else { 3.2 };
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

fn place_style(inside: bool) -> String {
    match inside {
        true => "fill=\"#17643a\" stroke=\"#ffffff\" stroke-width=\"0.5\"".to_owned(),
        false => format!("fill=\"#ffffff\" stroke=\"{ACCENT}\" stroke-width=\"1.3\""),
    }
}

/// Names where they fit, the largest first; none over another.
fn labels(
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
        text(svg, &Text { size: 11.5, ..Text::at(screen.x1 + 6.0, screen.y1 + 15.0) }, title);
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
            let inside = fits.holds(Coord { x: x - half, y: y - size }) && fits.holds(Coord { x: x + half, y });
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
fn inner_point(district: &Drawn<'_>, shown: &Frame) -> Option<Coord<f64>> {
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
            let true_x = if point.x < -HALF_WORLD_METERS { point.x + 2.0 * HALF_WORLD_METERS } else { point.x };
            (point, district.shape.contains(Coord { x: true_x, y: point.y }))
        })
        .collect();
    let room = |point: Coord<f64>| {
        let edge = (point.x - shown.x1).min(shown.x2 - point.x).min((point.y - shown.y1).min(shown.y2 - point.y) * 2.0);
        let outside = cells.iter().filter(|(_, inside)| !inside).map(|(other, _)| {
            // Text is wide and flat: what is beside it is nearer than what is above.
            ((other.x - point.x) * 0.6).hypot((other.y - point.y) * 1.4)
        });
        outside.fold(edge, f64::min)
    };
    cells.iter().filter(|(_, inside)| *inside).map(|(point, _)| *point).max_by(|a, b| room(*a).total_cmp(&room(*b)))
}

/// Below the map: what the marks mean on the left, the scale on the right, the source at the bottom.
fn draw_legend(
    svg: &mut String,
    scene: &Scene<'_>,
    drawn: &[Drawn<'_>],
    main: Option<&Panel>,
    top: f64,
    width: f64,
) {
    let marked = scene.marked;
    let mut entries: Vec<(String, String)> = Vec::new();
    let swatch = |fill: &str, stroke: &str| {
        format!("<rect x=\"-9\" y=\"-7\" width=\"18\" height=\"13\" fill=\"{fill}\" stroke=\"{stroke}\"/>")
    };
    let dot = |style: &str| format!("<circle r=\"5\" {style}/>");
    entries.push((swatch(FILLS[0], "#74808e"), format!("{} districts, told apart by colour", drawn.len())));
    if marked.point.is_some() {
        let found = drawn.iter().find(|district| Some(district.shape.district.id) == marked.containing);
        let place = found.map_or_else(
            || "the place: in no district (a border is in none)".to_owned(),
            |district| {
                let id = district.shape.district.district_id.as_deref().unwrap_or("none");
                format!("the place: in {} (id {id})", district.name())
            },
        );
        entries.push((dot(&format!("fill=\"{ACCENT}\" stroke=\"#ffffff\"")), place));
    }
    if let Some(radius) = marked.radius {
        let style = format!("fill=\"{HIT}\" fill-opacity=\"0.65\"");
        entries.push((
            dot(&style),
            format!("{} nonprofits within {} planar metres", grouped(marked.hits.len()), grouped(radius as usize)),
        ));
    }
    if marked.bbox.is_some() {
        let found = marked.in_box.len();
        entries.push((swatch("#ffffff", ACCENT), format!("the box: the boxes of {found} districts overlap it")));
    }
    if !marked.places.is_empty() {
        let inside = marked.places.iter().filter(|(_, inside)| *inside).count();
        entries.push((dot(&place_style(true)), format!("{} places in a district", grouped(inside))));
        let outside = marked.places.len() - inside;
        if outside > 0 {
            entries.push((dot(&place_style(false)), format!("{} places in none", grouped(outside))));
        }
    }
    let (mut x, mut y) = (MARGIN + 12.0, top + 26.0);
    for (symbol, words) in entries {
        let wide = 46.0 + words.chars().count() as f64 * 7.4;
        if x + wide > width - 300.0 && x > MARGIN + 12.0 {
            (x, y) = (MARGIN + 12.0, y + 25.0);
        }
        let _ = writeln!(svg, "<g transform=\"translate({x:.1} {y:.1})\">{symbol}</g>");
        text(svg, &Text { size: 14.0, ..Text::at(x + 17.0, y + 4.5) }, &words);
        x += wide;
    }
    if let Some(panel) = main {
        scale_bar(svg, panel, top, width);
    }
    text(svg, &Text { size: 11.5, fill: "#5d6b7a", ..Text::at(MARGIN, top + LEGEND - 14.0) }, scene.source);
}

/// A bar of round length on the ground at the middle of the map.
fn scale_bar(svg: &mut String, panel: &Panel, top: f64, width: f64) {
    let middle = (panel.view.center().y / EARTH_RADIUS_METERS).sinh().atan().to_degrees();
    let factor = ground_distance_factor(middle).unwrap_or(1.0);
    let meters_per_pixel = 1.0 / panel.scale() / factor;
    let longest = 220.0 * meters_per_pixel;
    let mut length = 10f64.powf(longest.log10().floor());
    for times in [5.0, 2.0] {
        if length * times <= longest {
            length *= times;
            break;
        }
    }
    let pixels = length / meters_per_pixel;
    let (left, y) = (width - MARGIN - pixels, top + 24.0);
    let _ = writeln!(
        svg,
        "<path d=\"M{left:.1} {:.1}v7h{pixels:.1}v-7\" fill=\"none\" stroke=\"{INK}\" stroke-width=\"1.5\"/>",
        y - 4.0
    );
    let name = if length >= 1_000.0 { format!("{} km", grouped((length / 1_000.0) as usize)) } else { format!("{length:.0} m") };
    let words = format!("{name} on the ground at {:.0}°", middle.abs());
    text(svg, &Text { size: 12.0, end: true, ..Text::at(width - MARGIN, y + 20.0) }, &words);
}

/// How a text is set.
#[derive(Debug, Clone, Copy)]
struct Text {
    x: f64,
    y: f64,
    size: f64,
    fill: &'static str,
    middle: bool,
    end: bool,
    /// Whether a light rim keeps it legible over lines.
    halo: bool,
}

impl Text {
    fn at(x: f64, y: f64) -> Self {
        Self { x, y, size: 12.0, fill: INK, middle: false, end: false, halo: false }
    }
}

fn text(svg: &mut String, style: &Text, words: &str) {
    let Text { x, y, size, fill, middle, end, halo } = *style;
    let anchor = if middle { " text-anchor=\"middle\"" } else if end { " text-anchor=\"end\"" } else { "" };
    let escaped = escaped(words);
    // The carried font is a light one: a thin stroke of the same colour gives it the weight of body text.
    let rim = if halo { "stroke=\"#ffffff\" stroke-opacity=\"0.85\" stroke-width=\"3\" stroke-linejoin=\"round\"" } else { "" };
    if halo {
        let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\"{anchor} fill=\"#ffffff\" {rim}>{escaped}</text>");
    }
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\"{anchor} fill=\"{fill}\" stroke=\"{fill}\" \
         stroke-width=\"0.35\">{escaped}</text>"
    );
}

/// Text that can't be mistaken for markup; characters XML has no place for are left out.
fn escaped(words: &str) -> String {
    let mut escaped = String::with_capacity(words.len());
    for character in words.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => {}
            control if control.is_control() => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}

/// `1,234,567`.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
