//! Parts of training that candle composes of many passes over memory on one core, each in one pass on all cores,
//! with their gradients: biases, layer norm, GELU, the softmax of attention, and AdamW's update.
//!
//! For 32-bit floats on the CPU ([`applies`]); elsewhere callers compose them of candle's own operations. Sums are taken in an order
//! that does not depend on the number of threads, so that a run can be repeated bit for bit.

use candle_core::{CpuStorage, CustomOp1, CustomOp2, CustomOp3, Layout, Result, Shape, Tensor};
use rayon::prelude::*;

/// Values that one task works on, about.
const TASK: usize = 16_384;

/// Whether the operations of this module can read `tensor`.
#[must_use]
pub fn applies(tensor: &Tensor) -> bool {
    tensor.device().is_cpu() && tensor.dtype() == candle_core::DType::F32
}

/// `values + bias`, the bias added to each row; `bias`: `[dim]`.
///
/// # Errors
/// When shapes disagree.
pub fn add_bias(values: &Tensor, bias: &Tensor) -> Result<Tensor> {
    values.contiguous()?.apply_op2(&bias.contiguous()?, AddBias)
}

/// Layer norm over the last dimension; `weight` and `bias`: `[dim]`, `epsilon` is added to the variance.
///
/// # Errors
/// When shapes disagree.
pub fn layer_norm(hidden: &Tensor, weight: &Tensor, bias: &Tensor, epsilon: f32) -> Result<Tensor> {
    let norm = LayerNorm { epsilon };
    hidden
        .contiguous()?
        .apply_op3(&weight.contiguous()?, &bias.contiguous()?, norm)
}

/// GELU, with the error function of Abramowitz and Stegun, 7.1.26, which is within 1.5e-7 of the true one.
///
/// # Errors
/// Never for a tensor that [`applies`].
pub fn gelu(values: &Tensor) -> Result<Tensor> {
    values.contiguous()?.apply_op1(Gelu)
}

/// Softmax over the last dimension of `scale · scores + blocked`; `scores`: `[batch, heads, seq, seq]`, `blocked`:
/// `[batch, 1, 1, seq]`, which gets no gradient.
///
/// # Errors
/// When shapes disagree.
pub fn attention(scores: &Tensor, blocked: &Tensor, scale: f64) -> Result<Tensor> {
    let scale = scale as f32;
    scores
        .contiguous()?
        .apply_op2(&blocked.contiguous()?, Attention { scale })
}

/// Sum of the squares of all values.
///
/// # Errors
/// Never for a tensor that [`applies`].
pub fn squares(values: &Tensor) -> Result<f64> {
    let sum = values.contiguous()?.apply_op1_no_bwd(&Squares)?;
    sum.to_scalar()
}

/// `kept · past + (1 − kept) · (scale · gradient)ᵖ`: a running mean of a gradient (p = 1) or of its square (p = 2).
///
/// # Errors
/// When shapes disagree.
pub fn running_mean(
    past: &Tensor,
    gradient: &Tensor,
    (kept, scale): (f64, f64),
    squared: bool,
) -> Result<Tensor> {
    let mean = RunningMean {
        kept: kept as f32,
        new: (1.0 - kept) as f32,
        scale: scale as f32,
        squared,
    };
    past.contiguous()?
        .apply_op2_no_bwd(&gradient.contiguous()?, &mean)
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
    weights
        .contiguous()?
        .apply_op3_no_bwd(&first.contiguous()?, &second.contiguous()?, &step)
}

/// The values of a contiguous tensor of 32-bit floats.
fn floats<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    let all = storage.as_slice::<f32>()?;
    let range = layout.contiguous_offsets();
    let values = range.and_then(|(begin, end)| all.get(begin..end));
    values.ok_or_else(|| candle_core::Error::Msg("a fused operation wants contiguous input".into()))
}

fn last_dim(layout: &Layout) -> usize {
    layout.shape().dims().last().copied().unwrap_or(1).max(1)
}

fn same_length(left: &[f32], right: &[f32]) -> Result<()> {
    if left.len() == right.len() {
        return Ok(());
    }
    let lengths = format!("{} values meet {}", left.len(), right.len());
    Err(candle_core::Error::Msg(lengths))
}

/// `of(row, output)` for each row of `width` values, in parallel.
fn by_row(input: &[f32], width: usize, of: impl Fn(usize, &[f32], &mut [f32]) + Sync) -> Vec<f32> {
    let mut output = vec![0.0; input.len()];
    let rows = (TASK / width).max(1);
    let tasks = output
        .par_chunks_mut(rows * width)
        .zip(input.par_chunks(rows * width));
    tasks.enumerate().for_each(|(task, (output, input))| {
        let pairs = output.chunks_mut(width).zip(input.chunks(width));
        for (row, (output, input)) in (task * rows..).zip(pairs) {
            of(row, input, output);
        }
    });
    output
}

/// `of(x)` for each value, in parallel.
fn each(input: &[f32], of: impl Fn(f32) -> f32 + Sync) -> Vec<f32> {
    by_row(input, TASK, |_, input, output| {
        for (y, &x) in output.iter_mut().zip(input) {
            *y = of(x);
        }
    })
}

/// `of(x, y)` for each pair of values, in parallel.
fn each_pair(left: &[f32], right: &[f32], of: impl Fn(f32, f32) -> f32 + Sync) -> Vec<f32> {
    by_row(left, TASK, |row, left, output| {
        let right = right.get(row * TASK..).unwrap_or(&[]);
        for ((y, &left), &right) in output.iter_mut().zip(left).zip(right) {
            *y = of(left, right);
        }
    })
}

/// `sums` sums over all rows of `width` values; `of(row, values, sums)` adds what a row gives. Tasks run in parallel
/// and are added in their order, so that rounding does not depend on threads.
fn summed(
    input: &[f32],
    width: usize,
    sums: usize,
    of: impl Fn(usize, &[f32], &mut [f32]) + Sync,
) -> Vec<f32> {
    let rows = (TASK / width).max(1);
    let tasks = input.par_chunks(rows * width).enumerate();
    let parts: Vec<Vec<f32>> = tasks
        .map(|(task, input)| {
            let mut part = vec![0.0; sums];
            for (row, input) in (task * rows..).zip(input.chunks(width)) {
                of(row, input, &mut part);
            }
            part
        })
        .collect();
    let mut total = vec![0.0; sums];
    for part in parts {
        for (total, part) in total.iter_mut().zip(part) {
            *total += part;
        }
    }
    total
}

struct AddBias;

impl CustomOp2 for AddBias {
    fn name(&self) -> &'static str {
        "fused-add-bias"
    }

    fn cpu_fwd(
        &self,
        s1: &CpuStorage,
        l1: &Layout,
        s2: &CpuStorage,
        l2: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (values, bias) = (floats(s1, l1)?, floats(s2, l2)?);
        let width = last_dim(l1);
        if bias.len() != width {
            let lengths = format!("{} biases for rows of {width}", bias.len());
            return Err(candle_core::Error::Msg(lengths));
        }
        let output = by_row(values, width, |_, row, output| {
            for ((y, x), bias) in output.iter_mut().zip(row).zip(bias) {
                *y = x + bias;
            }
        });
        Ok((CpuStorage::F32(output), l1.shape().clone()))
    }

    fn bwd(
        &self,
        _values: &Tensor,
        _bias: &Tensor,
        _result: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let gradient = gradient.contiguous()?;
        let of_bias = gradient.apply_op1_no_bwd(&ColumnSums)?;
        Ok((Some(gradient), Some(of_bias)))
    }
}

/// Sums over all rows: `[dim]`.
struct ColumnSums;

impl CustomOp1 for ColumnSums {
    fn name(&self) -> &'static str {
        "fused-column-sums"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let width = last_dim(layout);
        let sums = summed(floats(storage, layout)?, width, width, |_, row, sums| {
            for (sum, x) in sums.iter_mut().zip(row) {
                *sum += x;
            }
        });
        Ok((CpuStorage::F32(sums), Shape::from(width)))
    }
}

struct LayerNorm {
    epsilon: f32,
}

/// Mean of a row, and one over its deviation.
fn moments(row: &[f32], epsilon: f32) -> (f32, f32) {
    let count = row.len() as f32;
    let mean = row.iter().sum::<f32>() / count;
    let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / count;
    (mean, 1.0 / (variance + epsilon).sqrt())
}

impl CustomOp3 for LayerNorm {
    fn name(&self) -> &'static str {
        "fused-layer-norm"
    }

    fn cpu_fwd(
        &self,
        s1: &CpuStorage,
        l1: &Layout,
        s2: &CpuStorage,
        l2: &Layout,
        s3: &CpuStorage,
        l3: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (hidden, weight, bias) = (floats(s1, l1)?, floats(s2, l2)?, floats(s3, l3)?);
        same_length(weight, bias)?;
        if weight.len() != last_dim(l1) {
            let lengths = format!("{} weights for rows of {}", weight.len(), last_dim(l1));
            return Err(candle_core::Error::Msg(lengths));
        }
        let output = by_row(hidden, last_dim(l1), |_, row, output| {
            let (mean, scale) = moments(row, self.epsilon);
            let parameters = weight.iter().zip(bias);
            for ((y, x), (weight, bias)) in output.iter_mut().zip(row).zip(parameters) {
                *y = (x - mean) * scale * weight + bias;
            }
        });
        Ok((CpuStorage::F32(output), l1.shape().clone()))
    }

    fn bwd(
        &self,
        hidden: &Tensor,
        weight: &Tensor,
        _bias: &Tensor,
        _result: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let gradient = gradient.contiguous()?;
        let epsilon = self.epsilon;
        let of_hidden = hidden.apply_op3_no_bwd(weight, &gradient, &NormGradient { epsilon })?;
        let parameters = hidden.apply_op2_no_bwd(&gradient, &NormParameters { epsilon })?;
        Ok((
            Some(of_hidden),
            Some(parameters.get(0)?),
            Some(parameters.get(1)?),
        ))
    }
}

/// `scale · (g − mean(g) − x̂ · mean(g · x̂))` with `g = gradient · weight` and `x̂` the normed row.
struct NormGradient {
    epsilon: f32,
}

impl CustomOp3 for NormGradient {
    fn name(&self) -> &'static str {
        "fused-layer-norm-gradient"
    }

    fn cpu_fwd(
        &self,
        s1: &CpuStorage,
        l1: &Layout,
        s2: &CpuStorage,
        l2: &Layout,
        s3: &CpuStorage,
        l3: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (hidden, weight, gradient) = (floats(s1, l1)?, floats(s2, l2)?, floats(s3, l3)?);
        same_length(hidden, gradient)?;
        let width = last_dim(l1);
        let output = by_row(hidden, width, |at, row, output| {
            let gradient = gradient.get(at * width..).unwrap_or(&[]);
            let (mean, scale) = moments(row, self.epsilon);
            let (mut sum, mut product) = (0.0, 0.0);
            for ((y, x), (g, w)) in output.iter_mut().zip(row).zip(gradient.iter().zip(weight)) {
                *y = g * w;
                sum += *y;
                product += *y * (x - mean) * scale;
            }
            let (sum, product) = (sum / width as f32, product / width as f32);
            for (y, x) in output.iter_mut().zip(row) {
                *y = scale * (*y - sum - (x - mean) * scale * product);
            }
        });
        Ok((CpuStorage::F32(output), l1.shape().clone()))
    }
}

/// Gradients of weight and bias: `[2, dim]`.
struct NormParameters {
    epsilon: f32,
}

impl CustomOp2 for NormParameters {
    fn name(&self) -> &'static str {
        "fused-layer-norm-parameters"
    }

    fn cpu_fwd(
        &self,
        s1: &CpuStorage,
        l1: &Layout,
        s2: &CpuStorage,
        l2: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (hidden, gradient) = (floats(s1, l1)?, floats(s2, l2)?);
        same_length(hidden, gradient)?;
        let width = last_dim(l1);
        let total = summed(hidden, width, 2 * width, |at, row, sums| {
            let gradient = gradient.get(at * width..).unwrap_or(&[]);
            let (mean, scale) = moments(row, self.epsilon);
            let (weight, bias) = sums.split_at_mut(width);
            let sums = weight.iter_mut().zip(bias);
            for ((weight, bias), (x, g)) in sums.zip(row.iter().zip(gradient)) {
                *weight += g * (x - mean) * scale;
                *bias += g;
            }
        });
        Ok((CpuStorage::F32(total), Shape::from((2, width))))
    }
}

struct Gelu;

/// `(Φ(x), exp(−x²/2))`, Φ being the distribution function of the standard normal distribution.
fn normal(x: f32) -> (f32, f32) {
    // Highest power first.
    const FACTORS: [f32; 5] = [
        1.061_405_4,
        -1.453_152_1,
        1.421_413_8,
        -0.284_496_72,
        0.254_829_6,
    ];
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let polynomial = FACTORS.iter().fold(0.0, |sum, factor| sum * t + factor) * t;
    let density = (-z * z).exp();
    let erf = (1.0 - polynomial * density).copysign(x);
    (0.5 * (1.0 + erf), density)
}

impl CustomOp1 for Gelu {
    fn name(&self) -> &'static str {
        "fused-gelu"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let output = each(floats(storage, layout)?, |x| x * normal(x).0);
        Ok((CpuStorage::F32(output), layout.shape().clone()))
    }

    fn bwd(&self, values: &Tensor, _result: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        let gradient = gradient.contiguous()?;
        values.apply_op2_no_bwd(&gradient, &GeluGradient).map(Some)
    }
}

struct GeluGradient;

impl CustomOp2 for GeluGradient {
    fn name(&self) -> &'static str {
        "fused-gelu-gradient"
    }

    fn cpu_fwd(
        &self,
        s1: &CpuStorage,
        l1: &Layout,
        s2: &CpuStorage,
        l2: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        /// `1/√(2π)`.
        const PEAK: f32 = 0.398_942_3;
        let (values, gradient) = (floats(s1, l1)?, floats(s2, l2)?);
        same_length(values, gradient)?;
        let output = each_pair(values, gradient, |x, gradient| {
            let (below, density) = normal(x);
            gradient * (below + x * PEAK * density)
        });
        Ok((CpuStorage::F32(output), l1.shape().clone()))
    }
}

struct Attention {
    scale: f32,
}

impl CustomOp2 for Attention {
    fn name(&self) -> &'static str {
        "fused-attention-softmax"
    }

    fn cpu_fwd(
        &self,
        s1: &CpuStorage,
        l1: &Layout,
        s2: &CpuStorage,
        l2: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (scores, blocked) = (floats(s1, l1)?, floats(s2, l2)?);
        let (_, heads, rows, width) = l1.shape().dims4()?;
        if l2.shape().dims4()? != (l1.shape().dims4()?.0, 1, 1, width) {
            let shapes = format!("scores {:?}, blocked {:?}", l1.shape(), l2.shape());
            return Err(candle_core::Error::Msg(shapes));
        }
        let output = by_row(scores, width.max(1), |row, scores, output| {
            let text = row / (heads * rows);
            let blocked = blocked.get(text * width..).unwrap_or(&[]);
            let mut largest = f32::NEG_INFINITY;
            for ((y, x), blocked) in output.iter_mut().zip(scores).zip(blocked) {
                *y = self.scale * x + blocked;
                largest = largest.max(*y);
            }
            let mut sum = 0.0;
            for y in output.iter_mut() {
                *y = (*y - largest).exp();
                sum += *y;
            }
            for y in output.iter_mut() {
                *y /= sum;
            }
        });
        Ok((CpuStorage::F32(output), l1.shape().clone()))
    }

    fn bwd(
        &self,
        _scores: &Tensor,
        _blocked: &Tensor,
        shares: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let scale = self.scale;
        let gradient = gradient.contiguous()?;
        let of_scores = shares.apply_op2_no_bwd(&gradient, &AttentionGradient { scale })?;
        Ok((Some(of_scores), None))
    }
}

/// `scale · y · (g − Σ g · y)`.
struct AttentionGradient {
    scale: f32,
}

impl CustomOp2 for AttentionGradient {
    fn name(&self) -> &'static str {
        "fused-attention-softmax-gradient"
    }

    fn cpu_fwd(
        &self,
        s1: &CpuStorage,
        l1: &Layout,
        s2: &CpuStorage,
        l2: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (shares, gradient) = (floats(s1, l1)?, floats(s2, l2)?);
        same_length(shares, gradient)?;
        let width = last_dim(l1);
        let output = by_row(shares, width, |row, shares, output| {
            let gradient = gradient.get(row * width..).unwrap_or(&[]);
            let pairs = shares.iter().zip(gradient);
            let mean: f32 = pairs.clone().map(|(share, g)| share * g).sum();
            for (y, (share, g)) in output.iter_mut().zip(pairs) {
                *y = self.scale * share * (g - mean);
            }
        });
        Ok((CpuStorage::F32(output), l1.shape().clone()))
    }
}

struct Squares;

impl CustomOp1 for Squares {
    fn name(&self) -> &'static str {
        "fused-squares"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let tasks = floats(storage, layout)?.par_chunks(TASK);
        let sums: Vec<f64> = tasks
            .map(|values| values.iter().map(|&x| f64::from(x).powi(2)).sum())
            .collect();
        Ok((
            CpuStorage::F64(vec![sums.iter().sum()]),
            Shape::from_dims(&[]),
        ))
    }
}

struct RunningMean {
    kept: f32,
    new: f32,
    scale: f32,
    squared: bool,
}

impl CustomOp2 for RunningMean {
    fn name(&self) -> &'static str {
        "fused-running-mean"
    }

    fn cpu_fwd(
        &self,
        s1: &CpuStorage,
        l1: &Layout,
        s2: &CpuStorage,
        l2: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (past, gradient) = (floats(s1, l1)?, floats(s2, l2)?);
        same_length(past, gradient)?;
        let output = each_pair(past, gradient, |past, gradient| {
            let gradient = self.scale * gradient;
            let new = if self.squared {
                gradient * gradient
            } else {
                gradient
            };
            self.kept * past + self.new * new
        });
        Ok((CpuStorage::F32(output), l1.shape().clone()))
    }
}

impl CustomOp3 for Step {
    fn name(&self) -> &'static str {
        "fused-adam"
    }

    fn cpu_fwd(
        &self,
        s1: &CpuStorage,
        l1: &Layout,
        s2: &CpuStorage,
        l2: &Layout,
        s3: &CpuStorage,
        l3: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (weights, first, second) = (floats(s1, l1)?, floats(s2, l2)?, floats(s3, l3)?);
        same_length(weights, first)?;
        same_length(weights, second)?;
        let (kept, epsilon) = (self.kept as f32, self.epsilon as f32);
        let rate = self.rate as f32;
        let corrections = [self.corrections.0, self.corrections.1].map(|c| (1.0 / c) as f32);
        let output = by_row(weights, TASK, |row, weights, output| {
            let from = row * TASK;
            let first = first.get(from..).unwrap_or(&[]).iter();
            let moments = first.zip(second.get(from..).unwrap_or(&[]));
            for ((y, weight), (first, second)) in output.iter_mut().zip(weights).zip(moments) {
                // Divided first: a high rate must not overflow before.
                let length = (corrections[1] * second).sqrt() + epsilon;
                *y = kept * weight - rate * (corrections[0] * first / length);
            }
        });
        Ok((CpuStorage::F32(output), l1.shape().clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use candle_core::{D, Device, Var};
    use candle_nn::ops;

    fn random(shape: &[usize], stream: u64) -> Var {
        let mut random = Random::new(3, stream);
        let count = shape.iter().product();
        let values: Vec<f32> = (0..count).map(|_| random.gaussian() as f32).collect();
        Var::from_vec(values, shape, &Device::Cpu).unwrap()
    }

    /// Values and gradients of the fused and the composed operation agree, under gradients that differ by place.
    fn agree(variables: &[Var], fused: &Tensor, composed: &Tensor) {
        let weights = random(fused.dims(), 99);
        let gradients = [fused, composed].map(|output| {
            let loss = (output * weights.as_tensor()).unwrap().sum_all().unwrap();
            loss.backward().unwrap()
        });
        close(fused, composed);
        for variable in variables {
            let [fused, composed] = [0, 1].map(|i| gradients[i].get(variable).unwrap());
            close(fused, composed);
        }
    }

    fn close(left: &Tensor, right: &Tensor) {
        assert_eq!(left.dims(), right.dims());
        let [left, right] =
            [left, right].map(|t| t.flatten_all().unwrap().to_vec1::<f32>().unwrap());
        let largest = right.iter().fold(1e-3_f32, |m, x| m.max(x.abs()));
        for (a, b) in left.iter().zip(&right) {
            assert!((a - b).abs() < 1e-5 * largest, "{a} and {b}");
        }
    }

    #[test]
    fn a_bias_agrees_with_the_composed_one() {
        let values = random(&[3, 67, 384], 8);
        let bias = random(&[384], 9);
        let fused = add_bias(&values, &bias).unwrap();
        let composed = values.broadcast_add(&bias).unwrap();
        agree(&[values.clone(), bias], &fused, &composed);
        assert!(add_bias(&values, &random(&[383], 9)).is_err());
    }

    #[test]
    fn layer_norm_agrees_with_the_composed_one() {
        // More than one task, and rows that do not fill the last one.
        let hidden = random(&[3, 67, 384], 0);
        let (weight, bias) = (random(&[384], 1), random(&[384], 2));
        let fused = layer_norm(&hidden, &weight, &bias, 1e-5).unwrap();
        let composed = ops::layer_norm_slow(&hidden, &weight, &bias, 1e-5).unwrap();
        agree(&[hidden.clone(), weight, bias], &fused, &composed);
        let short = random(&[383], 1);
        assert!(layer_norm(&hidden, &short, &short, 1e-5).is_err());
    }

    #[test]
    fn gelu_agrees_with_the_composed_one() {
        let values = random(&[40_001], 3);
        let spread = (values.as_tensor() * 3.0).unwrap();
        let (fused, composed) = (gelu(&spread).unwrap(), spread.gelu_erf().unwrap());
        agree(&[values], &fused, &composed);
    }

    #[test]
    fn gelu_is_exact_over_its_range() {
        let values: Vec<f32> = (-800..=800).map(|i| i as f32 / 100.0).collect();
        let values = Tensor::new(values, &Device::Cpu).unwrap();
        let difference = (gelu(&values).unwrap() - values.gelu_erf().unwrap()).unwrap();
        let worst = difference.abs().unwrap().max(0).unwrap();
        assert!(worst.to_scalar::<f32>().unwrap() < 2e-6);
    }

    #[test]
    fn attention_agrees_with_the_composed_one() {
        let scores = random(&[3, 4, 31, 31], 4);
        // The last text has 11 real pieces.
        let blocked = (0..3 * 31).map(|i| if i >= 2 * 31 + 11 { -1e9_f32 } else { 0.0 });
        let blocked = Tensor::from_vec(blocked.collect(), (3, 1, 1, 31), &Device::Cpu).unwrap();
        let fused = attention(&scores, &blocked, 0.3).unwrap();
        let composed = (scores.as_tensor() * 0.3).unwrap();
        let composed = composed.broadcast_add(&blocked).unwrap();
        let composed = ops::softmax(&composed, D::Minus1).unwrap();
        agree(&[scores], &fused, &composed);
        assert!(attention(&random(&[2, 1, 3, 3], 5), &blocked, 1.0).is_err());
    }

    #[test]
    fn what_is_not_contiguous_is_read_in_its_own_order() {
        let values = random(&[5, 7], 6);
        let turned = values.t().unwrap();
        agree(
            std::slice::from_ref(&values),
            &gelu(&turned).unwrap(),
            &turned.gelu_erf().unwrap(),
        );
    }

    #[test]
    fn squares_are_summed() {
        let values = random(&[100_000], 7);
        let expected = values.sqr().unwrap().sum_all().unwrap();
        let expected = f64::from(expected.to_scalar::<f32>().unwrap());
        assert!((squares(&values).unwrap() / expected - 1.0).abs() < 1e-4);
    }
}
