//! A query's codes and dense vector from its token vectors (`full` mode).

use siskin_core::encoded::{EncodedQuery, EncodedText, TokenWinners};

use crate::pool::mean_pool;

/// Sums the winners of all tokens per dimension, and centres the mean vector on `query_mean` (`[dim]`).
pub(crate) fn pool(text: &EncodedText, query_mean: &[f32]) -> EncodedQuery {
    EncodedQuery {
        buckets: text.buckets.iter().map(summed_activations).collect(),
        dense: mean_pool(text)
            .iter()
            .zip(query_mean)
            .map(|(x, mean)| x - mean)
            .collect(),
    }
}

/// `(dimension, activation summed over tokens)` in order of dimension.
fn summed_activations(winners: &TokenWinners) -> Vec<(u32, f32)> {
    let mut sums: Vec<(u32, f32)> = Vec::new();
    for (&dimension, activation) in winners.dimensions.iter().zip(&winners.activations) {
        let found = sums.binary_search_by_key(&dimension, |(own, _)| *own);
        let place = found.unwrap_or_else(|place| {
            sums.insert(place, (dimension, 0.0));
            place
        });
        sums[place].1 += activation;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use siskin_core::ids::PieceId;

    #[test]
    fn sums_tokens_and_centres_the_mean() {
        let text = EncodedText {
            pieces: [101, 7, 8, 102].map(PieceId).to_vec(),
            hidden: vec![1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0],
            buckets: vec![TokenWinners {
                k: 1,
                dimensions: vec![9, 9],
                activations: vec![1.0, 2.5],
            }],
        };
        let query = pool(&text, &[0.25, 0.5]);
        assert_eq!(query.buckets, [vec![(9, 3.5)]]);
        assert_eq!(query.dense, [0.75, -0.5]);
    }
}
