//! The refusal rules, from both sides: each refuses what it is for, with its facts and its way out, and leaves the near
//! neighbour alone, which must be answered with the right value.
//!
//! - [`case`]: one refused question, one answered neighbour, and what every refusal must be;
//! - [`queries`], [`joins`], [`sizes`], [`places`]: the cases, a line or a few each;
//! - [`staged`]: refusals that need a store or a mirror in a certain state;
//! - [`text_keys`]: identifiers with leading zeros, from the API to the answer;
//! - [`coverage`]: every code is refused somewhere here, or listed with the reason why it can't be yet;
//! - [`world`]: the mirrors asked.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod case;
mod coverage;
mod joins;
mod places;
mod queries;
mod sizes;
mod staged;
mod text_keys;
mod world;
