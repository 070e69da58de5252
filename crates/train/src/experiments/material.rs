//! What the experiments read: dev questions to measure on, and other collections to learn from.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use candle_core::Tensor;

use super::cache::Vectors;
use crate::base::Base;
use crate::collection::Collection;
use crate::measure::questions;

/// Everything that the parts share.
#[derive(Clone, Debug)]
pub struct Material {
    /// Dev collections: what every ranking is measured on.
    pub measured: Vec<Vectors>,
    /// Training pairs of other collections: whitening samples and short training.
    pub learned: Vec<Vectors>,
    /// Token vectors that samples have at most.
    pub sample_tokens: usize,
}

/// Which folders, and how much of each.
#[derive(Clone, Debug)]
pub struct Choice<'a> {
    /// Folders of collections.
    pub folders: &'a [PathBuf],
    /// Split whose judgments are read.
    pub split: &'a str,
    /// Queries and passages of a collection, at most.
    pub most: (usize, usize),
    /// Chooses them.
    pub seed: u64,
}

/// The vectors of all chosen collections, encoded where the cache lacks them.
///
/// # Errors
/// When a collection cannot be read or has no judgments of the split.
pub fn vectors(
    base: &Base,
    choice: &Choice<'_>,
    layers: &[usize],
    cache: &Path,
) -> Result<Vec<Vectors>> {
    let tokenizer = base.tokenizer()?;
    let of = |folder: &PathBuf| {
        let collection = Collection::read_split(folder, choice.split)?;
        ensure!(
            !collection.pairs.is_empty(),
            "{} has no judgments in qrels/{}.tsv",
            folder.display(),
            choice.split
        );
        let texts = questions(&collection, &tokenizer, choice.most, choice.seed)?;
        let place = cache.join(format!("{}-{}", collection.name, choice.split));
        Vectors::of(base, texts, layers, place)
    };
    choice.folders.iter().map(of).collect()
}

impl Material {
    /// Token vectors at `layer` of all texts that are learned from, one in some where they are more
    /// than [`Material::sample_tokens`]: `[tokens, dim]`.
    ///
    /// # Errors
    /// When a file is damaged.
    pub fn samples(&self, layer: usize) -> Result<Tensor> {
        self.samples_of(layer, self.sample_tokens)
    }

    /// The same, at most `most`.
    ///
    /// # Errors
    /// When a file is damaged.
    pub fn samples_of(&self, layer: usize, most: usize) -> Result<Tensor> {
        let mut all = Vec::new();
        for vectors in &self.learned {
            let sides = vectors.layer(layer)?;
            all.extend([sides.queries, sides.passages]);
        }
        let all = Tensor::cat(&all, 0)?;
        let rows = all.dim(0)?;
        let count = most.min(rows);
        let at = (0..count).map(|i| Ok(u32::try_from(i * rows / count)?));
        let at: Vec<u32> = at.collect::<Result<_>>()?;
        Ok(all.index_select(&Tensor::from_vec(at, count, all.device())?, 0)?)
    }
}
