//! What is trained of one bucket, and how its dimensions are kept from being won too often
//! ("stop-dimensions", UHD-BERT, A.2).

use std::collections::HashMap;

use anyhow::{Context, Result};
use candle_core::{DType, Device, Tensor, Var};

use super::settings::{Rarity, Settings};
use crate::encode::Encoded;
use crate::loss::cosines;
use crate::wta::{Head, weight_mask};

/// What a dimension's frequency keeps of its past at each step.
const FREQUENCY_DECAY: f64 = 0.99;
/// A dimension is held back at most so many times the strength of the duty cycle.
const LOWEST_BOOST: f64 = -4.0;

/// One bucket's variables.
#[derive(Debug)]
pub(crate) struct HeadVariables {
    weight: Var,
    bias: Var,
    /// `[n]`: logarithms of learned rarity weights.
    log_rarity: Option<Var>,
    /// `[n, dim]`, 0 where sparsity removed the weight; absent without sparsity.
    mask: Option<Tensor>,
    /// `[n]`: share of passages that have the dimension, a running mean; absent where nothing reads it, and
    /// before the first step.
    frequency: Option<Tensor>,
    k: usize,
}

/// Token vectors of a batch's queries or passages.
pub(crate) struct Tokens<'a> {
    /// `[tokens, dim]`.
    pub(crate) vectors: Tensor,
    /// For each text the rows of `vectors` that stand for content.
    pub(crate) texts: &'a [Vec<u32>],
}

impl<'a> Tokens<'a> {
    /// What `encoded` has at `layer`.
    pub(crate) fn of(encoded: &'a Encoded, layer: usize) -> Result<Self> {
        Ok(Self {
            vectors: encoded.tokens(layer)?,
            texts: &encoded.content,
        })
    }
}

/// One bucket's view of a batch.
pub(crate) struct Relevance {
    /// `[queries, passages]`: cosines of codes, on the tape.
    pub(crate) scores: Tensor,
    /// `[n]`: share of the batch's passages that have each dimension.
    pub(crate) frequency: Tensor,
}

impl HeadVariables {
    /// Variables of bucket `j` that begin as `head`.
    pub(crate) fn new(head: &Head, settings: &Settings, j: usize, device: &Device) -> Result<Self> {
        let (n, dim) = head.weight.dims2()?;
        let sparse = settings.weight_sparsity > 0.0;
        let mask = sparse
            .then(|| weight_mask(n, dim, settings.weight_sparsity, settings.seed + j as u64))
            .transpose()?;
        let rarity = || match &head.log_rarity {
            Some(rarity) => Ok::<_, anyhow::Error>(Var::from_tensor(rarity)?),
            None => Ok(Var::zeros(n, head.bias.dtype(), device)?),
        };
        let is_learned = settings.rarity == Rarity::Learned;
        Ok(Self {
            weight: Var::from_tensor(&head.weight)?,
            bias: Var::from_tensor(&head.bias)?,
            log_rarity: is_learned.then(rarity).transpose()?,
            mask: mask.map(|mask| mask.to_device(device)).transpose()?,
            frequency: None,
            k: head.k,
        })
    }

    /// What the optimizer moves, by name.
    pub(crate) fn variables(&self, j: usize) -> Vec<(String, Var)> {
        let mut variables = vec![
            (format!("bucket{j}.weight"), self.weight.clone()),
            (format!("bucket{j}.bias"), self.bias.clone()),
        ];
        variables.extend(
            self.log_rarity
                .iter()
                .map(|rarity| (format!("bucket{j}.rarity"), rarity.clone())),
        );
        variables
    }

    /// The head as it is now, off the tape.
    pub(crate) fn frozen(&self) -> Result<Head> {
        let head = self.head()?;
        let mut frozen = Head::new(head.weight.detach(), head.bias.detach(), head.k)?;
        let rarity = self.log_rarity.as_ref();
        frozen.log_rarity = rarity.map(|rarity| rarity.as_detached_tensor());
        Ok(frozen)
    }

    /// Cosines of the codes of queries and passages (eq. 2 to 4).
    pub(crate) fn relevance(
        &self,
        [queries, passages]: [Tokens<'_>; 2],
        settings: &Settings,
    ) -> Result<Relevance> {
        let mut head = self.head()?;
        head.boost = self.boost(settings.duty_cycle)?;
        let queries = head.codes(&queries.vectors, queries.texts)?;
        let passages = head.codes(&passages.vectors, passages.texts)?;
        let queries = match self.weights(settings.rarity)? {
            Some(weights) => queries.broadcast_mul(&weights)?,
            None => queries,
        };
        let has = passages.detach().ne(0.0)?.to_dtype(passages.dtype())?;
        Ok(Relevance {
            scores: cosines(&queries, &passages)?,
            frequency: has.mean(0)?,
        })
    }

    /// Adds a batch's frequencies to the running mean, which begins even.
    pub(crate) fn count(&mut self, batch: &Tensor, settings: &Settings) -> Result<()> {
        if !settings.counts_frequencies() {
            return Ok(());
        }
        let past = match &self.frequency {
            Some(frequency) => frequency.clone(),
            None => batch.mean_keepdim(0)?.broadcast_as(batch.shape())?,
        };
        let next = ((past * FREQUENCY_DECAY)? + (batch * (1.0 - FREQUENCY_DECAY))?)?;
        self.frequency = Some(next.detach());
        Ok(())
    }

    /// What the running mean adds to a checkpoint.
    pub(crate) fn save(&self, j: usize) -> Option<(String, Tensor)> {
        let frequency = self.frequency.clone();
        frequency.map(|frequency| (frequency_name(j), frequency))
    }

    /// Goes on from what [`HeadVariables::save`] gave.
    pub(crate) fn restore(
        &mut self,
        saved: &HashMap<String, Tensor>,
        j: usize,
        settings: &Settings,
    ) -> Result<()> {
        if settings.counts_frequencies() {
            let name = frequency_name(j);
            let frequency = saved.get(&name).cloned();
            let lacks = || format!("the optimizer's state lacks {name}");
            self.frequency = Some(frequency.with_context(lacks)?);
        }
        Ok(())
    }

    /// The head as it computes: absent weights are 0 and get no gradient.
    fn head(&self) -> Result<Head> {
        let weight = match &self.mask {
            Some(mask) => (self.weight.as_tensor() * mask)?,
            None => self.weight.as_tensor().clone(),
        };
        Head::new(weight, self.bias.as_tensor().clone(), self.k)
    }

    /// `[n]`: what is added to activations while winners are chosen. A dimension that passages have as often
    /// as the mean gets nothing, one that none has `strength`, frequent ones less than nothing (the boosting of
    /// Ahmad and Scheinkman 2019, as a sum because activations may be negative).
    fn boost(&self, strength: f64) -> Result<Option<Tensor>> {
        let Some(frequency) = self.frequency.as_ref().filter(|_| strength > 0.0) else {
            return Ok(None);
        };
        let mean = (frequency.mean_keepdim(0)? + f64::MIN_POSITIVE)?;
        let duty = frequency.broadcast_div(&mean)?;
        let boost = duty.affine(-1.0, 1.0)?.clamp(LOWEST_BOOST, 1.0)?;
        Ok(Some((boost * strength)?))
    }

    /// `[n]`: factors of a query's activations.
    fn weights(&self, rarity: Rarity) -> Result<Option<Tensor>> {
        match rarity {
            Rarity::None => Ok(None),
            Rarity::Learned => {
                let rarity = self.log_rarity.as_ref();
                rarity
                    .map(|rarity| Ok(rarity.as_tensor().exp()?))
                    .transpose()
            }
            Rarity::Counted => {
                let frequency = self.frequency.as_ref();
                frequency.map(counted_rarity).transpose()
            }
        }
    }
}

fn frequency_name(j: usize) -> String {
    format!("bucket{j}.frequency")
}

/// `ln(1 + (1 − f) / f)` of frequencies `f`, none of which counts as rarer than 1 in 10,000.
fn counted_rarity(frequency: &Tensor) -> Result<Tensor> {
    let frequency = frequency.to_dtype(DType::F32)?.clamp(1e-4, 1.0)?;
    Ok(frequency.recip()?.log()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wta::Head;

    fn variables(options: &str) -> Result<(HeadVariables, Settings)> {
        let options = format!("--buckets 1:3:1 {options}");
        let settings = Settings::of_options(options.split_whitespace())?;
        let weight = Tensor::zeros((3, 2), DType::F32, &Device::Cpu)?;
        let head = Head::new(weight, Tensor::zeros(3, DType::F32, &Device::Cpu)?, 1)?;
        let variables = HeadVariables::new(&head, &settings, 0, &Device::Cpu)?;
        Ok((variables, settings))
    }

    #[test]
    fn a_duty_cycle_helps_dimensions_that_nobody_wins() -> Result<()> {
        let (mut variables, settings) = variables("--duty-cycle 0.5")?;
        assert!(variables.boost(0.5)?.is_none());
        variables.frequency = Some(Tensor::new(&[0.0_f32, 0.2, 1.6], &Device::Cpu)?);
        let boost = variables.boost(0.5)?.unwrap().to_vec1::<f32>()?;
        assert_eq!(boost[0], 0.5);
        assert!(
            boost[1] > 0.0 && boost[1] < 0.5 && boost[2] < 0.0,
            "{boost:?}"
        );
        let batch = Tensor::new(&[1.0_f32, 0.0, 0.0], &Device::Cpu)?;
        variables.count(&batch, &settings)?;
        let frequency = variables.frequency.unwrap().to_vec1::<f32>()?;
        assert!((frequency[0] - 0.01).abs() < 1e-6 && frequency[2] < 1.6);
        Ok(())
    }

    #[test]
    fn rarity_is_counted_or_learned() -> Result<()> {
        let (mut counted, _) = variables("--rarity counted")?;
        assert!(counted.weights(Rarity::Counted)?.is_none());
        counted.frequency = Some(Tensor::new(&[0.0_f32, 0.5, 1.0], &Device::Cpu)?);
        let weights = counted
            .weights(Rarity::Counted)?
            .unwrap()
            .to_vec1::<f32>()?;
        assert!(weights[0] > weights[1] && weights[1] > weights[2]);
        let (learned, _) = variables("--rarity learned")?;
        let weights = learned.weights(Rarity::Learned)?.unwrap();
        assert_eq!(weights.to_vec1::<f32>()?, [1.0; 3]);
        assert_eq!(learned.variables(0).len(), 3);
        Ok(())
    }
}
