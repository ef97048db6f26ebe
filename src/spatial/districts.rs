//! The districts of each congress, indexed when first asked for.
//!
//! A congress has about 435 districts and the mirror holds up to 119 congresses, so the shapes of a congress are
//! decoded and indexed by the first question about it; until then only its rows' bytes are kept.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use geo::Coord;

use super::boxes::{BoxTree, Extent, FloatBox};
use super::containment::Location;
use super::edge_index::IndexedMultiPolygon;
use super::geometry::{GeometryError, decode_multipolygon};
use super::projection::{HALF_WORLD_METERS, METERS_SRID};

/// The relation the districts come from.
pub const DISTRICTS_SOURCE: &str = "up_cdmaps.congressional_districts";

/// Its columns that [`DistrictRow`] holds, in the struct's order.
pub const DISTRICT_COLUMNS: [&str; 6] =
    ["id", "statename", "district", "district_id", "congress_number", "geom"];

/// One row of [`DISTRICTS_SOURCE`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DistrictRow {
    /// Primary key.
    pub id: i64,
    /// State or territory.
    pub statename: Option<String>,
    /// District number; 0 for a state's only district.
    pub district: Option<i64>,
    /// The district's identifier, text (`5000` is Vermont's only one).
    pub district_id: Option<String>,
    /// The congress whose map the row belongs to.
    pub congress_number: i64,
    /// WKB or EWKB in EPSG:3857.
    pub geometry: Option<Vec<u8>>,
}

/// What a district is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct District {
    /// Primary key.
    pub id: i64,
    /// State or territory.
    pub statename: Option<String>,
    /// District number; 0 for a state's only district.
    pub district: Option<i64>,
    /// The district's identifier.
    pub district_id: Option<String>,
    /// The congress whose map this is.
    pub congress_number: i64,
}

/// A row that takes no part in answers because its geometry can't be used. Null and empty geometries are not
/// reported: they are nowhere, which is an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusableGeometry {
    /// The row, by primary key or, where a relation is asked by another key, by that.
    pub row: String,
    /// What is wrong with it.
    pub error: GeometryError,
}

/// All districts, by congress.
#[derive(Debug, Default)]
pub struct Districts {
    congresses: BTreeMap<i64, Congress>,
}

#[derive(Debug, Default)]
struct Congress {
    /// Rows not decoded yet; emptied by the first question.
    pending: Mutex<Vec<DistrictRow>>,
    map: OnceLock<CongressMap>,
}

/// The districts of one congress, ready for questions in projected metres.
#[derive(Debug)]
pub struct CongressMap {
    /// In order of id, so that the first match is the one with the smallest.
    districts: Vec<IndexedDistrict>,
    tree: BoxTree,
    unusable: Vec<UnusableGeometry>,
}

#[derive(Debug)]
struct IndexedDistrict {
    district: District,
    extent: Extent,
    shape: IndexedMultiPolygon,
}

/// The district that contains a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Containing<'a> {
    /// The one with the smallest id.
    pub district: &'a District,
    /// How many contain the point: more than one where the source's polygons overlap.
    pub count: usize,
}

impl Districts {
    /// Takes the rows; nothing is decoded yet. Rows may come in any order.
    pub fn build(rows: impl IntoIterator<Item = DistrictRow>) -> Self {
        let mut by_congress: BTreeMap<i64, Vec<DistrictRow>> = BTreeMap::new();
        for row in rows {
            by_congress.entry(row.congress_number).or_default().push(row);
        }
        let congresses = by_congress
            .into_iter()
            .map(|(number, rows)| (number, Congress { pending: Mutex::new(rows), map: OnceLock::new() }))
            .collect();
        Self { congresses }
    }

    /// The congresses that have rows, ascending.
    pub fn congresses(&self) -> impl Iterator<Item = i64> {
        self.congresses.keys().copied()
    }

    /// The map of a congress, built if this is the first question about it; `None` when it has no rows.
    pub fn congress(&self, number: i64) -> Option<&CongressMap> {
        let congress = self.congresses.get(&number)?;
        Some(congress.map.get_or_init(|| {
            // A panic elsewhere while the rows were taken leaves them as they were: the lock's poison says nothing.
            let mut pending = congress.pending.lock().unwrap_or_else(PoisonError::into_inner);
            CongressMap::new(std::mem::take(&mut *pending))
        }))
    }
}

impl CongressMap {
    fn new(mut rows: Vec<DistrictRow>) -> Self {
        rows.sort_by_key(|row| row.id);
        let (mut districts, mut unusable) = (Vec::new(), Vec::new());
        for row in rows {
            let decoded = match row.geometry.as_deref().map(|bytes| decode_multipolygon(bytes, METERS_SRID)) {
                None | Some(Ok(None)) => continue,
                Some(Ok(Some(shape))) => shape,
                Some(Err(error)) => {
                    unusable.push(UnusableGeometry { row: row.id.to_string(), error });
                    continue;
                }
            };
            let vertices = decoded.iter().flat_map(|part| part.exterior().0.iter().copied());
            let Some(extent) = Extent::around(vertices) else { continue };
            districts.push(IndexedDistrict {
                district: District {
                    id: row.id,
                    statename: row.statename,
                    district: row.district,
                    district_id: row.district_id,
                    congress_number: row.congress_number,
                },
                extent,
                shape: IndexedMultiPolygon::new(&decoded),
            });
        }
        let tree = BoxTree::new(districts.iter().map(|district| district.extent.outward()));
        Self { districts, tree, unusable }
    }

    /// The district that contains a point in projected metres: interior only; the smallest id of several.
    pub fn find(&self, point: Coord<f64>) -> Option<Containing<'_>> {
        let (mut first, mut count) = (None, 0);
        for position in FloatBox::around([point]).into_iter().flat_map(|bounds| self.tree.covering(bounds)) {
            if self.districts[position].shape.locate(point) == Location::Inside {
                count += 1;
                first = Some(first.map_or(position, |smallest: usize| smallest.min(position)));
            }
        }
        first.map(|position| Containing { district: &self.districts[position].district, count })
    }

    /// Every district whose box overlaps the given one, by id.
    pub fn in_box(&self, bounds: &FloatBox) -> Vec<&District> {
        self.positions_in_box(bounds).into_iter().map(|position| &self.districts[position].district).collect()
    }

    /// Of the districts whose boxes overlap the given one, those whose own box spans more than 180° of longitude:
    /// shapes on both sides of the antimeridian, whose box covers places far from them. By id.
    pub fn world_spanning_in_box(&self, bounds: &FloatBox) -> Vec<&District> {
        self.positions_in_box(bounds)
            .into_iter()
            .map(|position| &self.districts[position])
            .filter(|district| district.extent.width() > HALF_WORLD_METERS)
            .map(|district| &district.district)
            .collect()
    }

    /// How many districts have a shape.
    pub fn len(&self) -> usize {
        self.districts.len()
    }

    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.districts.is_empty()
    }

    /// Rows whose geometry could not be used, by id.
    pub fn unusable(&self) -> &[UnusableGeometry] {
        &self.unusable
    }

    /// Positions in order of id.
    fn positions_in_box(&self, bounds: &FloatBox) -> Vec<usize> {
        let mut positions: Vec<usize> = self.tree.overlapping(bounds).collect();
        positions.sort_unstable();
        positions
    }
}
