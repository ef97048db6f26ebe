//! Nonprofits and their returns.

use super::super::names;
use super::super::places::CITIES;
use super::super::random::Chooser;
use super::super::relation::DemoRelation;
use super::super::value::{Decimal, DemoValue};
use super::build::{RowWriter, int, text};
use super::entities::{Location, digits, zip5};

/// Organisations; some have an older record as well.
const COUNT: usize = 3_000;
/// Older records, no longer current.
const OLDER: usize = 500;

/// An invented nonprofit.
pub(super) struct Nonprofit {
    /// Nine digits, often with leading zeros.
    pub(super) ein: String,
    name: String,
    ntee: String,
    location: Location,
}

/// Invents the organisations. Some share one spot, so that distances tie.
pub(super) fn invent(seed: u64) -> Vec<Nonprofit> {
    let mut chooser = Chooser::new(seed, "nonprofits");
    let mut numbers = std::collections::BTreeSet::new();
    (0..COUNT)
        .map(|index| {
            let ein = loop {
                let zeros = "0".repeat(index % 3);
                let candidate = format!("{zeros}{}", digits(&mut chooser, 9 - zeros.len()));
                if numbers.insert(candidate.clone()) {
                    break candidate;
                }
            };
            let name = if index % 60 == 5 {
                names::AWKWARD[index / 60 % names::AWKWARD.len()].to_owned()
            } else {
                names::organisation(&mut chooser)
            };
            let ntee = format!("{}{}", chooser.code("ABCDEPSX", 1), digits(&mut chooser, 2));
            let location = match index % 10 {
                0 => Location::near(&CITIES[index / 10 % CITIES.len()], &mut chooser, 0),
                _ => Location::choose(&mut chooser, 900),
            };
            Nonprofit { ein, name, ntee, location }
        })
        .collect()
}

pub(super) fn bmf_organizations(shape: DemoRelation, seed: u64, nonprofits: &[Nonprofit]) -> DemoRelation {
    let mut chooser = Chooser::new(seed, "bmf_organizations");
    let mut writer = RowWriter::new(shape);
    for index in 0..nonprofits.len() + OLDER {
        let older = index >= nonprofits.len();
        let nonprofit =
            &nonprofits[if older { (index - nonprofits.len()) * 5 % nonprofits.len() } else { index }];
        let Nonprofit { ein, name, ntee, location } = nonprofit;
        let city = location.city;
        let zip = zip5(city, &mut chooser);
        let street = names::street(&mut chooser);
        let founded = chooser.between(1900, 2015);
        let revenue = chooser.between(-50_000, 90_000_000);
        writer.push([
            ("id", int(1 + index as i64)),
            ("ein", text(&**ein)),
            ("ein2", text(format!("EIN-{}-{}", &ein[..2], &ein[2..]))),
            ("ntee_irs", text(&**ntee)),
            ("ntee_nccs", text(&**ntee)),
            ("nteev2", text(format!("{}-{}-RG", chooser.pick(&["ART", "EDU", "ENV", "HEL", "HMS"]), ntee))),
            ("nccs_level_1", text("501CX-NONPROFIT-PUBLIC-CHARITY")),
            ("nccs_level_2", text(chooser.pick(&["S", "O"]))),
            ("nccs_level_3", text(chooser.pick(&["PC", "PF"]))),
            ("f990_total_revenue_recent", int(revenue)),
            ("f990_total_income_recent", int(revenue + chooser.between(0, 2_000_000))),
            ("f990_total_assets_recent", int(chooser.between(0, 400_000_000))),
            ("f990_org_addr_city", text(city.name.to_uppercase())),
            ("f990_org_addr_state", text(city.state)),
            ("f990_org_addr_zip", text(&*zip)),
            ("f990_org_addr_street", text(&*street)),
            ("census_cbsa_fips", text(digits(&mut chooser, 5))),
            ("census_cbsa_name", text(format!("{}, {}", city.name, city.state))),
            ("census_block_fips", text(digits(&mut chooser, 15))),
            ("census_urban_area", text(city.name)),
            ("census_state_abbr", text(city.state)),
            ("census_county_name", text(format!("{} County", names::word(&mut chooser)))),
            ("org_addr_full", text(format!("{street}, {}, {}, {zip}", city.name, city.state))),
            ("org_addr_match", text(street.to_uppercase())),
            ("latitude", location.latitude_numeric()),
            ("longitude", location.longitude_numeric()),
            ("geocoder_score", Decimal::scaled(chooser.between(6_000, 10_000).into(), 2).into()),
            ("geocoder_match", text("M")),
            (
                "geocode_date",
                DemoValue::TimestampTz(1_740_000_000_000_000 + chooser.between(0, 9_000_000) * 1_000_100),
            ),
            ("geocoding_source", text("demo")),
            ("bmf_subsection_code", text(chooser.pick(&["03", "04", "06", "19"]))),
            ("bmf_status_code", text("01")),
            ("bmf_pf_filing_req_code", text("0")),
            ("bmf_organization_code", text(chooser.pick(&["1", "2", "5"]))),
            ("bmf_income_code", text(digits(&mut chooser, 1))),
            ("bmf_group_exempt_num", text(digits(&mut chooser, 4))),
            ("bmf_foundation_code", text(chooser.pick(&["10", "15", "16"]))),
            ("bmf_filing_req_code", text(chooser.pick(&["01", "02"]))),
            ("bmf_deductibility_code", text(chooser.pick(&["1", "2"]))),
            ("bmf_classification_code", text(digits(&mut chooser, 4))),
            ("bmf_asset_code", text(digits(&mut chooser, 1))),
            ("bmf_affiliation_code", text(chooser.pick(&["3", "9"]))),
            ("org_ruling_date", text(format!("{founded}{:02}", chooser.between(1, 12)))),
            ("org_fiscal_year", text("2024")),
            ("org_ruling_year", text(founded.to_string())),
            ("org_year_first", text((founded + 1).to_string())),
            ("org_year_last", text(if older { "2021" } else { "2024" })),
            ("org_year_count", int(chooser.between(1, 40))),
            ("org_pers_ico", text(format!("% {} {}", names::given(&mut chooser), names::word(&mut chooser)))),
            ("org_name_sec", text("")),
            ("org_name_current", text(&**name)),
            ("org_fiscal_period", text(format!("{:02}", chooser.between(1, 12)))),
            ("source_file", text(if older { "demo_bmf_2021.csv" } else { "demo_bmf_2024.csv" })),
            ("imported_at", DemoValue::Timestamp(1_753_000_000_000_000 + index as i64 * 250_000)),
            ("is_current", DemoValue::Bool(!older)),
            ("geom_point", if chooser.chance(15) { DemoValue::Null } else { location.point() }),
        ]);
        // Beyond what a double holds exactly, so that a sum shows whether it was exact.
        if index % 500 == 3 {
            writer.set("f990_total_assets_recent", int(9_007_199_254_740_993 + 2 * index as i64));
        }
    }
    writer.finish(&mut chooser, 30, &["ein", "org_name_current"])
}

pub(super) fn form990_details(shape: DemoRelation, seed: u64, nonprofits: &[Nonprofit]) -> DemoRelation {
    let mut chooser = Chooser::new(seed, "form990_details");
    let mut writer = RowWriter::new(shape);
    let mut id = 0;
    for (index, nonprofit) in nonprofits.iter().enumerate().filter(|(index, _)| index % 3 != 1) {
        for year in 2024 - (index as i64 % 2)..=2024 {
            id += 1;
            let contributions = chooser.between(0, 40_000_000);
            let program = chooser.between(0, 20_000_000);
            let expenses = chooser.between(1_000, 50_000_000);
            let (assets, liabilities) = (chooser.between(0, 300_000_000), chooser.between(0, 100_000_000));
            writer.push([
                ("id", int(id * 3)),
                ("ein", text(&*nonprofit.ein)),
                ("tax_period", text(format!("{year}12"))),
                ("form_type", text(chooser.pick(&["990", "990EZ", "990PF"]))),
                (
                    "filing_date",
                    DemoValue::Date(19_858 + ((year - 2024) * 365) as i32 + chooser.between(0, 300) as i32),
                ),
                ("total_revenue", int(contributions + program)),
                ("contributions_received", int(contributions)),
                ("program_service_revenue", int(program)),
                ("total_expenses", int(expenses)),
                ("grants_paid", int(expenses / chooser.between(2, 9))),
                ("total_assets", int(assets)),
                ("total_liabilities", int(liabilities)),
                ("net_assets", int(assets - liabilities)),
                ("source_file", text(format!("demo_returns_{year}.zip"))),
                ("xml_path", text(format!("{year}/{}_public.xml", digits(&mut chooser, 18)))),
                ("imported_at", DemoValue::Timestamp(1_753_500_000_000_000 + id * 777_777)),
                ("has_disregarded_entity", chooser.chance(5).into()),
                ("has_related_entity", chooser.chance(20).into()),
                ("has_related_org_control", chooser.chance(10).into()),
                ("has_transfer_to_noncharitable", chooser.chance(2).into()),
                ("has_partnership_activity", chooser.chance(3).into()),
            ]);
        }
    }
    writer.finish(&mut chooser, 20, &["tax_period"])
}

/// The view over the returns: what they say, and a margin worked out exactly.
pub(super) fn org_multi_year(shape: DemoRelation, seed: u64, returns: Option<&DemoRelation>) -> DemoRelation {
    let mut chooser = Chooser::new(seed, "v_org_multi_year");
    let mut writer = RowWriter::new(shape);
    for row in returns.into_iter().flat_map(DemoRelation::rows) {
        let (revenue, expenses) = (row.int("total_revenue"), row.int("total_expenses"));
        let income = revenue.zip(expenses).map(|(revenue, expenses)| revenue - expenses);
        let margin = income.zip(revenue).filter(|(_, revenue)| *revenue != 0).map(|(income, revenue)| {
            Decimal::scaled(i128::from(income) * 1_000_000 / i128::from(revenue), 4)
        });
        writer.push([
            ("ein", row.get("ein").clone()),
            ("tax_year", row.text("tax_period").and_then(|period| period[..4].parse::<i64>().ok()).into()),
            ("total_revenue", revenue.into()),
            ("total_expenses", expenses.into()),
            ("total_assets", row.get("total_assets").clone()),
            ("net_income", income.into()),
            ("margin_pct", margin.into()),
            ("contributions", row.get("contributions_received").clone()),
            ("grants_paid", row.get("grants_paid").clone()),
            ("compensation_officers", int(chooser.between(0, 900_000))),
        ]);
    }
    writer.finish(&mut chooser, 60, &["ein", "tax_year", "net_income", "margin_pct"])
}

pub(super) fn import_log(shape: DemoRelation, seed: u64) -> DemoRelation {
    let mut chooser = Chooser::new(seed, "form990_xml_import_log");
    let mut writer = RowWriter::new(shape);
    for id in 1..=24 {
        let count = chooser.between(100, 90_000);
        let started = 1_753_400_000_000_000 + id * 3_600_000_000;
        writer.push([
            ("id", int(id)),
            ("zip_filename", text(format!("demo_returns_{:02}.zip", id))),
            ("xml_count", int(count)),
            ("records_imported", int(count - chooser.between(0, 50))),
            ("records_990", int(count / 2)),
            ("records_990t", int(count / 20)),
            ("schedule_o_count", int(count / 3)),
            ("import_started_at", DemoValue::Timestamp(started)),
            ("import_completed_at", DemoValue::Timestamp(started + chooser.between(1, 3_000_000) * 1_000)),
            ("import_status", text(chooser.pick(&["completed", "failed"]))),
            ("notes", text("")),
        ]);
    }
    writer.finish(&mut chooser, 8, &[])
}
