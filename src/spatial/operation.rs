//! Arguments to a typed request, or a refusal that names the argument and its range.
//!
//! The tool's arguments are flat and shared by the three operations, so each operation lists what it needs and what
//! it takes besides; anything else given is foreign and refused rather than ignored, since a caller who sends a
//! radius to a box question means something by it.

use serde_json::{Map, Number, Value, json};

use super::projection::ground_distance_factor;

/// The congress used when a request names none, as upstream.
pub const DEFAULT_CONGRESS: i64 = 118;

/// The radius used when a request names none, in metres, as upstream.
pub const DEFAULT_RADIUS_METERS: i64 = 10_000;

/// The three operations, in the order they are listed to callers.
pub const OPERATIONS: [&str; 3] = [FindDistrict::NAME, DistrictsInBbox::NAME, NonprofitsNearby::NAME];

/// The arguments of all operations, as a caller gave them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpatialArguments {
    /// Latitude in degrees.
    pub lat: Option<Number>,
    /// Longitude in degrees.
    pub lon: Option<Number>,
    /// Congress number.
    pub congress: Option<Number>,
    /// Southern latitude in degrees.
    pub min_lat: Option<Number>,
    /// Northern latitude in degrees.
    pub max_lat: Option<Number>,
    /// Western longitude in degrees.
    pub min_lon: Option<Number>,
    /// Eastern longitude in degrees.
    pub max_lon: Option<Number>,
    /// Radius in planar metres of EPSG:3857.
    pub radius_meters: Option<Number>,
}

/// A checked request.
#[derive(Debug, Clone, PartialEq)]
pub enum SpatialRequest {
    /// Which district contains a point.
    FindDistrict(FindDistrict),
    /// Which districts' boxes overlap an envelope.
    DistrictsInBbox(DistrictsInBbox),
    /// Which nonprofits lie within a radius.
    NonprofitsNearby(NonprofitsNearby),
}

/// Which district contains a point.
#[derive(Debug, Clone, PartialEq)]
pub struct FindDistrict {
    /// Latitude in degrees, −90 to 90.
    pub lat: f64,
    /// Longitude in degrees, −180 to 180.
    pub lon: f64,
    /// The congress whose map is used.
    pub congress: CongressArgument,
}

/// Which districts' boxes overlap an envelope in degrees.
#[derive(Debug, Clone, PartialEq)]
pub struct DistrictsInBbox {
    /// Southern latitude.
    pub min_lat: f64,
    /// Northern latitude, not below the southern.
    pub max_lat: f64,
    /// Western longitude.
    pub min_lon: f64,
    /// Eastern longitude, not below the western.
    pub max_lon: f64,
    /// The congress whose map is used.
    pub congress: CongressArgument,
}

/// Which nonprofits lie within a radius.
#[derive(Debug, Clone, PartialEq)]
pub struct NonprofitsNearby {
    /// Latitude in degrees, −90 to 90.
    pub lat: f64,
    /// Longitude in degrees, −180 to 180.
    pub lon: f64,
    /// Radius in planar metres, 1 to 100,000.
    pub radius_meters: i64,
}

/// A congress and whether the caller chose it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CongressArgument {
    /// 1 to 1000.
    pub number: i64,
    /// False when the request named none and the default was taken.
    pub given: bool,
}

/// A request that can't be answered as it is, as plain data.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct SpatialRefusal {
    /// `bad_rpc_arguments`, or `bad_argument` for an unknown operation.
    pub code: &'static str,
    /// The argument at fault.
    pub argument: String,
    /// What is wrong with it, in words.
    pub message: String,
    /// The names, values and ranges the message is built from.
    pub facts: Map<String, Value>,
    /// One concrete thing to do.
    pub next_step: String,
}

/// What one operation takes.
struct Form {
    name: &'static str,
    required: &'static [&'static str],
    optional: &'static [&'static str],
    example: &'static str,
}

const FORMS: [Form; 3] = [
    Form {
        name: FindDistrict::NAME,
        required: &["lat", "lon"],
        optional: &["congress"],
        example: "find_district with lat=39.74, lon=-104.99",
    },
    Form {
        name: DistrictsInBbox::NAME,
        required: &["min_lat", "max_lat", "min_lon", "max_lon"],
        optional: &["congress"],
        example: "districts_in_bbox with min_lat=39.6, max_lat=39.9, min_lon=-105.1, max_lon=-104.7",
    },
    Form {
        name: NonprofitsNearby::NAME,
        required: &["lat", "lon"],
        optional: &["radius_meters"],
        example: "nonprofits_nearby with lat=39.74, lon=-104.99, radius_meters=5000",
    },
];

impl FindDistrict {
    /// The operation's name.
    pub const NAME: &'static str = "find_district";
    /// The upstream function.
    pub const FUNCTION: &'static str = "rpc_find_district";
}

impl DistrictsInBbox {
    /// The operation's name.
    pub const NAME: &'static str = "districts_in_bbox";
    /// The upstream function.
    pub const FUNCTION: &'static str = "rpc_districts_in_bbox";
}

impl NonprofitsNearby {
    /// The operation's name.
    pub const NAME: &'static str = "nonprofits_nearby";
    /// The upstream function.
    pub const FUNCTION: &'static str = "rpc_nonprofits_nearby";
}

impl SpatialRequest {
    /// Checks an operation and its arguments: unknown operation, then foreign arguments, then missing ones, then each
    /// value against its range, in the operation's own order.
    pub fn parse(operation: &str, arguments: &SpatialArguments) -> Result<Self, Box<SpatialRefusal>> {
        let form =
            FORMS.iter().find(|form| form.name == operation).ok_or_else(|| unknown_operation(operation))?;
        for (name, value) in arguments.named() {
            let takes = form.required.contains(&name) || form.optional.contains(&name);
            if value.is_some() && !takes {
                return Err(foreign(form, name));
            }
        }
        for (name, value) in arguments.named() {
            if value.is_none() && form.required.contains(&name) {
                return Err(missing(form, name));
            }
        }
        let latitude = |name| coordinate(form, arguments, name, 90.0);
        let longitude = |name| coordinate(form, arguments, name, 180.0);
        let whole = |name, range: (i64, i64)| whole_number(form, arguments, name, range);
        let congress = || {
            whole("congress", (1, 1000)).map(|given| CongressArgument {
                number: given.unwrap_or(DEFAULT_CONGRESS),
                given: given.is_some(),
            })
        };
        Ok(match form.name {
            FindDistrict::NAME => Self::FindDistrict(FindDistrict {
                lat: latitude("lat")?,
                lon: longitude("lon")?,
                congress: congress()?,
            }),
            DistrictsInBbox::NAME => {
                let (min_lat, max_lat) = (latitude("min_lat")?, latitude("max_lat")?);
                let (min_lon, max_lon) = (longitude("min_lon")?, longitude("max_lon")?);
                ordered(form, ("min_lat", min_lat), ("max_lat", max_lat))?;
                ordered(form, ("min_lon", min_lon), ("max_lon", max_lon))?;
                Self::DistrictsInBbox(DistrictsInBbox {
                    min_lat,
                    max_lat,
                    min_lon,
                    max_lon,
                    congress: congress()?,
                })
            }
            _ => Self::NonprofitsNearby(NonprofitsNearby {
                lat: latitude("lat")?,
                lon: longitude("lon")?,
                radius_meters: whole("radius_meters", (1, 100_000))?.unwrap_or(DEFAULT_RADIUS_METERS),
            }),
        })
    }

    /// The operation's name.
    pub fn operation(&self) -> &'static str {
        match self {
            Self::FindDistrict(_) => FindDistrict::NAME,
            Self::DistrictsInBbox(_) => DistrictsInBbox::NAME,
            Self::NonprofitsNearby(_) => NonprofitsNearby::NAME,
        }
    }

    /// The upstream function that answers it live.
    pub fn function_name(&self) -> &'static str {
        match self {
            Self::FindDistrict(_) => FindDistrict::FUNCTION,
            Self::DistrictsInBbox(_) => DistrictsInBbox::FUNCTION,
            Self::NonprofitsNearby(_) => NonprofitsNearby::FUNCTION,
        }
    }

    /// The relation it reads, `dataset.relation`.
    pub fn source(&self) -> &'static str {
        match self {
            Self::FindDistrict(_) | Self::DistrictsInBbox(_) => super::districts::DISTRICTS_SOURCE,
            Self::NonprofitsNearby(_) => super::nonprofits::NONPROFITS_SOURCE,
        }
    }

    /// What any answer to this request must say, wherever it was read: the congress taken by default, and how
    /// planar metres relate to the ground.
    pub fn warnings(&self) -> Vec<String> {
        match self {
            Self::FindDistrict(FindDistrict { congress, .. })
            | Self::DistrictsInBbox(DistrictsInBbox { congress, .. }) => {
                congress.warning().into_iter().collect()
            }
            Self::NonprofitsNearby(request) => vec![request.ground_warning()],
        }
    }
}

impl CongressArgument {
    fn warning(self) -> Option<String> {
        (!self.given).then(|| format!("No congress was given: the map of congress {} was used.", self.number))
    }
}

impl NonprofitsNearby {
    fn ground_warning(&self) -> String {
        const PLANAR: &str =
            "Radius and distance_meters are planar metres of EPSG:3857, as upstream, not ground distance";
        match ground_distance_factor(self.lat) {
            Some(factor) => format!(
                "{PLANAR}: at latitude {:.2} they are about {factor:.2} times the distance on the ground, so the \
                 radius of {} reaches about {:.0} m there.",
                self.lat,
                self.radius_meters,
                self.radius_meters as f64 / factor
            ),
            None => format!("{PLANAR}: at a pole they have no finite relation to it."),
        }
    }
}

impl SpatialArguments {
    /// Every argument with its name, in the order of the tool's signature.
    fn named(&self) -> [(&'static str, Option<&Number>); 8] {
        [
            ("lat", self.lat.as_ref()),
            ("lon", self.lon.as_ref()),
            ("congress", self.congress.as_ref()),
            ("min_lat", self.min_lat.as_ref()),
            ("max_lat", self.max_lat.as_ref()),
            ("min_lon", self.min_lon.as_ref()),
            ("max_lon", self.max_lon.as_ref()),
            ("radius_meters", self.radius_meters.as_ref()),
        ]
    }

    fn get(&self, name: &str) -> Option<&Number> {
        self.named().into_iter().find_map(|(argument, value)| if argument == name { value } else { None })
    }
}

fn coordinate(
    form: &Form,
    arguments: &SpatialArguments,
    name: &'static str,
    limit: f64,
) -> Result<f64, Box<SpatialRefusal>> {
    let given = arguments.get(name).ok_or_else(|| missing(form, name))?;
    match given.as_f64() {
        Some(degrees) if degrees.abs() <= limit => Ok(degrees),
        _ => Err(out_of_range(form, name, given, &format!("a number from -{limit} to {limit}"))),
    }
}

/// An optional whole number within a range; 118.0 and 1e3 are whole numbers too, as in JSON Schema.
fn whole_number(
    form: &Form,
    arguments: &SpatialArguments,
    name: &'static str,
    (lowest, highest): (i64, i64),
) -> Result<Option<i64>, Box<SpatialRefusal>> {
    let Some(given) = arguments.get(name) else { return Ok(None) };
    let whole = given.as_i64().or_else(|| {
        let value = given.as_f64()?;
        // The range is far within what a double keeps exactly.
        (value.fract() == 0.0 && value.abs() <= 1e6).then_some(value as i64)
    });
    match whole {
        Some(value) if (lowest..=highest).contains(&value) => Ok(Some(value)),
        _ => Err(out_of_range(form, name, given, &format!("a whole number from {lowest} to {highest}"))),
    }
}

fn ordered(form: &Form, low: (&str, f64), high: (&str, f64)) -> Result<(), Box<SpatialRefusal>> {
    if low.1 <= high.1 {
        return Ok(());
    }
    let mut refusal = refusal(
        form,
        low.0,
        format!("{} ({}) is larger than {} ({}).", low.0, low.1, high.0, high.1),
        format!("Swap {} and {}; a box across the antimeridian is asked as two boxes.", low.0, high.0),
    );
    refusal.facts.insert(low.0.to_owned(), json!(low.1));
    refusal.facts.insert(high.0.to_owned(), json!(high.1));
    Err(refusal)
}

fn out_of_range(form: &Form, name: &str, given: &Number, range: &str) -> Box<SpatialRefusal> {
    // Numbers of any length are JSON; a message needs only enough of one to recognise it.
    let given: String = given.to_string().chars().take(40).collect();
    let mut refusal = refusal(
        form,
        name,
        format!("{name} must be {range}; {given} was given."),
        format!("Give {name} as {range}, e.g. {}.", form.example),
    );
    refusal.facts.insert("given".to_owned(), json!(given));
    refusal.facts.insert("range".to_owned(), json!(range));
    refusal
}

fn missing(form: &Form, name: &str) -> Box<SpatialRefusal> {
    let mut refusal = refusal(
        form,
        name,
        format!("{} needs {name}.", form.name),
        format!("Add {name}, e.g. {}.", form.example),
    );
    refusal.facts.insert("required".to_owned(), json!(form.required));
    refusal
}

fn foreign(form: &Form, name: &str) -> Box<SpatialRefusal> {
    let users: Vec<&str> = FORMS
        .iter()
        .filter(|other| other.required.contains(&name) || other.optional.contains(&name))
        .map(|other| other.name)
        .collect();
    let mut refusal = refusal(
        form,
        name,
        format!("{} takes no {name}; it belongs to {}.", form.name, users.join(" and ")),
        format!("Leave {name} out, or call {}.", users.join(" or ")),
    );
    refusal.facts.insert("takes".to_owned(), json!([form.required, form.optional].concat()));
    refusal
}

fn refusal(form: &Form, argument: &str, message: String, next_step: String) -> Box<SpatialRefusal> {
    let mut facts = Map::new();
    facts.insert("operation".to_owned(), json!(form.name));
    facts.insert("argument".to_owned(), json!(argument));
    let argument = argument.to_owned();
    Box::new(SpatialRefusal { code: "bad_rpc_arguments", argument, message, facts, next_step })
}

fn unknown_operation(operation: &str) -> Box<SpatialRefusal> {
    // Shown as given, but never more of it than a name can be.
    let shown: String = operation.chars().take(64).collect();
    let nearest = OPERATIONS
        .into_iter()
        .max_by(|a, b| strsim::jaro_winkler(a, &shown).total_cmp(&strsim::jaro_winkler(b, &shown)))
        .unwrap_or(FindDistrict::NAME);
    let mut facts = Map::new();
    facts.insert("argument".to_owned(), json!("operation"));
    facts.insert("given".to_owned(), json!(shown));
    facts.insert("operations".to_owned(), json!(OPERATIONS));
    Box::new(SpatialRefusal {
        code: "bad_argument",
        argument: "operation".to_owned(),
        message: format!("There is no operation {shown:?}; there are {}.", OPERATIONS.join(", ")),
        facts,
        next_step: FORMS
            .iter()
            .find(|form| form.name == nearest)
            .map(|form| format!("Call {}.", form.example))
            .unwrap_or_default(),
    })
}
