//! Picks the exit code; everything else is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    match benthic_mirror::cli::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            #[allow(clippy::print_stderr, reason = "the last word of a failed command")]
            {
                eprintln!("error: {error}");
            }
            ExitCode::from(error.code())
        }
    }
}
