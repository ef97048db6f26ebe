//! GeoParquet 1.1: a bounding box per row beside each geometry column, and the `geo` metadata that names both.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Builder, RecordBatch, StructArray};
use arrow::buffer::NullBuffer;
use arrow::error::ArrowError;
use geo::{BoundingRect, Geometry};
use serde_json::{Map, Value, json};

use crate::catalog::StoredColumn;
use crate::postgrest::geometry::from_wkb;
use crate::store::{covering_fields, file_schema};
use crate::sync::error::CaptureError;

use super::write_failure;

/// Version of the GeoParquet specification followed.
const GEOPARQUET_VERSION: &str = "1.1.0";

/// What one file's geometries have in common.
#[derive(Debug, Clone, Default)]
struct Summary {
    types: BTreeSet<&'static str>,
    bounds: Option<[f64; 4]>,
}

/// Adds covering columns to chunks and gathers a file's metadata.
#[derive(Debug)]
pub(super) struct Coverings<'c> {
    relation: String,
    columns: &'c [StoredColumn],
    /// Position and summary of each geometry column.
    geometries: Vec<(usize, Summary)>,
}

impl<'c> Coverings<'c> {
    pub(super) fn new(relation: &str, columns: &'c [StoredColumn]) -> Self {
        let geometries = columns
            .iter()
            .enumerate()
            .filter(|(_, column)| column.geometry.is_some())
            .map(|(index, _)| (index, Summary::default()))
            .collect();
        Self { relation: relation.to_owned(), columns, geometries }
    }

    /// The chunk with its covering columns.
    pub(super) fn extend(&mut self, chunk: RecordBatch) -> Result<RecordBatch, CaptureError> {
        if self.geometries.is_empty() {
            return Ok(chunk);
        }
        let mut arrays = chunk.columns().to_vec();
        for (index, summary) in &mut self.geometries {
            let boxes = boxes(&self.relation, chunk.column(*index), summary)?;
            arrays.push(boxes);
        }
        RecordBatch::try_new(file_schema(self.columns), arrays)
            .map_err(|error| write_failure(&self.relation, &error))
    }

    /// The `geo` metadata of the file whose chunks were seen; `None` without geometry columns.
    pub(super) fn metadata(&self) -> Option<String> {
        let mut columns = Map::new();
        for (index, summary) in &self.geometries {
            let Some(column) = self.columns.get(*index) else { continue };
            let Some(geometry) = &column.geometry else { continue };
            let covering = &geometry.covering;
            let corner = |corner: &str| json!([covering, corner]);
            let mut entry = Map::new();
            entry.insert("encoding".to_owned(), json!("WKB"));
            entry.insert("geometry_types".to_owned(), json!(summary.types));
            match geometry.srid {
                // Longitude, latitude: the specification's default reference system, said by saying nothing.
                Some(4326) => {}
                srid => {
                    entry.insert("crs".to_owned(), Value::Null);
                    if let Some(srid) = srid {
                        entry.insert("srid".to_owned(), json!(srid));
                    }
                }
            }
            if let Some(bounds) = summary.bounds {
                entry.insert("bbox".to_owned(), json!(bounds));
            }
            entry.insert(
                "covering".to_owned(),
                json!({"bbox": {
                    "xmin": corner("xmin"), "ymin": corner("ymin"), "xmax": corner("xmax"), "ymax": corner("ymax"),
                }}),
            );
            columns.insert(column.name.clone(), Value::Object(entry));
        }
        let primary = columns.keys().next()?.clone();
        let metadata = json!({"version": GEOPARQUET_VERSION, "primary_column": primary, "columns": columns});
        Some(metadata.to_string())
    }
}

/// The boxes of a column's geometries: null where there is no geometry, or no point in it.
fn boxes(relation: &str, column: &ArrayRef, summary: &mut Summary) -> Result<ArrayRef, CaptureError> {
    let column = column.as_binary::<i32>();
    let mut corners = [(); 4].map(|()| Float64Builder::with_capacity(column.len()));
    let mut valid = Vec::with_capacity(column.len());
    for bytes in column {
        let geometry = bytes.map(from_wkb).transpose().map_err(|error| write_failure(relation, &error))?;
        let bounds = geometry.as_ref().and_then(|geometry| {
            summary.types.insert(type_name(geometry));
            let found = geometry.bounding_rect()?;
            let bounds = [found.min().x, found.min().y, found.max().x, found.max().y];
            // An empty point is a point of NaNs.
            bounds.iter().all(|corner| corner.is_finite()).then_some(bounds)
        });
        valid.push(bounds.is_some());
        for (builder, corner) in corners.iter_mut().zip(bounds.unwrap_or_default()) {
            builder.append_value(corner);
        }
        if let Some([xmin, ymin, xmax, ymax]) = bounds {
            let known = summary.bounds.get_or_insert([xmin, ymin, xmax, ymax]);
            *known = [known[0].min(xmin), known[1].min(ymin), known[2].max(xmax), known[3].max(ymax)];
        }
    }
    let arrays: Vec<ArrayRef> =
        corners.into_iter().map(|mut builder| Arc::new(builder.finish()) as ArrayRef).collect();
    let boxes: Result<StructArray, ArrowError> =
        StructArray::try_new(covering_fields(), arrays, Some(NullBuffer::from(valid)));
    Ok(Arc::new(boxes.map_err(|error| write_failure(relation, &error))?))
}

fn type_name(geometry: &Geometry<f64>) -> &'static str {
    match geometry {
        Geometry::Point(_) => "Point",
        Geometry::Line(_) | Geometry::LineString(_) => "LineString",
        Geometry::Polygon(_) | Geometry::Rect(_) | Geometry::Triangle(_) => "Polygon",
        Geometry::MultiPoint(_) => "MultiPoint",
        Geometry::MultiLineString(_) => "MultiLineString",
        Geometry::MultiPolygon(_) => "MultiPolygon",
        Geometry::GeometryCollection(_) => "GeometryCollection",
    }
}
