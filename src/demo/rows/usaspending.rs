//! Spending: recipients, awards, and the summaries an agency publishes.

use std::collections::BTreeMap;

use super::super::places::STATES;
use super::super::random::Chooser;
use super::super::relation::DemoRelation;
use super::super::value::{Decimal, DemoValue};
use super::build::{RowWriter, int, text};
use super::districts::DistrictMap;
use super::entities::{Entity, digits};
use super::irs_ng::Nonprofit;
use super::samer::naics_code;

/// Amounts that no double holds.
const EXACT: &[&str] = &[
    "373109113199123456.78",
    "12345678901234567890123.4567890123",
    "-98765432109876543210.01",
    "0.000000000000000000001",
    "9007199254740993",
];

/// Invented agencies: toptier code, name, abbreviation.
const AGENCIES: &[(&str, &str, &str)] = &[
    ("003", "Bureau of Lanterns", "BOL"),
    ("012", "Department of Orchards", "DOO"),
    ("014", "Office of Inland Tides", "OIT"),
    ("020", "Exchequer of Small Coin", "ESC"),
    ("024", "Personnel Almanac Office", "PAO"),
    ("028", "Pension Loom Administration", "PLA"),
    ("036", "Department of Old Soldiers' Gardens", "DOSG"),
    ("047", "General Tool Library", "GTL"),
    ("049", "Fund for Curious Questions", "FCQ"),
    ("068", "Agency for Clear Rivers", "ACR"),
    ("070", "Department of Gates and Bridges", "DGB"),
    ("072", "Bureau of Distant Wells", "BDW"),
    ("073", "Administration of Workshops", "AOW"),
    ("075", "Department of Apothecaries", "DOA"),
    ("080", "Kite and Comet Administration", "KCA"),
    ("086", "Department of Roofs", "DOR"),
    ("089", "Department of Sparks", "DOS"),
    ("091", "Department of Slates", "DSL"),
    ("097", "Department of Ramparts", "RAMP"),
    ("1601", "Department of Guilds", "DOG"),
];

/// The fiscal years awards are spread over.
const YEARS: std::ops::RangeInclusive<i64> = 2017..=2025;

/// Cents, mostly modest, now and then very large.
fn cents(chooser: &mut Chooser) -> i128 {
    match chooser.below(20) {
        0 => -i128::from(chooser.between(1, 500_000_000)),
        1 => 0,
        2 => i128::from(chooser.between(100_000_000_000, 90_000_000_000_000)),
        _ => i128::from(chooser.between(1, 8_000_000_000)),
    }
}

pub(super) fn all_entities(
    shape: DemoRelation,
    seed: u64,
    entities: &[Entity],
    nonprofits: &[Nonprofit],
) -> DemoRelation {
    let mut chooser = Chooser::new(seed, "all_entities");
    let mut writer = RowWriter::new(shape);
    for (index, entity) in entities.iter().enumerate() {
        let location = &entity.location;
        let first = chooser.between(13_900, 19_500) as i32;
        let geocoded = chooser.chance(85);
        writer.push([
            ("entity_id", int(1_000_001 + 7 * index as i64)),
            ("entity_type", text(chooser.pick(&["R", "P", "C"]))),
            ("recipient_hash", DemoValue::Uuid(entity.hash)),
            ("legal_business_name", text(&*entity.name)),
            ("duns", text(&*entity.duns)),
            ("uei", text(&*entity.uei)),
            ("parent_uei", text(&*entities[chooser.index(entities.len())].uei)),
            ("address_line_1", text(&*entity.street)),
            ("address_line_2", text(if chooser.chance(30) { " Suite 4 " } else { "" })),
            ("city", text(location.city.name.to_uppercase())),
            ("state", text(location.city.state)),
            ("zip5", text(&*entity.zip5)),
            ("zip4", text(digits(&mut chooser, 4))),
            ("country_code", text("USA")),
            ("congressional_district", text(&*entity.district)),
            ("latitude", location.latitude_numeric()),
            ("longitude", location.longitude_numeric()),
            ("geom_point", if geocoded { location.point() } else { DemoValue::Null }),
            ("is_geocoded", geocoded.into()),
            ("geohash_6", text(location.geohash(6))),
            ("award_count", int(chooser.between(0, 4_000))),
            ("total_obligation", Decimal::scaled(cents(&mut chooser), 2).into()),
            ("date_first_award", DemoValue::Date(first)),
            ("date_last_award", DemoValue::Date(first + chooser.between(0, 900) as i32)),
            ("prime_subaward_count", int(chooser.between(0, 60))),
            ("prime_subaward_amount", Decimal::scaled(cents(&mut chooser), 2).into()),
            ("subaward_received_count", int(chooser.between(0, 30))),
            ("subaward_received_amount", Decimal::scaled(cents(&mut chooser) * 10, 3).into()),
        ]);
        if let Some(exact) = EXACT.get(index / 100).filter(|_| index % 100 == 42) {
            writer.set("total_obligation", Decimal::from_text(exact).into());
        }
        if index % 200 == 17 {
            writer.set("award_count", int(9_007_199_254_740_993 + index as i64));
        }
        // A number that happens to be some organisation's tax number: what a heuristic join finds.
        if index % 180 == 23 {
            writer.set("duns", text(&*nonprofits[index % nonprofits.len()].ein));
        }
    }
    writer.finish(&mut chooser, 25, &["entity_id", "uei", "duns", "state", "congressional_district"])
}

pub(super) fn state_data(shape: DemoRelation, seed: u64) -> DemoRelation {
    let mut chooser = Chooser::new(seed, "state_data");
    let mut writer = RowWriter::new(shape);
    for state in STATES {
        let (population, income) = (chooser.between(570_000, 39_000_000), chooser.between(42_000, 90_000));
        for year in 2016..=2023 {
            let kind = match state.code {
                "DC" => "district",
                "PR" => "territory",
                _ => "state",
            };
            writer.push([
                ("id", text(format!("{}-{year}", state.fips))),
                ("fips", text(state.fips)),
                ("code", text(state.code)),
                ("name", text(state.name)),
                ("type", text(kind)),
                ("year", int(year)),
                ("population", int(population + (year - 2016) * population / 120)),
                ("pop_source", text(format!("Invented estimate {year}, \"demo\""))),
                (
                    "median_household_income",
                    Decimal::scaled(i128::from(income + (year - 2016) * 900) * 10 + 5, 1).into(),
                ),
                ("mhi_source", text("Invented, see notes")),
            ]);
        }
    }
    writer.finish(&mut chooser, 30, &[])
}

pub(super) fn overall_totals(shape: DemoRelation, seed: u64) -> DemoRelation {
    let mut chooser = Chooser::new(seed, "overall_totals");
    let mut writer = RowWriter::new(shape);
    for id in 1..=40 {
        let created = 1_500_000_000_000_000 + chooser.between(0, 200_000_000) * 1_000_001;
        writer.push([
            ("id", int(id)),
            ("create_date", DemoValue::TimestampTz(created)),
            ("update_date", DemoValue::TimestampTz(created + chooser.between(0, 86_400) * 1_000_000)),
            ("fiscal_year", int(2006 + id / 2)),
            (
                "total_budget_authority",
                Decimal::scaled(i128::from(chooser.between(3, 9)) * 10_i128.pow(14) + cents(&mut chooser), 2)
                    .into(),
            ),
        ]);
        if let Some(exact) = EXACT.get(id as usize / 7).filter(|_| id % 7 == 3) {
            writer.set("total_budget_authority", Decimal::from_text(exact).into());
        }
    }
    writer.finish(&mut chooser, 15, &["total_budget_authority"])
}

pub(super) fn reporting_agency_overview(shape: DemoRelation, seed: u64) -> DemoRelation {
    let mut chooser = Chooser::new(seed, "reporting_agency_overview");
    let mut writer = RowWriter::new(shape);
    let mut id = 0;
    for (code, ..) in AGENCIES {
        for fiscal_year in 2019..=2024 {
            for fiscal_period in 2..=12 {
                id += 1;
                writer.push([
                    ("reporting_agency_overview_id", int(id * 11 % 65_537)),
                    ("toptier_code", text(*code)),
                    ("fiscal_year", int(fiscal_year)),
                    ("fiscal_period", int(fiscal_period)),
                    ("total_dollars_obligated_gtas", Decimal::scaled(cents(&mut chooser), 2).into()),
                    ("total_budgetary_resources", Decimal::scaled(cents(&mut chooser) * 40, 2).into()),
                    (
                        "total_diff_approp_ocpa_obligated_amounts",
                        Decimal::scaled(cents(&mut chooser), 2).into(),
                    ),
                    ("unlinked_procurement_c_awards", int(chooser.between(0, 500))),
                    ("unlinked_assistance_c_awards", int(chooser.between(0, 500))),
                    ("unlinked_procurement_d_awards", int(chooser.between(0, 500))),
                    ("unlinked_assistance_d_awards", int(chooser.between(0, 500))),
                    ("linked_procurement_awards", int(chooser.between(0, 9_000))),
                    ("linked_assistance_awards", int(chooser.between(0, 9_000))),
                ]);
            }
        }
    }
    writer.finish(&mut chooser, 12, &[])
}

pub(super) fn toptier_agencies(shape: DemoRelation, seed: u64) -> DemoRelation {
    let mut chooser = Chooser::new(seed, "toptier agencies");
    let mut writer = RowWriter::new(shape);
    for (index, (code, name, abbreviation)) in AGENCIES.iter().enumerate() {
        writer.push([
            ("toptier_code", text(*code)),
            ("name", text(*name)),
            ("abbreviation", text(*abbreviation)),
            ("toptier_agency_id", int(100 + index as i64)),
            ("agency_id", int(1_000 + 3 * index as i64)),
            ("user_selectable", chooser.chance(80).into()),
        ]);
    }
    writer.finish(&mut chooser, 10, &["toptier_code", "name"])
}

pub(super) fn award_search(
    shape: DemoRelation,
    seed: u64,
    entities: &[Entity],
    map: &DistrictMap,
) -> DemoRelation {
    let mut chooser = Chooser::new(seed, "award_search");
    let mut writer = RowWriter::new(shape);
    let districts: Vec<(&str, String)> =
        map.of(118).map(|district| (district.state.code, format!("{:02}", district.number))).collect();
    // One award at least for each district and year, so that the summary has no gaps; then others anywhere.
    let covering = YEARS.flat_map(|year| (0..districts.len()).map(move |district| (year, district)));
    let mut plan: Vec<(i64, usize)> = covering.collect();
    plan.extend(
        (0..1_300).map(|_| (chooser.between(*YEARS.start(), *YEARS.end()), chooser.index(districts.len()))),
    );
    for (index, (year, district)) in plan.into_iter().enumerate() {
        let entity = &entities[chooser.index(entities.len())];
        let (state, district) = &districts[district];
        let (pop_state, pop_district) = &districts[chooser.index(districts.len())];
        let (kind, description, category) = [
            ("A", "BPA CALL", "contract"),
            ("C", "DELIVERY ORDER", "contract"),
            ("04", "PROJECT GRANT (B)", "grant"),
            ("06", "DIRECT PAYMENT FOR SPECIFIED USE", "direct payment"),
            ("07", "DIRECT LOAN (E)", "loans"),
        ][chooser.index(5)];
        let obligated = cents(&mut chooser);
        let id = 70_000_000_000 + index as i64 * 13;
        // Placed in space but not in a district: outside the summary.
        let unplaced = index % 90 == 89 && index >= YEARS.count() * districts.len();
        let placed = |value: &str| if unplaced { DemoValue::Null } else { text(value) };
        let day = 17_075 + ((year - 2017) * 365) as i32 + chooser.between(0, 364) as i32;
        writer.push([
            ("award_id", int(id)),
            ("generated_unique_award_id", text(format!("DEMO_{category}_{id}_{}", digits(&mut chooser, 4)))),
            (
                "display_award_id",
                text(format!("{}-{}", chooser.code("ABCDEFGH", 4), digits(&mut chooser, 6))),
            ),
            ("category", text(category)),
            ("type", text(kind)),
            ("type_description", text(description)),
            ("fiscal_year", int(year)),
            ("action_date", DemoValue::Date(day)),
            ("award_amount", Decimal::scaled(obligated + i128::from(chooser.between(0, 100_000)), 2).into()),
            ("total_obligation", Decimal::scaled(obligated, 2).into()),
            ("total_outlays", Decimal::scaled(obligated / 3, 2).into()),
            ("recipient_hash", DemoValue::Uuid(entity.hash)),
            ("recipient_name", text(&*entity.name)),
            ("recipient_uei", text(&*entity.uei)),
            ("recipient_location_state_code", placed(state)),
            ("recipient_location_congressional_code", placed(district)),
            ("pop_state_code", text(*pop_state)),
            ("pop_congressional_code", text(&**pop_district)),
            ("awarding_toptier_agency_code", text(AGENCIES[chooser.index(AGENCIES.len())].0)),
            ("naics_code", text(naics_code(&mut chooser))),
            ("business_categories", categories(&mut chooser)),
            ("is_fpds", (category == "contract").into()),
            (
                "update_date",
                DemoValue::TimestampTz(i64::from(day) * 86_400_000_000 + chooser.between(0, 86_399_999_999)),
            ),
        ]);
        // Unknown amounts: a sum over nothing but these is null, not zero.
        if index % 150 == 7 {
            writer.set("total_obligation", DemoValue::Null);
        }
        // The largest the declared type holds: 21 digits before the point, two after.
        if index == 500 {
            writer.set("award_amount", Decimal::from_text("999999999999999999999.99").into());
        }
    }
    let kept = [
        "fiscal_year",
        "recipient_location_state_code",
        "recipient_location_congressional_code",
        "total_obligation",
    ];
    writer.finish(&mut chooser, 30, &kept)
}

fn categories(chooser: &mut Chooser) -> DemoValue {
    const CATEGORIES: &[&str] =
        &["nonprofit", "small_business", "higher_education", "veteran owned, small", "say \"other\"", ""];
    let count = chooser.index(4);
    let mut values: Vec<DemoValue> = (0..count).map(|_| text(chooser.pick(CATEGORIES))).collect();
    if chooser.chance(3) {
        values.push(DemoValue::Null);
    }
    DemoValue::Array(values)
}

/// The exact sums of the awards: an aggregate over one must equal a row of the other.
pub(super) fn district_spending(
    shape: DemoRelation,
    seed: u64,
    awards: Option<&DemoRelation>,
) -> DemoRelation {
    let mut chooser = Chooser::new(seed, "mv_district_spending");
    let mut writer = RowWriter::new(shape);
    let mut sums: BTreeMap<(&str, &str, i64), (i64, Option<i128>)> = BTreeMap::new();
    for award in awards.into_iter().flat_map(DemoRelation::rows) {
        let key = (
            award.text("recipient_location_state_code"),
            award.text("recipient_location_congressional_code"),
            award.int("fiscal_year"),
        );
        if let (Some(state), Some(district), Some(year)) = key {
            let entry = sums.entry((state, district, year)).or_default();
            entry.0 += 1;
            if let Some(cents) = award.get("total_obligation").as_numeric().and_then(|amount| amount.units(2))
            {
                entry.1 = Some(entry.1.unwrap_or(0) + cents);
            }
        }
    }
    for ((state, district, fiscal_year), (count, cents)) in sums {
        writer.push([
            ("state", text(state)),
            ("district", text(district)),
            ("fiscal_year", int(fiscal_year)),
            ("award_count", int(count)),
            ("total", cents.map(|cents| Decimal::scaled(cents, 2)).into()),
        ]);
    }
    writer.finish(&mut chooser, 40, &["total"])
}

pub(super) fn uei_crosswalk(shape: DemoRelation, seed: u64, entities: &[Entity]) -> DemoRelation {
    let mut chooser = Chooser::new(seed, "uei_crosswalk");
    let mut writer = RowWriter::new(shape);
    for (index, entity) in entities.iter().enumerate().filter(|(index, _)| index % 4 != 3).take(900) {
        writer.push([
            ("id", int(10 + 2 * index as i64)),
            ("awardee_or_recipient_uniqu", text(&*entity.duns)),
            ("uei", text(&*entity.uei)),
        ]);
    }
    writer.finish(&mut chooser, 50, &[])
}

pub(super) fn submission_attributes(shape: DemoRelation, seed: u64) -> DemoRelation {
    let mut chooser = Chooser::new(seed, "submission_attributes");
    let mut writer = RowWriter::new(shape);
    for id in 0..300_i64 {
        let (code, name, _) = AGENCIES[chooser.index(AGENCIES.len())];
        let quarter = 1 + id % 4;
        let start = 18_170 + (id / 4 % 20) as i32 * 91;
        let certified =
            i64::from(start) * 86_400_000_000 + 45 * 86_400_000_000 + chooser.between(0, 9_999_999_999);
        let history = match id % 5 {
            0 => "[]".to_owned(),
            // As jsonb prints it: shorter keys first, then by bytes; numbers keep their digits.
            _ => format!(
                "[{{\"at\": \"2024-0{quarter}-15\", \"by\": \"demo, \\\"clerk\\\" {}\", \"amount\": {}.50, \"certified\": {}}}]",
                id % 7,
                chooser.between(1, 99_999_999_999_999_999),
                id % 2 == 0
            ),
        };
        writer.push([
            ("submission_id", int(20_000 + id)),
            ("certified_date", DemoValue::TimestampTz(certified)),
            ("toptier_code", text(code)),
            ("reporting_period_start", DemoValue::Date(start)),
            ("reporting_period_end", DemoValue::Date(start + 90)),
            ("reporting_fiscal_year", int(2019 + id / 80)),
            ("reporting_fiscal_quarter", int(quarter)),
            ("reporting_fiscal_period", int(quarter * 3)),
            ("quarter_format_flag", (id % 3 == 0).into()),
            ("create_date", DemoValue::TimestampTz(certified - 3_600_000_000)),
            ("update_date", DemoValue::TimestampTz(certified + 120_000)),
            ("reporting_agency_name", text(name)),
            ("published_date", DemoValue::TimestampTz(certified + 1)),
            ("is_final_balances_for_fy", (quarter == 4).into()),
            ("submission_window_id", int(1 + id / 12)),
            ("history", DemoValue::Json(history)),
        ]);
    }
    writer.finish(&mut chooser, 20, &[])
}
