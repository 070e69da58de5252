//! A matrix of 8-bit integers, laid out for the kernels within the bytes of the file.
//!
//! ```text
//! file    [inputs][outputs]
//! packed  [outputs / 16][inputs / 2][16][2]     (panel, pair of inputs, output, input of the pair)
//! ```
//!
//! Shapes that 16 and 2 divide are packed where they lie. Others get zeros and a place at the end.

use std::ops::Range;

/// Outputs that are computed together.
pub(crate) const PANEL: usize = 16;
/// Inputs that are multiplied together.
pub(crate) const PAIR: usize = 2;

/// Weights of one linear map: where they lie, and their shape.
#[derive(Clone, Debug)]
pub(crate) struct Matrix {
    /// The place in the file; that of the packed bytes once [`Matrix::pack`] was called.
    pub(crate) place: Range<usize>,
    /// Length of an input row.
    pub(crate) inputs: usize,
    /// Length of an output row.
    pub(crate) outputs: usize,
}

impl Matrix {
    /// Pairs of inputs, the last one filled up with a zero.
    pub(crate) fn pairs(&self) -> usize {
        self.inputs.div_ceil(PAIR)
    }

    /// Panels of outputs, the last one filled up with zeros.
    pub(crate) fn panels(&self) -> usize {
        self.outputs.div_ceil(PANEL)
    }

    /// The packed bytes of one panel: `[pairs, 16, 2]`.
    pub(crate) fn panel<'b>(&self, bytes: &'b [u8], panel: usize) -> &'b [u8] {
        let length = self.pairs() * PANEL * PAIR;
        let start = self.place.start + panel * length;
        bytes.get(start..start + length).unwrap_or_default()
    }

    /// Lays the weights out for the kernels; `bytes` grows if they need zeros.
    pub(crate) fn pack(&mut self, bytes: &mut Vec<u8>) {
        let rows = bytes.get(self.place.clone()).unwrap_or_default();
        let packed = self.packed(rows);
        if packed.len() > self.place.len() {
            self.place = bytes.len()..bytes.len() + packed.len();
            bytes.extend_from_slice(&packed);
        } else if let Some(place) = bytes.get_mut(self.place.clone()) {
            place.copy_from_slice(&packed);
        }
    }

    /// The packed layout of `rows`: `[inputs, outputs]`.
    fn packed(&self, rows: &[u8]) -> Vec<u8> {
        let panel = self.pairs() * PANEL * PAIR;
        let mut packed = vec![0; self.panels() * panel];
        for (input, row) in rows.chunks_exact(self.outputs.max(1)).enumerate() {
            let within = input / PAIR * PANEL * PAIR + input % PAIR;
            for (output, value) in row.iter().enumerate() {
                let place = output / PANEL * panel + within + output % PANEL * PAIR;
                if let Some(place) = packed.get_mut(place) {
                    *place = *value;
                }
            }
        }
        packed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_that_fit_stay_where_they_are() {
        let mut bytes: Vec<u8> = (0..9 + 64).collect();
        let mut matrix = Matrix {
            place: 9..9 + 64,
            inputs: 2,
            outputs: 32,
        };
        matrix.pack(&mut bytes);
        assert_eq!((matrix.place.clone(), bytes.len()), (9..73, 73));
        assert_eq!(matrix.panel(&bytes, 0)[..4], [9, 9 + 32, 10, 10 + 32]);
        assert_eq!(matrix.panel(&bytes, 1)[..2], [25, 25 + 32]);
    }

    #[test]
    fn other_shapes_are_filled_up_with_zeros() {
        let mut bytes: Vec<u8> = (1..=51).collect();
        let mut matrix = Matrix {
            place: 0..51,
            inputs: 3,
            outputs: 17,
        };
        matrix.pack(&mut bytes);
        assert_eq!(matrix.place, 51..51 + 2 * 2 * 32);
        assert_eq!(matrix.panel(&bytes, 0)[..4], [1, 18, 2, 19]);
        assert_eq!(matrix.panel(&bytes, 0)[32..36], [35, 0, 36, 0]);
        assert_eq!(matrix.panel(&bytes, 1)[..4], [17, 34, 0, 0]);
        assert_eq!(matrix.panel(&bytes, 1)[32..], {
            let mut last = [0; 32];
            last[0] = 51;
            last
        });
    }
}
