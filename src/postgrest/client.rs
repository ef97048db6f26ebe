//! One page, one count: requests through `net`, repeated where that makes sense.

use bytes::Bytes;
use url::Url;

use crate::net::retry::{Outcome, RetryPolicy};
use crate::net::{Net, Purpose, Response};

use super::error::{ErrorBody, PostgrestError, ServerError};
use super::request::{Endpoint, PageRequest};

/// Asks one API politely.
#[derive(Debug, Clone)]
pub struct PostgrestClient {
    net: Net,
    policy: RetryPolicy,
    seed: u64,
}

/// `Content-Range`: which rows a page holds, and of how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentRange {
    /// First and last row, from 0; `None` if the page is empty.
    pub rows: Option<(u64, u64)>,
    /// All rows the filters let through; `None` unless a count was asked for.
    pub total: Option<u64>,
}

impl ContentRange {
    /// Parses `0-24/3573`, `0-24/*`, `*/0`, `*/*`.
    pub fn parse(text: &str) -> Option<Self> {
        let (rows, total) = text.trim().split_once('/')?;
        let rows = match rows {
            "*" => None,
            range => {
                let (first, last) = range.split_once('-')?;
                let (first, last) = (first.parse().ok()?, last.parse().ok()?);
                if first > last {
                    return None;
                }
                Some((first, last))
            }
        };
        let total = if total == "*" { None } else { Some(total.parse().ok()?) };
        Some(Self { rows, total })
    }
}

/// One page as received.
#[derive(Debug, Clone)]
pub struct Page {
    /// The JSON array, byte for byte.
    pub body: Bytes,
    /// Which rows it holds, if the server said so.
    pub range: Option<ContentRange>,
    /// The address, for messages.
    pub url: String,
}

impl PostgrestClient {
    /// A client that repeats requests by `policy`; `seed` makes its jitter.
    pub fn new(net: Net, policy: RetryPolicy, seed: u64) -> Self {
        Self { net, policy, seed }
    }

    /// Fetches one page.
    pub async fn fetch_page(
        &self,
        endpoint: &Endpoint,
        request: &PageRequest,
    ) -> Result<Page, PostgrestError> {
        let url = endpoint.url(&request.parameters()?)?;
        let mut headers = endpoint.headers();
        if request.count {
            headers.push(("prefer", "count=exact"));
        }
        let response = self.send(Verb::Get, &url, &headers).await?;
        if !response.is_json() {
            return Err(PostgrestError::Unexpected {
                url: url.to_string(),
                problem: format!(
                    "Content-Type {:?} instead of application/json",
                    response.header("content-type").unwrap_or("absent")
                ),
            });
        }
        let range = response.header("content-range").and_then(ContentRange::parse);
        Ok(Page { body: response.body, range, url: url.to_string() })
    }

    /// The exact number of rows the filters of `request` let through; fetches none.
    pub async fn count(&self, endpoint: &Endpoint, request: &PageRequest) -> Result<u64, PostgrestError> {
        // Order and limit don't change a count, and a limit would make an error of an empty page.
        let bare = PageRequest { filters: request.filters.clone(), ..PageRequest::default() };
        let url = endpoint.url(&bare.parameters()?)?;
        let mut headers = endpoint.headers();
        headers.push(("prefer", "count=exact"));
        let response = self.send(Verb::Head, &url, &headers).await?;
        let header = response.header("content-range");
        header.and_then(ContentRange::parse).and_then(|range| range.total).ok_or_else(|| {
            PostgrestError::Unexpected {
                url: url.to_string(),
                problem: format!("no count in Content-Range {:?}", header.unwrap_or("absent")),
            }
        })
    }

    /// Sends a request, again where that makes sense.
    async fn send(
        &self,
        verb: Verb,
        url: &Url,
        headers: &[(&str, &str)],
    ) -> Result<Response, PostgrestError> {
        let mut attempt = 1;
        loop {
            let response = match verb {
                Verb::Get => self.net.get(Purpose::Data, url, headers, None).await,
                Verb::Head => self.net.head(Purpose::Data, url, headers).await,
            };
            let result =
                response.map_err(PostgrestError::from).and_then(|response| successful(url, response));
            let (outcome, retry_after) = judge(&result);
            if !self.policy.pause(attempt, outcome, retry_after, self.seed).await {
                return result;
            }
            attempt += 1;
        }
    }
}

#[derive(Clone, Copy)]
enum Verb {
    Get,
    Head,
}

/// What a result came to, for the retry policy.
fn judge(result: &Result<Response, PostgrestError>) -> (Outcome, Option<u64>) {
    match result {
        Ok(response) => (Outcome::Status(response.status), None),
        Err(PostgrestError::Net(error)) => (Outcome::of(error), None),
        Err(PostgrestError::Server(error)) => (Outcome::Status(error.status), error.retry_after_seconds),
        Err(_) => (Outcome::Permanent, None),
    }
}

/// A 2xx response, or the server's error. The body is read as JSON only if it says it is: proxies answer in HTML.
fn successful(url: &Url, response: Response) -> Result<Response, PostgrestError> {
    if response.is_success() {
        return Ok(response);
    }
    let body: ErrorBody = match response.is_json() {
        true => serde_json::from_slice(&response.body).unwrap_or_default(),
        false => ErrorBody::default(),
    };
    let message = body.message.unwrap_or_else(|| {
        let start: String = String::from_utf8_lossy(&response.body).chars().take(200).collect();
        if start.is_empty() { "no explanation".to_owned() } else { start }
    });
    Err(PostgrestError::Server(Box::new(ServerError {
        url: url.to_string(),
        status: response.status,
        code: body.code,
        message,
        details: body.details,
        hint: body.hint,
        retry_after_seconds: response.retry_after_seconds(),
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_ranges() {
        let range = |rows, total| Some(ContentRange { rows, total });
        for (text, expected) in [
            ("0-24/3573", range(Some((0, 24)), Some(3573))),
            ("0-24/*", range(Some((0, 24)), None)),
            ("*/0", range(None, Some(0))),
            ("*/*", range(None, None)),
            ("24-0/5", None),
            ("0-24", None),
            ("a-b/c", None),
            ("", None),
            ("0-24/-1", None),
        ] {
            assert_eq!(ContentRange::parse(text), expected, "{text}");
        }
    }
}
