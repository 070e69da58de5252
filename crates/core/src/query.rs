//! A query as the bundle sees it: which of its words the site knows, and what stands in for the rest.

use crate::error::{Error, Result};
use crate::ids::PieceId;
use crate::lexical::{Alternatives, Lexical, TermId};
use crate::rows::Rows;
use crate::site_rows::cosine;
use crate::text::{Analyzer, Term, TermKind, is_stop_word};
use std::collections::{BTreeMap, BTreeSet};

/// Longest query, in characters.
pub const MAX_QUERY_CHARACTERS: usize = 2_000;
/// Weight of a function word beside words that say something.
const STOP_WORD_WEIGHT: f32 = 0.1;
/// Weight of a part of a camelCase or snake_case word.
const PART_WEIGHT: f32 = 0.3;
/// Neighbours that may stand in for a word, …
const NEIGHBOURS: usize = 3;
/// … how alike they must be (cosine of summed static rows), …
const MIN_NEIGHBOUR_SIMILARITY: f32 = 0.4;
/// … and what they count, times their similarity.
const NEIGHBOUR_WEIGHT: f32 = 0.7;
/// Letters that a word has per piece, on average, if its pieces mean something.
const MIN_LETTERS_PER_PIECE: usize = 3;
/// Completions of an unfinished last word, and what they count.
const COMPLETIONS: usize = 5;
const COMPLETION_WEIGHT: f32 = 0.6;
/// Shortest beginning that is completed, in characters.
const MIN_COMPLETION_CHARACTERS: usize = 2;
/// Corrections of a mistyped word, and what they count.
const CORRECTIONS: usize = 3;
const CORRECTION_WEIGHT: f32 = 0.7;
/// Unknown words of a query that others may answer for, the first ones: each costs a pass over the
/// site's words.
const MAX_EXPANDED_WORDS: usize = 12;

/// Why a term of the site answers for a word of the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The word itself.
    Exact,
    /// A word that begins with it.
    Completion,
    /// A word spelt almost like it.
    Correction,
    /// A word that means nearly the same.
    Neighbour,
}

/// One word of the query.
#[derive(Clone, Debug)]
pub struct QueryWord {
    /// The term as analysed.
    pub term: Term,
    /// How its alternatives relate to it.
    pub relation: Relation,
    /// Terms of the site that answer for it; empty when there are none.
    pub alternatives: Alternatives,
    /// Whether it is an English function word.
    pub stop_word: bool,
}

/// A query, analysed.
#[derive(Clone, Debug)]
pub struct AnalyzedQuery {
    /// Its words, parts and verbatim chunks.
    pub words: Vec<QueryWord>,
    /// Its distinct word pieces, without special tokens; empty without rows.
    pub pieces: Vec<PieceId>,
    /// Whether the site or the vocabulary knows at least one word: if not, there is nothing to find.
    pub recognised: bool,
}

impl AnalyzedQuery {
    /// Analyses a query against a site's dictionary and, for neighbours, its rows.
    ///
    /// # Errors
    /// [`Error::EmptyQuery`] and [`Error::QueryTooLong`].
    pub fn new(text: &str, lexical: &Lexical, rows: Option<&Rows>) -> Result<Self> {
        let characters = text.chars().count();
        if characters > MAX_QUERY_CHARACTERS {
            return Err(Error::QueryTooLong {
                characters,
                limit: MAX_QUERY_CHARACTERS,
            });
        }
        let terms = Analyzer::new(lexical.stemming()).terms(text);
        if terms.is_empty() {
            return Err(Error::EmptyQuery);
        }
        let says_something = terms
            .iter()
            .any(|term| term.kind == TermKind::Word && !is_stop_word(&term.surface));
        let mut seen = BTreeSet::new();
        let mut expander = Expander {
            lexical,
            rows,
            text_end: text.len(),
            expansions_left: MAX_EXPANDED_WORDS,
        };
        let words: Vec<QueryWord> = terms
            .into_iter()
            .filter(|term| seen.insert(term.text.clone()))
            .map(|term| expander.word(term, says_something))
            .collect();
        let pieces = rows
            .map(|rows| distinct(rows.vocabulary().encode(text)))
            .unwrap_or_default();
        let recognised = words.iter().any(|word| is_recognised(word, rows));
        Ok(Self {
            words,
            pieces,
            recognised,
        })
    }
}

fn distinct(pieces: Vec<PieceId>) -> Vec<PieceId> {
    let mut seen = BTreeSet::new();
    pieces
        .into_iter()
        .filter(|piece| seen.insert(*piece))
        .collect()
}

/// A word is recognised when the site has it or something for it, or when it is a word of the
/// vocabulary rather than a string of fragments.
fn is_recognised(word: &QueryWord, rows: Option<&Rows>) -> bool {
    !word.alternatives.terms.is_empty()
        || rows.is_some_and(|rows| is_vocabulary_word(&word.term.surface, rows))
}

fn is_vocabulary_word(word: &str, rows: &Rows) -> bool {
    word.chars().count() > 1 && rows.vocabulary().id(word).is_some()
}

/// Whether rows can tell what a word means: it has letters only, and its pieces are long enough to
/// be more than spelling (`zzzz` is `zz ##zz`).
fn has_meaning(word: &str, rows: &Rows) -> bool {
    let letters = word.chars().count();
    let pieces = rows
        .vocabulary()
        .encode_word(word)
        .map_or(0, |pieces| pieces.len());
    word.chars().all(char::is_alphabetic) && pieces > 0 && letters >= MIN_LETTERS_PER_PIECE * pieces
}

/// Finds terms that answer for words.
struct Expander<'a> {
    lexical: &'a Lexical,
    rows: Option<&'a Rows>,
    text_end: usize,
    expansions_left: usize,
}

impl Expander<'_> {
    fn word(&mut self, term: Term, says_something: bool) -> QueryWord {
        let stop_word = term.kind == TermKind::Word && is_stop_word(&term.surface);
        let weight = match term.kind {
            TermKind::Part => PART_WEIGHT,
            TermKind::Word if stop_word && says_something => STOP_WORD_WEIGHT,
            TermKind::Word | TermKind::Verbatim => 1.0,
        };
        let (relation, terms) = self.expand(&term, stop_word, weight);
        QueryWord {
            term,
            relation,
            alternatives: Alternatives { terms },
            stop_word,
        }
    }

    fn expand(
        &mut self,
        term: &Term,
        stop_word: bool,
        weight: f32,
    ) -> (Relation, Vec<(TermId, f32)>) {
        if let Some(found) = self.lexical.find(&term.text) {
            return (Relation::Exact, vec![(found, weight)]);
        }
        if term.kind == TermKind::Part || stop_word {
            return (Relation::Exact, Vec::new());
        }
        let attempts = self.attempts(term);
        if attempts.is_empty() || self.expansions_left == 0 {
            return (Relation::Exact, Vec::new());
        }
        self.expansions_left -= 1;
        let mut found = attempts
            .into_iter()
            .map(|relation| (relation, self.related(term, relation)));
        let (relation, mut terms) = found
            .find(|(_, terms)| !terms.is_empty())
            .unwrap_or((Relation::Exact, Vec::new()));
        terms.iter_mut().for_each(|(_, share)| *share *= weight);
        (relation, terms)
    }

    /// The relations worth trying for an unknown word, in order.
    fn attempts(&self, term: &Term) -> Vec<Relation> {
        let unfinished = term.span.end == self.text_end;
        let word = term.kind == TermKind::Word;
        let spelt_right = self
            .rows
            .is_some_and(|rows| is_vocabulary_word(&term.surface, rows));
        let attempts = [
            (Relation::Completion, unfinished && !spelt_right),
            (Relation::Correction, word && !spelt_right),
            (Relation::Neighbour, word),
        ];
        attempts
            .into_iter()
            .filter_map(|(relation, sensible)| sensible.then_some(relation))
            .collect()
    }

    fn related(&self, term: &Term, relation: Relation) -> Vec<(TermId, f32)> {
        match relation {
            Relation::Exact => Vec::new(),
            Relation::Completion => self.completions(&term.surface),
            Relation::Correction => self.corrections(&term.surface),
            Relation::Neighbour => self.neighbours(&term.surface),
        }
    }

    /// The first terms, shortest first, that begin with an unfinished word.
    fn completions(&self, prefix: &str) -> Vec<(TermId, f32)> {
        if prefix.chars().count() < MIN_COMPLETION_CHARACTERS {
            return Vec::new();
        }
        let mut terms: Vec<TermId> = self.lexical.with_prefix(prefix).collect();
        terms.sort_by_key(|&term| (self.lexical.term(term).len(), term));
        terms
            .into_iter()
            .take(COMPLETIONS)
            .map(|term| (term, COMPLETION_WEIGHT))
            .collect()
    }

    /// Words of the site within one edit (two from eight letters), nearest and most frequent first.
    fn corrections(&self, word: &str) -> Vec<(TermId, f32)> {
        let length = word.chars().count();
        let allowed = match length {
            0..4 => return Vec::new(),
            4..8 => 1,
            _ => 2,
        };
        let mut found: Vec<(usize, TermId)> = Vec::new();
        for candidate in self.lexical.neighbour_words() {
            if let Some(edits) = edits_within(word, &candidate.surface, allowed) {
                found.push((edits, candidate.term));
            }
        }
        let fewest = found
            .iter()
            .map(|&(edits, _)| edits)
            .min()
            .unwrap_or_default();
        let mut seen = BTreeSet::new();
        let nearest = found
            .into_iter()
            .filter(|&(edits, term)| edits == fewest && seen.insert(term));
        nearest
            .take(CORRECTIONS)
            .map(|(_, term)| (term, CORRECTION_WEIGHT / fewest.max(1) as f32))
            .collect()
    }

    /// The words of the site nearest in meaning.
    fn neighbours(&self, word: &str) -> Vec<(TermId, f32)> {
        let Some(rows) = self.rows.filter(|rows| has_meaning(word, rows)) else {
            return Vec::new();
        };
        let Some(own) = word_vector(word, rows) else {
            return Vec::new();
        };
        let mut best: BTreeMap<TermId, f32> = BTreeMap::new();
        for candidate in self.lexical.neighbour_words() {
            let similarity =
                word_vector(&candidate.surface, rows).map_or(0.0, |vector| cosine(&own, &vector));
            if similarity >= MIN_NEIGHBOUR_SIMILARITY {
                let entry = best.entry(candidate.term).or_default();
                *entry = entry.max(similarity);
            }
        }
        let mut best: Vec<(TermId, f32)> = best.into_iter().collect();
        best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        best.into_iter()
            .take(NEIGHBOURS)
            .map(|(term, similarity)| (term, NEIGHBOUR_WEIGHT * similarity))
            .collect()
    }
}

/// Sum of the static rows of a word's pieces; `None` when the vocabulary cannot build it.
#[must_use]
pub fn word_vector(word: &str, rows: &Rows) -> Option<Vec<f32>> {
    let pieces = rows.vocabulary().encode_word(word)?;
    Some(rows.static_sum(&pieces))
}

/// Edits (insertion, deletion, substitution, swap of neighbours) between two words, if at most
/// `allowed`.
fn edits_within(a: &str, b: &str, allowed: usize) -> Option<usize> {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    if a.len().abs_diff(b.len()) > allowed {
        return None;
    }
    let (mut before, mut row): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..=b.len()).collect());
    for i in 1..=a.len() {
        let mut next = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let substituted = row[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            next[j] = substituted.min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                next[j] = next[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().filter(|edits| *edits <= allowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::{LexicalBuilder, LexicalOptions};
    use crate::page::{Page, Passage};
    use crate::text::Stemming;

    fn site(text: &str) -> Lexical {
        let mut builder = LexicalBuilder::new(LexicalOptions::default(), Stemming::None);
        let passage = Passage {
            text: text.to_owned(),
            ..Passage::default()
        };
        builder.add(&Page::default(), &passage);
        Lexical::read("l", &builder.write()).unwrap()
    }

    #[test]
    fn of_many_unknown_words_the_first_are_expanded() {
        let words: Vec<String> = ('a'..='z').map(|c| format!("colou{c}rfully")).collect();
        let text = words.join(" ");
        let lexical = site(&format!("{text} {text}"));
        let mistyped = text.replace("rfully", "rfuly");
        let query = AnalyzedQuery::new(&mistyped, &lexical, None).unwrap();
        let expanded: Vec<bool> = query
            .words
            .iter()
            .map(|word| !word.alternatives.terms.is_empty())
            .collect();
        assert_eq!(expanded.len(), 26);
        assert!((0..26).all(|i| expanded[i] == (i < MAX_EXPANDED_WORDS)));
    }

    #[test]
    fn edits_count_swaps_as_one() {
        assert_eq!(edits_within("thraed", "thread", 1), Some(1));
        assert_eq!(edits_within("thred", "thread", 1), Some(1));
        assert_eq!(edits_within("same", "same", 2), Some(0));
        assert_eq!(edits_within("cargo", "mango", 1), None);
    }
}
