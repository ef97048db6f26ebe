//! Schemas, paths, methods, forms: items 32 to 35.

use crate::client::{get, request, start_lab};

#[tokio::test]
async fn a_dotted_relation_lies_in_its_own_schema() {
    let origin = start_lab().await;
    let things = request(&origin, "GET", "/lab/things?order=id", &[("accept-profile", "side")]).await;
    assert_eq!((things.status, things.range()), (200, "0-1/*"));
    assert_eq!(things.headers["content-profile"], "side");
    for (path, profile, status, code) in [
        ("/lab/things", "public", 404, "PGRST205"),
        ("/lab/words", "side", 404, "PGRST205"),
        ("/lab/side.things", "public", 404, "PGRST205"),
        ("/lab/words", "nope", 406, "PGRST106"),
        ("/lab/unknown", "public", 404, "PGRST205"),
        ("/lab/hidden", "public", 404, "PGRST205"),
        ("/lab/a/b", "public", 404, "PGRST125"),
        ("/", "public", 404, "PGRST125"),
        ("/lab/", "public", 501, "DEMO501"),
    ] {
        let reply = request(&origin, "GET", path, &[("accept-profile", profile)]).await;
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{path} {profile}: {}", reply.body);
    }
    assert_eq!(get(&origin, "/elsewhere/words").await.status, 404);
    origin.stop().await;
}

#[tokio::test]
async fn methods_forms_and_lengths() {
    let origin = start_lab().await;
    for (method, path, code) in
        [("DELETE", "/lab/words", "PGRST117"), ("POST", "/lab/rpc/rpc_find_district", "PGRST101")]
    {
        let reply = request(&origin, method, path, &[]).await;
        assert_eq!((reply.status, reply.code().as_str()), (405, code));
    }
    for accept in ["text/csv", "application/geo+json", "text/unknown"] {
        let reply = request(&origin, "GET", "/lab/words", &[("accept", accept)]).await;
        assert_eq!((reply.status, reply.code().as_str()), (406, "PGRST107"), "{accept}");
    }
    let accepted =
        request(&origin, "GET", "/lab/words?limit=1", &[("accept", "text/csv;q=1, */*;q=0.1")]).await;
    assert_eq!(accepted.status, 200);
    let long = get(&origin, &format!("/lab/words?w=eq.{}", "a".repeat(9_000))).await;
    assert_eq!((long.status, long.headers["content-type"].as_str()), (414, "text/html"));
    origin.stop().await;
}
