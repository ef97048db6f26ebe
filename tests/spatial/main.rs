//! The spatial room from outside: indexes against plain scans, hostile geometry, the operations' answers, and
//! PostGIS as the oracle where it is installed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]
#![allow(clippy::disallowed_methods, reason = "tests read their own switches from the environment")]

mod exact_predicate;
mod hostile_geometry;
mod indexes;
mod known_faults;
mod operations;
mod oracle;
mod snapshot;
mod stored;
mod world;
