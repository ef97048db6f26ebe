//! Asking the origin what a PostgREST server would answer.

use benthic_mirror::demo::DemoRelation;
use benthic_mirror::demo::origin::{DemoOrigin, OriginOptions};
use serde_json::Value;
use url::form_urlencoded::byte_serialize;

/// A client of a running origin.
pub struct Upstream {
    origin: DemoOrigin,
    client: reqwest::Client,
}

/// What the origin says to one request.
pub struct Page {
    pub status: u16,
    pub rows: Vec<Value>,
    /// Rows that match the filters.
    pub total: usize,
    pub body: String,
}

impl Upstream {
    pub async fn start() -> Self {
        // Paging has its own tests; here a page may hold a whole relation.
        let options = OriginOptions { page_cap: usize::MAX, ..OriginOptions::default() };
        let origin = DemoOrigin::start(options).await.expect("origin");
        Self { origin, client: reqwest::Client::builder().no_proxy().build().expect("client") }
    }

    /// One page with its count.
    pub async fn page(
        &self,
        relation: &DemoRelation,
        parameters: &[(String, String)],
        limit: usize,
        offset: usize,
    ) -> Page {
        let (schema, table) = relation.schema_and_table();
        let mut url = format!("{}/{}/{table}?", self.origin.base_url(), relation.dataset);
        for (name, value) in parameters {
            url.push_str(&format!("{}={}&", encoded(name), encoded(value)));
        }
        url.push_str(&format!("limit={limit}&offset={offset}"));
        let mut request = self.client.get(&url).header("Prefer", "count=exact");
        if schema != "public" {
            request = request.header("Accept-Profile", schema);
        }
        let response = request.send().await.expect("the origin answers");
        let status = response.status().as_u16();
        let range = response.headers().get("content-range").and_then(|range| range.to_str().ok());
        let total = range.and_then(|range| range.rsplit('/').next()?.parse().ok()).unwrap_or(0);
        let body = response.text().await.expect("body");
        let rows = match status {
            200 | 206 => serde_json::from_str(&body).expect("rows"),
            _ => Vec::new(),
        };
        Page { status, rows, total, body }
    }
}

fn encoded(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect()
}
