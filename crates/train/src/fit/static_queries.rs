//! The query side that needs no network: a row for each word piece, and a query is the sum of its pieces' rows
//! (LightRetriever, arXiv 2505.12260). Trained together with the network, so that passages come to lie where such
//! sums point.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use candle_core::{DType, Device, Tensor, Var};

use crate::base::Base;
use crate::manifest::Manifest;
use crate::rows::read_static_rows;

/// Names of the tensors in a checkpoint.
const ROWS: &str = "static_rows";
const MEAN: &str = "query_mean";
/// Name of the rows as they began, among what the optimizer's state keeps.
const BEGUN: &str = "static_rows.begun";

/// Static rows and what they are sums around.
#[derive(Clone, Debug)]
pub struct StaticRows {
    /// `[pieces, dim]`.
    pub rows: Tensor,
    /// `[dim]`: the network's mean query vector. Sums of rows say how a query differs from it.
    pub query_mean: Tensor,
}

impl StaticRows {
    /// Those of an exported encoder.
    ///
    /// # Errors
    /// When its files cannot be read, or it has no rows for the vocabulary and width of `base`.
    pub fn of_encoder(folder: &Path, base: &Base, device: &Device) -> Result<Self> {
        let Manifest {
            dim, query_mean, ..
        } = Manifest::read(folder)?;
        let rows = read_static_rows(&folder.join("rows.safetensors"), dim)?;
        let pieces = rows.len() / dim;
        let rows = Self {
            rows: Tensor::from_vec(rows, (pieces, dim), device)?,
            query_mean: Tensor::from_vec(query_mean, dim, device)?,
        };
        rows.check(base.config.vocab_size, base.config.output_width())?;
        Ok(rows)
    }

    /// Those of a checkpoint's tensors.
    ///
    /// # Errors
    /// When one is missing.
    pub(crate) fn of_tensors(tensors: &HashMap<String, Tensor>) -> Result<Self> {
        let tensor = |name: &str| {
            let tensor = tensors.get(name).cloned();
            tensor.with_context(|| format!("the checkpoint's rows lack {name}"))
        };
        Ok(Self {
            rows: tensor(ROWS)?,
            query_mean: tensor(MEAN)?,
        })
    }

    /// As tensors of a checkpoint.
    pub(crate) fn tensors(&self) -> HashMap<String, Tensor> {
        let named = [(ROWS, &self.rows), (MEAN, &self.query_mean)];
        named
            .map(|(name, tensor)| (name.to_owned(), tensor.clone()))
            .into()
    }

    /// Refuses rows of another vocabulary or width than the network's.
    ///
    /// # Errors
    /// When they are.
    pub(crate) fn check(&self, pieces: usize, dim: usize) -> Result<()> {
        ensure!(
            self.rows.dims() == [pieces, dim] && self.query_mean.dims() == [dim],
            "the rows are {:?} for a network of {pieces} word pieces and {dim} values: take those of an encoder of \
             the same base model",
            self.rows.dims()
        );
        Ok(())
    }
}

/// Static rows that are trained.
#[derive(Debug)]
pub(crate) struct StaticQueries {
    rows: Var,
    /// `[1, dim]`.
    query_mean: Tensor,
    /// `[pieces, dim]`: where the rows began, if something holds them there.
    begun: Option<Tensor>,
}

impl StaticQueries {
    /// Variables that begin as `rows`, and are held there if `is_held`.
    pub(crate) fn new(rows: &StaticRows, is_held: bool) -> Result<Self> {
        let variable = Var::from_tensor(&rows.rows.to_dtype(DType::F32)?)?;
        let begun = is_held.then(|| variable.as_tensor().copy());
        Ok(Self {
            begun: begun.transpose()?,
            rows: variable,
            query_mean: rows.query_mean.unsqueeze(0)?,
        })
    }

    /// Moves the rows by `share` of the way towards where they began: weight decay towards the start (Li et al.,
    /// "Explicit Inductive Bias for Transfer Learning with Convolutional Networks", 2018), decoupled from the
    /// gradient as in AdamW, so that it holds rows, too, which the batch does not have.
    pub(crate) fn hold(&self, share: f64) -> Result<()> {
        if let Some(begun) = &self.begun {
            let rows = self.rows.as_detached_tensor();
            let way = ((begun - &rows)? * share)?;
            self.rows.set(&(rows + way)?)?;
        }
        Ok(())
    }

    /// What holding adds to a checkpoint.
    pub(crate) fn save(&self) -> Option<(String, Tensor)> {
        let begun = self.begun.clone();
        begun.map(|begun| (BEGUN.to_owned(), begun))
    }

    /// Goes on from what [`StaticQueries::save`] gave.
    pub(crate) fn restore(&mut self, saved: &HashMap<String, Tensor>) -> Result<()> {
        if let Some(begun) = &mut self.begun {
            let saved = saved.get(BEGUN).cloned();
            *begun = saved.with_context(|| format!("the optimizer's state lacks {BEGUN}"))?;
        }
        Ok(())
    }

    /// What the optimizer moves.
    pub(crate) fn variable(&self) -> (String, Var) {
        (ROWS.to_owned(), self.rows.clone())
    }

    /// The rows as they are now, off the tape.
    pub(crate) fn frozen(&self) -> Result<StaticRows> {
        Ok(StaticRows {
            rows: self.rows.as_detached_tensor(),
            query_mean: self.query_mean.squeeze(0)?,
        })
    }

    /// Queries of the network, `[queries, dim]`, as differences from the mean query, which sums of rows are.
    pub(crate) fn centred(&self, queries: &Tensor) -> Result<Tensor> {
        Ok(queries.broadcast_sub(&self.query_mean)?)
    }

    /// Sums of the rows of each query's different pieces, the first and the last (`[CLS]`, `[SEP]`) left out:
    /// `[queries, dim]`.
    pub(crate) fn vectors(&self, queries: &[impl AsRef<[u32]>]) -> Result<Tensor> {
        let mut pieces: Vec<u32> = Vec::new();
        let mut owners: Vec<u32> = Vec::new();
        for (owner, query) in (0u32..).zip(queries) {
            let query = query.as_ref();
            let content = query.get(1..query.len().saturating_sub(1)).unwrap_or(&[]);
            let different: BTreeSet<u32> = content.iter().copied().collect();
            owners.extend(different.iter().map(|_| owner));
            pieces.extend(different);
        }
        let device = self.rows.device();
        let count = pieces.len();
        let rows = self
            .rows
            .index_select(&Tensor::from_vec(pieces, count, device)?, 0)?;
        let sums = Tensor::zeros((queries.len(), self.rows.dim(1)?), DType::F32, device)?;
        Ok(sums.index_add(&Tensor::from_vec(owners, count, device)?, &rows, 0)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_the_sum_of_its_different_content_pieces() -> Result<()> {
        let device = Device::Cpu;
        let rows = Tensor::new(
            &[[1.0_f32, 0.0], [0.0, 1.0], [10.0, 0.0], [0.0, 10.0]],
            &device,
        )?;
        let rows = StaticRows {
            rows,
            query_mean: Tensor::new(&[0.5_f32, 0.5], &device)?,
        };
        let queries = StaticQueries::new(&rows, false)?;
        let vectors = queries.vectors(&[vec![0, 2, 3, 2, 1], vec![0, 3, 1], vec![0, 1]])?;
        assert_eq!(
            vectors.to_vec2::<f32>()?,
            [[10.0, 10.0], [0.0, 10.0], [0.0, 0.0]]
        );
        let gradient = vectors.sum_all()?.backward()?;
        let gradient = gradient.get(&queries.rows).unwrap().to_vec2::<f32>()?;
        assert_eq!(gradient, [[0.0; 2], [0.0; 2], [1.0; 2], [2.0; 2]]);
        let centred = queries.centred(&rows.rows)?.to_vec2::<f32>()?;
        assert_eq!(centred[0], [0.5, -0.5]);
        Ok(())
    }
    #[test]
    fn rows_that_are_held_go_back_to_where_they_began() -> Result<()> {
        let device = Device::Cpu;
        let rows = StaticRows {
            rows: Tensor::new(&[[1.0_f32, 2.0]], &device)?,
            query_mean: Tensor::zeros(2, DType::F32, &device)?,
        };
        for (is_held, expected) in [(true, [2.5_f32, 2.0]), (false, [3.0, 2.0])] {
            let queries = StaticQueries::new(&rows, is_held)?;
            queries
                .rows
                .set(&Tensor::new(&[[3.0_f32, 2.0]], &device)?)?;
            queries.hold(0.25)?;
            assert_eq!(queries.frozen()?.rows.to_vec2::<f32>()?, [expected]);
        }
        Ok(())
    }
}
