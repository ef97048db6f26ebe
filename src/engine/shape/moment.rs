//! Dates and timestamps as PostgREST writes them.

use crate::engine::calendar::{DAY_MICROS, WrittenDate};

/// `YYYY-MM-DD`, years before 1 with ` BC`.
pub(in crate::engine) fn date_text(days: i32) -> String {
    let (date, era) = parts(i64::from(days));
    format!("{date}{era}")
}

/// ISO with `T`, at most six decimals, trailing zeros cut; with `offset` between time and era.
pub(in crate::engine) fn timestamp_text(micros: i64, offset: &str) -> String {
    let (date, era) = parts(micros.div_euclid(DAY_MICROS));
    let of_day = micros.rem_euclid(DAY_MICROS);
    let seconds = of_day / 1_000_000;
    let fraction = match of_day % 1_000_000 {
        0 => String::new(),
        micros => format!(".{micros:06}").trim_end_matches('0').to_owned(),
    };
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{date}T{hours:02}:{minutes:02}:{seconds:02}{fraction}{offset}{era}")
}

fn parts(days: i64) -> (String, &'static str) {
    let WrittenDate { year, before_christ, month, day } = WrittenDate::from_days(days);
    (format!("{year:04}-{month:02}-{day:02}"), if before_christ { " BC" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iso_with_cut_zeros_and_eras() {
        assert_eq!(date_text(0), "1970-01-01");
        assert_eq!(date_text(-719_163), "0001-12-31 BC");
        assert_eq!(date_text(2_145_042_905), "5874897-12-31", "beyond chrono's last year");
        assert_eq!(timestamp_text(1_500_000, ""), "1970-01-01T00:00:01.5");
        assert_eq!(timestamp_text(-1, "+00:00"), "1969-12-31T23:59:59.999999+00:00");
        assert_eq!(timestamp_text(0, ""), "1970-01-01T00:00:00");
        assert_eq!(timestamp_text(i64::MAX, ""), "294247-01-10T04:00:54.775807");
        assert_eq!(timestamp_text(i64::MIN, ""), "290309-12-21T19:59:05.224192 BC");
    }
}
