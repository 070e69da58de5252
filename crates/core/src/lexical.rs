//! The lexical bucket: the site's own terms as dimensions, with 4 bits of BM25 impact.
//!
//! ```text
//! u8      stemming: 0 = none, 1 = English
//! varint  passages
//! varint  terms; per term, sorted by text: varint bytes shared with the term before,
//!         string rest, varint bytes of its postings
//! varint  neighbour words; per word: string surface, varint term
//! per term: posting list (see `postings`), then 4-bit impacts, two a byte, low half first
//! ```
//!
//! An impact is `round(15 · tf / (tf + k1 · (1 − b + b · length / mean length)))`, at least 1: the
//! saturating part of BM25 (Robertson & Zaragoza 2009, eq. 3.15) with field-weighted `tf`. Rarity is
//! applied while searching.

use crate::bytes::{Reader, Writer};
use crate::container::{self, Kind};
use crate::error::Result;
use crate::ids::{PageId, PassageId};
use crate::page::{Page, Passage};
use crate::passages::Passages;
use crate::postings;
use crate::text::{Analyzer, MAX_TERM_BYTES, Stemming, Term, TermKind};
use std::collections::{BTreeMap, HashMap};

/// Highest impact of a posting.
const MAX_IMPACT: f32 = 15.0;
/// At most so many words can be brought in as neighbours of a word the site never uses.
const MAX_NEIGHBOUR_WORDS: usize = 12_000;
/// A neighbour word has at least so many letters …
const MIN_NEIGHBOUR_LETTERS: usize = 3;
/// … and occurs at least so often.
const MIN_NEIGHBOUR_OCCURRENCES: u32 = 2;

/// A term of the dictionary, counted from 0 in order of text.
pub type TermId = u32;

/// How terms are counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LexicalOptions {
    /// How soon repetition stops to count: 0 counts presence only, 2 is slow. Default 1.2.
    pub k1: f32,
    /// How much long passages are held back: 0 not at all, 1 fully. Default 0.75.
    pub b: f32,
    /// Occurrences that one occurrence in the page title counts as. Default 3.
    pub title_weight: f32,
    /// Occurrences that one occurrence in the passage's headings counts as. Default 2.
    pub heading_weight: f32,
}

impl Default for LexicalOptions {
    fn default() -> Self {
        Self {
            k1: 1.2,
            b: 0.75,
            title_weight: 3.0,
            heading_weight: 2.0,
        }
    }
}

/// Collects the terms of passages and writes the file.
#[derive(Debug)]
pub struct LexicalBuilder {
    options: LexicalOptions,
    stemming: Stemming,
    analyzer: Analyzer,
    lengths: Vec<f32>,
    terms: BTreeMap<String, Vec<(u32, f32)>>,
    surfaces: HashMap<String, (u32, String)>,
}

impl LexicalBuilder {
    /// An empty bucket.
    #[must_use]
    pub fn new(options: LexicalOptions, stemming: Stemming) -> Self {
        let analyzer = Analyzer::new(stemming);
        Self {
            options,
            stemming,
            analyzer,
            lengths: Vec::new(),
            terms: BTreeMap::new(),
            surfaces: HashMap::new(),
        }
    }

    /// Adds the next passage.
    pub fn add(&mut self, page: &Page, passage: &Passage) {
        let mut counts: BTreeMap<String, f32> = BTreeMap::new();
        let mut length = self.count(&page.title, self.options.title_weight, &mut counts);
        for heading in passage
            .headings
            .iter()
            .filter(|heading| **heading != page.title)
        {
            length += self.count(heading, self.options.heading_weight, &mut counts);
        }
        length += self.count(&passage.text, 1.0, &mut counts);
        let id = self.lengths.len() as u32;
        self.lengths.push(length);
        for (term, frequency) in counts {
            self.terms.entry(term).or_default().push((id, frequency));
        }
    }

    /// Counts a field's terms; returns its weighted length in words.
    fn count(&mut self, text: &str, weight: f32, counts: &mut BTreeMap<String, f32>) -> f32 {
        let mut length = 0.0;
        for term in self.analyzer.terms(text) {
            self.note_surface(&term);
            if term.kind == TermKind::Word {
                length += weight;
            }
            *counts.entry(term.text).or_default() += weight;
        }
        length
    }

    fn note_surface(&mut self, term: &Term) {
        let letters = term.surface.chars().filter(|c| c.is_alphabetic()).count();
        let alphabetic =
            letters == term.surface.chars().count() && letters >= MIN_NEIGHBOUR_LETTERS;
        if term.kind != TermKind::Verbatim && alphabetic {
            let entry = self
                .surfaces
                .entry(term.surface.clone())
                .or_insert_with(|| (0, term.text.clone()));
            entry.0 += 1;
        }
    }

    /// The file of the bucket.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.u8(u8::from(self.stemming == Stemming::English));
        writer.length(self.lengths.len());
        let mean_length = self.lengths.iter().sum::<f32>() / self.lengths.len().max(1) as f32;
        let lists: Vec<Vec<u8>> = self
            .terms
            .values()
            .map(|list| self.write_list(list, mean_length))
            .collect();
        self.write_dictionary(&mut writer, &lists);
        self.write_neighbour_words(&mut writer);
        lists.iter().for_each(|list| writer.raw(list));
        container::wrap(Kind::Lexical, &writer.into_bytes())
    }

    fn write_dictionary(&self, writer: &mut Writer, lists: &[Vec<u8>]) {
        writer.length(self.terms.len());
        let mut before = "";
        for (term, list) in self.terms.keys().zip(lists) {
            let shared = shared_prefix_bytes(before, term);
            writer.length(shared);
            writer.string(&term[shared..]);
            writer.length(list.len());
            before = term;
        }
    }

    fn write_neighbour_words(&self, writer: &mut Writer) {
        let ids: HashMap<&str, u32> = self.terms.keys().map(String::as_str).zip(0..).collect();
        let mut words: Vec<(&String, &(u32, String))> = self
            .surfaces
            .iter()
            .filter(|(_, (occurrences, _))| *occurrences >= MIN_NEIGHBOUR_OCCURRENCES)
            .collect();
        words.sort_unstable_by(|a, b| b.1.0.cmp(&a.1.0).then_with(|| a.0.cmp(b.0)));
        words.truncate(MAX_NEIGHBOUR_WORDS);
        writer.length(words.len());
        for (surface, (_, term)) in words {
            writer.string(surface);
            writer.varint(ids.get(term.as_str()).copied().unwrap_or_default());
        }
    }

    fn write_list(&self, list: &[(u32, f32)], mean_length: f32) -> Vec<u8> {
        let mut writer = Writer::default();
        let passages: Vec<u32> = list.iter().map(|(passage, _)| *passage).collect();
        postings::write(&mut writer, &passages, self.lengths.len() as u32);
        let impacts: Vec<u8> = list
            .iter()
            .map(|&(passage, tf)| self.impact(passage, tf, mean_length))
            .collect();
        for pair in impacts.chunks(2) {
            writer.u8(pair[0] | pair.get(1).copied().unwrap_or_default() << 4);
        }
        writer.into_bytes()
    }

    fn impact(&self, passage: u32, frequency: f32, mean_length: f32) -> u8 {
        let LexicalOptions { k1, b, .. } = self.options;
        let relative_length = self.lengths[passage as usize] / mean_length.max(f32::EPSILON);
        let saturated = frequency / (frequency + k1 * (1.0 - b + b * relative_length));
        (saturated * MAX_IMPACT).round().clamp(1.0, MAX_IMPACT) as u8
    }
}

fn shared_prefix_bytes(a: &str, b: &str) -> usize {
    let mut shared = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    while !b.is_char_boundary(shared) {
        shared -= 1;
    }
    shared
}

/// A word that can stand in for one the site never uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeighbourWord {
    /// The word as the site writes it, in lower case.
    pub surface: String,
    /// Its term.
    pub term: TermId,
}

/// One word of a query as the dictionary sees it: any of these terms may answer for it, each
/// with a weight; per passage the best one counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Alternatives {
    /// Terms and weights.
    pub terms: Vec<(TermId, f32)>,
}

/// Scores of all passages and pages for one query.
#[derive(Clone, Debug, Default)]
pub struct LexicalScores {
    /// Sum over query words of the best alternative's impact × rarity: `[passages]`.
    pub passages: Vec<f32>,
    /// The same with the whole page as one text: `[pages]`.
    pub pages: Vec<f32>,
}

/// The lexical bucket, opened for searching.
#[derive(Debug)]
pub struct Lexical {
    file: String,
    stemming: Stemming,
    passages: u32,
    text: String,
    /// End of each term in `text`.
    text_ends: Vec<u32>,
    /// End of each term's postings in `lists`.
    list_ends: Vec<u32>,
    lists: Vec<u8>,
    neighbour_words: Vec<NeighbourWord>,
}

impl Lexical {
    /// Reads a file written by [`LexicalBuilder::write`].
    ///
    /// # Errors
    /// When the bytes are not such a file.
    pub fn read(file: &str, bytes: &[u8]) -> Result<Self> {
        let payload = container::unwrap(file, Kind::Lexical, bytes)?;
        let mut reader = Reader::new(file, payload);
        let stemming = match reader.u8()? {
            0 => Stemming::None,
            1 => Stemming::English,
            _ => return Err(reader.corrupt("an unknown stemming")),
        };
        let passages = reader.varint()?;
        let mut lexical = Self {
            file: file.to_owned(),
            stemming,
            passages,
            text: String::new(),
            text_ends: Vec::new(),
            list_ends: Vec::new(),
            lists: Vec::new(),
            neighbour_words: Vec::new(),
        };
        lexical.read_dictionary(&mut reader)?;
        lexical.read_neighbour_words(&mut reader)?;
        let lists_bytes = lexical.list_ends.last().copied().unwrap_or_default() as usize;
        lexical.lists = reader.raw(lists_bytes)?.to_vec();
        reader.finish()?;
        Ok(lexical)
    }

    fn read_dictionary(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        let mut list_end = 0u32;
        let mut term = String::new();
        for _ in 0..reader.count(24)? {
            let shared = reader.varint()? as usize;
            if shared > term.len() || !term.is_char_boundary(shared) {
                return Err(reader.corrupt("a term that shares more than there is"));
            }
            let rest = reader.string()?;
            if rest.as_bytes() <= &term.as_bytes()[shared..] && !self.text_ends.is_empty() {
                return Err(reader.corrupt("terms out of order"));
            }
            term.truncate(shared);
            term.push_str(rest);
            if term.len() > MAX_TERM_BYTES {
                return Err(reader.corrupt("a term that is too long"));
            }
            list_end = list_end
                .checked_add(reader.varint()?)
                .ok_or_else(|| reader.corrupt("postings over 4 GiB"))?;
            self.text.push_str(&term);
            let text_end = u32::try_from(self.text.len());
            self.text_ends
                .push(text_end.map_err(|_| reader.corrupt("terms over 4 GiB"))?);
            self.list_ends.push(list_end);
        }
        Ok(())
    }

    fn read_neighbour_words(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        for _ in 0..reader.count(16)? {
            let surface = reader.string()?.to_owned();
            let term = reader.varint()?;
            if term as usize >= self.text_ends.len() {
                return Err(reader.corrupt("a neighbour word without a term"));
            }
            self.neighbour_words.push(NeighbourWord { surface, term });
        }
        Ok(())
    }

    /// The stemming that the terms were made with.
    #[must_use]
    pub fn stemming(&self) -> Stemming {
        self.stemming
    }

    /// Passages that the postings speak of.
    #[must_use]
    pub fn passage_count(&self) -> usize {
        self.passages as usize
    }

    /// Number of terms.
    #[must_use]
    pub fn term_count(&self) -> usize {
        self.text_ends.len()
    }

    /// Words that may stand in for others.
    #[must_use]
    pub fn neighbour_words(&self) -> &[NeighbourWord] {
        &self.neighbour_words
    }

    /// The text of a term.
    #[must_use]
    pub fn term(&self, term: TermId) -> &str {
        let end = self.text_ends[term as usize] as usize;
        let start = (term as usize)
            .checked_sub(1)
            .map_or(0, |before| self.text_ends[before] as usize);
        &self.text[start..end]
    }

    /// The term with exactly this text.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<TermId> {
        let at = self.lower_bound(text);
        ((at as usize) < self.term_count() && self.term(at) == text).then_some(at)
    }

    /// Terms that begin with `prefix`, in order of text.
    pub fn with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = TermId> + 'a {
        (self.lower_bound(prefix)..self.term_count() as u32)
            .take_while(move |&term| self.term(term).starts_with(prefix))
    }

    fn lower_bound(&self, text: &str) -> TermId {
        let (mut low, mut high) = (0, self.term_count() as u32);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.term(middle) < text {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Rarity of a term that `count` passages hold: `ln(1 + (N − df + ½) / (df + ½))`.
    #[must_use]
    pub fn rarity(&self, count: usize) -> f32 {
        rarity(self.passages as usize, count)
    }

    fn postings(&self, term: TermId) -> Result<Vec<(u32, u8)>> {
        let end = self.list_ends[term as usize] as usize;
        let start = (term as usize)
            .checked_sub(1)
            .map_or(0, |before| self.list_ends[before] as usize);
        let mut reader = Reader::new(&self.file, &self.lists[start..end]);
        let passages = postings::read(&mut reader, self.passages)?;
        let impacts = reader.raw(passages.len().div_ceil(2))?;
        let impact = |i: usize| impacts[i / 2] >> (4 * (i % 2)) & 15;
        Ok(passages
            .into_iter()
            .enumerate()
            .map(|(i, passage)| (passage, impact(i)))
            .collect())
    }

    /// Scores every passage and page for the words of a query. `page_b` holds back long pages: 0
    /// not at all, 1 fully.
    ///
    /// # Errors
    /// When postings are damaged.
    pub fn score(
        &self,
        words: &[Alternatives],
        records: &Passages,
        page_b: f32,
    ) -> Result<LexicalScores> {
        let mut scores = LexicalScores {
            passages: vec![0.0; self.passages as usize],
            pages: vec![0.0; records.page_count()],
        };
        let lengths = PageLengths::new(records, page_b);
        for word in words {
            let mut best = BestAlternatives::default();
            for &(term, weight) in &word.terms {
                let postings = self.postings(term)?;
                let scale = weight * self.rarity(postings.len());
                best.add_term(&postings, scale, &lengths);
            }
            best.add_to(&mut scores);
        }
        Ok(scores)
    }
}

/// One word's score by passage and by page: the best of its alternatives.
#[derive(Default)]
struct BestAlternatives {
    passages: BTreeMap<usize, f32>,
    pages: BTreeMap<usize, f32>,
}

impl BestAlternatives {
    fn add_term(&mut self, postings: &[(u32, u8)], scale: f32, lengths: &PageLengths<'_>) {
        let keep_best = |scores: &mut BTreeMap<usize, f32>, at: usize, score: f32| {
            let best = scores.entry(at).or_default();
            *best = best.max(score);
        };
        let mut rest = postings;
        while let Some(&(passage, _)) = rest.first() {
            let page = lengths.records.page_of(PassageId(passage));
            let end = lengths.records.passages_of(page).end;
            let (here, after) = rest.split_at(rest.partition_point(|&(at, _)| at < end));
            for &(passage, impact) in here {
                let share = f32::from(impact) / MAX_IMPACT;
                keep_best(&mut self.passages, passage as usize, scale * share);
            }
            let share = lengths.saturate(page, here.iter().map(|&(_, impact)| impact));
            keep_best(&mut self.pages, page.index(), scale * share);
            rest = after;
        }
    }

    fn add_to(&self, scores: &mut LexicalScores) {
        for (&passage, score) in &self.passages {
            scores.passages[passage] += score;
        }
        for (&page, score) in &self.pages {
            scores.pages[page] += score;
        }
    }
}

/// Saturates a word's occurrences over whole pages, from the impacts of their passages.
///
/// A passage's impact `i = tf / (tf + k)` gives back its occurrences in units of `k`: the odds
/// `i / (1 − i)`. Their sum `t` over a page saturates again as `t / (t + 1 − b + b · l)`, `l` being
/// the page's passages against the mean: BM25 over pages, from the postings of passages.
struct PageLengths<'a> {
    records: &'a Passages,
    mean: f32,
    b: f32,
}

impl<'a> PageLengths<'a> {
    fn new(records: &'a Passages, b: f32) -> Self {
        let mean = records.passage_count() as f32 / records.page_count().max(1) as f32;
        Self { records, mean, b }
    }

    /// The word's impact on a page, 0 to 1.
    fn saturate(&self, page: PageId, impacts: impl Iterator<Item = u8>) -> f32 {
        let odds = |impact: u8| {
            let impact = f32::from(impact).min(MAX_IMPACT - 0.5);
            impact / (MAX_IMPACT - impact)
        };
        let sum: f32 = impacts.map(odds).sum();
        let length = self.records.passages_of(page).len() as f32 / self.mean;
        sum / (sum + 1.0 - self.b + self.b * length)
    }
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

    fn page(title: &str, texts: &[&str]) -> Page {
        let passages = texts
            .iter()
            .map(|text| Passage {
                text: (*text).to_owned(),
                ..Passage::default()
            })
            .collect();
        Page {
            url: format!("/{title}"),
            title: title.to_owned(),
            language: None,
            passages,
        }
    }

    fn open(pages: Vec<Page>) -> (Lexical, Passages) {
        let mut builder = LexicalBuilder::new(LexicalOptions::default(), Stemming::English);
        for page in &pages {
            for passage in &page.passages {
                builder.add(page, passage);
            }
        }
        (
            Lexical::read("l", &builder.write()).unwrap(),
            Passages::new(pages),
        )
    }

    fn word(lexical: &Lexical, text: &str) -> Alternatives {
        Alternatives {
            terms: lexical
                .find(text)
                .map(|term| (term, 1.0))
                .into_iter()
                .collect(),
        }
    }

    #[test]
    fn rare_and_repeated_words_score_higher() {
        let pages = vec![
            page("a", &["cat cat cat dog"]),
            page("b", &["cat dog bird fish"]),
            page("c", &["dog"]),
        ];
        let (lexical, records) = open(pages);
        let scores = lexical
            .score(
                &[word(&lexical, "cat"), word(&lexical, "dog")],
                &records,
                0.5,
            )
            .unwrap();
        assert!(
            scores.pages[0] > scores.pages[1] && scores.pages[1] > scores.pages[2],
            "{scores:?}"
        );
    }

    #[test]
    fn a_page_unites_the_words_of_its_passages() {
        let (lexical, records) = open(vec![page("a", &["cat", "dog"]), page("b", &["cat", "cow"])]);
        let scores = lexical
            .score(
                &[word(&lexical, "cat"), word(&lexical, "dog")],
                &records,
                0.5,
            )
            .unwrap();
        assert!(scores.pages[0] > scores.passages[0].max(scores.passages[1]));
        assert!(scores.pages[0] > scores.pages[1]);
    }

    #[test]
    fn of_alternatives_only_the_best_counts() {
        let (lexical, records) = open(vec![page("a", &["cat dog"])]);
        let both = Alternatives {
            terms: [word(&lexical, "cat"), word(&lexical, "dog")].concat_terms(),
        };
        let united = lexical.score(&[both], &records, 0.5).unwrap();
        let one = lexical
            .score(&[word(&lexical, "cat")], &records, 0.5)
            .unwrap();
        assert_eq!(united.passages, one.passages);
    }

    trait ConcatTerms {
        fn concat_terms(self) -> Vec<(TermId, f32)>;
    }

    impl<const N: usize> ConcatTerms for [Alternatives; N] {
        fn concat_terms(self) -> Vec<(TermId, f32)> {
            self.into_iter().flat_map(|word| word.terms).collect()
        }
    }

    #[test]
    fn prefixes_find_their_terms() {
        let (lexical, _) = open(vec![page("a", &["share shared shark ship"])]);
        let found: Vec<&str> = lexical
            .with_prefix("shar")
            .map(|term| lexical.term(term))
            .collect();
        assert_eq!(found, ["share", "shark"]);
    }

    #[test]
    fn terms_that_are_long_or_out_of_order_are_refused() {
        let read = |terms: &[(usize, &str)]| {
            let mut writer = Writer::default();
            writer.raw(&[0, 0]);
            writer.length(terms.len());
            for (shared, rest) in terms {
                writer.length(*shared);
                writer.string(rest);
                writer.varint(0);
            }
            writer.varint(0);
            Lexical::read("l", &container::wrap(Kind::Lexical, &writer.into_bytes()))
        };
        let longest = "x".repeat(MAX_TERM_BYTES);
        assert!(read(&[(0, "cat"), (3, "s"), (0, &longest)]).is_ok());
        assert!(read(&[(0, "cat"), (3, "")]).is_err());
        assert!(read(&[(0, "cat"), (2, "r")]).is_err());
        assert!(read(&[(0, &longest), (MAX_TERM_BYTES, "x")]).is_err());
    }

    #[test]
    fn an_unknown_stemming_is_refused() {
        let read = |stemming| {
            let payload = [stemming, 0, 0, 0];
            Lexical::read("l", &container::wrap(Kind::Lexical, &payload))
        };
        assert!(read(0).is_ok() && read(1).is_ok() && read(2).is_err());
    }

    #[test]
    fn a_cut_file_is_an_error() {
        let mut builder = LexicalBuilder::new(LexicalOptions::default(), Stemming::English);
        let page = page("a", &["cat dog"]);
        builder.add(&page, &page.passages[0]);
        let file = builder.write();
        assert!((0..file.len()).all(|end| Lexical::read("l", &file[..end]).is_err()));
    }
}
