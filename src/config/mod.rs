//! One typed configuration: flags > environment > file > defaults, each value with its source.
//!
//! [`Config::resolve`] is pure: the layers come in as text, typed values come out or an error names the key. The
//! table of settings is in `settings`; nothing else knows their names.

mod clock;
mod limits;
mod settings;

pub use clock::{Clock, FixedClock, SystemClock};
pub use limits::Limits;
pub use settings::{Config, ConfigError, ExactNumbers, Layers, Mode, ResolvedSetting, ScanPolicy, Source};
