//! Weight matrices as graph constants, in full or quantized.

use anyhow::Result;
use candle_core::{DType, Tensor};
use serde::{Deserialize, Serialize};

use super::graph::{Graph, int, to_float};

/// How weight matrices and the embedding table are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Quantization {
    /// 32-bit floats.
    F32,
    /// 8-bit integers with one 32-bit scale per output unit (per row of the embedding table);
    /// vectors and biases stay 32-bit floats.
    Int8,
}

/// Rows of a matrix as 8-bit integers: `value = integers[row][column] · scales[row]`.
struct Int8Rows {
    integers: Vec<i8>,
    scales: Vec<f32>,
}

/// Most outputs of one quantized product. Tract folds a DequantizeLinear into a constant only if
/// that takes less than 4 MiB, and would otherwise repeat it at every run.
const MAX_INT8_ELEMENTS: usize = 768 * 1024;

impl Graph {
    /// `input · weightᵀ + bias` with `weight`: `[outputs, inputs]` and `bias`: `[outputs]`.
    pub fn linear(
        &mut self,
        name: &str,
        input: &str,
        (weight, bias): (&Tensor, &Tensor),
        quantization: Quantization,
    ) -> Result<String> {
        let product = match quantization {
            Quantization::F32 => self.product(name, input, weight)?,
            Quantization::Int8 => self.int8_product(name, input, weight)?,
        };
        let bias = self.vector(&format!("{name}.bias"), bias)?;
        Ok(self.node("Add", name, &[&product, &bias]))
    }

    /// Rows of `table` (`[rows, dim]`) at the integers `ids`.
    pub fn embedding(
        &mut self,
        name: &str,
        table: &Tensor,
        ids: &str,
        quantization: Quantization,
    ) -> Result<String> {
        let (rows, dim) = table.dims2()?;
        if quantization == Quantization::F32 {
            let table = self.floats(&format!("{name}.table"), &[rows, dim], &values(table)?);
            return Ok(self.node("Gather", name, &[&table, ids]));
        }
        let Int8Rows { integers, scales } = int8_rows(table)?;
        let table = self.int8s(&format!("{name}.table"), &[rows, dim], &integers);
        let scales = self.floats(&format!("{name}.scales"), &[rows, 1], &scales);
        let integers = self.node("Gather", &format!("{name}.integers"), &[&table, ids]);
        let cast = format!("{name}.cast");
        let row = self.node_with("Cast", &cast, &[&integers], vec![to_float()]);
        let scale = self.node("Gather", &format!("{name}.scale"), &[&scales, ids]);
        Ok(self.node("Mul", name, &[&row, &scale]))
    }

    /// A one-dimensional constant.
    pub fn vector(&mut self, name: &str, vector: &Tensor) -> Result<String> {
        Ok(self.floats(name, &[vector.elem_count()], &values(vector)?))
    }

    /// `input · weightᵀ`.
    fn product(&mut self, name: &str, input: &str, weight: &Tensor) -> Result<String> {
        let (outputs, inputs) = weight.dims2()?;
        let weight = values(&weight.t()?)?;
        let weight = self.floats(&format!("{name}.weight"), &[inputs, outputs], &weight);
        Ok(self.node("MatMul", &format!("{name}.product"), &[input, &weight]))
    }

    /// `input · weightᵀ` with an 8-bit weight, in blocks of at most [`MAX_INT8_ELEMENTS`].
    fn int8_product(&mut self, name: &str, input: &str, weight: &Tensor) -> Result<String> {
        let (outputs, inputs) = weight.dims2()?;
        let step = (MAX_INT8_ELEMENTS / inputs).max(1);
        if outputs <= step {
            return self.int8_block(&format!("{name}.product"), input, weight);
        }
        let mut blocks = Vec::new();
        for start in (0..outputs).step_by(step) {
            let block = weight.narrow(0, start, step.min(outputs - start))?;
            blocks.push(self.int8_block(&format!("{name}.product_{start}"), input, &block)?);
        }
        let blocks: Vec<&str> = blocks.iter().map(String::as_str).collect();
        let product = format!("{name}.product");
        Ok(self.node_with("Concat", &product, &blocks, vec![int("axis", -1)]))
    }

    fn int8_block(&mut self, name: &str, input: &str, weight: &Tensor) -> Result<String> {
        let (outputs, inputs) = weight.dims2()?;
        let Int8Rows { integers, scales } = int8_rows(weight)?;
        let transposed = transpose(&integers, inputs);
        let integers = self.int8s(&format!("{name}.int8"), &[inputs, outputs], &transposed);
        let scales = self.floats(&format!("{name}.scales"), &[outputs], &scales);
        let weight = self.node_with(
            "DequantizeLinear",
            &format!("{name}.weight"),
            &[&integers, &scales],
            vec![int("axis", 1)],
        );
        Ok(self.node("MatMul", name, &[input, &weight]))
    }
}

/// The values of `tensor`, row-major, as f32.
pub fn values(tensor: &Tensor) -> Result<Vec<f32>> {
    Ok(tensor
        .to_dtype(DType::F32)?
        .flatten_all()?
        .to_vec1::<f32>()?)
}

/// Rounds each row to integers of −127 to 127 with a scale of its own.
fn int8_rows(matrix: &Tensor) -> Result<Int8Rows> {
    let (rows, columns) = matrix.dims2()?;
    let mut integers = Vec::with_capacity(rows * columns);
    let mut scales = Vec::with_capacity(rows);
    for row in values(matrix)?.chunks(columns) {
        let largest = row.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
        let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
        integers.extend(row.iter().map(|x| (x / scale).round() as i8));
        scales.push(scale);
    }
    Ok(Int8Rows { integers, scales })
}

/// `[rows, columns]` to `[columns, rows]`.
fn transpose(matrix: &[i8], columns: usize) -> Vec<i8> {
    let column = |column: usize| matrix.iter().skip(column).step_by(columns);
    (0..columns).flat_map(column).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::Device;

    #[test]
    fn rounding_stays_within_half_a_step_and_zero_rows_stay_zero() {
        let values: Vec<f32> = (0..12).map(|i| (i as f32 * 1.7).sin()).collect();
        let mut rows = values.clone();
        rows.extend([0.0; 4]);
        let matrix = Tensor::from_vec(rows, (4, 4), &Device::Cpu).unwrap();
        let Int8Rows { integers, scales } = int8_rows(&matrix).unwrap();
        for (i, value) in values.iter().enumerate() {
            let scale = scales[i / 4];
            let error = (f32::from(integers[i]) * scale - value).abs();
            assert!(
                error <= scale * 0.5001,
                "{value} is off by {error}, step {scale}"
            );
        }
        assert_eq!(integers[12..], [0; 4]);
        assert!(integers.iter().any(|&x| x == 127 || x == -127));
    }

    #[test]
    fn transpose_swaps_axes() {
        assert_eq!(transpose(&[1, 2, 3, 4, 5, 6], 3), [1, 4, 2, 5, 3, 6]);
    }
}
