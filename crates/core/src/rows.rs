//! Static rows: what one word contributes to a query's dense vector when no network is asked.
//!
//! ```text
//! f16 mean |value|, then 2 bits a value, four a byte, lowest first:
//! bit 0 = positive, bit 1 = large (1.55 × mean, else 0.45 × mean)
//! ```

use crate::bytes::{Reader, Result, Writer};
use std::collections::BTreeMap;

/// A two-bit value is its row's mean magnitude times this, when small …
const SMALL: f32 = 0.45;
/// … or times this, when large.
const LARGE: f32 = 1.55;

/// What the encoder knows of words and of every word piece, before a site blends in its own statistics.
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
    pub generic: Vec<Vec<UhdRow>>,
    /// Per bucket: the winners of the piece encoded alone, the same form, at most 4.
    pub alone: Vec<Vec<UhdRow>>,
    /// English words that the vocabulary has only in parts, in lower case, at best one of each stem, with
    /// rows of their own, `[dim]` each: a sum of pieces' rows seldom says what they mean. Sites of other
    /// languages do without.
    pub words: BTreeMap<String, Vec<f32>>,
    /// English words with those that a thesaurus puts near them, each with how near: above 0, 1 = a synonym in a
    /// first sense. They tell which of a site's words stand for one that it never uses. Sites of other languages
    /// do without.
    pub synonyms: BTreeMap<String, Vec<(String, f32)>>,
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

/// Appends a row.
pub fn write(writer: &mut Writer, row: &[f32]) {
    let mean = mean_magnitude(row);
    writer.f16(mean);
    let code = |value: f32| u8::from(value > 0.0) | u8::from(value.abs() > mean) << 1;
    for four in row.chunks(4) {
        let codes = four.iter().enumerate();
        writer.u8(codes.fold(0, |byte, (i, &value)| byte | code(value) << (2 * i)));
    }
}

/// Reads a row of `dim` values.
///
/// # Errors
/// At the end of the payload.
pub fn read(reader: &mut Reader<'_>, dim: usize) -> Result<Vec<f32>> {
    let mean = reader.f16()?;
    let codes = reader.raw(dim.div_ceil(4))?;
    let values = values_of(mean);
    Ok((0..dim)
        .map(|i| values[usize::from(codes[i / 4] >> (2 * (i % 4)) & 3)])
        .collect())
}

/// A row as [`write`] and [`read`] would leave it.
#[must_use]
pub fn quantized(row: &[f32]) -> Vec<f32> {
    let mean = mean_magnitude(row);
    let values = values_of(half::f16::from_f32(mean).to_f32());
    let code = |value: f32| usize::from(value > 0.0) | usize::from(value.abs() > mean) << 1;
    row.iter().map(|&value| values[code(value)]).collect()
}

fn mean_magnitude(row: &[f32]) -> f32 {
    row.iter().map(|value| value.abs()).sum::<f32>() / row.len().max(1) as f32
}

/// The four values of a row, by their two bits.
fn values_of(mean: f32) -> [f32; 4] {
    [-SMALL * mean, SMALL * mean, -LARGE * mean, LARGE * mean]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(row: &[f32]) -> Vec<f32> {
        let mut writer = Writer::default();
        write(&mut writer, row);
        let bytes = writer.into_bytes();
        let mut reader = Reader::new(&bytes);
        let read = read(&mut reader, row.len()).unwrap();
        reader.finish().unwrap();
        read
    }

    #[test]
    fn rows_keep_sign_and_size_of_their_values() {
        let row = [1.0, -3.0, 0.5, 0.5, 2.0];
        let mean = 1.4;
        let expected = [SMALL, -LARGE, SMALL, SMALL, LARGE].map(|share| share * mean);
        for (value, expected) in round_trip(&row).iter().zip(expected) {
            assert!((value - expected).abs() < 1e-2);
        }
        assert_eq!(round_trip(&row), quantized(&row));
    }

    #[test]
    fn a_cut_row_is_an_error() {
        assert!(read(&mut Reader::new(&[0, 60, 1]), 5).is_err());
    }
}
