//! Attention pooling of passages: `p = Σ_t softmax(x_t · a + b[piece_t]) x_t`, unit length,
//! trained so that the network's query vectors find their passages.
//!
//! Both sides are centred: queries on the mean query, passages on the mean passage of their
//! collection. The loss is InfoNCE over a batch of pairs of one collection, since the passages of
//! one site are what a query must tell apart.

use half::f16;
use rayon::prelude::*;

use super::ranking::{Collections, centre};
use super::vector::{Adam, add_scaled, dot, normalize, softmax, through_normalize, widen};
use crate::random::Random;

/// Random order of pairs.
const POOLING_STREAM: u64 = 5_200_000_000;

/// What is learnt: the attention vector `a` (`[dim]`) and the bias `b` (`[pieces]`). Zeros give
/// the plain mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Pooling {
    /// `[dim]`.
    pub attention: Vec<f32>,
    /// `[pieces]`.
    pub bias: Vec<f32>,
}

/// Passages as token vectors.
pub struct Passages<'a> {
    /// Pieces of each passage, special tokens included.
    pub pieces: &'a [Vec<u32>],
    /// Row in `hidden` at which each passage begins.
    pub offsets: &'a [usize],
    /// `[tokens of all passages, dim]`.
    pub hidden: &'a [f16],
    /// Width of a token vector.
    pub dim: usize,
}

/// A query vector (centred, unit length) and the passage that answers it.
#[derive(Clone, Copy)]
pub struct Pair<'a> {
    /// `[dim]`.
    pub query: &'a [f32],
    /// Index of the passage.
    pub passage: usize,
    /// Collection of both.
    pub collection: usize,
}

/// How to train.
#[derive(Clone, Debug)]
pub struct Options {
    /// Times that every pair is seen. Default 6.
    pub epochs: usize,
    /// Pairs a step. Default 128.
    pub batch: usize,
    /// Adam's rate of the attention vector at the first step; it falls linearly to zero.
    pub attention_rate: f32,
    /// The same of the bias.
    pub bias_rate: f32,
    /// Pull of the bias towards zero, as a gradient per unit of bias.
    pub bias_decay: f32,
    /// Temperature of the loss.
    pub temperature: f32,
    /// Seed of the pairs' order.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            epochs: 6,
            batch: 128,
            attention_rate: 0.01,
            bias_rate: 0.03,
            bias_decay: 1e-3,
            temperature: 0.05,
            seed: 1,
        }
    }
}

impl Pooling {
    /// The plain mean: zeros for `pieces` pieces.
    pub fn plain(dim: usize, pieces: usize) -> Self {
        Self {
            attention: vec![0.0; dim],
            bias: vec![0.0; pieces],
        }
    }
}

impl Passages<'_> {
    /// Token vectors of a passage, `[tokens, dim]`, and its pieces.
    fn tokens(&self, passage: usize) -> (Vec<f32>, &[u32]) {
        let pieces = self.pieces.get(passage).map_or(&[][..], Vec::as_slice);
        let begin = self.offsets.get(passage).copied().unwrap_or(0) * self.dim;
        let hidden = self
            .hidden
            .get(begin..begin + pieces.len() * self.dim)
            .unwrap_or(&[]);
        (widen(hidden), pieces)
    }

    /// Pooled vectors of all passages: `[passages, dim]`, unit length.
    pub fn pool(&self, pooling: &Pooling) -> Vec<f32> {
        let one = |passage| {
            let (hidden, pieces) = self.tokens(passage);
            pool(&hidden, pieces, pooling).unit
        };
        let rows: Vec<Vec<f32>> = (0..self.pieces.len()).into_par_iter().map(one).collect();
        rows.concat()
    }
}

/// A pooled passage, with what its gradient needs.
struct Pooled {
    /// Attention of each token, summing to 1.
    shares: Vec<f32>,
    unit: Vec<f32>,
    /// Length before normalisation.
    length: f32,
}

fn pool(hidden: &[f32], pieces: &[u32], pooling: &Pooling) -> Pooled {
    let dim = pooling.attention.len();
    let bias = |piece: &u32| pooling.bias.get(*piece as usize).copied().unwrap_or(0.0);
    let logit = |(token, piece): (&[f32], &u32)| dot(token, &pooling.attention) + bias(piece);
    let mut shares: Vec<f32> = hidden.chunks(dim).zip(pieces).map(logit).collect();
    softmax(&mut shares);
    let mut unit = vec![0f32; dim];
    for (token, share) in hidden.chunks(dim).zip(&shares) {
        add_scaled(&mut unit, *share, token);
    }
    let length = normalize(&mut unit);
    Pooled {
        shares,
        unit,
        length,
    }
}

/// Gradient for one passage's parameters.
#[derive(Default)]
struct PassageGradient {
    attention: Vec<f32>,
    /// `(piece, gradient)` per token.
    bias: Vec<(u32, f32)>,
    loss: f32,
}

/// Gradient with respect to attention and bias, given the one of the unit vector.
fn pool_gradient(
    hidden: &[f32],
    pieces: &[u32],
    pooled: &Pooled,
    outer: &[f32],
) -> PassageGradient {
    let dim = pooled.unit.len();
    let inner = through_normalize(outer, &pooled.unit, pooled.length);
    let by_share: Vec<f32> = hidden.chunks(dim).map(|token| dot(token, &inner)).collect();
    let mean = dot(&by_share, &pooled.shares);
    let mut attention = vec![0f32; dim];
    let mut bias = Vec::with_capacity(pieces.len());
    let tokens = hidden
        .chunks(dim)
        .zip(pieces)
        .zip(pooled.shares.iter().zip(&by_share));
    for ((token, piece), (share, value)) in tokens {
        let logit = share * (value - mean);
        add_scaled(&mut attention, logit, token);
        bias.push((*piece, logit));
    }
    PassageGradient {
        attention,
        bias,
        loss: 0.0,
    }
}

/// Gradient of a batch's mean InfoNCE loss, and the loss itself.
fn batch_gradient(
    passages: &Passages,
    batch: &[&Pair],
    mean: &[f32],
    pooling: &Pooling,
    temperature: f32,
) -> PassageGradient {
    let tokens: Vec<_> = batch
        .par_iter()
        .map(|pair| passages.tokens(pair.passage))
        .collect();
    let pooled: Vec<Pooled> = tokens
        .par_iter()
        .map(|(hidden, pieces)| pool(hidden, pieces, pooling))
        .collect();
    let centred: Vec<(Vec<f32>, f32)> = pooled.iter().map(|p| centre(&p.unit, mean)).collect();
    let shares: Vec<Vec<f32>> = batch
        .par_iter()
        .map(|pair| shares(pair, batch, &centred, temperature))
        .collect();

    let one = |column: usize| {
        let ((hidden, pieces), pooled, (unit, length)) = (
            tokens.get(column)?,
            pooled.get(column)?,
            centred.get(column)?,
        );
        let mut outer = vec![0f32; unit.len()];
        for (row, (pair, shares)) in batch.iter().zip(&shares).enumerate() {
            let wanted = if row == column { 1.0 } else { 0.0 };
            let scale = (shares.get(column)? - wanted) / (temperature * batch.len() as f32);
            add_scaled(&mut outer, scale, pair.query);
        }
        let outer = through_normalize(&outer, unit, *length);
        let mut gradient = pool_gradient(hidden, pieces, pooled, &outer);
        gradient.loss =
            -shares.get(column)?.get(column)?.max(f32::MIN_POSITIVE).ln() / batch.len() as f32;
        Some(gradient)
    };
    let parts: Vec<PassageGradient> = (0..batch.len()).into_par_iter().filter_map(one).collect();
    add_up(parts, mean.len())
}

fn add_up(parts: Vec<PassageGradient>, dim: usize) -> PassageGradient {
    let mut total = PassageGradient {
        attention: vec![0f32; dim],
        ..PassageGradient::default()
    };
    for part in parts {
        add_scaled(&mut total.attention, 1.0, &part.attention);
        total.bias.extend(part.bias);
        total.loss += part.loss;
    }
    total
}

/// Softmax of a query's similarities to the batch's passages; other copies of its own passage get
/// no share.
fn shares(pair: &Pair, batch: &[&Pair], centred: &[(Vec<f32>, f32)], temperature: f32) -> Vec<f32> {
    let logit = |(other, (unit, _)): (&&Pair, &(Vec<f32>, f32))| {
        let copy = other.passage == pair.passage && !std::ptr::eq(*other, pair);
        if copy {
            f32::NEG_INFINITY
        } else {
            dot(pair.query, unit) / temperature
        }
    };
    let mut shares: Vec<f32> = batch.iter().zip(centred).map(logit).collect();
    softmax(&mut shares);
    shares
}

/// Trains attention and bias from zero on `pairs`; `pieces` is the size of the vocabulary,
/// `collections` say on which mean a passage is centred, and `after_epoch` is told epoch, mean loss and what is learnt so far.
pub fn train(
    passages: &Passages,
    collections: &Collections,
    pairs: &[Pair],
    pieces: usize,
    options: &Options,
    mut after_epoch: impl FnMut(usize, f32, &Pooling),
) -> Pooling {
    let mut pooling = Pooling::plain(passages.dim, pieces);
    let mut attention_adam = Adam::new(1, passages.dim);
    let mut bias_adam = Adam::new(pieces, 1);
    let mut random = Random::new(options.seed, POOLING_STREAM);
    for epoch in 0..options.epochs {
        let means = collections.means(&passages.pool(&pooling), passages.dim);
        let batches = batches(pairs, options.batch, &mut random);
        let mut loss = 0.0;
        for (step, batch) in batches.iter().enumerate() {
            let done = (epoch as f32 + step as f32 / batches.len() as f32) / options.epochs as f32;
            let Some(mean) = batch.first().and_then(|pair| means.get(pair.collection)) else {
                continue;
            };
            let gradient = batch_gradient(passages, batch, mean, &pooling, options.temperature);
            loss += gradient.loss;
            attention_adam.update(
                0,
                &mut pooling.attention,
                &gradient.attention,
                options.attention_rate * (1.0 - done),
            );
            update_bias(
                &mut pooling.bias,
                gradient.bias,
                &mut bias_adam,
                options,
                1.0 - done,
            );
        }
        after_epoch(epoch, loss / batches.len().max(1) as f32, &pooling);
    }
    pooling
}

fn update_bias(
    bias: &mut [f32],
    mut gradient: Vec<(u32, f32)>,
    adam: &mut Adam,
    options: &Options,
    remaining: f32,
) {
    gradient.sort_by_key(|(piece, _)| *piece);
    for group in gradient.chunk_by(|(a, _), (b, _)| a == b) {
        let Some(piece) = group.first().map(|(piece, _)| *piece as usize) else {
            continue;
        };
        if let Some(value) = bias.get_mut(piece) {
            let sum = group.iter().map(|(_, g)| g).sum::<f32>() + options.bias_decay * *value;
            adam.update(
                piece,
                std::slice::from_mut(value),
                &[sum],
                options.bias_rate * remaining,
            );
        }
    }
}

/// Pairs in random order, each batch from one collection; batches of one pair are left out.
fn batches<'a, 'b>(
    pairs: &'a [Pair<'b>],
    size: usize,
    random: &mut Random,
) -> Vec<Vec<&'a Pair<'b>>> {
    let mut shuffled: Vec<&Pair> = pairs.iter().collect();
    random.shuffle(&mut shuffled);
    shuffled.sort_by_key(|pair| pair.collection);
    let mut batches: Vec<Vec<&Pair>> = shuffled
        .chunk_by(|a, b| a.collection == b.collection)
        .flat_map(|group| group.chunks(size).map(<[_]>::to_vec))
        .filter(|batch| batch.len() > 1)
        .collect();
    random.shuffle(&mut batches);
    batches
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::ranking::rank;

    const DIM: usize = 6;
    const PIECES: usize = 8;

    /// Twelve passages of four tokens: token 1 of each carries its own direction, the rest is
    /// noise of the other pieces.
    struct Toy {
        pieces: Vec<Vec<u32>>,
        offsets: Vec<usize>,
        hidden: Vec<f16>,
        queries: Vec<Vec<f32>>,
    }

    fn toy() -> Toy {
        let wave = |i: usize| ((i * i) as f32 * 0.37 + i as f32).sin();
        let hidden: Vec<f32> = (0..12 * 4 * DIM).map(wave).collect();
        let queries = (0..12).map(|passage| {
            let begin = (passage * 4 + 1) * DIM;
            let mut query = hidden[begin..begin + DIM].to_vec();
            normalize(&mut query);
            query
        });
        Toy {
            pieces: (0..12)
                .map(|passage| vec![0, 1, 2 + passage % 3, 5 + passage % 3])
                .collect(),
            offsets: (0..12).map(|passage| passage * 4).collect(),
            queries: queries.collect(),
            hidden: hidden.iter().map(|x| f16::from_f32(*x)).collect(),
        }
    }

    impl Toy {
        fn passages(&self) -> Passages<'_> {
            Passages {
                pieces: &self.pieces,
                offsets: &self.offsets,
                hidden: &self.hidden,
                dim: DIM,
            }
        }

        fn pairs(&self) -> Vec<Pair<'_>> {
            self.queries
                .iter()
                .enumerate()
                .map(|(passage, query)| Pair {
                    query,
                    passage,
                    collection: passage % 2,
                })
                .collect()
        }
    }

    #[test]
    fn gradient_agrees_with_finite_differences() {
        let toy = toy();
        let (passages, pairs) = (toy.passages(), toy.pairs());
        let batch: Vec<&Pair> = pairs.iter().filter(|pair| pair.collection == 0).collect();
        let mean = [0.1, -0.05, 0.0, 0.02, 0.1, -0.1];
        let wave = |i: usize| (i as f32 * 2.3).cos() * 0.4;
        let pooling = Pooling {
            attention: (0..DIM).map(wave).collect(),
            bias: (0..PIECES).map(wave).collect(),
        };
        let loss = |pooling: &Pooling| batch_gradient(&passages, &batch, &mean, pooling, 0.5).loss;
        let gradient = batch_gradient(&passages, &batch, &mean, &pooling, 0.5);
        for i in 0..DIM {
            let (mut up, mut down) = (pooling.clone(), pooling.clone());
            up.attention[i] += 1e-2;
            down.attention[i] -= 1e-2;
            let difference = (loss(&up) - loss(&down)) / 2e-2;
            assert!(
                (difference - gradient.attention[i]).abs() < 1e-3,
                "{difference} {}",
                gradient.attention[i]
            );
        }
        for i in 0..PIECES {
            let (mut up, mut down) = (pooling.clone(), pooling.clone());
            up.bias[i] += 1e-2;
            down.bias[i] -= 1e-2;
            let difference = (loss(&up) - loss(&down)) / 2e-2;
            let wanted: f32 = gradient
                .bias
                .iter()
                .filter(|(piece, _)| *piece == i as u32)
                .map(|(_, g)| g)
                .sum();
            assert!((difference - wanted).abs() < 1e-3, "{difference} {wanted}");
        }
    }

    #[test]
    fn training_finds_the_piece_that_matters() {
        let toy = toy();
        let (passages, pairs) = (toy.passages(), toy.pairs());
        let plain = Pooling::plain(DIM, PIECES);
        let options = Options {
            epochs: 60,
            bias_rate: 0.1,
            temperature: 0.3,
            ..Options::default()
        };
        let collections = Collections::of(&pairs, 12);
        let trained = train(
            &passages,
            &collections,
            &pairs,
            PIECES,
            &options,
            |_, _, _| {},
        );
        let largest = trained
            .bias
            .iter()
            .copied()
            .fold(f32::NEG_INFINITY, f32::max);
        assert_eq!(trained.bias[1], largest, "{:?}", trained.bias);
        let mrr = |pooling| rank(&passages, &collections, &pairs, pooling).float_mrr;
        assert!(mrr(&trained) > mrr(&plain));
    }

    #[test]
    fn zeros_pool_to_the_mean() {
        let pooling = Pooling {
            attention: vec![0.0; 2],
            bias: vec![0.0; 3],
        };
        let pooled = pool(&[3.0, 0.0, 0.0, 4.0], &[1, 2], &pooling);
        assert!((pooled.unit[0] - 0.6).abs() < 1e-6 && (pooled.unit[1] - 0.8).abs() < 1e-6);
    }
}
