//! One step of the query side, and what it has learned.
//!
//! A passage scores `words + dense · z`: its z-score by BM25, and that of the cosine of the query's vector with its
//! nearest one-bit code. The loss is the cross-entropy of a query's relevant passages, whichever of them, among all of the
//! collection at a temperature, plus `keep` times the distance from the network as it was.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use anyhow::{Context, Result, ensure};
use candle_core::{D, Device, Tensor, Var};
use serde::Serialize;

use super::Settings;
use super::material::{Material, Query};
use crate::base::Base;
use crate::bert::{Bert, Config};
use crate::encode::Encoded;
use crate::fit::held_out::{Scores, rank};
use crate::loss::{any_of, unit_rows};
use crate::optimizer::{AdamW, Group, schedule};
use crate::random::Random;
use crate::tokenize::Batch;

/// What words count in a step where they fade.
const FADED: f32 = 0.3;
/// Queries measured at once.
const MEASURED_AT_ONCE: usize = 64;

/// The query side between two steps.
pub struct Tuner {
    frozen: Bert,
    tuned: Bert,
    variables: Vec<(String, Var)>,
    config: Config,
    /// All weights by name, the variables among them.
    all: HashMap<String, Tensor>,
    optimizer: AdamW,
    /// `[dim]`.
    query_mean: Tensor,
    settings: Settings,
    step: usize,
}

/// nDCG@10 of a collection's held-out queries.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Measured {
    /// By words.
    pub words: f64,
    /// By codes.
    pub codes: f64,
    /// By both.
    pub both: f64,
}

/// What was measured, by collection.
pub type Report = BTreeMap<String, Measured>;

impl Measured {
    /// The mean of several.
    pub fn mean<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        let (mut sum, mut count) = (Self::default(), 0.0);
        for measured in all {
            sum.words += measured.words;
            sum.codes += measured.codes;
            sum.both += measured.both;
            count += 1.0;
        }
        let count = f64::max(count, 1.0);
        Self {
            words: sum.words / count,
            codes: sum.codes / count,
            both: sum.both / count,
        }
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [words, codes, both] = [self.words, self.codes, self.both].map(|x| 100.0 * x);
        write!(
            formatter,
            "held-out nDCG@10 by words {words:.2}, by codes {codes:.2}, by both {both:.2}"
        )
    }
}

/// What a network says of a batch.
struct Seen {
    /// `[batch, dim]`, of length 1, centred.
    vectors: Tensor,
    /// `[tokens, dim]`, special tokens left out.
    tokens: Tensor,
}

impl Tuner {
    /// The network as the base has it.
    ///
    /// # Errors
    /// When a weight is missing.
    pub fn new(base: &Base, query_mean: &[f32], settings: &Settings) -> Result<Self> {
        let is_tuned = |(name, weight): &(&String, &Tensor)| {
            name.starts_with("encoder.layer.") && weight.dims().len() == 1
        };
        let tuned = base.weights.iter().filter(is_tuned);
        let mut variables: Vec<(String, Var)> = tuned
            .map(|(name, weight)| Ok((name.clone(), Var::from_tensor(weight)?)))
            .collect::<Result<_>>()?;
        variables.sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut all = base.weights.clone();
        for (name, variable) in &variables {
            all.insert(name.clone(), variable.as_tensor().clone());
        }
        let group = Group {
            learning_rate: settings.learning_rate,
            weight_decay: 0.0,
            variables: variables.clone(),
        };
        Ok(Self {
            frozen: base.bert()?,
            tuned: Bert::load(&all, &base.config)?,
            optimizer: AdamW::new(vec![group])?,
            query_mean: Tensor::new(query_mean, &Device::Cpu)?,
            config: base.config.clone(),
            settings: settings.clone(),
            variables,
            all,
            step: 0,
        })
    }

    /// Steps made.
    pub fn step(&self) -> usize {
        self.step
    }

    /// The variables by name, and the moments of their gradients under `{name}.first` and `{name}.second`.
    pub fn tensors(&self) -> HashMap<String, Tensor> {
        let mut tensors = self.optimizer.save();
        for (name, variable) in &self.variables {
            tensors.insert(name.clone(), variable.as_detached_tensor());
        }
        tensors
    }

    /// Takes up after `step` steps, with what [`Tuner::tensors`] gave.
    ///
    /// # Errors
    /// When a tensor is missing or of another shape; the message names it.
    pub fn restore(&mut self, tensors: &HashMap<String, Tensor>, step: usize) -> Result<()> {
        for (name, variable) in &self.variables {
            let saved = tensors.get(name);
            let saved = saved.with_context(|| format!("the run lacks {name}"))?;
            variable
                .set(saved)
                .with_context(|| format!("the run's {name} does not fit"))?;
        }
        self.optimizer.restore(tensors, step)?;
        self.step = step;
        Ok(())
    }

    /// The weights as they stand.
    pub fn weights(&self) -> HashMap<String, Tensor> {
        let mut weights = self.all.clone();
        for (name, variable) in &self.variables {
            weights.insert(name.clone(), variable.as_detached_tensor());
        }
        weights
    }

    /// Makes one step on these queries of `set` and returns its loss.
    ///
    /// # Errors
    /// When the loss or the gradients are not finite; nothing has moved then.
    pub fn train_on(
        &mut self,
        set: &Material,
        batch: &[usize],
        random: &mut Random,
    ) -> Result<f64> {
        let queries: Vec<&Query> = batch.iter().map(|&at| &set.queries[at]).collect();
        let tuned = self.seen(&self.tuned, &queries)?;
        let frozen = self.seen(&self.frozen, &queries)?;
        let codes = by_codes(&tuned.vectors, set)?;
        let weights: Vec<f32> = queries
            .iter()
            .map(|_| match random.unit() < self.settings.faded {
                true => FADED,
                false => 1.0,
            })
            .collect();
        let weights = Tensor::from_vec(weights, (queries.len(), 1), &Device::Cpu)?;
        let words = words(&queries)?.broadcast_mul(&weights)?;
        let logits = ((words + (codes * self.settings.dense)?)? / self.settings.temperature)?;
        let ranking = any_of(&logits, &relevant(&queries, set.ends.len())?)?;
        let total = (ranking + (distance(&tuned, &frozen)? * self.settings.keep)?)?;
        let loss = f64::from(total.to_scalar::<f32>()?);
        ensure!(
            loss.is_finite(),
            "the loss of step {} is {loss}: lower --learning-rate or --max-gradient-norm",
            self.step + 1
        );
        let settings = &self.settings;
        let schedule = schedule(self.step, settings.warm_up_steps, settings.steps);
        let gradients = total.backward()?;
        self.optimizer
            .update(&gradients, settings.max_gradient_norm, schedule)?;
        self.step += 1;
        Ok(loss)
    }

    /// nDCG@10 of all held-out queries.
    ///
    /// # Errors
    /// When the network fails.
    pub fn measure(&self, material: &[Material]) -> Result<Report> {
        let measured = material.iter().filter(|set| !set.held_out.is_empty());
        measured
            .map(|set| Ok((set.name.clone(), self.measure_set(set)?)))
            .collect()
    }

    fn measure_set(&self, set: &Material) -> Result<Measured> {
        let bert = Bert::load(&self.weights(), &self.config)?;
        let mut all = Vec::new();
        for batch in set.held_out.chunks(MEASURED_AT_ONCE) {
            let queries: Vec<&Query> = batch.iter().map(|&at| &set.queries[at]).collect();
            let codes = by_codes(&self.seen(&bert, &queries)?.vectors, set)?;
            for (query, codes) in queries.iter().zip(codes.to_vec2::<f32>()?) {
                let relevant: HashSet<usize> = query.relevant.iter().copied().collect();
                let by = |words: f64, dense: f64| {
                    let both = query.words.iter().zip(&codes);
                    let scores: Vec<f64> = both
                        .map(|(w, c)| words * f64::from(*w) + dense * f64::from(*c))
                        .collect();
                    let Scores { ndcg_at_10, .. } = rank(&scores, &relevant);
                    ndcg_at_10
                };
                all.push(Measured {
                    words: by(1.0, 0.0),
                    codes: by(0.0, 1.0),
                    both: by(1.0, self.settings.dense),
                });
            }
        }
        Ok(Measured::mean(all.iter()))
    }

    fn seen(&self, bert: &Bert, queries: &[&Query]) -> Result<Seen> {
        let pieces: Vec<&[u32]> = queries
            .iter()
            .map(|query| query.pieces.as_slice())
            .collect();
        let batch = Batch::new(&pieces, (0..pieces.len()).collect(), &Device::Cpu)?;
        let encoded = Encoded::new(bert, &batch)?;
        let vectors = unit_rows(&encoded.pooled()?)?.broadcast_sub(&self.query_mean)?;
        Ok(Seen {
            vectors: unit_rows(&vectors)?,
            tokens: encoded.content_tokens(bert.layer_count())?,
        })
    }
}

/// z-scores of all passages by their nearest code: `[batch, passages]`.
fn by_codes(vectors: &Tensor, set: &Material) -> Result<Tensor> {
    let units = vectors.matmul(&set.codes.t()?)?;
    let nearest = units.gather(&nearest(&units, &set.ends)?, 1)?;
    let centred = nearest.broadcast_sub(&nearest.mean_keepdim(D::Minus1)?)?;
    let deviation = (centred.sqr()?.mean_keepdim(D::Minus1)? + 1e-12)?.sqrt()?;
    Ok(centred.broadcast_div(&deviation)?)
}

/// For each query and passage its nearest unit: `[batch, passages]`.
fn nearest(units: &Tensor, ends: &[usize]) -> Result<Tensor> {
    let batch = units.dim(0)?;
    let mut nearest = Vec::with_capacity(batch * ends.len());
    for scores in units.detach().to_vec2::<f32>()? {
        let mut begin = 0;
        for &end in ends {
            let best = (begin..end).max_by(|&a, &b| scores[a].total_cmp(&scores[b]));
            nearest.push(u32::try_from(best.unwrap_or(begin))?);
            begin = end;
        }
    }
    Ok(Tensor::from_vec(
        nearest,
        (batch, ends.len()),
        &Device::Cpu,
    )?)
}

/// z-scores of all passages by words: `[batch, passages]`.
fn words(queries: &[&Query]) -> Result<Tensor> {
    let passages = queries.first().map_or(0, |query| query.words.len());
    let scores: Vec<f32> = queries.iter().flat_map(|q| &q.words).copied().collect();
    Ok(Tensor::from_vec(
        scores,
        (queries.len(), passages),
        &Device::Cpu,
    )?)
}

/// 1 where a passage is relevant, else 0: `[batch, passages]`.
fn relevant(queries: &[&Query], passages: usize) -> Result<Tensor> {
    let mut relevant = vec![0_f32; queries.len() * passages];
    for (row, query) in relevant.chunks_mut(passages.max(1)).zip(queries) {
        for &passage in &query.relevant {
            row[passage] = 1.0;
        }
    }
    Ok(Tensor::from_vec(
        relevant,
        (queries.len(), passages),
        &Device::Cpu,
    )?)
}

/// How far `tuned` went from `frozen`: token vectors' mean squared difference in parts of their variance, and 1 − the
/// mean cosine of query vectors.
fn distance(tuned: &Seen, frozen: &Seen) -> Result<Tensor> {
    let variance = frozen
        .tokens
        .broadcast_sub(&frozen.tokens.mean_keepdim(0)?)?;
    let variance = variance.sqr()?.mean_all()?;
    let tokens = ((&tuned.tokens - &frozen.tokens)?.sqr()?.mean_all()? / variance)?;
    let cosine = (&tuned.vectors * &frozen.vectors)?
        .sum(D::Minus1)?
        .mean_all()?;
    Ok((tokens + (1.0 - cosine)?)?)
}
