//! What the network and the server get wrong, and what the report says of it.

use std::time::Duration;

use benthic_mirror::demo::DemoValue;
use benthic_mirror::demo::origin::{DemoOrigin, Fault, FaultRule, Occurrence};
use benthic_mirror::store::Evidence;
use benthic_mirror::sync::{PullOptions, RelationOutcome, SyncError};

use crate::support::{self, Log, TestStore, capture, numbered};

/// Three relations, of which `d.victim` gets the faults.
async fn origin() -> DemoOrigin {
    support::origin_of(vec![numbered("before", 20), numbered("victim", 2500), numbered("after", 1100)]).await
}

fn rule(occurrence: Occurrence, fault: Fault) -> FaultRule {
    FaultRule::new("/d/victim", occurrence, fault).method("GET")
}

/// Faults that pass: the capture is complete and says nothing of them.
#[tokio::test(flavor = "multi_thread")]
async fn passing_troubles_are_ridden_out() {
    let troubles = [
        ("429 with Retry-After", Fault::gateway(429, Some("0"))),
        ("502", Fault::gateway(502, None)),
        ("503", Fault::api_error(503, "PGRST002", "Could not query the database for the schema cache")),
        ("504", Fault::gateway(504, None)),
        ("reset mid-body", Fault::ResetMidBody { after_bytes: 500 }),
        ("truncated body", Fault::TruncatedBody { after_bytes: 500 }),
        ("slow body", Fault::SlowBody { chunk_bytes: 20_000, pause: Duration::from_millis(20) }),
    ];
    for (name, fault) in troubles {
        let origin = origin().await;
        // Three times in a row, then from the middle of the pages again.
        origin.add_fault(rule(Occurrence::First(3), fault.clone()));
        origin.add_fault(rule(Occurrence::Nth(5), fault));
        let store = TestStore::new();
        let report = store.pull(&origin, &support::options()).await.unwrap();
        assert_eq!(report.failures(), 0, "{name}: {report:#?}");
        let snapshot = store.current();
        let victim = capture(&snapshot, "d.victim");
        assert_eq!((victim.rows, victim.evidence, victim.retries), (2500, Evidence::Counted, 0), "{name}");
    }
}

/// Faults that don't pass: the relation fails by name, the others are published.
#[tokio::test(flavor = "multi_thread")]
async fn lasting_troubles_fail_one_relation_and_name_the_cause() {
    let body = |text: &str| Fault::ReplaceBody(text.as_bytes().to_vec());
    let troubles = [
        ("503 for ever", Fault::gateway(503, None), "503"),
        ("404", Fault::api_error(404, "PGRST205", "Could not find the table"), "PGRST205"),
        ("500", Fault::api_error(500, "XX000", "internal error"), "XX000"),
        (
            "redirect",
            Fault::Redirect { status: 302, location: "https://elsewhere.example/x".to_owned() },
            "https://elsewhere.example/x",
        ),
        ("content type", Fault::ContentType("text/html".to_owned()), "text/html"),
        ("cut body", Fault::CutBody { after_bytes: 500 }, "not a JSON array of rows"),
        ("not an array", body("{\"id\":1,\"label\":\"x\"}"), "not a JSON array of rows"),
        ("missing column", body("[{\"id\":1}]"), "lacks column \"label\""),
        ("extra column", body("[{\"id\":1,\"label\":\"x\",\"more\":1}]"), "holds column \"more\""),
        ("value outside its type", body("[{\"id\":2147483648,\"label\":\"x\"}]"), "2147483648"),
        ("value of another type", body("[{\"id\":1,\"label\":5}]"), "column \"label\" of row id=1 holds 5"),
    ];
    for (name, fault, cause) in troubles {
        let origin = origin().await;
        origin.add_fault(rule(Occurrence::Always, fault));
        let store = TestStore::new();
        let options = PullOptions { relation_retries: 1, ..support::options() };
        let report = store.pull(&origin, &options).await.unwrap();
        let Some(RelationOutcome::Failed { reason }) = report.outcome("d.victim") else {
            panic!("{name}: {report:#?}");
        };
        assert!(reason.contains(cause) && (reason.contains("victim")), "{name}: {reason}");
        let snapshot = store.current();
        assert_eq!(report.failures(), 1, "{name}");
        assert_eq!(capture(&snapshot, "d.before").rows, 20, "{name}");
        assert_eq!(capture(&snapshot, "d.after").rows, 1100, "{name}");
        assert!(snapshot.document.relation("d", "victim").is_none(), "{name}: a failed relation is absent");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn four_hundreds_are_not_asked_again() {
    let origin = origin().await;
    origin.add_fault(rule(Occurrence::Always, Fault::api_error(400, "PGRST100", "parse error")));
    TestStore::new().pull(&origin, &support::options()).await.unwrap();
    let asked = origin
        .requests()
        .iter()
        .filter(|request| request.path() == "/d/victim" && request.method == "GET")
        .count();
    assert_eq!(asked, 1);
}

/// Rows come and go while pages are read: noticed by the counts, read again, and captured once it is quiet.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_during_paging_is_noticed_and_read_again() {
    let origin = origin().await;
    let mutation: benthic_mirror::demo::origin::Mutation = std::sync::Arc::new(|data| {
        let victim = data.relation_mut("d.victim").unwrap();
        victim.rows.push(vec![DemoValue::Int(-1), DemoValue::from("new")]);
    });
    origin.add_fault(rule(Occurrence::Nth(2), Fault::MutateRows(mutation)));
    let store = TestStore::new();
    let report = store.pull(&origin, &support::options()).await.unwrap();
    assert_eq!(report.failures(), 0, "{report:#?}");
    let snapshot = store.current();
    let victim = capture(&snapshot, "d.victim");
    assert_eq!(
        (victim.rows, victim.retries, victim.count_before, victim.count_after),
        (2501, 1, Some(2501), Some(2501))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relation_that_never_holds_still_fails() {
    let origin = origin().await;
    let mutation: benthic_mirror::demo::origin::Mutation = std::sync::Arc::new(|data| {
        let victim = data.relation_mut("d.victim").unwrap();
        let next = i64::try_from(victim.rows.len()).unwrap();
        victim.rows.push(vec![DemoValue::Int(-next), DemoValue::from("new")]);
    });
    origin.add_fault(rule(Occurrence::Always, Fault::MutateRows(mutation)));
    let store = TestStore::new();
    let options = PullOptions { relation_retries: 2, ..support::options() };
    let report = store.pull(&origin, &options).await.unwrap();
    let Some(RelationOutcome::Failed { reason }) = report.outcome("d.victim") else { panic!("{report:#?}") };
    assert!(reason.contains("changed while it was read"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_published_when_everything_fails() {
    let origin = origin().await;
    let store = TestStore::new();
    store.pull(&origin, &support::options()).await.unwrap();
    let before = store.current().id;
    origin.add_fault(FaultRule::new("/d/", Occurrence::Always, Fault::gateway(502, None)));
    let error = store.pull(&origin, &support::options()).await.unwrap_err();
    assert!(matches!(&error, SyncError::NothingCaptured { report, .. } if report.failures() == 3), "{error}");
    assert_eq!(store.current().id, before);
}

/// A run that stopped in the middle of a relation continues from its last page.
#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_capture_continues_where_it_stopped() {
    let origin = origin().await;
    let store = TestStore::new();
    // The third page hangs; the run is dropped there, as a kill would.
    origin.add_fault(rule(Occurrence::Nth(3), Fault::Delay(Duration::from_secs(600))));
    let options = PullOptions { page_size: Some(500), ..support::only(&["d.victim"]) };
    let log = Log::default();
    let two_pages = async {
        let asked = || {
            let requests = origin.requests();
            requests.iter().filter(|request| request.method == "GET" && request.path() == "/d/victim").count()
        };
        while asked() < 3 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let clock = support::clock();
    tokio::select! {
        ended = store.pull_at(&origin, &options, &clock, &log) => panic!("{ended:?}"),
        () = two_pages => {}
    }
    assert_eq!(store.store.current_id().unwrap(), None);

    origin.clear_faults();
    origin.clear_requests();
    // Another page size: what is staged stays good.
    let options = PullOptions { page_size: Some(400), ..options };
    store.pull(&origin, &options).await.unwrap();
    let pages: Vec<String> = origin
        .requests()
        .iter()
        .filter(|request| request.method == "GET" && request.path() == "/d/victim")
        .map(|request| request.query().to_owned())
        .collect();
    assert!(pages[0].contains("id=gt.999"), "{pages:?}");
    let whole = TestStore::new();
    whole.pull(&origin, &support::only(&["d.victim"])).await.unwrap();
    let (a, b) = (store.current(), whole.current());
    assert_eq!(a.document.content_id, b.document.content_id);
    assert_eq!(capture(&a, "d.victim").parts, capture(&b, "d.victim").parts);
}

/// Too large, too slow: the caps of the network door hold for data too.
#[tokio::test(flavor = "multi_thread")]
async fn caps_on_bytes_and_time_hold() {
    use benthic_mirror::net::{ConnectOverride, Net, NetOptions};
    let origin = origin().await;
    let net = |options: NetOptions| {
        Net::new(NetOptions {
            allowed_hosts: vec![benthic_mirror::demo::ORIGIN_HOST.to_owned()],
            connect_overrides: vec![ConnectOverride {
                origin: benthic_mirror::demo::ORIGIN.to_owned(),
                to: origin.address(),
            }],
            ..options
        })
        .unwrap()
    };
    let outcome = async |net: Net| {
        let store = TestStore::new();
        let mut writer = store.store.writer().unwrap();
        let report = benthic_mirror::sync::pull(
            &net,
            &mut writer,
            &support::options(),
            &support::clock(),
            &benthic_mirror::sync::NoProgress,
        )
        .await
        .unwrap();
        report.outcome("d.victim").unwrap().clone()
    };
    let small = net(NetOptions { max_response_bytes: 20_000, ..NetOptions::default() });
    let RelationOutcome::Failed { reason } = outcome(small).await else { panic!() };
    assert!(reason.contains("larger than the 20000 bytes allowed"), "{reason}");

    origin.add_fault(rule(Occurrence::Always, Fault::Delay(Duration::from_secs(20))));
    let hasty = net(NetOptions { request_timeout: Duration::from_millis(300), ..NetOptions::default() });
    let RelationOutcome::Failed { reason } = outcome(hasty).await else { panic!() };
    assert!(reason.contains("gave no complete answer within 0.3 s"), "{reason}");

    // The documents' host isn't a data host unless the list says so.
    let stranger = Net::new(NetOptions {
        connect_overrides: vec![ConnectOverride {
            origin: benthic_mirror::demo::ORIGIN.to_owned(),
            to: origin.address(),
        }],
        ..NetOptions::default()
    })
    .unwrap();
    origin.clear_requests();
    let store = TestStore::new();
    let mut writer = store.store.writer().unwrap();
    let refused = benthic_mirror::sync::pull(
        &stranger,
        &mut writer,
        &support::options(),
        &support::clock(),
        &benthic_mirror::sync::NoProgress,
    )
    .await;
    assert!(
        matches!(&refused, Err(SyncError::NothingCaptured { first, .. }) if first.contains("allowed data host"))
    );
    assert!(origin.requests().iter().all(|request| request.path().starts_with("/bdp/")));
}

/// A pull can run in a task of its own.
#[test]
fn a_pull_can_be_spawned() {
    fn assert_send<T: Send>(_: T) {}
    let run = async {
        let origin = origin().await;
        let store = TestStore::new();
        store.pull(&origin, &support::options()).await
    };
    assert_send(run);
}
