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

/// The content of `encoder.json`.
#[derive(Deserialize, Serialize)]
pub struct Manifest {
    pub format: u32,
    pub name: String,
    pub base: String,
    pub licence: String,
    pub quantization: Quantization,
    pub dim: usize,
    pub max_tokens: usize,
    pub buckets: Vec<Bucket>,
    pub query_mean: Vec<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queries_for: Option<String>,
    pub files: BTreeMap<String, File>,
    pub training: serde_json::Value,
}

impl Manifest {
    /// Reads the file.
    ///
    /// # Errors
    /// When it cannot be read or is of another format.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path);
        let bytes = bytes.with_context(|| format!("cannot read {}", path.display()))?;
        let manifest: Self = serde_json::from_slice(&bytes)
            .with_context(|| format!("{} is not what export writes", path.display()))?;
        ensure!(
            manifest.format == FORMAT,
            "{} is of format {}, this command reads {FORMAT}",
            path.display(),
            manifest.format
        );
        Ok(manifest)
    }

    /// The bytes of the file `name` that it lists, in its `folder`.
    ///
    /// # Errors
    /// When the file cannot be read, or is another one.
    pub fn file(&self, folder: &Path, name: &str) -> Result<Vec<u8>> {
        let file = folder.join(name);
        let bytes = std::fs::read(&file);
        let bytes = bytes.with_context(|| format!("cannot read {}", file.display()))?;
        let listed = self.files.get(name);
        ensure!(
            listed.is_some_and(|listed| sha256_hex(&bytes) == listed.sha256),
            "{} is not the file that {MANIFEST_FILE} speaks of: export the encoder again",
            file.display()
        );
        Ok(bytes)
    }
}

/// Length and SHA-256 (lower-case hexadecimal) of one file.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct File {
    pub bytes: u64,
    pub sha256: String,
}
