//! The word baseline: BM25 over whole documents, with the settings that Python's `bm25s` and
//! Lucene use. Its text rules are its own and stay what they are, so that figures compare. The index
//! knows nothing of it: it is what Siskin is measured against, and what finds hard negatives.

use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};

/// Saturation of term counts.
const K1: f64 = 1.2;
/// Share of the length normalisation.
const B: f64 = 0.75;

/// English stop words of Lucene's standard list, sorted.
const STOP_WORDS: [&str; 33] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
    "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these",
    "they", "this", "to", "was", "will", "with",
];

/// A term: its rarity, and where it occurs.
struct Term {
    /// See [`rarity`].
    rarity: f64,
    postings: Vec<Posting>,
}

/// A posting: a document (its place in the corpus) and the share of the score that one occurrence
/// of the term in a query brings it.
struct Posting {
    document: usize,
    impact: f64,
}

/// An index of a corpus.
pub struct Bm25 {
    terms: HashMap<String, Term>,
    documents: usize,
    stemmer: Stemmer,
}

impl Bm25 {
    /// Indexes every text; a title stands before its text.
    #[must_use]
    pub fn new<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Self {
        let stemmer = Stemmer::create(Algorithm::English);
        let mut counts: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
        let mut lengths = Vec::new();
        for (index, text) in texts.into_iter().enumerate() {
            let terms = terms(&stemmer, text.as_ref());
            lengths.push(terms.len() as f64);
            for (term, count) in count(terms) {
                counts.entry(term).or_default().push((index, count));
            }
        }
        let norms = length_norms(&lengths);
        let weigh = |(term, counts): (String, Vec<_>)| {
            let rarity = rarity(norms.len(), counts.len());
            let postings = postings(rarity, &counts, &norms);
            (term, Term { rarity, postings })
        };
        Self {
            terms: counts.into_iter().map(weigh).collect(),
            documents: lengths.len(),
            stemmer,
        }
    }

    /// The score of every document, in the order of the corpus; 0 for one that shares no term
    /// with the query. A term that the query repeats counts as often.
    #[must_use]
    pub fn scores(&self, query: &str) -> Vec<f64> {
        let mut scores = vec![0.0; self.documents];
        for term in terms(&self.stemmer, query) {
            let term = self.terms.get(&term);
            for posting in term.into_iter().flat_map(|term| &term.postings) {
                if let Some(score) = scores.get_mut(posting.document) {
                    *score += posting.impact;
                }
            }
        }
        scores
    }

    /// The score of a document that has every term of the query to the full, which none quite reaches; a term that
    /// the corpus lacks is as rare as can be.
    #[must_use]
    pub fn ideal(&self, query: &str) -> f64 {
        let terms = terms(&self.stemmer, query);
        let rarities = terms.iter().map(|term| match self.terms.get(term) {
            Some(term) => term.rarity,
            None => rarity(self.documents, 0),
        });
        rarities.sum()
    }
}

/// `k1 (1 - b + b · length / mean length)` of each document.
fn length_norms(lengths: &[f64]) -> Vec<f64> {
    let mean = lengths.iter().sum::<f64>() / lengths.len().max(1) as f64;
    lengths
        .iter()
        .map(|length| K1 * (1.0 - B + B * length / mean.max(1.0)))
        .collect()
}

/// `idf = ln(1 + (N - df + .5) / (df + .5))` of a term that `holding` of `total` documents have.
fn rarity(total: usize, holding: usize) -> f64 {
    let (total, holding) = (total as f64, holding as f64);
    (1.0 + (total - holding + 0.5) / (holding + 0.5)).ln()
}

/// Impacts `idf · tf / (tf + norm)`, the form of Lucene 8 and later (Robertson and Zaragoza, 2009, without the
/// constant factor k1 + 1).
fn postings(idf: f64, counts: &[(usize, usize)], norms: &[f64]) -> Vec<Posting> {
    let weigh = |&(document, count): &(usize, usize)| {
        let (count, norm) = (count as f64, norms.get(document).copied().unwrap_or(K1));
        Posting {
            document,
            impact: idf * count / (count + norm),
        }
    };
    counts.iter().map(weigh).collect()
}

fn count(terms: Vec<String>) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for term in terms {
        *counts.entry(term).or_default() += 1;
    }
    counts
}

/// Stems of the text's words: runs of two or more letters, digits and underscores (the regular
/// expression `\b\w\w+\b`), lower-cased, without stop words.
fn terms(stemmer: &Stemmer, text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| word.chars().nth(1).is_some())
        .filter(|word| STOP_WORDS.binary_search(word).is_err())
        .map(|word| stemmer.stem(word).into_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_stemmed_and_stop_words_and_single_letters_left_out() {
        let stemmer = Stemmer::create(Algorithm::English);
        let found = terms(&stemmer, "The Workers' snake_case x retried IN v1/tasks");
        assert_eq!(found, ["worker", "snake_cas", "retri", "v1", "task"]);
    }

    #[test]
    fn the_stop_list_is_sorted() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn scores_by_hand() {
        // Lengths 2 and 4, mean 3; "cat" is in both, twice in the second.
        let index = Bm25::new(["cat dog", "cat cat bird fish"]);
        let idf = (1.0f64 + 0.5 / 2.5).ln();
        let first = idf / (1.0 + 1.2 * (0.25 + 0.75 * 2.0 / 3.0));
        let second = idf * 2.0 / (2.0 + 1.2 * (0.25 + 0.75 * 4.0 / 3.0));
        assert_eq!(index.ideal("cats"), idf);
        assert_eq!(index.ideal("mouse"), (1.0f64 + 2.5 / 0.5).ln());
        let found = index.scores("cats");
        assert!(
            (found[0] - first).abs() < 1e-12 && (found[1] - second).abs() < 1e-12,
            "{found:?}"
        );
        assert_eq!(index.scores("zebra"), [0.0, 0.0]);
        assert_eq!(index.scores("cat cat")[0], 2.0 * found[0]);
    }
}
