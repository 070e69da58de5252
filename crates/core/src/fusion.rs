//! Fusion of systems: the weighted sum of each query's z-scores over all pages.

/// A deviation up to this comes of rounding: the scores are equal.
pub(crate) const ROUNDING: f32 = 1e-5;

/// Mean and standard deviation of one system's scores for one query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// Mean over all pages.
    pub mean: f32,
    /// Population standard deviation over all pages.
    pub deviation: f32,
}

impl Moments {
    /// The moments of `scores`.
    #[must_use]
    pub fn of(scores: &[f32]) -> Self {
        let count = scores.len().max(1) as f64;
        let mean = scores.iter().map(|score| f64::from(*score)).sum::<f64>() / count;
        let variance = scores
            .iter()
            .map(|score| (f64::from(*score) - mean).powi(2))
            .sum::<f64>()
            / count;
        Self {
            mean: mean as f32,
            deviation: variance.sqrt() as f32,
        }
    }

    /// The same mean with a deviation of at least `least`.
    #[must_use]
    pub fn spread_by(self, least: f32) -> Self {
        Self {
            deviation: self.deviation.max(least),
            ..self
        }
    }

    /// How many deviations a score lies above the mean; 0 when all scores are equal.
    #[must_use]
    pub fn z(&self, score: f32) -> f32 {
        if self.deviation > ROUNDING {
            (score - self.mean) / self.deviation
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn z_scores_have_mean_zero_and_deviation_one() {
        let scores = [1.0, 2.0, 3.0, 6.0];
        let moments = Moments::of(&scores);
        let z: Vec<f32> = scores.iter().map(|score| moments.z(*score)).collect();
        let again = Moments::of(&z);
        assert!(again.mean.abs() < 1e-6 && (again.deviation - 1.0).abs() < 1e-6);
    }

    #[test]
    fn what_spreads_less_than_it_should_says_less() {
        let moments = Moments::of(&[0.0, 0.0, 0.0, 4.0]);
        assert_eq!(moments.spread_by(moments.deviation / 2.0), moments);
        assert_eq!(moments.spread_by(6.0).z(4.0), 0.5);
    }

    #[test]
    fn equal_scores_say_nothing() {
        assert_eq!(Moments::of(&[2.0, 2.0]).z(2.0), 0.0);
        assert_eq!(Moments::of(&[2.0, 2.000_001]).z(2.0), 0.0);
    }
}
