//! Logs: stderr only, quiet unless asked.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use super::error::CliError;

/// Starts logging at a level of detail; `BENTHIC_LOG` (an env filter) decides where it is set.
pub(super) fn start(verbose: u8) -> Result<(), CliError> {
    let default = match verbose {
        0 => "warn",
        1 => "warn,benthic_mirror=info",
        _ => "info,benthic_mirror=debug",
    };
    let filter = EnvFilter::try_from_env("BENTHIC_LOG").unwrap_or_else(|_| EnvFilter::new(default));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .try_init()
        .map_err(|error| CliError::failed(format!("logging can't start: {error}")))
}
