//! The PostgREST dialect: encode, page, count, decode, error; speaks through `net`.
//!
//! What the server does is the spec's postgrest.md; what this room promises is that a request means what the caller
//! said (quoting, encoding, a total order) and that a response is decoded exactly: numbers from their text, never
//! through a double; a value that doesn't fit its declared type is an error with its place, never a rounded value.
//!
//! - [`filter`]: the filter tree and its two encodings.
//! - [`request`]: endpoints and page requests as addresses.
//! - [`cursor`]: where a page ended, and the filter for what comes after it.
//! - [`client`]: one page, one count, and the errors of both.
//! - [`decode`]: JSON rows to Arrow; [`profile`]: what the values of a page need of their column types.
//! - [`geometry`]: GeoJSON and WKB; [`float_text`]: a float's shortest digits.

pub mod client;
pub mod cursor;
pub mod decode;
mod error;
pub mod filter;
pub mod float_text;
pub mod geometry;
pub mod profile;
pub mod request;
mod rows;
mod value;

pub use client::{ContentRange, Page, PostgrestClient};
pub use decode::{TableDecoder, decode_rows};
pub use error::{DecodeError, PostgrestError, RejectedValue, ServerError, ValueError};
pub use filter::{Filter, Operator};
pub use float_text::shortest_digits;
pub use profile::{ColumnProfile, TableProfile, stored_columns};
pub use request::{Endpoint, Order, PageRequest, encoded_bytes};
pub use rows::OnRow;
