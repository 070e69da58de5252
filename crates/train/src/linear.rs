//! Systems of linear equations, and maps fitted by them.

use rayon::prelude::*;

use crate::rows::vector::add_scaled;

/// Strength of the ridge, as a part of the mean diagonal.
const RIDGE: f32 = 0.01;

/// `X` with `matrix · X = right`, for a symmetric positive definite matrix, by elimination.
pub(crate) fn solve(matrix: Vec<Vec<f32>>, right: Vec<Vec<f32>>) -> Vec<Vec<f32>> {
    let dim = matrix.len();
    let widen = |row: Vec<f32>| row.into_iter().map(f64::from);
    let mut rows: Vec<Vec<f64>> = matrix
        .into_iter()
        .zip(right)
        .map(|(m, r)| widen(m).chain(widen(r)).collect())
        .collect();
    for column in 0..dim {
        let (above, below) = rows.split_at_mut(column + 1);
        let Some(pivot) = above.last() else { continue };
        below
            .par_iter_mut()
            .for_each(|row| eliminate(row, pivot, column));
    }
    for column in (0..dim).rev() {
        let (above, below) = rows.split_at_mut(column);
        let Some(pivot) = below.first() else { continue };
        above
            .par_iter_mut()
            .for_each(|row| eliminate(row, pivot, column));
    }
    let solution = rows.iter().enumerate().map(|(i, row)| {
        let scale = row.get(i).map_or(0.0, |x| 1.0 / x);
        row.iter().skip(dim).map(|x| (x * scale) as f32).collect()
    });
    solution.collect()
}

/// Subtracts the multiple of `pivot` from `row` that clears `column`.
fn eliminate(row: &mut [f64], pivot: &[f64], column: usize) {
    let (Some(value), Some(divisor)) = (row.get(column), pivot.get(column)) else {
        return;
    };
    let factor = value / divisor;
    for (x, p) in row.iter_mut().zip(pivot).skip(column) {
        *x -= factor * p;
    }
}

/// A linear map of vectors.
pub(crate) struct Map {
    /// Row `i` is the image of unit vector `i`.
    rows: Vec<Vec<f32>>,
}

impl Map {
    /// The map that brings `inputs` (`[rows, dim]`) closest to `outputs` in squared distance,
    /// each row counting by its weight: ridge regression.
    pub(crate) fn fit(inputs: &[f32], outputs: &[f32], weights: &[f32], dim: usize) -> Self {
        let mut gram = weighted_products(inputs, inputs, weights, dim);
        let diagonal = gram.iter().enumerate().filter_map(|(i, row)| row.get(i));
        let ridge = RIDGE * diagonal.sum::<f32>() / dim as f32 + f32::MIN_POSITIVE;
        for (i, row) in gram.iter_mut().enumerate() {
            row.iter_mut().skip(i).take(1).for_each(|x| *x += ridge);
        }
        let cross = weighted_products(inputs, outputs, weights, dim);
        Self {
            rows: solve(gram, cross),
        }
    }

    /// The image of `input`.
    pub(crate) fn apply(&self, input: &[f32]) -> Vec<f32> {
        let mut image = vec![0f32; self.rows.len()];
        for (x, row) in input.iter().zip(&self.rows) {
            add_scaled(&mut image, *x, row);
        }
        image
    }
}

/// `Σ_r weight_r · left_rᵀ right_r`: `[dim, dim]`.
fn weighted_products(left: &[f32], right: &[f32], weights: &[f32], dim: usize) -> Vec<Vec<f32>> {
    let row = |i| {
        let mut sum = vec![0f32; dim];
        let factors = left.iter().skip(i).step_by(dim).zip(weights);
        for ((x, weight), row) in factors
            .zip(right.chunks(dim))
            .filter(|((_, weight), _)| **weight > 0.0)
        {
            add_scaled(&mut sum, x * weight, row);
        }
        sum
    };
    (0..dim).into_par_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elimination_solves() {
        let matrix = vec![
            vec![4.0, 1.0, 0.5],
            vec![1.0, 3.0, 0.2],
            vec![0.5, 0.2, 2.0],
        ];
        let right = vec![vec![1.0, 0.0], vec![2.0, 1.0], vec![3.0, -1.0]];
        let x = solve(matrix.clone(), right.clone());
        for (row, wanted) in matrix.iter().zip(&right) {
            for column in 0..2 {
                let value: f32 = row.iter().zip(&x).map(|(m, x)| m * x[column]).sum();
                assert!(
                    (value - wanted[column]).abs() < 1e-5,
                    "{value} {}",
                    wanted[column]
                );
            }
        }
    }
}
