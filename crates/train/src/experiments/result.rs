//! What a part found, as `data/PART.json` keeps it: tables and plots are made of this alone.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::{Deserialize, Serialize};
use siskin_core::container::sha256_hex;

use crate::files::write_whole;
use crate::statistics::{
    ByQuery, Estimate, by_collection, difference, mean, mean_of_runs, quality,
};

/// A part's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartData {
    /// Heading.
    pub title: String,
    /// Figure, table or section of UHD-BERT that it repeats; empty if the question is ours.
    pub paper: String,
    /// What was done, in Markdown.
    pub method: String,
    /// SHA-256 of what went in, in hex: the part is not run again while this stays.
    pub key: String,
    /// What was measured on.
    pub collections: Vec<Measured>,
    /// Seeds of the heads.
    pub seeds: Vec<u64>,
    /// Tables and plots in order.
    pub sections: Vec<Section>,
}

/// A collection and how much of it was used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// Its name.
    pub name: String,
    /// Queries.
    pub queries: usize,
    /// Passages that they were asked of.
    pub passages: usize,
}

/// A table or plot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Section {
    /// Rankings beside a reference.
    Rankings(Rankings),
    /// Anything else in rows.
    Table(Table),
    /// Series over two axes.
    Plot(Plot),
}

/// Rankings beside a reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rankings {
    /// What is compared.
    pub caption: String,
    /// Name of the first line, which the others are compared with.
    pub reference: String,
    /// Names of the columns that name a line.
    pub columns: Vec<String>,
    /// One a ranking.
    pub lines: Vec<Line>,
}

/// One ranking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// By column.
    pub name: Vec<String>,
    /// nDCG@10.
    pub quality: Estimate,
    /// nDCG@10 less the reference's.
    pub difference: Estimate,
    /// MRR@10.
    pub mrr: f64,
    /// nDCG@10 by seed.
    pub by_seed: Vec<f64>,
    /// nDCG@10 by collection.
    pub by_collection: Vec<f64>,
}

/// Rows of text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// Names of columns.
    pub columns: Vec<String>,
    /// Cells by row.
    pub rows: Vec<Vec<String>>,
}

/// Series over two axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plot {
    /// Name of the file, without its extension.
    pub name: String,
    /// What it shows.
    pub caption: String,
    /// Horizontal.
    pub x: Axis,
    /// Vertical.
    pub y: Axis,
    /// In the order of the legend.
    pub series: Vec<Series>,
}

/// An axis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// Quantity and unit.
    pub label: String,
    /// How values are laid out.
    pub scale: Scale,
}

/// How values are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Equal steps.
    Linear,
    /// Equal factors.
    Logarithmic,
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// In the legend.
    pub name: String,
    /// Joined by a line, in order of x.
    pub points: Vec<(f64, f64)>,
}

impl Axis {
    /// An axis of equal steps.
    #[must_use]
    pub fn linear(label: &str) -> Self {
        Self {
            label: label.to_owned(),
            scale: Scale::Linear,
        }
    }

    /// An axis of equal factors; values of 0 and less are left out.
    #[must_use]
    pub fn logarithmic(label: &str) -> Self {
        Self {
            label: label.to_owned(),
            scale: Scale::Logarithmic,
        }
    }
}

/// Rankings while they are collected: name, and the metrics of each seed.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Names of the columns that name a line.
    pub columns: Vec<&'static str>,
    /// The first is the reference.
    pub lines: Vec<(Vec<String>, Vec<ByQuery>)>,
}

impl Comparison {
    /// No line yet.
    #[must_use]
    pub fn new(columns: &[&'static str]) -> Self {
        Self {
            columns: columns.to_vec(),
            lines: Vec::new(),
        }
    }

    /// Adds the metrics of one seed to the line of that name.
    pub fn add(&mut self, name: &[&str], scores: ByQuery) {
        let name: Vec<String> = name.iter().map(|&name| name.to_owned()).collect();
        match self.lines.iter_mut().find(|(known, _)| *known == name) {
            Some((_, runs)) => runs.push(scores),
            None => self.lines.push((name, vec![scores])),
        }
    }

    /// Makes the line of that name the reference.
    #[must_use]
    pub fn with_reference(mut self, name: &[&str]) -> Self {
        let place = self.lines.iter().position(|(known, _)| known == name);
        if let Some(place) = place {
            let reference = self.lines.remove(place);
            self.lines.insert(0, reference);
        }
        self
    }

    /// The table; `seed` draws the resamples.
    #[must_use]
    pub fn rankings(&self, caption: &str, seed: u64) -> Rankings {
        let runs: Vec<ByQuery> = self
            .lines
            .iter()
            .map(|(_, runs)| mean_of_runs(runs))
            .collect();
        let reference = runs.first().cloned().unwrap_or_default();
        let line = |((name, by_seed), scores): (&(Vec<String>, Vec<ByQuery>), &ByQuery)| Line {
            name: name.clone(),
            quality: quality(scores, seed),
            difference: difference(scores, &reference, seed),
            mrr: mean(scores).mrr_at_10,
            by_seed: by_seed.iter().map(|run| mean(run).ndcg_at_10).collect(),
            by_collection: by_collection(scores),
        };
        Rankings {
            caption: caption.to_owned(),
            reference: self
                .lines
                .first()
                .map_or_else(String::new, |(name, _)| name.join(", ")),
            columns: self
                .columns
                .iter()
                .map(|&column| column.to_owned())
                .collect(),
            lines: self.lines.iter().zip(&runs).map(line).collect(),
        }
    }

    /// nDCG@10 in percent of the line of that name.
    #[must_use]
    pub fn percent(&self, name: &[&str]) -> Option<f64> {
        let (_, runs) = self.lines.iter().find(|(known, _)| known == name)?;
        Some(100.0 * mean(&mean_of_runs(runs)).ndcg_at_10)
    }
}

impl PartData {
    /// Where the part of that name is kept.
    #[must_use]
    pub fn path(out: &Path, name: &str) -> PathBuf {
        out.join("data").join(format!("{name}.json"))
    }

    /// The part as it was kept; `None` if it was not, or by another version.
    #[must_use]
    pub fn read(out: &Path, name: &str) -> Option<Self> {
        let text = std::fs::read_to_string(Self::path(out, name)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Writes the part, whole or not at all.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, out: &Path, name: &str) -> Result<()> {
        let mut text = serde_json::to_string_pretty(&rounded(serde_json::to_value(self)?))?;
        text.push('\n');
        write_whole(&Self::path(out, name), text.as_bytes())
    }

    /// First digits of the SHA-256 of tables and plots: findings name it, so that they are not read
    /// beside other figures than those they were written for.
    ///
    /// # Errors
    /// When a figure is no number.
    pub fn figures(&self) -> Result<String> {
        let text = serde_json::to_string(&rounded(serde_json::to_value(&self.sections)?))?;
        Ok(sha256_hex(text.as_bytes())[..12].to_owned())
    }
}

/// Numbers to five digits after the point: what is kept is what is shown.
fn rounded(value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::Number(number) if number.is_f64() => {
            let number = number.as_f64().unwrap_or(0.0);
            Value::from((number * 1e5).round() / 1e5)
        }
        Value::Array(values) => values.into_iter().map(rounded).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter();
            Value::Object(fields.map(|(name, value)| (name, rounded(value))).collect())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::held_out::Scores;

    fn run(gains: &[f64]) -> ByQuery {
        let of = |&ndcg_at_10: &f64| Scores {
            ndcg_at_10,
            mrr_at_10: 0.0,
        };
        vec![gains.iter().map(of).collect()]
    }

    #[test]
    fn lines_of_one_name_are_seeds_and_the_reference_comes_first() {
        let mut comparison = Comparison::new(&["k"]);
        comparison.add(&["2"], run(&[0.2, 0.4]));
        comparison.add(&["4"], run(&[0.5, 0.5]));
        comparison.add(&["2"], run(&[0.4, 0.6]));
        let rankings = comparison.with_reference(&["4"]).rankings("", 1);
        assert_eq!(rankings.reference, "4");
        assert_eq!(rankings.lines[0].difference.value, 0.0);
        let other = &rankings.lines[1];
        assert_eq!(other.by_seed.len(), 2);
        assert!((other.difference.value + 0.1).abs() < 1e-9);
    }

    #[test]
    fn a_part_comes_back_as_it_was_kept() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let part = PartData {
            title: "t".into(),
            paper: String::new(),
            method: String::new(),
            key: "k".into(),
            collections: Vec::new(),
            seeds: vec![1],
            sections: vec![Section::Plot(Plot {
                name: "p".into(),
                caption: String::new(),
                x: Axis::linear("x"),
                y: Axis::logarithmic("y"),
                series: vec![Series {
                    name: "s".into(),
                    points: vec![(1.0, 0.25)],
                }],
            })],
        };
        assert_eq!(PartData::read(folder.path(), "t"), None);
        part.write(folder.path(), "t")?;
        let read = PartData::read(folder.path(), "t");
        assert_eq!(read.as_ref(), Some(&part));
        assert_eq!(
            read.map(|read| read.figures()).transpose()?,
            Some(part.figures()?)
        );
        Ok(())
    }
}
