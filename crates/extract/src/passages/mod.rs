//! Sections to passages that the encoder can read whole.
//!
//! A passage never spans two headings, so that its anchor is exact, and a short section is a
//! passage of its own: its heading is what readers search for. Where a section is longer
//! than one passage, the cuts are those of least cost: as few passages as possible, of similar
//! length, ending where a paragraph ends, else a sentence or a line of code, else a word.

use std::ops::Range;

use siskin_core::page::Passage;

use crate::{outline::Section, pieces};

/// What the encoder reads, less `[CLS]`, `[SEP]` and a margin for the estimate's error.
const ENCODER_PIECES: usize = 122;
/// Title and heading never take so much that less than this is left for the body.
const LEAST_BODY_PIECES: usize = 64;
/// How far a passage may exceed its budget rather than leave a tiny rest.
const OVERFLOW_PIECES: usize = 16;
/// Sentences are cut into runs of words of at most this size, if they exceed a passage.
const RUN_PIECES: usize = 24;

/// Cuts a page's sections into passages, in reading order. No word of a section's blocks is
/// lost or reordered.
///
/// A heading with nothing below it gives a passage of its own text, unless a deeper heading
/// follows. Two pages of equal content give equal passages.
#[must_use]
pub fn cut(title: &str, sections: &[Section]) -> Vec<Passage> {
    let mut passages = Vec::new();
    for (i, section) in sections.iter().enumerate() {
        if section.blocks.is_empty() {
            passages.extend(heading_alone(title, section, sections.get(i + 1)));
        } else {
            passages.extend(cut_section(title, section));
        }
    }
    passages
}

fn heading_alone(title: &str, section: &Section, next: Option<&Section>) -> Option<Passage> {
    let is_deeper = |next: &Section| {
        next.headings.len() > section.headings.len() && next.headings.starts_with(&section.headings)
    };
    let text = section.headings.last().map_or(title, String::as_str);
    (!next.is_some_and(is_deeper) && !text.is_empty()).then(|| passage(section, text.to_owned()))
}

fn cut_section(title: &str, section: &Section) -> Vec<Passage> {
    let budget = body_budget(title, section);
    let units = units(&section.blocks, budget);
    let texts = least_cost(&units, budget)
        .into_iter()
        .map(|range| join(units.get(range).unwrap_or_default()));
    texts.map(|text| passage(section, text)).collect()
}

fn passage(section: &Section, text: String) -> Passage {
    Passage {
        anchor: section.anchor.clone(),
        headings: section.headings.clone(),
        text,
        weight: section.weight,
    }
}

/// Pieces left for the body beside what [`Passage::encoder_text`] puts before it.
fn body_budget(title: &str, section: &Section) -> usize {
    let heading = section.headings.last().filter(|heading| *heading != title);
    let before = pieces::estimate(title) + heading.map_or(0, |heading| pieces::estimate(heading));
    ENCODER_PIECES.saturating_sub(before).max(LEAST_BODY_PIECES)
}

/// A stretch of text that is not cut further.
struct Unit<'a> {
    text: &'a str,
    pieces: usize,
    /// What stands between this unit and the next.
    border: Border,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Border {
    Block,
    Sentence,
    Word,
}

impl Border {
    /// Cost of cutting here, as a share of the cost of one more passage, in hundredths.
    fn cost_percent(self) -> usize {
        match self {
            Self::Block => 0,
            Self::Sentence => 10,
            Self::Word => 60,
        }
    }

    fn separator(self) -> char {
        match self {
            Self::Block => '\n',
            Self::Sentence | Self::Word => ' ',
        }
    }
}

fn units(blocks: &[String], budget: usize) -> Vec<Unit<'_>> {
    let mut units = Vec::new();
    for block in blocks {
        for sentence in sentences(block) {
            push_runs(&mut units, sentence, budget);
            set_border(&mut units, Border::Sentence);
        }
        set_border(&mut units, Border::Block);
    }
    units
}

fn set_border(units: &mut [Unit<'_>], border: Border) {
    if let Some(last) = units.last_mut() {
        last.border = border;
    }
}

/// A block's sentences and lines of code, trimmed. A sentence ends at `.`, `!` or `?` (and
/// closing quotes and brackets) before white space and a character that is not lower case.
fn sentences(block: &str) -> impl Iterator<Item = &str> {
    let mut start = 0;
    let ends = block
        .char_indices()
        .filter(|(at, character)| character.is_whitespace() && ends_sentence(block, *at));
    let mut borders: Vec<usize> = ends.map(|(at, _)| at).collect();
    borders.push(block.len());
    borders.into_iter().filter_map(move |end| {
        let sentence = block.get(start..end)?.trim();
        start = end;
        (!sentence.is_empty()).then_some(sentence)
    })
}

fn ends_sentence(block: &str, white_space_at: usize) -> bool {
    let (before, after) = block.split_at(white_space_at);
    if after.starts_with('\n') {
        return true;
    }
    let last = before
        .trim_end_matches(|character: char| "\"'”’)]»".contains(character))
        .chars()
        .next_back();
    let next = after.trim_start().chars().next();
    last.is_some_and(|last| ".!?…".contains(last)) && next.is_some_and(|next| !next.is_lowercase())
}

/// Pushes a sentence whole, or in runs of words if it would not fit a passage.
fn push_runs<'a>(units: &mut Vec<Unit<'a>>, sentence: &'a str, budget: usize) {
    let pieces = pieces::estimate(sentence);
    if pieces <= budget {
        units.push(Unit {
            text: sentence,
            pieces,
            border: Border::Word,
        });
        return;
    }
    for text in runs(sentence) {
        units.push(Unit {
            text,
            pieces: pieces::estimate(text),
            border: Border::Word,
        });
    }
}

/// The words of a sentence in runs of at most [`RUN_PIECES`]; a longer word is a run by itself.
fn runs(sentence: &str) -> Vec<&str> {
    let (mut runs, mut start, mut size) = (Vec::new(), 0, 0);
    for (at, word) in words(sentence) {
        let pieces = pieces::estimate(word);
        if size > 0 && size + pieces > RUN_PIECES {
            runs.extend(sentence.get(start..at).map(str::trim));
            (start, size) = (at, 0);
        }
        size += pieces;
    }
    runs.extend(sentence.get(start..).map(str::trim));
    runs
}

/// The words between white space with their byte offsets.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_whitespace()
        .map(move |word| (word.as_ptr().addr() - text.as_ptr().addr(), word))
}

fn join(units: &[Unit<'_>]) -> String {
    let mut text = String::new();
    for (i, unit) in units.iter().enumerate() {
        text.push_str(unit.text);
        if i + 1 < units.len() {
            text.push(unit.border.separator());
        }
    }
    text
}

/// The cheapest way to cut `units` into passages, by dynamic programming over the last cut.
///
/// A passage costs `budget²` for being one, the square of what it leaves unused, ten times the
/// square of what it has too much, and the cost of the border behind it.
fn least_cost(units: &[Unit<'_>], budget: usize) -> Vec<Range<usize>> {
    // best[end]: cost of the units before `end`, and where their last passage begins.
    let mut best: Vec<(usize, usize)> = vec![(0, 0)];
    for end in 1..=units.len() {
        let mut pieces = 0;
        let mut cheapest = (usize::MAX, end - 1);
        for start in (0..end).rev() {
            pieces += units.get(start).map_or(0, |unit| unit.pieces);
            if pieces > budget + OVERFLOW_PIECES && start + 1 < end {
                break;
            }
            let before = best.get(start).map_or(0, |(cost, _)| *cost);
            let cost = before + passage_cost(pieces, budget) + border_cost(units, end, budget);
            cheapest = cheapest.min((cost, start));
        }
        best.push(cheapest);
    }
    trace(&best)
}

fn passage_cost(pieces: usize, budget: usize) -> usize {
    let (unused, excess) = (budget.saturating_sub(pieces), pieces.saturating_sub(budget));
    budget * budget + unused * unused + 100 * excess * excess
}

fn border_cost(units: &[Unit<'_>], end: usize, budget: usize) -> usize {
    let border = units
        .get(end - 1)
        .filter(|_| end < units.len())
        .map_or(0, |unit| unit.border.cost_percent());
    budget * budget * border / 100
}

fn trace(best: &[(usize, usize)]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut end = best.len() - 1;
    while let Some((_, start)) = best.get(end).filter(|_| end > 0) {
        ranges.push(*start..end);
        end = *start;
    }
    ranges.reverse();
    ranges
}

#[cfg(test)]
mod tests;
