//! The network that is distilled, with its tokenizer and its heads.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use candle_core::Device;

use super::Args;
use super::counts::WinnerCounts;
use super::encode::{self, Encoder, TokenVectors};
use super::pack::DimensionTable;
use crate::base::Base;
use crate::checkpoint::{Bucket, Checkpoint};
use crate::tokenize::Tokenizer;
use crate::wta::{Head, identity};

/// Rows of token vectors that winners are computed of at a time.
const WINNER_ROWS: usize = 1024;

/// The network that is distilled.
pub struct Network {
    /// Runs it over texts.
    pub encoder: Encoder,
    tokenizer: Tokenizer,
    heads: Vec<(Bucket, Head)>,
    /// Word pieces.
    pub vocabulary: usize,
    /// `[CLS]` and `[SEP]`.
    special: [u32; 2],
    /// Static rows that were trained with the network: `[pieces, dim]`.
    pub static_rows: Option<Vec<f32>>,
    /// Whether it is another than the base model's.
    pub is_trained: bool,
    /// What tells its weights from others.
    pub id: String,
}

impl Network {
    /// Opens the base model, or the checkpoint trained from it.
    ///
    /// # Errors
    /// When a file is missing or malformed.
    pub fn open(args: &Args) -> Result<Self> {
        let device = Device::Cpu;
        let base = Base::open(&args.base, &device)?;
        let checkpoint = args
            .checkpoint
            .as_deref()
            .map(|folder| Checkpoint::load(folder, &device))
            .transpose()?;
        if let Some(checkpoint) = &checkpoint {
            checkpoint.check_base(&base)?;
        }
        let tokenizer = base.tokenizer()?;
        let special = special_pieces(&tokenizer)?;
        let bert = checkpoint
            .as_ref()
            .map_or_else(|| base.bert(), |checkpoint| checkpoint.bert(&base))?;
        let folder = args
            .cache
            .clone()
            .unwrap_or_else(|| beside(&args.out, "cache"));
        let is_trained = checkpoint
            .as_ref()
            .is_some_and(|checkpoint| checkpoint.backbone.is_some());
        let trained = checkpoint
            .as_ref()
            .and_then(|checkpoint| checkpoint.backbone.as_ref());
        let id = trained.map_or_else(|| Ok(base.id.clone()), crate::base::identity)?;
        let probe = tokenizer.encode("the network that is distilled")?;
        let static_rows = checkpoint
            .as_ref()
            .filter(|checkpoint| checkpoint.state.rows_trained)
            .and_then(|checkpoint| checkpoint.rows.as_ref())
            .map(|rows| rows.rows.flatten_all()?.to_vec1::<f32>())
            .transpose()?;
        let heads = checkpoint.map_or_else(Vec::new, |c| {
            c.state.buckets.into_iter().zip(c.heads).collect()
        });
        Ok(Self {
            encoder: Encoder::new(bert, &folder, &probe)?,
            tokenizer,
            heads,
            vocabulary: base.config.vocab_size,
            special,
            static_rows,
            is_trained,
            id,
        })
    }

    /// Texts as pieces, special tokens included.
    ///
    /// # Errors
    /// When the tokenizer fails.
    pub fn tokenize(&self, texts: &[String]) -> Result<Vec<Vec<u32>>> {
        texts
            .iter()
            .map(|text| self.tokenizer.encode(text))
            .collect()
    }

    /// What tells the heads from others.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn heads_identity(&self) -> Result<String> {
        let heads: Vec<Head> = self.heads.iter().map(|(_, head)| head.clone()).collect();
        identity(&heads)
    }

    /// Every piece of the vocabulary as a text of its own.
    pub fn lone_pieces(&self) -> Vec<Vec<u32>> {
        let [first, last] = self.special;
        (0u32..)
            .take(self.vocabulary)
            .map(|piece| vec![first, piece, last])
            .collect()
    }

    /// Per bucket the tables over `passages` and of the pieces alone.
    ///
    /// # Errors
    /// When the network fails.
    pub fn tables(
        &self,
        lone: &[Vec<u32>],
        passages: &[Vec<u32>],
    ) -> Result<(Vec<DimensionTable>, Vec<DimensionTable>)> {
        let mut tables = (Vec::new(), Vec::new());
        for (bucket, head) in &self.heads {
            let hidden = self
                .encoder
                .token_vectors("passages", passages, bucket.layer)?;
            tables.0.push(self.generic_table(head, passages, &hidden)?);
            let hidden = self.encoder.token_vectors("alone", lone, bucket.layer)?;
            tables.1.push(self.alone_table(head, &hidden)?);
        }
        Ok(tables)
    }

    fn generic_table(
        &self,
        head: &Head,
        passages: &[Vec<u32>],
        vectors: &TokenVectors,
    ) -> Result<DimensionTable> {
        let mut counts = WinnerCounts::default();
        let bar = encode::progress("counting winners", passages.len() as u64)?;
        let dim = self.encoder.dim();
        for (passage, offset) in passages.iter().zip(&vectors.offsets) {
            let hidden = vectors
                .hidden
                .get(offset * dim..(offset + passage.len()) * dim)
                .context("a passage lacks vectors")?;
            let winners = encode::winners(head, hidden, dim)?;
            for (piece, won) in passage.iter().zip(winners.dimensions.chunks(head.k)) {
                if !self.special.contains(piece) {
                    counts.add(*piece, won.iter().copied());
                }
            }
            bar.inc(1);
        }
        bar.finish();
        Ok(counts.table(self.vocabulary))
    }

    /// Winners of the middle token of every `[CLS] piece [SEP]`.
    fn alone_table(&self, head: &Head, vectors: &TokenVectors) -> Result<DimensionTable> {
        let dim = self.encoder.dim();
        let middle: Vec<_> = vectors
            .hidden
            .chunks(3 * dim)
            .flat_map(|text| text.get(dim..2 * dim).unwrap_or(&[]))
            .copied()
            .collect();
        let mut rows = Vec::with_capacity(self.vocabulary);
        for tokens in middle.chunks(WINNER_ROWS * dim) {
            let winners = encode::winners(head, tokens, dim)?;
            let entries: Vec<(u32, f32)> = winners
                .dimensions
                .into_iter()
                .zip(winners.activations)
                .collect();
            rows.extend(entries.chunks(head.k).map(<[_]>::to_vec));
        }
        Ok(DimensionTable {
            width: head.k,
            rows,
        })
    }
}

/// `name` in the folder of `file`.
fn beside(file: &Path, name: &str) -> PathBuf {
    file.parent().unwrap_or(Path::new(".")).join(name)
}

/// What the tokenizer puts before and behind a text.
fn special_pieces(tokenizer: &Tokenizer) -> Result<[u32; 2]> {
    let empty = tokenizer.encode("")?;
    let &[first, last] = empty.as_slice() else {
        anyhow::bail!(
            "the tokenizer wraps no text in {} pieces, not in [CLS] and [SEP]",
            empty.len()
        )
    };
    Ok([first, last])
}
