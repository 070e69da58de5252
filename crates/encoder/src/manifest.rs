//! `encoder.json`: what an encoder is and which bytes belong to it.

use std::cell::Cell;

use siskin_core::container::sha256_hex;
use siskin_core::fields::{Fields, Reading};
#[cfg(not(target_family = "wasm"))]
use siskin_core::manifest::BucketInfo;

use crate::error::{EncoderError, Result};

/// The format of encoder folders that this build reads.
pub const FORMAT: u64 = 1;

/// Name of the manifest within an encoder folder.
pub const MANIFEST_FILE: &str = "encoder.json";
/// Name of the tokenizer.
pub const TOKENIZER_FILE: &str = "tokenizer.json";
/// Name of the network.
pub const MODEL_FILE: &str = "model.onnx";
/// Name of the query rows; an encoder may lack them.
pub const ROWS_FILE: &str = "rows.safetensors";
/// Name of what the network has instead while it reads queries; an encoder may lack it.
pub const QUERIES_FILE: &str = "queries.safetensors";
/// Name of what a thesaurus says of words; an encoder may lack it.
pub const SYNONYMS_FILE: &str = "synonyms.txt";
/// The files that an encoder may lack.
pub const OPTIONAL_FILES: [&str; 3] = [ROWS_FILE, QUERIES_FILE, SYNONYMS_FILE];

/// How the weights of the network are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantization {
    /// 32-bit floats.
    F32,
    /// 8-bit integers with one scale per output unit; activations stay 32-bit floats.
    Int8,
}

impl Quantization {
    fn read<F: Fields>(fields: &Reading<'_, F>) -> Self {
        match fields.text("quantization").as_str() {
            "f32" => Self::F32,
            "int8" => Self::Int8,
            _ => {
                fields.misfit("quantization");
                Self::F32
            }
        }
    }
}

/// One bucket of the encoder (UHD-BERT, section 3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    /// Layer whose output the bucket reads; 0 is the embedding layer.
    pub layer: usize,
    /// Dimensions.
    pub n: u32,
    /// Winners per token.
    pub k: usize,
    /// What it counts beside the other buckets, 0 or more; 1 where the file does not say.
    pub weight: f32,
}

impl Bucket {
    fn read<F: Fields>(fields: &Reading<'_, F>) -> Self {
        Self {
            layer: fields.count("layer") as usize,
            n: fields.count("n"),
            k: fields.count("k") as usize,
            weight: fields.optional("weight", Reading::weight).unwrap_or(1.0),
        }
    }
}

/// Length and hash of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Length of the file.
    pub bytes: u64,
    /// SHA-256, 64 lower-case hexadecimal digits.
    pub sha256: String,
}

impl FileEntry {
    fn read<F: Fields>(fields: &Reading<'_, F>) -> Self {
        Self {
            bytes: fields.count("bytes").into(),
            sha256: fields.text("sha256"),
        }
    }
}

/// The content of `encoder.json`.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// Always [`FORMAT`].
    pub format: u64,
    /// Name of the encoder.
    pub name: String,
    /// Name of the network that it was made from.
    pub base: String,
    /// SPDX expression of the weights' licence.
    pub licence: String,
    /// How the weights are stored.
    pub quantization: Quantization,
    /// Width of a token vector.
    pub dim: usize,
    /// Longest input in word pieces, `[CLS]` and `[SEP]` included.
    pub max_tokens: usize,
    /// The buckets in the order of the network's outputs; none for a purely dense encoder.
    pub buckets: Vec<Bucket>,
    /// Mean of unit-length query vectors: `[dim]`.
    pub query_mean: Vec<f32>,
    /// Id of the encoder whose passages it reads queries for, if it was distilled for that alone.
    pub queries_for: Option<String>,
    /// The other files of the folder with their names.
    pub files: Vec<(String, FileEntry)>,
}

impl Manifest {
    /// Reads a manifest that has been parsed as JSON, and checks its version and figures.
    ///
    /// # Errors
    /// When the value is no manifest, or one of another format.
    pub fn of(fields: impl Fields) -> Result<Self> {
        let misfit = Cell::new(None);
        let fields = Reading::new(fields, &misfit);
        let format = fields.count("format").into();
        check_misfit(&misfit)?;
        check_format(format)?;
        let query_mean = fields.numbers("query_mean");
        let entry = |(name, fields)| (name, FileEntry::read(&fields));
        let manifest = Self {
            format,
            name: fields.text("name"),
            base: fields.text("base"),
            licence: fields.text("licence"),
            quantization: Quantization::read(&fields),
            dim: fields.count("dim") as usize,
            max_tokens: fields.count("max_tokens") as usize,
            buckets: fields.objects("buckets").iter().map(Bucket::read).collect(),
            query_mean: query_mean.into_iter().map(|value| value as f32).collect(),
            queries_for: fields.optional("queries_for", Reading::text),
            files: fields.members("files").into_iter().map(entry).collect(),
        };
        check_misfit(&misfit)?;
        manifest.check_figures()?;
        Ok(manifest)
    }

    /// Checks that `bytes` are the file `name` that the manifest speaks of.
    ///
    /// # Errors
    /// When the manifest does not list the file, or when length or hash differ.
    pub fn verify(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let entry = self.entry(name)?;
        let altered = |reason| EncoderError::Altered {
            file: name.to_owned(),
            reason,
        };
        if bytes.len() as u64 != entry.bytes {
            return Err(altered(format!(
                "{} bytes, expected {}",
                bytes.len(),
                entry.bytes
            )));
        }
        let found = sha256_hex(bytes);
        if found != entry.sha256 {
            return Err(altered(format!(
                "SHA-256 {found}, expected {}",
                entry.sha256
            )));
        }
        Ok(())
    }

    /// Length and hash of the file of this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&FileEntry> {
        let mut files = self.files.iter();
        let (_, entry) = files.find(|(found, _)| found == name)?;
        Some(entry)
    }

    fn entry(&self, name: &str) -> Result<&FileEntry> {
        self.find(name)
            .ok_or_else(|| EncoderError::not_an_encoder(format!("its files lack {name}")))
    }

    fn check_figures(&self) -> Result<()> {
        if self.dim == 0 || self.max_tokens < 3 {
            return Err(EncoderError::not_an_encoder(
                "dim is 0 or max_tokens is below 3",
            ));
        }
        if self.query_mean.len() != self.dim {
            let reason = format!(
                "query_mean has {} values, dim is {}",
                self.query_mean.len(),
                self.dim
            );
            return Err(EncoderError::not_an_encoder(reason));
        }
        if !self.query_mean.iter().all(|value| value.is_finite()) {
            return Err(EncoderError::not_an_encoder("query_mean is not finite"));
        }
        match self
            .buckets
            .iter()
            .find(|bucket| bucket.k == 0 || bucket.k > bucket.n as usize)
        {
            Some(Bucket { n, k, .. }) => Err(EncoderError::not_an_encoder(format!(
                "a bucket keeps {k} of {n} dimensions"
            ))),
            None => self.check_weights(),
        }
    }

    /// A page counts by what its index says, and need not look at these.
    #[cfg(target_family = "wasm")]
    fn check_weights(&self) -> Result<()> {
        Ok(())
    }

    #[cfg(not(target_family = "wasm"))]
    fn check_weights(&self) -> Result<()> {
        let mut weights = self.buckets.iter().map(|bucket| bucket.weight);
        let is_weight = |weight: f32| (0.0..=BucketInfo::MOST_WEIGHT).contains(&weight);
        let some_count = self.buckets.is_empty() || weights.clone().any(|weight| weight > 0.0);
        match weights.all(is_weight) && some_count {
            true => Ok(()),
            // A fixed text: writing a float would be a fifth of the browser's module.
            false => Err(EncoderError::not_an_encoder(
                "weights of buckets are 0 to 1000000, and not all 0",
            )),
        }
    }
}

fn check_misfit(misfit: &Cell<Option<&'static str>>) -> Result<()> {
    match misfit.get() {
        None => Ok(()),
        Some(name) => Err(EncoderError::not_an_encoder(misfit_reason(name))),
    }
}

/// What is told of a value that a file lacks or has as something else.
pub(crate) fn misfit_reason(name: &str) -> String {
    format!("`{name}` is missing or not what it should be")
}

fn check_format(found: u64) -> Result<()> {
    match found.cmp(&FORMAT) {
        std::cmp::Ordering::Less => Err(EncoderError::TooOld {
            found,
            supported: FORMAT,
        }),
        std::cmp::Ordering::Greater => Err(EncoderError::TooNew {
            found,
            supported: FORMAT,
        }),
        std::cmp::Ordering::Equal => Ok(()),
    }
}
