//! Rows for pieces that training texts hold rarely or never: a linear map from a piece's own
//! sentence vector to its row, fitted by ridge regression on the pieces that training knows.

use rayon::prelude::*;

use crate::linear::Map;

/// Occurrences at which the trained row and the mapped one count equally.
const EVEN: f32 = 2.0;

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
