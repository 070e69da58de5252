//! Heads without training: where rows come from, weights fixed at 0, bits of a weight.

use anyhow::Result;
use candle_core::Tensor;

use super::super::Lab;
use super::super::codes::TokenWinners;
use super::super::heads::{Start, quantized};
use super::super::result::{Axis, Comparison, Plot, Section, Series, Table};
use crate::init::whitened_head;
use crate::statistics::ByQuery;
use crate::wta::{Head, weight_mask};

pub(super) const STARTS_METHOD: &str = "Heads of the reference's shape that need no gradient step. \
    Samples are token vectors of the training pairs' texts of other collections; the last line samples \
    the passages of the collection itself (no queries, no judgments), as an index could.";
pub(super) const SPARSITY_METHOD: &str = "Heads from whitened samples in which each row lacks a share \
    of its weights, chosen at random and fixed (the mask is laid on before rows are scaled).";
pub(super) const QUANTIZATION_METHOD: &str = "The reference's weight matrix rounded to integers with \
    one scale a row; biases and the network in front of it stay 32-bit floats. Winners in common are \
    those that a token keeps of the unrounded head's.";

pub(super) fn starts(lab: &Lab) -> Result<Vec<Section>> {
    let samples = lab.material.samples(lab.layer())?;
    let mut comparison = Comparison::new(&["rows"]);
    for &seed in &lab.settings.seeds {
        let reference = lab.ranked(&lab.reference_codes(seed)?, &lab.scoring());
        comparison.add(&[Start::WhitenedSamples.name()], reference);
        for start in [
            Start::Samples,
            Start::GaussianWhitened,
            Start::GaussianStandardised,
            Start::Gaussian,
        ] {
            let head = start.head(&samples, lab.shape(), seed)?;
            let coded = lab.codes(&head, lab.layer())?;
            comparison.add(&[start.name()], lab.ranked(&coded, &lab.scoring()));
        }
        comparison.add(
            &["whitened samples of the collection itself"],
            own_samples(lab, seed)?,
        );
    }
    comparison.add(&["dense vectors, cosine"], lab.dense()?);
    let caption = "Where the rows of W come from";
    Ok(vec![Section::Rankings(
        comparison.rankings(caption, lab.settings.seed),
    )])
}

/// Metrics with a head for each collection, sampled from its own passages.
fn own_samples(lab: &Lab, seed: u64) -> Result<ByQuery> {
    let measured = lab.material.measured.iter();
    measured
        .map(|vectors| {
            let sides = vectors.layer(lab.layer())?;
            let head = Start::WhitenedSamples.head(&sides.passages, lab.shape(), seed)?;
            let coded = TokenWinners::of(&head, &sides)?.coded(head.k, vectors);
            Ok(lab.scoring().ranked(&coded, vectors))
        })
        .collect()
}

const SPARSITIES: [f64; 5] = [0.0, 0.5, 0.7, 0.9, 0.95];

pub(super) fn sparsity(lab: &Lab) -> Result<Vec<Section>> {
    let samples = lab.material.samples(lab.layer())?;
    let mut comparison = Comparison::new(&["share of weights at 0"]);
    for &seed in &lab.settings.seeds {
        for sparsity in SPARSITIES {
            let coded = match sparsity {
                0.0 => lab.reference_codes(seed)?,
                _ => lab.codes(&sparse_head(lab, &samples, sparsity, seed)?, lab.layer())?,
            };
            let name = format!("{sparsity}");
            comparison.add(&[&name], lab.ranked(&coded, &lab.scoring()));
        }
    }
    let point = |&sparsity: &f64| Some((sparsity, comparison.percent(&[&format!("{sparsity}")])?));
    let plot = Plot {
        name: "weight-sparsity".to_owned(),
        caption: "nDCG@10 by the share of weights that are fixed at 0".to_owned(),
        x: Axis::linear("share of weights at 0"),
        y: Axis::linear("nDCG@10"),
        series: vec![Series {
            name: "whitened samples".to_owned(),
            points: SPARSITIES.iter().filter_map(point).collect(),
        }],
    };
    let caption = "Weights fixed at 0";
    Ok(vec![
        Section::Plot(plot),
        Section::Rankings(comparison.rankings(caption, lab.settings.seed)),
    ])
}

fn sparse_head(lab: &Lab, samples: &Tensor, sparsity: f64, seed: u64) -> Result<Head> {
    let (n, k) = lab.shape();
    let mask = weight_mask(n, samples.dim(1)?, sparsity, seed)?;
    whitened_head(samples, &mask, k, seed)
}

const BITS: [u32; 3] = [8, 4, 2];

pub(super) fn quantization(lab: &Lab) -> Result<Vec<Section>> {
    let mut comparison = Comparison::new(&["weights"]);
    let mut shared = vec![0.0; BITS.len()];
    for &seed in &lab.settings.seeds {
        let head = lab.reference(seed)?;
        let whole = lab.reference_winners(seed)?;
        let coded = lab.coded(&whole, head.k);
        comparison.add(&["f32"], lab.ranked(&coded, &lab.scoring()));
        for (bits, shared) in BITS.into_iter().zip(&mut shared) {
            let winners = lab.winners(&quantized(&head, bits)?, lab.layer())?;
            *shared += in_common(&whole, &winners) / lab.settings.seeds.len() as f64;
            let coded = lab.coded(&winners, head.k);
            let name = format!("int{bits}");
            comparison.add(&[&name], lab.ranked(&coded, &lab.scoring()));
        }
    }
    let row =
        |(bits, shared): (u32, &f64)| vec![format!("int{bits}"), format!("{:.1}", 100.0 * shared)];
    let table = Table {
        caption: "Winners in common with the f32 head, percent of all".to_owned(),
        columns: vec!["weights".to_owned(), "in common".to_owned()],
        rows: BITS.into_iter().zip(&shared).map(row).collect(),
    };
    let caption = "Bits of the head's weights";
    Ok(vec![
        Section::Rankings(comparison.rankings(caption, lab.settings.seed)),
        Section::Table(table),
    ])
}

/// Share of the passages' winners that both have, token by token.
fn in_common(left: &[TokenWinners], right: &[TokenWinners]) -> f64 {
    let (mut shared, mut all) = (0_usize, 0_usize);
    for (left, right) in left.iter().zip(right) {
        let k = left.passages.k;
        let tokens = left.passages.dimensions.chunks(k);
        for (left, right) in tokens.zip(right.passages.dimensions.chunks(k)) {
            shared += left
                .iter()
                .filter(|dimension| right.contains(dimension))
                .count();
            all += left.len();
        }
    }
    shared as f64 / all.max(1) as f64
}
