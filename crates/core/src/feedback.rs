//! Pseudo-relevance feedback (Rocchio 1971; on dense vectors Li et al., "Pseudo Relevance Feedback with
//! Deep Language Models and Dense Retrievers", 2021): the best pages that a query finds say what else may be
//! sought. Pages whose codes are like theirs rise.

/// Pages that are taken for what is sought, at most.
pub(crate) const PAGES: usize = 10;

/// What a page counts that is so far behind the best, so that one page far ahead of all others speaks alone: nearly
/// `e^−behind`, which would be half a kilobyte of the browser's module.
pub(crate) fn weight(behind: f32) -> f32 {
    1.0 / (1.0 + behind * (1.0 + behind / 2.0))
}

/// Adds a one-bit code as a vector of ±`weight`.
pub(crate) fn add(sought: &mut [f32], weight: f32, code: &[u8]) {
    for (values, byte) in sought.chunks_mut(8).zip(code) {
        for (bit, value) in values.iter_mut().enumerate() {
            let is_set = byte >> bit & 1 == 1;
            *value += if is_set { weight } else { -weight };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_count_by_how_near_their_scores_are_to_the_best() {
        let sought = |behind: f32| {
            let mut sought = [0.0; 9];
            add(&mut sought, weight(0.0), &[0b01, 1]);
            add(&mut sought, weight(behind), &[0b11, 0]);
            [sought[0], sought[1], sought[8]]
        };
        assert_eq!(sought(0.0), [2.0, 0.0, 0.0]);
        assert_eq!(sought(1.0), [1.4, -0.6, 0.6]);
        assert_eq!(sought(f32::INFINITY), [1.0, -1.0, 1.0]);
    }
}
