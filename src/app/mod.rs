//! The use cases that need several rooms: answer a request, discover, status.
//!
//! [`Mirror`] holds an open store and the snapshot being served. Each use case is one method that routes, then calls
//! `engine` or `spatial`, and stamps the result with where it came from.

mod answer;
mod discover;
mod error;
mod indexes;
mod live;
mod lookup;
mod map;
mod mirror;
mod picture;
mod raster;
mod route;
mod served;
mod shelf;
mod spatial;
mod spatial_rows;
mod status;
mod table;

pub use discover::{Detail, DiscoverArguments};
pub use error::AppError;
pub use indexes::SpatialIndexes;
pub use live::{LiveContext, LiveReader};
pub use lookup::PlaceLookup;
pub use map::{MapPicture, MapRequest};
pub use mirror::{Mirror, MirrorOptions};
pub use spatial::RpcArguments;
pub use status::RelationStatus;
pub use table::Tabular;
