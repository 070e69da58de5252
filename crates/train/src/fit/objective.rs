//! From relevance matrices to one loss: buckets joined or not, ranked, and held near the teacher.

use anyhow::Result;
use candle_core::Tensor;

use super::settings::{Joining, Ranking, Settings};
use crate::loss::{distillation, hinge, info_nce};

/// The loss of one way to score passages: scalars on the tape.
pub(crate) struct Loss {
    pub(crate) ranking: Tensor,
    pub(crate) distillation: Option<Tensor>,
}

impl Loss {
    /// The mean of the losses of relevance matrices `[queries, passages]`. `words` are added where passages are
    /// ranked, and not where relevance is to be the teacher's.
    pub(crate) fn new(
        relevances: &[Tensor],
        words: Option<&Tensor>,
        teacher: Option<&Tensor>,
        settings: &Settings,
    ) -> Result<Self> {
        let distilled = teacher.map(|teacher| {
            mean_of(relevances, |scores| {
                distillation(scores, teacher, settings.temperature)
            })
        });
        let ranking = mean_of(relevances, |scores| match words {
            Some(words) => ranking(&(scores + words)?, settings),
            None => ranking(scores, settings),
        });
        Ok(Self {
            ranking: ranking?,
            distillation: distilled.transpose()?,
        })
    }

    /// Ranking and distillation together, on the tape.
    pub(crate) fn summed(&self, settings: &Settings) -> Result<Tensor> {
        match &self.distillation {
            Some(distilled) => Ok((&self.ranking + (distilled * settings.distillation)?)?),
            None => Ok(self.ranking.clone()),
        }
    }
}

/// Relevance matrices that meet the loss: one per bucket, or their mean.
pub(crate) fn joined(relevances: Vec<Tensor>, settings: &Settings) -> Result<Vec<Tensor>> {
    match settings.joining {
        Joining::Separate => Ok(relevances),
        Joining::Joint => Ok(vec![mean_of(&relevances, |scores| Ok(scores.clone()))?]),
    }
}

fn ranking(scores: &Tensor, settings: &Settings) -> Result<Tensor> {
    match settings.ranking {
        Ranking::InfoNce => info_nce(scores, settings.temperature),
        Ranking::Hinge => hinge(scores, settings.margin),
    }
}

/// The mean of `of` over `items`.
fn mean_of(items: &[Tensor], of: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    let values = items.iter().map(of).collect::<Result<Vec<_>>>()?;
    Ok(Tensor::stack(&values, 0)?.mean(0)?)
}
