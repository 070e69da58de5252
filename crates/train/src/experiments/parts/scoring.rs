//! What of the codes counts: query k and passage k (UHD-BERT, table 4), binary and float values.

use anyhow::Result;

use super::super::Lab;
use super::super::codes::Coded;
use super::super::ranking::{Length, Rarity, Scoring, Values};
use super::super::result::{Axis, Comparison, Plot, Section, Series};

pub(super) const QUERY_K_METHOD: &str = "The reference's codes, of which queries and passages keep \
    their strongest dimensions by summed activation; nothing is computed anew but the ranking.";
pub(super) const BINARY_METHOD: &str = "The reference's codes scored in four ways of increasing \
    knowledge: the paper's count of shared dimensions (eq. 7), with rarity, with rarity and length, and \
    each with max-pooled activations (eq. 4) or summed ones instead of 1. Float codes divided by their \
    length are cosines. Passages whole, and cut to {passage_k} dimensions.";

const QUERY_KS: [usize; 6] = [4, 8, 16, 32, 64, usize::MAX];
const PASSAGE_KS: [usize; 6] = [8, 16, 32, 64, 128, usize::MAX];

pub(super) fn query_k(lab: &Lab) -> Result<Vec<Section>> {
    let mut comparison = Comparison::new(&["query k", "passage k"]);
    for coded in by_seed(lab)? {
        for query_k in QUERY_KS {
            for passage_k in PASSAGE_KS {
                let scoring = Scoring {
                    query_k,
                    ..Scoring::cut(passage_k)
                };
                let name = [named(query_k), named(passage_k)];
                comparison.add(&[&name[0], &name[1]], lab.ranked(&coded, &scoring));
            }
        }
    }
    let by_query = |passage_k: usize| Series {
        name: format!("passage k {}", named(passage_k)),
        points: points(&QUERY_KS, 128, |query_k| {
            comparison.percent(&[&named(query_k), &named(passage_k)])
        }),
    };
    let plot = Plot {
        name: "query-k".to_owned(),
        caption: "nDCG@10 by dimensions that a query's code keeps; all are drawn at 128".to_owned(),
        x: Axis::logarithmic("query k"),
        y: Axis::linear("nDCG@10"),
        series: PASSAGE_KS.map(by_query).to_vec(),
    };
    let reference = comparison.with_reference(&["all", &named(lab.settings.passage_k)]);
    let caption = "nDCG@10 by dimensions kept";
    Ok(vec![
        Section::Plot(plot),
        Section::Rankings(reference.rankings(caption, lab.settings.seed)),
    ])
}

fn points(all: &[usize], drawn: usize, y: impl Fn(usize) -> Option<f64>) -> Vec<(f64, f64)> {
    let point = |&k: &usize| Some((k.min(drawn) as f64, y(k)?));
    all.iter().filter_map(point).collect()
}

fn named(k: usize) -> String {
    match k {
        usize::MAX => "all".to_owned(),
        k => k.to_string(),
    }
}

/// The reference's codes by seed and collection.
fn by_seed(lab: &Lab) -> Result<Vec<Vec<Coded>>> {
    let of = |&seed: &u64| lab.reference_codes(seed);
    lab.settings.seeds.iter().map(of).collect()
}

pub(super) fn binary_float(lab: &Lab) -> Result<Vec<Section>> {
    let mut comparison = Comparison::new(&["passages", "weights", "values"]);
    for coded in by_seed(lab)? {
        for passage_k in [lab.settings.passage_k, usize::MAX] {
            for (weights, rarity, length) in WEIGHTS {
                for (name, values) in VALUES {
                    let scoring = Scoring {
                        query_k: usize::MAX,
                        passage_k,
                        values,
                        rarity,
                        length,
                    };
                    let name = [named(passage_k), weights.to_owned(), name.to_owned()];
                    let name = [name[0].as_str(), name[1].as_str(), name[2].as_str()];
                    comparison.add(&name, lab.ranked(&coded, &scoring));
                }
            }
        }
    }
    comparison.add(&["–", "dense vectors", "cosine"], lab.dense()?);
    let cut = named(lab.settings.passage_k);
    let reference = comparison.with_reference(&[&cut, "rarity, length", "binary"]);
    let caption = "Ways to score the same codes, and the dense vectors that they stand for";
    Ok(vec![Section::Rankings(
        reference.rankings(caption, lab.settings.seed),
    )])
}

const WEIGHTS: [(&str, Rarity, Length); 4] = [
    ("none (eq. 7)", Rarity::Ignored, Length::Ignored),
    ("rarity", Rarity::Counts, Length::Ignored),
    ("length", Rarity::Ignored, Length::Divides),
    ("rarity, length", Rarity::Counts, Length::Divides),
];
const VALUES: [(&str, Values); 3] = [
    ("binary", Values::Binary),
    ("max (eq. 4)", Values::Max),
    ("sum", Values::Sum),
];
