//! A complete response.

use bytes::Bytes;
use reqwest::header::HeaderMap;

/// Status, headers and the whole body. Any status but a redirect arrives here; what it means is the caller's matter.
#[derive(Debug, Clone)]
pub struct Response {
    /// HTTP status code.
    pub status: u16,
    pub(super) headers: HeaderMap,
    /// The body after decompression, byte for byte.
    pub body: Bytes,
}

impl Response {
    /// The first value of a header, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Whether the status is 2xx.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Whether the body is declared to be JSON of any kind.
    pub fn is_json(&self) -> bool {
        self.header("content-type").is_some_and(|value| {
            let essence = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
            essence == "application/json"
                || (essence.starts_with("application/") && essence.ends_with("+json"))
        })
    }

    /// `Retry-After` in seconds. The HTTP-date form is rare here and reads as absent.
    pub fn retry_after_seconds(&self) -> Option<u64> {
        self.header("retry-after")?.trim().parse().ok()
    }
}
