//! The demo catalogue and its loopback origin, checked against plain folds over the rows.

mod catalogue;
mod geography;
mod joins;
