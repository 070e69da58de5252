//! Variables, one optimisation step, and checkpoints of both.

use std::collections::{BTreeMap, HashMap};

use anyhow::{Context, Result, ensure};
use candle_core::{DType, Device, Tensor, Var};

use super::data::{HeldOutSet, PairBatch};
use super::head::{HeadVariables, Tokens};
use super::held_out::{Measured, Report};
use super::objective::{Loss, joined};
use super::settings::{Precision, Settings};
use super::static_queries::StaticQueries;
use crate::base::Base;
use crate::bert::Bert;
use crate::checkpoint::{Bucket, Checkpoint, State};
use crate::encode::Encoded;
use crate::loss::{cosines, unit_rows};
use crate::optimizer::{AdamW, Group, schedule};
use crate::tokenize::Batch;
use crate::wta::Head;

/// What one step reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepReport {
    /// What was minimised.
    pub loss: f64,
    /// The ranking part of the codes' losses; 0 when left out.
    pub ranking: f64,
    /// Its distillation part, unweighted; 0 when left out.
    pub distillation: f64,
    /// Losses of dense vectors, ranking and weighted distillation together; 0 when left out.
    pub dense: f64,
    /// The same of static queries.
    pub static_queries: f64,
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
    /// What the heads began as, which they stay where their losses are left out.
    heads_begun: Vec<Head>,
    static_queries: Option<StaticQueries>,
    optimizer: AdamW,
    settings: Settings,
    /// The state from which this run goes on; only its step is out of date.
    begun: State,
    step: usize,
    device: Device,
}

/// The parts of one step's loss, on the tape.
struct Losses {
    total: Tensor,
    codes: Option<Loss>,
    dense: Option<Loss>,
    static_queries: Option<Loss>,
    /// By bucket: share of the batch's passages that have each dimension.
    frequencies: Vec<Tensor>,
}

/// Vectors of a batch, each `[texts, dim]`.
struct Vectors {
    queries: Tensor,
    passages: Tensor,
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
        let heads = (0..)
            .zip(&checkpoint.heads)
            .map(|(j, head)| HeadVariables::new(head, settings, j, device))
            .collect::<Result<Vec<_>>>()?;
        let static_queries = static_queries(base, checkpoint, settings)?;
        let groups = groups(
            backbone.as_deref(),
            &heads,
            static_queries.as_ref(),
            settings,
        );
        let optimizer = AdamW::new(groups)?;
        let is_base = backbone.is_none() && checkpoint.backbone.is_none();
        let needs_teacher = !is_base || settings.paraphrases();
        let teacher = needs_teacher.then(|| base.bert()).transpose()?;
        let is_trained = backbone.is_some();
        let frozen_backbone = checkpoint.backbone.clone().filter(|_| !is_trained);
        let (settings, device) = (settings.clone(), device.clone());
        let mut trainer = Self {
            bert,
            teacher,
            backbone,
            frozen_backbone,
            heads,
            heads_begun: checkpoint.heads.clone(),
            static_queries,
            optimizer,
            settings,
            begun: checkpoint.state.clone(),
            step: checkpoint.state.step,
            device,
        };
        trainer.restore(checkpoint)?;
        Ok(trainer)
    }

    /// Takes over from a checkpoint what a run that goes on needs besides weights: moments of the optimizer and of the
    /// heads, and where rows began.
    fn restore(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        if self.step == 0 {
            return Ok(());
        }
        let saved = checkpoint.moments()?;
        self.optimizer.restore(saved, self.step)?;
        for (j, head) in self.heads.iter_mut().enumerate() {
            head.restore(saved, j, &self.settings)?;
        }
        self.static_queries
            .as_mut()
            .map_or(Ok(()), |rows| rows.restore(saved))
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
        if let Some(rows) = &self.static_queries {
            rows.hold(self.settings.keep_rows * schedule)?;
        }
        for (head, frequency) in self.heads.iter_mut().zip(&losses.frequencies) {
            head.count(frequency, &self.settings)?;
        }
        self.step += 1;
        let codes = losses.codes.as_ref();
        let distilled = codes.and_then(|codes| codes.distillation.as_ref());
        Ok(StepReport {
            loss,
            ranking: codes.map_or(Ok(0.0), |codes| scalar(&codes.ranking))?,
            distillation: distilled.map_or(Ok(0.0), scalar)?,
            dense: self.total(losses.dense.as_ref())?,
            static_queries: self.total(losses.static_queries.as_ref())?,
            gradient_norm,
            schedule,
        })
    }

    fn losses(&self, pairs: &PairBatch) -> Result<Losses> {
        let settings = &self.settings;
        let batches = [self.batch(&pairs.queries)?, self.batch(&pairs.passages)?];
        let encoded = [
            Encoded::new(&self.bert, &batches[0])?,
            Encoded::new(&self.bert, &batches[1])?,
        ];
        let teacher = self.teacher_vectors(pairs, &encoded, &batches[1])?;
        let (codes, frequencies) = self.loss_of_codes(&encoded, teacher.as_ref())?;
        let [dense, static_queries] = self.losses_of_vectors(pairs, &encoded, teacher)?;
        let weighted = [
            (settings.codes, &codes),
            (settings.dense, &dense),
            (settings.static_queries, &static_queries),
        ];
        let weighted = weighted.into_iter().filter_map(|(weight, loss)| {
            let loss = loss.as_ref()?;
            Some(loss.summed(settings).and_then(|sum| Ok((sum * weight)?)))
        });
        let total = weighted
            .reduce(|sum, loss| Ok((sum? + loss?)?))
            .context("nothing is trained")??;
        Ok(Losses {
            total,
            codes,
            dense,
            static_queries,
            frequencies,
        })
    }

    /// The loss of the buckets' codes, and how often each dimension occurs; nothing where it is left out.
    fn loss_of_codes(
        &self,
        encoded: &[Encoded; 2],
        teacher: Option<&Vectors>,
    ) -> Result<(Option<Loss>, Vec<Tensor>)> {
        if self.settings.codes == 0.0 {
            return Ok((None, Vec::new()));
        }
        let of_bucket = |(head, bucket): (&HeadVariables, &Bucket)| {
            let [queries, passages] = encoded
                .each_ref()
                .map(|side| Tokens::of(side, bucket.layer));
            head.relevance([queries?, passages?], &self.settings)
        };
        let buckets = self.heads.iter().zip(&self.settings.buckets);
        let buckets = buckets.map(of_bucket).collect::<Result<Vec<_>>>()?;
        let (scores, frequencies) = buckets
            .into_iter()
            .map(|bucket| (bucket.scores, bucket.frequency))
            .unzip();
        let teacher = teacher.map(|teacher| cosines(&teacher.queries, &teacher.passages));
        let scores = joined(scores, &self.settings)?;
        let loss = Loss::new(&scores, None, teacher.transpose()?.as_ref(), &self.settings)?;
        Ok((Some(loss), frequencies))
    }

    /// The losses of dense vectors and of static queries, those that are not left out.
    fn losses_of_vectors(
        &self,
        pairs: &PairBatch,
        encoded: &[Encoded; 2],
        teacher: Option<Vectors>,
    ) -> Result<[Option<Loss>; 2]> {
        let has_dense = self.settings.dense > 0.0;
        let rows = self.static_queries.as_ref();
        let rows = rows.filter(|_| self.settings.static_queries > 0.0);
        if !has_dense && rows.is_none() {
            return Ok([None, None]);
        }
        let vectors = self.centred(&Vectors {
            queries: encoded[0].pooled()?,
            passages: encoded[1].pooled()?,
        })?;
        let teacher = teacher.map(|teacher| {
            let teacher = self.centred(&teacher)?;
            cosines(&teacher.queries, &teacher.passages)
        });
        let teacher = teacher.transpose()?;
        let words = self.words(pairs)?;
        let loss = |queries: &Tensor| {
            let scores = cosines(queries, &vectors.passages)?;
            Loss::new(&[scores], words.as_ref(), teacher.as_ref(), &self.settings)
        };
        let dense = has_dense.then(|| loss(&vectors.queries));
        let rows = rows.map(|rows| loss(&rows.vectors(&pairs.queries)?));
        Ok([dense.transpose()?, rows.transpose()?])
    }

    fn batch(&self, pieces: &[impl AsRef<[u32]>]) -> Result<Batch> {
        let pieces: Vec<&[u32]> = pieces.iter().map(AsRef::as_ref).collect();
        Batch::new(&pieces, (0..pieces.len()).collect(), &self.device)
    }

    /// What words tell of the batch's pairs, in cosines: `[queries, passages]`; nothing where it is left out.
    fn words(&self, pairs: &PairBatch) -> Result<Option<Tensor>> {
        if pairs.words.is_empty() {
            return Ok(None);
        }
        let shape = (pairs.queries.len(), pairs.passages.len());
        let words = Tensor::from_slice(&pairs.words, shape, &self.device)?;
        Ok(Some(
            (words * (self.settings.words * self.settings.temperature))?,
        ))
    }

    fn total(&self, loss: Option<&Loss>) -> Result<f64> {
        loss.map_or(Ok(0.0), |loss| scalar(&loss.summed(&self.settings)?))
    }

    /// Vectors of length 1 as an index compares them: passages minus their batch's mean, queries minus the
    /// mean query, where there are rows that know it.
    fn centred(&self, vectors: &Vectors) -> Result<Vectors> {
        let queries = unit_rows(&vectors.queries)?;
        let passages = unit_rows(&vectors.passages)?;
        Ok(Vectors {
            queries: match &self.static_queries {
                Some(rows) => rows.centred(&queries)?,
                None => queries,
            },
            passages: passages.broadcast_sub(&passages.mean_keepdim(0)?)?,
        })
    }

    /// The base model's own vectors of the queries as they were asked and of the passages, unless
    /// distillation is left out.
    fn teacher_vectors(
        &self,
        pairs: &PairBatch,
        encoded: &[Encoded; 2],
        passages: &Batch,
    ) -> Result<Option<Vectors>> {
        if self.settings.distillation == 0.0 {
            return Ok(None);
        }
        Ok(Some(match &self.teacher {
            None => Vectors {
                queries: encoded[0].pooled()?,
                passages: encoded[1].pooled()?,
            },
            Some(teacher) => Vectors {
                queries: Encoded::new(teacher, &self.batch(&pairs.asked)?)?.pooled()?,
                passages: Encoded::new(teacher, passages)?.pooled()?,
            },
        }))
    }

    /// Held-out metrics of the weights as they are.
    ///
    /// # Errors
    /// When a text cannot be encoded.
    pub fn measure(&self, sets: &[HeldOutSet]) -> Result<BTreeMap<String, Report>> {
        let heads = self.frozen_heads()?;
        let measured = Measured {
            bert: &self.bert,
            heads: &heads,
            buckets: &self.settings.buckets,
            static_queries: self.static_queries.as_ref(),
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
                rows_trained: self.begun.rows_trained
                    || (self.step > 0 && self.settings.static_queries > 0.0),
                ..self.begun.clone()
            },
            heads: self.frozen_heads()?,
            backbone: match &self.backbone {
                Some(variables) => Some(as_tensors(variables)),
                None => self.frozen_backbone.clone(),
            },
            rows: self
                .static_queries
                .as_ref()
                .map(StaticQueries::frozen)
                .transpose()?,
            optimizer: (self.step > 0).then(|| self.moments()),
        })
    }

    fn frozen_heads(&self) -> Result<Vec<Head>> {
        if self.settings.codes == 0.0 {
            return Ok(self.heads_begun.clone());
        }
        self.heads.iter().map(HeadVariables::frozen).collect()
    }

    /// The optimizer's moments and what else the next step reads.
    fn moments(&self) -> HashMap<String, Tensor> {
        let mut moments = self.optimizer.save();
        moments.extend(self.static_queries.iter().filter_map(StaticQueries::save));
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

/// The checkpoint's static rows as variables, if it has some.
fn static_queries(
    base: &Base,
    checkpoint: &Checkpoint,
    settings: &Settings,
) -> Result<Option<StaticQueries>> {
    let rows = checkpoint.rows.as_ref();
    if let Some(rows) = rows {
        rows.check(base.config.vocab_size, base.config.output_width())?;
    }
    ensure!(
        rows.is_some() || settings.static_queries == 0.0,
        "--static-queries needs the rows of an encoder: give --rows"
    );
    let is_held = settings.keep_rows > 0.0;
    rows.map(|rows| StaticQueries::new(rows, is_held))
        .transpose()
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
    rows: Option<&StaticQueries>,
    settings: &Settings,
) -> Vec<Group> {
    let group = |learning_rate, variables| Group {
        learning_rate,
        weight_decay: settings.weight_decay,
        variables,
    };
    let mut groups = Vec::new();
    if settings.codes > 0.0 {
        let heads = heads.iter().enumerate();
        let variables = heads.flat_map(|(j, head)| head.variables(j));
        groups.push(group(settings.head_learning_rate, variables.collect()));
    }
    if let Some(rows) = rows.filter(|_| settings.static_queries > 0.0) {
        groups.push(group(settings.row_learning_rate, vec![rows.variable()]));
    }
    groups.extend(
        backbone.map(|variables| group(settings.backbone_learning_rate, variables.to_vec())),
    );
    groups
}

fn scalar(tensor: &Tensor) -> Result<f64> {
    Ok(tensor.to_dtype(DType::F64)?.to_scalar()?)
}
