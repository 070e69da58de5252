//! What dimensions mean, by the terms that activate them (UHD-BERT, table 7).

use std::collections::{BTreeMap, HashMap};

use anyhow::Result;

use super::super::Lab;
use super::super::result::{Section, Table};
use crate::random::Random;
use crate::vocabulary::Vocabulary;

pub(super) const METHOD: &str = "For each dimension of the reference the word pieces of passages that \
    have it among their winners, all collections together. The share of a piece is its part of the \
    dimension's wins; a piece that begins with ## continues a word. Dimensions with fewer than 20 wins \
    are left out.";

/// Wins below which a dimension says little.
const LEAST_WINS: usize = 20;
/// Dimensions shown of each kind.
const SHOWN: usize = 8;
/// Pieces shown of a dimension.
const PIECES: usize = 6;
/// Random stream that chooses dimensions.
const CHOICE_STREAM: u64 = 7_000;

/// Wins by dimension and piece.
type Wins = BTreeMap<u32, HashMap<u32, usize>>;

pub(super) fn run(lab: &Lab) -> Result<Vec<Section>> {
    let vocabulary = Vocabulary::open(&lab.base.folder.join("tokenizer.json"))?;
    let wins = wins(lab)?;
    let mut known: Vec<(u32, Vec<(u32, usize)>)> = wins
        .iter()
        .map(|(&dimension, pieces)| (dimension, by_wins(pieces)))
        .filter(|(_, pieces)| total(pieces) >= LEAST_WINS)
        .collect();
    known.sort_by_key(|(dimension, pieces)| (std::cmp::Reverse(total(pieces)), *dimension));
    let mut rows = Vec::new();
    for (kind, chosen) in chosen(lab.settings.seed, known.len()) {
        for at in chosen {
            let (dimension, pieces) = &known[at];
            rows.push(row(kind, *dimension, pieces, &vocabulary));
        }
    }
    let columns = [
        "",
        "dimension",
        "wins",
        "distinct pieces",
        "pieces and their share, %",
    ];
    let examples = Table {
        caption: "Dimensions with most wins, and others at random".to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        rows,
    };
    Ok(vec![
        Section::Table(purity(&known)),
        Section::Table(examples),
        Section::Table(senses(&wins, &vocabulary)),
    ])
}

fn wins(lab: &Lab) -> Result<Wins> {
    let seed = lab.settings.seeds.first().copied().unwrap_or(1);
    let mut wins = Wins::new();
    let winners = lab.reference_winners(seed)?;
    for (winners, vectors) in winners.iter().zip(&lab.material.measured) {
        let texts = vectors.texts.passages.iter();
        let content =
            texts.flat_map(|pieces| pieces.get(1..pieces.len().max(2) - 1).unwrap_or(&[]));
        let tokens = winners.passages.dimensions.chunks(winners.passages.k);
        for (&piece, dimensions) in content.zip(tokens) {
            for &dimension in dimensions {
                *wins.entry(dimension).or_default().entry(piece).or_default() += 1;
            }
        }
    }
    Ok(wins)
}

/// Pieces, most wins first.
fn by_wins(pieces: &HashMap<u32, usize>) -> Vec<(u32, usize)> {
    let mut pieces: Vec<(u32, usize)> =
        pieces.iter().map(|(&piece, &wins)| (piece, wins)).collect();
    pieces.sort_by_key(|&(piece, wins)| (std::cmp::Reverse(wins), piece));
    pieces
}

fn total(pieces: &[(u32, usize)]) -> usize {
    pieces.iter().map(|(_, wins)| wins).sum()
}

/// Places of those with most wins, and of some at random of the rest.
fn chosen(seed: u64, count: usize) -> [(&'static str, Vec<usize>); 2] {
    let most: Vec<usize> = (0..SHOWN.min(count)).collect();
    let mut rest: Vec<usize> = (most.len()..count).collect();
    Random::new(seed, CHOICE_STREAM).shuffle(&mut rest);
    rest.truncate(2 * SHOWN);
    [("most wins", most), ("at random", rest)]
}

fn row(
    kind: &str,
    dimension: u32,
    pieces: &[(u32, usize)],
    vocabulary: &Vocabulary,
) -> Vec<String> {
    let all = total(pieces);
    let shown: Vec<String> = pieces
        .iter()
        .take(PIECES)
        .map(|&(piece, wins)| {
            let name = vocabulary.piece(piece).unwrap_or("?");
            format!("`{name}` {:.0}", 100.0 * wins as f64 / all.max(1) as f64)
        })
        .collect();
    vec![
        kind.to_owned(),
        dimension.to_string(),
        all.to_string(),
        pieces.len().to_string(),
        shown.join(", "),
    ]
}

/// How much of a dimension its first pieces are.
fn purity(known: &[(u32, Vec<(u32, usize)>)]) -> Table {
    let share = |most: usize| {
        let shares = known.iter().map(|(_, pieces)| {
            let first = total(&pieces[..most.min(pieces.len())]);
            first as f64 / total(pieces).max(1) as f64
        });
        let mut shares: Vec<f64> = shares.collect();
        shares.sort_by(f64::total_cmp);
        let at = |quantile: f64| {
            let place = (shares.len().saturating_sub(1) as f64 * quantile).round() as usize;
            format!("{:.0}", 100.0 * shares.get(place).copied().unwrap_or(0.0))
        };
        vec![
            most.to_string(),
            at(0.1),
            at(0.25),
            at(0.5),
            at(0.75),
            at(0.9),
        ]
    };
    let columns = ["first pieces", "10 %", "25 %", "median", "75 %", "90 %"];
    Table {
        caption: format!(
            "Share of a dimension's wins that its first pieces have, %: quantiles over {} dimensions",
            known.len()
        ),
        columns: columns.map(str::to_owned).to_vec(),
        rows: [1, 2, 5, 10].map(share).to_vec(),
    }
}

/// Frequent words, and over how many dimensions their wins are spread.
fn senses(wins: &Wins, vocabulary: &Vocabulary) -> Table {
    let mut by_piece: HashMap<u32, Vec<(u32, usize)>> = HashMap::new();
    for (&dimension, pieces) in wins {
        for (&piece, &wins) in pieces {
            by_piece.entry(piece).or_default().push((dimension, wins));
        }
    }
    let is_word = |piece: &u32| {
        let name = vocabulary.piece(*piece).unwrap_or_default();
        name.len() >= 5 && name.chars().all(char::is_alphabetic)
    };
    let mut words: Vec<(u32, Vec<(u32, usize)>)> = by_piece
        .into_iter()
        .filter(|(piece, _)| is_word(piece))
        .collect();
    words.sort_by_key(|(piece, dimensions)| (std::cmp::Reverse(total(dimensions)), *piece));
    let row = |(piece, dimensions): &(u32, Vec<(u32, usize)>)| {
        let mut wins: Vec<usize> = dimensions.iter().map(|(_, wins)| *wins).collect();
        wins.sort_unstable_by(|a, b| b.cmp(a));
        let all: usize = wins.iter().sum();
        let mut sum = 0;
        let half = wins.iter().take_while(|&&wins| {
            let before = sum;
            sum += wins;
            2 * before < all
        });
        let half = half.count();
        let name = vocabulary.piece(*piece).unwrap_or("?");
        vec![
            format!("`{name}`"),
            all.to_string(),
            wins.len().to_string(),
            half.to_string(),
        ]
    };
    let columns = ["word", "wins", "dimensions", "dimensions of half its wins"];
    Table {
        caption:
            "The most frequent words of five letters and more, and the dimensions they activate"
                .to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        rows: words.iter().take(2 * SHOWN).map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_stand_by_their_wins() {
        let pieces = HashMap::from([(7, 1), (3, 5), (4, 1)]);
        assert_eq!(by_wins(&pieces), [(3, 5), (4, 1), (7, 1)]);
    }

    #[test]
    fn a_words_half_is_counted_in_dimensions() {
        let wins = Wins::from([
            (1, HashMap::from([(9, 4)])),
            (2, HashMap::from([(9, 3)])),
            (3, HashMap::from([(9, 1)])),
        ]);
        let table = senses(&wins, &Vocabulary::of([(9, "state")]));
        assert_eq!(
            table.rows,
            [["`state`", "8", "3", "1"].map(str::to_owned).to_vec()]
        );
    }
}
