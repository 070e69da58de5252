//! What Siskin is compared with beside BM25: dense vectors of passages, and their sum with BM25.

use rayon::prelude::*;

/// Weight of the dense scores in the hybrid, chosen once on the collections' dev splits.
const DENSE_WEIGHT: f64 = 1.5;

/// Vectors of all passages of a corpus, with the document that each belongs to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PassageVectors {
    /// Width of a vector.
    pub dim: usize,
    /// `[passages, dim]`, row-major, each of unit length.
    pub vectors: Vec<f32>,
    /// `[passages]`: the document's place in the corpus.
    pub documents: Vec<usize>,
    /// How many documents the corpus has.
    pub document_count: usize,
}

impl PassageVectors {
    /// The cosine of `query` (`[dim]`, unit length) with each document's best passage, in the
    /// order of the corpus; -1 for a document without passages.
    #[must_use]
    pub fn scores(&self, query: &[f32]) -> Vec<f64> {
        let mut best = vec![-1.0; self.document_count];
        let passages = self
            .vectors
            .chunks_exact(self.dim.max(1))
            .zip(&self.documents);
        for (vector, &document) in passages {
            if let Some(best) = best.get_mut(document) {
                *best = f64::max(*best, f64::from(dot(query, vector)));
            }
        }
        best
    }

    /// [`PassageVectors::scores`] of many queries, in parallel.
    #[must_use]
    pub fn scores_of_all(&self, queries: &[Vec<f32>]) -> Vec<Vec<f64>> {
        queries.par_iter().map(|query| self.scores(query)).collect()
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Scores minus their mean, in standard deviations of all of them (population form); all 0 if
/// they do not differ.
#[must_use]
pub fn z_scores(scores: &[f64]) -> Vec<f64> {
    let count = scores.len().max(1) as f64;
    let mean = scores.iter().sum::<f64>() / count;
    let variance = scores
        .iter()
        .map(|score| (score - mean).powi(2))
        .sum::<f64>()
        / count;
    let deviation = if variance > 0.0 { variance.sqrt() } else { 1.0 };
    scores
        .iter()
        .map(|score| (score - mean) / deviation)
        .collect()
}

/// The hybrid of words and vectors that search stacks commonly use: z(BM25) + 1.5 z(dense), z per
/// query over all documents of the corpus.
#[must_use]
pub fn hybrid(bm25: &[f64], dense: &[f64]) -> Vec<f64> {
    let sum = |(words, dense): (f64, f64)| words + DENSE_WEIGHT * dense;
    z_scores(bm25)
        .into_iter()
        .zip(z_scores(dense))
        .map(sum)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_has_its_best_passages_score() {
        let vectors = PassageVectors {
            dim: 2,
            vectors: vec![1.0, 0.0, 0.6, 0.8, 0.0, 1.0],
            documents: vec![0, 0, 2],
            document_count: 3,
        };
        let found = vectors.scores(&[0.0, 1.0]);
        assert!((found[0] - 0.8).abs() < 1e-6, "{found:?}");
        assert_eq!(found[1..], [-1.0, 1.0]);
    }

    #[test]
    fn z_scores_have_mean_0_and_deviation_1() {
        // Mean 5, population variance 4: the textbook example.
        let found = z_scores(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert_eq!(found, [-1.5, -0.5, -0.5, -0.5, 0.0, 0.0, 1.0, 2.0]);
        assert_eq!(z_scores(&[3.0, 3.0]), [0.0, 0.0]);
    }

    #[test]
    fn the_hybrid_weighs_dense_by_one_and_a_half() {
        assert_eq!(hybrid(&[4.0, 2.0], &[0.25, 0.75]), [-0.5, 0.5]);
    }
}
