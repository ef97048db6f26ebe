//! One request at a time through the rules.

use std::error::Error as _;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, Method, redirect};
use url::{Host, Url};

use super::error::NetError;
use super::options::{LoopbackHttp, NetOptions, Purpose};
use super::response::Response;

/// The door to the network. Cheap to clone; connections are shared.
#[derive(Debug, Clone)]
pub struct Net {
    client: Client,
    options: NetOptions,
    /// Parsed connect overrides: the origin in its one ASCII spelling, and the socket.
    overrides: Vec<(String, SocketAddr)>,
}

impl Net {
    /// Makes the door. Errors: [`NetError::Options`] for an override that isn't an `https://host` origin or doesn't
    /// lead to loopback, or if TLS can't be set up.
    pub fn new(options: NetOptions) -> Result<Self, NetError> {
        let mut overrides = Vec::new();
        for item in &options.connect_overrides {
            let url = Url::parse(&item.origin)
                .map_err(|error| NetError::Options(format!("override origin {:?}: {error}", item.origin)))?;
            if url.scheme() != "https" || url.path() != "/" || url.query().is_some() || has_credentials(&url)
            {
                return Err(NetError::Options(format!(
                    "override origin {:?} must be of the form https://host",
                    item.origin
                )));
            }
            if !item.to.ip().is_loopback() {
                return Err(NetError::Options(format!(
                    "override for {} leads to {}, which is not a loopback address",
                    item.origin, item.to
                )));
            }
            overrides.push((url.origin().ascii_serialization(), item.to));
        }
        let client = Client::builder()
            .redirect(redirect::Policy::none())
            // The environment is never read down here; a proxy would be an option of its own.
            .no_proxy()
            .connect_timeout(options.connect_timeout)
            .user_agent(&options.user_agent)
            .build()
            .map_err(|error| NetError::Options(format!("HTTP client: {}", chain(&error))))?;
        Ok(Self { client, options, overrides })
    }

    /// The settings in force.
    pub fn options(&self) -> &NetOptions {
        &self.options
    }

    /// GET. `cap` bounds the body in bytes; `None` means [`NetOptions::max_response_bytes`].
    pub async fn get(
        &self,
        purpose: Purpose<'_>,
        url: &Url,
        headers: &[(&str, &str)],
        cap: Option<u64>,
    ) -> Result<Response, NetError> {
        self.send(Method::GET, purpose, url, headers, cap).await
    }

    /// HEAD.
    pub async fn head(
        &self,
        purpose: Purpose<'_>,
        url: &Url,
        headers: &[(&str, &str)],
    ) -> Result<Response, NetError> {
        self.send(Method::HEAD, purpose, url, headers, Some(0)).await
    }

    /// Checks an address against the rules without requesting it.
    pub fn check(&self, purpose: Purpose<'_>, url: &Url) -> Result<(), NetError> {
        let refuse = |why: String| Err(NetError::Refused { url: url.to_string(), why });
        let loopback = is_loopback(url);
        match url.scheme() {
            "https" => {}
            "http" if loopback && self.options.loopback_http == LoopbackHttp::Allowed => {}
            "http" if loopback => {
                return refuse("plain HTTP to loopback needs --allow-http-loopback".to_owned());
            }
            scheme => return refuse(format!("{scheme}: only https is allowed")),
        }
        if has_credentials(url) {
            return refuse("the address holds credentials".to_owned());
        }
        match purpose {
            Purpose::Document { root } => {
                let below = url.path().starts_with(&directory(root)) && !has_dot_segments(url);
                match url.origin() == root.origin() && below {
                    true => Ok(()),
                    false => refuse(format!("signed documents must lie below the configured root {root}")),
                }
            }
            Purpose::Data => {
                let plain_loopback = loopback && url.scheme() == "http";
                match plain_loopback || self.is_allowed_host(url) {
                    true => Ok(()),
                    false => refuse(format!(
                        "the host isn't an allowed data host ({}); add it to ALLOWED_DATA_HOSTS if you trust it",
                        self.options.allowed_hosts.join(", ")
                    )),
                }
            }
        }
    }

    fn is_allowed_host(&self, url: &Url) -> bool {
        let Some(Host::Domain(host)) = url.host() else {
            // An address given as an IP number must be listed literally.
            return url
                .host_str()
                .is_some_and(|host| self.options.allowed_hosts.iter().any(|one| one == host));
        };
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        self.options.allowed_hosts.iter().any(|allowed| {
            let allowed = allowed.trim_end_matches('.').to_ascii_lowercase();
            host == allowed || host.strip_suffix(&allowed).is_some_and(|rest| rest.ends_with('.'))
        })
    }

    async fn send(
        &self,
        method: Method,
        purpose: Purpose<'_>,
        url: &Url,
        headers: &[(&str, &str)],
        cap: Option<u64>,
    ) -> Result<Response, NetError> {
        self.check(purpose, url)?;
        let cap = cap.unwrap_or(self.options.max_response_bytes).min(self.options.max_response_bytes);
        let (target, host) = self.route(url)?;
        let mut request = self.client.request(method.clone(), target).timeout(self.options.request_timeout);
        if let Some(host) = host {
            request = request.header(reqwest::header::HOST, host);
        }
        request = request.headers(header_map(url, headers)?);
        let mut response =
            request.send().await.map_err(|error| failure(url, &error, 0, self.options.request_timeout))?;
        let status = response.status().as_u16();
        if (300..400).contains(&status) {
            let target = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            return Err(NetError::Redirected {
                url: url.to_string(),
                status,
                target: target.unwrap_or("an unnamed place").chars().take(500).collect(),
            });
        }
        let headers = std::mem::take(response.headers_mut());
        let body = match method == Method::HEAD {
            true => Bytes::new(),
            false => self.read_body(url, response, cap).await?,
        };
        Ok(Response { status, headers, body })
    }

    /// Reads the body up to the cap; the transport reports a body shorter than announced as an error.
    async fn read_body(
        &self,
        url: &Url,
        mut response: reqwest::Response,
        cap: u64,
    ) -> Result<Bytes, NetError> {
        let mut body = BytesMut::new();
        loop {
            let chunk = response.chunk().await;
            match chunk {
                Ok(Some(chunk)) => {
                    if body.len() as u64 + chunk.len() as u64 > cap {
                        return Err(NetError::TooLarge { url: url.to_string(), limit: cap });
                    }
                    body.extend_from_slice(&chunk);
                }
                Ok(None) => return Ok(body.freeze()),
                Err(error) => {
                    return Err(failure(url, &error, body.len() as u64, self.options.request_timeout));
                }
            }
        }
    }

    /// Where the request really goes: the address itself, or the loopback server that answers for its origin, with
    /// the `Host` header to send.
    fn route(&self, url: &Url) -> Result<(Url, Option<String>), NetError> {
        let origin = url.origin().ascii_serialization();
        let Some((_, to)) = self.overrides.iter().find(|(known, _)| *known == origin) else {
            return Ok((url.clone(), None));
        };
        let refused = |why: String| NetError::Refused { url: url.to_string(), why };
        let mut target = Url::parse(&format!("http://{to}/")).map_err(|error| refused(error.to_string()))?;
        target.set_path(url.path());
        target.set_query(url.query());
        let host = url.host_str().unwrap_or_default();
        let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        Ok((target, Some(host)))
    }
}

/// The root's path as a directory: documents lie strictly below it.
fn directory(root: &Url) -> String {
    format!("{}/", root.path().trim_end_matches('/'))
}

/// Percent-encoded dot segments, which some servers resolve after the check.
fn has_dot_segments(url: &Url) -> bool {
    let path = url.path().to_ascii_lowercase();
    path.contains("%2e")
        || path.contains("%2f")
        || path.contains("%5c")
        || path.split('/').any(|part| part == "..")
}

fn has_credentials(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(address)) => IpAddr::V4(address).is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::V6(address).is_loopback(),
        None => false,
    }
}

fn header_map(url: &Url, headers: &[(&str, &str)]) -> Result<HeaderMap, NetError> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let invalid = || NetError::Refused { url: url.to_string(), why: format!("header {name}: {value:?}") };
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?;
        map.append(name, HeaderValue::from_str(value).map_err(|_| invalid())?);
    }
    Ok(map)
}

/// Sorts a transport error by what the caller can do.
fn failure(url: &Url, error: &reqwest::Error, received: u64, timeout: Duration) -> NetError {
    let url = url.to_string();
    if error.is_timeout() && !error.is_connect() {
        return NetError::TimedOut { url, after: timeout };
    }
    match error.is_body() || error.is_decode() {
        true => NetError::Truncated { url, received, reason: chain(error) },
        false => NetError::Unreachable { url, reason: chain(error) },
    }
}

/// An error with its causes, the way reqwest hides them, without the address it repeats.
fn chain(error: &reqwest::Error) -> String {
    let mut parts = Vec::new();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let text = inner.to_string();
        if parts.last() != Some(&text) {
            parts.push(text);
        }
        cause = inner.source();
    }
    if parts.is_empty() { error.to_string() } else { parts.join(": ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::ConnectOverride;

    fn net(options: NetOptions) -> Net {
        Net::new(options).unwrap()
    }

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn data_comes_from_allowed_hosts_over_https() {
        let net = net(NetOptions::default());
        for allowed in ["https://benthic.io/x", "https://api.benthic.io/x", "https://BENTHIC.io./x"] {
            assert_eq!(net.check(Purpose::Data, &url(allowed)), Ok(()), "{allowed}");
        }
        for refused in [
            "http://benthic.io/x",
            "https://notbenthic.io/x",
            "https://benthic.io.example/x",
            "https://user@benthic.io/x",
            "https://user:secret@benthic.io/x",
            "https://127.0.0.1/x",
            "http://127.0.0.1/x",
            "ftp://benthic.io/x",
            "file:///etc/passwd",
        ] {
            let found = net.check(Purpose::Data, &url(refused));
            assert!(matches!(found, Err(NetError::Refused { .. })), "{refused}: {found:?}");
        }
    }

    #[test]
    fn loopback_needs_the_switch_and_is_only_loopback() {
        let net = net(NetOptions { loopback_http: LoopbackHttp::Allowed, ..NetOptions::default() });
        for allowed in ["http://127.0.0.1:8/x", "http://localhost/x", "http://[::1]:9/x"] {
            assert_eq!(net.check(Purpose::Data, &url(allowed)), Ok(()), "{allowed}");
        }
        for refused in ["http://benthic.io/", "http://localhost.example/", "http://10.0.0.1/"] {
            assert!(net.check(Purpose::Data, &url(refused)).is_err(), "{refused}");
        }
    }

    #[test]
    fn documents_lie_below_the_root() {
        let net = net(NetOptions::default());
        let root = url("https://docs.example/bdp");
        let purpose = Purpose::Document { root: &root };
        assert_eq!(net.check(purpose, &url("https://docs.example/bdp/ngopen/collection.json")), Ok(()));
        for refused in [
            "https://docs.example/bdp2/x",
            "https://docs.example/bdp",
            "https://docs.example:444/bdp/x",
            "https://other.example/bdp/x",
            "https://docs.example/bdp/%2e%2e/x",
            "https://docs.example/bdp/../x",
        ] {
            assert!(net.check(purpose, &url(refused)).is_err(), "{refused}");
        }
    }

    #[test]
    fn overrides_lead_to_loopback_only() {
        let with = |origin: &str, to: &str| {
            Net::new(NetOptions {
                connect_overrides: vec![ConnectOverride {
                    origin: origin.to_owned(),
                    to: to.parse().unwrap(),
                }],
                ..NetOptions::default()
            })
        };
        let net = with("https://benthic.io", "127.0.0.1:81").unwrap();
        let (target, host) = net.route(&url("https://benthic.io/a/b?c=d%2Be")).unwrap();
        assert_eq!(
            (target.as_str(), host.as_deref()),
            ("http://127.0.0.1:81/a/b?c=d%2Be", Some("benthic.io"))
        );
        assert_eq!(net.route(&url("https://other.benthic.io/")).unwrap().1, None);
        for (origin, to) in [
            ("https://benthic.io", "10.0.0.1:81"),
            ("http://benthic.io", "127.0.0.1:81"),
            ("https://benthic.io/path", "127.0.0.1:81"),
            ("benthic.io", "127.0.0.1:81"),
        ] {
            assert!(matches!(with(origin, to), Err(NetError::Options(_))), "{origin} {to}");
        }
    }
}
