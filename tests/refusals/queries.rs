//! `benthic_query` and `benthic_discover`: names, expressions, values.

use serde_json::{Value, json};

use crate::case::{Case, check, refuse};
use crate::world::{Ask, On, count, query, total};

const LEGISLATORS: &str = "usp_cl.legislators";

/// A question to the legislators.
fn legislators(mut members: Value) -> Ask {
    members["source"] = LEGISLATORS.into();
    query(members)
}

/// How many legislators pass the filters.
fn counted(filters: Value) -> Ask {
    legislators(json!({"where": filters, "metrics": ["n=count:*"]}))
}

const N: &str = "/rows/0/n";

pub(crate) fn cases() -> Vec<Case> {
    let all = total(LEGISLATORS);
    let women = count(LEGISLATORS, |row| row.text("gender") == Some("F"));
    let ungendered = count(LEGISLATORS, |row| row.get("gender").is_null());
    let discover = |members: Value| Ask::Discover(members);
    let count_of = |source: &str| query(json!({"source": source, "metrics": ["n=count:*"]}));
    let mut cases = vec![
        // Names.
        refuse(query(json!({"source": "usp_c.legislators"})), "unknown_dataset", "usp_cl.legislators")
            .near(count_of(LEGISLATORS), N, all),
        refuse(discover(json!({"dataset": "usp_c"})), "unknown_dataset", "dataset=\"usp_cl\"")
            .near(discover(json!({"dataset": "usp_cl"})), "/total_matches", 6),
        refuse(query(json!({"source": "usp_cl.legislator"})), "unknown_relation", "usp_cl.legislators"),
        refuse(query(json!({"source": "legislators"})), "unknown_relation", "source=usp_cl.legislators"),
        refuse(query(json!({"source": "nothing like it"})), "unknown_relation", "benthic_discover(query="),
        // A relation's own name may hold a dot.
        refuse(query(json!({"source": "usaspending.award_search"})), "unknown_relation", "usaspending.rpt.award_search")
            .near(count_of("usaspending.rpt.award_search"), N, total("usaspending.rpt.award_search")),
        refuse(discover(json!({"relation": "usp_cl.legislatorz"})), "unknown_relation", "usp_cl.legislators")
            .near(discover(json!({"relation": LEGISLATORS})), "/relations/0/source", LEGISLATORS),
        refuse(query(json!({"source": "irs_ng.form990_xml_import_log"})), "not_queryable", "irs_ng.form990_details")
            .near(count_of("irs_ng.form990_details"), N, total("irs_ng.form990_details")),
        // Columns, in every position.
        refuse(legislators(json!({"select": ["Official_Full"]})), "unknown_column", "official_full")
            .fact("argument", "select")
            .near(legislators(json!({"select": ["official_full"]})), "/columns/0", "official_full"),
        refuse(legislators(json!({"where": ["genders=eq.F"]})), "unknown_column", "gender").fact("argument", "where"),
        refuse(legislators(json!({"order": ["birthdays:desc"]})), "unknown_column", "birthday")
            .fact("argument", "order"),
        refuse(legislators(json!({"metrics": ["n=count:birthdays"]})), "unknown_column", "birthday")
            .fact("argument", "metrics")
            .near(
                legislators(json!({"metrics": ["n=count:birthday"]})),
                N,
                count(LEGISLATORS, |row| !row.get("birthday").is_null()),
            ),
        refuse(legislators(json!({"group_by": ["genders"], "metrics": ["n=count:*"]})), "unknown_column", "gender")
            .fact("argument", "group_by"),
        refuse(legislators(json!({"metrics": ["n=count:*"], "having": ["genders=F"]})), "unknown_column", "gender")
            .fact("argument", "having"),
        refuse(legislators(json!({"group_by": ["genders"]})), "unknown_column", "gender").fact("argument", "group_by"),
        refuse(legislators(json!({"select": ["zzzqqq"]})), "unknown_column", "list all columns"),
        // Arguments.
        refuse(legislators(json!({"wheres": []})), "bad_argument", "`where`").fact("argument", "wheres"),
        refuse(legislators(json!({"where": "gender=eq.F"})), "bad_argument", "where").fact("argument", "where"),
        refuse(legislators(json!({"limit": "many"})), "bad_argument", "limit"),
        refuse(legislators(json!({"limit": 0})), "bad_argument", "limit").fact("minimum", 1).fact("maximum", 1_000),
        refuse(legislators(json!({"limit": 1_001})), "bad_argument", "limit=1000")
            .near(legislators(json!({"limit": 1_000})), "/row_count", all),
        refuse(legislators(json!({"offset": -1})), "bad_argument", "offset=0")
            .near(legislators(json!({"offset": all - 1})), "/row_count", 1)
            .near(legislators(json!({"offset": all})), "/row_count", 0),
        refuse(query(json!({"source": " "})), "bad_argument", "benthic_discover"),
        refuse(legislators(json!({"question": "x".repeat(5_000)})), "bad_argument", "question").fact("limit_bytes", 4_096),
        refuse(discover(json!({"limit": 9})), "bad_argument", "limit").fact("maximum", 8),
        refuse(discover(json!({"detail": "everything"})), "bad_argument", "detail"),
        refuse(
            discover(json!({"relation": LEGISLATORS, "dataset": "irs_ng"})),
            "bad_argument",
            "dataset=\"usp_cl\"",
        ),
        // Filters.
        refuse(counted(json!(["gender=F"])), "bad_filter", "gender=eq.F").near(counted(json!(["gender=eq.F"])), N, women),
        refuse(counted(json!(["gender!=M"])), "bad_filter", "gender=neq.M")
            .near(counted(json!(["gender=neq.M"])), N, women),
        refuse(counted(json!(["gender"])), "bad_filter", "gender=eq."),
        refuse(counted(json!(["=eq.F"])), "bad_filter", "names no column"),
        refuse(counted(json!(["gender=eq."])), "bad_filter", "gender=is.null"),
        refuse(counted(json!(["gender=in.(M,F)"])), "bad_filter", "gender=in.[\"")
            .near(counted(json!(["gender=in.[\"M\",\"F\"]"])), N, all - ungendered),
        refuse(counted(json!(["gender=is.true"])), "bad_filter", "gender=is.null")
            .near(counted(json!(["gender=is.NULL"])), N, ungendered),
        refuse(counted(json!(["gender=between.A.Z"])), "bad_filter", "operators"),
        refuse(counted(json!(["birthday=like.19*"])), "bad_filter", "birthday=eq.")
            .near(counted(json!(["birthday>=1900-01-01", "birthday<2000-01-01"])), N, count(LEGISLATORS, |row| {
                row.json("birthday").is_some_and(|day| day.starts_with("\"19"))
            })),
        refuse(counted(json!(["fec_ids=eq.{}"])), "bad_filter", "fec_ids=is.null")
            .fact("operators", json!(["is.null", "not.is.null"]))
            .near(
                counted(json!(["fec_ids=not.is.null"])),
                N,
                count(LEGISLATORS, |row| !row.get("fec_ids").is_null()),
            ),
        // Values.
        refuse(counted(json!(["birthday=eq.01/02/1960"])), "bad_value", "YYYY-MM-DD").fact("column", "birthday"),
        refuse(counted(json!(["govtrack_id=eq.many"])), "bad_value", "digits only").fact("type", "integer"),
        refuse(counted(json!(["govtrack_id=eq.1.0"])), "bad_value", "digits only"),
        refuse(counted(json!(["is_current=eq.maybe"])), "bad_value", "true or false").near(
            counted(json!(["is_current=eq.TRUE"])),
            N,
            count(LEGISLATORS, |row| row.get("is_current").as_bool() == Some(true)),
        ),
        refuse(counted(json!(["gender=eq.null"])), "bad_value", "is.null")
            .near(counted(json!(["gender=eq.\"null\""])), N, 0)
            .near(counted(json!(["gender=in.[\"null\"]"])), N, 0),
        refuse(counted(json!(["gender=in.[]"])), "bad_value", "at least one"),
        refuse(counted(json!(["last_name=like.\\"])), "bad_value", "backslash"),
        refuse(counted(json!(["created_at=gt.2020-01-01T00:00:00Z"])), "bad_value", "without its zone")
            .near(counted(json!(["created_at=gt.1900-01-01T00:00:00"])), N, count(LEGISLATORS, |row| {
                !row.get("created_at").is_null()
            })),
        refuse(
            query(json!({"source": "usaspending.overall_totals", "where": ["create_date=gt.2020-01-01T00:00:00"]})),
            "bad_value",
            "with its zone",
        )
        .near(
            query(json!({
                "source": "usaspending.overall_totals", "where": ["create_date=gt.1900-01-01T00:00:00Z"],
                "metrics": ["n=count:*"],
            })),
            N,
            count("usaspending.overall_totals", |row| !row.get("create_date").is_null()),
        ),
        // Metrics.
        refuse(legislators(json!({"group_by": ["gender"]})), "bad_metric", "n=count:*").near(
            legislators(json!({"group_by": ["gender"], "metrics": ["n=count:*"], "where": ["gender=eq.F"]})),
            N,
            women,
        ),
        refuse(legislators(json!({"metrics": ["n=median:govtrack_id"]})), "bad_metric", "n=sum:govtrack_id"),
        refuse(legislators(json!({"metrics": ["1n=count:*"]})), "bad_metric", "A-Za-z"),
        refuse(legislators(json!({"metrics": ["count"]})), "bad_metric", "function:column"),
        refuse(legislators(json!({"metrics": ["s=sum:*"]})), "bad_metric", "sum")
            .near(legislators(json!({"metrics": ["n:COUNT:*"]})), N, all),
        refuse(legislators(json!({"metrics": ["n=count:*", "n=max:gender"]})), "bad_metric", "own output"),
        refuse(legislators(json!({"group_by": ["gender"], "metrics": ["gender=count:*"]})), "bad_metric", "own output"),
        refuse(legislators(json!({"metrics": ["n=sum:gender"]})), "numeric_required", "n=count:gender")
            .fact("column", "gender")
            .near(legislators(json!({"metrics": ["n=count:gender"]})), N, count(LEGISLATORS, |row| {
                !row.get("gender").is_null()
            })),
        refuse(legislators(json!({"metrics": ["n=avg:birthday"]})), "numeric_required", "birthday"),
        // Having and order.
        refuse(legislators(json!({"metrics": ["n=count:*"], "having": ["n"]})), "bad_having", "n>=10"),
        refuse(legislators(json!({"metrics": ["n=count:*"], "having": ["n:between:1"]})), "bad_having", "n>=10"),
        refuse(legislators(json!({"metrics": ["n=count:*"], "having": ["n:like:1%"]})), "bad_having", "n=value"),
        refuse(legislators(json!({"having": ["n>=1"]})), "bad_having", "where"),
        refuse(
            legislators(json!({"group_by": ["gender"], "metrics": ["n=count:*"], "having": ["birthday=2000-01-01"]})),
            "bad_having",
            "group_by",
        ),
        refuse(legislators(json!({"metrics": ["n=count:*"], "having": ["n>=many"]})), "bad_value", "plain digits")
            .fact("column", "n")
            .near(legislators(json!({"metrics": ["n=count:*"], "having": ["n>=1"]})), N, all)
            .near(legislators(json!({"metrics": ["n=count:*"], "having": ["n>100000"]})), "/row_count", 0),
        refuse(legislators(json!({"metrics": ["n=count:*"], "having": ["n:in:[]"]})), "bad_value", "n:in:["),
        refuse(legislators(json!({"metrics": ["m=max:gender"], "having": ["m>A"]})), "numeric_required", "m=value")
            .near(legislators(json!({"metrics": ["m=max:gender"], "having": ["m=M"]})), "/rows/0/m", "M"),
        refuse(legislators(json!({"order": ["gender:up"]})), "bad_order", "gender:desc"),
        refuse(legislators(json!({"order": [""]})), "bad_order", "empty"),
        refuse(
            legislators(json!({"group_by": ["gender"], "metrics": ["n=count:*"], "order": ["birthday"]})),
            "bad_order",
            "group_by",
        )
        .near(
            legislators(json!({"group_by": ["gender"], "metrics": ["n=count:*"], "order": ["gender"]})),
            N,
            women,
        ),
        refuse(legislators(json!({"metrics": ["n=count:*"], "offset": 5})), "offset_on_aggregate", "drop `offset`")
            .fact("offset", 5)
            .near(legislators(json!({"metrics": ["n=count:*"], "offset": 0})), N, all),
        // What has no exact order.
        refuse(legislators(json!({"order": ["fec_ids"]})), "not_exact", "count:fec_ids").fact("argument", "order"),
        refuse(legislators(json!({"metrics": ["m=max:fec_ids"]})), "not_exact", "count:fec_ids"),
        refuse(legislators(json!({"group_by": ["fec_ids"], "metrics": ["n=count:*"]})), "not_exact", "count:fec_ids"),
        refuse(query(json!({"source": "d.odd", "order": ["wild:desc"]})), "not_exact", "count:wild").on(On::Made)
            .near(query(json!({"source": "d.odd", "metrics": ["n=count:wild"]})), N, 3)
            .near(query(json!({"source": "d.odd", "order": ["id:desc"], "limit": 1})), "/rows/0/id", 3),
        refuse(query(json!({"source": "d.odd", "metrics": ["s=sum:wild"]})), "not_exact", "count:wild").on(On::Made),
        refuse(query(json!({"source": "d.odd", "where": ["wild=gt.5"]})), "not_exact", "count:wild").on(On::Made)
            .near(query(json!({"source": "d.odd", "where": ["wild=not.is.null"], "metrics": ["n=count:*"]})), N, 3),
        // Seventy-seven digits: no decimal holds the sum, and it doesn't wrap.
        refuse(query(json!({"source": "d.odd", "metrics": ["s=sum:huge"]})), "not_exact", "min, max or count")
            .on(On::Made)
            .fact("column", "huge")
            .near(query(json!({"source": "d.odd", "metrics": ["m=max:huge"]})), "/rows/0/m", "9".repeat(76)),
        // Size.
        refuse(
            query(json!({"source": "up_cdmaps.congressional_districts", "select": ["geom", "district"], "limit": 1})),
            "response_too_large",
            "other columns than geom",
        )
        .on(On::Small)
        .near(
            query(json!({"source": "up_cdmaps.congressional_districts", "select": ["district"], "limit": 1})),
            "/row_count",
            1,
        ),
        // What isn't here.
        refuse(query(json!({"source": "irs_ng.bmf_organizations"})), "not_mirrored", "irs_ng.bmf_organizations")
            .on(On::Partial)
            .near(count_of(LEGISLATORS), N, all),
    ];
    for (argument, given, limit, near) in [
        ("where", vec!["gender=eq.F"; 33], 32, Some(vec!["gender=eq.F"; 32])),
        ("select", vec!["gender"; 129], 128, Some(vec!["gender"; 128])),
        ("order", vec!["gender"; 17], 16, Some(vec!["gender"; 16])),
        ("metrics", vec!["n=count:*"; 33], 32, None),
        ("group_by", vec!["gender"; 33], 32, None),
        ("having", vec!["n>1"; 33], 32, None),
    ] {
        let mut case =
            refuse(legislators(json!({argument: given})), "too_many", argument).fact("limit", limit);
        if let Some(near) = near {
            let rows = if argument == "where" { women } else { all };
            let near = json!({argument: near, "limit": 1_000});
            case = case.near(legislators(near), "/sources/0/matched_rows", rows);
        }
        cases.push(case);
    }
    let list = |values: usize| format!("gender=in.{}", Value::from(vec!["F"; values]));
    cases.extend([
        refuse(counted(json!([list(1_001)])), "too_many", "several calls").fact("limit", 1_000).near(
            counted(json!([list(1_000)])),
            N,
            women,
        ),
        refuse(counted(json!([list(1_100)])), "bad_argument", "shorten `where`").fact("argument", "where"),
    ]);
    cases
}

#[test]
fn each_rule_refuses_and_leaves_its_neighbour_alone() {
    check(cases());
}
