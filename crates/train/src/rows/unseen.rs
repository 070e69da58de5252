//! Rows for pieces that training texts hold rarely or never: a linear map from a piece's own
//! sentence vector to its row, fitted by ridge regression on the pieces that training knows.

use rayon::prelude::*;

use super::vector::add_scaled;
use crate::linear::solve;

/// Strength of the ridge, as a part of the mean diagonal.
const RIDGE: f32 = 0.01;
/// Occurrences at which the trained row and the mapped one count equally.
const EVEN: f32 = 2.0;

/// A linear map of vectors.
struct Map {
    /// Row `i` is the image of unit vector `i`.
    rows: Vec<Vec<f32>>,
}

impl Map {
    /// The map that brings `inputs` (`[rows, dim]`) closest to `outputs` in squared distance,
    /// each row counting by its weight.
    fn fit(inputs: &[f32], outputs: &[f32], weights: &[f32], dim: usize) -> Self {
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
    fn apply(&self, input: &[f32]) -> Vec<f32> {
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

/// Where rows start before any weighting: the pieces' `own` unit vectors (`[pieces, dim]`) minus
/// `mean`.
pub fn starts(own: &[f32], mean: &[f32]) -> Vec<f32> {
    let rows = own.chunks(mean.len());
    rows.flat_map(|row| row.iter().zip(mean).map(|(x, m)| x - m))
        .collect()
}

/// Blends each trained row with the image of its start under a map fitted on all rows:
/// `(occurrences · row + 2 · image) / (occurrences + 2)`. `starts`: `[pieces, dim]`, see
/// [`starts`].
pub fn complete(rows: &mut [f32], starts: &[f32], occurrences: &[u32], dim: usize) {
    let weights: Vec<f32> = occurrences.iter().map(|count| trust(*count)).collect();
    let map = Map::fit(starts, rows, &weights, dim);
    let pieces = rows
        .par_chunks_mut(dim)
        .zip(starts.par_chunks(dim))
        .zip(&weights);
    pieces.for_each(|((row, start), trust)| {
        for (x, image) in row.iter_mut().zip(map.apply(start)) {
            *x = trust * *x + (1.0 - trust) * image;
        }
    });
}

/// Share of the trained row in the blend.
fn trust(occurrences: u32) -> f32 {
    occurrences as f32 / (occurrences as f32 + EVEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIM: usize = 4;

    fn wave(count: usize) -> Vec<f32> {
        (0..count)
            .map(|i| ((i * i) as f32 * 0.7 + i as f32).sin())
            .collect()
    }

    /// A fixed mixing of the coordinates.
    fn image(input: &[f32]) -> Vec<f32> {
        vec![
            input[1] * 2.0,
            input[0] - input[3],
            input[2] * 0.5,
            input[0] + input[1],
        ]
    }

    #[test]
    fn rows_without_occurrences_follow_the_map_of_the_others() {
        let starts = wave(60 * DIM);
        let mut rows: Vec<f32> = starts.chunks(DIM).flat_map(image).collect();
        let wanted = rows[..DIM].to_vec();
        rows[..DIM].fill(9.0);
        let mut occurrences = vec![1000; 60];
        occurrences[0] = 0;
        let untouched = rows[DIM..2 * DIM].to_vec();
        complete(&mut rows, &starts, &occurrences, DIM);
        for (x, y) in rows[..DIM].iter().zip(&wanted) {
            assert!((x - y).abs() < 0.1, "{:?} {wanted:?}", &rows[..DIM]);
        }
        for (x, y) in rows[DIM..2 * DIM].iter().zip(&untouched) {
            assert!((x - y).abs() < 1e-2);
        }
    }
}
