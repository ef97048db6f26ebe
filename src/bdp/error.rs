//! Why a document was refused: one variant per rule, naming the input and the way out.

use super::canonical::CanonicalError;
use super::hash::PayloadHash;

/// One place where a document departs from the schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaFault {
    /// JSON pointer to the value; empty for the document itself.
    pub pointer: String,
    /// What is wrong with it.
    pub message: String,
}

/// Why a collection counts as older than the accepted one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RollbackReason {
    /// It was accepted before and something else replaced it.
    ReplacedBefore {
        /// What replaced it.
        by: PayloadHash,
    },
    /// Never seen, and its authenticated `created_at` is strictly earlier.
    CreatedEarlier {
        /// `created_at` of the accepted collection.
        accepted: String,
        /// `created_at` of the offered one.
        offered: String,
    },
}

impl std::fmt::Display for RollbackReason {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::ReplacedBefore { by } => write!(formatter, "it was accepted before and replaced by {by}"),
            Self::CreatedEarlier { accepted, offered } => {
                write!(formatter, "its created_at {offered} is earlier than {accepted}")
            }
        }
    }
}

/// Why a document is not believed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// Step 1: more bytes than the limit.
    #[error("the document has {size} bytes; at most {limit} are read")]
    TooLarge {
        /// Size received, bytes.
        size: usize,
        /// The limit, bytes.
        limit: usize,
    },
    /// Step 1: starts with a byte order mark.
    #[error("the document starts with a byte order mark; publish it as plain UTF-8")]
    ByteOrderMark,
    /// Step 1: invalid UTF-8.
    #[error("the document is not UTF-8: byte {offset} is invalid")]
    NotUtf8 {
        /// Offset of the first invalid byte.
        offset: usize,
    },
    /// Step 1: not JSON.
    #[error("the document is not JSON: {reason}")]
    NotJson {
        /// The parser's words, with line and column.
        reason: String,
    },
    /// Step 1: JSON, but not an object.
    #[error("the document is {found}; a signed document is a JSON object")]
    NotAnObject {
        /// What the top level is.
        found: &'static str,
    },
    /// Step 1: a member name occurs twice in one object.
    #[error("the member '{path}' occurs twice; readers would disagree about its value")]
    DuplicateMember {
        /// JSON pointer to the second occurrence.
        path: String,
    },
    /// Step 1: a member name the JSON library keeps for itself.
    #[error("the member '{path}' has a reserved name and can't be read safely")]
    ReservedMember {
        /// JSON pointer to the member.
        path: String,
    },
    /// Step 1: something follows the object.
    #[error("there is data after the document, at line {line}, column {column}")]
    TrailingData {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// Step 1: nested too deep.
    #[error("'{path}' is nested deeper than {limit} levels")]
    TooDeep {
        /// JSON pointer to the value that goes too deep.
        path: String,
        /// The limit, levels.
        limit: usize,
    },
    /// Step 1: a number RFC 8785 would change.
    #[error(
        "the number {number} at '{path}' changes when written as a double, so it can't be signed faithfully"
    )]
    NumberNotExact {
        /// JSON pointer to the number.
        path: String,
        /// The number as written.
        number: String,
    },
    /// Step 2: no `cryptographic_signature`.
    #[error("the document is unsigned: it has no member 'cryptographic_signature'")]
    MissingSignature,
    /// Step 2: the block isn't shaped as one.
    #[error("the signature block is malformed: '{field}' {reason}")]
    MalformedSignature {
        /// The member, or `cryptographic_signature` for the block itself.
        field: &'static str,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Step 2: another algorithm than the one the protocol fixes.
    #[error("the signature block declares {field} {found}; only {expected} is accepted")]
    UnsupportedAlgorithm {
        /// `algorithm`, `canonicalization` or `hash_algorithm`.
        field: &'static str,
        /// The declared value, as JSON.
        found: String,
        /// The only accepted value.
        expected: &'static str,
    },
    /// Step 3: signed by a key nobody configured.
    #[error(
        "the document is signed by the key {found}, which is not one of the {trusted} trusted keys; \
         if you mean to trust it, configure it"
    )]
    UntrustedKey {
        /// The signing key, Base64.
        found: String,
        /// How many keys are trusted.
        trusted: usize,
    },
    /// Step 3, or configuration: not a raw Ed25519 key in Base64.
    #[error(
        "'{found}' is not an Ed25519 public key: {reason}; expected the 32 raw bytes in standard Base64 with padding"
    )]
    MalformedKey {
        /// The text, cut to a readable length.
        found: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Step 3, or configuration: a key for which signatures can be made without its secret.
    #[error("the key {found} has small order: anyone can sign for it, so it can't be trusted")]
    SmallOrderKey {
        /// The key, Base64.
        found: String,
    },
    /// Step 4: the payload isn't the one that was hashed.
    #[error(
        "the payload hashes to {computed}, but the document declares {declared}: it was changed after signing"
    )]
    HashMismatch {
        /// Declared in the signature block.
        declared: PayloadHash,
        /// Computed from the payload received.
        computed: PayloadHash,
    },
    /// Step 5: the signature isn't one by that key over that hash.
    #[error("the signature over {hash} was not made by the key {key}")]
    BadSignature {
        /// The payload hash.
        hash: PayloadHash,
        /// The declared key, Base64.
        key: String,
    },
    /// Step 5: the scalar S is not below the group order, so the signature has a twin (RFC 8032, 5.1.7).
    #[error("the signature over {hash} is not in canonical form: its scalar is not reduced")]
    NonCanonicalSignature {
        /// The payload hash.
        hash: PayloadHash,
    },
    /// Step 6: a protocol version whose rules aren't known here.
    #[error(
        "protocol version {found} is not supported; this program reads {supported} and later minor versions"
    )]
    UnsupportedVersion {
        /// The declared version.
        found: String,
        /// The version whose rules are built in.
        supported: &'static str,
    },
    /// Step 6: departures from the schema.
    #[error("the document doesn't follow the {document} schema: {}", faults_in_words(.faults))]
    Schema {
        /// `collection` or `manifest`.
        document: &'static str,
        /// The places, in document order.
        faults: Vec<SchemaFault>,
    },
    /// Step 6: members the declared version doesn't have.
    #[error("the {document} has members its protocol version doesn't define: {}", .members.join(", "))]
    UnknownMember {
        /// `collection` or `manifest`.
        document: &'static str,
        /// JSON pointers to the members.
        members: Vec<String>,
    },
    /// Step 6: neither a collection nor a manifest.
    #[error(
        "the document is signed, but it is neither a collection (no 'members') nor a manifest (no 'schema_definition')"
    )]
    UnknownDocument,
    /// Step 6: the schema compiled into this program is broken.
    #[error("the embedded {document} schema can't be used: {reason}; this is a fault of the program")]
    EmbeddedSchema {
        /// `collection` or `manifest`.
        document: &'static str,
        /// The validator's words.
        reason: String,
    },
    /// Step 7: another collection than the one asked for.
    #[error("asked for the collection '{expected}', but the document is the collection '{found}'")]
    WrongCollection {
        /// The name asked for.
        expected: String,
        /// The name in the document.
        found: String,
    },
    /// Step 7: a dataset listed twice.
    #[error("the collection '{collection}' lists the dataset '{dataset}' twice")]
    DuplicateDataset {
        /// The collection.
        collection: String,
        /// The dataset.
        dataset: String,
    },
    /// Step 7: manifests that the collection pins but nobody supplied.
    #[error("the collection '{collection}' is incomplete: no manifest for {}", .datasets.join(", "))]
    MissingMember {
        /// The collection.
        collection: String,
        /// The datasets without a manifest, in the collection's order.
        datasets: Vec<String>,
    },
    /// Step 7: a dataset the collection doesn't list.
    #[error("the collection '{collection}' has no member '{dataset}'; its members are {}", .members.join(", "))]
    UnlistedDataset {
        /// The collection.
        collection: String,
        /// The dataset.
        dataset: String,
        /// The datasets it does list.
        members: Vec<String>,
    },
    /// Step 7: the manifest fetched for one dataset describes another.
    #[error("the manifest for the dataset '{expected}' describes '{found}'")]
    MemberNameMismatch {
        /// The dataset the collection lists.
        expected: String,
        /// `dataset_name` of the manifest.
        found: String,
    },
    /// Step 7: a genuine manifest, but not the revision the collection was signed over.
    #[error(
        "the manifest of '{dataset}' has the hash {found}, but the collection pins {pinned}: another revision"
    )]
    PinMismatch {
        /// The dataset.
        dataset: String,
        /// Hash the collection pins.
        pinned: PayloadHash,
        /// Hash of the manifest.
        found: PayloadHash,
    },
    /// Step 7: a manifest address that leaves the configured root.
    #[error("the manifest address {url} of '{dataset}' is refused: {reason}")]
    ManifestUrl {
        /// The dataset.
        dataset: String,
        /// The address in the collection.
        url: String,
        /// The rule it breaks.
        reason: String,
    },
    /// The ledger knows something newer.
    #[error(
        "rollback refused: the collection '{collection}' is at {accepted}, offered was {offered}: {reason}; \
         to go back on purpose, name the hash {offered} explicitly"
    )]
    Rollback {
        /// The collection.
        collection: String,
        /// Hash accepted last.
        accepted: PayloadHash,
        /// Hash offered now.
        offered: PayloadHash,
        /// What makes it older.
        reason: Box<RollbackReason>,
    },
}

/// The checks of a verification, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Check {
    /// Step 1: bytes, JSON, names, numbers.
    Form,
    /// Step 2: the signature block and its algorithms.
    SignatureBlock,
    /// Step 3: the key is a trusted one.
    TrustedKey,
    /// Step 4: the payload is the one that was hashed.
    PayloadHash,
    /// Step 5: the signature over the hash.
    Signature,
    /// Step 6: version and schema.
    Schema,
    /// Step 7: collection, pins and addresses.
    Membership,
}

impl Check {
    /// All checks in their order.
    pub const ALL: [Self; 7] = [
        Self::Form,
        Self::SignatureBlock,
        Self::TrustedKey,
        Self::PayloadHash,
        Self::Signature,
        Self::Schema,
        Self::Membership,
    ];

    /// The check in a few words.
    pub fn label(self) -> &'static str {
        match self {
            Self::Form => "well-formed",
            Self::SignatureBlock => "signature block",
            Self::TrustedKey => "trusted key",
            Self::PayloadHash => "payload hash",
            Self::Signature => "signature",
            Self::Schema => "schema",
            Self::Membership => "membership",
        }
    }
}

impl VerifyError {
    /// The check that failed.
    pub fn check(&self) -> Check {
        match self {
            Self::TooLarge { .. }
            | Self::ByteOrderMark
            | Self::NotUtf8 { .. }
            | Self::NotJson { .. }
            | Self::NotAnObject { .. }
            | Self::DuplicateMember { .. }
            | Self::ReservedMember { .. }
            | Self::TrailingData { .. }
            | Self::TooDeep { .. }
            | Self::NumberNotExact { .. } => Check::Form,
            Self::MissingSignature | Self::MalformedSignature { .. } | Self::UnsupportedAlgorithm { .. } => {
                Check::SignatureBlock
            }
            Self::UntrustedKey { .. } | Self::MalformedKey { .. } | Self::SmallOrderKey { .. } => {
                Check::TrustedKey
            }
            Self::HashMismatch { .. } => Check::PayloadHash,
            Self::BadSignature { .. } | Self::NonCanonicalSignature { .. } => Check::Signature,
            Self::UnsupportedVersion { .. }
            | Self::Schema { .. }
            | Self::UnknownMember { .. }
            | Self::UnknownDocument
            | Self::EmbeddedSchema { .. } => Check::Schema,
            Self::WrongCollection { .. }
            | Self::DuplicateDataset { .. }
            | Self::MissingMember { .. }
            | Self::UnlistedDataset { .. }
            | Self::MemberNameMismatch { .. }
            | Self::PinMismatch { .. }
            | Self::ManifestUrl { .. }
            | Self::Rollback { .. } => Check::Membership,
        }
    }
}

impl From<CanonicalError> for VerifyError {
    fn from(error: CanonicalError) -> Self {
        match error {
            CanonicalError::NumberNotExact { path, number } => Self::NumberNotExact { path, number },
            CanonicalError::TooDeep { path, limit } => Self::TooDeep { path, limit },
            CanonicalError::ReservedMember { path } => Self::ReservedMember { path },
            CanonicalError::Serialize { reason } => Self::NotJson { reason },
        }
    }
}

/// Text from an unverified document, fit for a terminal: cut short, with control and direction characters escaped.
pub(super) fn readable(text: &str) -> String {
    const LONGEST: usize = 80;
    let mut readable = String::new();
    for (position, character) in text.chars().enumerate() {
        if position == LONGEST {
            readable.push('…');
            break;
        }
        let changes_direction =
            matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if character.is_control() || changes_direction {
            readable.extend(character.escape_unicode());
        } else {
            readable.push(character);
        }
    }
    readable
}

/// The first faults in one line; a wholly wrong document shouldn't flood the terminal.
fn faults_in_words(faults: &[SchemaFault]) -> String {
    const SHOWN: usize = 5;
    let mut words: Vec<String> = faults
        .iter()
        .take(SHOWN)
        .map(|fault| match fault.pointer.as_str() {
            "" => fault.message.clone(),
            pointer => format!("'{pointer}': {}", fault.message),
        })
        .collect();
    if let Some(more) = faults.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        words.push(format!("and {more} more"));
    }
    words.join("; ")
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn foreign_text_can_not_drive_a_terminal() {
        assert_eq!(readable("a\u{1b}[2J\u{9b}\u{202e}é"), "a\\u{1b}[2J\\u{9b}\\u{202e}é");
        assert_eq!(readable(&"x".repeat(80)).len(), 80);
        assert_eq!(readable(&"x".repeat(8_000_000)), format!("{}…", "x".repeat(80)));
    }
}
