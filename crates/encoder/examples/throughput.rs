//! Measures how many passages of 128 word pieces a second each engine takes, turn by turn, and
//! how many times as many the lean one does as tract.
//!
//! `cargo run --release -p siskin-encoder --example throughput -- ENCODER [PASSAGES]`

use std::path::Path;
use std::time::Instant;

use siskin_encoder::store::Pooling;
use siskin_encoder::{Encoder, Engine, Result};

/// The best of them counts: other programs only slow a turn down.
const TURNS: usize = 3;

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments
        .next()
        .ok_or("usage: throughput ENCODER [PASSAGES]")?;
    let count: usize = arguments.next().map_or(Ok(100), |count| count.parse())?;
    let lean = open(Engine::Lean, folder.as_ref())?;
    let tract = open(Engine::Tract, folder.as_ref())?;
    // Equal texts would be encoded once.
    let texts: Vec<String> = (0..count)
        .map(|number| format!("{number} ") + &"posting lists are bit packed ".repeat(40))
        .collect();
    let pieces = lean.pieces(&texts[0])?.len();
    for threads in [1, 2] {
        let mut best = [0.0f64; 2];
        for _ in 0..TURNS {
            for (best, encoder) in best.iter_mut().zip([&lean, &tract]) {
                *best = best.max(rate(encoder, &texts, threads)?);
            }
        }
        let [lean, tract] = best;
        eprintln!(
            "{threads} threads, {pieces} pieces: lean {lean:.1}, tract {tract:.1} passages a \
             second, {:.2} times",
            lean / tract
        );
    }
    Ok(())
}

fn open(engine: Engine, folder: &Path) -> Result<Encoder> {
    let begin = Instant::now();
    let encoder = Encoder::open_with(Some(engine), folder)?;
    eprintln!("{engine:?} opened in {} ms", begin.elapsed().as_millis());
    Ok(encoder)
}

/// Passages a second.
fn rate(encoder: &Encoder, texts: &[String], threads: usize) -> Result<f64> {
    let mut store = encoder.passage_store(None, Pooling::Own, |note| eprintln!("{note}"))?;
    let begin = Instant::now();
    let codes = store.encode(texts, threads, |_| ())?.count();
    Ok(codes as f64 / begin.elapsed().as_secs_f64())
}
