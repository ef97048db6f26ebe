//! `benthic_rpc`: operations and their arguments.

use serde_json::{Value, json};

use crate::case::{Case, check, refuse};
use crate::world::Ask;

fn rpc(operation: &str, more: Value) -> Ask {
    let mut arguments = json!({"operation": operation});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Ask::Rpc(arguments)
}

pub(crate) fn cases() -> Vec<Case> {
    let district = |more: Value| rpc("find_district", more);
    let denver = || district(json!({"lat": 39.7392, "lon": -104.9903}));
    let (found, state) = ("/rows/0/statename", "Colorado");
    let near = |more: Value| rpc("nonprofits_nearby", more);
    let bbox = |low: f64, high: f64| {
        rpc(
            "districts_in_bbox",
            json!({"min_lat": low, "max_lat": high, "min_lon": -105.0, "max_lon": -104.9}),
        )
    };
    vec![
        refuse(rpc("find_districts", json!({"lat": 1, "lon": 2})), "bad_argument", "find_district")
            .fact("argument", "operation")
            .near(denver(), found, state),
        refuse(rpc("", json!({})), "bad_argument", "districts_in_bbox"),
        refuse(district(json!({"lat": 39.7392})), "bad_rpc_arguments", "Add lon").fact("argument", "lon"),
        refuse(district(json!({"lat": 90.5, "lon": 0})), "bad_rpc_arguments", "-90 to 90").near(
            district(json!({"lat": 90, "lon": 0})),
            "/row_count",
            0,
        ),
        refuse(district(json!({"lat": 0, "lon": -180.1})), "bad_rpc_arguments", "-180 to 180").near(
            district(json!({"lat": 0, "lon": -180})),
            "/row_count",
            0,
        ),
        refuse(
            district(json!({"lat": 39.7392, "lon": -104.9903, "congress": 0})),
            "bad_rpc_arguments",
            "1 to 1000",
        )
        .near(district(json!({"lat": 39.7392, "lon": -104.9903, "congress": 118})), found, state),
        refuse(
            district(json!({"lat": 1, "lon": 2, "radius_meters": 5})),
            "bad_rpc_arguments",
            "nonprofits_nearby",
        )
        .fact("argument", "radius_meters"),
        refuse(
            near(json!({"lat": 1, "lon": 2, "radius_meters": 100_001})),
            "bad_rpc_arguments",
            "1 to 100000",
        )
        .near(near(json!({"lat": 0, "lon": 0, "radius_meters": 1})), "/row_count", 0),
        refuse(near(json!({"lat": 1, "lon": 2, "radius_meters": 1.5})), "bad_rpc_arguments", "whole number")
            .near(near(json!({"lat": 0, "lon": 0, "radius_meters": 1.0})), "/row_count", 0),
        refuse(bbox(40.0, 39.0), "bad_rpc_arguments", "Swap min_lat and max_lat").fact("argument", "min_lat"),
        refuse(district(json!({"lat": "39", "lon": 0})), "bad_argument", "Latitude").fact("argument", "lat"),
        refuse(district(json!({"latitude": 39, "lon": 0})), "bad_argument", "`lat")
            .fact("argument", "latitude"),
    ]
}

#[test]
fn each_rule_refuses_and_leaves_its_neighbour_alone() {
    check(cases());
}
