//! The two engines behind one door.

use std::borrow::Cow;

use siskin_core::encoded::TokenWinners;
use siskin_core::ids::PieceId;
use siskin_lean::{LeanError, Winners};

use crate::error::{EncoderError, Result};
use crate::manifest::{MODEL_FILE, Manifest};
#[cfg(feature = "tract")]
use crate::tract;

/// What computes a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Engine {
    /// The engine of `siskin-lean`: BERT with 8-bit weights as `siskin-train` writes it.
    Lean,
    /// tract: any ONNX network; the reference in tests.
    #[cfg(feature = "tract")]
    Tract,
}

impl Engine {
    /// Name and version: engines with equal ones give equal codes.
    #[must_use]
    pub fn version(self) -> &'static str {
        match self {
            Self::Lean => siskin_lean::VERSION,
            #[cfg(feature = "tract")]
            Self::Tract => tract::VERSION,
        }
    }
}

/// A network ready to run; shared by all threads.
pub(crate) enum Network {
    Lean(Box<siskin_lean::Network>),
    #[cfg(feature = "tract")]
    Tract(tract::Network),
}

/// What one run gives.
pub(crate) struct Output {
    /// Last-layer token vectors: `[tokens, dim]`.
    pub(crate) hidden: Vec<f32>,
    /// The winners of each bucket.
    pub(crate) buckets: Vec<TokenWinners>,
}

impl Network {
    /// Reads an ONNX file with the inputs and outputs that `manifest` promises, for `engine` or for
    /// the quickest that runs it.
    pub(crate) fn read(
        model_onnx: Cow<'_, [u8]>,
        manifest: &Manifest,
        engine: Option<Engine>,
    ) -> Result<Self> {
        #[cfg(feature = "tract")]
        if engine.unwrap_or_else(|| quickest(&model_onnx)) == Engine::Tract {
            return Ok(Self::Tract(tract::Network::read(&model_onnx, manifest)?));
        }
        let _ = engine; // without tract there is no choice
        let network = siskin_lean::Network::read(model_onnx).map_err(refused)?;
        check_figures(&network, manifest)?;
        Ok(Self::Lean(Box::new(network)))
    }

    /// Which engine it is.
    pub(crate) fn engine(&self) -> Engine {
        match self {
            Self::Lean(_) => Engine::Lean,
            #[cfg(feature = "tract")]
            Self::Tract(_) => Engine::Tract,
        }
    }

    /// Runs the network on one text.
    pub(crate) fn run(&self, pieces: &[PieceId]) -> Result<Output> {
        match self {
            Self::Lean(network) => run_lean(network, pieces),
            #[cfg(feature = "tract")]
            Self::Tract(network) => network.run(pieces),
        }
    }
}

/// The lean engine where it runs the network and this machine has vectors for it: its plain twin is slower than
/// tract.
#[cfg(feature = "tract")]
fn quickest(model_onnx: &[u8]) -> Engine {
    let is_quick = siskin_lean::Level::best() != siskin_lean::Level::Scalar;
    match is_quick && siskin_lean::Network::is_of_family(model_onnx) {
        true => Engine::Lean,
        false => Engine::Tract,
    }
}

fn run_lean(network: &siskin_lean::Network, pieces: &[PieceId]) -> Result<Output> {
    let ids: Vec<u32> = pieces.iter().map(|piece| piece.0).collect();
    let output = network.run(&ids).map_err(|error| EncoderError::Network {
        tokens: pieces.len(),
        reason: error.to_string(),
    })?;
    Ok(Output {
        hidden: output.hidden,
        buckets: output.buckets.into_iter().map(token_winners).collect(),
    })
}

pub(crate) fn token_winners(winners: Winners) -> TokenWinners {
    TokenWinners {
        k: winners.k,
        dimensions: winners.dimensions,
        activations: winners.activations,
    }
}

fn refused(error: LeanError) -> EncoderError {
    match error {
        LeanError::NotOfFamily { reason } => EncoderError::Unsupported {
            file: MODEL_FILE.to_owned(),
            reason,
        },
        error => EncoderError::unfit(MODEL_FILE, error.to_string()),
    }
}

/// The manifest and the network must speak of the same shapes.
fn check_figures(network: &siskin_lean::Network, manifest: &Manifest) -> Result<()> {
    let promised = manifest
        .buckets
        .iter()
        .map(|bucket| (bucket.n as usize, bucket.k));
    let same = network.dim() == manifest.dim
        && network.max_tokens() >= manifest.max_tokens
        && network.buckets().eq(promised);
    match same {
        true => Ok(()),
        false => Err(EncoderError::unfit(
            MODEL_FILE,
            "other shapes than promised",
        )),
    }
}
