//! Heads trained for some steps on cached vectors of training pairs: the heads and objective of
//! [`crate::fit`], the network frozen.

use std::collections::HashSet;

use anyhow::{Context, Result, ensure};
use candle_core::{DType, Tensor};

use super::Lab;
use super::cache::Sides;
use super::codes::lengths;
use crate::fit::head::{HeadVariables, Tokens};
use crate::fit::objective::{Loss, joined};
use crate::fit::settings::Settings;
use crate::loss::cosines;
use crate::optimizer::{AdamW, Group, schedule};
use crate::random::Random;
use crate::wta::Head;

const LEARNING_RATE: f64 = 3e-4;
const PAIRS_STREAM: u64 = 8_000;
const EPOCH_STREAM: u64 = 9_000;

/// The settings that `options` of `fit` make, for a short run of the lab.
///
/// # Errors
/// When an option is unknown or its value is none.
pub(super) fn settings(lab: &Lab, options: &str, seed: u64) -> Result<Settings> {
    Ok(Settings {
        seed,
        steps: lab.settings.steps,
        warm_up_steps: lab.settings.steps / 10,
        batch_pairs: lab.settings.batch_pairs,
        head_learning_rate: LEARNING_RATE,
        ..Settings::of_options(options.split_whitespace())?
    })
}

/// A query and its passage: collection and positions in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pair {
    collection: usize,
    query: usize,
    passage: usize,
}

/// Pairs with their vectors in memory.
pub(super) struct Pairs<'a> {
    lab: &'a Lab,
    /// By collection: first row of each query and of each passage.
    starts: Vec<[Vec<usize>; 2]>,
    /// By layer of the run's buckets, by collection.
    layers: Vec<Vec<Sides>>,
    pooled: Vec<Sides>,
    pairs: Vec<Pair>,
}

impl<'a> Pairs<'a> {
    /// At most `most` pairs of all collections, in an order that `seed` chooses.
    ///
    /// # Errors
    /// When vectors cannot be read.
    pub(super) fn new(lab: &'a Lab, layers: &[usize], seed: u64, most: usize) -> Result<Self> {
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

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.pairs.len()
    }

    /// The heads after a run of `settings`; one a layer.
    ///
    /// # Errors
    /// When the loss is no number, or pairs are too few for a batch.
    pub(super) fn train(&self, heads: &[Head], settings: &Settings) -> Result<Vec<Head>> {
        let device = heads.first().context("a head is needed")?.weight.device();
        let mut heads = (0..)
            .zip(heads)
            .map(|(j, head)| HeadVariables::new(head, settings, j, device))
            .collect::<Result<Vec<_>>>()?;
        let named = heads.iter().enumerate();
        let mut optimizer = AdamW::new(vec![Group {
            learning_rate: settings.head_learning_rate,
            weight_decay: settings.weight_decay,
            variables: named.flat_map(|(j, head)| head.variables(j)).collect(),
        }])?;
        let batches = self.batches(settings)?;
        for (step, batch) in batches.iter().take(settings.steps).enumerate() {
            let (loss, frequencies) = self.loss(&heads, batch, settings)?;
            let value = loss.to_dtype(DType::F64)?.to_scalar::<f64>()?;
            ensure!(value.is_finite(), "the loss is {value} in step {step}");
            let rate = schedule(step, settings.warm_up_steps, settings.steps);
            optimizer.update(&loss.backward()?, settings.max_gradient_norm, rate)?;
            for (head, frequency) in heads.iter_mut().zip(&frequencies) {
                head.count(frequency, settings)?;
            }
            if step % 50 == 0 {
                crate::say!("  step {step}: loss {value:.4}");
            }
        }
        heads.iter().map(HeadVariables::frozen).collect()
    }

    /// Enough epochs of batches for a run, without false negatives.
    fn batches(&self, settings: &Settings) -> Result<Vec<Vec<Pair>>> {
        let size = settings.batch_pairs.min(self.pairs.len());
        ensure!(
            size > 1,
            "{} training pairs are too few to train on: give larger collections in --pairs",
            self.pairs.len()
        );
        let mut batches = Vec::new();
        let mut epoch = 0;
        while batches.len() < settings.steps {
            let mut waiting = self.pairs.clone();
            Random::new(settings.seed, EPOCH_STREAM + epoch).shuffle(&mut waiting);
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

    /// The batch's loss, and by bucket the share of its passages that have each dimension.
    fn loss(
        &self,
        heads: &[HeadVariables],
        batch: &[Pair],
        settings: &Settings,
    ) -> Result<(Tensor, Vec<Tensor>)> {
        let (mut relevances, mut frequencies) = (Vec::new(), Vec::new());
        for (head, layer) in heads.iter().zip(&self.layers) {
            let [queries, passages] = [0, 1].map(|side| self.tokens(layer, batch, side));
            let ((queries, of_queries), (passages, of_passages)) = (queries?, passages?);
            let sides = [(queries, &of_queries), (passages, &of_passages)];
            let sides = sides.map(|(vectors, texts)| Tokens { vectors, texts });
            let relevance = head.relevance(sides, settings)?;
            relevances.push(relevance.scores);
            frequencies.push(relevance.frequency);
        }
        let relevances = joined(relevances, settings)?;
        let teacher = (settings.distillation > 0.0).then(|| self.teacher(batch));
        let loss = Loss::new(&relevances, None, teacher.transpose()?.as_ref(), settings)?;
        Ok((loss.summed(settings)?, frequencies))
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
        Ok((Tensor::cat(&parts, 0)?, texts))
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
