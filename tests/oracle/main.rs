//! The engine against PostgreSQL: the same rows, the same questions, value for value.
//!
//! - [`relations`]: made-up relations with every type, nulls, duplicates and adversarial text, from one seed.
//! - [`requests`]: random valid requests, each with the SQL that means the same, written from the request's meaning
//!   and not from the engine's plan; [`filters`]: their conditions; [`joins`]: the same for joins.
//! - [`postgres`]: one server, one stream of statements; [`stored`]: the same rows as Parquet, through the decoder.
//! - [`differential`]: runs both and compares; [`compare`]: when two values are the same.
//!
//! Beside it, without PostgreSQL: [`live`] (the same requests asked of an origin serving the rows, and of their capture),
//! [`pruning`] (an answer doesn't depend on what pruning leaves out), [`sums`] (sums near the widest types), [`arbitrary`] and
//! [`near_valid`] (no text in any argument makes the checks panic), [`optimiser`] (faults of DataFusion's optimiser that others
//! reported), [`bounds`] (memory, spill, time).

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr
)]

mod arbitrary;
mod bounds;
mod compare;
mod dice;
mod differential;
mod filters;
mod joins;
mod live;
mod near_valid;
mod optimiser;
mod postgres;
mod pruning;
mod relations;
mod requests;
mod stored;
mod sums;
mod values;
