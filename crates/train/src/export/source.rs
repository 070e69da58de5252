//! What is exported: the base model, a checkpoint of it, or a student.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use candle_core::{Device, Tensor};
use serde_json::{Value, json};

use super::Args;
use crate::base::{Base, MAX_TOKENS, identity};
use crate::bert::{Bert, Config};
use crate::checkpoint::{Bucket, Checkpoint};
use crate::distil::student::Student;
use crate::distil::teacher::Teacher;
use crate::manifest::Manifest;
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
    /// The model that it was made of.
    pub origin: Origin,
    /// What tells its weights from others; a student's rows are its teacher's.
    pub network: Option<String>,
    /// How it was made, for `encoder.json`.
    pub provenance: Value,
}

/// SHA-256 of the weights of all-MiniLM-L6-v2, in hex.
const ALL_MINILM_L6_V2: &str = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db";

/// What `encoder.json` says of the model that an encoder was made of.
pub struct Origin {
    /// Its name.
    pub base: String,
    /// SPDX expression of its licence.
    pub licence: String,
}

impl Origin {
    /// As the arguments say; else what is known of all-MiniLM-L6-v2, if it is that.
    fn of(base: &Base, args: &Args) -> Self {
        let known = base.id == ALL_MINILM_L6_V2;
        let or = |given: &Option<String>, of_known: &str, of_other: String| match given {
            Some(given) => given.clone(),
            None if known => of_known.to_owned(),
            None => of_other,
        };
        Self {
            base: or(
                &args.base_name,
                "all-MiniLM-L6-v2",
                format!("weights {:.12}", base.id),
            ),
            licence: or(&args.licence, "Apache-2.0", "NOASSERTION".to_owned()),
        }
    }

    /// That of an encoder.
    fn of_encoder(folder: &Path) -> Result<Self> {
        let manifest = Manifest::read(folder)?;
        Ok(Self {
            base: manifest.base,
            licence: manifest.licence,
        })
    }
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
        let origin = Origin::of(&base, args);
        match &args.checkpoint {
            Some(folder) => Self::checkpoint(base, origin, folder),
            None => Ok(Self::base(base, origin)),
        }
    }

    fn base(base: Base, origin: Origin) -> Self {
        Self {
            origin,
            network: Some(base.id),
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

    fn checkpoint(base: Base, origin: Origin, folder: &Path) -> Result<Self> {
        let checkpoint = Checkpoint::load(folder, &Device::Cpu)?;
        checkpoint.check_base(&base)?;
        let base = Self::base(base, origin);
        let trained = checkpoint.backbone.as_ref().map(identity).transpose()?;
        Ok(Self {
            network: trained.or(base.network),
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
        let origin = Origin::of_encoder(teacher)?;
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
            network: None,
            origin,
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
