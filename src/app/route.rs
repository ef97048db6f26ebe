//! Where a question is answered from: a pure policy over enums. Its outcome is the answer's `served`.
//!
//! Under `live` every answer comes from the API; otherwise from the snapshot, however old it is. Going live when the
//! snapshot is stale or lacks a relation is not built, and `docs/parity.md` says so.

use crate::config::Mode;

/// How a capture stands against its age limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Freshness {
    /// Within the limit.
    Fresh,
    /// Older than the limit.
    Stale,
    /// The snapshot doesn't hold the relation.
    Absent,
}

/// Where an answer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// From the snapshot, which is current enough.
    Local,
    /// From the snapshot, although it is stale; the answer says so.
    LocalStale,
    /// From the API.
    Live,
    /// From nowhere: the relation isn't mirrored, and nothing else may be asked.
    NotMirrored,
}

impl Route {
    /// Why, in the word `served.reason` carries.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Local => "fresh_snapshot",
            Self::LocalStale => "stale_snapshot",
            Self::Live => "live_mode",
            Self::NotMirrored => "not_mirrored",
        }
    }

    /// Whether the answer must warn.
    pub(super) fn is_stale(self) -> bool {
        matches!(self, Self::LocalStale)
    }
}

/// Judges a capture's age. A capture from the future (a clock that went backwards) can't be called fresh.
pub(super) fn freshness(age_seconds: i64, max_age_seconds: u64) -> Freshness {
    match u64::try_from(age_seconds) {
        Ok(age) if age <= max_age_seconds => Freshness::Fresh,
        _ => Freshness::Stale,
    }
}

/// The route for a relation.
pub(super) fn route(mode: Mode, freshness: Freshness) -> Route {
    match (mode, freshness) {
        (Mode::Live, _) => Route::Live,
        (Mode::Auto | Mode::Offline, Freshness::Fresh) => Route::Local,
        (Mode::Auto | Mode::Offline, Freshness::Stale) => Route::LocalStale,
        (Mode::Auto | Mode::Offline, Freshness::Absent) => Route::NotMirrored,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn age_decides_and_a_clock_that_went_back_is_stale() {
        assert_eq!(freshness(0, 10), Freshness::Fresh);
        assert_eq!(freshness(10, 10), Freshness::Fresh);
        assert_eq!(freshness(11, 10), Freshness::Stale);
        assert_eq!(freshness(-1, 10), Freshness::Stale);
        assert!(route(Mode::Auto, Freshness::Stale).is_stale());
    }

    #[test]
    fn only_live_mode_leaves_the_snapshot() {
        for freshness in [Freshness::Fresh, Freshness::Stale, Freshness::Absent] {
            assert_eq!(route(Mode::Live, freshness), Route::Live);
            assert_ne!(route(Mode::Offline, freshness), Route::Live);
            assert_eq!(route(Mode::Auto, freshness), route(Mode::Offline, freshness));
        }
        assert_eq!(route(Mode::Offline, Freshness::Absent), Route::NotMirrored);
    }
}
