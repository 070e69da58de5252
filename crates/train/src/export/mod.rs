//! The `export` step: a checkpoint becomes an encoder folder.
//!
//! ```text
//! encoder.json      what the encoder is, with length and SHA-256 of all other files
//! model.onnx        the network and its buckets
//! tokenizer.json    the base model's, in the form that Rust's tokenizers read
//! rows.safetensors  what `siskin-train rows` wrote; absent without --rows
//! golden.json       texts with their word pieces, winners and vectors, computed here in f32
//! ```

mod folder;
mod golden;
mod manifest;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use candle_core::Device;
use serde_json::{Value, json};

use crate::base::{Base, MAX_TOKENS};
use crate::checkpoint::{Bucket, Checkpoint};
use crate::onnx::{self, Quantization};
use crate::wta::Head;
use folder::Folder;
use golden::Golden;
use manifest::Manifest;

/// Arguments of `siskin-train export`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Folder of the base model.
    #[arg(long)]
    pub base: PathBuf,
    /// Checkpoint folder written by `siskin-train fit`.
    #[arg(long, required_unless_present = "baseline")]
    pub checkpoint: Option<PathBuf>,
    /// Export the base model alone, without buckets, for comparison.
    #[arg(long, conflicts_with = "checkpoint")]
    pub baseline: bool,
    /// File written by `siskin-train rows`, with `rows.json` beside it.
    #[arg(long)]
    pub rows: Option<PathBuf>,
    /// How weights are stored.
    #[arg(long, value_enum, default_value_t = Quantization::Int8)]
    pub quantization: Quantization,
    /// The folder to write; it names the encoder. An older export there is replaced, files of
    /// other names stay.
    #[arg(long)]
    pub out: PathBuf,
}

/// Writes the encoder folder, whole or not at all.
///
/// # Errors
/// When a file cannot be read or written, or the parts do not fit each other.
pub fn run(args: &Args) -> Result<()> {
    let base = Base::open(&args.base, &Device::Cpu)?;
    let source = Source::open(args, &base)?;
    let mut folder = Folder::create(&args.out)?;
    folder.write("model.onnx", &source.onnx(&base, args.quantization)?)?;
    folder.write("tokenizer.json", &tokenizer(&args.base)?)?;
    let golden = Golden::compute(&base, &source)?;
    folder.write("golden.json", &serde_json::to_vec(&golden)?)?;
    let rows = args.rows.as_deref().map(Rows::read).transpose()?;
    if let Some(rows) = &rows {
        folder.write("rows.safetensors", &rows.bytes)?;
    }
    let manifest = manifest(args, &base, &source, rows.as_ref(), &folder)?;
    folder.write("encoder.json", &serde_json::to_vec_pretty(&manifest)?)?;
    for (name, file) in folder.files() {
        eprintln!("{name}: {} bytes", file.bytes);
    }
    folder.finish()
}

/// What is exported: the backbone's weights, if they are not the base model's, and the buckets.
struct Source {
    checkpoint: Option<Checkpoint>,
}

impl Source {
    fn open(args: &Args, base: &Base) -> Result<Self> {
        let checkpoint = args.checkpoint.as_deref();
        let load = |folder| {
            let checkpoint = Checkpoint::load(folder, &Device::Cpu)?;
            checkpoint.check_base(base)?;
            Ok::<_, anyhow::Error>(checkpoint)
        };
        Ok(Self {
            checkpoint: checkpoint.map(load).transpose()?,
        })
    }

    fn buckets(&self) -> &[Bucket] {
        let checkpoint = self.checkpoint.as_ref();
        checkpoint.map_or(&[], |checkpoint| &checkpoint.state.buckets)
    }

    fn heads(&self) -> &[Head] {
        let checkpoint = self.checkpoint.as_ref();
        checkpoint.map_or(&[], |checkpoint| &checkpoint.heads)
    }

    fn onnx(&self, base: &Base, quantization: Quantization) -> Result<Vec<u8>> {
        let backbone = self
            .checkpoint
            .as_ref()
            .and_then(|checkpoint| checkpoint.backbone.as_ref());
        onnx::write(&onnx::Network {
            weights: backbone.unwrap_or(&base.weights),
            config: &base.config,
            buckets: self.buckets(),
            heads: self.heads(),
            max_tokens: MAX_TOKENS,
            quantization,
        })
    }

    /// How it was made, for `encoder.json`.
    fn provenance(&self) -> Result<Value> {
        Ok(match &self.checkpoint {
            Some(checkpoint) => serde_json::to_value(&checkpoint.state)?,
            None => json!("none: the base model as published"),
        })
    }
}

/// `rows.safetensors` and its report.
struct Rows {
    bytes: Vec<u8>,
    report: Value,
}

impl Rows {
    fn read(path: &Path) -> Result<Self> {
        let bytes =
            std::fs::read(path).with_context(|| format!("cannot read rows {}", path.display()))?;
        let beside = path.with_extension("json");
        let report = std::fs::read(&beside)
            .with_context(|| format!("cannot read the rows' report {}", beside.display()))?;
        let report = serde_json::from_slice(&report)
            .with_context(|| format!("{} is malformed", beside.display()))?;
        Ok(Self { bytes, report })
    }

    /// Takes the mean query vector out of the report.
    fn query_mean(&self) -> Result<Vec<f32>> {
        let mean = self.report.get("query_mean");
        let mean = mean.context("the rows' report lacks query_mean")?;
        Ok(serde_json::from_value(mean.clone())?)
    }

    fn provenance(&self) -> Value {
        let mut report = self.report.clone();
        if let Some(object) = report.as_object_mut() {
            object.remove("query_mean");
        }
        report
    }
}

fn manifest(
    args: &Args,
    base: &Base,
    source: &Source,
    rows: Option<&Rows>,
    folder: &Folder,
) -> Result<Manifest> {
    let dim = base.config.hidden_size;
    let query_mean = rows.map_or_else(|| Ok(vec![0.0; dim]), Rows::query_mean)?;
    ensure!(
        query_mean.len() == dim,
        "the rows' mean query vector has {} values, the network {dim}",
        query_mean.len()
    );
    let training = json!({
        "network": source.provenance()?,
        "rows": rows.map(Rows::provenance),
    });
    Ok(Manifest {
        format: manifest::FORMAT,
        name: folder.name().to_owned(),
        base: "all-MiniLM-L6-v2",
        licence: "Apache-2.0",
        quantization: args.quantization,
        dim,
        max_tokens: MAX_TOKENS,
        buckets: source.buckets().to_vec(),
        query_mean,
        files: folder.files().clone(),
        training,
    })
}

/// The base model's tokenizer in its canonical form; cutting and padding are the reader's.
fn tokenizer(base: &Path) -> Result<Vec<u8>> {
    let path = base.join("tokenizer.json");
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read tokenizer {}", path.display()))?;
    let canonical = tokenizers::canonicalize_str(&text)
        .map_err(|error| anyhow!("{} is not a tokenizer: {error}", path.display()))?;
    let mut canonical: Value = serde_json::from_str(&canonical)?;
    if let Some(object) = canonical.as_object_mut() {
        object.insert("truncation".to_owned(), Value::Null);
        object.insert("padding".to_owned(), Value::Null);
    }
    Ok(serde_json::to_vec(&canonical)?)
}
