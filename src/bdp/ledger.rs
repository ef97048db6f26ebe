//! Rollback defence: is a collection newer than what was accepted before?
//!
//! Documents carry no sequence number. `signed_at` is outside the hash, and publishers re-sign without changing
//! `created_at`, so neither orders revisions. What is certain is this mirror's own history: every collection it ever
//! accepted, in order. The store keeps it as `ledger/collections.jsonl`, one [`LedgerLine`] per acceptance, appended
//! and never rewritten. An acceptance replaces whatever the collection was at before, so what replaced what follows
//! from the sequence of the lines. Storage is the store's; this module only decides.

use std::cmp::Ordering;

use chrono::DateTime;
use serde::{Deserialize, Serialize};

use super::error::{RollbackReason, VerifyError};
use super::hash::PayloadHash;

/// One line of the ledger: at that moment the collection moved to that hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerLine {
    /// Collection name.
    pub collection: String,
    /// Hash it moved to.
    pub hash: PayloadHash,
    /// Authenticated `created_at` of that collection, RFC 3339, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// When this mirror accepted it, RFC 3339, by its own clock; for people, never compared.
    pub accepted_at: String,
    /// Whether the operator named the hash to go back to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_operator: bool,
}

/// What the ledger knows about one hash of one collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerEntry {
    /// The hash.
    pub hash: PayloadHash,
    /// Collection name.
    pub collection: String,
    /// Authenticated `created_at`, RFC 3339, if it has one.
    pub created_at: Option<String>,
    /// When it was accepted first, RFC 3339.
    pub first_accepted: String,
    /// What the collection moved to from it; `None` for the hash it is at now.
    pub replaced_by: Option<PayloadHash>,
}

/// A verified collection that is about to be accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Collection name.
    pub collection: String,
    /// Its hash.
    pub hash: PayloadHash,
    /// Its authenticated `created_at`, RFC 3339, if it has one.
    pub created_at: Option<String>,
}

/// What to do with the candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The collection was never accepted before: accept and record.
    First,
    /// It is the hash the collection is at: nothing to record.
    Current,
    /// Never seen and not provably older: accept and record.
    Newer {
        /// Said when `created_at` couldn't be compared, so that nothing but being unseen speaks for it.
        note: Option<String>,
    },
    /// Older: refuse, unless the operator names the hash.
    Rollback {
        /// Hash the collection is at.
        accepted: PayloadHash,
        /// The candidate's hash.
        offered: PayloadHash,
        /// What makes it older.
        reason: RollbackReason,
    },
    /// Older, but the operator named this very hash: accept and record with `by_operator`.
    AllowedByOperator {
        /// Hash the collection is at.
        accepted: PayloadHash,
        /// What makes the candidate older.
        reason: RollbackReason,
    },
}

impl Verdict {
    /// The refusal as an error, any other verdict as itself.
    ///
    /// # Errors
    /// [`VerifyError::Rollback`].
    pub fn into_result(self, collection: &str) -> Result<Self, VerifyError> {
        match self {
            Self::Rollback { accepted, offered, reason } => Err(VerifyError::Rollback {
                collection: collection.to_owned(),
                accepted,
                offered,
                reason: Box::new(reason),
            }),
            verdict => Ok(verdict),
        }
    }
}

/// The state after a sequence of lines: one entry per collection and hash, in order of first acceptance.
pub fn replay<'a>(lines: impl IntoIterator<Item = &'a LedgerLine>) -> Vec<LedgerEntry> {
    let mut entries: Vec<LedgerEntry> = Vec::new();
    for line in lines {
        for entry in entries.iter_mut().filter(|entry| entry.collection == line.collection) {
            if entry.hash == line.hash {
                // Current again, after the operator went back to it.
                entry.replaced_by = None;
            } else if entry.replaced_by.is_none() {
                entry.replaced_by = Some(line.hash);
            }
        }
        let known =
            entries.iter().any(|entry| entry.collection == line.collection && entry.hash == line.hash);
        if !known {
            entries.push(LedgerEntry {
                hash: line.hash,
                collection: line.collection.clone(),
                created_at: line.created_at.clone(),
                first_accepted: line.accepted_at.clone(),
                replaced_by: None,
            });
        }
    }
    entries
}

/// Decides about a candidate. `operator` is a hash the operator named explicitly; it lifts a refusal of that hash
/// and nothing else.
pub fn judge(entries: &[LedgerEntry], candidate: &Candidate, operator: Option<PayloadHash>) -> Verdict {
    let history = || entries.iter().filter(|entry| entry.collection == candidate.collection);
    // Replaying leaves one unreplaced entry; the last one is the answer for hand-made input too.
    let Some(current) =
        history().rfind(|entry| entry.replaced_by.is_none()).or_else(|| history().next_back())
    else {
        return Verdict::First;
    };
    if current.hash == candidate.hash && current.replaced_by.is_none() {
        return Verdict::Current;
    }
    let reason = match history().find(|entry| entry.hash == candidate.hash) {
        Some(seen) => RollbackReason::ReplacedBefore { by: seen.replaced_by.unwrap_or(current.hash) },
        None => match older(current.created_at.as_deref(), candidate.created_at.as_deref()) {
            Ok(Some(reason)) => reason,
            Ok(None) => return Verdict::Newer { note: None },
            Err(note) => return Verdict::Newer { note: Some(note) },
        },
    };
    if operator == Some(candidate.hash) {
        return Verdict::AllowedByOperator { accepted: current.hash, reason };
    }
    Verdict::Rollback { accepted: current.hash, offered: candidate.hash, reason }
}

/// Whether the offered time is strictly earlier; in words why it couldn't be compared.
fn older(accepted: Option<&str>, offered: Option<&str>) -> Result<Option<RollbackReason>, String> {
    let (accepted, offered) = match (accepted, offered) {
        (Some(accepted), Some(offered)) => (accepted, offered),
        (Some(_), None) => {
            return Err("the new collection declares no created_at, so its age can't be compared".to_owned());
        }
        (None, Some(_)) => {
            return Err(
                "the accepted collection declares no created_at, so ages can't be compared".to_owned()
            );
        }
        (None, None) => {
            return Err("neither collection declares created_at, so ages can't be compared".to_owned());
        }
    };
    match compare_instants(offered, accepted) {
        Some(Ordering::Less) => Ok(Some(RollbackReason::CreatedEarlier {
            accepted: accepted.to_owned(),
            offered: offered.to_owned(),
        })),
        Some(_) => Ok(None),
        None => Err(format!("created_at '{offered}' can't be compared with '{accepted}'")),
    }
}

/// Compares two RFC 3339 times as instants, whatever their offsets and fractions; `None` if either isn't one.
pub fn compare_instants(left: &str, right: &str) -> Option<Ordering> {
    let left = DateTime::parse_from_rfc3339(left).ok()?;
    let right = DateTime::parse_from_rfc3339(right).ok()?;
    Some(left.cmp(&right))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(seed: &str) -> PayloadHash {
        PayloadHash::of(seed.as_bytes())
    }

    fn line(name: &str, created_at: Option<&str>) -> LedgerLine {
        LedgerLine {
            collection: "demo".to_owned(),
            hash: hash(name),
            created_at: created_at.map(str::to_owned),
            accepted_at: format!("2026-10-01T00:00:00Z#{name}"),
            by_operator: false,
        }
    }

    fn candidate(name: &str, created_at: Option<&str>) -> Candidate {
        Candidate {
            collection: "demo".to_owned(),
            hash: hash(name),
            created_at: created_at.map(str::to_owned),
        }
    }

    const EARLY: Option<&str> = Some("2026-08-11T15:14:04Z");
    const LATE: Option<&str> = Some("2026-09-11T15:14:04Z");

    #[test]
    fn first_current_and_newer() {
        assert_eq!(judge(&[], &candidate("a", EARLY), None), Verdict::First);
        let entries = replay(&[line("a", EARLY)]);
        assert_eq!(judge(&entries, &candidate("a", EARLY), None), Verdict::Current);
        assert_eq!(judge(&entries, &candidate("b", LATE), None), Verdict::Newer { note: None });
        // Re-signed without a new created_at: the usual case upstream.
        assert_eq!(judge(&entries, &candidate("b", EARLY), None), Verdict::Newer { note: None });
        let other = Candidate { collection: "other".to_owned(), ..candidate("a", EARLY) };
        assert_eq!(judge(&entries, &other, None), Verdict::First);
    }

    #[test]
    fn a_replaced_hash_stays_refused_for_ever() {
        let entries = replay(&[line("a", EARLY), line("b", EARLY), line("c", EARLY)]);
        let refused = |by, accepted, offered| Verdict::Rollback {
            accepted: hash(accepted),
            offered: hash(offered),
            reason: RollbackReason::ReplacedBefore { by: hash(by) },
        };
        assert_eq!(judge(&entries, &candidate("a", EARLY), None), refused("b", "c", "a"));
        assert_eq!(judge(&entries, &candidate("b", EARLY), None), refused("c", "c", "b"));
        // Not even with a created_at of its own choosing: the ledger's hash decides.
        assert_eq!(judge(&entries, &candidate("a", LATE), None), refused("b", "c", "a"));
        let error = refused("b", "c", "a").into_result("demo").unwrap_err().to_string();
        assert!(error.contains(&hash("a").to_string()) && error.contains(&hash("c").to_string()), "{error}");
    }

    #[test]
    fn an_unseen_older_one_is_refused_by_instant_not_by_text() {
        let judged = |accepted, offered| {
            judge(&replay(&[line("a", Some(accepted))]), &candidate("b", Some(offered)), None)
        };
        let is_rollback = |verdict: &Verdict| matches!(verdict, Verdict::Rollback { .. });
        assert!(is_rollback(&judged("2026-08-11T15:14:04Z", "2026-08-11T15:14:03Z")));
        assert!(is_rollback(&judged("2026-08-11T15:14:04.5Z", "2026-08-11T15:14:04.49Z")));
        // 01:00+03:00 is 22:00Z of the day before, though it reads later.
        assert!(is_rollback(&judged("2026-08-11T23:00:00Z", "2026-08-12T01:00:00+03:00")));
        assert_eq!(
            judged("2026-08-12T01:00:00+03:00", "2026-08-11T22:00:00.000Z"),
            Verdict::Newer { note: None }
        );
        assert_eq!(
            judged("2026-08-11T23:30:00-01:00", "2026-08-12T00:30:00.001Z"),
            Verdict::Newer { note: None }
        );
    }

    #[test]
    fn an_absent_time_is_said() {
        for (accepted, offered) in [(EARLY, None), (None, EARLY), (None, None), (EARLY, Some("yesterday"))] {
            let verdict = judge(&replay(&[line("a", accepted)]), &candidate("b", offered), None);
            assert!(matches!(verdict, Verdict::Newer { note: Some(_) }), "{accepted:?} {offered:?}");
        }
    }

    #[test]
    fn the_operator_lifts_the_named_hash_only() {
        let mut lines = vec![line("a", EARLY), line("b", LATE)];
        let entries = replay(&lines);
        let back = candidate("a", EARLY);
        assert!(matches!(judge(&entries, &back, Some(hash("b"))), Verdict::Rollback { .. }));
        assert_eq!(
            judge(&entries, &back, Some(hash("a"))),
            Verdict::AllowedByOperator {
                accepted: hash("b"),
                reason: RollbackReason::ReplacedBefore { by: hash("b") }
            }
        );
        // Naming a hash that needs no permission changes nothing.
        assert_eq!(judge(&entries, &candidate("c", LATE), Some(hash("c"))), Verdict::Newer { note: None });
        // Having gone back, the hash is current, and what it replaced is now the older one.
        lines.push(LedgerLine { by_operator: true, ..line("a", EARLY) });
        let entries = replay(&lines);
        assert_eq!(judge(&entries, &back, None), Verdict::Current);
        assert!(matches!(
            judge(&entries, &candidate("b", LATE), None),
            Verdict::Rollback { reason: RollbackReason::ReplacedBefore { by }, .. } if by == hash("a")
        ));
        assert_eq!(entries.len(), 2);
        assert_eq!(entries[0].first_accepted, "2026-10-01T00:00:00Z#a");
    }

    #[test]
    fn lines_are_plain_json() {
        let text = serde_json::to_string(&line("a", None)).unwrap();
        assert!(!text.contains("created_at") && !text.contains("by_operator"), "{text}");
        assert_eq!(serde_json::from_str::<LedgerLine>(&text).unwrap(), line("a", None));
        let operator = LedgerLine { by_operator: true, ..line("a", EARLY) };
        assert_eq!(
            serde_json::from_str::<LedgerLine>(&serde_json::to_string(&operator).unwrap()).unwrap(),
            operator
        );
        assert!(serde_json::from_str::<LedgerLine>(&text.replace("collection", "colection")).is_err());
    }
}
