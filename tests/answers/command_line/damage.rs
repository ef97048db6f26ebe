//! A store that something has happened to: found before an answer is given, named, and told apart from "nothing there".

use std::path::{Path, PathBuf};

use super::binary::{Ended, Home, copy_directory, files_below};
use super::kept;

/// Code: the store is damaged.
const CORRUPT: i32 = 6;
/// Code: something isn't trusted.
const UNTRUSTED: i32 = 5;

/// A copy of the kept demo store.
struct Copy {
    home: Home,
    store: PathBuf,
}

impl Copy {
    fn new() -> Self {
        let home = Home::new();
        let store = home.path("store");
        copy_directory(&kept().store, &store);
        Self { home, store }
    }

    /// Asks the demo's questions of it.
    fn replay(&self) -> Ended {
        self.home.run(["demo".as_ref(), "--replay".as_ref(), self.store.as_os_str()])
    }

    fn objects(&self, is_wanted: impl Fn(&[u8]) -> bool) -> Vec<PathBuf> {
        let mut files = files_below(&self.store.join("objects"));
        files.retain(|file| is_wanted(&std::fs::read(file).expect("object")));
        assert!(!files.is_empty());
        files
    }

    fn snapshot(&self) -> PathBuf {
        let snapshots = files_below(&self.store.join("snapshots"));
        assert_eq!(snapshots.len(), 1);
        snapshots[0].clone()
    }
}

fn is_parquet(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PAR1")
}

fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = std::fs::read(path).expect("read");
    change(&mut bytes);
    // Objects may be write-protected.
    std::fs::remove_file(path).expect("removed");
    std::fs::write(path, bytes).expect("written");
}

#[test]
fn an_untouched_copy_answers() {
    Copy::new().replay().with(0, "rows");
}

#[test]
fn a_flipped_bit_in_the_rows_is_found() {
    let copy = Copy::new();
    for object in copy.objects(is_parquet) {
        change(&object, |bytes| {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
        });
    }
    // The first question that touches one says which, and nothing is answered from it.
    let ended = copy.replay().with(CORRUPT, "corrupt store");
    assert!(ended.stderr.contains("objects"), "{}", ended.stderr);
    assert_eq!(ended.stdout, "");
}

#[test]
fn objects_of_another_size_or_missing_are_found_at_once() {
    let cut = Copy::new();
    let object = cut.objects(is_parquet).remove(0);
    change(&object, |bytes| bytes.truncate(bytes.len() - 1));
    cut.replay().with(CORRUPT, object.file_name().and_then(|name| name.to_str()).expect("a name"));

    let missing = Copy::new();
    let object = missing.objects(is_parquet).remove(1);
    std::fs::remove_file(&object).expect("removed");
    missing.replay().with(CORRUPT, object.file_name().and_then(|name| name.to_str()).expect("a name"));

    let directory = Copy::new();
    let object = directory.objects(is_parquet).remove(2);
    std::fs::remove_file(&object).expect("removed");
    std::fs::create_dir(&object).expect("directory");
    directory.replay().with(CORRUPT, "corrupt store");
}

#[test]
fn signed_documents_are_verified_whenever_they_are_read() {
    for object in Copy::new().objects(|bytes| bytes.starts_with(b"{")) {
        let copy = Copy::new();
        let object = copy.store.join(object.strip_prefix(Copy::root(&object)).expect("below its store"));
        change(&object, |bytes| {
            let at = bytes.iter().position(|byte| *byte == b'D').expect("a letter");
            bytes[at] = b'E';
        });
        let ended = copy.replay();
        assert!([CORRUPT, UNTRUSTED].contains(&ended.code), "{ended:?}");
        assert_eq!(ended.stdout, "");
    }
}

impl Copy {
    /// The store an object's path lies in.
    fn root(object: &Path) -> &Path {
        object.ancestors().nth(3).expect("store/objects/aa/hash")
    }
}

#[test]
fn snapshot_documents_can_not_be_cut_changed_or_lost() {
    let cut = Copy::new();
    change(&cut.snapshot(), |bytes| bytes.truncate(bytes.len() / 2));
    let ended = cut.replay();
    assert!([CORRUPT, UNTRUSTED].contains(&ended.code), "{ended:?}");
    assert!(ended.stderr.contains("snapshots"), "{}", ended.stderr);

    let changed = Copy::new();
    change(&changed.snapshot(), |bytes| {
        let text = String::from_utf8(std::mem::take(bytes)).expect("JSON");
        *bytes = text.replacen("single_response", "double_read", 1).into_bytes();
    });
    let ended = changed.replay();
    assert!([CORRUPT, UNTRUSTED].contains(&ended.code), "{ended:?}");

    let lost = Copy::new();
    std::fs::remove_file(lost.snapshot()).expect("removed");
    lost.replay().with(CORRUPT, "snapshots");

    let empty = Copy::new();
    change(&empty.snapshot(), Vec::clear);
    empty.replay().with(CORRUPT, "snapshots");
}

#[test]
fn the_store_file_and_refs_are_read_with_suspicion() {
    for (text, code, needle) in [
        (r#"{"format":"benthic-mirror/store/2"}"#, CORRUPT, "newer"),
        (r#"{"format":"benthic-mirror/store/999999999999999999999"}"#, CORRUPT, "store.json"),
        (r#"{"format":"somebody/else/1"}"#, CORRUPT, "store.json"),
        ("{}", CORRUPT, "store.json"),
        ("", CORRUPT, "store.json"),
        ("[1", CORRUPT, "store.json"),
        (&" ".repeat(1 << 20), CORRUPT, "store.json"),
        ("\u{feff}{\"format\":\"benthic-mirror/store/1\"}", CORRUPT, "store.json"),
    ] {
        let copy = Copy::new();
        change(&copy.store.join("store.json"), |bytes| *bytes = text.as_bytes().to_vec());
        copy.replay().with(code, needle);
    }
    for text in [
        "".to_owned(),
        "\n".to_owned(),
        "../../../etc/passwd\n".to_owned(),
        format!("{}\n", "0".repeat(64)),
        format!("{}\n", "z".repeat(64)),
        "x".repeat(1 << 20),
    ] {
        let copy = Copy::new();
        change(&copy.store.join("refs/current"), |bytes| *bytes = text.clone().into_bytes());
        let shown: String = text.chars().take(40).collect();
        let ended = copy.replay();
        assert_eq!(ended.code, CORRUPT, "{shown:?}: {}", ended.stderr);
    }
    let copy = Copy::new();
    std::fs::remove_file(copy.store.join("refs/current")).expect("removed");
    // A store without a snapshot, as after a first pull that was interrupted.
    copy.replay().with(4, "sync");
}

#[cfg(unix)]
#[test]
fn an_unreadable_store_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let copy = Copy::new();
    let locked = copy.store.join("snapshots");
    std::fs::set_permissions(&locked, PermissionsExt::from_mode(0o000)).expect("permissions");
    let readable_anyway = std::fs::read_dir(&locked).is_ok();
    let ended = copy.replay();
    std::fs::set_permissions(&locked, PermissionsExt::from_mode(0o755)).expect("permissions");
    if readable_anyway {
        eprintln!("skipped: this user may read everything, so no store is unreadable");
        ended.with(0, "rows");
    } else {
        assert_ne!(ended.code, 0);
        assert!(ended.stderr.contains("snapshots"), "{}", ended.stderr);
    }
}
