//! Heads to compare: ways to begin, and what is done to their weights.

use anyhow::Result;
use candle_core::{DType, Device, Tensor};

use crate::init::{cholesky, gaussian, invert_lower, moments, sample_rows, standardised};
use crate::wta::Head;

/// How a head's rows are chosen, without a gradient step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Gaussian numbers, no bias.
    Gaussian,
    /// Gaussian numbers; each activation scaled to mean 0 and variance 1 over the samples.
    GaussianStandardised,
    /// Gaussian numbers in the whitened space, standardised.
    GaussianWhitened,
    /// Token vectors less their mean, standardised.
    Samples,
    /// Whitened token vectors, standardised ([`crate::init`]).
    WhitenedSamples,
}

impl Start {
    /// In tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Gaussian => "Gaussian",
            Self::GaussianStandardised => "Gaussian, standardised",
            Self::GaussianWhitened => "Gaussian in the whitened space",
            Self::Samples => "samples, not whitened",
            Self::WhitenedSamples => "whitened samples",
        }
    }

    /// A head of `n` rows from `samples` `[tokens, dim]` with `k` winners.
    ///
    /// # Errors
    /// When there are too few samples or they do not vary.
    pub fn head(self, samples: &Tensor, (n, k): (usize, usize), seed: u64) -> Result<Head> {
        let dim = samples.dim(1)?;
        if self == Self::WhitenedSamples {
            let mask = Tensor::ones((n, dim), DType::F32, &Device::Cpu)?;
            return crate::init::whitened_head(samples, &mask, k, seed);
        }
        if self == Self::Gaussian {
            let weight = gaussian(n, dim, seed)?.to_dtype(DType::F32)?;
            return Head::new(weight, Tensor::zeros(n, DType::F32, &Device::Cpu)?, k);
        }
        let moments = moments(samples)?;
        let weight = match self {
            Self::Samples => {
                let rows = sample_rows(samples, n, seed)?.to_dtype(DType::F64)?;
                rows.broadcast_sub(&moments.0)?
            }
            Self::GaussianWhitened => {
                let lower = invert_lower(&cholesky(&moments.1.to_vec2::<f64>()?)?);
                let lower = Tensor::from_vec(lower.concat(), (dim, dim), &Device::Cpu)?;
                gaussian(n, dim, seed)?.matmul(&lower)?
            }
            _ => gaussian(n, dim, seed)?,
        };
        standardised(&weight, &moments, k)
    }
}

/// The head with weights of `bits` bits: integers with one scale a row; the bias stays a float.
///
/// # Errors
/// When a tensor cannot be made.
pub fn quantized(head: &Head, bits: u32) -> Result<Head> {
    let largest = f64::from((1_u32 << (bits - 1)) - 1);
    let scales = (head.weight.abs()?.max_keepdim(1)? / largest)?;
    let scales = scales.maximum(f64::from(f32::MIN_POSITIVE))?;
    let integers = head.weight.broadcast_div(&scales)?.round()?;
    Head::new(integers.broadcast_mul(&scales)?, head.bias.clone(), head.k)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn samples() -> Result<Tensor> {
        let mut random = Random::new(3, 1);
        let values: Vec<f32> = (0..600 * 5)
            .map(|at| (at % 5) as f32 + random.unit() as f32)
            .collect();
        Ok(Tensor::from_vec(values, (600, 5), &Device::Cpu)?)
    }

    #[test]
    fn all_starts_but_the_bare_one_are_standardised() -> Result<()> {
        let samples = samples()?;
        for start in [
            Start::GaussianStandardised,
            Start::GaussianWhitened,
            Start::Samples,
            Start::WhitenedSamples,
        ] {
            let z = start.head(&samples, (12, 2), 1)?.activations(&samples)?;
            for mean in z.mean(0)?.to_vec1::<f32>()? {
                assert!(mean.abs() < 1e-2, "{start:?}: mean {mean}");
            }
            for variance in z.sqr()?.mean(0)?.to_vec1::<f32>()? {
                assert!((0.9..1.1).contains(&variance), "{start:?}: {variance}");
            }
        }
        Ok(())
    }

    #[test]
    fn fewer_bits_are_further_from_the_weights() -> Result<()> {
        let head = Start::WhitenedSamples.head(&samples()?, (12, 2), 1)?;
        let error = |bits| -> Result<f32> {
            let difference = (quantized(&head, bits)?.weight - &head.weight)?;
            Ok(difference.sqr()?.mean_all()?.to_scalar()?)
        };
        assert!(error(8)? < error(4)? && error(4)? < error(2)?);
        Ok(())
    }
}
