//! The spatial operations over the demo's districts and nonprofits.

use benthic_mirror::demo;
use serde_json::{Value, json};

use crate::harness::{rows, rpc, try_rpc};

#[test]
fn every_city_lies_in_the_district_a_plain_search_finds() {
    // The nonprofits' own points, which the origin's brute force answers too.
    let relation = demo::relation("irs_ng.bmf_organizations").expect("relation");
    let mut asked = 0;
    for row in relation.rows().step_by(37) {
        let Some(geometry) = row.get("geom_point").as_geometry() else { continue };
        let geo::Geometry::Point(point) = &geometry.shape else { continue };
        let answer =
            rpc(json!({"operation": "find_district", "lat": point.y(), "lon": point.x(), "congress": 117}));
        let expected = brute_force(point.y(), point.x(), 117);
        let found: Option<String> =
            rows(&answer).first().and_then(|row| row["district_id"].as_str()).map(str::to_owned);
        assert_eq!(found, expected, "{point:?}");
        asked += 1;
    }
    assert!(asked > 20);
}

fn brute_force(lat: f64, lon: f64, congress: i64) -> Option<String> {
    use geo::Contains;
    const RADIUS: f64 = 6_378_137.0;
    let point = geo::Point::new(RADIUS * lon.to_radians(), RADIUS * lat.to_radians().tan().asinh());
    let districts = demo::relation("up_cdmaps.congressional_districts").expect("districts");
    let mut containing: Vec<(i64, String)> = districts
        .rows()
        .filter(|row| row.int("congress_number") == Some(congress))
        .filter(|row| row.get("geom").as_geometry().is_some_and(|geometry| geometry.shape.contains(&point)))
        .filter_map(|row| Some((row.int("id")?, row.text("district_id")?.to_owned())))
        .collect();
    containing.sort();
    containing.into_iter().next().map(|(_, id)| id)
}

#[test]
fn the_box_in_england_returns_alaska_with_a_note() {
    let answer = rpc(json!({
        "operation": "districts_in_bbox",
        "min_lon": 1.2823954, "min_lat": 52.6185576, "max_lon": 1.3023954, "max_lat": 52.6385576,
    }));
    assert_eq!(rows(&answer).len(), 1);
    assert_eq!(rows(&answer)[0]["statename"], "Alaska");
    assert_eq!(rows(&answer)[0]["district"], 0);
    let warnings = answer["warnings"].to_string();
    assert!(warnings.contains("180°") && warnings.contains("118"), "{warnings}");
}

#[test]
fn arguments_are_checked_by_operation() {
    for (arguments, needle) in [
        (json!({"operation": "find_county", "lat": 1, "lon": 2}), "find_district"),
        (json!({"operation": "find_district", "lat": 1}), "lon"),
        (json!({"operation": "find_district", "lat": 91, "lon": 2}), "90"),
        (json!({"operation": "find_district", "lat": 1, "lon": 2, "radius_meters": 5}), "radius_meters"),
        (json!({"operation": "find_district", "lat": 1, "lon": 2, "congress": 0}), "1"),
        (json!({"operation": "nonprofits_nearby", "lat": 1, "lon": 2, "radius_meters": 100001}), "100000"),
        (
            json!({"operation": "districts_in_bbox", "min_lat": 2, "max_lat": 1, "min_lon": 1, "max_lon": 2}),
            "min_lat",
        ),
        (json!({"operation": "find_district", "lat": "39", "lon": 2}), "lat"),
    ] {
        let refusal = try_rpc(arguments.clone()).expect_err("refused");
        assert!(refusal.to_text().contains(needle), "{arguments}: {}", refusal.to_text());
        assert!(refusal.next_step.is_some());
    }
}

#[test]
fn nearby_is_ordered_and_says_what_its_metres_are() {
    let answer = rpc(
        json!({"operation": "nonprofits_nearby", "lat": 39.7392, "lon": -104.9903, "radius_meters": 50000}),
    );
    let distances: Vec<f64> =
        rows(&answer).iter().filter_map(|row| row["distance_meters"].as_f64()).collect();
    assert!(!distances.is_empty());
    assert!(distances.windows(2).all(|pair| pair[0] <= pair[1]));
    assert_eq!(answer["total"], rows(&answer).len());
    assert!(answer["warnings"].to_string().contains("ground"), "{}", answer["warnings"]);
    let served: &Value = &answer["served"];
    assert_eq!(served["mode"], "local");
}
