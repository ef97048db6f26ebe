//! From a checked request to a DataFusion plan over a relation's rows.

mod functions;
mod session;
mod table;

pub use session::EngineRuntime;
pub use table::{PartFile, RelationData};
