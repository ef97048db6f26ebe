//! Every scripted fault happens when and as the script says.

use std::sync::Arc;
use std::time::{Duration, Instant};

use benthic_mirror::demo::DemoValue;
use benthic_mirror::demo::origin::{Fault, FaultRule, Occurrence};

use crate::client::{get, request, start_lab, try_request, try_request_at};

fn rule(occurrence: Occurrence, fault: Fault) -> FaultRule {
    FaultRule::new("/lab/numbers", occurrence, fault)
}

#[tokio::test]
async fn statuses_come_with_their_headers_and_then_pass() {
    let origin = start_lab().await;
    origin.add_fault(rule(Occurrence::Nth(1), Fault::gateway(429, Some("2"))));
    origin.add_fault(rule(Occurrence::Nth(2), Fault::gateway(502, None)));
    origin.add_fault(rule(Occurrence::Nth(3), Fault::statement_timeout()));
    origin.add_fault(rule(
        Occurrence::Nth(4),
        Fault::api_error(503, "PGRST002", "Could not query the database for the schema cache"),
    ));
    assert_eq!(get(&origin, "/lab/words?limit=1").await.status, 200, "another path isn't counted");
    let reply = get(&origin, "/lab/numbers?limit=1").await;
    assert_eq!(
        (reply.status, reply.headers["retry-after"].as_str(), reply.headers["content-type"].as_str()),
        (429, "2", "text/html")
    );
    let reply = get(&origin, "/lab/numbers?limit=1").await;
    assert!(reply.status == 502 && !reply.headers.contains_key("retry-after"));
    let reply = get(&origin, "/lab/numbers?limit=1").await;
    assert_eq!((reply.status, reply.code().as_str()), (500, "57014"));
    let reply = get(&origin, "/lab/numbers?limit=1").await;
    assert_eq!((reply.status, reply.code().as_str()), (503, "PGRST002"));
    assert_eq!(get(&origin, "/lab/numbers?limit=1").await.status, 200);
    let requests = origin.requests();
    assert_eq!(
        requests.iter().map(|request| request.status).collect::<Vec<_>>(),
        [200, 429, 502, 500, 503, 200]
    );
    assert_eq!(requests[1].faults, ["Status(429)"]);
    origin.stop().await;
}

#[tokio::test]
async fn large_pages_time_out_and_smaller_ones_dont() {
    let origin = start_lab().await;
    origin.add_fault(rule(Occurrence::Always, Fault::TimeoutAbove { rows: 250 }));
    assert_eq!(get(&origin, "/lab/numbers?limit=251").await.code(), "57014");
    assert_eq!(get(&origin, "/lab/numbers?limit=250").await.status, 200);
    origin.clear_faults();
    assert_eq!(get(&origin, "/lab/numbers").await.status, 200);
    origin.stop().await;
}

/// The whole chain of causes as text.
fn causes(error: &reqwest::Error) -> String {
    let mut text = format!("{error:?}");
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text.push_str(&format!(" <- {cause}"));
        source = cause.source();
    }
    text
}

#[tokio::test]
async fn bodies_break_in_the_ways_asked_for() {
    let origin = start_lab().await;
    let whole = get(&origin, "/lab/numbers?order=id").await.body;
    origin.add_fault(rule(Occurrence::Nth(1), Fault::TruncatedBody { after_bytes: 100 }));
    origin.add_fault(rule(Occurrence::Nth(2), Fault::ResetMidBody { after_bytes: 100 }));
    origin.add_fault(rule(Occurrence::Nth(3), Fault::CutBody { after_bytes: 100 }));
    origin.add_fault(rule(Occurrence::Nth(4), Fault::ReplaceBody(b"[]".to_vec())));
    origin.add_fault(rule(Occurrence::Nth(5), Fault::ContentType("text/plain".to_owned())));
    origin
        .add_fault(rule(Occurrence::Nth(6), Fault::Header { name: "Content-Range".to_owned(), value: None }));
    origin.add_fault(rule(
        Occurrence::Nth(7),
        Fault::Header { name: "content-range".to_owned(), value: Some("0-0/9".to_owned()) },
    ));
    let target = "/lab/numbers?order=id";
    let truncated = causes(&try_request(&origin, "GET", target, &[]).await.unwrap_err());
    assert!(
        truncated.contains("before message completed") || truncated.contains("end of file"),
        "{truncated}"
    );
    let reset = causes(&try_request(&origin, "GET", target, &[]).await.unwrap_err());
    assert!(reset.contains("reset"), "{reset}");
    let cut = get(&origin, target).await;
    assert_eq!((cut.status, cut.body.as_str()), (200, &whole[..100]));
    let replaced = get(&origin, target).await;
    assert_eq!((replaced.status, replaced.body.as_str(), replaced.range()), (200, "[]", "0-999/*"));
    let typed = get(&origin, target).await;
    assert_eq!((typed.headers["content-type"].as_str(), &typed.body), ("text/plain", &whole));
    assert_eq!(get(&origin, target).await.range(), "");
    assert_eq!(get(&origin, target).await.range(), "0-0/9");
    assert_eq!(get(&origin, target).await.body, whole);
    origin.stop().await;
}

#[tokio::test]
async fn answers_come_late_or_in_drips() {
    let origin = start_lab().await;
    let target = "/lab/numbers?order=id&limit=20";
    let whole = get(&origin, target).await.body;
    origin.add_fault(rule(Occurrence::Nth(1), Fault::Delay(Duration::from_millis(120))));
    let pause = Duration::from_millis(20);
    origin.add_fault(rule(Occurrence::Nth(2), Fault::SlowBody { chunk_bytes: whole.len() / 5 + 1, pause }));
    for at_least in [120, 100] {
        let start = Instant::now();
        assert_eq!(get(&origin, target).await.body, whole);
        assert!(start.elapsed() >= Duration::from_millis(at_least), "{:?}", start.elapsed());
    }
    // A drip that would take an hour ends with the origin.
    origin.add_fault(rule(
        Occurrence::Always,
        Fault::SlowBody { chunk_bytes: 1, pause: Duration::from_millis(300) },
    ));
    let (base_url, start) = (origin.base_url(), Instant::now());
    let (dripping, ()) = tokio::join!(try_request_at(&base_url, "GET", target, &[]), async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        origin.stop().await;
    });
    assert!(dripping.is_err());
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[tokio::test]
async fn redirects_page_caps_and_changing_rows() {
    let origin = start_lab().await;
    let location = "https://elsewhere.example/".to_owned();
    origin.add_fault(rule(Occurrence::Nth(1), Fault::Redirect { status: 302, location }));
    origin.add_fault(rule(Occurrence::Nth(2), Fault::PageCap(10)));
    let redirect = get(&origin, "/lab/numbers").await;
    assert_eq!((redirect.status, redirect.headers["location"].as_str()), (302, "https://elsewhere.example/"));
    assert_eq!(get(&origin, "/lab/numbers").await.range(), "0-9/*");
    // A row is written between the first and the second page.
    let insert = Fault::MutateRows(Arc::new(|data| {
        if let Some(numbers) = data.relation_mut("lab.numbers") {
            numbers.rows.insert(0, vec![DemoValue::Int(0), DemoValue::Null]);
        }
    }));
    origin.add_fault(rule(Occurrence::Nth(1), insert).query_contains("offset=1000"));
    let count = ("prefer", "count=exact");
    let first = request(&origin, "GET", "/lab/numbers?order=id", &[count]).await;
    let second = request(&origin, "GET", "/lab/numbers?order=id&offset=1000", &[count]).await;
    assert_eq!((first.range(), second.range()), ("0-999/2500", "1000-1999/2501"));
    let last_of_first = first.json()[999]["id"].as_i64();
    assert_eq!(second.json()[0]["id"].as_i64(), last_of_first, "a row is read twice");
    origin.stop().await;
}

#[tokio::test]
async fn faults_reach_documents_and_single_methods() {
    let origin = start_lab().await;
    origin.replace_document("demo/collection.json", "{}");
    origin.add_fault(FaultRule::new("/bdp/", Occurrence::First(2), Fault::gateway(504, None)).method("GET"));
    assert_eq!(request(&origin, "HEAD", "/bdp/demo/collection.json", &[]).await.status, 200);
    assert_eq!(get(&origin, "/bdp/demo/collection.json").await.status, 504);
    assert_eq!(get(&origin, "/bdp/demo/collection.json").await.status, 504);
    assert_eq!(get(&origin, "/bdp/demo/collection.json").await.status, 200);
    origin.stop().await;
}
