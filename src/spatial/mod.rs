//! Mercator, geometry decoding, indexes and the three operations.
