//! The `fit` step: heads from whitened samples, then training on pairs.
//!
//! * [`begin`]: the checkpoint from which a run starts.
//! * [`settings`]: what can be chosen; [`recipe`]: named choices.
//! * [`data`]: pairs for training and held-out sets.
//! * [`trainer`]: one step, checkpoints; `head`: what is trained of a bucket; `objective`: from relevance to a loss.
//! * [`static_queries`]: the query side that needs no network; [`paraphrase`]: queries in other words.
//! * [`words`]: BM25 within the loss.
//! * [`held_out`]: ranking metrics on pairs that training does not see.

mod begin;
pub mod data;
pub(crate) mod head;
pub mod held_out;
pub(crate) mod objective;
pub mod paraphrase;
pub mod recipe;
pub mod settings;
pub mod static_queries;
pub mod trainer;
pub mod words;

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use candle_core::Device;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use crate::base::Base;
use crate::checkpoint::State;
use crate::collection::{Collection, check_names};
use crate::device::is_full;
use crate::files::lock;
use crate::metrics::Metrics;
use crate::mine::{self, Negatives};
use crate::vocabulary::Vocabulary;
use data::{Data, PairBatch};
use paraphrase::Paraphraser;
use settings::{Precision, Settings};
use static_queries::StaticRows;
use trainer::{StepReport, Trainer};
use words::Words;

/// Arguments of `siskin-train fit`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Folder of the base model: config.json, model.safetensors, tokenizer.json.
    #[arg(long)]
    pub base: PathBuf,
    /// Collections in the BEIR layout; their `train` splits are the pairs.
    #[arg(long, required = true, num_args = 1..)]
    pub pairs: Vec<PathBuf>,
    /// Folders of hard negatives that `mine` wrote.
    #[arg(long, num_args = 1..)]
    pub negatives: Vec<PathBuf>,
    /// Checkpoint folder to write.
    #[arg(long)]
    pub out: PathBuf,
    /// Write the heads from whitened samples and make no step.
    #[arg(long, conflicts_with = "resume")]
    pub init_only: bool,
    /// Go on from the checkpoint in --out, with the settings it was begun with.
    #[arg(long, conflicts_with = "from")]
    pub resume: bool,
    /// Begin with the heads (and backbone) of this checkpoint, or of this exported encoder as its files round them,
    /// instead of whitened samples.
    #[arg(long)]
    pub from: Option<PathBuf>,
    /// Sample new heads although --from gives some: its backbone, and a checkpoint's rows, are kept.
    #[arg(long, requires = "from")]
    pub new_heads: bool,
    /// Encoder folder whose static rows and mean query the run begins with, unless --from is a checkpoint that has rows;
    /// its rows also tell which words are near.
    #[arg(long)]
    pub rows: Option<PathBuf>,
    /// Synonyms that --swap-words takes instead: on each line a word, a tab, and its synonyms with spaces between them.
    #[arg(long)]
    pub synonyms: Option<PathBuf>,
    /// Make at most this many steps now, write a checkpoint and end; go on with --resume.
    #[arg(long)]
    pub stop_after: Option<usize>,
    /// Settings by name; options that are given as well win.
    #[arg(long, value_enum)]
    pub recipe: Option<recipe::Recipe>,
    /// What can be chosen.
    #[command(flatten)]
    pub settings: Settings,
}

/// Runs the step; see [`Args`].
///
/// # Errors
/// When a file cannot be read or written, or settings and data do not fit.
pub fn run(args: &Args) -> Result<()> {
    let device = crate::device::automatic()?;
    let base = Base::open(&args.base, &device)?;
    args.settings.check(&base.config)?;
    ensure!(
        args.settings.static_queries == 0.0
            || args.rows.is_some()
            || args.from.is_some()
            || args.resume,
        "--static-queries, which --recipe table sets, needs the rows of an encoder: give --rows"
    );
    check_names(&args.pairs)?;
    let collections: Vec<Collection> = args
        .pairs
        .iter()
        .map(|folder| Collection::read_and_report(folder))
        .collect::<Result<_>>()?;
    // A run that goes on has its folder from the start; a new one, once there is something to keep.
    let resumed = (args.resume && args.out.is_dir()).then(|| lock(&args.out));
    let resumed = resumed.transpose()?;
    let mut checkpoint = begin::first_checkpoint(args, &base, &collections, &device)?;
    if args.init_only {
        let _kept = lock(&args.out)?;
        begin::check_out(args)?;
        return checkpoint.save(&args.out);
    }
    let negatives = negatives(args, &collections)?;
    let data = Data::new(&collections, &negatives, &base.tokenizer()?, &args.settings)?;
    let paraphraser = paraphraser(args, &base, &device)?;
    let words = match args.settings.words > 0.0 {
        true => Some(Words::new(&data, vocabulary(&base)?)),
        false => None,
    };
    check_pairs(&mut checkpoint.state, &data, paraphraser.as_ref())?;
    let _kept = resumed.map_or_else(|| lock(&args.out), Ok)?;
    begin::check_out(args)?;
    let trainer = Trainer::new(&base, &checkpoint, &args.settings, &device)?;
    let metrics = Metrics::open(&args.out, trainer.step())?;
    let texts = Texts {
        data: &data,
        paraphraser: paraphraser.as_ref(),
        words: words.as_ref(),
    };
    train(trainer, &texts, args, metrics)
}

/// The hard negatives of each collection.
fn negatives(args: &Args, collections: &[Collection]) -> Result<Vec<Negatives>> {
    let read = |collection| mine::read(&args.negatives, collection);
    let negatives = collections.iter().map(read).collect::<Result<Vec<_>>>()?;
    ensure!(
        args.negatives.is_empty() || negatives.iter().any(|of_one| !of_one.is_empty()),
        "--negatives holds none for these collections: `siskin-train mine` writes them"
    );
    Ok(negatives)
}

/// What puts queries in other words, where that is asked for.
fn paraphraser(args: &Args, base: &Base, device: &Device) -> Result<Option<Paraphraser>> {
    let settings = &args.settings;
    if !settings.paraphrases() {
        ensure!(args.synonyms.is_none(), "--synonyms needs --swap-words");
        return Ok(None);
    }
    let vocabulary = vocabulary(base)?;
    let near = match (&args.synonyms, &args.rows) {
        (Some(path), _) => paraphrase::synonyms(path, &base.tokenizer()?)?,
        (None, Some(encoder)) => {
            let rows = StaticRows::of_encoder(encoder, base, device)?;
            paraphrase::near_rows(&rows, &vocabulary)?
        }
        (None, None) => bail!("--swap-words and --leave-out-words need --rows or --synonyms"),
    };
    let odds = (settings.swap_words, settings.leave_out_words);
    Ok(Some(Paraphraser::new(
        near,
        vocabulary,
        odds,
        settings.seed,
    )))
}

fn vocabulary(base: &Base) -> Result<Vocabulary> {
    Vocabulary::open(&base.folder.join("tokenizer.json"))
}

/// Refuses to go on with other pairs than those of the steps made so far.
fn check_pairs(state: &mut State, data: &Data, paraphraser: Option<&Paraphraser>) -> Result<()> {
    let pairs = data.fingerprint();
    let pairs = match paraphraser {
        Some(paraphraser) => paraphraser.fingerprint(&pairs),
        None => pairs,
    };
    ensure!(
        state.pairs.is_empty() || state.pairs == pairs,
        "the training pairs are not those that the run was begun with: give the same --pairs, --negatives, --rows \
         and --synonyms"
    );
    state.pairs = pairs;
    Ok(())
}

/// Adds what to do about a GPU whose memory is full.
#[must_use]
pub fn advised(error: anyhow::Error, settings: &Settings) -> anyhow::Error {
    if !is_full(&error) {
        return error;
    }
    let pieces = match settings.max_pieces {
        0 => "as many as the base model reads".to_owned(),
        pieces => pieces.to_string(),
    };
    let mut lower = vec![
        format!("--batch-pairs (now {})", settings.batch_pairs),
        format!("--max-pieces (now {pieces})"),
    ];
    if settings.trains_backbone() {
        lower.push("--backbone-learning-rate to 0, which leaves the backbone frozen".to_owned());
    }
    if settings.precision == Precision::F32 {
        lower.push("--precision to bf16".to_owned());
    }
    let sampled = settings.sample_tokens;
    lower.push(format!(
        "before the first step --sample-tokens (now {sampled})"
    ));
    let lower = lower.join(", ");
    error.context(format!(
        "the GPU's memory is full: lower {lower}, or the number of dimensions in --buckets"
    ))
}

/// What a run reads.
struct Texts<'a> {
    data: &'a Data,
    paraphraser: Option<&'a Paraphraser>,
    words: Option<&'a Words>,
}

impl Texts<'_> {
    /// Batch `step` of the pairs at `positions`.
    fn batch(&self, positions: &[usize], step: usize, seed: u64) -> PairBatch<'_> {
        let mut batch = self.data.batch(positions, step, seed);
        if let Some(paraphraser) = self.paraphraser {
            paraphraser.apply(&mut batch, step);
        }
        if let Some(words) = self.words {
            batch.words = words.scores(&batch);
        }
        batch
    }
}

/// The loop: steps, measurements, checkpoints.
fn train(mut trainer: Trainer, texts: &Texts<'_>, args: &Args, mut metrics: Metrics) -> Result<()> {
    let (settings, data) = (&args.settings, texts.data);
    let left = settings.steps.saturating_sub(trainer.step());
    let end = trainer.step() + left.min(args.stop_after.unwrap_or(left));
    let progress = progress_bar(settings.steps)?;
    progress.set_position(trainer.step() as u64);
    if trainer.step() == 0 {
        // Heads may have taken minutes: a run that is killed before its first steps are kept begins with these.
        trainer.checkpoint()?.save(&args.out)?;
        measure(&trainer, data, &mut metrics, &progress)?;
    }
    let batches = data.batches(settings.batch_pairs, settings.seed);
    for batch in batches.skip(trainer.step()).take(end - trainer.step()) {
        let batch = texts.batch(&batch, trainer.step(), settings.seed);
        let report = trainer.train_on(&batch);
        let report = report.with_context(|| stopped_at(trainer.step(), args))?;
        metrics.write(&step_line(trainer.step(), &report))?;
        progress.set_message(format!("loss {:.4}", report.loss));
        progress.inc(1);
        if trainer.step() == settings.steps || trainer.step().is_multiple_of(settings.measure_every)
        {
            measure(&trainer, data, &mut metrics, &progress)?;
        }
        if trainer.step() == end || trainer.step().is_multiple_of(settings.checkpoint_every) {
            trainer.checkpoint()?.save(&args.out)?;
            if progress.is_hidden() {
                // No terminal to draw a bar on: a log shall tell how far the run is.
                let (step, steps) = (trainer.step(), settings.steps);
                crate::say!("step {step} of {steps}: loss {:.4}, kept", report.loss);
            }
        }
    }
    progress.abandon();
    Ok(())
}

/// Ranks what is held out, and says and writes down how well.
fn measure(
    trainer: &Trainer,
    data: &Data,
    metrics: &mut Metrics,
    progress: &ProgressBar,
) -> Result<()> {
    let scores = trainer.measure(&data.held_out)?;
    let step = trainer.step();
    if let Some(mean) = scores.get("mean") {
        progress.suspend(|| crate::say!("step {step}, held-out nDCG@10: {mean}"));
    }
    metrics.write(&json!({ "step": step, "held_out": scores }))
}

/// Where a run that cannot go on stands.
fn stopped_at(steps: usize, args: &Args) -> String {
    let kept = steps - steps % args.settings.checkpoint_every;
    let (at, out) = (steps + 1, args.out.display());
    format!("stopped at step {at}; {out} holds step {kept} at least")
}

/// A bar that counts steps.
pub(crate) fn progress_bar(steps: usize) -> Result<ProgressBar> {
    let style = ProgressStyle::with_template("{bar:30} step {pos}/{len} {msg} eta {eta}")?;
    Ok(ProgressBar::new(steps as u64).with_style(style))
}

/// What a step reports, as a line of metrics.
fn step_line(step: usize, report: &StepReport) -> serde_json::Value {
    json!({
        "step": step,
        "loss": report.loss,
        "ranking": report.ranking,
        "distillation": report.distillation,
        "dense": report.dense,
        "static_queries": report.static_queries,
        "gradient_norm": report.gradient_norm,
        "schedule": report.schedule,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_gpu_is_told_with_what_to_lower() {
        let settings = Settings::defaults().unwrap();
        let full = anyhow::anyhow!("DriverError(CUDA_ERROR_OUT_OF_MEMORY, \"out of memory\")");
        let full = format!("{:#}", advised(full, &settings));
        for option in [
            "lower --batch-pairs (now 32)",
            "--max-pieces (now as many",
            "--precision to bf16",
            "--sample-tokens",
            "--buckets",
        ] {
            assert!(full.contains(option), "{option}: {full}");
        }
        let other = format!("{:#}", advised(anyhow::anyhow!("no such file"), &settings));
        assert_eq!(other, "no such file");
    }
}
