//! Documents as served, replaced and removed; rows changed; requests recorded.

use crate::client::{get, options, request, start};
use benthic_mirror::demo::{self, DemoValue};

#[tokio::test]
async fn documents_are_the_committed_bytes() {
    let origin = start(options()).await;
    for (path, bytes) in demo::documents() {
        let reply = get(&origin, &format!("/bdp/{path}")).await;
        assert_eq!((reply.status, reply.body.as_bytes()), (200, bytes.as_slice()), "{path}");
        assert_eq!(reply.headers["content-type"], "application/json");
        let head = request(&origin, "HEAD", &format!("/bdp/{path}"), &[]).await;
        assert_eq!((head.status, head.body.as_str()), (200, ""));
    }
    assert_eq!(get(&origin, "/bdp/demo/nothing.json").await.status, 404);
    assert_eq!(request(&origin, "PUT", "/bdp/index.json", &[]).await.status, 405);
    origin.replace_document("demo/collection.json", "{}");
    assert_eq!(get(&origin, "/bdp/demo/collection.json").await.body, "{}");
    origin.remove_document("demo/collection.json");
    assert_eq!(get(&origin, "/bdp/demo/collection.json").await.status, 404);
    origin.stop().await;
}

#[tokio::test]
async fn rows_can_be_changed_while_serving_and_nobody_elses_change() {
    let origin = start(options()).await;
    assert!(origin.update_rows(
        "usaspending.uei_crosswalk",
        vec![vec![DemoValue::Int(5), DemoValue::Null, "U".into()]]
    ));
    assert_eq!(
        get(&origin, "/usaspending/uei_crosswalk").await.body,
        "[{\"id\":5,\"awardee_or_recipient_uniqu\":null,\"uei\":\"U\"}]"
    );
    assert!(!origin.update_rows("usaspending.no_such_relation", Vec::new()));
    assert!(origin.update_relation("usaspending.uei_crosswalk", |relation| relation.queryable = false));
    assert_eq!(get(&origin, "/usaspending/uei_crosswalk").await.status, 404);
    assert_eq!(origin.data().relation("usaspending.uei_crosswalk").unwrap().rows.len(), 1);
    assert_eq!(demo::relation("usaspending.uei_crosswalk").unwrap().rows.len(), 900);
    origin.stop().await;
}

#[tokio::test]
async fn requests_are_recorded_in_order() {
    let origin = start(options()).await;
    request(
        &origin,
        "HEAD",
        "/usp_cl/committees?a=b",
        &[("Prefer", "count=exact"), ("User-Agent", "probe/1")],
    )
    .await;
    get(&origin, "/usp_cl/committees?select=name&order=committee_id").await;
    let requests = origin.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!((requests[0].method.as_str(), requests[0].status), ("HEAD", 400));
    assert_eq!(requests[0].header("prefer"), Some("count=exact"));
    assert_eq!(requests[0].header("user-agent"), Some("probe/1"));
    assert_eq!(
        (requests[1].path(), requests[1].query()),
        ("/usp_cl/committees", "select=name&order=committee_id")
    );
    assert_eq!(requests[1].status, 200);
    assert!(requests[0].at <= requests[1].at);
    assert_eq!(origin.most_in_flight(), 1);
    origin.clear_requests();
    assert!(origin.requests().is_empty());
    origin.stop().await;
}

#[tokio::test]
async fn a_taken_port_is_an_error_and_a_stopped_origin_answers_nobody() {
    let origin = start(options()).await;
    let port = origin.address().port();
    let mut second = options();
    second.port = Some(port);
    assert!(benthic_mirror::demo::origin::DemoOrigin::start(second.clone()).await.is_err());
    origin.stop().await;
    let again = benthic_mirror::demo::origin::DemoOrigin::start(second).await.unwrap();
    assert_eq!(again.address().port(), port);
    assert_eq!(get(&again, "/usp_cl/committees?limit=1").await.status, 200);
    again.stop().await;
}
