//! Codes to scores: what of two codes counts, and by how much.

use std::collections::HashMap;

use super::cache::Vectors;
use super::codes::{Code, Coded, Entry};
use crate::fit::held_out::Scores;
use crate::measure::ranks;

/// What an entry of a code is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// 1: UHD-BERT's binarization.
    Binary,
    /// Its max-pooled activation (UHD-BERT, eq. 4).
    Max,
    /// Its summed activation.
    Sum,
}

/// How a query's code meets a passage's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scoring<'a> {
    /// Entries that a query's code keeps, strongest by summed activation.
    pub query_k: usize,
    /// The same for passages.
    pub passage_k: usize,
    /// What they are worth.
    pub values: Values,
    /// How much a shared dimension counts.
    pub rarity: Rarity<'a>,
    /// Whether a passage's score is divided by the Euclidean length of its code.
    pub length: Length,
}

/// Weight of a dimension.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rarity<'a> {
    /// By its rarity among the passages, `ln(1 + (N − df + ½)/(df + ½))`.
    Counts,
    /// By weights that were trained with the head: their logarithms, by dimension.
    Learned(&'a [f32]),
    /// All alike, as in UHD-BERT (eq. 7).
    Ignored,
}

/// Length of passages' codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Scores are divided by it.
    Divides,
    /// It does not matter, as in UHD-BERT (eq. 7).
    Ignored,
}

impl Scoring<'_> {
    /// As Siskin's index scores: binary, by rarity, divided by length; passages cut to `passage_k`.
    #[must_use]
    pub fn cut(passage_k: usize) -> Self {
        Self {
            query_k: usize::MAX,
            passage_k,
            values: Values::Binary,
            rarity: Rarity::Counts,
            length: Length::Divides,
        }
    }

    /// Scores of all passages, by query.
    #[must_use]
    pub fn scores(&self, coded: &Coded) -> Vec<Vec<f64>> {
        let mut postings: HashMap<u32, Vec<(usize, f64)>> = HashMap::new();
        for (passage, code) in coded.passages.iter().enumerate() {
            let norm = self.norm(code);
            for entry in code.iter().take(self.passage_k) {
                let posting = (passage, self.value(entry) / norm);
                postings.entry(entry.dimension).or_default().push(posting);
            }
        }
        let count = coded.passages.len();
        let of_query = |query: &Code| {
            let mut scores = vec![0.0; count];
            for entry in query.iter().take(self.query_k) {
                let Some(postings) = postings.get(&entry.dimension) else {
                    continue;
                };
                let frequency = postings.len();
                let weight = self.value(entry) * self.weight(entry.dimension, frequency, count);
                for (passage, value) in postings {
                    scores[*passage] += weight * value;
                }
            }
            scores
        };
        coded.queries.iter().map(of_query).collect()
    }

    /// Metrics by query.
    #[must_use]
    pub fn ranked(&self, coded: &Coded, vectors: &Vectors) -> Vec<Scores> {
        ranks(&self.scores(coded), &vectors.texts.relevant)
    }

    fn value(&self, entry: &Entry) -> f64 {
        match self.values {
            Values::Binary => 1.0,
            Values::Max => f64::from(entry.max),
            Values::Sum => f64::from(entry.sum),
        }
    }

    fn norm(&self, code: &Code) -> f64 {
        if self.length == Length::Ignored {
            return 1.0;
        }
        let kept = code.iter().take(self.passage_k);
        let squares: f64 = kept.map(|entry| self.value(entry).powi(2)).sum();
        squares.sqrt().max(f64::MIN_POSITIVE)
    }

    fn weight(&self, dimension: u32, frequency: usize, count: usize) -> f64 {
        match self.rarity {
            Rarity::Ignored => 1.0,
            Rarity::Learned(logarithms) => {
                let logarithm = logarithms.get(dimension as usize);
                logarithm.map_or(1.0, |&logarithm| f64::from(logarithm).exp())
            }
            Rarity::Counts => {
                let (frequency, count) = (frequency as f64, count as f64);
                (1.0 + (count - frequency + 0.5) / (frequency + 0.5)).ln()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::held_out::overlap_scores;
    use crate::random::Random;

    fn random_codes(count: usize, seed: u64) -> Vec<Code> {
        let mut random = Random::new(seed, 0);
        let mut code = || -> Code {
            let mut dimensions: Vec<u32> = (0..40).collect();
            random.shuffle(&mut dimensions);
            let entry = |(place, dimension)| Entry {
                dimension,
                sum: 9.0 - place as f32,
                max: 1.0,
            };
            dimensions
                .into_iter()
                .take(9)
                .enumerate()
                .map(entry)
                .collect()
        };
        (0..count).map(|_| code()).collect()
    }

    #[test]
    fn postings_agree_with_overlaps_one_by_one() {
        let coded = Coded {
            queries: random_codes(5, 1),
            passages: random_codes(20, 2),
        };
        let dimensions = |codes: &[Code], k: usize| -> Vec<Vec<u32>> {
            let cut = |code: &Code| code.iter().take(k).map(|entry| entry.dimension).collect();
            codes.iter().map(cut).collect()
        };
        let naive = overlap_scores(
            &dimensions(&coded.queries, usize::MAX),
            &dimensions(&coded.passages, 6),
        );
        let scores = Scoring::cut(6).scores(&coded);
        for (score, naive) in scores.concat().into_iter().zip(naive.concat()) {
            assert!((score - naive).abs() < 1e-9, "{score} against {naive}");
        }
    }

    #[test]
    fn the_papers_relevance_counts_shared_dimensions() {
        let coded = Coded {
            queries: random_codes(3, 3),
            passages: random_codes(4, 4),
        };
        let paper = Scoring {
            rarity: Rarity::Ignored,
            length: Length::Ignored,
            ..Scoring::cut(usize::MAX)
        };
        for (scores, query) in paper.scores(&coded).iter().zip(&coded.queries) {
            for (score, passage) in scores.iter().zip(&coded.passages) {
                let is_shared =
                    |entry: &&Entry| query.iter().any(|other| other.dimension == entry.dimension);
                assert_eq!(*score, passage.iter().filter(is_shared).count() as f64);
            }
        }
    }
}
