//! The documents: links lead somewhere, the architecture page names what exists, no registry but crates.io.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::files::{project_files, root};

/// Documents that have to be there.
const REQUIRED: [&str; 3] = ["README.md", "docs/architecture.md", "docs/parity.md"];

/// The project's documents: Markdown at the top and in docs/.
fn documents() -> Vec<PathBuf> {
    project_files()
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .filter(|path| path.components().count() == 1 || path.starts_with("docs"))
        .collect()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// The lines of a document outside its code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut fence: Option<&str> = None;
    text.lines().filter(move |line| {
        let trimmed = line.trim_start();
        let marker = ["```", "~~~"].into_iter().find(|marker| trimmed.starts_with(marker));
        match (fence, marker) {
            (None, Some(marker)) => fence = Some(marker),
            (Some(open), Some(marker)) if open == marker => fence = None,
            (None, None) => return true,
            _ => {}
        }
        false
    })
}

/// A line without its inline code.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

/// Where a document's links lead: `[text](target)`, `![…](target)`, `[name]: target`.
fn links(text: &str) -> Vec<String> {
    let mut links = Vec::new();
    for line in prose(text) {
        let line = without_code(line);
        for (at, _) in line.match_indices("](") {
            let target = line[at + 2..].split([')', ' ']).next().unwrap_or_default();
            links.push(target.trim_matches(['<', '>']).to_owned());
        }
        if let Some((name, target)) = line.split_once("]: ")
            && name.trim_start().starts_with('[')
        {
            let target = target.split_whitespace().next().unwrap_or_default();
            links.push(target.trim_matches(['<', '>']).to_owned());
        }
    }
    links
}

/// The anchors of a document's headings, as forges make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for line in prose(text) {
        let level = line.chars().take_while(|c| *c == '#').count();
        if !(1..=6).contains(&level) || !line[level..].starts_with(' ') {
            continue;
        }
        let slug: String = line[level..]
            .trim()
            .to_lowercase()
            .chars()
            .filter(|c| c.is_alphanumeric() || "-_ ".contains(*c))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        let mut numbered = slug.clone();
        let mut number = 0;
        while !anchors.insert(numbered.clone()) {
            number += 1;
            numbered = format!("{slug}-{number}");
        }
    }
    anchors
}

/// A relative link from a folder, with its `..` taken by name.
fn joined(folder: &Path, link: &str) -> PathBuf {
    let mut path = folder.to_path_buf();
    for part in Path::new(link).components() {
        match part {
            std::path::Component::ParentDir if path.components().next().is_some() => drop(path.pop()),
            std::path::Component::CurDir => {}
            other => path.push(other),
        }
    }
    path
}

/// What is wrong with a link in `document`, if anything.
fn broken(document: &Path, link: &str) -> Option<String> {
    let is_elsewhere = ["https://", "http://", "mailto:"].iter().any(|scheme| link.starts_with(scheme));
    if is_elsewhere {
        return None;
    }
    let (file, anchor) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
    let target = if file.is_empty() {
        document.to_path_buf()
    } else {
        joined(document.parent().unwrap_or(Path::new("")), file)
    };
    let place = root().join(&target);
    if !place.exists() {
        return Some(format!("{} links to {link}, which doesn't exist", document.display()));
    }
    let anchor = anchor?;
    let is_markdown = target.extension().is_some_and(|extension| extension == "md");
    let found = is_markdown && anchors(&std::fs::read_to_string(place).unwrap()).contains(anchor);
    (!found).then(|| format!("{} links to {link}, which has no such heading", document.display()))
}

#[test]
fn the_required_documents_exist() {
    for path in REQUIRED {
        assert!(root().join(path).is_file(), "{path} is missing");
    }
}

#[test]
fn links_lead_somewhere() {
    let mut faults = Vec::new();
    for document in documents() {
        let links = links(&read(&document));
        faults.extend(links.iter().filter_map(|link| broken(&document, link)));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn links_and_anchors_are_understood() {
    let text = "# A first: *heading*\n## Twice\n## Twice\n[a](x.md) and [b](y.md#z \"title\"), `[c](no.md)`\n\
                ```\n[d](no.md)\n# no\n```\n[e]: <f.md>\n![g](h.svg)\n[i]: j.md\n#nospace\n";
    assert_eq!(links(text), ["x.md", "y.md#z", "f.md", "h.svg", "j.md"]);
    let anchors: Vec<String> = anchors(text).into_iter().collect();
    assert_eq!(anchors, ["a-first-heading", "twice", "twice-1"]);
    let here = Path::new("Cargo.toml");
    assert_eq!(broken(here, "src/lib.rs"), None);
    assert_eq!(broken(here, "https://example.org/x"), None);
    assert!(broken(here, "src/nothing.rs").is_some());
    assert!(broken(here, "src/lib.rs#heading").is_some());
    assert!(broken(Path::new("docs/x.md"), "lib.rs").is_some());
    assert_eq!(broken(Path::new("docs/x.md"), "../src/lib.rs"), None);
}

/// Every `src/…` path a text names.
fn source_paths(text: &str) -> BTreeSet<String> {
    text.match_indices("src/")
        .filter(|(at, _)| !text[..*at].ends_with(|c: char| c.is_alphanumeric() || "/_-".contains(c)))
        .map(|(at, _)| {
            let path: String =
                text[at..].chars().take_while(|c| c.is_alphanumeric() || "/_-.".contains(*c)).collect();
            path.trim_end_matches(['.', '/']).to_owned()
        })
        .collect()
}

#[test]
fn the_architecture_page_names_what_exists_and_all_of_it() {
    let path = Path::new("docs/architecture.md");
    assert!(root().join(path).is_file(), "docs/architecture.md is missing");
    let text = read(path);
    let missing: Vec<_> =
        source_paths(&text).into_iter().filter(|path| !root().join(path).exists()).collect();
    assert!(missing.is_empty(), "docs/architecture.md names paths that don't exist: {missing:?}");
    for entry in std::fs::read_dir(root().join("src")).unwrap() {
        let entry = entry.unwrap();
        let room = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            let named = text.contains(&format!("src/{room}")) || text.contains(&format!("`{room}")) || {
                // In a drawing of the tree a room stands at the start of a line.
                text.lines().any(|line| line.trim_start().starts_with(&format!("{room}/")))
            };
            assert!(named, "docs/architecture.md doesn't name the room {room}");
        }
    }
}

#[test]
fn source_paths_are_found_in_a_text() {
    let text = "See `src/bdp/verify.rs`, [x](../src/store) and src/net/. Not ../other-src/x or mysrc/y.";
    let paths: Vec<String> = source_paths(text).into_iter().collect();
    assert_eq!(paths, ["src/bdp/verify.rs", "src/net"]);
}

/// Hosts in a text's URLs that serve packages and aren't crates.io.
fn package_hosts(text: &str) -> Vec<String> {
    const MARKS: [&str; 8] =
        ["registry", "pypi", "npmjs", "artifact", "nexus", "goproxy", "debian", "ubuntu"];
    const FINE: [&str; 3] = ["crates.io", "static.crates.io", "index.crates.io"];
    text.match_indices("://")
        .map(|(at, _)| {
            text[at + 3..]
                .chars()
                .take_while(|c| c.is_alphanumeric() || ".-".contains(*c))
                .collect::<String>()
                .to_lowercase()
        })
        .filter(|host| MARKS.iter().any(|mark| host.contains(mark)) && !FINE.contains(&host.as_str()))
        .collect()
}

#[test]
fn documents_name_no_registry_but_crates_io() {
    for document in documents() {
        let hosts = package_hosts(&read(&document));
        assert!(hosts.is_empty(), "{} names {hosts:?}", document.display());
    }
}

#[test]
fn a_registry_is_found() {
    assert_eq!(
        package_hosts("at https://registry.example.net/x and https://crates.io/a"),
        ["registry.example.net"]
    );
    assert!(package_hosts("https://benthic.io/bdp and https://docs.rs/geo").is_empty());
}
