//! The provenance stamped on every answer.

use std::time::Instant;

use chrono::SecondsFormat;
use serde_json::{Value, json};

use super::mirror::{Held, Mirror, Serving};
use super::route::{Freshness, Route, freshness, route};
use crate::catalog::Relation;
use crate::config::ScanPolicy;

/// Where one relation's rows come from and how old they are.
pub(super) struct Provenance {
    /// The `served` member.
    pub(super) value: Value,
    /// A warning in words, if the rows are stale.
    pub(super) warning: Option<String>,
}

impl Mirror {
    /// Where a relation's rows are read.
    pub(super) fn route(&self, serving: &Serving, relation: &Relation) -> Route {
        let entry = serving.snapshot.document.relation(&relation.dataset, &relation.name);
        let freshness = match entry.and_then(|entry| entry.capture()) {
            Some(capture) => {
                let age = self.clock.now().signed_duration_since(capture.captured_at.end);
                freshness(age.num_seconds(), self.options.max_age_seconds)
            }
            None => Freshness::Absent,
        };
        route(self.mode, freshness)
    }

    /// The provenance of rows read live. The size rules are always those of `parity` there.
    pub(super) fn live_provenance(&self, manifest_hash: &str, started: Instant) -> Value {
        json!({
            "mode": "live",
            "reason": Route::Live.reason(),
            "policy": ScanPolicy::Parity.as_str(),
            "stale": false,
            "manifest_hash": manifest_hash,
            "elapsed_ms": u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        })
    }

    /// The provenance of one relation's rows.
    pub(super) fn provenance(
        &self,
        serving: &Serving,
        held: &Held<'_>,
        manifest_hash: &str,
        started: Instant,
    ) -> Provenance {
        let captured_at = held.capture.captured_at.end;
        let age_seconds = self.clock.now().signed_duration_since(captured_at).num_seconds();
        let route = route(self.mode, freshness(age_seconds, self.options.max_age_seconds));
        let value = json!({
            "mode": "local",
            "reason": route.reason(),
            "policy": self.options.run.policy.as_str(),
            "snapshot_id": serving.snapshot.id.to_string(),
            "content_id": serving.snapshot.document.content_id.to_string(),
            "capture": held.capture.evidence.as_str(),
            "verified": if held.hashed { "hashed" } else { "size" },
            "captured_at": captured_at.to_rfc3339_opts(SecondsFormat::Secs, true),
            "age_seconds": age_seconds,
            "stale": route.is_stale(),
            "manifest_hash": manifest_hash,
            "scope": "full",
            "elapsed_ms": u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        });
        let warning = route.is_stale().then(|| match age_seconds {
            ..0 => {
                "the capture's time lies in the future of this host's clock, so its age is unknown".to_owned()
            }
            age => format!(
                "the capture is {} days old, beyond the configured {} days; upstream may have changed since",
                age / 86_400,
                self.options.max_age_seconds / 86_400
            ),
        });
        Provenance { value, warning }
    }
}
