//! Queries read with other biases and norms than passages: what comes of it, and what is refused.

#![allow(clippy::unwrap_used)] // tests may: a panic is a failure

use std::path::{Path, PathBuf};

use siskin_core::container::sha256_hex;
use siskin_encoder::{Encoder, QUERIES_FILE};
use tempfile::TempDir;

fn released() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/siskin-en")
}

/// A copy of the released encoder with these values for queries, or none.
fn encoder(values: Option<&[u8]>) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    for name in ["model.onnx", "tokenizer.json"] {
        std::fs::copy(released().join(name), copy.path().join(name)).unwrap();
    }
    let json = std::fs::read(released().join("encoder.json")).unwrap();
    let mut manifest: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let files = manifest["files"].as_object_mut().unwrap();
    files.remove(QUERIES_FILE);
    if let Some(values) = values {
        let entry = serde_json::json!({"bytes": values.len(), "sha256": sha256_hex(values)});
        files.insert(QUERIES_FILE.to_owned(), entry);
        std::fs::write(copy.path().join(QUERIES_FILE), values).unwrap();
    }
    std::fs::write(copy.path().join("encoder.json"), manifest.to_string()).unwrap();
    copy
}

/// A safetensors file of one tensor whose bytes are all 0.
fn tensor(name: &str, kind: &str, values: usize, bytes: usize) -> Vec<u8> {
    let header = serde_json::json!({
        name: {"dtype": kind, "shape": [values], "data_offsets": [0, bytes]}
    });
    let header = header.to_string();
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.resize(file.len() + bytes, 0);
    file
}

fn refusal(folder: &Path) -> String {
    Encoder::open_for_queries(folder).err().unwrap().to_string()
}

#[test]
fn the_released_encoder_reads_queries_otherwise() {
    let passages = Encoder::open(released()).unwrap();
    let queries = Encoder::open_for_queries(released()).unwrap();
    assert_eq!(
        queries.manifest().queries_for.as_deref(),
        Some(passages.id())
    );
    let ask = |encoder: &Encoder| encoder.encode_query("stop a request halfway").unwrap();
    let (own, other) = (ask(&passages).dense, ask(&queries).dense);
    let product: f32 = own.iter().zip(&other).map(|(a, b)| a * b).sum();
    let squares = |vector: &[f32]| vector.iter().map(|x| x * x).sum::<f32>();
    let cosine = product / (squares(&own) * squares(&other)).sqrt();
    assert!((0.9..0.9999).contains(&cosine), "{cosine}");
}

#[test]
fn without_values_for_queries_they_are_read_as_passages() {
    let folder = encoder(None);
    let passages = Encoder::open(folder.path()).unwrap();
    let queries = Encoder::open_for_queries(folder.path()).unwrap();
    assert_eq!(queries.id(), passages.id());
    assert_eq!(queries.manifest().queries_for, None);
}

#[test]
fn values_that_the_network_has_no_place_for_are_refused() {
    for (values, reason) in [
        (b"half".to_vec(), "queries.safetensors"),
        (
            tensor("hidden.norm_bais", "F32", 384, 1_536),
            "hidden.norm_bais",
        ),
        (
            tensor("hidden.norm_bias", "F16", 384, 768),
            "hidden.norm_bias",
        ),
        (
            tensor("hidden.norm_bias", "F32", 383, 1_532),
            "hidden.norm_bias",
        ),
    ] {
        let error = refusal(encoder(Some(&values)).path());
        assert!(error.contains(reason), "{reason}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn an_altered_file_beside_them_is_refused() {
    for name in ["tokenizer.json", "model.onnx", QUERIES_FILE] {
        let values = tensor("hidden.norm_bias", "F32", 384, 1_536);
        let folder = encoder(Some(&values));
        let path = folder.path().join(name);
        let mut bytes = std::fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&path, bytes).unwrap();
        let error = refusal(folder.path());
        assert!(error.contains(&format!("{name} is altered")), "{error}");
    }
}
