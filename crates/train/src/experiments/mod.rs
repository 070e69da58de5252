//! The `experiments` step: what the choices of UHD-BERT are worth, on token vectors of the frozen
//! network that are computed once.
//!
//! Data flows one way: [`cache`] (token vectors) → [`heads`] (→ `short_training`) → [`codes`] → [`ranking`] →
//! [`crate::statistics`] → [`result`] (a JSON file a part) → [`plot`] and [`page`]. Each of [`parts`] is run
//! alone and not again while its file is of the same inputs, so a run goes on where it stopped.
//!
//! Rankings are always by codes alone, of all passages chosen from a collection; words, windows and
//! fusion are the index's and are measured by `siskin eval`.

pub mod cache;
pub mod codes;
pub mod heads;
pub mod material;
pub mod page;
pub mod parts;
pub mod plot;
pub mod ranking;
pub mod result;
mod short_training;

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

use anyhow::{Context, Result, ensure};
use candle_core::{Device, Tensor};
use siskin_core::container::sha256_hex;

use crate::base::Base;
use crate::statistics::ByQuery;
use crate::wta::Head;
use cache::Vectors;
use codes::{Coded, TokenWinners};
use heads::Start;
use material::{Choice, Material};
use parts::Part;
use ranking::Scoring;
use result::{Measured, PartData, Section};

/// Arguments of `siskin-train experiments`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Folder of the base model: config.json, model.safetensors, tokenizer.json.
    #[arg(long)]
    pub base: PathBuf,
    /// Collections in the BEIR layout to measure on, by their `dev` judgments.
    #[arg(long, required = true, num_args = 1..)]
    pub collections: Vec<PathBuf>,
    /// Other collections, whose `train` pairs give whitening samples and training pairs.
    #[arg(long, required = true, num_args = 1..)]
    pub pairs: Vec<PathBuf>,
    /// Folder for token vectors: 0.8 KB a word piece and layer.
    #[arg(long)]
    pub cache: PathBuf,
    /// Folder of the report: README.md, data, plots; texts in its notes are taken into the page.
    #[arg(long)]
    pub out: PathBuf,
    /// Parts to run; all if none is named.
    #[arg(long, value_enum, num_args = 1..)]
    pub parts: Vec<Part>,
    /// What is measured, and how.
    #[command(flatten)]
    pub settings: Settings,
}

/// What is measured, and how.
#[derive(clap::Args, Clone, Debug)]
pub struct Settings {
    /// Queries of a dev collection, at most.
    #[arg(long, default_value_t = 120)]
    pub queries: usize,
    /// Passages ranked for them: all answers, and others up to this number.
    #[arg(long, default_value_t = 200)]
    pub passages: usize,
    /// Training queries of another collection, at most; with their passages.
    #[arg(long, default_value_t = 250)]
    pub pairs_per_collection: usize,
    /// Token vectors of these that are whitening samples, at most; at least four times --dimensions.
    #[arg(long, default_value_t = 80_000)]
    pub sample_tokens: usize,
    /// Layers whose vectors are kept, 0 being the embeddings; the last is the reference's.
    #[arg(long, num_args = 1.., default_values_t = [0, 2, 4, 6])]
    pub layers: Vec<usize>,
    /// Dimensions of the reference.
    #[arg(long, default_value_t = 8_192)]
    pub dimensions: usize,
    /// Winners a token of the reference.
    #[arg(long, default_value_t = 4)]
    pub winners: usize,
    /// Dimensions that a passage's code keeps, by summed activation, where a part does not say else.
    #[arg(long, default_value_t = 64)]
    pub passage_k: usize,
    /// Seeds of the heads.
    #[arg(long, num_args = 1.., default_values_t = [1, 2])]
    pub seeds: Vec<u64>,
    /// Steps of the parts that train.
    #[arg(long, default_value_t = 150)]
    pub steps: usize,
    /// Pairs a step.
    #[arg(long, default_value_t = 32)]
    pub batch_pairs: usize,
    /// Chooses queries, passages and resamples.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// What the parts work with.
pub struct Lab {
    /// The frozen network.
    pub base: Base,
    /// Collections and their vectors.
    pub material: Material,
    /// What is measured, and how.
    pub settings: Settings,
    /// Winners by the reference head, by seed, once they were needed.
    known: RefCell<HashMap<u64, Rc<Vec<TokenWinners>>>>,
}

/// Runs the step; see [`Args`].
///
/// # Errors
/// When a file cannot be read or written, or the settings do not fit the collections.
pub fn run(args: &Args) -> Result<()> {
    let lab = Lab::new(args)?;
    let parts = if args.parts.is_empty() {
        Part::all()
    } else {
        args.parts.clone()
    };
    for part in parts {
        let key = lab.key(part);
        if PartData::read(&args.out, part.name()).is_some_and(|known| known.key == key) {
            crate::say!("{}: as it was", part.name());
        } else {
            crate::say!("{}: running", part.name());
            let sections = part
                .run(&lab)
                .with_context(|| format!("part {}", part.name()))?;
            lab.data(part, key, sections)
                .write(&args.out, part.name())?;
        }
        page::write(&args.out)?;
    }
    Ok(())
}

impl Lab {
    fn new(args: &Args) -> Result<Self> {
        let settings = args.settings.clone();
        ensure!(!settings.layers.is_empty(), "at least one layer is needed");
        ensure!(!settings.seeds.is_empty(), "at least one seed is needed");
        let base = Base::open(&args.base, &Device::Cpu)?;
        let measured = Choice {
            folders: &args.collections,
            split: "dev",
            most: (settings.queries, settings.passages),
            seed: settings.seed,
        };
        let learned = Choice {
            folders: &args.pairs,
            split: "train",
            most: (settings.pairs_per_collection, settings.pairs_per_collection),
            seed: settings.seed,
        };
        let material = Material {
            measured: material::vectors(&base, &measured, &settings.layers, &args.cache)?,
            learned: material::vectors(&base, &learned, &settings.layers, &args.cache)?,
            sample_tokens: settings.sample_tokens,
        };
        Ok(Self {
            base,
            material,
            settings,
            known: RefCell::default(),
        })
    }

    /// SHA-256 in hex of all that a part's result depends on.
    fn key(&self, part: Part) -> String {
        let vectors = self.material.measured.iter().chain(&self.material.learned);
        let fingerprints: Vec<&str> = vectors
            .map(|vectors| vectors.fingerprint.as_str())
            .collect();
        let all = format!(
            "{} {} {fingerprints:?} {:?}",
            part.name(),
            part.version(),
            self.settings
        );
        sha256_hex(all.as_bytes())
    }

    fn data(&self, part: Part, key: String, sections: Vec<Section>) -> PartData {
        let measured = self.material.measured.iter().map(|vectors| Measured {
            name: vectors.name.clone(),
            queries: vectors.texts.queries.len(),
            passages: vectors.texts.passages.len(),
        });
        PartData {
            title: part.title().to_owned(),
            paper: part.paper().to_owned(),
            method: part.method(&self.settings),
            key,
            collections: measured.collect(),
            seeds: part.seeds(&self.settings),
            sections,
        }
    }

    /// The reference's layer.
    #[must_use]
    pub fn layer(&self) -> usize {
        self.settings.layers.last().copied().unwrap_or(0)
    }

    /// Dimensions and winners of the reference.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        (self.settings.dimensions, self.settings.winners)
    }

    /// How the reference scores.
    #[must_use]
    pub fn scoring(&self) -> Scoring<'static> {
        Scoring::cut(self.settings.passage_k)
    }

    /// The reference head: whitened samples of the last layer.
    ///
    /// # Errors
    /// When there are fewer samples than dimensions.
    pub fn reference(&self, seed: u64) -> Result<Head> {
        let samples = self.material.samples(self.layer())?;
        Start::WhitenedSamples.head(&samples, self.shape(), seed)
    }

    /// Winners by the reference head, by collection.
    ///
    /// # Errors
    /// When vectors cannot be read.
    pub fn reference_winners(&self, seed: u64) -> Result<Rc<Vec<TokenWinners>>> {
        if let Some(winners) = self.known.borrow().get(&seed) {
            return Ok(Rc::clone(winners));
        }
        let winners = Rc::new(self.winners(&self.reference(seed)?, self.layer())?);
        self.known.borrow_mut().insert(seed, Rc::clone(&winners));
        Ok(winners)
    }

    /// Codes by the reference head, by collection.
    ///
    /// # Errors
    /// When vectors cannot be read.
    pub fn reference_codes(&self, seed: u64) -> Result<Vec<Coded>> {
        Ok(self.coded(&self.reference_winners(seed)?, self.settings.winners))
    }

    /// Winners by collection.
    ///
    /// # Errors
    /// When vectors cannot be read.
    pub fn winners(&self, head: &Head, layer: usize) -> Result<Vec<TokenWinners>> {
        let of = |vectors: &Vectors| TokenWinners::of(head, &vectors.layer(layer)?);
        self.material.measured.iter().map(of).collect()
    }

    /// Codes by collection, of the first `k` of the winners.
    #[must_use]
    pub fn coded(&self, winners: &[TokenWinners], k: usize) -> Vec<Coded> {
        let pairs = winners.iter().zip(&self.material.measured);
        pairs
            .map(|(winners, vectors)| winners.coded(k, vectors))
            .collect()
    }

    /// Codes by collection, with the head's own number of winners.
    ///
    /// # Errors
    /// When vectors cannot be read.
    pub fn codes(&self, head: &Head, layer: usize) -> Result<Vec<Coded>> {
        Ok(self.coded(&self.winners(head, layer)?, head.k))
    }

    /// Metrics by collection and query.
    #[must_use]
    pub fn ranked(&self, coded: &[Coded], scoring: &Scoring<'_>) -> ByQuery {
        let pairs = coded.iter().zip(&self.material.measured);
        pairs
            .map(|(coded, vectors)| scoring.ranked(coded, vectors))
            .collect()
    }

    /// Metrics by the cosine of mean-pooled vectors: the dense bound.
    ///
    /// # Errors
    /// When vectors cannot be read.
    pub fn dense(&self) -> Result<ByQuery> {
        let of = |vectors: &Vectors| {
            let sides = vectors.pooled()?;
            let cosines = crate::loss::cosines(&sides.queries, &sides.passages)?;
            let scores: Vec<Vec<f64>> = to_f64(&cosines)?;
            Ok(crate::measure::ranks(&scores, &vectors.texts.relevant))
        };
        self.material.measured.iter().map(of).collect()
    }
}

fn to_f64(matrix: &Tensor) -> Result<Vec<Vec<f64>>> {
    Ok(matrix.to_dtype(candle_core::DType::F64)?.to_vec2()?)
}
