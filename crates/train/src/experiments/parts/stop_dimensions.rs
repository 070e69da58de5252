//! Dimensions that nearly every text has, and what is done against them (UHD-BERT, A.2).

use anyhow::Result;

use super::super::Lab;
use super::super::codes::{Code, Coded};
use super::super::heads::Start;
use super::super::ranking::{Rarity, Scoring};
use super::super::result::{Comparison, Section, Table};
use super::super::short_training::{Pairs, settings};
use super::distributions::Frequencies;
use crate::wta::Head;

pub(super) const METHOD: &str = "Heads of half the reference's dimensions from whitened samples and from \
    bare Gaussian rows, trained for {steps} steps of {batch_pairs} pairs as in the part before (InfoNCE and distillation): \
    as they are; with a balanced duty cycle (`fit --duty-cycle`: dimensions that passages have often are held \
    back by so much activation while winners are chosen, others are helped, in training alone); with dimensions \
    weighted by their rarity in the loss, counted while training or learned (`fit --rarity`). Each is ranked by \
    rarity counted among the passages, by none, and by the learned weights where there are some.";

/// Ways to train from whitened samples, whose activations have variance 1: name and options of `fit`.
const OF_SAMPLES: [(&str, &str); 5] = [
    ("as they are", ""),
    ("duty cycle 0.5", "--duty-cycle 0.5"),
    ("duty cycle 2", "--duty-cycle 2"),
    ("rarity counted", "--rarity counted"),
    ("rarity learned", "--rarity learned"),
];
/// The same from Gaussian rows, whose activations vary more.
const OF_GAUSSIAN: [(&str, &str); 5] = [
    ("as they are", ""),
    ("duty cycle 2", "--duty-cycle 2"),
    ("duty cycle 8", "--duty-cycle 8"),
    ("rarity counted", "--rarity counted"),
    ("rarity learned", "--rarity learned"),
];

/// What is found, line by line.
struct Found {
    rankings: Comparison,
    /// How even the first seed's dimensions are.
    frequencies: Vec<Vec<String>>,
}

pub(super) fn run(lab: &Lab) -> Result<Vec<Section>> {
    let mut found = Found {
        rankings: Comparison::new(&["start", "training", "ranked by rarity"]),
        frequencies: Vec::new(),
    };
    for &seed in &lab.settings.seeds {
        let pairs = Pairs::new(lab, &[lab.layer()], seed, usize::MAX)?;
        for (start, trainings) in [
            (Start::WhitenedSamples, OF_SAMPLES),
            (Start::Gaussian, OF_GAUSSIAN),
        ] {
            let (n, k) = lab.shape();
            let samples = lab.material.samples(lab.layer())?;
            let head = start.head(&samples, (n / 2, k), seed * 1_000 + 1)?;
            found.add(lab, [start.name(), "none"], &head)?;
            for (training, options) in trainings {
                crate::say!("  {}, {training}, seed {seed}", start.name());
                let settings = settings(lab, options, seed)?;
                for trained in pairs.train(std::slice::from_ref(&head), &settings)? {
                    found.add(lab, [start.name(), training], &trained)?;
                }
            }
        }
    }
    let columns = ["start", "training"].into_iter();
    let columns = columns.chain(Frequencies::COLUMNS).map(str::to_owned);
    let table = Table {
        caption: format!(
            "Frequencies of the {} dimensions in passages cut to {}, first seed",
            lab.shape().0 / 2,
            lab.settings.passage_k
        ),
        columns: columns.collect(),
        rows: found.frequencies,
    };
    let rankings = found
        .rankings
        .rankings("Trained against stop-dimensions", lab.settings.seed);
    Ok(vec![Section::Rankings(rankings), Section::Table(table)])
}

impl Found {
    fn add(&mut self, lab: &Lab, [start, training]: [&str; 2], head: &Head) -> Result<()> {
        let coded = lab.codes(head, lab.layer())?;
        let learned = head.log_rarity.as_ref();
        let learned = learned.map(|rarity| rarity.to_vec1::<f32>()).transpose()?;
        let mut rarities = vec![("counted", Rarity::Counts), ("none", Rarity::Ignored)];
        rarities.extend(
            learned
                .as_deref()
                .map(|rarity| ("learned", Rarity::Learned(rarity))),
        );
        for (name, rarity) in rarities {
            let scoring = Scoring {
                rarity,
                ..lab.scoring()
            };
            let line = [start, training, name];
            self.rankings.add(&line, lab.ranked(&coded, &scoring));
        }
        let name = [start, training].map(str::to_owned);
        if !self.frequencies.iter().any(|row| row.starts_with(&name)) {
            let cells = frequencies(&coded, lab.settings.passage_k).cells();
            self.frequencies
                .push(name.into_iter().chain(cells).collect());
        }
        Ok(())
    }
}

/// How often passages have each dimension, of the `most` strongest that each keeps.
fn frequencies(coded: &[Coded], most: usize) -> Frequencies {
    let passages = coded.iter().flat_map(|coded| &coded.passages);
    let dimensions = |code: &Code| -> Vec<u32> {
        let kept = code.iter().take(most);
        kept.map(|entry| entry.dimension).collect()
    };
    Frequencies::of(passages.map(dimensions))
}
