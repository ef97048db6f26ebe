//! Every file of the project: page heads, sizes, machine paths, the lock file's one registry.

use std::path::{Path, PathBuf};

use crate::rust_source::code_of;

/// Lines past which a file has to be split.
const MAX_LINES: usize = 800;

/// The project's directory.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files of the project, relative to its directory, in order; build output and Git's own are left out.
pub(crate) fn project_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut directories = vec![root().to_path_buf()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(&directory).unwrap() {
            let entry = entry.unwrap();
            let path = entry.path();
            let kind = entry.file_type().unwrap();
            let name = entry.file_name();
            let is_ours = directory != root() || !["target", ".git"].contains(&name.to_str().unwrap());
            if kind.is_dir() && is_ours {
                directories.push(path);
            } else if kind.is_file() && is_ours {
                files.push(path.strip_prefix(root()).unwrap().to_path_buf());
            }
        }
    }
    files.sort();
    files
}

/// The Rust files under `src`, relative to it, with their text.
pub(crate) fn source_files() -> Vec<(PathBuf, String)> {
    project_files()
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter_map(|path| {
            let text = std::fs::read_to_string(root().join(&path)).unwrap();
            path.strip_prefix("src").ok().map(|path| (path.to_path_buf(), text))
        })
        .collect()
}

#[test]
fn every_source_file_says_its_job_first() {
    let silent: Vec<_> = source_files()
        .into_iter()
        .filter(|(_, text)| !says_its_job(text))
        .map(|(path, _)| path.display().to_string())
        .collect();
    assert!(silent.is_empty(), "files under src that don't start with a //! line: {silent:?}");
}

fn says_its_job(text: &str) -> bool {
    text.lines().next().is_some_and(|line| line.strip_prefix("//! ").is_some_and(|job| job.len() > 10))
}

#[test]
fn a_file_without_a_head_is_found() {
    assert!(says_its_job("//! Reads pages from an origin.\nuse x;"));
    assert!(!says_its_job("use x;\n//! Reads pages from an origin."));
    assert!(!says_its_job("//!\nuse x;"));
    assert!(!says_its_job(""));
}

#[test]
fn no_file_has_outgrown_its_concept() {
    let mut too_long = Vec::new();
    for path in project_files() {
        if path.extension().is_some_and(|extension| extension == "rs") {
            let lines = std::fs::read_to_string(root().join(&path)).unwrap().lines().count();
            if lines > MAX_LINES {
                too_long.push(format!("{} ({lines} lines)", path.display()));
            }
        }
    }
    assert!(too_long.is_empty(), "more than {MAX_LINES} lines: {too_long:?}");
}

/// Paths that exist on one machine only. Put together here so that this file doesn't hold them.
fn machine_paths() -> [String; 4] {
    ["work", "root", "home", "Users"].map(|name| format!("/{name}/"))
}

/// The machine path a text holds, if any. A path is one at the start of the text or after something that can't be
/// part of a longer path or URL.
fn machine_path_in(text: &str) -> Option<&str> {
    machine_paths().iter().find_map(|path| {
        text.match_indices(path.as_str()).find_map(|(at, _)| {
            let before = text[..at].chars().next_back();
            let is_inside = before.is_some_and(|c| c.is_alphanumeric() || "._-}~/".contains(c));
            (!is_inside).then(|| text[at..].lines().next().unwrap_or_default())
        })
    })
}

#[test]
fn no_file_names_a_path_of_one_machine() {
    let mut found = Vec::new();
    for path in project_files() {
        let bytes = std::fs::read(root().join(&path)).unwrap();
        // Parquet, WKB and the like are not text; what they hold is tested where they are made.
        let Ok(text) = String::from_utf8(bytes) else { continue };
        if let Some(place) = machine_path_in(&text) {
            found.push(format!("{}: {}", path.display(), place.chars().take(80).collect::<String>()));
        }
    }
    assert!(found.is_empty(), "paths of one machine: {found:#?}");
}

#[test]
fn a_machine_path_is_found_and_a_longer_path_is_not() {
    for found in ["see /{work}/x", "/{home}/someone", "\"/{root}/.cargo\"", "a\n/{Users}/x"] {
        assert!(machine_path_in(&found.replace(['{', '}'], "")).is_some(), "{found}");
    }
    for clean in ["https://example.org/home/", "docs/work/plan", "$HOME/work/", "./work/x", "~/work/"] {
        assert!(machine_path_in(clean).is_none(), "{clean}");
    }
}

#[test]
fn the_lock_file_names_one_registry() {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let strangers = other_registries(&lock);
    assert!(strangers.is_empty(), "{strangers:?}");
    for path in project_files() {
        let is_cargo_config = path.starts_with(".cargo");
        assert!(!is_cargo_config, "{}: a registry or linker of one machine belongs outside", path.display());
    }
}

fn other_registries(lock: &str) -> Vec<&str> {
    const REGISTRY: &str = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";
    lock.lines().filter(|line| line.starts_with("source = ") && *line != REGISTRY).collect()
}

#[test]
fn another_registry_is_found() {
    assert_eq!(other_registries("name = \"a\"\nsource = \"git+https://example.org/a\"\n").len(), 1);
    assert_eq!(
        other_registries("source = \"registry+https://github.com/rust-lang/crates.io-index\"").len(),
        0
    );
}

#[test]
fn nothing_is_left_for_later_in_the_code() {
    let mut found = Vec::new();
    for (path, text) in source_files() {
        let code = code_of(&text);
        for marker in ["todo!(", "unimplemented!(", "dbg!("] {
            if code.contains(marker) {
                found.push(format!("{}: {marker}", path.display()));
            }
        }
    }
    assert!(found.is_empty(), "{found:?}");
}
