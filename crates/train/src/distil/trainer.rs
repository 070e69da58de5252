//! One step of a student, and what it has learned.
//!
//! Let `E` be the student's token vectors, `T` the teacher's and `W` the teacher's `n` dimensions. The loss is
//! `mean |W(E − T)|² / n`, the mean squared difference of the activations (UHD-BERT, eq. 2; each has variance 1
//! over the passages that heads were made from, and more over short texts), plus `--pooled` times `1 − cos` of
//! the pooled vectors, centred on the mean query. All `n` activations are never computed: with
//! `L Lᵀ = Wᵀ W / n` the first part is `mean |(E − T) L|²`.

use std::fmt;

use anyhow::{Result, ensure};
use candle_core::{D, DType, Device, Tensor, Var};
use serde::Serialize;

use super::Settings;
use super::student::{State, Student};
use super::teacher::{Batch, Lessons, Teacher};
use crate::bert::Bert;
use crate::checkpoint::moments_of_step;
use crate::optimizer::{AdamW, Group, schedule};
use crate::wta::{Head, Winners};

/// Weight decay of matrices, relative to the learning rate.
const WEIGHT_DECAY: f64 = 0.01;
/// Pieces of a batch while measuring.
const MEASURED_TOKENS: usize = 2_048;

/// A distillation between two steps.
pub struct Trainer {
    bert: Bert,
    variables: Vec<(String, Var)>,
    optimizer: AdamW,
    state: State,
    /// By bucket: see [`Teacher::metrics`].
    metrics: Vec<Tensor>,
    heads: Vec<Head>,
    /// `[dim]`.
    query_mean: Tensor,
}

/// How near a student is to its teacher on texts that it has not read.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Measured {
    /// Mean squared difference of activations; their variance over passages is about 1.
    pub activations: f64,
    /// Mean cosine of the pooled vectors, centred on the mean query.
    pub cosine: f64,
    /// Mean Jaccard index of a token's winners, special tokens left out.
    pub jaccard: f64,
}

impl fmt::Display for Measured {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            activations,
            cosine,
            jaccard,
        } = self;
        write!(
            formatter,
            "activations off by {activations:.4}, cosine {cosine:.4}, winners' Jaccard {jaccard:.4}"
        )
    }
}

impl Trainer {
    /// Takes up `student` where it stands.
    ///
    /// # Errors
    /// When a weight or a moment is missing.
    pub fn new(student: &Student, teacher: &Teacher, settings: &Settings) -> Result<Self> {
        let mut variables: Vec<(String, Var)> = student
            .weights
            .iter()
            .map(|(name, weight)| Ok((name.clone(), Var::from_tensor(weight)?)))
            .collect::<Result<_>>()?;
        variables.sort_by(|(a, _), (b, _)| a.cmp(b));
        let tensors = variables
            .iter()
            .map(|(name, variable)| (name.clone(), variable.as_tensor().clone()));
        let bert = Bert::load(&tensors.collect(), &student.state.config)?;
        let mut optimizer = AdamW::new(groups(&variables, settings))?;
        let step = student.state.step;
        if step > 0 {
            optimizer.restore(moments_of_step(student.optimizer.as_ref(), step)?, step)?;
        }
        Ok(Self {
            bert,
            variables,
            optimizer,
            state: student.state.clone(),
            metrics: teacher.metrics()?,
            heads: teacher.heads.clone(),
            query_mean: Tensor::new(teacher.query_mean.as_slice(), &Device::Cpu)?,
        })
    }

    /// Steps made.
    pub fn step(&self) -> usize {
        self.state.step
    }

    /// Makes one step and returns its loss.
    ///
    /// # Errors
    /// When the loss or the gradients are not finite; nothing has moved then.
    pub fn train_on(&mut self, lessons: &Lessons, batch: &[usize]) -> Result<f64> {
        let batch = lessons.batch(batch)?;
        let seen = token_vectors(&self.bert, &batch)?;
        let pooled = (1.0 - self.cosines(&seen, &batch.wanted)?.mean_all()?)?;
        let total = (self.difference(&seen, &batch.wanted)? + pooled * self.settings().pooled)?;
        let loss = f64::from(total.to_scalar::<f32>()?);
        ensure!(
            loss.is_finite(),
            "the loss is {loss}: lower --learning-rate or --max-gradient-norm"
        );
        let gradients = total.backward()?;
        let settings = self.settings();
        let schedule = schedule(self.step(), settings.warm_up_steps, settings.steps);
        let max_norm = settings.max_gradient_norm;
        self.optimizer.update(&gradients, max_norm, schedule)?;
        self.state.step += 1;
        Ok(loss)
    }

    fn settings(&self) -> &Settings {
        &self.state.settings
    }

    /// The student as it stands.
    ///
    /// # Errors
    /// Never on the CPU.
    pub fn student(&self) -> Result<Student> {
        let weights = self.variables.iter();
        let weights = weights.map(|(name, variable)| (name.clone(), variable.as_detached_tensor()));
        Ok(Student {
            state: self.state.clone(),
            weights: weights.collect(),
            optimizer: Some(self.optimizer.save()),
        })
    }

    /// Means over all texts of `lessons`.
    ///
    /// # Errors
    /// When the network fails.
    pub fn measure(&self, lessons: &Lessons) -> Result<Measured> {
        let student = self.student()?.bert()?;
        let (mut sums, mut texts, mut tokens) = (Measured::default(), 0.0, 0.0);
        for batch in lessons.once(MEASURED_TOKENS) {
            let batch = lessons.batch(&batch)?;
            let seen = token_vectors(&student, &batch)?;
            let (count, length, _) = batch.wanted.dims3()?;
            let inner = (count * length.saturating_sub(2)) as f64;
            let off = self.difference(&seen, &batch.wanted)?.to_scalar::<f32>()?;
            let cosines = self.cosines(&seen, &batch.wanted)?.sum_all()?;
            sums.activations += f64::from(off) * (count * length) as f64;
            sums.cosine += f64::from(cosines.to_scalar::<f32>()?);
            sums.jaccard += self.jaccard(&seen, &batch.wanted)? * inner;
            texts += count as f64;
            tokens += (count * length) as f64;
        }
        let inner = tokens - 2.0 * texts;
        Ok(Measured {
            activations: sums.activations / f64::max(tokens, 1.0),
            cosine: sums.cosine / f64::max(texts, 1.0),
            jaccard: sums.jaccard / f64::max(inner, 1.0),
        })
    }

    /// Mean squared difference of activations, on the mean of the buckets.
    fn difference(&self, seen: &Tensor, wanted: &Tensor) -> Result<Tensor> {
        let off = (seen - wanted)?.flatten_to(1)?;
        let mut sum = Tensor::zeros((), DType::F32, &Device::Cpu)?;
        for metric in &self.metrics {
            let squares = off.matmul(metric)?.sqr()?.sum(D::Minus1)?;
            sum = (sum + squares.mean_all()?)?;
        }
        Ok((sum / self.metrics.len().max(1) as f64)?)
    }

    /// Cosine of each text's pooled vectors, centred on the mean query.
    fn cosines(&self, seen: &Tensor, wanted: &Tensor) -> Result<Tensor> {
        let pooled = |tokens: &Tensor| {
            let mean = unit(&tokens.mean(1)?)?;
            unit(&mean.broadcast_sub(&self.query_mean)?)
        };
        Ok((pooled(seen)? * pooled(wanted)?)?.sum(D::Minus1)?)
    }

    /// Mean Jaccard index of the winners of tokens that are not special, on the mean of the buckets.
    fn jaccard(&self, seen: &Tensor, wanted: &Tensor) -> Result<f64> {
        let (_, length, _) = seen.dims3()?;
        if length <= 2 {
            return Ok(0.0);
        }
        let inner = |tokens: &Tensor| {
            let inner = tokens.narrow(1, 1, length - 2)?;
            Ok::<_, anyhow::Error>(inner.flatten_to(1)?.contiguous()?)
        };
        let (seen, wanted) = (inner(seen)?, inner(wanted)?);
        let mut sum = 0.0;
        for head in &self.heads {
            sum += mean_jaccard(&head.winners(&seen)?, &head.winners(&wanted)?);
        }
        Ok(sum / self.heads.len().max(1) as f64)
    }
}

fn token_vectors(bert: &Bert, batch: &Batch) -> Result<Tensor> {
    let layers = bert.forward(&batch.input_ids, &batch.input_ids.ones_like()?)?;
    bert.token_vectors(&layers)
}

fn unit(vectors: &Tensor) -> Result<Tensor> {
    let lengths = (vectors.sqr()?.sum_keepdim(D::Minus1)? + 1e-12)?.sqrt()?;
    Ok(vectors.broadcast_div(&lengths)?)
}

/// Matrices decay, norms and biases do not.
fn groups(variables: &[(String, Var)], settings: &Settings) -> Vec<Group> {
    let (matrices, vectors): (Vec<_>, Vec<_>) = variables
        .iter()
        .cloned()
        .partition(|(_, variable)| variable.dims().len() > 1);
    let group = |variables, weight_decay| Group {
        learning_rate: settings.learning_rate,
        weight_decay,
        variables,
    };
    vec![group(matrices, WEIGHT_DECAY), group(vectors, 0.0)]
}

fn mean_jaccard(seen: &Winners, wanted: &Winners) -> f64 {
    let k = seen.k.max(1);
    let pairs = seen.dimensions.chunks(k).zip(wanted.dimensions.chunks(k));
    let (mut sum, mut count) = (0.0, 0.0);
    for (seen, wanted) in pairs {
        let shared = seen.iter().filter(|each| wanted.contains(each)).count();
        sum += shared as f64 / (seen.len() + wanted.len() - shared) as f64;
        count += 1.0;
    }
    sum / f64::max(count, 1.0)
}
