//! Pulling from a loopback origin into stores on disk: what is published, what is refused, what survives faults.

#![allow(clippy::disallowed_methods, reason = "tests look at the files themselves")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod identity;

mod support;

mod values;
