//! What AdamW does with a gradient.

use candle_core::{CpuStorage, Result, Shape, Tensor};
use rayon::prelude::*;

use super::{TASK, by_row, each_pair, plain1, plain2, plain3};

/// Sum of the squares of all values.
///
/// # Errors
/// Never for a tensor that [`super::applies`].
pub fn squares(values: &Tensor) -> Result<f64> {
    let sum = plain1(values, |values| {
        let tasks = values.values.par_chunks(TASK);
        let sums: Vec<f64> = tasks
            .map(|values| values.iter().map(|&x| f64::from(x).powi(2)).sum())
            .collect();
        let sum = CpuStorage::F64(vec![sums.iter().sum()]);
        Ok((sum, Shape::from_dims(&[])))
    })?;
    sum.to_scalar()
}

/// `kept · past + (1 − kept) · of(gradient)`: a running mean.
///
/// # Errors
/// When shapes disagree.
pub fn running_mean(
    past: &Tensor,
    gradient: &Tensor,
    kept: f64,
    of: impl Fn(f32) -> f32 + Sync,
) -> Result<Tensor> {
    let (kept, new) = (kept as f32, (1.0 - kept) as f32);
    plain2(past, gradient, |past, gradient| {
        let gradient = gradient.check(past.values.len())?;
        let mean = |past, gradient| kept * past + new * of(gradient);
        past.shaped(each_pair(past.values, gradient.values, mean))
    })
}

/// A step of Adam with decoupled decay.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// What weights keep.
    pub kept: f64,
    /// Learning rate.
    pub rate: f64,
    /// What the moments are divided by, since they began at 0.
    pub corrections: (f64, f64),
    /// Added to the root of the second moment.
    pub epsilon: f64,
}

/// `kept · weights − rate · first / (√second + ε)`, moments corrected.
///
/// # Errors
/// When shapes disagree.
pub fn adam(weights: &Tensor, first: &Tensor, second: &Tensor, step: Step) -> Result<Tensor> {
    let (kept, rate, epsilon) = (step.kept as f32, step.rate as f32, step.epsilon as f32);
    let corrections = [step.corrections.0, step.corrections.1].map(|c| (1.0 / c) as f32);
    plain3([weights, first, second], |weights, first, second| {
        let count = weights.values.len();
        let (first, second) = (first.check(count)?, second.check(count)?);
        weights.shaped(by_row(weights.values, TASK, |row, weights, output| {
            let from = row * TASK;
            let moments = first.from(from).iter().zip(second.from(from));
            for ((y, weight), (first, second)) in output.iter_mut().zip(weights).zip(moments) {
                // Divided first: a high rate must not overflow before.
                let length = (corrections[1] * second).sqrt() + epsilon;
                *y = kept * weight - rate * (corrections[0] * first / length);
            }
        }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use candle_core::Device;

    #[test]
    fn squares_are_summed() {
        let mut random = Random::new(3, 7);
        let values: Vec<f64> = (0..100_000).map(|_| random.gaussian()).collect();
        let expected: f64 = values.iter().map(|x| x * x).sum();
        let values: Vec<f32> = values.into_iter().map(|x| x as f32).collect();
        let values = Tensor::new(values, &Device::Cpu).unwrap();
        assert!((squares(&values).unwrap() / expected - 1.0).abs() < 1e-6);
    }
}
