//! The demo catalogue's generator and its loopback origin.
//!
//! [`data`] holds invented relations in the shape of the real catalogue, generated from a fixed seed; [`documents`] the
//! signed documents that describe them (embedded from `data/demo`, which a test keeps equal to what the generator makes);
//! [`origin`] serves both on the loopback interface the way the real API does, and misbehaves on request.

mod catalogue;
mod names;
pub mod origin;
mod places;
pub mod questions;
mod random;
mod relation;
mod rows;
mod value;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

pub use catalogue::DEMO_KEY_SEED;
pub use relation::{DemoColumn, DemoData, DemoRelation, DemoRow};
pub use value::{
    DATE_INFINITY, DATE_MINUS_INFINITY, Decimal, DemoGeometry, DemoValue, TIMESTAMP_INFINITY,
    TIMESTAMP_MINUS_INFINITY, geometry_json, json_string, row_json, value_json,
};

/// Name of the demo collection.
pub const COLLECTION: &str = "demo";
/// Scheme and host of every URL in the signed documents: a name reserved for examples, so it never resolves.
pub const ORIGIN: &str = "https://demo.benthic-mirror.example";
/// Host of [`ORIGIN`]; clients reach the loopback origin by connecting there in its place.
pub const ORIGIN_HOST: &str = "demo.benthic-mirror.example";
/// Root of the signed documents.
pub const DOCUMENT_ROOT: &str = "https://demo.benthic-mirror.example/bdp";
/// Raw Ed25519 public key that signs the demo documents, standard Base64.
pub const PUBLIC_KEY: &str = "o5okb+nqs2BzC68Gu+evPRIjxyJPnRHDDoYS2Ucct6o=";
/// The seed the committed catalogue is generated from.
pub const SEED: u64 = 1789;

/// Why a catalogue couldn't be made.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// The document refused to be signed.
    #[error("a demo document can't be signed: {0}")]
    Sign(String),
    /// A document came out as something other than an object.
    #[error("a demo document isn't a JSON object")]
    NotAnObject,
}

/// A generated catalogue: documents and the rows behind them.
#[derive(Debug, Clone)]
pub struct DemoCatalogue {
    /// Files by path relative to `data/demo`, e.g. `usaspending/manifest.json`.
    pub documents: BTreeMap<String, Vec<u8>>,
    /// The relations with their rows.
    pub data: DemoData,
}

/// Generates the whole catalogue from a seed: equal seeds give equal bytes, on every machine.
pub fn generate(seed: u64) -> Result<DemoCatalogue, DemoError> {
    let data = rows::generate(seed);
    let documents = catalogue::documents(&data)?;
    Ok(DemoCatalogue { documents, data })
}

/// The files of `data/demo` as the generator makes them.
pub fn catalogue_files() -> Result<BTreeMap<String, Vec<u8>>, DemoError> {
    catalogue::documents(data())
}

static DATA: OnceLock<Arc<DemoData>> = OnceLock::new();

/// The demo's relations and rows, generated on first use.
pub fn data() -> &'static DemoData {
    DATA.get_or_init(|| Arc::new(rows::generate(SEED)))
}

/// The same, to be served or altered without generating it again.
pub fn shared_data() -> Arc<DemoData> {
    DATA.get_or_init(|| Arc::new(rows::generate(SEED))).clone()
}

/// A relation of [`data`] by its qualified source, e.g. `usaspending.all_entities`.
pub fn relation(source: &str) -> Option<&'static DemoRelation> {
    data().relation(source)
}

/// The committed documents, by path below the document root, e.g. `demo/collection.json`.
pub fn documents() -> BTreeMap<String, Vec<u8>> {
    let file = |path: &str, bytes: &[u8]| (path.to_owned(), bytes.to_vec());
    BTreeMap::from([
        file("index.json", include_bytes!("../../data/demo/index.json")),
        file("keys.json", include_bytes!("../../data/demo/keys.json")),
        file("demo/collection.json", include_bytes!("../../data/demo/collection.json")),
        file("demo/usaspending/manifest.json", include_bytes!("../../data/demo/usaspending/manifest.json")),
        file("demo/irs_ng/manifest.json", include_bytes!("../../data/demo/irs_ng/manifest.json")),
        file("demo/samer/manifest.json", include_bytes!("../../data/demo/samer/manifest.json")),
        file("demo/up_cdmaps/manifest.json", include_bytes!("../../data/demo/up_cdmaps/manifest.json")),
        file("demo/usp_cl/manifest.json", include_bytes!("../../data/demo/usp_cl/manifest.json")),
    ])
}
