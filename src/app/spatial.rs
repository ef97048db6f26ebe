//! `benthic_rpc`: the three spatial operations over the snapshot's geometry columns, or asked of the upstream functions.

use std::time::Instant;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Number, Value, json};

use super::error::AppError;
use super::mirror::{Held, Mirror, Serving, manifest_hashes};
use super::route::Route;
use crate::catalog::{Catalog, Relation};
use crate::engine::{Refusal, RefusalCode, read_arguments};
use crate::spatial::{SpatialAnswer, SpatialArguments, SpatialRefusal, SpatialRequest};

/// Arguments of `benthic_rpc`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RpcArguments {
    /// `find_district` (lat, lon, congress?), `districts_in_bbox` (min_lat, max_lat, min_lon, max_lon, congress?) or
    /// `nonprofits_nearby` (lat, lon, radius_meters?).
    #[serde(default)]
    pub operation: String,
    /// Latitude in degrees, -90 to 90.
    #[schemars(with = "Option<f64>")]
    pub lat: Option<Number>,
    /// Longitude in degrees, -180 to 180.
    #[schemars(with = "Option<f64>")]
    pub lon: Option<Number>,
    /// Congress number, 1 to 1000 (default 118).
    #[schemars(with = "Option<i64>")]
    pub congress: Option<Number>,
    /// Southern latitude of the box.
    #[schemars(with = "Option<f64>")]
    pub min_lat: Option<Number>,
    /// Northern latitude of the box.
    #[schemars(with = "Option<f64>")]
    pub max_lat: Option<Number>,
    /// Western longitude of the box.
    #[schemars(with = "Option<f64>")]
    pub min_lon: Option<Number>,
    /// Eastern longitude of the box.
    #[schemars(with = "Option<f64>")]
    pub max_lon: Option<Number>,
    /// Radius in planar metres of EPSG:3857, 1 to 100000 (default 10000).
    #[schemars(with = "Option<i64>")]
    pub radius_meters: Option<Number>,
}

impl Mirror {
    /// `benthic_rpc` with its arguments as a caller sent them.
    pub async fn rpc(&self, arguments: Map<String, Value>) -> Result<Value, AppError> {
        let started = Instant::now();
        let _permit = self.admit().await?;
        let arguments: RpcArguments = read_arguments(arguments)?;
        let spatial = SpatialArguments {
            lat: arguments.lat,
            lon: arguments.lon,
            congress: arguments.congress,
            min_lat: arguments.min_lat,
            max_lat: arguments.max_lat,
            min_lon: arguments.min_lon,
            max_lon: arguments.max_lon,
            radius_meters: arguments.radius_meters,
        };
        let request = SpatialRequest::parse(arguments.operation.trim(), &spatial)
            .map_err(|refusal| refused(*refusal))?;
        let serving = self.serving()?;
        let relation = spatial_relation(&serving, request.source())?;
        if self.route(&serving, relation) == Route::Live {
            return self.rpc_live(&serving, relation, &request, started).await;
        }
        let max_rows = usize::try_from(self.runtime.limits().max_rows).unwrap_or(usize::MAX);
        let (mut answer, hashed, notice) = match &request {
            SpatialRequest::FindDistrict(request) => {
                let shelf = self.districts(&serving, relation).await?;
                let shelved = self.congress(&serving, relation, shelf, request.congress.number).await?;
                (request.answer_on(shelved.view(shelf)), shelved.hashed, shelved.notice)
            }
            SpatialRequest::DistrictsInBbox(request) => {
                let shelf = self.districts(&serving, relation).await?;
                let shelved = self.congress(&serving, relation, shelf, request.congress.number).await?;
                (request.answer_on(shelved.view(shelf), max_rows), shelved.hashed, shelved.notice)
            }
            SpatialRequest::NonprofitsNearby(request) => {
                let nearby = self.nonprofits(&serving, relation).await?;
                (request.answer(&nearby.index, max_rows), nearby.hashed, nearby.notice.clone())
            }
        };
        answer.warnings.extend(notice);
        let catalog = &serving.snapshot.catalog;
        let held = Held { hashed, ..self.unchecked(&serving, relation)? };
        let hash = manifest_hashes(catalog).get(relation.dataset.as_str()).copied().unwrap_or("");
        let provenance = self.provenance(&serving, &held, hash, started);
        Ok(result(answer, endpoint_of(catalog, relation), provenance.value, provenance.warning))
    }

    async fn rpc_live(
        &self,
        serving: &Serving,
        relation: &Relation,
        request: &SpatialRequest,
        started: Instant,
    ) -> Result<Value, AppError> {
        let (reader, context) = self.live(serving)?;
        let answer = reader.rpc(context, relation, request).await?;
        let hash =
            manifest_hashes(context.catalog).get(relation.dataset.as_str()).copied().unwrap_or_default();
        let served = self.live_provenance(hash, started);
        Ok(result(answer, endpoint_of(context.catalog, relation), served, None))
    }
}

fn endpoint_of(catalog: &Catalog, relation: &Relation) -> Option<String> {
    let dataset = catalog.dataset(&relation.dataset)?;
    dataset.endpoint.as_ref().map(|endpoint| endpoint.base_url.clone())
}

/// The signed relation an operation reads.
pub(super) fn spatial_relation<'s>(serving: &'s Serving, source: &str) -> Result<&'s Relation, Refusal> {
    serving.snapshot.catalog.relation(source).filter(|relation| relation.queryable).ok_or_else(|| {
        let message = format!("`{source}`, which this operation reads, isn't signed.");
        Refusal::new(RefusalCode::UnknownRelation, message).fact("source", source).terminal()
    })
}

/// A spatial refusal as the engine's.
pub(super) fn refused(refusal: SpatialRefusal) -> Refusal {
    let code = match refusal.code {
        "bad_argument" => RefusalCode::BadArgument,
        _ => RefusalCode::BadRpcArguments,
    };
    let mut engine = Refusal::new(code, refusal.message).next(refusal.next_step);
    engine.facts = refusal.facts;
    engine.fact("argument", refusal.argument)
}

fn result(answer: SpatialAnswer, endpoint: Option<String>, served: Value, warning: Option<String>) -> Value {
    let warnings: Vec<Value> =
        answer.warnings.into_iter().chain(warning).map(|message| json!({"message": message})).collect();
    let mut metadata = json!({
        "operation": answer.metadata.operation,
        "dataset": answer.metadata.dataset,
        "function_name": answer.metadata.function_name,
    });
    if let (Some(object), Some(endpoint)) = (metadata.as_object_mut(), endpoint) {
        object.insert("endpoint".to_owned(), endpoint.into());
    }
    json!({
        "rows": answer.rows,
        "row_count": answer.row_count,
        "truncated": answer.truncated,
        "total": answer.total,
        "metadata": metadata,
        "warnings": warnings,
        "served": served,
    })
}
