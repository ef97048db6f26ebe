//! One file per subcommand; prints, never decides.
//!
//! Results go to stdout; progress, logs and errors go to stderr. Every command ends in a [`CliError`] or success, and
//! `main` alone turns that into an exit code.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the one room that prints")]

mod answer;
mod arguments;
mod config;
mod context;
mod demo;
mod error;
mod keygen;
mod logging;
mod map;
mod output;
mod places;
mod progress;
mod rpc;
mod serve;
mod status;
mod sync;
mod table_file;
mod verify;

use clap::Parser;

pub use error::CliError;

use arguments::{Arguments, Command};
use context::Context;

/// Reads the command line and the environment, runs the command, returns how it ended.
pub fn run() -> Result<(), CliError> {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        // Help and version are answers: they go to stdout and end well.
        Err(asked) if !asked.use_stderr() => {
            print!("{}", asked.render());
            return Ok(());
        }
        Err(mistake) => return Err(mistake.into()),
    };
    logging::start(arguments.verbose)?;
    let context = Context::new(&arguments)?;
    let threads = context.config.concurrency.max(2);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()
        .map_err(|error| CliError::failed(format!("the runtime can't start: {error}")))?;
    let ended = runtime.block_on(dispatch(&context, arguments.command));
    // A pending read of stdin would otherwise keep the process alive.
    runtime.shutdown_background();
    ended
}

async fn dispatch(context: &Context, command: Command) -> Result<(), CliError> {
    match command {
        Command::Demo(arguments) => demo::run(context, arguments).await,
        Command::Serve(arguments) => serve::run(context, arguments).await,
        Command::Sync(arguments) => sync::run(context, arguments).await,
        Command::Verify(arguments) => verify::run(context, arguments).await,
        Command::Discover(arguments) => answer::discover(context, arguments),
        Command::Query(arguments) => answer::query(context, arguments).await,
        Command::Join(arguments) => answer::join(context, arguments).await,
        Command::Rpc(arguments) => rpc::run(context, arguments).await,
        Command::Map(arguments) => map::run(context, arguments).await,
        Command::Status => status::run(context),
        Command::Config(arguments) => config::run(context, arguments),
        Command::Keygen => keygen::run(context),
    }
}
