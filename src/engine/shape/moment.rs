//! Dates and timestamps as PostgREST writes them.

use chrono::{DateTime, Datelike, Days, NaiveDate, NaiveDateTime, Timelike};

/// `YYYY-MM-DD`, years before 1 with ` BC`.
pub(super) fn date_text(days: i32) -> Option<String> {
    let epoch = NaiveDate::from_ymd_opt(1970, 1, 1)?;
    let span = Days::new(u64::from(days.unsigned_abs()));
    let date = if days < 0 { epoch.checked_sub_days(span)? } else { epoch.checked_add_days(span)? };
    let (year, era) = year_and_era(&date);
    Some(format!("{year:04}-{:02}-{:02}{era}", date.month(), date.day()))
}

/// ISO with `T`, at most six decimals, trailing zeros cut; with `offset` between time and era.
pub(super) fn timestamp_text(micros: i64, offset: &str) -> Option<String> {
    let moment: NaiveDateTime = DateTime::from_timestamp_micros(micros)?.naive_utc();
    let (year, era) = year_and_era(&moment);
    let fraction = match moment.nanosecond() / 1_000 {
        0 => String::new(),
        micros => format!(".{micros:06}").trim_end_matches('0').to_owned(),
    };
    Some(format!(
        "{year:04}-{:02}-{:02}T{:02}:{:02}:{:02}{fraction}{offset}{era}",
        moment.month(),
        moment.day(),
        moment.hour(),
        moment.minute(),
        moment.second()
    ))
}

/// Astronomical year 0 is 1 BC.
fn year_and_era(date: &impl Datelike) -> (i32, &'static str) {
    match date.year() {
        year if year > 0 => (year, ""),
        year => (1 - year, " BC"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iso_with_cut_zeros_and_eras() {
        assert_eq!(date_text(0).as_deref(), Some("1970-01-01"));
        assert_eq!(date_text(-719_529).as_deref(), Some("0001-12-31 BC"));
        assert_eq!(timestamp_text(1_500_000, "").as_deref(), Some("1970-01-01T00:00:01.5"));
        assert_eq!(timestamp_text(-1, "+00:00").as_deref(), Some("1969-12-31T23:59:59.999999+00:00"));
        assert_eq!(timestamp_text(0, "").as_deref(), Some("1970-01-01T00:00:00"));
    }
}
