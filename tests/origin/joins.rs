//! Each of the seven signed join paths finds rows, and the reliable ones find what they promise.

use std::collections::{BTreeMap, BTreeSet};

use benthic_mirror::demo::{self, DemoRelation};

fn relation(source: &str) -> &'static DemoRelation {
    demo::relation(source).unwrap()
}

/// The distinct texts of a column.
fn texts(source: &str, column: &str) -> BTreeSet<&'static str> {
    relation(source).rows().filter_map(|row| row.text(column)).collect()
}

#[test]
fn signed_paths_are_the_seven_of_the_real_collection() {
    let collection: serde_json::Value =
        serde_json::from_slice(&demo::documents()["demo/collection.json"]).unwrap();
    let paths: Vec<String> = collection["join_paths"]
        .as_array()
        .unwrap()
        .iter()
        .map(|path| {
            let end = |side: &str| {
                let member = |name: &str| path[side][name].as_str().unwrap().to_owned();
                format!("{}.{}.{}", member("dataset_name"), member("relation"), member("column"))
            };
            format!(
                "{} {} {} {}",
                end("from"),
                end("to"),
                path["join_type"].as_str().unwrap(),
                path["reliability"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        paths,
        [
            "usaspending.all_entities.uei samer.sam_registrations.uei identifier reliable",
            "usaspending.all_entities.duns irs_ng.bmf_organizations.ein heuristic heuristic",
            "samer.sam_registrations.duns irs_ng.bmf_organizations.ein heuristic heuristic",
            "usaspending.all_entities.geom_point up_cdmaps.congressional_districts.geom spatial reliable",
            "usp_cl.district_offices.geom_point up_cdmaps.congressional_districts.geom spatial partial",
            "usaspending.all_entities.congressional_district usp_cl.legislator_terms.district identifier partial",
            "usp_cl.legislators.bioguide_id usp_cl.legislator_terms.bioguide_id identifier reliable",
        ]
    );
}

#[test]
fn every_term_resolves_to_a_legislator() {
    let people = texts("usp_cl.legislators", "bioguide_id");
    let terms = relation("usp_cl.legislator_terms");
    assert!(terms.rows.len() > 1_000);
    assert!(terms.rows().all(|term| people.contains(term.text("bioguide_id").unwrap())));
    let serving = texts("usp_cl.legislator_terms", "bioguide_id");
    assert_eq!(serving, people, "nobody is listed without a term");
    for source in ["usp_cl.committee_membership", "usp_cl.district_offices", "usp_cl.mv_current_lawmakers"] {
        assert!(texts(source, "bioguide_id").is_subset(&people), "{source}");
    }
}

#[test]
fn a_good_share_of_the_recipients_is_registered() {
    let registered = texts("samer.sam_registrations", "uei");
    let entities = relation("usaspending.all_entities");
    let found = entities.rows().filter(|entity| registered.contains(entity.text("uei").unwrap())).count();
    let share = found as f64 / entities.rows.len() as f64;
    assert!((0.4..0.8).contains(&share), "{share}");
    assert!(
        registered.len() < relation("samer.sam_registrations").rows.len(),
        "some recipients have two registrations"
    );
}

#[test]
fn the_heuristics_find_a_few() {
    let eins = texts("irs_ng.bmf_organizations", "ein");
    for source in ["usaspending.all_entities", "samer.sam_registrations"] {
        let hits =
            relation(source).rows().filter(|row| eins.contains(row.text("duns").unwrap_or(""))).count();
        assert!((5..60).contains(&hits), "{source}: {hits}");
    }
}

#[test]
fn district_numbers_match_once_the_state_is_given() {
    let mut seats: BTreeMap<(&str, i64), usize> = BTreeMap::new();
    for term in relation("usp_cl.legislator_terms").rows() {
        if let Some(district) = term.int("district") {
            *seats.entry((term.text("state").unwrap(), district)).or_default() += 1;
        }
    }
    let entities = relation("usaspending.all_entities");
    let matched = entities
        .rows()
        .filter(|entity| {
            let number: i64 = entity.text("congressional_district").unwrap().parse().unwrap();
            seats.contains_key(&(entity.text("state").unwrap(), number))
        })
        .count();
    let share = matched as f64 / entities.rows.len() as f64;
    assert!((0.85..1.0).contains(&share), "{share}: 90 and 98 match no seat");
}
