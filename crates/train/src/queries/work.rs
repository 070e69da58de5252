//! The folder of `--work`, which holds a run as it stands after its last whole step:
//!
//! ```text
//! tuned.safetensors   every variable F32 [width] by the name of its weight, and its {name}.first and {name}.second moments
//! state.json          State: what was asked for, how far it came, and where random choices stand
//! metrics.jsonl       a line a step, and one a measurement
//! ```

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use candle_core::Device;
use serde::{Deserialize, Serialize};
use serde_json::json;
use siskin_core::container::sha256_hex;

use super::material::Material;
use super::tuner::{Report, Tuner};
use super::{STEPS_STREAM, Settings};
use crate::checkpoint::load_tensors;
use crate::files::{Replacement, finish_replacing, remove_if_there};
use crate::metrics::Metrics;
use crate::random::Random;
use crate::resume::differences;

const TUNED: &str = "tuned.safetensors";
const STATE: &str = "state.json";

/// What a run was asked for: one that goes on was asked for the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// Id of the encoder before the run.
    pub encoder: String,
    /// SHA-256 of the base model's weights, in hex.
    pub base: String,
    /// All settings.
    pub settings: Settings,
}

/// The content of `state.json`.
#[derive(Debug, Serialize, Deserialize)]
struct State {
    asked: Asked,
    /// SHA-256 of what collections gave, in hex.
    material: String,
    step: usize,
    random: Random,
}

/// A run's folder.
pub struct Work {
    folder: PathBuf,
    asked: Asked,
    material: String,
    metrics: Metrics,
}

impl Work {
    /// Refuses a folder that a run with this `asked` can neither begin in nor go on from.
    ///
    /// # Errors
    /// When it holds another run; or, to `resume`, none.
    pub fn check(folder: &Path, asked: &Asked, resume: bool) -> Result<()> {
        if !resume {
            ensure!(
                !folder.join(STATE).exists(),
                "{} holds a run: go on by --resume, remove it, or name another --work",
                folder.display()
            );
            return Ok(());
        }
        let begun = State::read(folder)?.asked;
        ensure!(
            begun.encoder == asked.encoder,
            "{} holds a run for the encoder {:.12}, and this one is {:.12}: it was changed since; remove the folder or name another --work",
            folder.display(),
            begun.encoder,
            asked.encoder
        );
        ensure!(
            begun.base == asked.base,
            "resume with the same --base: {} was begun with another",
            folder.display()
        );
        ensure!(
            begun.settings == asked.settings,
            "resume with the same settings: {} was begun with {}",
            folder.display(),
            differences(
                &serde_json::to_value(&begun.settings)?,
                &serde_json::to_value(&asked.settings)?
            )
        );
        Ok(())
    }

    /// The folder of a run that begins, or, to `resume`, of one that `tuner` is brought to. Returns the random choices
    /// that come next, too.
    ///
    /// # Errors
    /// When the folder cannot be read or written, or the run was begun with other pairs.
    pub fn open(
        folder: &Path,
        asked: Asked,
        material: &[Material],
        resume: bool,
        tuner: &mut Tuner,
    ) -> Result<(Self, Random)> {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        let material = identity(material)?;
        let mut random = Random::new(asked.settings.seed, STEPS_STREAM);
        if resume {
            let state = State::read(folder)?;
            ensure!(
                state.material == material,
                "resume with the same --pairs: {} was begun with others",
                folder.display()
            );
            let tensors = load_tensors(&folder.join(TUNED), &Device::Cpu)?;
            tuner.restore(&tensors, state.step)?;
            random = state.random;
        }
        let work = Self {
            folder: folder.to_owned(),
            asked,
            material,
            metrics: Metrics::open(folder, tuner.step())?,
        };
        Ok((work, random))
    }

    /// Forgets the run in `folder`, whose outcome stands elsewhere now; its metrics stay.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub fn forget(folder: &Path) -> Result<()> {
        for name in [STATE, TUNED] {
            remove_if_there(&folder.join(name))?;
        }
        Ok(())
    }

    /// Writes down what was measured.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn measured(&mut self, step: usize, report: &Report) -> Result<()> {
        self.metrics
            .write(&json!({ "step": step, "held_out": report }))
    }

    /// Keeps the run after a step on queries of `collection`; `random` makes the choices of the next.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn keep(
        &mut self,
        tuner: &Tuner,
        random: &Random,
        (collection, loss): (&str, f64),
    ) -> Result<()> {
        let step = tuner.step();
        self.metrics
            .write(&json!({ "step": step, "collection": collection, "loss": loss }))?;
        let state = State {
            asked: self.asked.clone(),
            material: self.material.clone(),
            step,
            random: random.clone(),
        };
        finish_replacing(&self.folder)?;
        let mut files = Replacement::new(&self.folder);
        files.tensors(TUNED, &tuner.tensors())?;
        files.text(STATE, &serde_json::to_string_pretty(&state)?)?;
        files.commit()
    }
}

impl State {
    fn read(folder: &Path) -> Result<Self> {
        finish_replacing(folder)?;
        let path = folder.join(STATE);
        let text = std::fs::read_to_string(&path).with_context(|| {
            format!(
                "no run to resume, which is kept after its first step: cannot read {}",
                path.display()
            )
        })?;
        serde_json::from_str(&text).with_context(|| format!("{} is malformed", path.display()))
    }
}

/// SHA-256, in hex, of all that training reads of the collections.
fn identity(material: &[Material]) -> Result<String> {
    let mut all = Vec::new();
    for set in material {
        let mut parts: Vec<Vec<u8>> = Vec::new();
        let codes = set.codes.flatten_all()?.to_vec1::<f32>()?;
        parts.push(set.name.clone().into_bytes());
        parts.push(codes.iter().map(|&code| u8::from(code > 0.0)).collect());
        parts.push(bytes(&set.ends));
        parts.push(bytes(&set.training));
        parts.push(bytes(&set.held_out));
        for query in &set.queries {
            parts.push(query.pieces.iter().flat_map(|p| p.to_le_bytes()).collect());
            parts.push(bytes(&query.relevant));
            parts.push(query.words.iter().flat_map(|w| w.to_le_bytes()).collect());
        }
        for part in parts {
            all.extend((part.len() as u64).to_le_bytes());
            all.extend(part);
        }
    }
    Ok(sha256_hex(&all))
}

fn bytes(numbers: &[usize]) -> Vec<u8> {
    let wide = numbers.iter().map(|&number| number as u64);
    wide.flat_map(u64::to_le_bytes).collect()
}
