//! Token vectors sampled from varied texts: what heads are initialised from.

use anyhow::Result;
use candle_core::{Device, Tensor};
use indicatif::ProgressBar;

use crate::bert::Bert;
use crate::collection::Collection;
use crate::encode::Encoded;
use crate::random::Random;
use crate::tokenize::{Batch, Tokenizer};

/// Texts encoded at once.
const BATCH_TEXTS: usize = 16;

/// Token vectors (without `[CLS]` and `[SEP]`) of each of `layers`: `[at least tokens, dim]`, from
/// passages and queries that `seed` chooses, equally often from each collection. Fewer if the
/// collections are smaller.
///
/// # Errors
/// When a text cannot be encoded.
pub fn token_vectors(
    bert: &Bert,
    tokenizer: &Tokenizer,
    collections: &[Collection],
    layers: &[usize],
    tokens: usize,
    seed: u64,
    device: &Device,
) -> Result<Vec<Tensor>> {
    let texts = mixed_texts(collections, seed);
    let progress = ProgressBar::new(tokens as u64).with_message("sampling token vectors");
    let mut chunks: Vec<Vec<Tensor>> = vec![Vec::new(); layers.len()];
    for texts in texts.chunks(BATCH_TEXTS) {
        if progress.position() >= tokens as u64 {
            break;
        }
        let encoded = encode(bert, tokenizer, texts, device)?;
        for (chunks, &layer) in chunks.iter_mut().zip(layers) {
            chunks.push(encoded.content_tokens(layer)?);
        }
        progress.inc(encoded.content.iter().map(Vec::len).sum::<usize>() as u64);
    }
    progress.finish_and_clear();
    chunks
        .iter()
        .map(|chunks| Ok(Tensor::cat(chunks, 0)?))
        .collect()
}

fn encode(bert: &Bert, tokenizer: &Tokenizer, texts: &[&str], device: &Device) -> Result<Encoded> {
    let pieces: Vec<Vec<u32>> = texts
        .iter()
        .map(|text| tokenizer.encode(text))
        .collect::<Result<_>>()?;
    let pieces: Vec<&[u32]> = pieces.iter().map(Vec::as_slice).collect();
    Encoded::new(
        bert,
        &Batch::new(&pieces, (0..pieces.len()).collect(), device)?,
    )
}

/// Texts of all collections in turn, one passage and one query of each, in random order, until
/// the smallest source of each is used up.
fn mixed_texts(collections: &[Collection], seed: u64) -> Vec<&str> {
    let mut sources: Vec<Vec<&str>> = collections
        .iter()
        .flat_map(|collection| [&collection.passages, &collection.queries])
        .map(|texts| texts.iter().map(String::as_str).collect())
        .collect();
    for (stream, source) in (0..).zip(&mut sources) {
        Random::new(seed, stream).shuffle(source);
    }
    let longest = sources.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest)
        .flat_map(|i| {
            sources
                .iter()
                .filter_map(move |source| source.get(i).copied())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collections_take_turns() {
        let collection = |name: &str, size: usize| Collection {
            passages: (0..size).map(|i| format!("{name}{i}")).collect(),
            ..Collection::default()
        };
        let collections = [collection("a", 5), collection("b", 2)];
        let texts = mixed_texts(&collections, 1);
        let sources: String = texts
            .iter()
            .filter_map(|text| text.chars().next())
            .collect();
        assert_eq!(sources, "ababaaa");
    }
}
