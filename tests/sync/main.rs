//! Pulling from a loopback origin into stores on disk: what is published, what is refused, what survives faults.

#![allow(clippy::disallowed_methods, reason = "tests look at the files themselves")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod faults;
mod identity;
mod methods;
mod parquet_files;
mod publishing;
mod reading;
mod support;
mod trust;
mod values;
