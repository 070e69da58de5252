//! The base model: a folder with `config.json`, `model.safetensors` and `tokenizer.json`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use candle_core::{DType, Device, Tensor};
use safetensors::serialize;
use serde::Deserialize;
use siskin_core::container::sha256_hex;

use crate::bert::{Bert, Config};
use crate::checkpoint::check_finite;
use crate::files::write_whole;
use crate::manifest::Manifest;
use crate::onnx::read::Written;
use crate::onnx::{self, Network, Quantization};
use crate::tokenize::Tokenizer;
use crate::vocabulary::Vocabulary;

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
        for tensor in weights.values_mut() {
            *tensor = tensor.to_dtype(DType::F32)?;
        }
        check_finite(&weights, &path)?;
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
    /// When `tokenizer.json` is missing or malformed, or of another model.
    pub fn tokenizer(&self) -> Result<Tokenizer> {
        let file = self.tokenizer_file();
        let tokenizer = Tokenizer::open(&file, MAX_TOKENS)?;
        let (pieces, known) = (Vocabulary::open(&file)?.end(), self.config.vocab_size);
        ensure!(
            pieces as usize <= known,
            "{} has {pieces} word pieces and the model beside it knows {known}: they are not of one model",
            file.display()
        );
        Ok(tokenizer)
    }

    fn tokenizer_file(&self) -> PathBuf {
        self.folder.join("tokenizer.json")
    }

    /// The ONNX file of the network with other `weights` and without buckets.
    ///
    /// # Errors
    /// When a weight is missing or has the wrong shape.
    pub fn onnx(
        &self,
        weights: &HashMap<String, Tensor>,
        quantization: Quantization,
    ) -> Result<Vec<u8>> {
        onnx::write(&Network {
            weights,
            config: &self.config,
            buckets: &[],
            heads: &[],
            max_tokens: MAX_TOKENS,
            quantization,
        })
    }

    /// The weights of the encoder in `folder` with this manifest, where training changed them: read back from its
    /// `model.onnx`, rounded as they are there. `None` where its network is this model's as it is.
    ///
    /// # Errors
    /// When the encoder was made of a model of other shapes or word pieces, or a file cannot be read.
    pub fn trained_in(
        &self,
        folder: &Path,
        manifest: &Manifest,
    ) -> Result<Option<HashMap<String, Tensor>>> {
        let other = || {
            format!(
                "{} was not made of {}: give the base model that the encoder was exported from",
                folder.display(),
                self.folder.display()
            )
        };
        let pieces = Vocabulary::open(&folder.join("tokenizer.json"))?;
        ensure!(
            pieces == Vocabulary::open(&self.tokenizer_file())?,
            "{}; its word pieces are others",
            other()
        );
        let written = Written::read(&manifest.file(folder, "model.onnx")?).with_context(other)?;
        let own = Written::read(&self.onnx(&self.weights, manifest.quantization)?)?;
        ensure!(written.layers() == own.layers(), other());
        let changed = own.floats_that_differ(&written).with_context(other)?;
        match changed.is_empty() {
            true => Ok(None),
            false => written.network(&self.config).map(Some),
        }
    }

    /// Writes this model with other `weights` to `folder`, unless it is there; [`Base::open`] reads it.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn write_with(&self, weights: &HashMap<String, Tensor>, folder: &Path) -> Result<()> {
        // What is written last.
        let path = folder.join("model.safetensors");
        if path.exists() {
            return Ok(());
        }
        let positions = weights.get("embeddings.position_embeddings.weight");
        let config = Config {
            max_position_embeddings: positions.context("it has no positions")?.dim(0)?,
            ..self.config.clone()
        };
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        let tokenizer = std::fs::read(self.tokenizer_file())
            .with_context(|| format!("cannot read {}", self.tokenizer_file().display()))?;
        write_whole(&folder.join("tokenizer.json"), &tokenizer)?;
        let config = serde_json::to_string_pretty(&config)?;
        write_whole(&folder.join("config.json"), config.as_bytes())?;
        write_whole(&path, &serialize(weights, None)?)
    }
}

/// What tells weights from others: SHA-256 of their names and values, in hex.
///
/// # Errors
/// When a tensor cannot be read from its device.
pub fn identity(weights: &HashMap<String, Tensor>) -> Result<String> {
    let mut named: Vec<_> = weights.iter().collect();
    named.sort_unstable_by_key(|(name, _)| *name);
    let mut bytes = Vec::new();
    for (name, tensor) in named {
        let values = tensor
            .flatten_all()?
            .to_dtype(DType::F32)?
            .to_vec1::<f32>()?;
        bytes.extend(name.as_bytes());
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }
    Ok(sha256_hex(&bytes))
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
