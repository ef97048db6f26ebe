//! A received request, taken apart.

use url::form_urlencoded;

use super::answer::ApiError;
use super::table::MediaType;

/// What the API sees of a request.
#[derive(Debug, Clone)]
pub(super) struct ApiRequest {
    /// Upper-case method.
    pub(super) method: String,
    /// Path without the query, decoded segment by segment, empty segments left out.
    pub(super) segments: Vec<String>,
    /// Query parameters in order, decoded.
    pub(super) parameters: Vec<(String, String)>,
    /// Headers with lower-case names.
    pub(super) headers: Vec<(String, String)>,
}

impl ApiRequest {
    pub(super) fn new(method: &str, target: &str, headers: Vec<(String, String)>) -> Self {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        Self {
            method: method.to_owned(),
            segments: path.split('/').filter(|segment| !segment.is_empty()).map(decode_segment).collect(),
            // A name without `=` is no parameter.
            parameters: query
                .split('&')
                .filter(|pair| pair.contains('='))
                .flat_map(|pair| form_urlencoded::parse(pair.as_bytes()).into_owned())
                .collect(),
            headers,
        }
    }

    /// The first header of that (lower-case) name.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(held, _)| held == name).map(|(_, value)| value.as_str())
    }

    /// The count asked for by `Prefer`, if any. A planner's guess isn't modelled: `planned` and `estimated` are exact.
    pub(super) fn preferred_count(&self) -> Option<&str> {
        let preferences =
            self.headers.iter().filter(|(name, _)| name == "prefer").flat_map(|(_, value)| value.split(','));
        preferences
            .filter_map(|preference| preference.trim().strip_prefix("count="))
            .find(|count| ["exact", "planned", "estimated"].contains(count))
    }

    pub(super) fn counts(&self) -> bool {
        self.preferred_count().is_some()
    }

    /// The form the result is asked in.
    pub(super) fn media_type(&self) -> Result<MediaType, ApiError> {
        let accept = self.header("accept").unwrap_or("*/*");
        let ranges: Vec<&str> =
            accept.split(',').map(|range| range.split(';').next().unwrap_or("").trim()).collect();
        ranges
            .iter()
            .find_map(|range| match *range {
                "*/*" | "application/json" | "application/*" => Some(MediaType::Json),
                "application/vnd.pgrst.object+json" => Some(MediaType::SingleObject),
                _ => None,
            })
            .ok_or_else(|| {
                let message = format!("None of these media types are available: {}", ranges.join(", "));
                ApiError::new(406, "PGRST107", message)
            })
    }
}

/// Decodes one path segment, in which `+`, `=` and `&` mean themselves.
fn decode_segment(segment: &str) -> String {
    let escaped = segment.replace('+', "%2B").replace('=', "%3D").replace('&', "%26");
    form_urlencoded::parse(escaped.as_bytes()).next().map(|(key, _)| key.into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plus_is_a_blank_in_the_query_and_itself_in_the_path() {
        let request = ApiRequest::new("GET", "/a%20b//c+d?w=eq.+x%2B1&bare&n=eq.%C3%A9", Vec::new());
        assert_eq!(request.segments, ["a b", "c+d"]);
        assert_eq!(request.parameters, [("w".into(), "eq. x+1".into()), ("n".into(), "eq.é".into())]);
    }

    #[test]
    fn preferences_and_media_types() {
        let with =
            |name: &str, value: &str| ApiRequest::new("GET", "/", vec![(name.to_owned(), value.to_owned())]);
        assert!(with("prefer", "timezone=UTC, count=exact").counts());
        assert!(!with("prefer", "count=none").counts());
        assert_eq!(
            with("accept", "text/html, application/json;q=0.9").media_type().unwrap(),
            MediaType::Json
        );
        assert_eq!(with("accept", "text/csv").media_type().unwrap_err().code, "PGRST107");
    }
}
