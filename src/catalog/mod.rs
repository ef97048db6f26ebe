//! What a verified collection grants: datasets, relations, columns, join graph and endpoints.

mod column_type;
mod model;

pub use column_type::ColumnType;
pub use model::{
    Catalog, Column, Dataset, JoinEnd, JoinPath, JoinType, PostgrestEndpoint, Relation, Reliability,
    SignedFile,
};
