//! Retrieval metrics with the definitions of `trec_eval`, and the ranking they are taken on.
//!
//! Non-goals: statistics over queries (see [`crate::significance`]).

use std::cmp::Reverse;

use serde::Serialize;

use crate::beir::Judgments;

/// Documents of a ranking that are looked at; deeper ones count as not found.
pub const RANKING_DEPTH: usize = 1_000;

/// Quality of one ranking, or the mean over rankings; every value is between 0 and 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Metrics {
    /// Normalised discounted cumulated gain of the first 10 (Järvelin and Kekäläinen, 2002):
    /// gain = judged gain, discount = log2(rank + 1), ideal over all relevant documents.
    #[serde(rename = "ndcg@10")]
    pub ndcg_at_10: f64,
    /// 1 / rank of the first relevant document among the first 10, else 0.
    #[serde(rename = "mrr@10")]
    pub mrr_at_10: f64,
    /// Share of the relevant documents among the first 10.
    #[serde(rename = "recall@10")]
    pub recall_at_10: f64,
    /// Share of the relevant documents among the first 100.
    #[serde(rename = "recall@100")]
    pub recall_at_100: f64,
    /// Average precision: the mean of the precision at each relevant document, 0 for those that
    /// are not found.
    pub map: f64,
    /// Precision of the first R, R being the number of relevant documents.
    pub r_precision: f64,
}

impl Metrics {
    /// The metrics of one ranking (document ids, best first) against a query's judgments.
    /// All 0 if nothing is relevant.
    ///
    /// ```
    /// use siskin_eval::metrics::Metrics;
    /// let judgments = [("guide".to_owned(), 1)].into();
    /// let metrics = Metrics::of_ranking(&["index", "guide"], &judgments);
    /// assert_eq!(metrics.mrr_at_10, 0.5);
    /// ```
    #[must_use]
    pub fn of_ranking(ranking: &[&str], judgments: &Judgments) -> Self {
        let ranking = &ranking[..ranking.len().min(RANKING_DEPTH)];
        let gains: Vec<u32> = ranking
            .iter()
            .map(|&id| judgments.get(id).copied().unwrap_or(0))
            .collect();
        let relevant = judgments.len();
        if relevant == 0 {
            return Self::default();
        }
        Self {
            ndcg_at_10: discounted_gain(&gains) / discounted_gain(&ideal_gains(judgments)),
            mrr_at_10: reciprocal_rank(&gains),
            recall_at_10: ratio(found(&gains, 10), relevant),
            recall_at_100: ratio(found(&gains, 100), relevant),
            map: average_precision(&gains, relevant),
            r_precision: ratio(found(&gains, relevant), relevant),
        }
    }

    /// The mean of each metric; all 0 for none.
    #[must_use]
    pub fn mean(of: &[Self]) -> Self {
        let mean = |value: fn(&Self) -> f64| {
            (of.iter().map(value).sum::<f64>() + 0.0) / of.len().max(1) as f64
        };
        Self {
            ndcg_at_10: mean(|metrics| metrics.ndcg_at_10),
            mrr_at_10: mean(|metrics| metrics.mrr_at_10),
            recall_at_10: mean(|metrics| metrics.recall_at_10),
            recall_at_100: mean(|metrics| metrics.recall_at_100),
            map: mean(|metrics| metrics.map),
            r_precision: mean(|metrics| metrics.r_precision),
        }
    }

    /// Names and values, in the order of the report.
    #[must_use]
    pub fn columns(&self) -> [(&'static str, f64); 6] {
        [
            ("ndcg@10", self.ndcg_at_10),
            ("mrr@10", self.mrr_at_10),
            ("recall@10", self.recall_at_10),
            ("recall@100", self.recall_at_100),
            ("map", self.map),
            ("r_precision", self.r_precision),
        ]
    }
}

/// The first [`RANKING_DEPTH`] ids by falling score; equal scores in falling order of id, as in
/// `trec_eval`.
pub fn rank<'a>(scored: impl IntoIterator<Item = (&'a str, f64)>) -> Vec<&'a str> {
    let mut scored: Vec<(&str, f64)> = scored.into_iter().collect();
    scored.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| b.0.cmp(a.0)));
    scored.truncate(RANKING_DEPTH);
    scored.into_iter().map(|(id, _)| id).collect()
}

/// Σ gain_r / log2(r + 1) over ranks r = 1 to 10.
fn discounted_gain(gains: &[u32]) -> f64 {
    let discounted = |(index, &gain): (usize, &u32)| f64::from(gain) / ((index + 2) as f64).log2();
    // An empty sum of floats is −0.
    gains
        .iter()
        .take(10)
        .enumerate()
        .map(discounted)
        .sum::<f64>()
        + 0.0
}

fn ideal_gains(judgments: &Judgments) -> Vec<u32> {
    let mut gains: Vec<u32> = judgments.values().copied().collect();
    gains.sort_unstable_by_key(|&gain| Reverse(gain));
    gains
}

fn reciprocal_rank(gains: &[u32]) -> f64 {
    let first = gains.iter().take(10).position(|&gain| gain > 0);
    first.map_or(0.0, |index| 1.0 / (index + 1) as f64)
}

fn found(gains: &[u32], depth: usize) -> usize {
    gains.iter().take(depth).filter(|&&gain| gain > 0).count()
}

fn average_precision(gains: &[u32], relevant: usize) -> f64 {
    let hits = gains.iter().enumerate().filter(|&(_, &gain)| gain > 0);
    let precisions = hits
        .enumerate()
        .map(|(before, (index, _))| ratio(before + 1, index + 1));
    (precisions.sum::<f64>() + 0.0) / relevant as f64
}

fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judgments(pairs: &[(&str, u32)]) -> Judgments {
        pairs
            .iter()
            .map(|&(id, gain)| (id.to_owned(), gain))
            .collect()
    }

    #[track_caller]
    fn assert_close(found: Metrics, expected: [f64; 6]) {
        for ((name, found), expected) in found.columns().into_iter().zip(expected) {
            assert!(
                (found - expected).abs() < 1e-6,
                "{name}: {found}, expected {expected}"
            );
        }
    }

    #[test]
    fn graded_gains_by_hand() {
        // Ranks of the relevant: b (gain 1) at 2, a (gain 3) at 4; c (gain 2) is not found.
        let metrics = Metrics::of_ranking(
            &["x", "b", "y", "a"],
            &judgments(&[("a", 3), ("b", 1), ("c", 2)]),
        );
        let gained = 1.0 / 3f64.log2() + 3.0 / 5f64.log2();
        let ideal = 3.0 + 2.0 / 3f64.log2() + 1.0 / 2.0;
        let map = (1.0 / 2.0 + 2.0 / 4.0) / 3.0;
        let two_thirds = 2.0 / 3.0;
        assert_close(
            metrics,
            [gained / ideal, 0.5, two_thirds, two_thirds, map, 1.0 / 3.0],
        );
    }

    #[test]
    fn ranks_beyond_ten_count_for_recall_at_100_and_map_only() {
        let ids: Vec<String> = (1..=40).map(|rank| format!("d{rank}")).collect();
        let ranking: Vec<&str> = ids.iter().map(String::as_str).collect();
        let metrics = Metrics::of_ranking(&ranking, &judgments(&[("d11", 1), ("d40", 1)]));
        assert_close(
            metrics,
            [0.0, 0.0, 0.0, 1.0, (1.0 / 11.0 + 2.0 / 40.0) / 2.0, 0.0],
        );
    }

    /// Values of pytrec_eval-terrier 0.5.11:
    ///
    /// ```python
    /// rank = [f"d{r * 37 % 120}" for r in range(120)]
    /// qrel = {f"d{n}": n % 3 + 1 for n in range(120) if n % 7 == 4}
    /// run = {d: 120.0 - i for i, d in enumerate(rank)}
    /// m = {"ndcg_cut.10", "recip_rank", "recall.10,100", "map", "Rprec"}
    /// pytrec_eval.RelevanceEvaluator({"q": qrel}, m).evaluate({"q": run})
    /// ```
    #[test]
    fn agrees_with_trec_eval() {
        let ids: Vec<String> = (0..120)
            .map(|rank| format!("d{}", rank * 37 % 120))
            .collect();
        let ranking: Vec<&str> = ids.iter().map(String::as_str).collect();
        let judged: Vec<(String, u32)> = (0..120)
            .filter(|n| n % 7 == 4)
            .map(|n| (format!("d{n}"), n % 3 + 1))
            .collect();
        let pairs: Vec<(&str, u32)> = judged
            .iter()
            .map(|(id, gain)| (id.as_str(), *gain))
            .collect();
        let metrics = Metrics::of_ranking(&ranking, &judgments(&pairs));
        assert_close(
            metrics,
            [
                0.147_947, 0.333_333, 0.117_647, 0.882_353, 0.165_354, 0.117_647,
            ],
        );
    }

    #[test]
    fn equal_scores_rank_by_id() {
        let ranking = rank([("b", 1.0), ("c", 2.0), ("a", 1.0)]);
        assert_eq!(ranking, ["c", "b", "a"]);
    }

    #[test]
    fn means_are_macro_over_queries() {
        let one = Metrics {
            ndcg_at_10: 1.0,
            map: 0.5,
            ..Metrics::default()
        };
        let mean = Metrics::mean(&[one, Metrics::default()]);
        assert_eq!((mean.ndcg_at_10, mean.map), (0.5, 0.25));
        assert_eq!(Metrics::mean(&[]), Metrics::default());
    }
}
