//! A site's codes and rows, and how the shards of a bundle are cut from them.

use super::shard_writer::{ShardWriter, WHOLE};
use super::words::Words;
use super::{Builder, MIN_NEIGHBOUR_LETTERS, MIN_OCCURRENCES};
use crate::attributes::Attributes;
use crate::codes::PageCodes;
use crate::dictionary::{Entry, Shape};
use crate::filter::Filter;
use crate::order::{by_lists, by_meaning};
use crate::records::Block;
use crate::rows::{GenericRows, UhdRow};
use crate::shards::{first_word, runs};
use crate::text::Analyzer;
use crate::uhd::{self, Bucket};
use crate::wordpiece::Vocabulary;
use crate::{codes, container::Kind, page::Page, records};
use std::collections::BTreeMap;

/// Pages that a title finds, of those that should stand together: as many as a reader's question
/// makes candidates.
const PAGES_OF_A_TITLE: usize = 30;
/// Words of a shard of spellings, unless one letter has more.
const SPELLINGS_OF_A_SHARD: usize = 1_500;

/// A site's codes and rows.
pub(super) struct SiteCodes<'a> {
    pub(super) builder: &'a Builder,
    pub(super) vocabulary: &'a Vocabulary,
    pub(super) shape: Shape,
    /// `order[i]` is the page, as added, that is now page `i`.
    pub(super) order: Vec<u32>,
    /// Per page the direction of its dense vectors: `[pages, dim]`, pages as they were added.
    directions: Vec<f32>,
    /// Per page the one-bit codes of its windows.
    pub(super) codes: Vec<PageCodes>,
    pub(super) buckets: Vec<Bucket>,
    pub(super) static_rows: Vec<f32>,
    pub(super) uhd_rows: Vec<Vec<UhdRow>>,
    /// Rows of words that the vocabulary has only in parts; see [`GenericRows::words`].
    pub(super) word_rows: &'a BTreeMap<String, Vec<f32>>,
    pub(super) synonyms: &'a BTreeMap<String, Vec<(String, f32)>>,
}

impl<'a> SiteCodes<'a> {
    /// Pages as they were added.
    pub(super) fn new(
        builder: &'a Builder,
        vocabulary: &'a Vocabulary,
        generic: &'a GenericRows,
    ) -> Self {
        let dim = builder.encoder.dim;
        let mean = builder.site_rows.mean();
        let (mut directions, mut codes) = (Vec::new(), Vec::new());
        for page in &builder.windows {
            let windows = page.dense.iter();
            let windows = windows.map(|(sum, count)| centred(sum, *count, &mean));
            let windows: Vec<Vec<f32>> = windows.collect();
            directions.extend(direction(&windows, dim));
            let mut of_page = PageCodes::default();
            match builder.has_spans {
                true => page.spans.iter().for_each(|spans| {
                    let spans = spans.chunks_exact(dim.max(1));
                    of_page.add_window(spans.map(|span| centred(span, 1, &mean)));
                }),
                false => windows.iter().for_each(|mean| of_page.add_window([mean])),
            }
            codes.push(of_page);
        }
        let order: Vec<u32> = (0..builder.pages.len() as u32).collect();
        let buckets = builder.encoder.buckets.len();
        Self {
            builder,
            vocabulary,
            shape: Shape {
                pages: order.len() as u32,
                dim,
            },
            directions,
            codes,
            buckets: buckets_of(builder, &order),
            static_rows: builder.site_rows.static_rows(generic),
            uhd_rows: (0..buckets)
                .map(|bucket| builder.site_rows.uhd_rows(bucket, generic))
                .collect(),
            word_rows: &generic.words,
            synonyms: &generic.synonyms,
            order,
        }
    }

    pub(super) fn pages(&self) -> usize {
        self.order.len()
    }

    /// Brings pages that are asked for together together, here and in the lists of `words`.
    pub(super) fn order_pages(&mut self, words: &mut Words<'_>) {
        let options = &self.builder.options;
        let titles: Vec<&str> = self
            .builder
            .pages
            .iter()
            .map(|page| page.title.as_str())
            .collect();
        let found = words.found(
            &titles,
            &Analyzer::new(options.stemming),
            &options.ranking,
            self.pages(),
            PAGES_OF_A_TITLE,
        );
        let start = by_meaning(&self.directions, self.pages(), self.shape.dim);
        self.order = by_lists(start, &found);
        let mut place = vec![0; self.order.len()];
        for (now, &added) in (0u32..).zip(&self.order) {
            place[added as usize] = now;
        }
        words.renumber(&place);
        let mut codes = std::mem::take(&mut self.codes);
        let codes = self
            .order
            .iter()
            .map(|&page| std::mem::take(&mut codes[page as usize]));
        self.codes = codes.collect();
        self.buckets = Vec::new();
        self.buckets = buckets_of(self.builder, &self.order);
    }

    /// Writes all shards.
    pub(super) fn write(
        &self,
        words: Words<'a>,
        attributes: &Attributes,
        writer: &mut ShardWriter,
    ) {
        self.write_words(words, writer);
        self.write_spellings(writer);
        let blocks = self.write_records(writer);
        self.write_codes(writer, &blocks);
        self.write_uhd(writer);
        if !attributes.is_empty() {
            let file = attributes.write(self.shape.pages);
            writer.by_number(Kind::Attributes, 0, 0, file);
        }
    }

    /// What the pages say of themselves, in their order.
    pub(super) fn attributes(&self) -> Attributes {
        let pages = self.order.iter();
        let pages: Vec<&Page> = pages
            .map(|&page| &self.builder.pages[page as usize])
            .collect();
        Attributes::of(&pages)
    }

    /// Words by frequency in two dictionaries. A title stands beside its first word.
    fn write_words(&self, words: Words<'a>, writer: &mut ShardWriter) {
        let sizes = self.builder.options.shards;
        let common = words.common_keys(self.builder.lexical.words());
        writer.dictionary(Kind::Foreign, &words.foreign, self.shape, sizes.foreign);
        let (common, others): (BTreeMap<_, _>, _) = words
            .site
            .into_iter()
            .partition(|(key, _)| common.contains(first_word(key)));
        writer.dictionary(Kind::Common, &common, self.shape, sizes.common);
        writer.dictionary(Kind::Words, &others, self.shape, sizes.words);
        let keys: Vec<&str> = common
            .into_keys()
            .filter(|key| !key.contains(' '))
            .collect();
        writer.shards.common_keys = Filter::of(&keys);
    }

    fn write_spellings(&self, writer: &mut ShardWriter) {
        let words = self.builder.lexical.words().iter();
        let words = words.filter(|(word, site)| {
            site.occurrences >= MIN_OCCURRENCES
                && word.chars().count() >= MIN_NEIGHBOUR_LETTERS
                && word.chars().all(char::is_alphabetic)
        });
        let mut by_letter: BTreeMap<char, BTreeMap<&str, Entry>> = BTreeMap::new();
        for (word, _) in words {
            let letter = word.chars().next().unwrap_or_default();
            by_letter
                .entry(letter)
                .or_default()
                .insert(word, Entry::default());
        }
        // Letters without many words share a shard.
        let mut shared: BTreeMap<&str, Entry> = BTreeMap::new();
        for (_, words) in by_letter {
            if !shared.is_empty() && shared.len() + words.len() > SPELLINGS_OF_A_SHARD {
                writer.dictionary(Kind::Spelling, &shared, self.shape, WHOLE);
                shared.clear();
            }
            shared.extend(words);
        }
        writer.dictionary(Kind::Spelling, &shared, self.shape, WHOLE);
    }

    fn write_codes(&self, writer: &mut ShardWriter, blocks: &[Block]) {
        let sizes: Vec<usize> = self.codes.iter().map(|page| page.bits.len()).collect();
        let total: usize = sizes.iter().sum();
        let options = self.builder.options.shards;
        let whole = total <= options.whole_codes_bytes;
        let mut first = 0;
        for run in runs(&sizes, if whole { WHOLE } else { options.codes }) {
            let pages = &self.codes[first..first + run];
            let end = (first + run) as u32;
            let has = |block: &&Block| {
                block.first_page < end && block.first_page + block.pages > first as u32
            };
            let blocks: Vec<Block> = blocks.iter().filter(has).cloned().collect();
            let file = codes::write(first as u32, pages, self.builder.has_spans, &blocks);
            writer.by_number(Kind::Codes, 0, first as u32, file);
            first += run;
        }
    }

    fn write_records(&self, writer: &mut ShardWriter) -> Vec<Block> {
        let pages: Vec<&Page> = self
            .order
            .iter()
            .map(|&page| &self.builder.pages[page as usize])
            .collect();
        let sizes: Vec<usize> = pages.iter().map(|page| records::page_bytes(page)).collect();
        let mut first = 0;
        let mut parts = Vec::new();
        for run in runs(&sizes, self.builder.options.shards.records) {
            parts.push(first..first + run);
            first += run;
        }
        let files = crate::parallel::map(parts.len(), |i| {
            let pages = &pages[parts[i].clone()];
            let size = self.builder.options.shards.record_blocks;
            records::write(parts[i].start as u32, pages, size)
        });
        let mut all = Vec::new();
        for (part, (file, blocks)) in parts.iter().zip(files) {
            writer.by_number(Kind::Records, 0, part.start as u32, file);
            all.extend(blocks);
        }
        all
    }

    fn write_uhd(&self, writer: &mut ShardWriter) {
        for (number, bucket) in (0u32..).zip(&self.buckets) {
            let order = self.dimension_order(number as usize, bucket);
            writer.by_number(Kind::Map, number, 0, bucket.write_map(&order));
            let lists: Vec<Vec<u8>> = order.iter().map(|&at| bucket.write_list(at)).collect();
            let sizes: Vec<usize> = lists.iter().map(Vec::len).collect();
            let mut first = 0;
            for run in runs(&sizes, self.builder.options.shards.uhd) {
                let file = uhd::write_shard(first as u32, &lists[first..first + run]);
                writer.by_number(Kind::Uhd, number, first as u32, file);
                first += run;
            }
        }
    }

    /// The dimensions of a bucket so that those which words activate together stand together: by
    /// the mean static row of the words that have them, weighted.
    fn dimension_order(&self, number: usize, bucket: &Bucket) -> Vec<u32> {
        let dimensions = bucket.dimensions();
        let dim = self.shape.dim;
        let at: BTreeMap<u32, usize> = dimensions.iter().copied().zip(0..).collect();
        let mut vectors = vec![0.0f32; dimensions.len() * dim];
        let rows = self.uhd_rows[number]
            .iter()
            .zip(self.static_rows.chunks(dim.max(1)));
        for (row, vector) in rows {
            for (dimension, weight) in row {
                let Some(&at) = at.get(dimension) else {
                    continue;
                };
                for (sum, value) in vectors[at * dim..(at + 1) * dim].iter_mut().zip(vector) {
                    *sum += weight * value;
                }
            }
        }
        let order = by_meaning(&vectors, dimensions.len(), dim);
        order
            .into_iter()
            .map(|at| dimensions[at as usize])
            .collect()
    }
}

/// Postings of every bucket, pages in `order`.
fn buckets_of(builder: &Builder, order: &[u32]) -> Vec<Bucket> {
    let bucket = |bucket: usize| {
        let mut postings = Bucket::default();
        for &page in order {
            postings.add_page(&builder.windows[page as usize].codes[bucket]);
        }
        postings
    };
    (0..builder.encoder.buckets.len()).map(bucket).collect()
}

/// The sum of so many vectors, each less the mean of all.
fn centred(sum: &[f32], count: u32, mean: &[f32]) -> Vec<f32> {
    let values = sum.iter().zip(mean);
    values
        .map(|(sum, mean)| sum - count as f32 * mean)
        .collect()
}

/// The direction of a page: the sum of its windows, of length 1.
fn direction(windows: &[Vec<f32>], dim: usize) -> Vec<f32> {
    let mut sum = vec![0.0f32; dim];
    for window in windows {
        sum.iter_mut()
            .zip(window)
            .for_each(|(sum, value)| *sum += value);
    }
    let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
    sum.iter_mut()
        .for_each(|value| *value /= length.max(f32::MIN_POSITIVE));
    sum
}
