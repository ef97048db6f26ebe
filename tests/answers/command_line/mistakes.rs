//! Every way to get a command line, a setting or a path wrong: a code, a message that names the input, never a panic.

use std::ffi::{OsStr, OsString};

use super::binary::Home;
use super::kept;

#[test]
fn mistakes_in_arguments_are_named() {
    let home = Home::new();
    let huge = "x".repeat(100_000);
    let long_filter = format!("gender=eq.{huge}");
    let long_source = format!("a.{huge}");
    let cases: Vec<(Vec<&str>, i32, &str)> = vec![
        (vec![], 64, "Usage"),
        (vec!["frobnicate"], 64, "frobnicate"),
        (vec!["query"], 64, "SOURCE"),
        (vec!["query", "a.b", "--limit", "many"], 64, "many"),
        (vec!["query", "a.b", "--limit", "99999999999999999999"], 64, "99999999999999999999"),
        (vec!["query", "a.b", "--format", "xml"], 64, "xml"),
        (vec!["query", "a.b", "--nonsense"], 64, "--nonsense"),
        (vec!["query", "a.b", "c.d"], 64, "c.d"),
        (vec!["query", &huge], 4, "sync"),
        (vec!["query", &long_source], 4, "sync"),
        (vec!["query", "a.b", "--where", &long_filter], 4, "sync"),
        (vec!["query", ""], 4, "sync"),
        (vec!["join", "a.b"], 64, "RIGHT_SOURCE"),
        (vec!["rpc"], 64, "OPERATION"),
        (vec!["rpc", "find_district", "--lat", "north"], 64, "north"),
        (vec!["rpc", "find_district", "--lat", "NaN"], 64, "NaN"),
        (vec!["rpc", "find_district", "--lat", ""], 64, "--lat"),
        (vec!["config"], 64, "Usage"),
        (vec!["config", "edit"], 64, "edit"),
        (vec!["demo", "--keep"], 64, "--keep"),
        (vec!["demo", "--keep", "a", "--replay", "b"], 64, "--replay"),
        (vec!["sync", "--page-size", "-1"], 64, "-1"),
        (vec!["verify"], 64, "TARGET"),
        (vec!["verify", ""], 66, ""),
        (vec!["verify", "ftp://example.org/x.json"], 1, "ftp"),
        (vec!["verify", "https://"], 64, "https://"),
        (vec!["verify", "http://127.0.0.1:1/x.json"], 1, "http"),
        (vec!["verify", "https://user:secret@localhost/x"], 1, "localhost"),
        (vec!["--set", "max_rows", "status"], 64, "max_rows"),
        (vec!["--set", "max_row=5", "status"], 64, "max_rows"),
        (vec!["--set", "=5", "status"], 64, "unknown setting"),
        (vec!["--set", "max_rows=0", "status"], 64, "max_rows"),
        (vec!["--set", "max_rows=-1", "status"], 64, "-1"),
        (vec!["--set", "max_rows=1e3", "status"], 64, "1e3"),
        (vec!["--set", "max_rows=18446744073709551616", "status"], 64, "max_rows"),
        (vec!["--set", "default_query_limit=2000", "status"], 64, "default_query_limit"),
        (vec!["--set", "aggregate_scan_limit=10", "status"], 64, "aggregate_scan_limit"),
        (vec!["--set", "concurrency=0", "status"], 64, "concurrency"),
        (vec!["--set", "concurrency=1000000", "status"], 64, "concurrency"),
        (vec!["--set", "memory_limit_bytes=1", "status"], 64, "memory_limit_bytes"),
        (vec!["--set", "scan_policy=everything", "status"], 64, "everything"),
        (vec!["--set", "allow_http_loopback=maybe", "status"], 64, "maybe"),
        (vec!["--set", "bdp_root=http://example.org", "status"], 64, "bdp_root"),
        (vec!["--set", "bdp_root=nowhere", "status"], 64, "nowhere"),
        (vec!["--set", "connect_to=https://a=1.2.3.4:5", "status"], 64, "loopback"),
        (vec!["--set", "connect_to=garbage", "status"], 64, "garbage"),
        (vec!["--set", "trusted_keys=garbage", "status"], 64, "trusted_keys"),
        (vec!["--set", "trusted_mirror_keys=AAAA", "status"], 64, "trusted_mirror_keys"),
        (vec!["--set", "collections=", "sync"], 64, "collections"),
        (vec!["--set", "max_age_seconds=18446744073709551615", "status"], 4, "sync"),
        (vec!["--set", "request_deadline_seconds=86401", "status"], 64, "request_deadline_seconds"),
        (vec!["--config", "missing.toml", "status"], 66, "missing.toml"),
        (vec!["--config", "/", "status"], 1, "/"),
        (vec!["--store", "", "status"], 64, "--store"),
        (vec!["--store", "/proc/self/mem/x", "status"], 1, "/proc/self/mem/x"),
        (vec!["--store", "/dev/null/x", "sync"], 1, "/dev/null/x"),
    ];
    for (arguments, code, needle) in cases {
        home.run(arguments).with(code, needle);
    }
}

#[cfg(unix)]
#[test]
fn bytes_that_are_no_text_are_no_panic() {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let home = Home::new();
    let broken = OsString::from_vec(b"\xff\xfe\x80x".to_vec());
    let with = |before: &[&str], after: &[&str]| -> Vec<OsString> {
        let text = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        [text(before), vec![broken.clone()], text(after)].concat()
    };
    home.run(with(&[], &[])).with(64, "");
    home.run(with(&["query"], &[])).with(64, "UTF-8");
    home.run(with(&["query", "a.b", "--where"], &[])).with(64, "UTF-8");
    home.run(with(&["--set"], &["status"])).with(64, "UTF-8");
    home.run(with(&["verify"], &[])).with(64, "UTF-8");
    home.run(with(&["--config"], &["status"])).with(66, "");
    home.run(with(&["--store"], &["status"])).with(64, "--store");
    home.run(with(&["demo", "--replay"], &[])).with(4, "");
    let value = OsStr::from_bytes(b"\xff");
    home.run_with(["status"], &[("BENTHIC_MAX_ROWS", value)]).with(64, "BENTHIC_MAX_ROWS");
    home.run_with(["status"], &[("HOME", value), ("UNRELATED", value)]).with(4, "sync");
    home.run_with(["status"], &[("BENTHIC_LOG", value)]).with(64, "BENTHIC_LOG");
    home.run_with(["status"], &[("BENTHIC_LOG", "=,=[".as_ref())]).with(64, "BENTHIC_LOG");
}

#[test]
fn broken_configuration_files_are_named() {
    let cases: [(&[u8], &str); 9] = [
        (b"max_rows = ", "TOML"),
        (b"max_rows = 12 13", "TOML"),
        (b"\xff\xfe", "UTF-8"),
        (b"max_rowz = 5", "max_rows"),
        (b"max_rows = 1.5", "max_rows"),
        (b"max_rows = \"lots\"", "lots"),
        (b"collections = [1, 2]", "collections"),
        (b"[max_rows]\nvalue = 5", "max_rows"),
        (b"max_rows = 5\nmax_rows = 6", "max_rows"),
    ];
    for (bytes, needle) in cases {
        let home = Home::new();
        let path = home.write("mirror.toml", bytes);
        let ended = home.run(["--config".as_ref(), path.as_os_str(), "status".as_ref()]);
        ended.with(64, needle);
        home.write("config/benthic-mirror/mirror.toml", bytes);
        home.run(["status"]).with(64, needle);
    }
    let home = Home::new();
    let large = home.write("large.toml", vec![b'#'; 2 << 20]);
    home.run(["--config".as_ref(), large.as_os_str(), "status".as_ref()]).with(64, "large.toml");
    // An empty file configures nothing.
    let empty = home.write("empty.toml", "");
    home.run(["--config".as_ref(), empty.as_os_str(), "status".as_ref()]).with(4, "sync");
}

#[test]
fn paths_that_are_something_else_are_named() {
    let home = Home::new();
    let file = home.write("a file", "not a store");
    home.run(["--store".as_ref(), file.as_os_str(), "status".as_ref()]).with(1, "a file");
    home.run(["--store".as_ref(), file.as_os_str(), "sync".as_ref()]).with(1, "a file");
    home.run(["demo".as_ref(), "--keep".as_ref(), file.as_os_str()]).with(1, "a file");
    home.run(["demo".as_ref(), "--replay".as_ref(), file.as_os_str()]).with(1, "a file");
    home.run(["demo", "--replay", "nowhere"]).with(4, "nowhere");
    // A directory with other things in it isn't taken over.
    let foreign = home.path("foreign");
    std::fs::create_dir(&foreign).expect("directory");
    std::fs::write(foreign.join("thesis.txt"), "mine").expect("written");
    home.run(["--store".as_ref(), foreign.as_os_str(), "status".as_ref()]).with(4, "foreign");
}

#[test]
fn a_kept_demo_can_be_kept_again() {
    // The same rows under the same key: nothing to refuse.
    let kept = kept();
    let store = kept.home.path("again");
    super::copy_directory(&kept.store, &store);
    kept.home.run(["demo".as_ref(), "--keep".as_ref(), store.as_os_str()]).with(0, "All right");
}
