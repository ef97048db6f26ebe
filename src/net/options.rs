//! What the door to the network allows.

use std::net::SocketAddr;
use std::time::Duration;

use url::Url;

/// Settings of the door, made once from the configuration.
#[derive(Debug, Clone)]
pub struct NetOptions {
    /// One request, from connecting to the last byte of the body.
    pub request_timeout: Duration,
    /// Connecting alone.
    pub connect_timeout: Duration,
    /// Cap on one body, after decompression; a request may ask for less.
    pub max_response_bytes: u64,
    /// Hosts data may come from: each is allowed itself and with any subdomain.
    pub allowed_hosts: Vec<String>,
    /// Whether plain HTTP to loopback addresses is allowed.
    pub loopback_http: LoopbackHttp,
    /// Origins that are answered by a loopback server (demo and tests).
    pub connect_overrides: Vec<ConnectOverride>,
    /// Sent with every request.
    pub user_agent: String,
}

impl Default for NetOptions {
    fn default() -> Self {
        Self {
            request_timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(10),
            // A page of 1,000 wide rows is a few MiB; polygons run to tens.
            max_response_bytes: 64 * 1024 * 1024,
            allowed_hosts: vec!["benthic.io".to_owned()],
            loopback_http: LoopbackHttp::Refused,
            connect_overrides: Vec::new(),
            user_agent: concat!("benthic-mirror/", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

/// Whether `http://` is acceptable for loopback addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LoopbackHttp {
    /// HTTPS only.
    #[default]
    Refused,
    /// Plain HTTP to `localhost`, `127.0.0.0/8` and `::1` too.
    Allowed,
}

/// Sends requests for one origin to a loopback server instead, as plain HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectOverride {
    /// The origin as URLs write it, e.g. `https://benthic.io`.
    pub origin: String,
    /// The server; must be a loopback address.
    pub to: SocketAddr,
}

/// What a request is for; decides which addresses are acceptable.
#[derive(Debug, Clone, Copy)]
pub enum Purpose<'a> {
    /// A signed document: must have the root's origin and lie below its path.
    Document {
        /// The configured root of the signed documents.
        root: &'a Url,
    },
    /// Rows or files: the host must be on the list of allowed hosts.
    Data,
}
