//! Words and their parts.
//!
//! A word is a run of letters, digits and `_`, with the separators of its numbers (`3.14`, `1,000`)
//! and the apostrophe of `don't`. Scripts written without spaces are cut into overlapping pairs of
//! characters.

use super::{MAX_TERM_BYTES, TermKind};
use crate::unicode::extends;
use std::ops::Range;

/// A term to be: where it stands, and what it is.
pub(super) type Cut = (Range<usize>, TermKind);

/// Longest word that is taken apart, in bytes: accents and full-width forms shrink when folded.
pub(super) const MAX_WHOLE_BYTES: usize = 4 * MAX_TERM_BYTES;
/// Letters that a run beside digits must have to stand for itself: `utf8`, not `E0382`.
const MIN_LETTERS_BESIDE_DIGITS: usize = 2;

pub(super) fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || extends(c)
}

/// Scripts written without spaces, or with spaces that words do not keep to: Han, kana, Hangul,
/// Thai, Lao, Myanmar, Khmer.
pub(crate) fn is_unspaced(c: char) -> bool {
    let block = matches!(
        u32::from(c),
        0xe00..=0xeff | 0x1000..=0x109f | 0x1100..=0x11ff | 0x1780..=0x17ff | 0x3005..=0x3007
            | 0x3040..=0x30ff | 0x3130..=0x318f | 0x31f0..=0x31ff | 0x3400..=0x4dbf
            | 0x4e00..=0x9fff | 0xa960..=0xa97f | 0xac00..=0xd7ff | 0xf900..=0xfaff
            | 0xff66..=0xffdc | 0x20000..=0x323af
    );
    block && (c.is_alphabetic() || c == '〇')
}

/// Whether a character belongs to the unit before it: a mark, a jamo, half of a voiced kana.
fn joins(c: char) -> bool {
    extends(c) || matches!(u32::from(c), 0x1160..=0x11ff | 0xd7b0..=0xd7ff | 0xff9e | 0xff9f)
}

/// The words of a chunk, each followed by its parts.
pub(super) fn words(text: &str, chunk: Range<usize>) -> Vec<Cut> {
    let mut cuts = Vec::new();
    let mut at = chunk.start;
    while let Some(c) = text[at..chunk.end].chars().next() {
        let rest = &text[at..chunk.end];
        let begins = c.is_alphanumeric() || c == '_';
        at += if !begins {
            c.len_utf8()
        } else if is_unspaced(c) {
            unspaced(rest, at, &mut cuts)
        } else {
            let length = word_bytes(rest);
            spaced(text, at..at + length, &mut cuts);
            length + short_ending(&rest[length..])
        };
    }
    cuts
}

/// Bytes of the word that `rest` begins with.
fn word_bytes(rest: &str) -> usize {
    let mut previous = None;
    for (at, c) in rest.char_indices() {
        let after = &rest[at + c.len_utf8()..];
        let goes_on = match c {
            '.' => previous.is_some_and(char::is_numeric) && after.starts_with(char::is_numeric),
            ',' => is_thousands(&rest[..at], after),
            '\'' | '’' if is_not(previous, after) => return at + c.len_utf8() + 1,
            _ => is_word_char(c) && !is_unspaced(c),
        };
        if !goes_on {
            return at;
        }
        previous = Some(c);
    }
    rest.len()
}

/// Whether a comma between the two separates thousands.
fn is_thousands(before: &str, after: &str) -> bool {
    let digits = |text: &str| text.bytes().take(4).take_while(u8::is_ascii_digit).count();
    let group = before.len() - before.rfind(',').map_or(0, |comma| comma + 1);
    before.len() <= MAX_TERM_BYTES
        && digits(after) == 3
        && (1..=3).contains(&group)
        && before.bytes().all(|b| b.is_ascii_digit() || b == b',')
}

/// Whether an apostrophe is that of `don't`.
fn is_not(previous: Option<char>, after: &str) -> bool {
    let mut after = after.chars();
    matches!(previous, Some('n' | 'N'))
        && matches!(after.next(), Some('t' | 'T'))
        && !after.next().is_some_and(is_word_char)
}

/// Bytes of an apostrophe and at most two letters (`’s`, `'ll`); 0 where a word follows.
fn short_ending(rest: &str) -> usize {
    let Some(letters) = rest.strip_prefix(['\'', '’']) else {
        return 0;
    };
    let mut count = 0;
    for (at, c) in letters.char_indices() {
        if !is_word_char(c) || is_unspaced(c) {
            return rest.len() - letters.len() + at;
        }
        count += usize::from(!extends(c));
        if count > 2 {
            return 0;
        }
    }
    rest.len()
}

/// Pairs of neighbours are the words, single characters their parts. Returns the run's bytes.
fn unspaced(rest: &str, start: usize, cuts: &mut Vec<Cut>) -> usize {
    let mut units: Vec<Range<usize>> = Vec::new();
    for (at, c) in rest.char_indices() {
        let end = start + at + c.len_utf8();
        match units.last_mut() {
            Some(unit) if joins(c) => unit.end = end,
            _ if is_unspaced(c) => units.push(start + at..end),
            _ => break,
        }
    }
    for (i, unit) in units.iter().enumerate() {
        match units.get(i + 1) {
            Some(next) => cuts.push((unit.start..next.end, TermKind::Word)),
            None if units.len() == 1 => cuts.push((unit.clone(), TermKind::Word)),
            None => {}
        }
        if units.len() > 1 {
            cuts.push((unit.clone(), TermKind::Part));
        }
    }
    units.last().map_or(0, |last| last.end - start)
}

/// A word and its parts, unless it has no letter or digit.
fn spaced(text: &str, word: Range<usize>, cuts: &mut Vec<Cut>) {
    if !text[word.clone()].chars().any(char::is_alphanumeric) {
        return;
    }
    cuts.push((word.clone(), TermKind::Word));
    let mut add = |part| cuts.push((part, TermKind::Part));
    if word.len() <= MAX_WHOLE_BYTES {
        let dots = text[word.clone()].match_indices('.');
        dots.for_each(|(dot, _)| add(word.start..word.start + dot));
    }
    for segment in segments(text, word.clone()) {
        let runs = runs(text, segment.clone());
        if segment != word {
            add(segment);
        }
        runs.into_iter().for_each(&mut add);
    }
}

/// The parts of `camelCase`, `HTTPServer`, `snake_case`.
fn segments(text: &str, word: Range<usize>) -> Vec<Range<usize>> {
    let mut segments = Vec::new();
    let mut start = word.start;
    let mut previous = None;
    for (offset, c) in text[word.clone()].char_indices() {
        let at = word.start + offset;
        let mut after = text[at..word.end].chars().skip(1);
        if c == '_' {
            segments.push(start..at);
            start = at + 1;
        } else if previous.is_some_and(|previous| is_hump(previous, c, after.next())) {
            segments.push(start..at);
            start = at;
        }
        previous = Some(c).filter(|c| !extends(*c)).or(previous);
    }
    segments.push(start..word.end);
    segments.retain(|segment| !segment.is_empty());
    segments
}

/// Whether a new part begins at `c`: `aB`, or the capital of `ABc` and `8Bc`.
fn is_hump(previous: char, c: char, next: Option<char>) -> bool {
    let begins_word = next.is_some_and(char::is_lowercase);
    c.is_uppercase()
        && (previous.is_lowercase()
            || begins_word && (previous.is_uppercase() || previous.is_numeric()))
}

/// Runs of letters and of digits (`utf`, `8`), if all say something; the number of `v1.2`.
fn runs(text: &str, segment: Range<usize>) -> Vec<Range<usize>> {
    let is_number = |c: char| c.is_numeric() || matches!(c, '.' | ',');
    let mut runs: Vec<(Range<usize>, bool)> = Vec::new();
    for (offset, c) in text[segment.clone()].char_indices() {
        let at = segment.start + offset;
        let end = at + c.len_utf8();
        match runs.last_mut() {
            Some((run, number)) if extends(c) || *number == is_number(c) => run.end = end,
            _ => runs.push((at..end, is_number(c))),
        }
    }
    let letters = |run: &Range<usize>| text[run.clone()].chars().filter(|c| !extends(*c)).count();
    let version = matches!(&runs[..], [(v, false), (number, true)]
        if text[v.clone()].eq_ignore_ascii_case("v") && text[number.clone()].contains('.'));
    if version {
        return vec![runs[1].0.clone()];
    }
    let speaking = runs
        .iter()
        .all(|(run, number)| *number || letters(run) >= MIN_LETTERS_BESIDE_DIGITS);
    match speaking && runs.len() > 1 {
        true => runs.into_iter().map(|(run, _)| run).collect(),
        false => Vec::new(),
    }
}
