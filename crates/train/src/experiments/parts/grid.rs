//! n × k (UHD-BERT, figure 4), and the size that the paper ends at.

use anyhow::{Result, ensure};

use super::super::Lab;
use super::super::codes::Coded;
use super::super::heads::Start;
use super::super::ranking::Scoring;
use super::super::result::{Axis, Comparison, Plot, Section, Series, Table};
use crate::wta::Head;

pub(super) const METHOD: &str = "Heads from whitened samples with an eighth to four times the \
    reference's dimensions, and 1 to 16 winners a token, once with whole passage codes and once with \
    the strongest {passage_k} dimensions of each by summed activation.";

pub(super) const LARGEST_METHOD: &str = "Heads with ten times the reference's dimensions (the paper's 81,920) \
    from whitened samples and from bare Gaussian rows, as the paper has them, with the reference's winners a \
    token and with 80, the paper's number; passages whole and cut to the strongest {passage_k} dimensions by summed \
    activation.";

const WINNERS: [usize; 5] = [1, 2, 4, 8, 16];
/// The paper's dimensions, in the reference's.
const TIMES: usize = 10;
/// The paper's winners, and some between the reference's and them.
const MANY_WINNERS: [usize; 2] = [16, 80];

pub(super) fn run(lab: &Lab) -> Result<Vec<Section>> {
    let grid = Grid::measure(lab)?;
    let (n, k) = lab.shape();
    let reference = [n.to_string(), k.to_string()];
    let reference = [reference[0].as_str(), reference[1].as_str()];
    let cut = format!("Passages cut to {} dimensions", lab.settings.passage_k);
    let mut sections = Vec::new();
    for (name, caption, comparison) in [
        ("n-k-cut", cut.as_str(), &grid.cut),
        ("n-k-whole", "Whole passage codes", &grid.whole),
    ] {
        sections.push(Section::Plot(grid.plot(name, caption, comparison)));
        let comparison = comparison.clone().with_reference(&reference);
        sections.push(Section::Rankings(
            comparison.rankings(caption, lab.settings.seed),
        ));
    }
    sections.push(Section::Table(grid.sizes_table()));
    Ok(sections)
}

pub(super) fn largest(lab: &Lab) -> Result<Vec<Section>> {
    let (reference_n, reference_k) = lab.shape();
    let n = TIMES * reference_n;
    let samples = lab.material.samples_of(lab.layer(), usize::MAX)?;
    ensure!(
        samples.dim(0)? >= n,
        "{n} dimensions need as many token vectors to be sampled from, here are {}: take more collections",
        samples.dim(0)?
    );
    let most = MANY_WINNERS[1].min(n);
    let winners = [reference_k, MANY_WINNERS[0].min(most), most];
    let mut largest = Largest {
        rankings: Comparison::new(&["rows", "n", "k", "passages"]),
        sizes: Vec::new(),
    };
    for &seed in &lab.settings.seeds {
        let name = Start::WhitenedSamples.name();
        largest.add(lab, name, &lab.reference(seed)?, &[reference_k])?;
        for start in [Start::WhitenedSamples, Start::Gaussian] {
            crate::say!("  {}, seed {seed}", start.name());
            let head = start.head(&samples, (n, most), seed)?;
            largest.add(lab, start.name(), &head, &winners)?;
        }
    }
    let columns = ["rows", "n", "k", "dimensions"];
    let sizes = Table {
        caption: "Dimensions of a whole passage code, on the mean, first seed".to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        rows: largest.sizes,
    };
    let caption = "Ten times the dimensions, twenty times the winners";
    let rankings = largest.rankings.rankings(caption, lab.settings.seed);
    Ok(vec![Section::Rankings(rankings), Section::Table(sizes)])
}

/// What is found of the paper's size, line by line.
struct Largest {
    rankings: Comparison,
    /// Dimensions of a whole passage code, of the first seed.
    sizes: Vec<Vec<String>>,
}

impl Largest {
    fn add(&mut self, lab: &Lab, rows: &str, head: &Head, winners: &[usize]) -> Result<()> {
        let found = lab.winners(head, lab.layer())?;
        let cut = lab.settings.passage_k.to_string();
        for &k in winners {
            let coded = lab.coded(&found, k);
            let [n, k] = [head.n(), k].map(|number| number.to_string());
            for (passages, scoring) in [
                (cut.as_str(), lab.scoring()),
                ("whole", Scoring::cut(usize::MAX)),
            ] {
                let ranked = lab.ranked(&coded, &scoring);
                self.rankings.add(&[rows, &n, &k, passages], ranked);
            }
            let name = [rows.to_owned(), n, k];
            if !self.sizes.iter().any(|row| row.starts_with(&name)) {
                let size = format!("{:.0}", mean_size(&coded));
                self.sizes.push(name.into_iter().chain([size]).collect());
            }
        }
        Ok(())
    }
}

struct Grid {
    dimensions: Vec<usize>,
    winners: Vec<usize>,
    cut: Comparison,
    whole: Comparison,
    /// Dimensions of a whole passage code on the mean, by n and k.
    sizes: Vec<Vec<f64>>,
}

impl Grid {
    fn measure(lab: &Lab) -> Result<Self> {
        let n = lab.settings.dimensions;
        let dimensions = vec![n / 8, n / 4, n / 2, n, 2 * n, 4 * n];
        let most = n / 8;
        let mut grid = Self {
            dimensions: dimensions.clone(),
            winners: WINNERS.into_iter().filter(|&k| k <= most).collect(),
            cut: Comparison::new(&["n", "k"]),
            whole: Comparison::new(&["n", "k"]),
            sizes: Vec::new(),
        };
        let samples = lab.material.samples(lab.layer())?;
        for n in dimensions {
            let mut sizes = Vec::new();
            for &seed in &lab.settings.seeds {
                crate::say!("  n {n}, seed {seed}");
                let most = grid.winners.last().copied().unwrap_or(1);
                let head = Start::WhitenedSamples.head(&samples, (n, most), seed)?;
                let winners = lab.winners(&head, lab.layer())?;
                sizes.clear();
                for k in grid.winners.clone() {
                    let coded = lab.coded(&winners, k);
                    let name = [n.to_string(), k.to_string()];
                    let name = [name[0].as_str(), name[1].as_str()];
                    grid.cut.add(&name, lab.ranked(&coded, &lab.scoring()));
                    let whole = Scoring::cut(usize::MAX);
                    grid.whole.add(&name, lab.ranked(&coded, &whole));
                    sizes.push(mean_size(&coded));
                }
            }
            grid.sizes.push(sizes);
        }
        Ok(grid)
    }

    fn plot(&self, name: &str, caption: &str, comparison: &Comparison) -> Plot {
        let series = self.winners.iter().map(|k| {
            let points = self.dimensions.iter().filter_map(|n| {
                let quality = comparison.percent(&[&n.to_string(), &k.to_string()])?;
                Some((*n as f64, quality))
            });
            Series {
                name: format!("k {k}"),
                points: points.collect(),
            }
        });
        Plot {
            name: name.to_owned(),
            caption: format!("{caption}: nDCG@10 by dimensions n and winners k"),
            x: Axis::logarithmic("dimensions n"),
            y: Axis::linear("nDCG@10"),
            series: series.collect(),
        }
    }

    fn sizes_table(&self) -> Table {
        let columns = self.winners.iter().map(|k| format!("k {k}"));
        let row = |(n, sizes): (&usize, &Vec<f64>)| {
            let cells = sizes.iter().map(|size| format!("{size:.0}"));
            std::iter::once(n.to_string()).chain(cells).collect()
        };
        Table {
            caption: "Dimensions of a whole passage code, on the mean".to_owned(),
            columns: std::iter::once("n".to_owned()).chain(columns).collect(),
            rows: self.dimensions.iter().zip(&self.sizes).map(row).collect(),
        }
    }
}

/// Dimensions of a passage's code, on the mean over all passages.
fn mean_size(coded: &[Coded]) -> f64 {
    let sizes = coded
        .iter()
        .flat_map(|coded| coded.passages.iter().map(Vec::len));
    let (count, sum) = sizes.fold((0, 0), |(count, sum), size| (count + 1, sum + size));
    sum as f64 / f64::from(count.max(1))
}
