//! `serve`: a stdio MCP server over the store.

use std::sync::Arc;

use super::arguments::ServeArguments;
use super::context::Context;
use super::demo::DemoStore;
use super::error::CliError;
use crate::mcp::{MirrorServer, serve_stdio};

/// Serves until stdin closes.
pub(super) async fn run(context: &Context, arguments: ServeArguments) -> Result<(), CliError> {
    if arguments.demo {
        // Held until the session ends: dropping it removes the temporary store.
        let store = DemoStore::pulled(context, None).await?;
        let mirror = store.mirror(context)?;
        mirror.load()?;
        return serve(mirror).await;
    }
    let mirror = context.mirror()?;
    // A store that can't be trusted stops the server here rather than at its first question.
    mirror.load()?;
    serve(mirror).await
}

async fn serve(mirror: crate::app::Mirror) -> Result<(), CliError> {
    serve_stdio(MirrorServer::new(Arc::new(mirror)))
        .await
        .map_err(|error| CliError::failed(error.to_string()))
}
