//! Rows of one site: what the encoder knows of every word piece, blended with how the site uses it.
//!
//! Static rows: `E'_v = (1 − ½w)·E_v + ½w·s·idf_v·(mean vector of the passages that have v − mean
//! passage vector)`, `w = occurrences / (occurrences + 5)`; `s` makes the two median norms equal.
//! UHD rows of pieces that occur: `p = count(v's token wins d) / (occurrences + 2)`, weight
//! `p · max(0, ln(p / p(d)))`, the 16 best. Of pieces that do not: the 16 best of ½ × the rows of
//! the 5 nearest pieces that do, 0.3 × the piece alone, 0.6 × generic text.

use crate::encoded::PassageCodes;
use crate::fusion::ROUNDING;
use crate::ids::PieceId;
use crate::impact::rarity;
use crate::rows::{self, GenericRows, UhdRow};
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
    pieces: BTreeMap<PieceId, PieceCounts>,
    /// Per bucket: tokens of a piece that win a dimension.
    wins: Vec<HashMap<(PieceId, u32), u32>>,
    passages: usize,
    tokens: u64,
    /// Sum of all passage vectors: `[dim]`.
    sum: Vec<f64>,
}

/// How a site uses one piece.
#[derive(Clone, Debug, Default)]
struct PieceCounts {
    occurrences: u32,
    passages: u32,
    /// Sum of the vectors of the passages that have it: `[dim]`.
    sum: Vec<f32>,
}

impl SiteRowsBuilder {
    /// Counts one passage.
    pub fn add(&mut self, codes: &PassageCodes) {
        self.passages += 1;
        self.tokens += codes.pieces.len() as u64;
        self.sum.resize(codes.dense.len(), 0.0);
        for (sum, value) in self.sum.iter_mut().zip(&codes.dense) {
            *sum += f64::from(*value);
        }
        for piece in &codes.pieces {
            self.pieces.entry(*piece).or_default().occurrences += 1;
        }
        for piece in codes.pieces.iter().collect::<BTreeSet<_>>() {
            let counts = self.pieces.entry(*piece).or_default();
            counts.passages += 1;
            counts.sum.resize(codes.dense.len(), 0.0);
            for (sum, value) in counts.sum.iter_mut().zip(&codes.dense) {
                *sum += value;
            }
        }
        self.add_wins(codes);
    }

    fn add_wins(&mut self, codes: &PassageCodes) {
        self.wins
            .resize_with(self.wins.len().max(codes.winners.len()), HashMap::new);
        for (wins, winners) in self.wins.iter_mut().zip(&codes.winners) {
            let tokens = winners.dimensions.chunks(winners.k.max(1));
            for (piece, dimensions) in codes.pieces.iter().zip(tokens) {
                for &dimension in dimensions {
                    *wins.entry((*piece, dimension)).or_default() += 1;
                }
            }
        }
    }

    /// Mean of all passage vectors: `[dim]`.
    #[must_use]
    pub fn mean(&self) -> Vec<f32> {
        let passages = self.passages.max(1) as f64;
        self.sum.iter().map(|sum| (sum / passages) as f32).collect()
    }

    /// Static rows of the site, as they are stored: `[pieces, dim]`.
    #[must_use]
    pub fn static_rows(&self, generic: &GenericRows) -> Vec<f32> {
        let dim = generic.dim.max(1);
        let mean = self.mean();
        let mut rows = generic.static_rows.clone();
        let site: BTreeMap<PieceId, Vec<f32>> = self
            .pieces
            .iter()
            .map(|(&piece, counts)| (piece, self.site_vector(counts, &mean)))
            .collect();
        let used = |piece: &PieceId| rows.get(piece.index() * dim..(piece.index() + 1) * dim);
        let generic_norm = median(site.keys().filter_map(used).map(norm).collect());
        let site_norm = median(site.values().map(|vector| norm(vector)).collect());
        let scale = if site_norm > ROUNDING {
            generic_norm / site_norm
        } else {
            0.0
        };
        for (piece, vector) in &site {
            let occurrences = self.pieces[piece].occurrences as f32;
            let half_trust = 0.5 * occurrences / (occurrences + HALF_TRUST_OCCURRENCES);
            let Some(row) = rows.get_mut(piece.index() * dim..(piece.index() + 1) * dim) else {
                continue;
            };
            for (value, site) in row.iter_mut().zip(vector) {
                *value = (1.0 - half_trust) * *value + half_trust * scale * site;
            }
        }
        rows.chunks(dim).flat_map(rows::quantized).collect()
    }

    /// The centred mean vector of the passages that have a piece, weighted by its rarity.
    fn site_vector(&self, counts: &PieceCounts, mean: &[f32]) -> Vec<f32> {
        let rarity = rarity(self.passages, counts.passages as usize);
        let passages = counts.passages.max(1) as f32;
        let values = counts.sum.iter().zip(mean);
        values
            .map(|(sum, mean)| rarity * (sum / passages - mean))
            .collect()
    }

    /// UHD rows of one bucket: one a piece.
    #[must_use]
    pub fn uhd_rows(&self, bucket: usize, generic: &GenericRows) -> Vec<UhdRow> {
        let pieces = generic.static_rows.len() / generic.dim.max(1);
        let mut rows = vec![UhdRow::new(); pieces];
        for (piece, row) in self.counted_rows(bucket) {
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
        let row_of = |piece: &PieceId| static_row(generic, *piece).to_vec();
        let nearest = Nearest::new(used.iter().map(row_of).collect());
        let foreign = crate::parallel::map(pieces, |piece| {
            let piece = PieceId(piece as u32);
            if !rows[piece.index()].is_empty() {
                return UhdRow::new();
            }
            let near = nearest.of(static_row(generic, piece), NEIGHBOURS);
            let near: Vec<_> = near
                .into_iter()
                .map(|(at, cosine)| (used[at], cosine))
                .collect();
            foreign_row(bucket, piece, generic, &near, &rows, mean_sum)
        });
        for (row, foreign) in rows.iter_mut().zip(foreign) {
            if row.is_empty() {
                *row = foreign;
            }
        }
        rows
    }

    fn counted_rows(&self, bucket: usize) -> BTreeMap<PieceId, UhdRow> {
        let Some(wins) = self.wins.get(bucket) else {
            return BTreeMap::new();
        };
        let mut by_dimension: HashMap<u32, u64> = HashMap::new();
        for (&(_, dimension), &count) in wins {
            *by_dimension.entry(dimension).or_default() += u64::from(count);
        }
        let mut rows: BTreeMap<PieceId, UhdRow> = BTreeMap::new();
        for (&(piece, dimension), &count) in wins {
            let occurrences = self
                .pieces
                .get(&piece)
                .map_or(0, |counts| counts.occurrences);
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

/// Nearest rows by cosine: candidates by sign bits, the best of them compared exactly.
pub(crate) struct Nearest {
    rows: Vec<Vec<f32>>,
    signs: Vec<Vec<u64>>,
}

impl Nearest {
    pub(crate) fn new(rows: Vec<Vec<f32>>) -> Self {
        let signs = rows.iter().map(|row| sign_words(row)).collect();
        Self { rows, signs }
    }

    /// The row at `place`.
    pub(crate) fn row(&self, place: usize) -> &[f32] {
        &self.rows[place]
    }

    /// The `count` nearest rows with their cosine, if above 0; nearest first.
    pub(crate) fn of(&self, row: &[f32], count: usize) -> Vec<(usize, f32)> {
        let signs = sign_words(row);
        let others = self.signs.iter().zip(0u32..);
        let mut candidates: Vec<(u32, u32)> = others
            .map(|(other, at)| (differing_bits(&signs, other), at))
            .collect();
        let keep = NEIGHBOUR_CANDIDATES.min(candidates.len());
        if keep < candidates.len() {
            candidates.select_nth_unstable(keep);
        }
        let exact = candidates[..keep]
            .iter()
            .map(|&(_, at)| (at, cosine(row, &self.rows[at as usize])));
        let near = strongest(exact.filter(|(_, similarity)| *similarity > 0.0), count);
        near.into_iter()
            .map(|(at, similarity)| (at as usize, similarity))
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
    use crate::encoded::TokenWinners;

    fn generic() -> GenericRows {
        GenericRows {
            dim: 2,
            static_rows: vec![1.0, 0.0, 0.9, 0.1, -1.0, 0.2],
            generic: vec![vec![vec![], vec![(7, 1.0)], vec![]]],
            alone: vec![vec![vec![], vec![(8, 1.0)], vec![]]],
            words: BTreeMap::new(),
            synonyms: BTreeMap::new(),
        }
    }

    fn site() -> SiteRowsBuilder {
        let mut builder = SiteRowsBuilder::default();
        for (piece, dimension, x) in [(0, 5, 4.0), (0, 5, 4.0), (2, 6, -4.0), (2, 6, -4.0)] {
            let winners = vec![TokenWinners {
                k: 1,
                dimensions: vec![dimension],
                activations: vec![1.0],
            }];
            builder.add(&PassageCodes {
                pieces: vec![PieceId(piece)],
                winners,
                dense: vec![x, 2.0],
                ..PassageCodes::default()
            });
        }
        builder
    }

    #[test]
    fn pieces_of_the_site_have_the_dimensions_they_win() {
        let mut builder = site();
        builder.tokens = 8;
        let rows = builder.uhd_rows(0, &generic());
        assert_eq!(rows[0], [(5, 0.5 * 2f32.ln())], "share ½, expected ¼");
        assert_eq!(rows[2][0].0, 6);
    }

    #[test]
    fn a_foreign_piece_borrows_from_its_neighbours_itself_and_generic_text() {
        let mut builder = site();
        for piece in builder.pieces.values_mut() {
            piece.occurrences = 1;
        }
        builder.tokens = 8;
        let rows = builder.uhd_rows(0, &generic());
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
        let rows = site().static_rows(&generic());
        let foreign = rows::quantized(&[0.9, 0.1]);
        assert_eq!(
            rows[2..4],
            foreign,
            "a piece that the site never uses keeps its row"
        );
        assert!(rows[0] > 0.0 && rows[4] < 0.0);
        assert_eq!(site().mean(), [0.0, 2.0]);
    }
}
