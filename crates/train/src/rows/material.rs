//! What the trainers of rows learn from: texts as pieces, their vectors, and what is held out.

use std::collections::HashSet;

use anyhow::{Result, ensure};

use super::Args;
use super::bag;
use super::encode::TokenVectors;
use super::network::Network;
use super::pooling::{Pair, Passages};
use super::texts::{self, TextPair, Texts};
use crate::random::Random;

/// Random choice of texts that are held out.
const HELD_OUT_STREAM: u64 = 5_300_000_000;
/// One passage in so many is held out, with its pairs.
const HELD_OUT_PASSAGES: usize = 10;

/// Texts and what the network says of them.
pub struct Material {
    /// The texts themselves.
    pub texts: Texts,
    /// Mean unit vector of the queries: `[dim]`.
    pub query_mean: Vec<f32>,
    /// Short texts as pieces.
    shorts: Vec<Vec<u32>>,
    /// Unit vectors of the short texts minus `query_mean`, of unit length: `[shorts, dim]`.
    directions: Vec<f32>,
    /// Passages as pieces, special tokens included.
    pub passages: Vec<Vec<u32>>,
    hidden: TokenVectors,
}

/// Texts as unique pieces with their targets.
pub struct Split {
    pieces: Vec<Vec<u32>>,
    targets: Vec<f32>,
}

impl Split {
    /// The form that the trainer reads.
    pub fn texts(&self) -> bag::Texts<'_> {
        bag::Texts {
            pieces: &self.pieces,
            targets: &self.targets,
        }
    }
}

impl Material {
    /// Collects and encodes the texts that `args` names.
    ///
    /// # Errors
    /// When texts cannot be read or are too few, or the network fails.
    pub fn gather(args: &Args, network: &Network) -> Result<Self> {
        let texts = texts::collect(&args.texts, args.pairs, args.seed)?;
        ensure!(
            texts.shorts.len() > 2 * args.held_out && texts.pairs.len() > HELD_OUT_PASSAGES,
            "{} short texts and {} pairs are too few to hold {} texts and the pairs of every tenth passage out: lower \
             --held-out, or name more --texts",
            texts.shorts.len(),
            texts.pairs.len(),
            args.held_out,
        );
        crate::say!(
            "{} short texts, {} pairs, {} passages",
            texts.shorts.len(),
            texts.pairs.len(),
            texts.passages.len()
        );
        let (encoder, dim) = (&network.encoder, network.encoder.dim());
        let shorts = network.tokenize(&texts.shorts)?;
        let vectors = encoder.sentence_vectors("shorts", &shorts)?;
        let queries = vectors.get(..texts.query_count * dim).unwrap_or(&vectors);
        let query_mean = bag::mean(queries, dim);
        let passages = network.tokenize(&texts.passages)?;
        Ok(Self {
            hidden: encoder.token_vectors("passages", &passages, encoder.last_layer())?,
            directions: bag::targets(&vectors, &query_mean),
            passages,
            shorts,
            query_mean,
            texts,
        })
    }

    /// Width of a vector.
    pub fn dim(&self) -> usize {
        self.query_mean.len()
    }

    /// Short texts to train on and `count` to measure on; among the latter all queries of
    /// held-out pairs.
    pub fn split_shorts(&self, count: usize, seed: u64) -> (Split, Split) {
        let held_out_pairs = self.texts.pairs.iter().filter(|pair| is_held_out(pair));
        let reserved: HashSet<usize> = held_out_pairs.map(|pair| pair.query).collect();
        let mut order: Vec<usize> = (0..self.shorts.len()).collect();
        Random::new(seed, HELD_OUT_STREAM).shuffle(&mut order);
        order.sort_by_key(|text| !reserved.contains(text));
        let (held_out, train) = order.split_at(count.max(reserved.len()).min(order.len()));
        (self.take(train), self.take(held_out))
    }

    fn take(&self, chosen: &[usize]) -> Split {
        let chosen = || chosen.iter().copied();
        let pieces = chosen().filter_map(|text| self.shorts.get(text));
        let targets = chosen().filter_map(|text| self.direction(text));
        Split {
            pieces: pieces.map(|text| unique_inner(text)).collect(),
            targets: targets.flatten().copied().collect(),
        }
    }

    fn direction(&self, text: usize) -> Option<&[f32]> {
        self.directions
            .get(text * self.dim()..(text + 1) * self.dim())
    }

    /// Token vectors of the passages.
    pub fn token_vectors(&self) -> Passages<'_> {
        Passages {
            pieces: &self.passages,
            offsets: &self.hidden.offsets,
            hidden: &self.hidden.hidden,
            dim: self.dim(),
        }
    }

    /// Pairs to train on and pairs to measure on, with the network's query vectors.
    pub fn split_pairs(&self) -> (Vec<Pair<'_>>, Vec<Pair<'_>>) {
        let with_query = |pair: &TextPair| {
            let query = self.direction(pair.query)?;
            Some((is_held_out(pair), as_pair(pair, query)))
        };
        let all = self.texts.pairs.iter().filter_map(with_query);
        let (held_out, train): (Vec<_>, Vec<_>) = all.partition(|(held_out, _)| *held_out);
        let plain = |pairs: Vec<(bool, _)>| pairs.into_iter().map(|(_, pair)| pair).collect();
        (plain(train), plain(held_out))
    }

    /// Query vectors of the held-out pairs as sums of `rows` (`[pieces, dim]`), in the order of
    /// [`Self::split_pairs`].
    pub fn held_out_sums(&self, rows: &[f32]) -> Vec<Vec<f32>> {
        let held_out = self.texts.pairs.iter().filter(|pair| is_held_out(pair));
        held_out
            .filter_map(|pair| self.shorts.get(pair.query))
            .map(|text| bag::sum(rows, self.dim(), &unique_inner(text)))
            .collect()
    }
}

fn is_held_out(pair: &TextPair) -> bool {
    pair.passage.is_multiple_of(HELD_OUT_PASSAGES)
}

fn as_pair<'a>(pair: &TextPair, query: &'a [f32]) -> Pair<'a> {
    Pair {
        query,
        passage: pair.passage,
        collection: pair.collection,
    }
}

/// The pieces between `[CLS]` and `[SEP]`, each once, ascending.
fn unique_inner(text: &[u32]) -> Vec<u32> {
    let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or(&[]);
    let mut pieces = inner.to_vec();
    pieces.sort_unstable();
    pieces.dedup();
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn material() -> Material {
        let pair = |i| TextPair {
            query: i,
            passage: i,
            collection: 0,
        };
        Material {
            texts: Texts {
                pairs: (0..20).map(pair).collect(),
                ..Texts::default()
            },
            query_mean: vec![0.0; 2],
            shorts: (0..50).map(|i| vec![101, i, 200 + i, i, 102]).collect(),
            directions: (0..100).map(|i| i as f32).collect(),
            passages: Vec::new(),
            hidden: TokenVectors {
                offsets: Vec::new(),
                hidden: Vec::new(),
            },
        }
    }

    #[test]
    fn queries_of_held_out_pairs_are_held_out_of_the_rows_too() {
        let material = material();
        let (train, held_out) = material.split_shorts(5, 1);
        assert_eq!((train.pieces.len(), held_out.pieces.len()), (45, 5));
        assert!(
            held_out.pieces.contains(&vec![0, 200]) && held_out.pieces.contains(&vec![10, 210])
        );
        let (train, held_out) = material.split_pairs();
        assert_eq!((train.len(), held_out.len()), (18, 2));
        assert_eq!(held_out[1].query, [20.0, 21.0]);
    }

    #[test]
    fn sums_follow_the_held_out_pairs() {
        let mut rows = vec![0f32; 2 * 300];
        rows[20] = 1.0;
        rows[2 * 210 + 1] = 3.0;
        assert_eq!(
            material().held_out_sums(&rows),
            [vec![0.0, 0.0], vec![1.0, 3.0]]
        );
    }
}
