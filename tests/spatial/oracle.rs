//! PostGIS as the oracle: the same shapes, the same questions, thousands of random and adversarial inputs.
//!
//! Border and last-bit questions feed identical projected numbers to both sides and must agree without exception.
//! Questions in degrees go through both projections, which agree to 1e-6 m; inputs within that distance of where the
//! answer changes are counted, listed and left out of the verdict, since there the host's tangent would decide.
//!
//! The maps and the nonprofits are stored and opened again before they are asked.
//!
//! Needs PostgreSQL with PostGIS (scripts/postgis-oracle.sh says whether it is there). Without it the test reports
//! the skip; with `BENTHIC_REQUIRE_POSTGIS=1` that is a failure. `BENTHIC_ORACLE_INPUTS` changes how many random
//! inputs each operation gets.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use benthic_mirror::spatial::boxes::FloatBox;
use benthic_mirror::spatial::index_file::BuiltFrom;
use benthic_mirror::spatial::operation::CongressArgument;
use benthic_mirror::spatial::points::{PackedPoints, planar_distance};
use benthic_mirror::spatial::projection::{EARTH_RADIUS_METERS, project};
use benthic_mirror::spatial::{
    CongressMap, DistrictsInBbox, FindDistrict, MapView, NonprofitRow, Nonprofits, NonprofitsNearby,
    SpatialAnswer,
};
use geo::Coord;

use crate::world::*;

/// How far from a change of the answer an input in degrees must be to count, in metres.
const DECISION_MARGIN: f64 = 1e-6;

/// Adversarial circles and nearby questions besides the random ones.
const ADVERSARIAL: usize = 2_500;

const CONGRESSES: [i64; 3] = [116, 117, 118];

type Edge = (Coord<f64>, Coord<f64>);

/// What PostGIS answered, by question and number of the input: the columns after those two.
type Answers = BTreeMap<(String, usize), Vec<String>>;

#[test]
fn postgis_agrees() {
    let random =
        std::env::var("BENTHIC_ORACLE_INPUTS").ok().and_then(|count| count.parse().ok()).unwrap_or(2_500);
    let inputs = Inputs::new(random);
    let Some(answers) = ask_postgis(&inputs.sql()) else { return };
    let mut report = Report::default();
    check_projection(&inputs, &answers, &mut report);
    check_containment(&inputs, &answers, &mut report);
    check_boxes(&inputs, &answers, &mut report);
    check_distances(&inputs, &answers, &mut report);
    check_find_district(&inputs, &answers, &mut report);
    check_districts_in_bbox(&inputs, &answers, &mut report);
    check_nonprofits_nearby(&inputs, &answers, &mut report);
    eprintln!(
        "PostGIS: per operation {random} random inputs (containment and boxes: per congress); adversarial: {} points, {} \
         boxes, {ADVERSARIAL} circles and nearby questions\n{}",
        inputs.points.len() - CONGRESSES.len() * random,
        inputs.boxes.len() - CONGRESSES.len() * random,
        report.text
    );
    assert!(report.differences.is_empty(), "PostGIS differs:\n{}", report.differences.join("\n"));
}

/// What the indexes claim to be built from; the oracle's rows have no capture.
const FROM: BuiltFrom = BuiltFrom { row_digest: [0; 32], rows: 1 };

/// The maps as a snapshot holds them: stored and opened again.
fn opened(shapes: &[Shape]) -> BTreeMap<i64, CongressMap> {
    CONGRESSES
        .into_iter()
        .map(|congress| {
            let rows = rows(shapes).into_iter().filter(|row| row.congress_number == congress).collect();
            let bytes = CongressMap::build(rows).unwrap().to_bytes(congress, FROM).unwrap();
            (congress, CongressMap::from_bytes(bytes, congress, FROM).unwrap())
        })
        .collect()
}

/// Everything both sides are asked.
struct Inputs {
    shapes: Vec<Shape>,
    /// Congress and projected point.
    points: Vec<(i64, Coord<f64>)>,
    /// Congress and projected corners.
    boxes: Vec<(i64, Coord<f64>, Coord<f64>)>,
    places: Vec<Coord<f64>>,
    /// Projected center and radius.
    circles: Vec<(Coord<f64>, f64)>,
    /// Congress, latitude, longitude.
    degrees: Vec<(i64, f64, f64)>,
    /// Congress; south, north, west, east.
    envelopes: Vec<(i64, [f64; 4])>,
    /// EIN, longitude, latitude, current.
    nonprofits: Vec<(String, f64, f64, bool)>,
    /// Latitude, longitude, radius.
    nearby: Vec<(f64, f64, i64)>,
}

impl Inputs {
    fn new(random: usize) -> Self {
        let shapes = shapes();
        let mut dice = Dice::new(2024);
        let (mut points, mut boxes, mut degrees, mut envelopes) = (vec![], vec![], vec![], vec![]);
        for congress in CONGRESSES {
            let borders = border_points(&shapes, congress, if congress == 118 { 4 } else { 1 });
            let anywhere = random_points(&shapes, congress, random, congress as u64);
            points.extend(borders.iter().chain(&anywhere).map(|point| (congress, *point)));
            boxes.extend(boxes_around(&shapes, congress, &borders, &anywhere, &mut dice));
            // The same places in degrees: on a border, a hair beside it, and well beside it.
            for (place, point) in borders.iter().step_by(3).chain(&anywhere).enumerate() {
                let aside = [0.0, 1e-5, -1e-3, 0.5][place % 4];
                let (lat, lon) = unproject(at(point.x + aside, point.y - aside));
                degrees.push((congress, lat, lon));
                let (tall, wide) = (dice.between(0.0, 3.0), dice.between(0.0, 4.0));
                let (tall, wide) = if place % 5 == 0 { (0.0, 0.0) } else { (tall, wide) };
                envelopes.push((congress, [lat, (lat + tall).min(90.0), lon, (lon + wide).min(180.0)]));
            }
            let limits = [-90.0, -89.999_999, -85.051_128_78, -0.0, 0.0, 52.618_557_6, 85.06, 89.9999, 90.0];
            let lons = [-180.0, -179.999_999_99, -90.0, -0.0, 1.282_395_4, 90.0, 180.0];
            for lat in limits {
                for lon in lons {
                    degrees.push((congress, lat, lon));
                    envelopes.push((congress, [lat, lat, lon, lon]));
                    envelopes.push((congress, [lat, 90.0, lon, 180.0]));
                    envelopes.push((congress, [-90.0, lat, -180.0, lon]));
                }
            }
            // A box in Norfolk, England, which Alaska's box covers upstream.
            envelopes.push((congress, [52.618_557_6, 52.638_557_6, 1.282_395_4, 1.302_395_4]));
        }
        let places: Vec<_> = (0..3_000)
            .map(|place| match place % 4 {
                0 => at(dice.between(-1e5, 1e5), dice.between(-1e5, 1e5)),
                1 => at(dice.between(-50.0, 50.0).round() * 3.0, dice.between(-50.0, 50.0).round() * 4.0),
                2 => at(-8.5e6 + dice.between(-2e4, 2e4), 4.7e6 + dice.between(-2e4, 2e4)),
                _ => at(-HALF_WORLD + dice.between(0.0, 1e5), 8e6),
            })
            .collect();
        let circles = (0..random + ADVERSARIAL)
            .map(|number| {
                let center = places[dice.below(places.len())];
                let center = at(center.x + dice.between(-3e3, 3e3), center.y + dice.between(-3e3, 3e3));
                if number < random {
                    return (center, dice.between(0.0, 5e4));
                }
                // Exactly a distance, one unit in the last place less or more, or a Pythagorean one from the grid.
                let distance = planar_distance(center, places[dice.below(places.len())]).min(2e5);
                match number % 5 {
                    0 => (center, distance),
                    1 => (center, distance.next_down()),
                    2 => (center, distance.next_up()),
                    3 => (at(0.0, 0.0), f64::from(dice.below(40) as u32 * 5)),
                    _ => (places[dice.below(places.len())], 0.0),
                }
            })
            .collect();
        let nonprofits: Vec<_> = (0..3_000)
            .map(|number| {
                let (lon, lat) = match number % 3 {
                    // A town of few addresses, so that many share a place; a country; the ends of the world.
                    0 => (-104.99 + dice.below(15) as f64 * 0.003, 39.74 + dice.below(15) as f64 * 0.003),
                    1 => (dice.between(-124.0, -67.0), dice.between(25.0, 49.0)),
                    _ => (dice.between(179.0, 180.0) * [1.0, -1.0][dice.below(2)], dice.between(-89.0, 89.0)),
                };
                (format!("{:09}", dice.below(1_000_000_000)), lon, lat, number % 7 != 0)
            })
            .collect();
        let nearby = (0..random + ADVERSARIAL)
            .map(|number| {
                let (_, place_lon, place_lat, _) = nonprofits[dice.below(nonprofits.len())];
                let lat = (place_lat + dice.between(-0.02, 0.02)).clamp(-90.0, 90.0);
                let lon = (place_lon + dice.between(-0.02, 0.02)).clamp(-180.0, 180.0);
                if number < random {
                    return (lat, lon, 1 + dice.below(30_000) as i64);
                }
                // At a place itself, at the limits of the radius, and whole metres on both sides of a distance.
                let (center, place) = (project(lon, lat).unwrap(), project(place_lon, place_lat).unwrap());
                let distance = planar_distance(center, place).clamp(1.0, 99_998.0);
                match number % 5 {
                    0 => (place_lat, place_lon, 1),
                    1 => (place_lat, place_lon, 100_000),
                    2 => (lat, lon, distance.floor() as i64),
                    3 => (lat, lon, distance.ceil() as i64),
                    _ => (if number % 2 == 0 { 90.0 } else { -90.0 }, lon, 100_000),
                }
            })
            .chain([(90.0, 0.0, 100_000), (-90.0, 180.0, 100_000), (0.0, -180.0, 100_000)])
            .collect();
        Self { shapes, points, boxes, places, circles, degrees, envelopes, nonprofits, nearby }
    }

    /// The statements that put all of it to PostGIS. Doubles are written by their shortest text, which both sides
    /// read back exactly.
    fn sql(&self) -> String {
        let mut sql = String::from("begin;\n");
        for shape in &self.shapes {
            let wkb = hex::encode(wkb_of(&shape.shape));
            let values = format!("{}, {}, '{}', 0, ''", shape.id, shape.congress, shape.name);
            let _ = writeln!(
                sql,
                "insert into districts values ({values}, st_setsrid(st_geomfromwkb(decode('{wkb}','hex')),3857));"
            );
        }
        let mut table = |name: &str, columns: &str, rows: &mut dyn Iterator<Item = String>| {
            let _ = writeln!(sql, "create table {name} (n int, {columns});\ncopy {name} from stdin;");
            for (number, row) in rows.enumerate() {
                let _ = writeln!(sql, "{number}\t{row}");
            }
            sql.push_str("\\.\n");
        };
        table(
            "points",
            "congress bigint, x float8, y float8",
            &mut self.points.iter().map(|(congress, point)| format!("{congress}\t{}\t{}", point.x, point.y)),
        );
        table(
            "boxes",
            "congress bigint, x1 float8, y1 float8, x2 float8, y2 float8",
            &mut self.boxes.iter().map(|(congress, min, max)| {
                format!("{congress}\t{}\t{}\t{}\t{}", min.x, min.y, max.x, max.y)
            }),
        );
        table(
            "raw_places",
            "x float8, y float8",
            &mut self.places.iter().map(|place| format!("{}\t{}", place.x, place.y)),
        );
        table(
            "circles",
            "x float8, y float8, radius float8",
            &mut self.circles.iter().map(|(center, radius)| format!("{}\t{}\t{radius}", center.x, center.y)),
        );
        table(
            "degrees",
            "congress bigint, lat float8, lon float8",
            &mut self.degrees.iter().map(|(congress, lat, lon)| format!("{congress}\t{lat}\t{lon}")),
        );
        table(
            "envelopes",
            "congress bigint, a float8, b float8, c float8, d float8",
            &mut self
                .envelopes
                .iter()
                .map(|(congress, [a, b, c, d])| format!("{congress}\t{a}\t{b}\t{c}\t{d}")),
        );
        table(
            "raw_nonprofits",
            "ein text, lon float8, lat float8, is_current boolean",
            &mut self
                .nonprofits
                .iter()
                .map(|(ein, lon, lat, current)| format!("{ein}\t{lon}\t{lat}\t{current}")),
        );
        table(
            "nearby",
            "lat float8, lon float8, radius float8",
            &mut self.nearby.iter().map(|(lat, lon, radius)| format!("{lat}\t{lon}\t{radius}")),
        );
        sql.push_str(
            "insert into places select n, st_setsrid(st_point(x, y), 3857) from raw_places;
             insert into nonprofits select n, ein, 'name', null, null, is_current,
               st_setsrid(st_point(lon, lat), 4326) from raw_nonprofits;
             create index on districts using gist (geom);
             create index on places using gist (geom);
             analyze;
             select 'contains', p.n, coalesce(min(d.id), 0), count(d.id)
               from points p left join lateral containing(p.congress, p.x, p.y) d on true group by p.n;
             select 'boxes', b.n, coalesce(string_agg(d.id::text, ' ' order by d.id), '')
               from boxes b left join lateral overlapping(b.congress, b.x1, b.y1, b.x2, b.y2) d on true group by b.n;
             select 'circles', c.n, coalesce(string_agg(p.n || ':' || p.distance, ' ' order by p.n), '')
               from circles c left join lateral places_within(c.x, c.y, c.radius) p on true group by c.n;
             select 'projected', n, st_x(projected(lat, lon)), st_y(projected(lat, lon)) from degrees;
             select 'find_district', q.n, coalesce(min(d.id), 0)
               from degrees q left join lateral find_district(q.lat, q.lon, q.congress) d on true group by q.n;
             select 'districts_in_bbox', q.n, coalesce(string_agg(d.id::text, ' ' order by d.id), '')
               from envelopes q left join lateral districts_in_bbox(q.a, q.b, q.c, q.d, q.congress) d on true
               group by q.n;
             select 'nonprofits_nearby', q.n,
                 coalesce(string_agg(d.ein || ':' || d.distance, ' ' order by d.distance, d.ein), '')
               from nearby q left join lateral nonprofits_nearby(q.lat, q.lon, q.radius) d on true group by q.n;
             commit;\n",
        );
        sql
    }
}

/// Boxes of every size around a congress, zero-area ones on borders, and ones that touch a district's box in the
/// last bit of a 32-bit float, from either side.
fn boxes_around(
    shapes: &[Shape],
    congress: i64,
    borders: &[Coord<f64>],
    anywhere: &[Coord<f64>],
    dice: &mut Dice,
) -> Vec<(i64, Coord<f64>, Coord<f64>)> {
    let mut boxes = Vec::new();
    for point in anywhere {
        let (wide, tall) = (dice.between(0.0, 1e6), dice.between(0.0, 1e6));
        boxes.push((congress, *point, at(point.x + wide, point.y + tall)));
    }
    boxes.extend(borders.iter().step_by(2).map(|point| (congress, *point, *point)));
    for shape in shapes.iter().filter(|shape| shape.congress == congress) {
        let exact = FloatBox::around(edges(&shape.shape).map(|(start, _)| start)).unwrap();
        let corners = edges(&shape.shape).map(|(start, _)| start);
        let east = corners.clone().map(|corner| corner.x).fold(f64::NEG_INFINITY, f64::max);
        let south = corners.map(|corner| corner.y).fold(f64::INFINITY, f64::min);
        for float in [exact.max_x, exact.max_x.next_up(), exact.max_x.next_up().next_up()] {
            let float = f64::from(float);
            for edge in [float, float.next_up(), float.next_down(), east, east.next_up()] {
                boxes.push((congress, at(edge, south), at(edge + 1e5, south)));
            }
        }
        for float in [exact.min_y, exact.min_y.next_down(), exact.min_y.next_down().next_down()] {
            let float = f64::from(float);
            for edge in [float, float.next_up(), float.next_down(), south, south.next_down()] {
                boxes.push((congress, at(east, edge - 1e5), at(east, edge)));
            }
        }
    }
    boxes
}

/// Degrees of a projected point, nearly: only used to choose inputs.
fn unproject(point: Coord<f64>) -> (f64, f64) {
    let lat = (point.y / EARTH_RADIUS_METERS).sinh().atan().to_degrees();
    let lon = (point.x / EARTH_RADIUS_METERS).to_degrees();
    (lat.clamp(-90.0, 90.0), lon.clamp(-180.0, 180.0))
}

/// Runs the statements; `None` when PostGIS isn't here and isn't required.
fn ask_postgis(sql: &str) -> Option<Answers> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/postgis-oracle.sh");
    let mut child = Command::new("bash")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("bash runs");
    let mut input = child.stdin.take().unwrap();
    let sql = sql.to_owned();
    // The script may end without reading: a broken pipe is then the exit code's story.
    let writer = std::thread::spawn(move || input.write_all(sql.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let _ = writer.join().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.code() == Some(77) {
        assert!(
            std::env::var("BENTHIC_REQUIRE_POSTGIS").as_deref() != Ok("1"),
            "BENTHIC_REQUIRE_POSTGIS=1, but {complaint}"
        );
        eprintln!("SKIPPED: the PostGIS oracle. {complaint}");
        return None;
    }
    assert!(output.status.success(), "{:?}: {complaint}", output.status);
    let mut answers = Answers::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let mut columns = line.split('|').map(str::to_owned);
        let (question, number) = (columns.next().unwrap(), columns.next().unwrap().parse().unwrap());
        answers.insert((question, number), columns.collect());
    }
    Some(answers)
}

#[derive(Default)]
struct Report {
    text: String,
    differences: Vec<String>,
}

impl Report {
    fn compared(&mut self, question: &str, count: usize, left_out: &[String]) {
        let _ =
            writeln!(self.text, "PostGIS {question}: {count} inputs compared, {} left out", left_out.len());
        for input in left_out.iter().take(5) {
            let _ = writeln!(self.text, "    left out, within {DECISION_MARGIN} m of a change: {input}");
        }
        if left_out.len() > 5 {
            let _ = writeln!(self.text, "    … and {} more", left_out.len() - 5);
        }
        // A comparison that compares little proves little.
        assert!(count >= 2_000, "{question}: only {count} inputs compared");
    }

    fn differ(&mut self, question: &str, input: &dyn std::fmt::Debug, ours: &str, theirs: &str) {
        if self.differences.len() < 50 {
            self.differences.push(format!("{question} {input:?}: ours {ours}, PostGIS {theirs}"));
        }
    }
}

fn answer<'a>(answers: &'a Answers, question: &str, number: usize) -> &'a [String] {
    answers.get(&(question.to_owned(), number)).unwrap_or_else(|| panic!("no answer to {question} {number}"))
}

fn check_projection(inputs: &Inputs, answers: &Answers, report: &mut Report) {
    for (number, (_, lat, lon)) in inputs.degrees.iter().enumerate() {
        let theirs: Vec<f64> =
            answer(answers, "projected", number).iter().map(|text| text.parse().unwrap()).collect();
        let ours = project(*lon, *lat).unwrap();
        if (ours.x - theirs[0]).abs() > 1e-6 || (ours.y - theirs[1]).abs() > 1e-6 {
            report.differ("projection", &(lat, lon), &format!("{ours:?}"), &format!("{theirs:?}"));
        }
    }
    report.compared("projection", inputs.degrees.len(), &[]);
}

fn check_containment(inputs: &Inputs, answers: &Answers, report: &mut Report) {
    let districts = opened(&inputs.shapes);
    let mut contained = 0;
    for (number, (congress, point)) in inputs.points.iter().enumerate() {
        let found = districts[congress].find(*point);
        let ours = found.map_or((0, 0), |found| (found.district.id, i64::try_from(found.count).unwrap()));
        let theirs = answer(answers, "contains", number);
        contained += usize::from(ours.1 > 0);
        if [ours.0.to_string(), ours.1.to_string()] != theirs {
            report.differ("containment", &(congress, point), &format!("{ours:?}"), &format!("{theirs:?}"));
        }
    }
    assert!(contained > 2_000 && inputs.points.len() - contained > 1_000);
    report.compared("containment in metres", inputs.points.len(), &[]);
}

fn check_boxes(inputs: &Inputs, answers: &Answers, report: &mut Report) {
    let districts = opened(&inputs.shapes);
    for (number, (congress, min, max)) in inputs.boxes.iter().enumerate() {
        let bounds = FloatBox::around([*min, *max]).unwrap();
        let found = districts[congress].in_box(&bounds);
        let ours = joined(found.iter().map(|district| district.id.to_string()));
        let theirs = &answer(answers, "boxes", number)[0];
        if ours != *theirs {
            report.differ("boxes", &(congress, min, max), &ours, theirs);
        }
    }
    report.compared("boxes in metres", inputs.boxes.len(), &[]);
}

fn check_distances(inputs: &Inputs, answers: &Answers, report: &mut Report) {
    let packed = PackedPoints::new(&inputs.places).unwrap();
    for (number, (center, radius)) in inputs.circles.iter().enumerate() {
        let mut hits = packed.within(*center, *radius);
        hits.sort_by_key(|hit| hit.number);
        // Bit for bit: the text of the distance is its shortest.
        let ours: Vec<(u32, u64)> = hits.iter().map(|hit| (hit.number, hit.distance.to_bits())).collect();
        let theirs = &answer(answers, "circles", number)[0];
        let parsed: Vec<(u32, u64)> =
            pairs(theirs).map(|(number, distance)| (number.parse().unwrap(), distance.to_bits())).collect();
        if ours != parsed {
            report.differ("distances", &(center, radius), &format!("{hits:?}"), theirs);
        }
    }
    report.compared("distances in metres", inputs.circles.len(), &[]);
}

fn check_find_district(inputs: &Inputs, answers: &Answers, report: &mut Report) {
    let districts = opened(&inputs.shapes);
    let mut borders: BTreeMap<i64, Vec<Edge>> = BTreeMap::new();
    for shape in &inputs.shapes {
        borders.entry(shape.congress).or_default().extend(edges(&shape.shape));
    }
    let (mut compared, mut left_out) = (0, Vec::new());
    for (number, (congress, lat, lon)) in inputs.degrees.iter().enumerate() {
        let request = FindDistrict {
            lat: *lat,
            lon: *lon,
            congress: CongressArgument { number: *congress, given: true },
        };
        let answered =
            request.answer_on(MapView { map: Some(&districts[congress]), congresses: &CONGRESSES });
        let ours = answered.rows.first().map_or("0000", |row| row["district_id"].as_str().unwrap());
        let theirs: i64 = answer(answers, "find_district", number)[0].parse().unwrap();
        let point = project(*lon, *lat).unwrap();
        if borders[congress].iter().any(|(start, end)| near_edge(*start, *end, point)) {
            left_out.push(format!("{lat}, {lon}, congress {congress}"));
            continue;
        }
        compared += 1;
        if ours != format!("{theirs:04}") {
            report.differ("find_district", &(congress, lat, lon), ours, &theirs.to_string());
        }
    }
    report.compared("find_district", compared, &left_out);
}

/// Whether a point is within the decision margin of an edge.
fn near_edge(start: Coord<f64>, end: Coord<f64>, point: Coord<f64>) -> bool {
    let margin = DECISION_MARGIN;
    if point.x < start.x.min(end.x) - margin
        || point.x > start.x.max(end.x) + margin
        || point.y < start.y.min(end.y) - margin
        || point.y > start.y.max(end.y) + margin
    {
        return false;
    }
    let (dx, dy) = (end.x - start.x, end.y - start.y);
    let length = (dx * dx + dy * dy).sqrt();
    if length == 0.0 {
        return planar_distance(start, point) <= margin;
    }
    ((dx * (point.y - start.y) - (point.x - start.x) * dy) / length).abs() <= margin
}

fn check_districts_in_bbox(inputs: &Inputs, answers: &Answers, report: &mut Report) {
    let districts = opened(&inputs.shapes);
    let (mut compared, mut left_out) = (0, Vec::new());
    for (number, (congress, degrees)) in inputs.envelopes.iter().enumerate() {
        let [min_lat, max_lat, min_lon, max_lon] = *degrees;
        let request = DistrictsInBbox {
            min_lat,
            max_lat,
            min_lon,
            max_lon,
            congress: CongressArgument { number: *congress, given: true },
        };
        let view = MapView { map: Some(&districts[congress]), congresses: &CONGRESSES };
        let ours = joined(request.answer_on(view, 1_000).rows.iter().map(|row| row["id"].to_string()));
        let theirs = &answer(answers, "districts_in_bbox", number)[0];
        let (low, high) = (project(min_lon, min_lat).unwrap(), project(max_lon, max_lat).unwrap());
        let map = &districts[congress];
        let shifted = |by: f64| {
            let (min, max) = (at(low.x - by, low.y - by), at(high.x + by, high.y + by));
            let around =
                FloatBox::around([at(min.x.min(max.x), min.y.min(max.y)), at(max.x, max.y)]).unwrap();
            joined(map.in_box(&around).iter().map(|district| district.id.to_string()))
        };
        if shifted(DECISION_MARGIN) != shifted(-DECISION_MARGIN) {
            left_out.push(format!("{degrees:?}, congress {congress}"));
            continue;
        }
        compared += 1;
        if ours != *theirs {
            report.differ("districts_in_bbox", &(congress, degrees), &ours, theirs);
        }
    }
    report.compared("districts_in_bbox", compared, &left_out);
}

fn check_nonprofits_nearby(inputs: &Inputs, answers: &Answers, report: &mut Report) {
    let rows = inputs.nonprofits.iter().map(|(ein, lon, lat, current)| NonprofitRow {
        ein: Some(ein.clone()),
        org_name: None,
        ntee: None,
        state: None,
        is_current: Some(*current),
        geometry: Some(wkb_of(&geo::Point::new(*lon, *lat))),
    });
    let nonprofits = Nonprofits::build(rows).unwrap();
    let nonprofits = Nonprofits::from_bytes(nonprofits.to_bytes(FROM), FROM).unwrap();
    let places: Vec<Coord<f64>> = inputs
        .nonprofits
        .iter()
        .filter(|(.., current)| *current)
        .map(|(_, lon, lat, _)| project(*lon, *lat).unwrap())
        .collect();
    let (mut compared, mut left_out, mut hits) = (0, Vec::new(), 0);
    for (number, (lat, lon, radius_meters)) in inputs.nearby.iter().enumerate() {
        let request = NonprofitsNearby { lat: *lat, lon: *lon, radius_meters: *radius_meters };
        let answered = request.answer(&nonprofits, 100_000);
        let theirs = &answer(answers, "nonprofits_nearby", number)[0];
        let center = project(*lon, *lat).unwrap();
        let at_the_edge = |place: &Coord<f64>| {
            (planar_distance(center, *place) - *radius_meters as f64).abs() <= DECISION_MARGIN
        };
        if places.iter().any(at_the_edge) {
            left_out.push(format!("{lat}, {lon}, radius {radius_meters}"));
            continue;
        }
        compared += 1;
        hits += answered.row_count;
        if !same_order(&answered, theirs) {
            let ours = answered.rows.iter().map(|row| format!("{}:{}", row["ein"], row["distance_meters"]));
            report.differ("nonprofits_nearby", &(lat, lon, radius_meters), &joined(ours), theirs);
        }
    }
    assert!(hits > 50_000, "{hits}");
    report.compared("nonprofits_nearby", compared, &left_out);
}

/// Same nonprofits, distances within the margin, and the same order except among distances within it.
fn same_order(ours: &SpatialAnswer, theirs: &str) -> bool {
    let theirs: Vec<(&str, f64)> = pairs(theirs).collect();
    let ours: Vec<(&str, f64)> = ours
        .rows
        .iter()
        .map(|row| (row["ein"].as_str().unwrap(), row["distance_meters"].as_f64().unwrap()))
        .collect();
    let close = |a: f64, b: f64| (a - b).abs() <= DECISION_MARGIN;
    let sorted = |list: &[(&str, f64)]| {
        let mut names: Vec<String> = list.iter().map(|(ein, _)| (*ein).to_owned()).collect();
        names.sort_unstable();
        names
    };
    sorted(&ours) == sorted(&theirs)
        && ours.iter().zip(&theirs).all(|(a, b)| close(a.1, b.1))
        && ours
            .iter()
            .zip(&theirs)
            .all(|(a, b)| a.0 == b.0 || theirs.iter().any(|c| c.0 == a.0 && close(c.1, b.1)))
}

fn pairs(list: &str) -> impl Iterator<Item = (&str, f64)> {
    list.split(' ').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, number) = pair.split_once(':').unwrap();
        (name, number.parse().unwrap())
    })
}

fn joined(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(" ")
}
