//! `siskin.json`: the one small file that names all others.

use crate::container::{self, Kind};
use crate::error::{Error, Result};
use crate::text::Stemming;
use serde::{Deserialize, Serialize};

/// Name of the manifest within a bundle.
pub const MANIFEST_FILE: &str = "siskin.json";

/// A bundle's table of contents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Format version, [`container::FORMAT_VERSION`].
    pub format: u16,
    /// Program that wrote the bundle.
    pub generator: String,
    /// SHA-256 over all files in order, in hex: changes when anything does.
    pub build: String,
    /// How words were stemmed.
    pub stemming: Stemming,
    /// The encoder whose codes the bundle holds.
    pub encoder: EncoderInfo,
    /// Number of pages.
    pub pages: u32,
    /// Number of passages.
    pub passages: u32,
    /// How systems are fused.
    pub ranking: Ranking,
    /// All other files.
    pub files: Vec<FileEntry>,
}

/// Which encoder made the codes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EncoderInfo {
    /// SHA-256 of the encoder's `encoder.json`, in hex.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Width of the dense vector.
    pub dim: usize,
    /// Its buckets.
    pub buckets: Vec<BucketInfo>,
}

/// Shape of one UHD bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BucketInfo {
    /// Layer of the network whose token vectors it reads; 0 is the embedding.
    pub layer: usize,
    /// Dimensions.
    pub n: usize,
    /// Winners a token.
    pub k: usize,
}

/// One file of the bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// What it holds.
    pub kind: Kind,
    /// For UHD buckets, which of the encoder's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bucket: Option<usize>,
    /// Path within the bundle, with a hash of the content.
    pub path: String,
    /// Size.
    pub bytes: usize,
    /// SHA-256 of the whole file, in hex.
    pub sha256: String,
}

/// How systems are scored and fused (sum of weighted z-scores). The defaults were tuned on train
/// splits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// Share of the page-wide word score against the best passage's (0 to 1).
    pub page_share: f32,
    /// How much long pages are held back in the page-wide word score (0 to 1).
    pub page_b: f32,
    /// Share of the mean over a page's units against its best unit, for UHD and dense (0 to 1).
    pub mean_share: f32,
    /// Weights without a network.
    pub table: Weights,
    /// Weights with the network.
    pub full: Weights,
    /// Weight of the codes by rows beside the network's, both of length 1, in mode `full`.
    pub rows_in_full: RowsShare,
}

/// How much the query's codes by rows count beside those of the network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RowsShare {
    /// In each UHD bucket.
    pub uhd: f32,
    /// In the dense bucket.
    pub dense: f32,
}

/// One mode's weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weights {
    /// Weight of the lexical bucket.
    pub words: f32,
    /// Weight of each UHD bucket.
    pub uhd: f32,
    /// Weight of the dense bucket.
    pub dense: f32,
    /// Of the query's dimensions so many count, the strongest first.
    pub query_k: usize,
}

impl Default for Ranking {
    fn default() -> Self {
        Self {
            page_share: 0.7,
            page_b: 0.4,
            mean_share: 0.1,
            table: Weights {
                words: 1.0,
                uhd: 0.5,
                dense: 1.5,
                query_k: 32,
            },
            full: Weights {
                words: 1.0,
                uhd: 0.6,
                dense: 1.5,
                query_k: 64,
            },
            rows_in_full: RowsShare {
                uhd: 0.5,
                dense: 0.8,
            },
        }
    }
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// When the text is not one, or of another format version.
    pub fn parse(text: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Version {
            format: u16,
        }
        let file = MANIFEST_FILE.to_owned();
        let version: Version = serde_json::from_str(text).map_err(|error| {
            let (file, reason) = (file.clone(), error.to_string());
            match text.starts_with('{') && error.is_eof() {
                true => Error::Corrupt { file, reason },
                false => Error::NotOurs { file },
            }
        })?;
        container::check_version(MANIFEST_FILE, version.format)?;
        serde_json::from_str(text).map_err(|error| Error::Corrupt {
            file,
            reason: error.to_string(),
        })
    }

    /// The file of a kind (and bucket).
    ///
    /// # Errors
    /// When the manifest names none.
    pub fn file(&self, kind: Kind, bucket: Option<usize>) -> Result<&FileEntry> {
        let found = self
            .files
            .iter()
            .find(|file| file.kind == kind && file.bucket == bucket);
        found.ok_or_else(|| Error::MissingFile {
            file: format!("its {} file", kind.name()),
        })
    }

    /// Refuses an encoder other than the one that made the codes.
    ///
    /// # Errors
    /// [`Error::EncoderMismatch`].
    pub fn check_encoder(&self, id: &str) -> Result<()> {
        if self.encoder.id == id {
            return Ok(());
        }
        let short = |id: &str| id.chars().take(12).collect::<String>();
        Err(Error::EncoderMismatch {
            bundle: short(&self.encoder.id),
            encoder: short(id),
        })
    }
}

/// A manifest's fixed beginning.
#[must_use]
pub fn generator() -> String {
    format!("siskin {}", env!("CARGO_PKG_VERSION"))
}
