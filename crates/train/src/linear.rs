//! Systems of linear equations.

use rayon::prelude::*;

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
