//! Bodies byte for byte: items 23 to 30. The expected texts were printed by PostgreSQL 15 with PostGIS 3.3.

use crate::client::{get, options, request, start, start_lab};
use benthic_mirror::demo;

#[tokio::test]
async fn each_type_is_written_as_postgresql_writes_it() {
    let origin = start_lab().await;
    let cases: &[(&str, [&str; 6])] = &[
        ("money", ["12.30", "-0.05", "99999999999999999999.99", "null", "0.00", "1.00"]),
        ("free", ["1.500", "\"NaN\"", "1000000000000000000000000000000", "null", "0.1", "0.0000000001"]),
        ("wide", ["0.1", "\"NaN\"", "1e+20", "null", "-0", "1e+15"]),
        ("narrow", ["0.1", "\"Infinity\"", "1e-07", "null", "1.6777216e+07", "0.0001"]),
        ("big", ["9007199254740993", "-9223372036854775808", "9223372036854775807", "null", "0", "1"]),
        ("flag", ["true", "false", "null", "null", "true", "false"]),
        (
            "day",
            [
                "\"2024-02-29\"",
                "\"0044-03-15 BC\"",
                "\"9999-12-31\"",
                "null",
                "\"infinity\"",
                "\"-infinity\"",
            ],
        ),
        (
            "moment",
            [
                "\"2024-02-29T12:34:56.12\"",
                "\"infinity\"",
                "\"1999-12-31T23:59:59.999999\"",
                "null",
                "\"0001-01-01T00:00:00\"",
                "null",
            ],
        ),
        (
            "instant",
            [
                "\"2024-02-29T10:34:56.123456+00:00\"",
                "\"-infinity\"",
                "\"2024-07-01T00:00:00+00:00\"",
                "null",
                "\"2024-01-01T00:00:00.1+00:00\"",
                "null",
            ],
        ),
        (
            "key",
            [
                "\"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11\"",
                "\"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12\"",
                "null",
                "null",
                "null",
                "null",
            ],
        ),
        ("bytes", ["\"\\\\xdead\"", "\"\\\\x\"", "\"\\\\x00\"", "null", "null", "null"]),
        ("code", ["\"A \"", "\"AB\"", "\"  \"", "null", "\"b \"", "\"B \""]),
        (
            "name",
            [
                "\"plain\"",
                "\"\"",
                "\"é€😀\\ttab\\nnl \\\"q\\\" \\\\ \\u0001\u{7f}/\"",
                "null",
                "\" lead\"",
                "\"lead \"",
            ],
        ),
        ("counts", ["[1,null,3]", "[]", "[[1,2],[3,4]]", "null", "[1]", "null"]),
        ("tags", ["[\"a,b\",\"c\\\"d\",\"\"]", "[]", "null", "null", "[\"x\",null]", "null"]),
        ("raw", ["{\"b\" : 1,  \"a\":[1, 2],\"b\":2}", "null", "null", "null", "null", "null"]),
        ("doc", ["{\"b\": 2, \"aa\": [1, 2]}", "\"s\"", "[1.10, 100]", "null", "[]", "true"]),
        (
            "area",
            [
                r#"{"type":"MultiPolygon","crs":{"type":"name","properties":{"name":"EPSG:3857"}},"coordinates":[[[[0.5,0],[1000000.125,0],[1,1],[0.5,0]]]]}"#,
                r#"{"type":"MultiPolygon","crs":{"type":"name","properties":{"name":"EPSG:3857"}},"coordinates":[]}"#,
                "null",
                "null",
                "null",
                "null",
            ],
        ),
        (
            "place",
            [
                r#"{"type":"Point","crs":{"type":"name","properties":{"name":"EPSG:4326"}},"coordinates":[8.123456789012344,50.1]}"#,
                "null",
                r#"{"type":"Point","crs":{"type":"name","properties":{"name":"EPSG:4326"}},"coordinates":[0.123456789012346,-1e-9]}"#,
                "null",
                r#"{"type":"Point","crs":{"type":"name","properties":{"name":"EPSG:4326"}},"coordinates":[0,1e+16]}"#,
                r#"{"type":"Point","crs":{"type":"name","properties":{"name":"EPSG:4326"}},"coordinates":[1,0.000012345678901]}"#,
            ],
        ),
    ];
    for (column, values) in cases {
        let reply = get(&origin, &format!("/lab/kinds?select={column}&order=id")).await;
        let rows: Vec<String> = values.iter().map(|value| format!("{{\"{column}\":{value}}}")).collect();
        assert_eq!(reply.body, format!("[{}]", rows.join(", \n ")), "{column}");
    }
    origin.stop().await;
}

#[tokio::test]
async fn selection_decides_keys_and_their_order() {
    let origin = start_lab().await;
    for (select, body) in [
        ("flag,id", "[{\"flag\":true,\"id\":1}]"),
        ("number:id,%20code", "[{\"number\":1,\"code\":\"A \"}]"),
        ("id&select=flag", "[{\"id\":1}]"),
        ("id,id", "[{\"id\":1,\"id\":1}]"),
    ] {
        assert_eq!(get(&origin, &format!("/lab/kinds?id=eq.1&select={select}")).await.body, body, "{select}");
    }
    let all = get(&origin, "/lab/gaps?id=eq.2").await;
    assert_eq!(all.body, "[{\"id\":2,\"k\":null}]");
    assert_eq!(all.headers["content-type"], "application/json; charset=utf-8");
    assert_eq!(get(&origin, "/lab/gaps?id=eq.2&select=").await.body, all.body);
    let single = ("accept", "application/vnd.pgrst.object+json");
    assert_eq!(request(&origin, "GET", "/lab/gaps?id=eq.2", &[single]).await.body, "{\"id\":2,\"k\":null}");
    let none = request(&origin, "GET", "/lab/gaps?id=eq.0", &[single]).await;
    assert_eq!((none.status, none.code().as_str()), (406, "PGRST116"));
    origin.stop().await;
}

#[tokio::test]
async fn pages_are_the_rows_that_the_pinned_digests_cover() {
    let origin = start(options()).await;
    for relation in demo::data().relations.iter().filter(|relation| relation.queryable) {
        let (schema, table) = relation.name.split_once('.').unwrap_or(("public", &relation.name));
        let reply =
            request(&origin, "GET", &format!("/{}/{table}", relation.dataset), &[("accept-profile", schema)])
                .await;
        let rows: Vec<String> = relation.rows.iter().take(1_000).map(|row| relation.row_json(row)).collect();
        assert_eq!(reply.body, format!("[{}]", rows.join(", \n ")), "{}", relation.source());
    }
    origin.stop().await;
}
