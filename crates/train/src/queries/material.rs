//! What a collection gives: its passages' one-bit codes as an index has them, what words say, and queries.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Result, ensure};
use candle_core::{Device, Tensor};
use rayon::prelude::*;
use siskin_core::bm25::Bm25;
use siskin_core::encoded::Encode as _;
use siskin_core::manifest::Ranking;
use siskin_core::rows::PassagePooling;
use siskin_encoder::{Encoder, passage_pool, span_pool};

use super::Settings;
use crate::collection::Collection;
use crate::fit::words::standardised;
use crate::random::Random;
use crate::rows::progress;
use crate::rows::vector::mean_row;

/// Random choices of queries, passages and held-out queries.
const CHOICE_STREAM: u64 = 4_100_000_000;

/// A query with what is known of it.
pub struct Query {
    /// Word pieces.
    pub pieces: Vec<u32>,
    /// Relevant passages.
    pub relevant: Vec<usize>,
    /// z-scores of all passages by words.
    pub words: Vec<f32>,
}

/// One collection.
pub struct Material {
    /// The folder's name.
    pub name: String,
    /// `[units, dim]`, ±1 / √dim: of each passage the whole and, where it has several, its spans.
    pub codes: Tensor,
    /// Units up to each passage's end.
    pub ends: Vec<usize>,
    /// All queries chosen.
    pub queries: Vec<Query>,
    /// Places of those for training, …
    pub training: Vec<usize>,
    /// … and of those held out.
    pub held_out: Vec<usize>,
}

impl Material {
    /// Reads the collection in `folder` and sees its passages by `encoder`.
    ///
    /// # Errors
    /// When a file is malformed, the collection has no training judgments, or the network fails.
    pub fn read(folder: &Path, encoder: &Encoder, settings: &Settings) -> Result<Self> {
        let collection = Collection::read_and_report(folder)?;
        ensure!(
            collection.pairs.len() > 1,
            "{} has fewer than two training judgments in qrels/train.tsv",
            folder.display()
        );
        let mut random = Random::new(settings.seed, CHOICE_STREAM);
        let asked = asked(&collection, settings, &mut random);
        let passages = chosen(&collection, &asked, settings, &mut random);
        let texts: Vec<&str> = passages
            .iter()
            .map(|&at| collection.passages[at].as_str())
            .collect();
        let (codes, ends) = codes(&collection.name, &texts, encoder)?;
        let bm25 = Bm25::new(&texts);
        let place: BTreeMap<usize, usize> = passages.iter().copied().zip(0..).collect();
        let queries = asked.par_iter().map(|(query, relevant)| {
            let text = collection.queries[*query].as_str();
            Ok(Query {
                pieces: encoder
                    .pieces(text)?
                    .iter()
                    .map(|piece| piece.index() as u32)
                    .collect(),
                relevant: relevant.iter().map(|passage| place[passage]).collect(),
                words: by_words(&bm25, text),
            })
        });
        let queries: Vec<Query> = queries.collect::<Result<_>>()?;
        let mut order: Vec<usize> = (0..queries.len()).collect();
        random.shuffle(&mut order);
        let held_out = order.split_off(order.len() - settings.held_out.min(order.len() / 10));
        Ok(Self {
            name: collection.name,
            codes,
            ends,
            queries,
            training: order,
            held_out,
        })
    }

    /// Different training queries for a step.
    pub fn batch(&self, size: usize, random: &mut Random) -> Vec<usize> {
        let mut batch = self.training.clone();
        random.shuffle(&mut batch);
        batch.truncate(size);
        batch
    }
}

/// Queries with training judgments and their relevant passages, at most as many as wanted.
fn asked(
    collection: &Collection,
    settings: &Settings,
    random: &mut Random,
) -> Vec<(usize, BTreeSet<usize>)> {
    let mut relevant: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for pair in &collection.pairs {
        relevant.entry(pair.query).or_default().insert(pair.passage);
    }
    let mut asked: Vec<_> = relevant.into_iter().collect();
    random.shuffle(&mut asked);
    asked.truncate(settings.queries);
    asked
}

/// Passages that `asked` asks for, and others up to the number wanted; in the collection's order.
fn chosen(
    collection: &Collection,
    asked: &[(usize, BTreeSet<usize>)],
    settings: &Settings,
    random: &mut Random,
) -> Vec<usize> {
    let mut chosen: BTreeSet<usize> = asked.iter().flat_map(|(_, r)| r).copied().collect();
    let mut others: Vec<usize> = (0..collection.passages.len())
        .filter(|passage| !chosen.contains(passage))
        .collect();
    random.shuffle(&mut others);
    others.truncate(settings.passages.saturating_sub(chosen.len()));
    chosen.extend(others);
    chosen.into_iter().collect()
}

/// Codes of the passages' units, and the units up to each passage's end.
fn codes(name: &str, texts: &[&str], encoder: &Encoder) -> Result<(Tensor, Vec<usize>)> {
    let dim = encoder.manifest().dim;
    let pooling = encoder.passage_pooling()?;
    let bar = progress(name, texts.len() as u64)?;
    let units = texts.par_iter().map(|text| {
        let units = units(encoder, text, &pooling)?;
        bar.inc(1);
        Ok::<_, anyhow::Error>(units)
    });
    let units: Vec<Vec<f32>> = units.collect::<Result<_>>()?;
    bar.finish();
    let wholes: Vec<f32> = units
        .iter()
        .flat_map(|units| &units[..dim])
        .copied()
        .collect();
    let mean = mean_row(wholes.chunks(dim), dim);
    let bit = 1.0 / (dim as f32).sqrt();
    let sign = |(value, mean): (&f32, &f32)| if value > mean { bit } else { -bit };
    let signs: Vec<f32> = units
        .iter()
        .flatten()
        .zip(mean.iter().cycle())
        .map(sign)
        .collect();
    let mut end = 0;
    let ends = units.iter().map(|units| {
        end += units.len() / dim;
        end
    });
    let ends: Vec<usize> = ends.collect();
    Ok((Tensor::from_vec(signs, (end, dim), &Device::Cpu)?, ends))
}

/// Vectors of a passage as a whole and of its spans: `[units, dim]`.
fn units(encoder: &Encoder, text: &str, pooling: &PassagePooling) -> Result<Vec<f32>> {
    let encoded = encoder.encode(text)?;
    let mut units = passage_pool(&encoded, pooling);
    let spans = span_pool(&encoded);
    if spans.len() > units.len() {
        units.extend(spans);
    }
    Ok(units)
}

/// z-scores of all passages by words, as an index has them: the deviation is at least that of a page and a half with
/// all words of the query (docs/ranking.md).
fn by_words(bm25: &Bm25, query: &str) -> Vec<f32> {
    let scores = bm25.scores(query);
    let least = Ranking::default().full.least_share(scores.len());
    standardised(&scores, bm25.ideal(query) * f64::from(least).sqrt())
}
