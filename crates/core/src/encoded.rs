//! What an encoder says of a text, before anything is pooled over a collection.

use crate::ids::PieceId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// The winners of one bucket: for each token its `k` strongest dimensions (UHD-BERT, eq. 3).
///
/// Both vectors are `[tokens, k]`, row-major, strongest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TokenWinners {
    /// Winners kept per token.
    pub k: usize,
    /// Dimensions, each below the bucket's `n`.
    pub dimensions: Vec<u32>,
    /// Activations `z` (eq. 2) of those dimensions.
    pub activations: Vec<f32>,
}

/// Everything an encoder computes for one text; `tokens` counts `[CLS]` and `[SEP]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EncodedText {
    /// Word pieces, `[CLS]` first and `[SEP]` last: `[tokens]`.
    pub pieces: Vec<PieceId>,
    /// Last-layer token vectors: `[tokens, dim]`, row-major.
    pub hidden: Vec<f32>,
    /// One entry per bucket, in the encoder's order. Rows of `[CLS]` and `[SEP]` are present.
    pub buckets: Vec<TokenWinners>,
}

/// A sparse code: dimensions with their weights, in order of dimension.
pub type Code = Vec<(u32, f32)>;

/// A query seen through the network: what `full` mode needs beside the query's words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EncodedQuery {
    /// Per bucket the query's dimensions with their activations summed over its tokens
    /// (special tokens left out), in order of dimension.
    pub buckets: Vec<Code>,
    /// Mean-pooled vector of unit length (special tokens included), minus the mean query vector.
    pub dense: Vec<f32>,
}

/// A text that can be turned into token vectors and winners: the seam between Siskin and
/// whatever computes the network.
pub trait Encode {
    /// Why a text could not be encoded.
    type Error: std::error::Error;

    /// Encodes one text, cut at the encoder's longest input.
    ///
    /// # Errors
    /// When the network fails; never for the content of `text`.
    fn encode(&self, text: &str) -> Result<EncodedText, Self::Error>;
}

/// One passage as the index builder wants it: without `[CLS]` and `[SEP]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PassageCodes {
    /// Word pieces: `[tokens]`.
    pub pieces: Vec<PieceId>,
    /// One entry per bucket; rows belong to `pieces`.
    pub winners: Vec<TokenWinners>,
    /// Pooled vector of unit length: `[dim]`.
    pub dense: Vec<f32>,
}

impl PassageCodes {
    /// Drops the special tokens of `text`; `dense` is its pooled vector.
    #[must_use]
    pub fn new(text: &EncodedText, dense: Vec<f32>) -> Self {
        let inner = inner_tokens(text.pieces.len());
        let winners = text
            .buckets
            .iter()
            .map(|bucket| bucket.tokens(inner.clone()))
            .collect();
        Self {
            pieces: text.pieces[inner].to_vec(),
            winners,
            dense,
        }
    }
}

impl TokenWinners {
    /// The winners of a range of tokens.
    fn tokens(&self, tokens: Range<usize>) -> Self {
        let rows = tokens.start * self.k..tokens.end * self.k;
        Self {
            k: self.k,
            dimensions: self.dimensions[rows.clone()].to_vec(),
            activations: self.activations[rows].to_vec(),
        }
    }
}

impl EncodedQuery {
    /// The same with every winner counting 1.
    #[must_use]
    pub fn binary(&self) -> Self {
        let ones = |code: &Code| code.iter().map(|&(at, _)| (at, 1.0)).collect();
        Self {
            buckets: self.buckets.iter().map(ones).collect(),
            dense: self.dense.clone(),
        }
    }

    /// The sum with `other`, every code and vector first brought to length 1 and those of `other`
    /// then multiplied by their share. Both have the same buckets and the same width.
    #[must_use]
    pub fn joined(&self, other: &Self, uhd_share: f32, dense_share: f32) -> Self {
        let join_codes = |(a, b): (&Code, &Code)| {
            let mut sum: BTreeMap<u32, f32> = BTreeMap::new();
            for (code, share) in [(a, 1.0), (b, uhd_share)] {
                let scale = share * inverse_length(code.iter().map(|(_, weight)| *weight));
                for &(dimension, weight) in code {
                    *sum.entry(dimension).or_default() += scale * weight;
                }
            }
            sum.into_iter().collect()
        };
        let scale = inverse_length(self.dense.iter().copied());
        let other_scale = dense_share * inverse_length(other.dense.iter().copied());
        let dense = self.dense.iter().zip(&other.dense);
        Self {
            buckets: self
                .buckets
                .iter()
                .zip(&other.buckets)
                .map(join_codes)
                .collect(),
            dense: dense.map(|(a, b)| scale * a + other_scale * b).collect(),
        }
    }
}

/// 1 over the Euclidean length; 0 for a vector of zeros.
fn inverse_length(values: impl Iterator<Item = f32>) -> f32 {
    let length = values.map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 { 1.0 / length } else { 0.0 }
}

/// Tokens between `[CLS]` and `[SEP]`.
fn inner_tokens(tokens: usize) -> Range<usize> {
    1.min(tokens)..tokens.saturating_sub(1).max(1.min(tokens))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(code: &[(u32, f32)], dense: &[f32]) -> EncodedQuery {
        EncodedQuery {
            buckets: vec![code.to_vec()],
            dense: dense.to_vec(),
        }
    }

    #[test]
    fn joined_queries_count_by_their_share_whatever_their_length() {
        let network = query(&[(1, 3.0), (4, 4.0)], &[0.0, 2.0]);
        let rows = query(&[(4, 0.1), (9, 0.0)], &[10.0, 0.0]);
        let joined = network.joined(&rows, 0.5, 0.25);
        let expected = query(&[(1, 0.6), (4, 0.8 + 0.5), (9, 0.0)], &[0.25, 1.0]);
        assert_eq!(joined, expected);
    }

    #[test]
    fn a_query_without_rows_stays_as_it_is() {
        let network = query(&[(1, 0.6), (4, 0.8)], &[0.0, 1.0]);
        assert_eq!(network.joined(&query(&[], &[0.0, 0.0]), 0.5, 0.8), network);
        assert_eq!(network.binary().buckets, [[(1, 1.0), (4, 1.0)]]);
    }
}
