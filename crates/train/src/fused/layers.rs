//! Layers of the network, with gradients.

use candle_core::{CpuStorage, CustomOp1, CustomOp2, CustomOp3, Layout, Result, Shape, Tensor};

use super::{Operand, Output, by_row, each, each_pair, error, plain1, plain2, plain3, summed};

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

struct AddBias;

impl CustomOp2 for AddBias {
    fn name(&self) -> &'static str {
        "fused-add-bias"
    }

    fn cpu_fwd(&self, s1: &CpuStorage, l1: &Layout, s2: &CpuStorage, l2: &Layout) -> Output {
        let values = Operand::new(s1, l1)?;
        let width = values.width();
        let bias = Operand::new(s2, l2)?.check(width)?.values;
        values.shaped(by_row(values.values, width, |_, row, output| {
            for ((y, x), bias) in output.iter_mut().zip(row).zip(bias) {
                *y = x + bias;
            }
        }))
    }

    fn bwd(
        &self,
        _values: &Tensor,
        _bias: &Tensor,
        _result: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let of_bias = plain1(gradient, |gradient| {
            let width = gradient.width();
            let sums = summed(gradient.values, width, width, |_, row, sums| {
                for (sum, x) in sums.iter_mut().zip(row) {
                    *sum += x;
                }
            });
            Ok((CpuStorage::F32(sums), Shape::from(width)))
        })?;
        Ok((Some(gradient.clone()), Some(of_bias)))
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
    ) -> Output {
        let hidden = Operand::new(s1, l1)?;
        let width = hidden.width();
        let weight = Operand::new(s2, l2)?.check(width)?.values;
        let bias = Operand::new(s3, l3)?.check(width)?.values;
        hidden.shaped(by_row(hidden.values, width, |_, row, output| {
            let (mean, scale) = moments(row, self.epsilon);
            let parameters = weight.iter().zip(bias);
            for ((y, x), (weight, bias)) in output.iter_mut().zip(row).zip(parameters) {
                *y = (x - mean) * scale * weight + bias;
            }
        }))
    }

    fn bwd(
        &self,
        hidden: &Tensor,
        weight: &Tensor,
        _bias: &Tensor,
        _result: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let of_hidden = norm_gradient([hidden, weight, gradient], self.epsilon)?;
        let parameters = norm_parameters(hidden, gradient, self.epsilon)?;
        Ok((
            Some(of_hidden),
            Some(parameters.get(0)?),
            Some(parameters.get(1)?),
        ))
    }
}

/// `scale · (g − mean(g) − x̂ · mean(g · x̂))` with `g = gradient · weight` and `x̂` the normed row.
fn norm_gradient(operands: [&Tensor; 3], epsilon: f32) -> Result<Tensor> {
    plain3(operands, |hidden, weight, gradient| {
        let width = hidden.width();
        let gradient = gradient.check(hidden.values.len())?;
        hidden.shaped(by_row(hidden.values, width, |at, row, output| {
            let (mean, scale) = moments(row, epsilon);
            let (mut sum, mut product) = (0.0, 0.0);
            let factors = gradient.from(at * width).iter().zip(weight.values);
            for ((y, x), (g, w)) in output.iter_mut().zip(row).zip(factors) {
                *y = g * w;
                sum += *y;
                product += *y * (x - mean) * scale;
            }
            let (sum, product) = (sum / width as f32, product / width as f32);
            for (y, x) in output.iter_mut().zip(row) {
                *y = scale * (*y - sum - (x - mean) * scale * product);
            }
        }))
    })
}

/// Gradients of weight and bias: `[2, dim]`.
fn norm_parameters(hidden: &Tensor, gradient: &Tensor, epsilon: f32) -> Result<Tensor> {
    plain2(hidden, gradient, |hidden, gradient| {
        let width = hidden.width();
        let gradient = gradient.check(hidden.values.len())?;
        let sums = summed(hidden.values, width, 2 * width, |at, row, sums| {
            let (mean, scale) = moments(row, epsilon);
            let (weight, bias) = sums.split_at_mut(width);
            let sums = weight.iter_mut().zip(bias);
            let values = row.iter().zip(gradient.from(at * width));
            for ((weight, bias), (x, g)) in sums.zip(values) {
                *weight += g * (x - mean) * scale;
                *bias += g;
            }
        });
        Ok((CpuStorage::F32(sums), Shape::from((2, width))))
    })
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

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Output {
        let values = Operand::new(storage, layout)?;
        values.shaped(each(values.values, |x| x * normal(x).0))
    }

    fn bwd(&self, values: &Tensor, _result: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        /// `1/√(2π)`.
        const PEAK: f32 = 0.398_942_3;
        let of_values = plain2(values, gradient, |values, gradient| {
            let gradient = gradient.check(values.values.len())?;
            values.shaped(each_pair(values.values, gradient.values, |x, gradient| {
                let (below, density) = normal(x);
                gradient * (below + x * PEAK * density)
            }))
        })?;
        Ok(Some(of_values))
    }
}

struct Attention {
    scale: f32,
}

impl CustomOp2 for Attention {
    fn name(&self) -> &'static str {
        "fused-attention-softmax"
    }

    fn cpu_fwd(&self, s1: &CpuStorage, l1: &Layout, s2: &CpuStorage, l2: &Layout) -> Output {
        let (scores, blocked) = (Operand::new(s1, l1)?, Operand::new(s2, l2)?);
        let (texts, heads, rows, width) = scores.shape.dims4()?;
        if blocked.shape.dims4()? != (texts, 1, 1, width) {
            let shapes = format!("scores {:?}, blocked {:?}", scores.shape, blocked.shape);
            return Err(error(&shapes));
        }
        scores.shaped(by_row(
            scores.values,
            width.max(1),
            |row, scores, output| {
                let blocked = blocked.from(row / (heads * rows) * width);
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
            },
        ))
    }

    /// `scale · y · (g − Σ g · y)`.
    fn bwd(
        &self,
        _scores: &Tensor,
        _blocked: &Tensor,
        shares: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let of_scores = plain2(shares, gradient, |shares, gradient| {
            let width = shares.width();
            let gradient = gradient.check(shares.values.len())?;
            shares.shaped(by_row(shares.values, width, |row, shares, output| {
                let pairs = shares.iter().zip(gradient.from(row * width));
                let mean: f32 = pairs.clone().map(|(share, g)| share * g).sum();
                for (y, (share, g)) in output.iter_mut().zip(pairs) {
                    *y = self.scale * share * (g - mean);
                }
            }))
        })?;
        Ok((Some(of_scores), None))
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
}
