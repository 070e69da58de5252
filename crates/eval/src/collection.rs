//! Documents as pages, and their passages encoded once per encoder.

use std::path::Path;
use std::thread;

use half::f16;
use sha2::{Digest, Sha256};
use siskin_core::encoded::{EncodedText, PassageCodes, PieceStatistics, TokenWinners};
use siskin_core::page::Page;
use siskin_core::rows::PassagePooling;
use siskin_encoder::{Encoder, mean_pool, passage_pool};

use crate::baselines::PassageVectors;
use crate::beir::Document;
use crate::error::Result;
use crate::{cache, encoded_file};

/// The passages of a collection, encoded, in the order of its pages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EncodedPassages {
    /// Width of the vectors.
    pub dim: usize,
    /// `k` of each of the encoder's buckets.
    pub winners_per_token: Vec<usize>,
    /// What the index builder takes, `[passages]`; `dense` is pooled as the encoder wants it.
    pub codes: Vec<PassageCodes>,
    /// Plain means of all token vectors, of unit length: `[passages, dim]`, row-major.
    pub mean_pooled: Vec<f32>,
    /// Sums per word piece; empty for an encoder without buckets, since nobody asks for them.
    pub statistics: PieceStatistics,
}

/// Watches work that takes minutes.
pub trait Observer: Sync {
    /// `done` of `total` passages are encoded; called from any thread.
    fn encoded(&self, done: usize, total: usize);
    /// Something that the user should see and that does not stop the work.
    fn note(&self, text: &str);
}

/// Every document as a page, in the order of the corpus; each page has at least one passage.
#[must_use]
pub fn pages(documents: &[Document]) -> Vec<Page> {
    let page = |document: &Document| {
        siskin_extract::document::page(&document.id, &document.title, &document.text)
    };
    documents.iter().map(page).collect()
}

/// The passages of `pages`, encoded by `encoder` on all cores, or taken from the folder `cache`
/// if they were encoded before: the same texts by the same encoder.
///
/// # Errors
/// When the network fails. A cache that cannot be read or written is noted only.
pub fn encode(
    pages: &[Page],
    encoder: &Encoder,
    cache: Option<&Path>,
    observer: &dyn Observer,
) -> Result<EncodedPassages> {
    let texts = passage_texts(pages);
    let encode = || encode_texts(&texts, encoder, observer);
    match cache {
        Some(folder) => {
            let key = cache_key(&texts, encoder.id());
            cache::load_or_encode(folder, &key, |text| observer.note(text), encode)
        }
        None => encode(),
    }
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

/// Names all that an encoded collection depends on: its texts, the encoder and the file's version.
fn cache_key(texts: &[String], encoder_id: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(encoded_file::VERSION.to_le_bytes());
    for text in std::iter::once(encoder_id).chain(texts.iter().map(String::as_str)) {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hash.finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn encode_texts(
    texts: &[String],
    encoder: &Encoder,
    observer: &dyn Observer,
) -> Result<EncodedPassages> {
    let manifest = encoder.manifest();
    let pooling = encoder.passage_pooling()?;
    let mut encoded = EncodedPassages {
        dim: manifest.dim,
        winners_per_token: manifest.buckets.iter().map(|bucket| bucket.k).collect(),
        ..EncodedPassages::default()
    };
    let threads = thread::available_parallelism().map_or(1, Into::into);
    let progress = |done| observer.encoded(done, texts.len());
    encoder.encode_all(texts, threads, progress, |_, text| {
        encoded.add(&text, &pooling);
    })?;
    Ok(encoded)
}

impl EncodedPassages {
    fn add(&mut self, text: &EncodedText, pooling: &PassagePooling) {
        if !self.winners_per_token.is_empty() {
            self.statistics.add(text);
        }
        let mut codes = PassageCodes::new(text, passage_pool(text, pooling));
        codes.winners.iter_mut().for_each(round_activations);
        self.codes.push(codes);
        self.mean_pooled.extend(mean_pool(text));
    }

    /// The mean-pooled vectors, with the place of each one's page in `pages`.
    #[must_use]
    pub fn into_vectors(self, pages: &[Page]) -> PassageVectors {
        let owners = pages.iter().enumerate();
        PassageVectors {
            dim: self.dim,
            vectors: self.mean_pooled,
            documents: owners
                .flat_map(|(page, of)| vec![page; of.passages.len()])
                .collect(),
            document_count: pages.len(),
        }
    }
}

/// Rounds to the 16 bits of the cache file, so that a collection is the same fresh and cached.
fn round_activations(winners: &mut TokenWinners) {
    for activation in &mut winners.activations {
        *activation = f16::from_f32(*activation).to_f32();
    }
}
