//! Rows of one site: what the encoder knows of every word piece, blended with how the site uses it.
//!
//! Static rows: `E'_v = (1 − ½w)·E_v + ½w·s·idf_v·(mean x_t over v's occurrences − mean x_t)`,
//! `w = occurrences / (occurrences + 5)`; `s` makes the two median norms equal.
//! UHD rows of pieces that occur: `p = count(v's token wins d) / (occurrences + 2)`, weight
//! `p · max(0, ln(p / p(d)))`, the 16 best. Of pieces that do not: the 16 best of ½ × the rows of
//! the 5 nearest pieces that do, 0.3 × the piece alone, 0.6 × generic text.

use crate::encoded::{PassageCodes, PieceStatistics};
use crate::ids::PieceId;
use crate::lexical::rarity;
use crate::rows::{GenericRows, UhdRow};
use crate::uhd::strongest;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Entries of a UHD row.
const ROW_ENTRIES: usize = 16;
/// Occurrences at which the site's mean has half its full say.
const HALF_TRUST_OCCURRENCES: f32 = 5.0;
/// Pieces of the site that speak for one that it does not use.
const NEIGHBOURS: usize = 5;
/// Candidates by sign bits that are compared exactly.
const NEIGHBOUR_CANDIDATES: usize = 48;

/// Counts, over all passages added, what the rows need.
#[derive(Debug, Default)]
pub struct SiteRowsBuilder {
    passages: usize,
    passages_with: HashMap<PieceId, u32>,
    /// Per bucket: tokens of a piece that win a dimension.
    wins: Vec<HashMap<(PieceId, u32), u32>>,
    tokens: u64,
}

impl SiteRowsBuilder {
    /// Counts one passage.
    pub fn add(&mut self, codes: &PassageCodes) {
        self.passages += 1;
        self.tokens += codes.pieces.len() as u64;
        for piece in codes.pieces.iter().collect::<BTreeSet<_>>() {
            *self.passages_with.entry(*piece).or_default() += 1;
        }
        self.wins
            .resize_with(self.wins.len().max(codes.winners.len()), HashMap::new);
        for (wins, winners) in self.wins.iter_mut().zip(&codes.winners) {
            for (piece, dimensions) in codes
                .pieces
                .iter()
                .zip(winners.dimensions.chunks(winners.k.max(1)))
            {
                for &dimension in dimensions {
                    *wins.entry((*piece, dimension)).or_default() += 1;
                }
            }
        }
    }

    /// Static rows of the site: `[pieces, dim]`.
    #[must_use]
    pub fn static_rows(&self, generic: &GenericRows, statistics: &PieceStatistics) -> Vec<f32> {
        let dim = generic.dim.max(1);
        let mean = statistics.mean();
        let mut rows = generic.static_rows.clone();
        let site: BTreeMap<PieceId, Vec<f32>> = statistics
            .pieces
            .iter()
            .map(|(&piece, sum)| (piece, self.site_vector(piece, sum, &mean)))
            .collect();
        let used = |piece: &PieceId| rows.get(piece.index() * dim..(piece.index() + 1) * dim);
        let generic_norm = median(site.keys().filter_map(used).map(norm).collect());
        let site_norm = median(site.values().map(|vector| norm(vector)).collect());
        let scale = generic_norm / site_norm.max(f32::MIN_POSITIVE);
        for (piece, vector) in &site {
            let occurrences = statistics.pieces[piece].occurrences as f32;
            let half_trust = 0.5 * occurrences / (occurrences + HALF_TRUST_OCCURRENCES);
            let Some(row) = rows.get_mut(piece.index() * dim..(piece.index() + 1) * dim) else {
                continue;
            };
            for (value, site) in row.iter_mut().zip(vector) {
                *value = (1.0 - half_trust) * *value + half_trust * scale * site;
            }
        }
        rows
    }

    /// A piece's centred mean vector on the site, weighted by its rarity.
    fn site_vector(
        &self,
        piece: PieceId,
        sum: &crate::encoded::PieceSum,
        mean: &[f32],
    ) -> Vec<f32> {
        let with = self.passages_with.get(&piece).copied().unwrap_or_default() as usize;
        let rarity = rarity(self.passages, with);
        let count = sum.occurrences.max(1) as f32;
        sum.sum
            .iter()
            .zip(mean)
            .map(|(sum, mean)| rarity * (sum / count - mean))
            .collect()
    }

    /// UHD rows of one bucket: one a piece.
    #[must_use]
    pub fn uhd_rows(
        &self,
        bucket: usize,
        generic: &GenericRows,
        statistics: &PieceStatistics,
    ) -> Vec<UhdRow> {
        let pieces = generic.static_rows.len() / generic.dim.max(1);
        let mut rows = vec![UhdRow::new(); pieces];
        for (piece, row) in self.counted_rows(bucket, statistics) {
            if let Some(slot) = rows.get_mut(piece.index()) {
                *slot = row;
            }
        }
        let used: Vec<PieceId> = (0..pieces as u32)
            .map(PieceId)
            .filter(|piece| !rows[piece.index()].is_empty())
            .collect();
        let mean_sum = used
            .iter()
            .map(|piece| row_sum(&rows[piece.index()]))
            .sum::<f32>()
            / used.len().max(1) as f32;
        let nearest = Nearest::new(generic, &used);
        for piece in (0..pieces as u32).map(PieceId) {
            if rows[piece.index()].is_empty() {
                let row = foreign_row(bucket, piece, generic, &nearest.of(piece), &rows, mean_sum);
                rows[piece.index()] = row;
            }
        }
        rows
    }

    fn counted_rows(
        &self,
        bucket: usize,
        statistics: &PieceStatistics,
    ) -> BTreeMap<PieceId, UhdRow> {
        let Some(wins) = self.wins.get(bucket) else {
            return BTreeMap::new();
        };
        let mut by_dimension: HashMap<u32, u64> = HashMap::new();
        for (&(_, dimension), &count) in wins {
            *by_dimension.entry(dimension).or_default() += u64::from(count);
        }
        let mut rows: BTreeMap<PieceId, UhdRow> = BTreeMap::new();
        for (&(piece, dimension), &count) in wins {
            let occurrences = statistics
                .pieces
                .get(&piece)
                .map_or(0, |sum| sum.occurrences);
            let share = count as f32 / (occurrences as f32 + 2.0);
            let expected = by_dimension[&dimension] as f32 / self.tokens.max(1) as f32;
            let weight = share * (share / expected).ln().max(0.0);
            if weight > 0.0 {
                rows.entry(piece).or_default().push((dimension, weight));
            }
        }
        rows.into_iter()
            .map(|(piece, row)| (piece, strongest(row, ROW_ENTRIES)))
            .collect()
    }
}

/// The row of a piece that the site never uses.
fn foreign_row(
    bucket: usize,
    piece: PieceId,
    generic: &GenericRows,
    nearest: &[(PieceId, f32)],
    rows: &[UhdRow],
    mean_sum: f32,
) -> UhdRow {
    let mut weights: HashMap<u32, f32> = HashMap::new();
    let mut add = |row: &[(u32, f32)], scale: f32| {
        for &(dimension, weight) in row {
            *weights.entry(dimension).or_default() += scale * weight;
        }
    };
    let total: f32 = nearest
        .iter()
        .map(|(_, similarity)| similarity.powi(4))
        .sum();
    for (neighbour, similarity) in nearest {
        add(
            &rows[neighbour.index()],
            0.5 * similarity.powi(4) / total.max(f32::MIN_POSITIVE),
        );
    }
    let of = |rows: &[Vec<UhdRow>]| {
        rows.get(bucket)
            .and_then(|rows| rows.get(piece.index()))
            .cloned()
            .unwrap_or_default()
    };
    let alone = of(&generic.alone);
    add(
        &alone,
        0.3 * mean_sum / row_sum(&alone).max(f32::MIN_POSITIVE),
    );
    add(&of(&generic.generic), 0.6);
    strongest(weights, ROW_ENTRIES)
}

fn row_sum(row: &[(u32, f32)]) -> f32 {
    row.iter().map(|(_, weight)| weight).sum()
}

/// Nearest pieces of the site by cosine of their generic static rows: candidates by sign bits,
/// the best of them compared exactly.
struct Nearest<'a> {
    generic: &'a GenericRows,
    used: &'a [PieceId],
    signs: Vec<Vec<u64>>,
}

impl<'a> Nearest<'a> {
    fn new(generic: &'a GenericRows, used: &'a [PieceId]) -> Self {
        let signs = used
            .iter()
            .map(|piece| sign_words(static_row(generic, *piece)))
            .collect();
        Self {
            generic,
            used,
            signs,
        }
    }

    fn of(&self, piece: PieceId) -> Vec<(PieceId, f32)> {
        let row = static_row(self.generic, piece);
        let signs = sign_words(row);
        let mut candidates: Vec<(u32, PieceId)> = self
            .signs
            .iter()
            .zip(self.used)
            .map(|(other, piece)| (differing_bits(&signs, other), *piece))
            .collect();
        let keep = NEIGHBOUR_CANDIDATES.min(candidates.len());
        if keep < candidates.len() {
            candidates.select_nth_unstable(keep);
        }
        let exact = candidates[..keep]
            .iter()
            .map(|(_, other)| (other.0, cosine(row, static_row(self.generic, *other))));
        let best = strongest(
            exact.filter(|(_, similarity)| *similarity > 0.0),
            NEIGHBOURS,
        );
        best.into_iter()
            .map(|(piece, similarity)| (PieceId(piece), similarity))
            .collect()
    }
}

fn static_row(generic: &GenericRows, piece: PieceId) -> &[f32] {
    generic
        .static_rows
        .get(piece.index() * generic.dim..(piece.index() + 1) * generic.dim)
        .unwrap_or_default()
}

fn sign_words(row: &[f32]) -> Vec<u64> {
    let word = |values: &[f32]| {
        values
            .iter()
            .enumerate()
            .fold(0, |word, (i, value)| word | u64::from(*value > 0.0) << i)
    };
    row.chunks(64).map(word).collect()
}

fn differing_bits(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

fn norm(vector: &[f32]) -> f32 {
    vector.iter().map(|value| value * value).sum::<f32>().sqrt()
}

/// Cosine of two vectors; 0 when either is zero.
#[must_use]
pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot: f32 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    let norms = norm(a) * norm(b);
    if norms > 0.0 { dot / norms } else { 0.0 }
}

fn median(mut values: Vec<f32>) -> f32 {
    values.sort_unstable_by(f32::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoded::{PieceSum, TokenWinners};

    fn generic() -> GenericRows {
        GenericRows {
            dim: 2,
            static_rows: vec![1.0, 0.0, 0.9, 0.1, -1.0, 0.2],
            generic: vec![vec![vec![], vec![(7, 1.0)], vec![]]],
            alone: vec![vec![vec![], vec![(8, 1.0)], vec![]]],
        }
    }

    fn site() -> (SiteRowsBuilder, PieceStatistics) {
        let mut builder = SiteRowsBuilder::default();
        for (piece, dimension) in [(0, 5), (0, 5), (2, 6), (2, 6)] {
            let winners = vec![TokenWinners {
                k: 1,
                dimensions: vec![dimension],
                activations: vec![1.0],
            }];
            builder.add(&PassageCodes {
                pieces: vec![PieceId(piece)],
                winners,
                dense: vec![],
            });
        }
        let sum = |x: f32| PieceSum {
            occurrences: 2,
            sum: vec![x, 2.0],
        };
        let pieces = [(PieceId(0), sum(4.0)), (PieceId(2), sum(-4.0))]
            .into_iter()
            .collect();
        (builder, PieceStatistics { pieces })
    }

    #[test]
    fn pieces_of_the_site_have_the_dimensions_they_win() {
        let (mut builder, statistics) = site();
        builder.tokens = 8;
        let rows = builder.uhd_rows(0, &generic(), &statistics);
        assert_eq!(rows[0], [(5, 0.5 * 2f32.ln())], "share ½, expected ¼");
        assert_eq!(rows[2][0].0, 6);
    }

    #[test]
    fn a_foreign_piece_borrows_from_its_neighbours_itself_and_generic_text() {
        let (mut builder, mut statistics) = site();
        for piece in statistics.pieces.values_mut() {
            piece.occurrences = 1;
        }
        builder.tokens = 8;
        let rows = builder.uhd_rows(0, &generic(), &statistics);
        let dimensions: BTreeSet<u32> = rows[1].iter().map(|(dimension, _)| *dimension).collect();
        assert!(
            dimensions.is_superset(&BTreeSet::from([5, 7, 8])),
            "{dimensions:?}"
        );
        assert!(
            !dimensions.contains(&6),
            "the opposite piece is no neighbour"
        );
    }

    #[test]
    fn static_rows_move_towards_the_sites_use() {
        let (builder, statistics) = site();
        let rows = builder.static_rows(&generic(), &statistics);
        assert_eq!(
            rows[2..4],
            [0.9, 0.1],
            "a piece that the site never uses keeps its row"
        );
        assert!(rows[0] > 0.0 && rows[4] < 0.0);
        assert_ne!(rows[0..2], [1.0, 0.0]);
    }
}
