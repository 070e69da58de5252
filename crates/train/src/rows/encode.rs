//! Runs the network over many texts and keeps the vectors on disk.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use candle_core::{Device, Tensor};
use half::f16;
use indicatif::{ProgressBar, ProgressStyle};

use super::cache::{VectorCache, fingerprint};
use super::vector::{mean_row, normalize, widen};
use crate::bert::Bert;
use crate::tokenize::Batch;
use crate::wta::{Head, Winners};

/// Word pieces of one batch, padding included.
const BATCH_TOKENS: usize = 2048;

/// The network with a folder for what it computed.
pub struct Encoder {
    bert: Bert,
    device: Device,
    folder: PathBuf,
    /// What the network says of a fixed text: another network has other cached vectors.
    probe: Vec<u8>,
    dim: usize,
}

/// Token vectors of one layer for many texts.
pub struct TokenVectors {
    /// Row at which each text begins.
    pub offsets: Vec<usize>,
    /// `[tokens of all texts, dim]`.
    pub hidden: Vec<f16>,
}

impl Encoder {
    /// Wraps `bert`; vectors are kept in `folder`, which is made if it is missing. `probe` is any
    /// short text in pieces.
    ///
    /// # Errors
    /// When the folder cannot be made or the network fails.
    pub fn new(bert: Bert, folder: &Path, probe: &[u32]) -> Result<Self> {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("creating {}", folder.display()))?;
        let mut encoder = Self {
            bert,
            device: Device::Cpu,
            folder: folder.to_owned(),
            probe: Vec::new(),
            dim: 0,
        };
        let vectors = encoder.forward(&[probe], encoder.last_layer())?;
        encoder.dim = vectors.len() / probe.len().max(1);
        encoder.probe = vectors.iter().flat_map(|x| x.to_le_bytes()).collect();
        Ok(encoder)
    }

    /// Width of a token vector.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Index of the last layer.
    pub fn last_layer(&self) -> usize {
        self.bert.layer_count()
    }

    /// Vectors of all real tokens of `batch`, text after text: `[tokens, dim]`.
    fn forward(&self, batch: &[&[u32]], layer: usize) -> Result<Vec<f32>> {
        let padded = Batch::new(batch, (0..batch.len()).collect(), &self.device)?;
        let outputs = self.bert.forward(&padded.input_ids, &padded.mask)?;
        let hidden = outputs
            .get(layer)
            .with_context(|| format!("the network has no layer {layer}"))?;
        let (_, seq, dim) = hidden.dims3()?;
        let values = hidden.flatten_all()?.to_vec1::<f32>()?;
        let texts = values.chunks(seq * dim).zip(&padded.lengths);
        Ok(texts
            .flat_map(|(text, length)| text.iter().take(length * dim))
            .copied()
            .collect())
    }

    /// Token vectors of `layer` for `texts` (as pieces).
    ///
    /// # Errors
    /// When the network or the cache fails.
    pub fn token_vectors(
        &self,
        label: &str,
        texts: &[Vec<u32>],
        layer: usize,
    ) -> Result<TokenVectors> {
        let order = by_length(texts);
        let rows: Vec<usize> = order
            .iter()
            .filter_map(|text| texts.get(*text))
            .map(Vec::len)
            .collect();
        let name = format!("{label}-layer{layer}");
        let hidden = self.cached(&name, texts, &order, &rows, |batch| {
            self.forward(batch, layer)
        })?;
        let mut offsets = vec![0; texts.len()];
        let mut next = 0;
        for (text, rows) in order.iter().zip(&rows) {
            if let Some(offset) = offsets.get_mut(*text) {
                *offset = next;
            }
            next += rows;
        }
        Ok(TokenVectors { offsets, hidden })
    }

    /// Mean-pooled unit vectors of `texts`: `[texts, dim]`.
    ///
    /// # Errors
    /// When the network or the cache fails.
    pub fn sentence_vectors(&self, label: &str, texts: &[Vec<u32>]) -> Result<Vec<f32>> {
        let order = by_length(texts);
        let rows = vec![1; texts.len()];
        let encode = |batch: &[&[u32]]| {
            let hidden = self.forward(batch, self.last_layer())?;
            let lengths: Vec<usize> = batch.iter().map(|text| text.len()).collect();
            Ok(pool_means(&hidden, &lengths, self.dim))
        };
        let sorted = widen(&self.cached(&format!("{label}-mean"), texts, &order, &rows, encode)?);
        let mut vectors = vec![0f32; sorted.len()];
        for (text, vector) in order.iter().zip(sorted.chunks(self.dim)) {
            if let Some(place) = vectors.get_mut(text * self.dim..(text + 1) * self.dim) {
                place.copy_from_slice(vector);
            }
        }
        Ok(vectors)
    }

    /// Rows of `texts` in the given order, computed by `encode` where the cache lacks them.
    fn cached(
        &self,
        name: &str,
        texts: &[Vec<u32>],
        order: &[usize],
        rows: &[usize],
        encode: impl Fn(&[&[u32]]) -> Result<Vec<f32>> + Sync,
    ) -> Result<Vec<f16>> {
        let pieces: Vec<u8> = texts
            .iter()
            .flat_map(|text| text.iter().flat_map(|p| p.to_le_bytes()).chain([255; 4]))
            .collect();
        let hash = fingerprint([self.probe.as_slice(), pieces.as_slice()].into_iter());
        let mut cache = VectorCache::open(
            &self.folder.join(format!("{name}-{hash}.f16")),
            rows,
            self.dim,
        )?;
        let bar = progress(name, order.len() as u64)?;
        bar.inc(cache.done() as u64);
        let mut waiting: Vec<&[u32]> = order
            .iter()
            .skip(cache.done())
            .filter_map(|text| texts.get(*text))
            .map(Vec::as_slice)
            .collect();
        waiting.reverse();
        let workers = std::thread::available_parallelism()?.get();
        while !waiting.is_empty() {
            let batches: Vec<_> = (0..workers).map(|_| next_batch(&mut waiting)).collect();
            for (batch, values) in batches.iter().zip(encode_together(&batches, &encode)?) {
                cache.append(batch.len(), &values)?;
                bar.inc(batch.len() as u64);
            }
        }
        bar.finish();
        cache.read()
    }
}

/// The vectors of each batch, every batch on a thread of its own; empty batches have none.
fn encode_together(
    batches: &[Vec<&[u32]>],
    encode: &(impl Fn(&[&[u32]]) -> Result<Vec<f32>> + Sync),
) -> Result<Vec<Vec<f32>>> {
    std::thread::scope(|scope| {
        let running: Vec<_> = batches
            .iter()
            .take_while(|batch| !batch.is_empty())
            .map(|batch| scope.spawn(move || encode(batch)))
            .collect();
        let joined = running.into_iter().map(|thread| thread.join());
        joined
            .map(|result| result.map_err(|_| anyhow!("a thread of the network stopped"))?)
            .collect()
    })
}

/// Positions of `texts`, shortest first.
fn by_length(texts: &[Vec<u32>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|text| texts.get(*text).map_or(0, Vec::len));
    order
}

/// Takes texts from the end of `waiting` until the batch is full; at least one.
fn next_batch<'a>(waiting: &mut Vec<&'a [u32]>) -> Vec<&'a [u32]> {
    let mut batch = Vec::new();
    let mut longest = 0;
    while let Some(text) = waiting.last() {
        longest = longest.max(text.len());
        if !batch.is_empty() && (batch.len() + 1) * longest > BATCH_TOKENS {
            break;
        }
        batch.extend(waiting.pop());
    }
    batch
}

/// Unit means of consecutive texts of `lengths` tokens each.
fn pool_means(hidden: &[f32], lengths: &[usize], dim: usize) -> Vec<f32> {
    let mut rest = hidden;
    let mut pooled = Vec::with_capacity(lengths.len() * dim);
    for length in lengths {
        let (text, later) = rest.split_at((length * dim).min(rest.len()));
        let mut mean = mean_row(text.chunks(dim), dim);
        normalize(&mut mean);
        pooled.extend(mean);
        rest = later;
    }
    pooled
}

/// Winners of the tokens of `hidden` (`[tokens, dim]`).
///
/// # Errors
/// When `dim` is not the head's.
pub fn winners(head: &Head, hidden: &[f16], dim: usize) -> Result<Winners> {
    let tokens = Tensor::from_vec(widen(hidden), (hidden.len() / dim, dim), &Device::Cpu)?;
    head.winners(&tokens)
}

/// A bar that counts texts.
pub fn progress(name: &str, length: u64) -> Result<ProgressBar> {
    let style =
        ProgressStyle::with_template("{prefix:>24} {bar:30} {pos}/{len} {elapsed}, {eta} left")?;
    Ok(ProgressBar::new(length)
        .with_style(style)
        .with_prefix(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_keep_the_order_and_fill_up() {
        let long = vec![1u32; BATCH_TOKENS - 3];
        let texts: [&[u32]; 4] = [&[1], &[2], &[3, 3], &long];
        let mut waiting: Vec<&[u32]> = texts.iter().rev().copied().collect();
        assert_eq!(next_batch(&mut waiting), texts[..3]);
        assert_eq!(next_batch(&mut waiting), texts[3..]);
        assert!(waiting.is_empty());
    }

    #[test]
    fn means_are_taken_per_text() {
        let hidden = [1.0, 0.0, 0.0, 1.0, 0.0, 5.0];
        let pooled = pool_means(&hidden, &[2, 1], 2);
        let half = 0.5f32.sqrt();
        assert!((pooled[0] - half).abs() < 1e-6 && (pooled[1] - half).abs() < 1e-6);
        assert_eq!(pooled[2..], [0.0, 1.0]);
    }
}
