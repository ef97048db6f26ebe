//! One throwaway PostgreSQL and one stream of statements; each answers with lines that carry its number.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::relations::{Rel, World};

/// What PostgreSQL answered: JSON by number of the statement. A statement that failed has no entry.
pub(crate) struct Answers {
    pub(crate) rows: BTreeMap<String, String>,
    pub(crate) requests: BTreeMap<usize, String>,
    pub(crate) errors: Vec<String>,
}

/// A text as an SQL literal; an unknown-typed one, as PostgREST binds its values.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A name as an SQL identifier.
pub(crate) fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// What requests are translated with, beside plain SQL.
const FUNCTIONS: &str = r"
-- Powers of two, exact: 2^-1074 has 1,074 digits after the point.
create table power_of_two(exponent int primary key, value numeric);
insert into power_of_two
  with recursive up(e, v) as (select 0, 1::numeric union all select e + 1, v * 2 from up where e < 1023),
  down(e, v) as (select 0, 1::numeric union all select e - 1, v * 0.5 from down where e > -1074)
  select e, v from up union select e, v from down;
-- The exact value of a finite double: sign, 52 bits, exponent.
create function exact(x float8) returns numeric language sql immutable strict as $$
  select case when x in ('NaN', 'Infinity', '-Infinity') then null
    else (case when b >= 0 then 1 else -1 end)
      * (((b & 4503599627370495) + case when e = 0 then 0 else 4503599627370496 end)::numeric)
      * (select value from power_of_two where exponent = greatest(e, 1) - 1075) end
  from (select b, ((b >> 52) & 2047)::int as e
        from (select ('x' || encode(float8send(x), 'hex'))::bit(64)::bigint as b) bits) parts $$;
-- What a sum with NaN or infinities is; null without any.
create function special_sum(nan bool, up bool, down bool) returns text language sql immutable as $$
  select case when nan or (up and down) then 'NaN' when up then 'Infinity' when down then '-Infinity' end $$;
-- A plain unsigned integer without leading zeros; null for anything else.
create function stripped(x text) returns text language sql immutable strict as $$
  select case when x ~ '^[0-9]+$' then coalesce(nullif(ltrim(x, '0'), ''), '0') end $$;
create function stripped(x numeric) returns text language sql immutable strict as $$
  select case when x >= 0 and x <> 'NaN' and x = trunc(x) then trunc(x)::text end $$;
-- Case is folded by character, as the C library does in UTF-8.
create collation fold (provider = libc, locale = 'C.UTF-8');
";

/// The world as statements: tables, rows, and the rows as the API would send them.
fn fixture(world: &World) -> String {
    let mut sql = String::from(FUNCTIONS);
    for rel in &world.relations {
        let columns: Vec<String> =
            rel.columns.iter().map(|c| format!("{} {}", identifier(c.name), c.native)).collect();
        let _ = writeln!(sql, "create table {} ({});", rel.name, columns.join(", "));
        insert(&mut sql, rel);
        let _ = writeln!(
            sql,
            "select E'T\\t{0}\\t' || replace(coalesce(json_agg(every), '[]')::text, E'\\n', '') from {0} every;",
            rel.name
        );
    }
    sql.push_str("analyze;\n\\set ON_ERROR_STOP 0\n");
    sql
}

fn insert(sql: &mut String, rel: &Rel) {
    for rows in rel.rows.chunks(100) {
        let tuples: Vec<String> = rows
            .iter()
            .map(|row| {
                let values: Vec<String> =
                    row.iter().map(|v| v.as_deref().map_or_else(|| "null".to_owned(), quoted)).collect();
                format!("({})", values.join(","))
            })
            .collect();
        let _ = writeln!(sql, "insert into {} values {};", rel.name, tuples.join(",\n"));
    }
}

/// Asks everything; `None`, with the reason said, where there is no PostgreSQL.
pub(crate) fn ask(world: &World, requests: &[String]) -> Option<Answers> {
    let mut sql = fixture(world);
    for (number, request) in requests.iter().enumerate() {
        let _ = writeln!(sql, "select E'Q\\t{number}\\t' || replace(({request})::text, E'\\n', '');");
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/postgres-oracle.sh");
    let mut child = Command::new("bash")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("bash runs");
    let mut input = child.stdin.take().unwrap();
    // The script may end without reading: a broken pipe is then the exit code's story.
    let writer = std::thread::spawn(move || input.write_all(sql.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let _ = writer.join().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.code() == Some(77) {
        assert!(
            std::env::var("BENTHIC_REQUIRE_POSTGRES").as_deref() != Ok("1"),
            "BENTHIC_REQUIRE_POSTGRES=1, but {complaint}"
        );
        eprintln!("SKIPPED: the PostgreSQL oracle of the engine. {complaint}");
        return None;
    }
    assert!(output.status.success(), "{:?}: {complaint}", output.status);
    let errors = complaint.lines().filter(|line| line.contains("ERROR")).map(str::to_owned).collect();
    let mut answers = Answers { rows: BTreeMap::new(), requests: BTreeMap::new(), errors };
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let parts: Vec<&str> = line.splitn(3, '\t').collect();
        match parts.as_slice() {
            ["T", name, body] => drop(answers.rows.insert((*name).to_owned(), (*body).to_owned())),
            ["Q", number, body] => drop(answers.requests.insert(number.parse().unwrap(), (*body).to_owned())),
            _ => panic!("unexpected line from PostgreSQL: {line}"),
        }
    }
    Some(answers)
}
