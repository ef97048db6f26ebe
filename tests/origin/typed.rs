//! Literals read by the column's type: items 10 and 11.

use crate::client::{encoded, get, start_lab};

#[tokio::test]
async fn literals_are_read_by_the_columns_type() {
    let origin = start_lab().await;
    let cases: &[(&str, &str, &[i64])] = &[
        ("id", "eq. 1 ", &[1]),
        ("id", "eq.+1", &[1]),
        ("id", "in.(1, 3 )", &[1, 3]),
        ("big", "eq.9007199254740993", &[1]),
        ("big", "lt.-9223372036854775807", &[2]),
        ("money", "eq.12.3", &[1]),
        ("money", "eq.1.230e1", &[1]),
        ("money", "gt.99999999999999999999.98", &[3]),
        ("money", "gte.0", &[1, 3, 5, 6]),
        ("free", "eq.NaN", &[2]),
        ("free", "gt.Infinity", &[2]),
        ("free", "lt.0.00000000011", &[6]),
        ("wide", "eq.NaN", &[2]),
        ("wide", "gt.Infinity", &[2]),
        ("wide", "eq.0", &[5]),
        ("narrow", "eq.0.1", &[1]),
        ("narrow", "eq.16777216", &[5]),
        ("flag", "eq.t", &[1, 5]),
        ("flag", "eq.off", &[2, 6]),
        ("flag", "is.unknown", &[3, 4]),
        ("flag", "not.is.true", &[2, 3, 4, 6]),
        ("day", "eq.2024-02-29", &[1]),
        ("day", "eq.0044-03-15 BC", &[2]),
        ("day", "gt.9999-12-30", &[3, 5]),
        ("day", "lt.0001-01-01", &[2, 6]),
        ("moment", "eq.2024-02-29T12:34:56.12+05", &[1]),
        ("moment", "eq.infinity", &[2]),
        ("moment", "eq.1999-12-31 23:59:59.999999", &[3]),
        ("instant", "eq.2024-02-29T10:34:56.123456Z", &[1]),
        ("instant", "eq.2024-02-29T12:34:56.123456+02:00", &[1]),
        ("instant", "gte.2024-07-01", &[3]),
        ("key", "eq.A0EEBC999C0B4EF8BB6D6BB9BD380A11", &[1]),
        ("bytes", "eq.\\xDEAD", &[1]),
        ("code", "eq.A", &[1]),
        ("code", "eq.A  ", &[1]),
        ("code", "in.(A,b)", &[1, 5]),
        ("code", "like.A", &[]),
        ("code", "like.A_", &[1, 2]),
        ("code", "eq.", &[3]),
        ("code", "gt.A", &[2, 5, 6]),
        ("name", "eq.lead ", &[6]),
        ("counts", "eq.{1,NULL,3}", &[1]),
        ("counts", "eq.{{1,2},{3,4}}", &[3]),
        ("counts", "eq.{}", &[2]),
        ("counts", "gt.{1}", &[1, 3]),
        ("tags", "eq.{\"a,b\",\"c\\\"d\",\"\"}", &[1]),
        ("doc", "eq.{\"aa\":[1,2],\"b\":2.0}", &[1]),
        ("doc", "gt.[]", &[1, 2, 3, 6]),
        ("raw", "is.null", &[3, 4, 5, 6]),
        ("area", "not.is.null", &[1, 2]),
    ];
    for (column, value, expected) in cases {
        let reply = get(&origin, &format!("/lab/kinds?select=id&order=id&{column}={}", encoded(value))).await;
        assert_eq!(reply.status, 200, "{column}={value}: {}", reply.body);
        assert_eq!(reply.ids(), *expected, "{column}={value}");
    }
    origin.stop().await;
}

#[tokio::test]
async fn literals_of_another_type_are_refused() {
    let origin = start_lab().await;
    for (column, value, status, code) in [
        ("id", "eq.1.0", 400, "22P02"),
        ("id", "eq.", 400, "22P02"),
        ("id", "in.(1,x)", 400, "22P02"),
        ("id", "eq.99999999999", 400, "22003"),
        ("big", "eq.9223372036854775808", 400, "22003"),
        ("free", "eq.abc", 400, "22P02"),
        ("free", "eq.1e999999", 400, "22003"),
        ("wide", "eq.1e400", 400, "22003"),
        ("narrow", "eq.1e39", 400, "22003"),
        ("flag", "eq.o", 400, "22P02"),
        ("day", "eq.soon", 400, "22007"),
        ("day", "eq.2023-02-29", 400, "22008"),
        ("instant", "eq.2024-02-29T10:34:56.123456 00:00", 400, "22007"),
        ("key", "eq.a0eebc99", 400, "22P02"),
        ("bytes", "eq.\\xzz", 400, "22023"),
        ("counts", "eq.{1", 400, "22P02"),
        ("counts", "eq.{x}", 400, "22P02"),
        ("doc", "eq.{x", 400, "22P02"),
        ("raw", "eq.{}", 404, "42883"),
        ("key", "like.a*", 404, "42883"),
        ("flag", "like.t", 404, "42883"),
        ("place", "eq.POINT(1 2)", 501, "DEMO501"),
    ] {
        let reply = get(&origin, &format!("/lab/kinds?select=id&{column}={}", encoded(value))).await;
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{column}={value}: {}", reply.body);
    }
    // An unencoded plus is a blank, so the offset is lost.
    let reply = get(&origin, "/lab/kinds?instant=eq.2024-02-29T10:34:56.123456+00:00").await;
    assert_eq!(reply.code(), "22007");
    origin.stop().await;
}
