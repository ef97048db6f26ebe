//! The stdio transport: nothing but protocol on stdout, ends when stdin closes.

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio;

use super::handler::MirrorServer;

/// A stdio session that ended badly.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    /// The client never completed the handshake.
    #[error("the MCP client did not complete the handshake: {0}")]
    Handshake(String),
    /// The session's task failed.
    #[error("the MCP session failed: {0}")]
    Session(String),
}

/// Serves one client over stdin and stdout until stdin closes.
pub async fn serve_stdio(server: MirrorServer) -> Result<(), StdioError> {
    let service = match server.serve(stdio()).await {
        Ok(service) => service,
        // A client that connects and leaves without a word is no error.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(StdioError::Handshake(error.to_string())),
    };
    service.waiting().await.map(|_| ()).map_err(|error| StdioError::Session(error.to_string()))
}
