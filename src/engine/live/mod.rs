//! What to ask of the live API for a checked request. Pure: fetching is done elsewhere, the counts come in as numbers.
//!
//! The rows that come back go through the same plan as a snapshot's and every filter is applied to them again, so what is
//! sent only must never let too few through. Some things aren't left to the server: orders and ranges of text and case
//! folding, which its collation would decide instead of code points; keys compared without leading zeros; numbers no
//! decimal holds. Where all rows that may match fit one bounded read they are decided here, else the request is refused.
//!
//! - `filters`: predicates as the server can be asked; `spelling`: their values; `fit`: within an address's length.
//! - `read`: which rows a query needs, when it is refused; `side`: the same for a side of a join.

mod filters;
mod fit;
mod read;
mod side;
mod spelling;

pub use filters::{LiveFilters, Widening, live_filters, not_finite};
pub use read::{LiveRead, Probe, check_live_query, fetch_bound, has_key, live_read};
pub use side::{SideRead, admit_side, live_sides};
