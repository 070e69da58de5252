//! Text rules of the lexical bucket: which terms a text has. Indexing and searching share them.
//!
//! A text is cut at white space into chunks. A chunk yields the words in it (stemmed), the parts
//! of camelCase and snake_case words, and, when symbols make it more than its words
//! (`--release`, `Vec::push`, `$PSStyle`, `C++`), the chunk itself, verbatim.

use crate::unicode::{is_mark, push_folded};
use rust_stemmers::{Algorithm, Stemmer};
use std::ops::Range;

/// Longest term kept, in bytes; what is longer is data, not a word.
pub const MAX_TERM_BYTES: usize = 64;
/// Characters that may be part of an identifier and are kept when they stand inside or before it.
const IDENTIFIER_SYMBOLS: &str = "_$#+:.-/<>@!&*=?[]()";

/// How words are reduced to stems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stemming {
    /// Snowball's English stemmer (Porter 2).
    English,
    /// Words stay as they are.
    None,
}

impl Stemming {
    /// The rule for a language tag such as `en-GB`; languages without a stemmer keep their words.
    #[must_use]
    pub fn for_language(tag: &str) -> Self {
        let primary = tag.split('-').next().unwrap_or_default();
        if primary.eq_ignore_ascii_case("en") {
            Self::English
        } else {
            Self::None
        }
    }
}

/// What a term is to its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermKind {
    /// A whole word.
    Word,
    /// A part of a camelCase or snake_case word.
    Part,
    /// A chunk with its symbols.
    Verbatim,
}

/// One term and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The form in the dictionary: folded, and stemmed unless verbatim.
    pub text: String,
    /// The folded form before stemming.
    pub surface: String,
    /// Word, part or verbatim chunk.
    pub kind: TermKind,
    /// Where it stands, in bytes of the text analysed.
    pub span: Range<usize>,
}

/// Cuts texts into terms.
pub struct Analyzer {
    stemmer: Option<Stemmer>,
}

impl std::fmt::Debug for Analyzer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Analyzer")
            .field("stems", &self.stemmer.is_some())
            .finish()
    }
}

impl Analyzer {
    /// An analyzer with the given stems.
    #[must_use]
    pub fn new(stemming: Stemming) -> Self {
        let stemmer = match stemming {
            Stemming::English => Some(Stemmer::create(Algorithm::English)),
            Stemming::None => None,
        };
        Self { stemmer }
    }

    /// The terms of a text, in order; a word's parts and chunk follow the word.
    #[must_use]
    pub fn terms(&self, text: &str) -> Vec<Term> {
        let mut terms = Vec::new();
        for chunk in chunks(text) {
            self.chunk_terms(text, chunk, &mut terms);
        }
        terms
    }

    /// The stem of a folded word.
    #[must_use]
    pub fn stem(&self, word: &str) -> String {
        match &self.stemmer {
            Some(stemmer) => stemmer.stem(word).into_owned(),
            None => word.to_owned(),
        }
    }

    fn chunk_terms(&self, text: &str, chunk: Range<usize>, terms: &mut Vec<Term>) {
        for word in words(text, chunk.clone()) {
            let parts = word_parts(text, word.clone());
            self.push(text, word.clone(), TermKind::Word, terms);
            for part in parts {
                self.push(text, part, TermKind::Part, terms);
            }
        }
        if let Some(identifier) = identifier(text, chunk) {
            self.push(text, identifier, TermKind::Verbatim, terms);
        }
    }

    fn push(&self, text: &str, span: Range<usize>, kind: TermKind, terms: &mut Vec<Term>) {
        let surface = fold(&text[span.clone()]);
        if surface.is_empty() || surface.len() > MAX_TERM_BYTES {
            return;
        }
        let term = if kind == TermKind::Verbatim {
            surface.clone()
        } else {
            self.stem(&surface)
        };
        terms.push(Term {
            text: term,
            surface,
            kind,
            span,
        });
    }
}

/// Lower case, compatibility forms unified, accents and what has no width removed.
#[must_use]
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut folded = String::with_capacity(text.len());
    text.chars().for_each(|c| push_folded(c, &mut folded));
    folded
}

/// Whether a folded word is one of English's function words.
#[must_use]
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Runs without white space.
fn chunks(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let start_of = move |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
    text.split_whitespace()
        .map(move |chunk| start_of(chunk)..start_of(chunk) + chunk.len())
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || is_mark(c)
}

/// Scripts written without spaces: each character is a word.
fn stands_alone(c: char) -> bool {
    matches!(u32::from(c), 0x3040..=0x30ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xac00..=0xd7af | 0x20000..=0x2fa1f)
}

/// Words of a chunk: runs of letters, digits and `_`; short endings after an apostrophe are left out.
fn words(text: &str, chunk: Range<usize>) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut open = false;
    let mut after_apostrophe = false;
    for (offset, c) in text[chunk.clone()].char_indices() {
        let start = chunk.start + offset;
        let end = start + c.len_utf8();
        if stands_alone(c) {
            words.push(start..end);
            open = false;
        } else if is_word_char(c) && !after_apostrophe {
            match words.last_mut().filter(|_| open) {
                Some(word) => word.end = end,
                None => words.push(start..end),
            }
            open = true;
        } else if !is_word_char(c) {
            after_apostrophe =
                open && matches!(c, '\'' | '’') && is_short_ending(&text[end..chunk.end]);
            open = false;
        }
    }
    words.retain(|word| text[word.clone()].chars().any(char::is_alphanumeric));
    words
}

/// Whether at most two letters follow before the chunk's end or the next symbol.
fn is_short_ending(rest: &str) -> bool {
    let letters = rest.chars().take_while(|c| is_word_char(*c));
    letters.take(3).count() <= 2
}

/// The parts of `camelCase`, `HTTPServer`, `snake_case`; empty for a word of one part.
fn word_parts(text: &str, word: Range<usize>) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = word.start;
    let characters: Vec<(usize, char)> = text[word.clone()].char_indices().collect();
    for (i, &(offset, c)) in characters.iter().enumerate() {
        let at = word.start + offset;
        let previous = i.checked_sub(1).map(|before| characters[before].1);
        let next = characters.get(i + 1).map(|following| following.1);
        if c == '_' {
            push_part(&mut parts, start..at);
            start = at + 1;
        } else if previous.is_some_and(|previous| is_hump(previous, c, next)) {
            push_part(&mut parts, start..at);
            start = at;
        }
    }
    push_part(&mut parts, start..word.end);
    if parts.len() < 2 && parts.first() == Some(&word) {
        Vec::new()
    } else {
        parts
    }
}

fn push_part(parts: &mut Vec<Range<usize>>, part: Range<usize>) {
    if part.start < part.end {
        parts.push(part);
    }
}

/// Whether a new part begins at `c`: `aB`, or the last capital of `ABc`.
fn is_hump(previous: char, c: char, next: Option<char>) -> bool {
    let lower_to_upper = previous.is_lowercase() && c.is_uppercase();
    let acronym_end =
        previous.is_uppercase() && c.is_uppercase() && next.is_some_and(char::is_lowercase);
    lower_to_upper || acronym_end
}

/// The chunk without surrounding punctuation, if symbols make it more than one word.
fn identifier(text: &str, chunk: Range<usize>) -> Option<Range<usize>> {
    let inner = text[chunk.clone()]
        .trim_matches(|c: char| !is_word_char(c) && !IDENTIFIER_SYMBOLS.contains(c));
    if !inner.chars().any(char::is_alphanumeric) {
        return None;
    }
    let inner = trim_sentence_end(inner);
    let start = inner.as_ptr() as usize - text.as_ptr() as usize;
    let symbols = inner.chars().any(|c| !is_word_char(c));
    let known = inner
        .chars()
        .all(|c| is_word_char(c) || IDENTIFIER_SYMBOLS.contains(c));
    (symbols && known).then(|| start..start + inner.len())
}

/// Takes off what ends a sentence and brackets around or half around the chunk: `(release).` →
/// `release`. Brackets are counted once, so that time stays linear in the length.
fn trim_sentence_end(chunk: &str) -> &str {
    let mut brackets = BRACKETS.map(|(open, close)| Bracket {
        open,
        close,
        opened: chunk.matches(open).count(),
        closed: chunk.matches(close).count(),
    });
    let mut inner = chunk;
    loop {
        let trimmed = trim_once(inner, &mut brackets);
        if trimmed.len() == inner.len() {
            return inner;
        }
        inner = trimmed;
    }
}

const BRACKETS: [(char, char); 3] = [('(', ')'), ('[', ']'), ('<', '>')];

/// A kind of bracket, and how many of it are left in a chunk.
struct Bracket {
    open: char,
    close: char,
    opened: usize,
    closed: usize,
}

impl Bracket {
    fn trim<'a>(&mut self, chunk: &'a str) -> &'a str {
        let around = chunk.starts_with(self.open)
            && chunk.ends_with(self.close)
            && (self.opened, self.closed) == (1, 1);
        let mut inner = chunk;
        if let Some(rest) = inner
            .strip_suffix(self.close)
            .filter(|_| around || self.closed > self.opened)
        {
            (inner, self.closed) = (rest, self.closed - 1);
        }
        if let Some(rest) = inner
            .strip_prefix(self.open)
            .filter(|_| around || self.opened > self.closed)
        {
            (inner, self.opened) = (rest, self.opened - 1);
        }
        inner
    }
}

fn trim_once<'a>(chunk: &'a str, brackets: &mut [Bracket]) -> &'a str {
    let inner = chunk.trim_end_matches(['.', ':', '?', '!', '-', '/', '=', '*', ',']);
    let inner = inner.trim_start_matches(['/', '*', '=', '?', ':', '!']);
    brackets
        .iter_mut()
        .fold(inner, |inner, bracket| bracket.trim(inner))
}

/// English function words, sorted.
const STOP_WORDS: [&str; 76] = [
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be",
    "because", "been", "before", "being", "but", "by", "can", "could", "did", "do", "does", "for",
    "from", "had", "has", "have", "he", "how", "i", "if", "in", "into", "is", "it", "its", "me",
    "my", "no", "not", "of", "on", "or", "our", "s", "she", "should", "so", "some", "such", "t",
    "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "to", "was",
    "we", "were", "what", "when", "where", "which", "who", "why", "will", "with", "you",
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn terms(text: &str) -> Vec<String> {
        Analyzer::new(Stemming::English)
            .terms(text)
            .into_iter()
            .map(|term| term.text)
            .collect()
    }

    #[test]
    fn words_are_folded_and_stemmed() {
        assert_eq!(terms("Sharing Cafés, quickly!"), ["share", "cafe", "quick"]);
    }

    #[test]
    fn identifiers_yield_words_parts_and_themselves() {
        assert_eq!(terms("--release"), ["releas", "--release"]);
        assert_eq!(terms("Vec::push"), ["vec", "push", "vec::push"]);
        assert_eq!(
            terms("Rc<RefCell<T>>"),
            ["rc", "refcel", "ref", "cell", "t", "rc<refcell<t>>"]
        );
        assert_eq!(terms("$PSStyle"), ["psstyle", "ps", "style", "$psstyle"]);
        assert_eq!(terms("C++"), ["c", "c++"]);
        assert_eq!(terms(".NET"), ["net", ".net"]);
        assert_eq!(terms("E0382"), ["e0382"]);
        assert_eq!(terms("snake_case"), ["snake_cas", "snake", "case"]);
        assert_eq!(terms("(see --no-run)."), ["see", "no", "run", "--no-run"]);
    }

    #[test]
    fn sentence_punctuation_is_not_an_identifier() {
        assert_eq!(terms("It works. (Really?)"), ["it", "work", "realli"]);
        assert_eq!(terms("doesn't it’s"), ["doesn", "it"]);
    }

    #[test]
    fn scripts_without_spaces_are_cut_by_character() {
        assert_eq!(terms("中文x"), ["中", "文", "x"]);
    }

    #[test]
    fn spans_point_into_the_text() {
        let text = "Über  RefCell::new";
        for term in Analyzer::new(Stemming::None).terms(text) {
            assert_eq!(fold(&text[term.span.clone()]), term.surface);
        }
    }

    #[test]
    fn stop_words_are_sorted_so_that_search_finds_them() {
        assert!(STOP_WORDS.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(is_stop_word("the") && !is_stop_word("thread"));
    }

    #[test]
    fn long_chunks_take_time_linear_in_their_length() {
        assert!(terms(&"(".repeat(1 << 20)).is_empty());
        assert!(terms(&")".repeat(1 << 20)).is_empty());
        assert!(terms(&"a".repeat(1 << 20)).is_empty());
        assert_eq!(terms(&("(".repeat(1 << 16) + "a")), ["a"]);
    }

    fn naive_trim_sentence_end(chunk: &str) -> &str {
        let mut inner = chunk;
        loop {
            let trimmed = naive_trim_once(inner);
            if trimmed.len() == inner.len() {
                return inner;
            }
            inner = trimmed;
        }
    }

    fn naive_trim_once(chunk: &str) -> &str {
        let mut inner = chunk.trim_end_matches(['.', ':', '?', '!', '-', '/', '=', '*', ',']);
        inner = inner.trim_start_matches(['/', '*', '=', '?', ':', '!']);
        for (open, close) in [('(', ')'), ('[', ']'), ('<', '>')] {
            let (opened, closed) = (inner.matches(open).count(), inner.matches(close).count());
            let around =
                inner.starts_with(open) && inner.ends_with(close) && opened == 1 && closed == 1;
            if around || (inner.ends_with(close) && closed > opened) {
                inner = inner.strip_suffix(close).unwrap_or(inner);
            }
            if around || (inner.starts_with(open) && opened > closed) {
                inner = inner.strip_prefix(open).unwrap_or(inner);
            }
        }
        inner
    }

    proptest! {
        #[test]
        fn brackets_counted_once_are_trimmed_alike(chunk in r"[]\[()<>a.:/*=,]{0,12}") {
            prop_assert_eq!(trim_sentence_end(&chunk), naive_trim_sentence_end(&chunk));
        }
    }
}
