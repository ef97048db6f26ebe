//! The three spatial functions by brute force: every row looked at, no index, nothing shared with the mirror's own.

use geo::{BoundingRect, Contains, Coord, Geometry, Point};

use super::answer::ApiError;
use crate::catalog::ColumnType;
use crate::demo::relation::{DemoColumn, DemoData, DemoRelation, DemoRow};
use crate::demo::value::{DemoValue, parse_input};

/// The sphere of Web Mercator, metres.
const RADIUS: f64 = 6_378_137.0;
/// The Congress meant when none is named.
const DEFAULT_CONGRESS: i64 = 118;
/// The radius meant when none is named, metres.
const DEFAULT_RADIUS: f64 = 10_000.0;

/// Answers `/rpc/<function>` as a relation, so that filters, order and paging apply to it.
pub(super) fn call(
    data: &DemoData,
    dataset: &str,
    function: &str,
    arguments: &[(String, String)],
) -> Result<DemoRelation, ApiError> {
    let districts = data.relation(&format!("{dataset}.congressional_districts"));
    let nonprofits = data.relation(&format!("{dataset}.bmf_organizations"));
    match (function, districts, nonprofits) {
        ("rpc_find_district", Some(districts), _) => {
            let given = Arguments::read(function, arguments, &["lat", "lon"], &["congress"])?;
            find_district(districts, given.double("lat")?, given.double("lon")?, given.congress()?)
        }
        ("rpc_districts_in_bbox", Some(districts), _) => {
            let required = ["min_lat", "max_lat", "min_lon", "max_lon"];
            let given = Arguments::read(function, arguments, &required, &["congress"])?;
            let south_west = project(given.double("min_lon")?, given.double("min_lat")?);
            let north_east = project(given.double("max_lon")?, given.double("max_lat")?);
            districts_in_box(districts, south_west, north_east, given.congress()?)
        }
        ("rpc_nonprofits_nearby", _, Some(nonprofits)) => {
            let given = Arguments::read(function, arguments, &["lat", "lon"], &["radius_meters"])?;
            let radius =
                if given.has("radius_meters") { given.double("radius_meters")? } else { DEFAULT_RADIUS };
            if radius < 0.0 {
                // What the distance function itself says, as an internal error.
                return Err(ApiError::new(500, "XX000", "Tolerance cannot be less than zero\n"));
            }
            nonprofits_nearby(nonprofits, project(given.double("lon")?, given.double("lat")?), radius)
        }
        _ => Err(no_function(function, arguments)),
    }
}

fn no_function(function: &str, arguments: &[(String, String)]) -> ApiError {
    let mut names: Vec<&str> = arguments.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    let names = names.join(", ");
    ApiError::new(404, "PGRST202", format!("Could not find the function public.{function}({names}) in the schema cache"))
        .details(format!(
            "Searched for the function public.{function} with parameters {names}, but no matches were found in the schema cache."
        ))
}

/// The named arguments of a call.
struct Arguments<'a>(&'a [(String, String)]);

impl<'a> Arguments<'a> {
    /// Checks the names only: PostgREST finds a function by them.
    fn read(
        function: &str,
        arguments: &'a [(String, String)],
        required: &[&str],
        optional: &[&str],
    ) -> Result<Self, ApiError> {
        let given = |name: &str| arguments.iter().any(|(held, _)| held == name);
        let known = arguments
            .iter()
            .all(|(name, _)| required.contains(&name.as_str()) || optional.contains(&name.as_str()));
        if known && required.iter().all(|name| given(name)) {
            Ok(Self(arguments))
        } else {
            Err(no_function(function, arguments))
        }
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(held, _)| held == name)
    }

    /// The last value of that name, parsed.
    fn value(&self, name: &str, column_type: &ColumnType) -> Result<DemoValue, ApiError> {
        let text = self.0.iter().rev().find(|(held, _)| held == name).map_or("", |(_, value)| value.as_str());
        parse_input(text, column_type).map_err(|error| ApiError::new(400, error.code, error.message))
    }

    fn double(&self, name: &str) -> Result<f64, ApiError> {
        Ok(self.value(name, &ColumnType::Double)?.as_double().unwrap_or(f64::NAN))
    }

    fn congress(&self) -> Result<i64, ApiError> {
        if !self.has("congress") {
            return Ok(DEFAULT_CONGRESS);
        }
        Ok(self.value("congress", &ColumnType::Integer)?.as_int().unwrap_or(DEFAULT_CONGRESS))
    }
}

/// Spherical Mercator; the arguments in degrees.
fn project(longitude: f64, latitude: f64) -> Coord<f64> {
    Coord { x: RADIUS * longitude.to_radians(), y: RADIUS * libm::asinh(libm::tan(latitude.to_radians())) }
}

fn result(columns: &[(&str, &str)]) -> DemoRelation {
    let columns = columns.iter().map(|(name, native)| DemoColumn::new(name, native, true)).collect();
    DemoRelation::new("", "pgrst_source", columns, &[])
}

/// The rows of one Congress that have a geometry, smallest id first.
fn drawn(districts: &DemoRelation, congress: i64) -> Vec<(DemoRow<'_>, &Geometry<f64>)> {
    let mut drawn: Vec<_> = districts
        .rows()
        .filter(|row| row.int("congress_number") == Some(congress))
        .filter_map(|row| Some((row, &row.get("geom").as_geometry()?.shape)))
        .collect();
    drawn.sort_by_key(|(row, _)| row.int("id"));
    drawn
}

fn find_district(
    districts: &DemoRelation,
    latitude: f64,
    longitude: f64,
    congress: i64,
) -> Result<DemoRelation, ApiError> {
    let point = Point::from(project(longitude, latitude));
    let mut found = result(&[
        ("district_id", "character varying"),
        ("statename", "character varying"),
        ("district", "integer"),
        ("congress_number", "integer"),
    ]);
    // `contains` is about the interior: a point on a ring is in neither neighbour.
    if let Some((row, _)) = drawn(districts, congress).into_iter().find(|(_, shape)| shape.contains(&point)) {
        let names = ["district_id", "statename", "district", "congress_number"];
        found.rows.push(names.iter().map(|name| row.get(name).clone()).collect());
    }
    Ok(found)
}

/// The largest 32-bit float not above, as stored boxes are rounded outward.
fn down(value: f64) -> f32 {
    let near = value as f32;
    if f64::from(near) > value { near.next_down() } else { near }
}

/// The smallest 32-bit float not below.
fn up(value: f64) -> f32 {
    let near = value as f32;
    if f64::from(near) < value { near.next_up() } else { near }
}

fn districts_in_box(
    districts: &DemoRelation,
    south_west: Coord<f64>,
    north_east: Coord<f64>,
    congress: i64,
) -> Result<DemoRelation, ApiError> {
    let (west, east) = (down(south_west.x.min(north_east.x)), up(south_west.x.max(north_east.x)));
    let (south, north) = (down(south_west.y.min(north_east.y)), up(south_west.y.max(north_east.y)));
    let mut found = result(&[
        ("id", "integer"),
        ("statename", "character varying"),
        ("district", "integer"),
        ("district_id", "character varying"),
    ]);
    for (row, shape) in drawn(districts, congress) {
        let Some(bounds) = shape.bounding_rect() else { continue };
        let overlaps = down(bounds.min().x) <= east
            && up(bounds.max().x) >= west
            && down(bounds.min().y) <= north
            && up(bounds.max().y) >= south;
        if overlaps {
            found.rows.push(
                ["id", "statename", "district", "district_id"]
                    .iter()
                    .map(|name| row.get(name).clone())
                    .collect(),
            );
        }
    }
    Ok(found)
}

fn nonprofits_nearby(
    nonprofits: &DemoRelation,
    centre: Coord<f64>,
    radius: f64,
) -> Result<DemoRelation, ApiError> {
    let mut found = result(&[
        ("ein", "character varying"),
        ("org_name", "text"),
        ("ntee", "character varying"),
        ("state", "character varying"),
        ("distance_meters", "double precision"),
    ]);
    let mut near: Vec<(f64, DemoRow<'_>)> = nonprofits
        .rows()
        .filter(|row| row.get("is_current").as_bool() == Some(true))
        .filter_map(|row| match &row.get("geom_point").as_geometry()?.shape {
            Geometry::Point(point) => {
                let there = project(point.x(), point.y());
                let distance = libm::hypot(there.x - centre.x, there.y - centre.y);
                (distance <= radius).then_some((distance, row))
            }
            _ => None,
        })
        .collect();
    near.sort_by(|left, right| {
        left.0.total_cmp(&right.0).then_with(|| left.1.text("ein").cmp(&right.1.text("ein")))
    });
    for (distance, row) in near {
        let mut values: Vec<DemoValue> = ["ein", "org_name_current", "ntee_irs", "f990_org_addr_state"]
            .iter()
            .map(|name| row.get(name).clone())
            .collect();
        values.push(DemoValue::Double(distance));
        found.rows.push(values);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_round_outward() {
        let value = 0.1_f64;
        assert!(f64::from(down(value)) < value && f64::from(up(value)) > value);
        assert_eq!((down(0.5), up(0.5)), (0.5, 0.5));
        assert!(down(-value) < up(-value));
    }
}
