//! Step 3: pages, staged exactly as received.
//!
//! Every request carries a unique total order, so pages can't overlap by themselves. A short page isn't the end: a
//! server may cap pages lower than asked without a word. The end is where the count says it is, or an empty page.
//! What came is counted, and compared with the server's own count before and after.

mod checkpoint;
mod pages;

pub(in crate::sync) use pages::{Staged, count, keyless_pass, keyset_pass, single_response};
