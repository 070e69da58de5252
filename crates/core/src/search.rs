//! The engine: shards in, queries in, ranked pages out.
//!
//! A query is answered in stages, and each names the shards that it still needs instead of
//! fetching them: the dictionary's, those of the candidates' codes, those of the records shown.
//! Whoever drives the engine loads them, adds them and asks again until there is an answer.
//!
//! Systems (words, pages of like meaning, UHD buckets, dense) are fused as the weighted sum of
//! z-scores over all pages; of the dense bucket only candidates' codes are seen, its spread was
//! measured while indexing. Inside a page the passage that answers best is shown.

use crate::attributes::{Attributes, Choice, Condition, Facet, FilterValue, Sort};
use crate::bytes::{self, Damage};
use crate::codes::{Codes, DenseQuery, page_score};
use crate::container::{self, Kind, Payload};
use crate::dictionary::{Dictionary as Shard, Entry, Shape};
use crate::encoded::{self, EncodedQuery};
use crate::error::{Error, Result};
use crate::explain::{PageTerms, Sought};
use crate::feedback;
use crate::fusion::Moments;
use crate::lexical::rarity;
use crate::manifest::{Manifest, Weights, Windows};
use crate::page::Page;
use crate::query::{self, AnalyzedQuery, Dictionary, Miss, Part, Wanted};
use crate::quoted;
use crate::ranked::Ranked;
pub use crate::ranked::Scores;
use crate::records::{Block, Records};
use crate::shards::{Directory, Need, ShardId, first_word, name_of};
use crate::sorted::SortedMap;
use crate::text::{Analyzer, Term};
use crate::top;
use crate::uhd::{Lists, Map};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

/// Results when no limit is given.
pub const DEFAULT_LIMIT: usize = 10;

/// Which systems answer a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
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
    /// Results to pass over: where a further page of results begins.
    pub first: usize,
    /// Most results wanted.
    pub limit: usize,
    /// Most sections wanted of each result's page.
    pub sections: usize,
    /// Which pages are wanted. With a condition or an order an empty query finds all of them.
    pub filter: Option<&'a Condition>,
    /// Order of the results, instead of that of their scores.
    pub sort: Option<Sort<'a>>,
    /// Tag of the language that pages should be in; no matter where the site has none of it.
    pub language: Option<&'a str>,
    /// Whether filters are wanted with the answer and its results.
    pub facets: bool,
    /// The query seen by the network; needed in mode `full`.
    pub encoded: Option<&'a EncodedQuery>,
}

impl Query<'_> {
    /// Whether all pages are found where nothing is asked.
    fn lists_all(&self) -> bool {
        self.filter.is_some() || self.sort.is_some()
    }
}

impl Default for Query<'_> {
    /// The first [`DEFAULT_LIMIT`] results of an empty query in mode `table`, without sections.
    fn default() -> Self {
        Self {
            text: "",
            mode: Mode::default(),
            first: 0,
            limit: DEFAULT_LIMIT,
            sections: 0,
            filter: None,
            sort: None,
            language: None,
            facets: false,
            encoded: None,
        }
    }
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
    /// What its author says of the page, by name.
    #[serde(serialize_with = "as_map")]
    pub meta: Vec<(String, String)>,
    /// The page's values of filters; none unless facets were asked for.
    pub filters: Vec<FilterValue>,
    /// Sections of the page that answer, best first, the one shown above among them; none unless
    /// they were asked for.
    pub sections: Vec<Section>,
}

/// Names with values as an object of that many keys.
fn as_map<S: Serializer>(
    pairs: &[(String, String)],
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, value)| (name, value)))
}

/// A section of a page found: what stands below one heading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Section {
    /// Address within the site with the section's anchor.
    pub url: String,
    /// The section's own heading; empty above the page's first.
    pub heading: String,
    /// Plain text around the first match.
    pub excerpt: String,
    /// Why it answers.
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

/// What asking gives.
#[derive(Clone, Debug, PartialEq)]
pub enum Step<T> {
    /// These have to be added first; then ask again.
    Needs(Vec<Need>),
    /// The answer.
    Done(T),
}

/// The answer to a query.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Answer {
    /// Pages found, from which `first` and `limit` choose; with phrases in quotes, which only a
    /// page's text can confirm, at most so many.
    pub total: usize,
    /// Best first.
    pub results: Vec<SearchResult>,
    /// Words that the reader may have meant instead of those that the site does not know.
    pub suggestions: Vec<String>,
    /// All values of the site's filters with what was found; none unless they were asked for.
    pub facets: Vec<Facet>,
}

/// Pages of the second stage, at least: where pages are long, a shard of codes holds but one or two.
const LEAST_CANDIDATES: usize = 50;
/// Pages that are sorted by a key instead of their scores, the best ones.
const MOST_SORTED: usize = 50;
/// What a passage gets that has a phrase in quotes, when the passage of a page is chosen: more than
/// all words and any dense score.
const QUOTED_BONUS: f32 = 100.0;

/// A shard of records, and the terms of those of its pages that were shown.
#[derive(Debug)]
struct Shown {
    records: Records,
    terms: Vec<OnceLock<PageTerms>>,
}

impl Shown {
    fn new(records: Records) -> Self {
        Self {
            terms: records.pages().map(|_| OnceLock::new()).collect(),
            records,
        }
    }

    fn page(&self, page: u32, analyzer: &Analyzer) -> Option<(&Page, &PageTerms)> {
        let (at, record) = self.records.page(page)?;
        let terms = self.terms.get(at)?;
        Some((
            record,
            terms.get_or_init(|| PageTerms::of(record, analyzer)),
        ))
    }
}

/// A bundle, as far as it is loaded.
#[derive(Debug)]
pub struct Engine {
    manifest: Manifest,
    analyzer: Analyzer,
    loaded: SortedMap<ShardId, Loaded>,
    /// Blocks of records, by their first page.
    blocks: SortedMap<u32, Shown>,
}

/// A shard, by what its kind holds: one map of all of them, since each type of map has its code in
/// the browser's module.
#[derive(Debug)]
enum Loaded {
    Dictionary(Shard),
    Codes(Codes),
    Records(Shown),
    Map(Map),
    Lists(Lists),
    Attributes(Attributes),
}

impl Engine {
    /// A bundle of which nothing but the manifest is loaded.
    #[must_use]
    pub fn new(manifest: Manifest) -> Self {
        Self {
            analyzer: Analyzer::new(manifest.stemming),
            manifest,
            loaded: SortedMap::default(),
            blocks: SortedMap::default(),
        }
    }

    /// The bundle's table of contents.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// A shard's path within the bundle.
    ///
    /// # Errors
    /// [`Error::MissingFile`] when the manifest names no such shard.
    pub fn path(&self, id: ShardId) -> Result<String> {
        self.manifest
            .shards
            .path(id)
            .ok_or_else(|| Error::MissingFile {
                file: format!("shard {} of kind {}", id.number, id.kind.prefix()),
            })
    }

    /// Adds a shard: the bytes of its file and, when these are deflated and the caller has
    /// inflated them already, the plain payload.
    ///
    /// # Errors
    /// When the bytes are not those that the manifest names, or damaged.
    pub fn add(&mut self, id: ShardId, file: &[u8], inflated: Option<&[u8]>) -> Result<()> {
        let path = self.path(id)?;
        if self.manifest.shards.name(id) != Some(name_of(file).as_str()) {
            return Err(Error::Corrupt {
                file: path,
                reason: "its content is not what its name says".to_owned(),
            });
        }
        match (container::unwrap(&path, id.kind, file)?, inflated) {
            (Payload::Plain(payload), _) => self.insert(id, &path, payload),
            (Payload::Deflated(_), Some(payload)) => self.insert(id, &path, payload),
            (Payload::Deflated(_), None) => Err(Error::Corrupt {
                file: path,
                reason: "a deflated payload that nobody inflated".to_owned(),
            }),
        }
    }

    /// Adds the block of records that begins with a page: its bytes as they stand in the file, and
    /// inflated.
    ///
    /// # Errors
    /// When no such block was needed, when the bytes are not those that the shard of codes names, or
    /// damaged.
    pub fn add_block(&mut self, page: u32, bytes: &[u8], inflated: &[u8]) -> Result<()> {
        let id = of_page(&self.manifest.shards.records, Kind::Records, page);
        let file = self.path(id)?;
        // Which shard of codes named the block is not told: it need not be that of its first page.
        let mut named = self.loaded.values().filter_map(|loaded| match loaded {
            Loaded::Codes(codes) => codes.block_of(page),
            _ => None,
        });
        let expected = named.next().filter(|block| {
            block.bytes.len() == bytes.len() && block.checksum == Block::checksum_of(bytes)
        });
        let Some(block) = expected else {
            return Err(Error::Corrupt {
                file,
                reason: format!("the bytes sent for page {page} are not those asked for"),
            });
        };
        let records = Records::read_block(block, inflated).map_err(|damage| damage.of(&file))?;
        self.blocks.insert(block.first_page, Shown::new(records));
        Ok(())
    }

    fn block_of(&self, page: u32) -> Option<&Block> {
        let codes = of_page(&self.manifest.shards.codes, Kind::Codes, page);
        match self.loaded.get(&codes)? {
            Loaded::Codes(codes) => codes.block_of(page),
            _ => None,
        }
    }

    fn insert(&mut self, id: ShardId, path: &str, payload: &[u8]) -> Result<()> {
        let loaded = self.read(id, payload).map_err(|damage| damage.of(path))?;
        if let Loaded::Codes(codes) = &loaded
            && codes.pages() != self.pages_of_codes(id)
        {
            return Err(Error::Corrupt {
                file: path.to_owned(),
                reason: "it has other pages than the manifest says".to_owned(),
            });
        }
        self.loaded.insert(id, loaded);
        Ok(())
    }

    fn read(&self, id: ShardId, payload: &[u8]) -> bytes::Result<Loaded> {
        let dim = self.manifest.encoder.dim;
        let pages = self.manifest.pages;
        Ok(match id.kind {
            Kind::Common | Kind::Words | Kind::Foreign | Kind::Spelling => {
                Loaded::Dictionary(Shard::read(payload, Shape { pages, dim })?)
            }
            Kind::Codes => Loaded::Codes(Codes::read(payload, dim)?),
            Kind::Records => Loaded::Records(Shown::new(Records::read(payload)?)),
            Kind::Attributes => Loaded::Attributes(Attributes::read(payload, pages)?),
            Kind::Map => Loaded::Map(Map::read(payload, pages)?),
            Kind::Uhd => {
                let windows = self.map(id.bucket).map_or(0, Map::windows);
                Loaded::Lists(Lists::read(payload, windows)?)
            }
        })
    }

    /// The pages of a shard of codes, by the manifest.
    fn pages_of_codes(&self, id: ShardId) -> Range<u32> {
        let starts = &self.manifest.shards.codes.starts;
        let start = |number: u32| starts.get(number as usize).copied();
        let end = start(id.number.saturating_add(1)).unwrap_or(self.manifest.pages);
        start(id.number).unwrap_or_default()..end
    }

    fn map(&self, bucket: u32) -> Option<&Map> {
        match self.loaded.get(&map_of(bucket))? {
            Loaded::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The best pages for a query, or the shards that are missing for it.
    ///
    /// # Errors
    /// When the query is empty or too long, when its mode needs what was not given, or when a
    /// shard is damaged.
    pub fn search(&self, query: &Query<'_>) -> Result<Step<Answer>> {
        let ranked = match self.rank(query, self.code_shards(query.mode))? {
            Step::Needs(needs) => return Ok(Step::Needs(needs)),
            Step::Done(ranked) => ranked,
        };
        let mut wanted = Wanted::default();
        let attributes = wanted.take(self.attributes(query))?.flatten();
        let mut results = Vec::new();
        let sought = Sought::by(&ranked.query, &self.analyzer);
        let end = query.first.saturating_add(query.limit);
        // Which pages have a phrase is known only once they are read, from the first on.
        let (passed_over, at_once) = match ranked.quoted {
            Some(_) => (0, end.max(quoted::PAGES_AT_ONCE)),
            None => (query.first, end - query.first),
        };
        let most = end - passed_over;
        let Ordered {
            order,
            found,
            total,
        } = order(&ranked, query, attributes);
        for &page in order.iter().skip(passed_over) {
            if results.len() == most || results.len() + wanted.misses() == at_once {
                break;
            }
            if let Some(record) = wanted.take(self.record(page, query.mode))? {
                results.extend(self.result(page, record, &sought, &ranked, query));
            }
        }
        if !wanted.is_empty() {
            return Ok(Step::Needs(wanted.into_needs()));
        }
        let total = match results.len() < most && ranked.quoted.is_some() {
            true => results.len(),
            false => total,
        };
        results.drain(..results.len().min(query.first - passed_over));
        let attributes = attributes.filter(|_| query.facets);
        Ok(Step::Done(Answer {
            total,
            results,
            suggestions: ranked.query.suggestions.clone(),
            facets: attributes.map_or_else(Vec::new, |all| all.facets(&found)),
        }))
    }

    /// Scores of every page, found or not, or the shards that are missing: what evaluation needs.
    /// The first stage passes on the pages of so many shards of codes.
    ///
    /// # Errors
    /// As [`Engine::search`].
    pub fn score(&self, query: &Query<'_>, code_shards: usize) -> Result<Step<Scores>> {
        Ok(match self.rank(query, code_shards)? {
            Step::Needs(needs) => Step::Needs(needs),
            Step::Done(ranked) => Step::Done(ranked.scores),
        })
    }

    /// Both stages.
    fn rank(&self, query: &Query<'_>, code_shards: usize) -> Result<Step<Ranked>> {
        let mut wanted = Wanted::default();
        let choice = self.choice(query, &mut wanted)?;
        let pages = self.manifest.pages as usize;
        let terms = match query::terms(query.text, &self.analyzer) {
            Err(Error::EmptyQuery) if query.lists_all() => {
                return Ok(wanted_or(wanted, || Ranked::all(pages, choice)));
            }
            terms => terms?,
        };
        let analyzed = self.analyze(query, &terms, &mut wanted)?;
        let overlaps = self.overlaps(query, &mut wanted)?;
        let weights = self.weights(query.mode);
        if !wanted.is_empty() {
            if weights.is_some() {
                self.want_whole_codes(&mut wanted);
            }
            return Ok(Step::Needs(wanted.into_needs()));
        }
        let Some(weights) = weights else {
            let ranked = Ranked::by_words(analyzed, query.text, pages, choice);
            return Ok(Step::Done(ranked));
        };
        let all = (pages, choice);
        let mut ranked = Ranked::first_stage(analyzed, query.text, weights, &overlaps, all);
        let vector = self.query_vector(query, &ranked.query)?;
        self.second_stage(&vector, weights, code_shards, &mut ranked, &mut wanted);
        Ok(wanted_or(wanted, || ranked))
    }

    /// The attributes of the pages, if the query needs them and the site has any.
    fn attributes(&self, query: &Query<'_>) -> std::result::Result<Option<&Attributes>, Miss> {
        let language = query.language.is_some() && self.manifest.languages > 1;
        let chosen = language || query.filter.is_some();
        let asked = chosen || query.sort.is_some() || query.facets;
        let is_needed = asked || self.manifest.weighted_pages > 0;
        if !is_needed || self.manifest.shards.attributes.is_empty() {
            return Ok(None);
        }
        let id = shard(Kind::Attributes, 0);
        match self.loaded.get(&id) {
            Some(Loaded::Attributes(attributes)) => Ok(Some(attributes)),
            _ => Err(Miss::Shard(id.into())),
        }
    }

    /// What the query asks of pages whatever their text. What no page has, no page is found by.
    fn choice(&self, query: &Query<'_>, wanted: &mut Wanted) -> Result<Choice> {
        let attributes = wanted.take(self.attributes(query))?.flatten();
        let none = Attributes::default();
        let attributes = attributes.unwrap_or(&none);
        let pages = self.manifest.pages as usize;
        Ok(Choice::of(attributes, query.filter, query.language, pages))
    }

    fn analyze(
        &self,
        query: &Query<'_>,
        terms: &[Term],
        wanted: &mut Wanted,
    ) -> Result<AnalyzedQuery> {
        let with_meaning = query.mode != Mode::Words;
        query::analyze(
            terms,
            query.text.len(),
            &self.analyzer,
            self,
            with_meaning,
            wanted,
        )
    }

    fn weights(&self, mode: Mode) -> Option<&Weights> {
        match mode {
            Mode::Words => None,
            Mode::Table => Some(&self.manifest.ranking.table),
            Mode::Full => Some(&self.manifest.ranking.full),
        }
    }

    /// Shards of codes that a query of this mode fetches.
    #[must_use]
    pub fn code_shards(&self, mode: Mode) -> usize {
        match mode {
            Mode::Full => self.manifest.ranking.code_shards_in_full,
            Mode::Words | Mode::Table => self.manifest.ranking.code_shards,
        }
    }

    /// Codes of which there is but one shard are needed whatever the words find: with the words' shards
    /// they cost no round trip of their own.
    fn want_whole_codes(&self, wanted: &mut Wanted) {
        let whole = shard(Kind::Codes, 0);
        if self.manifest.shards.codes.len() == 1 && self.loaded.get(&whole).is_none() {
            wanted.insert(whole);
        }
    }

    /// Pages by the codes of their windows: all pages of the shards that hold the best ones.
    fn second_stage(
        &self,
        vector: &[f32],
        weights: &Weights,
        code_shards: usize,
        ranked: &mut Ranked,
        wanted: &mut Wanted,
    ) {
        let mut shards = Vec::new();
        for id in self.best_code_shards(ranked, code_shards) {
            match self.loaded.get(&id) {
                Some(Loaded::Codes(codes)) => shards.push(codes),
                _ => wanted.insert(id),
            }
        }
        if !wanted.is_empty() {
            return;
        }
        let dense = DenseQuery::new(vector);
        let (spread, share) = (self.manifest.dense, self.manifest.ranking.mean_share);
        score_windows(&shards, &dense, &mut |page, mut windows| {
            for score in &mut windows {
                *score = match dense.is_zero() {
                    true => 0.0,
                    false => (*score - spread.mean) / spread.deviation.max(f32::EPSILON),
                };
            }
            let score = page_score(windows.iter().copied(), share);
            ranked.add_dense(page, weights.dense * score, windows);
        });
        ranked.finish_candidates(LEAST_CANDIDATES);
        if weights.feedback > 0.0 && !dense.is_zero() {
            self.feed_back(weights.feedback, &shards, ranked);
        }
    }

    /// Adds to all candidates how much they are like the best ones.
    fn feed_back(&self, weight: f32, shards: &[&Codes], ranked: &mut Ranked) {
        let best = ranked.order(feedback::PAGES);
        let best_score = best.first().map_or(0.0, |page| ranked.score(*page));
        let mut sought = vec![0.0; self.manifest.encoder.dim];
        for page in best.into_iter().take(feedback::PAGES) {
            let windows = shards.iter().find_map(|codes| codes.of_page(page));
            if let Some(code) = windows.and_then(|mut all| all.nth(ranked.best_window(page))) {
                let weight = feedback::weight(best_score - ranked.score(page));
                feedback::add(&mut sought, weight, code);
            }
        }
        let share = self.manifest.ranking.mean_share;
        let (mut pages, mut likeness) = (Vec::new(), Vec::new());
        score_windows(shards, &DenseQuery::new(&sought), &mut |page, windows| {
            pages.push(page);
            likeness.push(page_score(windows.iter().copied(), share));
        });
        let moments = Moments::of(&likeness);
        for (page, likeness) in pages.into_iter().zip(likeness) {
            ranked.add(page, weight * moments.z(likeness));
        }
    }

    /// The shards of codes that hold the best pages of the first stage, `count` of them; more where
    /// these hold few pages, or pages have to be looked through for phrases. Where a filter leaves but
    /// some pages of each, twice as many.
    fn best_code_shards(&self, ranked: &Ranked, count: usize) -> Vec<ShardId> {
        let codes = &self.manifest.shards.codes;
        let mut chosen = Vec::new();
        let (mut pages, mut candidates) = (0, 0);
        let pages_to_look_through = ranked.quoted.as_ref().map_or(0, |_| quoted::MOST_PAGES);
        for (at, page) in ranked.best().into_iter().enumerate() {
            let enough_shards = match candidates < LEAST_CANDIDATES {
                true => count.saturating_mul(2),
                false => count,
            };
            let enough = pages >= LEAST_CANDIDATES && at >= pages_to_look_through;
            if enough && chosen.len() >= enough_shards {
                break;
            }
            let id = of_page(codes, Kind::Codes, page);
            if !chosen.contains(&id) {
                chosen.push(id);
                let its = self.pages_of_codes(id);
                pages += its.len();
                candidates += its.filter(|page| ranked.may_be_found(*page)).count();
            }
        }
        chosen
    }

    /// A page's record: of its shard or of its block, whichever is there. Where neither is, the shard
    /// of codes that names the block is needed first, if the mode has any use for those: it and the
    /// block are a fraction of a shard of records.
    fn record(&self, page: u32, mode: Mode) -> std::result::Result<(&Page, &PageTerms), Miss> {
        let id = of_page(&self.manifest.shards.records, Kind::Records, page);
        let block = self.block_of(page);
        let shown = match (self.loaded.get(&id), block) {
            (Some(Loaded::Records(shown)), _) => Some(shown),
            (None, Some(block)) => self.blocks.get(&block.first_page),
            _ => None,
        };
        let need = || Need {
            shard: id,
            blocks: block.cloned().into_iter().collect(),
        };
        let codes = of_page(&self.manifest.shards.codes, Kind::Codes, page);
        if shown.is_none() && mode != Mode::Words && self.loaded.get(&codes).is_none() {
            return Err(Miss::Shard(codes.into()));
        }
        let found = shown.ok_or_else(|| Miss::Shard(need()))?;
        found
            .page(page, &self.analyzer)
            .ok_or_else(|| self.misplaced(id))
    }

    fn damaged(&self, id: ShardId, damage: Damage) -> Error {
        damage.of(&self.manifest.shards.path(id).unwrap_or_default())
    }

    fn misplaced(&self, id: ShardId) -> Miss {
        let file = self.manifest.shards.path(id).unwrap_or_default();
        Miss::Damaged(Error::Corrupt {
            file,
            reason: "a page that should be in it is not".to_owned(),
        })
    }

    /// The query's dense vector: the sum of its words' rows, in mode `full` beside the network's.
    fn query_vector(&self, query: &Query<'_>, analyzed: &AnalyzedQuery) -> Result<Vec<f32>> {
        let dim = self.manifest.encoder.dim;
        let mut by_rows = vec![0.0; dim];
        for (meaning, weight) in analyzed
            .words
            .iter()
            .filter_map(|word| word.meaning.as_ref())
        {
            for (sum, value) in by_rows.iter_mut().zip(&meaning.row) {
                *sum += weight * value;
            }
        }
        if query.mode != Mode::Full {
            return Ok(by_rows);
        }
        let encoded = self.encoded(query)?;
        let share = self.manifest.ranking.rows_in_full;
        Ok(encoded::joined(&encoded.dense, &by_rows, share))
    }

    fn encoded<'a>(&self, query: &Query<'a>) -> Result<&'a EncodedQuery> {
        let encoded = query.encoded.ok_or(Error::QueryNotEncoded)?;
        let check = |what: &str, found: usize, expected: usize| {
            let reason = format!("{found} {what}, not {expected}");
            (found == expected)
                .then_some(())
                .ok_or(Error::QueryMisfit { reason })
        };
        let encoder = &self.manifest.encoder;
        check("buckets", encoded.buckets.len(), encoder.buckets.len())?;
        check("dense values", encoded.dense.len(), encoder.dim)?;
        Ok(encoded)
    }

    /// In mode `full`, per bucket the score of every page by weighted overlap (eq. 7).
    fn overlaps(&self, query: &Query<'_>, wanted: &mut Wanted) -> Result<Vec<Vec<f32>>> {
        let mut scores = Vec::new();
        if query.mode != Mode::Full {
            return Ok(scores);
        }
        let encoded = self.encoded(query)?;
        for (bucket, code) in (0u32..).zip(&encoded.buckets) {
            match self.map(bucket) {
                Some(map) => scores.push(self.overlap(bucket, map, code, wanted)?),
                None => wanted.insert(map_of(bucket)),
            }
        }
        Ok(scores)
    }

    /// The code is binary: a dimension counts by its rarity alone.
    fn overlap(
        &self,
        bucket: u32,
        map: &Map,
        code: &[(u32, f32)],
        wanted: &mut Wanted,
    ) -> Result<Vec<f32>> {
        let windows = map.windows();
        let mut lists = Vec::new();
        for (dimension, _) in code {
            let Some(place) = map.place(*dimension) else {
                continue;
            };
            let directory = self.manifest.shards.uhd.get(bucket as usize);
            let Some(number) = directory.and_then(|directory| directory.find(&place)) else {
                continue;
            };
            let id = ShardId {
                kind: Kind::Uhd,
                bucket,
                number,
            };
            let Some(Loaded::Lists(shard)) = self.loaded.get(&id) else {
                wanted.insert(id);
                continue;
            };
            let list = shard.windows_at(place);
            let list = list.map_err(|damage| self.damaged(id, damage))?;
            lists.push((rarity(windows as usize, list.len()), list));
        }
        let mut overlaps = vec![0.0; windows as usize];
        let query_k = self.manifest.ranking.full.query_k;
        let strongest = top::by_score((0..).zip(lists.iter().map(|(weight, _)| *weight)));
        for at in strongest.into_iter().take(query_k) {
            let (weight, list) = &lists[at as usize];
            for &window in list {
                overlaps[window as usize] += weight;
            }
        }
        Ok(map.page_scores(&overlaps, self.manifest.ranking.mean_share))
    }

    fn result(
        &self,
        page: u32,
        (record, terms): (&Page, &PageTerms),
        sought: &Sought<'_>,
        ranked: &Ranked,
        query: &Query<'_>,
    ) -> Option<SearchResult> {
        let sections = query.sections;
        let quoted = match &ranked.quoted {
            None => None,
            Some((quoted, _)) => Some(quoted.passages(record, &self.analyzer)?),
        };
        let windows = ranked.windows_of(page);
        let rule = Windows {
            window: self.manifest.window,
            page_windows: self.manifest.page_windows,
        };
        let window = rule.as_written(record.passages.len(), windows.len());
        let dense = |passage: usize| {
            let score = windows.get(passage / window);
            let quoted = quoted.as_ref().and_then(|quoted| quoted.get(passage));
            let bonus = f32::from(u8::from(quoted.copied().unwrap_or_default())) * QUOTED_BONUS;
            score.copied().unwrap_or_default() + bonus
        };
        let best = sought.best_passages(record, terms, dense, sections.max(1));
        let mut answering = best
            .into_iter()
            .map(|passage| section(record, passage, sought, terms));
        let shown = answering.next()?;
        let rest = answering.filter(|section| !section.matches.is_empty());
        let all = std::iter::once(shown.clone()).chain(rest);
        Some(SearchResult {
            title: record.title.clone(),
            score: ranked.scores.pages[page as usize],
            sections: all.take(sections).collect(),
            url: shown.url,
            heading: shown.heading,
            excerpt: shown.excerpt,
            matches: shown.matches,
            meta: record.attributes.meta.clone(),
            filters: match query.facets {
                true => self.filters_of(page),
                false => Vec::new(),
            },
        })
    }

    fn filters_of(&self, page: u32) -> Vec<FilterValue> {
        match self.loaded.get(&shard(Kind::Attributes, 0)) {
            Some(Loaded::Attributes(attributes)) => attributes.filters_of(page),
            _ => Vec::new(),
        }
    }

    /// The shard of a dictionary that a key would be in, if there is one.
    fn dictionary(
        &self,
        kind: Kind,
        key: &str,
    ) -> std::result::Result<Option<(ShardId, &Shard)>, Miss> {
        let shards = &self.manifest.shards;
        let directory = match kind {
            Kind::Common => &shards.common,
            Kind::Foreign => &shards.foreign,
            Kind::Spelling => &shards.spelling,
            _ => &shards.words,
        };
        let Some(number) = directory.find(key) else {
            return Ok(None);
        };
        let id = shard(kind, number);
        match self.loaded.get(&id) {
            Some(Loaded::Dictionary(found)) => Ok(Some((id, found))),
            _ => Err(Miss::Shard(id.into())),
        }
    }

    fn entry_in(&self, kind: Kind, key: &str) -> std::result::Result<Option<Entry>, Miss> {
        match self.dictionary(kind, key)? {
            None => Ok(None),
            Some((id, shard)) => {
                let damaged = |damage| Miss::Damaged(self.damaged(id, damage));
                shard.get(key).map_err(damaged)
            }
        }
    }

    /// Whether a key of the site is, or would be, among the common ones: there is its first word.
    fn is_common(&self, key: &str) -> std::result::Result<bool, Miss> {
        let word = first_word(key);
        if !self.manifest.shards.common_keys.may_have(word) {
            return Ok(false);
        }
        let shard = self.dictionary(Kind::Common, word)?;
        Ok(shard.is_some_and(|(_, shard)| shard.has(word)))
    }
}

/// Scores the windows of every page of some shards.
fn score_windows(shards: &[&Codes], query: &DenseQuery, each: &mut dyn FnMut(u32, Vec<f32>)) {
    for codes in shards {
        for page in codes.pages() {
            let mut scores = Vec::new();
            if let Some(windows) = codes.of_page(page) {
                windows.for_each(|code| scores.push(query.score(code)));
            }
            each(page, scores);
        }
    }
}

impl Dictionary for Engine {
    fn entry(&self, part: Part, key: &str) -> std::result::Result<Option<Entry>, Miss> {
        let kind = match part {
            Part::Site if self.is_common(key)? => Kind::Common,
            Part::Site => Kind::Words,
            Part::Foreign => Kind::Foreign,
            Part::Spelling => Kind::Spelling,
        };
        self.entry_in(kind, key)
    }

    fn with_prefix(&self, part: Part, prefix: &str) -> std::result::Result<Vec<String>, Miss> {
        let kinds: &[Kind] = match part {
            Part::Site => &[Kind::Common, Kind::Words],
            Part::Foreign => &[Kind::Foreign],
            Part::Spelling => &[Kind::Spelling],
        };
        for kind in kinds {
            if let Some((_, shard)) = self.dictionary(*kind, prefix)? {
                let keys = shard.with_prefix(prefix).map(str::to_owned);
                let keys: Vec<String> = keys.filter(|key| !key.contains(' ')).collect();
                if !keys.is_empty() {
                    return Ok(keys);
                }
            }
        }
        Ok(Vec::new())
    }
}

/// What is wanted still, or what there is when that is nothing.
fn wanted_or<T>(wanted: Wanted, done: impl FnOnce() -> T) -> Step<T> {
    match wanted.is_empty() {
        true => Step::Done(done()),
        false => Step::Needs(wanted.into_needs()),
    }
}

/// Pages found.
struct Ordered<'a> {
    /// As they are wanted, as far as they are.
    order: Vec<u32>,
    /// Which pages of the site are found.
    found: Cow<'a, [bool]>,
    /// How many these are.
    total: usize,
}

/// The pages found in the order that is wanted. By a sort key come the best pages only: a question finds
/// every page that has to do with it at all, and those would come first by chance. By a key that no page
/// has nothing is sorted.
fn order<'a>(
    ranked: &'a Ranked,
    query: &Query<'_>,
    attributes: Option<&Attributes>,
) -> Ordered<'a> {
    let end = query.first.saturating_add(query.limit);
    let found = &ranked.scores.found;
    let sort = query.sort.zip(attributes);
    let Some((sort, attributes)) = sort.filter(|(sort, all)| all.has_sort_key(sort.key)) else {
        return Ordered {
            order: ranked.order(end),
            found: found.into(),
            total: ranked.scores.count(),
        };
    };
    let most = match ranked.query.words.is_empty() {
        true => found.len(),
        false => MOST_SORTED,
    };
    let best = ranked.order(most);
    let mut is_best = vec![false; found.len()];
    best.iter().for_each(|&page| is_best[page as usize] = true);
    Ordered {
        order: attributes.sorted(&best, sort),
        found: is_best.into(),
        total: best.len(),
    }
}

fn shard(kind: Kind, number: u32) -> ShardId {
    ShardId {
        kind,
        bucket: 0,
        number,
    }
}

/// The map of a bucket.
fn map_of(bucket: u32) -> ShardId {
    ShardId {
        kind: Kind::Map,
        bucket,
        number: 0,
    }
}

/// The shard that holds a page.
fn of_page(directory: &Directory<u32>, kind: Kind, page: u32) -> ShardId {
    shard(kind, directory.find(&page).unwrap_or_default())
}

/// The section of a page that a passage stands in, as that passage shows it.
fn section(page: &Page, passage: usize, sought: &Sought<'_>, terms: &PageTerms) -> Section {
    let explanation = sought.explain(page, passage, terms);
    let passage = page.passages.get(passage);
    let anchor = passage.and_then(|passage| passage.anchor.as_ref());
    let anchor = anchor.map(|anchor| format!("#{}", fragment(anchor)));
    let heading = passage.and_then(|passage| passage.headings.last());
    Section {
        url: format!("{}{}", page.url, anchor.unwrap_or_default()),
        heading: heading.cloned().unwrap_or_default(),
        excerpt: explanation.excerpt,
        matches: explanation.matches,
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
