//! BM25 within the loss: what words already tell of a pair, so that vectors learn what words miss.

use std::collections::{BTreeMap, HashMap};

use siskin_core::bm25::Bm25;

use super::data::{Data, PairBatch};
use crate::vocabulary::Vocabulary;

/// An index of words of each collection's training passages, hard negatives among them.
pub struct Words {
    vocabulary: Vocabulary,
    /// By collection.
    indices: BTreeMap<usize, Bm25>,
    /// Where a passage (collection, passage) stands in its collection's index.
    places: HashMap<(usize, usize), usize>,
}

impl Words {
    /// Of the passages of `data`, as their word pieces say them.
    #[must_use]
    pub fn new(data: &Data, vocabulary: Vocabulary) -> Self {
        let mut texts: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        let mut places = HashMap::new();
        for (id, pieces) in data.passages() {
            let texts = texts.entry(id.0).or_default();
            places.entry(id).or_insert_with(|| {
                texts.push(vocabulary.text(pieces));
                texts.len() - 1
            });
        }
        let indices = texts.into_iter();
        let indices = indices.map(|(collection, texts)| (collection, Bm25::new(texts)));
        Self {
            indices: indices.collect(),
            vocabulary,
            places,
        }
    }

    /// BM25 of the batch's queries, as they are trained on, for all its passages, query after query; each query's
    /// scores have mean 0 and variance 1, or are 0 where no passage has a word of it. A passage of another collection
    /// than the query's has none.
    #[must_use]
    pub fn scores(&self, batch: &PairBatch<'_>) -> Vec<f32> {
        let ids = &batch.passage_ids;
        let score = |(query, &(own, _)): (&[u32], &(usize, usize))| {
            let Some(index) = self.indices.get(&own) else {
                return vec![0.0; ids.len()];
            };
            let scores = index.scores(&self.vocabulary.text(query));
            let of_passage = |id: &(usize, usize)| {
                let place = self.places.get(id).filter(|_| id.0 == own);
                place.and_then(|&place| scores.get(place).copied())
            };
            let scores: Vec<f64> = ids.iter().map(|id| of_passage(id).unwrap_or(0.0)).collect();
            standardised(&scores, 0.0)
        };
        let queries = batch.queries.iter().map(AsRef::as_ref);
        queries.zip(ids).flat_map(score).collect()
    }
}

/// `scores` minus their mean, divided by their standard deviation or by `least`, if that is more; zeros where all are
/// the same.
pub(crate) fn standardised(scores: &[f64], least: f64) -> Vec<f32> {
    let count = scores.len().max(1) as f64;
    let mean = scores.iter().sum::<f64>() / count;
    let variance = scores.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / count;
    let deviation = variance.sqrt().max(least).max(1e-9);
    let z = |score: &f64| ((score - mean) / deviation) as f32;
    scores.iter().map(z).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_of_a_query_are_of_mean_0_and_variance_1() {
        let scores = [2.0, 0.0, 0.0, 2.0];
        assert_eq!(standardised(&scores, 0.0), [1.0, -1.0, -1.0, 1.0]);
        assert_eq!(standardised(&scores, 2.0), [0.5, -0.5, -0.5, 0.5]);
        assert_eq!(standardised(&[0.0; 3], 0.0), [0.0; 3]);
    }
}
