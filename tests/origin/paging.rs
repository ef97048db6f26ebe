//! Pages, counts and ranges: items 16 to 22.

use crate::client::{encoded, get, options, request, start, start_lab};
use benthic_mirror::demo;
use benthic_mirror::demo::origin::OriginOptions;

#[tokio::test]
async fn limits_offsets_counts_and_ranges() {
    let origin = start_lab().await;
    let count = ("prefer", "count=exact");
    type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], u16, &'a str, Option<(i64, usize)>);
    // query, headers, status, Content-Range, first id and number of rows
    let cases: &[Case<'_>] = &[
        ("", &[], 200, "0-999/*", Some((1, 1000))),
        ("&limit=5000", &[], 200, "0-999/*", Some((1, 1000))),
        ("&limit=3", &[], 200, "0-2/*", Some((1, 3))),
        ("&limit=9&limit=3", &[], 200, "0-2/*", Some((1, 3))),
        ("&offset=2400", &[], 200, "2400-2499/*", Some((2401, 100))),
        ("&limit=0", &[], 200, "*/*", None),
        ("&limit=-1", &[], 416, "", None),
        ("&limit=abc", &[], 200, "0-999/*", Some((1, 1000))),
        ("&limit=abc&offset=5", &[], 416, "", None),
        ("&offset=-4&limit=10", &[], 200, "0-5/*", Some((1, 6))),
        ("&offset=-4", &[], 200, "0-999/*", Some((1, 1000))),
        ("&offset=9999", &[], 200, "*/*", None),
        ("&limit=0&offset=5", &[], 416, "", None),
        ("&limit=2", &[count], 206, "0-1/2500", Some((1, 2))),
        ("", &[count], 206, "0-999/2500", Some((1, 1000))),
        ("&id=lte.3", &[count], 200, "0-2/3", Some((1, 3))),
        ("&offset=2400", &[count], 206, "2400-2499/2500", Some((2401, 100))),
        ("&offset=2500", &[count], 206, "*/2500", None),
        ("&offset=2501", &[count], 416, "*/2500", None),
        ("&limit=0", &[count], 206, "*/2500", None),
        ("&id=gt.9999", &[count], 200, "*/0", None),
        ("", &[("range", "0-1")], 200, "0-1/*", Some((1, 2))),
        ("", &[("range", "2490-")], 200, "2490-2499/*", Some((2491, 10))),
        ("", &[("range", "0-4999")], 200, "0-999/*", Some((1, 1000))),
        ("", &[("range", "1-0")], 416, "", None),
        ("&limit=3", &[("range", "0-1")], 200, "0-1/*", Some((1, 2))),
        ("", &[("range", "bytes=0-1")], 200, "0-999/*", Some((1, 1000))),
        ("", &[("range", "0-1"), count], 206, "0-1/2500", Some((1, 2))),
    ];
    for (query, headers, status, range, rows) in cases {
        let target = format!("/lab/numbers?order=id{query}");
        let reply = request(&origin, "GET", &target, headers).await;
        assert_eq!((reply.status, reply.range()), (*status, *range), "{query} {headers:?}");
        if *status == 416 {
            assert_eq!(reply.code(), "PGRST103");
        } else {
            let ids: Vec<i64> =
                reply.json().as_array().unwrap().iter().map(|row| row["id"].as_i64().unwrap()).collect();
            let expected: Vec<i64> =
                rows.map_or(vec![], |(first, length)| (first..first + length as i64).collect());
            assert_eq!(ids, expected, "{query} {headers:?}");
        }
        // HEAD says the same without a body or a length, but doesn't look at Range.
        if !headers.iter().any(|(name, _)| *name == "range") {
            let head = request(&origin, "HEAD", &target, headers).await;
            assert_eq!(
                (head.status, head.range(), head.body.as_str()),
                (*status, *range, ""),
                "HEAD {query} {headers:?}"
            );
            assert!(!head.headers.contains_key("content-length"), "HEAD {query}");
        }
    }
    let head = request(&origin, "HEAD", "/lab/numbers", &[("range", "0-1")]).await;
    assert_eq!((head.status, head.range()), (200, "0-999/*"));
    let counted = request(&origin, "GET", "/lab/nothing", &[count]).await;
    assert_eq!((counted.status, counted.range(), counted.body.as_str()), (200, "*/0", "[]"));
    assert_eq!(counted.headers["preference-applied"], "count=exact");
    origin.stop().await;
}

#[tokio::test]
async fn key_set_pages_put_a_relation_together_again() {
    let origin = start(OriginOptions { page_cap: 400, ..options() }).await;
    // A text key, in the server's own order.
    let mut ids = Vec::new();
    let mut after = String::new();
    loop {
        let page = get(&origin, &format!("/usp_cl/legislators?select=bioguide_id&order=bioguide_id{after}"))
            .await
            .json();
        let page: Vec<String> = page
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["bioguide_id"].as_str().unwrap().to_owned())
            .collect();
        let Some(last) = page.last() else { break };
        assert!(page.len() <= 400);
        after = format!("&bioguide_id=gt.{last}");
        ids.extend(page);
    }
    let mut held: Vec<&str> = demo::relation("usp_cl.legislators")
        .unwrap()
        .rows()
        .map(|row| row.text("bioguide_id").unwrap())
        .collect();
    held.sort_unstable();
    assert_eq!(ids, held);

    // A key of two texts and a number.
    let mut keys = Vec::new();
    let mut after = String::new();
    loop {
        let target = format!(
            "/usaspending/mv_district_spending?select=state,district,fiscal_year&order=state,district,fiscal_year{after}"
        );
        let page = get(&origin, &target).await.json();
        let page: Vec<(String, String, i64)> = page
            .as_array()
            .unwrap()
            .iter()
            .map(|row| {
                let text = |name: &str| row[name].as_str().unwrap().to_owned();
                (text("state"), text("district"), row["fiscal_year"].as_i64().unwrap())
            })
            .collect();
        let Some((state, district, year)) = page.last() else { break };
        after = format!(
            "&state=gte.{state}&or=(state.gt.\"{state}\",and(state.eq.\"{state}\",district.gt.\"{district}\"),and(state.eq.\"{state}\",district.eq.\"{district}\",fiscal_year.gt.{year}))"
        );
        keys.extend(page);
    }
    assert!(
        keys.is_sorted()
            && keys.len() == demo::relation("usaspending.mv_district_spending").unwrap().rows.len()
    );
    origin.stop().await;
}

#[tokio::test]
async fn offsets_over_every_orderable_column_put_a_keyless_relation_together() {
    let origin = start(options()).await;
    let relation = demo::relation("usaspending.reporting_agency_overview").unwrap();
    let order: Vec<&str> = relation.columns.iter().map(|column| column.name.as_str()).collect();
    let mut rows = Vec::new();
    for offset in (0..).step_by(1_000) {
        let target =
            format!("/usaspending/reporting_agency_overview?order={}&offset={offset}", order.join(","));
        let reply = request(&origin, "GET", &target, &[("prefer", "count=exact")]).await;
        let body = reply.body.trim_start_matches('[').trim_end_matches(']').to_owned();
        if body.is_empty() {
            break;
        }
        rows.extend(body.split(", \n ").map(str::to_owned));
        if rows.len() == relation.rows.len() {
            break;
        }
    }
    let mut held: Vec<String> = relation.rows.iter().map(|row| relation.row_json(row)).collect();
    held.sort();
    rows.sort();
    assert_eq!(rows, held);
    origin.stop().await;
}

#[tokio::test]
async fn nullable_keys_page_with_their_own_condition() {
    let origin = start_lab().await;
    assert_eq!(get(&origin, "/lab/gaps?or=(k.gt.7,k.is.null)&order=k,id").await.ids(), [1, 2, 4]);
    assert_eq!(get(&origin, "/lab/gaps?k=is.null&id=gt.2&order=k,id").await.ids(), [4]);
    let quoted = encoded("(a.gt.3,and(a.eq.3,b.gt.\"y\"))");
    assert_eq!(get(&origin, &format!("/lab/pairs?or={quoted}&order=a,b&limit=3")).await.ids(), [11, 12, 13]);
    let quoted = encoded("(a.gt.3,and(a.eq.3,b.gte.\"z,\\\"q\\\"\"))");
    assert_eq!(get(&origin, &format!("/lab/pairs?or={quoted}&order=a,b&limit=2")).await.ids(), [11, 12]);
    origin.stop().await;
}
