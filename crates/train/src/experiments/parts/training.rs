//! Short training of heads on cached vectors: joint or separate buckets, hinge or InfoNCE, number of
//! pairs (UHD-BERT, appendix A.3 and eq. 8).

use std::collections::HashSet;

use anyhow::{Context, Result, ensure};
use candle_core::{DType, Device, Tensor, Var};

use super::super::Lab;
use super::super::cache::Sides;
use super::super::codes::lengths;
use super::super::heads::Start;
use super::super::ranking::Scoring;
use super::super::result::{Axis, Comparison, Plot, Section, Series};
use crate::checkpoint::Bucket;
use crate::fit::settings::{Joining, Ranking};
use crate::loss::{cosines, distillation, hinge, info_nce};
use crate::measure::{ByQuery, ranks};
use crate::optimizer::{AdamW, Group, schedule};
use crate::random::Random;
use crate::wta::Head;

pub(super) const JOINING_METHOD: &str = "Heads trained for 150 steps of 32 pairs on the \
    training pairs of other collections, the network frozen, with half the reference's dimensions: \
    AdamW, learning rate 3e-4, InfoNCE at temperature 0.05 plus distillation from the dense cosines, or \
    the paper's hinge (eq. 8) at margin 0.2 alone. Two buckets share dimensions and winners and are \
    trained on their mean relevance (joint) or each on its own (separate). These runs are short: they \
    show the direction of the first minutes, not where long training ends. One seed.";
pub(super) const SIZE_METHOD: &str = "The single bucket of the part before, trained for the same number \
    of steps of 32 pairs on the first so many training pairs, drawn at random from all collections. One seed.";

const LEARNING_RATE: f64 = 3e-4;
const MAX_GRADIENT_NORM: f64 = 1.0;
const TEMPERATURE: f64 = 0.05;
const MARGIN: f64 = 0.2;
const PAIRS_STREAM: u64 = 8_000;
const EPOCH_STREAM: u64 = 9_000;

/// A query and its passage: collection and positions in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pair {
    collection: usize,
    query: usize,
    passage: usize,
}

/// What a run is trained by.
#[derive(Clone, Copy)]
struct Recipe {
    ranking: Ranking,
    joining: Joining,
    seed: u64,
}

/// Pairs with their vectors in memory.
struct Pairs<'a> {
    lab: &'a Lab,
    /// By collection: first row of each query and of each passage.
    starts: Vec<[Vec<usize>; 2]>,
    /// By layer of the run's buckets, by collection.
    layers: Vec<Vec<Sides>>,
    pooled: Vec<Sides>,
    pairs: Vec<Pair>,
}

pub(super) fn joining(lab: &Lab) -> Result<Vec<Section>> {
    let mut comparison = Comparison::new(&["buckets", "start", "training"]);
    let layers: Vec<usize> = lab.settings.layers.iter().rev().take(2).copied().collect();
    let (nce, hinge) = (Ranking::InfoNce, Ranking::Hinge);
    let of_one = [
        ("InfoNCE and distillation", nce, Joining::Joint),
        ("hinge (eq. 8)", hinge, Joining::Joint),
    ];
    let of_two = [
        ("joint", nce, Joining::Joint),
        ("separate", nce, Joining::Separate),
    ];
    for &seed in lab.settings.seeds.iter().take(1) {
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
    trainings: &[(&str, Ranking, Joining)],
    comparison: &mut Comparison,
) -> Result<()> {
    let buckets = buckets(lab, layers);
    let name = buckets_name(&buckets);
    let heads = first_heads(lab, &buckets, start, seed)?;
    let scores = added(lab, &heads, &buckets)?;
    comparison.add(&[&name, start.name(), "none"], scores);
    let pairs = Pairs::new(lab, layers, seed, usize::MAX)?;
    for &(training, ranking, joining) in trainings {
        eprintln!("  {name}, {}, {training}", start.name());
        let recipe = Recipe {
            ranking,
            joining,
            seed,
        };
        let scores = added(lab, &pairs.train(&heads, recipe)?, &buckets)?;
        comparison.add(&[&name, start.name(), training], scores);
    }
    Ok(())
}

pub(super) fn size(lab: &Lab) -> Result<Vec<Section>> {
    let mut comparison = Comparison::new(&["pairs"]);
    let buckets = buckets(lab, &[lab.layer()]);
    for &seed in lab.settings.seeds.iter().take(1) {
        let heads = first_heads(lab, &buckets, Start::WhitenedSamples, seed)?;
        comparison.add(&["0"], added(lab, &heads, &buckets)?);
        let all = Pairs::new(lab, &[lab.layer()], seed, usize::MAX)?
            .pairs
            .len();
        for size in [all / 16, all / 4, all] {
            let pairs = Pairs::new(lab, &[lab.layer()], seed, size)?;
            let recipe = Recipe {
                ranking: Ranking::InfoNce,
                joining: Joining::Joint,
                seed,
            };
            let trained = pairs.train(&heads, recipe)?;
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

impl<'a> Pairs<'a> {
    /// At most `most` pairs of all collections, in an order that `seed` chooses.
    fn new(lab: &'a Lab, layers: &[usize], seed: u64, most: usize) -> Result<Self> {
        let learned = &lab.material.learned;
        let mut pairs = Vec::new();
        for (collection, vectors) in learned.iter().enumerate() {
            for (query, relevant) in vectors.texts.relevant.iter().enumerate() {
                let passage = relevant
                    .iter()
                    .min()
                    .copied()
                    .context("a query has an answer")?;
                pairs.push(Pair {
                    collection,
                    query,
                    passage,
                });
            }
        }
        Random::new(seed, PAIRS_STREAM).shuffle(&mut pairs);
        pairs.truncate(most);
        let starts = learned.iter().map(|vectors| {
            let texts = [&vectors.texts.queries, &vectors.texts.passages];
            texts.map(|texts| first_rows(&lengths(texts)))
        });
        let of_layer =
            |&layer: &usize| learned.iter().map(|vectors| vectors.layer(layer)).collect();
        Ok(Self {
            lab,
            starts: starts.collect(),
            layers: layers.iter().map(of_layer).collect::<Result<_>>()?,
            pooled: learned
                .iter()
                .map(|vectors| vectors.pooled())
                .collect::<Result<_>>()?,
            pairs,
        })
    }

    /// The heads after the lab's number of steps.
    fn train(&self, heads: &[Head], recipe: Recipe) -> Result<Vec<Head>> {
        let variable = |head: &Head| -> Result<(Var, Var)> {
            Ok((
                Var::from_tensor(&head.weight)?,
                Var::from_tensor(&head.bias)?,
            ))
        };
        let variables = heads.iter().map(variable).collect::<Result<Vec<_>>>()?;
        let on_tape = |head: &Head, (weight, bias): &(Var, Var)| {
            Head::new(weight.as_tensor().clone(), bias.as_tensor().clone(), head.k)
        };
        let named = variables
            .iter()
            .enumerate()
            .flat_map(|(j, (weight, bias))| {
                [
                    (format!("{j}.weight"), weight.clone()),
                    (format!("{j}.bias"), bias.clone()),
                ]
            });
        let mut optimizer = AdamW::new(vec![Group {
            learning_rate: LEARNING_RATE,
            weight_decay: 0.0,
            variables: named.collect(),
        }])?;
        let steps = self.lab.settings.steps;
        let mut batches = self.batches(recipe.seed)?.into_iter().cycle();
        for step in 0..steps {
            let batch = batches.next().context("there is a batch")?;
            let heads = heads.iter().zip(&variables);
            let heads = heads.map(|(head, variables)| on_tape(head, variables));
            let loss = self.loss(&heads.collect::<Result<Vec<_>>>()?, &batch, recipe)?;
            let value = loss.to_dtype(DType::F64)?.to_scalar::<f64>()?;
            ensure!(value.is_finite(), "the loss is {value} in step {step}");
            let rate = schedule(step, steps / 10, steps);
            optimizer.update(&loss.backward()?, MAX_GRADIENT_NORM, rate)?;
            if step % 50 == 0 {
                eprintln!("  step {step}: loss {value:.4}");
            }
        }
        let trained = heads.iter().zip(&variables).map(|(head, (weight, bias))| {
            Head::new(
                weight.as_tensor().detach(),
                bias.as_tensor().detach(),
                head.k,
            )
        });
        trained.collect()
    }

    /// Enough epochs of batches for a run, without false negatives.
    fn batches(&self, seed: u64) -> Result<Vec<Vec<Pair>>> {
        let size = self.lab.settings.batch_pairs.min(self.pairs.len());
        let mut batches = Vec::new();
        let mut epoch = 0;
        while batches.len() < self.lab.settings.steps {
            let mut waiting = self.pairs.clone();
            Random::new(seed, EPOCH_STREAM + epoch).shuffle(&mut waiting);
            let before = batches.len();
            while let Some((batch, later)) = self.filled(waiting, size) {
                batches.push(batch);
                waiting = later;
            }
            ensure!(
                batches.len() > before,
                "no {size} training pairs go into one batch"
            );
            epoch += 1;
        }
        Ok(batches)
    }

    /// The next batch and what waits; none if it does not become full.
    fn filled(&self, waiting: Vec<Pair>, size: usize) -> Option<(Vec<Pair>, Vec<Pair>)> {
        let (mut batch, mut later): (Vec<Pair>, Vec<Pair>) = (Vec::new(), Vec::new());
        for pair in waiting {
            let clashes = |other: &Pair| self.answers(pair, *other) || self.answers(*other, pair);
            if batch.len() == size || batch.iter().any(clashes) {
                later.push(pair);
            } else {
                batch.push(pair);
            }
        }
        (batch.len() == size).then_some((batch, later))
    }

    /// Whether the passage of `other` answers the query of `pair`, or is the text of its answer.
    fn answers(&self, pair: Pair, other: Pair) -> bool {
        let texts = &self.lab.material.learned[pair.collection].texts;
        let others = &self.lab.material.learned[other.collection].texts;
        let relevant: &HashSet<usize> = &texts.relevant[pair.query];
        (pair.collection == other.collection && relevant.contains(&other.passage))
            || texts.passages[pair.passage] == others.passages[other.passage]
            || texts.queries[pair.query] == others.queries[other.query]
    }

    fn loss(&self, heads: &[Head], batch: &[Pair], recipe: Recipe) -> Result<Tensor> {
        let mut relevances = Vec::new();
        for (head, layer) in heads.iter().zip(&self.layers) {
            let codes = |side: usize| -> Result<Tensor> {
                let (tokens, texts) = self.tokens(layer, batch, side)?;
                head.codes(&tokens, &texts)
            };
            relevances.push(cosines(&codes(0)?, &codes(1)?)?);
        }
        if matches!(recipe.joining, Joining::Joint) {
            relevances = vec![Tensor::stack(&relevances, 0)?.mean(0)?];
        }
        let teacher = self.teacher(batch)?;
        let losses = relevances.iter().map(|scores| match recipe.ranking {
            Ranking::Hinge => hinge(scores, MARGIN),
            Ranking::InfoNce => {
                let ranking = info_nce(scores, TEMPERATURE)?;
                Ok((ranking + distillation(scores, &teacher, TEMPERATURE)?)?)
            }
        });
        Ok(Tensor::stack(&losses.collect::<Result<Vec<_>>>()?, 0)?.mean(0)?)
    }

    /// Dense cosines of the batch: `[batch, batch]`.
    fn teacher(&self, batch: &[Pair]) -> Result<Tensor> {
        let rows = |side: usize| -> Result<Tensor> {
            let row = |pair: &Pair| {
                let Sides { queries, passages } = &self.pooled[pair.collection];
                match side {
                    0 => queries.narrow(0, pair.query, 1),
                    _ => passages.narrow(0, pair.passage, 1),
                }
            };
            let rows = batch
                .iter()
                .map(row)
                .collect::<candle_core::Result<Vec<_>>>()?;
            Ok(Tensor::cat(&rows, 0)?)
        };
        cosines(&rows(0)?, &rows(1)?)
    }

    /// Token vectors of the batch's queries (side 0) or passages, `[tokens, dim]`, and each text's rows.
    fn tokens(
        &self,
        layer: &[Sides],
        batch: &[Pair],
        side: usize,
    ) -> Result<(Tensor, Vec<Vec<u32>>)> {
        let mut parts = Vec::new();
        let mut texts = Vec::new();
        let mut next = 0_u32;
        for pair in batch {
            let sides = &layer[pair.collection];
            let (all, text) = match side {
                0 => (&sides.queries, pair.query),
                _ => (&sides.passages, pair.passage),
            };
            let starts = &self.starts[pair.collection][side];
            let (start, end) = (starts[text], starts[text + 1]);
            parts.push(all.narrow(0, start, end - start)?);
            let count = u32::try_from(end - start)?;
            texts.push((next..next + count).collect());
            next += count;
        }
        Ok((Tensor::cat(&parts, 0)?.to_device(&Device::Cpu)?, texts))
    }
}

/// First row of each text, and the end of the last.
fn first_rows(lengths: &[usize]) -> Vec<usize> {
    let mut starts = vec![0];
    let mut end = 0;
    for length in lengths {
        end += length;
        starts.push(end);
    }
    starts
}
