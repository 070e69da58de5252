//! AdamW (Loshchilov and Hutter 2019) with learning rates per group, gradient clipping and
//! moments that can be saved.

use std::collections::HashMap;

use anyhow::{Context, Result, ensure};
use candle_core::backprop::GradStore;
use candle_core::{Tensor, Var};

use crate::fused::{self, update};

/// Decay of the first moment.
const BETA_1: f64 = 0.9;
/// Decay of the second moment.
const BETA_2: f64 = 0.999;
/// Added to the root of the second moment.
const EPSILON: f64 = 1e-8;

/// Variables that share a learning rate.
#[derive(Debug)]
pub struct Group {
    /// Learning rate at its peak; the schedule scales it.
    pub learning_rate: f64,
    /// Decoupled weight decay, relative to the learning rate.
    pub weight_decay: f64,
    /// Variables by name; names differ across groups.
    pub variables: Vec<(String, Var)>,
}

/// The two moments of one variable's gradient.
#[derive(Clone, Debug)]
struct Moments {
    first: Tensor,
    second: Tensor,
}

/// The optimizer.
#[derive(Debug)]
pub struct AdamW {
    groups: Vec<Group>,
    moments: HashMap<String, Moments>,
    /// Updates made so far.
    step: usize,
}

impl AdamW {
    /// An optimizer that has made no step.
    ///
    /// # Errors
    /// When memory for the moments cannot be had.
    pub fn new(groups: Vec<Group>) -> Result<Self> {
        let mut moments = HashMap::new();
        for (name, variable) in groups.iter().flat_map(|group| &group.variables) {
            let zeros = variable.zeros_like()?;
            moments.insert(
                name.clone(),
                Moments {
                    first: zeros.clone(),
                    second: zeros,
                },
            );
        }
        Ok(Self {
            groups,
            moments,
            step: 0,
        })
    }

    /// Applies `gradients`, first scaled down to the norm `max_norm` if they are longer;
    /// `schedule` scales the learning rates. Returns the norm before clipping.
    ///
    /// # Errors
    /// When a variable got no gradient; the message names it. When the norm is not finite; nothing has
    /// moved then.
    pub fn update(&mut self, gradients: &GradStore, max_norm: f64, schedule: f64) -> Result<f64> {
        let norm = self.gradient_norm(gradients)?;
        ensure!(
            norm.is_finite(),
            "the norm of the gradients is {norm}: lower the learning rates"
        );
        let clip = (max_norm / (norm + 1e-12)).min(1.0);
        self.step += 1;
        for group in &self.groups {
            for (name, variable) in &group.variables {
                let gradient = gradient(gradients, name, variable)?;
                let moments = self
                    .moments
                    .get_mut(name)
                    .context("every variable has moments")?;
                moments.absorb(gradient, clip)?;
                variable.set(&moments.moved(variable, group, schedule, self.step)?)?;
            }
        }
        Ok(norm)
    }

    /// Euclidean norm of all gradients together.
    fn gradient_norm(&self, gradients: &GradStore) -> Result<f64> {
        let mut squares = 0.0;
        for (name, variable) in self.groups.iter().flat_map(|group| &group.variables) {
            let gradient = gradient(gradients, name, variable)?;
            if fused::applies(gradient) {
                squares += update::squares(gradient)?;
                continue;
            }
            let square = gradient
                .sqr()?
                .sum_all()?
                .to_dtype(candle_core::DType::F64)?;
            squares += square.to_scalar::<f64>()?;
        }
        Ok(squares.sqrt())
    }

    /// The moments under `{name}.first` and `{name}.second`.
    #[must_use]
    pub fn save(&self) -> HashMap<String, Tensor> {
        let entries = self.moments.iter().flat_map(|(name, moments)| {
            let first = (format!("{name}.first"), moments.first.clone());
            [first, (format!("{name}.second"), moments.second.clone())]
        });
        entries.collect()
    }

    /// Takes up after `step` updates, with the moments that [`AdamW::save`] gave.
    ///
    /// # Errors
    /// When a moment is missing; the message names it.
    pub fn restore(&mut self, saved: &HashMap<String, Tensor>, step: usize) -> Result<()> {
        let find = |name: String| {
            saved
                .get(&name)
                .cloned()
                .with_context(|| format!("the optimizer's state lacks {name}"))
        };
        for (name, moments) in &mut self.moments {
            moments.first = find(format!("{name}.first"))?;
            moments.second = find(format!("{name}.second"))?;
        }
        self.step = step;
        Ok(())
    }
}

impl Moments {
    /// Takes in `gradient` times `clip`.
    fn absorb(&mut self, gradient: &Tensor, clip: f64) -> Result<()> {
        if fused::applies(gradient) {
            let clip = clip as f32;
            self.first = update::running_mean(&self.first, gradient, BETA_1, |g| clip * g)?;
            self.second =
                update::running_mean(&self.second, gradient, BETA_2, |g| (clip * g).powi(2))?;
            return Ok(());
        }
        let gradient = (gradient * clip)?;
        self.first = ((&self.first * BETA_1)? + (&gradient * (1.0 - BETA_1))?)?.detach();
        self.second = ((&self.second * BETA_2)? + (gradient.sqr()? * (1.0 - BETA_2))?)?.detach();
        Ok(())
    }

    /// The new value of `variable` after update number `step`, counted from 1.
    fn moved(&self, variable: &Var, group: &Group, schedule: f64, step: usize) -> Result<Tensor> {
        let rate = group.learning_rate * schedule;
        let exponent = i32::try_from(step)?;
        let corrections = (1.0 - BETA_1.powi(exponent), 1.0 - BETA_2.powi(exponent));
        let kept = 1.0 - rate * group.weight_decay;
        if fused::applies(variable) {
            let step = update::Step {
                kept,
                rate,
                corrections,
                epsilon: EPSILON,
            };
            return Ok(update::adam(variable, &self.first, &self.second, step)?);
        }
        let first = (&self.first / corrections.0)?;
        let second = (&self.second / corrections.1)?;
        let direction = (first / (second.sqrt()? + EPSILON)?)?;
        let kept = (variable.as_detached_tensor() * kept)?;
        Ok((kept - (direction * rate)?)?)
    }
}

fn gradient<'a>(gradients: &'a GradStore, name: &str, variable: &Var) -> Result<&'a Tensor> {
    gradients
        .get(variable)
        .with_context(|| format!("{name} got no gradient"))
}

/// Share of the peak learning rate at `step` of `steps`, counted from 0: a linear rise over
/// `warm_up` steps, then a linear fall to 0 after the last step.
#[must_use]
pub fn schedule(step: usize, warm_up: usize, steps: usize) -> f64 {
    if step < warm_up {
        return (step + 1) as f64 / warm_up as f64;
    }
    steps.saturating_sub(step) as f64 / steps.saturating_sub(warm_up).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::Device;

    fn one_variable(value: f64) -> Result<(Var, AdamW)> {
        let variable = Var::new(&[value], &Device::Cpu)?;
        let group = Group {
            learning_rate: 0.1,
            weight_decay: 0.5,
            variables: vec![("x".to_owned(), variable.clone())],
        };
        Ok((variable, AdamW::new(vec![group])?))
    }

    #[test]
    fn the_first_update_moves_by_the_learning_rate() -> Result<()> {
        let (variable, mut optimizer) = one_variable(2.0)?;
        let gradients = (variable.as_tensor() * 3.0)?.sum_all()?.backward()?;
        let norm = optimizer.update(&gradients, 1e9, 1.0)?;
        assert!((norm - 3.0).abs() < 1e-12);
        // 2 · (1 − .1 · .5) − .1 · sign(3)
        let moved = variable.to_vec1::<f64>()?[0];
        assert!((moved - 1.8).abs() < 1e-6, "{moved}");
        Ok(())
    }

    #[test]
    fn fused_updates_agree_with_composed_ones() -> Result<()> {
        let begun: Vec<f64> = (0..40_000).map(|i| (f64::from(i) * 0.37).sin()).collect();
        let moved = |dtype: candle_core::DType| -> Result<Vec<f64>> {
            let begun = Tensor::from_vec(begun.clone(), (100, 400), &Device::Cpu)?;
            let variable = Var::from_tensor(&begun.to_dtype(dtype)?)?;
            let group = Group {
                learning_rate: 0.1,
                weight_decay: 0.5,
                variables: vec![("x".to_owned(), variable.clone())],
            };
            let mut optimizer = AdamW::new(vec![group])?;
            for _ in 0..3 {
                let gradients = variable.powf(3.0)?.sum_all()?.backward()?;
                optimizer.update(&gradients, 2.0, 0.7)?;
            }
            let moved = variable.to_dtype(candle_core::DType::F64)?;
            Ok(moved.flatten_all()?.to_vec1()?)
        };
        let pairs = moved(candle_core::DType::F32)?.into_iter();
        for (fused, composed) in pairs.zip(moved(candle_core::DType::F64)?) {
            assert!((fused - composed).abs() < 1e-4, "{fused} and {composed}");
        }
        Ok(())
    }

    #[test]
    fn clipping_shortens_what_the_moments_see() -> Result<()> {
        let (variable, mut optimizer) = one_variable(2.0)?;
        let gradients = (variable.as_tensor() * 3.0)?.sum_all()?.backward()?;
        optimizer.update(&gradients, 1.0, 1.0)?;
        let first = optimizer.save()["x.first"].to_vec1::<f64>()?[0];
        assert!((first - 0.1).abs() < 1e-9, "{first}");
        Ok(())
    }

    #[test]
    fn a_variable_that_was_cut_off_is_an_error() -> Result<()> {
        let (_, mut optimizer) = one_variable(2.0)?;
        let other = Var::new(&[1.0_f64], &Device::Cpu)?;
        let gradients = other.sum_all()?.backward()?;
        let error = optimizer.update(&gradients, 1.0, 1.0).unwrap_err();
        assert_eq!(error.to_string(), "x got no gradient");
        Ok(())
    }

    #[test]
    fn the_schedule_rises_and_falls() {
        assert_eq!(schedule(0, 4, 12), 0.25);
        assert_eq!(schedule(3, 4, 12), 1.0);
        assert_eq!(schedule(4, 4, 12), 1.0);
        assert_eq!(schedule(11, 4, 12), 0.125);
        assert_eq!(schedule(12, 4, 12), 0.0);
    }
}
