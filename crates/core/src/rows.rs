//! Rows: what one word piece contributes to a query's code when no network is asked.
//!
//! ```text
//! varint  pieces, varint dim, varint buckets
//! per piece: string text
//! per piece: f16 mean |value| of its static row, then 2 bits a value, four a byte, lowest first:
//!            bit 0 = positive, bit 1 = large (1.55 × mean, else 0.45 × mean)
//! per bucket, per piece: u8 entries; if any: f16 largest weight, then per entry in order of
//!            dimension a varint gap, then 4-bit weights in 15ths of the largest, two a byte
//! ```

use crate::bytes::{Reader, Writer};
use crate::container::{self, Kind};
use crate::error::Result;
use crate::ids::PieceId;
use crate::wordpiece::Vocabulary;
use std::collections::BTreeMap;

/// A two-bit value is its row's mean magnitude times this, when small …
const SMALL: f32 = 0.45;
/// … or times this, when large.
const LARGE: f32 = 1.55;
/// Most buckets of an encoder.
const MAX_BUCKETS: usize = 16;
/// Steps of a UHD weight.
const WEIGHT_STEPS: f32 = 15.0;

/// What the encoder knows of every word piece, before a site blends in its own statistics.
///
/// `pieces` is the size of the vocabulary, `dim` the width of the dense vector.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GenericRows {
    /// Width of a static row.
    pub dim: usize,
    /// Static rows `E`: `[pieces, dim]`, row-major. The sum over a query's pieces predicts the
    /// query's dense vector (unit length, minus the mean query vector).
    pub static_rows: Vec<f32>,
    /// Per bucket: for every piece its strongest dimensions over generic text, as
    /// `(dimension, weight)`, at most 16, strongest first.
    pub generic: Vec<Vec<Vec<(u32, f32)>>>,
    /// Per bucket: the winners of the piece encoded alone, the same form, at most 4.
    pub alone: Vec<Vec<Vec<(u32, f32)>>>,
}

/// How passage token vectors are pooled into one vector while indexing:
/// `softmax_t(x_t · attention + bias[piece_t])`-weighted mean, then unit length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PassagePooling {
    /// `[dim]`; empty for the plain mean.
    pub attention: Vec<f32>,
    /// `[pieces]`; empty for the plain mean.
    pub bias: Vec<f32>,
}

/// One piece's UHD row: `(dimension, weight)`, any order.
pub type UhdRow = Vec<(u32, f32)>;

/// The file of the rows: `static_rows` is `[pieces, dim]`, `uhd_rows` per bucket one row a piece.
#[must_use]
pub fn write(
    vocabulary: &[String],
    dim: usize,
    static_rows: &[f32],
    uhd_rows: &[Vec<UhdRow>],
) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.length(vocabulary.len());
    writer.length(dim);
    writer.length(uhd_rows.len());
    vocabulary.iter().for_each(|piece| writer.string(piece));
    static_rows
        .chunks(dim.max(1))
        .for_each(|row| write_static(&mut writer, row));
    uhd_rows
        .iter()
        .flatten()
        .for_each(|row| write_uhd(&mut writer, row));
    container::wrap(Kind::Rows, &writer.into_bytes())
}

fn write_static(writer: &mut Writer, row: &[f32]) {
    let mean = row.iter().map(|value| value.abs()).sum::<f32>() / row.len().max(1) as f32;
    writer.f16(mean);
    let code = |value: f32| u8::from(value > 0.0) | u8::from(value.abs() > mean) << 1;
    for four in row.chunks(4) {
        let byte = four
            .iter()
            .enumerate()
            .fold(0, |byte, (i, &value)| byte | code(value) << (2 * i));
        writer.u8(byte);
    }
}

fn write_uhd(writer: &mut Writer, row: &[(u32, f32)]) {
    let mut row = row.to_vec();
    row.sort_unstable_by_key(|&(dimension, _)| dimension);
    writer.u8(row.len().min(255) as u8);
    let largest = row.iter().map(|&(_, weight)| weight).fold(0.0, f32::max);
    if row.is_empty() {
        return;
    }
    writer.f16(largest);
    let mut next = 0;
    for &(dimension, _) in &row {
        writer.varint(dimension - next);
        next = dimension + 1;
    }
    let step = |weight: f32| {
        (weight / largest.max(f32::MIN_POSITIVE) * WEIGHT_STEPS)
            .round()
            .clamp(1.0, WEIGHT_STEPS) as u8
    };
    for pair in row.chunks(2) {
        writer.u8(step(pair[0].1) | pair.get(1).map_or(0, |&(_, weight)| step(weight)) << 4);
    }
}

/// The rows of a bundle, opened for searching.
#[derive(Debug)]
pub struct Rows {
    vocabulary: Vocabulary,
    dim: usize,
    static_rows: Vec<u8>,
    uhd_rows: Vec<Vec<UhdRow>>,
}

impl Rows {
    /// Reads a file written by [`write`].
    ///
    /// # Errors
    /// When the bytes are not such a file.
    pub fn read(file: &str, bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(file, container::unwrap(file, Kind::Rows, bytes)?);
        let pieces = reader.count(16)?;
        let dim = reader.varint()? as usize;
        let buckets = reader.varint()? as usize;
        if buckets > MAX_BUCKETS {
            return Err(reader.corrupt("more buckets than an encoder has"));
        }
        let vocabulary = (0..pieces)
            .map(|_| reader.string().map(str::to_owned))
            .collect::<Result<Vec<_>>>()?;
        let static_rows = reader.raw(pieces.saturating_mul(row_bytes(dim)))?.to_vec();
        let mut uhd_rows = Vec::new();
        for _ in 0..buckets {
            uhd_rows.push(
                (0..pieces)
                    .map(|_| read_uhd(&mut reader))
                    .collect::<Result<Vec<_>>>()?,
            );
        }
        reader.finish()?;
        Ok(Self {
            vocabulary: Vocabulary::new(vocabulary),
            dim,
            static_rows,
            uhd_rows,
        })
    }

    /// The word pieces.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Width of a static row.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Buckets that have rows.
    #[must_use]
    pub fn bucket_count(&self) -> usize {
        self.uhd_rows.len()
    }

    /// Sum of the pieces' static rows: `[dim]`. Pieces beyond the vocabulary add nothing.
    #[must_use]
    pub fn static_sum(&self, pieces: &[PieceId]) -> Vec<f32> {
        let mut sum = vec![0.0; self.dim];
        for &piece in pieces {
            self.add_static(piece, &mut sum);
        }
        sum
    }

    fn add_static(&self, piece: PieceId, sum: &mut [f32]) {
        let start = piece.index() * row_bytes(self.dim);
        let Some(row) = self.static_rows.get(start..start + row_bytes(self.dim)) else {
            return;
        };
        let mean = half::f16::from_le_bytes([row[0], row[1]]).to_f32();
        let values = [-SMALL * mean, SMALL * mean, -LARGE * mean, LARGE * mean];
        for (i, sum) in sum.iter_mut().enumerate() {
            *sum += values[usize::from(row[2 + i / 4] >> (2 * (i % 4)) & 3)];
        }
    }

    /// Sum of the pieces' UHD rows in one bucket, in order of dimension.
    #[must_use]
    pub fn uhd_sum(&self, bucket: usize, pieces: &[PieceId]) -> Vec<(u32, f32)> {
        let mut sum: BTreeMap<u32, f32> = BTreeMap::new();
        let Some(rows) = self.uhd_rows.get(bucket) else {
            return Vec::new();
        };
        for &(dimension, weight) in pieces
            .iter()
            .filter_map(|piece| rows.get(piece.index()))
            .flatten()
        {
            *sum.entry(dimension).or_default() += weight;
        }
        sum.into_iter().collect()
    }
}

/// Bytes of one static row.
fn row_bytes(dim: usize) -> usize {
    2 + dim.div_ceil(4)
}

fn read_uhd(reader: &mut Reader<'_>) -> Result<UhdRow> {
    let count = usize::from(reader.u8()?);
    if count == 0 {
        return Ok(Vec::new());
    }
    let largest = reader.f16()?;
    let mut row = Vec::with_capacity(count);
    let mut next = 0u32;
    for _ in 0..count {
        let dimension = next
            .checked_add(reader.varint()?)
            .filter(|dimension| *dimension < u32::MAX);
        let dimension = dimension.ok_or_else(|| reader.corrupt("a dimension over 32 bits"))?;
        row.push((dimension, 0.0));
        next = dimension + 1;
    }
    let weights = reader.raw(count.div_ceil(2))?;
    for (i, (_, weight)) in row.iter_mut().enumerate() {
        *weight = f32::from(weights[i / 2] >> (4 * (i % 2)) & 15) / WEIGHT_STEPS * largest;
    }
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        let vocabulary = ["a".to_owned(), "##b".to_owned()];
        let static_rows = [1.0, -3.0, 0.5, 0.5, 2.0, 0.1, -0.1, -2.0, 0.0, 0.0];
        let uhd = vec![vec![vec![(9, 0.5), (3, 1.0)], vec![]]];
        write(&vocabulary, 5, &static_rows, &uhd)
    }

    #[test]
    fn static_rows_keep_sign_and_size_of_their_values() {
        let rows = Rows::read("r", &sample()).unwrap();
        let sum = rows.static_sum(&[PieceId(0)]);
        let mean = 1.4;
        for (value, expected) in sum.iter().zip([SMALL, -LARGE, SMALL, SMALL, LARGE]) {
            assert!((value - expected * mean).abs() < 1e-2, "{sum:?}");
        }
        assert_eq!(rows.static_sum(&[PieceId(7)]), [0.0; 5]);
    }

    #[test]
    fn uhd_rows_add_up() {
        let rows = Rows::read("r", &sample()).unwrap();
        let sum = rows.uhd_sum(0, &[PieceId(0), PieceId(1)]);
        assert_eq!(sum[0], (3, 1.0));
        assert!(sum[1].0 == 9 && (sum[1].1 - 0.5).abs() < 0.04);
        assert!(rows.uhd_sum(1, &[PieceId(0)]).is_empty());
    }

    #[test]
    fn buckets_without_bytes_are_bounded() {
        let read = |buckets| Rows::read("r", &container::wrap(Kind::Rows, &[0, 0, buckets]));
        assert!(read(16).is_ok() && read(17).is_err());
    }

    #[test]
    fn a_cut_file_is_an_error() {
        let file = sample();
        assert!((0..file.len()).all(|end| Rows::read("r", &file[..end]).is_err()));
    }
}
