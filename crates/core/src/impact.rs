//! How much a term counts on a page: its impact, 0 to 1, and its rarity.
//!
//! A short page says one thing, and its impact is the saturating part of BM25 (Robertson & Zaragoza
//! 2009, eq. 3.15) over all its text, `tf / (tf + k1 · (1 − b + b · words / mean words))`; rarity
//! counts pages.
//!
//! A long page says many things. Each of its passages, read with the title, has such an impact `i`.
//! The odds `i / (1 − i)` are the occurrences again, in units of `k1`; their sum `t` saturates once
//! more as `t / (t + 1 − b' + b' · l)`, `l` being the page's passages against the mean. A page's
//! impact is that and, for smaller shares, the impact of its best passage and that of its title;
//! rarity counts passages.
//!
//! On a site whose pages are neither, both count in parts ([`page::length`]).

use crate::page;
use std::ops::Range;

/// Highest impact of a passage that counts towards its page: its odds would have no bound.
const MAX_PASSAGE_IMPACT: f32 = 14.5 / 15.0;

/// How terms are counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LexicalOptions {
    /// Occurrences that one occurrence in the passage's headings counts as. Default 2.
    pub heading_weight: f32,
    /// On sites of short pages: questions with their answers, posts, abstracts.
    pub short_pages: ShortPages,
    /// On sites of long pages, of which the main ones are often the longest: documentation.
    pub long_pages: LongPages,
}

/// How terms are counted on short pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShortPages {
    /// How soon repetition stops to count: 0 counts presence only, 2 is slow. Default 0.9.
    pub k1: f32,
    /// How much pages of many words are held back: 0 not at all, 1 fully. Default 0.75.
    pub b: f32,
}

/// How terms are counted on long pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LongPages {
    /// How soon repetition stops to count: 0 counts presence only, 2 is slow. Default 1.2.
    pub k1: f32,
    /// How much passages of many words are held back: 0 not at all, 1 fully. Default 0.75.
    pub passage_b: f32,
    /// How much pages of many passages are held back. Default 0.4.
    pub b: f32,
    /// Share of the whole page against its best passage, 0 to 1. Default 0.7.
    pub share: f32,
    /// Occurrences that one occurrence in the page title counts as. Default 3.
    pub title_weight: f32,
    /// Share of the title in a page's impact, 0 to 1: a term of a title of n words gets it by
    /// 1 / √n, whatever else the page says. Default 0.2.
    pub title_share: f32,
}

impl Default for LexicalOptions {
    fn default() -> Self {
        Self {
            heading_weight: 2.0,
            short_pages: ShortPages { k1: 0.9, b: 0.75 },
            long_pages: LongPages {
                k1: 1.2,
                passage_b: 0.75,
                b: 0.4,
                share: 0.7,
                title_weight: 3.0,
                title_share: 0.2,
            },
        }
    }
}

/// Words of pages, their titles and passages.
#[derive(Debug, Default)]
pub(crate) struct Sizes {
    /// Per passage its weighted words, without the title.
    passages: Vec<f32>,
    /// First passage of each page.
    first_passage: Vec<u32>,
    titles: Vec<TitleWords>,
}

/// How many words a title has.
#[derive(Clone, Copy, Debug)]
struct TitleWords {
    all: f32,
    /// Without function words.
    telling: usize,
}

impl Sizes {
    /// Adds the next page, without passages yet, by the words of its title.
    pub(crate) fn add_page(&mut self, all: f32, telling: usize) {
        self.first_passage.push(self.passages.len() as u32);
        self.titles.push(TitleWords { all, telling });
    }

    /// Adds the next passage to the last page; returns its number.
    pub(crate) fn add_passage(&mut self, words: f32) -> u32 {
        self.passages.push(words);
        self.passages.len() as u32 - 1
    }

    pub(crate) fn pages(&self) -> usize {
        self.titles.len()
    }

    /// The page of a passage.
    pub(crate) fn page(&self, passage: u32) -> usize {
        let pages = self
            .first_passage
            .partition_point(|&first| first <= passage);
        pages.saturating_sub(1)
    }

    /// A page's passages.
    pub(crate) fn passages(&self, page: usize) -> Range<usize> {
        let end = self.first_passage.get(page + 1);
        self.first_passage[page] as usize..end.map_or(self.passages.len(), |&end| end as usize)
    }
}

/// Counts terms of a site whose pages are all known.
pub(crate) struct Impacts<'a> {
    options: LexicalOptions,
    sizes: &'a Sizes,
    /// How far pages are long ones, 0 to 1.
    length: f32,
    /// Per page its weighted words, and their mean.
    pages: Lengths,
    /// Per passage its weighted words and those of its page's title, and their mean.
    passages: Lengths,
}

/// Lengths in words.
struct Lengths {
    all: Vec<f32>,
    mean: f32,
}

impl Lengths {
    fn new(all: Vec<f32>) -> Self {
        let mean = all.iter().sum::<f32>() / all.len().max(1) as f32;
        Self { all, mean }
    }

    /// A length against the mean.
    fn relative(&self, at: usize) -> f32 {
        self.all[at] / self.mean.max(f32::EPSILON)
    }
}

impl<'a> Impacts<'a> {
    pub(crate) fn new(options: LexicalOptions, sizes: &'a Sizes) -> Self {
        let mut pages = Vec::with_capacity(sizes.pages());
        let mut passages = sizes.passages.clone();
        for (page, title) in sizes.titles.iter().enumerate() {
            let own = &mut passages[sizes.passages(page)];
            pages.push(title.all + own.iter().sum::<f32>());
            let title = options.long_pages.title_weight * title.all;
            own.iter_mut().for_each(|words| *words += title);
        }
        Self {
            options,
            sizes,
            length: page::length(passages.len(), pages.len()),
            pages: Lengths::new(pages),
            passages: Lengths::new(passages),
        }
    }

    /// The impact on a page of a term that stands so often in some of its passages and in its title, and how many
    /// passages have it: what stands in the title stands on all.
    pub(crate) fn of_page(&self, page: usize, texts: &[(u32, f32)], in_title: f32) -> (f32, usize) {
        let own = self.passages_of(page, texts, in_title);
        let short = self.of_short_page(page, texts, in_title);
        (
            self.blend(short, self.of_long_page(page, &own, in_title > 0.0)),
            own.len(),
        )
    }

    /// Per passage of a page that has a term how often it counts there.
    fn passages_of(&self, page: usize, texts: &[(u32, f32)], in_title: f32) -> Vec<(u32, f32)> {
        if in_title == 0.0 {
            return texts.to_vec();
        }
        let title = in_title * self.options.long_pages.title_weight;
        let with_title = |passage: usize| {
            let passage = passage as u32;
            let found = texts.binary_search_by_key(&passage, |(at, _)| *at);
            (passage, title + found.map_or(0.0, |at| texts[at].1))
        };
        self.sizes.passages(page).map(with_title).collect()
    }

    /// The rarity of a term on so many pages and passages.
    pub(crate) fn rarity(&self, pages: usize, passages: usize) -> f32 {
        self.blend(
            rarity(self.pages.all.len(), pages),
            rarity(self.passages.all.len(), passages),
        )
    }

    fn blend(&self, short: f32, long: f32) -> f32 {
        (1.0 - self.length) * short + self.length * long
    }

    fn of_short_page(&self, page: usize, texts: &[(u32, f32)], in_title: f32) -> f32 {
        let frequency = in_title + texts.iter().map(|(_, frequency)| frequency).sum::<f32>();
        let ShortPages { k1, b } = self.options.short_pages;
        saturated(frequency, k1, b, self.pages.relative(page))
    }

    fn of_long_page(&self, page: usize, passages: &[(u32, f32)], is_titled: bool) -> f32 {
        let LongPages {
            b,
            share,
            title_share,
            ..
        } = self.options.long_pages;
        let (mut best, mut odds) = (0.0f32, 0.0);
        for &(passage, frequency) in passages {
            let impact = self.of_passage(passage as usize, frequency);
            best = best.max(impact);
            let impact = impact.min(MAX_PASSAGE_IMPACT);
            odds += impact / (1.0 - impact);
        }
        let own = self.sizes.passages(page).len();
        let relative = (own * self.sizes.pages()) as f32 / self.passages.all.len() as f32;
        let whole = odds / (odds + 1.0 - b + b * relative);
        let text = share * whole + (1.0 - share) * best;
        let of_title = match is_titled {
            true => 1.0 / (self.sizes.titles[page].telling.max(1) as f32).sqrt(),
            false => 0.0,
        };
        (1.0 - title_share) * text + title_share * of_title
    }

    fn of_passage(&self, passage: usize, frequency: f32) -> f32 {
        let LongPages { k1, passage_b, .. } = self.options.long_pages;
        saturated(frequency, k1, passage_b, self.passages.relative(passage))
    }
}

/// The impact of so many occurrences in a text of such a length against the mean.
fn saturated(frequency: f32, k1: f32, b: f32, relative_length: f32) -> f32 {
    frequency / (frequency + k1 * (1.0 - b + b * relative_length))
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

    /// Pages of a title of one word and of passages of four.
    fn sizes(passages: &[usize]) -> Sizes {
        let mut sizes = Sizes::default();
        for &passages in passages {
            sizes.add_page(1.0, 1);
            (0..passages).for_each(|_| {
                sizes.add_passage(4.0);
            });
        }
        sizes
    }

    #[test]
    fn passages_know_their_page() {
        let sizes = sizes(&[2, 1, 3]);
        assert_eq!([0, 1, 2, 3, 5].map(|at| sizes.page(at)), [0, 0, 1, 2, 2]);
        assert_eq!(
            [0, 1, 2].map(|page| sizes.passages(page)),
            [0..2, 2..3, 3..6]
        );
    }

    #[test]
    fn a_short_page_is_one_text() {
        let sizes = sizes(&[2, 1, 3]);
        let impacts = Impacts::new(LexicalOptions::default(), &sizes);
        // 9, 5 and 13 words, 9 on the mean.
        let of_page = |page, texts: &[(u32, f32)], title| impacts.of_page(page, texts, title).0;
        assert_eq!(of_page(0, &[(0, 1.0), (1, 1.0)], 1.0), 3.0 / 3.9);
        assert_eq!(of_page(0, &[(1, 3.0)], 0.0), 3.0 / 3.9);
        assert!(of_page(1, &[(2, 1.0)], 0.0) > of_page(2, &[(3, 1.0)], 0.0));
        assert_eq!(impacts.rarity(2, 3), rarity(3, 2));
    }

    #[test]
    fn a_long_page_is_its_passages_and_its_title() {
        let sizes = sizes(&[9, 9, 9]);
        let impacts = Impacts::new(LexicalOptions::default(), &sizes);
        let of_page = |texts: &[(u32, f32)], title| impacts.of_page(1, texts, title).0;
        let once = of_page(&[(9, 1.0)], 0.0);
        assert!((once - 0.8 / 2.2).abs() < 1e-6, "{once}");
        let on_two = of_page(&[(9, 1.0), (10, 1.0)], 0.0);
        assert!(
            once < on_two && on_two < of_page(&[(9, 2.0)], 0.0),
            "{on_two}"
        );
        assert!(
            of_page(&[], 1.0) > on_two,
            "a title stands with every passage"
        );
        assert_eq!(impacts.rarity(2, 3), rarity(27, 3));
    }

    #[test]
    fn pages_that_are_neither_short_nor_long_count_as_both_in_parts() {
        let sizes = sizes(&[6, 6]);
        let impacts = Impacts::new(LexicalOptions::default(), &sizes);
        let texts = [(7, 1.0)];
        let with_title = impacts.passages_of(1, &texts, 1.0);
        let halves = [
            impacts.of_short_page(1, &texts, 1.0),
            impacts.of_long_page(1, &with_title, true),
        ];
        let (both, passages) = impacts.of_page(1, &texts, 1.0);
        assert_eq!(passages, 6);
        assert!(
            (both - 0.5 * (halves[0] + halves[1])).abs() < 1e-6,
            "{halves:?} {both}"
        );
    }
}
