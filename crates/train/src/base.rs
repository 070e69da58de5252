//! The base model: a folder with `config.json`, `model.safetensors` and `tokenizer.json`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use candle_core::{Device, Tensor};
use serde::Deserialize;
use siskin_core::container::sha256_hex;

use crate::bert::{Bert, Config};
use crate::tokenize::Tokenizer;

/// Longest input in word pieces, `[CLS]` and `[SEP]` included.
pub const MAX_TOKENS: usize = 128;

/// A base model's configuration and weights, as read from its folder.
#[derive(Clone, Debug)]
pub struct Base {
    /// The folder it was read from.
    pub folder: PathBuf,
    /// SHA-256 of its weights' file, in hex.
    pub id: String,
    /// Shapes of the network.
    pub config: Config,
    /// Weights by their published names, f32.
    pub weights: HashMap<String, Tensor>,
}

impl Base {
    /// Reads the base model in `folder` onto `device`.
    ///
    /// # Errors
    /// When a file is missing or malformed; the message names it.
    pub fn open(folder: &Path, device: &Device) -> Result<Self> {
        ensure!(
            folder.is_dir(),
            "no base model in {}: run `cargo xtask base-model`, or name its folder with --base",
            folder.display()
        );
        let config = read_config(&folder.join("config.json"))?;
        let path = folder.join("model.safetensors");
        let unreadable = || format!("cannot read weights {}", path.display());
        let bytes = std::fs::read(&path).with_context(unreadable)?;
        let mut weights =
            candle_core::safetensors::load_buffer(&bytes, device).with_context(unreadable)?;
        weights.retain(|_, tensor| tensor.dtype().is_float());
        Ok(Self {
            folder: folder.to_owned(),
            id: sha256_hex(&bytes),
            config,
            weights,
        })
    }

    /// The frozen network: no gradient flows into its weights.
    ///
    /// # Errors
    /// When a weight is missing.
    pub fn bert(&self) -> Result<Bert> {
        Bert::load(&self.weights, &self.config)
    }

    /// The model's tokenizer, cutting at [`MAX_TOKENS`].
    ///
    /// # Errors
    /// When `tokenizer.json` is missing or malformed.
    pub fn tokenizer(&self) -> Result<Tokenizer> {
        Tokenizer::open(&self.folder.join("tokenizer.json"), MAX_TOKENS)
    }
}

fn read_config(path: &Path) -> Result<Config> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read configuration {}", path.display()))?;
    let other = || format!("{} is not a BERT configuration", path.display());
    let kind: Kind = serde_json::from_str(&text).with_context(other)?;
    for (key, value, known) in [
        ("model_type", kind.model_type, "bert"),
        ("hidden_act", kind.hidden_act, "gelu"),
    ] {
        let value = value.as_deref().unwrap_or(known);
        ensure!(
            value == known,
            "{}: {key} is {value}, and only {known} is supported",
            path.display()
        );
    }
    let config: Config = serde_json::from_str(&text).with_context(other)?;
    ensure!(
        config.num_attention_heads > 0
            && config
                .hidden_size
                .is_multiple_of(config.num_attention_heads),
        "{}: {} attention heads do not divide {} values",
        path.display(),
        config.num_attention_heads,
        config.hidden_size
    );
    ensure!(
        config.layer_norm_eps > 0.0 && config.max_position_embeddings >= MAX_TOKENS,
        "{}: layer_norm_eps has to be above 0 and max_position_embeddings at least {MAX_TOKENS}",
        path.display()
    );
    Ok(config)
}

/// What tells other networks from BERT; absent where it is one.
#[derive(Deserialize)]
struct Kind {
    model_type: Option<String>,
    hidden_act: Option<String>,
}
