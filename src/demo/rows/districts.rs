//! District boundaries: a partition of rough state areas, with the shapes that trip spatial code.

use std::collections::{BTreeMap, BTreeSet};

use super::super::places::{CITIES, STATES, State};
use super::super::random::Chooser;
use super::super::relation::DemoRelation;
use super::super::value::{Decimal, DemoGeometry, DemoValue};
use super::build::{RowWriter, int, text};
use super::lattice::{Cell, cell_at, centre, outline};

/// The Congresses drawn, oldest first.
pub(super) const CONGRESSES: [i64; 2] = [117, 118];

/// Districts whose boundary was never digitised: their `geom` is null.
const UNDRAWN: [(i64, &str, u32); 3] = [(117, "NE", 2), (117, "NH", 1), (118, "WV", 2)];

/// One district of one Congress.
pub(super) struct District {
    pub(super) congress: i64,
    pub(super) state: &'static State,
    /// 0 at large, 98 for a delegate without a vote.
    pub(super) number: u32,
    cells: BTreeSet<Cell>,
}

/// All districts drawn, with the way back from a place to its district.
pub(super) struct DistrictMap {
    pub(super) districts: Vec<District>,
    by_cell: BTreeMap<(i64, Cell), usize>,
    seed: u64,
}

impl DistrictMap {
    pub(super) fn draw(seed: u64) -> Self {
        let areas = state_areas();
        let mut districts = Vec::new();
        for congress in CONGRESSES {
            let mut chooser = Chooser::new(seed, &format!("districts {congress}"));
            for state in STATES {
                let area = areas.get(state.code).cloned().unwrap_or_default();
                for (number, cells) in split(state, congress, area, &mut chooser) {
                    districts.push(District { congress, state, number, cells });
                }
            }
        }
        let by_cell = districts
            .iter()
            .enumerate()
            .flat_map(|(index, district)| {
                district.cells.iter().map(move |cell| ((district.congress, *cell), index))
            })
            .collect();
        Self { districts, by_cell, seed }
    }

    /// The district of a place by its cell: right except within a few kilometres of a border.
    pub(super) fn at(&self, congress: i64, longitude: f64, latitude: f64) -> Option<&District> {
        self.by_cell
            .get(&(congress, cell_at(longitude, latitude)))
            .and_then(|index| self.districts.get(*index))
    }

    /// The districts of one Congress.
    pub(super) fn of(&self, congress: i64) -> impl Iterator<Item = &District> {
        self.districts.iter().filter(move |district| district.congress == congress)
    }

    pub(super) fn rows(&self, relation: DemoRelation) -> DemoRelation {
        let mut chooser = Chooser::new(self.seed, "district rows");
        let mut writer = RowWriter::new(relation);
        for (index, district) in self.districts.iter().enumerate() {
            let congress = district.congress;
            let number = i64::from(district.number);
            let undrawn = UNDRAWN.contains(&(congress, district.state.code, district.number));
            let geometry = if undrawn {
                DemoValue::Null
            } else {
                DemoValue::Geometry(DemoGeometry {
                    srid: 3857,
                    shape: outline(&district.cells, self.seed).into(),
                })
            };
            let started = if congress == 118 { 118 } else { 113 };
            writer.push([
                ("id", int(40_001 + index as i64)),
                ("congress_number", int(congress)),
                ("statename", text(district.state.name)),
                ("district", int(number)),
                ("startcong", Decimal::scaled(started * 10_i128.pow(15), 15).into()),
                ("endcong", Decimal::scaled(i128::from(congress) * 10_i128.pow(15), 15).into()),
                ("district_id", text(format!("0{}{started}{congress}{number:03}", district.state.fips))),
                ("districtsi", text(format!("{} district {number}", district.state.name))),
                ("county", text("")),
                ("page", text(format!("p. {}", chooser.between(1, 400)))),
                (
                    "law",
                    text(format!("Demo plan no. {}, {}", chooser.between(1, 99), 1789 + 2 * (congress - 1))),
                ),
                ("note", text("Drawn on a half-degree lattice; not a real boundary")),
                ("lastchange", DemoValue::Date(19_000 + chooser.between(0, 700) as i32)),
                ("statefp", text(district.state.fips)),
                ("geom", geometry),
                ("source_file", text(format!("demo_districts_{congress}.shp"))),
                ("imported_at", DemoValue::Timestamp(1_750_000_000_123_456 + index as i64 * 1_700_000)),
            ]);
        }
        writer.finish(&mut chooser, 40, &["statename", "district", "district_id", "geom"])
    }
}

/// Which cells belong to which state: the box decides, the nearest city where boxes overlap; a city's own cell is its
/// state's.
fn state_areas() -> BTreeMap<&'static str, BTreeSet<Cell>> {
    let mut owners: BTreeMap<Cell, &'static str> = BTreeMap::new();
    for state in STATES {
        for &(west, south, east, north) in state.boxes {
            let (first, last) = (cell_at(west, south), cell_at(east, north));
            for cell in (first.0..=last.0).flat_map(|column| (first.1..=last.1).map(move |row| (column, row)))
            {
                let (longitude, latitude) = centre(cell);
                let inside = (west..=east).contains(&longitude) && (south..=north).contains(&latitude);
                let nearer = |other: &str| {
                    nearness(state.code, longitude, latitude) < nearness(other, longitude, latitude)
                };
                if inside && owners.get(&cell).is_none_or(|other| nearer(other)) {
                    owners.insert(cell, state.code);
                }
            }
        }
    }
    for city in CITIES {
        owners.insert(cell_at(city.longitude, city.latitude), city.state);
    }
    let mut areas: BTreeMap<&'static str, BTreeSet<Cell>> = BTreeMap::new();
    for (cell, code) in owners {
        areas.entry(code).or_default().insert(cell);
    }
    areas
}

/// Squared distance in degrees to the nearest city of a state.
fn nearness(code: &str, longitude: f64, latitude: f64) -> f64 {
    CITIES
        .iter()
        .filter(|city| city.state == code)
        .map(|city| (city.longitude - longitude).powi(2) + (city.latitude - latitude).powi(2))
        .fold(f64::INFINITY, f64::min)
}

/// Splits a state's area into its districts for one Congress.
fn split(
    state: &State,
    congress: i64,
    area: BTreeSet<Cell>,
    chooser: &mut Chooser,
) -> Vec<(u32, BTreeSet<Cell>)> {
    // Montana really had one seat until it gained a second for the 118th.
    let seats = if state.code == "MT" && congress < 118 { 0 } else { state.seats };
    if seats == 0 || seats == 98 {
        return vec![(seats, area)];
    }
    if state.code == "HI" {
        return split_islands(area);
    }
    let cells: Vec<Cell> = area.iter().copied().collect();
    let mut centres: Vec<Cell> = Vec::new();
    for city in CITIES.iter().filter(|city| city.state == state.code) {
        let cell = cell_at(city.longitude, city.latitude);
        if !centres.contains(&cell) {
            centres.push(cell);
        }
    }
    while centres.len() < seats as usize && centres.len() < cells.len() {
        let candidate = cells[chooser.index(cells.len())];
        if !centres.contains(&candidate) {
            centres.push(candidate);
        }
    }
    chooser.shuffle(&mut centres);
    centres.truncate(seats as usize);
    let mut districts = vec![BTreeSet::new(); centres.len()];
    for cell in cells {
        let distance = |centre: &Cell| (centre.0 - cell.0).pow(2) + (centre.1 - cell.1).pow(2);
        let nearest = (0..centres.len()).min_by_key(|index| distance(&centres[*index])).unwrap_or(0);
        districts[nearest].insert(cell);
    }
    match state.code {
        // An enclave: one cell inside the largest district becomes the whole of the last one.
        "TX" | "CO" => enclave(&mut districts),
        // An exclave: a cell inside the largest district belongs to the first of the others, which so has two parts.
        "CA" | "NV" => exclave(&mut districts),
        _ => {}
    }
    districts.into_iter().enumerate().map(|(index, cells)| (index as u32 + 1, cells)).collect()
}

/// Oahu is the first district, all other islands together the second.
fn split_islands(area: BTreeSet<Cell>) -> Vec<(u32, BTreeSet<Cell>)> {
    let (oahu, others): (BTreeSet<Cell>, BTreeSet<Cell>) = area.into_iter().partition(|cell| {
        let (longitude, _) = centre(*cell);
        (-158.6..=-157.4).contains(&longitude)
    });
    vec![(1, oahu), (2, others)]
}

/// The largest district and a cell of it that is surrounded by it on all eight sides.
fn surrounded(districts: &[BTreeSet<Cell>]) -> Option<(usize, Cell)> {
    let largest = (0..districts.len()).max_by_key(|index| districts[*index].len())?;
    let around = |(column, row): Cell| {
        (-1..=1).flat_map(move |across| (-1..=1).map(move |up| (column + across, row + up)))
    };
    let holds_city = |cell: &Cell| CITIES.iter().any(|city| cell_at(city.longitude, city.latitude) == *cell);
    let inner = districts[largest]
        .iter()
        .find(|cell| !holds_city(cell) && around(**cell).all(|next| districts[largest].contains(&next)))?;
    Some((largest, *inner))
}

fn enclave(districts: &mut [BTreeSet<Cell>]) {
    let Some((largest, cell)) = surrounded(districts) else { return };
    // What the enclave's district held before goes to the surrounding one, which may thereby have two parts itself.
    let last = if largest + 1 == districts.len() { 0 } else { districts.len() - 1 };
    let given_up = std::mem::replace(&mut districts[last], BTreeSet::from([cell]));
    districts[largest].remove(&cell);
    districts[largest].extend(given_up);
}

fn exclave(districts: &mut [BTreeSet<Cell>]) {
    let Some((largest, cell)) = surrounded(districts) else { return };
    districts[largest].remove(&cell);
    districts[usize::from(largest == 0)].insert(cell);
}
