//! The lexical bucket: the site's own terms as dimensions, with 4 bits of BM25 impact a page.
//!
//! A passage's impact is `i = tf / (tf + k1 · (1 − b + b · length / mean length))`, the saturating
//! part of BM25 (Robertson & Zaragoza 2009, eq. 3.15) with field-weighted `tf`. Its odds
//! `i / (1 − i)` are the occurrences again, in units of `k1`; their sum `t` over a page saturates
//! once more as `t / (t + 1 − b' + b' · l)`, `l` being the page's passages against the mean. A
//! page's impact is that and, for a smaller share, the impact of its best passage. How much that
//! share is, `k1` and `b'` depend on how long a site's pages are ([`PageOptions`]).

use crate::lists::{PageList, quantized};
use crate::page::{self, Page, Passage};
use crate::text::{Analyzer, Stemming, Term, TermKind, is_stop_word};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// Highest impact of a passage that counts towards its page: its odds would have no bound.
const MAX_PASSAGE_IMPACT: f32 = 14.5 / 15.0;
/// Longest title, in words, that is found as a whole.
const MAX_TITLE_WORDS: usize = 8;

/// How terms are counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LexicalOptions {
    /// How much long passages are held back: 0 not at all, 1 fully. Default 0.75.
    pub b: f32,
    /// Occurrences that one occurrence in the passage's headings counts as. Default 2.
    pub heading_weight: f32,
    /// On sites of short pages, which say one thing each: questions with their answers, posts, abstracts.
    /// Default: k1 0.9, b 0.75, share 1, title weight 1, title share 0.1.
    pub short_pages: PageOptions,
    /// On sites of long pages, of which the main ones are often the longest: documentation.
    /// Default: k1 1.2, b 0.4, share 0.7, title weight 3, title share 0.2.
    pub long_pages: PageOptions,
}

impl Default for LexicalOptions {
    fn default() -> Self {
        Self {
            b: 0.75,
            heading_weight: 2.0,
            short_pages: PageOptions {
                k1: 0.9,
                b: 0.75,
                share: 1.0,
                title_weight: 1.0,
                title_share: 0.1,
            },
            long_pages: PageOptions {
                k1: 1.2,
                b: 0.4,
                share: 0.7,
                title_weight: 3.0,
                title_share: 0.2,
            },
        }
    }
}

/// How terms are counted on pages of one length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageOptions {
    /// How soon repetition stops to count: 0 counts presence only, 2 is slow.
    pub k1: f32,
    /// How much pages of many passages are held back: 0 not at all, 1 fully.
    pub b: f32,
    /// Share of the whole page against its best passage, 0 to 1.
    pub share: f32,
    /// Occurrences that one occurrence in the page title counts as.
    pub title_weight: f32,
    /// Share of the title in a page's impact, 0 to 1: a term of a title of n words gets it by
    /// 1 / √n, whatever else the page says.
    pub title_share: f32,
}

impl LexicalOptions {
    /// The options of a site whose pages are so long ([`page::length`]).
    fn of_pages(&self, length: f32) -> PageOptions {
        let blend = |of: fn(&PageOptions) -> f32| {
            (1.0 - length) * of(&self.short_pages) + length * of(&self.long_pages)
        };
        PageOptions {
            k1: blend(|options| options.k1),
            b: blend(|options| options.b),
            share: blend(|options| options.share),
            title_weight: blend(|options| options.title_weight),
            title_share: blend(|options| options.title_share),
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
    /// Per passage its weighted words, without the title.
    lengths: Vec<f32>,
    /// First passage of each page, and the number of all.
    first_passage: Vec<u32>,
    /// Per page the words of its title.
    title_words: Vec<TitleWords>,
    /// Per term the passages that have it, with its weighted frequency there; the title does not count.
    terms: HashMap<String, Vec<(u32, f32)>>,
    /// Per term the pages that have it in their title, with how often.
    in_titles: HashMap<String, Vec<(u32, f32)>>,
    words: BTreeMap<String, SiteWord>,
    titles: BTreeMap<String, Vec<u32>>,
}

/// How many words a title has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct TitleWords {
    all: f32,
    /// Without function words.
    telling: f32,
}

impl TitleWords {
    /// The share that one of its words has of a page's impact, in title shares: 1 / √n.
    fn share(self) -> f32 {
        1.0 / self.telling.max(1.0).sqrt()
    }
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
            title_words: Vec::new(),
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
        self.add_title(number, title, page.passages.len() as u32);
        for passage in &page.passages {
            self.add_passage(page, passage);
        }
        self.first_passage.push(self.lengths.len() as u32);
    }

    fn add_title(&mut self, page: u32, terms: Vec<Term>, passages: u32) {
        let words = terms.iter().filter(|term| term.kind == TermKind::Word);
        let telling = words.filter(|term| !is_stop_word(&term.surface)).count();
        let mut counts = BTreeMap::new();
        let all = self.count_terms(terms, 1.0, passages, &mut counts);
        let telling = telling as f32;
        self.title_words.push(TitleWords { all, telling });
        for (term, count) in counts {
            self.in_titles.entry(term).or_default().push((page, count));
        }
    }

    fn add_passage(&mut self, page: &Page, passage: &Passage) {
        let mut counts: BTreeMap<String, f32> = BTreeMap::new();
        let mut length = 0.0;
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
        let id = self.lengths.len() as u32;
        self.lengths.push(length);
        for (term, frequency) in counts {
            let frequency = frequency * times;
            if frequency > 0.0 {
                self.terms.entry(term).or_default().push((id, frequency));
            }
        }
    }

    /// Counts a field's terms; returns its weighted length in words.
    fn count(&mut self, text: &str, weight: f32, counts: &mut BTreeMap<String, f32>) -> f32 {
        self.count_terms(self.analyzer.terms(text), weight, 1, counts)
    }

    /// Counts terms of a text that stands on so many passages; returns their weighted number of words.
    fn count_terms(
        &mut self,
        terms: Vec<Term>,
        weight: f32,
        passages: u32,
        counts: &mut BTreeMap<String, f32>,
    ) -> f32 {
        let mut length = 0.0;
        for term in terms {
            if term.kind == TermKind::Word {
                length += weight;
                let word = self.words.entry(term.surface).or_insert_with(|| SiteWord {
                    term: term.text.clone(),
                    occurrences: 0,
                });
                word.occurrences += passages;
            }
            *counts.entry(term.text).or_default() += weight;
        }
        length
    }

    /// The page of a passage.
    fn page(&self, passage: u32) -> usize {
        let pages_before = self
            .first_passage
            .partition_point(|&first| first <= passage);
        pages_before - 1
    }

    /// A page's passages.
    fn passages(&self, page: usize) -> Range<usize> {
        self.first_passage[page] as usize..self.first_passage[page + 1] as usize
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
    pub fn postings<'a>(&'a self, place: &[u32]) -> BTreeMap<&'a str, PageList> {
        let counter = Counter::new(self);
        let mut lists: BTreeMap<&str, PageList> = BTreeMap::new();
        for term in self.terms.keys().chain(self.in_titles.keys()) {
            lists.entry(term).or_default();
        }
        for (term, list) in &mut lists {
            let of = |found: Option<&'a Vec<(u32, f32)>>| found.map_or(&[][..], Vec::as_slice);
            *list = counter.page_list(
                of(self.terms.get(*term)),
                of(self.in_titles.get(*term)),
                place,
            );
        }
        lists
    }
}

/// Makes lists of pages of a site that is complete.
struct Counter<'a> {
    builder: &'a LexicalBuilder,
    options: PageOptions,
    /// Per passage its weighted words, the title's among them.
    lengths: Vec<f32>,
    mean_length: f32,
}

impl<'a> Counter<'a> {
    fn new(builder: &'a LexicalBuilder) -> Self {
        let titles = builder.title_words.iter();
        let passages = builder.lengths.len();
        let options = builder
            .options
            .of_pages(page::length(passages, titles.len()));
        let mut lengths = builder.lengths.clone();
        for (page, title) in titles.enumerate() {
            for length in &mut lengths[builder.passages(page)] {
                *length += options.title_weight * title.all;
            }
        }
        Self {
            builder,
            options,
            mean_length: lengths.iter().sum::<f32>() / passages.max(1) as f32,
            lengths,
        }
    }

    /// The list of a term that stands on `passages`, so often in each, and in titles of pages, so often.
    fn page_list(&self, passages: &[(u32, f32)], titles: &[(u32, f32)], place: &[u32]) -> PageList {
        let (mut entries, mut holding) = (Vec::new(), 0);
        let (mut texts, mut titles) = (passages, titles.iter().peekable());
        loop {
            let of_text = texts
                .first()
                .map(|(passage, _)| self.builder.page(*passage));
            let of_title = titles.peek().map(|(page, _)| *page as usize);
            let Some(page) = of_text.into_iter().chain(of_title).min() else {
                break;
            };
            let own = self.builder.passages(page);
            let (here, after) =
                texts.split_at(texts.partition_point(|(at, _)| (*at as usize) < own.end));
            texts = after;
            let title = titles.next_if(|(at, _)| *at as usize == page);
            let impacts = self.impacts(page, here, title.map_or(0.0, |(_, count)| *count));
            holding += impacts.len();
            let impact = self.page_impact(page, &impacts, title.is_some());
            let at = place.get(page).copied().unwrap_or_default();
            entries.push((at, quantized(impact)));
        }
        entries.sort_unstable();
        PageList {
            scale: rarity(self.lengths.len(), holding),
            entries,
        }
    }

    /// The impacts of a page's passages that have a term: those where it stands in the text, or all if it stands in the
    /// title.
    fn impacts(&self, page: usize, texts: &[(u32, f32)], in_title: f32) -> Vec<f32> {
        if in_title == 0.0 {
            let impact = |&(passage, frequency): &(u32, f32)| self.impact(passage, frequency);
            return texts.iter().map(impact).collect();
        }
        let title = in_title * self.options.title_weight;
        let impact = |passage: usize| {
            let passage = passage as u32;
            let found = texts.binary_search_by_key(&passage, |(at, _)| *at);
            self.impact(passage, title + found.map_or(0.0, |at| texts[at].1))
        };
        self.builder.passages(page).map(impact).collect()
    }

    fn impact(&self, passage: u32, frequency: f32) -> f32 {
        let b = self.builder.options.b;
        let relative_length = self.lengths[passage as usize] / self.mean_length.max(f32::EPSILON);
        frequency / (frequency + self.options.k1 * (1.0 - b + b * relative_length))
    }

    /// The impact of a page, of those of its passages.
    fn page_impact(&self, page: usize, passages: &[f32], titled: bool) -> f32 {
        let best = passages.iter().copied().fold(0.0, f32::max);
        let odds = passages.iter().map(|impact| {
            let impact = impact.min(MAX_PASSAGE_IMPACT);
            impact / (1.0 - impact)
        });
        let odds: f32 = odds.sum();
        let PageOptions {
            b,
            share,
            title_share,
            ..
        } = self.options;
        let (own, pages) = (
            self.builder.passages(page).len(),
            self.builder.title_words.len(),
        );
        let relative_length = (own * pages) as f32 / self.lengths.len().max(1) as f32;
        let whole = odds / (odds + 1.0 - b + b * relative_length);
        let text = share * whole + (1.0 - share) * best;
        let in_title = match titled {
            true => self.builder.title_words[page].share(),
            false => 0.0,
        };
        (1.0 - title_share) * text + title_share * in_title
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
        builder_with(LexicalOptions::default(), pages)
    }

    fn builder_with(options: LexicalOptions, pages: &[Page]) -> LexicalBuilder {
        let mut builder = LexicalBuilder::new(options, Stemming::English);
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
        let options = LexicalOptions::default();
        let as_long = LexicalOptions {
            short_pages: options.long_pages,
            ..options
        };
        let long = scores(&builder_with(as_long, &pages), "thread", 3);
        assert!(long[0] > long[1] && long[1] > long[2], "{long:?}");
        let short = scores(&builder_with(options, &pages), "thread", 3);
        assert!(short[0] > short[2] && short[1] > short[2], "{short:?}");
        assert!(
            short[0] / short[2] < long[0] / long[2],
            "short pages' titles are text"
        );
    }

    #[test]
    fn sites_whose_pages_are_neither_short_nor_long_are_in_between() {
        let options = LexicalOptions::default();
        assert_eq!(options.of_pages(0.0), options.short_pages);
        assert_eq!(options.of_pages(1.0), options.long_pages);
        let between = options.of_pages(0.5);
        assert_eq!([between.title_weight, between.k1], [2.0, 1.05]);
    }

    #[test]
    fn a_title_is_read_with_every_passage_of_its_page() {
        let pages = [page("cat", &["dog", "bird"]), page("x", &["cat dog"])];
        let builder = builder(&pages);
        assert_eq!(builder.words()["cat"].occurrences, 3);
        let postings = builder.postings(&[0, 1]);
        let of = |term: &str| postings[term].scale;
        assert_eq!([of("cat"), of("dog")], [rarity(3, 3), rarity(3, 2)]);
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
