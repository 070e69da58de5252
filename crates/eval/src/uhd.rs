//! UHD codes alone: pages by the weighted overlap of binary codes (UHD-BERT, eq. 7), no words beside it. A shared
//! dimension counts by the root of its rarity and by its bucket. A passage has one code in each bucket; a query has
//! several, cut from the same activations at another k each (the paper's table 4), so that a dimension counts once for
//! each of them that has it.
//!
//! Two kinds of bucket:
//!
//! - the encoder's own, whose inputs are token vectors: of a passage the 75 dimensions with the largest
//!   activation, summed over its tokens, times the root of their rarity; of a query 64, 32 and 16;
//! - one on the pooled vector of a text, the same that becomes one-bit codes, of n = 512 at 384 values. It has nothing to
//!   ship: its rows are those of a Hadamard matrix with random signs, as near to random projections as makes no
//!   difference here (their winners: Dasgupta, Stevens and Navlakha, "A neural algorithm for a fundamental computing
//!   problem", Science 2017). A passage has 96 winners; a query has four codes of what it activates most, and four of
//!   what it activates least: overlap with these counts against a passage. Passages are centred on their mean, queries
//!   on that of queries.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;
use siskin_core::bytes::Writer;
use siskin_core::codes::best_and_mean;
use siskin_core::encoded::{Code, EncodedQuery, PassageCodes};
use siskin_core::impact::rarity;
use siskin_core::page::Page;
use siskin_core::{postings, uhd};

use crate::collection::EncodedPassages;

/// Dimensions of a passage in a bucket of token vectors.
const TOKEN_K: usize = 75;
/// Dimensions of each of a query's codes in a bucket of token vectors.
const TOKEN_QUERY_KS: [usize; 3] = [64, 32, 16];
/// Dimensions of a passage in the bucket of pooled vectors.
const POOLED_K: usize = 96;
/// Weight of that bucket, the others' together being 1.
const POOLED_WEIGHT: f32 = 0.35;
/// Dimensions of each of a query's codes in that bucket, in sixteenths of all.
const POOLED_QUERY_SIXTEENTHS: [usize; 4] = [1, 3, 5, 7];
/// Share of the mean over a page's passages in its score; the rest is its best passage's.
const MEAN_SHARE: f32 = 0.2;

/// Passages by the dimensions of their codes.
#[derive(Clone, Debug, Default)]
pub struct UhdCodes {
    /// The encoder's buckets, then that of pooled vectors.
    buckets: Vec<Bucket>,
    /// Weight of each.
    weights: Vec<f32>,
    /// Number of passages.
    passages: usize,
    /// `[pages]`: the passages of each.
    passages_of_page: Vec<usize>,
}

/// Per dimension its passages, ascending.
type Bucket = BTreeMap<u32, Vec<u32>>;

impl UhdCodes {
    /// The codes of all passages of `pages`, in their order; `shares`: what the encoder's buckets weigh, together 1.
    #[must_use]
    pub fn new(encoded: &EncodedPassages, pages: &[Page], shares: &[f32]) -> Self {
        let of_tokens = (0..shares.len()).map(|bucket| token_codes(encoded, bucket));
        let of_pooled = pooled_codes(encoded);
        Self {
            buckets: of_tokens
                .chain([of_pooled])
                .map(|codes| bucket_of(&codes))
                .collect(),
            weights: [shares, &[POOLED_WEIGHT]].concat(),
            passages: encoded.codes.len(),
            passages_of_page: pages.iter().map(|page| page.passages.len()).collect(),
        }
    }

    /// Mean size of a passage's codes, as posting lists ([`postings`]) of the dimensions that occur.
    #[must_use]
    pub fn bytes_per_passage(&self) -> f64 {
        let mut writer = Writer::default();
        for list in self.buckets.iter().flat_map(BTreeMap::values) {
            postings::write(&mut writer, list, self.passages as u32);
        }
        writer.position_bytes() as f64 / self.passages.max(1) as f64
    }

    /// The score of each page: that of its best passage, with a share of their mean; 0 for a page without passages.
    #[must_use]
    pub fn scores(&self, query: &EncodedQuery) -> Vec<f64> {
        let mut overlaps = vec![0.0f32; self.passages];
        let codes = query_codes(query).zip(&self.weights);
        for (bucket, (code, &weight)) in self.buckets.iter().zip(codes) {
            for (dimension, weight) in scaled(code, weight) {
                let passages = bucket.get(&dimension).map_or(&[][..], Vec::as_slice);
                let value = weight * rarity(self.passages, passages.len()).sqrt();
                for &passage in passages {
                    overlaps[passage as usize] += value;
                }
            }
        }
        let mut overlaps = overlaps.into_iter();
        let score = |&passages| best_and_mean(overlaps.by_ref().take(passages), MEAN_SHARE);
        let scores = self.passages_of_page.iter().map(score);
        scores.map(f64::from).collect()
    }
}

/// Passages by the dimensions of their codes.
fn bucket_of(codes: &[Vec<u32>]) -> Bucket {
    let mut bucket = Bucket::new();
    for (passage, code) in (0..).zip(codes) {
        for &dimension in code {
            bucket.entry(dimension).or_default().push(passage);
        }
    }
    bucket
}

/// The codes of all passages in a bucket of token vectors.
fn token_codes(encoded: &EncodedPassages, bucket: usize) -> Vec<Vec<u32>> {
    let activations = encoded.codes.par_iter();
    let activations: Vec<HashMap<u32, f32>> = activations
        .map(|passage| uhd::activations(std::slice::from_ref(passage), bucket))
        .collect();
    let mut passages_of: HashMap<u32, usize> = HashMap::new();
    for dimension in activations.iter().flat_map(HashMap::keys) {
        *passages_of.entry(*dimension).or_default() += 1;
    }
    let weight = |(dimension, activation): (u32, f32)| {
        let rarity = rarity(encoded.codes.len(), passages_of[&dimension]);
        (dimension, activation * rarity.sqrt())
    };
    let codes = activations.into_par_iter();
    codes
        .map(|of| uhd::cut(of.into_iter().map(weight), TOKEN_K))
        .collect()
}

/// The codes of all passages in the bucket of pooled vectors.
fn pooled_codes(encoded: &EncodedPassages) -> Vec<Vec<u32>> {
    let mean = mean(encoded);
    let code = |passage: &PassageCodes| {
        let vector = passage.dense.iter().zip(&mean);
        let centred: Vec<f32> = vector.map(|(x, mean)| x - mean).collect();
        uhd::cut((0..).zip(activations(&centred)), POOLED_K)
    };
    encoded.codes.par_iter().map(code).collect()
}

/// Per bucket the dimensions of a query, each with the number of its codes that have it.
fn query_codes(query: &EncodedQuery) -> impl Iterator<Item = Code> {
    let of_tokens = query.buckets.iter();
    let of_tokens = of_tokens.map(|code| overlaid(code.iter().copied(), &TOKEN_QUERY_KS));
    let activations = activations(&query.dense);
    let ks = POOLED_QUERY_SIXTEENTHS.map(|share| activations.len() * share / 16);
    let most = overlaid((0..).zip(activations.iter().copied()), &ks);
    let least = overlaid((0..).zip(activations.iter().map(|x| -x)), &ks);
    let against = least
        .into_iter()
        .map(|(dimension, count)| (dimension, -count));
    of_tokens.chain([most.into_iter().chain(against).collect()])
}

/// The binary codes of the `ks` dimensions of largest weight, one on the other: each dimension, that of largest weight
/// first, with the number of codes that have it.
fn overlaid(weights: impl Iterator<Item = (u32, f32)>, ks: &[usize]) -> Code {
    let longest = ks.iter().copied().max().unwrap_or_default();
    let ranked = uhd::strongest(weights, longest).into_iter().enumerate();
    let codes_with = |rank: usize| ks.iter().filter(|&&k| rank < k).count();
    ranked
        .map(|(rank, (dimension, _))| (dimension, codes_with(rank) as f32))
        .collect()
}

/// `code` times the number that makes the mean of its squares that of `weight`.
fn scaled(mut code: Code, weight: f32) -> Code {
    let squares: f32 = code.iter().map(|(_, value)| value * value).sum();
    if squares > 0.0 {
        let scale = weight * (code.len() as f32 / squares).sqrt();
        code.iter_mut().for_each(|(_, value)| *value *= scale);
    }
    code
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

/// The products of a vector with all rows (eq. 2): the Walsh–Hadamard transform of the vector with the rows' signs.
fn activations(vector: &[f32]) -> Vec<f32> {
    let mut values = vec![0.0; vector.len().next_power_of_two()];
    for (place, (value, x)) in values.iter_mut().zip(vector).enumerate() {
        *value = if is_negative(place) { -x } else { *x };
    }
    transform(&mut values);
    values
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

    /// A vector of 384 values, another one for each `seed`.
    fn vector(seed: u32) -> Vec<f32> {
        (0..384)
            .map(|i| ((i * (seed + 3)) as f32 * 0.7).sin())
            .collect()
    }

    fn passage(dimensions: &[u32], dense: Vec<f32>) -> PassageCodes {
        PassageCodes {
            winners: vec![TokenWinners {
                k: 1,
                dimensions: dimensions.to_vec(),
                activations: vec![1.0; dimensions.len()],
            }],
            dense,
            ..PassageCodes::default()
        }
    }

    fn page(passages: usize) -> Page {
        Page {
            passages: vec![Passage::default(); passages],
            ..Page::default()
        }
    }

    fn codes() -> UhdCodes {
        codes_of(&[page(1), page(2), page(0)])
    }

    fn codes_of(pages: &[Page]) -> UhdCodes {
        let encoded = EncodedPassages {
            dim: 384,
            codes: vec![
                passage(&[7], vector(0)),
                passage(&[8], vector(1)),
                passage(&[9], vector(2)),
            ],
        };
        UhdCodes::new(&encoded, pages, &[1.0])
    }

    fn query(dimension: u32, dense: Vec<f32>) -> EncodedQuery {
        EncodedQuery {
            buckets: vec![vec![(dimension, 1.0), (99, 0.5)]],
            dense,
        }
    }

    #[test]
    fn a_page_has_the_overlap_of_its_best_passage_in_all_buckets() {
        let codes = codes();
        let [first, second, third] = codes.scores(&query(9, vector(2))).try_into().unwrap();
        assert!(second > first + 0.5, "{second} and {first}");
        assert_eq!(third, 0.0, "a page without passages");
        let other = codes.scores(&query(8, vector(2)));
        let neither = codes.scores(&query(7, vector(2)));
        assert!(other[1] < second, "no passage has both");
        assert!(neither[1] < other[1]);
        assert!(neither[0] > first, "its dimension");
    }

    #[test]
    fn a_share_of_a_pages_score_is_the_mean_of_its_passages() {
        let query = query(9, vector(2));
        let alone = codes_of(&[page(1), page(1), page(1)]).scores(&query);
        let together = codes_of(&[page(1), page(2)]).scores(&query);
        let mean = f64::midpoint(alone[1], alone[2]);
        let share = f64::from(MEAN_SHARE);
        let expected = (1.0 - share) * alone[2].max(alone[1]) + share * mean;
        assert!(
            (together[1] - expected).abs() < 1e-4,
            "{together:?} of {alone:?}"
        );
    }

    #[test]
    fn buckets_count_by_their_shares() {
        let two = |first: u32, second: u32| {
            let mut passage = passage(&[first], vector(0));
            let other = self::passage(&[second], Vec::new()).winners;
            passage.winners.extend(other);
            passage
        };
        let encoded = EncodedPassages {
            dim: 384,
            codes: vec![two(7, 9), two(8, 6), two(5, 4)],
        };
        let pages = [page(1), page(1), page(1)];
        let query = EncodedQuery {
            buckets: vec![vec![(7, 1.0)], vec![(6, 1.0)]],
            dense: vector(0),
        };
        let scores = |shares: [f32; 2]| UhdCodes::new(&encoded, &pages, &shares).scores(&query);
        let [first, second, third] = scores([1.0, 0.0]).try_into().unwrap();
        assert!(first > second && (second - third).abs() < 1e-5);
        let [first, second, third] = scores([0.25, 0.75]).try_into().unwrap();
        assert!(second > first && first > third, "{first} {second} {third}");
        let even = scores([0.5, 0.5]);
        assert!((even[0] - even[1]).abs() < 1e-5, "{even:?}");
    }

    #[test]
    fn what_a_query_activates_least_counts_against_a_page() {
        let away = vector(0).iter().map(|x| -x).collect();
        let scores = codes().scores(&query(98, away));
        assert!(scores[0] < 0.0 && scores[0] < scores[1], "{scores:?}");
    }

    #[test]
    fn a_querys_activations_only_rank_its_dimensions() {
        let scores = |activations: [f32; 2]| {
            let mut query = query(9, vector(2));
            query.buckets = vec![[7, 8].into_iter().zip(activations).collect()];
            codes().scores(&query)
        };
        assert_eq!(scores([9.0, 1.0]), scores([3.0, 2.0]));
    }

    #[test]
    fn a_dimension_counts_for_each_code_that_has_it() {
        let weights = [(5, 0.1), (6, 3.0), (7, 2.0), (8, 0.3)];
        let code = overlaid(weights.into_iter(), &[3, 1, 2]);
        assert_eq!(code, [(6, 3.0), (7, 2.0), (8, 1.0)]);
        assert_eq!(overlaid([].into_iter(), &[3]), []);
    }

    #[test]
    fn what_a_query_activates_least_is_its_opposites_most() {
        let code_of = |vector: Vec<f32>| {
            let mut code = query_codes(&query(9, vector)).last().unwrap();
            code.sort_by_key(|(dimension, _)| *dimension);
            code
        };
        let own = code_of(vector(2));
        let opposite = code_of(vector(2).iter().map(|x| -x).collect());
        let negated: Code = opposite
            .into_iter()
            .map(|(at, count)| (at, -count))
            .collect();
        assert_eq!(own, negated);
        let with = |count: f32| own.iter().filter(|(_, of)| *of == count).count();
        // Of 512: 32 in all four codes, 64 more in each that is longer.
        assert_eq!([4.0, 3.0, 2.0, 1.0].map(with), [32, 64, 64, 64]);
        assert_eq!([-4.0, -3.0, -2.0, -1.0].map(with), [32, 64, 64, 64]);
        // A bucket of 1,024 dimensions has more than a passage's code may have.
        assert_eq!(code_of(vec![0.5; 600]).len(), 896);
    }

    #[test]
    fn of_equal_activations_the_rarer_dimensions_are_kept() {
        let all: Vec<u32> = (0..TOKEN_K as u32).collect();
        let codes = [all.as_slice(), &all, &[&all[..], &[500]].concat()]
            .map(|dimensions| passage(dimensions, vector(0)));
        let encoded = EncodedPassages {
            dim: 384,
            codes: codes.to_vec(),
        };
        let [first, _, third] = token_codes(&encoded, 0).try_into().unwrap();
        assert_eq!(first, all);
        assert_eq!(third.len(), TOKEN_K);
        assert_eq!(third.last(), Some(&500));
    }

    #[test]
    fn winners_of_near_vectors_are_the_same_and_of_opposite_ones_others() {
        let own = vector(0);
        let near: Vec<f32> = own
            .iter()
            .zip(0..)
            .map(|(x, i)| x + 0.05 * (i as f32).cos())
            .collect();
        let opposite: Vec<f32> = own.iter().map(|x| -x).collect();
        let winners = |vector: &[f32]| uhd::cut((0..).zip(activations(vector)), POOLED_K);
        let shared = |other: &[f32]| {
            let other = winners(other);
            let own = winners(&own).into_iter();
            own.filter(|dimension| other.contains(dimension)).count()
        };
        assert!(shared(&near) > POOLED_K * 3 / 4);
        assert_eq!(shared(&opposite), 0);
    }

    #[test]
    fn rows_are_of_one_and_minus_one_and_orthogonal() {
        let column = |place: usize| {
            let mut unit = vec![0.0; 384];
            unit[place] = 1.0;
            activations(&unit)
        };
        let (first, second) = (column(0), column(1));
        assert_eq!(first.len(), 512);
        assert!(first.iter().all(|x| x.abs() == 1.0));
        let product: f32 = first.iter().zip(&second).map(|(a, b)| a * b).sum();
        assert_eq!(product, 0.0);
        let negative = (0..384).filter(|&place| is_negative(place)).count();
        assert!((150..234).contains(&negative), "signs: {negative}");
    }

    #[test]
    fn weights_have_the_mean_square_of_their_bucket() {
        let [tokens, pooled]: [Code; 2] = query_codes(&query(9, vector(2)))
            .collect::<Vec<_>>()
            .try_into()
            .unwrap();
        let (tokens, pooled) = (scaled(tokens, 1.0), scaled(pooled, POOLED_WEIGHT));
        let mean_square =
            |code: &Code| code.iter().map(|(_, x)| x * x).sum::<f32>() / code.len() as f32;
        assert!((mean_square(&tokens) - 1.0).abs() < 1e-4);
        assert!((mean_square(&pooled) - POOLED_WEIGHT * POOLED_WEIGHT).abs() < 1e-4);
        assert_eq!(tokens[0].1, tokens[1].1, "both are in all codes");
        assert_eq!(scaled(vec![(1, 0.0)], 1.0), [(1, 0.0)]);
    }

    #[test]
    fn bytes_are_those_of_the_posting_lists() {
        let bytes = codes().bytes_per_passage();
        // At most 97 lists a passage, each with a byte for its length and one for its passages.
        assert!((97.0..=194.0).contains(&bytes), "{bytes}");
    }
}
