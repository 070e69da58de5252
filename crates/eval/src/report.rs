//! What an evaluation prints: JSON for programs, an aligned table for people.

use std::fmt::Write;

use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};

use crate::metrics::Metrics;
use crate::significance::{Difference, paired_bootstrap};

/// One system's results.
#[derive(Clone, Debug, PartialEq)]
pub struct System {
    /// A query mode (`words`, `table`, `full`) or a baseline (`bm25`, `dense`, `hybrid`).
    pub name: String,
    /// Per query, in the order of the data set.
    pub per_query: Vec<Metrics>,
}

impl System {
    /// Means over all queries.
    #[must_use]
    pub fn mean(&self) -> Metrics {
        Metrics::mean(&self.per_query)
    }

    /// nDCG@10 of each query.
    #[must_use]
    pub fn ndcg_values(&self) -> Vec<f64> {
        self.per_query
            .iter()
            .map(|metrics| metrics.ndcg_at_10)
            .collect()
    }

    /// By how much this system's nDCG@10 is above `other`'s; `None` if they answered other
    /// queries.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<Difference> {
        paired_bootstrap(&self.ndcg_values(), &other.ndcg_values())
    }
}

/// Results of several systems on the same queries.
///
/// As JSON: `{"dataset", "split", "queries", "systems": {NAME: {"ndcg@10", "mrr@10", "recall@10",
/// "recall@100", "map", "r_precision"}}}`, systems in the order of `systems`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Name of the collection.
    pub dataset: String,
    /// Name of the split.
    pub split: String,
    /// How many queries were asked.
    pub queries: usize,
    /// In the order in which they were asked for.
    pub systems: Vec<System>,
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut report = serializer.serialize_struct("Report", 4)?;
        report.serialize_field("dataset", &self.dataset)?;
        report.serialize_field("split", &self.split)?;
        report.serialize_field("queries", &self.queries)?;
        report.serialize_field("systems", &ByName(&self.systems))?;
        report.end()
    }
}

struct ByName<'a>(&'a [System]);

impl Serialize for ByName<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for system in self.0 {
            map.serialize_entry(&system.name, &system.mean())?;
        }
        map.end()
    }
}

impl Report {
    /// The report as a table of points (hundredths), a system a line; the last column is the
    /// difference in nDCG@10 to `hybrid`, or the last system where it is not among them, with its
    /// 95 % interval.
    #[must_use]
    pub fn table(&self) -> String {
        let mut table = format!(
            "{} {}: {} queries\n",
            self.dataset, self.split, self.queries
        );
        let reference = self.reference();
        let width = name_width(&self.systems);
        table.push_str(&header(reference, width));
        for system in &self.systems {
            table.push_str(&row(system, reference, width));
        }
        table
    }

    /// What the others are compared with: what people build today, if it was asked, or the last.
    fn reference(&self) -> Option<&System> {
        let [_, .., last] = self.systems.as_slice() else {
            return None;
        };
        let hybrid = self.systems.iter().find(|system| system.name == "hybrid");
        hybrid.or(Some(last))
    }
}

fn name_width(systems: &[System]) -> usize {
    systems
        .iter()
        .map(|system| system.name.chars().count())
        .max()
        .unwrap_or(0)
}

fn header(reference: Option<&System>, width: usize) -> String {
    let mut line = " ".repeat(width);
    for (name, _) in Metrics::default().columns() {
        let _ = write!(line, "  {name:>11}");
    }
    if let Some(reference) = reference {
        let _ = write!(line, "  ndcg@10 against {}", reference.name);
    }
    line.push('\n');
    line
}

fn row(system: &System, reference: Option<&System>, width: usize) -> String {
    let mut line = format!("{:width$}", system.name);
    for (_, value) in system.mean().columns() {
        let _ = write!(line, "  {:>11.1}", 100.0 * value);
    }
    let other = reference.filter(|reference| reference.name != system.name);
    if let Some(found) = other.and_then(|other| system.difference(other)) {
        let points = [found.mean, found.low, found.high].map(|value| 100.0 * value);
        let _ = write!(
            line,
            "  {:+.1} [{:+.1}, {:+.1}]",
            points[0], points[1], points[2]
        );
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let found = Metrics {
            ndcg_at_10: 1.0,
            mrr_at_10: 0.5,
            ..Metrics::default()
        };
        let system = |name: &str, per_query| System {
            name: name.to_owned(),
            per_query,
        };
        Report {
            dataset: "set".to_owned(),
            split: "dev".to_owned(),
            queries: 2,
            systems: vec![
                system("table", vec![found, found]),
                system("bm25", vec![found, Metrics::default()]),
            ],
        }
    }

    #[test]
    fn json_has_the_documented_form() {
        let expected = concat!(
            r#"{"dataset":"set","split":"dev","queries":2,"systems":{"table":{"ndcg@10":1.0,"#,
            r#""mrr@10":0.5,"recall@10":0.0,"recall@100":0.0,"map":0.0,"r_precision":0.0},"#,
            r#""bm25":{"ndcg@10":0.5,"mrr@10":0.25,"recall@10":0.0,"recall@100":0.0,"map":0.0,"#,
            r#""r_precision":0.0}}}"#,
        );
        assert_eq!(serde_json::to_string(&report()).unwrap(), expected);
    }

    #[test]
    fn the_table_is_aligned() {
        let expected = "\
set dev: 2 queries
           ndcg@10       mrr@10    recall@10   recall@100          map  r_precision  ndcg@10 against bm25
table        100.0         50.0          0.0          0.0          0.0          0.0  +50.0 [+0.0, +100.0]
bm25          50.0         25.0          0.0          0.0          0.0          0.0
";
        assert_eq!(report().table(), expected);
    }

    #[test]
    fn systems_are_compared_with_the_hybrid_wherever_it_stands() {
        let mut report = report();
        report.systems[0].name = "hybrid".to_owned();
        let table = report.table();
        assert!(table.contains("ndcg@10 against hybrid"), "{table}");
        assert!(table.contains("-50.0 [-100.0, +0.0]"), "{table}");
        report.systems.truncate(1);
        assert!(!report.table().contains("against"));
    }
}
