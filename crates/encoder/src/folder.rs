//! Encoders on disk.

use std::path::Path;

use siskin_core::rows::{GenericRows, PassagePooling};

use crate::error::{EncoderError, Result};
use crate::manifest::{MANIFEST_FILE, MODEL_FILE, ROWS_FILE, SYNONYMS_FILE, TOKENIZER_FILE};
use crate::synonyms;
use crate::{Encoder, Engine, rows};

impl Encoder {
    /// Opens the encoder in `folder` and checks length and hash of the files that it reads.
    ///
    /// # Errors
    /// As [`Encoder::open_files`], and when a file is missing or cannot be read.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(None, folder.as_ref())
    }

    /// As [`Encoder::open`], with this engine or none.
    ///
    /// # Errors
    /// As [`Encoder::open_files_with`], and when a file is missing or cannot be read.
    pub fn open_with(engine: Option<Engine>, folder: &Path) -> Result<Self> {
        let manifest = read(folder, MANIFEST_FILE)?;
        let tokenizer = read(folder, TOKENIZER_FILE)?;
        let files = (
            &manifest[..],
            &tokenizer[..],
            read(folder, MODEL_FILE)?.into(),
        );
        let mut encoder = Self::open_files_with(engine, files)?;
        encoder.folder = Some(folder.to_owned());
        Ok(encoder)
    }

    /// What the encoder knows of words and of every word piece.
    ///
    /// # Errors
    /// When the encoder was not opened from a folder or has no rows, or when they or its synonyms are altered;
    /// [`EncoderError::QueriesOnly`] for one that was distilled to read queries.
    pub fn generic_rows(&self) -> Result<GenericRows> {
        self.check_reads_passages()?;
        let mut rows = rows::generic_rows(&self.read_listed(ROWS_FILE)?, &self.manifest)?;
        if self.manifest.find(SYNONYMS_FILE).is_some() {
            rows.synonyms = synonyms::read(&self.read_listed(SYNONYMS_FILE)?)?;
        }
        Ok(rows)
    }

    /// How the encoder wants passages pooled; the plain mean for an encoder without rows.
    ///
    /// # Errors
    /// When the rows are there and altered.
    pub fn passage_pooling(&self) -> Result<PassagePooling> {
        if self.manifest.find(ROWS_FILE).is_none() {
            return Ok(PassagePooling::default());
        }
        rows::passage_pooling(&self.read_listed(ROWS_FILE)?, &self.manifest)
    }

    /// A file of the folder that the manifest lists, verified.
    fn read_listed(&self, name: &str) -> Result<Vec<u8>> {
        let missing = || EncoderError::MissingFile {
            file: name.to_owned(),
        };
        let folder = self.folder.as_deref().ok_or_else(missing)?;
        self.manifest.find(name).ok_or_else(missing)?;
        let bytes = read(folder, name)?;
        self.manifest.verify(name, &bytes)?;
        Ok(bytes)
    }
}

pub(crate) fn read(folder: &Path, name: &str) -> Result<Vec<u8>> {
    let path = folder.join(name);
    std::fs::read(&path).map_err(|source| {
        let file = path.display().to_string();
        match source.kind() {
            std::io::ErrorKind::NotFound => EncoderError::MissingFile { file },
            _ => EncoderError::Read { file, source },
        }
    })
}
