//! `rows.json`: the mean query vector, and where the rows come from.

use std::path::Path;

use anyhow::Result;
use serde::Serialize;

use super::Args;
use super::material::Material;
use super::ranking::Ranking;
use super::texts::Source;
use crate::files::write_whole;

/// Version of the report's form.
const FORMAT: u32 = 1;

/// The content of `rows.json`.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    format: u32,
    /// Mean unit sentence vector of query-like texts: `[dim]`.
    query_mean: Vec<f32>,
    /// Heads whose dimensions the tables have, see [`crate::wta::identity`].
    heads: String,
    /// The network that they stand in for: id of the base model, or [`crate::base::identity`] of what was trained.
    network: String,
    seed: u64,
    /// Names of the training collections.
    data: Vec<String>,
    short_texts: usize,
    /// Those of `short_texts` that are queries; the rest are titles.
    query_texts: usize,
    passages: usize,
    static_rows: CosineReport,
    pooling: PoolingReport,
}

/// Mean cosine between the sum of rows and the centred sentence vector, over held-out texts.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CosineReport {
    /// Texts trained on.
    pub train_texts: usize,
    /// Texts measured on.
    pub held_out_texts: usize,
    /// Pieces that occur in training texts.
    pub pieces_seen: usize,
    /// Before training.
    pub start: f32,
    /// After training.
    pub trained: f32,
    /// After rows of rare and unseen pieces were completed.
    pub completed: f32,
    /// The same at 4 bits.
    pub packed: f32,
}

/// Ranking of held-out pairs by the network's query vector.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PoolingReport {
    /// Pairs trained on.
    pub train_pairs: usize,
    /// Pairs measured on.
    pub held_out_pairs: usize,
    /// Passages pooled by the plain mean.
    pub mean_pooling: Ranking,
    /// Passages pooled by learned attention.
    pub learned: Ranking,
    /// The plain mean, queries by static rows instead of the network.
    pub mean_pooling_static_query: Ranking,
    /// Learned attention, queries by static rows instead of the network.
    pub learned_static_query: Ranking,
}

impl Report {
    /// Puts the report of one run together.
    pub fn new(
        args: &Args,
        (heads, network): (String, String),
        material: Material,
        static_rows: CosineReport,
        pooling: PoolingReport,
    ) -> Self {
        let texts = &material.texts;
        Self {
            format: FORMAT,
            heads,
            network,
            seed: args.seed,
            data: args.texts.iter().map(Source::name).collect(),
            short_texts: texts.shorts.len(),
            query_texts: texts.query_count,
            passages: texts.passages.len(),
            query_mean: material.query_mean,
            static_rows,
            pooling,
        }
    }

    /// Writes the report as JSON.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        write_whole(path, (text + "\n").as_bytes())
    }
}
