//! Measures how many passages of 128 word pieces a second the encoder takes.
//!
//! `cargo run --release -p siskin-encoder --example throughput -- ENCODER [PASSAGES]`

use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments
        .next()
        .ok_or("usage: throughput ENCODER [PASSAGES]")?;
    let count: usize = arguments.next().map_or(Ok(100), |count| count.parse())?;
    let begin = Instant::now();
    let encoder = siskin_encoder::Encoder::open(folder)?;
    eprintln!("opened in {} ms", begin.elapsed().as_millis());
    let passage = "posting lists are bit packed ".repeat(40);
    let texts = vec![passage; count];
    for threads in [1, 2] {
        let begin = Instant::now();
        encoder.encode_all(&texts, threads, |_| (), |_, _| ())?;
        let rate = count as f64 / begin.elapsed().as_secs_f64();
        eprintln!("{threads} threads: {rate:.1} passages a second");
    }
    Ok(())
}
