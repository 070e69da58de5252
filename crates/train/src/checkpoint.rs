//! A checkpoint: a folder that `fit` writes and resumes from, and that `rows` and `export` read.
//!
//! ```text
//! heads.safetensors      bucket{j}.weight F32 [n, dim], bucket{j}.bias F32 [n], j = 0, 1, …;
//!                        bucket{j}.rarity F32 [n], logarithms, where rarity was learned
//! backbone.safetensors   every weight of the base model, by its name; only if it was trained
//! static_rows.safetensors  static_rows F32 [pieces, dim] and query_mean F32 [dim]; only if they were trained or read
//! optimizer.safetensors  {name}.first and {name}.second moments, F32, bucket{j}.frequency F32 [n] where
//!                        it is read, and step U32 []; absent before the first step
//! state.json             State: what was asked for, and how far it came
//! ```
//!
//! All files are written beside their old versions, `*.partial`, and then the list of them, `replacing`;
//! only then are they renamed. Whoever finds that list finishes the renaming: a folder holds a whole
//! checkpoint whenever the program or the machine stops.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use candle_core::{Device, Tensor};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::base::Base;
use crate::bert::Bert;
use crate::files::{Replacement, finish_replacing, is_finite};
use crate::fit::static_queries::StaticRows;
use crate::wta::Head;

/// Which layer a bucket reads and how its codes look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    /// Output read: 0 = embeddings, 6 = last layer of MiniLM.
    pub layer: usize,
    /// Dimensions.
    pub n: usize,
    /// Winners per token.
    pub k: usize,
}

impl fmt::Display for Bucket {
    /// `LAYER:N:K`, as the command line has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { layer, n, k } = self;
        write!(f, "{layer}:{n}:{k}")
    }
}

/// The content of `state.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Buckets in the order of `heads.safetensors`.
    pub buckets: Vec<Bucket>,
    /// Optimisation steps done; 0 = initialised only.
    pub step: usize,
    /// Names of the collections that heads were sampled from and trained on.
    #[serde(default)]
    pub collections: Vec<String>,
    /// SHA-256 of the base model's weights, in hex; empty where that was not kept.
    #[serde(default)]
    pub base: String,
    /// SHA-256 of the training pairs in hex; empty before the first step.
    #[serde(default)]
    pub pairs: String,
    /// Whether its static rows were trained with the network, by this run or one before it.
    #[serde(default)]
    pub rows_trained: bool,
    /// How it was made: the settings of `fit`.
    #[serde(default)]
    pub config: serde_json::Value,
    /// Where it began from another checkpoint (`fit --from`): that one's collections, settings, step and `before`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<serde_json::Value>,
}

impl State {
    /// What a run that begins from this one says of it, as [`State::before`].
    #[must_use]
    pub fn as_before(&self) -> serde_json::Value {
        let mut before = json!({
            "collections": self.collections,
            "config": self.config,
            "step": self.step,
        });
        if let Some(earlier) = &self.before {
            before["before"] = earlier.clone();
        }
        before
    }
}

/// A checkpoint read back.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// What `state.json` says.
    pub state: State,
    /// One head per bucket.
    pub heads: Vec<Head>,
    /// Trained backbone weights, if the backbone was trained.
    pub backbone: Option<HashMap<String, Tensor>>,
    /// Rows of static queries, if the run has some.
    pub rows: Option<StaticRows>,
    /// The optimizer's moments, once a step was made.
    pub optimizer: Option<HashMap<String, Tensor>>,
}

impl Checkpoint {
    /// Reads the checkpoint in `folder` onto `device`.
    ///
    /// # Errors
    /// When a file is missing, malformed, or does not fit `state.json`.
    pub fn load(folder: &Path, device: &Device) -> Result<Self> {
        finish_replacing(folder)?;
        let path = folder.join("state.json");
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("no checkpoint: cannot read {}", path.display()))?;
        let state: State = serde_json::from_str(&text)
            .with_context(|| format!("{} is malformed", path.display()))?;
        let heads = load_heads(&folder.join("heads.safetensors"), &state.buckets, device)?;
        let backbone = load_optional(&folder.join("backbone.safetensors"), device)?;
        let rows = load_optional(&folder.join(STATIC_ROWS), device)?;
        let rows = rows.as_ref().map(StaticRows::of_tensors).transpose()?;
        let optimizer = load_optional(&folder.join("optimizer.safetensors"), device)?;
        let lacks = |file: &str| {
            format!(
                "{} lacks {file}, which its state.json says was trained: copy the checkpoint as a whole",
                folder.display()
            )
        };
        ensure!(
            backbone.is_some() || !trained_network(&json!(&state)),
            lacks("backbone.safetensors")
        );
        ensure!(rows.is_some() || !state.rows_trained, lacks(STATIC_ROWS));
        Ok(Self {
            state,
            heads,
            backbone,
            rows,
            optimizer,
        })
    }

    /// Writes the checkpoint to `folder`, which is made if it is missing.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn save(&self, folder: &Path) -> Result<()> {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        finish_replacing(folder)?;
        let mut files = Replacement::new(folder);
        files.tensors("heads.safetensors", &self.named_heads())?;
        match &self.backbone {
            Some(backbone) => files.tensors("backbone.safetensors", backbone)?,
            None => files.without("backbone.safetensors"),
        }
        match &self.rows {
            Some(rows) => files.tensors(STATIC_ROWS, &rows.tensors())?,
            None => files.without(STATIC_ROWS),
        }
        match &self.optimizer {
            Some(moments) => {
                let moments = with_step(moments.clone(), self.state.step)?;
                files.tensors("optimizer.safetensors", &moments)?;
            }
            None => files.without("optimizer.safetensors"),
        }
        files.text("state.json", &serde_json::to_string_pretty(&self.state)?)?;
        files.commit()
    }

    /// The optimizer's moments, after checking that they belong to this step.
    ///
    /// # Errors
    /// When there are none, or they are of another step.
    pub fn moments(&self) -> Result<&HashMap<String, Tensor>> {
        moments_of_step(self.optimizer.as_ref(), self.state.step)
    }

    /// Refuses another base model than the one that the checkpoint was made with.
    ///
    /// # Errors
    /// When it is another.
    pub fn check_base(&self, base: &Base) -> Result<()> {
        let made_with = &self.state.base;
        ensure!(
            made_with.is_empty() || *made_with == base.id,
            "the checkpoint was made with the base model {made_with:.12}, {} is {:.12}",
            base.folder.display(),
            base.id
        );
        Ok(())
    }

    fn named_heads(&self) -> HashMap<String, Tensor> {
        let named = self.heads.iter().enumerate().flat_map(|(j, head)| {
            let weight = (format!("bucket{j}.weight"), head.weight.clone());
            let bias = (format!("bucket{j}.bias"), head.bias.clone());
            let rarity = head.log_rarity.clone();
            let rarity = rarity.map(|rarity| (format!("bucket{j}.rarity"), rarity));
            [weight, bias].into_iter().chain(rarity)
        });
        named.collect()
    }

    /// The network of this checkpoint: its own backbone, or the base model's.
    ///
    /// # Errors
    /// When a weight is missing.
    pub fn bert(&self, base: &Base) -> Result<Bert> {
        Bert::load(
            self.backbone.as_ref().unwrap_or(&base.weights),
            &base.config,
        )
    }
}

/// Whether the run that a state tells of, or one before it, changed the network.
fn trained_network(state: &serde_json::Value) -> bool {
    let number = |value: Option<&serde_json::Value>| value.and_then(serde_json::Value::as_f64);
    let rate = state
        .get("config")
        .and_then(|config| config.get("backbone_learning_rate"));
    let is_trained = number(rate) > Some(0.0) && number(state.get("step")) > Some(0.0);
    is_trained || state.get("before").is_some_and(trained_network)
}

/// File of static rows.
const STATIC_ROWS: &str = "static_rows.safetensors";

/// Name of the scalar that ties `optimizer.safetensors` to `state.json`.
const STEP: &str = "step";

/// Moments as `optimizer.safetensors` has them after `step`.
///
/// # Errors
/// When a step does not fit 32 bits.
pub(crate) fn with_step(
    mut moments: HashMap<String, Tensor>,
    step: usize,
) -> Result<HashMap<String, Tensor>> {
    let step = Tensor::new(u32::try_from(step)?, &Device::Cpu)?;
    moments.insert(STEP.to_owned(), step);
    Ok(moments)
}

/// The moments of `optimizer.safetensors`, after checking that they are of the step that `state.json` has.
///
/// # Errors
/// When there are none, or they are of another step.
pub(crate) fn moments_of_step(
    moments: Option<&HashMap<String, Tensor>>,
    expected: usize,
) -> Result<&HashMap<String, Tensor>> {
    let moments = moments.context("there is no optimizer.safetensors beside state.json")?;
    let step = moments
        .get(STEP)
        .context("optimizer.safetensors has no step")?;
    let step = step.to_scalar::<u32>()? as usize;
    ensure!(
        step == expected,
        "optimizer.safetensors is of step {step}, state.json of step {expected}: \
         they were copied from two checkpoints, copy one as a whole"
    );
    Ok(moments)
}

pub(crate) fn load_optional(
    path: &Path,
    device: &Device,
) -> Result<Option<HashMap<String, Tensor>>> {
    path.exists()
        .then(|| load_tensors(path, device))
        .transpose()
}

pub(crate) fn load_tensors(path: &Path, device: &Device) -> Result<HashMap<String, Tensor>> {
    let tensors = candle_core::safetensors::load(path, device);
    let tensors = tensors.with_context(|| format!("cannot read {}", path.display()))?;
    check_finite(&tensors, path)?;
    Ok(tensors)
}

/// Refuses tensors of the file in `path` with values that are no numbers: `fit` never writes such.
///
/// # Errors
/// When there are some.
pub(crate) fn check_finite(tensors: &HashMap<String, Tensor>, path: &Path) -> Result<()> {
    for (name, tensor) in tensors {
        ensure!(
            is_finite(tensor)?,
            "{name} in {} holds values that are no numbers: the file is damaged",
            path.display()
        );
    }
    Ok(())
}

fn load_heads(path: &Path, buckets: &[Bucket], device: &Device) -> Result<Vec<Head>> {
    let mut tensors = load_tensors(path, device)?;
    let mut head = |(j, bucket): (usize, &Bucket)| {
        let mut take = |part: &str| {
            let name = format!("bucket{j}.{part}");
            let tensor = tensors.remove(&name);
            tensor.with_context(|| format!("{} lacks {name}", path.display()))
        };
        let mut head = Head::new(take("weight")?, take("bias")?, bucket.k)?;
        ensure!(
            head.n() == bucket.n,
            "{} has {} dimensions in bucket {j}, state.json says {}: copy the checkpoint as a whole",
            path.display(),
            head.n(),
            bucket.n
        );
        head.log_rarity = take("rarity").ok();
        Ok(head)
    };
    buckets.iter().enumerate().map(&mut head).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{REPLACING, partial};
    use candle_core::DType;

    fn checkpoint(step: usize) -> Result<Checkpoint> {
        let weight = Tensor::full(step as f32, (3, 2), &Device::Cpu)?;
        let bias = Tensor::zeros(3, DType::F32, &Device::Cpu)?;
        Ok(Checkpoint {
            state: State {
                buckets: vec![Bucket {
                    layer: 1,
                    n: 3,
                    k: 1,
                }],
                step,
                ..State::default()
            },
            heads: vec![Head::new(weight, bias, 1)?],
            backbone: None,
            rows: None,
            optimizer: Some(HashMap::new()),
        })
    }

    /// The step of a folder's checkpoint, which every file must have.
    fn step_of(folder: &Path) -> Result<usize> {
        let checkpoint = Checkpoint::load(folder, &Device::Cpu)?;
        checkpoint.moments()?;
        let weight = checkpoint.heads[0].weight.flatten_all()?.to_vec1::<f32>()?;
        assert_eq!(weight[0] as usize, checkpoint.state.step);
        Ok(checkpoint.state.step)
    }

    #[test]
    fn a_checkpoint_is_whole_wherever_writing_stops() -> Result<()> {
        let next = tempfile::tempdir()?;
        checkpoint(2)?.save(next.path())?;
        let names = ["heads.safetensors", "optimizer.safetensors", "state.json"];
        // `written` files are there under their temporary names, then the list, then renames.
        for stop in 0..=2 * names.len() + 1 {
            let folder = tempfile::tempdir()?;
            let folder = folder.path();
            checkpoint(1)?.save(folder)?;
            for (i, name) in names.iter().enumerate() {
                let renamed = stop > names.len() + 1 + i;
                let to = match renamed {
                    true => folder.join(name),
                    false => partial(folder, name),
                };
                if stop > i {
                    std::fs::copy(next.path().join(name), to)?;
                }
            }
            let listed = stop > names.len();
            if listed {
                std::fs::write(folder.join(REPLACING), names.join("\n"))?;
            }
            assert_eq!(
                step_of(folder)?,
                if listed { 2 } else { 1 },
                "stopped at {stop}"
            );
            checkpoint(3)?.save(folder)?;
            assert_eq!(step_of(folder)?, 3);
            assert!(!folder.join(REPLACING).exists());
        }
        Ok(())
    }
}
