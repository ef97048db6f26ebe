//! `demo`: the whole way, from signed documents to answers, on this machine alone.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use console::style;
use serde_json::{Value, json};

use super::arguments::DemoArguments;
use super::context::Context;
use super::error::CliError;
use super::output::{grouped, notes, rows_table};
use super::progress::Shown;
use crate::app::{AppError, Mirror};
use crate::bdp::TrustedKeys;
use crate::demo;
use crate::demo::origin::{DemoOrigin, OriginOptions};
use crate::demo::questions::{Expected, Question, Tool, questions};
use crate::store::{MirrorKey, Store, Trust};
use crate::sync::{NoProgress, PullOptions, PullReport, RelationOutcome, Upstream, pull};

/// A store made from the demo catalogue.
pub(super) struct DemoStore {
    path: PathBuf,
    report: PullReport,
    requests: usize,
    /// Removes the directory when dropped; `None` if the caller named one.
    _temporary: Option<tempfile::TempDir>,
}

impl DemoStore {
    /// Starts the loopback origin, pulls it into a store, stops it.
    pub(super) async fn pulled(context: &Context, keep: Option<&Path>) -> Result<Self, CliError> {
        Self::pull(context, keep, &NoProgress).await
    }

    async fn pull(
        context: &Context,
        keep: Option<&Path>,
        progress: &dyn crate::sync::Progress,
    ) -> Result<Self, CliError> {
        let temporary =
            match keep {
                Some(_) => None,
                None => Some(tempfile::tempdir().map_err(|error| {
                    CliError::failed(format!("no temporary directory can be made: {error}"))
                })?),
            };
        let path = match (keep, &temporary) {
            (Some(path), _) => path.to_owned(),
            (None, Some(directory)) => directory.path().join("store"),
            (None, None) => PathBuf::from("store"),
        };
        let origin = DemoOrigin::start(OriginOptions::default()).await.map_err(|error| {
            CliError::failed(format!("the demo origin can't listen on loopback: {error}"))
        })?;
        let upstream = Upstream::answered_by(demo::ORIGIN, demo::ORIGIN_HOST, origin.address())
            .map_err(|error| CliError::failed(error.to_string()))?;
        let root = demo::DOCUMENT_ROOT
            .parse()
            .map_err(|error| CliError::failed(format!("the demo's root is no address: {error}")))?;
        let mut options =
            PullOptions::new(root, demo::COLLECTION, demo_keys()?, MirrorKey::generate(demo::DEMO_KEY_SEED));
        options.indexes = context.indexes()?;
        let store = Store::create_or_open(&path)?;
        let mut writer = store.writer()?;
        let pulled = pull(upstream.net(), &mut writer, &options, context.clock.as_ref(), progress).await;
        let requests = origin.requests().len();
        origin.stop().await;
        Ok(Self { path, report: pulled?, requests, _temporary: temporary })
    }

    /// A mirror over this store.
    pub(super) fn mirror(&self, context: &Context) -> Result<Mirror, CliError> {
        demo_mirror(context, &self.path)
    }
}

fn demo_keys() -> Result<TrustedKeys, CliError> {
    TrustedKeys::from_base64([demo::PUBLIC_KEY]).map_err(|error| CliError::failed(error.to_string()))
}

/// The only place that trusts the demo key.
fn demo_mirror(context: &Context, path: &Path) -> Result<Mirror, CliError> {
    context.offline_mirror(path, Trust { publisher: demo_keys()?, mirror: demo_keys()? })
}

/// Runs the demo, or replays a store made by it.
pub(super) async fn run(context: &Context, arguments: DemoArguments) -> Result<(), CliError> {
    if let Some(path) = &arguments.replay {
        return replay(context, path).await;
    }
    println!("{}", style("benthic-mirror demo").bold());
    println!(
        "An invented catalogue, signed with a published, worthless key, pulled from a loopback origin.\n"
    );
    heading("1", "Pull: verify the signed documents, then the relations they grant");
    let store = DemoStore::pull(context, arguments.keep.as_deref(), &Shown::new()).await?;
    print_pull(&store);
    heading("2", "Ask, from the store (the origin has been stopped)");
    let mirror = store.mirror(context)?;
    let asked = questions(demo::data());
    let mut answers = Vec::with_capacity(asked.len());
    let mut wrong = 0;
    for question in &asked {
        let answer = ask(&mirror, question).await?;
        wrong += usize::from(!print_answer(question, &answer));
        answers.push(answer);
    }
    heading("3", "Ask again, from a second process");
    let (replayed, how) = second_process(&store.path).await?;
    let same = answers.len() == replayed.len()
        && answers.iter().zip(&replayed).all(|(first, second)| essence(first) == essence(second));
    println!("  {} {} answers, {how}", mark(same), replayed.len());
    println!();
    if wrong > 0 || !same {
        return Err(CliError::failed(format!(
            "{wrong} answers differ from the rows they were computed from{}",
            if same { "" } else { ", and the second process answered differently" }
        )));
    }
    println!(
        "{} every answer equals a plain computation over the generated rows",
        style("All right:").green().bold()
    );
    if let Some(path) = &arguments.keep {
        println!(
            "The store stays in {}; `benthic-mirror demo --replay {0}` shows the answers again.",
            path.display()
        );
    }
    println!(
        "Next: `benthic-mirror serve --demo` is an MCP server over stdio; README.md shows the real catalogue."
    );
    Ok(())
}

fn heading(number: &str, text: &str) {
    println!("{}", style(format!("{number}  {text}")).cyan().bold());
}

fn mark(good: bool) -> console::StyledObject<&'static str> {
    if good { style("✓").green().bold() } else { style("✗").red().bold() }
}

fn print_pull(store: &DemoStore) {
    let report = &store.report;
    let captured: Vec<u64> = report
        .relations
        .iter()
        .filter_map(|relation| match relation.outcome {
            RelationOutcome::Captured { rows, .. } => Some(rows),
            _ => None,
        })
        .collect();
    println!("  {} collection {} and its manifests: every check passed", mark(true), report.collection);
    println!("    payload hash {}", report.collection_hash);
    println!("    signed by    {} (the demo key)", demo::PUBLIC_KEY);
    println!(
        "  {} {} relations, {} rows in {} requests, sorted and written as Parquet",
        mark(true),
        captured.len(),
        grouped(captured.iter().sum()),
        store.requests
    );
    for relation in &report.relations {
        if let RelationOutcome::Skipped { reason } = &relation.outcome {
            println!("    {} {}", style(format!("skipped {}:", relation.source)).dim(), style(reason).dim());
        }
    }
    println!("    content      {}\n", report.content_id);
}

/// An answer, or the refusal, as one value.
async fn ask(mirror: &Mirror, question: &Question) -> Result<Value, CliError> {
    let arguments = question.arguments.clone();
    let answer = match question.tool {
        Tool::Query => mirror.query(arguments).await,
        Tool::Join => mirror.join(arguments).await,
        Tool::Rpc => mirror.rpc(arguments).await,
    };
    match answer {
        Ok(answer) => Ok(answer),
        Err(AppError::Refused(refusal)) => Ok(json!({"error": refusal.to_json(), "text": refusal.to_text()})),
        Err(error) => Err(error.into()),
    }
}

fn rows_of(answer: &Value) -> &[Value] {
    answer.get("rows").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Prints one answer; returns whether it is the expected one.
fn print_answer(question: &Question, answer: &Value) -> bool {
    let code = answer.pointer("/error/code").and_then(Value::as_str);
    let right = match (&question.expected, code) {
        (Expected::Refusal(expected), Some(code)) => *expected == code,
        (expected, None) => expected.matches_rows(rows_of(answer)),
        (Expected::Rows(_), Some(_)) => false,
    };
    println!("  {} {}", mark(right), style(&question.asked).bold());
    println!("    {}", style(format!("{}({})", question.tool.name(), one_line(&question.arguments))).dim());
    if let Some(text) = answer.get("text").and_then(Value::as_str) {
        println!("    {}", style(text).yellow());
    } else {
        indent(&rows_table(answer).to_string());
        for note in notes(answer) {
            println!("    {}", style(note).dim());
        }
    }
    if !right {
        println!("    expected: {:?}", question.expected);
    }
    println!();
    right
}

fn one_line(arguments: &serde_json::Map<String, Value>) -> String {
    arguments.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
}

fn indent(text: &str) {
    for line in text.lines() {
        println!("    {line}");
    }
}

/// What must be equal between two runs: everything but times.
fn essence(answer: &Value) -> Value {
    match answer.get("error") {
        Some(error) => error.clone(),
        None => json!([
            answer.get("columns"),
            answer.get("rows"),
            answer.get("row_count"),
            answer.pointer("/served/content_id")
        ]),
    }
}

/// Prints the answers from a demo store as JSON lines; opens no socket.
async fn replay(context: &Context, path: &Path) -> Result<(), CliError> {
    let mirror = demo_mirror(context, path)?;
    for question in questions(demo::data()) {
        println!("{}", ask(&mirror, &question).await?);
    }
    Ok(())
}

/// Runs `demo --replay` in a process without a network where the system allows that, else in an ordinary one.
async fn second_process(store: &Path) -> Result<(Vec<Value>, String), CliError> {
    let program = std::env::current_exe()
        .map_err(|error| CliError::failed(format!("the program's own path is unknown: {error}")))?;
    let mut isolated = tokio::process::Command::new("unshare");
    isolated.args(["--user", "--map-root-user", "--net"]).arg(&program);
    let mut ordinary = tokio::process::Command::new(&program);
    let attempts = [
        (&mut isolated, "the same, in a process without any network"),
        (&mut ordinary, "the same, in a new process"),
    ];
    let mut failure = String::new();
    for (command, how) in attempts {
        let output = command.arg("demo").arg("--replay").arg(store).stdin(Stdio::null()).output().await;
        match output {
            Ok(output) if output.status.success() => {
                let lines = String::from_utf8_lossy(&output.stdout);
                let answers = lines.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>();
                return answers.map(|answers| (answers, how.to_owned())).map_err(|error| {
                    CliError::failed(format!("the second process wrote something else than answers: {error}"))
                });
            }
            Ok(output) => failure = String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            Err(error) => failure = error.to_string(),
        }
    }
    Err(CliError::failed(format!("the second process failed: {failure}")))
}
