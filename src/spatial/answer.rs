//! A request to its answer: rows with exactly the upstream function's fields, counts, warnings.

use serde_json::{Map, Number, Value, json};

use super::boxes::FloatBox;
use super::districts::{CongressMap, District, Districts, UnusableGeometry};
use super::nonprofits::Nonprofits;
use super::operation::{CongressArgument, DistrictsInBbox, FindDistrict, NonprofitsNearby, SpatialRequest};
use super::projection::project;

/// How many unusable rows a warning names.
const NAMED_IN_WARNING: usize = 5;

/// The answer to a spatial request, before provenance is added.
#[derive(Debug, Clone, PartialEq)]
pub struct SpatialAnswer {
    /// Rows in the operation's order, each with the fields of the upstream function.
    pub rows: Vec<Map<String, Value>>,
    /// How many rows are returned.
    pub row_count: usize,
    /// Whether there are more than are returned.
    pub truncated: bool,
    /// How many rows there are in all.
    pub total: usize,
    /// What a reader must know to use the rows rightly.
    pub warnings: Vec<String>,
    /// What was asked of what.
    pub metadata: SpatialMetadata,
}

/// What was asked of what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpatialMetadata {
    /// The operation's name.
    pub operation: &'static str,
    /// The dataset read.
    pub dataset: &'static str,
    /// The upstream function.
    pub function_name: &'static str,
    /// The dataset's endpoint, where the caller knows one.
    pub endpoint: Option<String>,
}

impl SpatialMetadata {
    /// What a request asks of what; the endpoint is left to the caller.
    pub fn of(request: &SpatialRequest) -> Self {
        let source = request.source();
        Self {
            operation: request.operation(),
            dataset: source.split_once('.').map_or(source, |(dataset, _)| dataset),
            function_name: request.function_name(),
            endpoint: None,
        }
    }
}

/// The map a district question is about, and the congresses there are maps of.
#[derive(Debug, Clone, Copy)]
pub struct MapView<'a> {
    /// The map of the congress asked about, if there is one.
    pub map: Option<&'a CongressMap>,
    /// Every congress there is a map of, ascending.
    pub congresses: &'a [i64],
}

impl FindDistrict {
    /// The district that contains the point, among maps in memory.
    pub fn answer(&self, districts: &Districts) -> SpatialAnswer {
        let congresses: Vec<i64> = districts.congresses().collect();
        let map = districts.congress(self.congress.number);
        self.answer_on(MapView { map, congresses: &congresses })
    }

    /// The district that contains the point: one row or none.
    pub fn answer_on(&self, view: MapView<'_>) -> SpatialAnswer {
        let request = SpatialRequest::FindDistrict(self.clone());
        let mut warnings = request.warnings();
        let map = view.map;
        let found = map.zip(project(self.lon, self.lat)).and_then(|(map, point)| map.find(point));
        match (&found, map) {
            (Some(found), _) if found.count > 1 => warnings.push(format!(
                "{} districts of congress {} overlap at this point in the source; the one with the smallest id is \
                 returned.",
                found.count, self.congress.number
            )),
            (None, Some(_)) => warnings.push(format!(
                "No district of congress {} contains this point. A point exactly on a district's border is in none.",
                self.congress.number
            )),
            _ => {}
        }
        warnings.extend(map_warnings(view, self.congress));
        let rows = found.map(|found| find_district_row(found.district)).into_iter().collect();
        answer(&request, rows, None, warnings)
    }
}

impl DistrictsInBbox {
    /// The districts whose boxes overlap the envelope's, among maps in memory.
    pub fn answer(&self, districts: &Districts, max_rows: usize) -> SpatialAnswer {
        let congresses: Vec<i64> = districts.congresses().collect();
        let map = districts.congress(self.congress.number);
        self.answer_on(MapView { map, congresses: &congresses }, max_rows)
    }

    /// The districts whose boxes overlap the envelope's, by id; at most `max_rows`.
    pub fn answer_on(&self, view: MapView<'_>, max_rows: usize) -> SpatialAnswer {
        let request = SpatialRequest::DistrictsInBbox(self.clone());
        let mut warnings = request.warnings();
        let bounds = FloatBox::of_envelope(self.min_lat, self.max_lat, self.min_lon, self.max_lon);
        let mut found = Vec::new();
        if let Some((map, bounds)) = view.map.zip(bounds) {
            found = map.in_box(&bounds);
            let spanning = map.world_spanning_in_box(&bounds);
            warnings.extend(spanning.into_iter().map(|district| {
                format!(
                    "{} is on both sides of the antimeridian: its bounding box spans more than 180° of longitude, so \
                     it overlaps this box wherever their latitudes meet. Boxes are compared, not shapes.",
                    name_of(district)
                )
            }));
        }
        warnings.extend(map_warnings(view, self.congress));
        let total = found.len();
        let rows = found.into_iter().take(max_rows).map(district_in_bbox_row).collect();
        answer(&request, rows, Some(total), warnings)
    }
}

impl NonprofitsNearby {
    /// The current nonprofits within the radius, nearest first; at most `max_rows`.
    pub fn answer(&self, nonprofits: &Nonprofits, max_rows: usize) -> SpatialAnswer {
        let request = SpatialRequest::NonprofitsNearby(self.clone());
        let mut warnings = request.warnings();
        let (mut rows, mut total) = (Vec::new(), 0);
        if let Some(center) = project(self.lon, self.lat) {
            let nearby = nonprofits.nearby(center, self.radius_meters as f64, max_rows);
            total = nearby.total;
            rows = nearby
                .nearest
                .iter()
                .map(|nonprofit| {
                    row([
                        ("ein", json!(nonprofit.ein)),
                        ("org_name", json!(nonprofit.org_name)),
                        ("ntee", json!(nonprofit.ntee)),
                        ("state", json!(nonprofit.state)),
                        ("distance_meters", number(nonprofit.distance_meters)),
                    ])
                })
                .collect();
        }
        let (count, named) = nonprofits.unusable();
        warnings.extend(unusable_warning(request.source(), count, named));
        answer(&request, rows, Some(total), warnings)
    }
}

fn answer(
    request: &SpatialRequest,
    rows: Vec<Map<String, Value>>,
    total: Option<usize>,
    warnings: Vec<String>,
) -> SpatialAnswer {
    let row_count = rows.len();
    let total = total.unwrap_or(row_count);
    let metadata = SpatialMetadata::of(request);
    SpatialAnswer { rows, row_count, truncated: total > row_count, total, warnings, metadata }
}

/// What the map itself makes uncertain: a congress that isn't there, rows without a usable shape.
fn map_warnings(view: MapView<'_>, congress: CongressArgument) -> Option<String> {
    let Some(map) = view.map else {
        let known: Vec<String> = view.congresses.iter().map(i64::to_string).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Some(format!(
            "There are no districts of congress {} in the source; it has congresses: {known}.",
            congress.number
        ));
    };
    let count = u64::try_from(map.unusable().len()).unwrap_or(u64::MAX);
    unusable_warning(super::districts::DISTRICTS_SOURCE, count, map.unusable())
}

fn unusable_warning(source: &str, count: u64, named: &[UnusableGeometry]) -> Option<String> {
    if count == 0 {
        return None;
    }
    let names: Vec<String> =
        named.iter().take(NAMED_IN_WARNING).map(|row| format!("{} ({})", row.row, row.reason)).collect();
    let more = if count > names.len() as u64 { ", …" } else { "" };
    Some(format!(
        "The answer may be incomplete: {count} rows of {source} have a geometry that can't be used: {}{more}.",
        names.join(", ")
    ))
}

fn name_of(district: &District) -> String {
    let state = district.statename.as_deref().unwrap_or("A district");
    match district.district {
        Some(number) => format!("{state}, district {number} (id {})", district.id),
        None => format!("{state} (id {})", district.id),
    }
}

fn find_district_row(district: &District) -> Map<String, Value> {
    row([
        ("district_id", json!(district.district_id)),
        ("statename", json!(district.statename)),
        ("district", json!(district.district)),
        ("congress_number", json!(district.congress_number)),
    ])
}

fn district_in_bbox_row(district: &District) -> Map<String, Value> {
    row([
        ("id", json!(district.id)),
        ("statename", json!(district.statename)),
        ("district", json!(district.district)),
        ("district_id", json!(district.district_id)),
    ])
}

fn row<const FIELDS: usize>(fields: [(&str, Value); FIELDS]) -> Map<String, Value> {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A finite double by its shortest text; distances always are.
fn number(value: f64) -> Value {
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}
