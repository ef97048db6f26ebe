//! Who may call whom: downwards only, as docs/architecture.md draws it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::files::{root, source_files};
use crate::rust_source::{code_of, names_from_root};

/// The rooms and what each may call, besides itself and `config`, which everybody may read.
fn allowed() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    const STORES: &[&str] = &["store", "postgrest", "catalog", "bdp"];
    const WORKERS: &[&str] = &["engine", "spatial", "playbook", "coverage", "sync"];
    let below_app = || WORKERS.iter().chain(STORES).copied();
    let below_servers = || std::iter::once("app").chain(below_app());
    BTreeMap::from([
        ("config", BTreeSet::new()),
        ("bdp", BTreeSet::new()),
        ("catalog", BTreeSet::from(["bdp"])),
        ("net", BTreeSet::new()),
        ("postgrest", BTreeSet::from(["catalog", "bdp", "net"])),
        ("store", BTreeSet::from(["catalog", "bdp"])),
        ("engine", STORES.iter().copied().collect()),
        ("spatial", STORES.iter().copied().collect()),
        ("playbook", STORES.iter().copied().collect()),
        ("coverage", STORES.iter().copied().collect()),
        ("sync", STORES.iter().copied().chain(["net"]).collect()),
        ("app", below_app().collect()),
        ("mcp", below_servers().collect()),
        ("demo", below_servers().collect()),
        // One file per subcommand, `serve` and `demo` among them.
        ("cli", below_servers().chain(["mcp", "demo"]).collect()),
    ])
}

/// The calls of one file that no arrow allows. `path` is relative to `src`.
fn forbidden_calls(path: &Path, source: &str) -> Vec<String> {
    let parts: Vec<&str> = path.iter().map(|part| part.to_str().unwrap()).collect();
    let [room, .., file] = parts.as_slice() else {
        // lib.rs and main.rs are above all rooms; another file there would be a room of one file.
        return Vec::new();
    };
    let table = allowed();
    let Some(may_call) = table.get(room) else {
        return vec![format!("{}: {room} is no room of the table", path.display())];
    };
    let depth = parts.len() - usize::from(*file == "mod.rs");
    let mut forbidden = Vec::new();
    for name in names_from_root(&code_of(source), depth) {
        let fine = name == *room || name == "config" || may_call.contains(name.as_str());
        if !fine {
            forbidden.push(format!("{} calls {name}", path.display()));
        }
    }
    forbidden
}

#[test]
fn calls_go_downwards_only() {
    let files = source_files();
    assert!(files.len() > 15, "the sources weren't found");
    let forbidden: Vec<String> =
        files.iter().flat_map(|(path, source)| forbidden_calls(path, source)).collect();
    assert!(forbidden.is_empty(), "calls against the arrows of docs/architecture.md: {forbidden:#?}");
}

#[test]
fn a_call_upwards_or_sideways_is_found() {
    let found = |path: &str, source: &str| forbidden_calls(Path::new(path), source);
    assert!(found("bdp/mod.rs", "use crate::config::Limits; use crate::bdp::X;").is_empty());
    assert_eq!(found("bdp/mod.rs", "use crate::catalog::X;"), ["bdp/mod.rs calls catalog"]);
    assert_eq!(
        found("store/a/b.rs", "fn f() { super::super::super::sync::run() }"),
        ["store/a/b.rs calls sync"]
    );
    assert!(found("store/a/b.rs", "use super::super::layout::Layout;").is_empty());
    assert_eq!(found("spatial/mod.rs", "use crate::{catalog, engine::X};"), ["spatial/mod.rs calls engine"]);
    assert_eq!(found("engine/run.rs", "use crate::net::Door;"), ["engine/run.rs calls net"]);
    assert_eq!(found("mcp/mod.rs", "use crate::cli;"), ["mcp/mod.rs calls cli"]);
    assert_eq!(found("attic/mod.rs", ""), ["attic/mod.rs: attic is no room of the table"]);
    assert!(found("main.rs", "use crate::cli;").is_empty());
}

#[test]
fn the_arrows_have_no_circle() {
    let table = allowed();
    for (room, calls) in &table {
        for called in calls {
            let back = table[called].contains(room);
            assert!(!back, "{room} and {called} may call each other");
        }
    }
}

#[test]
fn the_root_lists_the_rooms_and_nothing_else() {
    let rooms: BTreeSet<String> = std::fs::read_dir(root().join("src"))
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    let table = allowed();
    let unknown: Vec<_> = rooms.iter().filter(|room| !table.contains_key(room.as_str())).collect();
    assert!(unknown.is_empty(), "folders under src without a place in the arrows: {unknown:?}");
    let library = code_of(&std::fs::read_to_string(root().join("src/lib.rs")).unwrap());
    for room in &rooms {
        assert!(library.contains(&format!("mod {room};")), "src/lib.rs doesn't list {room}");
    }
}
