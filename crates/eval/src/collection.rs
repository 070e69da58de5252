//! Documents as pages, and their passages encoded once per encoder.

use std::path::Path;
use std::thread;

use siskin_core::encoded::PassageCodes;
use siskin_core::page::Page;
use siskin_encoder::Encoder;
use siskin_encoder::store::{Pooling, Progress};

use crate::baselines::PassageVectors;
use crate::beir::Document;
use crate::error::Result;

/// The passages of a collection, encoded, in the order of its pages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EncodedPassages {
    /// Width of the vectors.
    pub dim: usize,
    /// What the index builder takes: `[passages]`.
    pub codes: Vec<PassageCodes>,
}

/// Watches work that takes minutes.
pub trait Observer: Sync {
    /// `done` of `total` passages are encoded; called from any thread.
    fn encoded(&self, done: usize, total: usize);
    /// Something that the user should see and that does not stop the work.
    fn note(&self, text: &str);
    /// Something measured on the way that belongs to the result.
    fn remark(&self, text: &str);
}

/// Every document as a page, in the order of the corpus; each page has at least one passage.
#[must_use]
pub fn pages(documents: &[Document]) -> Vec<Page> {
    let page = |document: &Document| {
        siskin_extract::document::page(&document.id, &document.title, &document.text)
    };
    documents.iter().map(page).collect()
}

/// The passages of `pages`, encoded by `encoder` on all cores with vectors pooled as `pooling`
/// says; those that were encoded before are taken from the folder `cache`.
///
/// # Errors
/// When the network fails. A cache that cannot be used is noted only.
pub fn encode(
    pages: &[Page],
    encoder: &Encoder,
    pooling: Pooling,
    cache: Option<&Path>,
    observer: &dyn Observer,
) -> Result<EncodedPassages> {
    let texts = passage_texts(pages);
    let mut store = encoder.passage_store(cache, pooling, |text| observer.note(text))?;
    let threads = thread::available_parallelism().map_or(1, Into::into);
    let progress = |progress: Progress| observer.encoded(progress.encoded, progress.missing);
    let mut encoded = EncodedPassages {
        dim: encoder.manifest().dim,
        ..EncodedPassages::default()
    };
    for codes in store.encode(&texts, threads, progress)? {
        encoded.codes.push(codes?);
    }
    Ok(encoded)
}

fn passage_texts(pages: &[Page]) -> Vec<String> {
    let texts = |page: &'_ Page| -> Vec<String> {
        page.passages
            .iter()
            .map(|passage| passage.encoder_text(&page.title))
            .collect()
    };
    pages.iter().flat_map(texts).collect()
}

impl EncodedPassages {
    /// The passages' vectors, with the place of each one's page in `pages`.
    #[must_use]
    pub fn into_vectors(self, pages: &[Page]) -> PassageVectors {
        let owners = pages.iter().enumerate();
        PassageVectors {
            dim: self.dim,
            vectors: self
                .codes
                .into_iter()
                .flat_map(|codes| codes.dense)
                .collect(),
            documents: owners
                .flat_map(|(page, of)| vec![page; of.passages.len()])
                .collect(),
            document_count: pages.len(),
        }
    }
}
