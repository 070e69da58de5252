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
    /// One entry per bucket, in the encoder's order. Rows of `[CLS]` and `[SEP]` are present.
    pub buckets: Vec<TokenWinners>,
}

/// A query seen through the network: what `full` mode needs beside the query's words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EncodedQuery {
    /// Per bucket the query's dimensions with their activations summed over its tokens
    /// (special tokens left out), in order of dimension.
    pub buckets: Vec<Vec<(u32, f32)>>,
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
