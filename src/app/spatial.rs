//! `benthic_rpc`: the three spatial operations over the snapshot's geometry columns.

use std::time::Instant;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Int32Type, Int64Type};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Number, Value, json};

use super::error::AppError;
use super::mirror::{Held, Mirror, Serving, manifest_hashes};
use crate::engine::{Refusal, RefusalCode, read_arguments, read_columns};
use crate::spatial::districts::{DISTRICT_COLUMNS, DistrictRow, Districts};
use crate::spatial::nonprofits::{NONPROFIT_COLUMNS, NonprofitRow, Nonprofits};
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
        let catalog = &serving.snapshot.catalog;
        let source = request.source();
        let relation = catalog.relation(source).filter(|relation| relation.queryable).ok_or_else(|| {
            Refusal::new(
                RefusalCode::UnknownRelation,
                format!("`{source}`, which this operation reads, isn't signed."),
            )
            .fact("source", source)
            .terminal()
        })?;
        let held = self.held(&serving, relation)?;
        let max_rows = usize::try_from(self.runtime.limits().max_rows).unwrap_or(usize::MAX);
        let answer = match &request {
            SpatialRequest::FindDistrict(request) => request.answer(self.districts(&serving, &held).await?),
            SpatialRequest::DistrictsInBbox(request) => {
                request.answer(self.districts(&serving, &held).await?, max_rows)
            }
            SpatialRequest::NonprofitsNearby(request) => {
                request.answer(self.nonprofits(&serving, &held).await?, max_rows)
            }
        };
        let hash = manifest_hashes(catalog).get(relation.dataset.as_str()).copied().unwrap_or("");
        let provenance = self.provenance(&serving, &held, hash, started);
        let endpoint = catalog
            .dataset(&relation.dataset)
            .and_then(|dataset| dataset.endpoint.as_ref())
            .map(|endpoint| endpoint.base_url.clone());
        Ok(result(answer, endpoint, provenance.value, provenance.warning))
    }

    async fn districts<'s>(&self, serving: &'s Serving, held: &Held<'_>) -> Result<&'s Districts, AppError> {
        serving
            .districts
            .get_or_try_init(|| async {
                let batches = read_columns(&held.data, &DISTRICT_COLUMNS, &self.runtime).await?;
                Ok(Districts::build(batches.iter().flat_map(district_rows)))
            })
            .await
    }

    async fn nonprofits<'s>(
        &self,
        serving: &'s Serving,
        held: &Held<'_>,
    ) -> Result<&'s Nonprofits, AppError> {
        serving
            .nonprofits
            .get_or_try_init(|| async {
                let batches = read_columns(&held.data, &NONPROFIT_COLUMNS, &self.runtime).await?;
                Nonprofits::build(batches.iter().flat_map(nonprofit_rows))
                    .map_err(|error| AppError::Internal { detail: error.to_string() })
            })
            .await
    }
}

fn refused(refusal: SpatialRefusal) -> Refusal {
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

/// Typed access to one row of a batch by column name.
struct RowReader<'a> {
    batch: &'a RecordBatch,
    row: usize,
}

impl RowReader<'_> {
    fn array(&self, name: &str) -> Option<&ArrayRef> {
        self.batch.column_by_name(name).filter(|array| array.is_valid(self.row))
    }

    fn text(&self, name: &str) -> Option<String> {
        let array = self.array(name)?;
        match array.data_type() {
            DataType::Utf8View => Some(array.as_string_view_opt()?.value(self.row).to_owned()),
            _ => Some(array.as_string_opt::<i32>()?.value(self.row).to_owned()),
        }
    }

    fn integer(&self, name: &str) -> Option<i64> {
        let array = self.array(name)?;
        match array.data_type() {
            DataType::Int32 => Some(array.as_primitive_opt::<Int32Type>()?.value(self.row).into()),
            _ => Some(array.as_primitive_opt::<Int64Type>()?.value(self.row)),
        }
    }

    fn flag(&self, name: &str) -> Option<bool> {
        Some(self.array(name)?.as_boolean_opt()?.value(self.row))
    }

    fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        let array = self.array(name)?;
        match array.data_type() {
            DataType::BinaryView => Some(array.as_binary_view_opt()?.value(self.row).to_vec()),
            _ => Some(array.as_binary_opt::<i32>()?.value(self.row).to_vec()),
        }
    }
}

fn district_rows(batch: &RecordBatch) -> impl Iterator<Item = DistrictRow> + '_ {
    (0..batch.num_rows()).filter_map(move |row| {
        let reader = RowReader { batch, row };
        Some(DistrictRow {
            // Both are declared not null; a row without them is in no congress.
            id: reader.integer("id")?,
            congress_number: reader.integer("congress_number")?,
            statename: reader.text("statename"),
            district: reader.integer("district"),
            district_id: reader.text("district_id"),
            geometry: reader.bytes("geom"),
        })
    })
}

fn nonprofit_rows(batch: &RecordBatch) -> impl Iterator<Item = NonprofitRow> + '_ {
    (0..batch.num_rows()).map(move |row| {
        let reader = RowReader { batch, row };
        NonprofitRow {
            ein: reader.text("ein"),
            org_name: reader.text("org_name_current"),
            ntee: reader.text("ntee_irs"),
            state: reader.text("f990_org_addr_state"),
            is_current: reader.flag("is_current"),
            geometry: reader.bytes("geom_point"),
        }
    })
}
