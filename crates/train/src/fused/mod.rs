//! Parts of training that candle composes of many passes over memory on one core, each in one pass on all cores,
//! with their gradients: [`layers`] (biases, layer norm, GELU, the softmax of attention) and [`update`] (AdamW).
//!
//! For 32-bit floats on the CPU ([`applies`]); elsewhere callers compose them of candle's own operations. Sums are
//! taken in an order that does not depend on the number of threads, so that a run can be repeated bit for bit.

pub mod layers;
pub mod update;

use candle_core::{CpuStorage, CustomOp1, CustomOp2, CustomOp3, Layout, Result, Shape, Tensor};
use rayon::prelude::*;

/// Values that one task works on, about.
const TASK: usize = 16_384;

/// Whether the operations of this module can read `tensor`.
#[must_use]
pub fn applies(tensor: &Tensor) -> bool {
    tensor.device().is_cpu() && tensor.dtype() == candle_core::DType::F32
}

/// What an operation gives: values and their shape.
type Output = Result<(CpuStorage, Shape)>;

/// A contiguous tensor of 32-bit floats that an operation reads.
#[derive(Clone, Copy)]
struct Operand<'a> {
    values: &'a [f32],
    shape: &'a Shape,
}

impl<'a> Operand<'a> {
    fn new(storage: &'a CpuStorage, layout: &'a Layout) -> Result<Self> {
        let all = storage.as_slice::<f32>()?;
        let range = layout.contiguous_offsets();
        let values = range.and_then(|(begin, end)| all.get(begin..end));
        let values = values.ok_or_else(|| error("a fused operation wants contiguous input"))?;
        let shape = layout.shape();
        Ok(Self { values, shape })
    }

    /// The last dimension.
    fn width(self) -> usize {
        self.shape.dims().last().copied().unwrap_or(1).max(1)
    }

    /// Refuses another number of values than `count`.
    fn check(self, count: usize) -> Result<Self> {
        match self.values.len() == count {
            true => Ok(self),
            false => Err(error(&format!(
                "{} values where {count} are wanted",
                self.values.len()
            ))),
        }
    }

    /// Values from `start` on.
    fn from(self, start: usize) -> &'a [f32] {
        self.values.get(start..).unwrap_or(&[])
    }

    /// `values` in this operand's shape.
    fn shaped(self, values: Vec<f32>) -> Output {
        Ok((CpuStorage::F32(values), self.shape.clone()))
    }
}

fn error(reason: &str) -> candle_core::Error {
    candle_core::Error::Msg(reason.to_owned())
}

/// An operation without a gradient of its own.
struct Plain<F>(F);

impl<F: Fn(Operand<'_>) -> Output> CustomOp1 for Plain<F> {
    fn name(&self) -> &'static str {
        "fused"
    }

    fn cpu_fwd(&self, s1: &CpuStorage, l1: &Layout) -> Output {
        (self.0)(Operand::new(s1, l1)?)
    }
}

impl<F: Fn(Operand<'_>, Operand<'_>) -> Output> CustomOp2 for Plain<F> {
    fn name(&self) -> &'static str {
        "fused"
    }

    fn cpu_fwd(&self, s1: &CpuStorage, l1: &Layout, s2: &CpuStorage, l2: &Layout) -> Output {
        (self.0)(Operand::new(s1, l1)?, Operand::new(s2, l2)?)
    }
}

impl<F: Fn(Operand<'_>, Operand<'_>, Operand<'_>) -> Output> CustomOp3 for Plain<F> {
    fn name(&self) -> &'static str {
        "fused"
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
        (self.0)(
            Operand::new(s1, l1)?,
            Operand::new(s2, l2)?,
            Operand::new(s3, l3)?,
        )
    }
}

/// `of` a contiguous tensor.
fn plain1(one: &Tensor, of: impl Fn(Operand<'_>) -> Output) -> Result<Tensor> {
    one.contiguous()?.apply_op1_no_bwd(&Plain(of))
}

/// `of` two contiguous tensors.
fn plain2(
    one: &Tensor,
    two: &Tensor,
    of: impl Fn(Operand<'_>, Operand<'_>) -> Output,
) -> Result<Tensor> {
    one.contiguous()?
        .apply_op2_no_bwd(&two.contiguous()?, &Plain(of))
}

/// `of` three contiguous tensors.
fn plain3(
    [one, two, three]: [&Tensor; 3],
    of: impl Fn(Operand<'_>, Operand<'_>, Operand<'_>) -> Output,
) -> Result<Tensor> {
    let (two, three) = (two.contiguous()?, three.contiguous()?);
    one.contiguous()?.apply_op3_no_bwd(&two, &three, &Plain(of))
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
