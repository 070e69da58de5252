//! The network: weights and the forward pass.

use std::borrow::Cow;

use crate::error::{LeanError, Result};
use crate::family::{Block, Bucket, Family, Layer, Linear, Norm};
use crate::kernels::{self, Floats, Level};
use crate::math::LANES;
use crate::matrix::{PAIR, PANEL};
use crate::winners::Winners;

/// Tokens that go through a feed-forward layer together: its wide rows stay in the cache.
const FEED_FORWARD_ROWS: usize = 48;

/// A network ready to run; may be used by several threads at once.
///
/// Its weights are the bytes of the file, laid out anew where they lie.
pub struct Network {
    bytes: Vec<u8>,
    family: Family,
    level: Level,
}

/// What one run gives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// Last-layer token vectors: `[tokens, dim]`, row-major.
    pub hidden: Vec<f32>,
    /// One entry per bucket, in the order of the file; the first and the last token have no rows.
    pub buckets: Vec<Winners>,
}

/// Rows of activations as integers, two of which share an `i32`.
struct Rows {
    /// `[rows, ⌈width / 2⌉]`.
    pairs: Vec<i32>,
    /// What each row's integers are to be multiplied with.
    scales: Vec<f32>,
}

impl Network {
    /// Reads an ONNX file that `siskin-train` wrote with 8-bit weights. Bytes that are handed over
    /// are not copied.
    ///
    /// # Errors
    /// [`LeanError::NotOfFamily`] for a network that another engine may run, and
    /// [`LeanError::NotOnnx`] for bytes that are no network.
    pub fn read(model_onnx: Cow<'_, [u8]>) -> Result<Self> {
        let mut family = Family::read(&model_onnx)?;
        let mut bytes = model_onnx.into_owned();
        for matrix in family.matrices() {
            matrix.pack(&mut bytes);
        }
        Ok(Self {
            bytes,
            family,
            level: Level::best(),
        })
    }

    /// Whether [`Network::read`] takes these bytes.
    #[must_use]
    pub fn is_of_family(model_onnx: &[u8]) -> bool {
        Family::read(model_onnx).is_ok()
    }

    /// The same network on another of this machine's levels ([`Level::all`]); the results are the
    /// same too.
    #[must_use]
    pub fn at_level(mut self, level: Level) -> Self {
        self.level = if Level::all().contains(&level) {
            level
        } else {
            Level::Scalar
        };
        self
    }

    /// Width of a token vector that the network gives.
    #[must_use]
    pub fn dim(&self) -> usize {
        let output = self.family.output.as_ref();
        output.map_or(self.family.width, |linear| linear.outputs)
    }

    /// Longest text in word pieces.
    #[must_use]
    pub fn max_tokens(&self) -> usize {
        self.family.embeddings.positions.len() / self.word_width().max(1)
    }

    fn word_width(&self) -> usize {
        self.family.embeddings.norm.weight.len()
    }

    /// Dimensions and winners per token of each bucket, in the order of the file.
    pub fn buckets(&self) -> impl Iterator<Item = (usize, usize)> {
        let buckets = self.family.buckets.iter();
        buckets.map(|bucket| (bucket.linear.outputs, bucket.k))
    }

    /// Runs the network on one text, given as the ids of its word pieces. The first and the last of them mark
    /// its ends: they have vectors, but compete for no dimension.
    ///
    /// # Errors
    /// When the text is longer than the network takes or has a piece that it does not know, and
    /// when a value outgrows 32-bit floats.
    pub fn run(&self, pieces: &[u32]) -> Result<Output> {
        let mut hidden = self.embed(pieces)?;
        let family = &self.family;
        let none = |bucket: &Bucket| Winners::none(pieces.len().saturating_sub(2), bucket.k);
        let mut buckets: Vec<Winners> = family.buckets.iter().map(none).collect();
        self.compete(0, &hidden, &mut buckets);
        for (layer, number) in family.layers.iter().zip(1..) {
            self.layer(layer, &mut hidden);
            self.compete(number, &hidden, &mut buckets);
        }
        if let Some(output) = &family.output {
            hidden = self.linear(output, &self.rows(&hidden, family.width));
        }
        let mut activations = buckets.iter().flat_map(|bucket| &bucket.activations);
        match hidden.iter().all(|x| x.is_finite()) && activations.all(|x| x.is_finite()) {
            true => Ok(Output { hidden, buckets }),
            false => Err(LeanError::NotANumber),
        }
    }

    /// Words and positions, normed and mapped: `[tokens, width]`.
    fn embed(&self, pieces: &[u32]) -> Result<Vec<f32>> {
        let (tokens, most) = (pieces.len(), self.max_tokens());
        if tokens > most {
            let reason = format!("{tokens} word pieces, at most {most}");
            return Err(LeanError::Text { reason });
        }
        let width = self.word_width();
        let mut hidden = vec![0.0; tokens * width];
        for (piece, row) in pieces.iter().zip(hidden.chunks_exact_mut(width)) {
            self.embed_piece(*piece, row)?;
        }
        let embeddings = &self.family.embeddings;
        kernels::add(self.level, &mut hidden, &embeddings.positions);
        self.norm(&embeddings.norm, &mut hidden);
        Ok(match &embeddings.projection {
            Some(projection) => self.linear(projection, &self.rows(&hidden, width)),
            None => hidden,
        })
    }

    fn embed_piece(&self, piece: u32, row: &mut [f32]) -> Result<()> {
        let embeddings = &self.family.embeddings;
        let words = self.bytes.get(embeddings.words.clone()).unwrap_or_default();
        let word = words.chunks_exact(row.len()).nth(piece as usize);
        let scale = embeddings.scales.get(piece as usize);
        let (Some(word), Some(scale)) = (word, scale) else {
            let reason = format!("word piece {piece} of {}", embeddings.scales.len());
            return Err(LeanError::Text { reason });
        };
        for (x, integer) in row.iter_mut().zip(word) {
            *x = f32::from(*integer as i8) * scale;
        }
        Ok(())
    }

    /// One transformer layer: attention, then feed-forward, each added to its input and normed.
    fn layer(&self, layer: &Layer, hidden: &mut [f32]) {
        let attended = self.attention(layer, hidden);
        kernels::add(self.level, hidden, &attended);
        self.norm(&layer.middle_norm, hidden);
        let width = self.family.width;
        for rows in hidden.chunks_mut(FEED_FORWARD_ROWS * width) {
            let mut wide = self.linear(&layer.wide, &self.rows(rows, width));
            kernels::gelu(self.level, &mut wide);
            let narrow = self.linear(&layer.narrow, &self.rows(&wide, layer.wide.outputs));
            kernels::add(self.level, rows, &narrow);
        }
        self.norm(&layer.norm, hidden);
    }

    /// Multi-head self-attention: `[tokens, width]` to the same shape.
    fn attention(&self, layer: &Layer, hidden: &[f32]) -> Vec<f32> {
        let (dim, heads) = (self.family.width, self.family.heads);
        let rows = self.rows(hidden, dim);
        let maps = [&layer.query, &layer.key, &layer.value];
        let [query, key, value] = maps.map(|map| self.linear(map, &rows));
        let mut mixed = vec![0.0; hidden.len()];
        for head in 0..heads {
            self.head(head * dim / heads, [&query, &key, &value], &mut mixed);
        }
        self.linear(&layer.attention, &self.rows(&mixed, dim))
    }

    /// One head, which begins at column `first` of all rows.
    fn head(&self, first: usize, [query, key, value]: [&[f32]; 3], mixed: &mut [f32]) {
        let dim = self.family.width;
        let width = dim / self.family.heads;
        let tokens = query.len() / dim;
        let padded = tokens.next_multiple_of(LANES);
        let keys = columns_of_head(key, [dim, first, width], padded);
        let queries = Floats {
            values: query.get(first..).unwrap_or_default(),
            stride: dim,
            width,
        };
        let mut scores = vec![0.0; tokens * padded];
        kernels::product(self.level, queries, whole(&keys, padded), &mut scores);
        kernels::softmax(self.level, &mut scores, padded, tokens);
        let padded_width = width.next_multiple_of(LANES);
        let values = rows_of_head(value, [dim, first, width], padded_width);
        let mut out = vec![0.0; tokens * padded_width];
        let scores = Floats {
            values: &scores,
            stride: padded,
            width: tokens,
        };
        kernels::product(self.level, scores, whole(&values, padded_width), &mut out);
        let rows = mixed.chunks_exact_mut(dim);
        for (row, out) in rows.zip(out.chunks_exact(padded_width)) {
            copy(row.get_mut(first..), out, width);
        }
    }

    fn norm(&self, norm: &Norm, rows: &mut [f32]) {
        kernels::norm(self.level, rows, &norm.weight, &norm.bias, norm.epsilon);
    }

    /// Rows of `width` as integers.
    fn rows(&self, values: &[f32], width: usize) -> Rows {
        let count = values.len() / width.max(1);
        let mut rows = Rows {
            pairs: vec![0; count * width.div_ceil(PAIR)],
            scales: vec![0.0; count],
        };
        kernels::quantize_rows(self.level, values, width, &mut rows.pairs, &mut rows.scales);
        rows
    }

    /// A linear map: `[rows, outputs]`.
    fn linear(&self, linear: &Linear, rows: &Rows) -> Vec<f32> {
        let mut out = vec![0.0; rows.scales.len() * linear.outputs];
        let mut sums = vec![0; rows.scales.len() * PANEL];
        let mut first = 0;
        for block in &linear.blocks {
            for panel in 0..block.matrix.panels() {
                let column = first + panel * PANEL;
                let out = out.get_mut(column..).unwrap_or_default();
                self.panel(block, panel, rows, &mut sums, out, linear.outputs);
            }
            first += block.matrix.outputs;
        }
        out
    }

    /// One panel of a block: 16 columns, or those that are left, at the begin of rows of `stride`.
    /// `sums`: `[rows, 16]`, for the panel's own use.
    fn panel(
        &self,
        block: &Block,
        panel: usize,
        rows: &Rows,
        sums: &mut [i32],
        out: &mut [f32],
        stride: usize,
    ) {
        let weights = block.matrix.panel(&self.bytes, panel);
        kernels::panel_sums(self.level, &rows.pairs, weights, sums);
        let at = panel * PANEL;
        let scales = block
            .scales
            .get(at..)
            .and_then(|x| x.first_chunk::<LANES>());
        let bias = block.bias.get(at..).and_then(|x| x.first_chunk::<LANES>());
        if let (Some(scales), Some(bias)) = (scales, bias) {
            let wide = PANEL.min(block.matrix.outputs - at);
            let places = [stride, wide];
            kernels::rescale(self.level, sums, &rows.scales, [scales, bias], out, places);
        }
    }

    /// The buckets that read layer `number`.
    fn compete(&self, number: usize, hidden: &[f32], winners: &mut [Winners]) {
        let buckets = self.family.buckets.iter().zip(winners);
        let mut own = buckets
            .filter(|(bucket, _)| bucket.layer == number)
            .peekable();
        if own.peek().is_none() {
            return;
        }
        let width = self.family.width;
        let inner = hidden.get(width..hidden.len().saturating_sub(width));
        let rows = self.rows(inner.unwrap_or_default(), width);
        for (bucket, winners) in own {
            self.bucket(&bucket.linear, &rows, winners);
        }
    }

    /// Panel by panel, so that all scores are never in memory at once.
    fn bucket(&self, linear: &Linear, rows: &Rows, winners: &mut Winners) {
        let mut sums = vec![0; rows.scales.len() * PANEL];
        let mut scores = vec![0.0; rows.scales.len() * PANEL];
        let mut first = 0;
        for block in &linear.blocks {
            let outputs = block.matrix.outputs;
            for panel in 0..block.matrix.panels() {
                self.panel(block, panel, rows, &mut sums, &mut scores, PANEL);
                let wide = PANEL.min(outputs - panel * PANEL);
                self.offer((first + panel * PANEL) as u32, wide, &scores, winners);
            }
            first += outputs;
        }
    }

    /// Offers the first `wide` of each token's 16 scores to its winners.
    fn offer(&self, first: u32, wide: usize, scores: &[f32], winners: &mut Winners) {
        for (token, scores) in scores.chunks_exact(PANEL).enumerate() {
            let scores = &scores[..wide];
            let mut found = false;
            kernels::any_above(self.level, scores, winners.weakest(token), &mut found);
            if found {
                winners.offer(token, first, scores);
            }
        }
    }
}

/// A matrix whose rows lie without a gap.
fn whole(values: &[f32], width: usize) -> Floats<'_> {
    Floats {
        values,
        stride: width,
        width,
    }
}

/// `width` columns of all rows, turned: `[width, padded]`.
fn columns_of_head(rows: &[f32], [dim, first, width]: [usize; 3], padded: usize) -> Vec<f32> {
    let mut columns = vec![0.0; width * padded];
    for (token, row) in rows.chunks_exact(dim).enumerate() {
        let places = columns.iter_mut().skip(token).step_by(padded);
        places
            .zip(row.iter().skip(first))
            .for_each(|(place, x)| *place = *x);
    }
    columns
}

/// `width` columns of all rows: `[tokens, padded]`.
fn rows_of_head(rows: &[f32], [dim, first, width]: [usize; 3], padded: usize) -> Vec<f32> {
    let mut out = vec![0.0; rows.len() / dim * padded];
    for (row, out) in rows.chunks_exact(dim).zip(out.chunks_exact_mut(padded)) {
        copy(Some(out), row.get(first..).unwrap_or_default(), width);
    }
    out
}

/// Copies the first `width` values, which both sides have.
fn copy(to: Option<&mut [f32]>, from: &[f32], width: usize) {
    let to = to.and_then(|to| to.get_mut(..width));
    if let (Some(to), Some(from)) = (to, from.get(..width)) {
        to.copy_from_slice(from);
    }
}
