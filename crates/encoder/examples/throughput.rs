//! Measures how many passages of 128 word pieces a second the encoder takes.
//!
//! `cargo run --release -p siskin-encoder --example throughput -- ENCODER [PASSAGES]`

use std::time::Instant;

use siskin_encoder::store::Pooling;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments
        .next()
        .ok_or("usage: throughput ENCODER [PASSAGES]")?;
    let count: usize = arguments.next().map_or(Ok(100), |count| count.parse())?;
    let begin = Instant::now();
    let encoder = siskin_encoder::Encoder::open(folder)?;
    eprintln!("opened in {} ms", begin.elapsed().as_millis());
    // Equal texts would be encoded once.
    let texts: Vec<String> = (0..count)
        .map(|number| format!("{number} ") + &"posting lists are bit packed ".repeat(40))
        .collect();
    let pieces = encoder.pieces(&texts[0])?.len();
    for threads in [1, 2] {
        let mut store = encoder.passage_store(None, Pooling::Own, |note| eprintln!("{note}"))?;
        let begin = Instant::now();
        let codes = store.encode(&texts, threads, |_| ())?.count();
        let rate = codes as f64 / begin.elapsed().as_secs_f64();
        eprintln!("{threads} threads: {rate:.1} passages of {pieces} pieces a second");
    }
    Ok(())
}
