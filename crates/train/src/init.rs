//! WTA weights from whitened samples of token vectors: a dictionary that needs no gradient step.
//!
//! Let `μ` and `C` be the mean and covariance of token vectors. Each row of `W` is a sample,
//! whitened, normalised and mapped back: `W_i = C⁻¹(x_i − μ) / sqrt((x_i − μ)ᵀ C⁻¹ (x_i − μ))`. The
//! bias makes the activation at the mean 0, and every row is scaled so that its activation has
//! variance 1 over the samples: `W_i C W_iᵀ = 1`.
//!
//! Random heads are Gaussian rows, centred and scaled in the same way.

use anyhow::{Context, Result, ensure};
use candle_core::{D, DType, Device, Tensor};

use crate::random::Random;
use crate::wta::Head;

/// Share of the mean variance that is added to every direction, so that directions in which the
/// samples hardly vary are not blown up.
const RIDGE: f64 = 1e-3;

/// Token vectors summed at once, to bound memory.
const CHUNK_TOKENS: usize = 16_384;

/// Random stream of Gaussian weights.
const GAUSSIAN_STREAM: u64 = 6_000;

/// A head of `n` rows from `samples`: `[tokens, dim]`, with `k` winners; `mask`: `[n, dim]` of 0
/// and 1, the weights that exist. `seed` chooses the rows.
///
/// # Errors
/// When there are fewer samples than rows, or they do not vary.
pub fn whitened_head(samples: &Tensor, mask: &Tensor, k: usize, seed: u64) -> Result<Head> {
    let (n, _) = mask.dims2()?;
    let moments = moments(samples)?;
    let rows = sample_rows(samples, n, seed)?.to_dtype(DType::F64)?;
    let inverse = inverse(&moments.1)?;
    let weight = rows.broadcast_sub(&moments.0)?.matmul(&inverse)?;
    let weight = (weight * mask.to_dtype(DType::F64)?)?;
    standardised(&weight, &moments, k)
}

/// A head of Gaussian rows, as UHD-BERT begins; otherwise as [`whitened_head`].
///
/// # Errors
/// When the samples do not vary.
pub fn random_head(samples: &Tensor, mask: &Tensor, k: usize, seed: u64) -> Result<Head> {
    let (n, dim) = mask.dims2()?;
    let weight = gaussian(n, dim, seed)?.to_device(samples.device())?;
    let weight = (weight * mask.to_dtype(DType::F64)?)?;
    standardised(&weight, &moments(samples)?, k)
}

/// Gaussian rows: `[n, dim]` f64 of variance `1/dim`.
pub(crate) fn gaussian(n: usize, dim: usize, seed: u64) -> Result<Tensor> {
    let mut random = Random::new(seed, GAUSSIAN_STREAM);
    let values = (0..n * dim).map(|_| random.gaussian() / (dim as f64).sqrt());
    Ok(Tensor::from_vec(values.collect(), (n, dim), &Device::Cpu)?)
}

/// A head of the rows `weight`: `[n, dim]` f64, scaled so that each activation has mean 0 and variance 1
/// by `moments`: those of [`moments`].
pub(crate) fn standardised(weight: &Tensor, moments: &(Tensor, Tensor), k: usize) -> Result<Head> {
    let (mean, covariance) = moments;
    let variance = (weight.matmul(covariance)? * weight)?.sum_keepdim(D::Minus1)?;
    let weight = weight.broadcast_div(&(variance + f64::MIN_POSITIVE)?.sqrt()?)?;
    let bias = weight.matmul(&mean.t()?)?.neg()?.flatten_all()?;
    Head::new(weight.to_dtype(DType::F32)?, bias.to_dtype(DType::F32)?, k)
}

/// Mean `[1, dim]` and covariance `[dim, dim]` with the ridge, f64.
pub(crate) fn moments(samples: &Tensor) -> Result<(Tensor, Tensor)> {
    let (tokens, dim) = samples.dims2()?;
    ensure!(tokens > 1, "token statistics need more than {tokens} token");
    let mean = (fold_chunks(samples, |chunk| Ok(chunk.sum_keepdim(0)?))? / tokens as f64)?;
    let scatter = fold_chunks(samples, |chunk| {
        let centred = chunk.broadcast_sub(&mean)?;
        Ok(centred.t()?.matmul(&centred)?)
    })?;
    let covariance = (scatter / tokens as f64)?;
    let identity = Tensor::eye(dim, DType::F64, samples.device())?;
    let trace = (&covariance * &identity)?.sum_all()?.to_scalar::<f64>()?;
    ensure!(trace > 0.0, "the token vectors do not vary");
    let ridge = (identity * (RIDGE * trace / dim as f64))?;
    Ok((mean, (covariance + ridge)?))
}

/// The sum of `part` over pieces of `samples`, as f64.
fn fold_chunks(samples: &Tensor, part: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    let tokens = samples.dim(0)?;
    let mut sum: Option<Tensor> = None;
    for start in (0..tokens).step_by(CHUNK_TOKENS) {
        let chunk = samples.narrow(0, start, CHUNK_TOKENS.min(tokens - start))?;
        let value = part(&chunk.to_dtype(DType::F64)?)?;
        sum = Some(match sum {
            Some(sum) => (sum + value)?,
            None => value,
        });
    }
    sum.context("no token vectors were sampled")
}

/// `n` different rows of `samples`.
pub(crate) fn sample_rows(samples: &Tensor, n: usize, seed: u64) -> Result<Tensor> {
    let tokens = samples.dim(0)?;
    ensure!(
        tokens >= n,
        "{n} dimensions need as many token vectors, there are {tokens}: give more text, or raise --sample-tokens"
    );
    let mut order: Vec<u32> = (0..u32::try_from(tokens)?).collect();
    Random::new(seed, 0).shuffle(&mut order);
    order.truncate(n);
    Ok(samples.index_select(&Tensor::from_vec(order, n, samples.device())?, 0)?)
}

/// The inverse of a symmetric positive definite `[dim, dim]` f64 matrix, through Cholesky.
pub(crate) fn inverse(matrix: &Tensor) -> Result<Tensor> {
    let dim = matrix.dim(0)?;
    let lower = cholesky(&matrix.to_device(&Device::Cpu)?.to_vec2::<f64>()?)?;
    let inverse_lower = invert_lower(&lower);
    let inverse_lower = Tensor::from_vec(inverse_lower.concat(), (dim, dim), matrix.device())?;
    Ok(inverse_lower.t()?.matmul(&inverse_lower)?)
}

/// `L` with `L Lᵀ = matrix`, lower triangular.
pub(crate) fn cholesky(matrix: &[Vec<f64>]) -> Result<Vec<Vec<f64>>> {
    let mut lower = vec![vec![0.0; matrix.len()]; matrix.len()];
    for row in 0..matrix.len() {
        for column in 0..=row {
            let rest = matrix[row][column] - dot(&lower[row][..column], &lower[column][..column]);
            lower[row][column] = if row == column {
                ensure!(
                    rest > 0.0,
                    "the covariance is singular: sample more varied texts"
                );
                rest.sqrt()
            } else {
                rest / lower[column][column]
            };
        }
    }
    Ok(lower)
}

/// The inverse of a lower triangular matrix, by forward substitution.
pub(crate) fn invert_lower(lower: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut inverse = vec![vec![0.0; lower.len()]; lower.len()];
    for column in 0..lower.len() {
        inverse[column][column] = 1.0 / lower[column][column];
        for row in column + 1..lower.len() {
            let sum: f64 = (column..row)
                .map(|i| lower[row][i] * inverse[i][column])
                .sum();
            inverse[row][column] = -sum / lower[row][row];
        }
    }
    inverse
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `[tokens, 6]` correlated vectors with a mean far from 0.
    fn samples(tokens: usize) -> Result<Tensor> {
        let mut random = Random::new(3, 1);
        let mut uniform = || random.unit() - 0.5;
        let values: Vec<f32> = (0..tokens)
            .flat_map(|_| {
                let common = uniform();
                [4.0, 1.0, -2.0, 0.5, 0.1, 7.0]
                    .map(|mean| (mean + mean * common + uniform()) as f32)
            })
            .collect();
        Ok(Tensor::from_vec(values, (tokens, 6), &Device::Cpu)?)
    }

    #[test]
    fn activations_have_mean_0_and_variance_1() -> Result<()> {
        let samples = samples(3000)?;
        let mask = Tensor::ones((16, 6), DType::F32, &Device::Cpu)?;
        let head = whitened_head(&samples, &mask, 2, 5)?;
        let z = head.activations(&samples)?;
        for mean in z.mean(0)?.to_vec1::<f32>()? {
            assert!(mean.abs() < 1e-3, "mean {mean}");
        }
        // The ridge takes a few thousandths of the variance away.
        for variance in z.sqr()?.mean(0)?.to_vec1::<f32>()? {
            assert!((0.95..=1.001).contains(&variance), "variance {variance}");
        }
        Ok(())
    }

    #[test]
    fn absent_weights_stay_absent() -> Result<()> {
        let mask = Tensor::new(
            &[[1_f32, 0., 1., 0., 1., 1.], [0., 1., 0., 1., 0., 1.]],
            &Device::Cpu,
        )?;
        let head = whitened_head(&samples(500)?, &mask, 1, 5)?;
        let removed = (head.weight * (1.0 - &mask)?)?
            .abs()?
            .sum_all()?
            .to_scalar::<f32>()?;
        assert_eq!(removed, 0.0);
        Ok(())
    }

    #[test]
    fn an_inverse_undoes_its_matrix() -> Result<()> {
        let matrix = Tensor::new(
            &[[4_f64, 1., 0.5], [1., 3., -1.], [0.5, -1., 2.]],
            &Device::Cpu,
        )?;
        let product = matrix.matmul(&inverse(&matrix)?)?;
        let error = (product - Tensor::eye(3, DType::F64, &Device::Cpu)?)?
            .abs()?
            .max_all()?;
        assert!(error.to_scalar::<f64>()? < 1e-12);
        Ok(())
    }

    #[test]
    fn vectors_that_do_not_vary_are_refused() -> Result<()> {
        let same = Tensor::ones((50, 6), DType::F32, &Device::Cpu)?;
        let mask = Tensor::ones((4, 6), DType::F32, &Device::Cpu)?;
        let error = whitened_head(&same, &mask, 1, 0).unwrap_err();
        assert!(error.to_string().contains("do not vary"), "{error}");
        Ok(())
    }
}
