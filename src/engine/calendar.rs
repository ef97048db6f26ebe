//! PostgreSQL's calendar: proleptic Gregorian days, far beyond the years chrono knows (5,874,897 AD; 4714 BC).

/// Microseconds of a day.
pub(super) const DAY_MICROS: i64 = 86_400_000_000;

/// PostgreSQL's last year of a `date`.
const LAST_YEAR: i64 = 5_874_897;
/// Its first year, astronomically: 4714 BC.
const FIRST_YEAR: i64 = -4_713;

/// A date as it is written: years count from 1 in both eras.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WrittenDate {
    /// Year of the era.
    pub(super) year: i64,
    /// Whether the era is BC.
    pub(super) before_christ: bool,
    /// 1 to 12.
    pub(super) month: u32,
    /// 1 to 31.
    pub(super) day: u32,
}

impl WrittenDate {
    /// The date so many days after 1970-01-01.
    pub(super) fn from_days(days: i64) -> Self {
        // Eras of 400 years begin on March 1st, so that the leap day is the last of its year.
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        let year = era * 400 + year_of_era + i64::from(month <= 2);
        Self {
            year: if year > 0 { year } else { 1 - year },
            before_christ: year <= 0,
            month: u32::try_from(month).unwrap_or(1),
            day: u32::try_from(day).unwrap_or(1),
        }
    }

    /// Days after 1970-01-01; `None` for a date that doesn't exist or that PostgreSQL can't hold.
    pub(super) fn to_days(self) -> Option<i64> {
        let year = if self.before_christ { 1 - self.year } else { self.year };
        let in_range = self.year >= 1 && (FIRST_YEAR..=LAST_YEAR).contains(&year);
        if !in_range || !(1..=12).contains(&self.month) || self.day < 1 {
            return None;
        }
        let (month, day) = (i64::from(self.month), i64::from(self.day));
        let shifted_year = year - i64::from(month <= 2);
        let era = shifted_year.div_euclid(400);
        let year_of_era = shifted_year.rem_euclid(400);
        let shifted_month = if month > 2 { month - 3 } else { month + 9 };
        let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        let days = era * 146_097 + day_of_era - 719_468;
        // February 30th is March in disguise.
        (Self::from_days(days) == self).then_some(days)
    }
}

#[cfg(test)]
mod tests {
    use chrono::{Datelike, Days, NaiveDate};

    use super::*;

    #[test]
    fn agrees_with_chrono_where_it_reaches() {
        let epoch = NaiveDate::from_ymd_opt(1970, 1, 1).expect("epoch");
        for days in (-2_400_000_i64..2_900_000).step_by(97) {
            let span = Days::new(days.unsigned_abs());
            let date = if days < 0 { epoch.checked_sub_days(span) } else { epoch.checked_add_days(span) }
                .expect("in range");
            let written = WrittenDate::from_days(days);
            let year = if written.before_christ { 1 - written.year } else { written.year };
            assert_eq!(
                (year, written.month, written.day),
                (i64::from(date.year()), date.month(), date.day())
            );
            if year >= FIRST_YEAR {
                assert_eq!(written.to_days(), Some(days), "{written:?}");
            }
        }
    }

    #[test]
    fn reaches_as_far_as_postgresql_and_no_further() {
        let date = |year, before_christ, month, day| WrittenDate { year, before_christ, month, day };
        assert_eq!(date(5_874_897, false, 12, 31).to_days(), Some(2_145_042_905));
        assert_eq!(WrittenDate::from_days(2_145_042_905), date(5_874_897, false, 12, 31));
        assert_eq!(date(1, true, 12, 31).to_days(), Some(-719_163));
        assert_eq!(date(4, true, 2, 29).to_days(), None, "3 BC before a leap year: 4 BC isn't one");
        assert_eq!(date(5, true, 2, 29).to_days().map(WrittenDate::from_days), Some(date(5, true, 2, 29)));
        for absent in [
            date(0, false, 1, 1),
            date(2023, false, 2, 29),
            date(2023, false, 13, 1),
            date(2023, false, 0, 1),
            date(2023, false, 1, 0),
            date(2023, false, 4, 31),
            date(5_874_898, false, 1, 1),
            date(4_715, true, 1, 1),
        ] {
            assert_eq!(absent.to_days(), None, "{absent:?}");
        }
    }
}
