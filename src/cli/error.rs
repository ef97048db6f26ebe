//! How a command ends when it doesn't end well.

use crate::app::AppError;
use crate::config::ConfigError;
use crate::store::StoreError;
use crate::sync::SyncError;

/// Exit code: a file named on the command line can't be read.
pub(super) const NO_FILE: u8 = 66;

/// Exit code: a mistake in arguments or configuration.
pub(super) const USAGE: u8 = 64;
/// Exit code: something isn't trusted.
const UNTRUSTED: u8 = 5;

/// A message for stderr and an exit code.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct CliError {
    message: String,
    code: u8,
}

impl CliError {
    /// Something went wrong that no code of its own stands for.
    pub(super) fn failed(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: 1 }
    }

    /// The same with a code of its own.
    pub(super) fn with_code(message: impl Into<String>, code: u8) -> Self {
        Self { message: message.into(), code }
    }

    /// The process's exit code.
    pub fn code(&self) -> u8 {
        self.code
    }
}

impl From<AppError> for CliError {
    fn from(error: AppError) -> Self {
        Self { code: error.exit_code(), message: error.to_string() }
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        AppError::from(error).into()
    }
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        Self::with_code(error.to_string(), USAGE)
    }
}

impl From<SyncError> for CliError {
    fn from(error: SyncError) -> Self {
        let message = format!("nothing was published: {error}");
        let code = match error {
            SyncError::Verify { .. } | SyncError::Catalog(_) | SyncError::NotTheExpected { .. } => UNTRUSTED,
            SyncError::NothingSelected { .. } => USAGE,
            SyncError::Store(error) => AppError::from(error).exit_code(),
            _ => return Self::failed(message),
        };
        Self::with_code(message, code)
    }
}

impl From<clap::Error> for CliError {
    /// clap's own code for a mistake is 2, which here says that a pull was published in part.
    fn from(error: clap::Error) -> Self {
        let text = error.render().to_string();
        Self::with_code(text.strip_prefix("error: ").unwrap_or(&text).trim_end(), USAGE)
    }
}
