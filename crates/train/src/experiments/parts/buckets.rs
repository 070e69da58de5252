//! One bucket and several, weights of buckets, the ideal bucket of a query (UHD-BERT, tables 5 and 6).

use anyhow::Result;

use super::super::Lab;
use super::super::cache::Vectors;
use super::super::codes::Coded;
use super::super::heads::Start;
use super::super::ranking::Scoring;
use super::super::result::{Comparison, Section};
use crate::checkpoint::Bucket;
use crate::measure::{ideal, ranks};
use crate::statistics::ByQuery;
use crate::weighting::{QueryVectors, Tried};

pub(super) const METHOD: &str = "Buckets of whitened samples, no training. First each layer alone with \
    a whole bucket. Then several buckets that have together the dimensions, winners and passage \
    dimensions of the one: on layers (the paper's vertical buckets) and on the last layer with other \
    samples. Scores of buckets are *added*; *weighted* by the tenths that are best for the other half of \
    each collection's queries; by tenths *predicted* from the query's own vector, learnt on the other half by ridge \
    regression (the paper's future work); or only the bucket counts that ranks the query best (*ideal*: it looks at \
    the judgments and bounds what choosing a bucket could give). The last lines let every bucket be \
    whole, at as many times the bytes.";

/// Whole buckets that are measured together.
const WHOLE: usize = 3;

/// A set of buckets under one name.
struct Arrangement {
    name: String,
    buckets: Vec<Bucket>,
    /// Dimensions that a passage keeps in each bucket.
    passage_k: usize,
}

pub(super) fn run(lab: &Lab) -> Result<Vec<Section>> {
    let mut alone = Comparison::new(&["bucket"]);
    let mut several = Comparison::new(&["buckets", "scores"]);
    let vectors = query_vectors(lab)?;
    for &seed in &lab.settings.seeds {
        let mut whole = Vec::new();
        for &layer in lab.settings.layers.iter().rev() {
            let (n, k) = lab.shape();
            let coded = match layer == lab.layer() {
                true => lab.reference_codes(seed)?,
                false => bucket_codes(lab, &Bucket { layer, n, k }, seed)?,
            };
            let scores = lab.ranked(&coded, &lab.scoring());
            whole.push(bucket_scores(&coded, lab.settings.passage_k));
            if layer == lab.layer() {
                several.add(&[&one(lab), "–"], scores.clone());
            }
            alone.add(&[&format!("layer {layer}, n {n}, k {k}")], scores);
        }
        for arrangement in arrangements(lab) {
            let scores = arrangement.scores(lab, seed)?;
            add_scores((lab, &vectors), &arrangement.name, &scores, &mut several);
        }
        whole.truncate(WHOLE);
        add_scores((lab, &vectors), &whole_name(lab), &whole, &mut several);
    }
    alone.add(&["dense vectors, cosine"], lab.dense()?);
    let seed = lab.settings.seed;
    Ok(vec![
        Section::Rankings(alone.rankings("Each layer alone", seed)),
        Section::Rankings(several.rankings("Several buckets", seed)),
    ])
}

/// Mean-pooled vectors of the queries, by collection.
fn query_vectors(lab: &Lab) -> Result<Vec<QueryVectors>> {
    let of = |vectors: &Vectors| Ok(vectors.pooled()?.queries.to_vec2()?);
    lab.material.measured.iter().map(of).collect()
}

fn one(lab: &Lab) -> String {
    format!(
        "one: layer {}, {}:{}",
        lab.layer(),
        lab.shape().0,
        lab.shape().1
    )
}

fn arrangements(lab: &Lab) -> Vec<Arrangement> {
    let (n, k) = lab.shape();
    let layers: Vec<usize> = lab.settings.layers.iter().rev().copied().collect();
    let last = lab.layer();
    let equal = |layers: &[usize]| {
        let count = layers.len();
        arranged(
            layers,
            (n / count, k / count),
            lab.settings.passage_k / count,
        )
    };
    let mut all = vec![equal(&[last, last])];
    if layers.len() > 1 {
        all.push(equal(&layers[..2]));
    }
    if layers.len() > 2 && k >= layers.len() {
        all.push(equal(&vec![last; layers.len()]));
        all.push(equal(&layers));
    }
    all
}

fn arranged(layers: &[usize], (n, k): (usize, usize), passage_k: usize) -> Arrangement {
    let bucket = |&layer: &usize| Bucket { layer, n, k };
    Arrangement {
        name: format!("equal size: layers {}, {n}:{k} each", joined(layers)),
        buckets: layers.iter().map(bucket).collect(),
        passage_k,
    }
}

fn whole_name(lab: &Lab) -> String {
    let (n, k) = lab.shape();
    let layers: Vec<usize> = lab
        .settings
        .layers
        .iter()
        .rev()
        .take(WHOLE)
        .copied()
        .collect();
    format!(
        "{} times the size: layers {}, {n}:{k} each",
        layers.len(),
        joined(&layers)
    )
}

fn joined(layers: &[usize]) -> String {
    let named: Vec<String> = layers.iter().map(usize::to_string).collect();
    named.join(" + ")
}

/// Codes of one bucket by collection; `seed` chooses its samples.
fn bucket_codes(lab: &Lab, bucket: &Bucket, seed: u64) -> Result<Vec<Coded>> {
    let samples = lab.material.samples(bucket.layer)?;
    let head = Start::WhitenedSamples.head(&samples, (bucket.n, bucket.k), seed)?;
    lab.codes(&head, bucket.layer)
}

/// Scores of one bucket by collection and query.
type BucketScores = Vec<Vec<Vec<f64>>>;

fn bucket_scores(coded: &[Coded], passage_k: usize) -> BucketScores {
    let scoring = Scoring::cut(passage_k);
    coded.iter().map(|coded| scoring.scores(coded)).collect()
}

impl Arrangement {
    /// Scores of each bucket.
    fn scores(&self, lab: &Lab, seed: u64) -> Result<Vec<BucketScores>> {
        crate::say!("  {}, seed {seed}", self.name);
        let buckets = (1..).zip(&self.buckets);
        buckets
            .map(|(j, bucket)| {
                let coded = bucket_codes(lab, bucket, seed * 1_000 + j)?;
                Ok(bucket_scores(&coded, self.passage_k))
            })
            .collect()
    }
}

fn add_scores(
    (lab, vectors): (&Lab, &[QueryVectors]),
    name: &str,
    scores: &[BucketScores],
    comparison: &mut Comparison,
) {
    let count = scores.len();
    let ranked = |weights: &[f64]| weighted(lab, scores, weights);
    comparison.add(&[name, "added"], ranked(&vec![1.0; count]));
    let tried = Tried::new(count, ranked);
    let (tuned, weights) = tried.tuned();
    crate::say!("  {name}: weights {weights}");
    comparison.add(&[name, "weighted"], tuned);
    comparison.add(&[name, "predicted"], tried.predicted(vectors));
    let alone = |j: usize| {
        let weight = |i: usize| f64::from(u8::from(i == j));
        weighted(lab, scores, &(0..count).map(weight).collect::<Vec<_>>())
    };
    let each: Vec<ByQuery> = (0..count).map(alone).collect();
    comparison.add(&[name, "ideal"], ideal(&each));
}

/// Metrics by the weighted sum of the buckets' scores.
fn weighted(lab: &Lab, buckets: &[BucketScores], weights: &[f64]) -> ByQuery {
    let collections = lab.material.measured.iter().enumerate();
    collections
        .map(|(at, vectors)| {
            let queries = 0..vectors.texts.relevant.len();
            let total = |query: usize| {
                let mut total = vec![0.0; vectors.texts.passages.len()];
                for (bucket, weight) in buckets.iter().zip(weights) {
                    for (sum, score) in total.iter_mut().zip(&bucket[at][query]) {
                        *sum += weight * score;
                    }
                }
                total
            };
            ranks(
                &queries.map(total).collect::<Vec<_>>(),
                &vectors.texts.relevant,
            )
        })
        .collect()
}
