//! Token vectors sampled from varied texts: what heads are initialised from.

use std::collections::BTreeSet;

use anyhow::Result;
use candle_core::{Device, Tensor};
use indicatif::ProgressBar;

use crate::bert::Bert;
use crate::collection::Collection;
use crate::encode::Encoded;
use crate::random::Random;
use crate::tokenize::{Tokenizer, batches_by_length};

/// Word pieces encoded at once, padding included.
const BATCH_TOKENS: usize = 2_048;

/// Positions below `count`: `answers`, each once, and others until there are `most`, in random order, since equal scores rank
/// in order of passage. `streams` of `seed` choose the others, and the order.
pub(crate) fn candidates(
    answers: impl Iterator<Item = usize>,
    (count, most): (usize, usize),
    (seed, streams): (u64, [u64; 2]),
) -> Vec<usize> {
    let [choice, order] = streams.map(|stream| Random::new(seed, stream));
    let (mut choice, mut order) = (choice, order);
    let mut others: Vec<usize> = (0..count).collect();
    choice.shuffle(&mut others);
    let mut seen = BTreeSet::new();
    let mut candidates: Vec<usize> = answers.filter(|&answer| seen.insert(answer)).collect();
    let missing = most.saturating_sub(candidates.len());
    let others = others.into_iter().filter(|other| !seen.contains(other));
    candidates.extend(others.take(missing));
    order.shuffle(&mut candidates);
    candidates
}

/// Token vectors (without `[CLS]` and `[SEP]`) of each of `layers`: `[about tokens, dim]`, of
/// `texts` in turn until there are enough. Fewer if the texts are used up.
///
/// # Errors
/// When a text cannot be encoded, or there are none.
pub fn token_vectors(
    bert: &Bert,
    tokenizer: &Tokenizer,
    texts: &[&str],
    layers: &[usize],
    tokens: usize,
    device: &Device,
) -> Result<Vec<Tensor>> {
    let batches = batches_by_length(&enough(tokenizer, texts, tokens)?, BATCH_TOKENS, device)?;
    let progress = ProgressBar::new(batches.len() as u64).with_message("sampling token vectors");
    let mut chunks: Vec<Vec<Tensor>> = vec![Vec::new(); layers.len()];
    for batch in progress.wrap_iter(batches.iter()) {
        let encoded = Encoded::new(bert, batch)?;
        for (chunks, &layer) in chunks.iter_mut().zip(layers) {
            chunks.push(encoded.content_tokens(layer)?);
        }
    }
    chunks
        .iter()
        .map(|chunks| Ok(Tensor::cat(chunks, 0)?))
        .collect()
}

/// Word pieces of the first of `texts` that have `tokens` pieces together, specials not counted.
fn enough(tokenizer: &Tokenizer, texts: &[&str], tokens: usize) -> Result<Vec<Vec<u32>>> {
    let mut pieces = Vec::new();
    let mut count = 0;
    for text in texts {
        if count >= tokens {
            break;
        }
        let text = tokenizer.encode(text)?;
        count += text.len().saturating_sub(2);
        pieces.push(text);
    }
    Ok(pieces)
}

/// Texts of all collections in turn, one passage and one query of each, in an order that `seed`
/// chooses. Queries are those of the pairs, so that no other split's slip in.
#[must_use]
pub fn mixed_texts(collections: &[Collection], seed: u64) -> Vec<&str> {
    let mut sources: Vec<Vec<&str>> = collections
        .iter()
        .flat_map(|collection| {
            let passages = collection.passages.iter().map(String::as_str).collect();
            let asked: BTreeSet<usize> = collection.pairs.iter().map(|pair| pair.query).collect();
            let queries = asked.into_iter().map(|at| collection.queries[at].as_str());
            [passages, queries.collect()]
        })
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
    fn answers_stand_anywhere_among_the_candidates() {
        let drawn = |seed| candidates([3, 40, 3].into_iter(), (50, 20), (seed, [1, 2]));
        assert_eq!(drawn(1), drawn(1));
        let mut places = 0.0;
        for seed in 0..200 {
            let drawn = drawn(seed);
            assert_eq!(drawn.iter().collect::<BTreeSet<_>>().len(), 20);
            let place = |answer| drawn.iter().position(|&one| one == answer).unwrap() as f64;
            places += place(3) + place(40);
        }
        // The middle is 9.5, and the deviation of 400 such means 0.3.
        let mean = places / 400.0;
        assert!((8.5..10.5).contains(&mean), "{mean}");
        let all = candidates([3].into_iter(), (5, 20), (1, [1, 2]));
        assert_eq!(all.len(), 5);
    }

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
