//! The only door to the network: HTTPS, host list, no redirects, size and time caps.
//!
//! Every request says what it is for ([`Purpose`]), because signed documents and data are governed by different
//! rules: a document must lie below the configured root, data must come from an allowed host. Redirects are never
//! followed (a signed address means what it says), bodies are cut off at a cap while they stream, and a body that
//! ends early is an error. [`retry`] decides what is worth asking again.
//!
//! # Connect overrides
//! Signed documents name `https://` addresses. A demo or test that serves them from loopback would have to sign
//! other addresses; instead a [`ConnectOverride`] sends requests whose URL has exactly one given origin as plain HTTP
//! to a loopback socket. The URL that is checked against the rules stays the signed one. An override to anything but
//! a loopback address is refused when the door is made.

#![allow(clippy::disallowed_types, reason = "this room is the door to the network")]

mod door;
mod error;
mod options;
mod response;
pub mod retry;

pub use door::Net;
pub use error::NetError;
pub use options::{ConnectOverride, LoopbackHttp, NetOptions, Purpose};
pub use response::Response;
