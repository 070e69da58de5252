//! Token vectors to codes: winners of each token, pooled over the tokens of a text.

use std::collections::BTreeMap;

use anyhow::Result;

use super::cache::{Sides, Vectors};
use crate::wta::{Head, Winners};

/// A dimension of a text's code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// Below `n`.
    pub dimension: u32,
    /// Activations of all tokens that have the dimension among their winners, added.
    pub sum: f32,
    /// The largest of them (UHD-BERT, eq. 4).
    pub max: f32,
}

/// A text's code, strongest by summed activation first, equal sums in order of dimension.
pub type Code = Vec<Entry>;

/// The codes of a collection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coded {
    /// By query.
    pub queries: Vec<Code>,
    /// By passage.
    pub passages: Vec<Code>,
}

/// The winners of a collection's tokens, of which any smaller number can be pooled.
#[derive(Clone, Debug)]
pub struct TokenWinners {
    /// Of the queries' tokens, one after the other.
    pub queries: Winners,
    /// Of the passages' tokens.
    pub passages: Winners,
}

impl TokenWinners {
    /// The winners of `vectors` by `head`.
    ///
    /// # Errors
    /// When the width differs from the head's.
    pub fn of(head: &Head, vectors: &Sides) -> Result<Self> {
        Ok(Self {
            queries: head.winners(&vectors.queries)?,
            passages: head.winners(&vectors.passages)?,
        })
    }

    /// Codes of the `k` strongest winners a token.
    #[must_use]
    pub fn coded(&self, k: usize, vectors: &Vectors) -> Coded {
        Coded {
            queries: pooled(&self.queries, k, &lengths(&vectors.texts.queries)),
            passages: pooled(&self.passages, k, &lengths(&vectors.texts.passages)),
        }
    }
}

/// Content tokens of each text, which is one less for `[CLS]` and one for `[SEP]`.
#[must_use]
pub fn lengths(texts: &[Vec<u32>]) -> Vec<usize> {
    let content = texts.iter().map(|pieces| pieces.len().saturating_sub(2));
    content.collect()
}

/// Codes of texts of `lengths` tokens, of the `k` first winners of each.
#[must_use]
pub fn pooled(winners: &Winners, k: usize, lengths: &[usize]) -> Vec<Code> {
    let mut start = 0;
    let mut codes = Vec::with_capacity(lengths.len());
    for length in lengths {
        let end = start + length * winners.k;
        let dimensions = winners.dimensions[start..end].chunks(winners.k);
        let activations = winners.activations[start..end].chunks(winners.k);
        let tokens = dimensions.zip(activations);
        let kept = tokens.flat_map(|(dimensions, activations)| {
            let winners = dimensions.iter().copied().zip(activations.iter().copied());
            winners.take(k)
        });
        codes.push(code(kept));
        start = end;
    }
    codes
}

fn code(winners: impl Iterator<Item = (u32, f32)>) -> Code {
    let mut sums: BTreeMap<u32, (f32, f32)> = BTreeMap::new();
    for (dimension, activation) in winners {
        let entry = sums.entry(dimension).or_insert((0.0, f32::NEG_INFINITY));
        *entry = (entry.0 + activation, entry.1.max(activation));
    }
    let entries = sums.into_iter().map(|(dimension, (sum, max))| Entry {
        dimension,
        sum,
        max,
    });
    let mut code: Code = entries.collect();
    code.sort_by(|a, b| b.sum.total_cmp(&a.sum).then(a.dimension.cmp(&b.dimension)));
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pooling_adds_and_keeps_the_largest() {
        let winners = Winners {
            k: 2,
            dimensions: vec![3, 7, 3, 9, 1, 2],
            activations: vec![2.0, 1.5, 1.0, 0.5, 4.0, 3.0],
        };
        let codes = pooled(&winners, 2, &[2, 0, 1]);
        let entry = |dimension, sum, max| Entry {
            dimension,
            sum,
            max,
        };
        let first = vec![entry(3, 3.0, 2.0), entry(7, 1.5, 1.5), entry(9, 0.5, 0.5)];
        let last = vec![entry(1, 4.0, 4.0), entry(2, 3.0, 3.0)];
        assert_eq!(codes, [first, vec![], last]);
        let fewer = pooled(&winners, 1, &[2, 0, 1]);
        assert_eq!(fewer[0], [entry(3, 3.0, 2.0)]);
    }
}
