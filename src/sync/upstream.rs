//! The door to the network as a pull needs it, made from the configuration.

use std::net::SocketAddr;
use std::time::Duration;

use url::Url;

use super::error::SyncError;
use crate::config::Config;
use crate::net::retry::RetryPolicy;
use crate::net::{ConnectOverride, LoopbackHttp, Net, NetError, NetOptions, Purpose};
use crate::postgrest::PostgrestClient;

/// A publisher that can be pulled from and asked.
#[derive(Debug, Clone)]
pub struct Upstream {
    net: Net,
}

impl Upstream {
    /// The configured one.
    pub fn new(config: &Config) -> Result<Self, NetError> {
        let overrides = config.connect_to.iter();
        Self::with(NetOptions {
            request_timeout: config.request_timeout,
            max_response_bytes: config.max_fetch_bytes,
            allowed_hosts: config.allowed_data_hosts.clone(),
            loopback_http: match config.allow_http_loopback {
                true => LoopbackHttp::Allowed,
                false => LoopbackHttp::Refused,
            },
            connect_overrides: overrides
                .map(|(origin, to)| ConnectOverride { origin: origin.clone(), to: *to })
                .collect(),
            ..NetOptions::default()
        })
    }

    /// One origin, answered by a loopback server: the demo's, whose signed addresses name a reserved host.
    pub fn answered_by(origin: &str, host: &str, server: SocketAddr) -> Result<Self, NetError> {
        Self::with(NetOptions {
            allowed_hosts: vec![host.to_owned()],
            connect_overrides: vec![ConnectOverride { origin: origin.to_owned(), to: server }],
            ..NetOptions::default()
        })
    }

    fn with(options: NetOptions) -> Result<Self, NetError> {
        Ok(Self { net: Net::new(options)? })
    }

    /// What live answers are read with: few and short pauses, since somebody is waiting. `seed` makes their jitter.
    pub fn reader(&self, seed: u64) -> PostgrestClient {
        let policy = RetryPolicy {
            max_attempts: 3,
            base_delay: Duration::from_millis(200),
            max_delay: Duration::from_secs(2),
        };
        PostgrestClient::new(self.net.clone(), policy, seed)
    }

    /// What [`super::pull`] fetches through.
    pub fn net(&self) -> &Net {
        &self.net
    }

    /// Fetches one document, wherever it lies, unverified.
    pub async fn document(&self, url: &Url, max_bytes: u64) -> Result<Vec<u8>, SyncError> {
        let named = || url.to_string();
        let fetched = |source| SyncError::Fetch { document: named(), source };
        // Its own directory is the root: a document given by its whole address has no other.
        let root = url.join(".").unwrap_or_else(|_| url.clone());
        let purpose = Purpose::Document { root: &root };
        let response = self.net.get(purpose, url, &[], Some(max_bytes)).await.map_err(fetched)?;
        match response.status {
            200 => Ok(response.body.to_vec()),
            status => Err(SyncError::Document { document: named(), url: named(), status }),
        }
    }
}
