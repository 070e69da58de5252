//! What a distillation reads of an `encoder.json`, its teacher's or that of a student to begin from.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use siskin_core::container::sha256_hex;

use crate::checkpoint::Bucket;

/// An encoder folder's `encoder.json`.
#[derive(Deserialize)]
pub struct Manifest {
    /// SHA-256 of the file, in hex.
    #[serde(skip)]
    pub id: String,
    /// Width of token vectors.
    pub dim: usize,
    /// Longest input in word pieces.
    pub max_tokens: usize,
    /// Buckets of winners.
    pub buckets: Vec<Bucket>,
    /// Mean of unit-length query vectors: `[dim]`; a student has none.
    #[serde(default)]
    pub query_mean: Vec<f32>,
    /// The id of the teacher, where this is a student.
    pub queries_for: Option<String>,
    /// How it came about.
    #[serde(default)]
    pub training: serde_json::Value,
    files: HashMap<String, File>,
}

#[derive(Deserialize)]
struct File {
    sha256: String,
}

impl Manifest {
    /// Reads `encoder.json` in `folder`.
    ///
    /// # Errors
    /// When it is missing or malformed.
    pub fn read(folder: &Path) -> Result<Self> {
        let json = read(folder, "encoder.json")?;
        let manifest: Self = serde_json::from_slice(&json)
            .with_context(|| format!("{} holds no encoder", folder.display()))?;
        Ok(Self {
            id: sha256_hex(&json),
            ..manifest
        })
    }

    /// Refuses an encoder that cannot teach.
    ///
    /// # Errors
    /// When it is a student, or has no bucket.
    pub fn ensure_teaches(&self, folder: &Path) -> Result<()> {
        ensure!(
            self.queries_for.is_none(),
            "{} is a student itself: name its teacher",
            folder.display()
        );
        ensure!(
            !self.buckets.is_empty(),
            "{} has no bucket: a student learns what winners see",
            folder.display()
        );
        Ok(())
    }

    /// What the manifest says of a file's bytes; empty where it does not speak of it.
    pub fn sha256(&self, name: &str) -> &str {
        (self.files.get(name)).map_or("", |file| &file.sha256)
    }

    /// The bytes of a file that the manifest speaks of.
    ///
    /// # Errors
    /// When the file is missing or another.
    pub fn verified(&self, folder: &Path, name: &str) -> Result<Vec<u8>> {
        let bytes = read(folder, name)?;
        ensure!(
            self.sha256(name) == sha256_hex(&bytes),
            "{} is not the file that encoder.json speaks of: export the encoder again",
            folder.join(name).display()
        );
        Ok(bytes)
    }
}

fn read(folder: &Path, name: &str) -> Result<Vec<u8>> {
    let path = folder.join(name);
    std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))
}
