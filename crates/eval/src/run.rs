//! One evaluation: several systems asked the same queries.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use rayon::prelude::*;
use siskin_core::bm25::Bm25;
use siskin_core::build::BuildOptions;
use siskin_core::encoded::{Encode, EncodedQuery};
use siskin_core::error::Error as CoreError;
use siskin_core::manifest::EncoderInfo;
use siskin_core::page::Page;
use siskin_core::search::{Mode, Query as EngineQuery, Scores};
use siskin_encoder::store::Pooling;
use siskin_encoder::{Encoder, mean_pool};

use crate::baselines;
use crate::beir::{Dataset, Document, Query};
use crate::collection::{self, Observer};
use crate::error::{Error, Result};
use crate::metrics::{Metrics, rank};
use crate::report::{Report, System};
use crate::site::{Site, SiteEngine, encode_queries};
use crate::uhd::UhdCodes;

/// A system to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// Words: [`Bm25`] over whole documents.
    Bm25,
    /// Vectors: cosine with the best passage, mean-pooled, by the baseline encoder.
    Dense,
    /// Both: [`baselines::hybrid`].
    Hybrid,
    /// Binary codes of the encoder whose passages are indexed, without words: [`UhdCodes`].
    Uhd,
}

impl Baseline {
    /// Whether it needs the vectors of the baseline encoder.
    #[must_use]
    pub fn compares_vectors(self) -> bool {
        matches!(self, Self::Dense | Self::Hybrid)
    }
}

impl fmt::Display for Baseline {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Bm25 => "bm25",
            Self::Dense => "dense",
            Self::Hybrid => "hybrid",
            Self::Uhd => "uhd",
        })
    }
}

impl FromStr for Baseline {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "bm25" => Ok(Self::Bm25),
            "dense" => Ok(Self::Dense),
            "hybrid" => Ok(Self::Hybrid),
            "uhd" => Ok(Self::Uhd),
            _ => Err(Error::UnknownBaseline {
                name: name.to_owned(),
            }),
        }
    }
}

/// What is evaluated, and with what.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Modes of Siskin's engine, in the order of the report.
    pub modes: Vec<Mode>,
    /// Baselines, reported after the modes.
    pub baselines: Vec<Baseline>,
    /// Folder of the encoder whose codes are indexed; needed for `table`, `full` and `uhd`.
    pub encoder: Option<PathBuf>,
    /// Folder of the encoder that reads the queries of `full` and `uhd`; `None` for the one above.
    pub query_encoder: Option<PathBuf>,
    /// Folder of the encoder of `dense` and `hybrid`; needed for these.
    pub baseline_encoder: Option<PathBuf>,
    /// Folder of encoded passages (see [`siskin_encoder::store::default_folder`]); `None` keeps
    /// none.
    pub cache: Option<PathBuf>,
    /// How the bundle is built and its scores are fused.
    pub build: BuildOptions,
    /// Whether only the first passages of each page have codes, as `siskin index --lite` does it.
    pub lite: bool,
    /// Shards of codes whose pages the first stage passes on; `None` for as many as the bundle says.
    pub code_shards: Option<usize>,
}

/// Asks every system all queries of `dataset`.
///
/// # Errors
/// When a system lacks its encoder, when an encoder fails, or when the collection cannot be
/// indexed.
pub fn evaluate(dataset: &Dataset, settings: &Settings, observer: &dyn Observer) -> Result<Report> {
    let pages = collection::pages(&dataset.documents);
    let mut systems = evaluate_modes(dataset, &pages, settings, observer)?;
    systems.extend(evaluate_baselines(dataset, &pages, settings, observer)?);
    Ok(Report {
        dataset: dataset.name.clone(),
        split: dataset.split.clone(),
        queries: dataset.queries.len(),
        systems,
    })
}

fn evaluate_modes(
    dataset: &Dataset,
    pages: &[Page],
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Vec<System>> {
    let Some(widest) = settings.modes.iter().find(|mode| **mode != Mode::Words) else {
        let words = |&mode| {
            let site = Site::words_only(pages.to_vec());
            evaluate_mode(
                dataset,
                &site.engine(settings.build.clone(), false)?,
                mode,
                &[],
                settings.code_shards,
            )
        };
        return settings.modes.iter().map(words).collect();
    };
    let encoders = Encoders::open(settings, widest)?;
    let site = Site::encode(
        pages.to_vec(),
        &encoders.passages,
        settings.cache.as_deref(),
        observer,
    )?;
    let engine = site
        .read_by(encoders.info)
        .engine(settings.build.clone(), settings.lite)?;
    let queries = match settings.modes.contains(&Mode::Full) {
        true => encode_queries(&dataset.queries, &encoders.queries)?,
        false => Vec::new(),
    };
    let evaluate = |&mode| evaluate_mode(dataset, &engine, mode, &queries, settings.code_shards);
    settings.modes.iter().map(evaluate).collect()
}

/// One mode on one engine, whose pages are the documents of `dataset` in order. `encoded` are the
/// queries seen through the network, in order; other modes than `full` do without.
///
/// `words` ranks the pages that it finds. The other modes rank every page, as vectors do, unless
/// they find none; readers are shown the found ones only. A query that the engine refuses (empty,
/// too long) finds nothing.
///
/// # Errors
/// When the bundle lacks the files of `mode` or one is damaged, or `full` lacks a query's codes.
pub fn evaluate_mode(
    dataset: &Dataset,
    engine: &SiteEngine,
    mode: Mode,
    encoded: &[EncodedQuery],
    code_shards: Option<usize>,
) -> Result<System> {
    let answer = |(index, query): (usize, &Query)| {
        let (text, encoded) = (query.text.as_str(), encoded.get(index));
        let limit = dataset.documents.len();
        let scores = scores(
            engine,
            &EngineQuery {
                text,
                mode,
                limit,
                encoded,
                ..EngineQuery::default()
            },
            code_shards,
        )
        .map_err(|source| Error::Search {
            query: query.id.clone(),
            source,
        })?;
        Ok(Metrics::of_ranking(
            &ranking(dataset, mode, &scores),
            &query.judgments,
        ))
    };
    let queries = dataset.queries.par_iter().enumerate();
    let per_query = queries.map(answer).collect::<Result<_>>()?;
    Ok(System {
        name: mode.to_string(),
        per_query,
    })
}

fn scores(
    engine: &SiteEngine,
    query: &EngineQuery<'_>,
    code_shards: Option<usize>,
) -> siskin_core::error::Result<Scores> {
    match engine.scores(query, code_shards) {
        Err(CoreError::EmptyQuery | CoreError::QueryTooLong { .. }) => Ok(Scores::default()),
        scores => scores,
    }
}

fn ranking<'a>(dataset: &'a Dataset, mode: Mode, scores: &Scores) -> Vec<&'a str> {
    let all = mode != Mode::Words && scores.found.contains(&true);
    let pages = scores.pages.iter().zip(&scores.found);
    let ranked = ids(dataset)
        .zip(pages)
        .filter(|(_, (_, found))| all || **found);
    rank(ranked.map(|(id, (score, _))| (id, f64::from(*score))))
}

fn evaluate_baselines(
    dataset: &Dataset,
    pages: &[Page],
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Vec<System>> {
    let bm25 = Bm25::new(dataset.documents.iter().map(Document::words));
    let words: Vec<_> = dataset
        .queries
        .par_iter()
        .map(|query| bm25.scores(&query.text))
        .collect();
    let mut asked = settings.baselines.iter();
    let dense = match asked.find(|baseline| baseline.compares_vectors()) {
        Some(first) => {
            let encoder = open_encoder(settings.baseline_encoder.as_deref(), first)?;
            dense_scores(
                dataset,
                pages,
                &encoder,
                settings.cache.as_deref(),
                observer,
            )?
        }
        None => Vec::new(),
    };
    let codes = match settings.baselines.contains(&Baseline::Uhd) {
        true => code_scores(dataset, pages, settings, observer)?,
        false => Vec::new(),
    };
    let scores = [words.as_slice(), &dense, &codes];
    let system = |&baseline| System {
        name: Baseline::to_string(&baseline),
        per_query: baseline_metrics(dataset, baseline, scores),
    };
    Ok(settings.baselines.iter().map(system).collect())
}

/// Metrics per query from the scores of all documents by words, vectors and codes, each
/// `[queries][documents]`.
fn baseline_metrics(
    dataset: &Dataset,
    baseline: Baseline,
    [words, dense, codes]: [&[Vec<f64>]; 3],
) -> Vec<Metrics> {
    let answer = |(index, query): (usize, &Query)| {
        let scores = |of: &'_ [Vec<f64>]| of.get(index).cloned().unwrap_or_default();
        let ranking = match baseline {
            Baseline::Bm25 => rank(
                ids(dataset)
                    .zip(scores(words))
                    .filter(|(_, score)| *score > 0.0),
            ),
            Baseline::Dense => rank(ids(dataset).zip(scores(dense))),
            Baseline::Uhd => rank(ids(dataset).zip(scores(codes))),
            Baseline::Hybrid => {
                rank(ids(dataset).zip(baselines::hybrid(&scores(words), &scores(dense))))
            }
        };
        Metrics::of_ranking(&ranking, &query.judgments)
    };
    dataset.queries.par_iter().enumerate().map(answer).collect()
}

fn dense_scores(
    dataset: &Dataset,
    pages: &[Page],
    encoder: &Encoder,
    cache: Option<&Path>,
    observer: &dyn Observer,
) -> Result<Vec<Vec<f64>>> {
    let encoded = collection::encode(pages, encoder, Pooling::Mean, cache, observer)?;
    let vectors = encoded.into_vectors(pages);
    let encode = |query: &Query| Ok(mean_pool(&encoder.encode(&query.text)?));
    let queries = dataset
        .queries
        .par_iter()
        .map(encode)
        .collect::<Result<Vec<_>>>()?;
    Ok(vectors.scores_of_all(&queries))
}

fn code_scores(
    dataset: &Dataset,
    pages: &[Page],
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Vec<Vec<f64>>> {
    let encoders = Encoders::open(settings, Baseline::Uhd)?;
    let (encoder, cache) = (&encoders.passages, settings.cache.as_deref());
    let encoded = collection::encode(pages, encoder, Pooling::of_site(pages), cache, observer)?;
    let codes = UhdCodes::new(&encoded, pages, &encoder.info().bucket_shares());
    let bytes = codes.bytes_per_passage();
    observer.remark(&format!("uhd: {bytes:.1} bytes a passage"));
    let queries = encode_queries(&dataset.queries, &encoders.queries)?;
    Ok(queries
        .par_iter()
        .map(|query| codes.scores(query))
        .collect())
}

fn ids(dataset: &Dataset) -> impl Iterator<Item = &str> {
    dataset
        .documents
        .iter()
        .map(|document| document.id.as_str())
}

/// The encoder whose codes are indexed and the one that reads queries for it.
struct Encoders {
    passages: Encoder,
    queries: Encoder,
    info: EncoderInfo,
}

impl Encoders {
    fn open(settings: &Settings, system: impl fmt::Display) -> Result<Self> {
        let passages = open_encoder(settings.encoder.as_deref(), &system)?;
        let reader = settings.query_encoder.as_ref();
        let reader = reader.or(settings.encoder.as_ref());
        let reader = reader.map(Encoder::open_for_queries).transpose()?;
        let queries = reader.ok_or_else(|| no_encoder(system))?;
        let info = passages.info_read_by(&queries)?;
        Ok(Self {
            passages,
            queries,
            info,
        })
    }
}

fn open_encoder(folder: Option<&Path>, system: impl fmt::Display) -> Result<Encoder> {
    let folder = folder.ok_or_else(|| no_encoder(system))?;
    Ok(Encoder::open(folder)?)
}

fn no_encoder(system: impl fmt::Display) -> Error {
    Error::NoEncoder {
        system: system.to_string(),
    }
}
