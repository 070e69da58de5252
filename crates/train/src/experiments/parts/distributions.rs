//! How activations, lengths of codes and frequencies of dimensions are spread (UHD-BERT, figures 3, 5
//! and 6).

use std::collections::{BTreeSet, HashMap};

use anyhow::Result;
use candle_core::Tensor;

use super::super::Lab;
use super::super::codes::{Code, Coded, lengths};
use super::super::heads::Start;
use super::super::result::{Axis, Plot, Section, Series, Table};
use crate::wta::Head;

pub(super) const ACTIVATIONS_METHOD: &str = "All activations z (eq. 2) of passages' tokens, one in \
    some so that there are about 2,000, and the strongest and weakest of the winners (eq. 3), in bins of \
    half the standard deviation of all. The Gaussian head has no bias, as a layer begins that \
    nobody standardised.";
pub(super) const DENSITY_METHOD: &str = "Dimensions of whole codes by the number of content word \
    pieces of the text, all collections together. *Independent* is what would be seen if every token \
    drew its k winners at random: n (1 − (1 − k/n)^length).";
pub(super) const FREQUENCIES_METHOD: &str = "Texts that have a dimension, by its rank, all collections \
    together; the exponent is the slope of the logarithms between ranks 10 and a third of the dimensions \
    in use, at equal factors. Word pieces of the same passages are drawn for comparison.";

/// Tokens whose activations are looked at.
const TOKENS: usize = 2_000;
/// Width of a bin in standard deviations, and the first and last bin's middle.
const BIN: f64 = 0.5;
const LOWEST: f64 = -8.0;
const HIGHEST: f64 = 40.0;

pub(super) fn activations(lab: &Lab) -> Result<Vec<Section>> {
    let seed = lab.settings.seeds.first().copied().unwrap_or(1);
    let samples = lab.material.samples(lab.layer())?;
    let tokens = some_tokens(lab)?;
    let mut series = Vec::new();
    let mut rows = Vec::new();
    for start in [
        Start::WhitenedSamples,
        Start::GaussianStandardised,
        Start::Gaussian,
    ] {
        let head = start.head(&samples, lab.shape(), seed)?;
        let shape = Shape::of(&head, &tokens)?;
        rows.push(shape.row(start.name()));
        series.push(histogram(start.name(), &shape.all));
        if start == Start::WhitenedSamples {
            series.push(histogram("its strongest winner", &shape.first));
            series.push(histogram("its weakest winner", &shape.last));
        }
    }
    let plot = Plot {
        name: "activations".to_owned(),
        caption:
            "Share of activations by value; shares are of all, those outside the picture included"
                .to_owned(),
        x: Axis::linear("activation, standard deviations of all activations from their mean"),
        y: Axis::logarithmic("percent of activations in a bin of 0.5"),
        series,
    };
    let columns = [
        "head",
        "skewness",
        "excess kurtosis",
        "strongest winner, median",
        "weakest winner, median",
        "dimensions that never win, %",
        "dimensions in use (perplexity)",
    ];
    let table = Table {
        caption: "Activations and winners of the same tokens".to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        rows,
    };
    Ok(vec![Section::Plot(plot), Section::Table(table)])
}

/// About [`TOKENS`] of the passages' tokens, evenly spread: `[tokens, dim]`.
fn some_tokens(lab: &Lab) -> Result<Tensor> {
    let mut parts = Vec::new();
    let share = TOKENS / lab.material.measured.len().max(1);
    for vectors in &lab.material.measured {
        let tokens = vectors.layer(lab.layer())?.passages;
        let rows = tokens.dim(0)?;
        let step = (rows / share.max(1)).max(1);
        let at: Vec<u32> = (0..u32::try_from(rows)?).step_by(step).collect();
        let count = at.len();
        parts.push(tokens.index_select(&Tensor::from_vec(at, count, tokens.device())?, 0)?);
    }
    Ok(Tensor::cat(&parts, 0)?)
}

/// Activations in standard deviations from their mean, and how winners are spread over dimensions.
struct Shape {
    all: Vec<f64>,
    first: Vec<f64>,
    last: Vec<f64>,
    never: f64,
    perplexity: f64,
}

impl Shape {
    fn of(head: &Head, tokens: &Tensor) -> Result<Self> {
        let z = head.activations(tokens)?.flatten_all()?.to_vec1::<f32>()?;
        let count = z.len().max(1) as f64;
        let mean = z.iter().map(|&z| f64::from(z)).sum::<f64>() / count;
        let variance = z
            .iter()
            .map(|&z| (f64::from(z) - mean).powi(2))
            .sum::<f64>()
            / count;
        let scaled = |&z: &f32| (f64::from(z) - mean) / variance.sqrt();
        let winners = head.winners(tokens)?;
        let of_place = |place: usize| {
            let tokens = winners.activations.chunks(winners.k);
            tokens
                .filter_map(|token| token.get(place).map(scaled))
                .collect()
        };
        let mut wins = vec![0.0; head.n()];
        for &dimension in &winners.dimensions {
            wins[dimension as usize] += 1.0;
        }
        let total: f64 = wins.iter().sum();
        let used = wins.iter().filter(|&&wins| wins > 0.0);
        let entropy: f64 = used.map(|wins| -(wins / total) * (wins / total).ln()).sum();
        Ok(Self {
            all: z.iter().map(scaled).collect(),
            first: of_place(0),
            last: of_place(winners.k - 1),
            never: wins.iter().filter(|&&wins| wins == 0.0).count() as f64 / wins.len() as f64,
            perplexity: entropy.exp(),
        })
    }

    fn row(&self, name: &str) -> Vec<String> {
        let moment = |power: i32| {
            let powers = self.all.iter().map(|z| z.powi(power));
            powers.sum::<f64>() / self.all.len().max(1) as f64
        };
        vec![
            name.to_owned(),
            format!("{:.2}", moment(3)),
            format!("{:.2}", moment(4) - 3.0),
            format!("{:.1}", median(&self.first)),
            format!("{:.1}", median(&self.last)),
            format!("{:.1}", 100.0 * self.never),
            format!("{:.0}", self.perplexity),
        ]
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

fn histogram(name: &str, values: &[f64]) -> Series {
    let bins = ((HIGHEST - LOWEST) / BIN) as usize + 1;
    let mut counts = vec![0_usize; bins];
    for value in values {
        let bin = ((value - LOWEST) / BIN).round();
        if (0.0..bins as f64).contains(&bin) {
            counts[bin as usize] += 1;
        }
    }
    let point = |(bin, &count): (usize, &usize)| {
        let share = count as f64 / values.len().max(1) as f64;
        (LOWEST + BIN * bin as f64, 100.0 * share)
    };
    let points = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    Series {
        name: name.to_owned(),
        points: points.map(point).collect(),
    }
}

/// The reference's codes by collection.
fn reference_codes(lab: &Lab) -> Result<Vec<Coded>> {
    let seed = lab.settings.seeds.first().copied().unwrap_or(1);
    lab.reference_codes(seed)
}

pub(super) fn density(lab: &Lab) -> Result<Vec<Section>> {
    let (mut queries, mut passages) = (Bins::default(), Bins::default());
    for (coded, vectors) in reference_codes(lab)?.iter().zip(&lab.material.measured) {
        queries.add(&lengths(&vectors.texts.queries), &coded.queries);
        passages.add(&lengths(&vectors.texts.passages), &coded.passages);
    }
    let plot = Plot {
        name: "density".to_owned(),
        caption: "Dimensions of a code by the length of its text".to_owned(),
        x: Axis::logarithmic("content word pieces"),
        y: Axis::logarithmic("dimensions of the code"),
        series: vec![
            passages.series("passages"),
            queries.series("queries"),
            independent_series(lab.shape(), &[&queries, &passages]),
        ],
    };
    let columns = [
        "",
        "texts",
        "word pieces",
        "dimensions",
        "density, %",
        "of independent, %",
    ];
    let mut rows = queries.rows("queries", lab.shape());
    rows.extend(passages.rows("passages", lab.shape()));
    let table = Table {
        caption: "Means by length".to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        rows,
    };
    Ok(vec![Section::Plot(plot), Section::Table(table)])
}

/// Dimensions that `length` tokens have together if each draws `k` of `n` at random.
fn independent((n, k): (usize, usize), length: f64) -> f64 {
    let (n, k) = (n as f64, k as f64);
    n * (1.0 - (1.0 - k / n).powf(length))
}

/// [`independent`] at the mean lengths of all bins.
fn independent_series(shape: (usize, usize), bins: &[&Bins]) -> Series {
    let means = bins.iter().flat_map(|bins| bins.means());
    let mut points: Vec<(f64, f64)> = means
        .map(|(length, ..)| (length, independent(shape, length)))
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    Series {
        name: "independent".to_owned(),
        points,
    }
}

/// Texts by length: the bins' bounds grow by half.
#[derive(Default)]
struct Bins {
    /// By bin: sum of lengths, sum of sizes, count.
    sums: HashMap<i32, (f64, f64, f64)>,
}

impl Bins {
    fn add(&mut self, lengths: &[usize], codes: &[Code]) {
        for (&length, code) in lengths.iter().zip(codes) {
            let bin = (length.max(1) as f64).log(1.5).round() as i32;
            let sums = self.sums.entry(bin).or_default();
            *sums = (
                sums.0 + length as f64,
                sums.1 + code.len() as f64,
                sums.2 + 1.0,
            );
        }
    }

    /// Mean length, mean size, count; shortest first.
    fn means(&self) -> Vec<(f64, f64, f64)> {
        let mut bins: Vec<i32> = self.sums.keys().copied().collect();
        bins.sort_unstable();
        let mean = |bin: &i32| {
            let (length, size, count) = self.sums[bin];
            (length / count, size / count, count)
        };
        bins.iter().map(mean).collect()
    }

    fn series(&self, name: &str) -> Series {
        let means = self.means().into_iter();
        Series {
            name: name.to_owned(),
            points: means.map(|(length, size, _)| (length, size)).collect(),
        }
    }

    fn rows(&self, name: &str, shape: (usize, usize)) -> Vec<Vec<String>> {
        let row = |&(length, size, count): &(f64, f64, f64)| {
            vec![
                name.to_owned(),
                format!("{count}"),
                format!("{length:.1}"),
                format!("{size:.1}"),
                format!("{:.2}", 100.0 * size / shape.0 as f64),
                format!("{:.0}", 100.0 * size / independent(shape, length)),
            ]
        };
        self.means().iter().map(row).collect()
    }
}

pub(super) fn frequencies(lab: &Lab) -> Result<Vec<Section>> {
    let kinds = kinds_of_frequencies(lab)?;
    let series = |(name, found): &(String, Frequencies)| Series {
        name: name.clone(),
        points: found.curve(),
    };
    let plot = Plot {
        name: "frequencies".to_owned(),
        caption: "Texts that have a dimension, by the dimension's rank".to_owned(),
        x: Axis::logarithmic("rank of the dimension"),
        y: Axis::logarithmic("share of texts that have it"),
        series: kinds.iter().map(series).collect(),
    };
    let row = |(name, found): &(String, Frequencies)| {
        let name = [name.clone(), found.texts.to_string()];
        name.into_iter().chain(found.cells()).collect()
    };
    let columns = ["codes", "texts"].into_iter().chain(Frequencies::COLUMNS);
    let table = Table {
        caption: format!("Frequencies of the {} dimensions", lab.shape().0),
        columns: columns.map(str::to_owned).collect(),
        rows: kinds.iter().map(row).collect(),
    };
    Ok(vec![Section::Plot(plot), Section::Table(table)])
}

/// Frequencies by what is counted.
fn kinds_of_frequencies(lab: &Lab) -> Result<Vec<(String, Frequencies)>> {
    let coded = reference_codes(lab)?;
    let of = |codes: &mut dyn Iterator<Item = &Code>, most: usize| {
        let dimensions = |code: &Code| -> Vec<u32> {
            let kept = code.iter().take(most);
            kept.map(|entry| entry.dimension).collect()
        };
        Frequencies::of(codes.map(dimensions))
    };
    let passages = || coded.iter().flat_map(|coded| &coded.passages);
    let mut queries = coded.iter().flat_map(|coded| &coded.queries);
    let measured = lab.material.measured.iter();
    let texts = measured.flat_map(|vectors| &vectors.texts.passages);
    let cut = lab.settings.passage_k;
    Ok(vec![
        (
            "passages, whole".to_owned(),
            of(&mut passages(), usize::MAX),
        ),
        (
            format!("passages, {cut} dimensions"),
            of(&mut passages(), cut),
        ),
        ("queries".to_owned(), of(&mut queries, usize::MAX)),
        (
            "word pieces of passages".to_owned(),
            Frequencies::of(texts.map(|pieces| distinct_content(pieces))),
        ),
    ])
}

/// The pieces of a text without `[CLS]` and `[SEP]`, each once.
fn distinct_content(pieces: &[u32]) -> Vec<u32> {
    let content = pieces.get(1..pieces.len().max(2) - 1).unwrap_or_default();
    let distinct: BTreeSet<u32> = content.iter().copied().collect();
    distinct.into_iter().collect()
}

/// How many texts have each dimension that any has, most first.
pub(super) struct Frequencies {
    counts: Vec<usize>,
    texts: usize,
}

impl Frequencies {
    /// Names of [`Frequencies::cells`].
    pub(super) const COLUMNS: [&str; 5] = [
        "in use",
        "most frequent, % of texts",
        "median, % of texts",
        "exponent",
        "most frequent 10 % hold, % of postings",
    ];

    /// Each text gives its dimensions, each once.
    pub(super) fn of(texts: impl Iterator<Item = Vec<u32>>) -> Self {
        let mut counts: HashMap<u32, usize> = HashMap::new();
        let mut count = 0;
        for text in texts {
            count += 1;
            for dimension in text {
                *counts.entry(dimension).or_default() += 1;
            }
        }
        let mut counts: Vec<usize> = counts.into_values().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        Self {
            counts,
            texts: count,
        }
    }

    /// Ranks at equal factors, and the share of texts there.
    fn curve(&self) -> Vec<(f64, f64)> {
        let ranks = ranks_between(1, self.counts.len());
        let share = |rank: usize| self.counts[rank - 1] as f64 / self.texts.max(1) as f64;
        ranks
            .into_iter()
            .map(|rank| (rank as f64, share(rank)))
            .collect()
    }

    /// Minus the slope of the logarithms by least squares.
    fn exponent(&self) -> f64 {
        let ranks = ranks_between(10.min(self.counts.len()), self.counts.len() / 3);
        let points: Vec<(f64, f64)> = ranks
            .into_iter()
            .map(|rank| ((rank as f64).ln(), (self.counts[rank - 1] as f64).ln()))
            .collect();
        let count = points.len().max(1) as f64;
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
        let (x, y) = (mean(&|point| point.0), mean(&|point| point.1));
        let covariance = mean(&|point| (point.0 - x) * (point.1 - y));
        let variance = mean(&|point| (point.0 - x).powi(2));
        if variance > 0.0 {
            -covariance / variance
        } else {
            0.0
        }
    }

    /// What tells how even they are.
    pub(super) fn cells(&self) -> [String; 5] {
        let percent =
            |count: usize| format!("{:.2}", 100.0 * count as f64 / self.texts.max(1) as f64);
        let at = |place: usize| self.counts.get(place).copied().unwrap_or(0);
        let total: usize = self.counts.iter().sum();
        let head: usize = self.counts.iter().take(self.counts.len() / 10).sum();
        [
            self.counts.len().to_string(),
            percent(at(0)),
            percent(at(self.counts.len() / 2)),
            format!("{:.2}", self.exponent()),
            format!("{:.0}", 100.0 * head as f64 / total.max(1) as f64),
        ]
    }
}

/// Ranks from `first` to `last`, each a tenth more than the one before and one at least.
fn ranks_between(first: usize, last: usize) -> Vec<usize> {
    let mut ranks = Vec::new();
    let mut rank = first.max(1);
    while rank <= last {
        ranks.push(rank);
        rank = (rank + 1).max(rank * 11 / 10);
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_of_a_power_law_is_found() {
        let counts = (1..=3_000).map(|rank| (1e7 / f64::from(rank).powf(0.8)) as usize);
        let found = Frequencies {
            counts: counts.collect(),
            texts: 10_000_000,
        };
        assert!(
            (found.exponent() - 0.8).abs() < 0.01,
            "{}",
            found.exponent()
        );
    }

    #[test]
    fn frequencies_are_counted_by_text() {
        let found = Frequencies::of([vec![1, 2], vec![2], vec![2, 5]].into_iter());
        assert_eq!((found.counts, found.texts), (vec![3, 1, 1], 3));
    }

    #[test]
    fn bins_hold_means() {
        let entry = super::super::super::codes::Entry {
            dimension: 0,
            sum: 1.0,
            max: 1.0,
        };
        let mut bins = Bins::default();
        bins.add(&[10, 11], &[vec![entry; 4], vec![entry; 6]]);
        assert_eq!(bins.means(), [(10.5, 5.0, 2.0)]);
    }
}
