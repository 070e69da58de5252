//! Posting lists: ascending unit numbers, stored by whichever of two codecs is shorter.
//!
//! ```text
//! varint  number of postings
//! u8      codec: 0 = packed gaps, 1 = bitmap
//! packed  per block of up to 128: u8 width in bits, then the gaps minus one, `width` bits each,
//!         lowest bit first, padded to a whole byte; the first gap counts from -1
//! bitmap  one bit per unit of the collection, lowest bit first
//! ```

use crate::bytes::{Reader, Writer};
use crate::error::Result;
use bitvec::field::BitField;
use bitvec::order::Lsb0;
use bitvec::vec::BitVec;
use bitvec::view::BitView;

const BLOCK: usize = 128;
const PACKED: u8 = 0;
const BITMAP: u8 = 1;

/// Writes ascending, distinct numbers below `units`.
pub fn write(writer: &mut Writer, postings: &[u32], units: u32) {
    writer.length(postings.len());
    let packed = pack(postings);
    if packed.len() <= (units as usize).div_ceil(8) {
        writer.u8(PACKED);
        writer.raw(&packed);
    } else {
        writer.u8(BITMAP);
        writer.raw(&bitmap(postings, units));
    }
}

/// Reads a list written by [`write`]: ascending, distinct, all below `units`.
///
/// # Errors
/// When the bytes end early or a number is not below `units`.
pub fn read(reader: &mut Reader<'_>, units: u32) -> Result<Vec<u32>> {
    let count = reader.varint()? as usize;
    if count > units as usize {
        return Err(reader.corrupt("more postings than units"));
    }
    match reader.u8()? {
        PACKED => unpack(reader, count, units),
        BITMAP => read_bitmap(reader, count, units),
        codec => Err(reader.corrupt(&format!("unknown posting codec {codec}"))),
    }
}

fn gaps(postings: &[u32]) -> impl Iterator<Item = u32> + '_ {
    let mut next = 0;
    postings.iter().map(move |&posting| {
        let gap = posting - next;
        next = posting + 1;
        gap
    })
}

fn pack(postings: &[u32]) -> Vec<u8> {
    let gaps: Vec<u32> = gaps(postings).collect();
    let mut packed = Vec::new();
    for block in gaps.chunks(BLOCK) {
        let widest = block.iter().copied().max().unwrap_or(0);
        let width = 32 - widest.leading_zeros() as usize;
        packed.push(width as u8);
        packed.extend_from_slice(&pack_block(block, width));
    }
    packed
}

fn pack_block(block: &[u32], width: usize) -> Vec<u8> {
    let mut bits: BitVec<u8, Lsb0> = BitVec::repeat(false, block.len() * width);
    if width > 0 {
        for (slot, gap) in bits.chunks_exact_mut(width).zip(block) {
            slot.store_le(*gap);
        }
    }
    bits.into_vec()
}

fn unpack(reader: &mut Reader<'_>, count: usize, units: u32) -> Result<Vec<u32>> {
    let mut postings = Vec::with_capacity(count);
    let mut next = 0u64;
    while postings.len() < count {
        let size = BLOCK.min(count - postings.len());
        let width = usize::from(reader.u8()?);
        if width > 32 {
            return Err(reader.corrupt("a gap of over 32 bits"));
        }
        let block = reader.raw((size * width).div_ceil(8))?;
        for i in 0..size {
            let posting = next + u64::from(unpack_one(block, i, width));
            if posting >= u64::from(units) {
                return Err(reader.corrupt("a posting beyond the last unit"));
            }
            postings.push(posting as u32);
            next = posting + 1;
        }
    }
    Ok(postings)
}

/// The `i`-th number of `width` bits, lowest bit first.
fn unpack_one(block: &[u8], i: usize, width: usize) -> u32 {
    if width == 0 {
        return 0;
    }
    block.view_bits::<Lsb0>()[i * width..(i + 1) * width].load_le()
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
        return Err(reader.corrupt("a bitmap that does not fit its count"));
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
        let mut reader = Reader::new("test", &bytes);
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
            if let Ok(postings) = read(&mut Reader::new("test", &bytes), units) {
                prop_assert!(postings.windows(2).all(|pair| pair[0] < pair[1]));
                prop_assert!(postings.iter().all(|&posting| posting < units));
            }
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
        assert!(size(&all) < 64, "gaps of zero cost no bits");
        assert!(size(&every_other) <= 512 + 4, "a bitmap bounds the size");
        assert!(size(&[7, 900]) < 8);
    }
}
