//! A collection as a site that Siskin's own engine answers from.

use std::collections::HashMap;
use std::path::Path;

use rayon::prelude::*;
use siskin_core::build::{BuildOptions, Builder, Bundle};
use siskin_core::container::Kind;
use siskin_core::encoded::{EncodedQuery, PassageCodes};
use siskin_core::manifest::{EncoderInfo, FileEntry};
use siskin_core::page::Page;
use siskin_core::rows::GenericRows;
use siskin_core::search::Engine;
use siskin_encoder::Encoder;
use siskin_encoder::store::Pooling;

use crate::beir::Query;
use crate::collection::{self, EncodedPassages, Observer};
use crate::error::{Error, Result};

/// Pages with all that the index builder takes, so that bundles with other options are built in
/// seconds.
#[derive(Clone, Debug, Default)]
pub struct Site {
    pages: Vec<Page>,
    encoded: EncodedPassages,
    encoder: EncoderInfo,
    vocabulary: Vec<String>,
    rows: GenericRows,
}

impl Site {
    /// The site of `pages` with the codes of `encoder`; see [`collection::encode`].
    ///
    /// # Errors
    /// When the network fails or the encoder has no rows.
    pub fn encode(
        pages: Vec<Page>,
        encoder: &Encoder,
        cache: Option<&Path>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        Ok(Self {
            rows: encoder.generic_rows()?,
            encoded: collection::encode(&pages, encoder, Pooling::Own, cache, observer)?,
            encoder: encoder.info(),
            vocabulary: encoder.vocabulary(),
            pages,
        })
    }

    /// The site of `pages` without codes: its engine answers mode `words`.
    #[must_use]
    pub fn words_only(pages: Vec<Page>) -> Self {
        let passages = pages.iter().map(|page| page.passages.len()).sum();
        let codes = vec![PassageCodes::default(); passages];
        let encoded = EncodedPassages {
            codes,
            ..EncodedPassages::default()
        };
        Self {
            pages,
            encoded,
            ..Self::default()
        }
    }

    /// An engine over a bundle built with `options`; its pages are in the order of this site's.
    /// A site without codes is opened without their files.
    ///
    /// # Errors
    /// When codes do not fit the encoder.
    pub fn engine(&self, options: BuildOptions) -> Result<Engine> {
        let mut builder = Builder::new(options, self.encoder.clone());
        let mut codes = self.encoded.codes.as_slice();
        for page in &self.pages {
            let (own, others) = codes.split_at(page.passages.len().min(codes.len()));
            builder.add_page(page.clone(), own).map_err(Error::Index)?;
            codes = others;
        }
        let Bundle { manifest, files } = builder
            .finish(&self.vocabulary, &self.rows, &self.encoded.statistics)
            .map_err(Error::Index)?;
        let paths = manifest.files.iter().map(|file| file.path.clone());
        let mut files: HashMap<String, Vec<u8>> = paths.zip(files).collect();
        if self.encoder.dim == 0 {
            let codes = |entry: &&FileEntry| !matches!(entry.kind, Kind::Lexical | Kind::Passages);
            for entry in manifest.files.iter().filter(codes) {
                files.remove(&entry.path);
            }
        }
        Engine::open(manifest, |entry| files.remove(&entry.path)).map_err(Error::Index)
    }
}

/// Every query seen through the network, in order; on all cores.
///
/// # Errors
/// When the network fails.
pub fn encode_queries(queries: &[Query], encoder: &Encoder) -> Result<Vec<EncodedQuery>> {
    let encode = |query: &Query| Ok(encoder.encode_query(&query.text)?);
    queries.par_iter().map(encode).collect()
}
