//! The `distil` step: a small network that sees queries as an encoder does, so that it answers from the
//! indexes that the encoder made.
//!
//! The teacher is an encoder folder, quantized as it is released. The student reads short texts and learns the
//! teacher's token vectors: their distance is measured where winners are chosen, as the mean squared
//! difference of all activations ([`trainer`]), and the pooled vectors' cosine is added. Heads are not
//! trained: the teacher's, with the student's last linear map multiplied in, become the student's.
//!
//! * [`texts`]: queries, titles and pieces of passages; [`teacher`]: what the teacher says of them.
//! * [`student`]: the network, its first weights, the folder that it is kept in.

pub mod student;
pub mod teacher;
mod texts;
mod trainer;

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::fit::progress_bar;
use crate::fit::settings::{above_zero, zero_or_more};
use crate::metrics::Metrics;
use crate::resume::differences;
use crate::rows::texts::Source;
use student::{Shape, State, Student};
use teacher::{Lessons, Teacher};
use trainer::Trainer;

/// Arguments of `siskin-train distil`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Encoder folder of the teacher, exported with 8-bit weights and with buckets on its last layer.
    #[arg(long)]
    pub teacher: PathBuf,
    /// BEIR folders with training judgments; `FOLDER=LIMIT` takes at most LIMIT queries and
    /// LIMIT titles.
    #[arg(long, num_args = 1.., required = true)]
    pub texts: Vec<Source>,
    /// Folder of the student to write.
    #[arg(long)]
    pub out: PathBuf,
    /// Folder for the teacher's vectors, so that another run need not ask for them again [default: OUT].
    #[arg(long)]
    pub cache: Option<PathBuf>,
    /// Go on from the student in --out, with the settings it was begun with.
    #[arg(long)]
    pub resume: bool,
    /// Begin as a student that was exported, of the same shapes, instead of as a bag of words: when its teacher has changed, or
    /// to train it for longer.
    #[arg(long, value_name = "STUDENT-ENCODER", conflicts_with = "resume")]
    pub from: Option<PathBuf>,
    /// Make at most this many steps now, keep the student and end; go on with --resume.
    #[arg(long)]
    pub stop_after: Option<usize>,
    /// What can be chosen.
    #[command(flatten)]
    pub settings: Settings,
}

/// What can be chosen of a distillation.
#[derive(clap::Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Shapes of the student.
    #[command(flatten)]
    pub shape: Shape,
    /// Optimisation steps in all.
    #[arg(long, default_value_t = 8_000)]
    pub steps: usize,
    /// Word pieces of a step's texts, all of one length.
    #[arg(long, default_value_t = 2_048)]
    pub batch_tokens: usize,
    /// Peak learning rate.
    #[arg(long, default_value_t = 1e-3)]
    pub learning_rate: f64,
    /// Steps over which the learning rate rises; it then falls to 0 at the last step.
    #[arg(long, default_value_t = 200)]
    pub warm_up_steps: usize,
    /// Gradients longer than this are scaled down to it.
    #[arg(long, default_value_t = 1.0)]
    pub max_gradient_norm: f64,
    /// Weight of the pooled vectors' distance (1 − cosine, centred) beside that of the activations.
    #[arg(long, default_value_t = 1.0)]
    pub pooled: f64,
    /// Pieces of passages, of one to ten words, beside queries and titles.
    #[arg(long, default_value_t = 150_000)]
    pub spans: usize,
    /// Texts held out for measuring.
    #[arg(long, default_value_t = 1_000)]
    pub held_out: usize,
    /// Measure every so many steps.
    #[arg(long, default_value_t = 500)]
    pub measure_every: usize,
    /// Keep the student every so many steps.
    #[arg(long, default_value_t = 200)]
    pub checkpoint_every: usize,
    /// Seed of every random choice.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Runs the step; see [`Args`].
///
/// # Errors
/// When a file cannot be read or written, the loss is no number, or settings, student and teacher do not fit.
pub fn run(args: &Args) -> Result<()> {
    let settings = &args.settings;
    ensure!(
        settings.checkpoint_every > 0 && settings.measure_every > 0,
        "--checkpoint-every and --measure-every are 1 at least"
    );
    ensure!(settings.held_out > 0, "--held-out is 1 at least");
    above_zero("--max-gradient-norm", settings.max_gradient_norm)?;
    zero_or_more("--learning-rate", settings.learning_rate)?;
    zero_or_more("--pooled", settings.pooled)?;
    ensure!(
        args.resume || !args.out.join("state.json").exists(),
        "{} holds a student: --resume, or another --out",
        args.out.display()
    );
    let teacher = Teacher::open(&args.teacher)?;
    let config = settings.shape.config(&teacher)?;
    let texts = texts::gather(&args.texts, settings.spans, settings.seed)?;
    ensure!(
        texts.len() > settings.held_out,
        "--texts gives {} texts, --held-out takes {} of them: give more texts",
        texts.len(),
        settings.held_out
    );
    crate::say!("{} texts", texts.len());
    let asked = State {
        teacher: teacher.id.clone(),
        settings: settings.clone(),
        step: 0,
        sources: args.texts.iter().map(Source::name).collect(),
        texts: teacher.fingerprint(&texts),
        config,
        from: None,
    };
    let begun = match &args.from {
        Some(folder) => Some(Student::begin_from(asked.clone(), &teacher, folder)?),
        None => args.resume.then(|| resumed(&asked, args)).transpose()?,
    };
    std::fs::create_dir_all(&args.out)
        .with_context(|| format!("cannot make {}", args.out.display()))?;
    let cache = args.cache.as_deref().unwrap_or(&args.out);
    let lessons = teacher.lessons(&texts, cache)?;
    let (held_out, lessons) = lessons.split(settings.held_out);
    let student = match begun {
        Some(student) => student,
        None => Student::begin(asked, &teacher, &lessons)?,
    };
    let mut trainer = Trainer::new(&student, &teacher, settings)?;
    train(&mut trainer, &lessons, &held_out, args)
}

/// The student in --out, if it was begun as is asked now.
fn resumed(asked: &State, args: &Args) -> Result<Student> {
    let student = Student::load(&args.out)?;
    let begun = &student.state;
    ensure!(
        begun.teacher == asked.teacher,
        "the student's teacher was {:.12}, {} is {:.12}",
        begun.teacher,
        args.teacher.display(),
        asked.teacher
    );
    ensure!(
        begun.settings == asked.settings,
        "resume with the same settings: {} was begun with {}",
        args.out.display(),
        differences(
            &serde_json::to_value(&begun.settings)?,
            &serde_json::to_value(&asked.settings)?
        )
    );
    ensure!(
        begun.texts == asked.texts,
        "resume with the same --texts: {} was begun with {}, as they were then",
        args.out.display(),
        begun.sources.join(", ")
    );
    Ok(student)
}

/// The loop: steps, measurements, checkpoints.
fn train(trainer: &mut Trainer, lessons: &Lessons, held_out: &Lessons, args: &Args) -> Result<()> {
    let settings = &args.settings;
    let left = settings.steps.saturating_sub(trainer.step());
    let end = trainer.step() + left.min(args.stop_after.unwrap_or(left));
    let mut metrics = Metrics::open(&args.out, trainer.step())?;
    let progress = progress_bar(settings.steps)?;
    progress.set_position(trainer.step() as u64);
    if trainer.step() == 0 {
        let measured = trainer.measure(held_out)?;
        metrics.write(&json!({ "step": 0, "held_out": measured }))?;
        progress.suspend(|| crate::say!("step 0: {measured}"));
        trainer.student()?.save(&args.out)?;
    }
    let batches = lessons.batches(settings.batch_tokens, settings.seed);
    for batch in batches.skip(trainer.step()).take(end - trainer.step()) {
        let loss = trainer.train_on(lessons, &batch);
        let loss = loss.with_context(|| {
            let kept = trainer.step() - trainer.step() % settings.checkpoint_every;
            let (at, out) = (trainer.step() + 1, args.out.display());
            format!("stopped at step {at}; {out} holds step {kept} at least")
        })?;
        progress.set_message(format!("loss {loss:.4}"));
        progress.inc(1);
        let step = trainer.step();
        if step == end || step.is_multiple_of(settings.measure_every) {
            let measured = trainer.measure(held_out)?;
            metrics.write(&json!({ "step": step, "loss": loss, "held_out": measured }))?;
            progress.suspend(|| crate::say!("step {step}: {measured}"));
        }
        if step == end || step.is_multiple_of(settings.checkpoint_every) {
            trainer.student()?.save(&args.out)?;
        }
    }
    progress.abandon();
    Ok(())
}
