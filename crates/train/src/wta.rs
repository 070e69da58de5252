//! The winner-take-all layer of UHD-BERT (Jang et al. 2021, eq. 2 to 4).

use anyhow::{Result, ensure};
use candle_core::{D, DType, Device, Tensor};
use rayon::prelude::*;
use siskin_core::container::sha256_hex;

use crate::random::Random;

/// One bucket's layer: `z = E · Wᵀ + b`, of which each token keeps its `k` strongest.
#[derive(Clone, Debug)]
pub struct Head {
    /// `[n, dim]`: one row per dimension; weights that sparsity removed are 0.
    pub weight: Tensor,
    /// `[n]`.
    pub bias: Tensor,
    /// Winners kept per token.
    pub k: usize,
    /// `[n]`: logarithms of learned factors of a query's activations; absent where none were learned.
    pub log_rarity: Option<Tensor>,
    /// `[n]`: added to activations while winners are chosen; only training does that.
    pub boost: Option<Tensor>,
}

/// Activations that are computed at once to find winners: 16 MB on the CPU, 256 MB on a GPU, which wants more to do.
const MOST_ACTIVATIONS: usize = 1 << 22;
const MOST_ACTIVATIONS_ON_GPU: usize = 1 << 26;

/// What tells heads from others: SHA-256 of their weights and biases, in hex.
///
/// # Errors
/// When a head cannot be read from its device.
pub fn identity(heads: &[Head]) -> Result<String> {
    let mut bytes = Vec::new();
    for tensor in heads.iter().flat_map(|head| [&head.weight, &head.bias]) {
        let values = tensor
            .flatten_all()?
            .to_dtype(DType::F32)?
            .to_vec1::<f32>()?;
        bytes.extend((values.len() as u64).to_le_bytes());
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }
    Ok(sha256_hex(&bytes))
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

/// Winners pooled over the tokens of each text: parallel vectors, ordered by text, then dimension.
#[derive(Clone, Debug, Default)]
struct Pooled {
    /// Row of the token that activates the dimension most.
    tokens: Vec<u32>,
    dimensions: Vec<u32>,
    /// `text · n + dimension`.
    cells: Vec<u32>,
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
        Ok(Self {
            weight,
            bias,
            k,
            log_rarity: None,
            boost: None,
        })
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

    /// The winners of `tokens`: `[tokens, dim]` (eq. 3), with their activations, a boost included. No gradient
    /// flows.
    ///
    /// # Errors
    /// When `dim` differs from the head's.
    pub fn winners(&self, tokens: &Tensor) -> Result<Winners> {
        let rows = tokens.dim(0)?;
        let most = match tokens.device() {
            Device::Cpu => MOST_ACTIVATIONS,
            _ => MOST_ACTIVATIONS_ON_GPU,
        };
        let step = (most / self.n().max(1)).max(1);
        let mut all = Winners {
            k: self.k,
            ..Winners::default()
        };
        for start in (0..rows).step_by(step) {
            let part = tokens.narrow(0, start, step.min(rows - start))?;
            let part = self.winners_at_once(&part)?;
            all.dimensions.extend(part.dimensions);
            all.activations.extend(part.activations);
        }
        Ok(all)
    }

    fn winners_at_once(&self, tokens: &Tensor) -> Result<Winners> {
        let frozen = Self::new(self.weight.detach(), self.bias.detach(), self.k)?;
        let mut z = frozen.activations(&tokens.detach())?;
        if let Some(boost) = &self.boost {
            z = z.broadcast_add(&boost.detach())?;
        }
        let z = z.to_dtype(DType::F32)?;
        match z.device() {
            Device::Cpu => winners_by_selection(&z, self.k),
            _ => winners_by_maxima(&z, self.k),
        }
    }

    /// Max-pooled codes of texts (eq. 4), with gradients: `[texts, n]`, 0 where no token has the
    /// dimension among its winners.
    ///
    /// `tokens`: `[tokens, dim]`; `texts`: for each text, the rows of `tokens` that count. The
    /// winners are found off the tape and only they are computed again on it, which gives the
    /// same values and gradients as masking all of `z`.
    ///
    /// # Errors
    /// When a row is outside `tokens`.
    pub fn codes(&self, tokens: &Tensor, texts: &[Vec<u32>]) -> Result<Tensor> {
        let device = tokens.device();
        let rows: Vec<u32> = texts.concat();
        let rows = Tensor::from_vec(rows, texts.iter().map(Vec::len).sum::<usize>(), device)?;
        let winners = self.winners(&tokens.detach().index_select(&rows, 0)?)?;
        let pooled = pool(&winners, texts, self.n())?;
        let values = self.activations_at(tokens, &pooled)?;
        let cells = Tensor::new(pooled.cells, device)?;
        let codes = Tensor::zeros(texts.len() * self.n(), values.dtype(), device)?;
        Ok(codes
            .index_add(&cells, &values, 0)?
            .reshape((texts.len(), self.n()))?)
    }

    /// `z` of single (token, dimension) combinations: `[combinations]`.
    fn activations_at(&self, tokens: &Tensor, pooled: &Pooled) -> Result<Tensor> {
        let at = Tensor::new(pooled.tokens.as_slice(), tokens.device())?;
        let dimensions = Tensor::new(pooled.dimensions.as_slice(), tokens.device())?;
        let vectors = tokens.index_select(&at, 0)?;
        let weights = self.weight.index_select(&dimensions, 0)?;
        let bias = self.bias.index_select(&dimensions, 0)?;
        Ok(((vectors * weights)?.sum(D::Minus1)? + bias)?)
    }
}

/// Winners of `z`: `[tokens, n]` on the CPU.
fn winners_by_selection(z: &Tensor, k: usize) -> Result<Winners> {
    let (_, n) = z.dims2()?;
    let z = z.flatten_all()?.to_vec1::<f32>()?;
    let rows: Vec<Vec<(u32, f32)>> = z.par_chunks(n).map(|row| strongest(row, k)).collect();
    let (dimensions, activations) = rows.into_iter().flatten().unzip();
    Ok(Winners {
        k,
        dimensions,
        activations,
    })
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

/// Winners of `z`: `[tokens, n]` where it lives: `k` times the maximum, then strike it out.
/// candle's sort fails above 8,192 columns on CUDA, and moving `z` to the host is slow.
fn winners_by_maxima(z: &Tensor, k: usize) -> Result<Winners> {
    let mut rest = z.clone();
    let mut dimensions = Vec::with_capacity(k);
    let mut activations = Vec::with_capacity(k);
    for _ in 0..k {
        let best = rest.argmax_keepdim(D::Minus1)?;
        activations.push(rest.gather(&best, D::Minus1)?);
        let struck = Tensor::full(f32::NEG_INFINITY, best.shape(), z.device())?;
        rest = rest.scatter(&best, &struck, D::Minus1)?;
        dimensions.push(best);
    }
    Ok(Winners {
        k,
        dimensions: Tensor::cat(&dimensions, 1)?.flatten_all()?.to_vec1()?,
        activations: Tensor::cat(&activations, 1)?.flatten_all()?.to_vec1()?,
    })
}

/// Max-pools the winners of the rows of `texts`, which `winners` holds one after the other.
fn pool(winners: &Winners, texts: &[Vec<u32>], n: usize) -> Result<Pooled> {
    let mut pooled = Pooled::default();
    let mut found = winners
        .dimensions
        .chunks(winners.k)
        .zip(winners.activations.chunks(winners.k));
    for (text, rows) in (0_u32..).zip(texts) {
        let mut strongest: Vec<(u32, f32, u32)> = Vec::with_capacity(rows.len() * winners.k);
        for (&row, (dimensions, activations)) in rows.iter().zip(&mut found) {
            let token = dimensions.iter().zip(activations);
            strongest.extend(token.map(|(&dimension, &z)| (dimension, z, row)));
        }
        strongest.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)));
        strongest.dedup_by_key(|(dimension, ..)| *dimension);
        for (dimension, _, row) in strongest {
            pooled.tokens.push(row);
            pooled.dimensions.push(dimension);
            pooled.cells.push(text * u32::try_from(n)? + dimension);
        }
    }
    Ok(pooled)
}

/// Which weights exist: `[n, dim]` f32 of 0 and 1, where each row lacks the share `sparsity` of
/// its weights, chosen by `seed` and fixed from then on (weight sparsity of UHD-BERT).
///
/// # Errors
/// When `sparsity` is not in `[0, 1)`.
pub fn weight_mask(n: usize, dim: usize, sparsity: f64, seed: u64) -> Result<Tensor> {
    ensure!(
        (0.0..1.0).contains(&sparsity),
        "weight sparsity {sparsity} is not in [0, 1)"
    );
    let absent = (sparsity * dim as f64).round() as usize;
    let mut random = Random::new(seed, 1);
    let mut row: Vec<f32> = (0..dim)
        .map(|i| if i < absent { 0.0 } else { 1.0 })
        .collect();
    let mut mask = Vec::with_capacity(n * dim);
    for _ in 0..n {
        random.shuffle(&mut row);
        mask.extend_from_slice(&row);
    }
    Ok(Tensor::from_vec(mask, (n, dim), &Device::Cpu)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uniform(shape: &[usize], seed: u64) -> Result<Tensor> {
        let mut random = Random::new(seed, 9);
        let values: Vec<f64> = (0..shape.iter().product())
            .map(|_| random.unit() - 0.4)
            .collect();
        Ok(Tensor::from_vec(values, shape, &Device::Cpu)?)
    }

    fn head() -> Result<Head> {
        Head::new(uniform(&[32, 5], 1)?, uniform(&[32], 2)?, 3)
    }

    /// Eq. 2 to 4 as they stand: all of `z`, a mask of winners, the maximum over tokens.
    fn naive_codes(head: &Head, tokens: &Tensor, texts: &[Vec<u32>]) -> Result<Vec<Vec<f64>>> {
        let z = head.activations(tokens)?.to_vec2::<f64>()?;
        let code = |rows: &Vec<u32>| {
            let mut code = vec![0.0; head.n()];
            for &row in rows {
                let z = &z[row as usize];
                let mut order: Vec<usize> = (0..z.len()).collect();
                order.sort_by(|&a, &b| z[b].total_cmp(&z[a]));
                for &d in &order[..head.k] {
                    code[d] = f64::max(code[d], z[d]);
                }
            }
            code
        };
        Ok(texts.iter().map(code).collect())
    }

    #[test]
    fn codes_agree_with_the_equations() -> Result<()> {
        let (head, tokens) = (head()?, uniform(&[7, 5], 3)?);
        let texts = vec![vec![0, 1, 2], vec![4, 5, 6], vec![]];
        let codes = head.codes(&tokens, &texts)?.to_vec2::<f64>()?;
        let naive = naive_codes(&head, &tokens, &texts)?;
        for (code, naive) in codes.concat().into_iter().zip(naive.concat()) {
            assert!((code - naive).abs() < 1e-12, "{code} against {naive}");
        }
        Ok(())
    }

    #[test]
    fn both_ways_of_finding_winners_agree() -> Result<()> {
        let z = head()?
            .activations(&uniform(&[7, 5], 4)?)?
            .to_dtype(DType::F32)?;
        assert_eq!(winners_by_selection(&z, 3)?, winners_by_maxima(&z, 3)?);
        Ok(())
    }

    #[test]
    fn both_ways_agree_on_as_many_dimensions_as_the_paper_has() -> Result<()> {
        let z = uniform(&[3, 81_920], 5)?.to_dtype(DType::F32)?;
        let winners = winners_by_selection(&z, 80)?;
        assert_eq!(winners.dimensions.len(), 3 * 80);
        assert_eq!(winners, winners_by_maxima(&z, 80)?);
        Ok(())
    }

    #[test]
    fn winners_are_strongest_first_and_ties_go_by_dimension() {
        assert_eq!(
            strongest(&[1.0, 5.0, 5.0, 2.0], 3),
            [(1, 5.0), (2, 5.0), (3, 2.0)]
        );
    }

    #[test]
    fn a_mask_lacks_its_share_in_every_row() -> Result<()> {
        let mask = weight_mask(20, 10, 0.7, 4)?.to_vec2::<f32>()?;
        assert!(mask.iter().all(|row| row.iter().sum::<f32>() == 3.0));
        assert!(mask.windows(2).any(|rows| rows[0] != rows[1]));
        assert!(weight_mask(2, 2, 1.0, 0).is_err());
        Ok(())
    }
}
