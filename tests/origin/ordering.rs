//! Order and collation: items 13 to 15.

use crate::client::{get, options, start, start_lab};
use crate::lab::WORDS;
use benthic_mirror::demo;

#[tokio::test]
async fn nulls_go_last_ascending_and_first_descending_unless_told() {
    let origin = start_lab().await;
    for (order, expected) in [
        ("k", [3, 5, 1, 2, 4]),
        ("k.asc", [3, 5, 1, 2, 4]),
        ("k.desc", [2, 4, 1, 5, 3]),
        ("k.nullsfirst", [2, 4, 3, 5, 1]),
        ("k.asc.nullslast", [3, 5, 1, 2, 4]),
        ("k.desc.nullslast", [1, 5, 3, 2, 4]),
        ("k.desc.nullsfirst", [2, 4, 1, 5, 3]),
    ] {
        assert_eq!(get(&origin, &format!("/lab/gaps?order={order},id")).await.ids(), expected, "{order}");
    }
    assert_eq!(
        get(&origin, "/lab/gaps?select=id&order=k.desc.nullslast,%20id").await.ids()[0],
        1,
        "order needs no selection"
    );
    for (order, status, code) in
        [("k.up", 400, "PGRST100"), ("", 400, "PGRST100"), ("k,", 400, "PGRST100"), ("zz", 400, "42703")]
    {
        let reply = get(&origin, &format!("/lab/gaps?order={order}")).await;
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{order}");
    }
    origin.stop().await;
}

#[tokio::test]
async fn types_order_as_postgresql_orders_them() {
    let origin = start_lab().await;
    for (column, expected) in [
        ("money", [2, 5, 6, 1, 3, 4]),
        ("free", [6, 5, 1, 3, 2, 4]),
        ("wide", [5, 1, 6, 3, 2, 4]),
        ("narrow", [3, 6, 1, 5, 2, 4]),
        ("big", [2, 5, 6, 1, 3, 4]),
        ("flag", [2, 6, 1, 5, 3, 4]),
        ("day", [6, 2, 1, 3, 5, 4]),
        ("code", [3, 1, 2, 6, 5, 4]),
        ("counts", [2, 5, 3, 1, 4, 6]),
        ("doc", [5, 2, 6, 3, 1, 4]),
    ] {
        assert_eq!(
            get(&origin, &format!("/lab/kinds?select=id&order={column},id")).await.ids(),
            expected,
            "{column}"
        );
    }
    let reply = get(&origin, "/lab/kinds?order=raw").await;
    assert_eq!((reply.status, reply.code().as_str()), (404, "42883"));
    origin.stop().await;
}

#[tokio::test]
async fn text_orders_by_code_point() {
    let origin = start_lab().await;
    let mut sorted: Vec<(Vec<char>, i64)> =
        WORDS.iter().zip(1..).filter_map(|(word, id)| Some((word.as_ref()?.chars().collect(), id))).collect();
    sorted.sort();
    let mut expected: Vec<i64> = sorted.into_iter().map(|(_, id)| id).collect();
    expected.push(6);
    assert_eq!(get(&origin, "/lab/words?select=id&order=w,id").await.ids(), expected);
    origin.stop().await;
}

#[tokio::test]
async fn without_an_order_rows_come_as_they_lie_or_move_about_when_asked_to() {
    let origin = start(options()).await;
    let held: Vec<i64> = demo::relation("usaspending.uei_crosswalk")
        .unwrap()
        .rows()
        .map(|row| row.int("id").unwrap())
        .collect();
    assert!(!held.is_sorted(), "the held order is no key's");
    assert_eq!(get(&origin, "/usaspending/uei_crosswalk").await.ids(), held);
    origin.stop().await;

    let moving =
        start(benthic_mirror::demo::origin::OriginOptions { rotate_unordered: true, ..options() }).await;
    let first = get(&moving, "/usaspending/uei_crosswalk?limit=300").await.ids();
    let second = get(&moving, "/usaspending/uei_crosswalk?limit=300").await.ids();
    assert_ne!(first, second);
    let page = "/usaspending/uei_crosswalk?order=id&limit=300";
    assert_eq!(
        get(&moving, page).await.ids(),
        get(&moving, page).await.ids(),
        "an order by a key doesn't move"
    );
    moving.stop().await;
}
