//! Winner-take-all while the scores are computed: they are never all in memory.

/// The winners of one bucket: for each token its `k` strongest dimensions (UHD-BERT, eq. 3).
///
/// Both vectors are `[tokens, k]`, row-major, strongest first; of equal scores the lower dimension
/// comes first, as ONNX TopK has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Winners {
    /// Winners kept per token.
    pub k: usize,
    /// Dimensions, each below the bucket's size.
    pub dimensions: Vec<u32>,
    /// Activations (eq. 2) of those dimensions.
    pub activations: Vec<f32>,
}

impl Winners {
    /// The winners of `scores`: `[tokens, n]`, row-major; `k` is at most `n`.
    #[must_use]
    pub fn of(scores: &[f32], n: usize, k: usize) -> Self {
        let rows = scores.chunks_exact(n.max(1));
        let mut winners = Self::none(rows.len(), k);
        for (token, row) in rows.enumerate() {
            winners.offer(token, 0, row);
        }
        winners
    }

    /// No winners yet.
    pub(crate) fn none(tokens: usize, k: usize) -> Self {
        Self {
            k,
            dimensions: vec![0; tokens * k],
            activations: vec![f32::NEG_INFINITY; tokens * k],
        }
    }

    /// The weakest winner of a token.
    pub(crate) fn weakest(&self, token: usize) -> f32 {
        let last = (token + 1) * self.k - 1;
        self.activations.get(last).copied().unwrap_or(f32::INFINITY)
    }

    /// Lets the scores of dimensions from `first` on compete for a token; dimensions come in
    /// rising order.
    pub(crate) fn offer(&mut self, token: usize, first: u32, scores: &[f32]) {
        let own = token * self.k..(token + 1) * self.k;
        let (Some(dimensions), Some(activations)) = (
            self.dimensions.get_mut(own.clone()),
            self.activations.get_mut(own),
        ) else {
            return;
        };
        for (dimension, &score) in (first..).zip(scores) {
            if activations.last().is_some_and(|weakest| score <= *weakest) {
                continue;
            }
            let place = activations.partition_point(|winner| *winner >= score);
            if place < activations.len() {
                activations[place..].rotate_right(1);
                dimensions[place..].rotate_right(1);
                activations[place] = score;
                dimensions[place] = dimension;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition: sort everything, cut.
    fn naive(row: &[f32], k: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..row.len() as u32).collect();
        order.sort_by(|&a, &b| row[b as usize].total_cmp(&row[a as usize]));
        order.truncate(k);
        order
    }

    #[test]
    fn activations_belong_to_their_dimensions() {
        let found = Winners::of(&[0.5, -1.0, 3.0, 2.0, 9.0, 0.0, 0.0, 0.0], 4, 2);
        assert_eq!(found.dimensions, [2, 3, 0, 1]);
        assert_eq!(found.activations, [3.0, 2.0, 9.0, 0.0]);
    }

    proptest! {
        #[test]
        fn equals_a_full_sort_with_ties_by_dimension(
            scores in prop::collection::vec(-8i8..8, 5..90), k in 1usize..6, step in 1usize..20
        ) {
            let scores: Vec<f32> = scores.into_iter().map(f32::from).collect();
            let mut winners = Winners::none(2, k);
            for token in 0..2 {
                for (chunk, first) in scores.chunks(step).zip((0..).step_by(step)) {
                    winners.offer(token, first, chunk);
                }
                let found = &winners.dimensions[token * k..][..k];
                prop_assert_eq!(found, &naive(&scores, k)[..]);
                let strengths = &winners.activations[token * k..][..k];
                prop_assert!(found.iter().zip(strengths).all(|(d, a)| scores[*d as usize] == *a));
                prop_assert_eq!(winners.weakest(token), strengths[k - 1]);
            }
        }
    }
}
