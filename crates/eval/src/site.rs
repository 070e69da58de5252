//! A collection as a site that Siskin's own engine answers from.

use std::path::Path;

use rayon::prelude::*;
use siskin_core::build::{BuildOptions, Builder, Bundle, LITE_PASSAGES};
use siskin_core::container;
use siskin_core::encoded::{EncodedQuery, PassageCodes};
use siskin_core::manifest::EncoderInfo;
use siskin_core::page::Page;
use siskin_core::rows::GenericRows;
use siskin_core::search::{Engine, Query, Scores, Step};
use siskin_encoder::Encoder;
use siskin_encoder::store::Pooling;

use crate::beir;
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
        let pooling = Pooling::of_site(&pages);
        Ok(Self {
            rows: encoder.generic_rows()?,
            encoded: collection::encode(&pages, encoder, pooling, cache, observer)?,
            encoder: encoder.info(),
            vocabulary: encoder.vocabulary(),
            pages,
        })
    }

    /// The same site as it says who reads queries (see [`Encoder::info_read_by`]).
    #[must_use]
    pub fn read_by(mut self, encoder: EncoderInfo) -> Self {
        self.encoder = encoder;
        self
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

    /// An engine over a bundle built with `options`, all of it loaded. With `lite` only the first
    /// passages of each page have codes (see [`LITE_PASSAGES`]).
    ///
    /// # Errors
    /// When codes do not fit the encoder.
    pub fn engine(&self, options: BuildOptions, lite: bool) -> Result<SiteEngine> {
        let mut builder = Builder::new(options, self.encoder.clone());
        let mut codes = self.encoded.codes.as_slice();
        for page in &self.pages {
            let (own, others) = codes.split_at(page.passages.len().min(codes.len()));
            let own = match lite {
                true => &own[..own.len().min(LITE_PASSAGES)],
                false => own,
            };
            builder.add_page(page.clone(), own).map_err(Error::Index)?;
            codes = others;
        }
        let bundle = builder.finish(&self.vocabulary, &self.rows);
        SiteEngine::open(bundle.map_err(Error::Index)?)
    }
}

/// An engine whose shards are all loaded.
#[derive(Debug)]
pub struct SiteEngine {
    engine: Engine,
    /// Places of the site's pages in the bundle.
    place: Vec<usize>,
}

impl SiteEngine {
    fn open(bundle: Bundle) -> Result<Self> {
        let mut place = vec![0; bundle.order.len()];
        for (at, &page) in bundle.order.iter().enumerate() {
            place[page as usize] = at;
        }
        let mut engine = Engine::new(bundle.manifest);
        for file in &bundle.files {
            let add = container::plain_payload(&file.path, file.id.kind, &file.bytes)
                .and_then(|payload| engine.add(file.id, &file.bytes, Some(&payload)));
            add.map_err(Error::Index)?;
        }
        Ok(Self { engine, place })
    }

    /// The engine, which needs nothing more.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Scores of the site's pages, in the site's order; the first stage passes on the
    /// pages of so many shards of codes, `None` for as many as the bundle says.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn scores(
        &self,
        query: &Query<'_>,
        code_shards: Option<usize>,
    ) -> siskin_core::error::Result<Scores> {
        let code_shards = code_shards.unwrap_or_else(|| self.engine.code_shards(query.mode));
        match self.engine.score(query, code_shards)? {
            Step::Done(scores) => Ok(Scores {
                pages: self.place.iter().map(|&at| scores.pages[at]).collect(),
                found: self.place.iter().map(|&at| scores.found[at]).collect(),
            }),
            Step::Needs(needs) => Err(siskin_core::error::Error::MissingFile {
                file: format!("{needs:?}"),
            }),
        }
    }
}

/// Every query seen through the network, in order; on all cores.
///
/// # Errors
/// When the network fails.
pub fn encode_queries(queries: &[beir::Query], encoder: &Encoder) -> Result<Vec<EncodedQuery>> {
    let encode = |query: &beir::Query| Ok(encoder.encode_query(&query.text)?);
    queries.par_iter().map(encode).collect()
}
