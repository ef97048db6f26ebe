//! The loopback origin.
