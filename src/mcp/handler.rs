//! Calls to use cases, outcomes to MCP.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value, json};

use super::tools::{INSTRUCTIONS, ToolKind};
use crate::app::{AppError, Mirror};

/// Serves a mirror's tools.
#[derive(Clone)]
pub struct MirrorServer {
    mirror: Arc<Mirror>,
    tools: Arc<Vec<Tool>>,
}

impl MirrorServer {
    /// A server over an open mirror.
    pub fn new(mirror: Arc<Mirror>) -> Self {
        let open_world = mirror.is_live();
        Self { mirror, tools: Arc::new(ToolKind::ALL.map(|tool| tool.definition(open_world)).into()) }
    }

    async fn call(&self, tool: ToolKind, arguments: Map<String, Value>) -> CallToolResult {
        let work = async {
            match tool {
                ToolKind::Discover => self.mirror.discover(arguments),
                ToolKind::Query => self.mirror.query(arguments).await,
                ToolKind::Join => self.mirror.join(arguments).await,
                ToolKind::Rpc => self.mirror.rpc(arguments).await,
            }
        };
        // A panicking tool would never be answered; it is reported and the server lives on.
        match AssertUnwindSafe(work).catch_unwind().await {
            Ok(Ok(value)) => CallToolResult::structured(value),
            Ok(Err(error)) => refused(error),
            Err(_) => refused(AppError::Internal { detail: format!("{} failed unexpectedly", tool.name()) }),
        }
    }
}

/// A refusal or failure as a tool result: text for the model, facts for programs.
fn refused(error: AppError) -> CallToolResult {
    let refusal = error.into_refusal();
    let mut result = CallToolResult::error(vec![ContentBlock::text(refusal.to_text())]);
    result.structured_content = Some(json!({"error": refusal.to_json()}));
    result
}

impl ServerHandler for MirrorServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let mut info = ServerConfig::new(capabilities);
        info.server_info = Implementation::new("benthic-mirror", env!("CARGO_PKG_VERSION"));
        info.instructions = Some(INSTRUCTIONS.to_owned());
        info
    }

    fn supported_protocol_versions(&self) -> std::borrow::Cow<'static, [ProtocolVersion]> {
        const VERSIONS: &[ProtocolVersion] = &[ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];
        std::borrow::Cow::Borrowed(VERSIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult { tools: self.tools.to_vec(), ..ListToolsResult::default() })
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = ToolKind::from_name(&request.name) else {
            return Err(ErrorData::invalid_params(format!("unknown tool `{}`", request.name), None));
        };
        let arguments = request.arguments.unwrap_or_default();
        tokio::select! {
            // Dropping the call stops its plan and frees its memory.
            () = context.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
            result = self.call(tool, arguments) => Ok(result.into()),
        }
    }
}
