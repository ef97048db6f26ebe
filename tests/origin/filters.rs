//! Operators, lists, quoting and logic: items 1 to 9 of the specification's PostgREST page.

use crate::client::{encoded, get, start, start_lab};
use crate::lab::WORDS;
use benthic_mirror::demo::{self, DemoRow};

/// Ids of the words a condition holds for; null is never passed.
fn words(condition: impl Fn(&str) -> bool) -> Vec<i64> {
    WORDS.iter().zip(1..).filter(|(word, _)| word.is_some_and(&condition)).map(|(_, id)| id).collect()
}

fn ids(condition: impl Fn(i64) -> bool) -> Vec<i64> {
    (1..=WORDS.len() as i64).filter(|id| condition(*id)).collect()
}

#[tokio::test]
async fn filters_keep_what_a_plain_fold_keeps() {
    let origin = start_lab().await;
    let null = 6;
    let cases: Vec<(&str, Vec<i64>)> = vec![
        ("w=eq.apple", words(|w| w == "apple")),
        ("w=neq.apple", words(|w| w != "apple")),
        ("w=not.eq.apple", words(|w| w != "apple")),
        ("w=isdistinct.apple", ids(|id| id != 1)),
        ("w=eq.", words(str::is_empty)),
        ("w=neq.", words(|w| !w.is_empty())),
        ("w=is.null", vec![null]),
        ("w=is.NULL", vec![null]),
        ("w=is.not_null", words(|_| true)),
        ("w=not.is.null", words(|_| true)),
        ("w=eq.null", words(|w| w == "null")),
        ("w=is.nulljunk", vec![null]),
        ("w=like.*an*", words(|w| w.contains("an"))),
        ("w=like.%25an%25", words(|w| w.contains("an"))),
        ("w=like.*", words(|_| true)),
        ("w=ilike.BAN*", words(|w| w.to_lowercase().starts_with("ban"))),
        ("w=ilike.%C3%A4PFEL", words(|w| w == "Äpfel")),
        ("w=like.a_b", words(|w| ["a,b", "a.b", "a_b", "axb", "a-b"].contains(&w))),
        ("w=like.a%5C_b", words(|w| w == "a_b")),
        ("w=like.50%5C%25", words(|w| w == "50%")),
        ("w=like.50%5C*", words(|w| w == "50%")),
        ("w=like.star%5C*", vec![]),
        ("w=like.back%5C%5Cslash", words(|w| w == "back\\slash")),
        ("w=eq.%22qq%22", words(|w| w == "\"qq\"")),
        ("w=eq.a,b", words(|w| w == "a,b")),
        ("w=eq.a.b", words(|w| w == "a.b")),
        ("w=eq.(x)", words(|w| w == "(x)")),
        ("w=eq.+lead", words(|w| w == " lead")),
        ("w=eq.lead", vec![]),
        ("w=eq.trail%20", words(|w| w == "trail ")),
        ("w=eq.1%2B1", words(|w| w == "1+1")),
        ("w=gt.b", words(|w| w > "b")),
        ("w=lte.Banana", words(|w| w <= "Banana")),
        ("w=in.(apple,zebra)", words(|w| ["apple", "zebra"].contains(&w))),
        ("w=in.(%22a,b%22,apple)", words(|w| ["a,b", "apple"].contains(&w))),
        ("w=in.(%22(x)%22)", words(|w| w == "(x)")),
        ("w=in.(%22q%5C%22q%22)", words(|w| w == "q\"q")),
        ("w=in.(q%22q)", words(|w| w == "q\"q")),
        ("w=in.(back%5Cslash)", words(|w| w == "back\\slash")),
        ("w=in.(a.b)", words(|w| w == "a.b")),
        ("w=in.()", vec![]),
        ("w=in.(%22%22)", vec![]),
        ("w=in.(,)", words(str::is_empty)),
        ("w=in.(apple,)", words(|w| ["apple", ""].contains(&w))),
        ("w=in.(apple,%20lead)", words(|w| ["apple", " lead"].contains(&w))),
        ("w=in.(%20lead)", vec![]),
        ("w=in.(%22%20lead%22)", words(|w| w == " lead")),
        ("w=in.(trail%20)", words(|w| w == "trail ")),
        ("w=not.in.(apple)", words(|w| w != "apple")),
        ("w=not.in.()", ids(|_| true)),
        ("w=in.(null)", words(|w| w == "null")),
        ("w=in.(apple)junk", words(|w| w == "apple")),
        ("id=gt.3&id=lt.6", ids(|id| id > 3 && id < 6)),
        ("and=(id.gt.3,id.lt.6)", ids(|id| id > 3 && id < 6)),
        ("or=(id.eq.1,id.eq.4)", vec![1, 4]),
        ("or=(id.eq.1,id.eq.4)&or=(id.eq.4,id.eq.5)", vec![4]),
        ("not.or=(id.lt.20,w.is.null)", ids(|id| id >= 20)),
        ("or=(and(id.gt.3,id.lt.6),w.eq.apple)", vec![1, 4, 5]),
        ("and=(id.not.in.(1,2),not.and(id.gt.2,id.lt.20))", ids(|id| id >= 20)),
        ("not.and=(w.eq.apple,id.gt.0)", words(|w| w != "apple")),
        ("or=(w.eq.%22a,b%22,id.eq.1)", vec![1, 8]),
        ("or=(w.eq.%22(x)%22,id.eq.1)", vec![1, 10]),
        ("or=(w.eq.a.b,id.eq.1)", vec![1, 9]),
        ("or=(w.eq.,id.eq.1)", vec![1, 7]),
        ("or=(w.eq.%22%22,id.eq.1)", vec![1, 7]),
        ("or=(w.eq.{k},id.eq.1)", vec![1, 22]),
        ("or=(w.like.%22*,b%22,id.eq.1)", vec![1, 8]),
        ("and=(%20id.gt.3%20,%20or(%20id.eq.4%20,%20id.eq.5%20)%20)", vec![4, 5]),
        ("or=(id.in.(1,2),w.in.(%22a,b%22))", vec![1, 2, 8]),
        ("or=(id.eq.1)junk", vec![1]),
        ("%22w%22=eq.apple", vec![1]),
        ("bare&w=eq.apple", vec![1]),
    ];
    for (filter, expected) in cases {
        let reply = get(&origin, &format!("/lab/words?select=id&order=id&{filter}")).await;
        assert_eq!(reply.status, 200, "{filter}: {}", reply.body);
        assert_eq!(reply.ids(), expected, "{filter}");
    }
    origin.stop().await;
}

#[tokio::test]
async fn malformed_filters_are_refused_with_postgrests_codes() {
    let origin = start_lab().await;
    for (filter, status, code) in [
        ("w=is.nil", 400, "PGRST100"),
        ("w=apple", 400, "PGRST100"),
        ("w=foo.1", 400, "PGRST100"),
        ("w=", 400, "PGRST100"),
        ("w=EQ.apple", 400, "PGRST100"),
        ("w=not.not.eq.apple", 400, "PGRST100"),
        ("w=in.apple", 400, "PGRST100"),
        ("w=in.(a", 400, "PGRST100"),
        ("or=()", 400, "PGRST100"),
        ("or=(id.eq.1", 400, "PGRST100"),
        ("or=(id.eq.1,)", 400, "PGRST100"),
        ("zz.b=eq.1", 400, "PGRST108"),
        ("nope=eq.1", 400, "42703"),
        ("nope=is.null", 400, "42703"),
        ("or=(nope.eq.1)", 400, "42703"),
        // Names are resolved before literals are read, wherever they stand.
        ("id=eq.x&nope=eq.1", 400, "42703"),
        ("id=eq.x&select=nope", 400, "42703"),
        ("id=like.1*", 404, "42883"),
        ("id=ilike.1*", 404, "42883"),
        ("id=is.true", 400, "42804"),
        ("w=like.a%5C", 400, "22025"),
        ("w=eq.%00", 400, "22021"),
        ("w=fts.cat", 501, "DEMO501"),
        ("select=w::text", 501, "DEMO501"),
        ("select=w,other(a)", 501, "DEMO501"),
        ("select=w.max()", 400, "PGRST123"),
        ("select=w,", 400, "PGRST100"),
    ] {
        let reply = get(&origin, &format!("/lab/words?{filter}")).await;
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{filter}: {}", reply.body);
    }
    origin.stop().await;
}

/// The same over generated rows: every column's own values, compared by a fold that knows only text and order.
#[tokio::test]
async fn demo_rows_filter_as_a_fold_over_them_does() {
    let origin = start(crate::client::options()).await;
    let count = |source: &str, condition: &dyn Fn(&DemoRow<'_>) -> bool| {
        demo::relation(source).unwrap().rows().filter(|row| condition(row)).count()
    };
    let quoted = encoded("in.(\"Corasthorn, Velmere & Sons, LLC\",\"The \\\"Quoted\\\" Lantern Institute\")");
    let cases: Vec<(&str, String, usize)> = vec![
        (
            "usaspending/all_entities",
            format!("legal_business_name={quoted}"),
            count("usaspending.all_entities", &|row| {
                let name = row.text("legal_business_name").unwrap_or("");
                name == "Corasthorn, Velmere & Sons, LLC" || name == "The \"Quoted\" Lantern Institute"
            }),
        ),
        (
            "usaspending/all_entities",
            "congressional_district=eq.03&state=in.(CA,TX)".to_owned(),
            count("usaspending.all_entities", &|row| {
                row.text("congressional_district") == Some("03")
                    && ["CA", "TX"].contains(&row.text("state").unwrap())
            }),
        ),
        (
            "usaspending/all_entities",
            "award_count=gt.9007199254740992".to_owned(),
            count("usaspending.all_entities", &|row| {
                row.int("award_count").is_some_and(|n| n > 9_007_199_254_740_992)
            }),
        ),
        (
            "usaspending/all_entities",
            "total_obligation=gt.373109113199123456.77".to_owned(),
            // A double makes the first of these equal to the bound.
            count("usaspending.all_entities", &|row| {
                let amount =
                    row.get("total_obligation").as_numeric().map(ToString::to_string).unwrap_or_default();
                ["373109113199123456.78", "12345678901234567890123.4567890123"].contains(&amount.as_str())
            }),
        ),
        (
            "irs_ng/bmf_organizations",
            "is_current=is.true&geom_point=not.is.null&ein=like.00*".to_owned(),
            count("irs_ng.bmf_organizations", &|row| {
                row.get("is_current").as_bool() == Some(true)
                    && !row.get("geom_point").is_null()
                    && row.text("ein").unwrap().starts_with("00")
            }),
        ),
        (
            "usp_cl/district_offices",
            "state=eq.".to_owned(),
            count("usp_cl.district_offices", &|row| row.text("state") == Some("")),
        ),
        (
            "usp_cl/legislator_terms",
            "or=(district.eq.0,and(term_type.eq.sen,class.eq.2))".to_owned(),
            count("usp_cl.legislator_terms", &|row| {
                row.int("district") == Some(0)
                    || (row.text("term_type") == Some("sen") && row.int("class") == Some(2))
            }),
        ),
    ];
    for (path, filter, expected) in cases {
        assert!(expected > 0, "{filter} must find something");
        let reply = crate::client::request(
            &origin,
            "HEAD",
            &format!("/{path}?{filter}"),
            &[("prefer", "count=exact")],
        )
        .await;
        let total: usize = reply.range().split('/').nth(1).unwrap().parse().unwrap();
        assert_eq!(total, expected, "{path}?{filter}");
    }
    origin.stop().await;
}
