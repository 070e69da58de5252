//! Phrases in quotes: a result has every one of them, word for word.
//!
//! Postings tell which pages have all words of a phrase; whether they follow each other there, only
//! the page's record tells.

use crate::page::Page;
use crate::query::{AnalyzedQuery, QueryWord, Relation};
use crate::text::{Analyzer, Phrase, TermKind, contains_phrase, phrases};

/// Pages whose records are looked at for one query, the best ones.
pub const MOST_PAGES: usize = 40;
/// Pages whose records are fetched side by side.
pub const PAGES_AT_ONCE: usize = 10;

/// The phrases of a query.
#[derive(Debug)]
pub struct Quoted {
    phrases: Vec<Phrase>,
}

impl Quoted {
    /// The phrases of a query's text; `None` when it has none.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let phrases = phrases(text);
        (!phrases.is_empty()).then_some(Self { phrases })
    }

    /// Whether each page has all words of all phrases, in whatever order: `[pages]`.
    #[must_use]
    pub fn may_be_in(&self, query: &AnalyzedQuery, pages: usize) -> Vec<bool> {
        let mut may = vec![true; pages];
        for word in query.words.iter().filter(|word| self.asks_for(word)) {
            let exact = word.relation == Relation::Exact;
            let mut lists = word.lists.iter().filter(|_| exact);
            let mut has = vec![false; pages];
            for (page, _) in lists.by_ref().flat_map(|(list, _)| &list.entries) {
                has[*page as usize] = true;
            }
            may.iter_mut().zip(has).for_each(|(may, has)| *may &= has);
        }
        may
    }

    fn asks_for(&self, word: &QueryWord) -> bool {
        let span = &word.term.span;
        let within =
            |phrase: &Phrase| phrase.span.start <= span.start && span.end <= phrase.span.end;
        word.term.kind == TermKind::Word && !word.stop_word && self.phrases.iter().any(within)
    }

    /// Which passages of a page have a phrase; `None` when one of the phrases is nowhere on it.
    #[must_use]
    pub fn passages(&self, page: &Page, analyzer: &Analyzer) -> Option<Vec<bool>> {
        let mut of_page = vec![false; self.phrases.len()];
        let mut look = |text: &str| {
            let terms = analyzer.terms(text);
            let mut any = false;
            for (of_page, phrase) in of_page.iter_mut().zip(&self.phrases) {
                let has = contains_phrase(&terms, phrase);
                *of_page |= has;
                any |= has;
            }
            any
        };
        look(&page.title);
        let mut before: &[String] = &[];
        let passages = page.passages.iter().map(|passage| {
            let pairs = passage.headings.iter().zip(before);
            let kept = pairs.take_while(|(own, before)| own == before).count();
            let mut in_heading = false;
            // A heading may have no text of its own below it: its passage is the first of the next one.
            for heading in passage.headings.iter().skip(kept) {
                in_heading |= look(heading);
            }
            before = &passage.headings;
            look(&passage.text) || in_heading
        });
        let passages: Vec<bool> = passages.collect();
        of_page.iter().all(|has| *has).then_some(passages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Passage;
    use crate::text::Stemming;

    #[test]
    fn a_page_has_every_phrase_somewhere() {
        let passage = |heading: &str, text: &str| Passage {
            anchor: None,
            headings: vec![heading.to_owned()],
            text: text.to_owned(),
            ..Passage::default()
        };
        let page = Page {
            title: "Smart pointers".to_owned(),
            passages: vec![
                passage("Going out of scope", "A value is dropped."),
                passage("Going out of scope", "Its memory is freed."),
            ],
            ..Page::default()
        };
        let analyzer = Analyzer::new(Stemming::English);
        let found = |text: &str| Quoted::of(text).and_then(|q| q.passages(&page, &analyzer));
        assert_eq!(found("\"out of scope\""), Some(vec![true, false]));
        assert_eq!(
            found("\"smart pointers\" \"is freed\""),
            Some(vec![false, true])
        );
        assert_eq!(found("\"smart pointers\" \"is lost\""), None);
        assert_eq!(found("\"scope of\""), None);
        let mut page = page.clone();
        page.passages[1].headings = ["Free at last", "Memory"].map(str::to_owned).to_vec();
        let found = |text: &str| Quoted::of(text).and_then(|q| q.passages(&page, &analyzer));
        assert_eq!(found("\"free at last\""), Some(vec![false, true]));
        assert!(Quoted::of("smart pointers").is_none());
    }
}
