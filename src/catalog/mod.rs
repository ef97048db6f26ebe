//! What a verified collection grants: datasets, relations, columns, join graph and endpoints.
//!
//! [`Catalog::from_verified`] builds it from verified documents only. Everything after it asks the catalogue, never a
//! document: what isn't here can't be asked for.

mod build;
mod column_type;
mod endpoints;
mod joins;
mod model;
mod nearest;
pub mod ranking;
mod stored_type;
#[cfg(test)]
pub(crate) mod testing;
mod words;

pub use build::CatalogError;
pub use column_type::ColumnType;
pub use joins::OrientedJoin;
pub use model::{
    Catalog, Column, Dataset, JoinEnd, JoinPath, JoinType, PostgrestEndpoint, Relation, Reliability,
    SignedFile,
};
pub use nearest::column_candidates;
pub use stored_type::{DECIMAL_CLASSES, StoredColumn, StoredGeometry, StoredType, UnknownStoredType};
