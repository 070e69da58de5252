//! Means and paired intervals of rankings.

use crate::fit::held_out::Scores;
use crate::random::Random;

/// Random stream of the seed that draws queries.
const BOOTSTRAP_STREAM: u64 = 5_000;
/// Resamples of the queries for an interval (Efron 1979).
const RESAMPLES: usize = 1_000;

/// Scores of one ranking by collection and query.
pub(crate) type ByQuery = Vec<Vec<Scores>>;

/// A value with the interval that holds 95 of 100 resamples of the queries.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Estimate {
    /// Of all queries.
    pub value: f64,
    /// 2.5 of 100 resamples are below.
    pub low: f64,
    /// 2.5 of 100 resamples are above.
    pub high: f64,
}

/// nDCG@10: mean over collections of the mean over queries; queries are drawn with replacement within
/// their collections (Efron 1979).
#[must_use]
pub fn quality(scores: &ByQuery, seed: u64) -> Estimate {
    let gains =
        |collection: &Vec<Scores>| collection.iter().map(|scores| scores.ndcg_at_10).collect();
    estimate(&scores.iter().map(gains).collect::<Vec<_>>(), seed)
}

/// nDCG@10 of `scores` less that of `reference` on the same queries (paired bootstrap).
#[must_use]
pub fn difference(scores: &ByQuery, reference: &ByQuery, seed: u64) -> Estimate {
    let differences = |(scores, reference): (&Vec<Scores>, &Vec<Scores>)| {
        let pairs = scores.iter().zip(reference);
        pairs
            .map(|(scores, reference)| scores.ndcg_at_10 - reference.ndcg_at_10)
            .collect()
    };
    let by_collection = scores.iter().zip(reference).map(differences);
    estimate(&by_collection.collect::<Vec<_>>(), seed)
}

/// Query by query the mean over runs (of different seeds).
#[must_use]
pub fn mean_of_runs(runs: &[ByQuery]) -> ByQuery {
    let mut sum = runs.first().cloned().unwrap_or_default();
    for run in runs.iter().skip(1) {
        for (sum, scores) in sum.iter_mut().flatten().zip(run.iter().flatten()) {
            sum.ndcg_at_10 += scores.ndcg_at_10;
            sum.mrr_at_10 += scores.mrr_at_10;
        }
    }
    let count = runs.len().max(1) as f64;
    for scores in sum.iter_mut().flatten() {
        scores.ndcg_at_10 /= count;
        scores.mrr_at_10 /= count;
    }
    sum
}

/// nDCG@10 of each collection.
#[must_use]
pub fn by_collection(scores: &ByQuery) -> Vec<f64> {
    let of = |collection: &Vec<Scores>| mean(&vec![collection.clone()]).ndcg_at_10;
    scores.iter().map(of).collect()
}

/// Mean over collections of the mean over queries.
pub(crate) fn mean(scores: &ByQuery) -> Scores {
    let mean_of = |value: &dyn Fn(&Scores) -> f64| {
        let of_collection = |queries: &Vec<Scores>| {
            queries.iter().map(value).sum::<f64>() / queries.len().max(1) as f64
        };
        scores.iter().map(of_collection).sum::<f64>() / scores.len().max(1) as f64
    };
    Scores {
        ndcg_at_10: mean_of(&|scores| scores.ndcg_at_10),
        mrr_at_10: mean_of(&|scores| scores.mrr_at_10),
    }
}

fn estimate(values: &[Vec<f64>], seed: u64) -> Estimate {
    let mut random = Random::new(seed, BOOTSTRAP_STREAM);
    let mut resampled: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            mean_of(values, |collection| {
                let draws =
                    (0..collection.len()).map(|_| collection[random.below(collection.len())]);
                draws.sum()
            })
        })
        .collect();
    resampled.sort_by(f64::total_cmp);
    let at = |share: f64| resampled[((RESAMPLES - 1) as f64 * share).round() as usize];
    Estimate {
        value: mean_of(values, |collection| collection.iter().sum()),
        low: at(0.025),
        high: at(0.975),
    }
}

fn mean_of(values: &[Vec<f64>], mut sum: impl FnMut(&Vec<f64>) -> f64) -> f64 {
    let means = values
        .iter()
        .map(|collection| sum(collection) / collection.len().max(1) as f64);
    means.sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(gains: &[f64]) -> Vec<Scores> {
        let of = |&ndcg_at_10: &f64| Scores {
            ndcg_at_10,
            mrr_at_10: 0.0,
        };
        gains.iter().map(of).collect()
    }

    #[test]
    fn a_paired_difference_ignores_how_hard_queries_are() {
        let reference = vec![scores(&[0.0, 1.0, 0.2, 0.8, 0.5])];
        let better = vec![scores(&[0.1, 1.1, 0.3, 0.9, 0.6])];
        let found = difference(&better, &reference, 1);
        assert!((found.low - 0.1).abs() < 1e-9 && (found.high - 0.1).abs() < 1e-9);
        assert!(quality(&reference, 1).high - quality(&reference, 1).low > 0.3);
    }

    #[test]
    fn collections_count_alike_whatever_their_size() {
        let uneven = vec![scores(&[1.0]), scores(&[0.0; 9])];
        assert!((quality(&uneven, 1).value - 0.5).abs() < 1e-9);
        assert_eq!(by_collection(&uneven), [1.0, 0.0]);
    }

    #[test]
    fn runs_are_averaged_query_by_query() {
        let runs = [vec![scores(&[0.0, 1.0])], vec![scores(&[1.0, 1.0])]];
        assert_eq!(mean_of_runs(&runs), vec![scores(&[0.5, 1.0])]);
    }

    #[test]
    fn an_interval_holds_the_mean_and_narrows_with_more_queries() {
        let few = vec![scores(&[0.0, 1.0, 0.5, 0.5])];
        let many = vec![scores(&[0.0, 1.0, 0.5, 0.5].repeat(50))];
        let width = |of: &ByQuery| quality(of, 1).high - quality(of, 1).low;
        let Estimate { value, low, high } = quality(&few, 1);
        assert!(low < value && value < high);
        assert!(width(&many) < width(&few) / 3.0);
        assert_eq!(quality(&few, 1), quality(&few, 1));
    }
}
