//! Registrations: a good share of the recipients, some of them with an older, superseded registration as well.

use super::super::names;
use super::super::random::Chooser;
use super::super::relation::DemoRelation;
use super::super::value::DemoValue;
use super::build::{RowWriter, int, text};
use super::entities::{Entity, digits};
use super::irs_ng::Nonprofit;

/// Whether a recipient is registered: three in five.
fn is_registered(index: usize) -> bool {
    index % 5 < 3
}

/// How many registrations there are.
const COUNT: usize = 1_500;

pub(super) fn sam_registrations(
    shape: DemoRelation,
    seed: u64,
    entities: &[Entity],
    nonprofits: &[Nonprofit],
) -> DemoRelation {
    let mut chooser = Chooser::new(seed, "sam_registrations");
    let mut writer = RowWriter::new(shape);
    let registered: Vec<&Entity> = entities
        .iter()
        .enumerate()
        .filter(|(index, _)| is_registered(*index))
        .map(|(_, entity)| entity)
        .collect();
    for index in 0..COUNT {
        // The last ones are older registrations of the first ones.
        let superseded = index >= COUNT - 120;
        let entity = registered[if superseded { index + 120 - COUNT } else { index }];
        let city = entity.location.city;
        let naics = naics_code(&mut chooser);
        let address = if index % 40 == 7 {
            names::AWKWARD[index / 40 % names::AWKWARD.len()].to_owned()
        } else {
            entity.street.clone()
        };
        writer.push([
            ("id", int(500_000 + index as i64)),
            ("uei", text(&*entity.uei)),
            ("entity_id", text(format!("{:05}", index % 400))),
            ("duns", text(&*entity.duns)),
            ("legal_business_name", text(&*entity.name)),
            ("dba_name", text(names::word(&mut chooser))),
            ("physical_address_line1", text(address)),
            ("physical_city", text(city.name)),
            ("physical_state", text(city.state)),
            ("physical_zip", text(format!("{}-{}", entity.zip5, digits(&mut chooser, 4)))),
            ("physical_country", text("USA")),
            ("mailing_address_line1", text(names::street(&mut chooser))),
            ("mailing_city", text(city.name)),
            ("mailing_state", text(city.state)),
            ("mailing_zip", text(&*entity.zip5)),
            ("mailing_country", text("USA")),
            ("primary_naics", text(&*naics)),
            (
                "naics_codes",
                text(format!("{naics}~{}~{}", naics_code(&mut chooser), naics_code(&mut chooser))),
            ),
            (
                "psc_codes",
                text(format!(
                    "{}~{}",
                    chooser.code("ABDR", 1) + &digits(&mut chooser, 3),
                    digits(&mut chooser, 4)
                )),
            ),
            (
                "registration_expiration",
                text(format!("2026{:02}{:02}", chooser.between(1, 12), chooser.between(1, 28))),
            ),
            ("last_update", text(format!("2025{:02}{:02}", chooser.between(1, 12), chooser.between(1, 28)))),
            ("business_start_date", text(format!("{}0101", chooser.between(1890, 2020)))),
            ("corporate_url", text(format!("https://{}.example", names::word(&mut chooser).to_lowercase()))),
            ("purpose_of_registration", text(chooser.pick(&["Z1", "Z2", "Z5"]))),
            (
                "source_file",
                text(format!("demo_registrations_{}.dat", if superseded { "2024" } else { "2025" })),
            ),
            ("imported_at", DemoValue::Timestamp(1_752_000_000_000_000 + index as i64 * 1_000_003)),
            ("is_current", DemoValue::Bool(!superseded)),
            ("latitude", DemoValue::Double(entity.location.latitude())),
            ("longitude", DemoValue::Double(entity.location.longitude())),
            ("geocode_date", DemoValue::Timestamp(1_752_100_000_000_000 + index as i64 * 60_000_000)),
            ("geocode_system", text("demo")),
            ("geom_point", entity.location.point()),
        ]);
        // A number that happens to be some organisation's tax number: what a heuristic join finds.
        if index % 150 == 11 {
            writer.set("duns", text(&*nonprofits[(index * 7) % nonprofits.len()].ein));
        }
    }
    writer.finish(&mut chooser, 25, &["duns"])
}

/// A six-digit industry code.
pub(super) fn naics_code(chooser: &mut Chooser) -> String {
    chooser
        .pick(&["541512", "541715", "611310", "622110", "236220", "813319", "115310", "336411", "221310"])
        .to_owned()
}
