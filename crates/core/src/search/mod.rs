//! The engine: shards in, queries in, ranked pages out.
//!
//! A query is answered in stages, and each names the shards that it still needs instead of
//! fetching them: the dictionary's, those of the candidates' codes, those of the records shown.
//! Whoever drives the engine loads them, adds them and asks again until there is an answer.
//!
//! Systems (words, pages of like meaning, UHD buckets, dense) are fused as the weighted sum of
//! z-scores over all pages; of the dense bucket only candidates' codes are seen, its spread was
//! measured while indexing. Inside a page the passage that answers best is shown.

mod answer;
mod loaded;
mod stages;

pub use crate::ranked::Scores;
pub use answer::{Answer, Match, MatchKind, SearchResult, Section};

use crate::attributes::{Attributes, Choice, Condition, Sort};
use crate::container::Kind;
use crate::encoded::EncodedQuery;
use crate::error::{Error, Result};
use crate::explain::Sought;
use crate::manifest::{Manifest, Weights};
use crate::query::{self, AnalyzedQuery, Miss, Wanted};
use crate::quoted;
use crate::ranked::Ranked;
use crate::shards::{Need, ShardId};
use crate::sorted::SortedMap;
use crate::text::{Analyzer, Term};
use answer::{Ordered, order};
use loaded::{Loaded, Shown, shard};
use serde::Serialize;

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

/// What asking gives.
#[derive(Clone, Debug, PartialEq)]
pub enum Step<T> {
    /// These have to be added first; then ask again.
    Needs(Vec<Need>),
    /// The answer.
    Done(T),
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
            mut found,
            total,
        } = order(&ranked, query, attributes);
        for &page in order.iter().skip(passed_over) {
            if results.len() == most || results.len() + wanted.misses() == at_once {
                break;
            }
            if let Some(record) = wanted.take(self.record(page, query.mode))? {
                let result = self.result(page, record, &sought, &ranked, query);
                if result.is_none() {
                    found.to_mut()[page as usize] = false;
                }
                results.extend(result);
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
        let (all, pair_weight) = ((pages, choice), self.manifest.ranking.pairs);
        let Some(weights) = weights else {
            let ranked = Ranked::by_words(analyzed, query.text, pair_weight, all);
            return Ok(Step::Done(ranked));
        };
        let mut ranked =
            Ranked::first_stage(analyzed, query.text, weights, pair_weight, &overlaps, all);
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
}

/// What is wanted still, or what there is when that is nothing.
fn wanted_or<T>(wanted: Wanted, done: impl FnOnce() -> T) -> Step<T> {
    match wanted.is_empty() {
        true => Step::Done(done()),
        false => Step::Needs(wanted.into_needs()),
    }
}
