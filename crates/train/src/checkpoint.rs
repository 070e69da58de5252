//! A checkpoint: a folder that `fit` writes and resumes from, and that `rows` and `export` read.
//!
//! ```text
//! heads.safetensors      bucket{j}.weight F32 [n, dim], bucket{j}.bias F32 [n], j = 0, 1, …
//! backbone.safetensors   every weight of the base model, by its name; only if it was trained
//! optimizer.safetensors  {name}.first and {name}.second moments; absent before the first step
//! state.json             State: what was asked for, and how far it came
//! ```

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result};
use candle_core::{Device, Tensor};
use serde::{Deserialize, Serialize};

use crate::base::Base;
use crate::bert::Bert;
use crate::wta::Head;

/// Which layer a bucket reads and how its codes look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    /// Output read: 0 = embeddings, 6 = last layer of MiniLM.
    pub layer: usize,
    /// Dimensions.
    pub n: usize,
    /// Winners per token.
    pub k: usize,
}

/// The content of `state.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Buckets in the order of `heads.safetensors`.
    pub buckets: Vec<Bucket>,
    /// Optimisation steps done; 0 = initialised only.
    pub step: usize,
    /// How it was made: seeds, data, options. Free-form.
    #[serde(default)]
    pub config: serde_json::Value,
}

/// A checkpoint read back.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// What `state.json` says.
    pub state: State,
    /// One head per bucket.
    pub heads: Vec<Head>,
    /// Trained backbone weights, if the backbone was trained.
    pub backbone: Option<HashMap<String, Tensor>>,
}

impl Checkpoint {
    /// Reads the checkpoint in `folder` onto `device`.
    ///
    /// # Errors
    /// When a file is missing, malformed, or does not fit `state.json`.
    pub fn load(folder: &Path, device: &Device) -> Result<Self> {
        let path = folder.join("state.json");
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("no checkpoint: cannot read {}", path.display()))?;
        let state: State = serde_json::from_str(&text)
            .with_context(|| format!("{} is malformed", path.display()))?;
        let heads = load_heads(&folder.join("heads.safetensors"), &state.buckets, device)?;
        let path = folder.join("backbone.safetensors");
        let backbone = path
            .exists()
            .then(|| load_tensors(&path, device))
            .transpose()?;
        Ok(Self {
            state,
            heads,
            backbone,
        })
    }

    /// The network of this checkpoint: its own backbone, or the base model's.
    ///
    /// # Errors
    /// When a weight is missing.
    pub fn bert(&self, base: &Base) -> Result<Bert> {
        Bert::load(
            self.backbone.as_ref().unwrap_or(&base.weights),
            &base.config,
        )
    }
}

fn load_tensors(path: &Path, device: &Device) -> Result<HashMap<String, Tensor>> {
    candle_core::safetensors::load(path, device)
        .with_context(|| format!("cannot read {}", path.display()))
}

fn load_heads(path: &Path, buckets: &[Bucket], device: &Device) -> Result<Vec<Head>> {
    let mut tensors = load_tensors(path, device)?;
    let mut take = |name: String| {
        tensors
            .remove(&name)
            .with_context(|| format!("{} lacks {name}", path.display()))
    };
    (0..)
        .zip(buckets)
        .map(|(j, bucket): (usize, &Bucket)| {
            let weight = take(format!("bucket{j}.weight"))?;
            let bias = take(format!("bucket{j}.bias"))?;
            Head::new(weight, bias, bucket.k)
        })
        .collect()
}
