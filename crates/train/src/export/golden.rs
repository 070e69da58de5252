//! Golden vectors: what every engine must compute, within a tolerance.

use anyhow::{Context, Result};
use candle_core::{Device, Tensor};
use serde::Serialize;

use super::source::Source;
use crate::bert::Bert;
use crate::tokenize::Tokenizer;
use crate::wta::{Head, Winners};

/// Texts of many kinds: prose, code, several scripts, empty, longer than the longest input.
const TEXTS: &str = include_str!("golden_texts.json");

/// The content of `golden.json`.
#[derive(Serialize)]
pub struct Golden {
    texts: Vec<GoldenText>,
}

#[derive(Serialize)]
struct GoldenText {
    text: String,
    /// `[tokens]`, `[CLS]` first and `[SEP]` last.
    pieces: Vec<u32>,
    /// `[buckets][tokens][k]`, strongest first.
    winners: Vec<Vec<Vec<u32>>>,
    /// Mean over all tokens, unit length.
    dense: Vec<f32>,
}

impl Golden {
    /// Computes the vectors of all texts with candle, in f32.
    ///
    /// # Errors
    /// When the network fails.
    pub fn compute(source: &Source) -> Result<Self> {
        let texts: Vec<String> = serde_json::from_str(TEXTS).context("golden_texts.json")?;
        let engine = Engine {
            tokenizer: source.open_tokenizer()?,
            bert: source.bert()?,
            source,
        };
        let texts = texts.into_iter().map(|text| engine.golden(text));
        Ok(Self {
            texts: texts.collect::<Result<_>>()?,
        })
    }
}

struct Engine<'a> {
    tokenizer: Tokenizer,
    bert: Bert,
    source: &'a Source,
}

impl Engine<'_> {
    fn golden(&self, text: String) -> Result<GoldenText> {
        let pieces = self.tokenizer.encode(&text)?;
        let layers = self.layers(&pieces)?;
        let buckets = self.source.buckets.iter().zip(&self.source.heads);
        let winners = buckets.map(|(bucket, head)| {
            let tokens = layers.get(bucket.layer);
            let tokens = tokens.context("a bucket reads a layer that is not there")?;
            token_winners(head, &tokens.squeeze(0)?)
        });
        Ok(GoldenText {
            winners: winners.collect::<Result<_>>()?,
            dense: unit_mean(&self.bert.token_vectors(&layers)?.squeeze(0)?)?,
            text,
            pieces,
        })
    }

    /// Each layer's token vectors: `[1, tokens, width]`.
    fn layers(&self, pieces: &[u32]) -> Result<Vec<Tensor>> {
        let input_ids = Tensor::new(pieces, &Device::Cpu)?.unsqueeze(0)?;
        self.bert.forward(&input_ids, &input_ids.ones_like()?)
    }
}

fn token_winners(head: &Head, tokens: &Tensor) -> Result<Vec<Vec<u32>>> {
    let Winners { k, dimensions, .. } = head.winners(tokens)?;
    Ok(dimensions.chunks(k).map(<[u32]>::to_vec).collect())
}

fn unit_mean(tokens: &Tensor) -> Result<Vec<f32>> {
    let mean = tokens.mean(0)?;
    let length = mean.sqr()?.sum_all()?.sqrt()?;
    Ok(mean.broadcast_div(&length)?.to_vec1()?)
}
