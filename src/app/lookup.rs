//! Many places at once: a prepared lookup that answers a latitude and a longitude from memory, on any thread.
//!
//! The same comparisons as `benthic_rpc` one place at a time; only provenance and warnings are given once instead of
//! with every row.

use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use super::error::AppError;
use super::mirror::{Held, Mirror, Serving, manifest_hashes};
use super::spatial::{refused, spatial_relation};
use crate::engine::{Refusal, RefusalCode};
use crate::spatial::districts::CongressMap;
use crate::spatial::projection::project;
use crate::spatial::{SpatialArguments, SpatialRequest};

/// Answers places from memory.
pub struct PlaceLookup {
    what: What,
    /// What must be said once about all answers.
    pub notes: Vec<String>,
    /// Where the answers come from, as in every answer.
    pub served: Value,
}

enum What {
    District { congress: i64, map: Option<Arc<CongressMap>> },
    NearbyCount { serving: Arc<Serving>, radius_meters: i64 },
}

/// Columns of a district answer.
const DISTRICT_COLUMNS: &[&str] = &["district_id", "statename", "district", "congress_number"];
/// Columns of a count.
const COUNT_COLUMNS: &[&str] = &["nonprofits_nearby", "radius_meters"];

impl Mirror {
    /// Prepares `find_district` or the count of `nonprofits_nearby` for many places. The arguments are those of the
    /// operation, with `lat` and `lon` of any place: they only have to be there.
    pub async fn place_lookup(
        &self,
        operation: &str,
        arguments: &SpatialArguments,
    ) -> Result<PlaceLookup, AppError> {
        let started = Instant::now();
        if self.is_live() {
            return Err(Refusal::new(
                RefusalCode::BadArgument,
                "a file of places is answered from the snapshot, never live.",
            )
            .fact("argument", "mode")
            .next("leave live mode for this, e.g. `--set mode=offline`")
            .into());
        }
        let request = SpatialRequest::parse(operation, arguments).map_err(|refusal| refused(*refusal))?;
        let serving = self.serving()?;
        let relation = spatial_relation(&serving, request.source())?;
        let mut notes = Vec::new();
        let (what, hashed, notice) = match &request {
            SpatialRequest::FindDistrict(request) => {
                let shelf = self.districts(&serving, relation).await?;
                let congress = request.congress.number;
                let shelved = self.congress(&serving, relation, shelf, congress).await?;
                if shelved.map.is_none() {
                    // Said for one place, so that the words are those of a single answer.
                    notes.extend(request.answer_on(shelved.view(shelf)).warnings);
                } else if !request.congress.given {
                    notes.extend(SpatialRequest::FindDistrict(request.clone()).warnings());
                }
                (What::District { congress, map: shelved.map }, shelved.hashed, shelved.notice)
            }
            SpatialRequest::NonprofitsNearby(request) => {
                let nonprofits = self.nonprofits(&serving, relation).await?;
                notes.push(format!(
                    "The radius of {} is in planar metres of EPSG:3857, as upstream: on the ground it reaches cos(latitude) \
                     times as far.",
                    request.radius_meters
                ));
                let (hashed, notice) = (nonprofits.hashed, nonprofits.notice.clone());
                let what =
                    What::NearbyCount { serving: Arc::clone(&serving), radius_meters: request.radius_meters };
                (what, hashed, notice)
            }
            SpatialRequest::DistrictsInBbox(_) => {
                return Err(Refusal::new(
                    RefusalCode::BadRpcArguments,
                    "districts_in_bbox takes a box, not places.",
                )
                .fact("operation", operation)
                .next("use find_district or nonprofits_nearby for a file of places")
                .into());
            }
        };
        notes.extend(notice);
        let held = Held { hashed, ..self.unchecked(&serving, relation)? };
        let hash = manifest_hashes(&serving.snapshot.catalog)
            .get(relation.dataset.as_str())
            .map_or_else(String::new, |hash| (*hash).to_owned());
        let provenance = self.provenance(&serving, &held, &hash, started);
        notes.extend(provenance.warning);
        Ok(PlaceLookup { what, notes, served: provenance.value })
    }
}

impl PlaceLookup {
    /// The names of an answer's columns.
    pub fn columns(&self) -> &'static [&'static str] {
        match self.what {
            What::District { .. } => DISTRICT_COLUMNS,
            What::NearbyCount { .. } => COUNT_COLUMNS,
        }
    }

    /// The answer for a place, one text per column, empty where there is none. `latitude` must be within ±90 and
    /// `longitude` within ±180 degrees; others are in no district and near nothing.
    pub fn answer(&self, latitude: f64, longitude: f64) -> Vec<String> {
        let point = project(longitude, latitude);
        match &self.what {
            What::District { congress, map } => {
                let found = map.as_ref().zip(point).and_then(|(map, point)| map.find(point));
                let district = found.map(|found| found.district);
                let text = |value: Option<&String>| value.cloned().unwrap_or_default();
                vec![
                    text(district.and_then(|district| district.district_id.as_ref())),
                    text(district.and_then(|district| district.statename.as_ref())),
                    district
                        .and_then(|district| district.district)
                        .map_or_else(String::new, |at| at.to_string()),
                    congress.to_string(),
                ]
            }
            What::NearbyCount { serving, radius_meters } => {
                let radius = *radius_meters as f64;
                let nonprofits = serving.nonprofits.get();
                let count = nonprofits
                    .zip(point)
                    .map_or(0, |(nonprofits, point)| nonprofits.index.count_nearby(point, radius));
                vec![count.to_string(), radius_meters.to_string()]
            }
        }
    }
}
