//! The lexical bucket: the site's own terms as dimensions, with 4 bits of BM25 impact a page
//! ([`crate::impact`]).

use crate::impact::{Impacts, LexicalOptions, Sizes};
use crate::lists::{PageList, quantized};
use crate::page::{Page, Passage};
use crate::text::{Analyzer, Stemming, Term, TermKind, is_stop_word};
use std::collections::{BTreeMap, HashMap};

/// Longest title, in words, that is found as a whole.
const MAX_TITLE_WORDS: usize = 8;

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
    sizes: Sizes,
    /// Per term the passages that have it, with its weighted frequency there; the title does not count.
    terms: HashMap<String, Vec<(u32, f32)>>,
    /// Per term the pages that have it in their title, with how often.
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
            sizes: Sizes::default(),
            terms: HashMap::new(),
            in_titles: HashMap::new(),
            words: BTreeMap::new(),
            titles: BTreeMap::new(),
        }
    }

    /// Adds the next page.
    pub fn add_page(&mut self, page: &Page) {
        let number = self.sizes.pages() as u32;
        let title = self.analyzer.terms(&page.title);
        if let Some(key) = title_key(&title) {
            self.titles.entry(key).or_default().push(number);
        }
        self.add_title(number, title, page.passages.len() as u32);
        for passage in &page.passages {
            self.add_passage(page, passage);
        }
    }

    fn add_title(&mut self, page: u32, terms: Vec<Term>, passages: u32) {
        let words = terms.iter().filter(|term| term.kind == TermKind::Word);
        let telling = words.filter(|term| !is_stop_word(&term.surface)).count();
        let mut counts = BTreeMap::new();
        let all = self.count_terms(terms, 1.0, passages, &mut counts);
        self.sizes.add_page(all, telling);
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
        let id = self.sizes.add_passage(length);
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
        let impacts = Impacts::new(self.options, &self.sizes);
        let mut lists: BTreeMap<&str, PageList> = BTreeMap::new();
        for term in self.terms.keys().chain(self.in_titles.keys()) {
            lists.entry(term).or_default();
        }
        for (term, list) in &mut lists {
            let of = |found: Option<&'a Vec<(u32, f32)>>| found.map_or(&[][..], Vec::as_slice);
            *list = self.page_list(
                &impacts,
                of(self.terms.get(*term)),
                of(self.in_titles.get(*term)),
                place,
            );
        }
        lists
    }

    /// The list of a term that stands on `passages`, so often in each, and in titles of pages, so often.
    fn page_list(
        &self,
        impacts: &Impacts<'_>,
        passages: &[(u32, f32)],
        titles: &[(u32, f32)],
        place: &[u32],
    ) -> PageList {
        let (mut entries, mut holding) = (Vec::new(), 0);
        let (mut texts, mut titles) = (passages, titles.iter().peekable());
        loop {
            let of_text = texts.first().map(|(passage, _)| self.sizes.page(*passage));
            let of_title = titles.peek().map(|(page, _)| *page as usize);
            let Some(page) = of_text.into_iter().chain(of_title).min() else {
                break;
            };
            let end = self.sizes.passages(page).end;
            let (here, after) =
                texts.split_at(texts.partition_point(|(at, _)| (*at as usize) < end));
            texts = after;
            let in_title = titles.next_if(|(at, _)| *at as usize == page);
            let in_title = in_title.map_or(0.0, |(_, count)| *count);
            let (impact, passages) = impacts.of_page(page, here, in_title);
            holding += passages;
            let at = place.get(page).copied().unwrap_or_default();
            entries.push((at, quantized(impact)));
        }
        entries.sort_unstable();
        PageList {
            scale: impacts.rarity(entries.len(), holding),
            entries,
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impact::rarity;
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
    fn headings_and_titles_of_long_pages_weigh_more_than_text() {
        let mut heading = page("x", &["filler words here"]);
        heading.passages[0].headings = vec!["Threads".to_owned()];
        let mut pages = [
            page("Threads", &["filler words here"]),
            heading,
            page("y", &["threads filler words"]),
        ];
        let found = scores(&builder(&pages), "thread", 3);
        assert!(found[0] == found[2] && found[1] > found[2], "{found:?}");
        pages.iter_mut().for_each(lengthen);
        let found = scores(&builder(&pages), "thread", 3);
        assert!(found[0] > found[1] && found[1] > found[2], "{found:?}");
    }

    /// Makes a page a long one.
    fn lengthen(page: &mut Page) {
        let mut filler = page.passages[0].clone();
        filler.text = "filler words here".to_owned();
        page.passages.resize(9, filler);
    }

    #[test]
    fn a_title_is_read_with_every_passage_of_a_long_page() {
        let mut pages = [page("cat", &["dog"]), page("x", &["cat dog"])];
        let scale = |pages: &[Page], term: &str| builder(pages).postings(&[0, 1])[term].scale;
        assert_eq!(scale(&pages, "cat"), rarity(2, 2));
        pages.iter_mut().for_each(lengthen);
        assert_eq!(builder(&pages).words()["cat"].occurrences, 10);
        assert_eq!(scale(&pages, "cat"), rarity(18, 10));
        assert_eq!(scale(&pages, "dog"), rarity(18, 2));
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
