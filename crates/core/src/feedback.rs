//! Pseudo-relevance feedback (Rocchio 1971; on dense vectors Li et al., "Pseudo Relevance Feedback with
//! Deep Language Models and Dense Retrievers", 2021): the best pages that a query finds say what else may be
//! sought. Pages whose codes are like theirs rise.

/// Pages that are taken for what is sought, at most.
pub(crate) const PAGES: usize = 10;

/// The mean of one-bit codes as ±1 vectors: `[dim]`. Each counts by `e^(score − best score)`, so that one page
/// far ahead of all others speaks alone.
pub(crate) fn mean_code(found: &[(f32, &[u8])], dim: usize) -> Vec<f32> {
    let best = found.iter().map(|(score, _)| *score);
    let best = best.fold(f32::NEG_INFINITY, f32::max);
    let mut mean = vec![0.0; dim];
    let mut weights = 0.0;
    for (score, code) in found {
        let weight = (score - best).exp();
        weights += weight;
        for (at, value) in mean.iter_mut().enumerate() {
            let is_set = code
                .get(at / 8)
                .is_some_and(|byte| byte >> (at % 8) & 1 == 1);
            *value += if is_set { weight } else { -weight };
        }
    }
    if weights > 0.0 {
        mean.iter_mut().for_each(|value| *value /= weights);
    }
    mean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_count_by_how_near_their_scores_are_to_the_best() {
        let far_ahead = mean_code(&[(100.0, &[0b01]), (0.0, &[0b10])], 2);
        assert_eq!(far_ahead, [1.0, -1.0]);
        let level = mean_code(&[(3.0, &[0b01]), (3.0, &[0b11])], 2);
        assert_eq!(level, [1.0, 0.0]);
        let behind = mean_code(&[(2.0, &[0b01]), (3.0, &[0b11])], 2);
        let share = (-1f32).exp() / (1.0 + (-1f32).exp());
        assert!((behind[1] - (1.0 - 2.0 * share)).abs() < 1e-6);
    }

    #[test]
    fn without_codes_nothing_is_sought() {
        assert_eq!(mean_code(&[], 3), [0.0; 3]);
    }
}
