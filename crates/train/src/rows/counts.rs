//! Tables of dimensions per piece: how often a piece's tokens win a dimension in running text
//! (its share times the logarithm of how much that exceeds the share of all tokens).

use std::collections::HashMap;

use super::pack::DimensionTable;

/// Entries kept per piece.
pub const GENERIC_WIDTH: usize = 16;
/// Added to a piece's occurrences, so that a piece seen once or twice claims little.
const PRIOR: f32 = 2.0;

/// Counts winners per piece and dimension.
#[derive(Clone, Debug, Default)]
pub struct WinnerCounts {
    /// `(piece, dimension)` → tokens of the piece that win the dimension.
    won: HashMap<(u32, u32), u32>,
    /// Tokens that win the dimension, whatever their piece.
    dimension: HashMap<u32, u32>,
    /// Tokens of the piece.
    occurrences: HashMap<u32, u32>,
    tokens: u64,
}

impl WinnerCounts {
    /// Counts one token of `piece` and the dimensions that it wins.
    pub fn add(&mut self, piece: u32, winners: impl IntoIterator<Item = u32>) {
        *self.occurrences.entry(piece).or_default() += 1;
        self.tokens += 1;
        for dimension in winners {
            *self.won.entry((piece, dimension)).or_default() += 1;
            *self.dimension.entry(dimension).or_default() += 1;
        }
    }

    /// The [`GENERIC_WIDTH`] dimensions of the highest score for each of `pieces` pieces, where
    /// `p = won / (occurrences + 2)` and the score is `p · max(0, ln(p / p(dimension)))`.
    pub fn table(&self, pieces: usize) -> DimensionTable {
        let mut rows: Vec<Vec<(u32, f32)>> = vec![Vec::new(); pieces];
        for ((piece, dimension), won) in &self.won {
            let weight = self.score(*piece, *dimension, *won);
            if let Some(row) = rows.get_mut(*piece as usize).filter(|_| weight > 0.0) {
                row.push((*dimension, weight));
            }
        }
        for row in &mut rows {
            row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            row.truncate(GENERIC_WIDTH);
        }
        DimensionTable {
            width: GENERIC_WIDTH,
            rows,
        }
    }

    fn score(&self, piece: u32, dimension: u32, won: u32) -> f32 {
        let count = |map: &HashMap<u32, u32>, key| map.get(&key).copied().unwrap_or(0) as f32;
        let share = won as f32 / (count(&self.occurrences, piece) + PRIOR);
        let overall = count(&self.dimension, dimension) / self.tokens.max(1) as f32;
        share * (share / overall).ln().max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_piece_wins_more_often_than_others_ranks_first() {
        let mut counts = WinnerCounts::default();
        for _ in 0..10 {
            counts.add(1, [5, 9]);
            counts.add(2, [5, 7]);
        }
        let table = counts.table(4);
        assert_eq!(table.rows[1].first().map(|(d, _)| *d), Some(9));
        let wanted = 10.0 / 12.0 * (10.0 / 12.0 / 0.5f32).ln();
        assert!((table.rows[1][0].1 - wanted).abs() < 1e-6);
        assert!(
            table.rows[1].iter().all(|(d, _)| *d != 5),
            "a dimension that all win says nothing"
        );
        assert!(table.rows[3].is_empty());
    }

    #[test]
    fn rows_are_cut() {
        let mut counts = WinnerCounts::default();
        counts.add(0, 0..40);
        (1..200).for_each(|piece| counts.add(piece, [1000]));
        assert_eq!(counts.table(1).rows[0].len(), GENERIC_WIDTH);
    }
}
