//! The districts of each congress, indexed when first asked for.
//!
//! A congress has about 435 districts and the mirror holds up to 119 congresses, so each congress is a map of its own:
//! built from its rows, stored as a file of its own and opened by the first question about it. A small file beside them
//! lists the congresses there are, so that a missing map isn't taken for a congress nobody drew.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use geo::Coord;

use super::boxes::{BoxList, Extent, FloatBox};
use super::containment::Location;
use super::edge_index::{EdgeIndex, TooManyVertices};
use super::geometry::decode_multipolygon;
use super::index_file::{BuiltFrom, IndexFile, IndexFileError, IndexFileWriter, IndexKind};
use super::projection::{HALF_WORLD_METERS, METERS_SRID};
use super::stored_text::{TextColumn, TooMuchText};

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
    /// What is wrong with it, in words.
    pub reason: String,
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
    /// `None` inside if the rows are more than an index can hold.
    map: OnceLock<Option<CongressMap>>,
}

/// The districts of one congress, ready for questions in projected metres.
#[derive(Debug)]
pub struct CongressMap {
    /// In order of id, so that the first match is the one with the smallest.
    districts: Vec<District>,
    extents: Vec<Extent>,
    boxes: BoxList,
    shapes: EdgeIndex,
    unusable: Vec<UnusableGeometry>,
}

/// Why a map can't be built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MapError {
    /// More vertices than can be numbered.
    #[error(transparent)]
    TooManyVertices(#[from] TooManyVertices),
    /// Names that don't fit a stored column.
    #[error(transparent)]
    TooMuchText(#[from] TooMuchText),
}

/// Sections of the index files.
mod tag {
    pub(super) const CONGRESSES: u32 = 1;
    pub(super) const IDS: u32 = 1;
    pub(super) const NUMBERS: u32 = 2;
    pub(super) const HAS_NUMBER: u32 = 3;
    pub(super) const EXTENTS: u32 = 4;
    pub(super) const STATES: u32 = 11;
    pub(super) const DISTRICT_IDS: u32 = 21;
    pub(super) const SHAPES: u32 = 31;
    pub(super) const UNUSABLE: u32 = 51;
}

/// The file that lists the congresses of a relation, ascending.
pub fn congresses_to_bytes(congresses: &[i64], from: BuiltFrom) -> Vec<u8> {
    let mut file = IndexFileWriter::new(IndexKind::Districts, from, 0);
    file.numbers(tag::CONGRESSES, congresses, i64::to_le_bytes);
    file.finish()
}

/// Opens the list of congresses.
pub fn congresses_from_bytes(bytes: Vec<u8>, from: BuiltFrom) -> Result<Vec<i64>, IndexFileError> {
    let file = IndexFile::open(bytes, IndexKind::Districts, from, 0)?;
    let congresses = file.numbers::<i64>(tag::CONGRESSES)?.to_vec();
    match congresses.windows(2).all(|pair| pair[0] < pair[1]) {
        true => Ok(congresses),
        false => Err(IndexFileError::damaged("its congresses don't ascend")),
    }
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
        let map = congress.map.get_or_init(|| {
            // A panic elsewhere while the rows were taken leaves them as they were: the lock's poison says nothing.
            let mut pending = congress.pending.lock().unwrap_or_else(PoisonError::into_inner);
            CongressMap::build(std::mem::take(&mut *pending)).ok()
        });
        map.as_ref()
    }
}

impl CongressMap {
    /// Decodes and indexes the rows of one congress, in any order.
    pub fn build(mut rows: Vec<DistrictRow>) -> Result<Self, MapError> {
        rows.sort_by_key(|row| row.id);
        let (mut districts, mut extents, mut shapes) = (Vec::new(), Vec::new(), Vec::new());
        let mut unusable = Vec::new();
        for row in rows {
            let decoded = match row.geometry.as_deref().map(|bytes| decode_multipolygon(bytes, METERS_SRID)) {
                None | Some(Ok(None)) => continue,
                Some(Ok(Some(shape))) => shape,
                Some(Err(error)) => {
                    unusable.push(UnusableGeometry { row: row.id.to_string(), reason: error.to_string() });
                    continue;
                }
            };
            let vertices = decoded.iter().flat_map(|part| part.exterior().0.iter().copied());
            let Some(extent) = Extent::around(vertices) else { continue };
            districts.push(District {
                id: row.id,
                statename: row.statename,
                district: row.district,
                district_id: row.district_id,
                congress_number: row.congress_number,
            });
            extents.push(extent);
            shapes.push(decoded);
        }
        Ok(Self {
            boxes: BoxList::new(extents.iter().map(Extent::outward)),
            shapes: EdgeIndex::new(&shapes)?,
            districts,
            extents,
            unusable,
        })
    }

    /// The map as a file; the same rows give the same bytes.
    pub fn to_bytes(&self, congress: i64, from: BuiltFrom) -> Result<Vec<u8>, MapError> {
        let mut file = IndexFileWriter::new(IndexKind::Congress, from, congress);
        let column = |of: fn(&District) -> Option<&str>| TextColumn::new(self.districts.iter().map(of));
        let ids: Vec<i64> = self.districts.iter().map(|district| district.id).collect();
        let numbers: Vec<i64> =
            self.districts.iter().map(|district| district.district.unwrap_or(0)).collect();
        file.numbers(tag::IDS, &ids, i64::to_le_bytes);
        file.numbers(tag::NUMBERS, &numbers, i64::to_le_bytes);
        let has_number =
            self.districts.iter().map(|district| u8::from(district.district.is_some())).collect();
        file.bytes(tag::HAS_NUMBER, has_number);
        let extents: Vec<f64> = self
            .extents
            .iter()
            .flat_map(|extent| [extent.min.x, extent.min.y, extent.max.x, extent.max.y])
            .collect();
        file.numbers(tag::EXTENTS, &extents, f64::to_le_bytes);
        column(|district| district.statename.as_deref())?.write(&mut file, tag::STATES);
        column(|district| district.district_id.as_deref())?.write(&mut file, tag::DISTRICT_IDS);
        self.shapes.write(&mut file, tag::SHAPES);
        write_unusable(&mut file, tag::UNUSABLE, self.unusable.len() as u64, &self.unusable);
        Ok(file.finish())
    }

    /// Opens a stored map of a congress of the given rows.
    pub fn from_bytes(bytes: Vec<u8>, congress: i64, from: BuiltFrom) -> Result<Self, IndexFileError> {
        let file = IndexFile::open(bytes, IndexKind::Congress, from, congress)?;
        let shapes = EdgeIndex::open(&file, tag::SHAPES)?;
        let count = shapes.len();
        let (ids, numbers) = (file.numbers::<i64>(tag::IDS)?, file.numbers::<i64>(tag::NUMBERS)?);
        let has_number = file.bytes(tag::HAS_NUMBER)?;
        let corners = file.numbers::<f64>(tag::EXTENTS)?;
        let states = TextColumn::open(&file, tag::STATES, count)?;
        let district_ids = TextColumn::open(&file, tag::DISTRICT_IDS, count)?;
        let sized = [ids.len(), numbers.len(), has_number.len()].iter().all(|length| *length == count);
        // The smallest id is found as the first match.
        if !sized || corners.len() != count * 4 || !ids.windows(2).all(|pair| pair[0] <= pair[1]) {
            return Err(IndexFileError::damaged("the districts' columns don't fit each other"));
        }
        let extents: Vec<Extent> = corners
            .chunks_exact(4)
            .map(|extent| Extent {
                min: Coord { x: extent[0], y: extent[1] },
                max: Coord { x: extent[2], y: extent[3] },
            })
            .collect();
        let districts = (0..count)
            .map(|at| District {
                id: ids[at],
                statename: states.get(at).map(str::to_owned),
                district: (has_number[at] == 1).then_some(numbers[at]),
                district_id: district_ids.get(at).map(str::to_owned),
                congress_number: congress,
            })
            .collect();
        let (_, unusable) = read_unusable(&file, tag::UNUSABLE)?;
        Ok(Self {
            boxes: BoxList::new(extents.iter().map(Extent::outward)),
            districts,
            extents,
            shapes,
            unusable,
        })
    }

    /// The district that contains a point in projected metres: interior only; the smallest id of several.
    pub fn find(&self, point: Coord<f64>) -> Option<Containing<'_>> {
        let bounds = FloatBox::around([point])?;
        let mut containing = self
            .boxes
            .covering(&bounds)
            .filter(|position| self.shapes.locate(*position, point) == Location::Inside);
        let first = containing.next()?;
        Some(Containing { district: &self.districts[first], count: 1 + containing.count() })
    }

    /// [`CongressMap::find`] for many points, in their order. They are looked up neighbour after neighbour, so that what
    /// one has brought into the processor's cache serves the next.
    pub fn find_all(&self, points: &[Coord<f64>]) -> Vec<Option<Containing<'_>>> {
        let mut order: Vec<(u64, usize)> =
            points.iter().enumerate().map(|(at, point)| (place_on_curve(*point), at)).collect();
        order.sort_unstable();
        let mut found = vec![None; points.len()];
        for (_, at) in order {
            found[at] = self.find(points[at]);
        }
        found
    }

    /// Every district whose box overlaps the given one, by id.
    pub fn in_box(&self, bounds: &FloatBox) -> Vec<&District> {
        let mut found = Vec::with_capacity(self.districts.len().min(64));
        found.extend(self.boxes.overlapping(bounds).map(|position| &self.districts[position]));
        found
    }

    /// Of the districts whose boxes overlap the given one, those whose own box spans more than 180° of longitude:
    /// shapes on both sides of the antimeridian, whose box covers places far from them. By id.
    pub fn world_spanning_in_box(&self, bounds: &FloatBox) -> Vec<&District> {
        self.boxes
            .overlapping(bounds)
            .filter(|position| self.extents[*position].width() > HALF_WORLD_METERS)
            .map(|position| &self.districts[position])
            .collect()
    }

    /// Every district with its shape, by id.
    pub fn shapes(&self) -> impl Iterator<Item = MapShape<'_>> {
        self.districts.iter().zip(&self.extents).enumerate().map(|(position, (district, extent))| MapShape {
            district,
            extent: *extent,
            shapes: &self.shapes,
            position,
        })
    }

    /// Bytes the map holds, nearly.
    pub fn size(&self) -> usize {
        let per_district = size_of::<District>() + size_of::<Extent>() + size_of::<FloatBox>() + 32;
        self.shapes.size() + self.districts.len() * per_district
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
}

/// A district and its shape, for drawing.
#[derive(Debug, Clone, Copy)]
pub struct MapShape<'a> {
    /// What it is called.
    pub district: &'a District,
    /// Its bounding box.
    pub extent: Extent,
    shapes: &'a EdgeIndex,
    position: usize,
}

impl<'a> MapShape<'a> {
    /// The rings of all parts, each closed; the inside is what an odd number of rings surround, on valid maps.
    pub fn rings(&self) -> impl Iterator<Item = impl Iterator<Item = Coord<f64>> + use<'a>> + use<'a> {
        self.shapes.rings(self.position)
    }

    /// Whether the shape contains the point.
    pub fn contains(&self, point: Coord<f64>) -> bool {
        self.shapes.locate(self.position, point) == Location::Inside
    }
}

/// Where a point comes on a curve that keeps neighbours together (Morton's), in cells of about ten kilometres.
fn place_on_curve(point: Coord<f64>) -> u64 {
    const CELLS: f64 = 4096.0;
    // The cast saturates, and NaN becomes a cell like any other: only the order depends on it.
    let cell = |metres: f64| ((metres / HALF_WORLD_METERS + 1.0) * (CELLS / 2.0)) as u16;
    let spread =
        |number: u16| (0..16).fold(0u64, |bits, bit| bits | u64::from(number >> bit & 1) << (2 * bit));
    spread(cell(point.x)) | spread(cell(point.y)) << 1
}

/// Writes how many rows were unusable, and the named ones, in sections from the given tag.
pub(super) fn write_unusable(file: &mut IndexFileWriter, tag: u32, count: u64, named: &[UnusableGeometry]) {
    let mut text = Vec::new();
    for row in named {
        for part in [&row.row, &row.reason] {
            text.extend((part.len() as u64).to_le_bytes());
            text.extend(part.as_bytes());
        }
    }
    file.numbers(tag, &[count], u64::to_le_bytes);
    file.bytes(tag + 1, text);
}

/// Reads what [`write_unusable`] wrote.
pub(super) fn read_unusable(
    file: &IndexFile,
    tag: u32,
) -> Result<(u64, Vec<UnusableGeometry>), IndexFileError> {
    let damaged = || IndexFileError::damaged("the list of unusable rows is cut");
    let count = *file.numbers::<u64>(tag)?.first().ok_or_else(damaged)?;
    let text = file.bytes(tag + 1)?;
    let mut rest: &[u8] = &text;
    let mut next = || -> Result<Option<String>, IndexFileError> {
        let Some((length, after)) = rest.split_first_chunk::<8>() else {
            return if rest.is_empty() { Ok(None) } else { Err(damaged()) };
        };
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| damaged())?;
        let (word, after) = after.split_at_checked(length).ok_or_else(damaged)?;
        rest = after;
        String::from_utf8(word.to_vec()).map(Some).map_err(|_| damaged())
    };
    let mut named = Vec::new();
    while let Some(row) = next()? {
        named.push(UnusableGeometry { row, reason: next()?.ok_or_else(damaged)? });
    }
    Ok((count, named))
}
