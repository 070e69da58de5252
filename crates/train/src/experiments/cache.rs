//! Token vectors of the frozen network, computed once and kept on disk.
//!
//! ```text
//! CACHE/NAME-SPLIT/
//!   pooled.safetensors      queries F32 [queries, dim], passages F32 [passages, dim]: mean-pooled
//!   layer{j}.safetensors    queries F16 [tokens, dim], passages F16 [tokens, dim]: content tokens of
//!                           all texts one after the other, without [CLS] and [SEP]
//!   vectors.json            Stamp: what they were made of, and the SHA-256 of each file
//! ```
//!
//! The folder is written under another name and renamed when it is complete: it is whole or not there.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use candle_core::{DType, Device, Tensor};
use indicatif::ProgressBar;
use serde::{Deserialize, Serialize};
use siskin_core::container::sha256_hex;

use crate::base::Base;
use crate::bert::Bert;
use crate::encode::Encoded;
use crate::fit::data::HeldOutSet;
use crate::tokenize::batches_by_length;

/// Word pieces encoded at once, padding included.
const BATCH_TOKENS: usize = 2_048;

/// The content of `vectors.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Stamp {
    /// [`fingerprint`] of network, layers and texts.
    fingerprint: String,
    /// SHA-256 of each file in hex.
    files: BTreeMap<String, String>,
}

/// Queries and passages of one collection, with their vectors on disk.
#[derive(Clone, Debug)]
pub struct Vectors {
    /// The collection's name.
    pub name: String,
    /// What was encoded.
    pub texts: HeldOutSet,
    /// SHA-256 of network, layers and texts, in hex.
    pub fingerprint: String,
    folder: PathBuf,
    files: BTreeMap<String, String>,
}

/// One kind of vector of both sides.
#[derive(Clone, Debug)]
pub struct Sides {
    /// Of the queries: `[rows, dim]` F32.
    pub queries: Tensor,
    /// Of the passages: `[rows, dim]` F32.
    pub passages: Tensor,
}

impl Vectors {
    /// The vectors of `texts` at `layers`, encoded unless `folder` holds them already.
    ///
    /// # Errors
    /// When a text cannot be encoded or a file cannot be written.
    pub fn of(base: &Base, texts: HeldOutSet, layers: &[usize], folder: PathBuf) -> Result<Self> {
        let fingerprint = fingerprint(base, &texts, layers);
        let stamp = match read_stamp(&folder) {
            Some(stamp) if stamp.fingerprint == fingerprint => stamp,
            _ => write_all(base, &texts, layers, &folder, fingerprint.clone())?,
        };
        Ok(Self {
            name: texts.name.clone(),
            texts,
            fingerprint,
            folder,
            files: stamp.files,
        })
    }

    /// Vectors of content tokens at `layer` (0 = embeddings), those of all texts one after the other.
    ///
    /// # Errors
    /// When the layer was not kept, or its file is damaged.
    pub fn layer(&self, layer: usize) -> Result<Sides> {
        self.read(&layer_file(layer))
    }

    /// Mean-pooled last-layer vectors, a row a text.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn pooled(&self) -> Result<Sides> {
        self.read(POOLED)
    }

    fn read(&self, name: &str) -> Result<Sides> {
        let path = self.folder.join(name);
        let expected = self.files.get(name);
        let expected = expected.with_context(|| format!("{} was not kept", path.display()))?;
        let bytes =
            std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        ensure!(
            sha256_hex(&bytes) == *expected,
            "{} is damaged: delete {}, it is made again",
            path.display(),
            self.folder.display()
        );
        let tensors = candle_core::safetensors::load_buffer(&bytes, &Device::Cpu)?;
        let side = |name: &str| -> Result<Tensor> {
            let tensor = tensors
                .get(name)
                .with_context(|| format!("{} lacks {name}", path.display()))?;
            Ok(tensor.to_dtype(DType::F32)?)
        };
        Ok(Sides {
            queries: side("queries")?,
            passages: side("passages")?,
        })
    }
}

const POOLED: &str = "pooled.safetensors";
const STAMP: &str = "vectors.json";

fn layer_file(layer: usize) -> String {
    format!("layer{layer}.safetensors")
}

/// SHA-256 in hex of everything that the vectors depend on.
fn fingerprint(base: &Base, texts: &HeldOutSet, layers: &[usize]) -> String {
    let mut relevant: Vec<Vec<usize>> = Vec::new();
    for answers in &texts.relevant {
        let mut answers: Vec<usize> = answers.iter().copied().collect();
        answers.sort_unstable();
        relevant.push(answers);
    }
    let all = format!(
        "{} {layers:?} {:?} {:?} {relevant:?}",
        base.id, texts.queries, texts.passages
    );
    sha256_hex(all.as_bytes())
}

/// The stamp of a complete folder; `None` makes it be written (again).
fn read_stamp(folder: &Path) -> Option<Stamp> {
    let text = std::fs::read_to_string(folder.join(STAMP)).ok()?;
    serde_json::from_str(&text).ok()
}

fn write_all(
    base: &Base,
    texts: &HeldOutSet,
    layers: &[usize],
    folder: &Path,
    fingerprint: String,
) -> Result<Stamp> {
    let partial = folder.with_extension("partial");
    replace_folder(&partial)?;
    let bert = base.bert()?;
    let queries = encode(&bert, &texts.queries, layers, &texts.name)?;
    let passages = encode(&bert, &texts.passages, layers, &texts.name)?;
    let mut files = BTreeMap::new();
    for (name, queries) in queries {
        let passages = passages
            .get(&name)
            .context("both sides have the same kinds")?;
        let tensors = HashMap::from([("queries", queries), ("passages", passages.clone())]);
        let path = partial.join(&name);
        candle_core::safetensors::save(&tensors, &path)
            .with_context(|| format!("cannot write {}", path.display()))?;
        files.insert(name, sha256_hex(&std::fs::read(&path)?));
    }
    let stamp = Stamp { fingerprint, files };
    std::fs::write(partial.join(STAMP), serde_json::to_string_pretty(&stamp)?)?;
    if folder.exists() {
        std::fs::remove_dir_all(folder)?;
    }
    std::fs::rename(&partial, folder)
        .with_context(|| format!("cannot rename to {}", folder.display()))?;
    Ok(stamp)
}

/// An empty folder in the place of what an interrupted run left.
fn replace_folder(folder: &Path) -> Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder)?;
    }
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
}

/// Tensors by the name of their file, rows in the order of the texts.
fn encode(
    bert: &Bert,
    pieces: &[Vec<u32>],
    layers: &[usize],
    name: &str,
) -> Result<BTreeMap<String, Tensor>> {
    // By text; batches come in another order.
    let mut kept: BTreeMap<String, Vec<Option<Tensor>>> = BTreeMap::new();
    let mut keep = |file: String, text: usize, rows: Tensor| {
        let rows_of_texts = kept.entry(file).or_insert_with(|| vec![None; pieces.len()]);
        rows_of_texts[text] = Some(rows);
    };
    let progress = ProgressBar::new(pieces.len() as u64).with_message(format!("encoding {name}"));
    for batch in batches_by_length(pieces, BATCH_TOKENS, &Device::Cpu)? {
        let encoded = Encoded::new(bert, &batch)?;
        let pooled = encoded.pooled()?;
        for (row, &text) in batch.texts.iter().enumerate() {
            keep(POOLED.to_owned(), text, pooled.narrow(0, row, 1)?);
        }
        for &layer in layers {
            let tokens = encoded.content_tokens(layer)?.to_dtype(DType::F16)?;
            let mut start = 0;
            for (&text, rows) in batch.texts.iter().zip(&encoded.content) {
                let own = tokens.narrow(0, start, rows.len())?;
                keep(layer_file(layer), text, own);
                start += rows.len();
            }
        }
        progress.inc(batch.texts.len() as u64);
    }
    progress.finish();
    kept.into_iter()
        .map(|(file, rows)| {
            let rows: Vec<Tensor> = rows.into_iter().flatten().collect();
            Ok((file, Tensor::cat(&rows, 0)?))
        })
        .collect()
}
