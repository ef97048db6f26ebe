//! The spatial indexes of the snapshot being served: opened from its objects, or built from its rows where there are
//! none or they can't be used.
//!
//! Whatever is wrong with a stored index (missing, damaged, built from other rows, another version's) it is only a copy
//! of what the rows say: the index is built from the rows instead, and the answer says so.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::error::AppError;
use super::mirror::{Held, Mirror, Serving};
use super::spatial_rows::{distinct_integers, district_rows, nonprofit_rows};
use crate::catalog::Relation;
use crate::engine::{read_columns, read_columns_of};
use crate::spatial::MapView;
use crate::spatial::districts::{CongressMap, DISTRICT_COLUMNS, congresses_from_bytes};
use crate::spatial::index_file::BuiltFrom;
use crate::spatial::nonprofits::{NONPROFIT_COLUMNS, Nonprofits};
use crate::store::{Capture, ObjectCheck, ObjectRef, Store};

/// Kind of the object that lists the congresses.
pub(super) const DISTRICTS_KIND: &str = "districts";
/// Kind of the object with the nonprofits.
pub(super) const NONPROFITS_KIND: &str = "nonprofits";
/// Column the districts are divided by.
pub(super) const CONGRESS_COLUMN: &str = "congress_number";

/// Maps are kept in memory up to this many bytes together; beyond it the one unused for longest goes first. A congress
/// takes about ten megabytes, so a mirror that is asked about a few of them keeps them all.
const RESIDENT_BYTES: usize = 640 * 1024 * 1024;

/// Kind of the object with the districts of one congress.
pub(super) fn congress_kind(number: i64) -> String {
    format!("{DISTRICTS_KIND}/{number}")
}

/// What an index over a capture has to be built from.
pub(super) fn built_from(capture: &Capture) -> BuiltFrom {
    BuiltFrom { row_digest: *capture.row_digest.as_bytes(), rows: capture.rows }
}

/// The congresses there are, and the maps that have been asked for.
pub(super) struct DistrictShelf {
    congresses: Vec<i64>,
    /// The stored map of each congress.
    stored: HashMap<i64, ObjectRef>,
    hashed: bool,
    /// Why the list of congresses was read from the rows, if it should have been stored.
    notice: Option<String>,
    /// Last used last.
    maps: Mutex<Vec<(i64, Shelved)>>,
    /// Held while a map is made, so that two questions don't make it twice.
    making: tokio::sync::Mutex<()>,
}

/// A map and where it comes from.
#[derive(Clone)]
pub(super) struct Shelved {
    /// `None` if there is no such congress.
    pub(super) map: Option<Arc<CongressMap>>,
    /// Whether everything it was made from was hashed in this process.
    pub(super) hashed: bool,
    /// What an answer must say about it.
    pub(super) notice: Option<String>,
}

impl Shelved {
    /// What a question is answered from.
    pub(super) fn view<'a>(&'a self, shelf: &'a DistrictShelf) -> MapView<'a> {
        MapView { map: self.map.as_deref(), congresses: &shelf.congresses }
    }
}

/// The nonprofits and where they come from.
pub(super) struct ShelvedNonprofits {
    pub(super) index: Nonprofits,
    pub(super) hashed: bool,
    pub(super) notice: Option<String>,
}

impl DistrictShelf {
    /// The congresses there are, ascending.
    pub(super) fn congresses(&self) -> &[i64] {
        &self.congresses
    }

    fn find(&self, number: i64) -> Option<Shelved> {
        let mut maps = self.maps.lock().unwrap_or_else(PoisonError::into_inner);
        let at = maps.iter().rposition(|(found, _)| *found == number)?;
        if at + 1 < maps.len() {
            let used = maps.remove(at);
            maps.push(used);
        }
        maps.last().map(|(_, shelved)| shelved.clone())
    }

    fn put(&self, number: i64, shelved: Shelved) {
        let size = |shelved: &Shelved| shelved.map.as_ref().map_or(0, |map| map.size());
        let mut maps = self.maps.lock().unwrap_or_else(PoisonError::into_inner);
        maps.push((number, shelved));
        let mut total: usize = maps.iter().map(|(_, shelved)| size(shelved)).sum();
        // The newest stays, however large.
        while total > RESIDENT_BYTES && maps.len() > 1 {
            let (_, gone) = maps.remove(0);
            total -= size(&gone);
        }
    }
}

impl Mirror {
    /// The shelf of districts of a snapshot.
    pub(super) async fn districts<'s>(
        &self,
        serving: &'s Serving,
        relation: &Relation,
    ) -> Result<&'s DistrictShelf, AppError> {
        serving.districts.get_or_try_init(|| self.make_shelf(serving, relation)).await
    }

    async fn make_shelf(&self, serving: &Serving, relation: &Relation) -> Result<DistrictShelf, AppError> {
        let held = self.unchecked(serving, relation)?;
        let from = built_from(held.capture);
        let entry = |kind: &str| held.capture.indexes.iter().find(|entry| entry.kind == kind);
        let mut notice = None;
        if let Some(list) = entry(DISTRICTS_KIND) {
            let opened = read(&self.store, list.object()).await.and_then(|(bytes, check)| {
                let congresses = congresses_from_bytes(bytes, from).map_err(|error| error.to_string())?;
                let stored = congresses
                    .iter()
                    .filter_map(|number| Some((*number, entry(&congress_kind(*number))?.object())))
                    .collect();
                Ok((congresses, stored, check == ObjectCheck::Hashed))
            });
            match opened {
                Ok((congresses, stored, hashed)) => {
                    return Ok(DistrictShelf::new(congresses, stored, hashed, None));
                }
                Err(reason) => notice = Some(rebuilt_notice("the list of congresses", &reason)),
            }
        }
        let held = self.held(serving, relation)?;
        let batches = read_columns(&held.data, &[CONGRESS_COLUMN], &self.runtime).await?;
        Ok(DistrictShelf::new(distinct_integers(&batches), HashMap::new(), held.hashed, notice))
    }

    /// The map of a congress, made by the first question about it.
    pub(super) async fn congress(
        &self,
        serving: &Serving,
        relation: &Relation,
        shelf: &DistrictShelf,
        number: i64,
    ) -> Result<Shelved, AppError> {
        if let Some(found) = shelf.find(number) {
            return Ok(found);
        }
        if shelf.congresses.binary_search(&number).is_err() {
            return Ok(Shelved { map: None, hashed: shelf.hashed, notice: shelf.notice.clone() });
        }
        let _making = shelf.making.lock().await;
        if let Some(found) = shelf.find(number) {
            return Ok(found);
        }
        let held = self.unchecked(serving, relation)?;
        let made = self.make_map(serving, relation, &held, shelf, number).await?;
        shelf.put(number, made.clone());
        Ok(made)
    }

    async fn make_map(
        &self,
        serving: &Serving,
        relation: &Relation,
        held: &Held<'_>,
        shelf: &DistrictShelf,
        number: i64,
    ) -> Result<Shelved, AppError> {
        let from = built_from(held.capture);
        let mut notice = shelf.notice.clone();
        if !shelf.stored.is_empty() {
            let opened = match shelf.stored.get(&number) {
                Some(object) => read(&self.store, *object).await.and_then(|(bytes, check)| {
                    let map =
                        CongressMap::from_bytes(bytes, number, from).map_err(|error| error.to_string())?;
                    Ok((map, check == ObjectCheck::Hashed))
                }),
                None => Err("the snapshot lists none".to_owned()),
            };
            match opened {
                Ok((map, hashed)) => {
                    let hashed = hashed && shelf.hashed;
                    return Ok(Shelved { map: Some(Arc::new(map)), hashed, notice });
                }
                Err(reason) => {
                    notice = Some(rebuilt_notice(&format!("the map of congress {number}"), &reason));
                }
            }
        }
        let hashed = self.held(serving, relation)?.hashed;
        let map = self.map_from_rows(held, number).await?;
        Ok(Shelved { map: Some(Arc::new(map)), hashed, notice })
    }

    async fn map_from_rows(&self, held: &Held<'_>, number: i64) -> Result<CongressMap, AppError> {
        let value = (CONGRESS_COLUMN, number);
        let batches = read_columns_of(&held.data, &DISTRICT_COLUMNS, value, &self.runtime).await?;
        let rows = batches.iter().flat_map(district_rows).collect();
        CongressMap::build(rows).map_err(|error| AppError::Internal { detail: error.to_string() })
    }

    /// The nonprofits of a snapshot by place.
    pub(super) async fn nonprofits<'s>(
        &self,
        serving: &'s Serving,
        relation: &Relation,
    ) -> Result<&'s ShelvedNonprofits, AppError> {
        serving.nonprofits.get_or_try_init(|| self.make_nonprofits(serving, relation)).await
    }

    async fn make_nonprofits(
        &self,
        serving: &Serving,
        relation: &Relation,
    ) -> Result<ShelvedNonprofits, AppError> {
        let held = self.unchecked(serving, relation)?;
        let from = built_from(held.capture);
        let mut notice = None;
        if let Some(entry) = held.capture.indexes.iter().find(|entry| entry.kind == NONPROFITS_KIND) {
            let opened = read(&self.store, entry.object()).await.and_then(|(bytes, check)| {
                let index = Nonprofits::from_bytes(bytes, from).map_err(|error| error.to_string())?;
                Ok((index, check == ObjectCheck::Hashed))
            });
            match opened {
                Ok((index, hashed)) => return Ok(ShelvedNonprofits { index, hashed, notice }),
                Err(reason) => notice = Some(rebuilt_notice("the index of nonprofits", &reason)),
            }
        }
        let held = self.held(serving, relation)?;
        let batches = read_columns(&held.data, &NONPROFIT_COLUMNS, &self.runtime).await?;
        let index = Nonprofits::build(batches.iter().flat_map(nonprofit_rows))
            .map_err(|error| AppError::Internal { detail: error.to_string() })?;
        Ok(ShelvedNonprofits { index, hashed: held.hashed, notice })
    }
}

impl DistrictShelf {
    fn new(
        congresses: Vec<i64>,
        stored: HashMap<i64, ObjectRef>,
        hashed: bool,
        notice: Option<String>,
    ) -> Self {
        Self {
            congresses,
            stored,
            hashed,
            notice,
            maps: Mutex::default(),
            making: tokio::sync::Mutex::default(),
        }
    }
}

/// Reads an object where blocking is allowed.
async fn read(store: &Store, object: ObjectRef) -> Result<(Vec<u8>, ObjectCheck), String> {
    let store = store.clone();
    match tokio::task::spawn_blocking(move || store.read_for_use(&object)).await {
        Ok(read) => read.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

fn rebuilt_notice(what: &str, reason: &str) -> String {
    format!(
        "The stored copy of {what} can't be used ({reason}); this answer was computed from the rows themselves. Run \
         `benthic-mirror sync` to store it again."
    )
}
