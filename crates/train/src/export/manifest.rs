//! `encoder.json`, as docs/format.md specifies it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::checkpoint::Bucket;
use crate::onnx::Quantization;

/// Version of the folder's format.
pub const FORMAT: u32 = 1;

/// The content of `encoder.json`.
#[derive(Serialize)]
pub struct Manifest {
    pub format: u32,
    pub name: String,
    pub base: &'static str,
    pub licence: &'static str,
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

/// Length and SHA-256 (lower-case hexadecimal) of one file.
#[derive(Clone, Debug, Serialize)]
pub struct File {
    pub bytes: u64,
    pub sha256: String,
}
