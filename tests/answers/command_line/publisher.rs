//! The demo's catalogue signed by another key: a publisher that may be trusted by configuration, as the demo's may not.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use benthic_mirror::bdp::sign::sign_document;
use benthic_mirror::demo;
use benthic_mirror::demo::origin::{DemoOrigin, OriginCatalogue, OriginOptions};
use ed25519_dalek::SigningKey;
use serde_json::{Map, Value};

use super::binary::Home;
use crate::harness::{block, fixture};

/// A worthless test key: its secret is these bytes.
const SEED: [u8; 32] = [0x33; 32];

/// A running origin whose documents this key signed.
pub struct Publisher {
    pub origin: DemoOrigin,
    pub key: String,
}

impl Publisher {
    pub fn start() -> Self {
        let catalogue = OriginCatalogue { documents: resigned(), data: demo::shared_data() };
        let options = OriginOptions { catalogue, ..OriginOptions::default() };
        // The shared runtime keeps it answering while a test waits for the binary.
        let _entered = fixture().runtime.enter();
        let origin = block(DemoOrigin::start(options)).expect("origin");
        Self { origin, key: public_key() }
    }

    /// Configures a home to mirror this publisher and to trust it.
    pub fn configure(&self, home: &Home) {
        home.configure(&format!(
            "bdp_root = {:?}\ncollections = [{:?}]\ntrusted_keys = [{:?}]\nallowed_data_hosts = [{:?}]\nconnect_to = [\"{}={}\"]\n",
            demo::DOCUMENT_ROOT,
            demo::COLLECTION,
            self.key,
            demo::ORIGIN_HOST,
            demo::ORIGIN,
            self.origin.address(),
        ));
    }
}

fn signing_key() -> SigningKey {
    SigningKey::from_bytes(&SEED)
}

fn public_key() -> String {
    STANDARD.encode(signing_key().verifying_key().as_bytes())
}

fn parsed(bytes: &[u8]) -> Map<String, Value> {
    serde_json::from_slice(bytes).expect("a document")
}

/// Signed by the test key in place of the demo's; its bytes and its payload hash.
fn signed(mut document: Map<String, Value>) -> (Vec<u8>, String) {
    document.remove("cryptographic_signature");
    document.insert("author_pubkey".to_owned(), public_key().into());
    let (document, hash) = sign_document(document, &signing_key(), None).expect("signed");
    (serde_json::to_vec(&document).expect("JSON"), hash.to_string())
}

/// The demo's documents with new signatures and the hashes that follow from them.
fn resigned() -> BTreeMap<String, Vec<u8>> {
    let mut documents = demo::documents();
    let mut hashes = BTreeMap::new();
    for (path, bytes) in documents.iter_mut().filter(|(path, _)| path.ends_with("manifest.json")) {
        let (new, hash) = signed(parsed(bytes));
        *bytes = new;
        let dataset = path.split('/').nth(1).expect("demo/<dataset>/manifest.json").to_owned();
        hashes.insert(dataset, hash);
    }
    let mut collection = parsed(&documents["demo/collection.json"]);
    for member in collection["members"].as_array_mut().expect("members") {
        let hash = &hashes[member["dataset_name"].as_str().expect("a name")];
        member["payload_hash"] = hash.as_str().into();
    }
    documents.insert("demo/collection.json".to_owned(), signed(collection).0);
    documents
}
