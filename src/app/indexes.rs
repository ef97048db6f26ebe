//! Builds the spatial indexes of a capture when it is pulled, as `sync::IndexBuilder` asks for them.

use std::io::Write;

use async_trait::async_trait;

use super::mirror::relation_data;
use super::shelf::{CONGRESS_COLUMN, DISTRICTS_KIND, NONPROFITS_KIND, built_from, congress_kind};
use super::spatial_rows::{distinct_integers, district_rows, nonprofit_rows};
use crate::catalog::Relation;
use crate::config::Config;
use crate::engine::{EngineRuntime, read_columns, read_columns_of};
use crate::spatial::districts::{CongressMap, DISTRICT_COLUMNS, DISTRICTS_SOURCE, congresses_to_bytes};
use crate::spatial::nonprofits::{NONPROFIT_COLUMNS, NONPROFITS_SOURCE, Nonprofits};
use crate::store::{Capture, IndexEntry, StoreWriter};
use crate::sync::{IndexBuildError, IndexBuilder};

/// The builder of spatial indexes. One congress is in memory at a time; the nonprofits are all at once.
#[derive(Debug)]
pub struct SpatialIndexes {
    runtime: EngineRuntime,
}

impl SpatialIndexes {
    /// A builder that reads captures under the configuration's limits.
    pub fn new(config: &Config) -> Result<Self, IndexBuildError> {
        EngineRuntime::new(config.limits.clone(), config.concurrency)
            .map(|runtime| Self { runtime })
            .map_err(problem)
    }

    async fn districts(
        &self,
        capture: &Capture,
        writer: &StoreWriter,
    ) -> Result<Vec<IndexEntry>, IndexBuildError> {
        let (data, from) = (relation_data(writer.store(), capture), built_from(capture));
        let numbers = read_columns(&data, &[CONGRESS_COLUMN], &self.runtime).await.map_err(problem)?;
        let congresses = distinct_integers(&numbers);
        let list = congresses_to_bytes(&congresses, from);
        let mut entries = vec![store(writer, DISTRICTS_KIND.to_owned(), &list)?];
        for congress in congresses {
            let value = (CONGRESS_COLUMN, congress);
            let batches =
                read_columns_of(&data, &DISTRICT_COLUMNS, value, &self.runtime).await.map_err(problem)?;
            let map =
                CongressMap::build(batches.iter().flat_map(district_rows).collect()).map_err(problem)?;
            let bytes = map.to_bytes(congress, from).map_err(problem)?;
            entries.push(store(writer, congress_kind(congress), &bytes)?);
        }
        Ok(entries)
    }

    async fn nonprofits(
        &self,
        capture: &Capture,
        writer: &StoreWriter,
    ) -> Result<Vec<IndexEntry>, IndexBuildError> {
        let data = relation_data(writer.store(), capture);
        let batches = read_columns(&data, &NONPROFIT_COLUMNS, &self.runtime).await.map_err(problem)?;
        let index = Nonprofits::build(batches.iter().flat_map(nonprofit_rows)).map_err(problem)?;
        drop(batches);
        Ok(vec![store(writer, NONPROFITS_KIND.to_owned(), &index.to_bytes(built_from(capture)))?])
    }
}

#[async_trait]
impl IndexBuilder for SpatialIndexes {
    async fn build(
        &self,
        relation: &Relation,
        capture: &Capture,
        writer: &StoreWriter,
    ) -> Result<Vec<IndexEntry>, IndexBuildError> {
        let wanted: &[&str] = match relation.source().as_str() {
            DISTRICTS_SOURCE => &DISTRICT_COLUMNS,
            NONPROFITS_SOURCE => &NONPROFIT_COLUMNS,
            _ => return Ok(Vec::new()),
        };
        // A catalogue that grants fewer columns has no spatial operations either.
        let held = |name: &&str| capture.columns.iter().any(|column| column.name == **name);
        if !wanted.iter().all(held) {
            return Ok(Vec::new());
        }
        match relation.source().as_str() {
            DISTRICTS_SOURCE => self.districts(capture, writer).await,
            _ => self.nonprofits(capture, writer).await,
        }
    }
}

fn store(writer: &StoreWriter, kind: String, bytes: &[u8]) -> Result<IndexEntry, IndexBuildError> {
    let mut object = writer.object_writer().map_err(problem)?;
    object.write_all(bytes).map_err(problem)?;
    let object = object.finish().map_err(problem)?;
    Ok(IndexEntry { kind, sha256: object.sha256, bytes: object.bytes })
}

fn problem(error: impl std::fmt::Display) -> IndexBuildError {
    IndexBuildError { problem: error.to_string() }
}
