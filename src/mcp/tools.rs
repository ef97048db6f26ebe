//! What is offered: names, descriptions, schemas, annotations, in a fixed order.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value};

use super::schema::{count, flag, input_schema, object, objects, output_schema, texts};
use crate::app::{DiscoverArguments, RpcArguments};
use crate::engine::{JoinArguments, QueryArguments};

/// The tools, by what they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolKind {
    /// `benthic_discover`
    Discover,
    /// `benthic_query`
    Query,
    /// `benthic_join`
    Join,
    /// `benthic_rpc`
    Rpc,
}

/// What clients that read instructions are told before anything else.
pub(super) const INSTRUCTIONS: &str = "\
Answers questions from a verified local mirror of signed federal open data. \
1. Call benthic_discover first and pass the `source` it returns verbatim. \
2. Join only along signed paths with benthic_join; a partial path needs context_conditions and its result is provisional; a heuristic match is not an entity match. \
3. Never add up truncated rows: ask for the aggregate with metrics. \
4. Dates are ISO (YYYY-MM-DD). A relation of current rows can't answer a historical question. \
5. A refusal is an answer: follow its next_step, or, when terminal, say that the signed data can't answer. \
6. Once you hold the rows, stop and answer, naming source and captured_at.";

impl ToolKind {
    /// All tools in the order they are listed.
    pub(super) const ALL: [Self; 4] = [Self::Discover, Self::Query, Self::Join, Self::Rpc];

    /// The tool of that name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// The name clients call.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Discover => "benthic_discover",
            Self::Query => "benthic_query",
            Self::Join => "benthic_join",
            Self::Rpc => "benthic_rpc",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Discover => "Find signed relations",
            Self::Query => "Query one relation",
            Self::Join => "Join along a signed path",
            Self::Rpc => "Spatial lookup",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::Discover => {
                "Find the signed relations that can answer a question: their columns, keys and join paths. Call this first; pass the returned `source` verbatim to the other tools."
            }
            Self::Query => {
                "Read rows of one relation, or compute count, sum, avg, min, max over it, with filters, groups, having and order. Numbers are exact; totals are complete or refused."
            }
            Self::Join => {
                "Join two relations along a signed path. Leave the columns out to use the only reliable path; partial paths need context_conditions such as state=state."
            }
            Self::Rpc => {
                "Spatial lookups: find_district (which congressional district contains a point), districts_in_bbox (districts whose bounding boxes overlap a box), nonprofits_nearby (nonprofits within a radius)."
            }
        }
    }

    fn input(self) -> Map<String, Value> {
        match self {
            Self::Discover => input_schema::<DiscoverArguments>(&[]),
            Self::Query => input_schema::<QueryArguments>(&["question", "source"]),
            Self::Join => input_schema::<JoinArguments>(&["question", "left_source", "right_source"]),
            Self::Rpc => input_schema::<RpcArguments>(&["operation"]),
        }
    }

    fn output(self) -> Map<String, Value> {
        let answer = || {
            vec![
                ("columns", texts("Output columns in order")),
                ("rows", objects("Rows, each by output column; numbers a double would change are strings")),
                ("row_count", count("Rows returned, or represented by one row of a fan-out")),
                ("source_complete", flag("Whether every source row the answer needed was read")),
                ("truncated", flag("Whether rows were left out")),
                ("next_offset", count("Offset of the next page")),
                ("sources", objects("Relations read, with matched rows and provenance")),
                ("joins", objects("Joins made")),
                ("warnings", objects("What must be said with the answer")),
                ("served", object("Where the rows come from and how old they are")),
            ]
        };
        match self {
            Self::Discover => output_schema(&[
                ("query", serde_json::json!({"type": "string"})),
                ("relations", objects("Relations, best first")),
                ("join_paths", objects("Signed join paths of these relations")),
                ("total_matches", count("Relations that match")),
                ("more_available", flag("Whether more match than are shown")),
                ("warnings", texts("What must be said with the answer")),
            ]),
            Self::Query | Self::Join => output_schema(&answer()),
            Self::Rpc => output_schema(&[
                ("rows", objects("Rows of the operation")),
                ("row_count", count("Rows returned")),
                ("truncated", flag("Whether rows were left out")),
                ("total", count("Rows in all")),
                ("metadata", object("Operation, dataset, function")),
                ("warnings", objects("What must be said with the answer")),
                ("served", object("Where the rows come from and how old they are")),
            ]),
        }
    }

    /// The tool as listed. `open_world` says whether answers may come from the network.
    pub(super) fn definition(self, open_world: bool) -> Tool {
        let annotations = ToolAnnotations::with_title(self.title())
            .read_only(true)
            .destructive(false)
            .idempotent(true)
            .open_world(open_world);
        Tool::new(self.name(), self.description(), Arc::new(self.input()))
            .with_title(self.title())
            .with_raw_output_schema(Arc::new(self.output()))
            .with_annotations(annotations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_flat_described_and_closed() {
        for tool in ToolKind::ALL {
            let schema = Value::Object(tool.input());
            let text = schema.to_string();
            for word in ["$ref", "$defs", "\"format\"", "anyOf", "oneOf", "\"null\""] {
                assert!(!text.contains(word), "{}: {word} in {text}", tool.name());
            }
            assert_eq!(schema["additionalProperties"], false);
            let properties = schema["properties"].as_object().expect("properties");
            for (name, property) in properties {
                assert!(property["description"].is_string(), "{}.{name} has no description", tool.name());
                assert!(property["type"].is_string(), "{}.{name} has no type: {property}", tool.name());
            }
            for required in schema["required"].as_array().expect("required") {
                assert!(properties.contains_key(required.as_str().expect("text")));
            }
        }
    }
}
