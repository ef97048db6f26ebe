//! The demo catalogue's generator and its loopback origin.
