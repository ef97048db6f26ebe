//! Time as a value that is passed in.

use chrono::{DateTime, Utc};

/// Where the current time comes from.
pub trait Clock: Send + Sync {
    /// Now, in UTC.
    fn now(&self) -> DateTime<Utc>;
}

/// The host's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods)] // the one place that reads the host's clock
    fn now(&self) -> DateTime<Utc> {
        Utc::now()
    }
}

/// A clock that stands still, for reproducible runs and tests.
#[derive(Debug, Clone, Copy)]
pub struct FixedClock(
    /// The time it always gives.
    pub DateTime<Utc>,
);

impl Clock for FixedClock {
    fn now(&self) -> DateTime<Utc> {
        self.0
    }
}
