//! A join answered live: each side read after its own filters and those propagated to it, then joined here.

use serde_json::{Value, json};

use super::fetch::{Passing, RelationReader};
use super::{LiveContext, LiveReader, within_deadline};
use crate::app::error::AppError;
use crate::config::{Limits, ScanPolicy};
use crate::engine::live::{LiveFilters, SideRead, admit_side, live_filters, live_sides};
use crate::engine::{Answer, CheckedJoin, JoinSource, Refusal, RunOptions, run_join};

/// One side, counted.
struct Counted<'a> {
    read: SideRead<'a>,
    reader: RelationReader<'a>,
    filters: LiveFilters,
    passing: Passing,
}

impl LiveReader {
    /// Answers a checked join. Each side comes with the hash of its manifest and its provenance.
    pub async fn join(
        &self,
        context: LiveContext<'_>,
        join: &CheckedJoin<'_>,
        [left, right]: [(&str, Value); 2],
    ) -> Result<Answer, AppError> {
        within_deadline(context, async {
            let sides = self.counted(context, join).await?;
            admit(&sides, context.runtime.limits())?;
            let [left_rows, right_rows] = &sides;
            let (left_data, right_data) = (read(left_rows).await?, read(right_rows).await?);
            let options = RunOptions { policy: ScanPolicy::Parity, ..context.options };
            let answer = run_join(
                join,
                JoinSource { data: &left_data, manifest_hash: left.0, served: left.1 },
                JoinSource { data: &right_data, manifest_hash: right.0, served: right.1 },
                context.runtime,
                options,
            );
            Ok(answer.await?)
        })
        .await
    }

    /// What would happen: the counts, the refusal if any; no rows. How many rows the join has isn't known without them.
    pub async fn explain_join(
        &self,
        context: LiveContext<'_>,
        join: &CheckedJoin<'_>,
    ) -> Result<Value, AppError> {
        within_deadline(context, async {
            let sides = self.counted(context, join).await?;
            let refusal = admit(&sides, context.runtime.limits()).err();
            let described = |side: &Counted<'_>| {
                json!({"source": side.read.relation.source(), "candidate_rows": side.passing.total()})
            };
            let [left, right] = &sides;
            Ok(json!({
                "left": described(left),
                "right": described(right),
                "path": join.path,
                "joined_rows": null,
                "refusal": refusal.map_or(Value::Null, |refusal| refusal.to_json()),
            }))
        })
        .await
    }

    async fn counted<'a>(
        &'a self,
        context: LiveContext<'a>,
        join: &'a CheckedJoin<'_>,
    ) -> Result<[Counted<'a>; 2], Refusal> {
        let [left, right] = live_sides(join);
        Ok([self.count_side(context, left).await?, self.count_side(context, right).await?])
    }

    async fn count_side<'a>(
        &'a self,
        context: LiveContext<'a>,
        read: SideRead<'a>,
    ) -> Result<Counted<'a>, Refusal> {
        let reader = self.relation(context, read.relation)?;
        let filters = live_filters(read.relation, read.predicates, reader.filter_budget());
        reader.require_finite(&filters).await?;
        let passing = reader.count(&filters, None).await?;
        Ok(Counted { read, reader, filters, passing })
    }
}

fn admit(sides: &[Counted<'_>], limits: &Limits) -> Result<(), Refusal> {
    sides.iter().try_for_each(|side| admit_side(&side.read, &side.filters, side.passing.total(), limits))
}

async fn read(side: &Counted<'_>) -> Result<crate::engine::RelationData, Refusal> {
    side.reader.whole(&side.filters, &side.passing, &side.read.columns, true).await
}
