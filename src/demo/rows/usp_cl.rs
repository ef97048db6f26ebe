//! Lawmakers who never lived: people, terms, committees, offices.

use std::collections::BTreeMap;

use super::super::names;
use super::super::places::{CITIES, STATES};
use super::super::random::Chooser;
use super::super::relation::DemoRelation;
use super::super::value::DemoValue;
use super::build::{RowWriter, int, text, texts};
use super::districts::DistrictMap;
use super::entities::{Location, digits, zip5};

/// The Congresses terms are made for.
const CONGRESSES: std::ops::RangeInclusive<i64> = 109..=118;
const PARTIES: &[&str] = &["Lantern", "Tidewater", "Independent"];

/// A person.
pub(super) struct Legislator {
    id: String,
    first: String,
    last: String,
    party: &'static str,
    gender: &'static str,
}

/// A term served.
struct Term {
    legislator: usize,
    congress: i64,
    state: &'static str,
    /// `None` for the Senate.
    district: Option<u32>,
    /// Senate class.
    class: Option<i64>,
}

/// Everybody and what they served.
pub(super) struct Lawmakers {
    people: Vec<Legislator>,
    terms: Vec<Term>,
}

/// Days since 1970 of 3 January of the year a Congress begins in.
fn begins(congress: i64) -> i32 {
    let year = 1789 + 2 * (congress - 1);
    chrono::NaiveDate::from_ymd_opt(year as i32, 1, 3).map_or(0, |date| date.to_epoch_days())
}

impl Lawmakers {
    /// The term each person serves now.
    fn current(&self) -> impl Iterator<Item = (&Legislator, &Term)> {
        let lasts = |term: &&Term| {
            term.congress == *CONGRESSES.end() || (term.district.is_none() && term.congress >= 116)
        };
        let newest: BTreeMap<usize, &Term> =
            self.terms.iter().filter(lasts).map(|term| (term.legislator, term)).collect();
        newest.into_iter().map(|(index, term)| (&self.people[index], term))
    }
}

/// Fills every seat of every Congress, mostly with whoever held it before.
pub(super) fn invent(seed: u64, map: &DistrictMap) -> Lawmakers {
    let mut chooser = Chooser::new(seed, "lawmakers");
    let mut lawmakers = Lawmakers { people: Vec::new(), terms: Vec::new() };
    let mut holders: BTreeMap<(&str, Option<u32>, i64), usize> = BTreeMap::new();
    for congress in CONGRESSES {
        let drawn = if congress == 118 { 118 } else { 117 };
        // Delegates without a vote are numbered 0 here, as at-large members are: 98 is spending data's own code.
        let house = map.of(drawn).map(|d| (d.state.code, Some(if d.number == 98 { 0 } else { d.number }), 0));
        let senate = STATES
            .iter()
            .filter(|state| state.seats != 98)
            .flat_map(|state| [1, 2, 3].map(|class| (state, class)))
            .enumerate()
            // Each state lacks one of the three classes; a third of the seats is up each time.
            .filter(|(index, (_, class))| {
                (*index as i64 / 3 + *class) % 3 != 0 && (congress + class) % 3 == 0
            })
            .map(|(_, (state, class))| (state.code, None, class));
        for seat in house.chain(senate) {
            let stays = chooser.chance(72);
            let holder = match holders.get(&seat) {
                Some(holder) if stays => *holder,
                _ => {
                    lawmakers.people.push(person(lawmakers.people.len(), &mut chooser));
                    lawmakers.people.len() - 1
                }
            };
            holders.insert(seat, holder);
            let (state, district, class) = seat;
            lawmakers.terms.push(Term {
                legislator: holder,
                congress,
                state,
                district,
                class: Some(class).filter(|c| *c > 0),
            });
        }
    }
    lawmakers
}

fn person(index: usize, chooser: &mut Chooser) -> Legislator {
    Legislator {
        id: format!("D{:06}", 101 + 11 * index),
        first: names::given(chooser),
        last: match index % 50 {
            7 => "O'Belimosk".to_owned(),
            19 => format!("{}-{}", names::word(chooser), names::word(chooser)),
            31 => "Ñorvélith".to_owned(),
            _ => names::word(chooser),
        },
        party: chooser.pick(PARTIES),
        gender: chooser.pick(&["F", "M"]),
    }
}

impl Legislator {
    fn full(&self) -> String {
        format!("{} {}", self.first, self.last)
    }
}

fn created(index: usize) -> DemoValue {
    DemoValue::Timestamp(1_751_328_000_000_000 + index as i64 * 20)
}

pub(super) fn legislators(shape: DemoRelation, seed: u64, lawmakers: &Lawmakers) -> DemoRelation {
    let mut chooser = Chooser::new(seed, "legislators");
    let mut writer = RowWriter::new(shape);
    for (index, person) in lawmakers.people.iter().enumerate() {
        let served = || lawmakers.terms.iter().filter(move |term| term.legislator == index);
        let first = served().map(|term| begins(term.congress)).min().unwrap_or(0);
        let last = served()
            .map(|t| begins(t.congress + if t.district.is_some() { 1 } else { 3 }))
            .max()
            .unwrap_or(0);
        let committee_ids = match index % 9 {
            0 => texts([]),
            1 => texts(["H0DE00001", "S2DE00002"]),
            2 => {
                DemoValue::Array(vec![text("H8DE00009"), DemoValue::Null, text("with, comma \"and quote\"")])
            }
            _ => texts([&*format!("H{}DE{}", index % 10, digits(&mut chooser, 5))]),
        };
        let previous = if index % 40 == 3 { texts([&*format!("X{:06}", index)]) } else { DemoValue::Null };
        writer.push([
            ("bioguide_id", text(&*person.id)),
            ("thomas_id", text(format!("{:05}", index + 1))),
            ("lis_id", text(format!("S{:03}", index))),
            ("govtrack_id", int(400_000 + index as i64)),
            ("opensecrets_id", text(format!("N{}", digits(&mut chooser, 8)))),
            ("votesmart_id", int(chooser.between(1, 99_999))),
            ("cspan_id", int(chooser.between(1, 9_999_999))),
            ("wikipedia_page", text(format!("{} (politician)", person.full()))),
            ("ballotpedia_page", text(person.full().replace(' ', "_"))),
            ("maplight_id", int(chooser.between(1, 3_000))),
            ("house_history_id", int(15_032_385_536 + index as i64)),
            ("icpsr_id", int(chooser.between(10_000, 99_999))),
            ("wikidata_id", text(format!("Q0{}", digits(&mut chooser, 7)))),
            ("google_entity_id", text(format!("kg:/m/demo{index}"))),
            ("pictorial_id", int(chooser.between(1, 5_000))),
            ("fec_ids", committee_ids),
            ("bioguide_previous", previous),
            ("first_name", text(&*person.first)),
            (
                "middle_name",
                text(if index % 3 == 0 { chooser.code("ABCDEFG", 1) + "." } else { String::new() }),
            ),
            ("last_name", text(&*person.last)),
            ("suffix", text(if index % 30 == 0 { "Jr." } else { "" })),
            ("nickname", text(names::given(&mut chooser))),
            ("official_full", text(person.full())),
            ("birthday", DemoValue::Date(chooser.between(-14_000, 10_000) as i32)),
            ("gender", text(person.gender)),
            ("is_current", (last > begins(118)).into()),
            ("first_term_start", DemoValue::Date(first)),
            ("last_term_end", DemoValue::Date(last)),
            ("created_at", created(index)),
        ]);
        if index % 150 == 10 {
            writer.set("house_history_id", int(i64::MAX - index as i64));
        }
    }
    writer.finish(
        &mut chooser,
        15,
        &["official_full", "first_term_start", "last_term_end", "bioguide_previous"],
    )
}

pub(super) fn legislator_terms(shape: DemoRelation, seed: u64, lawmakers: &Lawmakers) -> DemoRelation {
    let mut chooser = Chooser::new(seed, "legislator_terms");
    let mut writer = RowWriter::new(shape);
    for (index, term) in lawmakers.terms.iter().enumerate() {
        let person = &lawmakers.people[term.legislator];
        let senate = term.district.is_none();
        let end = if senate { term.congress + 3 } else { term.congress + 1 };
        let phone = format!("202-555-0{}", digits(&mut chooser, 3));
        writer.push([
            ("term_id", int(1 + index as i64)),
            ("bioguide_id", text(&*person.id)),
            ("congress_start", text(term.congress.to_string())),
            ("congress_end", text((end - 1).to_string())),
            ("term_start", DemoValue::Date(begins(term.congress))),
            ("term_end", DemoValue::Date(begins(end))),
            ("term_type", text(if senate { "sen" } else { "rep" })),
            ("state", text(term.state)),
            ("district", term.district.map(i64::from).into()),
            ("class", term.class.into()),
            ("state_rank", if senate { text(chooser.pick(&["junior", "senior"])) } else { DemoValue::Null }),
            ("party", text(person.party)),
            ("url", text(format!("https://{}.example/", person.last.to_lowercase().replace('\'', "")))),
            (
                "address",
                text(format!(
                    "{} Demo House Office Building; Washington DC 20515",
                    chooser.between(100, 2_500)
                )),
            ),
            ("phone", text(&*phone)),
            ("fax", text(format!("202-555-1{}", digits(&mut chooser, 3)))),
            ("contact_form", text(format!("https://{}.example/contact?a=1&b=2", person.last.to_lowercase()))),
            ("office", text(format!("{} Demo House", chooser.between(100, 2_500)))),
            ("rss_url", text("")),
            ("how", text(if index % 100 == 1 { "special-election" } else { "election" })),
            ("end_type", text(if index % 120 == 2 { "resigned" } else { "term" })),
            ("created_at", created(index)),
        ]);
    }
    let kept = [
        "bioguide_id",
        "congress_start",
        "term_start",
        "term_end",
        "term_type",
        "state",
        "district",
        "class",
    ];
    writer.finish(&mut chooser, 15, &kept)
}

pub(super) fn committees(shape: DemoRelation, seed: u64) -> DemoRelation {
    let mut chooser = Chooser::new(seed, "committees");
    let mut writer = RowWriter::new(shape);
    for index in 0..COMMITTEES {
        let kind = ["house", "senate", "joint"][index % 3];
        let first = chooser.between(109, 116);
        let congresses = match index % 8 {
            0 => DemoValue::Array(Vec::new()),
            _ => DemoValue::Array((first..=118).map(int).collect()),
        };
        writer.push([
            ("committee_id", int(1 + index as i64)),
            ("thomas_id", text(committee_code(index))),
            (
                "house_committee_id",
                if kind == "house" { text(chooser.code("ABCDEF", 2)) } else { DemoValue::Null },
            ),
            (
                "senate_committee_id",
                if kind == "senate" {
                    text(format!("SS{}", chooser.code("ABCDEF", 2)))
                } else {
                    DemoValue::Null
                },
            ),
            ("committee_type", text(kind)),
            (
                "name",
                text(format!(
                    "Committee on {}s, {} and \"Other\" Matters",
                    names::word(&mut chooser),
                    names::word(&mut chooser)
                )),
            ),
            ("url", text(format!("https://committee-{index}.example/"))),
            ("minority_url", text(format!("https://minority-{index}.example/"))),
            ("address", text(format!("{} Demo Building; Washington, DC 20510", chooser.between(100, 900)))),
            ("phone", text(format!("(202) 555-0{}", digits(&mut chooser, 3)))),
            (
                "jurisdiction",
                text(format!(
                    "Everything to do with {}\nand {}.",
                    names::word(&mut chooser),
                    names::word(&mut chooser)
                )),
            ),
            ("rss_url", text("")),
            ("youtube_id", text(names::word(&mut chooser))),
            ("congresses", congresses),
            ("is_current", (index % 5 != 4).into()),
            ("created_at", created(index)),
        ]);
    }
    writer.finish(&mut chooser, 7, &["thomas_id", "name", "committee_type"])
}

/// How many committees there are.
const COMMITTEES: usize = 30;

fn committee_code(index: usize) -> String {
    format!("{}DM{:02}", ["H", "S", "J"][index % 3], index)
}

pub(super) fn committee_membership(shape: DemoRelation, seed: u64, lawmakers: &Lawmakers) -> DemoRelation {
    let mut chooser = Chooser::new(seed, "committee_membership");
    let mut writer = RowWriter::new(shape);
    let mut index = 0;
    for (person, _) in lawmakers.current() {
        for _ in 0..chooser.between(1, 3) {
            index += 1;
            let rank = chooser.between(1, 20);
            writer.push([
                ("membership_id", int(index)),
                ("committee_thomas_id", text(committee_code(chooser.index(COMMITTEES)))),
                ("bioguide_id", text(&*person.id)),
                ("legislator_name", text(person.full())),
                ("party", text(chooser.pick(&["majority", "minority"]))),
                ("rank", int(rank)),
                ("title", if rank == 1 { text("Chair") } else { DemoValue::Null }),
                ("created_at", created(index as usize)),
            ]);
        }
    }
    writer.finish(&mut chooser, 40, &["bioguide_id"])
}

pub(super) fn district_offices(shape: DemoRelation, seed: u64, lawmakers: &Lawmakers) -> DemoRelation {
    let mut chooser = Chooser::new(seed, "district_offices");
    let mut writer = RowWriter::new(shape);
    let mut index = 0;
    for (person, term) in lawmakers.current() {
        for _ in 0..chooser.between(1, 3) {
            index += 1;
            let near: Vec<_> = CITIES.iter().filter(|city| city.state == term.state).collect();
            let location = Location::near(near[chooser.index(near.len())], &mut chooser, 400);
            let city = location.city;
            // A blank state is two blanks in `character(2)`, equal to the empty text.
            let state = if index % 61 == 0 { "" } else { city.state };
            writer.push([
                ("office_id", int(index)),
                ("bioguide_id", text(&*person.id)),
                ("office_key", text(format!("{}-{}", person.id, city.name.to_lowercase().replace(' ', "_")))),
                ("address", text(names::street(&mut chooser))),
                ("suite", text(format!("Suite {}", chooser.between(1, 900)))),
                ("building", text(format!("{} Building", names::word(&mut chooser)))),
                ("city", text(city.name)),
                ("state", text(state)),
                ("zip", text(zip5(city, &mut chooser))),
                ("latitude", DemoValue::Double(location.latitude())),
                ("longitude", DemoValue::Double(location.longitude())),
                ("phone", text(format!("555-0{}", digits(&mut chooser, 3)))),
                ("fax", text("")),
                ("hours", text("M-F 8:30am–5:00pm, \"or by appointment\"")),
                ("created_at", created(index as usize)),
                ("geom_point", location.point()),
                ("geocode_date", DemoValue::TimestampTz(1_752_300_000_500_000 + index * 1_250_000)),
                ("geocode_system", text("demo")),
            ]);
        }
    }
    writer.finish(&mut chooser, 20, &["bioguide_id"])
}

pub(super) fn current_lawmakers(shape: DemoRelation, seed: u64, lawmakers: &Lawmakers) -> DemoRelation {
    let mut chooser = Chooser::new(seed, "mv_current_lawmakers");
    let mut writer = RowWriter::new(shape);
    for (person, term) in lawmakers.current() {
        let end = if term.district.is_none() { term.congress + 3 } else { term.congress + 1 };
        let handle = person.last.to_lowercase();
        writer.push([
            ("bioguide_id", text(&*person.id)),
            ("official_full", text(person.full())),
            ("first_name", text(&*person.first)),
            ("last_name", text(&*person.last)),
            ("gender", text(person.gender)),
            ("birthday", DemoValue::Date(chooser.between(-10_000, 8_000) as i32)),
            ("state", text(term.state)),
            ("district", term.district.map(i64::from).into()),
            ("term_type", text(if term.district.is_some() { "rep" } else { "sen" })),
            ("party", text(person.party)),
            ("term_start", DemoValue::Date(begins(term.congress))),
            ("term_end", DemoValue::Date(begins(end))),
            ("senate_class", term.class.into()),
            ("state_rank", if term.class.is_some() { text("senior") } else { DemoValue::Null }),
            ("office_phone", text(format!("202-555-0{}", digits(&mut chooser, 3)))),
            ("contact_form", text("")),
            ("twitter", text(format!("@{handle}"))),
            ("facebook", text(&*handle)),
            ("instagram", text(&*handle)),
            ("youtube", text(&*handle)),
            ("office_count", int(chooser.between(1, 3))),
            ("committee_count", int(chooser.between(1, 3))),
        ]);
    }
    writer.finish(&mut chooser, 20, &["bioguide_id", "official_full", "state", "district", "term_type"])
}
