//! The `queries` step: biases and norms of an encoder's network for queries alone.
//!
//! Passages, their codes and every weight matrix stay as they are. Trained are the vectors of the network's layers
//! (BitFit, Ben Zaken et al. 2022), some 30,000 values, for what reads queries, against what a site ranks by in the end:
//! BM25 and one-bit codes together, over whole collections ([`tuner`]).
//!
//! Rewritten are `queries.safetensors` and `encoder.json`, whose hash is the encoder's id: indexes made before belong
//! to the older one.
//!
//! * [`material`]: what collections give; [`tuner`]: one step and measurements; [`work`]: the folder of a run.

mod material;
mod tuner;
mod work;

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use safetensors::serialize;
use serde::{Deserialize, Serialize};
use serde_json::json;
use siskin_encoder::{Encoder, QUERIES_FILE};

use crate::base::Base;
use crate::collection::check_names;
use crate::export::{Rewritten, Student};
use crate::files::{beside, place_of};
use crate::fit::progress_bar;
use crate::fit::settings::{above_zero, zero_or_more};
use crate::manifest::Manifest;
use crate::onnx::Quantization;
use crate::onnx::read::Written;
use crate::random::Random;
use material::Material;
use tuner::{Measured, Report, Tuner};
use work::{Asked, Work};

/// Arguments of `siskin-train queries`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Encoder folder, exported; what it has for queries is made anew.
    pub encoder: PathBuf,
    /// Folder of the base model that the encoder was made of. A network that `fit` trained is read back from the encoder.
    #[arg(long)]
    pub base: PathBuf,
    /// BEIR folders with training judgments.
    #[arg(long, num_args = 1.., required = true)]
    pub pairs: Vec<PathBuf>,
    /// Encoder folders that read queries for ENCODER and shall go on to.
    #[arg(long, num_args = 1..)]
    pub students: Vec<PathBuf>,
    /// Folder that keeps the run as it stands after each step, until ENCODER is rewritten; metrics.jsonl stays [default:
    /// ENCODER, with `.queries`].
    #[arg(long)]
    pub work: Option<PathBuf>,
    /// Go on with the run in --work, with the settings it was begun with.
    #[arg(long)]
    pub resume: bool,
    /// Make at most this many steps now and end, ENCODER as it was; go on with --resume.
    #[arg(long)]
    pub stop_after: Option<usize>,
    /// What can be chosen.
    #[command(flatten)]
    pub settings: Settings,
}

/// What can be chosen of the step.
#[derive(clap::Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Optimisation steps.
    #[arg(long, default_value_t = 100)]
    pub steps: usize,
    /// Queries of a step, all of one collection.
    #[arg(long, default_value_t = 128)]
    pub batch_queries: usize,
    /// Peak learning rate.
    #[arg(long, default_value_t = 1e-3)]
    pub learning_rate: f64,
    /// Steps over which the learning rate rises; it then falls to 0 at the last step.
    #[arg(long, default_value_t = 30)]
    pub warm_up_steps: usize,
    /// Gradients longer than this are scaled down to it.
    #[arg(long, default_value_t = 1.0)]
    pub max_gradient_norm: f64,
    /// Weight of staying near the network as it is: token vectors' squared distance in parts of their variance, and
    /// 1 − cosine of query vectors.
    #[arg(long, default_value_t = 2.0)]
    pub keep: f64,
    /// Weight of codes beside words, both as z-scores over a collection.
    #[arg(long, default_value_t = 1.8)]
    pub dense: f64,
    /// What scores are divided by within the softmax.
    #[arg(long, default_value_t = 1.5)]
    pub temperature: f64,
    /// Share of queries whose words count three tenths in a step, so that codes learn to do with less.
    #[arg(long, default_value_t = 0.4)]
    pub faded: f64,
    /// Queries of a collection, at most.
    #[arg(long, default_value_t = 3_000)]
    pub queries: usize,
    /// Passages of a collection, at most, but all that its queries ask for.
    #[arg(long, default_value_t = 2_000)]
    pub passages: usize,
    /// A tenth of a collection's queries, at most so many, are held out and measured.
    #[arg(long, default_value_t = 150)]
    pub held_out: usize,
    /// Measure every so many steps.
    #[arg(long, default_value_t = 50)]
    pub measure_every: usize,
    /// Seed of every random choice.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Random choices of the steps.
const STEPS_STREAM: u64 = 4_000_000_000;

/// Runs the step; see [`Args`].
///
/// # Errors
/// When a file cannot be read or written, collections have no training judgments, the encoder was not made of the
/// base, the loss is no number, or a student reads queries for another encoder: everything then stands as it was.
pub fn run(args: &Args) -> Result<()> {
    check(args)?;
    let encoder = Encoder::open(&args.encoder)?;
    let mut base = Base::open(&args.base, &candle_core::Device::Cpu)?;
    let manifest = Manifest::read(&args.encoder)?;
    if let Some(trained) = base.trained_in(&args.encoder, &manifest)? {
        base.weights = trained;
    }
    let asked = Asked {
        encoder: encoder.id().to_owned(),
        base: base.id.clone(),
        settings: args.settings.clone(),
    };
    let folder = args.work.clone();
    let own = || beside(&place_of(&args.encoder), ".queries");
    let folder = folder.unwrap_or_else(own);
    Work::check(&folder, &asked, args.resume)?;
    let students = args.students.iter().map(|folder| {
        let student = Student::read(folder)?;
        student.check(&manifest.ids())?;
        Ok(student)
    });
    let students: Vec<Student> = students.collect::<Result<_>>()?;
    let material: Vec<Material> = args
        .pairs
        .iter()
        .map(|folder| Material::read(folder, &encoder, &args.settings))
        .collect::<Result<_>>()?;
    let mut tuner = Tuner::new(&base, &encoder.manifest().query_mean, &args.settings)?;
    let Some(measured) = train(&mut tuner, &material, (&folder, asked), args)? else {
        let (step, folder) = (tuner.step(), folder.display());
        crate::say!("stopped after step {step}, kept in {folder}: --resume goes on");
        return Ok(());
    };
    let after = rewritten(args, &base, manifest.quantization, &tuner, &measured)?;
    after.put_in_place(students)?;
    Work::forget(&folder)
}

/// Refuses settings that no run can have.
fn check(args: &Args) -> Result<()> {
    let settings = &args.settings;
    ensure!(
        settings.batch_queries > 0 && settings.queries > 0 && settings.measure_every > 0,
        "--batch-queries, --queries and --measure-every are 1 at least"
    );
    ensure!(
        args.stop_after != Some(0),
        "--stop-after is 1 at least: a run is kept after its first step"
    );
    check_names(&args.pairs)?;
    ensure!(
        (0.0..=1.0).contains(&settings.faded),
        "--faded is {}: it must be a share, 0 to 1",
        settings.faded
    );
    above_zero("--temperature", settings.temperature)?;
    above_zero("--max-gradient-norm", settings.max_gradient_norm)?;
    zero_or_more("--learning-rate", settings.learning_rate)?;
    zero_or_more("--keep", settings.keep)?;
    zero_or_more("--dense", settings.dense)?;
    Ok(())
}

/// The loop; returns what was measured of each collection before the first step and after the last, unless
/// --stop-after ends it before that.
fn train(
    tuner: &mut Tuner,
    material: &[Material],
    (folder, asked): (&Path, Asked),
    args: &Args,
) -> Result<Option<[Report; 2]>> {
    let settings = &args.settings;
    let before = tuner.measure(material)?;
    let (mut work, mut random) = Work::open(folder, asked, material, args.resume, tuner)?;
    let bar = progress_bar(settings.steps)?;
    bar.set_position(tuner.step() as u64);
    let say = |work: &mut Work, step: usize, report: &Report| {
        bar.suspend(|| crate::say!("step {step}: {}", summary(report)));
        work.measured(step, report)
    };
    if tuner.step() == 0 {
        say(&mut work, 0, &before)?;
    }
    let left = settings.steps.saturating_sub(tuner.step());
    for _ in 0..left.min(args.stop_after.unwrap_or(left)) {
        let set = drawn(material, &mut random);
        let batch = set.batch(settings.batch_queries, &mut random);
        let loss = tuner.train_on(set, &batch, &mut random)?;
        bar.set_message(format!("loss {loss:.4}"));
        bar.inc(1);
        let step = tuner.step();
        if step < settings.steps && step.is_multiple_of(settings.measure_every) {
            say(&mut work, step, &tuner.measure(material)?)?;
        }
        work.keep(tuner, &random, (&set.name, loss))?;
    }
    bar.abandon();
    if tuner.step() < settings.steps {
        return Ok(None);
    }
    let after = tuner.measure(material)?;
    say(&mut work, settings.steps, &after)?;
    Ok(Some([before, after]))
}

/// What was measured, in a line.
fn summary(report: &Report) -> String {
    match report.is_empty() {
        true => "nothing is held out: a collection needs ten queries".to_owned(),
        false => Measured::mean(report.values()).to_string(),
    }
}

/// One of the collections, the more likely the more queries it has (by their number to the power 0.7).
fn drawn<'m>(material: &'m [Material], random: &mut Random) -> &'m Material {
    let weight = |set: &Material| (set.training.len() as f64).powf(0.7);
    let mut left = random.unit() * material.iter().map(weight).sum::<f64>();
    let found = material.iter().find(|set| {
        left -= weight(set);
        left <= 0.0
    });
    found.unwrap_or(&material[material.len() - 1])
}

/// The encoder with what was learned.
fn rewritten(
    args: &Args,
    base: &Base,
    quantization: Quantization,
    tuner: &Tuner,
    [before, after]: &[Report; 2],
) -> Result<Rewritten> {
    let untuned = Written::read(&base.onnx(&base.weights, quantization)?)?;
    let tuned = Written::read(&base.onnx(&tuner.weights(), quantization)?)?;
    let changed = tuned.floats_that_differ(&untuned)?;
    let bytes = serialize(changed.iter().map(|(name, values)| (name, values)), None)?;
    let made =
        json!({ "settings": args.settings, "held_out_before": before, "held_out_after": after });
    Rewritten::new(&args.encoder, (QUERIES_FILE, &bytes), ("queries", made))
}
