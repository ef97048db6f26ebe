//! Signed documents: bytes in, verified document out. No I/O.
//!
//! The published form is Benthic Data Provenance 1.0: a *manifest* describes one dataset, a *collection* pins the
//! manifests of its members by hash and declares the join paths between them. Nothing in a document is believed
//! before the checks below passed, in this order; each failure has its own [`VerifyError`] variant.
//!
//! 1. [`parse`]: size, UTF-8, one JSON object, no duplicate member names at any depth, bounded nesting, and only
//!    numbers that RFC 8785 keeps.
//! 2. [`signature`]: a signature block whose algorithms are EdDSA, RFC 8785 and SHA-256.
//! 3. [`keys`]: the signing key is one of the configured [`TrustedKeys`]. A published key list is never consulted.
//! 4. [`canonical`]: SHA-256 of the canonical payload equals the declared hash.
//! 5. [`signature`]: strict Ed25519 over the 32 raw digest bytes.
//! 6. [`schema`]: the embedded reading of the schema, formats asserted, and the rules for newer versions.
//! 7. [`membership`]: the collection asked for, members pinned by hash, addresses below the configured root.
//!
//! Beside them: [`sign`] makes documents (the demo catalogue, snapshot documents), [`ledger`] decides whether a
//! collection is older than one accepted before, and [`report`] gathers what a verification found, for people.

pub mod canonical;
pub mod document;
mod error;
mod hash;
pub mod keys;
pub mod ledger;
pub mod membership;
mod number;
pub mod parse;
pub mod report;
pub mod schema;
pub mod sign;
pub mod signature;
mod verify;

pub use document::{
    Collection, CollectionMember, DeclaredColumn, DeclaredEndpoint, DeclaredFile, DeclaredJoinEnd,
    DeclaredJoinPath, DeclaredJoinType, DeclaredRelation, DeclaredReliability, Document, EndpointMeta,
    EtlProvenance, Manifest, SignatureBlock, SourceAttribution, TransportType,
};
pub use error::{Check, RollbackReason, SchemaFault, VerifyError};
pub use hash::{MalformedHash, PayloadHash};
pub use keys::{PUBLISHER_KEY, TrustedKeys};
pub use membership::{
    LoopbackHttp, check_collection_name, check_complete, check_member, manifest_url, verify_set,
};
pub use parse::Limits;
pub use verify::{Verified, verify_collection, verify_document, verify_manifest, verify_signed_value};
