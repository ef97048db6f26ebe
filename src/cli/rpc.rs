//! `rpc`: one spatial question, or a file of places.

use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Number, Value};

use super::arguments::{Format, OnError, RpcCommand};
use super::context::Context;
use super::error::{CliError, USAGE};
use super::output::{deliver, deliver_table, grouped, notes};
use super::places::{Answerer, BatchOptions, BatchReport, Stopped, answer_places, open_places};
use crate::spatial::SpatialArguments;
use crate::store::files::OutputFile;

/// Exit code: an answer was written, but some rows have none.
const WRITTEN_WITH_ERRORS: u8 = 2;

/// Prints the rows of a spatial operation, or answers a file.
pub(super) async fn run(context: &Context, command: RpcCommand) -> Result<(), CliError> {
    let mut arguments = Map::new();
    for (name, value) in [
        ("lat", &command.lat),
        ("lon", &command.lon),
        ("congress", &command.congress),
        ("min_lat", &command.min_lat),
        ("max_lat", &command.max_lat),
        ("min_lon", &command.min_lon),
        ("max_lon", &command.max_lon),
        ("radius_meters", &command.radius_meters),
    ] {
        if let Some(text) = value {
            let number: Number = serde_json::from_str(text.trim()).map_err(|_| {
                CliError::with_code(format!("--{}: `{text}` is not a number", name.replace('_', "-")), USAGE)
            })?;
            arguments.insert(name.to_owned(), Value::Number(number));
        }
    }
    match &command.csv {
        Some(csv) => batch(context, &command, arguments, csv).await,
        None => {
            arguments.insert("operation".to_owned(), command.operation.into());
            command.output.check()?;
            let mirror = context.mirror()?;
            match command.output.is_table_file() {
                true => deliver_table(&command.output, &mirror.rpc_table(arguments).await?),
                false => deliver(&command.output, &mirror.rpc(arguments).await?),
            }
        }
    }
}

async fn batch(
    context: &Context,
    command: &RpcCommand,
    arguments: Map<String, Value>,
    csv: &Path,
) -> Result<(), CliError> {
    if command.lat.is_some() || command.lon.is_some() {
        return Err(CliError::with_code(
            "--csv takes latitudes and longitudes from the file: leave --lat and --lon out, and name its columns with \
             --lat-column and --lon-column",
            USAGE,
        ));
    }
    if !matches!(command.output.format, Format::Table | Format::Csv) {
        return Err(CliError::with_code("--csv is answered as CSV: leave --format out", USAGE));
    }
    let number = |name: &str| arguments.get(name).and_then(Value::as_number).cloned();
    let spatial = SpatialArguments {
        // Every place is checked on its own; the request only needs one that is.
        lat: Some(Number::from(0)),
        lon: Some(Number::from(0)),
        congress: number("congress"),
        min_lat: number("min_lat"),
        max_lat: number("max_lat"),
        min_lon: number("min_lon"),
        max_lon: number("max_lon"),
        radius_meters: number("radius_meters"),
    };
    let lookup = context.mirror()?.place_lookup(&command.operation, &spatial).await?;
    let (input, bytes): (Box<dyn Read + Send>, Option<u64>) = if csv.as_os_str() == "-" {
        (Box::new(io::stdin()), None)
    } else {
        let (file, bytes) = open_places(csv)?;
        (Box::new(file), Some(bytes))
    };
    let options = BatchOptions {
        latitude_column: command.lat_column.as_deref(),
        longitude_column: command.lon_column.as_deref(),
        prefix: &command.prefix,
        stop_at_error: command.on_error == OnError::Stop,
        threads: context.config.concurrency.max(1),
    };
    let answer = |latitude, longitude| lookup.answer(latitude, longitude);
    let answerer = Answerer { columns: lookup.columns(), answer: &answer };
    let bar = progress_bar(bytes);
    let mut told = |bytes: u64| bar.set_position(bytes);
    let report = match &command.output.out {
        Some(path) => {
            let mut output = OutputFile::create(path)?;
            let report = answer_places(answerer, input, &mut output, &options, &mut told)
                .map_err(|stopped| failed(&stopped))?;
            output.finish()?;
            report
        }
        None => {
            let mut output = io::stdout().lock();
            let report = answer_places(answerer, input, &mut output, &options, &mut told)
                .map_err(|stopped| failed(&stopped))?;
            output
                .flush()
                .map_err(|error| CliError::failed(format!("the output can't be written: {error}")))?;
            report
        }
    };
    bar.finish_and_clear();
    print_report(&report, &lookup.notes, &lookup.served);
    match report.errors {
        0 => Ok(()),
        errors => Err(CliError::with_code(
            format!(
                "{} of {} rows have no answer; their column `{}error` says why",
                grouped(errors),
                grouped(report.rows),
                command.prefix
            ),
            WRITTEN_WITH_ERRORS,
        )),
    }
}

fn failed(stopped: &Stopped) -> CliError {
    let code = match stopped {
        Stopped::Input(_) | Stopped::Row(_) | Stopped::Header(_) => 65,
        Stopped::Output(_) => 1,
    };
    CliError::with_code(stopped.to_string(), code)
}

fn progress_bar(bytes: Option<u64>) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let (bar, template) = match bytes {
        Some(bytes) => (ProgressBar::new(bytes), "{bar:30} {bytes}/{total_bytes}  {bytes_per_sec}  {eta}"),
        None => (ProgressBar::new_spinner(), "{spinner} {bytes}  {bytes_per_sec}"),
    };
    bar.with_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Told on stderr: stdout may be the output itself.
fn print_report(report: &BatchReport, said: &[String], served: &Value) {
    eprintln!("{} rows, {} answered with a value", grouped(report.rows), grouped(report.found));
    for error in &report.first_errors {
        eprintln!("! {error}");
    }
    let more = report.errors.saturating_sub(report.first_errors.len() as u64);
    if more > 0 {
        eprintln!("! and {} more", grouped(more));
    }
    for note in said {
        eprintln!("! {note}");
    }
    if let Some(from) = notes(&serde_json::json!({ "served": served })).last() {
        eprintln!("{from}");
    }
}
