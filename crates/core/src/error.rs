//! Everything that can go wrong in core, with what, where and what to do.

/// Why core refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are not a Siskin file at all.
    #[error(
        "{file} is not a Siskin file (wrong first bytes); point to a folder that `siskin index` wrote"
    )]
    NotOurs {
        /// Name of the file, as the reader was told.
        file: String,
    },
    /// A newer Siskin wrote the file.
    #[error(
        "{file} has format {found}, newer than the {supported} this version reads; update Siskin"
    )]
    TooNew {
        /// Name of the file.
        file: String,
        /// Format version in the file.
        found: u16,
        /// The version that this code reads.
        supported: u16,
    },
    /// An older Siskin wrote the file and support for it has ended.
    #[error(
        "{file} has format {found}, older than the {supported} this version reads; run `siskin index` again"
    )]
    TooOld {
        /// Name of the file.
        file: String,
        /// Format version in the file.
        found: u16,
        /// The version that this code reads.
        supported: u16,
    },
    /// The bytes were ours and have been cut or altered.
    #[error("{file} is damaged ({reason}); run `siskin index` again or download the file again")]
    Corrupt {
        /// Name of the file.
        file: String,
        /// What does not hold.
        reason: String,
    },
    /// A file that the manifest names was not supplied.
    #[error("the bundle lacks {file}; run `siskin index` again or upload the whole folder")]
    MissingFile {
        /// Name of the file.
        file: String,
    },
    /// The codes were made by another encoder than the one offered.
    #[error(
        "the bundle was made with encoder {bundle}, not with {encoder}; use that one or run `siskin index` again"
    )]
    EncoderMismatch {
        /// Id of the encoder in the bundle.
        bundle: String,
        /// Id of the encoder offered.
        encoder: String,
    },
    /// `full` mode needs the query's codes from the network.
    #[error(
        "mode `full` needs the query encoded by the network; use mode `table` or load the encoder"
    )]
    QueryNotEncoded,
    /// The query's codes do not have the shape of the bundle's.
    #[error(
        "the query's codes do not fit the bundle ({reason}); encode it with the encoder that made the bundle"
    )]
    QueryMisfit {
        /// Which count differs, and how.
        reason: String,
    },
    /// Nothing to search for.
    #[error("the query is empty; type at least one letter or digit")]
    EmptyQuery,
    /// More text than a query can sensibly hold.
    #[error("the query has {characters} characters, more than {limit}; shorten it")]
    QueryTooLong {
        /// Characters in the query.
        characters: usize,
        /// Characters allowed.
        limit: usize,
    },
    /// A mode that does not exist.
    #[error("unknown mode `{mode}`; use words, table or full")]
    UnknownMode {
        /// What was asked for.
        mode: String,
    },
    /// The parts given to the builder do not fit each other.
    #[error("cannot build the index: {reason}")]
    Build {
        /// Which parts, and how they differ.
        reason: String,
    },
}

/// Result with core's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
