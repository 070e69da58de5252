//! What a site knows of words: one entry for each word, term and title, and one for each word of the
//! vocabulary that the site never uses.

use super::site::SiteCodes;
use super::{MIN_NEIGHBOUR_LETTERS, MIN_OCCURRENCES};
use crate::attributes::Choice;
use crate::dictionary::{Entry, Meaning};
use crate::lexical::SiteWord;
use crate::lists::PageList;
use crate::manifest::{Ranking, Spread};
use crate::meaning::{
    MOST_LISTED_PAGES, MOST_LISTED_PAGES_OF_FREQUENT_WORDS, NEIGHBOURS, Neighbour, Neighbourhood,
    Parts, SAMPLED_QUERIES, Site, lent_postings,
};
use crate::page;
use crate::pairs::{self, Followers};
use crate::query::{self, Dictionary, Miss, Part, Wanted};
use crate::ranked::Ranked;
use crate::text::{Analyzer, Stemming, TermKind, is_stop_word};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Words that may be neighbours of others, the most frequent ones.
const MAX_NEIGHBOUR_WORDS: usize = 12_000;
/// What a neighbour's postings count for a word that the site never uses, times how near it is. In an excerpt (explain.rs) it counts
/// more: there it competes with no word of the query.
const LENT_SHARE: f32 = 0.5;
/// How far the row of a word that the site never uses is drawn to those of its neighbours.
const SHARE_OF_NEIGHBOURS: f32 = 0.3;
/// One key in so many is common, …
const KEYS_PER_COMMON_KEY: usize = 8;
/// … and never more than these: their filter takes six bits a key and is part of the manifest.
const MOST_COMMON_KEYS: usize = 6_000;
/// Words of a query that was sampled, at most.
const WORDS_OF_A_SAMPLED_QUERY: usize = 4;

/// Entries by key.
#[derive(Debug)]
pub(super) struct Words<'a> {
    /// Words, terms and titles of the site.
    pub(super) site: BTreeMap<&'a str, Entry>,
    /// Words that the site never uses.
    pub(super) foreign: BTreeMap<&'a str, Entry>,
    /// How dense scores spread over the pages.
    pub(super) spread: Spread,
}

impl<'a> Words<'a> {
    /// The words of a site; pages have the numbers that they have in `codes`.
    pub(super) fn of(codes: &SiteCodes<'a>) -> Self {
        let words = codes.meaningful_words();
        let texts: Vec<&str> = words.iter().map(|(word, ..)| *word).collect();
        let parts = Parts {
            vocabulary: codes.vocabulary,
            dim: codes.shape.dim,
            static_rows: &codes.static_rows,
            uhd_rows: &codes.uhd_rows,
            buckets: &codes.buckets,
            shares: &codes.builder.encoder.bucket_shares(),
            codes: &codes.codes,
            mean_share: codes.builder.options.ranking.mean_share,
            span_share: codes.builder.options.ranking.span_share,
        };
        let site = Site::new(&parts, &texts, &codes.sampled_queries());
        let neighbourhood = neighbourhood(&site, &words);
        let place: Vec<u32> = (0..codes.shape.pages).collect();
        let postings = codes.builder.lexical.postings(&place);
        let mut entries: BTreeMap<&str, Entry> = BTreeMap::new();
        for (word, meaning) in meanings(&site, &neighbourhood, &words) {
            entries.entry(word).or_default().meaning = Some(meaning);
        }
        let foreign = codes.foreign_entries(&site, &neighbourhood, &postings);
        let followers = codes.followers();
        for (term, list) in postings {
            let entry = entries.entry(term).or_default();
            if let Some(own) = followers.get(term) {
                entry.followers = pairs::of_postings(own, &list);
            }
            entry.postings = list;
        }
        for (title, pages) in codes.builder.lexical.titles() {
            entries.entry(title).or_default().titled = pages.clone();
        }
        Self {
            site: entries,
            foreign,
            spread: site.spread(),
        }
    }

    /// Per text the best `count` pages of the first stage, as a reader who asks it would get them.
    pub(super) fn found(
        &self,
        texts: &[&str],
        analyzer: &Analyzer,
        ranking: &Ranking,
        pages: usize,
        count: usize,
    ) -> Vec<Vec<u32>> {
        crate::parallel::map(texts.len(), |i| {
            let Ok(terms) = query::terms(texts[i], analyzer) else {
                return Vec::new();
            };
            let mut none = Wanted::default();
            let query = query::analyze(&terms, usize::MAX, analyzer, self, true, &mut none);
            let Ok(query) = query else { return Vec::new() };
            let all = (pages, Choice::default());
            let ranked = Ranked::first_stage(query, "", &ranking.table, ranking.pairs, &[], all);
            ranked.best().iter().copied().take(count).collect()
        })
    }

    /// Gives page `i` of every list the number `place[i]`.
    pub(super) fn renumber(&mut self, place: &[u32]) {
        let entries = self.site.values_mut().chain(self.foreign.values_mut());
        entries.for_each(|entry| entry.renumber(place));
    }

    /// The keys of one word that most pages have, themselves or in another form.
    pub(super) fn common_keys(&self, words: &BTreeMap<String, SiteWord>) -> HashSet<&'a str> {
        let entries = &self.site;
        let pages = |key: &str| {
            entries
                .get(key)
                .map_or(0, |entry| entry.postings.entries.len())
        };
        let mut ranked: Vec<(usize, &str)> = entries
            .keys()
            .filter(|key| !key.contains(' '))
            .map(|key| {
                let term = words.get(*key).map_or("", |word| word.term.as_str());
                (pages(key).max(pages(term)), *key)
            })
            .collect();
        ranked.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
        ranked.truncate((entries.len() / KEYS_PER_COMMON_KEY).min(MOST_COMMON_KEYS));
        ranked.into_iter().map(|(_, key)| key).collect()
    }
}

impl Dictionary for Words<'_> {
    fn entry(&self, part: Part, key: &str) -> Result<Option<Entry>, Miss> {
        Ok(match part {
            Part::Site => self.site.get(key).cloned(),
            Part::Foreign => self.foreign.get(key).cloned(),
            Part::Spelling => None,
        })
    }

    fn with_prefix(&self, _: Part, _: &str) -> Result<Vec<String>, Miss> {
        Ok(Vec::new())
    }
}

impl<'a> SiteCodes<'a> {
    /// Which words follow which, where pages are short.
    fn followers(&self) -> HashMap<String, Vec<(u32, Followers)>> {
        let pages = &self.builder.pages;
        match page::are_short(pages) {
            true => pairs::followers(pages, &Analyzer::new(self.builder.options.stemming)),
            false => HashMap::new(),
        }
    }

    /// Words of the site that have a meaning: those that are pieces themselves, and those of
    /// several pieces that occur often enough.
    fn meaningful_words(&self) -> Vec<(&'a str, &'a str, u32)> {
        let words = self.builder.lexical.words().iter();
        let words = words.filter(|(word, site)| {
            self.vocabulary.id(word).is_some()
                || (site.occurrences >= self.builder.options.pieced_word_occurrences
                    && word.chars().all(char::is_alphabetic)
                    && self.vocabulary.encode_word(word).is_some())
        });
        words
            .map(|(word, site)| (word.as_str(), site.term.as_str(), site.occurrences))
            .collect()
    }

    /// What readers may ask: titles of pages from all over the site. Words that have nothing in
    /// common would spread less.
    fn sampled_queries(&self) -> Vec<Vec<String>> {
        let analyzer = Analyzer::new(self.builder.options.stemming);
        let pages = self.pages();
        let query = |i: usize| {
            let page = &self.builder.pages[i * pages / SAMPLED_QUERIES];
            let words = |text: &str| -> Vec<String> {
                let terms = analyzer.terms(text).into_iter();
                let words = terms
                    .filter(|term| term.kind == TermKind::Word && !is_stop_word(&term.surface));
                let words = words.map(|term| term.surface);
                words.take(WORDS_OF_A_SAMPLED_QUERY).collect()
            };
            let title = words(&page.title);
            match title.is_empty() {
                true => words(&page.passages[i % page.passages.len()].text),
                false => title,
            }
        };
        (0..SAMPLED_QUERIES).map(query).collect()
    }

    /// Words of the vocabulary that the site never uses, and, on a site of English, words that the
    /// encoder knows though its vocabulary has them only in parts.
    fn foreign_words(&self, postings: &BTreeMap<&str, PageList>) -> Vec<&'a str> {
        let known = self.builder.lexical.words();
        let is_foreign = |piece: &&str| {
            piece.chars().count() > 1
                && piece.chars().all(char::is_alphabetic)
                && !known.contains_key(*piece)
        };
        let pieces = self.vocabulary.pieces().iter().map(String::as_str);
        let whole = pieces.filter(is_foreign);
        let stemming = self.builder.options.stemming;
        let analyzer = Analyzer::new(stemming);
        let has_stem = |word: &&str| postings.contains_key(analyzer.stem(word).as_str());
        let in_parts = self.word_rows.keys().map(String::as_str);
        let in_parts = in_parts
            .filter(|word| stemming == Stemming::English && is_foreign(word) && !has_stem(word));
        let words: BTreeSet<&str> = whole.chain(in_parts).collect();
        words.into_iter().collect()
    }

    fn foreign_entries(
        &self,
        site: &Site<'_>,
        neighbourhood: &Neighbourhood<'_>,
        postings: &BTreeMap<&str, PageList>,
    ) -> BTreeMap<&'a str, Entry> {
        let words = self.foreign_words(postings);
        let analyzer = Analyzer::new(self.builder.options.stemming);
        let synonyms = self.synonyms_by_stem(&analyzer);
        let entries = crate::parallel::map(words.len(), |i| {
            let own = self.word_rows.get(words[i]).cloned();
            let row = own.or_else(|| site.row(words[i]))?;
            let synonyms = synonyms.get(&analyzer.stem(words[i]));
            let synonyms = synonyms.map_or(&[][..], Vec::as_slice);
            let near = neighbourhood.of_foreign(&row, synonyms);
            let row = neighbourhood.drawn(&row, &near, SHARE_OF_NEIGHBOURS);
            let mut meaning = site.meaning(words[i], row, MOST_LISTED_PAGES);
            let list = |term: &str| postings.get(term).cloned();
            let postings = lent_postings(&near, LENT_SHARE, self.pages(), list);
            meaning.neighbours = named(near.into_iter().take(NEIGHBOURS));
            let entry = Entry {
                postings,
                meaning: Some(meaning),
                ..Entry::default()
            };
            Some((words[i], entry))
        });
        entries.into_iter().flatten().collect()
    }

    /// Per stem the stems that a thesaurus puts near it; none on a site of another language than English.
    fn synonyms_by_stem(&self, analyzer: &Analyzer) -> HashMap<String, Vec<(String, f32)>> {
        let mut by_stem: HashMap<String, Vec<(String, f32)>> = HashMap::new();
        if self.builder.options.stemming != Stemming::English {
            return by_stem;
        }
        for (word, synonyms) in self.synonyms {
            let known = by_stem.entry(analyzer.stem(word)).or_default();
            known.extend(
                synonyms
                    .iter()
                    .map(|(synonym, nearness)| (analyzer.stem(synonym), *nearness)),
            );
        }
        by_stem
    }
}

/// Neighbours as the dictionary has them.
fn named<'a>(near: impl IntoIterator<Item = Neighbour<'a>>) -> Vec<(String, f32)> {
    let near = near.into_iter();
    near.map(|near| (near.word.to_owned(), near.similarity))
        .collect()
}

fn meanings<'b>(
    site: &Site<'_>,
    neighbourhood: &Neighbourhood<'_>,
    words: &[(&'b str, &'b str, u32)],
) -> Vec<(&'b str, Meaning)> {
    let mut occurrences: Vec<u32> = words.iter().map(|(.., occurrences)| *occurrences).collect();
    occurrences.sort_unstable_by(|a, b| b.cmp(a));
    let frequent = occurrences
        .get(MOST_COMMON_KEYS)
        .copied()
        .unwrap_or_default();
    let meanings = crate::parallel::map(words.len(), |i| {
        let (word, term, occurrences) = words[i];
        let most_pages = match occurrences > frequent {
            true => MOST_LISTED_PAGES_OF_FREQUENT_WORDS,
            false => MOST_LISTED_PAGES,
        };
        let mut meaning = site.meaning(word, site.row(word)?, most_pages);
        meaning.neighbours = named(neighbourhood.of(&meaning.row, term));
        Some((word, meaning))
    });
    meanings.into_iter().flatten().collect()
}

/// Words that may be neighbours.
fn neighbourhood<'b>(site: &Site<'_>, words: &[(&'b str, &'b str, u32)]) -> Neighbourhood<'b> {
    let mut frequent: Vec<(&str, &str, u32)> = words
        .iter()
        .copied()
        .filter(|(word, _, occurrences)| {
            *occurrences >= MIN_OCCURRENCES
                && word.chars().count() >= MIN_NEIGHBOUR_LETTERS
                && word.chars().all(char::is_alphabetic)
                && !is_stop_word(word)
        })
        .collect();
    frequent.sort_by(|a, b| b.2.cmp(&a.2).then_with(|| a.0.cmp(b.0)));
    frequent.truncate(MAX_NEIGHBOUR_WORDS);
    let with_row = |(word, term, _): (&'b str, &'b str, u32)| Some((word, term, site.row(word)?));
    Neighbourhood::new(frequent.into_iter().filter_map(with_row).collect())
}
