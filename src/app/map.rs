//! A map of a congress's districts from the snapshot alone: what is asked about, gathered for the picture.

use std::time::Instant;

use geo::Coord;
use serde_json::Value;

use super::error::AppError;
use super::mirror::{Held, Mirror, manifest_hashes};
use super::picture::{Marked, Scene, draw};
use super::raster::{RasterError, rasterise};
use super::spatial::{refused, spatial_relation};
use crate::engine::{Refusal, RefusalCode};
use crate::spatial::boxes::FloatBox;
use crate::spatial::districts::DISTRICTS_SOURCE;
use crate::spatial::nonprofits::NONPROFITS_SOURCE;
use crate::spatial::projection::project;
use crate::spatial::{FindDistrict, NonprofitsNearby, SpatialArguments, SpatialRequest};

/// What is to be drawn. Degrees and metres have the ranges of the operations.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MapRequest {
    /// The congress whose districts are drawn.
    pub congress: i64,
    /// A box to draw and to mark districts by: min_lon, min_lat, max_lon, max_lat.
    pub bbox: Option<[f64; 4]>,
    /// A place to mark, latitude and longitude, with the district it lies in.
    pub point: Option<(f64, f64)>,
    /// Also the nonprofits within this many planar metres of the place.
    pub radius_meters: Option<i64>,
    /// Further places, latitude and longitude.
    pub places: Vec<(f64, f64)>,
    /// Width in pixels.
    pub width: u32,
}

/// A drawn map.
#[derive(Debug, Clone, PartialEq)]
pub struct MapPicture {
    /// The picture as SVG.
    pub svg: String,
    /// What it shows, in words.
    pub notes: Vec<String>,
    /// Where the data comes from, as in every answer.
    pub served: Value,
}

impl MapPicture {
    /// The picture as PNG, with the fonts this program carries.
    pub fn png(&self) -> Result<Vec<u8>, RasterError> {
        rasterise(&self.svg)
    }
}

impl Mirror {
    /// Draws the districts of a congress and what is asked about them.
    pub async fn map(&self, request: &MapRequest) -> Result<MapPicture, AppError> {
        let started = Instant::now();
        let check = |operation, arguments: SpatialArguments| {
            SpatialRequest::parse(operation, &arguments).map_err(|refusal| refused(*refusal))
        };
        let degrees = serde_json::Number::from_f64;
        let congress = Some(request.congress.into());
        if let Some((lat, lon)) = request.point {
            let arguments = SpatialArguments {
                lat: degrees(lat),
                lon: degrees(lon),
                congress: congress.clone(),
                ..Default::default()
            };
            check(FindDistrict::NAME, arguments)?;
        }
        if let (Some((lat, lon)), Some(radius)) = (request.point, request.radius_meters) {
            let arguments = SpatialArguments {
                lat: degrees(lat),
                lon: degrees(lon),
                radius_meters: Some(radius.into()),
                ..Default::default()
            };
            check(NonprofitsNearby::NAME, arguments)?;
        }
        if let Some([min_lon, min_lat, max_lon, max_lat]) = request.bbox {
            let arguments = SpatialArguments {
                min_lat: degrees(min_lat),
                max_lat: degrees(max_lat),
                min_lon: degrees(min_lon),
                max_lon: degrees(max_lon),
                congress,
                ..Default::default()
            };
            check(crate::spatial::DistrictsInBbox::NAME, arguments)?;
        }

        let serving = self.serving()?;
        let relation = spatial_relation(&serving, DISTRICTS_SOURCE)?;
        let shelf = self.districts(&serving, relation).await?;
        let shelved = self.congress(&serving, relation, shelf, request.congress).await?;
        let Some(map) = shelved.map.as_deref() else {
            let known: Vec<String> = shelf.congresses().iter().map(i64::to_string).collect();
            let message = format!("There are no districts of congress {} in the source.", request.congress);
            return Err(Refusal::new(RefusalCode::BadArgument, message)
                .fact("argument", "congress")
                .fact("congresses", known)
                .next("draw one of the congresses listed")
                .into());
        };
        let mut notes: Vec<String> = shelved.notice.iter().cloned().collect();
        let mut marked =
            Marked { radius: request.radius_meters.map(|radius| radius as f64), ..Marked::default() };
        if let Some((lat, lon)) = request.point {
            marked.point = project(lon, lat);
            marked.containing = marked.point.and_then(|point| map.find(point)).map(|found| found.district.id);
        }
        if let (Some(center), Some(radius)) = (marked.point, marked.radius) {
            let relation = spatial_relation(&serving, NONPROFITS_SOURCE)?;
            let nonprofits = self.nonprofits(&serving, relation).await?;
            notes.extend(nonprofits.notice.clone());
            marked.hits = nonprofits.index.places_nearby(center, radius);
        }
        if let Some([min_lon, min_lat, max_lon, max_lat]) = request.bbox {
            marked.bbox = project(min_lon, min_lat).zip(project(max_lon, max_lat));
            let bounds = FloatBox::of_envelope(min_lat, max_lat, min_lon, max_lon);
            let found = bounds.map(|bounds| map.in_box(&bounds)).unwrap_or_default();
            marked.in_box = found.iter().map(|district| district.id).collect();
        }
        let projected = |(lat, lon): &(f64, f64)| -> Option<(Coord<f64>, bool)> {
            let place = project(*lon, *lat)?;
            Some((place, map.find(place).is_some()))
        };
        marked.places = request.places.iter().filter_map(projected).collect();
        let held = Held { hashed: shelved.hashed, ..self.unchecked(&serving, relation)? };
        let hash = manifest_hashes(&serving.snapshot.catalog)
            .get(relation.dataset.as_str())
            .map_or_else(String::new, |hash| (*hash).to_owned());
        let provenance = self.provenance(&serving, &held, &hash, started);
        notes.extend(provenance.warning);
        let served = provenance.value;
        let text = |name: &str| served.get(name).and_then(Value::as_str).unwrap_or("").to_owned();
        let content: String = text("content_id").chars().take(12).collect();
        let source = format!(
            "{DISTRICTS_SOURCE}, snapshot content {content} ({}), captured {}. EPSG:3857.",
            text("capture"),
            text("captured_at").chars().take(10).collect::<String>()
        );
        let scene =
            Scene { congress: request.congress, map, marked: &marked, width: request.width, source: &source };
        Ok(MapPicture { svg: draw(&scene), notes, served })
    }
}
