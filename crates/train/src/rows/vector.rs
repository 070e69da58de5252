//! Small vector arithmetic shared by the trainers of rows, and their random order.

use half::f16;
use half::slice::HalfFloatSliceExt;

/// Number of partial sums in [`dot`]; enough for the compiler to use vector registers.
const LANES: usize = 16;

/// Inner product of two vectors of equal length.
pub fn dot(left: &[f32], right: &[f32]) -> f32 {
    let mut sums = [0f32; LANES];
    let (left_chunks, left_rest) = left.as_chunks::<LANES>();
    let (right_chunks, right_rest) = right.as_chunks::<LANES>();
    for (a, b) in left_chunks.iter().zip(right_chunks) {
        for ((sum, x), y) in sums.iter_mut().zip(a).zip(b) {
            *sum += x * y;
        }
    }
    let rest: f32 = left_rest.iter().zip(right_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f32>() + rest
}

/// Adds `scale · source` to `target`.
pub fn add_scaled(target: &mut [f32], scale: f32, source: &[f32]) {
    for (t, s) in target.iter_mut().zip(source) {
        *t += scale * s;
    }
}

/// Euclidean length.
pub fn norm(vector: &[f32]) -> f32 {
    dot(vector, vector).sqrt()
}

/// Scales `vector` to unit length and returns its former length; a zero vector stays zero.
pub fn normalize(vector: &mut [f32]) -> f32 {
    let length = norm(vector);
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x /= length);
    }
    length
}

/// Gradient before normalisation, given the one after it: `(g − u (u·g)) / length`, where
/// `unit` is the normalised vector and `length` its former length.
pub fn through_normalize(gradient: &[f32], unit: &[f32], length: f32) -> Vec<f32> {
    let along = dot(gradient, unit);
    let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
    gradient
        .iter()
        .zip(unit)
        .map(|(g, u)| (g - along * u) * scale)
        .collect()
}

/// Mean of the rows, each of `dim` values; zeros if there is none.
pub fn mean_row<'a>(rows: impl Iterator<Item = &'a [f32]>, dim: usize) -> Vec<f32> {
    let mut mean = vec![0f32; dim];
    let mut count = 0f32;
    for row in rows {
        add_scaled(&mut mean, 1.0, row);
        count += 1.0;
    }
    if count > 0.0 {
        mean.iter_mut().for_each(|x| *x /= count);
    }
    mean
}

/// `softmax` of `logits`, in place.
pub fn softmax(logits: &mut [f32]) {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for x in logits.iter_mut() {
        *x = (*x - largest).exp();
        sum += *x;
    }
    logits.iter_mut().for_each(|x| *x /= sum);
}

/// The 32-bit values of 16-bit ones.
pub fn widen(values: &[f16]) -> Vec<f32> {
    let mut wide = vec![0f32; values.len()];
    values.convert_to_f32_slice(&mut wide);
    wide
}

/// Adam (Kingma and Ba 2015) with its usual decay rates, for rows updated one at a time.
#[derive(Clone, Debug)]
pub struct Adam {
    dim: usize,
    first: Vec<f32>,
    second: Vec<f32>,
    /// Updates that each row has had.
    updates: Vec<i32>,
}

impl Adam {
    const FIRST_DECAY: f32 = 0.9;
    const SECOND_DECAY: f32 = 0.999;

    /// State for `rows` rows of `dim` values that are updated independently of each other: a
    /// row that gets no gradient keeps its moments.
    pub fn new(rows: usize, dim: usize) -> Self {
        let zeros = vec![0f32; rows * dim];
        Self {
            dim,
            first: zeros.clone(),
            second: zeros,
            updates: vec![0; rows],
        }
    }

    /// Moves row `row`, whose values are `values`, against `gradient`.
    pub fn update(&mut self, row: usize, values: &mut [f32], gradient: &[f32], rate: f32) {
        let range = row * self.dim..(row + 1) * self.dim;
        let (Some(first), Some(second), Some(updates)) = (
            self.first.get_mut(range.clone()),
            self.second.get_mut(range),
            self.updates.get_mut(row),
        ) else {
            return;
        };
        *updates += 1;
        let first_scale = 1.0 / (1.0 - Self::FIRST_DECAY.powi(*updates));
        let second_scale = 1.0 / (1.0 - Self::SECOND_DECAY.powi(*updates));
        for (((value, g), m), v) in values.iter_mut().zip(gradient).zip(first).zip(second) {
            *m = Self::FIRST_DECAY * *m + (1.0 - Self::FIRST_DECAY) * g;
            *v = Self::SECOND_DECAY * *v + (1.0 - Self::SECOND_DECAY) * g * g;
            *value -= rate * (*m * first_scale) / ((*v * second_scale).sqrt() + 1e-8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dot_adds_all_products() {
        let values: Vec<f32> = (0..37).map(|i| i as f32).collect();
        assert_eq!(
            dot(&values, &values),
            (0..37).map(|i| (i * i) as f32).sum::<f32>()
        );
    }

    #[test]
    fn gradient_through_normalize_agrees_with_finite_differences() {
        let vector = [0.3f32, -1.2, 0.7, 2.0];
        let outer = [0.5f32, 0.25, -0.75, 1.0];
        let value = |v: &[f32]| {
            let mut unit = v.to_vec();
            normalize(&mut unit);
            dot(&unit, &outer)
        };
        let mut unit = vector.to_vec();
        let length = normalize(&mut unit);
        let gradient = through_normalize(&outer, &unit, length);
        for (i, g) in gradient.iter().enumerate() {
            let (mut up, mut down) = (vector, vector);
            up[i] += 1e-2;
            down[i] -= 1e-2;
            let difference = (value(&up) - value(&down)) / 2e-2;
            assert!((difference - g).abs() < 1e-3, "{difference} {g}");
        }
    }

    #[test]
    fn adam_finds_the_minimum_of_a_parabola() {
        let mut adam = Adam::new(1, 1);
        let mut x = [3.0f32];
        for _ in 0..500 {
            let gradient = [2.0 * (x[0] - 1.0)];
            adam.update(0, &mut x, &gradient, 0.05);
        }
        assert!((x[0] - 1.0).abs() < 1e-2, "{x:?}");
    }
}
