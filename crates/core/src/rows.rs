//! Rows: what one word piece contributes to a query's code when no network is asked.

/// What the encoder knows of every word piece, before a site blends in its own statistics.
///
/// `pieces` is the size of the vocabulary, `dim` the width of the dense vector.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GenericRows {
    /// Width of a static row.
    pub dim: usize,
    /// Static rows `E`: `[pieces, dim]`, row-major. The sum over a query's pieces predicts the
    /// query's dense vector (unit length, minus the mean query vector).
    pub static_rows: Vec<f32>,
    /// Per bucket: for every piece its strongest dimensions over generic text, as
    /// `(dimension, weight)`, at most 16, strongest first.
    pub generic: Vec<Vec<Vec<(u32, f32)>>>,
    /// Per bucket: the winners of the piece encoded alone, the same form, at most 4.
    pub alone: Vec<Vec<Vec<(u32, f32)>>>,
}

/// How passage token vectors are pooled into one vector while indexing:
/// `softmax_t(x_t · attention + bias[piece_t])`-weighted mean, then unit length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PassagePooling {
    /// `[dim]`; empty for the plain mean.
    pub attention: Vec<f32>,
    /// `[pieces]`; empty for the plain mean.
    pub bias: Vec<f32>,
}
