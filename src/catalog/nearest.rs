//! What a caller probably meant: the nearest names in the catalogue for one that isn't in it.
//!
//! Variants of the same name (case, plural, underscores) come first, then names that share parts, then likely typing
//! slips. Ties go by name, so the suggestions are the same every time.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::model::{Catalog, Relation};
use super::words::{singular, squeezed, words};

/// Below this, two names look alike by accident only (Jaro-Winkler, 0 to 1).
const SLIP: f64 = 0.85;

/// How near two names are: 3 for variants, 1 to 2 for shared parts, up to 1 for likely slips, 0 for unrelated.
fn nearness(asked: &str, name: &str) -> f64 {
    let (asked_squeezed, name_squeezed) = (squeezed(asked), squeezed(name));
    if asked_squeezed.is_empty() {
        return 0.0;
    }
    if asked_squeezed == name_squeezed {
        return 3.0;
    }
    let parts = |text: &str| -> BTreeSet<String> { words(text).iter().map(|word| singular(word)).collect() };
    let (asked_parts, name_parts) = (parts(asked), parts(name));
    let shared = asked_parts.intersection(&name_parts).count();
    let all = asked_parts.union(&name_parts).count();
    if shared > 0 && all > 0 {
        // Counts of name parts: far below where a double loses integers.
        #[allow(clippy::cast_precision_loss)]
        let share = shared as f64 / all as f64;
        return 1.0 + share;
    }
    let alike = strsim::jaro_winkler(&asked_squeezed, &name_squeezed);
    if alike >= SLIP { alike } else { 0.0 }
}

/// The best `limit` names, nearest first.
fn best<'a>(scored: impl Iterator<Item = (f64, &'a str)>, limit: usize) -> Vec<&'a str> {
    let mut scored: Vec<(f64, &str)> = scored.filter(|(score, _)| *score > 0.0).collect();
    scored.sort_by(|(left_score, left), (right_score, right)| {
        right_score.partial_cmp(left_score).unwrap_or(Ordering::Equal).then_with(|| left.cmp(right))
    });
    scored.into_iter().take(limit).map(|(_, name)| name).collect()
}

/// Up to `limit` columns of a relation that a wrong column name may have meant.
pub fn column_candidates<'a>(relation: &'a Relation, name: &str, limit: usize) -> Vec<&'a str> {
    best(relation.columns.iter().map(|column| (nearness(name, &column.name), column.name.as_str())), limit)
}

impl Catalog {
    /// Up to `limit` sources (`dataset.relation`) that an unknown one may have meant.
    ///
    /// The text may be qualified or not. A relation of that very name in another dataset is nearest; a dataset that
    /// matches decides between equals.
    pub fn nearest_sources(&self, text: &str, limit: usize) -> Vec<String> {
        let (dataset, relation) = match text.split_once('.') {
            Some((dataset, relation)) => (Some(dataset), relation),
            None => (None, text),
        };
        let sources: Vec<(f64, String)> = self
            .relations()
            .map(|candidate| {
                // A dotted name carries a schema that callers tend to leave out.
                let table = candidate.schema_and_table().1;
                let by_name = nearness(relation, &candidate.name)
                    .max(nearness(relation, table))
                    .max(nearness(text, &candidate.name));
                let same_dataset =
                    dataset.is_some_and(|asked| squeezed(asked) == squeezed(&candidate.dataset));
                let bonus = if same_dataset && by_name > 0.0 { 0.5 } else { 0.0 };
                (by_name + bonus, candidate.source())
            })
            .collect();
        best(sources.iter().map(|(score, source)| (*score, source.as_str())), limit)
            .into_iter()
            .map(str::to_owned)
            .collect()
    }

    /// Up to `limit` dataset names that an unknown one may have meant; all of them if none looks alike and they are
    /// no more than that.
    pub fn nearest_datasets(&self, text: &str, limit: usize) -> Vec<String> {
        let near = best(
            self.datasets.iter().map(|dataset| (nearness(text, &dataset.name), dataset.name.as_str())),
            limit,
        );
        if near.is_empty() && self.datasets.len() <= limit {
            return self.datasets.iter().map(|dataset| dataset.name.clone()).collect();
        }
        near.into_iter().map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{catalog, relation};
    use super::*;

    #[test]
    fn variants_come_before_shared_parts_before_slips() {
        let relation = relation("d", "r", &["stat", "state_code", "states", "name", "recipient_state"]);
        assert_eq!(column_candidates(&relation, "State", 3), ["states", "recipient_state", "state_code"]);
        assert_eq!(column_candidates(&relation, "StateCode", 1), ["state_code"]);
        assert_eq!(column_candidates(&relation, "nmae", 3), ["name"]);
        assert_eq!(column_candidates(&relation, "zzz", 3), Vec::<&str>::new());
        assert_eq!(column_candidates(&relation, "__", 3), Vec::<&str>::new());
    }

    #[test]
    fn sources_are_found_by_either_part() {
        let sources = [
            ("usaspending", "prime_awards"),
            ("usaspending", "subawards"),
            ("usaspending", "agency"),
            ("nhtsa", "vpic.make"),
            ("nhtsa", "vpic.model"),
        ];
        let catalog =
            catalog(sources.iter().map(|(dataset, name)| relation(dataset, name, &["id"])).collect(), &[]);
        assert_eq!(catalog.nearest_sources("usaspending.PrimeAward", 1), ["usaspending.prime_awards"]);
        assert_eq!(catalog.nearest_sources("prime_awards", 1), ["usaspending.prime_awards"]);
        assert_eq!(catalog.nearest_sources("nhtsa.make", 1), ["nhtsa.vpic.make"]);
        assert_eq!(catalog.nearest_sources("vpic.makes", 1), ["nhtsa.vpic.make"]);
        assert_eq!(catalog.nearest_sources("other.agency", 3), ["usaspending.agency"]);
        assert_eq!(catalog.nearest_datasets("usa_spending", 3), ["usaspending"]);
        assert_eq!(catalog.nearest_datasets("zzz", 3), ["usaspending", "nhtsa"]);
        assert_eq!(catalog.nearest_datasets("zzz", 1), Vec::<String>::new());
    }
}
