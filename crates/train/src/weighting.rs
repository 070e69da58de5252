//! Weights of buckets, chosen by queries that they are not measured on: one weighting for all queries (UHD-BERT,
//! section 4.4), or one for each query, predicted from its vector, which the paper left as future work.
//!
//! Each collection's queries are halved; what the one half chooses ranks the other, both ways round.

use crate::fit::held_out::Scores;
use crate::linear::solve;
use crate::statistics::{ByQuery, mean};

/// Weights of a bucket that are tried: all combinations of these, the sum being 1.
const STEPS: usize = 10;
/// Strengths of the ridge that are tried, against vectors of length 1; the strongest predicts nearly the same for all
/// queries.
const RIDGES: [f32; 5] = [1e6, 100.0, 10.0, 1.0, 0.1];

/// Vectors of one collection's queries, each `[dim]`.
pub(crate) type QueryVectors = Vec<Vec<f32>>;

/// How each query is ranked by each weighting.
pub(crate) struct Tried {
    /// Weights of the buckets, by weighting.
    weights: Vec<Vec<f64>>,
    /// Metrics by weighting.
    scores: Vec<ByQuery>,
}

/// A query with what a predictor may see of it, and what each weighting makes of it.
#[derive(Clone)]
struct Example<'a> {
    /// Centred, of length 1.
    vector: &'a [f32],
    /// nDCG@10 by weighting.
    gains: &'a [f32],
}

impl Tried {
    /// Ranks all queries by all weightings of `buckets` buckets.
    pub(crate) fn new(buckets: usize, ranked: impl Fn(&[f64]) -> ByQuery) -> Self {
        let weights = weightings(buckets);
        let scores = weights.iter().map(|weights| ranked(weights)).collect();
        Self { weights, scores }
    }

    /// Each half of the queries by the weights that are best for the other half; and these weights.
    pub(crate) fn tuned(&self) -> (ByQuery, String) {
        let best = [0, 1].map(|measured| {
            let quality = |at: &usize| mean(&half(&self.scores[*at], 1 - measured)).ndcg_at_10;
            // The first of equally good weightings.
            let all = (0..self.weights.len()).rev();
            all.max_by(|a, b| quality(a).total_cmp(&quality(b)))
                .unwrap_or(0)
        });
        let names = best.map(|at| {
            let weights = self.weights[at].iter();
            let weights: Vec<String> = weights.map(|weight| format!("{weight:.1}")).collect();
            weights.join(" + ")
        });
        (self.by_choice(|_, query| best[query % 2]), names.join("; "))
    }

    /// Each query by the weights that are the best for it by a prediction from its vector, learnt on the other half
    /// of the queries: ridge regression of every weighting's nDCG@10. How strong the ridge is, that half
    /// decides in halves of its own; so the prediction can fall back to one weighting for all.
    ///
    /// `vectors`: by collection.
    pub(crate) fn predicted(&self, vectors: &[QueryVectors]) -> ByQuery {
        let vectors = centred(vectors);
        let gains = self.gains();
        let examples = |keep: &dyn Fn(usize) -> bool| -> Vec<Example<'_>> {
            let collections = vectors.iter().zip(&gains);
            let all =
                collections.flat_map(|(vectors, gains)| vectors.iter().zip(gains).enumerate());
            all.filter(|(query, _)| keep(*query))
                .map(|(_, (vector, gains))| Example { vector, gains })
                .collect()
        };
        let choosers = [0, 1].map(|measured| {
            let quarter = |rest: usize| examples(&|query| query % 4 == rest);
            let quarters = [quarter(1 - measured), quarter(3 - measured)];
            let gained = |ridge: f32| {
                let [one, other] = &quarters;
                Predictor::new(one.clone(), ridge).gained(other)
                    + Predictor::new(other.clone(), ridge).gained(one)
            };
            // The strongest of equally good ridges.
            let ridges = RIDGES.into_iter().rev();
            let ridges = ridges.map(|ridge| (ridge, gained(ridge)));
            let best = ridges.max_by(|a, b| a.1.total_cmp(&b.1));
            let learnt = examples(&|query| query % 2 != measured);
            Predictor::new(learnt, best.map_or(RIDGES[0], |(ridge, _)| ridge))
        });
        self.by_choice(|collection, query| choosers[query % 2].best(&vectors[collection][query]))
    }

    /// nDCG@10 by collection, query and weighting.
    fn gains(&self) -> Vec<Vec<Vec<f32>>> {
        let first = self.scores.first().map_or(&[][..], Vec::as_slice);
        let collections = first.iter().enumerate();
        let of_query = |collection: usize, query: usize| {
            let scores = self.scores.iter();
            scores
                .map(|scores| scores[collection][query].ndcg_at_10 as f32)
                .collect()
        };
        collections
            .map(|(at, queries)| {
                (0..queries.len())
                    .map(|query| of_query(at, query))
                    .collect()
            })
            .collect()
    }

    /// Each query by the weighting that `choice` gives for (collection, query).
    fn by_choice(&self, choice: impl Fn(usize, usize) -> usize) -> ByQuery {
        let first = self.scores.first().map_or(&[][..], Vec::as_slice);
        let collections = first.iter().enumerate();
        let of_query = |collection: usize, query: usize| -> Scores {
            self.scores[choice(collection, query)][collection][query]
        };
        collections
            .map(|(at, queries)| {
                (0..queries.len())
                    .map(|query| of_query(at, query))
                    .collect()
            })
            .collect()
    }
}

/// Ridge regression in its dual form: `gain(q) = mean + K(q) · (K + ridge)⁻¹ (gains − mean)`, `K` inner products.
struct Predictor<'a> {
    examples: Vec<Example<'a>>,
    /// By weighting.
    mean: Vec<f32>,
    /// By example and weighting.
    weights: Vec<Vec<f32>>,
}

impl<'a> Predictor<'a> {
    fn new(examples: Vec<Example<'a>>, ridge: f32) -> Self {
        let weightings = examples.first().map_or(0, |example| example.gains.len());
        let mean: Vec<f32> = (0..weightings)
            .map(|at| {
                let gains = examples.iter().map(|example| example.gains[at]);
                gains.sum::<f32>() / examples.len() as f32
            })
            .collect();
        let kernel = examples.iter().enumerate().map(|(i, example)| {
            let mut row = products(example.vector, &examples);
            row[i] += ridge;
            row
        });
        let rest = examples.iter().map(|example| {
            let pairs = example.gains.iter().zip(&mean);
            pairs.map(|(gain, mean)| gain - mean).collect()
        });
        let weights = solve(kernel.collect(), rest.collect());
        Self {
            examples,
            mean,
            weights,
        }
    }

    /// The weighting that promises most for a query with this vector, the first of equals.
    fn best(&self, vector: &[f32]) -> usize {
        let mut gains = self.mean.clone();
        for (product, weights) in products(vector, &self.examples).iter().zip(&self.weights) {
            for (gain, weight) in gains.iter_mut().zip(weights) {
                *gain += product * weight;
            }
        }
        let all = (0..gains.len()).rev();
        all.max_by(|a, b| gains[*a].total_cmp(&gains[*b]))
            .unwrap_or(0)
    }

    /// What its choices give on `examples`, added.
    fn gained(&self, examples: &[Example<'_>]) -> f32 {
        let chosen = examples
            .iter()
            .map(|example| example.gains.get(self.best(example.vector)));
        chosen.flatten().sum()
    }
}

fn products(vector: &[f32], examples: &[Example<'_>]) -> Vec<f32> {
    let product = |example: &Example<'_>| -> f32 {
        let pairs = vector.iter().zip(example.vector);
        pairs.map(|(x, y)| x * y).sum()
    };
    examples.iter().map(product).collect()
}

/// Vectors minus their common mean, of length 1.
fn centred(vectors: &[QueryVectors]) -> Vec<QueryVectors> {
    let all = || vectors.iter().flatten();
    let mut mean = vec![0f32; all().next().map_or(0, Vec::len)];
    let count = all().count() as f32;
    for vector in all() {
        for (mean, x) in mean.iter_mut().zip(vector) {
            *mean += x / count;
        }
    }
    let unit = |vector: &Vec<f32>| -> Vec<f32> {
        let rest: Vec<f32> = vector.iter().zip(&mean).map(|(x, mean)| x - mean).collect();
        let length = rest.iter().map(|x| x * x).sum::<f32>().sqrt();
        let length = length.max(f32::MIN_POSITIVE);
        rest.iter().map(|x| x / length).collect()
    };
    let collections = vectors.iter();
    collections
        .map(|queries| queries.iter().map(unit).collect())
        .collect()
}

/// Every second query of each collection.
fn half(scores: &ByQuery, half: usize) -> ByQuery {
    let of_half = |queries: &Vec<Scores>| queries.iter().copied().skip(half).step_by(2).collect();
    scores.iter().map(of_half).collect()
}

/// All weights that are tenths and add up to 1.
fn weightings(buckets: usize) -> Vec<Vec<f64>> {
    fn steps(buckets: usize, left: usize) -> Vec<Vec<usize>> {
        if buckets == 1 {
            return vec![vec![left]];
        }
        let first = 0..=left;
        let with = |first: usize| {
            let rest = steps(buckets - 1, left - first).into_iter();
            rest.map(move |rest| std::iter::once(first).chain(rest).collect::<Vec<_>>())
        };
        first.flat_map(with).collect()
    }
    let share = |step: usize| step as f64 / STEPS as f64;
    let all = steps(buckets.max(1), STEPS).into_iter();
    all.map(|steps| steps.into_iter().map(share).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(all: &[f64]) -> Vec<Scores> {
        let of = |&ndcg_at_10: &f64| Scores {
            ndcg_at_10,
            mrr_at_10: 0.0,
        };
        all.iter().map(of).collect()
    }

    #[test]
    fn weights_add_up_to_one() {
        let all = weightings(3);
        assert_eq!(all.len(), 66);
        for weights in all {
            assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn weights_are_measured_on_queries_that_did_not_choose_them() {
        // Bucket 0 is right for the even queries alone, bucket 1 for the odd ones.
        let ranked =
            |weights: &[f64]| vec![scores(&[weights[0], weights[1], weights[0], weights[1]])];
        let (found, names) = Tried::new(2, ranked).tuned();
        assert_eq!(mean(&found).ndcg_at_10, 0.0);
        assert_eq!(names, "0.0 + 1.0; 1.0 + 0.0");
    }

    #[test]
    fn queries_stay_in_their_order() {
        let quality = [0.0, 0.1, 0.2, 0.3, 0.4];
        let tried = Tried::new(1, |_| vec![scores(&quality)]);
        assert_eq!(tried.tuned().0, vec![scores(&quality)]);
    }

    /// Of 40 queries those with a first coordinate above 0 want bucket 0, the others bucket 1.
    fn of_two_kinds() -> (Tried, Vec<Vec<f32>>) {
        let vectors: Vec<Vec<f32>> = (0..40)
            .map(|query| {
                let side = if query / 4 % 2 == 0 { 1.0 } else { -1.0 };
                vec![side, (query as f32 * 0.7).sin()]
            })
            .collect();
        let wanted: Vec<usize> = vectors.iter().map(|v| usize::from(v[0] < 0.0)).collect();
        let ranked = |weights: &[f64]| {
            let quality: Vec<f64> = wanted.iter().map(|&bucket| weights[bucket]).collect();
            vec![scores(&quality)]
        };
        (Tried::new(2, ranked), vectors)
    }

    #[test]
    fn a_prediction_finds_what_the_vector_tells() {
        let (tried, vectors) = of_two_kinds();
        let predicted = mean(&tried.predicted(&[vectors])).ndcg_at_10;
        assert!(predicted > 0.99, "{predicted}");
        assert!(mean(&tried.tuned().0).ndcg_at_10 < 0.6);
    }

    #[test]
    fn vectors_that_tell_nothing_leave_one_weighting() {
        let (tried, vectors) = of_two_kinds();
        let same = vec![vec![1.0, 0.5]; vectors.len()];
        let predicted = mean(&tried.predicted(&[same])).ndcg_at_10;
        assert_eq!(predicted, mean(&tried.tuned().0).ndcg_at_10);
    }
}
