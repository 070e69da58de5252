//! The lexical bucket: the site's own terms as dimensions, with 4 bits of BM25 impact a page.
//!
//! A passage's impact is `i = tf / (tf + k1 · (1 − b + b · length / mean length))`, the saturating
//! part of BM25 (Robertson & Zaragoza 2009, eq. 3.15) with field-weighted `tf`. Its odds
//! `i / (1 − i)` are the occurrences again, in units of `k1`; their sum `t` over a page saturates
//! once more as `t / (t + 1 − b' + b' · l)`, `l` being the page's passages against the mean. A
//! page's impact is that and, for a smaller share, the impact of its best passage.

use crate::lists::{PageList, quantized};
use crate::page::{Page, Passage};
use crate::text::{Analyzer, Stemming, Term, TermKind, is_stop_word};
use std::collections::{BTreeMap, HashMap};

/// Highest impact of a passage that counts towards its page: its odds would have no bound.
const MAX_PASSAGE_IMPACT: f32 = 14.5 / 15.0;
/// Longest title, in words, that is found as a whole.
const MAX_TITLE_WORDS: usize = 8;

/// How terms are counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LexicalOptions {
    /// How soon repetition stops to count: 0 counts presence only, 2 is slow. Default 1.2.
    pub k1: f32,
    /// How much long passages are held back: 0 not at all, 1 fully. Default 0.75.
    pub b: f32,
    /// How much long pages are held back. Default 0.4.
    pub page_b: f32,
    /// Share of the whole page against its best passage, 0 to 1. Default 0.7.
    pub page_share: f32,
    /// Occurrences that one occurrence in the page title counts as. Default 3.
    pub title_weight: f32,
    /// Occurrences that one occurrence in the passage's headings counts as. Default 2.
    pub heading_weight: f32,
    /// Share of the title in a page's impact, 0 to 1: a term of a title of n words gets it by
    /// 1 / √n, whatever else the page says. Default 0.2.
    pub title_share: f32,
}

impl Default for LexicalOptions {
    fn default() -> Self {
        Self {
            k1: 1.2,
            b: 0.75,
            page_b: 0.4,
            page_share: 0.7,
            title_weight: 3.0,
            heading_weight: 2.0,
            title_share: 0.2,
        }
    }
}

/// A word of the site as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteWord {
    /// Its term.
    pub term: String,
    /// How often it occurs.
    pub occurrences: u32,
}

/// Counts the terms of pages.
#[derive(Debug)]
pub struct LexicalBuilder {
    options: LexicalOptions,
    analyzer: Analyzer,
    lengths: Vec<f32>,
    /// First passage of each page, and the number of all.
    first_passage: Vec<u32>,
    /// Per term the passages that have it, with its weighted frequency.
    terms: HashMap<String, Vec<(u32, f32)>>,
    /// Per term the pages that have it in their title, with the share that it has there.
    in_titles: HashMap<String, Vec<(u32, f32)>>,
    words: BTreeMap<String, SiteWord>,
    titles: BTreeMap<String, Vec<u32>>,
}

impl LexicalBuilder {
    /// An empty bucket.
    #[must_use]
    pub fn new(options: LexicalOptions, stemming: Stemming) -> Self {
        Self {
            options,
            analyzer: Analyzer::new(stemming),
            lengths: Vec::new(),
            first_passage: vec![0],
            terms: HashMap::new(),
            in_titles: HashMap::new(),
            words: BTreeMap::new(),
            titles: BTreeMap::new(),
        }
    }

    /// Adds the next page.
    pub fn add_page(&mut self, page: &Page) {
        let number = self.first_passage.len() as u32 - 1;
        let title = self.analyzer.terms(&page.title);
        if let Some(key) = title_key(&title) {
            self.titles.entry(key).or_default().push(number);
        }
        self.add_title(number, &title);
        for passage in &page.passages {
            self.add_passage(page, passage);
        }
        self.first_passage.push(self.lengths.len() as u32);
    }

    fn add_title(&mut self, page: u32, title: &[Term]) {
        let words = title
            .iter()
            .filter(|term| term.kind == TermKind::Word && !is_stop_word(&term.surface));
        let share = 1.0 / (words.count().max(1) as f32).sqrt();
        for term in title {
            let pages = self.in_titles.entry(term.text.clone()).or_default();
            if pages.last().is_none_or(|(last, _)| *last != page) {
                pages.push((page, share));
            }
        }
    }

    fn add_passage(&mut self, page: &Page, passage: &Passage) {
        let mut counts: BTreeMap<String, f32> = BTreeMap::new();
        let mut title = BTreeMap::new();
        let mut length = self.count(&page.title, self.options.title_weight, &mut title);
        for heading in passage
            .headings
            .iter()
            .filter(|heading| **heading != page.title)
        {
            length += self.count(heading, self.options.heading_weight, &mut counts);
        }
        length += self.count(&passage.text, 1.0, &mut counts);
        // Weights change how often words count, not how long the passage is.
        let times = passage.weight.value();
        counts
            .values_mut()
            .for_each(|frequency| *frequency *= times);
        for (term, frequency) in title {
            *counts.entry(term).or_default() += frequency;
        }
        let id = self.lengths.len() as u32;
        self.lengths.push(length);
        for (term, frequency) in counts.into_iter().filter(|(_, frequency)| *frequency > 0.0) {
            self.terms.entry(term).or_default().push((id, frequency));
        }
    }

    /// Counts a field's terms; returns its weighted length in words.
    fn count(&mut self, text: &str, weight: f32, counts: &mut BTreeMap<String, f32>) -> f32 {
        let mut length = 0.0;
        for term in self.analyzer.terms(text) {
            if term.kind == TermKind::Word {
                length += weight;
                let word = self.words.entry(term.surface).or_insert_with(|| SiteWord {
                    term: term.text.clone(),
                    occurrences: 0,
                });
                word.occurrences += 1;
            }
            *counts.entry(term.text).or_default() += weight;
        }
        length
    }

    /// Words of the site as they are written, in order.
    #[must_use]
    pub fn words(&self) -> &BTreeMap<String, SiteWord> {
        &self.words
    }

    /// Titles as keys of the dictionary, each with its pages in the order in which they were added.
    #[must_use]
    pub fn titles(&self) -> &BTreeMap<String, Vec<u32>> {
        &self.titles
    }

    /// Per term, in order, its list of pages. `place[i]` is the number that page `i` has on the
    /// site.
    #[must_use]
    pub fn postings(&self, place: &[u32]) -> BTreeMap<&str, PageList> {
        let mean_length = self.lengths.iter().sum::<f32>() / self.lengths.len().max(1) as f32;
        self.terms
            .iter()
            .map(|(term, passages)| {
                let titles = self.in_titles.get(term).map_or(&[][..], Vec::as_slice);
                (
                    term.as_str(),
                    self.page_list(passages, titles, mean_length, place),
                )
            })
            .collect()
    }

    fn page_list(
        &self,
        passages: &[(u32, f32)],
        titles: &[(u32, f32)],
        mean_length: f32,
        place: &[u32],
    ) -> PageList {
        let mut entries = Vec::new();
        let mut rest = passages;
        while let Some(&(passage, _)) = rest.first() {
            let page = self
                .first_passage
                .partition_point(|&first| first <= passage)
                - 1;
            let end = self.first_passage[page + 1];
            let (here, after) = rest.split_at(rest.partition_point(|&(at, _)| at < end));
            let impacts = here
                .iter()
                .map(|&(at, frequency)| self.passage_impact(at, frequency, mean_length));
            let titled = titles.binary_search_by_key(&(page as u32), |(page, _)| *page);
            let in_title = titled.map_or(0.0, |at| titles[at].1);
            let share = self.options.title_share;
            let impact = (1.0 - share) * self.page_impact(page, impacts) + share * in_title;
            let impact = quantized(impact);
            entries.push((place.get(page).copied().unwrap_or_default(), impact));
            rest = after;
        }
        entries.sort_unstable();
        PageList {
            scale: rarity(self.lengths.len(), passages.len()),
            entries,
        }
    }

    fn passage_impact(&self, passage: u32, frequency: f32, mean_length: f32) -> f32 {
        let LexicalOptions { k1, b, .. } = self.options;
        let relative_length = self.lengths[passage as usize] / mean_length.max(f32::EPSILON);
        frequency / (frequency + k1 * (1.0 - b + b * relative_length))
    }

    fn page_impact(&self, page: usize, impacts: impl Iterator<Item = f32>) -> f32 {
        let LexicalOptions {
            page_b, page_share, ..
        } = self.options;
        let (mut best, mut odds) = (0.0f32, 0.0f32);
        for impact in impacts {
            best = best.max(impact);
            let impact = impact.min(MAX_PASSAGE_IMPACT);
            odds += impact / (1.0 - impact);
        }
        let pages = (self.first_passage.len() - 1) as f32;
        let passages = self.first_passage[page + 1] - self.first_passage[page];
        let length = passages as f32 * pages / self.lengths.len().max(1) as f32;
        let whole = odds / (odds + 1.0 - page_b + page_b * length);
        page_share * whole + (1.0 - page_share) * best
    }
}

/// The key under which a title is found: its words from the first that says something on, one
/// space apart; `None` for a title without such a word or of too many.
#[must_use]
pub fn title_key(terms: &[Term]) -> Option<String> {
    let words = terms.iter().filter(|term| term.kind == TermKind::Word);
    let words: Vec<&str> = words
        .map(|term| term.surface.as_str())
        .skip_while(|word| is_stop_word(word))
        .collect();
    let key = words.join(" ");
    let fits = (1..=MAX_TITLE_WORDS).contains(&words.len())
        && key.len() <= crate::dictionary::MAX_KEY_BYTES;
    fits.then_some(key)
}

/// `ln(1 + (N − df + ½) / (df + ½))` for `count` of `total` units.
#[must_use]
pub fn rarity(total: usize, count: usize) -> f32 {
    let (total, count) = (total as f32, count as f32);
    (1.0 + (total - count + 0.5) / (count + 0.5)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Weight;

    fn page(title: &str, texts: &[&str]) -> Page {
        let passages = texts
            .iter()
            .map(|text| Passage {
                text: (*text).to_owned(),
                ..Passage::default()
            })
            .collect();
        Page {
            title: title.to_owned(),
            passages,
            ..Page::default()
        }
    }

    fn builder(pages: &[Page]) -> LexicalBuilder {
        let mut builder = LexicalBuilder::new(LexicalOptions::default(), Stemming::English);
        pages.iter().for_each(|page| builder.add_page(page));
        builder
    }

    fn scores(builder: &LexicalBuilder, term: &str, pages: usize) -> Vec<f32> {
        let place: Vec<u32> = (0..pages as u32).collect();
        let mut scores = vec![0.0; pages];
        for (page, score) in builder.postings(&place)[term].scores() {
            scores[page as usize] = score;
        }
        scores
    }

    #[test]
    fn repeated_words_and_words_of_several_passages_score_higher() {
        let pages = [
            page("a", &["cat cat cat dog"]),
            page("b", &["cat dog bird fish"]),
            page("c", &["dog"]),
            page("d", &["cat dog bird fish", "cat dog bird fish"]),
        ];
        let found = scores(&builder(&pages), "cat", 4);
        assert!(found[0] > found[1] && found[2] == 0.0, "{found:?}");
        assert!(found[3] > found[1], "{found:?}");
    }

    #[test]
    fn words_count_as_often_as_their_passage_weighs() {
        let mut pages = vec![page("a", &["cat dog bird fish"]); 3];
        let weigh = |page: &mut Page, weight| page.passages[0].weight = Weight::of(weight).unwrap();
        weigh(&mut pages[1], 5.0);
        weigh(&mut pages[2], 0.0);
        let found = scores(&builder(&pages), "cat", 3);
        assert!(found[1] > found[0] && found[2] == 0.0, "{found:?}");
        let title = scores(&builder(&pages), "a", 3);
        assert_eq!([title[1], title[2]], [title[0]; 2]);
    }

    #[test]
    fn rare_words_weigh_more() {
        let pages = [
            page("a", &["cat dog"]),
            page("b", &["dog"]),
            page("c", &["dog"]),
        ];
        let builder = builder(&pages);
        let postings = builder.postings(&[2, 1, 0]);
        assert!(postings["cat"].scale > postings["dog"].scale);
        assert_eq!(
            postings["cat"].entries[0].0, 2,
            "pages have their place's number"
        );
    }

    #[test]
    fn titles_and_headings_weigh_more_than_text() {
        let mut heading = page("x", &["filler words here"]);
        heading.passages[0].headings = vec!["Threads".to_owned()];
        let pages = [
            page("Threads", &["filler words here"]),
            heading,
            page("y", &["threads filler words here"]),
        ];
        let found = scores(&builder(&pages), "thread", 3);
        assert!(found[0] > found[1] && found[1] > found[2], "{found:?}");
    }

    #[test]
    fn a_title_is_a_key_without_its_first_function_words() {
        let analyzer = Analyzer::new(Stemming::English);
        let key = |title: &str| title_key(&analyzer.terms(title));
        assert_eq!(key("The box model"), Some("box model".to_owned()));
        assert_eq!(
            key("Array.prototype.flatMap()"),
            Some("array prototype flatmap".to_owned())
        );
        assert_eq!(key("How to"), None);
        assert_eq!(key(&"word ".repeat(MAX_TITLE_WORDS + 1)), None);
    }

    #[test]
    fn words_are_counted_as_they_are_written() {
        let builder = builder(&[page("Running", &["runs and runs"])]);
        assert_eq!(builder.words()["runs"].occurrences, 2);
        assert_eq!(
            builder.words()["runs"].term,
            builder.words()["running"].term
        );
    }
}
