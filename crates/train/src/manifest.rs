//! `encoder.json`, as docs/format.md specifies it.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use siskin_core::container::sha256_hex;
use siskin_encoder::MANIFEST_FILE;

use crate::checkpoint::Bucket;
use crate::onnx::Quantization;

/// Version of the folder's format.
pub const FORMAT: u32 = 1;

/// Key under `training` of the ids that an encoder had before it was rewritten, the last first.
pub const EARLIER: &str = "earlier_ids";

/// The content of `encoder.json`.
#[derive(Deserialize, Serialize)]
pub struct Manifest {
    /// SHA-256 of the file, in hex: the encoder's id. Empty before it is written.
    #[serde(skip)]
    pub id: String,
    pub format: u32,
    pub name: String,
    pub base: String,
    pub licence: String,
    pub quantization: Quantization,
    pub dim: usize,
    pub max_tokens: usize,
    pub buckets: Vec<WeightedBucket>,
    pub query_mean: Vec<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queries_for: Option<String>,
    pub files: BTreeMap<String, File>,
    pub training: serde_json::Value,
}

impl Manifest {
    /// That of the encoder in `folder`.
    ///
    /// # Errors
    /// When it cannot be read, is of another format, or its mean query is not as wide as its vectors.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(MANIFEST_FILE);
        let bytes = std::fs::read(&path);
        let bytes = bytes.with_context(|| format!("cannot read {}", path.display()))?;
        let manifest: Self = serde_json::from_slice(&bytes)
            .with_context(|| format!("{} is not what export writes", path.display()))?;
        ensure!(
            manifest.format == FORMAT,
            "{} is of format {}, this command reads {FORMAT}",
            path.display(),
            manifest.format
        );
        ensure!(
            manifest.query_mean.len() == manifest.dim && manifest.dim > 0,
            "{}: query_mean has {} values, dim is {}",
            path.display(),
            manifest.query_mean.len(),
            manifest.dim
        );
        Ok(Self {
            id: sha256_hex(&bytes),
            ..manifest
        })
    }

    /// Ids of the encoder: its own, and those that it had before `words`, `synonyms` or `queries` rewrote it.
    pub fn ids(&self) -> Vec<String> {
        let earlier = self.training.get(EARLIER).cloned().unwrap_or_default();
        let earlier: Vec<String> = serde_json::from_value(earlier).unwrap_or_default();
        std::iter::once(self.id.clone()).chain(earlier).collect()
    }

    /// Its buckets without their weights.
    pub fn shapes(&self) -> Vec<Bucket> {
        let shapes = self.buckets.iter().map(|weighted| weighted.bucket.clone());
        shapes.collect()
    }

    /// What it says of a file's bytes; empty where it does not speak of it.
    pub fn sha256(&self, name: &str) -> &str {
        (self.files.get(name)).map_or("", |file| &file.sha256)
    }

    /// The bytes of the file `name` that it lists, in its `folder`.
    ///
    /// # Errors
    /// When the file cannot be read, or is another one.
    pub fn file(&self, folder: &Path, name: &str) -> Result<Vec<u8>> {
        let file = folder.join(name);
        let bytes = std::fs::read(&file);
        let bytes = bytes.with_context(|| format!("cannot read {}", file.display()))?;
        ensure!(
            sha256_hex(&bytes) == self.sha256(name),
            "{} is not the file that {MANIFEST_FILE} speaks of: export the encoder again",
            file.display()
        );
        Ok(bytes)
    }
}

/// A bucket and what it counts beside the others in a search, 0 or more.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct WeightedBucket {
    #[serde(flatten)]
    pub bucket: Bucket,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub weight: f64,
}

fn one() -> f64 {
    1.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_one(weight: &f64) -> bool {
    *weight == 1.0
}

/// Length and SHA-256 (lower-case hexadecimal) of one file.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct File {
    pub bytes: u64,
    pub sha256: String,
}
