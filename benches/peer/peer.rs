//! The harness's line protocol: a question a line in, an answer a line out.

use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::spatial::SpatialPeer;
use crate::tabular;

pub(crate) fn run(runtime: &Runtime, data: &Path, stats: Option<&Path>) {
    let mut spatial = None;
    let mut tables = None;
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let question: Value = serde_json::from_str(&line).unwrap();
        let (name, arguments) = (question["query"].as_str().unwrap(), &question["args"]);
        let answer = if question["sql"].is_null() {
            let peer = spatial.get_or_insert_with(|| SpatialPeer::open(data, stats.is_some()));
            peer.answer(runtime, name, arguments)
        } else {
            let mirror = tables.get_or_insert_with(|| tabular::mirror(data));
            tabular::request(name, arguments).map(|request| {
                let started = Instant::now();
                let answer = runtime.block_on(request.ask(mirror));
                let elapsed = started.elapsed();
                (request.rows(&answer), elapsed)
            })
        };
        match answer {
            Some((rows, elapsed)) => println!("{}", json!({"rows": rows, "us": elapsed.as_secs_f64() * 1e6})),
            None => println!("{}", json!({"unsupported": true})),
        }
        std::io::stdout().flush().unwrap();
    }
    if let (Some(stats), Some(spatial)) = (stats, spatial) {
        let line = serde_json::to_string(&spatial.requests).unwrap();
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(stats).unwrap();
        writeln!(file, "{line}").unwrap();
    }
}
