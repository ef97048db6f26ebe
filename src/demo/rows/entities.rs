//! The invented recipients of federal money, shared by spending and registrations.

use uuid::{Builder, Uuid};

use super::super::names;
use super::super::places::{CITIES, City};
use super::super::random::Chooser;
use super::super::value::{Decimal, DemoGeometry, DemoValue};
use super::districts::DistrictMap;

/// Unique entity identifiers use no letters that look like digits.
const UEI_ALPHABET: &str = "ABCDEFGHJKLMNPQRSTUVWXYZ123456789";
const DIGITS: &str = "0123456789";
/// How many recipients there are.
const COUNT: usize = 2_600;

/// A place within reach of a city.
#[derive(Clone, Copy)]
pub(super) struct Location {
    pub(super) city: &'static City,
    /// Ten-thousandths of a degree, so that the decimal and the double say the same.
    latitude: i64,
    longitude: i64,
}

impl Location {
    /// Near a random city, or exactly there.
    pub(super) fn choose(chooser: &mut Chooser, reach: i64) -> Self {
        let city = &CITIES[chooser.index(CITIES.len())];
        Self::near(city, chooser, reach)
    }

    /// Within `reach` ten-thousandths of a degree of a city.
    pub(super) fn near(city: &'static City, chooser: &mut Chooser, reach: i64) -> Self {
        let units = |degrees: f64| (degrees * 10_000.0).round() as i64;
        Self {
            city,
            latitude: units(city.latitude) + chooser.between(-reach, reach),
            longitude: units(city.longitude) + chooser.between(-reach, reach),
        }
    }

    pub(super) fn latitude(&self) -> f64 {
        self.latitude as f64 / 10_000.0
    }

    pub(super) fn longitude(&self) -> f64 {
        self.longitude as f64 / 10_000.0
    }

    pub(super) fn latitude_numeric(&self) -> DemoValue {
        Decimal::scaled(self.latitude.into(), 4).into()
    }

    pub(super) fn longitude_numeric(&self) -> DemoValue {
        Decimal::scaled(self.longitude.into(), 4).into()
    }

    pub(super) fn point(&self) -> DemoValue {
        let shape = geo::Point::new(self.longitude(), self.latitude()).into();
        DemoValue::Geometry(DemoGeometry { srid: 4326, shape })
    }

    /// The public geohash of that length: longitude and latitude halved in turn, five bits a character.
    pub(super) fn geohash(&self, length: usize) -> String {
        const ALPHABET: &[u8] = b"0123456789bcdefghjkmnpqrstuvwxyz";
        let (mut west, mut east, mut south, mut north) = (-180.0, 180.0, -90.0, 90.0);
        let mut bits = (0..length * 5).map(|bit| {
            let (low, high, value): (&mut f64, &mut f64, f64) = if bit % 2 == 0 {
                (&mut west, &mut east, self.longitude())
            } else {
                (&mut south, &mut north, self.latitude())
            };
            let middle = f64::midpoint(*low, *high);
            let upper = value >= middle;
            *(if upper { low } else { high }) = middle;
            usize::from(upper)
        });
        let mut character = || (0..5).fold(0, |index, _| index * 2 + bits.next().unwrap_or(0));
        (0..length).map(|_| char::from(ALPHABET[character()])).collect()
    }
}

/// A recipient.
pub(super) struct Entity {
    pub(super) hash: Uuid,
    pub(super) name: String,
    pub(super) uei: String,
    pub(super) duns: String,
    pub(super) street: String,
    pub(super) zip5: String,
    pub(super) location: Location,
    /// Two characters, as spending data writes them.
    pub(super) district: String,
}

/// `character` ASCII digits.
pub(super) fn digits(chooser: &mut Chooser, count: usize) -> String {
    chooser.code(DIGITS, count)
}

/// A postal code of a city.
pub(super) fn zip5(city: &City, chooser: &mut Chooser) -> String {
    format!("{}{}", city.zip3, digits(chooser, 2))
}

/// A random version-4-like uuid from the stream.
fn uuid(chooser: &mut Chooser) -> Uuid {
    Builder::from_random_bytes(chooser.bytes16()).into_uuid()
}

/// Invents the recipients.
pub(super) fn invent(seed: u64, map: &DistrictMap) -> Vec<Entity> {
    let mut chooser = Chooser::new(seed, "entities");
    (0..COUNT)
        .map(|index| {
            let mut location = Location::choose(&mut chooser, 1_500);
            let state_there = |location: &Location| {
                map.at(118, location.longitude(), location.latitude())
                    .filter(|d| d.state.code == location.city.state)
            };
            if state_there(&location).is_none() {
                location = Location::near(location.city, &mut chooser, 0);
            }
            let district = match state_there(&location) {
                // Some spending spans a whole state; its code is 90.
                _ if index % 97 == 0 => "90".to_owned(),
                Some(district) => format!("{:02}", district.number),
                None => "90".to_owned(),
            };
            let name = match names::AWKWARD.get(index / 3) {
                Some(awkward) if index % 3 == 0 => (*awkward).to_owned(),
                _ => names::organisation(&mut chooser),
            };
            Entity {
                hash: uuid(&mut chooser),
                name,
                uei: chooser.code(UEI_ALPHABET, 12),
                // One in four begins with a zero.
                duns: format!(
                    "{}{}",
                    if index % 4 == 0 { "0" } else { "" },
                    digits(&mut chooser, 9 - usize::from(index % 4 == 0))
                ),
                street: names::street(&mut chooser),
                zip5: zip5(location.city, &mut chooser),
                location,
                district,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geohash_of_a_known_place() {
        // The worked example of the public description: 57.64911, 10.40744 is u4pruydqqvj.
        let city = &CITIES[0];
        let location = Location { city, latitude: 576_491, longitude: 104_074 };
        assert_eq!(location.geohash(6), "u4pruy");
    }
}
