//! Where a dataset may be read: its public PostgREST endpoint and its signed files.
//!
//! Only what the manifest grants is decided here. Which schemes and hosts may be contacted is decided when fetching.

use url::Url;

use super::model::{PostgrestEndpoint, Relation, SignedFile};
use crate::bdp::{DeclaredEndpoint, DeclaredFile, TransportType};

/// The endpoint as a PostgREST one that anybody may read; `None` for others.
pub(super) fn postgrest(
    dataset: &str,
    endpoint: &DeclaredEndpoint,
    warnings: &mut Vec<String>,
) -> Option<PostgrestEndpoint> {
    let meta = &endpoint.meta;
    if endpoint.transport_type != TransportType::PostgrestApi || meta.requires_auth.unwrap_or(false) {
        return None;
    }
    let base_url = match base_url(&endpoint.base_url) {
        Ok(url) => url.to_string(),
        Err(reason) => {
            warnings.push(format!("the endpoint {} of '{dataset}' is ignored: {reason}", endpoint.base_url));
            return None;
        }
    };
    let accept_profile = meta.accept_profile.as_ref().filter(|profile| is_plain_identifier(profile)).cloned();
    if let (Some(declared), None) = (&meta.accept_profile, &accept_profile) {
        warnings.push(format!(
            "the accept_profile of '{dataset}' ('{}') isn't a schema name and is ignored",
            declared.chars().take(80).collect::<String>()
        ));
    }
    Some(PostgrestEndpoint { base_url, accept_profile, max_rows: meta.max_rows })
}

/// An endpoint's base address, ending in `/`. Which hosts and schemes may be contacted is decided when fetching.
fn base_url(text: &str) -> Result<Url, String> {
    let mut url = Url::parse(text).map_err(|error| format!("it isn't an address ({error})"))?;
    if url.cannot_be_a_base() || !url.has_host() {
        return Err("it names no host".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it carries credentials".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("it carries a query or a fragment".to_owned());
    }
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    Ok(url)
}

/// Whether a text can be a PostgreSQL schema name without quoting.
fn is_plain_identifier(text: &str) -> bool {
    let mut characters = text.chars();
    let starts_well = characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    let goes_on_well = characters.all(|character| character.is_ascii_alphanumeric() || character == '_');
    starts_well && goes_on_well && text.len() <= 63
}

/// The files that make a relation end-to-end signed: named with their hash by a public Parquet endpoint, and the
/// only file of their relation there, so that the file is the whole of it.
pub(super) fn signed_files(
    dataset: &str,
    endpoints: &[DeclaredEndpoint],
    relations: &[Relation],
    warnings: &mut Vec<String>,
) -> Vec<SignedFile> {
    let mut files: Vec<SignedFile> = Vec::new();
    for endpoint in endpoints {
        let is_parquet =
            matches!(endpoint.transport_type, TransportType::Parquet | TransportType::Geoparquet);
        if !is_parquet || endpoint.meta.requires_auth.unwrap_or(false) {
            continue;
        }
        for file in &endpoint.meta.files {
            let same_relation =
                endpoint.meta.files.iter().filter(|other| other.relation == file.relation).count();
            let signed = if same_relation > 1 {
                Err(format!(
                    "the endpoint lists {same_relation} files for the relation, so none is the whole"
                ))
            } else {
                signed_file(endpoint, file, relations)
            };
            match signed {
                // Both a Parquet and a GeoParquet endpoint may hold the relation; the first listed counts.
                Ok(signed) if files.iter().any(|earlier| earlier.relation == signed.relation) => {}
                Ok(signed) => files.push(signed),
                Err(reason) => warnings.push(format!(
                    "the file '{}' for '{dataset}.{}' is not used: {reason}",
                    file.path, file.relation
                )),
            }
        }
    }
    files
}

fn signed_file(
    endpoint: &DeclaredEndpoint,
    file: &DeclaredFile,
    relations: &[Relation],
) -> Result<SignedFile, String> {
    let relation = relations
        .iter()
        .find(|relation| relation.name == file.relation)
        .ok_or("the manifest has no such relation")?;
    if !relation.queryable {
        return Err("the relation isn't queryable".to_owned());
    }
    let sha256 = file.sha256.clone().ok_or("it has no sha256, so nothing signs its content")?;
    let base = base_url(&endpoint.base_url)?;
    Ok(SignedFile {
        relation: file.relation.clone(),
        url: file_url(&base, &file.path)?.to_string(),
        byte_size: file.byte_size,
        sha256,
    })
}

/// Resolves a file's path; it must stay below the base address.
fn file_url(base: &Url, path: &str) -> Result<Url, String> {
    let lower = path.to_ascii_lowercase();
    let hidden = ["%2e", "%2f", "%5c"].iter().any(|encoded| lower.contains(encoded));
    let odd = path.chars().any(|character| character.is_control() || matches!(character, '\\' | '?' | '#'));
    let segments_are_plain = path.split('/').all(|segment| !matches!(segment, "" | "." | ".."));
    if hidden || odd || !segments_are_plain {
        return Err("its path isn't a plain relative one".to_owned());
    }
    // A path whose first segment has a colon would be read as an absolute address.
    let url =
        base.join(&format!("./{path}")).map_err(|error| format!("its path can't be resolved ({error})"))?;
    if url.origin() != base.origin() || !url.as_str().starts_with(base.as_str()) {
        return Err("its path leaves the endpoint".to_owned());
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_identifiers_are_schema_names() {
        for plain in ["public", "vpic", "_x", "api_reference"] {
            assert!(is_plain_identifier(plain), "{plain}");
        }
        for prose in
            ["vpic (default), api_reference (/reference)", "", "1a", "a-b", "a\r\nx: y", &"a".repeat(64)]
        {
            assert!(!is_plain_identifier(prose), "{prose}");
        }
    }

    #[test]
    fn files_stay_below_their_endpoint() {
        let base = base_url("https://data.example/x").unwrap();
        assert_eq!(base.as_str(), "https://data.example/x/");
        assert_eq!(
            file_url(&base, "2026/a:b.parquet").unwrap().as_str(),
            "https://data.example/x/2026/a:b.parquet"
        );
        for path in [
            "/etc/a",
            "//evil.example/a",
            "https://evil.example/a",
            "../a",
            "a/../../b",
            "a/%2e%2e/%2E%2E/b",
            "a\\..\\b",
            "a?x",
            "a#x",
            "a\nb",
            "",
            ".",
        ] {
            assert!(file_url(&base, path).is_err(), "{path}: {:?}", file_url(&base, path));
        }
    }

    #[test]
    fn base_addresses_carry_nothing_else() {
        for wrong in
            ["https://u:p@data.example/", "https://data.example/?a=1", "https://data.example/#a", "s3:bucket"]
        {
            assert!(base_url(wrong).is_err(), "{wrong}");
        }
    }
}
