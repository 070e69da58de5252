//! UHD codes alone: pages by the weighted overlap of binary codes (UHD-BERT, eq. 7), no words beside it. A shared
//! dimension counts by the root of its rarity, times the weight of its bucket.
//!
//! Two kinds of bucket:
//!
//! - the encoder's own, whose inputs are token vectors: of a passage the 68 dimensions with the largest
//!   activation, summed over its tokens, and of a query 64;
//! - one on the pooled vector of a text, the same that becomes one-bit codes, of n = 2,048. It has nothing to
//!   ship: its rows are those of Hadamard matrices (at 384 values: four) with random signs, as near to random projections as makes no
//!   difference here (their winners: Dasgupta, Stevens and Navlakha, "A neural algorithm for a fundamental computing
//!   problem", Science 2017). A passage has 64 winners and a query 340; passages are centred on their mean, queries
//!   on that of queries.

use std::collections::BTreeMap;

use rayon::prelude::*;
use siskin_core::bytes::Writer;
use siskin_core::encoded::{EncodedQuery, PassageCodes};
use siskin_core::impact::rarity;
use siskin_core::page::Page;
use siskin_core::{postings, top, uhd};

use crate::collection::EncodedPassages;

/// Dimensions of a passage in a bucket of token vectors.
const TOKEN_K: usize = 68;
/// Dimensions of a query in a bucket of token vectors.
const TOKEN_QUERY_K: usize = 64;
/// Dimensions of the bucket of pooled vectors.
const POOLED_N: usize = 2048;
/// Dimensions of a passage in it.
const POOLED_K: usize = 64;
/// Dimensions of a query in it.
const POOLED_QUERY_K: usize = 340;
/// Weight of that bucket, the others' being 1.
const POOLED_WEIGHT: f32 = 0.5;

/// Passages by the dimensions of their codes.
#[derive(Clone, Debug, Default)]
pub struct UhdCodes {
    /// The encoder's buckets, then that of pooled vectors.
    buckets: Vec<Bucket>,
    /// `[passages]`: the page of each.
    pages: Vec<usize>,
    page_count: usize,
}

/// Per dimension its passages, ascending.
type Bucket = BTreeMap<u32, Vec<u32>>;

impl UhdCodes {
    /// The codes of all passages of `pages`, in their order.
    #[must_use]
    pub fn new(encoded: &EncodedPassages, pages: &[Page]) -> Self {
        let mean = mean(encoded);
        let token_buckets = encoded.codes.first().map_or(0, |codes| codes.winners.len());
        let codes = encoded.codes.par_iter().map(|passage| {
            let one = std::slice::from_ref(passage);
            let of_tokens = (0..token_buckets).map(|bucket| uhd::code_of(one, bucket, TOKEN_K));
            let centred: Vec<f32> = passage
                .dense
                .iter()
                .zip(&mean)
                .map(|(x, m)| x - m)
                .collect();
            let of_pooled = winners(&centred, POOLED_K);
            of_tokens.chain([of_pooled]).collect()
        });
        let codes: Vec<Vec<Vec<u32>>> = codes.collect();
        let mut buckets = vec![Bucket::new(); token_buckets + 1];
        for (passage, codes) in (0..).zip(codes) {
            for (bucket, code) in buckets.iter_mut().zip(codes) {
                for dimension in code {
                    bucket.entry(dimension).or_default().push(passage);
                }
            }
        }
        let owners = pages.iter().enumerate();
        Self {
            buckets,
            pages: owners
                .flat_map(|(page, of)| vec![page; of.passages.len()])
                .collect(),
            page_count: pages.len(),
        }
    }

    /// Mean size of a passage's codes, as posting lists ([`postings`]) of the dimensions that occur.
    #[must_use]
    pub fn bytes_per_passage(&self) -> f64 {
        let mut writer = Writer::default();
        for list in self.buckets.iter().flat_map(BTreeMap::values) {
            postings::write(&mut writer, list, self.pages.len() as u32);
        }
        writer.position_bytes() as f64 / self.pages.len().max(1) as f64
    }

    /// The score of each page: that of its best passage; 0 for a page without passages.
    #[must_use]
    pub fn scores(&self, query: &EncodedQuery) -> Vec<f64> {
        let mut overlaps = vec![0.0f32; self.pages.len()];
        let of_tokens = query.buckets.iter().map(|code| {
            let strongest = top::by_score(code.iter().copied()).into_iter();
            (strongest.take(TOKEN_QUERY_K).collect(), 1.0)
        });
        let of_pooled = (winners(&query.dense, POOLED_QUERY_K), POOLED_WEIGHT);
        let codes: Vec<(Vec<u32>, f32)> = of_tokens.chain([of_pooled]).collect();
        for (bucket, (code, weight)) in self.buckets.iter().zip(codes) {
            for list in code.iter().filter_map(|dimension| bucket.get(dimension)) {
                let value = weight * rarity(self.pages.len(), list.len()).sqrt();
                for &passage in list {
                    overlaps[passage as usize] += value;
                }
            }
        }
        let mut best = vec![0.0; self.page_count];
        for (&page, overlap) in self.pages.iter().zip(overlaps) {
            best[page] = f64::max(best[page], f64::from(overlap));
        }
        best
    }
}

/// Mean vector of all passages: `[dim]`.
fn mean(encoded: &EncodedPassages) -> Vec<f32> {
    let mut sum = vec![0.0f64; encoded.dim];
    for PassageCodes { dense, .. } in &encoded.codes {
        sum.iter_mut()
            .zip(dense)
            .for_each(|(s, x)| *s += f64::from(*x));
    }
    let count = encoded.codes.len().max(1) as f64;
    sum.into_iter().map(|sum| (sum / count) as f32).collect()
}

/// The `k` dimensions of the bucket of pooled vectors that a vector activates most (eq. 3).
fn winners(vector: &[f32], k: usize) -> Vec<u32> {
    let activations = activations(vector);
    let mut winners = top::by_score((0..).zip(activations));
    winners.truncate(k);
    winners
}

/// The products of a vector with all rows (eq. 2): per block of rows the Walsh–Hadamard transform of the
/// vector with the block's signs.
fn activations(vector: &[f32]) -> Vec<f32> {
    let width = vector.len().next_power_of_two();
    let block = |block: usize| {
        let mut values = vec![0.0; width];
        for (place, (value, x)) in values.iter_mut().zip(vector).enumerate() {
            *value = if is_negative(block * width + place) {
                -x
            } else {
                *x
            };
        }
        transform(&mut values);
        values
    };
    (0..POOLED_N.div_ceil(width)).flat_map(block).collect()
}

/// Walsh–Hadamard transform in place; the length is a power of two.
fn transform(values: &mut [f32]) {
    let mut half = 1;
    while half < values.len() {
        for pair in values.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
}

/// A fair coin for each number (splitmix64).
fn is_negative(number: usize) -> bool {
    let mut x = (number as u64)
        .wrapping_add(1)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    (x ^ x >> 31) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use siskin_core::encoded::TokenWinners;
    use siskin_core::page::Passage;

    fn passage(dimension: u32, dense: &[f32]) -> PassageCodes {
        PassageCodes {
            winners: vec![TokenWinners {
                k: 1,
                dimensions: vec![dimension],
                activations: vec![1.0],
            }],
            dense: dense.to_vec(),
            ..PassageCodes::default()
        }
    }

    fn codes() -> UhdCodes {
        let page = |passages: usize| Page {
            passages: vec![Passage::default(); passages],
            ..Page::default()
        };
        let encoded = EncodedPassages {
            dim: 4,
            codes: vec![
                passage(7, &[1.0, 0.0, 0.0, 0.0]),
                passage(8, &[0.0, 1.0, 0.0, 0.0]),
                passage(9, &[0.0, 0.0, 1.0, 0.0]),
            ],
        };
        UhdCodes::new(&encoded, &[page(1), page(2), page(0)])
    }

    fn query(dimension: u32, dense: &[f32]) -> EncodedQuery {
        EncodedQuery {
            buckets: vec![vec![(dimension, 1.0), (99, 0.5)]],
            dense: dense.to_vec(),
        }
    }

    #[test]
    fn a_page_has_the_overlap_of_its_best_passage_in_all_buckets() {
        let codes = codes();
        let [first, second, third] = codes
            .scores(&query(9, &[0.0, -0.3, 0.7, -0.3]))
            .try_into()
            .unwrap();
        assert!(second > first + 0.5, "{second} and {first}");
        assert_eq!(third, 0.0, "a page without passages");
        let same = codes.scores(&query(8, &[0.0, -0.3, 0.7, -0.3]));
        assert!(same[1] < second, "no passage has both");
    }

    #[test]
    fn winners_of_near_vectors_are_the_same_and_of_opposite_ones_others() {
        let vector: Vec<f32> = (0..384).map(|i| (i as f32 * 0.7).sin()).collect();
        let near: Vec<f32> = vector
            .iter()
            .zip(0..)
            .map(|(x, i)| x + 0.05 * (i as f32).cos())
            .collect();
        let opposite: Vec<f32> = vector.iter().map(|x| -x).collect();
        let own = winners(&vector, POOLED_K);
        let shared = |other: &[f32]| {
            let other = winners(other, POOLED_QUERY_K);
            own.iter()
                .filter(|dimension| other.contains(dimension))
                .count()
        };
        assert_eq!(own.len(), POOLED_K);
        assert_eq!(shared(&near), POOLED_K);
        assert_eq!(shared(&opposite), 0);
    }

    #[test]
    fn rows_are_of_one_and_minus_one_and_differ() {
        let row = |place: usize| {
            let mut unit = vec![0.0; 384];
            unit[place] = 1.0;
            activations(&unit)
        };
        let (first, second) = (row(0), row(1));
        assert_eq!(first.len(), POOLED_N);
        assert!(first.iter().all(|x| x.abs() == 1.0));
        let product: f32 = first.iter().zip(&second).map(|(a, b)| a * b).sum();
        assert_eq!(product, 0.0, "columns are orthogonal");
        let vector: Vec<f32> = (0..384).map(|i| (i as f32 * 0.7).sin()).collect();
        let activations = activations(&vector);
        let blocks: Vec<&[f32]> = activations.chunks(512).collect();
        for (block, next) in blocks.iter().zip(1..) {
            let others = blocks.iter().skip(next);
            assert!(others.into_iter().all(|other| other != block), "signs");
        }
    }

    #[test]
    fn bytes_are_those_of_the_posting_lists() {
        let bytes = codes().bytes_per_passage();
        // At most 65 lists a passage, each with a byte for its length and one for its passages.
        assert!((65.0..=130.0).contains(&bytes), "{bytes}");
    }
}
