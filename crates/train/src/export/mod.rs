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
mod rewrite;
mod source;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use safetensors::SafeTensors;
use serde_json::{Value, json};
use siskin_core::manifest::BucketInfo;

use crate::checkpoint::Bucket;
use crate::manifest::{Manifest, WeightedBucket};
use crate::onnx::{self, Quantization};
use crate::rows::report_of;
use folder::Folder;
use golden::Golden;
pub(crate) use rewrite::{Rewritten, Student};
use source::Source;

/// Arguments of `siskin-train export`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Folder of the base model.
    #[arg(long, required_unless_present = "student")]
    pub base: Option<PathBuf>,
    /// Checkpoint folder written by `siskin-train fit`.
    #[arg(long, required_unless_present_any = ["baseline", "student"])]
    pub checkpoint: Option<PathBuf>,
    /// Export the base model alone, without buckets, for comparison.
    #[arg(long, conflicts_with = "checkpoint")]
    pub baseline: bool,
    /// Folder written by `siskin-train distil`: an encoder for queries to the indexes of --teacher.
    #[arg(long, requires = "teacher", conflicts_with_all = ["base", "checkpoint", "baseline", "rows"])]
    pub student: Option<PathBuf>,
    /// Encoder folder that the student was distilled from.
    #[arg(long, requires = "student")]
    pub teacher: Option<PathBuf>,
    /// File written by `siskin-train rows`, with its report beside it, of the same name with `.json`. Without it an encoder
    /// cannot index.
    #[arg(long)]
    pub rows: Option<PathBuf>,
    /// What each bucket counts beside the others [default: 1 for each]; together they count as much as one bucket would.
    /// The weights that `siskin-train measure` prints, of one half of the queries and of the other, are where to begin.
    #[arg(long, num_args = 1.., value_name = "WEIGHT", conflicts_with = "student")]
    pub bucket_weights: Vec<f64>,
    /// Name of the base model for encoder.json [default: all-MiniLM-L6-v2 where it is that, else the hash of its
    /// weights].
    #[arg(long, conflicts_with = "student")]
    pub base_name: Option<String>,
    /// SPDX expression of the weights' licence for encoder.json [default: Apache-2.0 for all-MiniLM-L6-v2, else
    /// NOASSERTION].
    #[arg(long, conflicts_with = "student")]
    pub licence: Option<String>,
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
    run_with(args, &Carried::default())
}

/// What an encoder has that is made of no checkpoint: files, and what `encoder.json` says of them under `training`.
#[derive(Default)]
pub(crate) struct Carried {
    pub(crate) files: Vec<(&'static str, Vec<u8>)>,
    pub(crate) notes: Vec<(&'static str, Value)>,
}

/// [`run`], with files of another encoder that hold for this one, too.
///
/// # Errors
/// The same.
pub(crate) fn run_with(args: &Args, carried: &Carried) -> Result<()> {
    if let Some(teacher) = &args.teacher {
        check_out(&args.out, teacher)?;
    }
    let source = Source::open(args)?;
    let buckets = weighted(&source.buckets, &args.bucket_weights)?;
    let mut folder = Folder::create(&args.out)?;
    folder.write(
        "model.onnx",
        &onnx::write(&source.network(args.quantization))?,
    )?;
    folder.write("tokenizer.json", &tokenizer(&source.tokenizer)?)?;
    let golden = Golden::compute(&source)?;
    folder.write("golden.json", &serde_json::to_vec(&golden)?)?;
    let rows = args.rows.as_deref().map(Rows::read).transpose()?;
    if let Some(rows) = &rows {
        rows.check(&source)?;
        folder.write("rows.safetensors", &rows.bytes)?;
    }
    for (name, bytes) in &carried.files {
        folder.write(name, bytes)?;
    }
    let mut manifest = manifest(args, (&source, buckets), rows.as_ref(), &folder)?;
    for (key, note) in &carried.notes {
        manifest.training[*key] = note.clone();
    }
    folder.write("encoder.json", &serde_json::to_vec_pretty(&manifest)?)?;
    for (name, file) in folder.files() {
        crate::say!("{name}: {} bytes", file.bytes);
    }
    folder.finish()
}

/// `rows.safetensors` and its report.
struct Rows {
    bytes: Vec<u8>,
    report: Value,
}

/// Refuses to write an encoder to the folder of the one that it is made of, which would be gone then, or to one that
/// holds something else.
///
/// # Errors
/// When both are one folder, or `out` is no place for an encoder.
pub(crate) fn check_out(out: &Path, of: &Path) -> Result<()> {
    folder::check_replaceable(out)?;
    let is_same = match (out.canonicalize(), of.canonicalize()) {
        (Ok(out), Ok(of)) => out == of,
        _ => false,
    };
    ensure!(
        !is_same,
        "--out is {}, which the new encoder is made of: name another folder",
        of.display()
    );
    Ok(())
}

impl Rows {
    fn read(path: &Path) -> Result<Self> {
        let bytes =
            std::fs::read(path).with_context(|| format!("cannot read rows {}", path.display()))?;
        let beside = report_of(path);
        let report = std::fs::read(&beside)
            .with_context(|| format!("cannot read the rows' report {}", beside.display()))?;
        let report = serde_json::from_slice(&report)
            .with_context(|| format!("{} is malformed", beside.display()))?;
        SafeTensors::deserialize(&bytes).with_context(|| {
            format!(
                "{} is damaged: run `siskin-train rows` again",
                path.display()
            )
        })?;
        Ok(Self { bytes, report })
    }

    /// Refuses tables of the dimensions of other heads, and rows that stand in for another network.
    fn check(&self, source: &Source) -> Result<()> {
        let network = self.report.get("network").and_then(Value::as_str);
        ensure!(
            network.is_none() || source.network.is_none() || network == source.network.as_deref(),
            "the rows were made of another network than the checkpoint has: run `siskin-train rows` with it"
        );
        let made_for = self.report.get("heads").and_then(Value::as_str);
        let heads = crate::wta::identity(&source.heads)?;
        ensure!(
            made_for.is_none_or(|made_for| made_for == heads),
            "the rows were made for other heads than the checkpoint has: run `siskin-train rows` with it"
        );
        Ok(())
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

/// Buckets with their weights, which are all 1 where none is given.
fn weighted(buckets: &[Bucket], weights: &[f64]) -> Result<Vec<WeightedBucket>> {
    ensure!(
        weights.is_empty() || weights.len() == buckets.len(),
        "--bucket-weights has {} values, and there are {} buckets",
        weights.len(),
        buckets.len()
    );
    let most = f64::from(BucketInfo::MOST_WEIGHT);
    for weight in weights {
        ensure!(
            (0.0..=most).contains(weight),
            "--bucket-weights {weight}: it must be 0 to {most}"
        );
    }
    ensure!(
        weights.is_empty() || weights.iter().any(|weight| *weight as f32 > 0.0),
        "--bucket-weights are all 0: one bucket counts at least"
    );
    let weights = weights.iter().copied().chain(std::iter::repeat(1.0));
    let pairs = buckets.iter().cloned().zip(weights);
    let weighted = pairs.map(|(bucket, weight)| WeightedBucket { bucket, weight });
    Ok(weighted.collect())
}

fn manifest(
    args: &Args,
    (source, buckets): (&Source, Vec<WeightedBucket>),
    rows: Option<&Rows>,
    folder: &Folder,
) -> Result<Manifest> {
    let dim = source.config.output_width();
    let query_mean = match (rows, &source.query_mean) {
        (Some(rows), _) => rows.query_mean()?,
        (None, Some(mean)) => mean.clone(),
        (None, None) => vec![0.0; dim],
    };
    ensure!(
        query_mean.len() == dim,
        "the rows' mean query vector has {} values, the network {dim}",
        query_mean.len()
    );
    let training = json!({
        "network": source.provenance,
        "rows": rows.map(Rows::provenance),
    });
    Ok(Manifest {
        id: String::new(),
        format: crate::manifest::FORMAT,
        name: folder.name().to_owned(),
        base: source.origin.base.clone(),
        licence: source.origin.licence.clone(),
        quantization: args.quantization,
        dim,
        max_tokens: source.max_tokens,
        buckets,
        query_mean,
        queries_for: source.queries_for.clone(),
        files: folder.files().clone(),
        training,
    })
}

/// A tokenizer in its canonical form; cutting and padding are the reader's.
fn tokenizer(path: &Path) -> Result<Vec<u8>> {
    let text = std::fs::read_to_string(path)
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
