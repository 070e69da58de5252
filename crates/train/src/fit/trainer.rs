//! Variables, one optimisation step, and checkpoints of both.

use std::collections::{BTreeMap, HashMap};

use anyhow::{Result, ensure};
use candle_core::{DType, Device, Tensor, Var};

use super::data::{HeldOut, PairBatch};
use super::head::HeadVariables;
use super::held_out::{Measured, Report};
use super::settings::{Joining, Precision, Ranking, Settings};
use crate::base::Base;
use crate::bert::Bert;
use crate::checkpoint::{Checkpoint, State};
use crate::encode::Encoded;
use crate::loss::{cosines, distillation, hinge, info_nce};
use crate::optimizer::{AdamW, Group, schedule};
use crate::tokenize::Batch;
use crate::wta::Head;

/// What one step reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepReport {
    /// What was minimised.
    pub loss: f64,
    /// Its ranking part.
    pub ranking: f64,
    /// Its distillation part, unweighted; 0 when left out.
    pub distillation: f64,
    /// Norm of the gradients before clipping.
    pub gradient_norm: f64,
    /// Share of the peak learning rates.
    pub schedule: f64,
}

/// A training run between two steps.
pub struct Trainer {
    bert: Bert,
    /// The base model as teacher; absent when the network is the base model and teaches itself.
    teacher: Option<Bert>,
    backbone: Option<Vec<(String, Var)>>,
    /// A backbone trained earlier that this run leaves as it is.
    frozen_backbone: Option<HashMap<String, Tensor>>,
    heads: Vec<HeadVariables>,
    optimizer: AdamW,
    settings: Settings,
    /// The state from which this run goes on; only its step is out of date.
    begun: State,
    step: usize,
    device: Device,
}

/// The parts of one step's loss, each a scalar on the tape.
struct Losses {
    total: Tensor,
    ranking: Tensor,
    distillation: Option<Tensor>,
    /// By bucket: share of the batch's passages that have each dimension.
    frequencies: Vec<Tensor>,
}

impl Trainer {
    /// A run that goes on from `checkpoint`.
    ///
    /// # Errors
    /// When the checkpoint does not fit the base model, or lacks the state of its optimizer.
    pub fn new(
        base: &Base,
        checkpoint: &Checkpoint,
        settings: &Settings,
        device: &Device,
    ) -> Result<Self> {
        let weights = checkpoint.backbone.as_ref().unwrap_or(&base.weights);
        let backbone = settings
            .trains_backbone()
            .then(|| variables(weights))
            .transpose()?;
        let bert = match &backbone {
            Some(variables) => network(&as_tensors(variables), base, settings)?,
            None => network(weights, base, settings)?,
        };
        let mut heads = (0..)
            .zip(&checkpoint.heads)
            .map(|(j, head)| HeadVariables::new(head, settings, j, device))
            .collect::<Result<Vec<_>>>()?;
        let mut optimizer = AdamW::new(groups(backbone.as_deref(), &heads, settings))?;
        let step = checkpoint.state.step;
        if step > 0 {
            let saved = checkpoint.moments()?;
            optimizer.restore(saved, step)?;
            for (j, head) in heads.iter_mut().enumerate() {
                head.restore(saved, j, settings)?;
            }
        }
        let is_base = backbone.is_none() && checkpoint.backbone.is_none();
        let teacher = (!is_base).then(|| base.bert()).transpose()?;
        let frozen_backbone = match &backbone {
            Some(_) => None,
            None => checkpoint.backbone.clone(),
        };
        let (settings, device) = (settings.clone(), device.clone());
        Ok(Self {
            bert,
            teacher,
            backbone,
            frozen_backbone,
            heads,
            optimizer,
            settings,
            begun: checkpoint.state.clone(),
            step,
            device,
        })
    }

    /// Steps made.
    #[must_use]
    pub fn step(&self) -> usize {
        self.step
    }

    /// Makes one step on `pairs`.
    ///
    /// # Errors
    /// When the loss or the gradients are not finite (nothing has moved then), when a variable gets no
    /// gradient, or tensors cannot be made.
    pub fn train_on(&mut self, pairs: &PairBatch) -> Result<StepReport> {
        let losses = self.losses(pairs)?;
        let loss = scalar(&losses.total)?;
        ensure!(
            loss.is_finite(),
            "the loss is {loss}: lower the learning rates, or --max-gradient-norm"
        );
        let gradients = losses.total.backward()?;
        let schedule = schedule(self.step, self.settings.warm_up_steps, self.settings.steps);
        let max_norm = self.settings.max_gradient_norm;
        let gradient_norm = self.optimizer.update(&gradients, max_norm, schedule)?;
        for (head, frequency) in self.heads.iter_mut().zip(&losses.frequencies) {
            head.count(frequency, &self.settings)?;
        }
        self.step += 1;
        Ok(StepReport {
            loss,
            ranking: scalar(&losses.ranking)?,
            distillation: losses.distillation.as_ref().map_or(Ok(0.0), scalar)?,
            gradient_norm,
            schedule,
        })
    }

    fn losses(&self, pairs: &PairBatch) -> Result<Losses> {
        let batches = [self.batch(&pairs.queries)?, self.batch(&pairs.passages)?];
        let encoded = [
            Encoded::new(&self.bert, &batches[0])?,
            Encoded::new(&self.bert, &batches[1])?,
        ];
        let buckets = self
            .heads
            .iter()
            .map(|head| head.relevance(&encoded, &self.settings))
            .collect::<Result<Vec<_>>>()?;
        let (scores, frequencies): (Vec<_>, Vec<_>) = buckets
            .into_iter()
            .map(|bucket| (bucket.scores, bucket.frequency))
            .unzip();
        let relevances = self.joined(scores)?;
        let ranking = mean_of(&relevances, |scores| self.ranking(scores))?;
        let distillation = self.distillation(&relevances, &encoded, &batches)?;
        let mut total = ranking.clone();
        if let Some(distillation) = &distillation {
            total = (total + (distillation * self.settings.distillation)?)?;
        }
        if self.settings.dense > 0.0 {
            let dense = cosines(&encoded[0].pooled()?, &encoded[1].pooled()?)?;
            total = (total + (self.ranking(&dense)? * self.settings.dense)?)?;
        }
        Ok(Losses {
            total,
            ranking,
            distillation,
            frequencies,
        })
    }

    fn batch(&self, pieces: &[&[u32]]) -> Result<Batch> {
        Batch::new(pieces, (0..pieces.len()).collect(), &self.device)
    }

    /// The divergence from the base model's cosines, unless it is left out.
    fn distillation(
        &self,
        relevances: &[Tensor],
        encoded: &[Encoded; 2],
        batches: &[Batch; 2],
    ) -> Result<Option<Tensor>> {
        if self.settings.distillation == 0.0 {
            return Ok(None);
        }
        let teacher = self.teacher_cosines(encoded, batches)?;
        let temperature = self.settings.temperature;
        let divergence = |scores: &Tensor| distillation(scores, &teacher, temperature);
        Ok(Some(mean_of(relevances, divergence)?))
    }

    /// Relevance matrices that meet the loss: one per bucket, or their mean.
    fn joined(&self, relevances: Vec<Tensor>) -> Result<Vec<Tensor>> {
        match self.settings.joining {
            Joining::Separate => Ok(relevances),
            Joining::Joint => Ok(vec![mean_of(&relevances, |scores| Ok(scores.clone()))?]),
        }
    }

    fn ranking(&self, scores: &Tensor) -> Result<Tensor> {
        match self.settings.ranking {
            Ranking::InfoNce => info_nce(scores, self.settings.temperature),
            Ranking::Hinge => hinge(scores, self.settings.margin),
        }
    }

    /// The base model's own cosines of the batch: `[batch, passages]`.
    fn teacher_cosines(&self, encoded: &[Encoded; 2], batches: &[Batch; 2]) -> Result<Tensor> {
        let pooled = |side: usize| match &self.teacher {
            None => encoded[side].pooled(),
            Some(teacher) => Encoded::new(teacher, &batches[side])?.pooled(),
        };
        cosines(&pooled(0)?, &pooled(1)?)
    }

    /// Held-out metrics of the weights as they are.
    ///
    /// # Errors
    /// When a text cannot be encoded.
    pub fn measure(&self, sets: &[HeldOut]) -> Result<BTreeMap<String, Report>> {
        let heads = self.frozen_heads()?;
        let measured = Measured {
            bert: &self.bert,
            heads: &heads,
            buckets: &self.settings.buckets,
            passage_k: self.settings.passage_k,
            device: &self.device,
        };
        measured.report(sets)
    }

    /// Everything needed to go on from here.
    ///
    /// # Errors
    /// When a tensor cannot be made.
    pub fn checkpoint(&self) -> Result<Checkpoint> {
        Ok(Checkpoint {
            state: State {
                step: self.step,
                ..self.begun.clone()
            },
            heads: self.frozen_heads()?,
            backbone: match &self.backbone {
                Some(variables) => Some(as_tensors(variables)),
                None => self.frozen_backbone.clone(),
            },
            optimizer: (self.step > 0).then(|| self.moments()),
        })
    }

    fn frozen_heads(&self) -> Result<Vec<Head>> {
        self.heads.iter().map(HeadVariables::frozen).collect()
    }

    /// The optimizer's moments and what else the next step reads.
    fn moments(&self) -> HashMap<String, Tensor> {
        let mut moments = self.optimizer.save();
        let heads = self.heads.iter().enumerate();
        moments.extend(heads.filter_map(|(j, head)| head.save(j)));
        moments
    }
}

/// The network over `weights`, in the precision that is asked for.
fn network(weights: &HashMap<String, Tensor>, base: &Base, settings: &Settings) -> Result<Bert> {
    let bert = Bert::load(weights, &base.config)?;
    Ok(match settings.precision {
        Precision::F32 => bert,
        Precision::Bf16 => bert.with_products(DType::BF16),
    })
}

/// Variables of the weights that a forward pass reads, in order of name.
fn variables(weights: &HashMap<String, Tensor>) -> Result<Vec<(String, Var)>> {
    let used = weights
        .iter()
        .filter(|(name, _)| !name.starts_with("pooler."));
    let mut variables = used
        .map(|(name, tensor)| Ok((name.clone(), Var::from_tensor(tensor)?)))
        .collect::<Result<Vec<_>>>()?;
    variables.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(variables)
}

fn as_tensors(variables: &[(String, Var)]) -> HashMap<String, Tensor> {
    variables
        .iter()
        .map(|(name, variable)| (name.clone(), variable.as_tensor().clone()))
        .collect()
}

fn groups(
    backbone: Option<&[(String, Var)]>,
    heads: &[HeadVariables],
    settings: &Settings,
) -> Vec<Group> {
    let heads = heads.iter().enumerate();
    let head_variables = heads.flat_map(|(j, head)| head.variables(j));
    let group = |learning_rate, variables| Group {
        learning_rate,
        weight_decay: settings.weight_decay,
        variables,
    };
    let mut groups = vec![group(settings.head_learning_rate, head_variables.collect())];
    groups.extend(
        backbone.map(|variables| group(settings.backbone_learning_rate, variables.to_vec())),
    );
    groups
}

/// The mean of `of` over `items`.
fn mean_of(items: &[Tensor], of: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    let values = items.iter().map(of).collect::<Result<Vec<_>>>()?;
    Ok(Tensor::stack(&values, 0)?.mean(0)?)
}

fn scalar(tensor: &Tensor) -> Result<f64> {
    Ok(tensor.to_dtype(DType::F64)?.to_scalar()?)
}
