//! What an encoder says of a text, before anything is pooled over a collection.

use crate::ids::PieceId;

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
    /// One entry per bucket, in the encoder's order; `[CLS]` and `[SEP]` have no rows.
    pub buckets: Vec<TokenWinners>,
}

/// A sparse code: dimensions with their weights, in order of dimension.
pub type Code = Vec<(u32, f32)>;

/// A query seen through the network: what `full` mode needs beside the query's words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EncodedQuery {
    /// Per bucket the query's dimensions with their activations summed over its tokens, in order of
    /// dimension.
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
    /// Mean vectors of the passage's spans of pieces, of unit length: `[spans, dim]`, row-major; empty unless the
    /// index that they are for looks at spans.
    pub spans: Vec<f32>,
}

impl PassageCodes {
    /// Drops the special tokens of `text`; `dense` is its pooled vector, `spans` are those of its spans.
    #[must_use]
    pub fn new(text: EncodedText, dense: Vec<f32>, spans: Vec<f32>) -> Self {
        Self {
            pieces: inner_tokens(&text.pieces).to_vec(),
            winners: text.buckets,
            dense,
            spans,
        }
    }
}

/// The sum of two vectors, both first brought to length 1 and the second then multiplied by `share`.
#[must_use]
pub fn joined(vector: &[f32], other: &[f32], share: f32) -> Vec<f32> {
    let (scale, other_scale) = (inverse_length(vector), share * inverse_length(other));
    let pairs = vector.iter().zip(other);
    pairs.map(|(a, b)| scale * a + other_scale * b).collect()
}

/// 1 over the Euclidean length; 0 for a vector of zeros.
fn inverse_length(vector: &[f32]) -> f32 {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 { 1.0 / length } else { 0.0 }
}

/// What stands between `[CLS]` and `[SEP]`.
#[must_use]
pub fn inner_tokens<T>(tokens: &[T]) -> &[T] {
    match tokens {
        [_, inner @ .., _] => inner,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_vectors_count_by_their_share_whatever_their_length() {
        assert_eq!(joined(&[0.0, 2.0], &[10.0, 0.0], 0.25), [0.25, 1.0]);
        assert_eq!(joined(&[0.0, 2.0], &[0.0, 0.0], 0.25), [0.0, 1.0]);
    }
}
