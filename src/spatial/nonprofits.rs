//! The current nonprofits with a place, as points in projected metres.
//!
//! The source lists organisations over many years; `is_current = true` marks each one's latest row. Only those with a
//! geometry take part, as upstream. Their four shown columns lie beside the points in the tree's order, so that what is
//! near on the map is near in memory: two as texts, the two with few distinct values as codes into a list of words.
//! The whole is stored as one index file and opened by one read.

use geo::Coord;

use super::districts::{UnusableGeometry, read_unusable, write_unusable};
use super::geometry::{GeometryError, decode_point};
use super::index_file::{BuiltFrom, IndexFile, IndexFileError, IndexFileWriter, IndexKind};
use super::points::{PackedPoints, PointHit, TooManyPoints};
use super::projection::{DEGREES_SRID, project};
use super::stored_text::{TextColumn, TooMuchText, WordColumn};

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
    ein: TextColumn,
    org_name: TextColumn,
    ntee: WordColumn,
    state: WordColumn,
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
    /// A column's texts don't fit its index.
    #[error(transparent)]
    TooMuchText(#[from] TooMuchText),
}

/// Sections of the index file.
mod tag {
    pub(super) const POINTS: u32 = 1;
    pub(super) const EIN: u32 = 11;
    pub(super) const ORG_NAME: u32 = 21;
    pub(super) const NTEE: u32 = 31;
    pub(super) const STATE: u32 = 41;
    pub(super) const UNUSABLE: u32 = 51;
}

impl Nonprofits {
    /// Indexes the rows that take part.
    pub fn build(rows: impl IntoIterator<Item = NonprofitRow>) -> Result<Self, NonprofitsError> {
        let mut rows_with_place = Vec::new();
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
                        unusable.push(UnusableGeometry { row, reason: error.to_string() });
                    }
                    continue;
                }
            };
            places.push(place);
            rows_with_place.push([row.ein, row.org_name, row.ntee, row.state]);
        }
        let points = PackedPoints::new(&places)?;
        let column = |of: usize| {
            let rows = &rows_with_place;
            points.numbers().iter().map(move |number| rows[*number as usize][of].as_deref())
        };
        Ok(Self {
            ein: TextColumn::new(column(0))?,
            org_name: TextColumn::new(column(1))?,
            ntee: WordColumn::new(column(2))?,
            state: WordColumn::new(column(3))?,
            points,
            unusable,
            unusable_count,
        })
    }

    /// The index as a file; the same rows give the same bytes.
    pub fn to_bytes(&self, from: BuiltFrom) -> Vec<u8> {
        let mut file = IndexFileWriter::new(IndexKind::Nonprofits, from, 0);
        self.points.write(&mut file, tag::POINTS);
        self.ein.write(&mut file, tag::EIN);
        self.org_name.write(&mut file, tag::ORG_NAME);
        self.ntee.write(&mut file, tag::NTEE);
        self.state.write(&mut file, tag::STATE);
        write_unusable(&mut file, tag::UNUSABLE, self.unusable_count, &self.unusable);
        file.finish()
    }

    /// Opens a stored index of the given rows.
    pub fn from_bytes(bytes: Vec<u8>, from: BuiltFrom) -> Result<Self, IndexFileError> {
        let file = IndexFile::open(bytes, IndexKind::Nonprofits, from, 0)?;
        let points = PackedPoints::open(&file, tag::POINTS)?;
        let rows = points.len();
        let (unusable_count, unusable) = read_unusable(&file, tag::UNUSABLE)?;
        Ok(Self {
            ein: TextColumn::open(&file, tag::EIN, rows)?,
            org_name: TextColumn::open(&file, tag::ORG_NAME, rows)?,
            ntee: WordColumn::open(&file, tag::NTEE, rows)?,
            state: WordColumn::open(&file, tag::STATE, rows)?,
            points,
            unusable,
            unusable_count,
        })
    }

    /// The nonprofits whose planar distance from a point in projected metres is at most the radius: the nearest
    /// `max_rows` of them, and how many there are.
    pub fn nearby(&self, center: Coord<f64>, radius: f64, max_rows: usize) -> Nearby<'_> {
        let mut hits = self.points.within(center, radius);
        let total = hits.len();
        if total > max_rows {
            // Only the nearest are sorted: a wide radius holds a hundred times as many. Those at the distance of the
            // last stay until the identifiers have decided between them.
            let nearest = max_rows.saturating_sub(1);
            let (_, last, _) = hits.select_nth_unstable_by_key(nearest, distance_key);
            let farthest = last.distance;
            hits.retain(|hit| hit.distance <= farthest);
        }
        self.sort(&mut hits);
        hits.truncate(max_rows);
        let nearest = hits
            .into_iter()
            .map(|hit| {
                let position = hit.position as usize;
                NearbyNonprofit {
                    ein: self.ein.get(position),
                    org_name: self.org_name.get(position),
                    ntee: self.ntee.get(position),
                    state: self.state.get(position),
                    distance_meters: hit.distance,
                }
            })
            .collect();
        Nearby { nearest, total }
    }

    /// How many nonprofits are within the radius: what [`Nonprofits::nearby`] gives as total.
    pub fn count_nearby(&self, center: Coord<f64>, radius: f64) -> usize {
        self.points.count_within(center, radius)
    }

    /// Where the nonprofits within the radius are, in projected metres, in no order.
    pub fn places_nearby(&self, center: Coord<f64>, radius: f64) -> Vec<Coord<f64>> {
        self.points.within(center, radius).iter().map(|hit| self.points.point(hit)).collect()
    }

    /// By distance, then EIN (null last), then the order given. Distances are sorted as integers first; texts are
    /// read only among equal ones.
    fn sort(&self, hits: &mut [PointHit]) {
        hits.sort_unstable_by_key(distance_key);
        for tied in hits.chunk_by_mut(|a, b| a.distance == b.distance).filter(|tied| tied.len() > 1) {
            let ein = |hit: &PointHit| self.ein.get(hit.position as usize);
            tied.sort_unstable_by(|a, b| {
                let (ein_a, ein_b) = (ein(a), ein(b));
                let by_ein = ein_a.is_none().cmp(&ein_b.is_none()).then_with(|| ein_a.cmp(&ein_b));
                by_ein.then(a.number.cmp(&b.number))
            });
        }
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

/// Orders distances, which are never negative, as their bits.
fn distance_key(hit: &PointHit) -> u64 {
    hit.distance.to_bits()
}
