//! Below the map: what the marks mean, the scale, the source.

use std::fmt::Write;

use super::frame::{Drawn, Panel};
use super::panel::place_style;
use super::text::{Text, grouped, text};
use super::{ACCENT, FILLS, HIT, INK, MARGIN, Scene};
use crate::spatial::projection::{EARTH_RADIUS_METERS, ground_distance_factor};

/// Below the map: what the marks mean on the left, the scale on the right, the source at the bottom. Returns where the
/// picture ends.
pub(super) fn draw_legend(
    svg: &mut String,
    scene: &Scene<'_>,
    drawn: &[Drawn<'_>],
    main: Option<&Panel>,
    top: f64,
    width: f64,
) -> f64 {
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
            format!(
                "{} nonprofits within {} planar metres",
                grouped(marked.hits.len()),
                grouped(radius as usize)
            ),
        ));
    }
    if marked.bbox.is_some() {
        let found = marked.in_box.len();
        entries
            .push((swatch("#ffffff", ACCENT), format!("the box: the boxes of {found} districts overlap it")));
    }
    if !marked.places.is_empty() {
        let inside = marked.places.iter().filter(|(_, inside)| *inside).count();
        entries.push((dot(&place_style(true)), format!("places in a district: {}", grouped(inside))));
        let outside = marked.places.len() - inside;
        if outside > 0 {
            entries.push((dot(&place_style(false)), format!("places in none: {}", grouped(outside))));
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
    let below = y.max(top + 44.0) + 32.0;
    text(svg, &Text { size: 11.5, fill: "#5d6b7a", ..Text::at(MARGIN, below) }, scene.source);
    below + 16.0
}

/// A bar of round length on the ground at the middle of the map.
pub(super) fn scale_bar(svg: &mut String, panel: &Panel, top: f64, width: f64) {
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
    let name = if length >= 1_000.0 {
        format!("{} km", grouped((length / 1_000.0) as usize))
    } else {
        format!("{length:.0} m")
    };
    let words = format!("{name} on the ground at {:.0}°", middle.abs());
    text(svg, &Text { size: 12.0, end: true, ..Text::at(width - MARGIN, y + 20.0) }, &words);
}
