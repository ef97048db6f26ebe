//! Signed documents: bytes in, verified document out. No I/O.
