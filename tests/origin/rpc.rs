//! The three spatial functions as the origin serves them: item 33 and the specification's page on spatial operations.

use crate::client::{get, options, request, start};
use benthic_mirror::demo;
use geo::{Contains, Geometry, Point};

fn mercator(longitude: f64, latitude: f64) -> Point<f64> {
    let radius = 6_378_137.0;
    Point::new(radius * longitude.to_radians(), radius * latitude.to_radians().tan().asinh())
}

#[tokio::test]
async fn districts_are_found_by_point() {
    let origin = start(options()).await;
    let districts = demo::relation("up_cdmaps.congressional_districts").unwrap();
    let mut found = 0;
    for latitude in (20..66).step_by(4).map(f64::from) {
        for longitude in (-170..-66).step_by(5).map(|value| f64::from(value) + 0.375) {
            for (congress, argument) in [(118, ""), (117, "&congress=117")] {
                let point = mercator(longitude, latitude);
                let expected: Vec<String> = districts
                    .rows()
                    .filter(|row| row.int("congress_number") == Some(congress))
                    .filter(|row| row.get("geom").as_geometry().is_some_and(|geometry| match &geometry.shape {
                        Geometry::MultiPolygon(shape) => shape.contains(&point),
                        _ => false,
                    }))
                    .map(|row| {
                        format!(
                            "{{\"district_id\":{},\"statename\":{},\"district\":{},\"congress_number\":{congress}}}",
                            demo::json_string(row.text("district_id").unwrap()),
                            demo::json_string(row.text("statename").unwrap()),
                            row.int("district").unwrap()
                        )
                    })
                    .collect();
                assert!(expected.len() <= 1, "districts don't overlap");
                found += expected.len();
                let target =
                    format!("/up_cdmaps/rpc/rpc_find_district?lat={latitude}&lon={longitude}{argument}");
                assert_eq!(get(&origin, &target).await.body, format!("[{}]", expected.concat()), "{target}");
            }
        }
    }
    assert!(found > 100);
    origin.stop().await;
}

#[tokio::test]
async fn a_box_in_norfolk_meets_alaskas() {
    let origin = start(options()).await;
    let norfolk = "min_lon=1.2823954&min_lat=52.6185576&max_lon=1.3023954&max_lat=52.6385576";
    for congress in ["", "&congress=117"] {
        let rows =
            get(&origin, &format!("/up_cdmaps/rpc/rpc_districts_in_bbox?{norfolk}{congress}")).await.json();
        let rows = rows.as_array().unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0]["statename"].as_str(), rows[0]["district"].as_i64()), (Some("Alaska"), Some(0)));
    }
    // Boxes touch boxes, whatever lies inside: the corners of the world meet every district.
    let all =
        get(&origin, "/up_cdmaps/rpc/rpc_districts_in_bbox?min_lon=-180&min_lat=-80&max_lon=180&max_lat=80")
            .await;
    let drawn = demo::relation("up_cdmaps.congressional_districts")
        .unwrap()
        .rows()
        .filter(|row| row.int("congress_number") == Some(118) && !row.get("geom").is_null())
        .count();
    assert_eq!(all.json().as_array().unwrap().len(), drawn);
    origin.stop().await;
}

#[tokio::test]
async fn nonprofits_are_found_by_distance() {
    let origin = start(options()).await;
    let (latitude, longitude) = (42.3601, -71.0589);
    let centre = mercator(longitude, latitude);
    for (radius, argument) in [(10_000.0, ""), (60_000.0, "&radius_meters=60000"), (0.0, "&radius_meters=0")]
    {
        let mut expected: Vec<(f64, &str)> = demo::relation("irs_ng.bmf_organizations")
            .unwrap()
            .rows()
            .filter(|row| row.get("is_current").as_bool() == Some(true))
            .filter_map(|row| match &row.get("geom_point").as_geometry()?.shape {
                Geometry::Point(point) => {
                    let there = mercator(point.x(), point.y());
                    Some(((there.x() - centre.x()).hypot(there.y() - centre.y()), row.text("ein").unwrap()))
                }
                _ => None,
            })
            .filter(|(distance, _)| *distance <= radius)
            .collect();
        expected.sort_by(|left, right| left.partial_cmp(right).unwrap());
        assert!(!expected.is_empty());
        let target = format!("/irs_ng/rpc/rpc_nonprofits_nearby?lat={latitude}&lon={longitude}{argument}");
        let rows = get(&origin, &target).await.json();
        let rows: Vec<(f64, String)> = rows
            .as_array()
            .unwrap()
            .iter()
            .map(|row| {
                (row["distance_meters"].to_string().parse().unwrap(), row["ein"].as_str().unwrap().to_owned())
            })
            .collect();
        assert_eq!(rows.len(), expected.len(), "{target}");
        for ((distance, ein), (expected_distance, expected_ein)) in rows.iter().zip(&expected) {
            assert_eq!(ein, expected_ein);
            assert!((distance - expected_distance).abs() < 1e-6);
        }
    }
    origin.stop().await;
}

#[tokio::test]
async fn results_page_filter_and_count_like_relations() {
    let origin = start(options()).await;
    let everywhere = "/irs_ng/rpc/rpc_nonprofits_nearby?lat=40&lon=-90&radius_meters=9000000";
    let first = request(&origin, "GET", everywhere, &[("prefer", "count=exact")]).await;
    assert_eq!(first.status, 206);
    let total: usize = first.range().strip_prefix("0-999/").unwrap().parse().unwrap();
    assert!(total > 2_000);
    let second = get(&origin, &format!("{everywhere}&offset=1000&limit=5000")).await;
    assert_eq!(second.range(), "1000-1999/*");
    let filtered =
        get(&origin, &format!("{everywhere}&state=eq.VT&select=ein,state&order=ein&limit=2")).await;
    let rows = filtered.json();
    assert_eq!(rows.as_array().unwrap().len(), 2);
    assert!(rows[0]["state"] == "VT" && rows[0].as_object().unwrap().len() == 2);
    for (target, status, code) in [
        ("up_cdmaps/rpc/rpc_find_district?lat=1", 404, "PGRST202"),
        ("up_cdmaps/rpc/rpc_find_district?lat=1&lon=2&zz=3", 404, "PGRST202"),
        ("up_cdmaps/rpc/rpc_nonprofits_nearby?lat=1&lon=2", 404, "PGRST202"),
        ("irs_ng/rpc/rpc_find_district?lat=1&lon=2", 404, "PGRST202"),
        ("up_cdmaps/rpc/unknown", 404, "PGRST202"),
        ("up_cdmaps/rpc/rpc_find_district?lat=x&lon=2", 400, "22P02"),
        ("up_cdmaps/rpc/rpc_find_district?lat=1&lon=2&congress=1.5", 400, "22P02"),
        ("up_cdmaps/rpc/rpc_find_district?lat=in.progress&lon=2", 400, "PGRST100"),
        ("up_cdmaps/rpc/rpc_find_district?lat=eq.1&lon=2", 404, "PGRST202"),
        ("up_cdmaps/rpc/rpc_find_district?lat=1&lon=2&nope=eq.1", 400, "42703"),
        ("irs_ng/rpc/rpc_nonprofits_nearby?lat=1&lon=2&radius_meters=-1", 500, "XX000"),
    ] {
        let reply = get(&origin, &format!("/{target}")).await;
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{target}");
    }
    origin.stop().await;
}
