//! The ranking of discovery over the real relation and column names, against questions with known answers.

use std::path::PathBuf;

use benthic_mirror::catalog::ranking::Index;
use benthic_mirror::catalog::{
    Catalog, Column, ColumnType, Dataset, JoinEnd, JoinPath, JoinType, Relation, Reliability,
};
use serde_json::Value;

/// The signed join paths of the collection these names come from.
const JOINS: &[(&str, &str)] = &[
    ("usaspending.all_entities.uei", "samer.sam_registrations.uei"),
    ("usaspending.all_entities.duns", "irs_ng.bmf_organizations.ein"),
    ("samer.sam_registrations.duns", "irs_ng.bmf_organizations.ein"),
    ("usaspending.all_entities.geom_point", "up_cdmaps.congressional_districts.geom"),
    ("usp_cl.district_offices.geom_point", "up_cdmaps.congressional_districts.geom"),
    ("usaspending.all_entities.congressional_district", "usp_cl.legislator_terms.district"),
    ("usp_cl.legislators.bioguide_id", "usp_cl.legislator_terms.bioguide_id"),
];

/// The titles the collection gives its members.
const TITLES: &[(&str, &str)] = &[
    ("usaspending", "USAspending Federal Awards"),
    ("irs_ng", "IRS Nonprofit Organizations"),
    ("samer", "SAM.gov Entity Registrations"),
    ("up_cdmaps", "Historical Congressional District Boundaries"),
    ("usp_cl", "United States Congress Legislators"),
];

fn read(path: PathBuf) -> Value {
    serde_json::from_slice(
        &std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())),
    )
    .unwrap()
}

fn end(path: &str) -> JoinEnd {
    let parts: Vec<&str> = path.split('.').collect();
    JoinEnd {
        dataset: parts[0].to_owned(),
        relation: parts[1].to_owned(),
        column: parts[2].to_owned(),
        srid: None,
    }
}

fn catalog(schema: &Value) -> Catalog {
    let relation = |dataset: &str, name: &str, declared: &Value| Relation {
        dataset: dataset.to_owned(),
        name: name.to_owned(),
        relation_type: "table".to_owned(),
        provenance: None,
        queryable: true,
        description: None,
        primary_key: Vec::new(),
        row_count_estimate: None,
        columns: declared["columns"]
            .as_array()
            .unwrap()
            .iter()
            .map(|column| Column {
                name: column[0].as_str().unwrap().to_owned(),
                declared_type: column[1].as_str().unwrap().to_owned(),
                native_type: column[2].as_str().map(str::to_owned),
                column_type: ColumnType::from_manifest(column[1].as_str().unwrap(), column[2].as_str(), None),
                nullable: true,
                description: None,
                srid: None,
                unit: None,
            })
            .collect(),
    };
    let datasets = schema["datasets"].as_object().unwrap().iter().map(|(dataset, relations)| Dataset {
        name: dataset.clone(),
        title: TITLES.iter().find(|(name, _)| name == dataset).map(|(_, title)| (*title).to_owned()),
        description: None,
        manifest_hash: String::new(),
        endpoint: None,
        files: Vec::new(),
        relations: relations
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, declared)| relation(dataset, name, declared))
            .collect(),
    });
    Catalog {
        collection: "ngopen".to_owned(),
        collection_hash: String::new(),
        created_at: None,
        datasets: datasets.collect(),
        joins: JOINS
            .iter()
            .map(|(from, to)| JoinPath {
                from: end(from),
                to: end(to),
                join_type: JoinType::Identifier,
                reliability: Reliability::Reliable,
                notes: None,
            })
            .collect(),
        warnings: Vec::new(),
    }
}

/// `BENTHIC_EVAL` is the folder with `discovery-questions.json`; the names are in `catalog/` beside it.
#[test]
fn the_relations_a_question_needs_are_among_the_six_shown() {
    let Some(folder) = std::env::var_os("BENTHIC_EVAL").map(PathBuf::from) else {
        eprintln!("skipped: set BENTHIC_EVAL to the folder with discovery-questions.json");
        return;
    };
    let questions = read(folder.join("discovery-questions.json"));
    let index = Index::build(&catalog(&read(folder.join("../catalog/ngopen-schema.json"))), &[]);
    let (mut needed, mut found) = (0_u32, 0_u32);
    for question in questions["questions"].as_array().unwrap() {
        let text = question["q"].as_str().unwrap();
        let ranking = index.rank(text, 6);
        let shown: Vec<&str> = ranking.matches.iter().map(|matched| matched.source.as_str()).collect();
        let missing: Vec<&str> = question["need"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_str)
            .inspect(|_| needed += 1)
            .filter(|source| !shown.contains(source))
            .collect();
        found += u32::try_from(question["need"].as_array().unwrap().len() - missing.len()).unwrap();
        if !missing.is_empty() {
            eprintln!("{text}\n  missing {missing:?}\n  shown {shown:?}");
        }
    }
    let recall = f64::from(found) / f64::from(needed);
    eprintln!("recall@6 = {found}/{needed} = {recall:.3}");
    assert!(recall >= 0.8, "recall@6 fell to {recall:.3}");
}
