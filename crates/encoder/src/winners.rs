//! Winner-take-all over the scores of one bucket (UHD-BERT, eq. 3).

use siskin_core::encoded::TokenWinners;

/// The `k` strongest of every row of `scores` (`[tokens, n]`, row-major), strongest first; of
/// equal scores the lower dimension comes first, as ONNX TopK has it.
///
/// `k` is at most `n`.
pub(crate) fn winners(scores: &[f32], n: usize, k: usize) -> TokenWinners {
    let tokens = scores.len() / n.max(1);
    let mut dimensions = Vec::with_capacity(tokens * k);
    let mut activations = Vec::with_capacity(tokens * k);
    let mut strongest = Vec::with_capacity(k + 1);
    for row in scores.chunks_exact(n.max(1)) {
        strongest_of(row, k, &mut strongest);
        dimensions.extend(strongest.iter().map(|&(dimension, _)| dimension));
        activations.extend(strongest.iter().map(|&(_, activation)| activation));
    }
    TokenWinners {
        k,
        dimensions,
        activations,
    }
}

/// Fills `strongest` with the `k` strongest `(dimension, activation)` of `row`.
fn strongest_of(row: &[f32], k: usize, strongest: &mut Vec<(u32, f32)>) {
    strongest.clear();
    let mut weakest = f32::NEG_INFINITY;
    for (dimension, &activation) in (0u32..).zip(row) {
        if strongest.len() == k && activation <= weakest {
            continue;
        }
        let place = strongest.partition_point(|&(_, other)| other >= activation);
        strongest.insert(place, (dimension, activation));
        strongest.truncate(k);
        weakest = strongest
            .last()
            .map_or(weakest, |&(_, activation)| activation);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition: sort everything, cut.
    fn naive(row: &[f32], k: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..row.len() as u32).collect();
        order.sort_by(|&a, &b| row[b as usize].total_cmp(&row[a as usize]));
        order.truncate(k);
        order
    }

    #[test]
    fn equals_a_full_sort_with_ties_by_dimension() {
        let mut state = 7u32;
        let scores: Vec<f32> = (0..40 * 64)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 28) as f32 - 8.0
            })
            .collect();
        let found = winners(&scores, 64, 5);
        for (row, found) in scores.chunks(64).zip(found.dimensions.chunks(5)) {
            assert_eq!(found, naive(row, 5));
        }
    }

    #[test]
    fn activations_belong_to_their_dimensions() {
        let found = winners(&[0.5, -1.0, 3.0, 2.0, 9.0, 0.0, 0.0, 0.0], 4, 2);
        assert_eq!(found.dimensions, [2, 3, 0, 1]);
        assert_eq!(found.activations, [3.0, 2.0, 9.0, 0.0]);
    }
}
