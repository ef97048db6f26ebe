//! Degrees to the planar metres of EPSG:3857, as PROJ computes them.
//!
//! Spherical Mercator: `x = R·λ`, `y = R·asinh(tan φ)`, with R the WGS 84 semi-major axis. The textbook form
//! `ln(tan(π/4 + φ/2))` differs in the last bits for most latitudes and fails at −90°, so it is not used.
//!
//! `tan` and `asinh` come from `libm`, a pure-Rust library, so the same degrees give the same bits on every host.
//! PROJ takes both from the host's C library; the two agree to within 1e-6 m at every latitude from pole to pole
//! (the tests hold values computed with 50 digits, and the PostGIS oracle compares end to end). The error that
//! matters is the tangent's own near the poles, where one unit in the last place of φ moves y by metres; both
//! start from the same product of degrees and the same constant, so they see the same φ.

use geo::Coord;

/// R: the WGS 84 semi-major axis in metres, used as the radius of the sphere.
pub const EARTH_RADIUS_METERS: f64 = 6_378_137.0;

/// Half the width of the projected world in metres: 180° of longitude.
pub const HALF_WORLD_METERS: f64 = EARTH_RADIUS_METERS * std::f64::consts::PI;

/// Spatial reference of longitude and latitude in degrees (WGS 84).
pub const DEGREES_SRID: i32 = 4326;

/// Spatial reference of the projected metres (Web Mercator).
pub const METERS_SRID: i32 = 3857;

/// Radians per degree, the constant PROJ multiplies by.
const RADIANS_PER_DEGREE: f64 = 0.017_453_292_519_943_296;

/// How far beyond a pole or the antimeridian PROJ still reads as on it, in radians.
const ANGLE_TOLERANCE: f64 = 1e-12;

/// Longitudes beyond this many radians PROJ refuses rather than wraps.
const LONGITUDE_LIMIT_RADIANS: f64 = 10.0;

/// Projects a longitude and a latitude in degrees to metres.
///
/// Latitudes from −90 to 90 have a projection, the poles included (about ±242,528,681 m). Longitudes beyond ±180 are
/// wrapped as PROJ wraps them, up to 10 radians (about 573°). `None` is what PROJ reports as an invalid coordinate:
/// beyond those limits, infinite or NaN. A returned coordinate is always finite.
pub fn project(longitude: f64, latitude: f64) -> Option<Coord<f64>> {
    let lambda = longitude * RADIANS_PER_DEGREE;
    let phi = latitude * RADIANS_PER_DEGREE;
    // Written so that NaN fails too.
    let in_domain =
        phi.abs() - std::f64::consts::FRAC_PI_2 <= ANGLE_TOLERANCE && lambda.abs() <= LONGITUDE_LIMIT_RADIANS;
    if !in_domain {
        return None;
    }
    let phi = phi.clamp(-std::f64::consts::FRAC_PI_2, std::f64::consts::FRAC_PI_2);
    Some(Coord {
        x: EARTH_RADIUS_METERS * wrapped(lambda),
        y: EARTH_RADIUS_METERS * libm::asinh(libm::tan(phi)),
    })
}

/// The longitude in radians within ±π. A slight overshoot is kept, so that the date line doesn't switch sides.
fn wrapped(lambda: f64) -> f64 {
    use std::f64::consts::{PI, TAU};
    if lambda.abs() < PI + ANGLE_TOLERANCE {
        return lambda;
    }
    let from_zero = lambda + PI;
    from_zero - TAU * (from_zero / TAU).floor() - PI
}

/// Planar metres per metre on the ground at a latitude in degrees: 1/cos φ, 1 at the equator and about 1.31 at 40°.
/// `None` where it has no finite meaning (the poles, or a latitude that isn't one).
pub fn ground_distance_factor(latitude: f64) -> Option<f64> {
    let factor = 1.0 / libm::cos(latitude * RADIANS_PER_DEGREE);
    (latitude.abs() < 90.0 && factor.is_finite()).then_some(factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Longitude, latitude, x, y: computed outside Rust with 50 decimal digits from the angle in radians as a double
    /// (what PROJ starts from: at the poles that rounding alone is worth metres), and rounded once.
    const VECTORS: [(f64, f64, f64, f64); 39] = [
        (0.0, 0.0, 0.0, 0.0),
        (-77.0365, 38.8977, -8575663.95249602, 4707028.550805141),
        (-122.4194, 37.7749, -13627665.271218073, 4547675.354340558),
        (1.2823954, 52.6185576, 142755.60292363638, 6912750.734176381),
        (179.9, 51.3, 20026376.393709917, 6674532.79847308),
        (-179.9, 51.9, -20026376.393709917, 6782064.328749424),
        (180.0, 60.0, 20037508.342789244, 8399737.889818357),
        (-180.0, -60.0, -20037508.342789244, -8399737.889818357),
        (-150.0, 64.5, -16697923.618991036, 9477884.896855222),
        (144.78, 13.45, 16116835.877050148, 1511190.9113695114),
        (-66.1, 18.4, -7358218.341435383, 2084421.4040336357),
        (-170.7, -14.3, -19002237.0784118, -1608657.4067022013),
        (0.1, 1e-09, 11131.949079327358, 0.00011131949079327359),
        (1e-07, -1e-05, 0.011131949079327358, -1.1131949079327415),
        (45.0, 45.0, 5009377.085697311, 5621521.486192067),
        (-45.0, -45.0, -5009377.085697311, -5621521.486192067),
        (10.0, 85.0511287798066, 1113194.9079327357, 20037508.342789248),
        (12.5, -85.0511287798066, 1391493.6349159195, -20037508.342789248),
        (20.0, 89.0, 2226389.8158654715, 30240971.95838615),
        (20.0, -89.9, 2226389.8158654715, -44927335.42709685),
        (30.0, 89.999, 3339584.723798207, 74299743.4005532),
        (1.0, 0.5, 111319.49079327357, 55660.45186542153),
        (-104.99, 39.74, -11687433.338385792, 4828231.409387338),
        (-71.06, 42.36, -7910363.015770021, 5215059.174610622),
        (-95.0226877, -70.6364459, -10577877.20857226, -11279095.038438743),
        (-37.4190327, -61.4149358, -4165467.6661408525, -8721727.327334745),
        (-156.0545656, -17.5167994, -17371914.778557505, -1981067.445398062),
        (150.4638155, 53.4805186, 16749555.324273065, 7072380.221691337),
        (95.4585369, -49.4967847, 10626395.719578914, -6359579.636331022),
        (13.2048029, -39.7504895, 1469951.9348535424, -4829750.064021794),
        (-117.8407695, -70.0993739, -13117974.455427524, -11101136.845263984),
        (-102.8158443, 76.0906624, -11445407.432956498, 13418870.723656485),
        (118.4112176, 54.5841177, 13181476.447443513, 7281566.621661592),
        (108.1612219, -54.56846, 12040452.14548627, -7278559.458573588),
        (-68.4540154, 22.6016572, -7620266.137082907, 2583916.3698792374),
        (83.4820952, 63.1274077, 9293184.32801959, 9131559.956931429),
        (0.0, 90.0, 0.0, 242528680.94374272),
        (0.0, -90.0, 0.0, -242528680.94374272),
        (7.0, 89.9999999, 779236.435552915, 133044556.02311718),
    ];

    /// Longitude, latitude and the bits of x and y.
    const PINNED: [(f64, f64, u64, u64); 4] = [
        (-77.0365, 38.8977, 13934237671984126191, 4706812144396559414),
        (-150.0, 64.5, 13938598276938778186, 4711350011310574009),
        (0.1, 1e-9, 4667345468054728744, 4547842353017776706),
        (180.0, 90.0, 4716143987918639251, 4732413921244426815),
    ];

    #[test]
    fn agrees_with_fifty_digit_arithmetic() {
        for (longitude, latitude, x, y) in VECTORS {
            let projected = project(longitude, latitude).unwrap();
            assert!((projected.x - x).abs() <= 1e-6, "x of {longitude}: {} instead of {x}", projected.x);
            assert!((projected.y - y).abs() <= 1e-6, "y of {latitude}: {} instead of {y}", projected.y);
        }
    }

    #[test]
    fn the_last_bits_are_pinned() {
        // Bits, not a tolerance: an answer near a border may not depend on the host or a library's next release.
        let pinned = PINNED.map(|(longitude, latitude, _, _)| {
            let projected = project(longitude, latitude).unwrap();
            (longitude, latitude, projected.x.to_bits(), projected.y.to_bits())
        });
        assert_eq!(pinned, PINNED);
    }

    #[test]
    fn longitudes_beyond_the_date_line_wrap_as_in_proj() {
        // x of PROJ 9.1.1 for the same longitudes.
        for (longitude, x) in [
            (180.0, 20_037_508.342789244),
            (180.0000000001, -20_037_508.34277811),
            (190.0, -18_924_313.434856508),
            (-190.0, 18_924_313.434856508),
            (539.0, 19_926_188.851995975),
        ] {
            let projected = project(longitude, 10.0).unwrap();
            assert!((projected.x - x).abs() <= 1e-6, "{longitude}: {} instead of {x}", projected.x);
        }
    }

    #[test]
    fn what_proj_refuses_has_no_projection() {
        for (longitude, latitude) in [
            (0.0, 90.0001),
            (0.0, -90.0001),
            (0.0, 1e300),
            (600.0, 0.0),
            (f64::NAN, 0.0),
            (0.0, f64::NAN),
            (f64::INFINITY, 0.0),
            (0.0, f64::NEG_INFINITY),
        ] {
            assert_eq!(project(longitude, latitude), None, "{longitude} {latitude}");
        }
    }

    #[test]
    fn ground_factor_is_one_over_the_cosine() {
        assert_eq!(ground_distance_factor(0.0), Some(1.0));
        let at_forty = ground_distance_factor(40.0).unwrap();
        assert!((at_forty - 1.305_407_289_332_279).abs() < 1e-12, "{at_forty}");
        assert_eq!(ground_distance_factor(-40.0), Some(at_forty));
        for latitude in [90.0, -90.0, f64::NAN, 91.0] {
            assert_eq!(ground_distance_factor(latitude), None);
        }
    }

    proptest! {
        #[test]
        fn every_place_on_earth_projects_to_finite_metres(longitude in -180.0..=180.0f64, latitude in -90.0..=90.0f64) {
            let projected = project(longitude, latitude).unwrap();
            prop_assert!(projected.x.abs() <= HALF_WORLD_METERS + 1e-6);
            prop_assert!(projected.y.abs() <= 242_528_681.0);
            // Odd in both arguments, exactly: nothing leans to one hemisphere.
            let mirrored = project(-longitude, -latitude).unwrap();
            prop_assert_eq!((mirrored.x, mirrored.y), (-projected.x, -projected.y));
        }
    }
}
