//! `status`: what the store holds.

use comfy_table::{Cell, CellAlignment, Table, presets::NOTHING};

use super::context::Context;
use super::error::CliError;
use super::output::{grouped, size};

/// Verifies the current snapshot and prints its relations.
pub(super) fn run(context: &Context) -> Result<(), CliError> {
    let mirror = context.mirror()?;
    let id = mirror.load()?;
    println!("store     {}", context.config.store.display());
    println!("snapshot  {id} (signatures and objects' sizes verified)");
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(["relation", "rows", "size", "evidence", "captured"]);
    for relation in mirror.status()? {
        let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
        table.add_row([
            Cell::new(&relation.source),
            right(relation.rows.map_or_else(|| "-".to_owned(), grouped)),
            right(if relation.rows.is_some() { size(relation.bytes) } else { "-".to_owned() }),
            Cell::new(&relation.state),
            Cell::new(
                relation
                    .captured_at
                    .map_or_else(String::new, |at| at.format("%Y-%m-%d %H:%M UTC").to_string()),
            ),
        ]);
    }
    println!("{table}");
    Ok(())
}
