//! Values of every type as PostgreSQL's input functions read them; adversarial ones first.

use crate::dice::Dice;

/// Text that is easy to get wrong: quoting, patterns, blanks, case folding, code-point order.
pub(crate) const TEXTS: &[&str] = &[
    "",
    " ",
    "  ",
    "a",
    "A",
    "b",
    "B",
    "ab",
    "aB",
    "AB",
    "abc",
    "a b",
    " lead",
    "trail ",
    "null",
    "NULL",
    "03",
    "003",
    "3",
    "0",
    "000",
    "12",
    "12.00",
    "3.5",
    "-3",
    "+3",
    "a,b",
    "a.b",
    "(x)",
    "q\"q",
    "\"qq\"",
    "'",
    "it's",
    "''",
    "50%",
    "%",
    "_",
    "a_b",
    "axb",
    "a%b",
    "back\\slash",
    "\\",
    "\\\\",
    "\\%",
    "star*",
    "line\nbreak",
    "tab\there",
    "\r\n",
    "é",
    "e\u{301}",
    "É",
    "İ",
    "i",
    "I",
    "ı",
    "ß",
    "ẞ",
    "SS",
    "ss",
    "Σ",
    "σ",
    "ς",
    "ΑΣ",
    "ας",
    "K",
    "\u{212a}",
    "k",
    "ſ",
    "s",
    "S",
    "😀",
    "😀😀",
    "e😀b",
    "\u{fb33}",
    "\u{ffff}",
    "\u{10000}",
    "[3]",
    "{k}",
    "1+1",
    "a-b",
    "~",
    "é€😀",
    "ǅ",
    "Ǆ",
    "ǆ",
    "Ω",
    "\u{2126}",
    "ω",
    "Å",
    "\u{212b}",
    "å",
    ".*",
    "^a$",
    "a|b",
    "\u{feff}",
    "\u{200b}",
    "Ⅷ",
    "ⅷ",
    "Ⓐ",
    "ⓐ",
    "Ა",
    "ა",
    "Ꭰ",
    "ꭰ",
    "2024-02-29",
    "true",
    "=eq.",
    "in.[1]",
    "a:b",
    "eq.a",
];

pub(crate) fn text(dice: &mut Dice) -> String {
    match dice.below(10) {
        0..7 => (*dice.pick(TEXTS)).to_owned(),
        7 | 8 => format!("{}{}", dice.pick(TEXTS), dice.pick(TEXTS)),
        // Alike beyond what statistics keep of a text.
        _ => format!("{}{}", "long shared beginning é ".repeat(4), dice.pick(TEXTS)),
    }
}

pub(crate) fn short_text(dice: &mut Dice) -> String {
    (*dice.pick(&["A", "AB", "a", "ab", " ", "", "b", "é", "ß", "A ", " A", "z", "MA", "NY", "_", "%"]))
        .to_owned()
}

pub(crate) fn integer(dice: &mut Dice, low: i64, high: i64) -> String {
    match dice.below(20) {
        0 => low.to_string(),
        1 => high.to_string(),
        2..6 => dice.between(low, high).to_string(),
        _ => dice.between(low.max(-9), high.min(30)).to_string(),
    }
}

/// A decimal of at most `integer` digits before and exactly `scale` after the point, or fewer of both.
pub(crate) fn decimal(dice: &mut Dice, integer: usize, scale: usize) -> String {
    let digits = |dice: &mut Dice, count: usize| -> String {
        (0..count).map(|_| char::from(b'0' + dice.below(10) as u8)).collect()
    };
    let sign = if dice.percent(40) { "-" } else { "" };
    let (before, after) = match dice.below(12) {
        0 => ("9".repeat(integer), "9".repeat(scale)),
        1 => ("0".to_owned(), "0".repeat(scale)),
        2 => ("0".to_owned(), format!("{}1", "0".repeat(scale.saturating_sub(1)))),
        3 | 4 => (digits(dice, integer), digits(dice, scale)),
        5 => {
            let count = dice.below(integer.max(1)) + 1;
            (digits(dice, count), digits(dice, scale))
        }
        6..9 => (dice.below(20).to_string(), format!("{:0<width$}", dice.below(100), width = scale)),
        _ => (dice.below(20).to_string(), "0".repeat(scale)),
    };
    let before = if integer == 0 { "0".to_owned() } else { before };
    let after = &after[..after.len().min(scale)];
    if scale == 0 { format!("{sign}{before}") } else { format!("{sign}{before}.{after}") }
}

/// A decimal with as many digits as it likes, up to 38 before and 30 after the point.
pub(crate) fn free_decimal(dice: &mut Dice) -> String {
    match dice.below(4) {
        0 => decimal(dice, 38, 30),
        1 => decimal(dice, 20, 20),
        _ => {
            let scale = dice.below(5);
            decimal(dice, 3, scale)
        }
    }
}

const DOUBLES: &[&str] = &[
    "0",
    "-0",
    "1",
    "-1",
    "0.1",
    "0.2",
    "0.3",
    "-0.1",
    "1e300",
    "-1e300",
    "NaN",
    "NaN",
    "Infinity",
    "-Infinity",
    "5e-324",
    "-5e-324",
    "2.2250738585072014e-308",
    "1.1125369292536007e-308",
    "1.7976931348623157e+307",
    "9007199254740992",
    "9007199254740994",
    "123456789.123456789",
    "1e15",
    "1e14",
    "123456789012345.6",
    "1e-4",
    "1e-5",
    "1e22",
    "3",
    "12",
    "3",
];

pub(crate) fn double(dice: &mut Dice) -> String {
    match dice.below(10) {
        0..6 => (*dice.pick(DOUBLES)).to_owned(),
        6 | 7 => format!("{}.{}", dice.between(-30, 30), dice.below(100)),
        // Any finite bit pattern whose magnitude can't make a sum of hundreds overflow.
        _ => loop {
            let value = f64::from_bits(dice.bits());
            if value.is_finite() && value.abs() < 1e304 {
                break format!("{value:e}");
            }
        },
    }
}

const REALS: &[&str] = &[
    "0",
    "-0",
    "1",
    "0.1",
    "0.2",
    "0.3",
    "-0.3",
    "3.4e35",
    "-3.4e35",
    "NaN",
    "Infinity",
    "-Infinity",
    "1e-45",
    "-1e-45",
    "1.17549435e-38",
    "16777216",
    "16777217",
    "1e6",
    "999999",
    "1e-4",
    "1e-5",
    "5.9604645e-08",
    "8.6736174e-19",
    "3",
];

pub(crate) fn real(dice: &mut Dice) -> String {
    match dice.below(10) {
        0..6 => (*dice.pick(REALS)).to_owned(),
        6 | 7 => format!("{}.{}", dice.between(-30, 30), dice.below(100)),
        _ => loop {
            let value = f32::from_bits(dice.bits() as u32);
            if value.is_finite() && value.abs() < 1e35 {
                break format!("{value:e}");
            }
        },
    }
}

pub(crate) fn boolean(dice: &mut Dice) -> String {
    (*dice.pick(&["true", "false"])).to_owned()
}

const DATES: &[&str] = &[
    "1970-01-01",
    "1969-12-31",
    "2024-02-29",
    "1900-02-28",
    "1582-10-10",
    "0001-01-01",
    "9999-12-31",
    "0044-03-15 BC",
    "0001-12-31 BC",
    "4713-01-01 BC",
    "10000-01-01",
    "262143-12-31",
    "5874897-12-31",
    "2000-01-01",
];

pub(crate) fn date(dice: &mut Dice) -> String {
    match dice.below(4) {
        0 => (*dice.pick(DATES)).to_owned(),
        _ => format!("{}-{:02}-{:02}", dice.between(2018, 2024), dice.between(1, 12), dice.between(1, 28)),
    }
}

const TIMESTAMPS: &[&str] = &[
    "1970-01-01 00:00:00",
    "1969-12-31 23:59:59.999999",
    "0044-03-15 12:00:00.5 BC",
    "9999-12-31 23:59:59.999999",
    "10000-01-01 00:00:00",
    "290000-06-15 01:02:03.000004",
    "2024-02-29 00:00:00.1",
    "4713-01-01 00:00:00 BC",
];

pub(crate) fn timestamp(dice: &mut Dice) -> String {
    match dice.below(4) {
        0 => (*dice.pick(TIMESTAMPS)).to_owned(),
        _ => {
            let fraction = *dice.pick(&["", ".5", ".000001", ".123456", ".120000"]);
            format!(
                "{}-{:02}-{:02} {:02}:{:02}:{:02}{fraction}",
                dice.between(2022, 2024),
                dice.between(1, 12),
                dice.between(1, 28),
                dice.between(0, 23),
                dice.between(0, 59),
                dice.between(0, 59)
            )
        }
    }
}

/// A timestamp with a zone; PostgreSQL wants the zone before the era.
pub(crate) fn timestamp_tz(dice: &mut Dice) -> String {
    let text = timestamp(dice);
    let zone = *dice.pick(&["+00", "Z", "+02:00", "-08", "+05:30"]);
    match text.strip_suffix(" BC") {
        Some(text) => format!("{text}{zone} BC"),
        None => format!("{text}{zone}"),
    }
}

pub(crate) fn uuid(dice: &mut Dice) -> String {
    let n = dice.below(40) as u64;
    let scattered = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!("{:08x}-9c0b-4ef8-bb6d-{:012x}", scattered >> 32, n)
}
