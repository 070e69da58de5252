//! Our BERT against an independent forward pass of all-MiniLM-L6-v2, written in numpy with f64
//! (`minilm.json`: per layer the first four values of the first, second and last token, and the
//! Frobenius norm of all tokens).
//!
//! Needs the base weights: in the folder `SISKIN_BASE_MODEL`, or where `cargo xtask base-model`
//! puts them.

use std::path::PathBuf;

use anyhow::{Context, Result};
use candle_core::{Device, Tensor};
use serde::Deserialize;
use siskin_train::base::Base;
use siskin_train::tokenize::Batch;

#[derive(Deserialize)]
struct Golden {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    text: String,
    pieces: Vec<u32>,
    /// Layer, then token (first, second, last), then the first four values.
    layers: Vec<Vec<Vec<f32>>>,
    norms: Vec<f32>,
}

/// f32 against f64 through six layers; values are of the order of 1.
const TOLERANCE: f32 = 2e-5;

fn base() -> Result<Base> {
    let folder = match std::env::var_os("SISKIN_BASE_MODEL") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(std::env::var_os("HOME").context("HOME is not set")?)
            .join(".cache/siskin/base-model"),
    };
    Base::open(&folder, &Device::Cpu)
}

fn golden() -> Result<Golden> {
    Ok(serde_json::from_str(include_str!("minilm.json"))?)
}

fn assert_agrees(case: &Case, layers: &[Tensor], text: usize) -> Result<()> {
    assert_eq!(layers.len(), case.layers.len());
    let last = case.pieces.len() - 1;
    for (index, (layer, golden)) in layers.iter().zip(&case.layers).enumerate() {
        let layer = layer.get(text)?.narrow(0, 0, case.pieces.len())?;
        let rows = layer.to_vec2::<f32>()?;
        for (token, golden) in [0, 1, last].into_iter().zip(golden) {
            for (value, golden) in rows[token].iter().zip(golden) {
                let error = (value - golden).abs();
                assert!(
                    error < TOLERANCE,
                    "{:?} layer {index} token {token}: {error}",
                    case.text
                );
            }
        }
        let norm = layer.sqr()?.sum_all()?.to_scalar::<f32>()?.sqrt();
        assert!(
            (norm - case.norms[index]).abs() < 1e-3,
            "{:?} layer {index}: {norm}",
            case.text
        );
    }
    Ok(())
}

#[test]
fn every_layer_agrees_with_the_reference() -> Result<()> {
    let bert = base()?.bert()?;
    for case in golden()?.cases {
        let batch = Batch::new(&[&case.pieces], vec![0], &Device::Cpu)?;
        assert_agrees(&case, &bert.forward(&batch.input_ids, &batch.mask)?, 0)?;
    }
    Ok(())
}

#[test]
fn padding_changes_nothing() -> Result<()> {
    let bert = base()?.bert()?;
    let cases = golden()?.cases;
    let pieces: Vec<&[u32]> = cases.iter().map(|case| case.pieces.as_slice()).collect();
    let batch = Batch::new(&pieces, (0..pieces.len()).collect(), &Device::Cpu)?;
    let layers = bert.forward(&batch.input_ids, &batch.mask)?;
    for (text, case) in cases.iter().enumerate() {
        assert_agrees(case, &layers, text)?;
    }
    Ok(())
}

#[test]
fn texts_become_the_pieces_of_the_model() -> Result<()> {
    let tokenizer = base()?.tokenizer()?;
    for case in golden()?.cases {
        assert_eq!(
            tokenizer.encode(&case.text)?,
            case.pieces,
            "{:?}",
            case.text
        );
    }
    let long = tokenizer.encode(&"word ".repeat(500))?;
    assert_eq!((long.len(), long[0], long[127]), (128, 101, 102));
    assert_eq!(tokenizer.encode("")?, [101, 102]);
    Ok(())
}
