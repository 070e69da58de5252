//! What words mean on a site: for each its row, the pages nearest to it, and its neighbours.
//!
//! A query without a network is the sum of its words. So are its scores: the overlap of a word's
//! UHD row with a page's codes (eq. 7 on binary codes) and the product of its static row with the
//! page's one-bit codes can be summed up beforehand, word by word, and the best pages of each word
//! kept as one short list. The first stage then needs no postings by dimension.

use crate::codes::{DenseQuery, PageCodes, best_and_mean};
use crate::dictionary::Meaning;
use crate::fusion::{Moments, ROUNDING};
use crate::impact::rarity;
use crate::lists::PageList;
use crate::manifest::Spread;
use crate::rows::UhdRow;
use crate::site_rows::{Nearest, cosine};
use crate::uhd::{Bucket, Map};
use crate::wordpiece::Vocabulary;
use std::collections::HashMap;

/// Pages of a word's list: a quarter of the site, within these bounds.
const FEWEST_LISTED_PAGES: usize = 16;
pub(crate) const MOST_LISTED_PAGES: usize = 64;
/// The upper bound for frequent words, of which most queries are made.
pub(crate) const MOST_LISTED_PAGES_OF_FREQUENT_WORDS: usize = 128;
/// The upper bound for pages that neighbours lend to a word.
const MOST_LENT_PAGES: usize = 128;
/// What UHD counts in a word's list against the static row, both in deviations.
const UHD_SHARE: f32 = 0.5;
/// Neighbours of a word that a reader is told, …
pub(crate) const NEIGHBOURS: usize = 4;
/// … those of a word that the site never uses which lend it their pages, …
const NEIGHBOURS_OF_FOREIGN_WORDS: usize = 8;
/// … and how alike they must be (cosine of static rows), unless a thesaurus names them.
const MIN_SIMILARITY: f32 = 0.4;
/// What a thesaurus adds to the cosine of a synonym.
const SYNONYM_BONUS: f32 = 0.6;
/// Queries whose scores tell how a site's scores spread.
pub(crate) const SAMPLED_QUERIES: usize = 64;

/// A site's codes and rows, from which words get their meaning.
pub(crate) struct Site<'a> {
    vocabulary: &'a Vocabulary,
    dim: usize,
    static_rows: &'a [f32],
    uhd: Vec<Overlaps<'a>>,
    /// Codes of the windows of each page.
    codes: &'a [PageCodes],
    mean_share: f32,
    span_share: f32,
    spread: Spread,
    mean_length: f32,
}

/// One UHD bucket: rows of pieces against codes of windows.
struct Overlaps<'a> {
    /// What the bucket has of all buckets' weight.
    share: f32,
    rows: &'a [UhdRow],
    bucket: &'a Bucket,
    map: Map,
    deviation: f32,
}

/// What a [`Site`] is made of.
pub(crate) struct Parts<'a> {
    pub(crate) vocabulary: &'a Vocabulary,
    /// Width of a static row.
    pub(crate) dim: usize,
    /// `[pieces, dim]`, row-major.
    pub(crate) static_rows: &'a [f32],
    /// One row a piece for each of `buckets`.
    pub(crate) uhd_rows: &'a [Vec<UhdRow>],
    pub(crate) buckets: &'a [Bucket],
    /// What each of them has of their weight.
    pub(crate) shares: &'a [f32],
    /// Codes of the windows of each page.
    pub(crate) codes: &'a [PageCodes],
    pub(crate) mean_share: f32,
    pub(crate) span_share: f32,
}

impl<'a> Site<'a> {
    /// A site; `words` are words of it, and `queries` words that stand together there.
    pub(crate) fn new(parts: &Parts<'a>, words: &[&str], queries: &[Vec<String>]) -> Self {
        let overlaps = |((rows, bucket), &share): ((&'a Vec<UhdRow>, &'a Bucket), &f32)| Overlaps {
            share,
            rows,
            bucket,
            map: bucket.map(&[]),
            deviation: 1.0,
        };
        let mut site = Self {
            vocabulary: parts.vocabulary,
            dim: parts.dim,
            static_rows: parts.static_rows,
            uhd: parts
                .uhd_rows
                .iter()
                .zip(parts.buckets)
                .zip(parts.shares)
                .map(overlaps)
                .collect(),
            codes: parts.codes,
            mean_share: parts.mean_share,
            span_share: parts.span_share,
            spread: Spread::default(),
            mean_length: 1.0,
        };
        site.measure(words, queries);
        site
    }

    /// How dense scores spread over the pages.
    pub(crate) fn spread(&self) -> Spread {
        self.spread
    }

    /// Measures how scores spread.
    fn measure(&mut self, words: &[&str], queries: &[Vec<String>]) {
        // Of words that no row can be made of, as of writing that the vocabulary lacks, all scores are 0.
        self.spread = self.spread_of(queries).unwrap_or(Spread {
            mean: 0.0,
            deviation: 1.0,
        });
        let rows: Vec<Vec<f32>> = words.iter().filter_map(|word| self.row(word)).collect();
        if rows.is_empty() {
            return;
        }
        self.mean_length = rows.iter().map(|row| length(row)).sum::<f32>() / rows.len() as f32;
        let texts: Vec<&str> = (0..SAMPLED_QUERIES)
            .map(|i| words[i * words.len() / SAMPLED_QUERIES])
            .collect();
        let deviations: Vec<f32> = (0..self.uhd.len())
            .map(|bucket| self.mean_overlap_deviation(bucket, &texts))
            .collect();
        for (overlaps, deviation) in self.uhd.iter_mut().zip(deviations) {
            overlaps.deviation = deviation;
        }
    }

    /// Mean and deviation of dense scores over all pages, on average over queries whose words the
    /// vocabulary can build; `None` when there is no such query.
    fn spread_of(&self, queries: &[Vec<String>]) -> Option<Spread> {
        let moments = crate::parallel::map(queries.len(), |i| {
            let mut sum = vec![0.0; self.dim];
            for row in queries[i].iter().filter_map(|word| self.row(word)) {
                add(&mut sum, &row);
            }
            let dense = DenseQuery::new(&sum);
            (!dense.is_zero()).then(|| Moments::of(&self.dense_scores(&dense)))
        });
        let moments: Vec<Moments> = moments.into_iter().flatten().collect();
        let mean = |of: &dyn Fn(&Moments) -> f32| {
            moments.iter().map(of).sum::<f32>() / moments.len() as f32
        };
        (!moments.is_empty()).then(|| Spread {
            mean: mean(&|moments| moments.mean),
            deviation: divisor(mean(&|moments| moments.deviation)),
        })
    }

    fn mean_overlap_deviation(&self, bucket: usize, words: &[&str]) -> f32 {
        let deviations = words.iter().map(|word| {
            let scores = self.overlap_scores(&self.uhd[bucket], word);
            Moments::of(&scores).deviation
        });
        divisor(deviations.sum::<f32>() / words.len().max(1) as f32)
    }

    /// A word's row: the sum of its pieces' rows, `[dim]`; `None` when the vocabulary cannot build
    /// the word.
    pub(crate) fn row(&self, word: &str) -> Option<Vec<f32>> {
        let pieces = self.vocabulary.encode_word(word)?;
        let mut sum = vec![0.0; self.dim];
        for piece in pieces {
            let start = piece.index() * self.dim;
            add(&mut sum, self.static_rows.get(start..start + self.dim)?);
        }
        Some(sum)
    }

    /// What a word with this row means, its neighbours aside, with `most_pages` at most. Its UHD overlap is the sum of
    /// its pieces' in any case.
    pub(crate) fn meaning(&self, word: &str, row: Vec<f32>, most_pages: usize) -> Meaning {
        let dense = DenseQuery::new(&row);
        let weight = length(&row) / self.mean_length.max(f32::MIN_POSITIVE);
        let mut scores = self.dense_scores(&dense);
        for score in &mut scores {
            *score = weight * (*score - self.spread.mean) / self.spread.deviation;
        }
        for overlaps in &self.uhd {
            let of_bucket = self.overlap_scores(overlaps, word);
            for (score, overlap) in scores.iter_mut().zip(of_bucket) {
                *score += UHD_SHARE * overlaps.share * overlap / overlaps.deviation;
            }
        }
        Meaning {
            row,
            pages: PageList::of_scores(best(&scores, listed_pages(self.codes.len(), most_pages))),
            neighbours: Vec::new(),
        }
    }

    fn dense_scores(&self, dense: &DenseQuery) -> Vec<f32> {
        let score = |codes: &PageCodes| {
            let windows = codes.window_scores(dense, self.span_share);
            best_and_mean(windows, self.mean_share)
        };
        self.codes.iter().map(score).collect()
    }

    fn overlap_scores(&self, overlaps: &Overlaps<'_>, word: &str) -> Vec<f32> {
        let pieces = self.vocabulary.encode_word(word).unwrap_or_default();
        let windows = overlaps.map.windows() as usize;
        let mut sums = vec![0.0; windows];
        let rows = pieces
            .iter()
            .filter_map(|piece| overlaps.rows.get(piece.index()));
        for &(dimension, weight) in rows.flatten() {
            let list = overlaps.bucket.windows_with(dimension);
            let weight = weight * rarity(windows, list.len());
            for &window in list {
                sums[window as usize] += weight;
            }
        }
        overlaps.map.page_scores(&sums, self.mean_share)
    }
}

/// A word of the site that is near another one in meaning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Neighbour<'a> {
    /// As it is written, …
    pub(crate) word: &'a str,
    /// … and its term.
    pub(crate) term: &'a str,
    /// How near it is: above 0, at most 1. The cosine of static rows, more if a thesaurus names it.
    pub(crate) similarity: f32,
    /// Where it stands in the [`Neighbourhood`].
    place: usize,
}

/// Words of a site among which neighbours are sought, the most frequent first.
pub(crate) struct Neighbourhood<'a> {
    words: Vec<(&'a str, &'a str)>,
    /// Per term the place of its most frequent word.
    places: HashMap<&'a str, usize>,
    nearest: Nearest,
}

impl<'a> Neighbourhood<'a> {
    /// `words` as they are written, each with its term and its row.
    pub(crate) fn new(words: Vec<(&'a str, &'a str, Vec<f32>)>) -> Self {
        let nearest = Nearest::new(words.iter().map(|(_, _, row)| row.clone()).collect());
        let words: Vec<(&str, &str)> = words
            .into_iter()
            .map(|(word, term, _)| (word, term))
            .collect();
        let mut places = HashMap::new();
        for (place, (_, term)) in words.iter().enumerate() {
            places.entry(*term).or_insert(place);
        }
        Self {
            words,
            places,
            nearest,
        }
    }

    /// The words nearest to a row, other than forms of `term`, nearest first.
    pub(crate) fn of(&self, row: &[f32], term: &str) -> Vec<Neighbour<'a>> {
        self.distinct(self.alike(row, NEIGHBOURS), term, NEIGHBOURS)
    }

    /// Those of a word that the site never uses, by its row and by `synonyms`: terms, each with what a thesaurus says of
    /// it, above 0 and at most 1.
    pub(crate) fn of_foreign(&self, row: &[f32], synonyms: &[(String, f32)]) -> Vec<Neighbour<'a>> {
        let mut near = self.alike(row, NEIGHBOURS_OF_FOREIGN_WORDS);
        for (term, nearness) in synonyms {
            if let Some(&place) = self.places.get(term.as_str()) {
                let cosine = cosine(row, self.nearest.row(place)).max(0.0);
                near.push((place, (cosine + SYNONYM_BONUS * nearness).min(1.0)));
            }
        }
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        self.distinct(near, "", NEIGHBOURS_OF_FOREIGN_WORDS)
    }

    /// `row`, a part `share` of it given up for as much towards the rows of neighbours, each by how near it is; so it
    /// becomes shorter the less they agree with it.
    pub(crate) fn drawn(&self, row: &[f32], near: &[Neighbour<'_>], share: f32) -> Vec<f32> {
        let mut target = vec![0.0; row.len()];
        for neighbour in near {
            let other = self.nearest.row(neighbour.place);
            let weight = neighbour.similarity / length(other).max(f32::MIN_POSITIVE);
            for (sum, value) in target.iter_mut().zip(other) {
                *sum += weight * value;
            }
        }
        let target_length = length(&target);
        if target_length <= 0.0 {
            return row.to_vec();
        }
        let scale = share * length(row) / target_length;
        let values = row.iter().zip(&target);
        values
            .map(|(own, target)| (1.0 - share) * own + scale * target)
            .collect()
    }

    /// Places of words that are alike enough, nearest first; more than `count`, since some are forms of one word.
    fn alike(&self, row: &[f32], count: usize) -> Vec<(usize, f32)> {
        let mut near = self.nearest.of(row, 3 * count);
        near.retain(|&(_, similarity)| similarity >= MIN_SIMILARITY);
        near
    }

    /// The first `count` of different terms, `term` aside.
    fn distinct(&self, near: Vec<(usize, f32)>, term: &str, count: usize) -> Vec<Neighbour<'a>> {
        let mut neighbours: Vec<Neighbour<'_>> = Vec::new();
        for (place, similarity) in near {
            let (word, other) = self.words[place];
            let is_new = other != term && neighbours.iter().all(|known| known.term != other);
            if is_new && neighbours.len() < count {
                neighbours.push(Neighbour {
                    word,
                    term: other,
                    similarity,
                    place,
                });
            }
        }
        neighbours
    }
}

/// The postings that neighbours lend to a word which the site never uses: per page the largest of
/// their scores times `weight` times how near they are.
pub(crate) fn lent_postings(
    neighbours: &[Neighbour<'_>],
    weight: f32,
    pages: usize,
    postings: impl Fn(&str) -> Option<PageList>,
) -> PageList {
    let mut scores: HashMap<u32, f32> = HashMap::new();
    for neighbour in neighbours {
        let Some(list) = postings(neighbour.term) else {
            continue;
        };
        for (page, score) in list.scores() {
            let best = scores.entry(page).or_default();
            *best = best.max(weight * neighbour.similarity * score);
        }
    }
    let mut scores: Vec<(u32, f32)> = scores.into_iter().collect();
    scores.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    scores.truncate(listed_pages(pages, MOST_LENT_PAGES));
    PageList::of_scores(scores)
}

/// What differences from the mean are divided by: 1 where all pages score alike, as those of a site
/// with the same text on every page do.
fn divisor(deviation: f32) -> f32 {
    if deviation > ROUNDING { deviation } else { 1.0 }
}

/// Pages that a word's list has on a site of so many pages.
fn listed_pages(pages: usize, most: usize) -> usize {
    (pages / 4).clamp(FEWEST_LISTED_PAGES, most)
}

/// The `count` largest scores above 0 with their places.
fn best(scores: &[f32], count: usize) -> Vec<(u32, f32)> {
    let mut ranked: Vec<(u32, f32)> = (0..).zip(scores.iter().copied()).collect();
    ranked.retain(|&(_, score)| score > 0.0);
    let order = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if count < ranked.len() {
        ranked.select_nth_unstable_by(count, order);
        ranked.truncate(count);
    }
    ranked
}

fn add(sum: &mut [f32], row: &[f32]) {
    for (sum, value) in sum.iter_mut().zip(row) {
        *sum += value;
    }
}

fn length(vector: &[f32]) -> f32 {
    vector.iter().map(|value| value * value).sum::<f32>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn neighbourhood() -> Neighbourhood<'static> {
        Neighbourhood::new(vec![
            ("error", "error", vec![0.8, 0.6]),
            ("errors", "error", vec![0.9, 0.3]),
            ("faulty", "faulti", vec![1.0, 0.1]),
            ("crack", "crack", vec![0.1, -1.0]),
        ])
    }

    fn terms(near: &[Neighbour<'static>]) -> Vec<&'static str> {
        near.iter().map(|near| near.term).collect()
    }

    #[test]
    fn neighbours_are_near_each_term_once_and_no_form_of_the_word() {
        let neighbourhood = neighbourhood();
        let near = neighbourhood.of(&[1.0, 0.0], "fault");
        assert_eq!(terms(&near), ["faulti", "error"]);
        assert_eq!(near[1].word, "errors");
        assert_eq!(terms(&neighbourhood.of(&[1.0, 0.0], "faulti")), ["error"]);
    }

    #[test]
    fn a_synonym_stands_before_words_that_are_only_alike_and_need_not_be_alike_at_all() {
        let synonyms = [
            ("error".to_owned(), 1.0),
            ("crack".to_owned(), 0.5),
            ("flaw".to_owned(), 1.0),
        ];
        let near = neighbourhood().of_foreign(&[1.0, 0.0], &synonyms);
        assert_eq!(terms(&near), ["error", "faulti", "crack"]);
        assert_eq!((near[0].word, near[0].similarity), ("error", 1.0));
        let crack = 0.1 / 1.01_f32.sqrt() + SYNONYM_BONUS * 0.5;
        assert!((near[2].similarity - crack).abs() < 1e-6, "{near:?}");
        assert_eq!(
            terms(&neighbourhood().of_foreign(&[-1.0, 0.0], &[])),
            [""; 0]
        );
    }

    #[test]
    fn a_row_is_drawn_towards_neighbours_by_how_near_they_are_whatever_their_length() {
        let words = vec![
            ("up", "up", vec![0.0, 9.0]),
            ("down", "down", vec![0.0, -0.1]),
        ];
        let neighbourhood = Neighbourhood::new(words);
        let synonyms = [("up".to_owned(), 1.0), ("down".to_owned(), 0.5)];
        let near = neighbourhood.of_foreign(&[2.0, 0.0], &synonyms);
        assert_eq!(terms(&near), ["up", "down"]);
        let row = neighbourhood.drawn(&[2.0, 0.0], &near, 0.25);
        assert!(
            (row[0] - 1.5).abs() < 1e-6 && (row[1] - 0.5).abs() < 1e-6,
            "{row:?}"
        );
        assert_eq!(neighbourhood.drawn(&[2.0, 0.0], &[], 0.25), [2.0, 0.0]);
    }

    #[test]
    fn eight_lend_to_a_foreign_word_and_four_are_neighbours_of_a_known_one() {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        let row = |at: usize| vec![1.0, 0.1 * at as f32];
        let words = names
            .iter()
            .zip(0..)
            .map(|(&name, at)| (name, name, row(at)));
        let neighbourhood = Neighbourhood::new(words.collect());
        assert_eq!(terms(&neighbourhood.of(&[1.0, 0.0], "z")), names[..4]);
        assert_eq!(
            terms(&neighbourhood.of_foreign(&[1.0, 0.0], &[])),
            names[..8]
        );
    }

    #[test]
    fn neighbours_lend_their_best_score_times_how_near_they_are() {
        let list = |term: &str| match term {
            "error" => Some(PageList::of_scores(vec![(0, 4.0), (1, 2.0)])),
            _ => Some(PageList::of_scores(vec![(1, 4.0)])),
        };
        let near = neighbourhood().of_foreign(&[1.0, 0.0], &[("error".to_owned(), 1.0)]);
        let lent = lent_postings(&near, 0.5, 2, list);
        let mut scores: Vec<(u32, f32)> = lent.scores().collect();
        scores.sort_by_key(|(page, _)| *page);
        assert_eq!(
            scores.iter().map(|(page, _)| *page).collect::<Vec<_>>(),
            [0, 1]
        );
        assert!(
            scores.iter().all(|(_, score)| (score - 2.0).abs() < 0.2),
            "{scores:?}"
        );
    }
}
