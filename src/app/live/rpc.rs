//! The spatial operations asked of the upstream functions themselves.
//!
//! Rows are those of the functions; their order is completed here as the mirror has it, and a list the server cut is
//! said to be cut, by the count the answer carries.

use serde_json::{Map, Number, Value, json};

use super::refusal::failed;
use super::{LiveContext, LiveReader, within_deadline};
use crate::app::error::AppError;
use crate::catalog::{PostgrestEndpoint, Relation};
use crate::engine::{Refusal, RefusalCode};
use crate::postgrest::{Endpoint, PageRequest};
use crate::spatial::{SpatialAnswer, SpatialMetadata, SpatialRequest};

impl LiveReader {
    /// Calls the function behind an operation.
    pub async fn rpc(
        &self,
        context: LiveContext<'_>,
        relation: &Relation,
        request: &SpatialRequest,
    ) -> Result<SpatialAnswer, AppError> {
        within_deadline(context, async {
            let endpoint = self.endpoint(context, relation)?;
            let limit = context.runtime.limits().max_rows;
            let function = function_endpoint(endpoint, relation, request)?;
            let page = PageRequest {
                arguments: arguments(request),
                limit: Some(limit),
                count: true,
                ..PageRequest::default()
            };
            let page =
                self.client.fetch_page(&function, &page).await.map_err(|error| failed(relation, &error))?;
            let malformed = |problem: &str| malformed(relation, request, problem);
            let total = page
                .range
                .and_then(|range| range.total)
                .and_then(|total| usize::try_from(total).ok())
                .ok_or_else(|| malformed("the answer carries no count"))?;
            let rows: Vec<Map<String, Value>> =
                serde_json::from_slice(&page.body).map_err(|error| malformed(&error.to_string()))?;
            let mut rows = rows
                .iter()
                .map(|row| fields_of(request, row))
                .collect::<Option<Vec<_>>>()
                .ok_or_else(|| malformed("a row lacks a field of the operation"))?;
            if total < rows.len() {
                return Err(malformed("it holds more rows than its count says").into());
            }
            let mut warnings = request.warnings();
            complete_order(request, &mut rows);
            if let SpatialRequest::FindDistrict(asked) = request {
                match total {
                    0 => warnings.push(format!(
                        "No district of congress {} contains this point, or there are none of that congress.",
                        asked.congress.number
                    )),
                    1 => {}
                    _ => warnings.push(format!(
                        "{total} districts of congress {} overlap at this point in the source; the server doesn't say \
                         which has the smallest id, and the first by `district_id` is returned.",
                        asked.congress.number
                    )),
                }
                rows.truncate(1);
            }
            let row_count = rows.len();
            let truncated = total > row_count && !matches!(request, SpatialRequest::FindDistrict(_));
            let total = if truncated { total } else { row_count };
            let metadata = SpatialMetadata::of(request);
            Ok(SpatialAnswer { rows, row_count, truncated, total, warnings, metadata })
        })
        .await
    }
}

fn function_endpoint(
    endpoint: &PostgrestEndpoint,
    relation: &Relation,
    request: &SpatialRequest,
) -> Result<Endpoint, Refusal> {
    let mut function = Endpoint::new(endpoint, relation).map_err(|error| failed(relation, &error))?;
    function.base_url = function
        .base_url
        .join("rpc/")
        .map_err(|error| malformed(relation, request, &format!("its address can't be made: {error}")))?;
    function.table = request.function_name().to_owned();
    Ok(function)
}

/// The function's arguments by name.
fn arguments(request: &SpatialRequest) -> Vec<(String, String)> {
    let pair = |name: &str, value: String| (name.to_owned(), value);
    match request {
        SpatialRequest::FindDistrict(asked) => vec![
            pair("lat", asked.lat.to_string()),
            pair("lon", asked.lon.to_string()),
            pair("congress", asked.congress.number.to_string()),
        ],
        SpatialRequest::DistrictsInBbox(asked) => vec![
            pair("min_lat", asked.min_lat.to_string()),
            pair("min_lon", asked.min_lon.to_string()),
            pair("max_lat", asked.max_lat.to_string()),
            pair("max_lon", asked.max_lon.to_string()),
            pair("congress", asked.congress.number.to_string()),
        ],
        SpatialRequest::NonprofitsNearby(asked) => vec![
            pair("lat", asked.lat.to_string()),
            pair("lon", asked.lon.to_string()),
            pair("radius_meters", asked.radius_meters.to_string()),
        ],
    }
}

/// A row with exactly the operation's fields, in its order.
fn fields_of(request: &SpatialRequest, row: &Map<String, Value>) -> Option<Map<String, Value>> {
    let names: &[&str] = match request {
        SpatialRequest::FindDistrict(_) => &["district_id", "statename", "district", "congress_number"],
        SpatialRequest::DistrictsInBbox(_) => &["id", "statename", "district", "district_id"],
        SpatialRequest::NonprofitsNearby(_) => &["ein", "org_name", "ntee", "state", "distance_meters"],
    };
    names
        .iter()
        .map(|name| {
            let value = row.get(*name)?.clone();
            let value = match (*name, value.as_f64()) {
                ("distance_meters", Some(distance)) => Value::Number(Number::from_f64(distance)?),
                _ => value,
            };
            Some(((*name).to_owned(), value))
        })
        .collect()
}

/// By id, by `district_id`, by distance and then EIN: the functions promise no order, or leave ties.
fn complete_order(request: &SpatialRequest, rows: &mut [Map<String, Value>]) {
    let number = |row: &Map<String, Value>, name: &str| row.get(name).and_then(Value::as_f64);
    let text =
        |row: &Map<String, Value>, name: &str| row.get(name).and_then(Value::as_str).map(str::to_owned);
    let by_number = |left: Option<f64>, right: Option<f64>| match (left, right) {
        (Some(left), Some(right)) => left.total_cmp(&right),
        (left, right) => left.is_none().cmp(&right.is_none()),
    };
    match request {
        SpatialRequest::FindDistrict(_) => rows.sort_by_key(|row| text(row, "district_id")),
        SpatialRequest::DistrictsInBbox(_) => {
            rows.sort_by(|left, right| by_number(number(left, "id"), number(right, "id")));
        }
        SpatialRequest::NonprofitsNearby(_) => rows.sort_by(|left, right| {
            by_number(number(left, "distance_meters"), number(right, "distance_meters"))
                .then_with(|| text(left, "ein").cmp(&text(right, "ein")))
        }),
    }
}

fn malformed(relation: &Relation, request: &SpatialRequest, problem: &str) -> Refusal {
    let function = request.function_name();
    Refusal::new(
        RefusalCode::UpstreamFailed,
        format!("`{function}` answered something else than rows: {problem}."),
    )
    .fact("function", function)
    .fact("source", relation.source())
    .fact("problem", json!(problem))
    .next("try again later, or answer from a mirror: `benthic-mirror sync`")
}
