//! Progress of a pull: bars on a terminal, a log line per relation otherwise.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::output::{grouped, size};
use crate::sync::{Event, Progress};

/// Shows events on stderr.
pub(super) struct Shown {
    bars: Option<Mutex<Bars>>,
}

struct Bars {
    all: MultiProgress,
    total: ProgressBar,
    running: HashMap<String, ProgressBar>,
}

impl Shown {
    /// Bars if stderr is a terminal, lines otherwise.
    pub(super) fn new() -> Self {
        let bars = std::io::stderr().is_terminal().then(|| {
            let all = MultiProgress::new();
            let total = all
                .add(ProgressBar::new(0).with_style(style("{bar:30} {human_pos}/{human_len} rows  {msg}")));
            Mutex::new(Bars { all, total, running: HashMap::new() })
        });
        Self { bars }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl Progress for Shown {
    fn event(&self, event: Event<'_>) {
        match &self.bars {
            Some(bars) => bars.lock().unwrap_or_else(PoisonError::into_inner).show(event),
            None => line(event),
        }
    }
}

impl Bars {
    fn show(&mut self, event: Event<'_>) {
        match event {
            Event::DocumentsVerified { collection, manifests, signed_by, .. } => {
                let key: String = signed_by.chars().take(10).collect();
                self.note(&format!("verified {collection} and {manifests} manifests, signed by {key}…"));
            }
            Event::Planned { rows, relations, skipped } => {
                self.total.set_length(rows);
                self.total.set_message(format!("{relations} relations, {skipped} skipped"));
            }
            Event::RelationStarted { source, rows } => {
                let bar = ProgressBar::new(rows).with_style(style("  {bar:28.dim} {human_pos:>9} {msg}"));
                bar.set_message(source.to_owned());
                let bar = self.all.insert_before(&self.total, bar);
                self.running.insert(source.to_owned(), bar);
            }
            Event::Page { source, rows, .. } => {
                self.total.inc(rows);
                if let Some(bar) = self.running.get(source) {
                    bar.inc(rows);
                }
            }
            Event::Sorting { source, .. } => {
                if let Some(bar) = self.running.get(source) {
                    bar.set_message(format!("{source} (sorting)"));
                }
            }
            Event::RelationFinished { source, .. } | Event::RelationSkipped { source, .. } => {
                self.drop_bar(source)
            }
            Event::RelationRetried { source, reason } => {
                self.note(&format!("{source}: reading again: {reason}"))
            }
            Event::IndexFailed { source, reason } => {
                self.note(&format!("{source}: no index: {reason}"));
            }
            Event::RelationFailed { source, reason } => {
                self.drop_bar(source);
                self.note(&format!("{source}: failed: {reason}"));
            }
            Event::Restarted { .. } => {
                self.total.set_position(0);
                self.note("the collection changed during the run; starting again");
            }
            Event::Published { .. } => self.total.finish_and_clear(),
            // Events a later version adds need no bar.
            #[allow(unreachable_patterns)]
            _ => {}
        }
    }

    fn drop_bar(&mut self, source: &str) {
        if let Some(bar) = self.running.remove(source) {
            bar.finish_and_clear();
        }
    }

    fn note(&self, text: &str) {
        // A bar that can't be drawn above loses nothing but the picture.
        let _ = self.all.println(text);
    }
}

fn line(event: Event<'_>) {
    match event {
        Event::DocumentsVerified { collection, hash, signed_by, manifests } => {
            eprintln!("verified {collection} ({hash}) and {manifests} manifests, signed by {signed_by}");
        }
        Event::Planned { relations, skipped, rows } => {
            eprintln!("planned {relations} relations with {} rows, {skipped} skipped", grouped(rows));
        }
        Event::RelationFinished { source, rows, bytes } => {
            eprintln!("captured {source}: {} rows, {}", grouped(rows), size(bytes));
        }
        Event::RelationSkipped { source, reason } => eprintln!("skipped {source}: {reason}"),
        Event::RelationRetried { source, reason } => eprintln!("reading {source} again: {reason}"),
        Event::IndexFailed { source, reason } => eprintln!("no index over {source}: {reason}"),
        Event::RelationFailed { source, reason } => eprintln!("failed {source}: {reason}"),
        Event::Restarted { before, after } => {
            eprintln!("the collection changed from {before} to {after}; starting again");
        }
        _ => {}
    }
}
