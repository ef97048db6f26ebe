//! Refusals that need a store or a mirror in a certain state, each with the same question answered beside it.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use benthic_mirror::app::AppError;
use benthic_mirror::bdp::TrustedKeys;
use benthic_mirror::config::ScanPolicy;
use benthic_mirror::demo::{DemoColumn, DemoRelation, DemoValue};
use benthic_mirror::engine::Refusal;
use benthic_mirror::store::{MirrorKey, Trust};
use serde_json::{Value, json};

use crate::case::shape_faults;
use crate::world::{Ask, ask_of, asked, demo_store, open, query, runtime, trust};

/// A refusal that a situation brings about.
pub(crate) struct Staged {
    pub(crate) code: &'static str,
    refusal: fn() -> Refusal,
}

pub(crate) const STAGED: &[Staged] = &[
    Staged { code: "too_expensive", refusal: without_memory },
    Staged { code: "timed_out", refusal: without_time },
    Staged { code: "busy", refusal: with_a_full_house },
    Staged { code: "untrusted_catalog", refusal: signed_by_a_stranger },
    Staged { code: "corrupt_store", refusal: with_a_damaged_object },
    Staged { code: "corrupt_store", refusal: with_a_lost_object },
    Staged { code: "not_mirrored", refusal: without_a_snapshot },
    Staged { code: "internal", refusal: with_a_directory_for_a_file },
];

#[test]
fn each_situation_is_refused_for_what_it_is() {
    for staged in STAGED {
        let refusal = (staged.refusal)();
        let mut faults = shape_faults(&refusal, staged.code);
        // Which relation it would have been isn't known without a snapshot.
        faults.retain(|fault| staged.code != "not_mirrored" || !fault.starts_with("lacks the fact"));
        assert!(faults.is_empty(), "{}: {faults:?}\n{}", staged.code, refusal.to_json());
    }
}

/// Sorted, grouped: it needs memory.
fn question() -> Ask {
    query(json!({
        "source": "irs_ng.bmf_organizations", "group_by": ["ein"], "metrics": ["n=count:*", "s=sum:org_year_count"],
        "order": ["ein"], "limit": 1,
    }))
}

fn without_memory() -> Refusal {
    let of = |bytes| {
        open(&demo_store().store, ScanPolicy::Parity, trust(), 4, |limits| limits.memory_limit_bytes = bytes)
    };
    assert!(ask_of(&of(512 << 20), &question()).is_ok());
    let refusal = ask_of(&of(10_000), &question()).unwrap_err();
    assert_eq!((&refusal.facts["bound"], &refusal.facts["limit_bytes"]), (&json!("memory"), &json!(10_000)));
    refusal
}

fn without_time() -> Refusal {
    let within = |time| {
        open(&demo_store().store, ScanPolicy::Parity, trust(), 4, |limits| limits.request_deadline = time)
    };
    assert!(ask_of(&within(Duration::from_secs(600)), &question()).is_ok());
    let refusal = ask_of(&within(Duration::from_nanos(1)), &question()).unwrap_err();
    assert_eq!(refusal.facts["bound"], "deadline");
    refusal
}

fn with_a_full_house() -> Refusal {
    let mirror = open(&demo_store().store, ScanPolicy::Parity, trust(), 1, |limits| {
        limits.request_deadline = Duration::from_secs(4);
    });
    runtime().block_on(async {
        // One request begins and is then left alone: it holds the only place.
        let question = question();
        let mut first = Box::pin(asked(&mirror, &question));
        let begun = first.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(begun, Poll::Pending), "the first request ended at once");
        let refusal = asked(&mirror, &question).await.map_err(AppError::into_refusal).unwrap_err();
        // Once it is gone there is room.
        drop(first);
        assert!(asked(&mirror, &question).await.is_ok());
        refusal
    })
}

fn signed_by_a_stranger() -> Refusal {
    let stranger = TrustedKeys::from_base64([MirrorKey::generate([9; 32]).public_base64()]).unwrap();
    for trust in [
        Trust { publisher: trust().publisher, mirror: stranger.clone() },
        Trust { publisher: stranger, mirror: trust().mirror },
    ] {
        let mirror = open(&demo_store().store, ScanPolicy::Parity, trust, 4, |_| {});
        let refusal = ask_of(&mirror, &question()).unwrap_err();
        assert_eq!(refusal.code.as_str(), "untrusted_catalog", "{}", refusal.to_text());
    }
    let untrusted = Trust {
        publisher: trust().publisher,
        mirror: TrustedKeys::from_base64([MirrorKey::generate([8; 32]).public_base64()]).unwrap(),
    };
    ask_of(&open(&demo_store().store, ScanPolicy::Parity, untrusted, 4, |_| {}), &question()).unwrap_err()
}

/// A copy of the demo store, changed.
fn changed_store(change: impl Fn(&Path)) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let store = directory.path().join("store");
    copy(&demo_store().store, &store);
    change(&store);
    (directory, store)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Every Parquet file of a store.
fn parts(store: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for directory in std::fs::read_dir(store.join("objects")).unwrap() {
        for object in std::fs::read_dir(directory.unwrap().path()).unwrap() {
            let path = object.unwrap().path();
            if std::fs::read(&path).unwrap().starts_with(b"PAR1") {
                found.push(path);
            }
        }
    }
    assert!(found.len() >= 20);
    found
}

fn asked_of_a_changed_store(change: impl Fn(&Path)) -> Refusal {
    let (_directory, store) = changed_store(change);
    ask_of(&open(&store, ScanPolicy::Parity, trust(), 4, |_| {}), &question()).unwrap_err()
}

fn with_a_damaged_object() -> Refusal {
    asked_of_a_changed_store(|store| {
        for part in parts(store) {
            let mut bytes = std::fs::read(&part).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            std::fs::write(&part, bytes).unwrap();
        }
    })
}

fn with_a_lost_object() -> Refusal {
    asked_of_a_changed_store(|store| parts(store).iter().for_each(|part| std::fs::remove_file(part).unwrap()))
}

fn without_a_snapshot() -> Refusal {
    asked_of_a_changed_store(|store| std::fs::remove_file(store.join("refs/current")).unwrap())
}

fn with_a_directory_for_a_file() -> Refusal {
    asked_of_a_changed_store(|store| {
        std::fs::remove_file(store.join("refs/current")).unwrap();
        std::fs::create_dir(store.join("refs/current")).unwrap();
    })
}

/// The relations and paths of [`crate::world::On::Made`]: values no number type keeps, and several paths between two
/// relations, the spatial one first.
pub(crate) fn made() -> (Vec<DemoRelation>, Value) {
    let relation = |name: &str, columns: &[(&str, &str)], rows: Vec<Vec<DemoValue>>| {
        let columns = columns.iter().map(|(name, native)| DemoColumn::new(name, native, true)).collect();
        DemoRelation { rows, ..DemoRelation::new("d", name, columns, &["id"]) }
    };
    let numeric = |text: &str| DemoValue::from(benthic_mirror::demo::Decimal::from_text(text));
    let text = |text: &str| DemoValue::from(text);
    let odd = ["1e-90", "123456789012345678901234567890123456789012345678901234567890.5", "3"];
    let nines = "9".repeat(76);
    let odd_rows = (1..=3)
        .map(|id| vec![DemoValue::Int(id), numeric(&plain(odd[id as usize - 1])), numeric(&nines)])
        .collect();
    let side = |second: &str| {
        vec![
            vec![DemoValue::Int(1), text("a"), text("x"), DemoValue::Null],
            vec![DemoValue::Int(2), text("b"), text(second), DemoValue::Null],
        ]
    };
    let relations = vec![
        relation("odd", &[("id", "integer"), ("wild", "numeric"), ("huge", "numeric(76,0)")], odd_rows),
        relation(
            "left",
            &[("id", "integer"), ("k", "text"), ("label", "text"), ("place", "text")],
            side("y"),
        ),
        relation(
            "right",
            &[("id", "integer"), ("k", "text"), ("label", "text"), ("area", "text")],
            side("z"),
        ),
    ];
    let path = |left: &str, right: &str, join_type: &str, reliability: &str| {
        json!({
            "from": {"dataset_name": "d", "relation": "left", "column": left},
            "to": {"dataset_name": "d", "relation": "right", "column": right},
            "join_type": join_type, "reliability": reliability,
        })
    };
    let paths = json!([
        path("place", "area", "spatial", "reliable"),
        path("label", "label", "heuristic", "heuristic"),
        path("k", "k", "identifier", "reliable"),
    ]);
    (relations, paths)
}

/// A small number in plain digits, as the API writes it.
fn plain(text: &str) -> String {
    match text {
        "1e-90" => format!("0.{}1", "0".repeat(89)),
        other => other.to_owned(),
    }
}
