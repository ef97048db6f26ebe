//! Faults other spatial indexes and district look-ups have had, tried on ours.

use benthic_mirror::spatial::boxes::FloatBox;
use benthic_mirror::spatial::districts::CongressMap;
use benthic_mirror::spatial::index_file::BuiltFrom;
use benthic_mirror::spatial::points::planar_distance;
use benthic_mirror::spatial::projection::project;
use benthic_mirror::spatial::{
    DistrictRow, Districts, NonprofitRow, Nonprofits, SpatialArguments, SpatialRequest,
};

use crate::world::*;

const FROM: BuiltFrom = BuiltFrom { row_digest: [1; 32], rows: 10_000 };

/// A nearest-neighbour search once ranked by the query's centroid and misordered results. Ten thousand points with many
/// ties, the nearest few against a plain list, distances and tie order included; built and opened.
#[test]
fn the_nearest_few_of_ten_thousand_are_those_of_a_plain_list() {
    let mut dice = Dice::new(10);
    let rows: Vec<NonprofitRow> = (0..10_000)
        .map(|number| {
            // A third on a coarse grid, for ties; the others anywhere in the country.
            let (lon, lat) = match number % 3 {
                0 => (-95.0 + dice.below(12) as f64 * 0.05, 38.0 + dice.below(12) as f64 * 0.05),
                _ => (dice.between(-124.0, -67.0), dice.between(25.0, 49.0)),
            };
            NonprofitRow {
                ein: Some(format!("{:09}", dice.below(3_000))),
                org_name: Some(number.to_string()),
                ntee: None,
                state: None,
                is_current: Some(true),
                geometry: Some(wkb_of(&geo::Point::new(lon, lat))),
            }
        })
        .collect();
    let places: Vec<_> = rows
        .iter()
        .map(|row| {
            let bytes = row.geometry.as_deref().unwrap();
            let double = |at: usize| f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
            project(double(5), double(13)).unwrap()
        })
        .collect();
    let built = Nonprofits::build(rows.clone()).unwrap();
    let opened = Nonprofits::from_bytes(built.to_bytes(FROM), FROM).unwrap();
    let mut tied = 0;
    for turn in 0..150 {
        let (lon, lat) = match turn % 3 {
            0 => (-94.9 + dice.below(8) as f64 * 0.025, 38.1 + dice.below(8) as f64 * 0.025),
            _ => (dice.between(-120.0, -70.0), dice.between(26.0, 48.0)),
        };
        let center = project(lon, lat).unwrap();
        for radius in [8_000.0, 100_000.0] {
            let mut list: Vec<(u64, &str, usize)> = places
                .iter()
                .enumerate()
                .map(|(at, place)| (planar_distance(center, *place), rows[at].ein.as_deref().unwrap(), at))
                .filter(|(distance, ..)| *distance <= radius)
                .map(|(distance, ein, at)| (distance.to_bits(), ein, at))
                .collect();
            list.sort_unstable();
            tied += list.windows(2).filter(|pair| pair[0].0 == pair[1].0).count();
            for few in [1, 2, 10, 100] {
                for index in [&built, &opened] {
                    let nearby = index.nearby(center, radius, few);
                    assert_eq!(nearby.total, list.len());
                    let found: Vec<(u64, &str, usize)> = nearby
                        .nearest
                        .iter()
                        .map(|hit| {
                            let at = hit.org_name.unwrap().parse().unwrap();
                            (hit.distance_meters.to_bits(), hit.ein.unwrap(), at)
                        })
                        .collect();
                    assert_eq!(found, list[..few.min(list.len())]);
                }
            }
        }
    }
    assert!(tied > 5_000, "only {tied} ties");
}

/// The same for boxes: ten thousand small districts, found by box and by point as a scan finds them.
#[test]
fn ten_thousand_boxes_answer_as_a_scan_does() {
    let mut dice = Dice::new(12);
    let squares: Vec<[f64; 4]> = (0..10_000)
        .map(|_| {
            let (x, y) = (dice.between(-1.3e7, -7e6), dice.between(2.9e6, 6e6));
            let (wide, tall) = (dice.between(1e2, 6e4), dice.between(1e2, 6e4));
            [x, y, x + wide, y + tall]
        })
        .collect();
    let rows: Vec<DistrictRow> = (1i64..)
        .zip(&squares)
        .map(|(id, [x1, y1, x2, y2])| DistrictRow {
            id,
            statename: None,
            district: None,
            district_id: None,
            congress_number: 118,
            geometry: Some(wkb_of(&polygon(&rectangle(*x1, *y1, *x2, *y2), &[]))),
        })
        .collect();
    let built = CongressMap::build(rows).unwrap();
    let opened = CongressMap::from_bytes(built.to_bytes(118, FROM).unwrap(), 118, FROM).unwrap();
    for turn in 0..300 {
        let [x1, y1, x2, y2] = squares[dice.below(squares.len())];
        let query = match turn % 3 {
            0 => [x1, y1, x1, y1],
            1 => [x1 + 1.0, y1 + 1.0, x2 + 3e5, y2 + 2e5],
            _ => [(x1 + x2) / 2.0, (y1 + y2) / 2.0, (x1 + x2) / 2.0, (y1 + y2) / 2.0],
        };
        let bounds = FloatBox::around([at(query[0], query[1]), at(query[2], query[3])]).unwrap();
        let scanned: Vec<i64> = (1i64..)
            .zip(&squares)
            .filter(|(_, [x1, y1, x2, y2])| {
                FloatBox::around([at(*x1, *y1), at(*x2, *y2)]).unwrap().overlaps(&bounds)
            })
            .map(|(id, _)| id)
            .collect();
        let strictly_within: Vec<i64> = (1i64..)
            .zip(&squares)
            .filter(|(_, [x1, y1, x2, y2])| {
                *x1 < query[0] && query[0] < *x2 && *y1 < query[1] && query[1] < *y2
            })
            .map(|(id, _)| id)
            .collect();
        for map in [&built, &opened] {
            let found: Vec<i64> = map.in_box(&bounds).iter().map(|district| district.id).collect();
            assert_eq!(found, scanned);
            let found = map.find(at(query[0], query[1]));
            assert_eq!(found.map(|found| found.district.id), strictly_within.first().copied());
            assert_eq!(found.map_or(0, |found| found.count), strictly_within.len());
        }
    }
    let empty = CongressMap::build(Vec::new()).unwrap();
    let empty = CongressMap::from_bytes(empty.to_bytes(118, FROM).unwrap(), 118, FROM).unwrap();
    assert!(empty.find(at(0.0, 0.0)).is_none() && empty.is_empty());
}

/// At-large states once came back as district 1, and DC and the territories as an empty text.
#[test]
fn at_large_districts_keep_their_number_and_their_identifier() {
    // State, district number, identifier as text, a place within.
    let places = [
        ("Vermont", 0, "5000", -72.58, 44.26),
        ("Wyoming", 0, "5600", -104.82, 41.14),
        ("Alaska", 0, "0200", -149.90, 61.22),
        ("Delaware", 0, "1000", -75.52, 39.16),
        ("North Dakota", 0, "3800", -100.78, 46.81),
        ("South Dakota", 0, "4600", -100.35, 44.37),
        ("District of Columbia", 98, "1198", -77.04, 38.91),
        ("Puerto Rico", 98, "7298", -66.11, 18.47),
    ];
    let rows = (1i64..).zip(&places).map(|(id, (state, number, district_id, lon, lat))| {
        let (low, high) = (project(lon - 0.2, lat - 0.2).unwrap(), project(lon + 0.2, lat + 0.2).unwrap());
        DistrictRow {
            id,
            statename: Some((*state).to_owned()),
            district: Some(*number),
            district_id: Some((*district_id).to_owned()),
            congress_number: 118,
            geometry: Some(wkb_of(&polygon(&rectangle(low.x, low.y, high.x, high.y), &[]))),
        }
    });
    let districts = Districts::build(rows);
    for (state, number, district_id, lon, lat) in places {
        let arguments = SpatialArguments {
            lat: serde_json::Number::from_f64(lat),
            lon: serde_json::Number::from_f64(lon),
            ..SpatialArguments::default()
        };
        let SpatialRequest::FindDistrict(request) =
            SpatialRequest::parse("find_district", &arguments).unwrap()
        else {
            panic!("another operation");
        };
        let answer = request.answer(&districts);
        let row = &answer.rows[0];
        assert_eq!(row["district_id"], district_id, "{state}: the identifier is text, as it is stored");
        assert_eq!((&row["statename"], &row["district"]), (&state.into(), &number.into()));
        assert_eq!(row["congress_number"], 118);
        assert!(
            answer.warnings.iter().any(|warning| warning.contains("congress 118")),
            "{:?}",
            answer.warnings
        );
    }
}
