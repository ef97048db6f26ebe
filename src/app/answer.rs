//! Queries and joins: check, route, run, stamp.

use std::time::Instant;

use serde_json::{Map, Value, json};

use super::error::AppError;
use super::mirror::{Mirror, Serving, manifest_hashes};
use super::route::Route;
use crate::engine::{
    Answer, CheckedJoin, CheckedQuery, JoinArguments, JoinSource, QueryArguments, check_join, check_query,
    explain_join, explain_query, read_arguments, run_join, run_query,
};

/// What became of a question that wasn't refused.
pub(super) enum Outcome {
    /// What would happen.
    Explained(Value),
    /// The answer and its provenance.
    Answered(Box<Answer>, Value),
}

impl Mirror {
    /// `benthic_query` with its arguments as a caller sent them.
    pub async fn query(&self, arguments: Map<String, Value>) -> Result<Value, AppError> {
        let arguments: QueryArguments = read_arguments(arguments)?;
        self.finished(self.run_query(&arguments).await?)
    }

    /// `benthic_join` with its arguments as a caller sent them.
    pub async fn join(&self, arguments: Map<String, Value>) -> Result<Value, AppError> {
        let arguments: JoinArguments = read_arguments(arguments)?;
        self.finished(self.run_join(&arguments).await?)
    }

    /// The tool result of an outcome.
    pub(super) fn finished(&self, outcome: Outcome) -> Result<Value, AppError> {
        match outcome {
            Outcome::Explained(value) => Ok(value),
            Outcome::Answered(answer, served) => {
                Ok(answer.into_json(served, self.runtime.limits().max_response_bytes)?)
            }
        }
    }

    pub(super) async fn run_query(&self, arguments: &QueryArguments) -> Result<Outcome, AppError> {
        let started = Instant::now();
        let _permit = self.admit().await?;
        let serving = self.serving()?;
        let catalog = &serving.snapshot.catalog;
        let query = check_query(catalog, arguments, self.runtime.limits())?;
        let manifest_hash =
            manifest_hashes(catalog).get(query.relation.dataset.as_str()).copied().unwrap_or("");
        if self.route(&serving, query.relation) == Route::Live {
            return self.query_live(&serving, &query, arguments.explain, manifest_hash, started).await;
        }
        let held = self.held(&serving, query.relation)?;
        if arguments.explain {
            let explained = explain_query(&query, &held.data, &self.runtime, self.options.run).await?;
            let provenance = self.provenance(&serving, &held, manifest_hash, started);
            return Ok(Outcome::Explained(json!({"explain": explained, "served": provenance.value})));
        }
        let mut answer =
            run_query(&query, &held.data, manifest_hash, &self.runtime, self.options.run).await?;
        let provenance = self.provenance(&serving, &held, manifest_hash, started);
        warn(&mut answer, query.relation.source(), provenance.warning);
        Ok(Outcome::Answered(Box::new(answer), provenance.value))
    }

    pub(super) async fn run_join(&self, arguments: &JoinArguments) -> Result<Outcome, AppError> {
        let started = Instant::now();
        let _permit = self.admit().await?;
        let serving = self.serving()?;
        let catalog = &serving.snapshot.catalog;
        let join = check_join(catalog, arguments, self.runtime.limits())?;
        let hashes = manifest_hashes(catalog);
        let hash_of = |dataset: &str| hashes.get(dataset).copied().unwrap_or("");
        let (left_hash, right_hash) =
            (hash_of(&join.left.relation.dataset), hash_of(&join.right.relation.dataset));
        // Both sides come from one snapshot, or both live, never mixed.
        let routes = [join.left.relation, join.right.relation].map(|relation| self.route(&serving, relation));
        if routes.contains(&Route::Live) {
            return self
                .join_live(&serving, &join, arguments.explain, [left_hash, right_hash], started)
                .await;
        }
        let left = self.held(&serving, join.left.relation)?;
        let right = self.held(&serving, join.right.relation)?;
        if arguments.explain {
            let explained =
                explain_join(&join, &left.data, &right.data, &self.runtime, self.options.run).await?;
            let provenance = self.provenance(&serving, &left, left_hash, started);
            return Ok(Outcome::Explained(json!({"explain": explained, "served": provenance.value})));
        }
        let left_served = self.provenance(&serving, &left, left_hash, started);
        let right_served = self.provenance(&serving, &right, right_hash, started);
        let mut answer = run_join(
            &join,
            JoinSource { data: &left.data, manifest_hash: left_hash, served: left_served.value.clone() },
            JoinSource { data: &right.data, manifest_hash: right_hash, served: right_served.value },
            &self.runtime,
            self.options.run,
        )
        .await?;
        warn(&mut answer, join.left.relation.source(), left_served.warning);
        warn(&mut answer, join.right.relation.source(), right_served.warning);
        let mut served = self.provenance(&serving, &left, left_hash, started).value;
        if let Some(object) = served.as_object_mut() {
            // What concerns one side only stands in `sources`.
            for name in ["capture", "captured_at", "age_seconds", "manifest_hash", "scope", "verified"] {
                object.remove(name);
            }
        }
        Ok(Outcome::Answered(Box::new(answer), served))
    }
}

impl Mirror {
    async fn query_live(
        &self,
        serving: &Serving,
        query: &CheckedQuery<'_>,
        explain: bool,
        manifest_hash: &str,
        started: Instant,
    ) -> Result<Outcome, AppError> {
        let (reader, context) = self.live(serving)?;
        if explain {
            let explained = reader.explain_query(context, query).await?;
            let served = self.live_provenance(manifest_hash, started);
            return Ok(Outcome::Explained(json!({"explain": explained, "served": served})));
        }
        let answer = reader.query(context, query, manifest_hash).await?;
        let served = self.live_provenance(manifest_hash, started);
        Ok(Outcome::Answered(Box::new(answer), served))
    }

    async fn join_live(
        &self,
        serving: &Serving,
        join: &CheckedJoin<'_>,
        explain: bool,
        [left_hash, right_hash]: [&str; 2],
        started: Instant,
    ) -> Result<Outcome, AppError> {
        let (reader, context) = self.live(serving)?;
        // What concerns one side only stands in `sources`.
        let common = |started| {
            let mut served = self.live_provenance("", started);
            served.as_object_mut().and_then(|object| object.remove("manifest_hash"));
            served
        };
        if explain {
            let explained = reader.explain_join(context, join).await?;
            return Ok(Outcome::Explained(json!({"explain": explained, "served": common(started)})));
        }
        let side = |hash| (hash, self.live_provenance(hash, started));
        let answer = reader.join(context, join, [side(left_hash), side(right_hash)]).await?;
        Ok(Outcome::Answered(Box::new(answer), common(started)))
    }
}

fn warn(answer: &mut Answer, source: String, warning: Option<String>) {
    answer.warnings.extend(warning.map(|warning| (Some(source), warning)));
}
