//! Writes the tables of `src/unicode.rs`: what each character becomes, as runs of characters that
//! become alike. `unicode-normalization` decides; its own tables would be a third of the browser
//! module.

use std::path::Path;
use std::{env, fs, io};

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// What stays as it is: Hangul syllables, which are taken apart by arithmetic, and forms that exist
/// for the sake of older character sets: they would be half of the tables.
fn stays(c: char) -> bool {
    matches!(
        u32::from(c),
        0xac00..=0xd7a3
            | 0x2f00..=0x2fd5    // radicals
            | 0x3200..=0x33ff    // enclosed and squared words
            | 0xf900..=0xfaff    // compatibility ideographs
            | 0xfb50..=0xfdff    // Arabic ligatures
            | 0xfe70..=0xfefc    // Arabic letters by position
            | 0x1ee00..=0x1eeff  // Arabic mathematics
            | 0x1f100..=0x1f2ff  // enclosed letters
            | 0x2f800..=0x2fa1f  // compatibility ideographs
    )
}

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let out = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    let plain = |c: char| Some(plain(c)).filter(|to| !is_only(to, c));
    let folded = |c: char| Some(folded(c)).filter(|to| *to != self::plain(c));
    fs::write(Path::new(&out).join("plain.bin"), table(plain))?;
    fs::write(Path::new(&out).join("folded.bin"), table(folded))
}

fn is_only(text: &str, c: char) -> bool {
    text.chars().eq([c])
}

/// BERT's rule: lower case, without marks.
fn plain(c: char) -> String {
    let letters = [c].into_iter().nfd().filter(|c| !is_combining_mark(*c));
    letters.flat_map(char::to_lowercase).collect()
}

/// The rule of words: compatibility forms and letters with strokes are unified too; marks that are
/// more than accents stay.
fn folded(c: char) -> String {
    let letters = [c].into_iter().nfkd().filter(|c| !is_ignored(*c));
    letters
        .flat_map(char::to_lowercase)
        .map(unstroked)
        .collect()
}

/// Accents of Latin, Greek and Cyrillic, points of Hebrew and Arabic, marks on symbols, variation
/// selectors; and what has no width: soft hyphens, joiners, marks of direction.
fn is_ignored(c: char) -> bool {
    matches!(
        u32::from(c),
        0x300..=0x36f | 0x483..=0x489 | 0x591..=0x5bd | 0x5bf..=0x5c7 | 0x610..=0x61a
            | 0x640 | 0x64b..=0x65f | 0x670 | 0x1ab0..=0x1aff | 0x1dc0..=0x1dff | 0x20d0..=0x20ff
            | 0xfe00..=0xfe0f | 0xfe20..=0xfe2f
            | 0xad | 0x61c | 0x180e | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f
            | 0xfeff | 0xe0000..=0xe0fff
    )
}

/// Letters that Unicode does not take apart and keyboards do.
fn unstroked(c: char) -> String {
    let unified = match c {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'ł' => "l",
        'đ' | 'ð' => "d",
        'þ' => "th",
        'ı' => "i",
        'ς' => "σ",
        'ـ' => "",
        other => return other.to_string(),
    };
    unified.to_owned()
}

/// Consecutive characters: the first character of what they become stays or steps along, the rest
/// is the same.
struct Run {
    start: u32,
    length: u32,
    step: u32,
    to: String,
}

impl Run {
    /// Whether `c`, next to the run, becomes what the run says.
    fn takes(&self, c: u32, to: &str, step: u32) -> bool {
        let mut expected = self.to.chars();
        let mut found = to.chars();
        let first = |c: Option<char>| c.map(u32::from);
        let moved = first(expected.next()).map(|first| first + step * self.length);
        c == self.start + self.length && moved == first(found.next()) && expected.eq(found)
    }
}

fn runs(becomes: impl Fn(char) -> Option<String>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let changed = ('\0'..=char::MAX).filter(|c| !stays(*c));
    for (c, to) in changed.filter_map(|c| Some((u32::from(c), becomes(c)?))) {
        match runs.last_mut() {
            Some(run) if run.length == 1 && run.takes(c, &to, 1) && !to.is_empty() => {
                (run.step, run.length) = (1, 2);
            }
            Some(run) if run.takes(c, &to, run.step) => run.length += 1,
            _ => runs.push(Run {
                start: c,
                length: 1,
                step: 0,
                to,
            }),
        }
    }
    runs
}

/// The number of runs, then a column each of: gaps before runs; lengths and steps; distances to the
/// first character (0 when a run becomes nothing, else zigzag plus 1); lengths of the rest; the rest.
fn table(becomes: impl Fn(char) -> Option<String>) -> Vec<u8> {
    let runs = runs(becomes);
    let mut columns: [Vec<u8>; 5] = Default::default();
    let mut end = 0;
    for run in &runs {
        varint(run.start - end, &mut columns[0]);
        varint(run.length << 1 | run.step, &mut columns[1]);
        let mut rest = run.to.chars();
        let distance = rest.next().map_or(0, |first| {
            let distance = i64::from(u32::from(first)) - i64::from(run.start);
            (distance << 1 ^ distance >> 63) as u32 + 1
        });
        varint(distance, &mut columns[2]);
        varint(rest.as_str().len() as u32, &mut columns[3]);
        columns[4].extend(rest.as_str().bytes());
        end = run.start + run.length;
    }
    let mut table = Vec::new();
    varint(runs.len() as u32, &mut table);
    table.extend(columns.concat());
    table
}

fn varint(mut value: u32, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
