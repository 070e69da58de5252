//! The dense bucket: sign bits of centred, pooled passage vectors (Zouhar et al. 2022).
//!
//! ```text
//! u8      passages a window
//! varint  dim
//! varint  units
//! per unit: ⌈dim / 8⌉ bytes, value i in bit i % 8 of byte i / 8; 1 = positive
//! ```

use crate::bytes::{Reader, Writer};
use crate::container::{self, Kind};
use crate::error::Result;

/// The one-bit code of a vector.
fn sign_bits(vector: &[f32]) -> Vec<u8> {
    let mut bits = vec![0u8; vector.len().div_ceil(8)];
    for (i, _) in vector.iter().enumerate().filter(|(_, value)| **value > 0.0) {
        bits[i / 8] |= 1 << (i % 8);
    }
    bits
}

/// The file of the bucket. `windows` holds per unit the pooled vectors (unit length, `[dim]` each)
/// of its passages; the mean over all passages is subtracted before the sign is taken.
#[must_use]
pub fn write(windows: &[Vec<&[f32]>], window: u32) -> Vec<u8> {
    let dim = windows
        .iter()
        .flatten()
        .next()
        .map_or(0, |vector| vector.len());
    let mean = mean(windows, dim);
    let mut writer = Writer::default();
    writer.u8(window.clamp(1, 255) as u8);
    writer.length(dim);
    writer.length(windows.len());
    for unit in windows {
        let sum: Vec<f32> = (0..dim)
            .map(|i| unit.iter().map(|vector| vector[i] - mean[i]).sum())
            .collect();
        writer.raw(&sign_bits(&sum));
    }
    container::wrap(Kind::Dense, &writer.into_bytes())
}

fn mean(windows: &[Vec<&[f32]>], dim: usize) -> Vec<f32> {
    let count = windows.iter().map(Vec::len).sum::<usize>().max(1) as f64;
    let mut sum = vec![0f64; dim];
    for vector in windows.iter().flatten() {
        for (sum, value) in sum.iter_mut().zip(*vector) {
            *sum += f64::from(*value);
        }
    }
    sum.into_iter().map(|sum| (sum / count) as f32).collect()
}

/// The dense bucket, opened for searching.
#[derive(Debug)]
pub struct Dense {
    window: u32,
    dim: usize,
    bits: Vec<u8>,
}

impl Dense {
    /// Reads a file written by [`write`].
    ///
    /// # Errors
    /// When the bytes are not such a file.
    pub fn read(file: &str, bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(file, container::unwrap(file, Kind::Dense, bytes)?);
        let window = reader.window()?;
        let dim = reader.varint()? as usize;
        let units = reader.count(dim.max(1))?;
        let bits = reader.raw(units * dim.div_ceil(8))?.to_vec();
        reader.finish()?;
        Ok(Self { window, dim, bits })
    }

    /// Passages a unit.
    #[must_use]
    pub fn window(&self) -> u32 {
        self.window
    }

    /// Width of the vectors.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Number of units.
    #[must_use]
    pub fn unit_count(&self) -> usize {
        self.bits.len() / self.dim.div_ceil(8).max(1)
    }

    /// Per unit the dot product of `query` (`[dim]`) with its ±1 code: `[units]`.
    #[must_use]
    pub fn score(&self, query: &[f32]) -> Vec<f32> {
        let tables: Vec<[f32; 256]> = query.chunks(8).map(byte_sums).collect();
        let code_bytes = self.dim.div_ceil(8).max(1);
        let score = |code: &[u8]| {
            tables
                .iter()
                .zip(code)
                .map(|(table, &byte)| table[usize::from(byte)])
                .sum()
        };
        self.bits.chunks_exact(code_bytes).map(score).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive_score(vector: &[f32], mean: &[f32], query: &[f32]) -> f32 {
        let sign = |i: usize| if vector[i] - mean[i] > 0.0 { 1.0 } else { -1.0 };
        (0..query.len()).map(|i| query[i] * sign(i)).sum()
    }

    proptest! {
        #[test]
        fn table_look_up_equals_the_naive_sum(
            vectors in proptest::collection::vec(proptest::array::uniform12(-1f32..1.0), 1..9),
            query in proptest::array::uniform12(-1f32..1.0),
        ) {
            let windows: Vec<Vec<&[f32]>> = vectors.iter().map(|vector| vec![&vector[..]]).collect();
            let mean = mean(&windows, 12);
            let dense = Dense::read("d", &write(&windows, 1)).unwrap();
            prop_assert_eq!(dense.unit_count(), vectors.len());
            for (score, vector) in dense.score(&query).iter().zip(&vectors) {
                prop_assert!((score - naive_score(vector, &mean, &query)).abs() < 1e-4);
            }
        }
    }

    #[test]
    fn a_window_of_no_passages_is_refused() {
        let read = |window| Dense::read("d", &container::wrap(Kind::Dense, &[window, 1, 0]));
        assert!(read(1).is_ok() && read(0).is_err());
    }

    #[test]
    fn a_cut_file_is_an_error() {
        let file = write(&[vec![&[0.5, -0.5][..]]], 1);
        assert!((0..file.len()).all(|end| Dense::read("d", &file[..end]).is_err()));
    }
}
