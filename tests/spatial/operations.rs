//! Arguments, refusals, rows, counts and warnings of the three operations.

use benthic_mirror::spatial::operation::{CongressArgument, OPERATIONS};
use benthic_mirror::spatial::points::planar_distance;
use benthic_mirror::spatial::{
    DistrictRow, Districts, NonprofitRow, Nonprofits, SpatialArguments, SpatialRefusal, SpatialRequest,
};
use serde_json::{Number, Value, json};

use crate::world::*;

/// Arguments from a JSON object, as a caller's arrive.
fn arguments(given: Value) -> SpatialArguments {
    let number = |name: &str| -> Option<Number> {
        given.get(name).map(|value| value.as_number().expect("arguments are numbers").clone())
    };
    SpatialArguments {
        lat: number("lat"),
        lon: number("lon"),
        congress: number("congress"),
        min_lat: number("min_lat"),
        max_lat: number("max_lat"),
        min_lon: number("min_lon"),
        max_lon: number("max_lon"),
        radius_meters: number("radius_meters"),
    }
}

fn parse(operation: &str, given: Value) -> Result<SpatialRequest, Box<SpatialRefusal>> {
    SpatialRequest::parse(operation, &arguments(given))
}

fn refused(operation: &str, given: Value) -> SpatialRefusal {
    *parse(operation, given.clone()).expect_err(&given.to_string())
}

#[test]
fn arguments_become_a_request_with_the_upstream_defaults() {
    let SpatialRequest::FindDistrict(request) =
        parse("find_district", json!({"lat": 39.74, "lon": -104.99})).unwrap()
    else {
        panic!()
    };
    assert_eq!((request.lat, request.lon), (39.74, -104.99));
    assert_eq!(request.congress, CongressArgument { number: 118, given: false });
    let SpatialRequest::NonprofitsNearby(request) =
        parse("nonprofits_nearby", json!({"lat": 90, "lon": -180})).unwrap()
    else {
        panic!()
    };
    assert_eq!(request.radius_meters, 10_000);
    // Limits are inclusive, and a whole number may be written as one.
    for radius in [json!(1), json!(100_000), json!(5.0), json!(1e3)] {
        parse("nonprofits_nearby", json!({"lat": 0, "lon": 0, "radius_meters": radius})).unwrap();
    }
    let at_the_limits =
        json!({"min_lat": -90, "max_lat": 90, "min_lon": -180, "max_lon": 180, "congress": 1000});
    let request = parse("districts_in_bbox", at_the_limits).unwrap();
    assert_eq!(request.source(), "up_cdmaps.congressional_districts");
    assert!(request.warnings().is_empty());
    let point_box = json!({"min_lat": 5, "max_lat": 5, "min_lon": 6, "max_lon": 6});
    parse("districts_in_bbox", point_box).unwrap();
}

#[test]
fn unknown_operations_are_refused_with_the_three_names() {
    for (given, nearest) in [
        ("rpc_find_district", "find_district"),
        ("district_in_bbox", "districts_in_bbox"),
        ("nearby", "nonprofits_nearby"),
        ("", ""),
        (&"x".repeat(10_000), ""),
    ] {
        let refusal = refused(given, json!({}));
        assert_eq!((refusal.code, refusal.argument.as_str()), ("bad_argument", "operation"));
        for name in OPERATIONS {
            assert!(refusal.message.contains(name));
        }
        assert!(refusal.next_step.contains(nearest), "{}", refusal.next_step);
        assert!(refusal.message.len() < 300);
        assert_eq!(refusal.facts["operations"], json!(OPERATIONS));
    }
}

#[test]
fn every_bad_argument_is_named_with_its_range() {
    let point = |extra: &str, value: Value| {
        let mut given = json!({"lat": 1, "lon": 2});
        given[extra] = value;
        given
    };
    let bbox = |extra: &str, value: Value| {
        let mut given = json!({"min_lat": 1, "max_lat": 2, "min_lon": 3, "max_lon": 4});
        given[extra] = value;
        given
    };
    let huge: Value = serde_json::from_str(&"9".repeat(4_000)).unwrap();
    let beyond: Value = serde_json::from_str("1e400").unwrap();
    let cases = [
        ("find_district", json!({}), "lat", "needs lat"),
        ("find_district", json!({"lat": 1}), "lon", "needs lon"),
        ("find_district", point("lat", json!(90.000001)), "lat", "-90 to 90"),
        ("find_district", point("lat", json!(-91)), "lat", "-90 to 90"),
        ("find_district", point("lat", beyond.clone()), "lat", "-90 to 90"),
        ("find_district", point("lon", json!(180.5)), "lon", "-180 to 180"),
        ("find_district", point("lon", huge), "lon", "-180 to 180"),
        ("find_district", point("congress", json!(0)), "congress", "1 to 1000"),
        ("find_district", point("congress", json!(1001)), "congress", "1 to 1000"),
        ("find_district", point("congress", json!(118.5)), "congress", "whole number"),
        ("find_district", point("congress", beyond), "congress", "1 to 1000"),
        ("find_district", point("radius_meters", json!(5)), "radius_meters", "nonprofits_nearby"),
        ("find_district", point("min_lat", json!(5)), "min_lat", "districts_in_bbox"),
        ("districts_in_bbox", bbox("lat", json!(5)), "lat", "find_district and nonprofits_nearby"),
        ("districts_in_bbox", bbox("min_lat", json!(2.5)), "min_lat", "larger than max_lat"),
        ("districts_in_bbox", bbox("max_lon", json!(-4)), "min_lon", "larger than max_lon"),
        ("districts_in_bbox", bbox("max_lat", json!(91)), "max_lat", "-90 to 90"),
        ("districts_in_bbox", json!({"min_lat": 1, "max_lat": 2, "max_lon": 3}), "min_lon", "needs min_lon"),
        ("nonprofits_nearby", point("radius_meters", json!(0)), "radius_meters", "1 to 100000"),
        ("nonprofits_nearby", point("radius_meters", json!(100_001)), "radius_meters", "1 to 100000"),
        ("nonprofits_nearby", point("radius_meters", json!(-1)), "radius_meters", "1 to 100000"),
        ("nonprofits_nearby", point("radius_meters", json!(0.5)), "radius_meters", "whole number"),
        ("nonprofits_nearby", point("congress", json!(118)), "congress", "takes no congress"),
    ];
    for (operation, given, argument, says) in cases {
        let refusal = refused(operation, given.clone());
        assert_eq!((refusal.code, refusal.argument.as_str()), ("bad_rpc_arguments", argument), "{given}");
        assert!(refusal.message.contains(argument) && refusal.message.contains(says), "{}", refusal.message);
        assert!(refusal.message.len() < 300 && !refusal.next_step.is_empty());
        assert_eq!(refusal.facts["operation"], operation);
        assert_eq!(refusal.facts["argument"], argument);
    }
}

fn find(districts: &Districts, given: Value) -> benthic_mirror::spatial::SpatialAnswer {
    match parse("find_district", given).unwrap() {
        SpatialRequest::FindDistrict(request) => request.answer(districts),
        other => panic!("{other:?}"),
    }
}

fn in_bbox(districts: &Districts, given: Value, max_rows: usize) -> benthic_mirror::spatial::SpatialAnswer {
    match parse("districts_in_bbox", given).unwrap() {
        SpatialRequest::DistrictsInBbox(request) => request.answer(districts, max_rows),
        other => panic!("{other:?}"),
    }
}

fn district(
    id: i64,
    congress: i64,
    state: &str,
    number: i64,
    code: &str,
    shape: &geo::Polygon<f64>,
) -> DistrictRow {
    DistrictRow {
        id,
        statename: Some(state.to_owned()),
        district: Some(number),
        district_id: Some(code.to_owned()),
        congress_number: congress,
        geometry: Some(wkb_of(&multi(vec![shape.clone()]))),
    }
}

/// A rectangle given in degrees.
fn block(west: f64, south: f64, east: f64, north: f64) -> geo::Polygon<f64> {
    let low = benthic_mirror::spatial::projection::project(west, south).unwrap();
    let high = benthic_mirror::spatial::projection::project(east, north).unwrap();
    polygon(&rectangle(low.x, low.y, high.x, high.y), &[])
}

fn some_districts() -> Districts {
    let arctic = multi(vec![block(-180.0, 51.0, -130.0, 71.0), block(172.0, 51.0, 180.0, 55.0)]);
    Districts::build([
        district(30, 118, "Vermont", 0, "5000", &block(-73.4, 42.7, -71.5, 45.0)),
        district(12, 118, "District of Columbia", 98, "1198", &block(-77.12, 38.8, -76.9, 39.0)),
        district(20, 118, "Colorado", 1, "0801", &block(-105.1, 39.6, -104.6, 39.9)),
        district(21, 118, "Colorado", 6, "0806", &block(-104.9, 39.5, -104.3, 39.8)),
        DistrictRow {
            id: 7,
            statename: Some("Alaska".to_owned()),
            district: Some(0),
            district_id: Some("0200".to_owned()),
            congress_number: 118,
            geometry: Some(wkb_of(&arctic)),
        },
        district(90, 117, "Colorado", 1, "0801", &block(-105.1, 39.6, -104.6, 39.9)),
    ])
}

#[test]
fn find_district_has_exactly_the_upstream_fields() {
    let districts = some_districts();
    let answer = find(&districts, json!({"lat": 44.0, "lon": -72.5}));
    assert_eq!(
        serde_json::to_string(&answer.rows).unwrap(),
        r#"[{"district_id":"5000","statename":"Vermont","district":0,"congress_number":118}]"#
    );
    assert_eq!((answer.row_count, answer.total, answer.truncated), (1, 1, false));
    assert_eq!(answer.warnings, ["No congress was given: the map of congress 118 was used."]);
    assert_eq!(
        (answer.metadata.operation, answer.metadata.dataset, answer.metadata.function_name),
        ("find_district", "up_cdmaps", "rpc_find_district")
    );
    // A state's only district is number 0 and keeps its text identifier; so does a delegate's.
    let capital = find(&districts, json!({"lat": 38.9, "lon": -77.0, "congress": 118}));
    assert_eq!((&capital.rows[0]["district_id"], &capital.rows[0]["district"]), (&json!("1198"), &json!(98)));
    assert!(capital.warnings.is_empty());
}

#[test]
fn find_district_says_why_there_is_none_and_which_of_several() {
    let districts = some_districts();
    let overlap = find(&districts, json!({"lat": 39.7, "lon": -104.7, "congress": 118}));
    assert_eq!(overlap.rows[0]["district_id"], "0801");
    assert!(overlap.warnings[0].contains("2 districts of congress 118 overlap"), "{:?}", overlap.warnings);
    let sea = find(&districts, json!({"lat": 0, "lon": 0, "congress": 118}));
    assert_eq!((sea.rows.len(), sea.total), (0, 0));
    assert!(sea.warnings[0].contains("No district of congress 118 contains this point"));
    let other = find(&districts, json!({"lat": 39.7, "lon": -104.7, "congress": 5}));
    assert!(other.rows.is_empty());
    assert!(other.warnings[0].contains("it has congresses: 117, 118"), "{:?}", other.warnings);
    let none = find(&Districts::build([]), json!({"lat": 39.7, "lon": -104.7, "congress": 5}));
    assert!(none.warnings[0].contains("congresses: none"));
    for (lat, lon) in [(90, 0), (-90, 0), (90, 180), (0, -180)] {
        assert!(find(&districts, json!({"lat": lat, "lon": lon, "congress": 118})).rows.is_empty());
    }
}

#[test]
fn bbox_compares_boxes_orders_by_id_and_notes_the_antimeridian() {
    let districts = some_districts();
    // Norfolk, England: Alaska's box reaches round the world.
    let norfolk =
        json!({"min_lon": 1.2823954, "min_lat": 52.6185576, "max_lon": 1.3023954, "max_lat": 52.6385576});
    let answer = in_bbox(&districts, norfolk, 1_000);
    assert_eq!(
        serde_json::to_string(&answer.rows).unwrap(),
        r#"[{"id":7,"statename":"Alaska","district":0,"district_id":"0200"}]"#
    );
    assert!(answer.warnings.iter().any(|warning| warning.contains("congress 118 was used")));
    let spans =
        answer.warnings.iter().filter(|warning| warning.contains("more than 180°")).collect::<Vec<_>>();
    assert!(spans.len() == 1 && spans[0].contains("Alaska, district 0 (id 7)"), "{spans:?}");

    let everywhere = json!({"min_lat": -90, "max_lat": 90, "min_lon": -180, "max_lon": 180, "congress": 118});
    let ids = |answer: &benthic_mirror::spatial::SpatialAnswer| -> Vec<i64> {
        answer.rows.iter().map(|row| row["id"].as_i64().unwrap()).collect()
    };
    let all = in_bbox(&districts, everywhere.clone(), 1_000);
    assert_eq!((ids(&all), all.total, all.truncated), (vec![7, 12, 20, 21, 30], 5, false));
    let exactly = in_bbox(&districts, everywhere.clone(), 5);
    assert_eq!((exactly.row_count, exactly.truncated), (5, false));
    let capped = in_bbox(&districts, everywhere, 2);
    assert_eq!((ids(&capped), capped.row_count, capped.total, capped.truncated), (vec![7, 12], 2, 5, true));

    let nowhere = json!({"min_lat": -10, "max_lat": -9, "min_lon": 0, "max_lon": 1, "congress": 118});
    let none = in_bbox(&districts, nowhere, 1_000);
    assert!(none.rows.is_empty() && none.warnings.is_empty());
}

fn nonprofit(ein: &str, lon: f64, lat: f64) -> NonprofitRow {
    NonprofitRow {
        ein: Some(ein.to_owned()),
        org_name: Some(format!("Friends of {ein}")),
        ntee: None,
        state: Some("CO".to_owned()),
        is_current: Some(true),
        geometry: Some(wkb_of(&geo::Point::new(lon, lat))),
    }
}

#[test]
fn nearby_orders_caps_and_counts_and_says_what_its_metres_are() {
    let nonprofits = Nonprofits::build([
        nonprofit("000000003", -104.99, 39.75),
        nonprofit("000000002", -104.99, 39.74),
        nonprofit("000000001", -104.99, 39.74),
        nonprofit("000000009", -80.0, 39.74),
    ])
    .unwrap();
    let ask = |given: Value, max_rows: usize| match parse("nonprofits_nearby", given).unwrap() {
        SpatialRequest::NonprofitsNearby(request) => request.answer(&nonprofits, max_rows),
        other => panic!("{other:?}"),
    };
    let answer = ask(json!({"lat": 39.74, "lon": -104.99}), 1_000);
    let eins: Vec<&str> = answer.rows.iter().map(|row| row["ein"].as_str().unwrap()).collect();
    assert_eq!(eins, ["000000001", "000000002", "000000003"]);
    assert_eq!(
        serde_json::to_string(&answer.rows[0]).unwrap(),
        r#"{"ein":"000000001","org_name":"Friends of 000000001","ntee":null,"state":"CO","distance_meters":0.0}"#
    );
    // 0.01° of latitude is 1,113 m on the ground's sphere and 1/cos φ times that on the plane.
    let distance = answer.rows[2]["distance_meters"].as_f64().unwrap();
    assert!((distance - 1_113.19 * 1.3004).abs() < 1.0, "{distance}");
    assert_eq!((answer.total, answer.truncated), (3, false));
    assert!(answer.warnings[0].contains("1.30 times the distance on the ground"), "{:?}", answer.warnings);
    assert!(answer.warnings[0].contains("7690 m"), "{:?}", answer.warnings);
    assert_eq!(
        (answer.metadata.operation, answer.metadata.dataset, answer.metadata.function_name),
        ("nonprofits_nearby", "irs_ng", "rpc_nonprofits_nearby")
    );
    let capped = ask(json!({"lat": 39.74, "lon": -104.99}), 2);
    assert_eq!((capped.row_count, capped.total, capped.truncated), (2, 3, true));
    let pole = ask(json!({"lat": 90, "lon": 0}), 2);
    assert!(pole.rows.is_empty() && pole.warnings[0].contains("at a pole"));
}

#[test]
fn unusable_geometry_is_said_in_the_answer() {
    let mut rows = vec![nonprofit("1", 0.0, 0.0)];
    rows.extend(
        (2..9).map(|ein| NonprofitRow { geometry: Some(vec![9]), ..nonprofit(&ein.to_string(), 0.0, 0.0) }),
    );
    let nonprofits = Nonprofits::build(rows).unwrap();
    let SpatialRequest::NonprofitsNearby(request) =
        parse("nonprofits_nearby", json!({"lat": 0, "lon": 0})).unwrap()
    else {
        panic!()
    };
    let answer = request.answer(&nonprofits, 10);
    assert_eq!(answer.total, 1);
    let warning = &answer.warnings[1];
    assert!(
        warning.contains("7 rows of irs_ng.bmf_organizations") && warning.contains("byte order 9"),
        "{warning}"
    );
    assert!(warning.contains("2 (") && !warning.contains("8 ("), "{warning}");

    let mut broken = district(1, 118, "Nowhere", 1, "0001", &block(0.0, 0.0, 1.0, 1.0));
    broken.geometry = Some(vec![1]);
    let answer = find(&Districts::build([broken]), json!({"lat": 0.5, "lon": 0.5, "congress": 118}));
    assert!(
        answer.warnings.iter().any(|warning| warning.contains("may be incomplete")),
        "{:?}",
        answer.warnings
    );
}

#[test]
fn distance_is_the_plain_square_root() {
    // Pairs for which the carefully rounded hypotenuse is another double.
    let mut dice = Dice::new(77);
    let mut differs = 0;
    for _ in 0..1_000 {
        let (x, y) = (dice.between(0.0, 1e5), dice.between(0.0, 1e5));
        let plain = planar_distance(at(0.0, 0.0), at(x, y));
        assert_eq!(plain.to_bits(), (x * x + y * y).sqrt().to_bits());
        differs += usize::from(plain != x.hypot(y));
    }
    assert!(differs > 50, "{differs}");
}

#[test]
fn questions_may_be_asked_from_many_threads() {
    let districts = some_districts();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for congress in [117, 118] {
                    let answer = find(&districts, json!({"lat": 39.7, "lon": -105.0, "congress": congress}));
                    assert_eq!(answer.rows[0]["congress_number"], congress);
                }
            });
        }
    });
}
