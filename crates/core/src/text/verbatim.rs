//! Identifiers: chunks that symbols make more than their words.

use super::TermKind;
use super::words::{Cut, MAX_WHOLE_BYTES, is_unspaced, is_word_char};
use std::ops::Range;

/// Characters that may be part of an identifier and are kept when they stand inside or before it.
const IDENTIFIER_SYMBOLS: &str = "_$#+:.-/<>@!&*=?[]()";
/// Where a chunk falls into pieces that may be identifiers of their own.
const BETWEEN_PIECES: &str = "()[]{}<>,;\"'`/=|“”‘’";

/// `str::contains` searches for a character as for a text, which takes a kilobyte of code in a browser.
fn is_one_of(c: char, characters: &str) -> bool {
    characters.chars().any(|known| known == c)
}

/// The chunk verbatim and the pieces of it that have symbols of their own; as their parts, paths
/// without their beginning (`io::Error`) and flags without their dashes (`no-run`). `words` are
/// those of the chunk, which are not repeated.
pub(super) fn verbatims(text: &str, chunk: Range<usize>, words: &[Cut]) -> Vec<Cut> {
    let mut cuts: Vec<Cut> = Vec::new();
    let words: Vec<&Range<usize>> = words
        .iter()
        .filter_map(|(word, kind)| (*kind == TermKind::Word).then_some(word))
        .collect();
    let mut add = |range: Option<Range<usize>>| {
        let Some(range) = range else { return };
        let after = words.partition_point(|word| word.start <= range.start);
        let in_word = words[..after]
            .last()
            .is_some_and(|word| range.end <= word.end);
        let same = |(cut, _): &Cut| *cut == range;
        if !in_word && !cuts.first().is_some_and(same) && !cuts.last().is_some_and(same) {
            cuts.push((range.clone(), TermKind::Verbatim));
            let parts = tails(text, range).into_iter();
            cuts.extend(parts.map(|part| (part, TermKind::Part)));
        }
    };
    add(identifier(text, chunk.clone()));
    let mut start = chunk.start;
    for piece in text[chunk].split_inclusive(|c| is_one_of(c, BETWEEN_PIECES)) {
        let inner = piece.trim_end_matches(|c| is_one_of(c, BETWEEN_PIECES));
        add(identifier(text, start..start + inner.len()));
        start += piece.len();
    }
    cuts
}

/// What stands behind leading symbols, and behind each `::` and `.`, if symbols are left in it.
fn tails(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let inner = &text[range.clone()];
    if inner.len() > MAX_WHOLE_BYTES || inner.contains(|c| is_one_of(c, BETWEEN_PIECES)) {
        return Vec::new();
    }
    let mut tails = Vec::new();
    for (at, c) in inner.char_indices().skip(1) {
        let before = &inner[..at];
        let bare = is_word_char(c) && !before.contains(is_word_char);
        let begins = bare || before.ends_with("::") || before.ends_with('.');
        if begins && is_word_char(c) && inner[at..].contains(|c| !is_word_char(c)) {
            tails.push(range.start + at..range.end);
        }
    }
    tails
}

/// The chunk without surrounding punctuation, if symbols make it more than one word.
fn identifier(text: &str, chunk: Range<usize>) -> Option<Range<usize>> {
    let outer = chunk.start;
    let whole = &text[chunk];
    let inner = whole.trim_matches(|c: char| !is_word_char(c) && !is_one_of(c, IDENTIFIER_SYMBOLS));
    if !inner.chars().any(char::is_alphanumeric) {
        return None;
    }
    let inner = trim_sentence_end(inner);
    let inner = inner.strip_suffix("()").unwrap_or(inner);
    let symbols = inner.chars().any(|c| !is_word_char(c));
    let known = |c: char| is_word_char(c) && !is_unspaced(c) || is_one_of(c, IDENTIFIER_SYMBOLS);
    let start = outer + (inner.as_ptr() as usize - whole.as_ptr() as usize);
    (symbols && inner.chars().all(known)).then(|| start..start + inner.len())
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
