//! Why an encoder could not be opened or a text not encoded.

/// What went wrong, where, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncoderError {
    /// The folder or one of its files is not there.
    #[cfg(not(target_family = "wasm"))]
    #[error(
        "encoder file {file} is missing: give the folder of a complete encoder, or build one with `siskin-train export`"
    )]
    MissingFile {
        /// Name of the file, with its folder where there is one.
        file: String,
    },
    /// A file is there and cannot be read.
    #[cfg(not(target_family = "wasm"))]
    #[error("encoder file {file} cannot be read: {source}")]
    Read {
        /// Path of the file.
        file: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// `encoder.json` is not the manifest of an encoder.
    #[error(
        "encoder.json is not a manifest of a Siskin encoder ({reason}): give the folder that `siskin-train export` wrote"
    )]
    NotAnEncoder {
        /// What the reader met.
        reason: String,
    },
    /// The encoder was written by a later version.
    #[error("the encoder has format {found}, this Siskin reads format {supported}: update Siskin")]
    TooNew {
        /// Format of the encoder.
        found: u64,
        /// Format that this build reads.
        supported: u64,
    },
    /// The encoder was written by an earlier version that is no longer read.
    #[error(
        "the encoder has format {found}, this Siskin reads format {supported}: export the encoder again"
    )]
    TooOld {
        /// Format of the encoder.
        found: u64,
        /// Format that this build reads.
        supported: u64,
    },
    /// An encoder that reads queries only, for the passages of another.
    #[cfg(not(target_family = "wasm"))]
    #[error(
        "encoder {queries} does not read queries for the passages of {passages}: give one that was distilled from it (`siskin-train distil`), or index with another --encoder"
    )]
    OtherPassages {
        /// Name of the encoder that was to read queries.
        queries: String,
        /// Name of the encoder of the passages.
        passages: String,
    },
    /// Passages are to be encoded by an encoder that reads queries only.
    #[cfg(not(target_family = "wasm"))]
    #[error(
        "encoder {name} reads queries only: encode passages with the encoder that it was distilled from, and give this one as --query-encoder"
    )]
    QueriesOnly {
        /// Name of the encoder.
        name: String,
    },
    /// A file differs from what `encoder.json` says of it.
    #[error(
        "encoder file {file} is altered or cut short ({reason}): fetch or export the encoder again"
    )]
    Altered {
        /// Name of the file.
        file: String,
        /// Which figure differs.
        reason: String,
    },
    /// A file has the right hash and the wrong content: the exporter's fault.
    #[error(
        "encoder file {file} does not hold what encoder.json promises ({reason}): export the encoder again"
    )]
    Unfit {
        /// Name of the file.
        file: String,
        /// What is missing or has the wrong shape.
        reason: String,
    },
    /// A network or tokenizer that this build leaves to one with tract.
    #[error("encoder file {file} is beyond the small engine ({reason})")]
    Unsupported {
        /// Name of the file.
        file: String,
        /// The first difference.
        reason: String,
    },
    /// The network failed while it ran.
    #[error("the network failed on a text of {tokens} tokens: {reason}")]
    Network {
        /// Length of the text in word pieces.
        tokens: usize,
        /// What the engine said.
        reason: String,
    },
    /// Encoded passages could not be kept or read back.
    #[cfg(not(target_family = "wasm"))]
    #[error(
        "cannot keep encoded passages in {file}: {source}; free space there or use another folder"
    )]
    Store {
        /// The file, or the folder of a temporary one.
        file: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The tokenizer failed.
    #[error("the tokenizer failed on a text of {bytes} bytes: {reason}")]
    Tokenizer {
        /// Length of the text.
        bytes: usize,
        /// What the tokenizer said.
        reason: String,
    },
}

impl EncoderError {
    /// [`EncoderError::Unfit`] from a name and a reason.
    pub(crate) fn unfit(file: &str, reason: impl Into<String>) -> Self {
        Self::Unfit {
            file: file.to_owned(),
            reason: reason.into(),
        }
    }

    /// [`EncoderError::Store`] from a path and its error.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn store(path: &std::path::Path, source: std::io::Error) -> Self {
        Self::Store {
            file: path.display().to_string(),
            source,
        }
    }

    /// [`EncoderError::NotAnEncoder`] from its reason.
    pub(crate) fn not_an_encoder(reason: impl Into<String>) -> Self {
        Self::NotAnEncoder {
            reason: reason.into(),
        }
    }
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, EncoderError>;
