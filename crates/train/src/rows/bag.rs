//! Static rows: one vector per word piece, whose sum over a text's pieces predicts the text's
//! sentence vector (minus the mean query vector).
//!
//! The rows start from each piece's own sentence vector, weighted by smoothed inverse frequency
//! (Arora et al. 2017), and learn the direction of the sentence vectors: the loss of a text is
//! `1 − cos(sum, target)` plus a little contrast with the other texts of its batch (InfoNCE).

use anyhow::{Result, ensure};
use rayon::prelude::*;

use super::vector::{Adam, add_scaled, dot, mean_row, normalize, softmax, through_normalize};
use crate::random::Random;

/// Random order of texts, an epoch after the other.
const ORDER_STREAM: u64 = 5_100_000_000;
/// Constant of the smoothed inverse frequency `a / (a + p)`.
const SMOOTHING: f32 = 1e-3;
/// Texts as sets of pieces, with the unit vector that each should point to.
pub struct Texts<'a> {
    /// Unique pieces of each text, special tokens left out.
    pub pieces: &'a [Vec<u32>],
    /// `[texts, dim]`, unit length.
    pub targets: &'a [f32],
}

/// How to train.
#[derive(Clone, Debug)]
pub struct Options {
    /// Times that every text is seen. Default 8.
    pub epochs: usize,
    /// Texts a step; each is contrasted with the others. Default 256.
    pub batch: usize,
    /// Adam's rate at the first step; it falls linearly to zero.
    pub learning_rate: f32,
    /// Weight of the contrast against the cosine.
    pub contrast: f32,
    /// Temperature of the contrast.
    pub temperature: f32,
    /// Seed of the texts' order.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            epochs: 8,
            batch: 256,
            learning_rate: 2e-3,
            contrast: 0.05,
            temperature: 0.05,
            seed: 1,
        }
    }
}

/// Times that each of `vocabulary` pieces occurs in texts.
pub fn occurrences(pieces: &[Vec<u32>], vocabulary: usize) -> Vec<u32> {
    let mut counts = vec![0u32; vocabulary];
    for piece in pieces.iter().flatten() {
        if let Some(count) = counts.get_mut(*piece as usize) {
            *count += 1;
        }
    }
    counts
}

/// `starts` (`[pieces, dim]`), each times its piece's smoothed inverse frequency.
pub fn weighted(starts: &[f32], occurrences: &[u32], dim: usize) -> Vec<f32> {
    let total = occurrences
        .iter()
        .map(|count| *count as f32)
        .sum::<f32>()
        .max(1.0);
    let rows = starts.chunks(dim).zip(occurrences);
    rows.flat_map(|(row, count)| {
        let weight = SMOOTHING / (SMOOTHING + *count as f32 / total);
        row.iter().map(move |x| weight * x)
    })
    .collect()
}

/// Sum of the rows of `pieces`: `[dim]`.
pub fn sum(rows: &[f32], dim: usize, pieces: &[u32]) -> Vec<f32> {
    let mut sum = vec![0f32; dim];
    for piece in pieces {
        if let Some(row) = row(rows, dim, *piece) {
            add_scaled(&mut sum, 1.0, row);
        }
    }
    sum
}

fn row(rows: &[f32], dim: usize, piece: u32) -> Option<&[f32]> {
    let begin = piece as usize * dim;
    rows.get(begin..begin + dim)
}

/// Mean cosine between the sums and the targets of `texts`.
pub fn mean_cosine(rows: &[f32], dim: usize, texts: &Texts) -> f32 {
    let pairs = texts.pieces.par_iter().zip(texts.targets.par_chunks(dim));
    let cosine = |(pieces, target): (&Vec<u32>, &[f32])| {
        let mut predicted = sum(rows, dim, pieces);
        normalize(&mut predicted);
        dot(&predicted, target)
    };
    // Added in order, so that what a manifest says of it is the same each time.
    let cosines: Vec<f32> = pairs.map(cosine).collect();
    cosines.iter().sum::<f32>() / texts.pieces.len().max(1) as f32
}

/// Trains `rows` (`[pieces, dim]`) in place; `after_epoch` is told the epoch's number and may look
/// at the rows. Rows of pieces that occur in no text stay as they are.
///
/// # Errors
/// When texts and targets do not fit each other.
pub fn train(
    rows: &mut [f32],
    dim: usize,
    texts: &Texts,
    options: &Options,
    mut after_epoch: impl FnMut(usize, &[f32]),
) -> Result<()> {
    let count = texts.pieces.len();
    ensure!(
        count * dim == texts.targets.len(),
        "{count} texts, {} target values",
        texts.targets.len()
    );
    let mut trainer = Trainer::new(rows, dim, texts, options);
    for epoch in 0..options.epochs {
        trainer.epoch(epoch);
        after_epoch(epoch, trainer.rows);
    }
    Ok(())
}

/// The state of one training run.
struct Trainer<'a> {
    rows: &'a mut [f32],
    dim: usize,
    texts: &'a Texts<'a>,
    options: &'a Options,
    adam: Adam,
    /// `[pieces, dim]`, zero outside a step.
    gradient: Vec<f32>,
    order: Vec<usize>,
    random: Random,
}

impl<'a> Trainer<'a> {
    fn new(rows: &'a mut [f32], dim: usize, texts: &'a Texts<'a>, options: &'a Options) -> Self {
        let adam = Adam::new(rows.len() / dim, dim);
        let gradient = vec![0f32; rows.len()];
        let order = (0..texts.pieces.len())
            .filter(|text| texts.pieces.get(*text).is_some_and(|p| !p.is_empty()));
        Self {
            adam,
            gradient,
            order: order.collect(),
            random: Random::new(options.seed, ORDER_STREAM),
            rows,
            dim,
            texts,
            options,
        }
    }

    fn epoch(&mut self, epoch: usize) {
        let mut order = std::mem::take(&mut self.order);
        self.random.shuffle(&mut order);
        let steps = order.len().div_ceil(self.options.batch).max(1);
        let all_steps = (steps * self.options.epochs) as f32;
        for (step, batch) in order.chunks(self.options.batch).enumerate() {
            let done = (epoch * steps + step) as f32 / all_steps;
            self.step(batch, self.options.learning_rate * (1.0 - done));
        }
        self.order = order;
    }

    fn step(&mut self, batch: &[usize], rate: f32) {
        let gradients = batch_gradients(self.rows, self.dim, self.texts, batch, self.options);
        let mut touched = Vec::new();
        for (pieces, gradient) in batch
            .iter()
            .filter_map(|text| self.texts.pieces.get(*text))
            .zip(&gradients)
        {
            for piece in pieces {
                let begin = *piece as usize * self.dim;
                if let Some(sum) = self.gradient.get_mut(begin..begin + self.dim) {
                    add_scaled(sum, 1.0, gradient);
                    touched.push(*piece as usize);
                }
            }
        }
        touched.sort_unstable();
        touched.dedup();
        for piece in touched {
            let range = piece * self.dim..(piece + 1) * self.dim;
            if let (Some(row), Some(gradient)) = (
                self.rows.get_mut(range.clone()),
                self.gradient.get_mut(range),
            ) {
                self.adam.update(piece, row, gradient, rate);
                gradient.fill(0.0);
            }
        }
    }
}

/// Gradient of the batch's summed loss with respect to each text's sum of rows.
fn batch_gradients(
    rows: &[f32],
    dim: usize,
    texts: &Texts,
    batch: &[usize],
    options: &Options,
) -> Vec<Vec<f32>> {
    let targets: Vec<&[f32]> = batch
        .iter()
        .filter_map(|text| texts.targets.get(text * dim..(text + 1) * dim))
        .collect();
    let pieces: Vec<&Vec<u32>> = batch
        .iter()
        .filter_map(|text| texts.pieces.get(*text))
        .collect();
    let one = |(own, pieces): (usize, &&Vec<u32>)| {
        let mut unit = sum(rows, dim, pieces);
        let length = normalize(&mut unit);
        let gradient = unit_gradient(&unit, &targets, own, options);
        through_normalize(&gradient, &unit, length)
    };
    pieces.par_iter().enumerate().map(one).collect()
}

/// Gradient of `−u·t_own + contrast · (−ln softmax_j(u·t_j / temperature)[own])` for unit `u`.
fn unit_gradient(unit: &[f32], targets: &[&[f32]], own: usize, options: &Options) -> Vec<f32> {
    let mut gradient = vec![0f32; unit.len()];
    let strength = options.contrast / options.temperature;
    if strength > 0.0 {
        let mut shares: Vec<f32> = targets
            .iter()
            .map(|target| dot(unit, target) / options.temperature)
            .collect();
        softmax(&mut shares);
        for (share, target) in shares
            .iter()
            .zip(targets)
            .filter(|(share, _)| **share > 1e-4)
        {
            add_scaled(&mut gradient, strength * share, target);
        }
    }
    if let Some(target) = targets.get(own) {
        add_scaled(&mut gradient, -1.0 - strength, target);
    }
    gradient
}

/// Unit vectors of `vectors` minus `mean`: what the sums of rows should point to. Both by rows of
/// `mean.len()` values; `vectors` are made unit length first.
pub fn targets(vectors: &[f32], mean: &[f32]) -> Vec<f32> {
    let mut targets = vectors.to_vec();
    targets.par_chunks_mut(mean.len()).for_each(|target| {
        add_scaled(target, -1.0, mean);
        normalize(target);
    });
    targets
}

/// Mean of unit vectors, `[dim]`.
pub fn mean(vectors: &[f32], dim: usize) -> Vec<f32> {
    mean_row(vectors.chunks(dim), dim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::vector::norm;

    const DIM: usize = 8;

    /// Rows of six pieces, and texts whose targets are the unit sums of other, hidden rows.
    fn toy() -> (Vec<f32>, Vec<Vec<u32>>, Vec<f32>) {
        let value = |i: usize, phase: f32| (i as f32 * 1.7 + phase).sin();
        let start: Vec<f32> = (0..6 * DIM).map(|i| value(i, 0.0)).collect();
        let hidden: Vec<f32> = (0..6 * DIM).map(|i| value(i, 0.9)).collect();
        let pieces: Vec<Vec<u32>> = (0..5u32)
            .flat_map(|a| (a + 1..5).map(move |b| vec![a, b]))
            .collect();
        let targets = pieces.iter().flat_map(|pieces| {
            let mut target = sum(&hidden, DIM, pieces);
            normalize(&mut target);
            target
        });
        let targets = targets.collect();
        (start, pieces, targets)
    }

    fn loss(rows: &[f32], texts: &Texts, batch: &[usize], options: &Options) -> f32 {
        let targets: Vec<&[f32]> = batch
            .iter()
            .map(|text| &texts.targets[text * DIM..(text + 1) * DIM])
            .collect();
        let of = |(own, text): (usize, &usize)| {
            let mut unit = sum(rows, DIM, &texts.pieces[*text]);
            normalize(&mut unit);
            let mut shares: Vec<f32> = targets
                .iter()
                .map(|t| dot(&unit, t) / options.temperature)
                .collect();
            softmax(&mut shares);
            -dot(&unit, targets[own]) - options.contrast * shares[own].ln()
        };
        batch.iter().enumerate().map(of).sum()
    }

    #[test]
    fn gradient_agrees_with_finite_differences() {
        let (rows, pieces, targets) = toy();
        let texts = Texts {
            pieces: &pieces,
            targets: &targets,
        };
        let options = Options {
            contrast: 0.5,
            temperature: 0.5,
            ..Options::default()
        };
        let batch = [0, 3, 7];
        let gradients = batch_gradients(&rows, DIM, &texts, &batch, &options);
        let piece = 1usize; // in text 0, and in no other of the batch but 4..7
        let mut wanted = vec![0f32; DIM];
        for (text, gradient) in batch.iter().zip(&gradients) {
            if pieces[*text].contains(&(piece as u32)) {
                add_scaled(&mut wanted, 1.0, gradient);
            }
        }
        assert!(norm(&wanted) > 1e-2);
        for (i, wanted) in wanted.iter().enumerate() {
            let moved = |step: f32| {
                let mut rows = rows.clone();
                rows[piece * DIM + i] += step;
                loss(&rows, &texts, &batch, &options)
            };
            let difference = (moved(1e-2) - moved(-1e-2)) / 2e-2;
            assert!((difference - wanted).abs() < 2e-3, "{difference} {wanted}");
        }
    }

    #[test]
    fn training_turns_the_sums_towards_the_targets() {
        let (mut rows, pieces, targets) = toy();
        let texts = Texts {
            pieces: &pieces,
            targets: &targets,
        };
        let before = mean_cosine(&rows, DIM, &texts);
        let options = Options {
            epochs: 200,
            batch: 4,
            learning_rate: 0.02,
            ..Options::default()
        };
        train(&mut rows, DIM, &texts, &options, |_, _| {}).unwrap();
        let after = mean_cosine(&rows, DIM, &texts);
        assert!(before < 0.8 && after > 0.98, "{before} {after}");
    }

    #[test]
    fn frequent_pieces_start_small() {
        let rows = weighted(&[1.0, 0.0, 1.0, 0.0], &[1000, 0], 2);
        assert!(rows[0] < 0.01);
        assert_eq!(rows[2], 1.0);
    }
}
