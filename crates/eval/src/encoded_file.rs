//! The bytes of an encoded collection in the cache.
//!
//! ```text
//! 8 bytes   magic "SISKENC" and a line feed
//! u32       version, little-endian
//! 32 bytes  SHA-256 of all that follows
//! varint    dim; varint buckets; varint k per bucket
//! varint    passages; per passage:
//!   varint  tokens; varint piece per token
//!   per bucket: tokens · k varint dimensions, tokens · k f16 activations
//!   dim f32 pooled as the encoder wants it
//! passages · dim f32 mean-pooled
//! varint    pieces; per piece in order of id:
//!   varint  gap from the id after the one before; varint occurrences; dim f32 sum
//! ```

use sha2::{Digest, Sha256};
use siskin_core::bytes::{Reader, Writer};
use siskin_core::encoded::{PassageCodes, PieceStatistics, PieceSum, TokenWinners};
use siskin_core::error::Result;
use siskin_core::ids::PieceId;

use crate::collection::EncodedPassages;

const MAGIC: &[u8; 8] = b"SISKENC\n";
/// Changes with the layout and with what the values mean.
pub(crate) const VERSION: u32 = 1;
const CHECKSUM_BYTES: usize = 32;
const HEADER_BYTES: usize = MAGIC.len() + 4 + CHECKSUM_BYTES;

/// The file of `passages`.
pub(crate) fn write(passages: &EncodedPassages) -> Vec<u8> {
    let mut writer = Writer::default();
    write_shape(&mut writer, passages);
    writer.length(passages.codes.len());
    passages
        .codes
        .iter()
        .for_each(|codes| write_codes(&mut writer, codes));
    write_floats(&mut writer, &passages.mean_pooled);
    write_statistics(&mut writer, &passages.statistics);
    let payload = writer.into_bytes();
    let mut file = Vec::with_capacity(HEADER_BYTES + payload.len());
    file.extend_from_slice(MAGIC);
    file.extend_from_slice(&VERSION.to_le_bytes());
    file.extend_from_slice(&Sha256::digest(&payload));
    file.extend_from_slice(&payload);
    file
}

fn write_shape(writer: &mut Writer, passages: &EncodedPassages) {
    writer.length(passages.dim);
    writer.length(passages.winners_per_token.len());
    for &k in &passages.winners_per_token {
        writer.length(k);
    }
}

fn write_codes(writer: &mut Writer, codes: &PassageCodes) {
    writer.length(codes.pieces.len());
    for piece in &codes.pieces {
        writer.varint(piece.0);
    }
    for bucket in &codes.winners {
        for &dimension in &bucket.dimensions {
            writer.varint(dimension);
        }
        for &activation in &bucket.activations {
            writer.f16(activation);
        }
    }
    write_floats(writer, &codes.dense);
}

fn write_statistics(writer: &mut Writer, statistics: &PieceStatistics) {
    writer.length(statistics.pieces.len());
    let mut next = 0;
    for (piece, sum) in &statistics.pieces {
        writer.varint(piece.0 - next);
        writer.varint(sum.occurrences);
        write_floats(writer, &sum.sum);
        next = piece.0 + 1;
    }
}

fn write_floats(writer: &mut Writer, values: &[f32]) {
    for value in values {
        writer.raw(&value.to_le_bytes());
    }
}

/// Reads a file of [`write`].
///
/// # Errors
/// When the bytes are not such a file of this version, or damaged.
pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<EncodedPassages> {
    let mut header = Reader::new(name, bytes);
    if header.raw(MAGIC.len())? != MAGIC || header.raw(4)? != VERSION.to_le_bytes() {
        return Err(header.corrupt("no cache file of this version"));
    }
    let checksum = header.raw(CHECKSUM_BYTES)?;
    let payload = bytes.get(HEADER_BYTES..).unwrap_or_default();
    if checksum != Sha256::digest(payload).as_slice() {
        return Err(header.corrupt("the checksum does not fit"));
    }
    let mut reader = Reader::new(name, payload);
    let passages = read_payload(&mut reader)?;
    reader.finish()?;
    Ok(passages)
}

fn read_payload(reader: &mut Reader<'_>) -> Result<EncodedPassages> {
    let dim = reader.varint()? as usize;
    let winners_per_token = read_counted(reader, 8, |reader| Ok(reader.varint()? as usize))?;
    let codes = read_counted(reader, 8, |reader| {
        read_codes(reader, dim, &winners_per_token)
    })?;
    let mean_pooled = read_floats(reader, codes.len().saturating_mul(dim))?;
    let statistics = read_statistics(reader, dim)?;
    Ok(EncodedPassages {
        dim,
        winners_per_token,
        codes,
        mean_pooled,
        statistics,
    })
}

fn read_counted<T>(
    reader: &mut Reader<'_>,
    item_bits: usize,
    mut item: impl FnMut(&mut Reader<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let count = reader.count(item_bits)?;
    (0..count).map(|_| item(reader)).collect()
}

fn read_codes(
    reader: &mut Reader<'_>,
    dim: usize,
    winners_per_token: &[usize],
) -> Result<PassageCodes> {
    let pieces = read_counted(reader, 8, |reader| reader.varint().map(PieceId))?;
    let winners = winners_per_token
        .iter()
        .map(|&k| read_winners(reader, pieces.len(), k))
        .collect::<Result<_>>()?;
    Ok(PassageCodes {
        pieces,
        winners,
        dense: read_floats(reader, dim)?,
    })
}

fn read_winners(reader: &mut Reader<'_>, tokens: usize, k: usize) -> Result<TokenWinners> {
    let count = tokens.saturating_mul(k);
    let dimensions = (0..count).map(|_| reader.varint()).collect::<Result<_>>()?;
    let activations = (0..count).map(|_| reader.f16()).collect::<Result<_>>()?;
    Ok(TokenWinners {
        k,
        dimensions,
        activations,
    })
}

fn read_statistics(reader: &mut Reader<'_>, dim: usize) -> Result<PieceStatistics> {
    let mut statistics = PieceStatistics::default();
    let mut next = 0u32;
    for _ in 0..reader.count(16)? {
        let gap = reader.varint()?;
        let piece = next.checked_add(gap).filter(|piece| *piece < u32::MAX);
        let piece = piece.ok_or_else(|| reader.corrupt("a piece over 32 bits"))?;
        let sum = PieceSum {
            occurrences: reader.varint()?,
            sum: read_floats(reader, dim)?,
        };
        statistics.pieces.insert(PieceId(piece), sum);
        next = piece + 1;
    }
    Ok(statistics)
}

fn read_floats(reader: &mut Reader<'_>, count: usize) -> Result<Vec<f32>> {
    let bytes = reader.raw(count.saturating_mul(4))?;
    Ok(bytes
        .as_chunks()
        .0
        .iter()
        .map(|&bytes| f32::from_le_bytes(bytes))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> EncodedPassages {
        let winners = TokenWinners {
            k: 2,
            dimensions: vec![9, 8191],
            activations: vec![1.5, 0.25],
        };
        let codes = PassageCodes {
            pieces: vec![PieceId(30_521)],
            winners: vec![winners],
            dense: vec![0.6, -0.8],
        };
        let sum = PieceSum {
            occurrences: 3,
            sum: vec![1.25, f32::MIN_POSITIVE],
        };
        EncodedPassages {
            dim: 2,
            winners_per_token: vec![2],
            codes: vec![codes],
            mean_pooled: vec![1.0, 0.1],
            statistics: PieceStatistics {
                pieces: [(PieceId(0), sum.clone()), (PieceId(30_521), sum)].into(),
            },
        }
    }

    #[test]
    fn what_is_written_comes_back() {
        assert_eq!(read("x", &write(&sample())).unwrap(), sample());
        let empty = EncodedPassages::default();
        assert_eq!(read("x", &write(&empty)).unwrap(), empty);
    }

    #[test]
    fn any_altered_or_missing_byte_is_noticed() {
        let file = write(&sample());
        for at in 0..file.len() {
            let mut altered = file.clone();
            altered[at] ^= 0x10;
            assert!(read("x", &altered).is_err(), "byte {at} altered");
            assert!(read("x", &file[..at]).is_err(), "cut at byte {at}");
        }
    }
}
