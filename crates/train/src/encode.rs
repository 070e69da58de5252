//! A batch through the network, with the rows of tokens that stand for content.

use anyhow::{Context, Result};
use candle_core::Tensor;

use crate::bert::Bert;
use crate::tokenize::Batch;

/// What the network says of one batch.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// Embeddings and each layer's output: `[batch, seq, dim]`.
    layers: Vec<Tensor>,
    /// `[batch, seq]`, 1 = real.
    mask: Tensor,
    /// For each text its tokens without `[CLS]` and `[SEP]`, as rows of [`Encoded::tokens`].
    pub content: Vec<Vec<u32>>,
}

impl Encoded {
    /// Runs `bert` over `batch`.
    ///
    /// # Errors
    /// When the network refuses the batch.
    pub fn new(bert: &Bert, batch: &Batch) -> Result<Self> {
        let layers = bert.forward(&batch.input_ids, &batch.mask)?;
        let mask = batch.mask.clone();
        Ok(Self {
            layers,
            mask,
            content: content_rows(batch)?,
        })
    }

    /// Token vectors of `layer` (0 = embeddings), one row a token: `[batch · seq, dim]`.
    ///
    /// # Errors
    /// When there is no such layer.
    pub fn tokens(&self, layer: usize) -> Result<Tensor> {
        Ok(self.layer(layer)?.flatten(0, 1)?)
    }

    /// The mean of each text's last-layer vectors, `[CLS]` and `[SEP]` included: `[batch, dim]`.
    ///
    /// # Errors
    /// When tensors disagree in shape.
    pub fn pooled(&self) -> Result<Tensor> {
        let last = self.layers.last().context("a network has an output")?;
        let mask = self.mask.to_dtype(last.dtype())?.unsqueeze(2)?;
        let sum = last.broadcast_mul(&mask)?.sum(1)?;
        Ok(sum.broadcast_div(&mask.sum(1)?)?)
    }

    /// Content tokens of all texts, one after the other: `[tokens, dim]`.
    ///
    /// # Errors
    /// When there is no such layer.
    pub fn content_tokens(&self, layer: usize) -> Result<Tensor> {
        let rows: Vec<u32> = self.content.concat();
        let count = rows.len();
        let tokens = self.tokens(layer)?;
        let rows = Tensor::from_vec(rows, count, tokens.device())?;
        Ok(tokens.index_select(&rows, 0)?)
    }

    fn layer(&self, layer: usize) -> Result<&Tensor> {
        let last = self.layers.len().saturating_sub(1);
        self.layers
            .get(layer)
            .with_context(|| format!("layer {layer} asked for, the last is {last}"))
    }
}

fn content_rows(batch: &Batch) -> Result<Vec<Vec<u32>>> {
    let seq = batch.input_ids.dim(1)?;
    let rows = batch.lengths.iter().enumerate().map(|(text, &length)| {
        (1..length.saturating_sub(1))
            .map(|token| Ok(u32::try_from(text * seq + token)?))
            .collect()
    });
    rows.collect()
}
