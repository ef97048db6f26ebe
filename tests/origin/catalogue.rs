//! The generator gives the same bytes for ever, the committed files are those bytes, and the documents verify.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use benthic_mirror::bdp::{Limits, TrustedKeys, VerifyError, verify_collection, verify_set};
use benthic_mirror::catalog::{Catalog, ColumnType};
use benthic_mirror::demo::{self, DemoValue};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/demo")
}

/// `UPDATE_DEMO=1` rewrites the committed files instead of comparing them.
#[test]
#[allow(clippy::disallowed_methods, reason = "a test may read and write the project's own files")]
fn committed_files_are_what_the_generator_makes() {
    let files = demo::catalogue_files().unwrap();
    if std::env::var_os("UPDATE_DEMO").is_some() {
        for (path, bytes) in &files {
            let target = directory().join(path);
            std::fs::create_dir_all(target.parent().unwrap()).unwrap();
            std::fs::write(target, bytes).unwrap();
        }
    }
    for (path, bytes) in &files {
        let committed = std::fs::read(directory().join(path)).unwrap();
        assert!(
            committed == *bytes,
            "data/demo/{path} differs from the generator; run with UPDATE_DEMO=1 if meant"
        );
    }
    let mut committed = BTreeSet::new();
    let mut open = vec![directory()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                committed
                    .insert(path.strip_prefix(directory()).unwrap().to_string_lossy().replace('\\', "/"));
            }
        }
    }
    assert_eq!(committed, files.keys().cloned().collect(), "a file of data/demo that nobody generates");
}

/// Measured on its own by hand: `cargo test --test origin generation_time -- --ignored --nocapture`.
#[test]
#[ignore]
fn generation_time() {
    let start = std::time::Instant::now();
    let data = demo::data();
    println!("rows {:?}", start.elapsed());
    let files = demo::catalogue_files().unwrap();
    println!("documents {:?} {} {}", start.elapsed(), files.len(), data.relations.len());
}

/// That equal seeds give equal bytes in another process and on another day is what the committed files prove.
#[test]
fn equal_seeds_give_equal_rows_and_other_seeds_others() {
    assert!(demo::generate(demo::SEED).unwrap().data == *demo::data());
    let other = demo::generate(demo::SEED + 1).unwrap();
    let digests = String::from_utf8(other.documents["rows.sha256"].clone()).unwrap();
    let committed = String::from_utf8(demo::catalogue_files().unwrap()["rows.sha256"].clone()).unwrap();
    for (line, held) in digests.lines().zip(committed.lines()) {
        assert_ne!(line.split(' ').next(), held.split(' ').next(), "{line}");
    }
}

fn verified() -> Catalog {
    let keys = TrustedKeys::from_base64([demo::PUBLIC_KEY]).unwrap();
    let limits = Limits::default();
    let documents = demo::documents();
    let collection = verify_collection(&documents["demo/collection.json"], &keys, &limits).unwrap();
    let manifests: BTreeMap<String, Vec<u8>> = documents
        .iter()
        .filter_map(|(path, bytes)| {
            let dataset = path.strip_prefix("demo/")?.strip_suffix("/manifest.json")?;
            Some((dataset.to_owned(), bytes.clone()))
        })
        .collect();
    let manifests = verify_set(&collection, &manifests, &keys, &limits).unwrap();
    Catalog::from_verified(&collection, &manifests).unwrap()
}

#[test]
fn documents_verify_under_the_demo_key_only() {
    let catalog = verified();
    assert_eq!(catalog.collection, demo::COLLECTION);
    assert!(catalog.warnings.is_empty(), "{:?}", catalog.warnings);
    let documents = demo::documents();
    let error = verify_collection(
        &documents["demo/collection.json"],
        &TrustedKeys::publisher_default(),
        &Limits::default(),
    )
    .unwrap_err();
    assert!(matches!(error, VerifyError::UntrustedKey { .. }), "{error:?}");
}

#[test]
fn manifests_declare_the_relations_behind_them() {
    let catalog = verified();
    let declared: Vec<String> = catalog.relations().map(|relation| relation.source()).collect();
    let held: Vec<String> = demo::data().relations.iter().map(|relation| relation.source()).collect();
    assert_eq!(declared, held);
    for relation in catalog.relations() {
        let rows = demo::relation(&relation.source()).unwrap();
        assert_eq!(relation.primary_key, rows.primary_key, "{}", relation.source());
        assert_eq!(relation.queryable, rows.queryable);
        assert_eq!(relation.row_count_estimate, rows.row_count_estimate);
        for (declared, held) in relation.columns.iter().zip(&rows.columns) {
            assert_eq!(
                (&declared.name, declared.nullable, declared.srid),
                (&held.name, held.nullable, held.srid)
            );
            // The origin serves by the type alone; only the bare geometry type learns its reference from the column.
            if held.native_type != "geometry" {
                assert_eq!(declared.column_type, held.column_type, "{}.{}", relation.source(), held.name);
            }
        }
    }
}

#[test]
fn every_relation_and_type_the_tests_need_is_there() {
    let count = |source: &str| demo::relation(source).unwrap().rows.len();
    assert_eq!(count("usaspending.all_entities"), 2_600);
    assert_eq!(count("irs_ng.bmf_organizations"), 3_500);
    assert_eq!(count("samer.sam_registrations"), 1_500);
    for source in [
        "usaspending.reporting_agency_overview",
        "usaspending.mv_district_spending",
        "irs_ng.v_org_multi_year",
    ] {
        assert!(count(source) > 1_000, "{source} must need more than one page");
    }
    let keyless = demo::data().relations.iter().filter(|relation| relation.primary_key.is_empty()).count();
    assert!(keyless >= 7);
    assert_eq!(demo::relation("usaspending.mv_district_spending").unwrap().primary_key.len(), 3);
    let hidden: Vec<_> = demo::data().relations.iter().filter(|r| !r.queryable).map(|r| r.source()).collect();
    assert_eq!(hidden, ["irs_ng.form990_xml_import_log"]);
    let types: BTreeSet<String> = demo::data()
        .relations
        .iter()
        .flat_map(|relation| &relation.columns)
        .map(|column| column.column_type.label())
        .collect();
    for label in [
        "text",
        "character(2)",
        "character(1)",
        "integer",
        "bigint",
        "numeric",
        "numeric(23,2)",
        "numeric(24,15)",
        "double precision",
        "boolean",
        "date",
        "timestamp",
        "timestamp with time zone",
        "uuid",
        "jsonb",
        "integer[]",
        "text[]",
        "geometry (SRID 3857)",
        "geometry (SRID 4326)",
    ] {
        assert!(types.contains(label), "{label} is missing from {types:?}");
    }
}

#[test]
fn nulls_are_where_the_declaration_allows_them_and_nowhere_else() {
    // Columns a signed path or a key depends on, and those whose relation is always complete in them, have none.
    let whole = [
        "entity_id",
        "uei",
        "duns",
        "state",
        "congressional_district",
        "total_budget_authority",
        "toptier_code",
        "name",
        "ein",
        "org_name_current",
        "tax_period",
        "tax_year",
        "bioguide_id",
        "statename",
        "district",
        "district_id",
        "fiscal_year",
        "official_full",
        "first_term_start",
        "last_term_end",
        "congress_start",
        "term_start",
        "term_end",
        "term_type",
        "thomas_id",
        "committee_type",
    ];
    for relation in &demo::data().relations {
        for (index, column) in relation.columns.iter().enumerate() {
            let nulls = relation.rows.iter().filter(|row| row[index].is_null()).count();
            let place = format!("{}.{}", relation.source(), column.name);
            if !column.nullable {
                assert_eq!(nulls, 0, "{place}");
            } else if !whole.contains(&column.name.as_str()) {
                assert!(nulls > 0, "{place} is nullable and never null");
            }
            let fits = relation.rows.iter().all(|row| fits(&row[index], &column.column_type));
            assert!(fits, "{place} holds a value of another type");
        }
    }
}

fn fits(value: &DemoValue, column_type: &ColumnType) -> bool {
    match (value, column_type) {
        (DemoValue::Null, _) => true,
        (DemoValue::Int(value), ColumnType::Integer) => i32::try_from(*value).is_ok(),
        (DemoValue::Numeric(value), ColumnType::Numeric { declared: Some((precision, scale)) }) => {
            let digits = value.to_string().chars().filter(char::is_ascii_digit).count();
            value.scale() == usize::try_from(*scale).unwrap() && digits <= usize::from(*precision) + 1
        }
        (DemoValue::Text(text), ColumnType::Character { length }) => {
            text.chars().count() <= length.unwrap() as usize && !text.ends_with(' ')
        }
        (DemoValue::Array(items), ColumnType::Array(element)) => items.iter().all(|item| fits(item, element)),
        (DemoValue::Int(_), ColumnType::BigInt)
        | (DemoValue::Numeric(_), ColumnType::Numeric { .. })
        | (DemoValue::Double(_), ColumnType::Double)
        | (DemoValue::Bool(_), ColumnType::Boolean)
        | (DemoValue::Text(_), ColumnType::Text)
        | (DemoValue::Date(_), ColumnType::Date)
        | (DemoValue::Timestamp(_), ColumnType::Timestamp)
        | (DemoValue::TimestampTz(_), ColumnType::TimestampTz)
        | (DemoValue::Uuid(_), ColumnType::Uuid)
        | (DemoValue::Json(_), ColumnType::Jsonb)
        | (DemoValue::Geometry(_), ColumnType::Geometry { .. }) => true,
        _ => false,
    }
}

#[test]
fn keys_are_unique() {
    for relation in &demo::data().relations {
        // The recipients' relation declares none, yet one column would serve.
        let key: Vec<&str> = match relation.source().as_str() {
            "usaspending.all_entities" => vec!["entity_id"],
            _ => relation.primary_key.iter().map(String::as_str).collect(),
        };
        if key.is_empty() {
            continue;
        }
        let keys: BTreeSet<String> = relation
            .rows()
            .map(|row| format!("{:?}", key.iter().map(|column| row.get(column)).collect::<Vec<_>>()))
            .collect();
        assert_eq!(keys.len(), relation.rows.len(), "{}", relation.source());
    }
}

#[test]
fn values_that_break_careless_code_are_there() {
    let shown: String = demo::data()
        .relations
        .iter()
        .flat_map(|relation| relation.rows.iter().map(|row| relation.row_json(row)))
        .collect();
    for needle in [
        "373109113199123456.78",
        "12345678901234567890123.4567890123",
        "-98765432109876543210.01",
        "0.000000000000000000001",
        "9007199254740993",
        "999999999999999999999.99",
        "9223372036854775797",
        "\"district\":\"00\"",
        "\"district\":\"98\"",
        "\"03\"",
        "\"state\":\"  \"",
        "\" leading blank\"",
        "\"trailing blank \"",
        "\\\"Quoted\\\"",
        "星图合作社",
        "\\n",
        "[]",
        "with, comma",
    ] {
        assert!(shown.contains(needle), "{needle}");
    }
    let eins = demo::relation("irs_ng.bmf_organizations").unwrap();
    assert!(eins.rows().any(|row| row.text("ein").unwrap().starts_with("00")));
    assert!(eins.rows().all(|row| row.text("ein").unwrap().len() == 9));
}

#[test]
fn summary_equals_the_exact_sum_of_its_awards() {
    let awards = demo::relation("usaspending.rpt.award_search").unwrap();
    for summary in demo::relation("usaspending.mv_district_spending").unwrap().rows() {
        let matching = awards.rows().filter(|award| {
            award.text("recipient_location_state_code") == summary.text("state")
                && award.text("recipient_location_congressional_code") == summary.text("district")
                && award.int("fiscal_year") == summary.int("fiscal_year")
        });
        let sum: Option<i128> = matching
            .filter_map(|award| {
                award.get("total_obligation").as_numeric().map(|amount| amount.units(2).unwrap())
            })
            .reduce(|left, right| left + right);
        assert_eq!(summary.get("total").as_numeric().map(|total| total.units(2).unwrap()), sum);
    }
}
