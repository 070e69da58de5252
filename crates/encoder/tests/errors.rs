//! Every way in which an encoder folder can be wrong has its own message.

#![allow(clippy::unwrap_used)] // tests may: a panic is a failure

use std::path::Path;

use siskin_core::container::sha256_hex;
use siskin_encoder::{Encoder, EncoderError};

/// A manifest that fits `tokenizer` and `model`, changed by `change`.
fn manifest(tokenizer: &[u8], model: &[u8], change: impl Fn(&mut serde_json::Value)) -> Vec<u8> {
    let entry =
        |bytes: &[u8]| serde_json::json!({"bytes": bytes.len(), "sha256": sha256_hex(bytes)});
    let mut manifest = serde_json::json!({
        "format": 1, "name": "test", "base": "test", "licence": "MIT", "quantization": "f32",
        "dim": 2, "max_tokens": 8, "buckets": [{"layer": 1, "n": 8, "k": 2}],
        "query_mean": [0.0, 0.0],
        "files": {"tokenizer.json": entry(tokenizer), "model.onnx": entry(model)},
        "training": {},
    });
    change(&mut manifest);
    serde_json::to_vec(&manifest).unwrap()
}

fn open(change: impl Fn(&mut serde_json::Value)) -> EncoderError {
    let error = Encoder::open_files(&manifest(b"{}", b"model", change), b"{}", b"model");
    error.err().unwrap()
}

fn assert_says(error: &EncoderError, wanted: &str) {
    let found = error.to_string();
    assert!(found.contains(wanted), "{found:?} does not say {wanted:?}");
    assert!(!found.contains('\n'), "{found:?} takes more than one line");
}

#[test]
fn a_missing_folder_is_named() {
    let error = Encoder::open("/nowhere/at/all").err().unwrap();
    assert!(matches!(error, EncoderError::MissingFile { .. }));
    assert_says(
        &error,
        "encoder file /nowhere/at/all/encoder.json is missing: give the folder",
    );
}

#[test]
fn a_missing_model_is_named() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(
        place.path().join("encoder.json"),
        manifest(b"{}", b"model", |_| ()),
    )
    .unwrap();
    std::fs::write(place.path().join("tokenizer.json"), b"{}").unwrap();
    let error = Encoder::open(place.path()).err().unwrap();
    assert_says(&error, "model.onnx is missing");
}

#[test]
fn a_folder_in_place_of_a_file_cannot_be_read() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("encoder.json")).unwrap();
    let error = Encoder::open(place.path()).err().unwrap();
    assert!(matches!(error, EncoderError::Read { .. }));
    assert_says(&error, "encoder.json cannot be read");
}

#[test]
fn other_json_is_not_an_encoder() {
    for bytes in [&b"{\"name\": \"other\"}"[..], b"[]", b"\xff\xfe", b""] {
        let error = Encoder::open_files(bytes, b"", b"").err().unwrap();
        assert!(matches!(error, EncoderError::NotAnEncoder { .. }));
        assert_says(&error, "encoder.json is not a manifest of a Siskin encoder");
    }
}

#[test]
fn impossible_figures_are_refused() {
    let error = open(|manifest| manifest["query_mean"] = serde_json::json!([0.0]));
    assert_says(&error, "query_mean has 1 values, dim is 2");
    let error = open(|manifest| manifest["buckets"][0]["k"] = 9.into());
    assert_says(&error, "a bucket keeps 9 of 8 dimensions");
    for weight in [-0.5, 0.0, 1e-50, 1e7, 1e39] {
        let error = open(|manifest| manifest["buckets"][0]["weight"] = weight.into());
        assert_says(&error, "weights of buckets are 0 to 1000000, and not all 0");
    }
    let error = open(|manifest| manifest["query_mean"][1] = 1e39.into());
    assert_says(&error, "query_mean is not finite");
    let error = open(|manifest| manifest["max_tokens"] = 2.into());
    assert_says(&error, "max_tokens is below 3");
    let error = open(|manifest| manifest["files"] = serde_json::json!({}));
    assert_says(&error, "its files lack tokenizer.json");
}

#[test]
fn values_that_are_missing_or_of_another_kind_are_named() {
    for (name, pointer, value) in [
        ("licence", "/licence", serde_json::Value::Null),
        ("quantization", "/quantization", "int4".into()),
        ("dim", "/dim", 2.5.into()),
        ("query_mean", "/query_mean/1", "0".into()),
        (
            "query_mean",
            "/query_mean",
            serde_json::json!({"0": 0.0, "1": 0.0}),
        ),
        ("bytes", "/files/model.onnx/bytes", 2.5.into()),
        ("sha256", "/files/model.onnx/sha256", 7.into()),
    ] {
        let error = open(|manifest| *manifest.pointer_mut(pointer).unwrap() = value.clone());
        assert!(matches!(error, EncoderError::NotAnEncoder { .. }));
        assert_says(
            &error,
            &format!("`{name}` is missing or not what it should be"),
        );
    }
}

#[test]
fn a_later_format_asks_for_an_update() {
    let error = open(|manifest| manifest["format"] = 2.into());
    assert!(matches!(
        error,
        EncoderError::TooNew {
            found: 2,
            supported: 1
        }
    ));
    assert_says(
        &error,
        "the encoder has format 2, this Siskin reads format 1: update Siskin",
    );
}

#[test]
fn an_earlier_format_asks_for_an_export() {
    let error = open(|manifest| manifest["format"] = 0.into());
    assert!(matches!(
        error,
        EncoderError::TooOld {
            found: 0,
            supported: 1
        }
    ));
    assert_says(&error, "export the encoder again");
}

#[test]
fn a_shorter_or_changed_file_is_altered() {
    let error = open(|manifest| manifest["files"]["model.onnx"]["bytes"] = 7.into());
    assert!(matches!(&error, EncoderError::Altered { file, .. } if file == "model.onnx"));
    assert_says(
        &error,
        "model.onnx is altered or cut short (5 bytes, expected 7)",
    );
    let error = open(|manifest| manifest["files"]["tokenizer.json"]["sha256"] = "0".into());
    assert_says(
        &error,
        "tokenizer.json is altered or cut short (SHA-256 44136fa355b3678a",
    );
}

#[test]
fn a_wrong_tokenizer_is_unfit() {
    let error = open(|_| ());
    assert!(matches!(&error, EncoderError::Unfit { file, .. } if file == "tokenizer.json"));
    assert_says(
        &error,
        "tokenizer.json does not hold what encoder.json promises",
    );
}

#[test]
fn bytes_that_are_no_network_are_unfit() {
    let tokenizer = br###"{"version": "2.0", "model": {"type": "WordPiece", "unk_token": "[UNK]",
        "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
        "vocab": {"[UNK]": 0}}}"###;
    let error = Encoder::open_files(&manifest(tokenizer, b"model", |_| ()), tokenizer, b"model");
    let error = error.err().unwrap();
    assert!(
        matches!(&error, EncoderError::Unfit { file, .. } if file == "model.onnx"),
        "{error}"
    );
}

#[test]
fn an_altered_manifest_byte_never_panics() {
    let good = manifest(b"{}", b"model", |_| ());
    for place in 0..good.len() {
        let mut bytes = good.clone();
        bytes[place] ^= 1;
        assert!(Encoder::open_files(&bytes, b"{}", b"model").is_err());
    }
}

#[test]
fn rows_need_a_folder() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/siskin-en");
    let read = |name| std::fs::read(path.join(name)).unwrap();
    let (manifest, tokenizer) = (read("encoder.json"), read("tokenizer.json"));
    let encoder = Encoder::open_files(&manifest, &tokenizer, read("model.onnx")).unwrap();
    assert_says(
        &encoder.generic_rows().unwrap_err(),
        "rows.safetensors is missing",
    );
}
