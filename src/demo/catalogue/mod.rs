//! The demo's signed documents, made from the declared relations.

mod documents;
pub(super) mod shapes;

pub use documents::DEMO_KEY_SEED;
pub(super) use documents::documents;
