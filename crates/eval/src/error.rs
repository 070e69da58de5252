//! What can go wrong while a collection is read, encoded or searched.

use std::io;
use std::path::{Path, PathBuf};

/// Errors of this crate; each names the place and, where one is known, the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A line of a collection's file does not have the form of BEIR.
    #[error("{}, line {line}: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong with the line.
        problem: String,
    },
    /// No corpus for a set of queries.
    #[error(
        "{} has no corpus.jsonl, and there is none in a sibling folder of the same name without \
         \"-mismatch\"; name the folder that has it (--corpus)",
        folder.display()
    )]
    NoCorpus {
        /// The folder of the collection.
        folder: PathBuf,
    },
    /// The collection has no such split.
    #[error("{} has no qrels/{split}.tsv; its splits: {found}", folder.display())]
    NoSplit {
        /// The folder of the collection.
        folder: PathBuf,
        /// The split that was asked for.
        split: String,
        /// The splits that exist, separated by commas, or `none`.
        found: String,
    },
    /// A file of a collection holds nothing to evaluate.
    #[error("{} holds no {what}", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        what: &'static str,
    },
    /// A system needs an encoder that was not given.
    #[error("{system} needs an encoder: name its folder")]
    NoEncoder {
        /// The mode or baseline.
        system: String,
    },
    /// A query could not be answered.
    #[error("query {query}: {source}")]
    Search {
        /// Id of the query.
        query: String,
        /// The cause.
        source: siskin_core::error::Error,
    },
    /// The collection could not be indexed.
    #[error("cannot index the collection: {0}")]
    Index(siskin_core::error::Error),
    /// A baseline of another name.
    #[error("there is no baseline {name:?}; choose from bm25, dense, hybrid and uhd")]
    UnknownBaseline {
        /// The name.
        name: String,
    },
    /// The encoder failed or could not be opened.
    #[error(transparent)]
    Encoder(#[from] siskin_encoder::EncoderError),
}

/// Shorthand for this crate's results.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A reader of I/O errors that remembers `path`.
    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Read {
            path: path.to_owned(),
            source,
        }
    }
}
