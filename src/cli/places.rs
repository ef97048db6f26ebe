//! A file of places to a file of answers: streaming, in order, on several threads.
//!
//! One thread reads records in chunks, each worker answers every n-th chunk, and the writer takes the chunks back in
//! the same turn. The channels hold two chunks each, so memory doesn't depend on the file's size, and the output is the
//! same whatever the number of threads.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use csv::{ByteRecord, ReaderBuilder, WriterBuilder};

use super::error::{CliError, NO_FILE};
use crate::store::StoreError;
use crate::store::files::open_input;

/// What answers a place.
#[derive(Clone, Copy)]
pub(super) struct Answerer<'a> {
    /// The names of the answer's columns.
    pub(super) columns: &'a [&'a str],
    /// Latitude and longitude to one text per column.
    pub(super) answer: &'a (dyn Fn(f64, f64) -> Vec<String> + Sync),
}

/// Records per chunk.
const CHUNK_ROWS: usize = 2_048;
/// Chunks a channel holds.
const CHANNEL_CHUNKS: usize = 2;
/// Errors that are told besides being in the output.
const ERRORS_TOLD: usize = 10;

/// How a file is answered.
pub(super) struct BatchOptions<'a> {
    /// The latitude's column; by default the one called lat or latitude.
    pub(super) latitude_column: Option<&'a str>,
    /// The longitude's column; by default the one called lon, lng, long or longitude.
    pub(super) longitude_column: Option<&'a str>,
    /// What the names of the added columns begin with.
    pub(super) prefix: &'a str,
    /// Whether the first row without an answer ends the run.
    pub(super) stop_at_error: bool,
    /// Worker threads.
    pub(super) threads: usize,
}

/// What was done.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct BatchReport {
    /// Rows read and written.
    pub(super) rows: u64,
    /// Rows whose first answer column has a value.
    pub(super) found: u64,
    /// Rows that are no place.
    pub(super) errors: u64,
    /// What is wrong with the first of them.
    pub(super) first_errors: Vec<String>,
}

/// Why a file was not answered to its end.
#[derive(Debug, thiserror::Error)]
pub(super) enum Stopped {
    /// The file can't be read as CSV.
    #[error("the CSV file can't be read: {0}")]
    Input(csv::Error),
    /// The header lacks a column, or has one of ours.
    #[error("{0}")]
    Header(String),
    /// A row is no place, and that was to end the run.
    #[error("{0}; stopped there (without `--on-error stop` such rows are written with the reason)")]
    Row(String),
    /// The answers can't be written.
    #[error("the output can't be written: {0}")]
    Output(std::io::Error),
}

/// The columns of the file that matter.
#[derive(Clone, Copy)]
struct Columns {
    latitude: usize,
    longitude: usize,
    count: usize,
}

/// Answered records as CSV.
#[derive(Default)]
struct Answered {
    bytes: Vec<u8>,
    report: BatchReport,
    /// How far into the input the chunk reached.
    position: u64,
}

/// Opens a file of places; says how many bytes it has.
pub(super) fn open_places(path: &Path) -> Result<(File, u64), CliError> {
    open_input(path).map_err(|error| match error {
        StoreError::NotFound { .. } => {
            CliError::with_code(format!("the file {} doesn't exist", path.display()), NO_FILE)
        }
        error => CliError::with_code(error.to_string(), NO_FILE),
    })
}

/// Answers every record of `input` into `output`; `told` hears how many bytes have been read.
pub(super) fn answer_places(
    lookup: Answerer<'_>,
    input: impl Read + Send,
    output: &mut impl Write,
    options: &BatchOptions<'_>,
    told: &mut dyn FnMut(u64),
) -> Result<BatchReport, Stopped> {
    // Rows of another length are a row's fault, not the file's.
    let mut reader = ReaderBuilder::new().flexible(true).buffer_capacity(256 * 1024).from_reader(input);
    let header = reader.byte_headers().map_err(Stopped::Input)?.clone();
    let columns = Columns {
        latitude: column(&header, options.latitude_column, "--lat-column", &["lat", "latitude"])?,
        longitude: column(
            &header,
            options.longitude_column,
            "--lon-column",
            &["lon", "lng", "long", "longitude"],
        )?,
        count: header.len(),
    };
    let added = added_columns(&header, lookup.columns, options.prefix)?;
    let mut head = WriterBuilder::new().flexible(true).from_writer(Vec::new());
    let fields = header.iter().chain(added.iter().map(String::as_bytes));
    head.write_record(fields).map_err(|error| Stopped::Output(error.into()))?;
    let head = head.into_inner().map_err(|error| Stopped::Output(error.into_error()))?;
    output.write_all(&head).map_err(Stopped::Output)?;

    let threads = options.threads.max(1);
    std::thread::scope(|scope| {
        let (mut to_workers, mut from_workers) = (Vec::new(), Vec::new());
        for _ in 0..threads {
            let (send_records, records) = sync_channel::<Vec<ByteRecord>>(CHANNEL_CHUNKS);
            let (send_answers, answers) = sync_channel::<Answered>(CHANNEL_CHUNKS);
            scope.spawn(move || work(lookup, columns, &records, &send_answers));
            to_workers.push(send_records);
            from_workers.push(answers);
        }
        let reading = scope.spawn(move || read(&mut reader, &to_workers));
        let written = write(&from_workers, output, options.stop_at_error, told);
        // Dropping the receivers lets everybody upstream of an error finish.
        drop(from_workers);
        let read = reading.join().unwrap_or(Ok(()));
        let report = written?;
        read.map_err(Stopped::Input)?;
        Ok(report)
    })
}

/// Hands chunks to the workers in turn, until the file ends or nobody takes them.
fn read(
    reader: &mut csv::Reader<impl Read>,
    workers: &[SyncSender<Vec<ByteRecord>>],
) -> Result<(), csv::Error> {
    for worker in workers.iter().cycle() {
        let mut chunk = Vec::with_capacity(CHUNK_ROWS);
        let mut ended = false;
        while chunk.len() < CHUNK_ROWS && !ended {
            let mut record = ByteRecord::new();
            match reader.read_byte_record(&mut record) {
                Ok(true) => chunk.push(record),
                Ok(false) => ended = true,
                Err(error) => {
                    let _ = worker.send(chunk);
                    return Err(error);
                }
            }
        }
        if worker.send(chunk).is_err() || ended {
            break;
        }
    }
    Ok(())
}

fn work(
    lookup: Answerer<'_>,
    columns: Columns,
    records: &Receiver<Vec<ByteRecord>>,
    answers: &SyncSender<Answered>,
) {
    for chunk in records {
        if answers.send(answer_chunk(lookup, columns, &chunk)).is_err() {
            break;
        }
    }
}

fn answer_chunk(lookup: Answerer<'_>, columns: Columns, chunk: &[ByteRecord]) -> Answered {
    let mut writer = WriterBuilder::new().flexible(true).from_writer(Vec::with_capacity(chunk.len() * 96));
    let mut answered = Answered::default();
    let empty = vec![String::new(); lookup.columns.len()];
    for record in chunk {
        answered.report.rows += 1;
        answered.position = record.position().map_or(answered.position, csv::Position::byte);
        let (values, error) = match place(record, columns) {
            Ok((latitude, longitude)) => ((lookup.answer)(latitude, longitude), String::new()),
            Err(problem) => {
                let line = record.position().map_or(0, csv::Position::line);
                (empty.clone(), format!("line {line}: {problem}"))
            }
        };
        answered.report.found += u64::from(values.first().is_some_and(|value| !value.is_empty()));
        if !error.is_empty() {
            answered.report.errors += 1;
            if answered.report.first_errors.len() < ERRORS_TOLD {
                answered.report.first_errors.push(error.clone());
            }
        }
        // A short row is filled up and a long one cut, so that the answers stay under their names.
        let given = (0..columns.count).map(|at| record.get(at).unwrap_or_default());
        let fields =
            given.chain(values.iter().map(String::as_bytes)).chain(std::iter::once(error.as_bytes()));
        // Writing to memory can't fail.
        let _ = writer.write_record(fields);
    }
    answered.bytes = writer.into_inner().unwrap_or_default();
    answered
}

/// The place of a record, or what is wrong with it.
fn place(record: &ByteRecord, columns: Columns) -> Result<(f64, f64), String> {
    if record.len() != columns.count {
        return Err(format!("{} fields where the header has {}", record.len(), columns.count));
    }
    let number = |at: usize, name: &str, limit: f64| {
        let field = record.get(at).unwrap_or_default();
        let text = String::from_utf8_lossy(field);
        let text = text.trim();
        let shown: String = text.chars().take(40).collect();
        if text.is_empty() {
            return Err(format!("no {name}"));
        }
        match text.parse::<f64>() {
            Ok(value) if value.abs() <= limit => Ok(value),
            Ok(_) => Err(format!("{name} {shown} is not between -{limit} and {limit}")),
            Err(_) => Err(format!("{name} {shown:?} is not a number")),
        }
    };
    Ok((number(columns.latitude, "latitude", 90.0)?, number(columns.longitude, "longitude", 180.0)?))
}

fn write(
    workers: &[Receiver<Answered>],
    output: &mut impl Write,
    stop_at_error: bool,
    told: &mut dyn FnMut(u64),
) -> Result<BatchReport, Stopped> {
    let mut report = BatchReport::default();
    for worker in workers.iter().cycle() {
        // A worker ends when the reader has: its turn, and nothing there.
        let Ok(answered) = worker.recv() else { break };
        let chunk = answered.report;
        report.rows += chunk.rows;
        report.found += chunk.found;
        report.errors += chunk.errors;
        let room = ERRORS_TOLD.saturating_sub(report.first_errors.len());
        report.first_errors.extend(chunk.first_errors.into_iter().take(room));
        if let (true, Some(first)) = (stop_at_error, report.first_errors.first()) {
            return Err(Stopped::Row(first.clone()));
        }
        output.write_all(&answered.bytes).map_err(Stopped::Output)?;
        told(answered.position);
    }
    Ok(report)
}

/// The position of a column by the name given, or by one of its usual names.
fn column(header: &ByteRecord, given: Option<&str>, option: &str, usual: &[&str]) -> Result<usize, Stopped> {
    let names: Vec<String> =
        header.iter().map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect();
    let position = |wanted: &str, exact: bool| {
        names.iter().position(|name| if exact { name == wanted } else { name.eq_ignore_ascii_case(wanted) })
    };
    let found = match given {
        Some(given) => position(given, true).or_else(|| position(given, false)),
        None => usual.iter().find_map(|name| position(name, false)),
    };
    found.ok_or_else(|| {
        let wanted = given.map_or_else(|| usual.join(" or "), str::to_owned);
        Stopped::Header(format!(
            "the file has no column {wanted}; it has {}. Name it with {option}",
            names.iter().take(20).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        ))
    })
}

/// The names of the added columns, the reason for a missing answer last.
fn added_columns(header: &ByteRecord, columns: &[&str], prefix: &str) -> Result<Vec<String>, Stopped> {
    let added: Vec<String> =
        columns.iter().chain([&"error"]).map(|column| format!("{prefix}{column}")).collect();
    match added.iter().find(|name| header.iter().any(|given| given == name.as_bytes())) {
        None => Ok(added),
        Some(taken) => Err(Stopped::Header(format!(
            "the file already has a column `{taken}`; give the added ones another beginning, e.g. --prefix benthic_"
        ))),
    }
}

/// Most places a picture is drawn with.
const MAX_PLACES: usize = 200_000;

/// The places of a CSV file by its usual column names, and how many rows are none.
pub(super) fn read_places(input: impl Read) -> Result<(Vec<(f64, f64)>, usize), Stopped> {
    let mut reader = ReaderBuilder::new().flexible(true).from_reader(input);
    let header = reader.byte_headers().map_err(Stopped::Input)?.clone();
    let columns = Columns {
        latitude: column(&header, None, "`lat`", &["lat", "latitude"])?,
        longitude: column(&header, None, "`lon`", &["lon", "lng", "long", "longitude"])?,
        count: header.len(),
    };
    let (mut places, mut skipped) = (Vec::new(), 0);
    for record in reader.byte_records() {
        match place(&record.map_err(Stopped::Input)?, columns) {
            Ok(_) if places.len() >= MAX_PLACES => skipped += 1,
            Ok(found) => places.push(found),
            Err(_) => skipped += 1,
        }
    }
    Ok((places, skipped))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn northern(latitude: f64, longitude: f64) -> Vec<String> {
        vec![
            if latitude > 0.0 { "north".to_owned() } else { String::new() },
            format!("{:.1}", latitude + longitude),
        ]
    }

    const ANSWERER: Answerer<'static> = Answerer { columns: &["side", "sum"], answer: &northern };

    fn options(threads: usize) -> BatchOptions<'static> {
        BatchOptions {
            latitude_column: None,
            longitude_column: None,
            prefix: "",
            stop_at_error: false,
            threads,
        }
    }

    fn answered(input: &str, options: &BatchOptions<'_>) -> Result<(String, BatchReport), Stopped> {
        let mut output = Vec::new();
        let report = answer_places(ANSWERER, input.as_bytes(), &mut output, options, &mut |_| ())?;
        Ok((String::from_utf8(output).unwrap(), report))
    }

    #[test]
    fn every_row_keeps_its_place_and_gets_an_answer_or_a_reason() {
        let input = "name,Latitude,LNG,note\n\
            a,1.5,2,\"with, comma\"\n\
            \"b \"\"quoted\"\"\",-1, 3 ,\"two\nlines\"\n\
            c,91,0,\n\
            d,north,0,\n\
            e,,0,\n\
            f,1\n\
            g,1,2,3,4\n\
            h,NaN,0,\n\
            i,-0,-180,\u{e4}\n";
        let (output, report) = answered(input, &options(2)).unwrap();
        assert_eq!(
            output,
            "name,Latitude,LNG,note,side,sum,error\n\
            a,1.5,2,\"with, comma\",north,3.5,\n\
            \"b \"\"quoted\"\"\",-1, 3 ,\"two\nlines\",,2.0,\n\
            c,91,0,,,,line 5: latitude 91 is not between -90 and 90\n\
            d,north,0,,,,\"line 6: latitude \"\"north\"\" is not a number\"\n\
            e,,0,,,,line 7: no latitude\n\
            f,1,,,,,line 8: 2 fields where the header has 4\n\
            g,1,2,3,,,line 9: 5 fields where the header has 4\n\
            h,NaN,0,,,,line 10: latitude NaN is not between -90 and 90\n\
            i,-0,-180,\u{e4},,-180.0,\n"
        );
        assert_eq!((report.rows, report.found, report.errors), (9, 1, 6));
        assert_eq!(report.first_errors.len(), 6);
    }

    #[test]
    fn the_output_does_not_depend_on_the_number_of_threads() {
        let mut input = "lat,lon\n".to_owned();
        for row in 0..20_000 {
            let lat =
                if row % 977 == 0 { "x".to_owned() } else { format!("{}", f64::from(row % 170) - 85.0) };
            input.push_str(&format!("{lat},{}\n", row % 180));
        }
        let (one, report) = answered(&input, &options(1)).unwrap();
        assert_eq!(one.lines().count(), 20_001);
        assert_eq!((report.rows, report.errors), (20_000, 21));
        assert_eq!(report.first_errors.len(), ERRORS_TOLD);
        for threads in [2, 3, 8] {
            assert_eq!(
                answered(&input, &options(threads)).unwrap(),
                (one.clone(), BatchReport { first_errors: report.first_errors.clone(), ..report })
            );
        }
    }

    #[test]
    fn a_header_without_the_columns_or_with_ours_is_refused() {
        let header = |input: &str, options: &BatchOptions<'_>| match answered(input, options) {
            Err(Stopped::Header(message)) => message,
            other => panic!("{other:?}"),
        };
        let message = header("name,lon\n", &options(1));
        assert!(message.contains("lat or latitude") && message.contains("`name`"), "{message}");
        assert!(header("lat,lon,side\n1,2,x\n", &options(1)).contains("--prefix"));
        let prefixed = BatchOptions { prefix: "our_", ..options(1) };
        assert!(answered("lat,lon,side\n1,2,x\n", &prefixed).unwrap().0.contains("our_side"));
        let named = BatchOptions { latitude_column: Some("breite"), ..options(1) };
        assert!(answered("Breite,lon\n1,2\n", &named).is_ok());
        assert!(header("lat,lon\n", &named).contains("--lat-column"));
        assert_eq!(answered("lat,lon\n", &options(2)).unwrap().1, BatchReport::default());
        assert!(header("", &options(1)).contains("no column"));
    }

    #[test]
    fn the_first_bad_row_stops_the_run_when_asked_to() {
        let stopping = BatchOptions { stop_at_error: true, ..options(2) };
        let stopped = answered("lat,lon\n1,2\n1,200\n", &stopping).unwrap_err();
        assert!(
            matches!(&stopped, Stopped::Row(reason) if reason.starts_with("line 3: longitude 200")),
            "{stopped}"
        );
        assert!(answered("lat,lon\n1,2\n", &stopping).is_ok());
    }
}
