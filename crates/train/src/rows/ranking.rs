//! How well queries find their passages: collections, centring, mean reciprocal rank.

use rayon::prelude::*;

use super::pooling::{Pair, Passages, Pooling};
use super::vector::{add_scaled, dot, mean_row, normalize};

/// `unit − mean`, of unit length, and its former length.
pub fn centre(unit: &[f32], mean: &[f32]) -> (Vec<f32>, f32) {
    let mut centred = unit.to_vec();
    add_scaled(&mut centred, -1.0, mean);
    let length = normalize(&mut centred);
    (centred, length)
}

/// Which collection each passage belongs to, by the pairs that name it.
pub struct Collections {
    /// `[passages]`; none for passages of no pair.
    of_passage: Vec<Option<usize>>,
    count: usize,
}

impl Collections {
    /// Reads off `pairs` where each of `passages` passages belongs.
    pub fn of(pairs: &[Pair], passages: usize) -> Self {
        let mut of_passage = vec![None; passages];
        for pair in pairs {
            if let Some(collection) = of_passage.get_mut(pair.passage) {
                *collection = Some(pair.collection);
            }
        }
        let count = pairs.iter().map(|pair| pair.collection + 1).max();
        Self {
            of_passage,
            count: count.unwrap_or(0),
        }
    }

    /// Mean row of each collection; `rows`: `[passages, dim]`.
    pub fn means(&self, rows: &[f32], dim: usize) -> Vec<Vec<f32>> {
        let mean_of =
            |collection| mean_row(self.members(collection, rows, dim).map(|(_, row)| row), dim);
        (0..self.count).map(mean_of).collect()
    }

    /// Passages of a collection with their rows of `rows` (`[passages, dim]`).
    fn members<'a>(
        &'a self,
        collection: usize,
        rows: &'a [f32],
        dim: usize,
    ) -> impl Iterator<Item = (usize, &'a [f32])> {
        let all = self.of_passage.iter().zip(rows.chunks(dim)).enumerate();
        all.filter(move |(_, (own, _))| **own == Some(collection))
            .map(|(passage, (_, row))| (passage, row))
    }

    /// `rows` (`[passages, dim]`) minus their collection's mean, of unit length.
    fn centred(&self, rows: &[f32], dim: usize) -> Vec<f32> {
        let means = self.means(rows, dim);
        let nothing = vec![0f32; dim];
        let mean_of = |own: &Option<usize>| own.and_then(|own| means.get(own)).unwrap_or(&nothing);
        let rows = rows.chunks(dim).zip(&self.of_passage);
        rows.flat_map(|(row, own)| centre(row, mean_of(own)).0)
            .collect()
    }
}

/// How well queries find their passages among all passages of the same collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Ranking {
    /// Mean reciprocal rank with f32 passages.
    pub float_mrr: f32,
    /// The same with the sign bits of the centred passages.
    pub sign_mrr: f32,
}

/// Ranks the passages of its collection for each query of `pairs`; means are over pairs.
pub fn rank(
    passages: &Passages,
    collections: &Collections,
    pairs: &[Pair],
    pooling: &Pooling,
) -> Ranking {
    let dim = passages.dim;
    let centred = collections.centred(&passages.pool(pooling), dim);
    let signs: Vec<f32> = centred.iter().map(|x| x.signum()).collect();
    Ranking {
        float_mrr: mean_reciprocal_rank(collections, pairs, &centred, dim),
        sign_mrr: mean_reciprocal_rank(collections, pairs, &signs, dim),
    }
}

fn mean_reciprocal_rank(
    collections: &Collections,
    pairs: &[Pair],
    rows: &[f32],
    dim: usize,
) -> f32 {
    let reciprocal = |pair: &Pair| {
        let own = rows.get(pair.passage * dim..(pair.passage + 1) * dim);
        let score = own.map_or(f32::NEG_INFINITY, |own| dot(pair.query, own));
        let better = collections
            .members(pair.collection, rows, dim)
            .filter(|(passage, row)| *passage != pair.passage && dot(pair.query, row) > score);
        1.0 / (1 + better.count()) as f32
    };
    // Added in order, so that what a manifest says of it is the same each time.
    let ranks: Vec<f32> = pairs.par_iter().map(reciprocal).collect();
    ranks.iter().sum::<f32>() / pairs.len().max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_ranked_within_their_collection() {
        let query = [1.0, 0.0];
        let pair = |passage, collection| Pair {
            query: &query,
            passage,
            collection,
        };
        let pairs = [pair(0, 0), pair(1, 0), pair(2, 1)];
        let collections = Collections::of(&pairs, 3);
        let rows = [0.9, 0.1, 0.8, 0.1, 1.0, 0.0];
        let mrr = |pair: Pair| mean_reciprocal_rank(&collections, &[pair], &rows, 2);
        assert_eq!(mrr(pairs[0]), 1.0);
        assert_eq!(
            mrr(pairs[1]),
            0.5,
            "passage 0 is nearer, passage 2 belongs elsewhere"
        );
        assert_eq!(mrr(pairs[2]), 1.0);
    }

    #[test]
    fn centring_subtracts_the_mean_of_the_own_collection() {
        let pairs = [(0, 0), (1, 0), (2, 1)].map(|(passage, collection)| Pair {
            query: &[],
            passage,
            collection,
        });
        let centred = Collections::of(&pairs, 3).centred(&[3.0, 0.0, 1.0, 0.0, 5.0, 5.0], 2);
        assert_eq!(centred, [1.0, 0.0, -1.0, 0.0, 0.0, 0.0]);
    }
}
