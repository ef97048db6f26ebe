//! Endpoints and page requests as addresses and headers.

use url::Url;

use crate::catalog::{PostgrestEndpoint, Relation};

use super::error::PostgrestError;
use super::filter::{Filter, quote_name};

/// Where one relation is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Base address of the API, ending in `/`.
    pub base_url: Url,
    /// PostgreSQL schema to ask for (`Accept-Profile`), if not the server's default.
    pub profile: Option<String>,
    /// Table name below the base address.
    pub table: String,
}

impl Endpoint {
    /// The endpoint of a relation: a dotted name carries its schema, else the endpoint's default applies.
    pub fn new(endpoint: &PostgrestEndpoint, relation: &Relation) -> Result<Self, PostgrestError> {
        let problem = |problem: String| PostgrestError::Address {
            relation: relation.source(),
            base_url: endpoint.base_url.clone(),
            problem,
        };
        let base_url = Url::parse(&endpoint.base_url).map_err(|error| problem(error.to_string()))?;
        if base_url.cannot_be_a_base() || base_url.query().is_some() || base_url.fragment().is_some() {
            return Err(problem("the base must be a plain address without query or fragment".to_owned()));
        }
        let (schema, table) = relation.schema_and_table();
        Ok(Self {
            base_url,
            profile: schema.map(str::to_owned).or_else(|| endpoint.accept_profile.clone()),
            table: table.to_owned(),
        })
    }

    /// The address of the relation with these decoded query parameters.
    pub fn url(&self, parameters: &[(String, String)]) -> Result<Url, PostgrestError> {
        let mut url = self.base_url.clone();
        match url.path_segments_mut() {
            // One segment, percent-encoded: a table name never adds a level or leaves the base.
            Ok(mut segments) => {
                segments.pop_if_empty().push(&self.table);
            }
            Err(()) => {
                return Err(PostgrestError::Address {
                    relation: self.table.clone(),
                    base_url: self.base_url.to_string(),
                    problem: "the base has no path".to_owned(),
                });
            }
        }
        let query: Vec<String> =
            parameters.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
        url.set_query((!query.is_empty()).then(|| query.join("&")).as_deref());
        Ok(url)
    }

    /// The headers every request carries.
    pub(super) fn headers(&self) -> Vec<(&'static str, &str)> {
        let mut headers = vec![("accept", "application/json")];
        if let Some(profile) = &self.profile {
            headers.push(("accept-profile", profile));
        }
        headers
    }
}

/// Bytes the parameters take in an address, separators included.
pub fn encoded_bytes(parameters: &[(String, String)]) -> usize {
    parameters.iter().map(|(name, value)| encode(name).len() + encode(value).len() + 2).sum()
}

/// Percent-encodes a query component. Spaces become `%20`, not `+`: servers disagree about `+`, none about `%20`.
fn encode(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

/// One column of an order, ascending or descending, with PostgreSQL's null placement said aloud.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Column name.
    pub column: String,
    /// Largest first.
    pub descending: bool,
    /// Nulls before all values.
    pub nulls_first: bool,
}

impl Order {
    /// Ascending, nulls last.
    pub fn ascending(column: impl Into<String>) -> Self {
        Self { column: column.into(), descending: false, nulls_first: false }
    }
}

/// One page of a relation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageRequest {
    /// Columns, in the order rows shall hold them. Never empty: the server would send all it has.
    pub columns: Vec<String>,
    /// Conditions, all of which must hold.
    pub filters: Vec<Filter>,
    /// The order; total, or pages overlap.
    pub order: Vec<Order>,
    /// Most rows; the server may send fewer at its own cap.
    pub limit: Option<u64>,
    /// Rows to pass over.
    pub offset: Option<u64>,
    /// Ask for the exact count of all rows the filters let through.
    pub count: bool,
    /// Arguments of a function, sent as they are.
    pub arguments: Vec<(String, String)>,
}

impl PageRequest {
    /// The decoded query parameters.
    pub fn parameters(&self) -> Result<Vec<(String, String)>, PostgrestError> {
        let mut parameters = self.arguments.clone();
        if !self.columns.is_empty() {
            let names: Vec<String> = self.columns.iter().map(|column| quote_name(column)).collect();
            parameters.push(("select".to_owned(), names.join(",")));
        }
        for filter in &self.filters {
            parameters.extend(filter.parameters()?);
        }
        if !self.order.is_empty() {
            let terms: Vec<String> = self
                .order
                .iter()
                .map(|term| {
                    let direction = if term.descending { "desc" } else { "asc" };
                    let nulls = if term.nulls_first { "nullsfirst" } else { "nullslast" };
                    format!("{}.{direction}.{nulls}", quote_name(&term.column))
                })
                .collect();
            parameters.push(("order".to_owned(), terms.join(",")));
        }
        if let Some(limit) = self.limit {
            parameters.push(("limit".to_owned(), limit.to_string()));
        }
        if let Some(offset) = self.offset.filter(|offset| *offset > 0) {
            parameters.push(("offset".to_owned(), offset.to_string()));
        }
        Ok(parameters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgrest::Operator;

    fn relation(name: &str) -> Relation {
        Relation {
            dataset: "d".to_owned(),
            name: name.to_owned(),
            relation_type: "table".to_owned(),
            provenance: None,
            queryable: true,
            description: None,
            primary_key: Vec::new(),
            row_count_estimate: None,
            columns: Vec::new(),
        }
    }

    fn endpoint(name: &str, profile: Option<&str>) -> Endpoint {
        let endpoint = PostgrestEndpoint {
            base_url: "https://api.example/rest/".to_owned(),
            accept_profile: profile.map(str::to_owned),
            max_rows: None,
        };
        Endpoint::new(&endpoint, &relation(name)).unwrap()
    }

    #[test]
    fn dotted_names_carry_their_schema() {
        let dotted = endpoint("vpic.make", Some("public"));
        assert_eq!((dotted.profile.as_deref(), dotted.table.as_str()), (Some("vpic"), "make"));
        let plain = endpoint("make", Some("public"));
        assert_eq!((plain.profile.as_deref(), plain.table.as_str()), (Some("public"), "make"));
        assert_eq!(plain.url(&[]).unwrap().as_str(), "https://api.example/rest/make");
        assert_eq!(endpoint("a/b?c", None).url(&[]).unwrap().as_str(), "https://api.example/rest/a%2Fb%3Fc");
    }

    #[test]
    fn a_page_request_is_written_unambiguously() {
        let request = PageRequest {
            columns: vec!["id".to_owned(), "x.y".to_owned()],
            filters: vec![Filter::compare("seen", Operator::Gt, "2020-01-01T00:00:00+00:00 a&b")],
            order: vec![Order::ascending("id")],
            limit: Some(500),
            offset: Some(0),
            count: false,
            arguments: Vec::new(),
        };
        let url = endpoint("t", None).url(&request.parameters().unwrap()).unwrap();
        assert_eq!(
            url.query().unwrap(),
            "select=id%2C%22x.y%22&seen=gt.2020-01-01T00%3A00%3A00%2B00%3A00%20a%26b&order=id.asc.nullslast&limit=500"
        );
    }
}
