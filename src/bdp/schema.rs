//! Step 6: the shape of a document, by the schemas compiled into this program.
//!
//! The schemas in `schemas/` are our own reading of protocol 1.0. A schema offered by a server is never used: it
//! could loosen what is checked. The validator is built without any way to fetch, and asserts formats.
//!
//! Versions: another major than ours is refused. A later minor may bring members we don't know; they are covered by
//! the hash, so they are dropped with a warning. At our own minor or an earlier one an unknown member is refused.

use std::sync::LazyLock;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, Validator};
use serde_json::{Map, Value};

use super::error::{SchemaFault, VerifyError, readable};

/// The protocol version whose rules are built in.
const SUPPORTED: &str = "1.0";
const SUPPORTED_MAJOR: u64 = 1;
const SUPPORTED_MINOR: u64 = 0;

/// Which of the two documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentKind {
    /// A collection.
    Collection,
    /// A manifest.
    Manifest,
}

impl DocumentKind {
    /// The kind a document's members show, `None` for neither (or both).
    pub fn of(members: &Map<String, Value>) -> Option<Self> {
        match (members.contains_key("members"), members.contains_key("schema_definition")) {
            (true, false) => Some(Self::Collection),
            (false, true) => Some(Self::Manifest),
            _ => None,
        }
    }

    /// `collection` or `manifest`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Collection => "collection",
            Self::Manifest => "manifest",
        }
    }

    fn validator(self) -> Result<&'static Validator, VerifyError> {
        static COLLECTION: LazyLock<Result<Validator, String>> =
            LazyLock::new(|| compile(include_str!("schemas/collection.json")));
        static MANIFEST: LazyLock<Result<Validator, String>> =
            LazyLock::new(|| compile(include_str!("schemas/manifest.json")));
        let compiled = match self {
            Self::Collection => &COLLECTION,
            Self::Manifest => &MANIFEST,
        };
        compiled
            .as_ref()
            .map_err(|reason| VerifyError::EmbeddedSchema { document: self.name(), reason: reason.clone() })
    }
}

fn compile(schema: &str) -> Result<Validator, String> {
    let schema: Value = serde_json::from_str(schema).map_err(|error| error.to_string())?;
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .should_validate_formats(true)
        .should_ignore_unknown_formats(false)
        .offline()
        .build(&schema)
        .map_err(|error| error.to_string())
}

/// How a declared version relates to the one built in.
enum Version {
    /// Our minor or an earlier one: every member must be known.
    Known,
    /// A later minor of our major, as declared.
    Newer(String),
    /// No version in the expected form; the schema says what is wrong.
    Unreadable,
}

fn version_of(members: &Map<String, Value>) -> Result<Version, VerifyError> {
    let Some(Value::String(declared)) = members.get("protocol_version") else {
        return Ok(Version::Unreadable);
    };
    let parts: Vec<&str> = declared.split('.').collect();
    let well_formed =
        parts.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    let [major, minor, _patch] = parts.as_slice() else { return Ok(Version::Unreadable) };
    if !well_formed {
        return Ok(Version::Unreadable);
    }
    // A number too long for 64 bits is certainly not ours.
    let major: u64 = major.parse().unwrap_or(u64::MAX);
    let minor: u64 = minor.parse().unwrap_or(u64::MAX);
    if major != SUPPORTED_MAJOR {
        let found = readable(declared);
        return Err(VerifyError::UnsupportedVersion { found, supported: SUPPORTED });
    }
    Ok(if minor > SUPPORTED_MINOR { Version::Newer(declared.clone()) } else { Version::Known })
}

/// Checks a document's shape. Returns the members that the built-in version knows, and what was dropped in words.
///
/// # Errors
/// [`VerifyError::UnsupportedVersion`], [`VerifyError::UnknownMember`] (when that is all that is wrong) or
/// [`VerifyError::Schema`].
pub fn check(
    kind: DocumentKind,
    members: Map<String, Value>,
) -> Result<(Map<String, Value>, Vec<String>), VerifyError> {
    let version = version_of(&members)?;
    let validator = kind.validator()?;
    let mut document = Value::Object(members);
    let mut findings = Findings::of(validator, &document);
    let mut warnings = Vec::new();
    if let Version::Newer(version) = version {
        for unknown in &findings.unknown {
            unknown.drop_from(&mut document);
            warnings.push(format!(
                "the {} declares protocol version {version}; its member '{}' isn't known to {SUPPORTED} and is ignored",
                kind.name(),
                unknown.pointer()
            ));
        }
        if !warnings.is_empty() {
            findings = Findings::of(validator, &document);
        }
    }
    if !findings.faults.is_empty() {
        return Err(VerifyError::Schema { document: kind.name(), faults: findings.all_as_faults() });
    }
    if !findings.unknown.is_empty() {
        let members = findings.unknown.iter().map(UnknownMember::pointer).collect();
        return Err(VerifyError::UnknownMember { document: kind.name(), members });
    }
    match document {
        Value::Object(members) => Ok((members, warnings)),
        _ => Err(VerifyError::UnknownDocument),
    }
}

/// A member the schema doesn't have.
struct UnknownMember {
    parent: String,
    name: String,
}

impl UnknownMember {
    fn pointer(&self) -> String {
        format!("{}/{}", self.parent, self.name.replace('~', "~0").replace('/', "~1"))
    }

    fn drop_from(&self, document: &mut Value) {
        if let Some(Value::Object(parent)) = document.pointer_mut(&self.parent) {
            parent.shift_remove(&self.name);
        }
    }
}

/// What the validator found, unknown members apart from everything else.
struct Findings {
    faults: Vec<SchemaFault>,
    unknown: Vec<UnknownMember>,
}

impl Findings {
    fn of(validator: &Validator, document: &Value) -> Self {
        let mut findings = Self { faults: Vec::new(), unknown: Vec::new() };
        for error in validator.iter_errors(document) {
            let pointer = error.instance_path().as_str().to_owned();
            if let ValidationErrorKind::AdditionalProperties { unexpected } = error.kind() {
                let members = unexpected.iter().cloned();
                findings.unknown.extend(members.map(|name| UnknownMember { parent: pointer.clone(), name }));
            } else {
                // Masked: the value may be megabytes long.
                findings.faults.push(SchemaFault { pointer, message: error.masked().to_string() });
            }
        }
        findings
    }

    fn all_as_faults(self) -> Vec<SchemaFault> {
        let unknown = self.unknown.iter().map(|member| SchemaFault {
            pointer: member.pointer(),
            message: "is not a member this protocol version defines".to_owned(),
        });
        self.faults.into_iter().chain(unknown).collect()
    }
}
