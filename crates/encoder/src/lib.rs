//! An encoder folder, opened: text to token vectors, winners and query codes.
//!
//! The network runs through one of two engines (see [`Engine`]), the same natively and in wasm.
//! Non-goals: training, codes of whole collections, anything that knows of pages.
//!
//! ```no_run
//! use siskin_core::encoded::Encode;
//!
//! let encoder = siskin_encoder::Encoder::open("models/siskin-en")?;
//! let text = encoder.encode("Ownership moves.")?;
//! assert_eq!(text.hidden.len(), text.pieces.len() * encoder.manifest().dim);
//! # Ok::<(), siskin_encoder::EncoderError>(())
//! ```

mod engine;
mod error;
#[cfg(not(target_family = "wasm"))]
mod folder;
mod manifest;
#[cfg(not(target_family = "wasm"))]
mod parallel;
#[cfg_attr(feature = "tract", allow(dead_code))] // with tokenizers, only asked what it could read
mod plain_tokens;
mod pool;
#[cfg(not(target_family = "wasm"))]
mod queries;
mod query;
#[cfg(not(target_family = "wasm"))]
mod rows;
#[cfg(not(target_family = "wasm"))]
pub mod store;
#[cfg(not(target_family = "wasm"))]
pub mod synonyms;
#[cfg(feature = "tract")]
mod tokens;
#[cfg(feature = "tract")]
mod tract;

pub use engine::Engine;
pub use error::{EncoderError, Result};
pub use manifest::{
    Bucket, FORMAT, FileEntry, MANIFEST_FILE, MODEL_FILE, Manifest, OPTIONAL_FILES, QUERIES_FILE,
    Quantization, ROWS_FILE, SYNONYMS_FILE, TOKENIZER_FILE,
};
pub use pool::{mean_pool, passage_pool, span_pool};
#[cfg(not(target_family = "wasm"))]
pub use queries::QueryFiles;

use std::borrow::Cow;

use engine::Network;
#[cfg(not(feature = "tract"))]
use plain_tokens::Tokens;
use siskin_core::container::sha256_hex;
use siskin_core::encoded::{Encode, EncodedQuery, EncodedText};
use siskin_core::fields::Fields;
use siskin_core::ids::PieceId;
use siskin_core::manifest::{BucketInfo, EncoderInfo};
#[cfg(feature = "tract")]
use tokens::Tokens;

/// A network with its tokenizer; may be used by several threads at once.
pub struct Encoder {
    id: String,
    manifest: Manifest,
    tokens: Tokens,
    network: Network,
    #[cfg(not(target_family = "wasm"))]
    folder: Option<std::path::PathBuf>,
}

impl Encoder {
    /// Opens an encoder from the content of its files [`MANIFEST_FILE`], [`TOKENIZER_FILE`] and
    /// [`MODEL_FILE`]. Works without a file system. The lean engine runs the network if it can; a
    /// model that is handed over is then not copied.
    ///
    /// # Errors
    /// When the manifest is not of this format, a file is not the one that the manifest names, or
    /// the network lacks an output. Without the feature `tract`, [`EncoderError::Unsupported`] for
    /// what needs it.
    pub fn open_files<'m>(
        manifest_json: &[u8],
        tokenizer_json: &[u8],
        model_onnx: impl Into<Cow<'m, [u8]>>,
    ) -> Result<Self> {
        let files = (manifest_json, tokenizer_json, model_onnx.into());
        Self::open_files_with(None, files)
    }

    /// As [`Encoder::open_files`], with this engine or none.
    ///
    /// # Errors
    /// As [`Encoder::open_files`], and [`EncoderError::Unsupported`] when the engine does not run
    /// the network.
    pub fn open_files_with(
        engine: Option<Engine>,
        files: (&[u8], &[u8], Cow<'_, [u8]>),
    ) -> Result<Self> {
        Self::open_parsed(engine, files, parse)
    }

    /// As [`Encoder::open_files_with`], JSON read by `parse`, which says why it could not: a browser's own
    /// parser costs its module no bytes.
    ///
    /// # Errors
    /// As [`Encoder::open_files_with`].
    pub fn open_parsed<F: Fields>(
        engine: Option<Engine>,
        (manifest_json, tokenizer_json, model_onnx): (&[u8], &[u8], Cow<'_, [u8]>),
        parse: fn(&[u8]) -> std::result::Result<F, String>,
    ) -> Result<Self> {
        let manifest = parse(manifest_json).map_err(EncoderError::not_an_encoder)?;
        let manifest = Manifest::of(manifest)?;
        manifest.verify(TOKENIZER_FILE, tokenizer_json)?;
        manifest.verify(MODEL_FILE, &model_onnx)?;
        #[cfg(feature = "tract")]
        let tokens = Tokens::read(tokenizer_json, manifest.max_tokens)?;
        #[cfg(not(feature = "tract"))]
        let tokens = Tokens::read(tokenizer_json, manifest.max_tokens, parse)?;
        let network = Network::read(model_onnx, &manifest, engine)?;
        Ok(Self {
            id: sha256_hex(manifest_json),
            manifest,
            tokens,
            network,
            #[cfg(not(target_family = "wasm"))]
            folder: None,
        })
    }

    /// The SHA-256 of `encoder.json`, 64 hexadecimal digits. The manifest holds the hashes of all
    /// other files, so encoders with equal ids give equal codes.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What computes the network.
    #[must_use]
    pub fn engine(&self) -> Engine {
        self.network.engine()
    }

    /// What the encoder says of itself.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// What a bundle remembers of this encoder, which made its codes, and of the one that reads queries for it.
    ///
    /// # Errors
    /// [`EncoderError::OtherPassages`] when `reader` is another one and was not made to read queries for these codes.
    #[cfg(not(target_family = "wasm"))]
    pub fn info_read_by(&self, reader: &Self) -> Result<EncoderInfo> {
        let is_other = reader.id != self.id;
        if is_other && reader.manifest.queries_for.as_ref() != Some(&self.id) {
            return Err(EncoderError::OtherPassages {
                queries: reader.manifest.name.clone(),
                passages: self.manifest.name.clone(),
            });
        }
        let bytes = |encoder: &Self| encoder.manifest.find(MODEL_FILE).map(|file| file.bytes);
        Ok(EncoderInfo {
            query_id: is_other.then(|| reader.id.clone()),
            smaller_reader: bytes(reader) < bytes(self),
            ..self.info()
        })
    }

    /// Refuses an encoder that was distilled to read queries only.
    #[cfg(not(target_family = "wasm"))]
    fn check_reads_passages(&self) -> Result<()> {
        let name = self.manifest.name.clone();
        match self.manifest.queries_for {
            Some(_) => Err(EncoderError::QueriesOnly { name }),
            None => Ok(()),
        }
    }

    /// What a bundle remembers of the encoder that made its codes.
    #[must_use]
    pub fn info(&self) -> EncoderInfo {
        let bucket = |bucket: &Bucket| BucketInfo {
            layer: bucket.layer,
            n: bucket.n as usize,
            k: bucket.k,
            weight: bucket.weight,
        };
        EncoderInfo {
            id: self.id.clone(),
            query_id: None,
            smaller_reader: false,
            name: self.manifest.name.clone(),
            dim: self.manifest.dim,
            buckets: self.manifest.buckets.iter().map(bucket).collect(),
        }
    }

    /// All word pieces in order of their ids.
    #[must_use]
    pub fn vocabulary(&self) -> Vec<String> {
        self.tokens.vocabulary()
    }

    /// The word pieces of `text`, `[CLS]` first and `[SEP]` last, cut at `max_tokens`.
    ///
    /// # Errors
    /// When the tokenizer fails; never for the content of `text`.
    pub fn pieces(&self, text: &str) -> Result<Vec<PieceId>> {
        self.tokens.pieces(text)
    }

    /// The query's codes and dense vector.
    ///
    /// # Errors
    /// When the network fails.
    pub fn encode_query(&self, text: &str) -> Result<EncodedQuery> {
        Ok(query::pool(&self.encode(text)?, &self.manifest.query_mean))
    }

    fn encode_pieces(&self, pieces: Vec<PieceId>) -> Result<EncodedText> {
        let output = self.network.run(&pieces)?;
        self.check_shapes(&output, pieces.len())?;
        Ok(EncodedText {
            pieces,
            hidden: output.hidden,
            buckets: output.buckets,
        })
    }

    fn check_shapes(&self, output: &engine::Output, tokens: usize) -> Result<()> {
        let (found, dim) = (output.hidden.len(), self.manifest.dim);
        if found == tokens * dim {
            return Ok(());
        }
        let reason = format!("hidden has {found} values for {tokens} tokens of {dim}");
        Err(EncoderError::unfit(MODEL_FILE, reason))
    }
}

/// Whether the browser's small module runs an encoder of these files: the network is of the lean engine's family,
/// and the tokenizer follows BERT's rules alone. It does not depend on this machine.
#[must_use]
pub fn runs_without_tract(tokenizer_json: &[u8], model_onnx: &[u8]) -> bool {
    let tokens = plain_tokens::Tokens::read(tokenizer_json, usize::MAX, parse);
    tokens.is_ok() && siskin_lean::Network::is_of_family(model_onnx)
}

fn parse(json: &[u8]) -> std::result::Result<serde_json::Value, String> {
    serde_json::from_slice(json).map_err(|error| error.to_string())
}

impl Encode for Encoder {
    type Error = EncoderError;

    fn encode(&self, text: &str) -> Result<EncodedText> {
        self.encode_pieces(self.tokens.pieces(text)?)
    }
}
