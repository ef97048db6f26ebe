//! Logs: stderr only, quiet unless asked.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use super::context::variable;
use super::error::{CliError, USAGE};

/// An env filter, e.g. `debug` or `benthic_mirror=trace`.
const VARIABLE: &str = "BENTHIC_LOG";

/// Starts logging at a level of detail; `BENTHIC_LOG` (an env filter) decides where it is set.
pub(super) fn start(verbose: u8) -> Result<(), CliError> {
    let default = match verbose {
        0 => "warn",
        1 => "warn,benthic_mirror=info",
        _ => "info,benthic_mirror=debug",
    };
    let filter = match variable(VARIABLE).filter(|value| !value.is_empty()) {
        None => EnvFilter::new(default),
        Some(value) => {
            let mistake = |why: &str| {
                CliError::with_code(format!("the variable {VARIABLE} is {value:?}: {why}"), USAGE)
            };
            let text = value.to_str().ok_or_else(|| mistake("it isn't UTF-8"))?;
            EnvFilter::try_new(text).map_err(|error| mistake(&error.to_string()))?
        }
    };
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .try_init()
        .map_err(|error| CliError::failed(format!("logging can't start: {error}")))
}
