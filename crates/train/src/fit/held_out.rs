//! Ranking metrics on held-out pairs.
//!
//! Codes are scored as the index scores them: a passage keeps its strongest dimensions by summed
//! activation, binary; a query's relevance is the summed rarity of the shared dimensions over the
//! root of the passage's code length.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use anyhow::Result;
use candle_core::{DType, Device, Tensor};
use serde::Serialize;

use super::data::HeldOutSet;
use super::static_queries::StaticQueries;
use crate::bert::Bert;
use crate::checkpoint::Bucket;
use crate::encode::Encoded;
use crate::loss::{cosines, unit_rows};
use crate::tokenize::batches_by_length;
use crate::wta::{Head, Winners};

/// Word pieces encoded at once, padding included.
const BATCH_TOKENS: usize = 2_048;

/// Ranks that count.
const DEPTH: usize = 10;

/// Mean metrics of one ranking, between 0 and 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Scores {
    /// nDCG@10 with binary gains.
    pub ndcg_at_10: f64,
    /// Reciprocal rank of the first relevant passage, 0 below rank 10.
    pub mrr_at_10: f64,
}

/// One set's metrics: each bucket's codes, the buckets' sum, and the dense vectors.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Each bucket alone.
    pub buckets: Vec<Scores>,
    /// All buckets added.
    pub codes: Scores,
    /// Cosine of mean-pooled vectors.
    pub dense: Scores,
    /// Cosine of the sums of queries' rows and passages' mean-pooled vectors minus their mean, where there are rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub static_queries: Option<Scores>,
}

impl fmt::Display for Report {
    /// nDCG@10 in hundredths: `codes 75.5, dense 80.2, static queries 78.6`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |scores: &Scores| scores.ndcg_at_10 * 100.0;
        let (codes, dense) = (of(&self.codes), of(&self.dense));
        write!(f, "codes {codes:.1}, dense {dense:.1}")?;
        match &self.static_queries {
            Some(scores) => write!(f, ", static queries {:.1}", of(scores)),
            None => Ok(()),
        }
    }
}

/// What can be measured: a network with its heads.
pub struct Measured<'a> {
    /// The network.
    pub bert: &'a Bert,
    /// One head per bucket.
    pub heads: &'a [Head],
    /// Which layer each head reads.
    pub buckets: &'a [Bucket],
    /// Rows of queries that need no network, if there are some.
    pub(crate) static_queries: Option<&'a StaticQueries>,
    /// Dimensions that a passage's code keeps.
    pub passage_k: usize,
    /// Where tensors live.
    pub device: &'a Device,
}

/// Texts as codes and dense vectors.
pub(crate) struct Codes {
    /// By bucket, by text: dimensions, those of the largest summed activation first.
    pub(crate) buckets: Vec<Vec<Vec<u32>>>,
    /// By text: `[dim]`.
    pub(crate) dense: Vec<Vec<f32>>,
}

impl Measured<'_> {
    /// Metrics by the sets' names, and their means as `mean`.
    ///
    /// # Errors
    /// When a text cannot be encoded.
    pub fn report(&self, sets: &[HeldOutSet]) -> Result<BTreeMap<String, Report>> {
        let mut reports = BTreeMap::new();
        for set in sets {
            reports.insert(set.name.clone(), self.report_set(set)?);
        }
        if !reports.is_empty() {
            let mean = mean_report(&reports.values().collect::<Vec<_>>());
            reports.insert("mean".to_owned(), mean);
        }
        Ok(reports)
    }

    fn report_set(&self, set: &HeldOutSet) -> Result<Report> {
        let passages = self.encode(&set.passages, self.passage_k)?;
        let queries = self.encode(&set.queries, usize::MAX)?;
        let mut total = vec![vec![0.0; set.passages.len()]; set.queries.len()];
        let mut buckets = Vec::new();
        for (queries, passages) in queries.buckets.iter().zip(&passages.buckets) {
            let scores = overlap_scores(queries, passages);
            for (total, scores) in total.iter_mut().flatten().zip(scores.iter().flatten()) {
                *total += scores;
            }
            buckets.push(mean_scores(&scores, &set.relevant));
        }
        let dense = dense_scores(&queries.dense, &passages.dense, self.device)?;
        Ok(Report {
            buckets,
            codes: mean_scores(&total, &set.relevant),
            dense: mean_scores(&dense, &set.relevant),
            static_queries: self
                .static_queries
                .map(|rows| {
                    let scores = static_scores(rows, set, &passages.dense, self.device)?;
                    anyhow::Ok(mean_scores(&scores, &set.relevant))
                })
                .transpose()?,
        })
    }

    pub(crate) fn encode(&self, pieces: &[Vec<u32>], keep: usize) -> Result<Codes> {
        let mut codes = Codes {
            buckets: vec![vec![Vec::new(); pieces.len()]; self.heads.len()],
            dense: vec![Vec::new(); pieces.len()],
        };
        for batch in batches_by_length(pieces, BATCH_TOKENS, self.device)? {
            let encoded = Encoded::new(self.bert, &batch)?;
            for (&text, dense) in batch.texts.iter().zip(encoded.pooled()?.to_vec2::<f32>()?) {
                codes.dense[text] = dense;
            }
            let heads = self.heads.iter().zip(self.buckets);
            for (codes, (head, bucket)) in codes.buckets.iter_mut().zip(heads) {
                let winners = head.winners(&encoded.content_tokens(bucket.layer)?)?;
                let cut = cut_codes(&winners, &encoded.content, keep);
                for (&text, code) in batch.texts.iter().zip(cut) {
                    codes[text] = code;
                }
            }
        }
        Ok(codes)
    }
}

/// For each text its `keep` strongest dimensions by summed activation, strongest first.
fn cut_codes(winners: &Winners, content: &[Vec<u32>], keep: usize) -> Vec<Vec<u32>> {
    let mut start = 0;
    let mut codes = Vec::with_capacity(content.len());
    for rows in content {
        let end = start + rows.len() * winners.k;
        let dimensions = &winners.dimensions[start..end];
        codes.push(strongest_by_sum(
            dimensions,
            &winners.activations[start..end],
            keep,
        ));
        start = end;
    }
    codes
}

fn strongest_by_sum(dimensions: &[u32], activations: &[f32], keep: usize) -> Vec<u32> {
    let mut sums: BTreeMap<u32, f32> = BTreeMap::new();
    for (&dimension, &activation) in dimensions.iter().zip(activations) {
        *sums.entry(dimension).or_default() += activation;
    }
    let mut order: Vec<(u32, f32)> = sums.into_iter().collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let strongest = order.into_iter().map(|(dimension, _)| dimension);
    strongest.take(keep).collect()
}

/// Query × passage: summed rarity of shared dimensions over the root of the passage's length.
pub(crate) fn overlap_scores<C: AsRef<[u32]>>(queries: &[C], passages: &[C]) -> Vec<Vec<f64>> {
    let mut frequencies: HashMap<u32, usize> = HashMap::new();
    for &dimension in passages.iter().flat_map(AsRef::as_ref) {
        *frequencies.entry(dimension).or_default() += 1;
    }
    let count = passages.len() as f64;
    let rarity = |dimension: &u32| {
        let frequency = frequencies.get(dimension).copied().unwrap_or(0) as f64;
        (1.0 + (count - frequency + 0.5) / (frequency + 0.5)).ln()
    };
    weighted_overlaps(queries, passages, rarity)
}

/// Query × passage: summed weights of shared dimensions over the root of the passage's length.
pub(crate) fn weighted_overlaps<C: AsRef<[u32]>>(
    queries: &[C],
    passages: &[C],
    weight: impl Fn(&u32) -> f64,
) -> Vec<Vec<f64>> {
    let score = |query: &HashSet<u32>, passage: &[u32]| {
        let shared = passage.iter().filter(|dimension| query.contains(dimension));
        shared.map(&weight).sum::<f64>() / (passage.len().max(1) as f64).sqrt()
    };
    let ranked = queries.iter().map(|query| {
        let query: HashSet<u32> = query.as_ref().iter().copied().collect();
        passages
            .iter()
            .map(|passage| score(&query, passage.as_ref()))
            .collect()
    });
    ranked.collect()
}

pub(crate) fn dense_scores(
    queries: &[Vec<f32>],
    passages: &[Vec<f32>],
    device: &Device,
) -> Result<Vec<Vec<f64>>> {
    let queries = rows_tensor(queries, device)?;
    let passages = rows_tensor(passages, device)?;
    let cosines = cosines(&queries, &passages)?.to_vec2::<f32>()?;
    Ok(cosines
        .into_iter()
        .map(|row| row.into_iter().map(f64::from).collect())
        .collect())
}

/// Cosines of the sums of queries' rows and of passages' vectors minus their mean, by query.
fn static_scores(
    rows: &StaticQueries,
    set: &HeldOutSet,
    passages: &[Vec<f32>],
    device: &Device,
) -> Result<Vec<Vec<f64>>> {
    let passages = unit_rows(&rows_tensor(passages, device)?)?;
    let passages = passages.broadcast_sub(&passages.mean_keepdim(0)?)?;
    let cosines = cosines(&rows.vectors(&set.queries)?.detach(), &passages)?;
    Ok(cosines.to_dtype(DType::F64)?.to_vec2()?)
}

/// `[rows, width]` of rows of one width.
fn rows_tensor(rows: &[Vec<f32>], device: &Device) -> Result<Tensor> {
    let width = rows.first().map_or(0, Vec::len);
    Ok(Tensor::from_vec(
        rows.concat(),
        (rows.len(), width),
        device,
    )?)
}

fn mean_scores(scores: &[Vec<f64>], relevant: &[HashSet<usize>]) -> Scores {
    mean(
        scores
            .iter()
            .zip(relevant)
            .map(|(scores, relevant)| rank(scores, relevant)),
    )
}

fn mean(all: impl Iterator<Item = Scores>) -> Scores {
    let mut sum = Scores::default();
    let mut count = 0_usize;
    for scores in all {
        sum.ndcg_at_10 += scores.ndcg_at_10;
        sum.mrr_at_10 += scores.mrr_at_10;
        count += 1;
    }
    let count = count.max(1) as f64;
    Scores {
        ndcg_at_10: sum.ndcg_at_10 / count,
        mrr_at_10: sum.mrr_at_10 / count,
    }
}

fn mean_report(reports: &[&Report]) -> Report {
    let buckets = reports.first().map_or(0, |report| report.buckets.len());
    Report {
        buckets: (0..buckets)
            .map(|j| mean(reports.iter().map(|report| report.buckets[j])))
            .collect(),
        codes: mean(reports.iter().map(|report| report.codes)),
        dense: mean(reports.iter().map(|report| report.dense)),
        static_queries: reports
            .iter()
            .map(|report| report.static_queries)
            .collect::<Option<Vec<_>>>()
            .map(|scores| mean(scores.into_iter())),
    }
}

/// Metrics of one query; equal scores rank in order of passage.
pub(crate) fn rank(scores: &[f64], relevant: &HashSet<usize>) -> Scores {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
    let discount = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
    let hits: Vec<usize> = (0..DEPTH.min(order.len()))
        .filter(|&rank| relevant.contains(&order[rank]))
        .collect();
    let ideal: f64 = (0..relevant.len().min(DEPTH)).map(discount).sum();
    let gain: f64 = hits.iter().map(|&rank| discount(rank)).sum();
    Scores {
        ndcg_at_10: if ideal > 0.0 { gain / ideal } else { 0.0 },
        mrr_at_10: hits.first().map_or(0.0, |&rank| 1.0 / (rank as f64 + 1.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_of_a_known_ranking() {
        let scores = rank(&[0.1, 0.9, 0.5, 0.7], &HashSet::from([3, 0]));
        // Ranks 2 and 4 of 2 relevant.
        let ideal = 1.0 + 1.0 / 3_f64.log2();
        let gain = 1.0 / 3_f64.log2() + 1.0 / 5_f64.log2();
        assert!((scores.ndcg_at_10 - gain / ideal).abs() < 1e-12);
        assert_eq!(scores.mrr_at_10, 0.5);
    }

    #[test]
    fn the_cut_goes_by_the_sum_and_not_by_the_strongest() {
        assert_eq!(
            strongest_by_sum(&[7, 3, 3, 9], &[5.0, 3.0, 3.0, 1.0], 2),
            [3, 7]
        );
        assert_eq!(
            strongest_by_sum(&[7, 3, 3, 9], &[5.0, 3.0, 3.0, 1.0], 1),
            [3]
        );
    }

    #[test]
    fn rare_dimensions_count_more() {
        let scores = overlap_scores(&[vec![1, 2]], &[vec![1], vec![2], vec![2], vec![3]]);
        assert!(scores[0][0] > scores[0][1] && scores[0][1] > scores[0][3]);
    }
}
