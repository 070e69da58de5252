//! A shard of one-bit codes: sign bits of centred, pooled vectors of windows of passages, page by
//! page (the dense bucket; Zouhar et al. 2022). It also tells where the pages' records stand.
//!
//! A window has one code, that of its mean; in a bundle with `spans` one for each of its spans of word pieces.
//!
//! ```text
//! varint  first page; varint pages; per page: varint windows
//! with spans, per window: varint codes
//! per code: ⌈dim / 8⌉ bytes, value i in bit i % 8 of byte i / 8; 1 = positive
//! varint  blocks of records that have any of these pages, in order; per block:
//!         varint first page, varint pages, varint offset in the file, varint bytes, u32 checksum
//! ```

use crate::bytes::{Reader, Result, Writer};
use crate::container::{self, Kind};
use crate::records::Block;

/// The one-bit code of a vector.
#[must_use]
pub fn sign_bits(vector: &[f32]) -> Vec<u8> {
    let mut bits = vec![0u8; vector.len().div_ceil(8)];
    for (i, _) in vector.iter().enumerate().filter(|(_, value)| **value > 0.0) {
        bits[i / 8] |= 1 << (i % 8);
    }
    bits
}

/// The codes of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageCodes {
    /// How many codes each window has.
    pub windows: Vec<u32>,
    /// All codes, window by window.
    pub bits: Vec<u8>,
}

impl PageCodes {
    /// Adds a window with the codes of some vectors; one of vectors without values is none.
    pub fn add_window<V: AsRef<[f32]>>(&mut self, vectors: impl IntoIterator<Item = V>) {
        let mut codes = 0;
        for vector in vectors {
            codes += u32::from(!vector.as_ref().is_empty());
            self.bits.extend(sign_bits(vector.as_ref()));
        }
        if codes > 0 {
            self.windows.push(codes);
        }
    }

    /// The codes of each window, as `query` reads them.
    fn codes(&self, query: &DenseQuery) -> impl Iterator<Item = impl Iterator<Item = &[u8]>> {
        let mut rest = self.bits.as_slice();
        let bytes = code_bytes(query.tables.len() * 8);
        self.windows.iter().map(move |&codes| {
            let end = (codes as usize).saturating_mul(bytes).min(rest.len());
            let (own, others) = rest.split_at(end);
            rest = others;
            own.chunks_exact(bytes)
        })
    }

    /// The score of each window: that of its code nearest to the query, with a share of their mean.
    pub fn window_scores(&self, query: &DenseQuery, span_share: f32) -> impl Iterator<Item = f32> {
        let windows = self.codes(query);
        windows.map(move |codes| best_and_mean(codes.map(|code| query.score(code)), span_share))
    }

    /// The code of a window that is nearest to the query.
    #[must_use]
    pub fn nearest(&self, window: usize, query: &DenseQuery) -> Option<&[u8]> {
        let codes = self.codes(query).nth(window)?;
        codes.max_by(|a, b| query.score(a).total_cmp(&query.score(b)))
    }
}

/// The file of a shard; `blocks` are those of the pages' records. Without `spans` each window has one code.
#[must_use]
pub fn write(first_page: u32, pages: &[PageCodes], spans: bool, blocks: &[Block]) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.varint(first_page);
    writer.length(pages.len());
    for page in pages {
        writer.length(page.windows.len());
    }
    if spans {
        let windows = pages.iter().flat_map(|page| &page.windows);
        windows.for_each(|&codes| writer.varint(codes));
    }
    pages.iter().for_each(|page| writer.raw(&page.bits));
    writer.length(blocks.len());
    for block in blocks {
        writer.varint(block.first_page);
        writer.varint(block.pages);
        writer.varint(block.bytes.start);
        writer.length(block.bytes.len());
        writer.raw(&block.checksum.to_le_bytes());
    }
    container::wrap(Kind::Codes, &writer.into_bytes())
}

/// Bytes of a code, at least 1.
fn code_bytes(dim: usize) -> usize {
    dim.div_ceil(8).max(1)
}

/// A shard, opened for searching.
#[derive(Debug)]
pub struct Codes {
    first_page: u32,
    pages: Vec<PageCodes>,
    blocks: Vec<Block>,
}

impl Codes {
    /// Reads the payload of a file of [`write`], of a bundle with or without `spans`.
    ///
    /// # Errors
    /// When the bytes are not such a payload.
    pub fn read(payload: &[u8], dim: usize, spans: bool) -> Result<Self> {
        let mut reader = Reader::new(payload);
        let first_page = reader.varint()?;
        let mut pages = Vec::new();
        let mut windows = 0usize;
        for _ in 0..reader.count(8)? {
            let count = reader.count(8)?;
            windows = windows.saturating_add(count);
            if windows > payload.len() {
                return Err(reader.damage("more windows announced than bytes are there"));
            }
            pages.push(PageCodes {
                windows: vec![1; count],
                bits: Vec::new(),
            });
        }
        if spans {
            let mut windows = pages.iter_mut().flat_map(|page| &mut page.windows);
            windows.try_for_each(|codes| {
                *codes = reader.varint()?;
                match *codes {
                    0 => Err(reader.damage("a window without a code")),
                    _ => Ok(()),
                }
            })?;
        }
        for page in &mut pages {
            let count = |sum: usize, &codes: &u32| sum.saturating_add(codes as usize);
            let codes = page.windows.iter().fold(0, count);
            let bits = reader.raw(codes.saturating_mul(code_bytes(dim)))?;
            page.bits = bits.to_vec();
        }
        let blocks = (0..reader.count(64)?)
            .map(|_| read_block(&mut reader))
            .collect::<Result<_>>()?;
        reader.finish()?;
        Ok(Self {
            first_page,
            pages,
            blocks,
        })
    }

    /// The block of records that has a page, where records can be read in blocks.
    #[must_use]
    pub fn block_of(&self, page: u32) -> Option<&Block> {
        let has = |block: &&Block| {
            page.checked_sub(block.first_page)
                .is_some_and(|at| at < block.pages)
        };
        self.blocks.iter().find(has)
    }

    /// Pages that the shard is of.
    #[must_use]
    pub fn pages(&self) -> std::ops::Range<u32> {
        self.first_page..self.first_page.saturating_add(self.pages.len() as u32)
    }

    /// A page's codes; `None` when it is not of this shard.
    #[must_use]
    pub fn of_page(&self, page: u32) -> Option<&PageCodes> {
        self.pages.get(page.checked_sub(self.first_page)? as usize)
    }
}

fn read_block(reader: &mut Reader<'_>) -> Result<Block> {
    let (first_page, pages) = (reader.varint()?, reader.varint()?);
    let (start, length) = (reader.varint()?, reader.varint()?);
    let end = start
        .checked_add(length)
        .ok_or_else(|| reader.damage("a block beyond 32 bits"))?;
    let checksum = reader.raw(4)?.iter().rev();
    Ok(Block {
        first_page,
        pages,
        bytes: start..end,
        checksum: checksum.fold(0, |sum, &byte| sum << 8 | u32::from(byte)),
    })
}

/// A query's vector, ready to be compared with codes.
#[derive(Debug)]
pub struct DenseQuery {
    tables: Vec<[f32; 256]>,
    length: f32,
}

impl DenseQuery {
    /// The query of a vector `[dim]`.
    #[must_use]
    pub fn new(vector: &[f32]) -> Self {
        Self {
            tables: vector.chunks(8).map(byte_sums).collect(),
            length: vector.iter().map(|value| value * value).sum::<f32>().sqrt(),
        }
    }

    /// Whether the vector says nothing.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.length <= 0.0
    }

    /// Dot product of the vector, brought to length 1, with a ±1 code.
    #[must_use]
    pub fn score(&self, code: &[u8]) -> f32 {
        let sum: f32 = self
            .tables
            .iter()
            .zip(code)
            .map(|(table, &byte)| table[usize::from(byte)])
            .sum();
        sum / self.length.max(f32::MIN_POSITIVE)
    }
}

/// For every value of a byte of code: the sum of eight query values, each with its bit's sign.
fn byte_sums(values: &[f32]) -> [f32; 256] {
    let mut sums = [0.0; 256];
    sums[0] = -values.iter().sum::<f32>();
    for byte in 1..256usize {
        let lowest = byte.trailing_zeros() as usize;
        sums[byte] =
            sums[byte & (byte - 1)] + 2.0 * values.get(lowest).copied().unwrap_or_default();
    }
    sums
}

/// The score of a whole, a page or a window, from those of its parts: the best, with a share of their mean; 0 without
/// parts.
#[must_use]
pub fn best_and_mean(parts: impl Iterator<Item = f32>, mean_share: f32) -> f32 {
    let (mut best, mut sum, mut count) = (f32::NEG_INFINITY, 0.0, 0u32);
    for score in parts {
        best = best.max(score);
        sum += score;
        count += 1;
    }
    if count == 0 {
        return 0.0;
    }
    best + mean_share * (sum / count as f32 - best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive_score(vector: &[f32], query: &[f32]) -> f32 {
        let sign = |value: f32| if value > 0.0 { 1.0 } else { -1.0 };
        let length = query.iter().map(|value| value * value).sum::<f32>().sqrt();
        let dot: f32 = query.iter().zip(vector).map(|(q, v)| q * sign(*v)).sum();
        dot / length
    }

    proptest! {
        #[test]
        fn table_look_up_equals_the_naive_sum(
            vectors in proptest::collection::vec(proptest::array::uniform12(-1f32..1.0), 1..9),
            query in proptest::array::uniform12(0.01f32..1.0),
        ) {
            let mut page = PageCodes::default();
            vectors.iter().for_each(|vector| page.add_window([vector]));
            let shard = written(&[page], 12, false);
            let dense = DenseQuery::new(&query);
            let scores = shard.of_page(3).unwrap().window_scores(&dense, 0.0);
            for (score, vector) in scores.zip(&vectors) {
                prop_assert!((score - naive_score(vector, &query)).abs() < 1e-4);
            }
        }

        #[test]
        fn any_bytes_are_refused_or_give_every_window_a_score(bytes: Vec<u8>, spans: bool) {
            let query = DenseQuery::new(&[1.0; 12]);
            if let Ok(shard) = Codes::read(&bytes, 12, spans) {
                for page in shard.pages() {
                    let codes = shard.of_page(page).unwrap();
                    prop_assert!(codes.window_scores(&query, 0.3).all(f32::is_finite));
                }
            }
        }
    }

    #[test]
    fn a_page_of_another_shard_is_not_there() {
        let page = PageCodes {
            windows: vec![1, 1],
            bits: vec![1, 2],
        };
        let shard = written(&[page.clone(), PageCodes::default()], 8, false);
        assert_eq!(shard.of_page(3), Some(&page));
        assert_eq!(shard.of_page(4), Some(&PageCodes::default()));
        assert!(shard.of_page(2).is_none() && shard.of_page(5).is_none());
    }

    #[test]
    fn a_window_is_as_near_as_its_nearest_span_and_a_little_as_their_mean() {
        let page = PageCodes {
            windows: vec![2, 1],
            bits: vec![0b00, 0b11, 0b01],
        };
        let shard = written(&[PageCodes::default(), page.clone()], 2, true);
        let found = shard.of_page(4).unwrap();
        assert_eq!(found, &page);
        let query = DenseQuery::new(&[3.0, 4.0]);
        let close = |found: f32, wanted: f32| (found - wanted).abs() < 1e-6;
        for (share, wanted) in [(0.0, [1.4, -0.2]), (0.5, [0.7, -0.2])] {
            let scores: Vec<f32> = found.window_scores(&query, share).collect();
            assert!(
                scores.iter().zip(wanted).all(|(a, b)| close(*a, b)),
                "{scores:?}"
            );
        }
        assert_eq!(found.nearest(0, &query), Some([0b11].as_slice()));
        assert_eq!(found.nearest(1, &query), Some([0b01].as_slice()));
        assert_eq!(found.nearest(2, &query), None);
    }

    #[test]
    fn a_window_without_a_code_is_damage() {
        let page = PageCodes {
            windows: vec![1, 0],
            bits: vec![1],
        };
        let file = write(3, &[page], true, &[]);
        let payload = container::plain_payload("c", Kind::Codes, &file).unwrap();
        let damage = Codes::read(&payload, 8, true).unwrap_err();
        let message = damage.of("c").to_string();
        assert!(message.contains("a window without a code"), "{message}");
    }

    #[test]
    fn vectors_without_values_make_no_window() {
        let mut page = PageCodes::default();
        page.add_window([[]; 2]);
        assert_eq!(page, PageCodes::default());
    }

    /// Pages from 3 on, written and read.
    fn written(pages: &[PageCodes], dim: usize, spans: bool) -> Codes {
        let file = write(3, pages, spans, &[]);
        let payload = container::plain_payload("c", Kind::Codes, &file).unwrap();
        Codes::read(&payload, dim, spans).unwrap()
    }

    #[test]
    fn a_page_takes_its_best_window_and_a_little_of_the_mean() {
        assert_eq!(best_and_mean([1.0, 3.0].into_iter(), 0.5), 2.5);
        assert_eq!(best_and_mean(std::iter::empty(), 0.5), 0.0);
    }
}
