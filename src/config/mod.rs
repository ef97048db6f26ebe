//! One typed configuration: flags > environment > file > defaults, each value with its source.

mod clock;

pub use clock::{Clock, FixedClock, SystemClock};
