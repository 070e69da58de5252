//! Pages as a query ranks them, stage by stage.
//!
//! The first stage knows all pages by words and by the words' pages of like meaning (in mode `full`
//! by UHD postings too); the second adds the dense scores of its candidates. A system's scores count
//! as z-scores over all pages; those of words as though at least some pages had all words of the query,
//! so that a chance hit among words that the site hardly knows does not drown what the codes say.

use crate::attributes::Choice;
use crate::fusion::Moments;
use crate::impact::rarity;
use crate::manifest::Weights;
use crate::pairs;
use crate::query::{AnalyzedQuery, Relation};
use crate::quoted::{self, Quoted};
use crate::text::TermKind;
use crate::top;
use std::ops::Range;

/// Scores of all pages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scores {
    /// Fused score: `[pages]`. Pages that are no candidates stand below all that are, in the order
    /// of the first stage.
    pub pages: Vec<f32>,
    /// Whether a page is a result at all: `[pages]`.
    pub found: Vec<bool>,
}

impl Scores {
    /// How many pages are results.
    #[must_use]
    pub fn count(&self) -> usize {
        self.found.iter().filter(|found| **found).count()
    }
}

/// How far below the candidates other pages stand.
const BELOW_CANDIDATES: f32 = 1e4;
/// What a page gets whose title is the query: more than any sum of z-scores.
const TITLE_BONUS: f32 = 100.0;
/// Share of the best page's score by words from which on a page is a result for its words alone.
const WORDS_ENOUGH: f32 = 0.8;

/// Pages as they are being ranked.
pub(crate) struct Ranked {
    pub(crate) query: AnalyzedQuery,
    /// Score of the first stage: `[pages]`.
    first: Vec<f32>,
    pub(crate) scores: Scores,
    /// Scores by words, pairs aside: `[pages]`.
    words: Vec<f32>,
    /// Dense scores of the candidates' windows: `[pages]`, empty for pages that are none.
    windows: Vec<Vec<f32>>,
    /// Phrases in quotes, and which pages may have them: `[pages]`.
    pub(crate) quoted: Option<(Quoted, Vec<bool>)>,
    choice: Choice,
}

impl Ranked {
    /// Pages by words alone: their final order.
    pub(crate) fn by_words(
        query: AnalyzedQuery,
        text: &str,
        pair_weight: f32,
        (pages, choice): (usize, Choice),
    ) -> Self {
        let words = word_scores(&query, pages);
        let with_pairs = pairs::added(&pairs::lists(&query, pages), pair_weight, &words);
        let mut ranked = Self::new(query, text, pages, choice);
        let moments = Moments::of(&with_pairs);
        add_z(&mut ranked.scores.pages, 1.0, &with_pairs, moments);
        ranked.finish(|page| words[page as usize] > 0.0);
        ranked
    }

    /// All pages of a choice: what is found where nothing is asked.
    pub(crate) fn all(pages: usize, choice: Choice) -> Self {
        let mut ranked = Self::new(AnalyzedQuery::default(), "", pages, choice);
        ranked.finish(|_| true);
        ranked
    }

    /// Pages by words, by pages of like meaning and by the overlaps of UHD buckets, each with the share of
    /// their weight that it has.
    pub(crate) fn first_stage(
        query: AnalyzedQuery,
        text: &str,
        weights: &Weights,
        pair_weight: f32,
        overlaps: &[(f32, Vec<f32>)],
        (pages, choice): (usize, Choice),
    ) -> Self {
        let words = word_scores(&query, pages);
        let pairs = pairs::lists(&query, pages);
        let with_pairs = pairs::added(&pairs, pair_weight, &words);
        let meaning = meaning_scores(&query, pages);
        let matching = weights.least_share(pages);
        let of_pairs = pairs.iter().map(|list| list.scale).sum::<f32>();
        let least = matching.sqrt() * (whole_match(&query, pages) + pair_weight * of_pairs);
        let mut ranked = Self::new(query, text, pages, choice);
        let mut add = |first: f32, last: f32, scores: &[f32], moments: Moments| {
            add_z(&mut ranked.first, first, scores, moments);
            add_z(&mut ranked.scores.pages, last, scores, moments);
        };
        let of_words = Moments::of(&with_pairs).spread_by(least);
        add(weights.words, weights.words, &with_pairs, of_words);
        let of_meaning = Moments::of(&meaning);
        add(weights.meaning_first, weights.meaning, &meaning, of_meaning);
        for (share, overlaps) in overlaps {
            let weight = weights.uhd * share;
            add(weight, weight, overlaps, Moments::of(overlaps));
        }
        ranked.words = words;
        ranked
    }

    fn new(query: AnalyzedQuery, text: &str, pages: usize, choice: Choice) -> Self {
        let mut prior = vec![0.0; pages];
        for &(page, bonus) in choice.bonus() {
            prior[page as usize] = bonus;
        }
        let quoted = Quoted::of(text).map(|quoted| {
            let may_be_in = quoted.may_be_in(&query, pages);
            (quoted, may_be_in)
        });
        Self {
            query,
            quoted,
            first: prior.clone(),
            scores: Scores {
                pages: prior,
                found: vec![false; pages],
            },
            words: Vec::new(),
            windows: vec![Vec::new(); pages],
            choice,
        }
    }

    /// Adds what a candidate's codes say: its score, and the dense scores of its windows.
    pub(crate) fn add_dense(&mut self, page: u32, score: f32, windows: Vec<f32>) {
        if let Some(total) = self.scores.pages.get_mut(page as usize) {
            *total += score;
            self.windows[page as usize] = windows;
        }
    }

    /// A page's fused score.
    pub(crate) fn score(&self, page: u32) -> f32 {
        self.scores.pages[page as usize]
    }

    /// Adds to a page's fused score.
    pub(crate) fn add(&mut self, page: u32, score: f32) {
        if let Some(total) = self.scores.pages.get_mut(page as usize) {
            *total += score;
        }
    }

    /// The window of a candidate that is nearest to the query.
    pub(crate) fn best_window(&self, page: u32) -> usize {
        let windows = self.windows_of(page);
        let mut best = 0;
        for (window, score) in windows.iter().enumerate() {
            if *score > windows[best] {
                best = window;
            }
        }
        best
    }

    /// Whether a page is not ruled out, by the choice or by phrases in quotes.
    pub(crate) fn may_be_found(&self, page: u32) -> bool {
        let quoted = self.quoted.as_ref();
        self.choice.allows(page) && quoted.is_none_or(|(_, may_be_in)| may_be_in[page as usize])
    }

    /// Dense scores of a candidate's windows.
    pub(crate) fn windows_of(&self, page: u32) -> &[f32] {
        self.windows.get(page as usize).map_or(&[], Vec::as_slice)
    }

    /// Pages by the first stage, best first, by turns of two orders: one in which meaning counts as in
    /// the final score, and one in which it counts more, for queries in other words than the site's.
    /// Before all others come those whose title the query is; last, in no order, those below the
    /// average in both.
    pub(crate) fn best(&self) -> Vec<u32> {
        let title = |page| f32::from(u8::from(self.query.titled.contains(&page))) * TITLE_BONUS;
        let may_be_found = |page: &u32| self.may_be_found(*page);
        let by = |scores: &[f32]| {
            let above = (0..).zip(scores).filter(|(_, score)| **score > 0.0);
            let above = above.filter(|(page, _)| may_be_found(page));
            top::by_score(above.map(|(page, score)| (page, score + title(page))))
        };
        let (first, second) = (by(&self.scores.pages), by(&self.first));
        let turns = 0..first.len().max(second.len());
        let turns = turns.flat_map(|turn| [first.get(turn), second.get(turn)]);
        let all = (0..self.first.len() as u32).filter(may_be_found);
        let mut taken = vec![false; self.first.len()];
        let pages = turns.flatten().copied().chain(all);
        pages
            .filter(|&page| !std::mem::replace(&mut taken[page as usize], true))
            .collect()
    }

    /// Tells which pages are found: pages with the title in any case, and no page without the phrases
    /// in quotes.
    fn finish(&mut self, is_found: impl Fn(u32) -> bool) {
        for page in 0..self.scores.pages.len() as u32 {
            let titled = self.query.titled.contains(&page);
            let found = self.may_be_found(page) && (titled || is_found(page));
            self.scores.found[page as usize] = found;
            if titled {
                self.scores.pages[page as usize] += TITLE_BONUS;
            }
        }
    }

    /// Candidates above the average are found, provided that the query was recognised; so are those
    /// that have its words about as well as the best page, even where all pages have them. A site of
    /// one page has no spread: its page is found. Pages that are no candidates come after those; where
    /// a filter leaves fewer than `least` candidates and others beside, pages that have the words
    /// about as well as the best that it leaves are found, candidates or not.
    pub(crate) fn finish_candidates(&mut self, least: usize) {
        let recognised = self.query.is_recognised();
        let all = self.scores.pages.len() == 1 || self.quoted.is_some();
        let are_few = self.quoted.is_none() && self.leaves_few_candidates(least);
        let compared = (0u32..).zip(&self.words);
        let compared = compared.filter(|(page, _)| !are_few || self.may_be_found(*page));
        let most = compared.fold(f32::EPSILON, |most, (_, &words)| most.max(words));
        let mut found = vec![false; self.first.len()];
        for (page, windows) in self.windows.iter().enumerate() {
            let score = &mut self.scores.pages[page];
            let has_words = self.words[page] >= WORDS_ENOUGH * most;
            if windows.is_empty() {
                *score = self.first[page] - BELOW_CANDIDATES;
                found[page] = recognised && are_few && has_words;
            } else {
                found[page] = recognised && (all || has_words || *score > 0.0);
            }
        }
        self.finish(|page| found[page as usize]);
    }

    /// Whether of the pages that may be found fewer than `least` are candidates, and not all.
    fn leaves_few_candidates(&self, least: usize) -> bool {
        let (mut candidates, mut others) = (0, 0);
        for (page, windows) in (0u32..).zip(&self.windows) {
            if self.may_be_found(page) {
                *if windows.is_empty() {
                    &mut others
                } else {
                    &mut candidates
                } += 1;
            }
        }
        candidates < least && others > 0
    }

    /// The pages found, best first, at most so many; with phrases to look for, more.
    pub(crate) fn order(&self, limit: usize) -> Vec<u32> {
        let limit = match self.quoted {
            Some(_) => limit.max(quoted::MOST_PAGES),
            None => limit,
        };
        let scores = (0u32..).zip(&self.scores.pages).zip(&self.scores.found);
        let found = scores.filter_map(|((page, &score), &found)| found.then_some((page, score)));
        let mut order = top::by_score(found);
        order.truncate(limit);
        order
    }
}

/// Adds the weighted z-scores of a system to all pages.
fn add_z(sum: &mut [f32], weight: f32, scores: &[f32], moments: Moments) {
    if weight == 0.0 {
        return;
    }
    for (sum, &score) in sum.iter_mut().zip(scores) {
        *sum += weight * moments.z(score);
    }
}

/// Scores of all pages by words: per word the best of its alternatives.
fn word_scores(query: &AnalyzedQuery, pages: usize) -> Vec<f32> {
    let mut scores = vec![0.0; pages];
    let mut best = vec![0.0f32; pages];
    for word in &query.words {
        let mut touched: Range<usize> = pages..0;
        for (list, weight) in &word.lists {
            for (page, score) in list.scores() {
                let page = page as usize;
                best[page] = best[page].max(weight * score);
                touched = touched.start.min(page)..touched.end.max(page + 1);
            }
        }
        for page in touched {
            scores[page] += std::mem::take(&mut best[page]);
        }
    }
    scores
}

/// What a page scores by words that has all of the query's to the full, pairs aside: the sum of their rarities. A word
/// that the site does not have is as rare as can be.
fn whole_match(query: &AnalyzedQuery, pages: usize) -> f32 {
    let words = query.words.iter();
    let words = words.filter(|word| word.term.kind == TermKind::Word && !word.stop_word);
    let rarities = words.map(|word| match word.relation {
        Relation::Neighbour => rarity(pages, 0),
        _ => {
            let lists = word.lists.iter().map(|(list, _)| list.scale);
            lists.reduce(f32::max).unwrap_or_else(|| rarity(pages, 0))
        }
    });
    rarities.sum()
}

/// Scores of all pages by the words' pages of like meaning.
fn meaning_scores(query: &AnalyzedQuery, pages: usize) -> Vec<f32> {
    let mut scores = vec![0.0; pages];
    for (meaning, weight) in query.words.iter().filter_map(|word| word.meaning.as_ref()) {
        for (page, score) in meaning.pages.scores() {
            scores[page as usize] += weight * score;
        }
    }
    scores
}
