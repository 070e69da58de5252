//! What is exported: the base model, a checkpoint of it, or a student.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use candle_core::{Device, Tensor};
use serde_json::{Value, json};

use super::Args;
use crate::base::{Base, MAX_TOKENS};
use crate::bert::{Bert, Config};
use crate::checkpoint::{Bucket, Checkpoint};
use crate::distil::student::Student;
use crate::distil::teacher::Teacher;
use crate::onnx::{Network, Quantization};
use crate::tokenize::Tokenizer;
use crate::wta::Head;

/// A network with all that is said of it.
pub struct Source {
    weights: HashMap<String, Tensor>,
    /// Shapes of the network.
    pub config: Config,
    /// Layers and sizes of the buckets.
    pub buckets: Vec<Bucket>,
    /// One head per bucket.
    pub heads: Vec<Head>,
    /// Longest input in word pieces.
    pub max_tokens: usize,
    /// The file of the tokenizer.
    pub tokenizer: PathBuf,
    /// Mean of unit-length query vectors, where no rows tell it.
    pub query_mean: Option<Vec<f32>>,
    /// Id of the encoder whose indexes it reads queries for.
    pub queries_for: Option<String>,
    /// How it was made, for `encoder.json`.
    pub provenance: Value,
}

impl Source {
    /// Opens what the arguments name.
    ///
    /// # Errors
    /// When a file is missing or malformed, or the parts do not belong together.
    pub fn open(args: &Args) -> Result<Self> {
        if let (Some(student), Some(teacher)) = (&args.student, &args.teacher) {
            return Self::student(student, teacher);
        }
        let base = args.base.as_deref().context("name the base model")?;
        let base = Base::open(base, &Device::Cpu)?;
        match &args.checkpoint {
            Some(folder) => Self::checkpoint(base, folder),
            None => Ok(Self::base(base)),
        }
    }

    fn base(base: Base) -> Self {
        Self {
            tokenizer: base.folder.join("tokenizer.json"),
            weights: base.weights,
            config: base.config,
            buckets: Vec::new(),
            heads: Vec::new(),
            max_tokens: MAX_TOKENS,
            query_mean: None,
            queries_for: None,
            provenance: json!("none: the base model as published"),
        }
    }

    fn checkpoint(base: Base, folder: &Path) -> Result<Self> {
        let checkpoint = Checkpoint::load(folder, &Device::Cpu)?;
        checkpoint.check_base(&base)?;
        let base = Self::base(base);
        Ok(Self {
            weights: checkpoint.backbone.unwrap_or(base.weights),
            provenance: serde_json::to_value(&checkpoint.state)?,
            buckets: checkpoint.state.buckets,
            heads: checkpoint.heads,
            ..base
        })
    }

    /// A student reads its last layer, whichever the teacher read.
    fn student(student: &Path, teacher: &Path) -> Result<Self> {
        let tokenizer = teacher.join("tokenizer.json");
        let (student, teacher) = (Student::load(student)?, Teacher::open(teacher)?);
        let state = &student.state;
        ensure!(
            state.teacher == teacher.id,
            "the student's teacher was {:.12}, this one is {:.12}",
            state.teacher,
            teacher.id
        );
        let layer = state.config.num_hidden_layers;
        let buckets = teacher.buckets.iter();
        let buckets = buckets.map(|bucket| Bucket {
            layer,
            ..bucket.clone()
        });
        Ok(Self {
            buckets: buckets.collect(),
            heads: student.heads(&teacher)?,
            max_tokens: teacher.max_tokens,
            tokenizer,
            query_mean: Some(teacher.query_mean),
            queries_for: Some(teacher.id),
            provenance: serde_json::to_value(state)?,
            config: student.state.config,
            weights: student.weights,
        })
    }

    /// What the ONNX file is made of.
    pub fn network(&self, quantization: Quantization) -> Network<'_> {
        Network {
            weights: &self.weights,
            config: &self.config,
            buckets: &self.buckets,
            heads: &self.heads,
            max_tokens: self.max_tokens,
            quantization,
        }
    }

    /// The network in f32.
    ///
    /// # Errors
    /// When a weight is missing.
    pub fn bert(&self) -> Result<Bert> {
        Bert::load(&self.weights, &self.config)
    }

    /// The tokenizer, cutting at the longest input.
    ///
    /// # Errors
    /// When it is missing or malformed.
    pub fn open_tokenizer(&self) -> Result<Tokenizer> {
        Tokenizer::open(&self.tokenizer, self.max_tokens)
    }
}
