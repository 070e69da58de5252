//! The student: a BERT with narrow word vectors, and a map to the teacher's token vectors.
//!
//! ```text
//! student.safetensors    weights, by the names that BERT and ELECTRA publish, and output_project.{weight,bias}
//! optimizer.safetensors  {name}.first and {name}.second moments, and step U32 []
//! state.json             State
//! ```

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use candle_core::{DType, Device, Tensor};
use serde::{Deserialize, Serialize};

use super::Settings;
use super::teacher::{Lessons, Teacher};
use crate::bert::{Bert, Config};
use crate::checkpoint::{load_optional, load_tensors, with_step};
use crate::files::{Replacement, finish_replacing};
use crate::init::{cholesky, gaussian, inverse, invert_lower};
use crate::manifest::Manifest;
use crate::onnx::read::Written;
use crate::wta::Head;

/// Rounds after which the words' principal directions stand still enough.
const ROUNDS: usize = 20;
/// Batches over which the last map is fitted.
const FITTED_BATCHES: usize = 40;
/// What is added to each square of the fit, as a share of its tokens.
const RIDGE: f64 = 1e-4;

/// A size beyond this is mistyped, and would ask for memory that no machine has.
const MOST_WIDTH: usize = 8_192;

/// Shapes of a student.
#[derive(clap::Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    /// Width of word vectors.
    #[arg(long, default_value_t = 56)]
    pub word_width: usize,
    /// Width of the layers' token vectors.
    #[arg(long, default_value_t = 256)]
    pub width: usize,
    /// Transformer layers.
    #[arg(long, default_value_t = 2)]
    pub layers: usize,
    /// Attention heads; divides --width.
    #[arg(long, default_value_t = 8)]
    pub attention_heads: usize,
    /// Width of the feed-forward part.
    #[arg(long, default_value_t = 1_024)]
    pub feed_forward: usize,
}

impl Shape {
    /// The shapes of a student of `teacher`.
    ///
    /// # Errors
    /// When they make no network.
    pub fn config(&self, teacher: &Teacher) -> Result<Config> {
        let positive = [
            self.word_width,
            self.width,
            self.layers,
            self.attention_heads,
        ];
        ensure!(
            positive.iter().all(|size| *size > 0) && self.feed_forward > 0,
            "a student's sizes are 1 at least"
        );
        ensure!(
            positive.iter().all(|size| *size <= MOST_WIDTH) && self.feed_forward <= MOST_WIDTH,
            "a student's sizes are {MOST_WIDTH} at most"
        );
        ensure!(
            self.width.is_multiple_of(self.attention_heads),
            "--attention-heads {} does not divide --width {}",
            self.attention_heads,
            self.width
        );
        ensure!(
            self.word_width <= teacher.dim,
            "--word-width {} is more than the teacher's {}",
            self.word_width,
            teacher.dim
        );
        Ok(Config {
            vocab_size: teacher.vocabulary,
            hidden_size: self.width,
            num_hidden_layers: self.layers,
            num_attention_heads: self.attention_heads,
            intermediate_size: self.feed_forward,
            max_position_embeddings: teacher.max_tokens,
            layer_norm_eps: 1e-12,
            embedding_size: Some(self.word_width),
            output_size: Some(teacher.dim),
        })
    }
}

/// The content of `state.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The id of the teacher: SHA-256 of its `encoder.json`, in hex.
    pub teacher: String,
    /// What was asked for.
    pub settings: Settings,
    /// Steps made.
    pub step: usize,
    /// Names of the collections whose texts it reads.
    pub sources: Vec<String>,
    /// A hash of the teacher's id and of all texts.
    pub texts: String,
    /// Shapes of the network.
    pub config: Config,
    /// The id of the student that it began from, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// A student between two steps.
#[derive(Clone, Debug)]
pub struct Student {
    /// What `state.json` says.
    pub state: State,
    /// Weights by their names.
    pub weights: HashMap<String, Tensor>,
    /// The optimizer's moments; absent before training begins.
    pub optimizer: Option<HashMap<String, Tensor>>,
}

impl Student {
    /// A student that has made no step. Its word vectors are what the teacher says of each piece alone, along the
    /// directions in which that varies most for the winners; its layers add nothing yet; its last map is the one of least
    /// squares over `lessons`. So it begins as a bag of words, and all steps are spent on what words mean together.
    ///
    /// # Errors
    /// When the words' vectors do not vary, or the teacher fails.
    pub fn begin(state: State, teacher: &Teacher, lessons: &Lessons) -> Result<Self> {
        let mut weights = HashMap::new();
        for (seed, (name, shape)) in (state.settings.seed..).zip(shapes(&state.config)) {
            weights.insert(name.clone(), first_weight(&name, &shape, seed)?);
        }
        let metrics = teacher.metrics()?;
        let metric = metrics.first().context("the teacher has no bucket")?;
        let lone = teacher.lone_pieces()?.matmul(metric)?;
        let words = principal(&lone, state.config.word_width(), state.settings.seed)?;
        weights.insert("embeddings.word_embeddings.weight".to_owned(), words);
        let mut student = Self {
            state,
            weights,
            optimizer: None,
        };
        student.fit_output(lessons)?;
        Ok(student)
    }

    /// A student that has made no step and begins as the one that was exported to `folder`, perhaps for another teacher.
    ///
    /// # Errors
    /// When that is no student, has other shapes than `state` asks for, or reads other word pieces
    /// than `teacher`.
    pub fn begin_from(state: State, teacher: &Teacher, folder: &Path) -> Result<Self> {
        let manifest = Manifest::read(folder)?;
        let shown = folder.display();
        let network = manifest.training.pointer("/network/config").cloned();
        let config: Config = (manifest.queries_for.as_ref())
            .and_then(|_| serde_json::from_value(network?).ok())
            .with_context(|| format!("--from {shown} is no student that was exported"))?;
        ensure!(
            config == state.config,
            "--from {shown} has other shapes: {}, asked for are {}",
            serde_json::to_string(&config)?,
            serde_json::to_string(&state.config)?
        );
        ensure!(
            manifest.sha256("tokenizer.json") == teacher.tokenizer_sha256,
            "--from {shown} reads other word pieces than the teacher"
        );
        let onnx = manifest.file(folder, "model.onnx")?;
        let unfit = || format!("--from {shown} has no weights to begin from");
        let weights = Written::read(&onnx).and_then(|written| written.network(&config));
        Ok(Self {
            weights: weights.with_context(unfit)?,
            state: State {
                from: Some(manifest.id),
                ..state
            },
            optimizer: None,
        })
    }

    /// Sets the last map to the one of least squares from the last layer to the teacher's vectors.
    fn fit_output(&mut self, lessons: &Lessons) -> Result<()> {
        let bert = self.bert()?;
        let config = &self.state.config;
        let (width, dim) = (config.hidden_size, config.output_width());
        let mut inner = Tensor::zeros((width + 1, width + 1), DType::F64, &Device::Cpu)?;
        let mut outer = Tensor::zeros((width + 1, dim), DType::F64, &Device::Cpu)?;
        let settings = &self.state.settings;
        let batches = lessons.batches(settings.batch_tokens, settings.seed);
        for batch in batches.take(FITTED_BATCHES) {
            let batch = lessons.batch(&batch)?;
            let layers = bert.forward(&batch.input_ids, &batch.input_ids.ones_like()?)?;
            let last = layers.last().context("the network has no layer")?;
            let tokens = last.flatten_to(1)?.to_dtype(DType::F64)?;
            let ones = Tensor::ones((tokens.dim(0)?, 1), DType::F64, &Device::Cpu)?;
            let tokens = Tensor::cat(&[&tokens, &ones], 1)?;
            let wanted = batch.wanted.flatten_to(1)?.to_dtype(DType::F64)?;
            inner = (inner + tokens.t()?.matmul(&tokens)?)?;
            outer = (outer + tokens.t()?.matmul(&wanted)?)?;
        }
        let count = inner.get(width)?.get(width)?.to_scalar::<f64>()?;
        let ridge = (Tensor::eye(width + 1, DType::F64, &Device::Cpu)? * (RIDGE * count))?;
        let map = inverse(&(inner + ridge)?)?
            .matmul(&outer)?
            .to_dtype(DType::F32)?;
        let weight = map.narrow(0, 0, width)?.t()?.contiguous()?;
        for (part, value) in [("weight", weight), ("bias", map.get(width)?)] {
            self.weights.insert(format!("output_project.{part}"), value);
        }
        Ok(())
    }

    /// Reads the student in `folder`.
    ///
    /// # Errors
    /// When a file is missing or malformed.
    pub fn load(folder: &Path) -> Result<Self> {
        finish_replacing(folder)?;
        let path = folder.join("state.json");
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("no student: cannot read {}", path.display()))?;
        let state = serde_json::from_str(&text)
            .with_context(|| format!("{} is malformed", path.display()))?;
        Ok(Self {
            state,
            weights: load_tensors(&folder.join("student.safetensors"), &Device::Cpu)?,
            optimizer: load_optional(&folder.join("optimizer.safetensors"), &Device::Cpu)?,
        })
    }

    /// Writes the student to `folder`, which is made if it is missing; wherever that stops, the folder holds a
    /// whole student.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn save(&self, folder: &Path) -> Result<()> {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        finish_replacing(folder)?;
        let mut files = Replacement::new(folder);
        files.tensors("student.safetensors", &self.weights)?;
        match &self.optimizer {
            Some(moments) => {
                let moments = with_step(moments.clone(), self.state.step)?;
                files.tensors("optimizer.safetensors", &moments)?;
            }
            None => files.without("optimizer.safetensors"),
        }
        files.text("state.json", &serde_json::to_string_pretty(&self.state)?)?;
        files.commit()
    }

    /// The network.
    ///
    /// # Errors
    /// When a weight is missing.
    pub fn bert(&self) -> Result<Bert> {
        Bert::load(&self.weights, &self.state.config)
    }

    /// The teacher's heads over the student's last layer: `W (P x + p) + b = (W P) x + (W p + b)`.
    ///
    /// # Errors
    /// When the student lacks its map.
    pub fn heads(&self, teacher: &Teacher) -> Result<Vec<Head>> {
        let part = |name: &str| {
            let weight = self.weights.get(name);
            weight.with_context(|| format!("the student lacks {name}"))
        };
        let map = part("output_project.weight")?;
        let bias = part("output_project.bias")?.unsqueeze(1)?;
        let composed = teacher.heads.iter().map(|head| {
            let moved = (head.weight.matmul(&bias)?.squeeze(1)? + &head.bias)?;
            Head::new(head.weight.matmul(map)?, moved, head.k)
        });
        composed.collect()
    }
}

/// Names and shapes of all weights.
fn shapes(config: &Config) -> Vec<(String, Vec<usize>)> {
    let (dim, wide, word) = (
        config.hidden_size,
        config.intermediate_size,
        config.word_width(),
    );
    let linear = |name: &str, inputs: usize, outputs: usize| {
        [
            (format!("{name}.weight"), vec![outputs, inputs]),
            (format!("{name}.bias"), vec![outputs]),
        ]
    };
    let norm = |name: &str, width: usize| {
        [
            (format!("{name}.weight"), vec![width]),
            (format!("{name}.bias"), vec![width]),
        ]
    };
    let table = |name: &str, rows: usize| (format!("embeddings.{name}.weight"), vec![rows, word]);
    let mut shapes = vec![
        table("word_embeddings", config.vocab_size),
        table("position_embeddings", config.max_position_embeddings),
        table("token_type_embeddings", 1),
    ];
    shapes.extend(norm("embeddings.LayerNorm", word));
    shapes.extend(linear("embeddings_project", word, dim));
    for layer in 0..config.num_hidden_layers {
        let of = |part: &str| format!("encoder.layer.{layer}.{part}");
        for part in ["query", "key", "value"] {
            shapes.extend(linear(&of(&format!("attention.self.{part}")), dim, dim));
        }
        shapes.extend(linear(&of("attention.output.dense"), dim, dim));
        shapes.extend(norm(&of("attention.output.LayerNorm"), dim));
        shapes.extend(linear(&of("intermediate.dense"), dim, wide));
        shapes.extend(linear(&of("output.dense"), wide, dim));
        shapes.extend(norm(&of("output.LayerNorm"), dim));
    }
    shapes.extend(linear("output_project", dim, config.output_width()));
    shapes
}

/// Norms begin at 1 and 0, biases and what layers add to their input at 0, tables small, and other matrices so that
/// rows keep their length.
fn first_weight(name: &str, shape: &[usize], seed: u64) -> Result<Tensor> {
    let device = &Device::Cpu;
    let weight = match shape {
        [width] if name.ends_with("LayerNorm.weight") => Tensor::ones(*width, DType::F32, device)?,
        [width] => Tensor::zeros(*width, DType::F32, device)?,
        [rows, width] if name.ends_with("output.dense.weight") => {
            Tensor::zeros((*rows, *width), DType::F32, device)?
        }
        [rows, width] => {
            let factor = if name.starts_with("embeddings.") {
                0.1
            } else {
                1.0
            };
            (gaussian(*rows, *width, seed)? * factor)?.to_dtype(DType::F32)?
        }
        _ => anyhow::bail!("{name} has {} axes", shape.len()),
    };
    Ok(weight)
}

/// `vectors` (`[rows, dim]`), centred, along the `width` directions in which they vary most, found by subspace iteration.
fn principal(vectors: &Tensor, width: usize, seed: u64) -> Result<Tensor> {
    let vectors = vectors.to_dtype(DType::F64)?;
    let centred = vectors.broadcast_sub(&vectors.mean_keepdim(0)?)?;
    let scatter = centred.t()?.matmul(&centred)?;
    let mut directions = gaussian(width, vectors.dim(1)?, seed)?.t()?.contiguous()?;
    for _ in 0..ROUNDS {
        directions = orthonormal(&scatter.matmul(&directions)?)?;
    }
    Ok(centred.matmul(&directions)?.to_dtype(DType::F32)?)
}

/// An orthonormal base of what the columns of `matrix` span: `matrix · L⁻ᵀ` with `L Lᵀ = matrixᵀ · matrix`.
fn orthonormal(matrix: &Tensor) -> Result<Tensor> {
    let width = matrix.dim(1)?;
    let lower = cholesky(&matrix.t()?.matmul(matrix)?.to_vec2::<f64>()?);
    let inverse = invert_lower(&lower.context("the words' vectors do not vary")?);
    let inverse = Tensor::from_vec(inverse.concat(), (width, width), &Device::Cpu)?;
    Ok(matrix.matmul(&inverse.t()?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn principal_directions_keep_what_varies() -> Result<()> {
        // Rows vary by 10 along the first axis, by 1 along the second, by 0.01 along the third.
        let rows: Vec<f64> = (0..60)
            .flat_map(|i| {
                let angle = f64::from(i);
                [
                    10.0 * angle.sin(),
                    (1.7 * angle).cos(),
                    0.01 * (2.3 * angle).sin(),
                ]
            })
            .collect();
        let vectors = Tensor::from_vec(rows, (60, 3), &Device::Cpu)?;
        let narrow = principal(&vectors, 2, 1)?;
        let lengths = |of: &Tensor| Ok::<_, anyhow::Error>(of.sqr()?.sum(1)?.to_vec1::<f32>()?);
        let centred = vectors.broadcast_sub(&vectors.mean_keepdim(0)?)?;
        let whole = lengths(&centred.to_dtype(DType::F32)?)?;
        for (kept, whole) in lengths(&narrow)?.iter().zip(whole) {
            assert!((kept - whole).abs() < 1e-3, "{kept} of {whole}");
        }
        Ok(())
    }
}
