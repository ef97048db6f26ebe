//! A plain HTTP client for the origin, and comparisons that tell what was asked when they fail.

// The tests speak to the origin as anybody would; the project's own door to the network isn't under test here.
#![allow(clippy::disallowed_types)]

use std::collections::BTreeMap;
use std::sync::Arc;

use benthic_mirror::demo::origin::{DemoOrigin, OriginCatalogue, OriginOptions};
use benthic_mirror::demo::{self, DemoData};

thread_local! {
    /// One client a test: each test has a thread and a runtime of its own, and making a client costs more than using it.
    static CLIENT: reqwest::Client =
        reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy().build().unwrap();
}

/// What came back.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    pub(crate) fn range(&self) -> &str {
        self.headers.get("content-range").map_or("", String::as_str)
    }

    /// The error code; the four members must be there, and no others.
    pub(crate) fn code(&self) -> String {
        let error = self.json();
        let members: Vec<&str> = error.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(members, ["code", "details", "hint", "message"], "{}", self.body);
        error["code"].as_str().unwrap().to_owned()
    }

    /// The `id` members of the rows, in order.
    pub(crate) fn ids(&self) -> Vec<i64> {
        assert_eq!(self.status, 200, "{}", self.body);
        self.json().as_array().unwrap().iter().map(|row| row["id"].as_i64().unwrap()).collect()
    }
}

/// The demo's relations and those of the test's own `lab` dataset.
pub(crate) fn options() -> OriginOptions {
    let data: DemoData = DemoData {
        relations: demo::data().relations.iter().cloned().chain(crate::lab::relations()).collect(),
    };
    OriginOptions {
        catalogue: OriginCatalogue { documents: demo::documents(), data: Arc::new(data) },
        ..OriginOptions::default()
    }
}

pub(crate) async fn start(options: OriginOptions) -> DemoOrigin {
    DemoOrigin::start(options).await.unwrap()
}

/// Only the relations of the test's own dataset: quick to start.
pub(crate) async fn start_lab() -> DemoOrigin {
    let data = Arc::new(DemoData { relations: crate::lab::relations() });
    let catalogue = OriginCatalogue { documents: BTreeMap::new(), data };
    start(OriginOptions { catalogue, ..OriginOptions::default() }).await
}

pub(crate) async fn try_request(
    origin: &DemoOrigin,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
) -> Result<Reply, reqwest::Error> {
    try_request_at(&origin.base_url(), method, target, headers).await
}

/// The same by address, for requests that outlive their origin.
pub(crate) async fn try_request_at(
    base_url: &str,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
) -> Result<Reply, reqwest::Error> {
    let client = CLIENT.with(Clone::clone);
    let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
    let mut request = client.request(method, format!("{base_url}{target}"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = request.send().await?;
    let status = response.status().as_u16();
    let headers = response
        .headers()
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), value.to_str().unwrap().to_owned()))
        .collect();
    Ok(Reply { status, headers, body: response.text().await? })
}

pub(crate) async fn request(
    origin: &DemoOrigin,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
) -> Reply {
    try_request(origin, method, target, headers).await.unwrap_or_else(|error| panic!("{target}: {error}"))
}

pub(crate) async fn get(origin: &DemoOrigin, target: &str) -> Reply {
    request(origin, "GET", target, &[]).await
}

/// Percent-encodes a value so that nothing in it has a meaning in the URL.
pub(crate) fn encoded(value: &str) -> String {
    value
        .bytes()
        .map(
            |byte| {
                if byte.is_ascii_alphanumeric() {
                    char::from(byte).to_string()
                } else {
                    format!("%{byte:02X}")
                }
            },
        )
        .collect()
}
