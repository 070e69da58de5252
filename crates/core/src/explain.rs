//! Which passage of a page answers a query, why, and the piece of text that shows it.
//!
//! A page's terms are cut once, when it is first shown ([`PageTerms`]); what a query seeks is worked
//! out once for all pages ([`Sought`]).

use crate::page::Page;
use crate::query::{AnalyzedQuery, QueryWord};
use crate::search::{Match, MatchKind};
use crate::sorted::SortedMap;
use crate::text::{Analyzer, Term, TermKind, chunks};
use crate::top;
use std::ops::Range;
use xxhash_rust::xxh64::xxh64;

/// Length of an excerpt, in characters.
const EXCERPT_CHARACTERS: usize = 240;
/// Characters shown before the first match.
const LEAD_CHARACTERS: usize = 60;
/// What a word in the passage's own heading counts, against one in its text.
const HEADING_WEIGHT: f32 = 2.0;
/// What a word's neighbour counts, times how near it is.
const NEIGHBOUR_WEIGHT: f32 = 0.7;
/// How much all words of the query count against a deviation of the dense score, when the passage
/// of a page is chosen.
const WORDS_WEIGHT: f32 = 3.0;
/// Share of the best section's score from which on another section of the page is shown beside it.
const SECTION_SHARE: f32 = 0.5;

/// What a result shows beside its address.
#[derive(Clone, Debug, Default)]
pub struct Explanation {
    /// Matched words and meanings.
    pub matches: Vec<Match>,
    /// Text around the first match.
    pub excerpt: String,
}

/// A term, as 64 bits of its XXH64: two terms of a page that share them are not to be expected.
type TermHash = u64;

fn hash(term: &str) -> TermHash {
    xxh64(term.as_bytes(), 0)
}

/// A text of a page: 0 is its title; each passage has a place for its body and one for its heading.
type Place = u32;
const TITLE: Place = 0;
const PLACES_BEFORE_PASSAGES: usize = 1;

fn body(passage: usize) -> Place {
    (PLACES_BEFORE_PASSAGES + 2 * passage) as u32
}

fn heading(passage: usize) -> Place {
    body(passage) + 1
}

/// A term where it stands.
#[derive(Clone, Copy, Debug)]
struct Occurrence {
    term: TermHash,
    place: Place,
    start: u32,
    end: u32,
    is_word: bool,
}

/// Where the terms of a page stand.
#[derive(Debug)]
pub struct PageTerms {
    /// By place; within a text as they are cut.
    occurrences: Vec<Occurrence>,
    /// The same by the lower half of the term's hash, then by place.
    by_term: Vec<u32>,
    passages: usize,
}

impl PageTerms {
    /// The terms of a page's title, passages and their innermost headings.
    #[must_use]
    pub fn of(page: &Page, analyzer: &Analyzer) -> Self {
        let mut cutter = Cutter {
            analyzer,
            known: SortedMap::default(),
            occurrences: Vec::new(),
        };
        cutter.cut(TITLE, &page.title);
        for (at, passage) in page.passages.iter().enumerate() {
            cutter.cut(body(at), &passage.text);
            if let Some(text) = passage.headings.last() {
                cutter.cut(heading(at), text);
            }
        }
        let occurrences = cutter.occurrences;
        let terms = occurrences.iter().map(|found| found.term as u32);
        Self {
            by_term: top::by_rank((0..).zip(terms)),
            occurrences,
            passages: page.passages.len(),
        }
    }

    /// Where a term stands, from a place on.
    fn of_term(&self, term: TermHash, from: Place) -> impl Iterator<Item = &Occurrence> {
        let key = |at: &u32| {
            let found = &self.occurrences[*at as usize];
            (found.term as u32, found.place)
        };
        let sought = (term as u32, from);
        let start = self.by_term.partition_point(|at| key(at) < sought);
        let found = self.by_term[start..]
            .iter()
            .take_while(move |at| key(at).0 == sought.0)
            .map(|&at| &self.occurrences[at as usize]);
        found.filter(move |found| found.term == term)
    }

    /// Per place how well a word is met there: 1 by itself, less by one of its neighbours, else 0.
    fn shares(&self, word: &SoughtWord) -> Vec<f32> {
        let mut shares = vec![0.0f32; PLACES_BEFORE_PASSAGES + 2 * self.passages];
        let near = word
            .near
            .iter()
            .map(|&(term, nearness)| (term, NEIGHBOUR_WEIGHT * nearness));
        for (term, share) in word.terms.iter().map(|&term| (term, 1.0)).chain(near) {
            for found in self.of_term(term, 0) {
                if let Some(best) = shares.get_mut(found.place as usize) {
                    *best = best.max(share);
                }
            }
        }
        shares
    }
}

/// Chunks of a page that are remembered: a sorted map of more takes longer than what it spares.
const MOST_KNOWN: usize = 4_096;

/// Cuts the texts of a page. Most of a page's chunks repeat: each is cut once.
struct Cutter<'a> {
    analyzer: &'a Analyzer,
    /// Terms of a chunk; where they stand is counted from its beginning.
    known: SortedMap<&'a str, Vec<Occurrence>>,
    occurrences: Vec<Occurrence>,
}

impl<'a> Cutter<'a> {
    fn cut(&mut self, place: Place, text: &'a str) {
        let analyzer = self.analyzer;
        let occurrences_of = |chunk: &&str| -> Vec<Occurrence> {
            let terms = analyzer.terms(chunk);
            terms.iter().map(Occurrence::of).collect()
        };
        for chunk in chunks(text) {
            let start = chunk.start as u32;
            let chunk = &text[chunk];
            if self.known.len() >= MOST_KNOWN {
                self.known = SortedMap::default();
            }
            let terms = self.known.get_or_insert_with(chunk, occurrences_of);
            self.occurrences.extend(terms.iter().map(|term| Occurrence {
                place,
                start: start + term.start,
                end: start + term.end,
                ..*term
            }));
        }
    }
}

impl Occurrence {
    fn of(term: &Term) -> Self {
        Self {
            term: hash(&term.text),
            place: 0,
            start: term.span.start as u32,
            end: term.span.end as u32,
            is_word: term.kind == TermKind::Word,
        }
    }

    fn span(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// What a query seeks in the pages that it has found.
#[derive(Debug)]
pub struct Sought<'a> {
    words: Vec<SoughtWord<'a>>,
}

#[derive(Debug)]
struct SoughtWord<'a> {
    word: &'a QueryWord,
    /// The word's own term and those found for it.
    terms: Vec<TermHash>,
    /// Its neighbours in meaning, nearest first, with how near they are, at most 1.
    near: Vec<(TermHash, f32)>,
    /// How rare it is.
    weight: f32,
}

impl<'a> Sought<'a> {
    /// What `query` seeks.
    #[must_use]
    pub fn by(query: &'a AnalyzedQuery, analyzer: &Analyzer) -> Self {
        let words = query.words.iter().filter(|word| !word.stop_word);
        Self {
            words: words.map(|word| SoughtWord::of(word, analyzer)).collect(),
        }
    }

    /// The passages of a page that answer best, at most `count` and one a section, best first: by the
    /// query's words in them and their dense score. `dense` gives the score of a passage in
    /// deviations. After the best come only those that reach half its score.
    #[must_use]
    pub fn best_passages(
        &self,
        page: &Page,
        terms: &PageTerms,
        dense: impl Fn(usize) -> f32,
        count: usize,
    ) -> Vec<usize> {
        let scores = self.passage_scores(terms, dense);
        let order = top::by_score((0..).zip(scores.iter().copied()));
        let mut best: Vec<usize> = Vec::new();
        for at in order.into_iter().map(|at| at as usize) {
            let enough = best.first().is_none_or(|&first| {
                scores[at] >= SECTION_SHARE * scores[first] && scores[at] > 0.0
            });
            if best.len() == count || !enough {
                break;
            }
            if !best.iter().any(|&better| same_section(page, better, at)) {
                best.push(at);
            }
        }
        best
    }

    /// By passage: what share of the query's words it has, and its dense score.
    fn passage_scores(&self, terms: &PageTerms, dense: impl Fn(usize) -> f32) -> Vec<f32> {
        let mut found = vec![0.0; terms.passages];
        let mut all = 0.0;
        for word in self.words.iter().filter(|word| word.weight > 0.0) {
            let shares = terms.shares(word);
            all += word.weight;
            for (found, share) in found
                .iter_mut()
                .zip(shares[PLACES_BEFORE_PASSAGES..].chunks_exact(2))
            {
                *found += word.weight * share[0].max(HEADING_WEIGHT * share[1]);
            }
        }
        let words = |found: f32| if all > 0.0 { found / all } else { 0.0 };
        let scores = found.into_iter().enumerate();
        scores
            .map(|(at, found)| WORDS_WEIGHT * words(found) + dense(at))
            .collect()
    }

    /// Explains one passage of a page.
    #[must_use]
    pub fn explain(&self, page: &Page, passage: usize, terms: &PageTerms) -> Explanation {
        let Some(shown) = page.passages.get(passage) else {
            return Explanation::default();
        };
        let mut explanation = Explanation::default();
        let mut first_match = None;
        for word in &self.words {
            let Some((kind, found)) = word.best_match(passage, terms) else {
                continue;
            };
            let text = match found.place {
                TITLE => Some(&page.title),
                place if place == heading(passage) => shown.headings.last(),
                _ => {
                    let start = found.span().start;
                    first_match = Some(first_match.map_or(start, |first: usize| first.min(start)));
                    Some(&shown.text)
                }
            };
            explanation.matches.push(Match {
                kind,
                query: word.word.term.surface.clone(),
                text: text
                    .and_then(|text| text.get(found.span()))
                    .unwrap_or_default()
                    .to_owned(),
            });
        }
        explanation.excerpt = excerpt(&shown.text, first_match.unwrap_or_default());
        explanation
    }
}

impl<'a> SoughtWord<'a> {
    fn of(word: &'a QueryWord, analyzer: &Analyzer) -> Self {
        let neighbours = word
            .meaning
            .iter()
            .flat_map(|(meaning, _)| &meaning.neighbours);
        let near = neighbours.map(|(near, nearness)| (hash(&analyzer.stem(near)), *nearness));
        let weights = word.lists.iter().map(|(list, weight)| list.scale * weight);
        Self {
            terms: word.terms.iter().map(|term| hash(term)).collect(),
            near: near.collect(),
            weight: weights.fold(0.0, f32::max),
            word,
        }
    }

    /// A passage's best answer to the word: in its text, else its heading, else the page's title.
    fn best_match(&self, passage: usize, terms: &PageTerms) -> Option<(MatchKind, Occurrence)> {
        if self.word.term.kind == TermKind::Part {
            return None;
        }
        let places = [body(passage), heading(passage), TITLE];
        let first = |sought: &[TermHash], words_only: bool| {
            places.into_iter().find_map(|place| {
                let stands = sought.iter().filter_map(|&term| {
                    let found = terms.of_term(term, place);
                    let mut found = found.take_while(|found| found.place == place);
                    found.find(|found| found.is_word || !words_only).copied()
                });
                stands.min_by_key(|found| found.start)
            })
        };
        let mut same = self.terms.clone();
        same.push(hash(&self.word.term.text));
        if let Some(found) = first(&same, false) {
            return Some((MatchKind::Word, found));
        }
        let mut near = self.near.iter();
        let found = near.find_map(|&(term, _)| first(&[term], true))?;
        Some((MatchKind::Meaning, found))
    }
}

/// Whether two passages of a page stand below the same heading.
fn same_section(page: &Page, one: usize, other: usize) -> bool {
    let place = |at: usize| {
        let passage = page.passages.get(at);
        passage.map(|passage| (&passage.anchor, &passage.headings))
    };
    place(one) == place(other)
}

/// At most [`EXCERPT_CHARACTERS`] of `text` around byte `position`, cut between words.
fn excerpt(text: &str, position: usize) -> String {
    let start = start_of_excerpt(text, position);
    let end = text[start..]
        .char_indices()
        .nth(EXCERPT_CHARACTERS)
        .map_or(text.len(), |(offset, _)| start + offset);
    let end = if end < text.len() {
        last_space(&text[start..end]).map_or(end, |space| start + space)
    } else {
        end
    };
    let before = if start > 0 { "… " } else { "" };
    let after = if end < text.len() { " …" } else { "" };
    format!(
        "{before}{}{after}",
        text[start..end]
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    )
}

fn start_of_excerpt(text: &str, position: usize) -> usize {
    let mut back = text[..position].char_indices().rev();
    let lead = back.nth(LEAD_CHARACTERS).map_or(0, |(offset, _)| offset);
    if lead == 0 || text.chars().count() <= EXCERPT_CHARACTERS {
        return 0;
    }
    text[lead..position]
        .find(char::is_whitespace)
        .map_or(position, |space| lead + space)
}

fn last_space(text: &str) -> Option<usize> {
    text.rfind(char::is_whitespace).filter(|space| *space > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictionary::Meaning;
    use crate::lists::PageList;
    use crate::page::Passage;
    use crate::query::Relation;
    use crate::text::Stemming;
    use proptest::prelude::*;

    #[test]
    fn excerpts_are_cut_between_words_around_the_match() {
        let text = "word ".repeat(40) + "needle " + &"tail ".repeat(80);
        let excerpt = excerpt(&text, text.find("needle").unwrap());
        assert!(
            excerpt.starts_with("… word") && excerpt.ends_with("tail …"),
            "{excerpt}"
        );
        assert!(excerpt.contains("needle") && excerpt.chars().count() <= EXCERPT_CHARACTERS + 4);
    }

    #[test]
    fn short_texts_are_shown_whole() {
        assert_eq!(excerpt("Ünïcode text", 9), "Ünïcode text");
    }

    fn word(text: &str, neighbours: &[&str]) -> QueryWord {
        let analyzer = Analyzer::new(Stemming::None);
        let neighbours = neighbours.iter().map(|near| ((*near).to_owned(), 0.6));
        let meaning = Meaning {
            neighbours: neighbours.collect(),
            ..Meaning::default()
        };
        QueryWord {
            term: analyzer.terms(text).remove(0),
            relation: Relation::Exact,
            terms: vec![text.to_owned()],
            lists: vec![(PageList::of_scores(vec![(0, 1.0)]), 1.0)],
            followers: Vec::new(),
            meaning: Some((meaning, 1.0)),
            stop_word: false,
        }
    }

    fn page(texts: &[&str]) -> Page {
        let passages = texts.iter().map(|text| Passage {
            text: (*text).to_owned(),
            ..Passage::default()
        });
        Page {
            passages: passages.collect(),
            ..Page::default()
        }
    }

    #[test]
    fn words_and_meanings_are_told_apart() {
        let query = AnalyzedQuery {
            words: vec![word("request", &[]), word("stop", &["cancel", "abort"])],
            ..AnalyzedQuery::default()
        };
        let page = page(&["To Abort a request"]);
        let analyzer = Analyzer::new(Stemming::None);
        let terms = PageTerms::of(&page, &analyzer);
        let found = Sought::by(&query, &analyzer)
            .explain(&page, 0, &terms)
            .matches;
        let expected = |kind, query: &str, text: &str| Match {
            kind,
            query: query.to_owned(),
            text: text.to_owned(),
        };
        assert_eq!(found[0], expected(MatchKind::Word, "request", "request"));
        assert_eq!(found[1], expected(MatchKind::Meaning, "stop", "Abort"));
    }

    #[test]
    fn the_passage_with_the_words_is_chosen_unless_another_means_them() {
        let query = AnalyzedQuery {
            words: vec![word("needle", &[])],
            ..AnalyzedQuery::default()
        };
        let page = page(&["hay", "a needle", "hay"]);
        let analyzer = Analyzer::new(Stemming::None);
        let terms = PageTerms::of(&page, &analyzer);
        let sought = Sought::by(&query, &analyzer);
        let best = |dense: fn(usize) -> f32| sought.best_passages(&page, &terms, dense, 1);
        assert_eq!(best(|_| 0.0), [1]);
        assert_eq!(best(|at| if at == 2 { 9.0 } else { 0.0 }), [2]);
    }

    #[test]
    fn each_section_that_answers_about_as_well_is_named_once() {
        let query = AnalyzedQuery {
            words: vec![word("needle", &[])],
            ..AnalyzedQuery::default()
        };
        let mut page = page(&["hay", "a needle", "needle", "hay", "needle", "needle"]);
        for (passage, heading) in page.passages.iter_mut().zip(["a", "b", "b", "c", "d", "d"]) {
            passage.headings = vec![heading.to_owned()];
        }
        let analyzer = Analyzer::new(Stemming::None);
        let terms = PageTerms::of(&page, &analyzer);
        let sought = Sought::by(&query, &analyzer);
        let dense = |at| if at == 5 { 0.5 } else { 0.0 };
        let best = |count| sought.best_passages(&page, &terms, dense, count);
        assert_eq!(best(9), [5, 1]);
        assert_eq!(best(1), [5]);
        let apart = |at| if at == 5 { 9.0 } else { 0.0 };
        assert_eq!(sought.best_passages(&page, &terms, apart, 9), [5]);
    }

    proptest! {
        #[test]
        fn terms_of_a_page_are_those_of_its_texts(
            texts in proptest::collection::vec("[aB1_.:() ]{0,20}", 1..4)
        ) {
            let analyzer = Analyzer::new(Stemming::English);
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let terms = PageTerms::of(&page(&texts), &analyzer);
            let mut cut = 0;
            for (at, text) in texts.iter().enumerate() {
                for term in analyzer.terms(text) {
                    let mut found = terms.of_term(hash(&term.text), body(at));
                    prop_assert!(found.any(|found| found.place == body(at) && found.span() == term.span));
                    cut += 1;
                }
            }
            prop_assert_eq!(terms.occurrences.len(), cut);
        }
    }
}
