//! Text to word pieces, and word pieces to batches of similar length.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use candle_core::{Device, Tensor};
use tokenizers::pipeline::{EncodeOptions, Override, PipelineTokenizer};

/// A model's own tokenizer, cutting long texts.
pub struct Tokenizer {
    pipeline: PipelineTokenizer,
    max_tokens: usize,
}

impl Tokenizer {
    /// Reads `tokenizer.json` at `path`; texts are cut to `max_tokens` pieces, `[CLS]` and
    /// `[SEP]` included.
    ///
    /// # Errors
    /// When the file is missing or describes parts that this build lacks.
    pub fn open(path: &Path, max_tokens: usize) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read tokenizer {}", path.display()))?;
        let canonical = tokenizers::canonicalize_str(&text)
            .with_context(|| format!("{} is not a tokenizer", path.display()))?;
        let pipeline = tokenizers::from_json(&canonical)
            .map_err(|error| anyhow!("{}: {error}", path.display()))?;
        Ok(Self {
            pipeline,
            max_tokens,
        })
    }

    /// Word pieces of `text`, `[CLS]` first and `[SEP]` last, at most `max_tokens`. A literal
    /// `[SEP]` in a text is text.
    ///
    /// # Errors
    /// When the tokenizer fails; never for the content of `text`.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>> {
        let options = EncodeOptions {
            padding: Override::Off,
            truncation: Override::Off,
            encode_special_tokens: true,
            ..EncodeOptions::default()
        };
        let mut pieces = Vec::new();
        self.pipeline
            .encode_into(text, &options, &mut pieces)
            .map_err(|error| anyhow!("cannot tokenize: {error}"))?;
        let mut pieces: Vec<u32> = pieces.into_iter().map(u32::from).collect();
        self.cut(&mut pieces);
        Ok(pieces)
    }

    /// Keeps the first pieces and the final `[SEP]`.
    fn cut(&self, pieces: &mut Vec<u32>) {
        if pieces.len() > self.max_tokens {
            let separator = pieces.last().copied();
            pieces.truncate(self.max_tokens - 1);
            pieces.extend(separator);
        }
    }
}

/// Texts of similar length, padded to one rectangle.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Positions of the texts in the list that was batched.
    pub texts: Vec<usize>,
    /// `[batch, seq]` u32; padding is piece 0.
    pub input_ids: Tensor,
    /// `[batch, seq]` f32: 1 = real, 0 = padding.
    pub mask: Tensor,
    /// Real pieces of each text.
    pub lengths: Vec<usize>,
}

impl Batch {
    /// Pads `pieces` to the longest of them; `texts` says where each came from.
    ///
    /// # Errors
    /// When `pieces` is empty.
    pub fn new(pieces: &[&[u32]], texts: Vec<usize>, device: &Device) -> Result<Self> {
        let lengths: Vec<usize> = pieces.iter().map(|text| text.len()).collect();
        let seq = lengths
            .iter()
            .copied()
            .max()
            .context("a batch needs a text")?;
        let shape = (pieces.len(), seq);
        let input_ids = pieces
            .iter()
            .flat_map(|text| padded(text.iter().copied(), seq, 0));
        let mask = pieces
            .iter()
            .flat_map(|text| padded(text.iter().map(|_| 1_f32), seq, 0.0));
        Ok(Self {
            texts,
            input_ids: Tensor::from_vec(input_ids.collect(), shape, device)?,
            mask: Tensor::from_vec(mask.collect(), shape, device)?,
            lengths,
        })
    }
}

fn padded<T: Clone>(
    values: impl Iterator<Item = T>,
    length: usize,
    fill: T,
) -> impl Iterator<Item = T> {
    values.chain(std::iter::repeat(fill)).take(length)
}

/// Batches of texts sorted by length, each of at most `max_batch_tokens` pieces with padding (or
/// one text, if that alone is longer). Every text appears exactly once.
///
/// # Errors
/// When a tensor cannot be made.
pub fn batches_by_length(
    pieces: &[Vec<u32>],
    max_batch_tokens: usize,
    device: &Device,
) -> Result<Vec<Batch>> {
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    order.sort_by_key(|&text| pieces[text].len());
    let mut batches = Vec::new();
    let mut rest = order.as_slice();
    while !rest.is_empty() {
        let (now, later) = rest.split_at(batch_size(pieces, rest, max_batch_tokens));
        let texts: Vec<&[u32]> = now.iter().map(|&text| pieces[text].as_slice()).collect();
        batches.push(Batch::new(&texts, now.to_vec(), device)?);
        rest = later;
    }
    Ok(batches)
}

/// How many of the texts `order`, shortest first, fit into one batch; at least one.
fn batch_size(pieces: &[Vec<u32>], order: &[usize], max_batch_tokens: usize) -> usize {
    let fits =
        |&(size, &text): &(usize, &usize)| (size + 1) * pieces[text].len() <= max_batch_tokens;
    order.iter().enumerate().take_while(fits).count().max(1)
}
