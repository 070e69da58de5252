//! Every variable gets a gradient, and the gradients are those of the function.

mod tiny;

use std::collections::HashMap;

use anyhow::{Context, Result};
use candle_core::{DType, Device, Tensor, Var};
use siskin_train::bert::Bert;
use siskin_train::encode::Encoded;
use siskin_train::loss::{cosines, distillation, hinge, info_nce};
use siskin_train::random::Random;
use siskin_train::tokenize::Batch;
use siskin_train::wta::Head;

/// Step of the central differences: their own error is of the order of its square.
const STEP: f64 = 1e-5;

/// Relative to the largest gradient of a variable; f64 rounding over `STEP` leaves about 1e-9.
const TOLERANCE: f64 = 1e-6;

/// The network with one head on its last layer and one on its embeddings, all of it variable.
struct Model {
    variables: HashMap<String, Var>,
}

impl Model {
    fn new() -> Result<Self> {
        let mut variables = HashMap::new();
        for (name, tensor) in tiny::weights(DType::F64)? {
            variables.insert(name, Var::from_tensor(&tensor)?);
        }
        for (j, n) in [(0, 20), (1, 12)] {
            variables.insert(format!("bucket{j}.weight"), uniform(&[n, 8], j)?);
            variables.insert(format!("bucket{j}.bias"), uniform(&[n], 10 + j)?);
        }
        Ok(Self { variables })
    }

    fn tensor(&self, name: &str) -> Result<Tensor> {
        Ok(self
            .variables
            .get(name)
            .context("no such variable")?
            .as_tensor()
            .clone())
    }

    fn head(&self, j: u64) -> Result<Head> {
        let weight = self.tensor(&format!("bucket{j}.weight"))?;
        Head::new(weight, self.tensor(&format!("bucket{j}.bias"))?, 3)
    }

    /// Relevance matrices of three pairs: by the last layer's codes and by the embeddings'.
    fn relevances(&self) -> Result<[Tensor; 2]> {
        let weights = self.variables.iter();
        let weights = weights.map(|(name, variable)| (name.clone(), variable.as_tensor().clone()));
        let bert = Bert::load(&weights.collect(), &tiny::config())?;
        let queries = encode(&bert, &[&[2, 9, 14, 3], &[2, 6, 3], &[2, 21, 5, 8, 3]])?;
        let passages = encode(
            &bert,
            &[&[2, 9, 10, 4, 3], &[2, 6, 7, 25, 13, 3], &[2, 5, 18, 3]],
        )?;
        let relevance = |j, layer| {
            let head = self.head(j)?;
            let queries = head.codes(&queries.tokens(layer)?, &queries.content)?;
            let passages = head.codes(&passages.tokens(layer)?, &passages.content)?;
            cosines(&queries, &passages)
        };
        Ok([relevance(0, 2)?, relevance(1, 0)?])
    }
}

fn encode(bert: &Bert, pieces: &[&[u32]]) -> Result<Encoded> {
    Encoded::new(
        bert,
        &Batch::new(pieces, (0..pieces.len()).collect(), &Device::Cpu)?,
    )
}

fn uniform(shape: &[usize], stream: u64) -> Result<Var> {
    let mut random = Random::new(5, stream);
    let values: Vec<f64> = (0..shape.iter().product())
        .map(|_| random.unit() - 0.3)
        .collect();
    Ok(Var::from_vec(values, shape, &Device::Cpu)?)
}

/// All losses at once, with a margin at which some of the hinge's terms are active.
fn loss(model: &Model) -> Result<Tensor> {
    let teacher = Tensor::new(
        &[[0.9, 0.3, 0.2], [0.1, 0.6, 0.5], [0.2, 0.0, 0.7]],
        &Device::Cpu,
    )?;
    let mut total = Tensor::zeros((), DType::F64, &Device::Cpu)?;
    for scores in model.relevances()? {
        total = (total + hinge(&scores, 0.15)?)?;
        total = (total + info_nce(&scores, 0.3)?)?;
        total = (total + distillation(&scores, &teacher, 0.3)?)?;
    }
    Ok(total)
}

/// The central difference of the loss at element `index` of `variable`.
fn difference(model: &Model, variable: &Var, index: usize) -> Result<f64> {
    let original = variable.as_tensor().copy()?;
    let values = original.flatten_all()?.to_vec1::<f64>()?;
    let at = |offset: f64| -> Result<f64> {
        let mut values = values.clone();
        values[index] += offset;
        variable.set(&Tensor::from_vec(values, variable.shape(), &Device::Cpu)?)?;
        Ok(loss(model)?.to_scalar()?)
    };
    let difference = (at(STEP)? - at(-STEP)?) / (2.0 * STEP);
    variable.set(&original)?;
    Ok(difference)
}

#[test]
fn every_variable_gets_a_gradient() -> Result<()> {
    let model = Model::new()?;
    let gradients = loss(&model)?.backward()?;
    assert_eq!(model.variables.len(), 5 + 2 * 16 + 4);
    for (name, variable) in &model.variables {
        let gradient = gradients
            .get(variable)
            .with_context(|| format!("{name} got none"))?;
        let largest = gradient.abs()?.flatten_all()?.max(0)?.to_scalar::<f64>()?;
        // Attention does not change when all keys move alike.
        if name.ends_with("key.bias") {
            assert!(largest < 1e-12, "{name}: {largest}");
        } else {
            assert!(largest > 1e-9, "{name}: {largest}");
        }
    }
    Ok(())
}

#[test]
fn gradients_agree_with_finite_differences() -> Result<()> {
    let model = Model::new()?;
    let gradients = loss(&model)?.backward()?;
    let mut random = Random::new(17, 0);
    for (name, variable) in &model.variables {
        let gradient = gradients
            .get(variable)
            .with_context(|| format!("{name} got none"))?;
        let gradient = gradient.flatten_all()?.to_vec1::<f64>()?;
        let scale = gradient
            .iter()
            .fold(1e-3, |largest: f64, value| largest.max(value.abs()));
        for _ in 0..6 {
            let index = random.below(gradient.len());
            let expected = difference(&model, variable, index)?;
            let error = (gradient[index] - expected).abs() / scale;
            assert!(
                error < TOLERANCE,
                "{name}[{index}]: {} and {expected}",
                gradient[index]
            );
        }
    }
    Ok(())
}
