//! Dates and timestamps: days and microseconds to PostgreSQL's ISO text and back.

use chrono::{Datelike, NaiveDate};

use super::{DATE_INFINITY, DATE_MINUS_INFINITY, TIMESTAMP_INFINITY, TIMESTAMP_MINUS_INFINITY};

pub(super) const MICROS_PER_DAY: i64 = 86_400_000_000;

/// Why a text isn't a date or timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MomentError {
    /// Not in a known form (22007).
    Syntax,
    /// In form, but no such day or time (22008).
    OutOfRange,
}

/// The calendar repeats after 400 years; chrono's ends before PostgreSQL's.
const CYCLE_YEARS: i32 = 400;
const CYCLE_DAYS: i32 = 146_097;

/// Days since 1970-01-01; `None` when there is no such day.
pub(crate) fn days(year: i32, month: u32, day: u32) -> Option<i32> {
    let cycles = year.checked_sub(2000)?.div_euclid(CYCLE_YEARS);
    let within = NaiveDate::from_ymd_opt(year - cycles * CYCLE_YEARS, month, day)?;
    within.to_epoch_days().checked_add(cycles.checked_mul(CYCLE_DAYS)?)
}

fn date_parts(days: i32) -> (String, bool) {
    let cycles = days.div_euclid(CYCLE_DAYS);
    match NaiveDate::from_epoch_days(days.rem_euclid(CYCLE_DAYS)) {
        Some(date) => {
            let year = date.year() + cycles * CYCLE_YEARS;
            // Year 0 is 1 BC.
            let (shown, before_christ) = if year <= 0 { (1 - year, true) } else { (year, false) };
            (format!("{shown:04}-{:02}-{:02}", date.month(), date.day()), before_christ)
        }
        None => (days.to_string(), false),
    }
}

/// `YYYY-MM-DD`, `0044-03-15 BC`, `infinity`.
pub(super) fn date_text(days: i32) -> String {
    match days {
        DATE_INFINITY => "infinity".to_owned(),
        DATE_MINUS_INFINITY => "-infinity".to_owned(),
        _ => {
            let (text, before_christ) = date_parts(days);
            if before_christ { format!("{text} BC") } else { text }
        }
    }
}

/// The form JSON output uses: `T` between date and time, trailing zeros of the fraction cut; `offset` after the time.
pub(super) fn timestamp_text(micros: i64, offset: &str) -> String {
    match micros {
        TIMESTAMP_INFINITY => return "infinity".to_owned(),
        TIMESTAMP_MINUS_INFINITY => return "-infinity".to_owned(),
        _ => {}
    }
    let (text, before_christ) =
        date_parts(i32::try_from(micros.div_euclid(MICROS_PER_DAY)).unwrap_or(i32::MAX));
    let of_day = micros.rem_euclid(MICROS_PER_DAY);
    let (seconds, fraction) = (of_day / 1_000_000, of_day % 1_000_000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let fraction = match fraction {
        0 => String::new(),
        _ => format!(".{fraction:06}").trim_end_matches('0').to_owned(),
    };
    let era = if before_christ { " BC" } else { "" };
    format!("{text}T{hour:02}:{minute:02}:{second:02}{fraction}{offset}{era}")
}

/// A parsed moment: day, microsecond of the day if a time was written, offset east of UTC in seconds if one was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) day: i32,
    pub(super) time: Option<i64>,
    pub(super) offset: Option<i32>,
}

/// What a date or timestamp literal says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parsed {
    Moment(Moment),
    Infinity,
    MinusInfinity,
}

/// Reads the ISO forms: `Y-M-D`, `YYYYMMDD`, an optional time after `T` or blanks, an optional zone, an optional era;
/// `infinity` and `epoch`. PostgreSQL reads many more; the demo refuses those as syntax.
pub(super) fn parse_moment(text: &str) -> Result<Parsed, MomentError> {
    let lowered = text.trim().to_ascii_lowercase();
    match lowered.as_str() {
        "infinity" | "+infinity" => return Ok(Parsed::Infinity),
        "-infinity" => return Ok(Parsed::MinusInfinity),
        "epoch" => return Ok(Parsed::Moment(Moment { day: 0, time: Some(0), offset: Some(0) })),
        _ => {}
    }
    let (body, before_christ) = match lowered.strip_suffix("bc").or_else(|| lowered.strip_suffix("ad")) {
        Some(body) => (body.trim_end(), lowered.ends_with("bc")),
        None => (lowered.as_str(), false),
    };
    let split = body.find(['t', ' ']).unwrap_or(body.len());
    let (date, rest) = body.split_at(split);
    let day = parse_day(date, before_christ)?;
    let rest = rest.trim_start_matches(['t', ' ']);
    if rest.is_empty() {
        return if body.len() > split {
            Err(MomentError::Syntax)
        } else {
            Ok(Parsed::Moment(Moment { day, time: None, offset: None }))
        };
    }
    let zone_at = rest.find(|c: char| !(c.is_ascii_digit() || c == ':' || c == '.')).unwrap_or(rest.len());
    let (time, zone) = rest.split_at(zone_at);
    let time = parse_time(time)?;
    let offset = match zone.trim_start() {
        "" => None,
        zone => Some(parse_zone(zone)?),
    };
    Ok(Parsed::Moment(Moment { day, time: Some(time), offset }))
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, MomentError> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(MomentError::Syntax);
    }
    text.parse().map_err(|_| MomentError::OutOfRange)
}

fn parse_day(text: &str, before_christ: bool) -> Result<i32, MomentError> {
    let parts: Vec<&str> = text.split('-').collect();
    let (year, month, day) = match parts.as_slice() {
        [year, month, day] if year.len() >= 3 && month.len() <= 2 && day.len() <= 2 => (*year, *month, *day),
        [compact] if compact.len() == 8 && compact.is_ascii() => {
            (&compact[..4], &compact[4..6], &compact[6..])
        }
        _ => return Err(MomentError::Syntax),
    };
    let (year, month, day): (i32, u32, u32) = (number(year)?, number(month)?, number(day)?);
    if year == 0 {
        return Err(MomentError::OutOfRange);
    }
    days(if before_christ { 1 - year } else { year }, month, day).ok_or(MomentError::OutOfRange)
}

fn parse_time(text: &str) -> Result<i64, MomentError> {
    let (clock, fraction) = text.split_once('.').unwrap_or((text, ""));
    let parts: Vec<&str> = clock.split(':').collect();
    let (hour, minute, second): (i64, i64, i64) = match parts.as_slice() {
        [hour, minute] => (number(hour)?, number(minute)?, 0),
        [hour, minute, second] => (number(hour)?, number(minute)?, number(second)?),
        _ => return Err(MomentError::Syntax),
    };
    let micros = match fraction {
        "" => 0,
        // Rounded to microseconds, as the input function does.
        _ => {
            number::<u128>(fraction)?;
            let seven: i64 = number(&format!("{fraction:0<7}")[..7])?;
            (seven + 5) / 10
        }
    };
    let total = (hour * 3600 + minute * 60 + second) * 1_000_000 + micros;
    if hour > 24 || minute > 59 || second > 60 || total > MICROS_PER_DAY {
        return Err(MomentError::OutOfRange);
    }
    Ok(total)
}

fn parse_zone(text: &str) -> Result<i32, MomentError> {
    if matches!(text, "z" | "utc" | "gmt") {
        return Ok(0);
    }
    let (sign, digits) = match text.split_at_checked(1) {
        Some(("+", digits)) => (1, digits),
        Some(("-", digits)) => (-1, digits),
        _ => return Err(MomentError::Syntax),
    };
    let parts: Vec<&str> = digits.split(':').collect();
    let (hours, minutes, seconds): (i32, i32, i32) = match parts.as_slice() {
        [compact] if compact.len() > 2 => {
            let at = compact.len() - 2;
            (number(compact.get(..at).unwrap_or(""))?, number(compact.get(at..).unwrap_or(""))?, 0)
        }
        [hours] => (number(hours)?, 0, 0),
        [hours, minutes] => (number(hours)?, number(minutes)?, 0),
        [hours, minutes, seconds] => (number(hours)?, number(minutes)?, number(seconds)?),
        _ => return Err(MomentError::Syntax),
    };
    if hours > 15 || minutes > 59 || seconds > 59 {
        return Err(MomentError::OutOfRange);
    }
    Ok(sign * (hours * 3600 + minutes * 60 + seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_forms() {
        assert_eq!(date_text(0), "1970-01-01");
        assert_eq!(date_text(days(-43, 3, 15).unwrap()), "0044-03-15 BC");
        assert_eq!(timestamp_text(-1, ""), "1969-12-31T23:59:59.999999");
        assert_eq!(timestamp_text(120_000, "+00:00"), "1970-01-01T00:00:00.12+00:00");
        assert_eq!(timestamp_text(TIMESTAMP_INFINITY, ""), "infinity");
    }

    #[test]
    fn literals() {
        let moment = |text: &str| match parse_moment(text) {
            Ok(Parsed::Moment(moment)) => (date_text(moment.day), moment.time, moment.offset),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(moment("2024-02-29"), ("2024-02-29".into(), None, None));
        assert_eq!(moment("5874897-12-31"), ("5874897-12-31".into(), None, None));
        assert_eq!(moment("4713-01-01 BC"), ("4713-01-01 BC".into(), None, None));
        assert_eq!(moment("20240229"), ("2024-02-29".into(), None, None));
        assert_eq!(moment("0044-03-15 BC"), ("0044-03-15 BC".into(), None, None));
        assert_eq!(moment("2024-02-29T12:34:56.12+05:30").2, Some(19_800));
        assert_eq!(moment("2024-02-29 12:34:56.1234565Z").1, Some(45_296_123_457));
        assert_eq!(moment("2024-02-29 12:34 -08").2, Some(-28_800));
        for wrong in ["", "yesterday-ish", "2024-02-29T10:34:56.123456 00:00", "2024/02/29x", "2024-02-29T"] {
            assert_eq!(parse_moment(wrong), Err(MomentError::Syntax), "{wrong}");
        }
        for wrong in ["2023-02-29", "2024-13-01", "0000-01-01", "2024-01-01 25:00"] {
            assert_eq!(parse_moment(wrong), Err(MomentError::OutOfRange), "{wrong}");
        }
    }
}
