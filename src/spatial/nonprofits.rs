//! The current nonprofits with a place, as points in projected metres.
//!
//! The source lists organisations over many years; `is_current = true` marks each one's latest row. Only those with a
//! geometry take part, as upstream. Their four shown columns are kept in Arrow arrays, compact enough for two million
//! rows: the two with few distinct values as dictionaries.

use arrow::array::{
    Array, DictionaryArray, LargeStringArray, LargeStringBuilder, LargeStringDictionaryBuilder,
};
use arrow::datatypes::UInt32Type;
use geo::Coord;

use super::districts::UnusableGeometry;
use super::geometry::{GeometryError, decode_point};
use super::points::{PackedPoints, PointHit, TooManyPoints};
use super::projection::{DEGREES_SRID, project};

/// The relation the nonprofits come from.
pub const NONPROFITS_SOURCE: &str = "irs_ng.bmf_organizations";

/// Its columns that [`NonprofitRow`] holds, in the struct's order.
pub const NONPROFIT_COLUMNS: [&str; 6] =
    ["ein", "org_name_current", "ntee_irs", "f990_org_addr_state", "is_current", "geom_point"];

/// How many unusable rows are kept by name; beyond it they are only counted.
const NAMED_UNUSABLE: usize = 100;

/// One row of [`NONPROFITS_SOURCE`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NonprofitRow {
    /// Employer identification number, text.
    pub ein: Option<String>,
    /// Current name.
    pub org_name: Option<String>,
    /// NTEE code as the IRS lists it.
    pub ntee: Option<String>,
    /// State of the address in the filing.
    pub state: Option<String>,
    /// Whether this is the organisation's latest row; only `Some(true)` takes part.
    pub is_current: Option<bool>,
    /// WKB or EWKB in EPSG:4326.
    pub geometry: Option<Vec<u8>>,
}

/// The nonprofits that take part, indexed by place.
#[derive(Debug)]
pub struct Nonprofits {
    points: PackedPoints,
    ein: LargeStringArray,
    org_name: LargeStringArray,
    ntee: DictionaryArray<UInt32Type>,
    state: DictionaryArray<UInt32Type>,
    unusable: Vec<UnusableGeometry>,
    unusable_count: u64,
}

/// A nonprofit within the radius.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearbyNonprofit<'a> {
    /// Employer identification number.
    pub ein: Option<&'a str>,
    /// Current name.
    pub org_name: Option<&'a str>,
    /// NTEE code.
    pub ntee: Option<&'a str>,
    /// State of the address.
    pub state: Option<&'a str>,
    /// Planar distance in metres of EPSG:3857, not on the ground.
    pub distance_meters: f64,
}

/// The nearest nonprofits and how many there are in all.
#[derive(Debug, Clone, PartialEq)]
pub struct Nearby<'a> {
    /// By distance, then EIN by code point (null last), then the order of the rows given.
    pub nearest: Vec<NearbyNonprofit<'a>>,
    /// How many are within the radius, listed or not.
    pub total: usize,
}

/// Why an index of the nonprofits can't be built.
#[derive(Debug, thiserror::Error)]
pub enum NonprofitsError {
    /// More points than can be numbered.
    #[error(transparent)]
    TooManyPoints(#[from] TooManyPoints),
    /// A column's values don't fit its array.
    #[error("column {column} doesn't fit its index: {source}")]
    Column {
        /// The column, by its name in the source.
        column: &'static str,
        /// Arrow's reason.
        source: arrow::error::ArrowError,
    },
}

impl Nonprofits {
    /// Indexes the rows that take part.
    pub fn build(rows: impl IntoIterator<Item = NonprofitRow>) -> Result<Self, NonprofitsError> {
        let (mut ein, mut org_name) = (LargeStringBuilder::new(), LargeStringBuilder::new());
        let mut ntee = LargeStringDictionaryBuilder::<UInt32Type>::new();
        let mut state = LargeStringDictionaryBuilder::<UInt32Type>::new();
        let (mut places, mut unusable, mut unusable_count) = (Vec::new(), Vec::new(), 0);
        for row in rows {
            if row.is_current != Some(true) {
                continue;
            }
            let place = match row.geometry.as_deref().map(place_of) {
                None | Some(Ok(None)) => continue,
                Some(Ok(Some(place))) => place,
                Some(Err(error)) => {
                    unusable_count += 1;
                    if unusable.len() < NAMED_UNUSABLE {
                        let row = row.ein.unwrap_or_else(|| "without an EIN".to_owned());
                        unusable.push(UnusableGeometry { row, error });
                    }
                    continue;
                }
            };
            places.push(place);
            ein.append_option(row.ein);
            org_name.append_option(row.org_name);
            append(&mut ntee, row.ntee, "ntee_irs")?;
            append(&mut state, row.state, "f990_org_addr_state")?;
        }
        Ok(Self {
            points: PackedPoints::new(&places)?,
            ein: ein.finish(),
            org_name: org_name.finish(),
            ntee: ntee.finish(),
            state: state.finish(),
            unusable,
            unusable_count,
        })
    }

    /// The nonprofits whose planar distance from a point in projected metres is at most the radius: the nearest
    /// `max_rows` of them, and how many there are.
    pub fn nearby(&self, center: Coord<f64>, radius: f64, max_rows: usize) -> Nearby<'_> {
        let mut hits = self.points.within(center, radius);
        let total = hits.len();
        let order = |a: &PointHit, b: &PointHit| {
            let ein = |hit: &PointHit| text(&self.ein, hit.number);
            a.distance
                .total_cmp(&b.distance)
                .then_with(|| {
                    let (a, b) = (ein(a), ein(b));
                    a.is_none().cmp(&b.is_none()).then_with(|| a.cmp(&b))
                })
                .then(a.number.cmp(&b.number))
        };
        if total > max_rows {
            // Only the nearest are sorted: a wide radius holds a hundred times as many.
            hits.select_nth_unstable_by(max_rows, order);
            hits.truncate(max_rows);
        }
        hits.sort_unstable_by(order);
        let nearest = hits
            .into_iter()
            .map(|hit| NearbyNonprofit {
                ein: text(&self.ein, hit.number),
                org_name: text(&self.org_name, hit.number),
                ntee: word(&self.ntee, hit.number),
                state: word(&self.state, hit.number),
                distance_meters: hit.distance,
            })
            .collect();
        Nearby { nearest, total }
    }

    /// How many nonprofits take part.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether none does.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Current rows whose geometry could not be used: how many, and the first hundred by EIN.
    pub fn unusable(&self) -> (u64, &[UnusableGeometry]) {
        (self.unusable_count, &self.unusable)
    }
}

/// The projected place of a stored point; `None` when it is empty.
fn place_of(bytes: &[u8]) -> Result<Option<Coord<f64>>, GeometryError> {
    let Some(degrees) = decode_point(bytes, DEGREES_SRID)? else { return Ok(None) };
    project(degrees.x, degrees.y).map(Some).ok_or_else(|| GeometryError::NoProjection {
        longitude: degrees.x.to_string(),
        latitude: degrees.y.to_string(),
    })
}

fn append(
    builder: &mut LargeStringDictionaryBuilder<UInt32Type>,
    value: Option<String>,
    column: &'static str,
) -> Result<(), NonprofitsError> {
    match value {
        Some(value) => {
            builder.append(value).map(drop).map_err(|source| NonprofitsError::Column { column, source })
        }
        None => {
            builder.append_null();
            Ok(())
        }
    }
}

fn text(column: &LargeStringArray, number: u32) -> Option<&str> {
    let row = number as usize;
    column.is_valid(row).then(|| column.value(row))
}

fn word(column: &DictionaryArray<UInt32Type>, number: u32) -> Option<&str> {
    let key = column.key(number as usize)?;
    let words = column.values().as_any().downcast_ref::<LargeStringArray>()?;
    Some(words.value(key))
}
