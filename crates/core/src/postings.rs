//! Posting lists: ascending unit numbers, stored by whichever of two codecs is shorter.
//!
//! ```text
//! varint  2 · number of postings + codec: 0 = interpolative, 1 = bitmap
//! interpolative  the middle posting (number ⌊n / 2⌋), then those before it, then those after it, in
//!                the same way (Moffat and Stuiver 2000); padded to a whole byte
//! bitmap         one bit per unit of the collection, lowest bit first
//! ```
//!
//! The middle one of `n` postings that are at least `low` and below `end` is one of
//! `r = end − low − n + 1` values, counted from the least. With `b = ⌈log₂ r⌉` the first `2^b − r` of
//! them take `b − 1` bits; of any other value `v` the number `v + 2^b − r` takes `b`, its last bit
//! last. Bits fill a byte from the lowest.
//!
//! Pages that are alike have near numbers, so that lists have clusters. These the interpolative code
//! pays for: on MDN it takes 35 % less than gaps packed in blocks, and 14 % less than Rice codes.

use crate::bytes::{Reader, Result, Writer};
use bitvec::field::BitField;
use bitvec::order::Lsb0;
use bitvec::vec::BitVec;
use bitvec::view::BitView;
use std::ops::Range;

const INTERPOLATIVE: u32 = 0;
const BITMAP: u32 = 1;
/// Largest number of units, so that a count and its codec are one number.
pub const MAX_UNITS: u32 = u32::MAX >> 1;

/// Writes ascending, distinct numbers below `units`, which is at most [`MAX_UNITS`].
pub fn write(writer: &mut Writer, postings: &[u32], units: u32) {
    let mut bits = BitVec::new();
    interpolate(postings, 0..units, &mut bits);
    let interpolated = bits.into_vec();
    let shorter = interpolated.len() <= (units as usize).div_ceil(8);
    let codec = if shorter { INTERPOLATIVE } else { BITMAP };
    writer.varint((postings.len() as u32) << 1 | codec);
    writer.raw(&match shorter {
        true => interpolated,
        false => bitmap(postings, units),
    });
}

/// Reads a list written by [`write`]: ascending, distinct, all below `units`.
///
/// # Errors
/// When the bytes end early, when there are more postings than units, or a bitmap is of another
/// number of postings.
pub fn read(reader: &mut Reader<'_>, units: u32) -> Result<Vec<u32>> {
    let head = reader.varint()?;
    let count = head >> 1;
    if count > units {
        return Err(reader.damage("more postings than units"));
    }
    match head & 1 {
        BITMAP => read_bitmap(reader, count as usize, units),
        _ => {
            let mut postings = vec![0; count as usize];
            let mut bits = Bits::new(reader.rest());
            bits.fill(&mut postings, 0..units);
            reader.raw(bits.read_bytes())?;
            Ok(postings)
        }
    }
}

/// The values that the middle one of so many postings within `range` can have, and the bits that the
/// longest of them take.
fn middles(count: usize, range: &Range<u32>) -> (u32, u32) {
    let values = range.end - range.start - count as u32 + 1;
    (values, 32 - (values - 1).leading_zeros())
}

fn interpolate(postings: &[u32], range: Range<u32>, bits: &mut BitVec<u8, Lsb0>) {
    let middle = postings.len() / 2;
    let Some(&posting) = postings.get(middle) else {
        return;
    };
    let (values, width) = middles(postings.len(), &range);
    if width > 0 {
        let value = posting - range.start - middle as u32;
        let short = ((1u64 << width) - u64::from(values)) as u32;
        let (high, last) = match value < short {
            true => (value, None),
            false => ((value + short) >> 1, Some((value + short) & 1 == 1)),
        };
        let at = bits.len();
        bits.resize(at + width as usize - 1, false);
        if width > 1 {
            bits[at..].store_le(high);
        }
        bits.extend(last);
    }
    interpolate(&postings[..middle], range.start..posting, bits);
    interpolate(&postings[middle + 1..], posting + 1..range.end, bits);
}

/// Bits that are read one after the other; beyond the end they are 0.
pub(crate) struct Bits<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Bits<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// Bytes that were read from, the last one perhaps in part.
    pub(crate) fn read_bytes(&self) -> usize {
        self.position.div_ceil(8)
    }

    /// The next 57 bits at least.
    fn peek(&self) -> u64 {
        let rest = self.bytes.get(self.position / 8..).unwrap_or_default();
        let word = rest.first_chunk().copied().unwrap_or_else(|| {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            word
        });
        u64::from_le_bytes(word) >> (self.position % 8)
    }

    /// The next bits, 32 at most, lowest first.
    pub(crate) fn take(&mut self, count: u32) -> u32 {
        let bits = self.peek() & ((1 << count) - 1);
        self.position += count as usize;
        bits as u32
    }

    fn fill(&mut self, postings: &mut [u32], range: Range<u32>) {
        if postings.is_empty() {
            return;
        }
        let (values, width) = middles(postings.len(), &range);
        let middle = postings.len() / 2;
        let mut value = 0;
        if width > 0 {
            let short = ((1u64 << width) - u64::from(values)) as u32;
            let bits = self.peek();
            value = (bits & ((1 << (width - 1)) - 1)) as u32;
            self.position += width as usize - 1;
            if value >= short {
                value = (value << 1 | (bits >> (width - 1)) as u32 & 1) - short;
                self.position += 1;
            }
        }
        let posting = range.start + middle as u32 + value;
        let (before, rest) = postings.split_at_mut(middle);
        if let Some((slot, after)) = rest.split_first_mut() {
            *slot = posting;
            self.fill(before, range.start..posting);
            self.fill(after, posting + 1..range.end);
        }
    }
}

fn bitmap(postings: &[u32], units: u32) -> Vec<u8> {
    let mut bits: BitVec<u8, Lsb0> = BitVec::repeat(false, units as usize);
    for &posting in postings {
        bits.set(posting as usize, true);
    }
    bits.into_vec()
}

fn read_bitmap(reader: &mut Reader<'_>, count: usize, units: u32) -> Result<Vec<u32>> {
    let bytes = reader.raw((units as usize).div_ceil(8))?;
    let postings: Vec<u32> = bytes
        .view_bits::<Lsb0>()
        .iter_ones()
        .map(|i| i as u32)
        .collect();
    if postings.len() != count || postings.last().is_some_and(|&last| last >= units) {
        return Err(reader.damage("a bitmap that does not fit its count"));
    }
    Ok(postings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn round_trip(postings: &[u32], units: u32) -> Vec<u32> {
        let mut writer = Writer::default();
        write(&mut writer, postings, units);
        let bytes = writer.into_bytes();
        let mut reader = Reader::new(&bytes);
        let read = read(&mut reader, units).unwrap();
        reader.finish().unwrap();
        read
    }

    proptest! {
        #[test]
        fn lists_come_back(postings: BTreeSet<u16>) {
            let postings: Vec<u32> = postings.into_iter().map(u32::from).collect();
            prop_assert_eq!(round_trip(&postings, 65_536), postings);
        }

        #[test]
        fn dense_lists_come_back(keep in proptest::collection::vec(any::<bool>(), 0..900)) {
            let postings: Vec<u32> = (0..keep.len()).filter(|&i| keep[i]).map(|i| i as u32).collect();
            prop_assert_eq!(round_trip(&postings, keep.len() as u32), postings);
        }

        #[test]
        fn any_bytes_give_a_valid_list_or_an_error(bytes: Vec<u8>, units in 0u32..5000) {
            if let Ok(postings) = read(&mut Reader::new(&bytes), units) {
                prop_assert!(postings.windows(2).all(|pair| pair[0] < pair[1]));
                prop_assert!(postings.iter().all(|&posting| posting < units));
            }
        }
    }

    /// The interpolative code as its definition says it, a bit at a time.
    fn naive_interpolative(postings: &[u32], low: u32, end: u32, bits: &mut Vec<bool>) {
        let n = postings.len();
        if n == 0 {
            return;
        }
        let least = low + (n / 2) as u32;
        let most = end - 1 - (n - 1 - n / 2) as u32;
        let values = u64::from(most - least + 1);
        let b = (0..).find(|b| 1u64 << b >= values).unwrap();
        let value = u64::from(postings[n / 2] - least);
        let short = (1 << b) - values;
        if value < short {
            bits.extend((0..b - 1).map(|bit| value >> bit & 1 == 1));
        } else if b > 0 {
            let long = value + short;
            bits.extend((1..b).map(|bit| long >> bit & 1 == 1));
            bits.push(long & 1 == 1);
        }
        naive_interpolative(&postings[..n / 2], low, postings[n / 2], bits);
        naive_interpolative(&postings[n / 2 + 1..], postings[n / 2] + 1, end, bits);
    }

    proptest! {
        #[test]
        fn codecs_write_what_their_definitions_say(
            postings in proptest::collection::btree_set(0u32..700, 0..500),
            spare in 0u32..300,
        ) {
            let postings: Vec<u32> = postings.into_iter().collect();
            let units = postings.last().map_or(0, |last| last + 1) + spare;
            let mut naive = Vec::new();
            naive_interpolative(&postings, 0, units, &mut naive);
            let map = (0..units).map(|unit| postings.contains(&unit));
            let naive: Vec<u8> = [naive, map.collect()]
                .iter()
                .map(|bits: &Vec<bool>| {
                    let byte = |bits: &[bool]| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit));
                    bits.chunks(8).map(byte).collect::<Vec<u8>>()
                })
                .min_by_key(Vec::len)
                .unwrap();
            let mut writer = Writer::default();
            write(&mut writer, &postings, units);
            let bytes = writer.into_bytes();
            prop_assert_eq!(&bytes[bytes.len() - naive.len()..], &naive);
            prop_assert!(bytes.len() - naive.len() <= 2);
        }
    }

    #[test]
    fn the_shorter_codec_is_chosen() {
        let size = |postings: &[u32]| {
            let mut writer = Writer::default();
            write(&mut writer, postings, 4096);
            writer.position_bytes()
        };
        let all: Vec<u32> = (0..4096).collect();
        let every_other: Vec<u32> = (0..4096).step_by(2).collect();
        assert!(size(&all) < 4, "what is certain costs no bits");
        assert!(size(&every_other) <= 512 + 4, "a bitmap bounds the size");
        assert!(size(&[7, 900]) < 5);
    }
}
