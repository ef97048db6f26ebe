//! Where a question is answered from: a pure policy over enums. Its outcome is the answer's `served`.
//!
//! So far every answer comes from the snapshot; going live is not built, and `docs/parity.md` says so.

/// How a capture stands against its age limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Freshness {
    /// Within the limit.
    Fresh,
    /// Older than the limit.
    Stale,
}

/// Where an answer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// From the snapshot, which is current enough.
    Local,
    /// From the snapshot, although it is stale; the answer says so.
    LocalStale,
}

impl Route {
    /// Why, in the word `served.reason` carries.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Local => "fresh_snapshot",
            Self::LocalStale => "stale_snapshot",
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

/// The route for a relation the snapshot holds.
pub(super) fn route(freshness: Freshness) -> Route {
    match freshness {
        Freshness::Fresh => Route::Local,
        Freshness::Stale => Route::LocalStale,
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
        assert!(route(Freshness::Stale).is_stale());
    }
}
