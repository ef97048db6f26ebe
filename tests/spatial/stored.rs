//! Stored indexes: opened = freshly built = a plain scan; damaged, foreign and hostile files are refused, never believed.

use benthic_mirror::spatial::boxes::FloatBox;
use benthic_mirror::spatial::containment::contains;
use benthic_mirror::spatial::districts::{CongressMap, congresses_from_bytes, congresses_to_bytes};
use benthic_mirror::spatial::index_file::{BuiltFrom, IndexFileError};
use benthic_mirror::spatial::points::planar_distance;
use benthic_mirror::spatial::projection::project;
use benthic_mirror::spatial::{DistrictRow, NonprofitRow, Nonprofits};
use geo::Coord;
use proptest::prelude::*;

use crate::world::*;

const FROM: BuiltFrom = BuiltFrom { row_digest: [3; 32], rows: 77 };
const OTHER: BuiltFrom = BuiltFrom { row_digest: [4; 32], rows: 77 };

fn rows(congress: i64) -> Vec<DistrictRow> {
    let mut rows: Vec<DistrictRow> =
        crate::world::rows(&shapes()).into_iter().filter(|row| row.congress_number == congress).collect();
    // What a real relation also has: no name, no number, no shape, a shape that can't be used.
    let mut odd = rows[0].clone();
    (odd.id, odd.statename, odd.district, odd.district_id) = (9_001, None, None, Some("ä₂".to_owned()));
    rows.push(odd);
    rows.push(DistrictRow { id: 9_002, geometry: None, ..rows[0].clone() });
    rows.push(DistrictRow { id: 9_003, geometry: Some(vec![1, 2, 3]), ..rows[0].clone() });
    rows
}

fn nonprofit_rows(count: usize, seed: u64) -> Vec<NonprofitRow> {
    let mut dice = Dice::new(seed);
    (0..count)
        .map(|number| {
            let (lon, lat) = (-100.0 + dice.below(40) as f64 * 0.004, 40.0 + dice.below(40) as f64 * 0.004);
            NonprofitRow {
                ein: (number % 10 != 0).then(|| format!("{:09}", dice.below(2_000))),
                org_name: (number % 7 != 0).then(|| format!("Gemütliche Gesellschaft № {number}")),
                ntee: (number % 3 != 0).then(|| format!("T{}", number % 30)),
                state: Some("KS".to_owned()),
                is_current: Some(number % 11 != 0),
                geometry: match number % 13 {
                    0 => None,
                    1 => Some(wkb_of(&geo::Point::new(lon, 91.0))),
                    _ => Some(wkb_of(&geo::Point::new(lon, lat))),
                },
            }
        })
        .collect()
}

#[test]
fn an_opened_map_equals_the_built_one_and_the_scan() {
    let shapes = shapes();
    for congress in [116, 117, 118] {
        let built = CongressMap::build(rows(congress)).unwrap();
        let bytes = built.to_bytes(congress, FROM).unwrap();
        assert_eq!(bytes, CongressMap::build(rows(congress)).unwrap().to_bytes(congress, FROM).unwrap());
        let opened = CongressMap::from_bytes(bytes.clone(), congress, FROM).unwrap();
        assert_eq!(
            opened.to_bytes(congress, FROM).unwrap(),
            bytes,
            "opening and storing again changes nothing"
        );
        assert_eq!(opened.unusable(), built.unusable());
        assert_eq!(opened.unusable().len(), 1);
        let rows = rows(congress);
        // Row 9001 has the first one's shape.
        let row_shapes: Vec<(i64, &geo::MultiPolygon<f64>)> = rows
            .iter()
            .filter(|row| row.id < 9_002)
            .map(|row| {
                let shape_id = if row.id == 9_001 { rows[0].id } else { row.id };
                (row.id, &shapes.iter().find(|shape| shape.id == shape_id).unwrap().shape)
            })
            .collect();
        let (mut found_some, mut points) = (0, border_points(&shapes, congress, 7));
        points.extend(random_points(&shapes, congress, 1_500, 4));
        for point in points {
            let expected: Vec<i64> =
                row_shapes.iter().filter(|(_, shape)| contains(shape, point)).map(|(id, _)| *id).collect();
            for map in [&built, &opened] {
                let found = map.find(point);
                assert_eq!(found.map(|found| found.district.id), expected.iter().min().copied(), "{point:?}");
                assert_eq!(found.map_or(0, |found| found.count), expected.len(), "{point:?}");
            }
            found_some += usize::from(!expected.is_empty());
            let bounds = FloatBox::around([point, at(point.x + 2e5, point.y + 1e5)]).unwrap();
            assert_eq!(opened.in_box(&bounds), built.in_box(&bounds));
            assert_eq!(opened.world_spanning_in_box(&bounds), built.world_spanning_in_box(&bounds));
        }
        assert!(found_some > 100, "congress {congress}: {found_some}");
    }
}

#[test]
fn opened_nonprofits_equal_the_built_ones_and_the_scan() {
    for count in [0, 1, 16, 17, 256, 257, 4_000] {
        let rows = nonprofit_rows(count, count as u64);
        let built = Nonprofits::build(rows.clone()).unwrap();
        let bytes = built.to_bytes(FROM);
        assert_eq!(bytes, Nonprofits::build(rows.clone()).unwrap().to_bytes(FROM));
        let opened = Nonprofits::from_bytes(bytes, FROM).unwrap();
        assert_eq!((opened.len(), opened.unusable()), (built.len(), built.unusable()));
        let mut dice = Dice::new(8);
        for _ in 0..60 {
            let center = project(-100.0 + dice.between(-0.02, 0.2), 40.0 + dice.between(-0.02, 0.2)).unwrap();
            let radius = dice.between(0.0, 9e3);
            let mut scanned: Vec<(u64, bool, Option<&str>, usize)> = rows
                .iter()
                .enumerate()
                .filter(|(_, row)| row.is_current == Some(true))
                .filter_map(|(place, row)| Some((place, row, place_of(row)?)))
                .map(|(place, row, at)| (planar_distance(center, at), row, place))
                .filter(|(distance, ..)| *distance <= radius)
                .map(|(distance, row, place)| {
                    (distance.to_bits(), row.ein.is_none(), row.ein.as_deref(), place)
                })
                .collect();
            scanned.sort_unstable();
            for cap in [3, 1_000_000] {
                let nearby = opened.nearby(center, radius, cap);
                assert_eq!(nearby, built.nearby(center, radius, cap));
                assert_eq!(
                    (nearby.total, opened.count_nearby(center, radius)),
                    (scanned.len(), scanned.len())
                );
                assert_eq!(nearby.nearest.len(), cap.min(scanned.len()));
                for (hit, (distance, _, ein, place)) in nearby.nearest.iter().zip(&scanned) {
                    let row = &rows[*place];
                    assert_eq!((hit.distance_meters.to_bits(), hit.ein), (*distance, *ein));
                    assert_eq!(
                        (hit.org_name, hit.ntee, hit.state),
                        (row.org_name.as_deref(), row.ntee.as_deref(), row.state.as_deref())
                    );
                }
            }
        }
    }
}

fn place_of(row: &NonprofitRow) -> Option<Coord<f64>> {
    let bytes = row.geometry.as_deref()?;
    let coordinate = |at: usize| f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    project(coordinate(5), coordinate(13))
}

#[test]
fn an_index_of_other_rows_is_refused() {
    let map = CongressMap::build(rows(117)).unwrap().to_bytes(117, FROM).unwrap();
    assert!(matches!(
        CongressMap::from_bytes(map.clone(), 117, OTHER),
        Err(IndexFileError::OtherRows { .. })
    ));
    assert!(matches!(CongressMap::from_bytes(map.clone(), 118, FROM), Err(IndexFileError::Format(_))));
    assert!(matches!(Nonprofits::from_bytes(map, FROM), Err(IndexFileError::Format(_))));
    let points = Nonprofits::build(nonprofit_rows(50, 1)).unwrap().to_bytes(FROM);
    assert!(matches!(Nonprofits::from_bytes(points, OTHER), Err(IndexFileError::OtherRows { .. })));
    let list = congresses_to_bytes(&[1, 117, 118], FROM);
    assert_eq!(congresses_from_bytes(list.clone(), FROM).unwrap(), [1, 117, 118]);
    assert!(congresses_from_bytes(list, OTHER).is_err());
    assert!(congresses_from_bytes(congresses_to_bytes(&[118, 117], FROM), FROM).is_err());
}

/// Puts new bytes into an index file and repairs every checksum, as someone who means harm would.
fn forged(mut file: Vec<u8>, section: usize, change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let entry = 128 + section * 24;
    let number = |file: &[u8], at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap()) as usize;
    let (offset, length) = (number(&file, entry + 8), number(&file, entry + 16));
    change(&mut file[offset..offset + length]);
    let sections = u32::from_le_bytes(file[72..76].try_into().unwrap()) as usize;
    let sum = crc32fast::hash(&file[offset..offset + length]).to_le_bytes();
    file[entry + 4..entry + 8].copy_from_slice(&sum);
    let table = crc32fast::hash(&file[128..128 + sections * 24]).to_le_bytes();
    file[76..80].copy_from_slice(&table);
    let header = crc32fast::hash(&file[..80]).to_le_bytes();
    file[80..84].copy_from_slice(&header);
    file
}

#[test]
fn forging_without_a_change_is_still_believed() {
    // Otherwise the next test would prove nothing: every forgery would fail at a checksum.
    let map = CongressMap::build(rows(117)).unwrap().to_bytes(117, FROM).unwrap();
    assert_eq!(forged(map.clone(), 3, |_| ()), map);
    // A changed name is then believed too: nothing in the file can tell.
    let renamed = forged(map, 5, |names| names.make_ascii_uppercase());
    let opened = CongressMap::from_bytes(renamed, 117, FROM).unwrap();
    assert!(opened.shapes().any(|shape| shape.district.statename.as_deref() == Some("WEST RECTANGLE")));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn forged_files_never_panic(
        section in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        point in (-3e6f64..3e6, -3e6f64..3e6),
    ) {
        let change = |bytes: &mut [u8]| {
            for (at, value) in &changes {
                if !bytes.is_empty() {
                    bytes[at.index(bytes.len())] = *value;
                }
            }
        };
        let map = CongressMap::build(rows(117)).unwrap().to_bytes(117, FROM).unwrap();
        let sections = u32::from_le_bytes(map[72..76].try_into().unwrap()) as usize;
        if let Ok(map) = CongressMap::from_bytes(forged(map, section.index(sections), change), 117, FROM) {
            let point = at(point.0, point.1);
            let _ = map.find(point);
            let _ = map.in_box(&FloatBox::around([point]).unwrap());
            let _ = map.shapes().map(|shape| shape.rings().flatten().count()).sum::<usize>();
        }
        let points = Nonprofits::build(nonprofit_rows(300, 2)).unwrap().to_bytes(FROM);
        let sections = u32::from_le_bytes(points[72..76].try_into().unwrap()) as usize;
        if let Ok(points) = Nonprofits::from_bytes(forged(points, section.index(sections), change), FROM) {
            let center = project(-99.95, 40.05).unwrap();
            let _ = points.nearby(center, 1e5, 10);
            let _ = points.nearby(center, 1e5, 100_000);
            let _ = points.count_nearby(at(point.0, point.1), 1e9);
        }
    }

    #[test]
    fn cut_and_flipped_files_are_refused(cut in any::<prop::sample::Index>(), bit in 0u8..8) {
        let points = Nonprofits::build(nonprofit_rows(300, 2)).unwrap().to_bytes(FROM);
        let at = cut.index(points.len());
        prop_assert!(Nonprofits::from_bytes(points[..at].to_vec(), FROM).is_err());
        let mut flipped = points.clone();
        flipped[at] ^= 1 << bit;
        // Only gaps between sections may differ without notice, and then the answers are the same.
        if let Ok(opened) = Nonprofits::from_bytes(flipped, FROM) {
            prop_assert_eq!(opened.to_bytes(FROM), points);
        }
    }
}
