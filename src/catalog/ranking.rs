//! Which relations a question is about: the ranking behind discovery.
//!
//! BM25F over four fields (relation name, dataset, description, columns), names split into words, with curated hint
//! terms as a field of their own. Names abbreviate (`cong`, `org`, `reg`), so a query word also matches, at a
//! discount, words it shares a long prefix with. One damped round along the signed join paths follows, since a hub
//! that isn't shown can't be joined. Everything is deterministic: scores depend on the catalogue and the query only,
//! sums run in a fixed order, and ties go by name.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::model::{Catalog, Relation};
use super::words::{singular, words};

/// Term-frequency saturation (BM25's k1).
const SATURATION: f64 = 3.0;
/// Share of a relation's score that reaches each join neighbour, once.
const DAMPING: f64 = 0.25;
/// Lineage relations can be shown but never read, so they rank behind readable ones of equal merit.
const LINEAGE_FACTOR: f64 = 0.5;
/// A shared prefix shorter than this says nothing.
const SHORTEST_PREFIX: usize = 4;

/// The fields of a relation, with their weight and length normalisation (BM25F's w and b).
///
/// Names of columns count once each however often a wide table repeats them (`date`, `id`). The values were
/// taken from the middle of the better half of a coarse grid over questions with known answers, not from its peak.
const FIELDS: [(f64, f64); 6] = [
    (5.0, 0.5), // relation name
    (0.5, 0.0), // dataset name and title
    (1.5, 0.5), // description of the relation
    (1.0, 0.4), // column names, distinct words
    (0.5, 0.4), // column descriptions, distinct words
    (5.0, 0.0), // hint terms
];

/// Words a question is made of, not about.
const STOP_WORDS: &[&str] = &[
    "a", "about", "all", "an", "and", "any", "are", "as", "at", "be", "been", "between", "by", "can", "did",
    "do", "does", "each", "for", "from", "get", "give", "had", "has", "have", "how", "i", "in", "into", "is",
    "it", "its", "list", "many", "me", "much", "of", "on", "or", "per", "s", "show", "still", "than", "that",
    "the", "their", "them", "there", "these", "they", "this", "those", "to", "under", "was", "were", "what",
    "when", "where", "which", "who", "whose", "why", "will", "with", "you",
];

/// Curated terms for a relation, from the playbook: words people use that the catalogue doesn't.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// `dataset.relation`.
    pub source: String,
    /// The terms, as prose or single words.
    pub terms: Vec<String>,
}

/// One relation that matches a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// `dataset.relation`.
    pub source: String,
    /// Its score; comparable within one ranking only.
    pub score: f64,
    /// The words of the query that matched, in the query's order. Empty for a pure join neighbour.
    pub match_terms: Vec<String>,
}

/// The best matches and how many there are in all.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The best matches, best first.
    pub matches: Vec<Match>,
    /// Relations that match at least one word of the query, shown or not.
    pub total_matches: usize,
}

/// A catalogue prepared for ranking. Building it walks every name and description once.
#[derive(Debug, Clone)]
pub struct Index {
    /// Sources in name order, with whether they can be read.
    sources: Vec<(String, bool)>,
    /// For each word the relations that hold it, with the weighted and length-normalised frequency.
    postings: BTreeMap<String, Vec<(usize, f64)>>,
    /// For each relation its neighbours along join paths.
    neighbours: Vec<BTreeSet<usize>>,
}

/// Ranks the relations of a catalogue against a query; see [`Index::rank`], which this prepares for one use.
pub fn rank(catalog: &Catalog, hints: &[Hint], query: &str, limit: usize) -> Ranking {
    Index::build(catalog, hints).rank(query, limit)
}

impl Index {
    /// Prepares a catalogue. Hints for sources it doesn't have are passed over.
    pub fn build(catalog: &Catalog, hints: &[Hint]) -> Self {
        let mut relations: Vec<(String, &Relation)> =
            catalog.relations().map(|relation| (relation.source(), relation)).collect();
        relations.sort_by(|(left, _), (right, _)| left.cmp(right));
        let position: HashMap<&str, usize> =
            relations.iter().enumerate().map(|(index, (source, _))| (source.as_str(), index)).collect();

        let documents: Vec<[Vec<String>; FIELDS.len()]> = relations
            .iter()
            .map(|(source, relation)| {
                let title = catalog.dataset(&relation.dataset).and_then(|dataset| dataset.title.as_deref());
                let hints = hints.iter().filter(|hint| hint.source == *source).flat_map(|hint| &hint.terms);
                [
                    index_words([relation.name.as_str()]),
                    index_words([relation.dataset.as_str(), title.unwrap_or_default()]),
                    index_words(relation.description.as_deref()),
                    distinct(index_words(relation.columns.iter().map(|column| column.name.as_str()))),
                    distinct(index_words(
                        relation.columns.iter().filter_map(|column| column.description.as_deref()),
                    )),
                    index_words(hints.map(String::as_str)),
                ]
            })
            .collect();
        let postings = postings(&documents);

        let mut neighbours = vec![BTreeSet::new(); relations.len()];
        for path in &catalog.joins {
            let (from, to) = (path.from.source(), path.to.source());
            if let (Some(&from), Some(&to)) = (position.get(from.as_str()), position.get(to.as_str()))
                && from != to
            {
                neighbours[from].insert(to);
                neighbours[to].insert(from);
            }
        }
        let sources =
            relations.iter().map(|(source, relation)| (source.clone(), relation.queryable)).collect();
        Self { sources, postings, neighbours }
    }

    /// The `limit` relations nearest to a query. A query without any usable word matches nothing.
    pub fn rank(&self, query: &str, limit: usize) -> Ranking {
        let mut scores = vec![0.0_f64; self.sources.len()];
        let mut terms: Vec<Vec<String>> = vec![Vec::new(); self.sources.len()];
        for (shown, word) in query_words(query) {
            // The best of the words it matches counts, so that three spellings of one thing don't count thrice.
            let mut best: BTreeMap<usize, f64> = BTreeMap::new();
            for (indexed, discount) in self.matching(&word) {
                let Some(postings) = self.postings.get(indexed) else { continue };
                let rarity = rarity(self.sources.len(), postings.len());
                for &(document, frequency) in postings {
                    let frequency = frequency * discount;
                    let score = rarity * discount * frequency / (SATURATION + frequency);
                    let entry = best.entry(document).or_default();
                    *entry = entry.max(score);
                }
            }
            for (document, score) in best {
                scores[document] += score;
                terms[document].push(shown.clone());
            }
        }
        let total_matches = terms.iter().filter(|terms| !terms.is_empty()).count();
        let own = scores.clone();
        for (document, score) in scores.iter_mut().enumerate() {
            *score += self.neighbours[document].iter().map(|&other| DAMPING * own[other]).sum::<f64>();
            if !self.sources[document].1 {
                *score *= LINEAGE_FACTOR;
            }
        }
        let mut order: Vec<usize> = (0..scores.len()).filter(|&document| scores[document] > 0.0).collect();
        // Sources are in name order already, so a stable sort leaves ties by name.
        order.sort_by(|&left, &right| scores[right].total_cmp(&scores[left]));
        let matches = order
            .into_iter()
            .take(limit)
            .map(|document| Match {
                source: self.sources[document].0.clone(),
                score: scores[document],
                match_terms: std::mem::take(&mut terms[document]),
            })
            .collect();
        Ranking { matches, total_matches }
    }

    /// The indexed words a query word matches, each with a discount between 0 and 1.
    fn matching(&self, word: &str) -> Vec<(&String, f64)> {
        self.postings.keys().filter_map(|indexed| Some((indexed, likeness(word, indexed)?))).collect()
    }
}

/// How far one word stands for another: 1 for the same, less for a long shared prefix, `None` for others.
fn likeness(word: &str, indexed: &str) -> Option<f64> {
    if word == indexed {
        return Some(1.0);
    }
    let shared = word.chars().zip(indexed.chars()).take_while(|(left, right)| left == right).count();
    if shared < SHORTEST_PREFIX {
        return None;
    }
    let (short, long) = {
        let lengths = (word.chars().count(), indexed.chars().count());
        (lengths.0.min(lengths.1), lengths.0.max(lengths.1))
    };
    // Lengths of words: far below where a double loses integers.
    #[allow(clippy::cast_precision_loss)]
    let share = shared as f64 / long as f64;
    // One is the beginning of the other (an abbreviation, an ending), or they differ in their endings only.
    (shared == short || share >= 0.6).then_some(0.7 * share)
}

/// BM25's inverse document frequency, never negative.
fn rarity(documents: usize, holding: usize) -> f64 {
    // Counts of relations: far below where a double loses integers.
    #[allow(clippy::cast_precision_loss)]
    let (documents, holding) = (documents as f64, holding as f64);
    libm::log1p((documents - holding + 0.5) / (holding + 0.5))
}

fn postings(documents: &[[Vec<String>; FIELDS.len()]]) -> BTreeMap<String, Vec<(usize, f64)>> {
    // Counts of words: far below where a double loses integers.
    #[allow(clippy::cast_precision_loss)]
    let average: Vec<f64> = (0..FIELDS.len())
        .map(|field| {
            let total: usize = documents.iter().map(|document| document[field].len()).sum();
            (total as f64 / documents.len().max(1) as f64).max(1.0)
        })
        .collect();
    let mut postings: BTreeMap<String, Vec<(usize, f64)>> = BTreeMap::new();
    for (index, document) in documents.iter().enumerate() {
        let mut frequencies: BTreeMap<&str, f64> = BTreeMap::new();
        for ((field, (weight, normalisation)), average) in document.iter().zip(FIELDS).zip(&average) {
            #[allow(clippy::cast_precision_loss)]
            let length = field.len() as f64;
            let each = weight / (1.0 - normalisation + normalisation * length / average);
            for word in field {
                *frequencies.entry(word).or_default() += each;
            }
        }
        for (word, frequency) in frequencies {
            postings.entry(word.to_owned()).or_default().push((index, frequency));
        }
    }
    postings
}

fn index_words<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    texts.into_iter().flat_map(words).map(|word| singular(&word)).collect()
}

fn distinct(words: Vec<String>) -> Vec<String> {
    words.into_iter().collect::<BTreeSet<_>>().into_iter().collect()
}

/// The words of a query worth looking for, each once: as written and as indexed.
fn query_words(query: &str) -> Vec<(String, String)> {
    let mut seen = BTreeSet::new();
    words(query)
        .into_iter()
        .filter(|word| !STOP_WORDS.contains(&word.as_str()))
        .map(|word| (word.clone(), singular(&word)))
        .filter(|(_, word)| seen.insert(word.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{catalog, relation};
    use super::*;

    fn shown(ranking: &Ranking) -> Vec<&str> {
        ranking.matches.iter().map(|matched| matched.source.as_str()).collect()
    }

    #[test]
    fn a_name_outweighs_a_column_and_abbreviations_match() {
        let catalog = catalog(
            vec![
                relation("d", "other", &["award_id", "x"]),
                relation("d", "awards", &["id"]),
                relation("d", "ref_cong_district", &["id"]),
                relation("d", "unrelated", &["y"]),
            ],
            &[],
        );
        let ranking = rank(&catalog, &[], "Which awards were large?", 6);
        assert_eq!(shown(&ranking), ["d.awards", "d.other"]);
        assert_eq!(ranking.total_matches, 2);
        assert_eq!(ranking.matches[0].match_terms, ["awards"]);
        assert_eq!(shown(&rank(&catalog, &[], "congressional", 6)), ["d.ref_cong_district"]);
        assert_eq!(rank(&catalog, &[], "which of the", 6), Ranking { matches: Vec::new(), total_matches: 0 });
    }

    #[test]
    fn join_neighbours_follow_and_are_not_counted_as_matches() {
        let catalog = catalog(
            vec![relation("d", "hub", &["x"]), relation("d", "award", &["id"])],
            &[[("d.award", "id"), ("d.hub", "id")], [("d.hub", "id"), ("d.hub", "parent")]],
        );
        let ranking = rank(&catalog, &[], "award", 6);
        assert_eq!(shown(&ranking), ["d.award", "d.hub"]);
        assert_eq!(ranking.total_matches, 1);
        assert_eq!(ranking.matches[1].match_terms, Vec::<String>::new());
    }

    #[test]
    fn hints_bring_in_words_the_names_lack() {
        let catalog =
            catalog(vec![relation("d", "bmf", &["ein"]), relation("d", "executives", &["id"])], &[]);
        let hint = Hint { source: "d.bmf".to_owned(), terms: vec!["charities and nonprofits".to_owned()] };
        let unknown = Hint { source: "d.absent".to_owned(), terms: vec!["charity".to_owned()] };
        assert!(rank(&catalog, &[], "charity", 6).matches.is_empty());
        assert_eq!(shown(&rank(&catalog, &[hint, unknown], "charity", 6)), ["d.bmf"]);
    }

    #[test]
    fn ties_go_by_name_and_lineage_goes_behind() {
        let mut lineage = relation("d", "a_award", &["id"]);
        lineage.queryable = false;
        let catalog =
            catalog(vec![relation("d", "c_award", &["id"]), lineage, relation("d", "b_award", &["id"])], &[]);
        let ranking = rank(&catalog, &[], "award", 2);
        assert_eq!(shown(&ranking), ["d.b_award", "d.c_award"]);
        assert_eq!(ranking.total_matches, 3);
    }
}
