//! `siskin eval`: how well a data set's questions are answered.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use indicatif::ProgressBar;
use siskin_core::search::Mode;
use siskin_encoder::store;
use siskin_eval::beir;
use siskin_eval::collection::Observer;
use siskin_eval::run::{Baseline, Settings, evaluate};

use super::Outcome;
use crate::arguments::EvalArguments;
use crate::resources;
use crate::talk::{self, Talk};

const ALL_MODES: [Mode; 3] = [Mode::Words, Mode::Table, Mode::Full];
const ALL_BASELINES: [Baseline; 3] = [Baseline::Bm25, Baseline::Dense, Baseline::Hybrid];

/// Runs the command.
pub fn run(arguments: &EvalArguments) -> Result<Outcome> {
    let dataset = beir::load(
        &arguments.dataset,
        arguments.corpus.as_deref(),
        &arguments.split,
    )?;
    let settings = settings(arguments)?;
    let watcher = Watcher::new(Talk::new(arguments.printing.quiet));
    let report = evaluate(&dataset, &settings, &watcher);
    watcher.bar.finish_and_clear();
    let report = report?;
    match arguments.printing.json {
        true => talk::print_json(&report)?,
        false => talk::print(&report.table())?,
    }
    Ok(Outcome::Done)
}

/// All modes and what people use today, unless some are named.
fn settings(arguments: &EvalArguments) -> Result<Settings> {
    let (mut modes, mut baselines) = (arguments.mode.clone(), arguments.baseline.clone());
    if modes.is_empty() && baselines.is_empty() {
        (modes, baselines) = (ALL_MODES.to_vec(), ALL_BASELINES.to_vec());
    }
    let asks_codes = baselines.contains(&Baseline::Uhd);
    let asks_network = asks_codes || modes.iter().any(|mode| *mode != Mode::Words);
    let asks_vectors = baselines.iter().any(|baseline| baseline.compares_vectors());
    if arguments.query_encoder.is_some() && !modes.contains(&Mode::Full) && !asks_codes {
        bail!(
            "--query-encoder reads the queries of mode full and baseline uhd alone: add one of them"
        );
    }
    let own = arguments.encoder.as_deref();
    let dense = arguments.dense_encoder.as_deref().or(own);
    Ok(Settings {
        encoder: encoder_if(asks_network, own)?,
        query_encoder: arguments.query_encoder.clone(),
        baseline_encoder: encoder_if(asks_vectors, dense)?,
        cache: store::default_folder(),
        modes,
        baselines,
        code_shards: arguments.code_shards,
        lite: arguments.lite,
        ..Settings::default()
    })
}

fn encoder_if(needed: bool, given: Option<&Path>) -> Result<Option<PathBuf>> {
    needed.then(|| resources::encoder_folder(given)).transpose()
}

/// Shows how far the encoding is.
struct Watcher {
    talk: Talk,
    bar: ProgressBar,
}

impl Watcher {
    fn new(talk: Talk) -> Self {
        let bar = talk.bar("encoding passages", 0);
        Self { talk, bar }
    }
}

impl Observer for Watcher {
    fn encoded(&self, done: usize, total: usize) {
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
    }

    fn note(&self, text: &str) {
        self.bar.suspend(|| self.talk.problem(text));
    }

    fn remark(&self, text: &str) {
        self.bar.suspend(|| self.talk.remark(text));
    }
}
