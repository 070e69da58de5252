//! The engine: a bundle's files in memory, queries in, ranked pages out.
//!
//! Per system (each UHD bucket, dense) a page takes its best unit's score and a little of their
//! mean; words count over the whole page and in its best passage. Systems are fused as the weighted sum of the query's z-scores over all pages. Inside a page the passage
//! with the highest fused score is shown.

use crate::container::Kind;
use crate::dense::Dense;
use crate::encoded::EncodedQuery;
use crate::error::{Error, Result};
use crate::explain;
use crate::fusion::Moments;
use crate::ids::{PageId, PassageId};
use crate::lexical::Lexical;
use crate::manifest::{FileEntry, Manifest, Ranking, Weights};
use crate::passages::Passages;
use crate::query::AnalyzedQuery;
use crate::rows::Rows;
use crate::text::Stemming;
use crate::uhd::Uhd;
use crate::units::Units;
use serde::{Deserialize, Serialize};

/// Results when no limit is given.
pub const DEFAULT_LIMIT: usize = 10;

/// Which systems answer a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Words only.
    Words,
    /// Words with neighbours, and meaning by rows: no network.
    #[default]
    Table,
    /// Words, and meaning by the encoder's own codes of the query.
    Full,
}

impl std::str::FromStr for Mode {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "words" => Ok(Self::Words),
            "table" => Ok(Self::Table),
            "full" => Ok(Self::Full),
            _ => Err(Error::UnknownMode {
                mode: name.to_owned(),
            }),
        }
    }
}

impl std::fmt::Display for Mode {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Words => "words",
            Self::Table => "table",
            Self::Full => "full",
        })
    }
}

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// The reader's words.
    pub text: &'a str,
    /// Which systems answer.
    pub mode: Mode,
    /// Most results wanted.
    pub limit: usize,
    /// The query seen by the network; needed in mode `full`.
    pub encoded: Option<&'a EncodedQuery>,
}

/// One page found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SearchResult {
    /// Address within the site with the passage's anchor, begins with `/`.
    pub url: String,
    /// Title of the page.
    pub title: String,
    /// Innermost heading of the passage; empty when it stands below the title itself.
    pub heading: String,
    /// Plain text around the first match.
    pub excerpt: String,
    /// Fused score: comparable within one query only.
    pub score: f32,
    /// Why it was found.
    pub matches: Vec<Match>,
}

/// What links the query with the passage shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Match {
    /// Same word, or same meaning.
    pub kind: MatchKind,
    /// The query's word.
    pub query: String,
    /// The passage's word, as it stands there.
    pub text: String,
}

/// How a [`Match`] came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MatchKind {
    /// The same word in some form.
    Word,
    /// Another word with nearly the same meaning.
    Meaning,
}

/// Scores of all pages, and of all passages on the same scale.
#[derive(Clone, Debug, Default)]
pub struct Scores {
    /// Fused score: `[pages]`.
    pub pages: Vec<f32>,
    /// Whether a page is a result at all: `[pages]`.
    pub found: Vec<bool>,
    /// Fused score: `[passages]`.
    pub passages: Vec<f32>,
}

/// A bundle, opened for searching. `words` needs the lexical and passage files; the other modes
/// need all.
#[derive(Debug)]
pub struct Engine {
    manifest: Manifest,
    records: Passages,
    lexical: Lexical,
    meaning: Option<Meaning>,
}

/// What modes `table` and `full` need beside words.
#[derive(Debug)]
struct Meaning {
    rows: Rows,
    uhd: Vec<(Uhd, Units)>,
    dense: Dense,
    dense_units: Units,
}

impl Engine {
    /// Opens a bundle; `read` hands over the bytes of a file that the manifest names, or `None`
    /// when they are not at hand. Without the files of meaning only mode `words` answers.
    ///
    /// # Errors
    /// When a needed file is missing, damaged, or does not fit the others.
    pub fn open(
        manifest: Manifest,
        mut read: impl FnMut(&FileEntry) -> Option<Vec<u8>>,
    ) -> Result<Self> {
        let mut bytes = |kind, bucket| -> Result<(String, Vec<u8>)> {
            let entry = manifest.file(kind, bucket)?;
            let missing = || Error::MissingFile {
                file: entry.path.clone(),
            };
            read(entry)
                .map(|bytes| (entry.path.clone(), bytes))
                .ok_or_else(missing)
        };
        let (file, content) = bytes(Kind::Passages, None)?;
        let records = Passages::read(&file, &content)?;
        let (pages, passages) = (manifest.pages as usize, manifest.passages as usize);
        check(&file, "pages", records.page_count(), pages)?;
        check(&file, "passages", records.passage_count(), passages)?;
        let (file, content) = bytes(Kind::Lexical, None)?;
        let lexical = Lexical::read(&file, &content)?;
        check_stemming(&file, lexical.stemming(), &manifest)?;
        check(
            &file,
            "passages",
            lexical.passage_count(),
            records.passage_count(),
        )?;
        let meaning = match bytes(Kind::Rows, None) {
            Err(Error::MissingFile { .. }) => None,
            rows => Some(Meaning::open(rows?, &manifest, &records, &mut bytes)?),
        };
        Ok(Self {
            manifest,
            records,
            lexical,
            meaning,
        })
    }

    /// The bundle's table of contents.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Pages and passages.
    #[must_use]
    pub fn records(&self) -> &Passages {
        &self.records
    }

    /// The best pages for a query.
    ///
    /// # Errors
    /// When the query is empty or too long, when its mode needs what is not loaded, or when
    /// postings are damaged.
    pub fn search(&self, query: &Query<'_>) -> Result<Vec<SearchResult>> {
        let analyzed = self.analyze(query)?;
        let scores = self.score_analyzed(query, &analyzed)?;
        let mut ranked: Vec<usize> = (0..scores.pages.len())
            .filter(|&page| scores.found[page])
            .collect();
        ranked.sort_by(|&a, &b| scores.pages[b].total_cmp(&scores.pages[a]).then(a.cmp(&b)));
        ranked.truncate(query.limit);
        Ok(ranked
            .into_iter()
            .map(|page| self.result(PageId(page as u32), &scores, &analyzed))
            .collect())
    }

    /// Scores of every page, found or not: what evaluation needs.
    ///
    /// # Errors
    /// As [`Engine::search`].
    pub fn score(&self, query: &Query<'_>) -> Result<Scores> {
        self.score_analyzed(query, &self.analyze(query)?)
    }

    fn analyze(&self, query: &Query<'_>) -> Result<AnalyzedQuery> {
        let rows = match query.mode {
            Mode::Words => None,
            Mode::Table | Mode::Full => Some(&self.meaning()?.rows),
        };
        AnalyzedQuery::new(query.text, &self.lexical, rows)
    }

    fn meaning(&self) -> Result<&Meaning> {
        self.meaning.as_ref().ok_or_else(|| Error::MissingFile {
            file: "its rows file".to_owned(),
        })
    }

    fn score_analyzed(&self, query: &Query<'_>, analyzed: &AnalyzedQuery) -> Result<Scores> {
        let mut fused = Fused::new(&self.records);
        let words: Vec<_> = analyzed
            .words
            .iter()
            .map(|word| word.alternatives.clone())
            .collect();
        let ranking = &self.manifest.ranking;
        let lexical = self.lexical.score(&words, &self.records, ranking.page_b)?;
        let share = ranking.page_share;
        let best = best_of_pages(&lexical.passages, &Units::new(&self.records, 1));
        let pages: Vec<f32> = lexical
            .pages
            .iter()
            .zip(&best)
            .map(|(page, best)| share * page + (1.0 - share) * best)
            .collect();
        let weights = match query.mode {
            Mode::Words => {
                fused.add(1.0, &pages, |_, passage| lexical.passages[passage]);
                return Ok(fused.finish(|page| pages[page] > 0.0));
            }
            Mode::Table => &ranking.table,
            Mode::Full => &ranking.full,
        };
        fused.add(weights.words, &pages, |_, passage| {
            lexical.passages[passage]
        });
        let meaning = self.meaning()?;
        let codes = meaning.codes(query, analyzed, ranking)?;
        meaning.add(weights, ranking.mean_share, &codes, &mut fused)?;
        Ok(fused.finish_above_average(analyzed.recognised))
    }

    fn result(&self, page: PageId, scores: &Scores, query: &AnalyzedQuery) -> SearchResult {
        let passages = self.records.passages_of(page);
        let best = passages.clone().max_by(|&a, &b| {
            scores.passages[a as usize]
                .total_cmp(&scores.passages[b as usize])
                .then(b.cmp(&a))
        });
        let record = self.records.page(page);
        let passage = self
            .records
            .passage(PassageId(best.unwrap_or(passages.start)));
        let rows = self.meaning.as_ref().map(|meaning| &meaning.rows);
        let explanation = explain::passage(query, record, passage, self.lexical.stemming(), rows);
        let anchor = passage
            .anchor
            .as_ref()
            .map(|anchor| format!("#{}", fragment(anchor)))
            .unwrap_or_default();
        SearchResult {
            url: format!("{}{anchor}", record.url),
            title: record.title.clone(),
            heading: passage.headings.last().cloned().unwrap_or_default(),
            excerpt: explanation.excerpt,
            score: scores.pages[page.index()],
            matches: explanation.matches,
        }
    }
}

impl Meaning {
    fn open(
        (file, content): (String, Vec<u8>),
        manifest: &Manifest,
        records: &Passages,
        bytes: &mut impl FnMut(Kind, Option<usize>) -> Result<(String, Vec<u8>)>,
    ) -> Result<Self> {
        let rows = Rows::read(&file, &content)?;
        let buckets = manifest.encoder.buckets.len();
        check(&file, "values a row", rows.dim(), manifest.encoder.dim)?;
        check(&file, "buckets", rows.bucket_count(), buckets)?;
        let (file, content) = bytes(Kind::Dense, None)?;
        let dense = Dense::read(&file, &content)?;
        let dense_units = Units::new(records, dense.window());
        check(&file, "values a code", dense.dim(), manifest.encoder.dim)?;
        check(&file, "units", dense.unit_count(), dense_units.len())?;
        let mut uhd = Vec::new();
        for bucket in 0..buckets {
            let (file, content) = bytes(Kind::Uhd, Some(bucket))?;
            let postings = Uhd::read(&file, &content)?;
            let units = Units::new(records, postings.window());
            check(&file, "units", postings.unit_count(), units.len())?;
            uhd.push((postings, units));
        }
        Ok(Self {
            rows,
            uhd,
            dense,
            dense_units,
        })
    }

    /// The query's codes: from rows, in mode `full` beside those of the network.
    fn codes(
        &self,
        query: &Query<'_>,
        analyzed: &AnalyzedQuery,
        ranking: &Ranking,
    ) -> Result<EncodedQuery> {
        let by_rows = EncodedQuery {
            buckets: (0..self.uhd.len())
                .map(|bucket| self.rows.uhd_sum(bucket, &analyzed.pieces))
                .collect(),
            dense: self.rows.static_sum(&analyzed.pieces),
        };
        if query.mode != Mode::Full {
            return Ok(by_rows);
        }
        let encoded = query.encoded.ok_or(Error::QueryNotEncoded)?;
        self.check_shape(encoded)?;
        let share = &ranking.rows_in_full;
        Ok(encoded.binary().joined(&by_rows, share.uhd, share.dense))
    }

    fn check_shape(&self, encoded: &EncodedQuery) -> Result<()> {
        let check = |what: &str, found: usize, expected: usize| {
            let reason = format!("{found} {what}, not {expected}");
            (found == expected)
                .then_some(())
                .ok_or(Error::QueryMisfit { reason })
        };
        check("buckets", encoded.buckets.len(), self.uhd.len())?;
        check("dense values", encoded.dense.len(), self.dense.dim())
    }

    fn add(
        &self,
        weights: &Weights,
        mean_share: f32,
        codes: &EncodedQuery,
        fused: &mut Fused<'_>,
    ) -> Result<()> {
        for ((uhd, units), code) in self.uhd.iter().zip(&codes.buckets) {
            let scores = uhd.score(code, weights.query_k)?;
            fused.add_units(weights.uhd, mean_share, &scores, units);
        }
        let scores = self.dense.score(&codes.dense);
        fused.add_units(weights.dense, mean_share, &scores, &self.dense_units);
        Ok(())
    }
}

/// An anchor as the fragment of an address: what RFC 3986, section 3.5, does not allow there is
/// percent-encoded.
fn fragment(anchor: &str) -> String {
    let mut fragment = String::with_capacity(anchor.len());
    for byte in anchor.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(&byte) {
            fragment.push(char::from(byte));
        } else {
            fragment.push_str(&format!("%{byte:02X}"));
        }
    }
    fragment
}

fn check(file: &str, what: &str, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    let reason = format!("{found} {what} where the rest of the bundle has {expected}");
    Err(Error::Corrupt {
        file: file.to_owned(),
        reason,
    })
}

fn check_stemming(file: &str, found: Stemming, manifest: &Manifest) -> Result<()> {
    if found == manifest.stemming {
        return Ok(());
    }
    let reason = format!(
        "stemming {found:?} where the manifest has {:?}",
        manifest.stemming
    );
    Err(Error::Corrupt {
        file: file.to_owned(),
        reason,
    })
}

/// Per page the best of its units' scores.
fn best_of_pages(scores: &[f32], units: &Units) -> Vec<f32> {
    let mut best = Vec::new();
    while best.len() < units.page_count() {
        let of_page = units.of_page(PageId(best.len() as u32));
        best.push(
            scores[of_page]
                .iter()
                .copied()
                .fold(f32::NEG_INFINITY, f32::max),
        );
    }
    best
}

/// The weighted sum of z-scores, as it grows system by system.
struct Fused<'a> {
    records: &'a Passages,
    scores: Scores,
}

impl<'a> Fused<'a> {
    fn new(records: &'a Passages) -> Self {
        let scores = Scores {
            pages: vec![0.0; records.page_count()],
            found: Vec::new(),
            passages: vec![0.0; records.passage_count()],
        };
        Self { records, scores }
    }

    /// Adds a system by the scores of its units.
    fn add_units(&mut self, weight: f32, mean_share: f32, scores: &[f32], units: &Units) {
        let with_mean = |(page, best): (usize, f32)| {
            let of_page = &scores[units.of_page(PageId(page as u32))];
            let mean = of_page.iter().sum::<f32>() / of_page.len().max(1) as f32;
            best + mean_share * (mean - best)
        };
        let best = best_of_pages(scores, units);
        let pages: Vec<f32> = best.into_iter().enumerate().map(with_mean).collect();
        let records = self.records;
        self.add(weight, &pages, |page, passage| {
            let nth = passage as u32 - records.passages_of(page).start;
            scores[units.of_passage(page, nth)]
        });
    }

    /// Adds a system by the scores of pages and of their passages.
    fn add(&mut self, weight: f32, pages: &[f32], passage_score: impl Fn(PageId, usize) -> f32) {
        let moments = Moments::of(pages);
        for (page, score) in pages.iter().enumerate() {
            self.scores.pages[page] += weight * moments.z(*score);
            let page = PageId(page as u32);
            for passage in self.records.passages_of(page) {
                self.scores.passages[passage as usize] +=
                    weight * moments.z(passage_score(page, passage as usize));
            }
        }
    }

    fn finish(mut self, found: impl Fn(usize) -> bool) -> Scores {
        self.scores.found = (0..self.scores.pages.len()).map(found).collect();
        self.scores
    }

    /// Pages above the average are found, provided that the query was recognised. A site of one
    /// page has no spread: its page is found.
    fn finish_above_average(self, recognised: bool) -> Scores {
        let pages = self.scores.pages.clone();
        let single = pages.len() == 1;
        self.finish(|page| recognised && (single || pages[page] > 0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{BuildOptions, Builder, Bundle};
    use crate::encoded::{PassageCodes, PieceStatistics, TokenWinners};
    use crate::manifest::{BucketInfo, EncoderInfo};
    use crate::page::{Page, Passage};
    use crate::rows::GenericRows;

    fn bundle() -> Bundle {
        let encoder = EncoderInfo {
            dim: 2,
            buckets: vec![BucketInfo::default()],
            ..EncoderInfo::default()
        };
        let passage = Passage {
            text: "cat".to_owned(),
            anchor: Some("a b".to_owned()),
            ..Passage::default()
        };
        let page = Page {
            url: "/cat".to_owned(),
            passages: vec![passage],
            ..Page::default()
        };
        let codes = PassageCodes {
            winners: vec![TokenWinners::default()],
            dense: vec![1.0, 0.0],
            ..PassageCodes::default()
        };
        let generic = GenericRows {
            dim: 2,
            static_rows: vec![1.0, 0.0],
            ..GenericRows::default()
        };
        let mut builder = Builder::new(BuildOptions::default(), encoder);
        builder.add_page(page, &[codes]).unwrap();
        builder
            .finish(&["cat".to_owned()], &generic, &PieceStatistics::default())
            .unwrap()
    }

    fn open(bundle: &Bundle) -> Result<Engine> {
        let files = bundle.manifest.files.iter().zip(&bundle.files);
        Engine::open(bundle.manifest.clone(), |entry| {
            let mut files = files.clone();
            files
                .find(|(file, _)| *file == entry)
                .map(|(_, bytes)| bytes.clone())
        })
    }

    fn open_altered(alter: impl Fn(&mut Manifest)) -> Result<Engine> {
        let mut bundle = bundle();
        alter(&mut bundle.manifest);
        open(&bundle)
    }

    #[test]
    fn a_manifest_that_does_not_fit_its_files_is_refused() {
        assert!(open(&bundle()).is_ok());
        let alterations: [fn(&mut Manifest); 4] = [
            |manifest| manifest.pages = 2,
            |manifest| manifest.passages = 2,
            |manifest| manifest.stemming = Stemming::None,
            |manifest| manifest.encoder.buckets.clear(),
        ];
        for alter in alterations {
            assert!(matches!(open_altered(alter), Err(Error::Corrupt { .. })));
        }
    }

    #[test]
    fn anchors_become_fragments() {
        let plain = "where-to-use-the--operator_(1)~a.b:c@d/e?f!$&'*+,;=";
        assert_eq!(fragment(plain), plain);
        assert_eq!(fragment("a b%20\"<>`#"), "a%20b%2520%22%3C%3E%60%23");
        assert_eq!(fragment("é"), "%C3%A9");
        let query = Query {
            text: "cat",
            mode: Mode::Words,
            limit: 1,
            encoded: None,
        };
        let results = open(&bundle()).unwrap().search(&query).unwrap();
        assert_eq!(results[0].url, "/cat#a%20b");
    }

    #[test]
    fn an_encoded_query_of_another_shape_is_refused() {
        let engine = open(&bundle()).unwrap();
        let search = |buckets: usize, dense: usize| {
            let encoded = EncodedQuery {
                buckets: vec![vec![(0, 1.0)]; buckets],
                dense: vec![1.0; dense],
            };
            engine.search(&Query {
                text: "cat",
                mode: Mode::Full,
                limit: 1,
                encoded: Some(&encoded),
            })
        };
        assert!(search(1, 2).is_ok());
        assert!(matches!(search(0, 2), Err(Error::QueryMisfit { .. })));
        assert!(matches!(search(1, 3), Err(Error::QueryMisfit { .. })));
    }
}
