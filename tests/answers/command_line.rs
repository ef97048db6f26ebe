//! The binary as a person uses it: the demo, documents, a store of one's own, and everything that can be got wrong.

mod binary;
mod damage;
mod mistakes;
mod places;
mod publisher;
mod tables;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use benthic_mirror::demo;
use benthic_mirror::demo::origin::{Fault, FaultRule, Occurrence};
use benthic_mirror::demo::questions::questions;
use benthic_mirror::store::Store;
use serde_json::Value;

use self::binary::{Home, copy_directory, files_below};
use self::publisher::Publisher;

/// A demo store kept for the whole binary, and what the demo that made it said.
struct Kept {
    home: Home,
    store: PathBuf,
    said: String,
}

fn kept() -> &'static Kept {
    static KEPT: OnceLock<Kept> = OnceLock::new();
    KEPT.get_or_init(|| {
        let home = Home::new();
        let store = home.path("kept");
        let demo = home.run(["demo".as_ref(), "--keep".as_ref(), store.as_os_str()]).with(0, "All right");
        Kept { home, store, said: demo.stdout }
    })
}

/// A store pulled by the binary from a publisher its configuration trusts.
struct Own {
    home: Home,
    publisher: Publisher,
    synced: String,
}

fn own() -> &'static Own {
    static OWN: OnceLock<Own> = OnceLock::new();
    OWN.get_or_init(|| {
        let (home, publisher) = (Home::new(), Publisher::start());
        publisher.configure(&home);
        // Nothing is there yet, and every question says what to do about it.
        for command in [&["status"][..], &["query", "usp_cl.legislators"], &["serve"], &["discover", "x"]] {
            home.run(command).with(4, "benthic-mirror sync");
        }
        let synced = home.run(["sync", "--relation", "usp_cl.*", "--relation", "up_cdmaps.*"]);
        Own { home, publisher, synced: synced.with(0, "captured 7 relations").stdout }
    })
}

#[test]
fn the_demo_shows_verification_answers_a_refusal_and_a_second_process() {
    let said = &kept().said;
    for needle in [
        "every check passed",
        "payload hash",
        demo::PUBLIC_KEY,
        "written as Parquet",
        "Refused (no_primary_key)",
        "Ask again, from a second process",
        "answers, the same",
    ] {
        assert!(said.contains(needle), "no {needle:?} in\n{said}");
    }
    for question in questions(demo::data()) {
        assert!(said.contains(&question.asked), "{} isn't asked", question.asked);
    }
    assert!(!said.contains('✗'), "{said}");
}

#[test]
fn the_demo_leaves_nothing_behind() {
    let home = Home::new();
    home.run(["demo"]).with(0, "every answer equals a plain computation");
    assert_eq!(files_below(&home.path("tmp")), Vec::<PathBuf>::new());
    assert!(!home.path("cache").exists());
}

#[test]
fn a_kept_demo_is_replayed_from_its_store_alone() {
    let Kept { home, store, .. } = kept();
    let replay = || home.run(["demo".as_ref(), "--replay".as_ref(), store.as_os_str()]).with(0, "{").stdout;
    let answers: Vec<Value> =
        replay().lines().map(|line| serde_json::from_str(line).expect("an answer")).collect();
    let asked = questions(demo::data());
    assert_eq!(answers.len(), asked.len());
    for (question, answer) in asked.iter().zip(&answers) {
        let rows = answer["rows"].as_array().cloned().unwrap_or_default();
        let code = answer["error"]["code"].as_str();
        let right = match &question.expected {
            demo::questions::Expected::Refusal(expected) => code == Some(expected),
            expected => code.is_none() && expected.matches_rows(&rows),
        };
        assert!(right, "{}: {answer}", question.asked);
    }
    // Only the times of asking differ.
    let rows = |text: &str| -> Vec<Value> {
        text.lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("an answer")["rows"].clone())
            .collect()
    };
    assert_eq!(rows(&replay()), rows(&replay()));
}

#[test]
fn nothing_but_the_demo_trusts_a_demo_store() {
    let Kept { home, store, .. } = kept();
    let commands: [&[&str]; 6] = [
        &["status"],
        &["query", "usp_cl.legislators"],
        &["join", "usp_cl.legislators", "usp_cl.legislator_terms"],
        &["rpc", "find_district", "--lat", "39.7", "--lon", "-105"],
        &["discover", "legislators"],
        &["serve"],
    ];
    for command in commands {
        let flag = ["--store".as_ref(), store.as_os_str()];
        let ended = home.run(flag.into_iter().chain(command.iter().map(AsRef::as_ref)));
        assert_eq!(ended.with(5, demo::PUBLIC_KEY).stdout, "");
    }
    // No layer of the configuration can lift that.
    let key = demo::PUBLIC_KEY;
    for name in ["trusted_keys", "trusted_mirror_keys"] {
        for list in [key.to_owned(), format!(" {key} "), format!("{},{key}", own().publisher.key)] {
            home.run(["--set", &format!("{name}={list}"), "status"]).with(64, name).with(64, "worthless");
        }
    }
    let variable = [("BENTHIC_TRUSTED_KEYS", key.as_ref())];
    home.run_with(["status"], &variable).with(64, "worthless");
    let file = home.write("demo.toml", format!("trusted_mirror_keys = [{key:?}]\n"));
    home.run(["--config".as_ref(), file.as_os_str(), "status".as_ref()]).with(64, "worthless");
    home.run(["--set", &format!("trusted_keys={}", key.trim_end_matches('=')), "status"]).with(64, "key");
}

#[test]
fn a_catalogue_of_ones_own_is_pulled_and_asked() {
    let Own { home, synced, .. } = own();
    assert!(synced.contains("snapshot") && synced.contains("content"), "{synced}");
    home.run(["status"]).with(0, "usp_cl.legislators").with(0, "single_response");
    let total = demo::relation("usp_cl.legislators").expect("relation").rows.len();
    let json = ["query", "usp_cl.legislators", "--metric", "n=count:*", "--format", "json"];
    let answer: Value = serde_json::from_str(&home.run(json).with(0, "rows").stdout).expect("JSON");
    assert_eq!(answer["rows"], serde_json::json!([{"n": total}]));
    assert_eq!(answer["served"]["capture"], "single_response");
    home.run([
        "query",
        "usp_cl.legislators",
        "--where",
        "gender=eq.F",
        "--select",
        "last_name,birthday",
        "--limit",
        "3",
    ])
    .with(0, "birthday")
    .with(0, "3 rows, more not shown");
    home.run(["query", "usp_cl.legislators", "--explain"]).with(0, "matched_rows");
    home.run(["join", "usp_cl.legislators", "usp_cl.legislator_terms", "--right-where", "state=eq.VT"])
        .with(0, "left.bioguide_id");
    home.run(["rpc", "find_district", "--lat", "39.7392", "--lon", "-104.9903"]).with(0, "Colorado");
    home.run(["discover", "who", "represents", "a", "district"]).with(0, "usp_cl.legislator_terms");
    home.run(["discover", "--relation", "usp_cl.legislators", "--full"]).with(0, "gender");
    // Refusals end with their own code, and say the way out.
    home.run(["query", "usp_cl.legislator"]).with(3, "usp_cl.legislators");
    home.run(["query", "usp_cl.legislators", "--where", "gender=F"]).with(3, "gender=eq.F");
    home.run(["query", "usp_cl.legislators", "--limit", "0"]).with(3, "1000");
    home.run(["query", "irs_ng.bmf_organizations"]).with(3, "sync --relation irs_ng.bmf_organizations");
    home.run(["rpc", "find_district", "--lat", "91", "--lon", "0"]).with(3, "90");
    home.run(["rpc", "nonprofits_nearby", "--lat", "1", "--lon", "2", "--radius-meters", "5"]).with(3, "not");
    home.run(["join", "usp_cl.legislators", "usp_cl.committees"]).with(3, "path");
    // An MCP session without a client is over at once.
    let served = home.run(["serve"]);
    assert_eq!((served.code, served.stdout.as_str()), (0, ""), "{}", served.stderr);
}

#[test]
fn pulling_again_gives_the_same_content_and_failures_have_their_codes() {
    let (home, publisher) = (Home::new(), Publisher::start());
    publisher.configure(&home);
    let content = |said: &str| -> String {
        let line = said.lines().find(|line| line.starts_with("content")).expect("a content line");
        line.to_owned()
    };
    let sync = ["sync", "--relation", "usp_cl.*", "--relation", "up_cdmaps.*"];
    let first = home.run(sync).with(0, "captured");
    assert_eq!(content(&first.stdout), content(&own().synced), "two mirrors of the same rows agree");
    assert_eq!(content(&home.run(sync).with(0, "captured").stdout), content(&first.stdout));

    home.run(["sync", "--relation", "nobody.*"]).with(64, "nobody.*");
    home.run(["sync", "--collection-hash", &"0".repeat(64)]).with(5, &"0".repeat(64));
    home.run(["sync", "--collection-hash", "12"]).with(64, "--collection-hash 12");
    home.run(["--set", "collections=demo,other", "sync"]).with(64, "demo, other");

    // One relation fails: the others are published, and the code says so.
    let broken = Fault::Status { status: 500, headers: Vec::new(), body: "{}".to_owned() };
    publisher.origin.add_fault(FaultRule::new("/usp_cl/committees", Occurrence::Always, broken));
    home.run(["sync", "--relation", "usp_cl.c*"]).with(2, "1 relation failed");
    publisher.origin.clear_faults();

    // A writer elsewhere has the store.
    let store = Store::create_or_open(&home.path("cache/benthic-mirror/store")).expect("store");
    let writer = store.writer().expect("writer");
    home.run(sync).with(7, "another process");
    drop(writer);

    // Documents signed by somebody else are not believed, and the old snapshot stays.
    for (path, bytes) in demo::documents() {
        publisher.origin.replace_document(&path, bytes);
    }
    home.run(sync).with(5, demo::PUBLIC_KEY);
    home.run(["status"]).with(0, "usp_cl.committee_membership");
    publisher.origin.remove_document("demo/collection.json");
    home.run(sync).with(1, "404");
}

#[test]
fn documents_are_verified_with_codes_for_scripts() {
    let home = Home::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents/fixtures");
    let key = fixture_key(&fixtures);
    let verify = |path: &str, key: &str| {
        home.run(["verify".as_ref(), fixtures.join(path).as_os_str(), "--key".as_ref(), key.as_ref()])
    };
    verify("genuine", &key).with(0, "verified");
    verify("genuine/collection.json", &key).with(0, "verified");
    verify("unknown-member/newer-minor.json", &key).with(0, "verified");
    for (attack, needle) in [
        ("bad-hash/manifest.json", "bad-hash/manifest.json"),
        ("bad-signature/manifest.json", "is not verified"),
        ("not-utf8/manifest.json", "is not verified"),
        ("deep-nesting/manifest.json", "is not verified"),
        ("missing-signature/manifest.json", "is not verified"),
        ("neither-document/document.json", "is not verified"),
        ("pin-mismatch", "fault"),
        ("manifest-elsewhere", "fault"),
        ("duplicate-members", "fault"),
        ("small-order-key", "fault"),
    ] {
        verify(attack, &key).with(5, needle);
    }
    // The publisher's key is another one.
    home.run(["verify".as_ref(), fixtures.join("genuine").as_os_str()]).with(5, "fault");
    verify("genuine/collection.json", demo::PUBLIC_KEY).with(5, "is not verified");
    verify("genuine", "not a key").with(64, "--key");
    verify("nowhere.json", &key).with(66, "nowhere.json");
    let nothing = home.path("nothing");
    std::fs::create_dir(&nothing).expect("directory");
    home.run(["verify".as_ref(), nothing.as_os_str()]).with(5, "no signed document");

    let demo_documents = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/demo");
    let copy = home.path("documents");
    copy_directory(&demo_documents, &copy);
    let verify_demo =
        || home.run(["verify".as_ref(), copy.as_os_str(), "--key".as_ref(), demo::PUBLIC_KEY.as_ref()]);
    verify_demo().with(0, "verified");
    let manifest = copy.join("usp_cl/manifest.json");
    let text = std::fs::read_to_string(&manifest).expect("manifest");
    let tampered = text.replacen("\"queryable\": false", "\"queryable\": true", 1).replacen(
        "Demo legislators",
        "Real legislators",
        1,
    );
    assert_ne!(text, tampered);
    std::fs::write(&manifest, tampered).expect("written");
    verify_demo().with(5, "fault");
}

/// The key that signed the genuine fixture.
fn fixture_key(fixtures: &Path) -> String {
    let bytes = std::fs::read(fixtures.join("genuine/collection.json")).expect("the fixture");
    let document: Value = serde_json::from_slice(&bytes).expect("JSON");
    document["author_pubkey"].as_str().expect("a key").to_owned()
}

#[test]
fn the_publishers_own_documents_are_verified_by_default() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let given = std::env::var_os("BENTHIC_REAL_BDP").map(PathBuf::from);
    let found = given.or_else(|| {
        let mut parents = here.ancestors().skip(1).take(2).map(|parent| parent.join("shared/real-bdp"));
        parents.find(|path| path.is_dir())
    });
    let Some(real) = found else {
        eprintln!("skipped: no real documents; set BENTHIC_REAL_BDP to their folder");
        return;
    };
    let home = Home::new();
    let verify = |path: PathBuf| home.run(["verify".as_ref(), path.as_os_str()]);
    verify(real.join("bdp/ngopen/collection.json")).with(0, "verified");
    verify(real.join("bdp/parts")).with(0, "complete");
    for file in files_below(&real.join("tampered")) {
        verify(file).with(5, "is not verified");
    }
}

#[test]
fn settings_are_shown_with_their_source() {
    let home = Home::new();
    home.configure("max_rows = 400\nscan_policy = \"complete\"\n");
    let variables = [("BENTHIC_MAX_ROWS", "500".as_ref()), ("BENTHIC_DEFAULT_QUERY_LIMIT", "50".as_ref())];
    let shown = home.run_with(["config", "show", "--set", "concurrency=3"], &variables).with(0, "setting");
    let line = |key: &str| -> Vec<String> {
        let line = shown.stdout.lines().find(|line| line.split_whitespace().next() == Some(key));
        line.unwrap_or_else(|| panic!("no {key}")).split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(line("concurrency")[1..3], ["3", "flag"]);
    assert_eq!(line("max_rows")[1..4], ["500", "environment", "BENTHIC_MAX_ROWS"]);
    assert_eq!(line("scan_policy")[1..3], ["complete", "file"]);
    assert_eq!(line("aggregate_scan_limit")[1..3], ["10000", "default"]);
    home.run(["--version"]).with(0, env!("CARGO_PKG_VERSION"));
    home.run(["--help"]).with(0, "serve");
    home.run(["query", "--help"]).with(0, "--where");
}

#[cfg(unix)]
#[test]
fn a_key_is_made_once_and_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let made = home.run(["keygen"]).with(0, "=");
    let path = home.path("cache/benthic-mirror/mirror-key.json");
    let secret = std::fs::read(&path).expect("the key file");
    assert_eq!(std::fs::metadata(&path).expect("metadata").permissions().mode() & 0o777, 0o600);
    assert_eq!(made.stdout.trim().len(), 44, "the public half and nothing else: {}", made.stdout);
    assert!(!String::from_utf8_lossy(&secret).contains(made.stdout.trim()));
    home.run(["keygen"]).with(5, "never overwritten");
    assert_eq!(std::fs::read(&path).expect("the key file"), secret);
    // Elsewhere by setting; and one that others can read isn't used.
    let elsewhere = home.path("deep/er/key");
    let setting = format!("key_file={}", elsewhere.display());
    home.run(["--set", &setting, "keygen"]).with(0, "=");
    std::fs::set_permissions(&elsewhere, PermissionsExt::from_mode(0o644)).expect("permissions");
    home.run(["--set", &setting, "status"]).with(5, "chmod 600");
    std::fs::set_permissions(&elsewhere, PermissionsExt::from_mode(0o600)).expect("permissions");
    std::fs::write(&elsewhere, "no key").expect("written");
    home.run(["--set", &setting, "status"]).with(5, "keygen");
}
