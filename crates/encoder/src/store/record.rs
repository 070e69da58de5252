//! One passage's codes as bytes.
//!
//! ```text
//! varint tokens; varint piece per token
//! varint buckets; per bucket: varint k; tokens · k varint dimensions; tokens · k f16 activations
//! varint dim; dim f16 dense
//! with spans: varint spans; spans · dim f16
//! ```
//!
//! Fresh codes take the same way as stored ones, so both have the same rounding.

use siskin_core::bytes::{Reader, Result, Writer};
use siskin_core::encoded::{PassageCodes, TokenWinners};
use siskin_core::ids::PieceId;

/// The largest 16-bit float.
const LARGEST: f32 = 65_504.0;

/// The bytes of `codes`; larger numbers than a 16-bit float has become the largest one.
pub(super) fn write(codes: &PassageCodes, with_spans: bool) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.length(codes.pieces.len());
    for piece in &codes.pieces {
        writer.varint(piece.0);
    }
    writer.length(codes.winners.len());
    for bucket in &codes.winners {
        writer.length(bucket.k);
        for &dimension in &bucket.dimensions {
            writer.varint(dimension);
        }
        write_floats(&mut writer, &bucket.activations);
    }
    writer.length(codes.dense.len());
    write_floats(&mut writer, &codes.dense);
    if with_spans {
        writer.length(codes.spans.len() / codes.dense.len().max(1));
        write_floats(&mut writer, &codes.spans);
    }
    writer.into_bytes()
}

fn write_floats(writer: &mut Writer, values: &[f32]) {
    for value in values {
        writer.f16(value.clamp(-LARGEST, LARGEST));
    }
}

/// Reads bytes of [`write`].
pub(super) fn read(bytes: &[u8], with_spans: bool) -> Result<PassageCodes> {
    let mut reader = Reader::new(bytes);
    let tokens = reader.count(8)?;
    let pieces = (0..tokens)
        .map(|_| reader.varint().map(PieceId))
        .collect::<Result<_>>()?;
    let buckets = reader.count(8)?;
    let winners = (0..buckets)
        .map(|_| read_winners(&mut reader, tokens))
        .collect::<Result<_>>()?;
    let dim = reader.count(16)?;
    let dense = read_floats(&mut reader, dim)?;
    let spans = match with_spans {
        true => reader.count(16)?.saturating_mul(dim),
        false => 0,
    };
    let spans = read_floats(&mut reader, spans)?;
    reader.finish()?;
    Ok(PassageCodes {
        pieces,
        winners,
        dense,
        spans,
    })
}

fn read_winners(reader: &mut Reader<'_>, tokens: usize) -> Result<TokenWinners> {
    let k = reader.varint()? as usize;
    let count = tokens.saturating_mul(k);
    let dimensions = (0..count).map(|_| reader.varint()).collect::<Result<_>>()?;
    Ok(TokenWinners {
        k,
        dimensions,
        activations: read_floats(reader, count)?,
    })
}

fn read_floats(reader: &mut Reader<'_>, count: usize) -> Result<Vec<f32>> {
    (0..count).map(|_| reader.f16()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes() -> PassageCodes {
        PassageCodes {
            pieces: vec![PieceId(30_521), PieceId(7)],
            winners: vec![TokenWinners {
                k: 2,
                dimensions: vec![9, 8191, 0, 70_000],
                activations: vec![1.5, 0.25, -3.0, 0.0],
            }],
            dense: vec![0.5, -0.75, 0.0],
            spans: vec![1.0, 0.0, 0.0, 0.0, -1.0, 0.0],
        }
    }

    #[test]
    fn what_is_written_comes_back() {
        for codes in [codes(), PassageCodes::default()] {
            assert_eq!(read(&write(&codes, true), true).unwrap(), codes);
            let without = PassageCodes {
                spans: Vec::new(),
                ..codes.clone()
            };
            assert_eq!(read(&write(&codes, false), false).unwrap(), without);
        }
    }

    #[test]
    fn numbers_are_rounded_once() {
        let mut fresh = codes();
        fresh.dense = vec![0.1, 1e9, f32::NEG_INFINITY];
        let once = read(&write(&fresh, true), true).unwrap();
        assert_eq!(once.dense[1..], [LARGEST, -LARGEST]);
        assert!(once.dense[0] != 0.1 && (once.dense[0] - 0.1).abs() < 1e-4);
        assert_eq!(read(&write(&once, true), true).unwrap(), once);
    }

    #[test]
    fn cut_bytes_are_refused() {
        for spans in [false, true] {
            let bytes = write(&codes(), spans);
            for end in 0..bytes.len() {
                assert!(read(&bytes[..end], spans).is_err(), "cut at byte {end}");
            }
        }
    }
}
