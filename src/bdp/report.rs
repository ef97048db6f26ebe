//! What a verification found, as data for people: one document, or a whole folder of published documents.
//!
//! Pure functions over bytes; reading files and printing belong to the callers.

use std::collections::BTreeMap;
use std::fmt;

use super::document::{Collection, CollectionMember, Document, Manifest};
use super::error::{Check, VerifyError};
use super::hash::PayloadHash;
use super::keys::TrustedKeys;
use super::parse::{Limits, parse_object};
use super::schema::DocumentKind;
use super::signature::SIGNATURE_MEMBER;
use super::verify::{Verified, verify_document};

/// One file and what it turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentReport {
    /// Path or address, as given.
    pub path: String,
    /// What it is.
    pub finding: Finding,
}

/// What a file turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// A document that passed every check it can pass alone ([`Check::Form`] to [`Check::Schema`]).
    Verified(Box<VerifiedFacts>),
    /// A document, or something that claims to be one, that isn't believed.
    Refused {
        /// The checks that passed before.
        passed: Vec<Check>,
        /// Why.
        error: VerifyError,
    },
    /// A published list of collections or keys: unsigned by design, so nothing in it is believed.
    UnsignedList,
    /// Well-formed JSON of another kind, e.g. a schema.
    OtherJson,
}

/// What is known about a verified document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedFacts {
    /// Collection or manifest.
    pub kind: DocumentKind,
    /// Collection or dataset name.
    pub name: String,
    /// Its hash.
    pub payload_hash: PayloadHash,
    /// The trusted key that signed it, Base64.
    pub signed_by: String,
    /// Authenticated creation time.
    pub created_at: Option<String>,
    /// Signing time by the signer's word; not authenticated.
    pub signed_at: Option<String>,
    /// What was tolerated.
    pub warnings: Vec<String>,
    /// For manifests in a folder: where they stand. `None` for collections and single files.
    pub standing: Option<Standing>,
}

/// Where a genuine manifest stands among the collections beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// The revision a collection pins.
    Pinned {
        /// That collection.
        by: String,
    },
    /// A collection lists the dataset, but pins another revision.
    Superseded {
        /// That collection.
        by: String,
        /// The revision it pins.
        pinned: PayloadHash,
    },
    /// No collection here lists the dataset.
    Unlisted,
}

/// A folder of documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderReport {
    /// One report per `*.json`, by path.
    pub documents: Vec<DocumentReport>,
    /// One report per verified collection, by path.
    pub collections: Vec<CollectionReport>,
}

/// A verified collection and whether its members are there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectionReport {
    /// Path of the collection document.
    pub path: String,
    /// Its name.
    pub name: String,
    /// Its members and the files with their pinned manifests, `None` where there is none.
    pub members: Vec<(String, Option<String>)>,
    /// Why it can't be loaded from this folder; empty if it can.
    pub faults: Vec<VerifyError>,
}

impl DocumentReport {
    /// Whether the document is believed.
    pub fn is_verified(&self) -> bool {
        matches!(self.finding, Finding::Verified(_))
    }
}

impl FolderReport {
    /// Everything wrong in the folder, each with the file it is about. Empty means every document is believed and
    /// every collection is complete. A folder without any document is not a fault here.
    pub fn faults(&self) -> Vec<(&str, &VerifyError)> {
        let refused = self.documents.iter().filter_map(|document| match &document.finding {
            Finding::Refused { error, .. } => Some((document.path.as_str(), error)),
            _ => None,
        });
        let incomplete = self.collections.iter().flat_map(|collection| {
            collection.faults.iter().map(move |error| (collection.path.as_str(), error))
        });
        refused.chain(incomplete).collect()
    }
}

/// Examines one file.
pub fn examine(path: &str, bytes: &[u8], keys: &TrustedKeys, limits: &Limits) -> DocumentReport {
    let finding = match verify(bytes, keys, limits) {
        Ok(document) => Finding::Verified(Box::new(facts(&document))),
        Err(finding) => finding,
    };
    DocumentReport { path: path.to_owned(), finding }
}

/// Examines a folder, given as the bytes of its files by path. Files whose name doesn't end in `.json` are passed
/// over; a `.json` file that can't be read as one is refused, since it may be a document cut short.
pub fn examine_folder(
    files: &BTreeMap<String, Vec<u8>>,
    keys: &TrustedKeys,
    limits: &Limits,
) -> FolderReport {
    let mut documents = Vec::new();
    let mut collections: Vec<(String, Verified<Collection>)> = Vec::new();
    let mut manifests: Vec<(String, Verified<Manifest>)> = Vec::new();
    for (path, bytes) in files.iter().filter(|(path, _)| path.ends_with(".json")) {
        let finding = match verify(bytes, keys, limits) {
            Err(finding) => finding,
            Ok(document) => {
                let facts = facts(&document);
                match facts.kind {
                    DocumentKind::Collection => {
                        collections.extend(document.into_collection().map(|found| (path.clone(), found)));
                    }
                    DocumentKind::Manifest => {
                        manifests.extend(document.into_manifest().map(|found| (path.clone(), found)));
                    }
                }
                Finding::Verified(Box::new(facts))
            }
        };
        documents.push(DocumentReport { path: path.clone(), finding });
    }
    for document in &mut documents {
        if let Finding::Verified(facts) = &mut document.finding
            && facts.kind == DocumentKind::Manifest
        {
            facts.standing = Some(standing(&facts.name, facts.payload_hash, &collections));
        }
    }
    let collections =
        collections.iter().map(|(path, collection)| members(path, collection, &manifests)).collect();
    FolderReport { documents, collections }
}

/// The verified document, or the finding that it isn't one.
fn verify(bytes: &[u8], keys: &TrustedKeys, limits: &Limits) -> Result<Verified<Document>, Finding> {
    verify_document(bytes, keys, limits).map_err(|error| {
        if error == VerifyError::MissingSignature
            && let Ok(members) = parse_object(bytes, limits)
        {
            // A document stripped of its signature must not pass for something that never had one.
            let has = |name: &str| members.contains_key(name);
            let is_document = has("members") || has("schema_definition") || has(SIGNATURE_MEMBER);
            if !is_document && (has("collections") || has("keys")) {
                return Finding::UnsignedList;
            }
            if !is_document {
                return Finding::OtherJson;
            }
        }
        let passed = Check::ALL.into_iter().take_while(|check| *check < error.check()).collect();
        Finding::Refused { passed, error }
    })
}

fn facts(document: &Verified<Document>) -> VerifiedFacts {
    let (kind, name, created_at) = match &document.document {
        Document::Collection(collection) => {
            (DocumentKind::Collection, &collection.collection_name, &collection.created_at)
        }
        Document::Manifest(manifest) => {
            (DocumentKind::Manifest, &manifest.dataset_name, &manifest.created_at)
        }
    };
    VerifiedFacts {
        kind,
        name: name.clone(),
        payload_hash: document.payload_hash,
        signed_by: document.signed_by.clone(),
        created_at: created_at.clone(),
        signed_at: document.signed_at.clone(),
        warnings: document.warnings.clone(),
        standing: None,
    }
}

fn standing(dataset: &str, hash: PayloadHash, collections: &[(String, Verified<Collection>)]) -> Standing {
    let listing: Vec<(&str, &CollectionMember)> = collections
        .iter()
        .flat_map(|(_, collection)| {
            let name = collection.document.collection_name.as_str();
            collection.document.members.iter().map(move |member| (name, member))
        })
        .filter(|(_, member)| member.dataset_name == dataset)
        .collect();
    let pinning = listing.iter().find(|(_, member)| member.payload_hash == hash);
    match (pinning, listing.first()) {
        (Some((by, _)), _) => Standing::Pinned { by: (*by).to_owned() },
        (None, Some((by, member))) => {
            Standing::Superseded { by: (*by).to_owned(), pinned: member.payload_hash }
        }
        (None, None) => Standing::Unlisted,
    }
}

fn members(
    path: &str,
    collection: &Verified<Collection>,
    manifests: &[(String, Verified<Manifest>)],
) -> CollectionReport {
    let name = &collection.document.collection_name;
    let mut report = CollectionReport {
        path: path.to_owned(),
        name: name.clone(),
        members: Vec::new(),
        faults: Vec::new(),
    };
    let mut missing = Vec::new();
    for member in &collection.document.members {
        let revisions =
            || manifests.iter().filter(|(_, found)| found.document.dataset_name == member.dataset_name);
        let pinned = revisions().find(|(_, found)| found.payload_hash == member.payload_hash);
        report.members.push((member.dataset_name.clone(), pinned.map(|(path, _)| path.clone())));
        match (pinned, revisions().next()) {
            (Some(_), _) => {}
            (None, Some((_, other))) => report.faults.push(VerifyError::PinMismatch {
                dataset: member.dataset_name.clone(),
                pinned: member.payload_hash,
                found: other.payload_hash,
            }),
            (None, None) => missing.push(member.dataset_name.clone()),
        }
    }
    if !missing.is_empty() {
        report.faults.push(VerifyError::MissingMember { collection: name.clone(), datasets: missing });
    }
    report
}

impl fmt::Display for DocumentReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match &self.finding {
            Finding::Verified(facts) => {
                let VerifiedFacts { kind, name, payload_hash, signed_by, .. } = facts.as_ref();
                write!(
                    formatter,
                    "verified  {path}: {} '{name}' {payload_hash}, signed by {signed_by}",
                    kind.name()
                )?;
                match &facts.standing {
                    Some(Standing::Pinned { by }) => write!(formatter, ", pinned by '{by}'")?,
                    Some(Standing::Superseded { by, pinned }) => {
                        write!(formatter, ", superseded: '{by}' pins {pinned}")?;
                    }
                    Some(Standing::Unlisted) => write!(formatter, ", listed by no collection here")?,
                    None => {}
                }
                // Membership is about a collection and its files together; a document alone can't pass it.
                let alone = Check::ALL.into_iter().filter(|check| *check != Check::Membership);
                let passed: Vec<&str> = alone.map(Check::label).collect();
                write!(formatter, "\n  passed: {}", passed.join(", "))?;
                let signed_at = facts.signed_at.as_deref().map(|at| format!("; says it was signed {at}"));
                if let Some(created_at) = &facts.created_at {
                    write!(formatter, "\n  created {created_at}{}", signed_at.unwrap_or_default())?;
                }
                facts.warnings.iter().try_for_each(|warning| write!(formatter, "\n  warning: {warning}"))
            }
            Finding::Refused { passed, error } => {
                write!(formatter, "REFUSED   {path}: {error}")?;
                let passed: Vec<&str> = passed.iter().map(|check| check.label()).collect();
                if passed.is_empty() {
                    Ok(())
                } else {
                    write!(formatter, "\n  passed: {}", passed.join(", "))
                }
            }
            Finding::UnsignedList => write!(formatter, "unsigned  {path}: not believed"),
            Finding::OtherJson => write!(formatter, "skipped   {path}: not a signed document"),
        }
    }
}

impl fmt::Display for FolderReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for document in &self.documents {
            writeln!(formatter, "{document}")?;
        }
        for CollectionReport { path, name, members, faults } in &self.collections {
            match faults.as_slice() {
                [] => writeln!(formatter, "complete  {path}: '{name}' with {} members", members.len())?,
                faults => {
                    faults.iter().try_for_each(|fault| writeln!(formatter, "FAULT     {path}: {fault}"))?
                }
            }
        }
        Ok(())
    }
}
