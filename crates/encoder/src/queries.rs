//! An encoder as it reads queries: the same network, with other biases and norms if it has some for queries.
//!
//! Weights are shared with passages, so `queries.safetensors` is small: by the names of the network's constants
//! 32-bit floats that take their place (`siskin-train queries`; BitFit, Ben Zaken et al. 2022). A page loads the network with
//! them in it and knows nothing of all this; its encoder has an id of its own.

use std::path::Path;

use safetensors::tensor::SafeTensors;
use serde_json::{Value, json};
use siskin_core::container::sha256_hex;

use crate::error::{EncoderError, Result};
use crate::folder::read;
use crate::manifest::{MANIFEST_FILE, MODEL_FILE, Manifest, QUERIES_FILE, TOKENIZER_FILE};
use crate::{Encoder, parse, rows};

/// The files of the encoder that reads queries for what an encoder folder encodes.
#[derive(Clone, Debug)]
pub struct QueryFiles {
    /// [`MANIFEST_FILE`].
    pub manifest: Vec<u8>,
    /// [`TOKENIZER_FILE`].
    pub tokenizer: Vec<u8>,
    /// [`MODEL_FILE`].
    pub model: Vec<u8>,
}

impl QueryFiles {
    /// Those of the encoder in `folder`: as they are, if it reads queries and passages alike.
    ///
    /// # Errors
    /// When a file is missing, unreadable or altered, or holds values for what the network lacks.
    pub fn read(folder: &Path) -> Result<Self> {
        let mut files = Self {
            manifest: read(folder, MANIFEST_FILE)?,
            tokenizer: read(folder, TOKENIZER_FILE)?,
            model: read(folder, MODEL_FILE)?,
        };
        let json: Value = parse(&files.manifest).map_err(EncoderError::not_an_encoder)?;
        let manifest = Manifest::of(json.clone())?;
        if manifest.find(QUERIES_FILE).is_some() {
            let values = read(folder, QUERIES_FILE)?;
            manifest.verify(QUERIES_FILE, &values)?;
            manifest.verify(MODEL_FILE, &files.model)?;
            manifest.verify(TOKENIZER_FILE, &files.tokenizer)?;
            replace(&mut files.model, &values)?;
            files.manifest = files.manifest_of_queries(json);
        }
        Ok(files)
    }

    /// Opens the encoder that they are.
    ///
    /// # Errors
    /// As [`Encoder::open_files`].
    pub fn open(&self) -> Result<Encoder> {
        Encoder::open_files(&self.manifest, &self.tokenizer, self.model.clone())
    }

    /// Their names and contents.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &[u8])> {
        let files = [
            (MANIFEST_FILE, &self.manifest),
            (TOKENIZER_FILE, &self.tokenizer),
            (MODEL_FILE, &self.model),
        ];
        files
            .into_iter()
            .map(|(name, bytes)| (name, bytes.as_slice()))
    }

    /// What is said of an encoder that reads queries only, for the passages of the one that `json` speaks of.
    fn manifest_of_queries(&self, mut json: Value) -> Vec<u8> {
        let entry = |bytes: &[u8]| json!({ "bytes": bytes.len(), "sha256": sha256_hex(bytes) });
        if let Some(fields) = json.as_object_mut() {
            let files = json!({
                (TOKENIZER_FILE): entry(&self.tokenizer),
                (MODEL_FILE): entry(&self.model),
            });
            fields.insert("files".to_owned(), files);
            let passages = sha256_hex(&self.manifest);
            fields.insert("queries_for".to_owned(), passages.into());
            fields.remove("training");
        }
        format!("{json:#}\n").into_bytes()
    }
}

/// Puts the floats of `values`, a safetensors file, into the network.
fn replace(model: &mut [u8], values: &[u8]) -> Result<()> {
    let unfit = |reason: String| EncoderError::unfit(QUERIES_FILE, reason);
    let tensors = SafeTensors::deserialize(values).map_err(|error| unfit(error.to_string()))?;
    let names = tensors.names();
    let floats = names
        .iter()
        .map(|name| rows::f32s(&tensors, name).map_err(|error| unfit(error.to_string())));
    let floats: Vec<Vec<f32>> = floats.collect::<Result<_>>()?;
    let named = names.iter().map(|name| &**name);
    let values = named.zip(floats.iter().map(Vec::as_slice));
    siskin_lean::replace(model, values).map_err(|error| unfit(error.to_string()))
}

impl Encoder {
    /// Opens the encoder in `folder` as it reads queries.
    ///
    /// # Errors
    /// As [`Encoder::open`] and [`QueryFiles::read`].
    pub fn open_for_queries(folder: impl AsRef<Path>) -> Result<Self> {
        let files = QueryFiles::read(folder.as_ref())?;
        Self::open_files(&files.manifest, &files.tokenizer, files.model)
    }
}
