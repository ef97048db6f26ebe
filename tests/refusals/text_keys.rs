//! Identifiers with leading zeros: nine characters from the API's JSON to the answer, and never silently missed.

use arrow::array::AsArray;
use benthic_mirror::demo;
use serde_json::{Value, json};

use crate::case::shape_faults;
use crate::world::{On, ask, count, join, query, tabular};

const ORGANIZATIONS: &str = "irs_ng.bmf_organizations";

/// An identifier that begins with a zero, and how many rows have it.
fn zero_led() -> (String, usize) {
    let relation = demo::relation(ORGANIZATIONS).unwrap();
    let ein = relation
        .rows()
        .find_map(|row| row.text("ein").filter(|ein| ein.starts_with('0')))
        .unwrap()
        .to_owned();
    assert_eq!(ein.len(), 9);
    let rows = count(ORGANIZATIONS, |row| row.text("ein") == Some(&ein));
    (ein, rows)
}

fn by(filter: String) -> crate::world::Ask {
    query(json!({"source": ORGANIZATIONS, "where": [filter], "select": ["ein"]}))
}

#[test]
fn nine_characters_at_every_step() {
    let (ein, rows) = zero_led();
    for filter in [
        format!("ein=eq.{ein}"),
        format!("ein=eq.\"{ein}\""),
        format!("ein=in.[\"{ein}\"]"),
        format!("ein=like.{ein}"),
    ] {
        let answer = ask(On::Demo, &by(filter.clone()))
            .unwrap_or_else(|refusal| panic!("{filter}: {}", refusal.to_text()));
        assert_eq!(answer["sources"][0]["matched_rows"], rows, "{filter}");
        assert_eq!(answer["rows"][0]["ein"], json!(ein), "{filter}");
    }
    // As the API sends it, and as a column of its own type.
    let relation = demo::relation(ORGANIZATIONS).unwrap();
    let made = relation.rows().find(|row| row.text("ein") == Some(&ein)).unwrap();
    assert!(relation.row_json(made.values()).contains(&format!("\"ein\":\"{ein}\"")));
    let arguments = json!({"source": ORGANIZATIONS, "where": [format!("ein=eq.{ein}")], "select": ["ein"]});
    let table = tabular(&arguments).table;
    assert_eq!(table["ein"].as_string::<i32>().value(0), ein);
    // As a group, as a minimum, and as the key of a signed join.
    let grouped = json!({
        "source": ORGANIZATIONS, "where": [format!("ein=eq.{ein}")], "group_by": ["ein"],
        "metrics": ["n=count:*", "m=min:ein"],
    });
    let answer = ask(On::Demo, &query(grouped)).unwrap();
    assert_eq!(answer["rows"], json!([{"ein": ein, "n": rows, "m": ein}]));
    let registrations = demo::relation("samer.sam_registrations").unwrap();
    let shared = registrations
        .rows()
        .filter_map(|row| row.text("duns").filter(|duns| duns.starts_with('0')))
        .find(|duns| count(ORGANIZATIONS, |row| row.text("ein") == Some(duns)) > 0);
    let shared = shared.expect("a number that is some organization's");
    let arguments = json!({
        "left_source": "samer.sam_registrations", "right_source": ORGANIZATIONS, "left_column": "duns",
        "right_column": "ein", "left_where": [format!("duns=eq.{shared}")],
    });
    let answer = ask(On::Demo, &join(arguments)).unwrap();
    assert_eq!(answer["rows"][0]["right.ein"], json!(shared));
}

#[test]
fn a_number_that_misses_by_its_zeros_is_refused_with_the_stored_text() {
    let (ein, _) = zero_led();
    let bare = ein.trim_start_matches('0');
    let hyphened = format!("{}-{}", &ein[..2], &ein[2..]);
    for (filter, asked) in [
        (format!("ein=eq.{bare}"), bare),
        (format!("ein=in.[{bare}]"), bare),
        (format!("ein=in.[{bare}, 1]"), bare),
        (format!("ein=eq.0{ein}"), &format!("0{ein}")),
        (format!("ein=eq.{hyphened}"), hyphened.as_str()),
    ] {
        let refusal = match ask(On::Demo, &by(filter.clone())) {
            Err(refusal) => refusal,
            Ok(answer) => panic!("{filter} was answered: {}", answer["rows"]),
        };
        let faults = shape_faults(&refusal, "bad_value");
        assert!(faults.is_empty(), "{filter}: {faults:?}");
        assert_eq!(refusal.facts["column"], "ein", "{filter}");
        assert_eq!(refusal.facts["value"], json!(asked), "{filter}");
        assert_eq!(refusal.facts["stored"], json!(ein), "{filter}");
        let step = refusal.next_step.unwrap();
        assert!(step.contains("use 9-character text") && step.contains(&format!("ein=eq.{ein}")), "{step}");
    }
    // A list that names one value right and one by its number is refused too: the rest would read as complete.
    let refusal = ask(On::Demo, &by(format!("ein=in.[\"{ein}\", {bare}, 5]")));
    assert!(refusal.is_ok(), "the value itself is in the list, so nothing was missed");
    let (other, _) = other_zero_led(&ein);
    let bare_other = other.trim_start_matches('0');
    let refusal = ask(On::Demo, &by(format!("ein=in.[\"{ein}\", {bare_other}]"))).unwrap_err();
    assert_eq!(refusal.facts["stored"], json!(other));
    // The same for an aggregate and for either side of a join.
    let counted =
        json!({"source": ORGANIZATIONS, "where": [format!("ein=eq.{bare}")], "metrics": ["n=count:*"]});
    assert_eq!(ask(On::Demo, &query(counted)).unwrap_err().facts["stored"], json!(ein));
    for (side, column) in [("right_where", "ein"), ("left_where", "uei")] {
        let filter = if column == "ein" { format!("ein=eq.{bare}") } else { "uei=eq.1".to_owned() };
        let arguments = json!({
            "left_source": "samer.sam_registrations", "right_source": ORGANIZATIONS, "left_column": "duns",
            "right_column": "ein", side: [filter],
        });
        let outcome = ask(On::Demo, &join(arguments));
        assert_eq!(outcome.is_err(), column == "ein", "{side}");
    }
}

fn other_zero_led(first: &str) -> (String, usize) {
    let relation = demo::relation(ORGANIZATIONS).unwrap();
    let is_other = |ein: &&str| ein.starts_with('0') && *ein != first;
    let ein = relation.rows().find_map(|row| row.text("ein").filter(is_other)).unwrap().to_owned();
    let rows = count(ORGANIZATIONS, |row| row.text("ein") == Some(&ein));
    (ein, rows)
}

#[test]
fn text_in_quotes_and_values_that_exist_are_never_questioned() {
    let (ein, _) = zero_led();
    let bare = ein.trim_start_matches('0');
    let no_rows = |filter: String| {
        let answer = ask(On::Demo, &by(filter.clone()))
            .unwrap_or_else(|refusal| panic!("{filter}: {}", refusal.to_text()));
        assert_eq!(answer["rows"], Value::Array(Vec::new()), "{filter}");
    };
    no_rows(format!("ein=eq.\"{bare}\""));
    no_rows(format!("ein=in.[\"{bare}\"]"));
    no_rows("ein=eq.999999999999".to_owned());
    no_rows(format!("ein=neq.{ein}").replace("neq", "eq").replace(&ein, "X"));
    // Two digits of a state's districts: '03' is there, '3' is refused, '99' is no district at all.
    let district = |value: &str| {
        query(json!({
            "source": "usaspending.all_entities", "where": [format!("congressional_district=eq.{value}")],
            "metrics": ["n=count:*"],
        }))
    };
    let third = count("usaspending.all_entities", |row| row.text("congressional_district") == Some("03"));
    assert_eq!(ask(On::Demo, &district("03")).unwrap()["rows"][0]["n"], third);
    assert_eq!(ask(On::Demo, &district("3")).unwrap_err().facts["stored"], "03");
    assert_eq!(ask(On::Demo, &district("\"3\"")).unwrap()["rows"][0]["n"], 0);
    let absent = (10..100).map(|n| n.to_string()).find(|n| {
        count("usaspending.all_entities", |row| row.text("congressional_district") == Some(n)) == 0
    });
    assert_eq!(ask(On::Demo, &district(&absent.unwrap())).unwrap()["rows"][0]["n"], 0);
}
