//! What a student reads: texts as short as queries.

use std::collections::HashSet;

use anyhow::Result;

use crate::random::Random;
use crate::rows::texts::{Source, collect};

/// Passages that pieces are cut from at most, evenly from all sources.
const MAX_PASSAGES: usize = 60_000;
/// Words of the longest piece.
const MAX_WORDS: usize = 10;
/// Random stream of the pieces.
const SPANS_STREAM: u64 = 7_000;

/// Queries with training judgments, titles, and `spans` pieces of passages; each text once, in random order.
///
/// # Errors
/// When a folder lacks a file or a line is malformed; the message names it.
pub fn gather(sources: &[Source], spans: usize, seed: u64) -> Result<Vec<String>> {
    let texts = collect(sources, MAX_PASSAGES, seed)?;
    let mut random = Random::new(seed, SPANS_STREAM);
    let mut seen: HashSet<String> = texts.shorts.into_iter().collect();
    for _ in 0..spans {
        if let Some(passage) = texts.passages.get(random.below(texts.passages.len())) {
            seen.insert(span(passage, &mut random));
        }
    }
    seen.remove("");
    let mut texts: Vec<String> = seen.into_iter().collect();
    texts.sort_unstable();
    random.shuffle(&mut texts);
    Ok(texts)
}

/// Some words of `passage` that follow each other.
fn span(passage: &str, random: &mut Random) -> String {
    let words: Vec<&str> = passage.split_whitespace().collect();
    let first = random.below(words.len());
    let count = 1 + random.below(MAX_WORDS);
    let span = words.iter().skip(first).take(count).copied();
    span.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_a_part_of_its_passage() {
        let mut random = Random::new(5, 0);
        let passage = (0..40).map(|i| i.to_string()).collect::<Vec<_>>().join(" ");
        for _ in 0..100 {
            let span = span(&passage, &mut random);
            assert!(
                format!(" {passage} ").contains(&format!(" {span} ")),
                "{span}"
            );
            assert!((1..=MAX_WORDS).contains(&span.split(' ').count()));
        }
        assert_eq!(span("", &mut random), "");
    }
}
