//! Public geography the made-up rows hang on: states with codes and rough boxes, cities with coordinates.

/// A rough box in degrees: west, south, east, north. West of -180 continues past the antimeridian.
pub(super) type Box4 = (f64, f64, f64, f64);

/// A state, or a district or territory treated alike.
pub(super) struct State {
    /// Postal code.
    pub(super) code: &'static str,
    /// Name.
    pub(super) name: &'static str,
    /// Two-digit FIPS code.
    pub(super) fips: &'static str,
    /// Districts drawn in the demo; 0 means one at-large district numbered 0, 98 one non-voting one numbered 98.
    pub(super) seats: u32,
    /// Rough extent.
    pub(super) boxes: &'static [Box4],
}

/// A city with its state, five-digit postal code prefix and coordinates.
pub(super) struct City {
    pub(super) name: &'static str,
    pub(super) state: &'static str,
    /// First three digits of its postal codes.
    pub(super) zip3: &'static str,
    pub(super) latitude: f64,
    pub(super) longitude: f64,
}

const fn state(
    code: &'static str,
    name: &'static str,
    fips: &'static str,
    seats: u32,
    boxes: &'static [Box4],
) -> State {
    State { code, name, fips, seats, boxes }
}

const fn city(
    name: &'static str,
    state: &'static str,
    zip3: &'static str,
    latitude: f64,
    longitude: f64,
) -> City {
    City { name, state, zip3, latitude, longitude }
}

/// Fifty states, the federal district and Puerto Rico, by name.
pub(super) const STATES: &[State] = &[
    state("AL", "Alabama", "01", 2, &[(-88.5, 30.2, -84.9, 35.0)]),
    state(
        "AK",
        "Alaska",
        "02",
        0,
        &[
            (-168.0, 60.0, -141.0, 71.5),
            (-162.0, 55.0, -141.0, 60.0),
            (-141.0, 55.0, -130.0, 60.0),
            (-187.5, 51.5, -168.0, 53.5),
        ],
    ),
    state("AZ", "Arizona", "04", 3, &[(-114.8, 31.3, -109.05, 37.0)]),
    state("AR", "Arkansas", "05", 2, &[(-94.6, 33.0, -89.7, 36.5)]),
    state(
        "CA",
        "California",
        "06",
        7,
        &[(-124.4, 38.0, -120.0, 42.0), (-123.0, 35.0, -117.0, 38.0), (-120.5, 32.5, -114.3, 36.0)],
    ),
    state("CO", "Colorado", "08", 3, &[(-109.05, 37.0, -102.05, 41.0)]),
    state("CT", "Connecticut", "09", 2, &[(-73.7, 41.0, -71.8, 42.05)]),
    state("DE", "Delaware", "10", 0, &[(-75.8, 38.45, -75.05, 39.85)]),
    state("DC", "District of Columbia", "11", 98, &[(-77.12, 38.8, -76.9, 39.0)]),
    state("FL", "Florida", "12", 5, &[(-87.6, 30.0, -81.4, 31.0), (-83.2, 25.2, -80.0, 30.2)]),
    state("GA", "Georgia", "13", 3, &[(-85.6, 30.4, -80.85, 35.0)]),
    state(
        "HI",
        "Hawaii",
        "15",
        2,
        &[
            (-159.8, 21.8, -159.3, 22.3),
            (-158.3, 21.2, -157.6, 21.8),
            (-156.7, 20.5, -155.9, 21.1),
            (-156.1, 18.9, -154.8, 20.3),
        ],
    ),
    state("ID", "Idaho", "16", 2, &[(-117.25, 42.0, -111.05, 45.0), (-117.1, 45.0, -114.5, 49.0)]),
    state("IL", "Illinois", "17", 4, &[(-91.5, 37.0, -87.5, 42.5)]),
    state("IN", "Indiana", "18", 3, &[(-88.1, 37.8, -84.8, 41.8)]),
    state("IA", "Iowa", "19", 2, &[(-96.6, 40.4, -90.1, 43.5)]),
    state("KS", "Kansas", "20", 2, &[(-102.05, 37.0, -94.6, 40.0)]),
    state("KY", "Kentucky", "21", 2, &[(-89.6, 36.5, -82.0, 39.15)]),
    state("LA", "Louisiana", "22", 2, &[(-94.05, 29.0, -89.0, 33.0)]),
    state("ME", "Maine", "23", 2, &[(-71.1, 43.05, -66.95, 47.45)]),
    state("MD", "Maryland", "24", 3, &[(-79.5, 37.9, -75.05, 39.7)]),
    state("MA", "Massachusetts", "25", 3, &[(-73.5, 41.25, -69.95, 42.9)]),
    state("MI", "Michigan", "26", 4, &[(-86.5, 41.7, -82.4, 45.9), (-90.4, 45.9, -84.0, 47.4)]),
    state("MN", "Minnesota", "27", 3, &[(-97.25, 43.5, -91.2, 47.0), (-97.25, 47.0, -89.5, 49.0)]),
    state("MS", "Mississippi", "28", 2, &[(-91.65, 30.2, -88.1, 35.0)]),
    state("MO", "Missouri", "29", 3, &[(-95.8, 36.0, -89.1, 40.6)]),
    state("MT", "Montana", "30", 2, &[(-116.05, 44.4, -104.05, 49.0)]),
    state("NE", "Nebraska", "31", 2, &[(-104.05, 40.0, -95.3, 43.0)]),
    state("NV", "Nevada", "32", 2, &[(-120.0, 38.5, -114.05, 42.0), (-118.0, 35.5, -114.5, 38.5)]),
    state("NH", "New Hampshire", "33", 2, &[(-72.55, 42.7, -70.6, 45.3)]),
    state("NJ", "New Jersey", "34", 3, &[(-75.55, 38.9, -73.9, 41.35)]),
    state("NM", "New Mexico", "35", 2, &[(-109.05, 31.35, -103.0, 37.0)]),
    state("NY", "New York", "36", 5, &[(-79.75, 42.0, -73.3, 45.0), (-74.7, 40.5, -71.85, 42.0)]),
    state("NC", "North Carolina", "37", 3, &[(-84.3, 33.85, -75.5, 36.6)]),
    state("ND", "North Dakota", "38", 0, &[(-104.05, 45.95, -96.55, 49.0)]),
    state("OH", "Ohio", "39", 4, &[(-84.8, 38.4, -80.5, 42.0)]),
    state("OK", "Oklahoma", "40", 2, &[(-103.0, 36.5, -100.0, 37.0), (-100.0, 33.6, -94.45, 37.0)]),
    state("OR", "Oregon", "41", 2, &[(-124.55, 42.0, -116.45, 46.3)]),
    state("PA", "Pennsylvania", "42", 4, &[(-80.5, 39.7, -74.7, 42.25)]),
    state("PR", "Puerto Rico", "72", 98, &[(-67.3, 17.9, -65.2, 18.5)]),
    state("RI", "Rhode Island", "44", 2, &[(-71.9, 41.15, -71.1, 42.02)]),
    state("SC", "South Carolina", "45", 2, &[(-83.35, 32.05, -78.55, 35.2)]),
    state("SD", "South Dakota", "46", 0, &[(-104.05, 42.5, -96.45, 45.95)]),
    state("TN", "Tennessee", "47", 2, &[(-90.3, 35.0, -81.65, 36.7)]),
    state(
        "TX",
        "Texas",
        "48",
        7,
        &[
            (-103.1, 31.8, -94.0, 34.0),
            (-103.1, 34.0, -100.0, 36.5),
            (-106.65, 29.0, -93.7, 32.0),
            (-100.0, 25.85, -97.0, 29.0),
        ],
    ),
    state("UT", "Utah", "49", 2, &[(-114.05, 37.0, -109.05, 42.0)]),
    state("VT", "Vermont", "50", 0, &[(-73.45, 42.7, -71.45, 45.0)]),
    state("VA", "Virginia", "51", 3, &[(-83.7, 36.55, -75.25, 37.9), (-79.5, 37.5, -76.5, 39.45)]),
    state("WA", "Washington", "53", 3, &[(-124.75, 45.55, -116.9, 49.0)]),
    state("WV", "West Virginia", "54", 2, &[(-82.65, 37.2, -77.7, 40.65)]),
    state("WI", "Wisconsin", "55", 3, &[(-92.9, 42.5, -86.8, 47.1)]),
    state("WY", "Wyoming", "56", 0, &[(-111.05, 41.0, -104.05, 45.0)]),
];

/// Cities, state by state; the coordinates are those of the place, rounded to four decimals.
pub(super) const CITIES: &[City] = &[
    city("Birmingham", "AL", "352", 33.5186, -86.8104),
    city("Mobile", "AL", "366", 30.6954, -88.0399),
    city("Anchorage", "AK", "995", 61.2181, -149.9003),
    city("Fairbanks", "AK", "997", 64.8378, -147.7164),
    city("Phoenix", "AZ", "850", 33.4484, -112.0740),
    city("Tucson", "AZ", "857", 32.2226, -110.9747),
    city("Little Rock", "AR", "722", 34.7465, -92.2896),
    city("Los Angeles", "CA", "900", 34.0522, -118.2437),
    city("San Diego", "CA", "921", 32.7157, -117.1611),
    city("San Francisco", "CA", "941", 37.7749, -122.4194),
    city("Fresno", "CA", "937", 36.7378, -119.7871),
    city("Sacramento", "CA", "958", 38.5816, -121.4944),
    city("Denver", "CO", "802", 39.7392, -104.9903),
    city("Grand Junction", "CO", "815", 39.0639, -108.5506),
    city("Hartford", "CT", "061", 41.7658, -72.6734),
    city("Dover", "DE", "199", 39.1582, -75.5244),
    city("Washington", "DC", "200", 38.9072, -77.0369),
    city("Miami", "FL", "331", 25.7617, -80.1918),
    city("Orlando", "FL", "328", 28.5383, -81.3792),
    city("Tallahassee", "FL", "323", 30.4383, -84.2807),
    city("Atlanta", "GA", "303", 33.7490, -84.3880),
    city("Savannah", "GA", "314", 32.0809, -81.0912),
    city("Honolulu", "HI", "968", 21.3069, -157.8583),
    city("Hilo", "HI", "967", 19.7071, -155.0816),
    city("Boise", "ID", "837", 43.6150, -116.2023),
    city("Chicago", "IL", "606", 41.8781, -87.6298),
    city("Springfield", "IL", "627", 39.7817, -89.6501),
    city("Indianapolis", "IN", "462", 39.7684, -86.1581),
    city("Des Moines", "IA", "503", 41.5868, -93.6250),
    city("Wichita", "KS", "672", 37.6872, -97.3301),
    city("Louisville", "KY", "402", 38.2527, -85.7585),
    city("New Orleans", "LA", "701", 29.9511, -90.0715),
    city("Portland", "ME", "041", 43.6591, -70.2568),
    city("Baltimore", "MD", "212", 39.2904, -76.6122),
    city("Boston", "MA", "021", 42.3601, -71.0589),
    city("Worcester", "MA", "016", 42.2626, -71.8023),
    city("Springfield", "MA", "011", 42.1015, -72.5898),
    city("Detroit", "MI", "482", 42.3314, -83.0458),
    city("Grand Rapids", "MI", "495", 42.9634, -85.6681),
    city("Minneapolis", "MN", "554", 44.9778, -93.2650),
    city("Duluth", "MN", "558", 46.7867, -92.1005),
    city("Jackson", "MS", "392", 32.2988, -90.1848),
    city("St. Louis", "MO", "631", 38.6270, -90.1994),
    city("Springfield", "MO", "658", 37.2090, -93.2923),
    city("Billings", "MT", "591", 45.7833, -108.5007),
    city("Missoula", "MT", "598", 46.8721, -113.9940),
    city("Omaha", "NE", "681", 41.2565, -95.9345),
    city("Las Vegas", "NV", "891", 36.1699, -115.1398),
    city("Reno", "NV", "895", 39.5296, -119.8138),
    city("Concord", "NH", "033", 43.2081, -71.5376),
    city("Trenton", "NJ", "086", 40.2206, -74.7597),
    city("Albuquerque", "NM", "871", 35.0844, -106.6504),
    city("New York", "NY", "100", 40.7128, -74.0060),
    city("Albany", "NY", "122", 42.6526, -73.7562),
    city("Buffalo", "NY", "142", 42.8864, -78.8784),
    city("Charlotte", "NC", "282", 35.2271, -80.8431),
    city("Raleigh", "NC", "276", 35.7796, -78.6382),
    city("Bismarck", "ND", "585", 46.8083, -100.7837),
    city("Columbus", "OH", "432", 39.9612, -82.9988),
    city("Cleveland", "OH", "441", 41.4993, -81.6944),
    city("Oklahoma City", "OK", "731", 35.4676, -97.5164),
    city("Portland", "OR", "972", 45.5152, -122.6784),
    city("Philadelphia", "PA", "191", 39.9526, -75.1652),
    city("Pittsburgh", "PA", "152", 40.4406, -79.9959),
    city("San Juan", "PR", "009", 18.4655, -66.1057),
    city("Providence", "RI", "029", 41.8240, -71.4128),
    city("Columbia", "SC", "292", 34.0007, -81.0348),
    city("Sioux Falls", "SD", "571", 43.5446, -96.7311),
    city("Nashville", "TN", "372", 36.1627, -86.7816),
    city("Houston", "TX", "770", 29.7604, -95.3698),
    city("Dallas", "TX", "752", 32.7767, -96.7970),
    city("Austin", "TX", "787", 30.2672, -97.7431),
    city("El Paso", "TX", "799", 31.7619, -106.4850),
    city("Salt Lake City", "UT", "841", 40.7608, -111.8910),
    city("Burlington", "VT", "054", 44.4759, -73.2121),
    city("Montpelier", "VT", "056", 44.2601, -72.5754),
    city("Richmond", "VA", "232", 37.5407, -77.4360),
    city("Norfolk", "VA", "235", 36.8508, -76.2859),
    city("Seattle", "WA", "981", 47.6062, -122.3321),
    city("Spokane", "WA", "992", 47.6588, -117.4260),
    city("Charleston", "WV", "253", 38.3498, -81.6326),
    city("Milwaukee", "WI", "532", 43.0389, -87.9065),
    city("Madison", "WI", "537", 43.0722, -89.4008),
    city("Cheyenne", "WY", "820", 41.1400, -104.8202),
    city("Casper", "WY", "826", 42.8666, -106.3131),
];

/// The state with that postal code.
pub(super) fn state_of(code: &str) -> Option<&'static State> {
    STATES.iter().find(|state| state.code == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_city_lies_in_its_state_and_every_state_has_one() {
        for city in CITIES {
            let state = state_of(city.state).unwrap();
            let inside = state.boxes.iter().any(|(west, south, east, north)| {
                (*west..=*east).contains(&city.longitude) && (*south..=*north).contains(&city.latitude)
            });
            assert!(inside, "{}, {}", city.name, city.state);
        }
        for state in STATES {
            assert!(CITIES.iter().any(|city| city.state == state.code), "{}", state.code);
        }
    }
}
