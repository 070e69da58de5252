//! The winner-take-all layer of UHD-BERT (Jang et al. 2021, eq. 2 to 4).

use anyhow::{Result, ensure};
use candle_core::{DType, Tensor};
use rayon::prelude::*;

/// One bucket's layer: `z = E · Wᵀ + b`, of which each token keeps its `k` strongest.
#[derive(Clone, Debug)]
pub struct Head {
    /// `[n, dim]`: one row per dimension; weights that sparsity removed are 0.
    pub weight: Tensor,
    /// `[n]`.
    pub bias: Tensor,
    /// Winners kept per token.
    pub k: usize,
}

/// The winners of some tokens: both vectors `[tokens, k]`, row-major, strongest first; equal
/// activations in order of dimension.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Winners {
    /// Winners kept per token.
    pub k: usize,
    /// Dimensions, each below `n`.
    pub dimensions: Vec<u32>,
    /// Their activations `z`.
    pub activations: Vec<f32>,
}

impl Head {
    /// A head of the given weights.
    ///
    /// # Errors
    /// When the shapes are not `[n, dim]` and `[n]` with `n ≥ k ≥ 1`.
    pub fn new(weight: Tensor, bias: Tensor, k: usize) -> Result<Self> {
        let (n, _) = weight.dims2()?;
        ensure!(
            bias.dims() == [n],
            "bias of {:?} for {n} dimensions",
            bias.dims()
        );
        ensure!((1..=n).contains(&k), "{k} winners of {n} dimensions");
        Ok(Self { weight, bias, k })
    }

    /// Dimensions `n`.
    #[must_use]
    pub fn n(&self) -> usize {
        self.bias.elem_count()
    }

    /// `tokens`: `[tokens, dim]`; returns `z`: `[tokens, n]` (eq. 2).
    ///
    /// # Errors
    /// When `dim` differs from the head's.
    pub fn activations(&self, tokens: &Tensor) -> Result<Tensor> {
        Ok(tokens
            .matmul(&self.weight.t()?)?
            .broadcast_add(&self.bias)?)
    }

    /// The winners of `tokens`: `[tokens, dim]` (eq. 3). No gradient flows.
    ///
    /// # Errors
    /// When `dim` differs from the head's.
    pub fn winners(&self, tokens: &Tensor) -> Result<Winners> {
        let z = self
            .activations(&tokens.detach())?
            .detach()
            .to_dtype(DType::F32)?;
        let z = z.flatten_all()?.to_vec1::<f32>()?;
        let rows: Vec<Vec<(u32, f32)>> = z
            .par_chunks(self.n())
            .map(|row| strongest(row, self.k))
            .collect();
        let (dimensions, activations) = rows.into_iter().flatten().unzip();
        Ok(Winners {
            k: self.k,
            dimensions,
            activations,
        })
    }
}

/// The `k` largest of `row` with their positions, largest first, ties in order of position.
fn strongest(row: &[f32], k: usize) -> Vec<(u32, f32)> {
    let mut best: Vec<(u32, f32)> = Vec::with_capacity(k + 1);
    for (dimension, &value) in (0_u32..).zip(row) {
        if best.len() == k && best.last().is_some_and(|last| value <= last.1) {
            continue;
        }
        let place = best.partition_point(|other| other.1 >= value);
        best.insert(place, (dimension, value));
        best.truncate(k);
    }
    best
}
