//! What characters become when case, accents and compatibility forms do not matter.
//!
//! The tables are written by `build.rs`, which also holds the rules.

use crate::bytes::{Reader, Result};
use std::sync::LazyLock;

static PLAIN: LazyLock<Table> =
    LazyLock::new(|| Table::new(include_bytes!(concat!(env!("OUT_DIR"), "/plain.bin"))));
/// Where it differs from [`PLAIN`].
static FOLDED: LazyLock<Table> =
    LazyLock::new(|| Table::new(include_bytes!(concat!(env!("OUT_DIR"), "/folded.bin"))));

/// Appends the character by BERT's rule: in lower case, taken apart, without marks.
pub fn push_plain(c: char, out: &mut String) {
    if c.is_ascii() {
        out.push(c.to_ascii_lowercase());
    } else if !push_jamo(c, out) && !PLAIN.push(c, out) {
        out.push(c);
    }
}

/// Appends the character by the rule of words: compatibility forms and letters with strokes are
/// unified too; vowel signs stay; what has no width is dropped.
pub fn push_folded(c: char, out: &mut String) {
    if c.is_ascii() || !FOLDED.push(c, out) {
        push_plain(c, out);
    }
}

/// Whether a character belongs to the one before it: an accent, a vowel sign, what has no width.
#[must_use]
pub fn extends(c: char) -> bool {
    let vanishes = |table: &Table| table.run(c).is_some_and(|run| run.first.is_none());
    !c.is_ascii() && (vanishes(&PLAIN) || vanishes(&FOLDED))
}

/// Takes a Hangul syllable apart (Unicode 3.12); false for any other character.
fn push_jamo(c: char, out: &mut String) -> bool {
    const VOWELS: u32 = 21;
    const TAILS: u32 = 28;
    let Some(index) = u32::from(c).checked_sub(0xac00).filter(|i| *i < 11_172) else {
        return false;
    };
    let tail = index % TAILS;
    let jamo = [
        0x1100 + index / (VOWELS * TAILS),
        0x1161 + index / TAILS % VOWELS,
        0x11a7 + tail,
    ];
    let present = if tail == 0 { &jamo[..2] } else { &jamo };
    out.extend(present.iter().filter_map(|c| char::from_u32(*c)));
    true
}

/// Consecutive characters that become alike.
struct Run {
    start: u32,
    length: u32,
    /// 1 when what they become steps along with them, else 0.
    step: u32,
    /// The first character of what the first one becomes; the rest is the same for all.
    first: Option<u32>,
    rest: &'static str,
}

struct Table(Vec<Run>);

impl Table {
    /// An unreadable table would be empty: the tests hold it against the library.
    fn new(bytes: &'static [u8]) -> Self {
        Self(read(bytes).unwrap_or_default())
    }

    fn run(&self, c: char) -> Option<&Run> {
        let c = u32::from(c);
        let after = self.0.partition_point(|run| run.start <= c);
        let run = self.0.get(after.checked_sub(1)?)?;
        (c - run.start < run.length).then_some(run)
    }

    /// Appends what `c` becomes; false where the table does not say.
    fn push(&self, c: char, out: &mut String) -> bool {
        let Some(run) = self.run(c) else { return false };
        let steps = (u32::from(c) - run.start) * run.step;
        out.extend(run.first.and_then(|first| char::from_u32(first + steps)));
        out.push_str(run.rest);
        true
    }
}

fn read(bytes: &'static [u8]) -> Result<Vec<Run>> {
    let mut reader = Reader::new(bytes);
    let count = reader.varint()? as usize;
    let columns: Vec<u32> = (0..4 * count)
        .map(|_| reader.varint())
        .collect::<Result<_>>()?;
    let mut runs = Vec::with_capacity(count);
    let mut start = 0;
    for run in 0..count {
        let [gap, length, distance, rest] =
            [0, 1, 2, 3].map(|column| columns[column * count + run]);
        start += gap;
        let rest = reader.raw(rest as usize)?;
        let first = |zigzag: u32| start.wrapping_add(zigzag >> 1 ^ (zigzag & 1).wrapping_neg());
        runs.push(Run {
            start,
            length: length >> 1,
            step: length & 1,
            first: distance.checked_sub(1).map(first),
            rest: std::str::from_utf8(rest).unwrap_or_default(),
        });
        start += length >> 1;
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_normalization::UnicodeNormalization;
    use unicode_normalization::char::is_combining_mark;

    fn pushed(push: fn(char, &mut String), text: &str) -> String {
        let mut out = String::new();
        text.chars().for_each(|c| push(c, &mut out));
        out
    }

    /// Forms that stand for others for the sake of older character sets: they stay.
    fn stays(c: char) -> bool {
        let blocks = [
            '\u{2f00}'..='\u{2fd5}',
            '\u{3200}'..='\u{33ff}',
            '\u{f900}'..='\u{faff}',
            '\u{fb50}'..='\u{fdff}',
            '\u{fe70}'..='\u{fefc}',
            '\u{1ee00}'..='\u{1eeff}',
            '\u{1f100}'..='\u{1f2ff}',
            '\u{2f800}'..='\u{2fa1f}',
        ];
        blocks.iter().any(|block| block.contains(&c))
    }

    fn folded(c: char) -> String {
        pushed(push_folded, &c.to_string())
    }

    #[test]
    fn only_marks_and_what_has_no_width_extend() {
        let others = ('\0'..=char::MAX).filter(|c| extends(*c) && !is_combining_mark(*c));
        assert!(others.into_iter().all(|c| folded(c).is_empty()));
        assert!(extends('\u{ad}') && extends('\u{200d}') && !extends('é') && !extends('-'));
    }

    #[test]
    fn older_forms_stay_as_they_are() {
        let blocks = ('\0'..=char::MAX).filter(|c| stays(*c));
        assert!(blocks.into_iter().all(|c| folded(c) == c.to_string()));
    }

    #[test]
    fn every_character_is_plain_as_the_library_says() {
        for c in ('\0'..=char::MAX).filter(|c| !stays(*c)) {
            let letters = [c].into_iter().nfd().filter(|c| !is_combining_mark(*c));
            let expected: String = letters.flat_map(char::to_lowercase).collect();
            assert_eq!(pushed(push_plain, &c.to_string()), expected, "{c:?}");
            assert!(extends(c) || !is_combining_mark(c), "{c:?}");
        }
    }

    #[test]
    fn folding_twice_changes_nothing_and_unifies_what_the_library_unifies() {
        for c in ('\0'..=char::MAX).filter(|c| !stays(*c)) {
            let folded = folded(c);
            assert_eq!(pushed(push_folded, &folded), folded, "{c:?}");
            let compatible: String = [c].into_iter().nfkd().collect();
            assert_eq!(pushed(push_folded, &compatible), folded, "{c:?}");
        }
    }

    #[test]
    fn folding_keeps_what_makes_another_word() {
        let cases = [
            ("Café", "cafe"),
            ("cafe\u{301}", "cafe"),
            ("ﬁ", "fi"),
            ("Straße", "strasse"),
            ("STRAẞE", "strasse"),
            ("Ærøskøbing", "aeroskobing"),
            ("Łódź", "lodz"),
            ("ΛΌΓΟΣ", "λογοσ"),
            ("λόγος", "λογοσ"),
            ("İstanbul", "istanbul"),
            ("ＡＢＣ１", "abc1"),
            ("ｶﾞ", "カ\u{3099}"),
            ("ガ", "カ\u{3099}"),
            ("कि", "कि"),
            ("com\u{ad}pi\u{200b}ler\u{feff}", "compiler"),
            ("א\u{5b8}", "א"),
            ("한", "\u{1112}\u{1161}\u{11ab}"),
            ("x²", "x2"),
        ];
        for (text, folded) in cases {
            assert_eq!(pushed(push_folded, text), folded, "{text}");
        }
    }
}
