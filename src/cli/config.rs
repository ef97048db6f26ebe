//! `config show`: every setting, its value, and where it comes from.

use comfy_table::{Table, presets::NOTHING};

use super::arguments::{ConfigArguments, ConfigCommand};
use super::context::Context;
use super::error::CliError;

/// Prints the settings.
pub(super) fn run(context: &Context, arguments: ConfigArguments) -> Result<(), CliError> {
    let ConfigCommand::Show = arguments.command;
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(["setting", "value", "source", "variable"]);
    for setting in &context.config.resolved {
        table.add_row([setting.key, setting.value.as_str(), setting.source.as_str(), setting.variable]);
    }
    println!("{table}");
    println!();
    println!("store     {}", context.config.store.display());
    println!("key file  {}", context.config.key_file.display());
    Ok(())
}
