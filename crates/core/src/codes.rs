//! A shard of one-bit codes: sign bits of centred, pooled vectors of windows of passages, page by
//! page (the dense bucket; Zouhar et al. 2022). It also tells where the pages' records stand.
//!
//! ```text
//! varint  first page; varint pages; per page: varint windows
//! per window: ⌈dim / 8⌉ bytes, value i in bit i % 8 of byte i / 8; 1 = positive
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

/// The file of a shard: per page the codes of its windows, one after the other; `blocks` are those
/// of the pages' records.
#[must_use]
pub fn write(first_page: u32, pages: &[&[u8]], dim: usize, blocks: &[Block]) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.varint(first_page);
    writer.length(pages.len());
    for codes in pages {
        writer.length(codes.len() / code_bytes(dim));
    }
    pages.iter().for_each(|codes| writer.raw(codes));
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
#[must_use]
pub fn code_bytes(dim: usize) -> usize {
    dim.div_ceil(8).max(1)
}

/// A shard, opened for searching.
#[derive(Debug)]
pub struct Codes {
    first_page: u32,
    code_bytes: usize,
    /// First window of each page, and the number of all.
    first_window: Vec<u32>,
    bits: Vec<u8>,
    blocks: Vec<Block>,
}

impl Codes {
    /// Reads the payload of a file of [`write`].
    ///
    /// # Errors
    /// When the bytes are not such a payload.
    pub fn read(payload: &[u8], dim: usize) -> Result<Self> {
        let mut reader = Reader::new(payload);
        let first_page = reader.varint()?;
        let mut first_window = vec![0];
        let mut windows = 0u32;
        for _ in 0..reader.count(8)? {
            windows = windows
                .checked_add(reader.varint()?)
                .ok_or_else(|| reader.damage("windows over 32 bits"))?;
            first_window.push(windows);
        }
        let code_bytes = code_bytes(dim);
        let bits = reader
            .raw((windows as usize).saturating_mul(code_bytes))?
            .to_vec();
        let blocks = (0..reader.count(64)?)
            .map(|_| read_block(&mut reader))
            .collect::<Result<_>>()?;
        reader.finish()?;
        Ok(Self {
            first_page,
            code_bytes,
            first_window,
            bits,
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
        self.first_page
            ..self
                .first_page
                .saturating_add(self.first_window.len() as u32 - 1)
    }

    /// The codes of a page's windows; `None` when the page is not of this shard.
    pub fn of_page(&self, page: u32) -> Option<impl Iterator<Item = &[u8]>> {
        let at = page.checked_sub(self.first_page)? as usize;
        let (start, end) = (self.first_window.get(at)?, self.first_window.get(at + 1)?);
        let bytes = *start as usize * self.code_bytes..*end as usize * self.code_bytes;
        Some(self.bits.get(bytes)?.chunks_exact(self.code_bytes))
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

/// A page's score from those of its windows: the best, with a share of their mean.
#[must_use]
pub fn page_score(windows: impl Iterator<Item = f32>, mean_share: f32) -> f32 {
    let (mut best, mut sum, mut count) = (f32::NEG_INFINITY, 0.0, 0u32);
    for score in windows {
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
            let codes: Vec<u8> = vectors.iter().flat_map(|vector| sign_bits(vector)).collect();
            let file = write(3, &[&codes], 12, &[]);
            let payload = container::plain_payload("c", Kind::Codes, &file).unwrap();
            let shard = Codes::read(&payload, 12).unwrap();
            let dense = DenseQuery::new(&query);
            let scores = shard.of_page(3).unwrap().map(|code| dense.score(code));
            for (score, vector) in scores.zip(&vectors) {
                prop_assert!((score - naive_score(vector, &query)).abs() < 1e-4);
            }
        }

        #[test]
        fn any_bytes_are_refused_or_read(bytes: Vec<u8>) {
            if let Ok(shard) = Codes::read(&bytes, 12) {
                prop_assert!(shard.pages().all(|page| shard.of_page(page).is_some()));
            }
        }
    }

    #[test]
    fn a_page_of_another_shard_is_not_there() {
        let file = write(3, &[&[1, 2], &[]], 8, &[]);
        let payload = container::plain_payload("c", Kind::Codes, &file).unwrap();
        let shard = Codes::read(&payload, 8).unwrap();
        assert_eq!(shard.of_page(3).unwrap().count(), 2);
        assert_eq!(shard.of_page(4).unwrap().count(), 0);
        assert!(shard.of_page(2).is_none() && shard.of_page(5).is_none());
    }

    #[test]
    fn a_page_takes_its_best_window_and_a_little_of_the_mean() {
        assert_eq!(page_score([1.0, 3.0].into_iter(), 0.5), 2.5);
        assert_eq!(page_score(std::iter::empty(), 0.5), 0.0);
    }
}
