//! Short training of heads on cached vectors: joint or separate buckets, hinge or InfoNCE, number of
//! pairs (UHD-BERT, appendix A.3 and eq. 8).

use anyhow::Result;

use super::super::Lab;
use super::super::heads::Start;
use super::super::ranking::Scoring;
use super::super::result::{Axis, Comparison, Plot, Section, Series};
use super::super::short_training::{Pairs, settings};
use crate::checkpoint::Bucket;
use crate::measure::ranks;
use crate::statistics::ByQuery;
use crate::wta::Head;

pub(super) const JOINING_METHOD: &str = "Heads trained for {steps} steps of {batch_pairs} pairs on the \
    training pairs of other collections, the network frozen, with half the reference's dimensions: \
    AdamW, learning rate 3e-4, InfoNCE at temperature 0.05 plus distillation from the dense cosines, or \
    the paper's hinge (eq. 8) at margin 0.2 alone. Two buckets share dimensions and winners and are \
    trained on their mean relevance (joint) or each on its own (separate). These runs are short: they \
    show the direction of the first minutes, not where long training ends.";
pub(super) const SIZE_METHOD: &str = "The single bucket of the part on joint training, trained for the same number \
    of steps of {batch_pairs} pairs on the first so many training pairs, drawn at random from all collections.";

/// Ways to train: name and options of `fit`.
type Trainings<'a> = &'a [(&'a str, &'a str)];

pub(super) fn joining(lab: &Lab) -> Result<Vec<Section>> {
    let mut comparison = Comparison::new(&["buckets", "start", "training"]);
    let layers: Vec<usize> = lab.settings.layers.iter().rev().take(2).copied().collect();
    let of_one = [
        ("InfoNCE and distillation", ""),
        ("hinge (eq. 8)", "--ranking hinge --distillation 0"),
    ];
    let of_two = [("joint", ""), ("separate", "--joining separate")];
    for &seed in &lab.settings.seeds {
        for start in [Start::WhitenedSamples, Start::Gaussian] {
            add_trained(lab, &layers[..1], (start, seed), &of_one, &mut comparison)?;
        }
        if layers.len() > 1 {
            let start = Start::WhitenedSamples;
            add_trained(lab, &layers, (start, seed), &of_two, &mut comparison)?;
        }
    }
    let caption = "Trained heads, scores of buckets added";
    Ok(vec![Section::Rankings(
        comparison.rankings(caption, lab.settings.seed),
    )])
}

/// Adds the heads of one start as they begin, and trained in each of the ways `trainings`.
fn add_trained(
    lab: &Lab,
    layers: &[usize],
    (start, seed): (Start, u64),
    trainings: Trainings<'_>,
    comparison: &mut Comparison,
) -> Result<()> {
    let buckets = buckets(lab, layers);
    let name = buckets_name(&buckets);
    let heads = first_heads(lab, &buckets, start, seed)?;
    let scores = added(lab, &heads, &buckets)?;
    comparison.add(&[&name, start.name(), "none"], scores);
    let pairs = Pairs::new(lab, layers, seed, usize::MAX)?;
    for (training, options) in trainings {
        crate::say!("  {name}, {}, {training}", start.name());
        let trained = pairs.train(&heads, &settings(lab, options, seed)?)?;
        let scores = added(lab, &trained, &buckets)?;
        comparison.add(&[&name, start.name(), training], scores);
    }
    Ok(())
}

pub(super) fn size(lab: &Lab) -> Result<Vec<Section>> {
    let mut comparison = Comparison::new(&["pairs"]);
    let buckets = buckets(lab, &[lab.layer()]);
    for &seed in &lab.settings.seeds {
        let heads = first_heads(lab, &buckets, Start::WhitenedSamples, seed)?;
        comparison.add(&["0"], added(lab, &heads, &buckets)?);
        let all = Pairs::new(lab, &[lab.layer()], seed, usize::MAX)?.count();
        for size in [all / 16, all / 4, all] {
            let pairs = Pairs::new(lab, &[lab.layer()], seed, size)?;
            let trained = pairs.train(&heads, &settings(lab, "", seed)?)?;
            comparison.add(&[&size.to_string()], added(lab, &trained, &buckets)?);
        }
    }
    let point = |(name, _): &(Vec<String>, Vec<ByQuery>)| {
        let size: f64 = name.first()?.parse().ok()?;
        Some((size, comparison.percent(&[name.first()?.as_str()])?))
    };
    let plot = Plot {
        name: "training-size".to_owned(),
        caption: "nDCG@10 by the number of training pairs".to_owned(),
        x: Axis::linear("training pairs"),
        y: Axis::linear("nDCG@10"),
        series: vec![Series {
            name: "whitened samples, InfoNCE".to_owned(),
            points: comparison.lines.iter().filter_map(point).collect(),
        }],
    };
    let caption = "Training pairs";
    Ok(vec![
        Section::Plot(plot),
        Section::Rankings(comparison.rankings(caption, lab.settings.seed)),
    ])
}

/// A bucket a layer, with half the reference's dimensions in all.
fn buckets(lab: &Lab, layers: &[usize]) -> Vec<Bucket> {
    let (n, k) = lab.shape();
    let of = |&layer: &usize| Bucket {
        layer,
        n: n / 2 / layers.len(),
        k: (k / layers.len()).max(1),
    };
    layers.iter().map(of).collect()
}

fn buckets_name(buckets: &[Bucket]) -> String {
    let named: Vec<String> = buckets
        .iter()
        .map(|Bucket { layer, n, k }| format!("layer {layer} {n}:{k}"))
        .collect();
    named.join(" + ")
}

fn first_heads(lab: &Lab, buckets: &[Bucket], start: Start, seed: u64) -> Result<Vec<Head>> {
    let heads = buckets.iter().zip(1..).map(|(bucket, j): (_, u64)| {
        let samples = lab.material.samples(bucket.layer)?;
        start.head(&samples, (bucket.n, bucket.k), seed * 1_000 + j)
    });
    heads.collect()
}

/// Metrics of the dev collections by the buckets' added scores, passages cut to the reference's
/// dimensions in all.
fn added(lab: &Lab, heads: &[Head], buckets: &[Bucket]) -> Result<ByQuery> {
    let scoring = Scoring::cut(lab.settings.passage_k / buckets.len());
    let mut total: Vec<Vec<Vec<f64>>> = Vec::new();
    for (head, bucket) in heads.iter().zip(buckets) {
        let coded = lab.codes(head, bucket.layer)?;
        let scores: Vec<Vec<Vec<f64>>> = coded.iter().map(|coded| scoring.scores(coded)).collect();
        if total.is_empty() {
            total = scores;
            continue;
        }
        let sums = total.iter_mut().flatten().flatten();
        for (sum, score) in sums.zip(scores.iter().flatten().flatten()) {
            *sum += score;
        }
    }
    let pairs = total.iter().zip(&lab.material.measured);
    Ok(pairs
        .map(|(scores, vectors)| ranks(scores, &vectors.texts.relevant))
        .collect())
}
