//! The picture of a map as SVG: panels, districts, what was asked about, a scale and a legend.
//!
//! Drawn in the projection the answers are computed in, so that a circle is the radius and a box the box. A shape on
//! both sides of the antimeridian is drawn in one piece: its eastern part moves one world to the west. When the whole
//! country is drawn, states far from most others (Alaska, Hawaii, islands) get panels of their own.

mod frame;
mod labels;
mod layout;
mod legend;
mod panel;
mod text;

use geo::Coord;

use super::raster::FONT_FAMILY;
use crate::spatial::districts::CongressMap;
use frame::Drawn;
use text::{Text, text};

/// What is marked on a map, in projected metres.
#[derive(Debug, Clone, Default)]
pub(in crate::app) struct Marked {
    pub(in crate::app) point: Option<Coord<f64>>,
    /// Id of the district the point lies in.
    pub(in crate::app) containing: Option<i64>,
    pub(in crate::app) radius: Option<f64>,
    pub(in crate::app) hits: Vec<Coord<f64>>,
    /// South-west and north-east corners.
    pub(in crate::app) bbox: Option<(Coord<f64>, Coord<f64>)>,
    /// Ids of the districts whose boxes overlap the box.
    pub(in crate::app) in_box: Vec<i64>,
    /// Places of a file, and whether each lies in a district.
    pub(in crate::app) places: Vec<(Coord<f64>, bool)>,
}

/// Everything a picture is drawn from.
pub(in crate::app) struct Scene<'a> {
    pub(in crate::app) congress: i64,
    pub(in crate::app) map: &'a CongressMap,
    pub(in crate::app) marked: &'a Marked,
    pub(in crate::app) width: u32,
    pub(in crate::app) source: &'a str,
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

/// Draws the scene.
pub(in crate::app) fn draw(scene: &Scene<'_>) -> String {
    let drawn: Vec<Drawn<'_>> = scene.map.shapes().map(Drawn::new).collect();
    let width = f64::from(scene.width);
    let panels = layout::lay_out(scene, &drawn, width);
    let bottom = panels.iter().map(|panel| panel.screen.y2).fold(width / 4.0, f64::max);
    let mut body = String::new();
    text(&mut body, &Text { size: 27.0, ..Text::at(MARGIN, 40.0) }, &title(scene));
    let view = panels.first().map(|panel| panel.view);
    let colours = panel::colours(&drawn, panels.len() > 1, view);
    for (number, panel) in panels.iter().enumerate() {
        panel::draw_panel(&mut body, scene, &drawn, &colours, panel, number, panels.len() > 1);
    }
    let height = legend::draw_legend(&mut body, scene, &drawn, panels.first(), bottom, width);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} \
         {height:.0}\" font-family=\"{FONT_FAMILY}, 'DejaVu Sans', sans-serif\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{body}</svg>\n"
    )
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
