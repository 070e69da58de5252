//! Whether two systems differ by more than the choice of queries explains.

/// Resamples of the bootstrap: the interval's ends are steady to about a tenth of a point.
const RESAMPLES: usize = 10_000;
/// Start of the generator; fixed, so that a report repeats.
const SEED: u64 = 0x5157_4b1a_0000_0001;

/// How far one system is above another, on paired queries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Mean of first minus second.
    pub mean: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
}

/// The difference of two systems' per-query values with its 95 % interval by the paired bootstrap
/// (Sakai, 2006): queries are drawn with replacement, the interval is that of the 2.5 and 97.5
/// percentiles. The same input gives the same interval. `None` if the lengths differ or are 0.
#[must_use]
pub fn paired_bootstrap(first: &[f64], second: &[f64]) -> Option<Difference> {
    if first.len() != second.len() || first.is_empty() {
        return None;
    }
    let differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
    let mut random = SplitMix64(SEED);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| resampled_mean(&differences, &mut random))
        .collect();
    means.sort_unstable_by(f64::total_cmp);
    Some(Difference {
        mean: differences.iter().sum::<f64>() / differences.len() as f64,
        low: *means.get(RESAMPLES / 40)?,
        high: *means.get(RESAMPLES - 1 - RESAMPLES / 40)?,
    })
}

fn resampled_mean(values: &[f64], random: &mut SplitMix64) -> f64 {
    let draw = |_| {
        values
            .get(random.below(values.len()))
            .copied()
            .unwrap_or(0.0)
    };
    (0..values.len()).map(draw).sum::<f64>() / values.len() as f64
}

/// The generator SplitMix64 (Steele, Lea and Flood, 2014).
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, by the high half of a product (Lemire, 2019); its bias is below
    /// `bound` / 2^64.
    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_follows_its_reference() {
        // First values of the reference implementation for seed 1234567.
        let mut random = SplitMix64(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn equal_systems_do_not_differ() {
        let values = [0.1, 0.9, 0.4];
        let found = paired_bootstrap(&values, &values).unwrap();
        assert_eq!(
            found,
            Difference {
                mean: 0.0,
                low: 0.0,
                high: 0.0
            }
        );
    }

    #[test]
    fn the_interval_is_near_the_normal_one() {
        // Differences 0 and 1 in turn: mean .5, standard error .5 / sqrt(400) = .025.
        let first: Vec<f64> = (0..400).map(|n| f64::from(n % 2)).collect();
        let found = paired_bootstrap(&first, &vec![0.0; 400]).unwrap();
        assert_eq!(found.mean, 0.5);
        assert!(
            (found.low - (0.5 - 1.96 * 0.025)).abs() < 0.003,
            "{found:?}"
        );
        assert!(
            (found.high - (0.5 + 1.96 * 0.025)).abs() < 0.003,
            "{found:?}"
        );
    }

    #[test]
    fn unpaired_values_have_no_difference() {
        assert_eq!(paired_bootstrap(&[1.0], &[]), None);
        assert_eq!(paired_bootstrap(&[], &[]), None);
    }
}
