//! `siskin eval-site`: how well a site's owner's own questions are answered, by Siskin and, where the site
//! has its index, by Pagefind.

mod pagefind;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use siskin_core::encoded::EncodedQuery;
use siskin_core::error::Error;
use siskin_core::search::{Engine, Mode, Query};
use siskin_encoder::Encoder;
use siskin_eval::metrics::Metrics;
use siskin_extract::site;

use super::{Outcome, search};
use crate::arguments::EvalSiteArguments;
use crate::bundle::{BundleFolder, DEFAULT_FOLDER};
use crate::resources;
use crate::talk::{self, Talk, listed};

/// Ranks that are looked at.
const DEPTH: usize = 10;
/// Modes that need no network.
const MODES: [Mode; 2] = [Mode::Words, Mode::Table];
/// Questions without an answer among the first ten that are named without `--verbose`.
const NAMED: usize = 10;

/// Runs the command; a question without its page among the first ten, in the last mode, counts as a
/// problem.
pub fn run(arguments: &EvalSiteArguments) -> Result<Outcome> {
    let talk = Talk::new(arguments.printing.quiet);
    let pages = site::walk(&arguments.site)?;
    let urls = pages.files.into_iter().map(|file| file.url).collect();
    let questions = read(&arguments.queries, &urls)?;
    let folder = arguments.bundle.clone();
    let folder = folder.unwrap_or_else(|| arguments.site.join(DEFAULT_FOLDER));
    let bundle = BundleFolder::open(&folder)?;
    let modes = match arguments.mode.is_empty() {
        true => MODES.to_vec(),
        false => arguments.mode.clone(),
    };
    let texts: Vec<&str> = questions.iter().map(|question| &*question.text).collect();
    // First, for it is quick, and may be named wrongly.
    let pagefind = pagefind::rankings(arguments, &texts, DEPTH, talk)?.map(|rankings| {
        let pages = |ranking: Vec<String>| ranking.iter().map(|url| page_of(url)).collect();
        let rankings: Vec<Vec<String>> = rankings.into_iter().map(pages).collect();
        Asked::new(&questions, &rankings)
    });
    let mut report = Report {
        questions: questions.len(),
        modes: Vec::new(),
        pagefind,
    };
    for mode in modes {
        let encoder = match mode {
            Mode::Full => Some(search::encoder(&bundle, arguments.encoder.as_deref())?),
            Mode::Words | Mode::Table => None,
        };
        let asked = ask_all(&bundle, mode, encoder.as_ref(), &questions, talk);
        report.modes.push(asked?);
    }
    if arguments.printing.json {
        talk::print_json(&report)?;
    } else {
        let named = if arguments.verbose { usize::MAX } else { NAMED };
        talk::print(&report.text(named))?;
    }
    let missed = report
        .modes
        .last()
        .is_some_and(|mode| !mode.asked.missed.is_empty());
    Ok(if missed {
        Outcome::Problems
    } else {
        Outcome::Done
    })
}

/// A question and the pages that answer it.
#[derive(Debug, PartialEq)]
struct Question {
    text: String,
    pages: Vec<String>,
}

/// The questions in a file: a line each, the question, a tab, and the addresses of the pages that
/// answer it with spaces between. Empty lines, and lines that begin with `#`, are passed over.
///
/// # Errors
/// When the file cannot be read, holds no question, or a line lacks an address or names one that is
/// no page of the site.
fn read(file: &Path, urls: &BTreeSet<String>) -> Result<Vec<Question>> {
    let text = String::from_utf8_lossy(&resources::read(file)?).into_owned();
    let lines = text.lines().map(str::trim).zip(1..);
    let lines = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
    let questions = lines.map(|(line, number)| {
        question(line, urls).with_context(|| format!("{}, line {number}", file.display()))
    });
    let questions: Vec<Question> = questions.collect::<Result<_>>()?;
    if questions.is_empty() {
        bail!("{} holds no question", file.display());
    }
    Ok(questions)
}

fn question(line: &str, urls: &BTreeSet<String>) -> Result<Question> {
    let Some((text, addresses)) = line.split_once('\t') else {
        bail!("no tab; write the question, a tab and the address of its page");
    };
    let pages: Vec<String> = addresses.split_whitespace().map(page_of).collect();
    if let Some(unknown) = pages.iter().find(|page| !urls.contains(*page)) {
        bail!("{unknown} is not a page of the site");
    }
    Ok(Question {
        text: text.trim().to_owned(),
        pages,
    })
}

/// The address of a page without its host and anchor, as the index writes it.
fn page_of(address: &str) -> String {
    let page = address.split('#').next().unwrap_or_default();
    let page = page
        .split_once("://")
        .map_or(page, |(_, rest)| rest.split_once('/').unwrap_or_default().1);
    let folder = page.strip_suffix("index.html");
    let folder = folder.filter(|folder| folder.is_empty() || folder.ends_with('/'));
    let page = folder.unwrap_or(page);
    format!("/{}", page.trim_start_matches('/'))
}

fn ask_all(
    bundle: &BundleFolder,
    mode: Mode,
    encoder: Option<&Encoder>,
    questions: &[Question],
    talk: Talk,
) -> Result<ModeReport> {
    let mut engine = Engine::new(bundle.manifest.clone());
    let bar = talk.bar("asking", questions.len());
    let mut rankings = Vec::new();
    for question in questions {
        let encoded = encoder.map(|encoder| encoder.encode_query(&question.text));
        let encoded = encoded.transpose()?;
        let ranking = ranking(bundle, &mut engine, mode, &question.text, encoded.as_ref());
        let ranking = match ranking {
            Err(error) if is_unanswerable(&error) => Vec::new(),
            ranking => ranking.with_context(|| format!("“{}”", question.text))?,
        };
        rankings.push(ranking);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(ModeReport {
        mode,
        asked: Asked::new(questions, &rankings),
    })
}

/// Whether the question is one that finds nothing on any site, as by `siskin eval`.
fn is_unanswerable(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref();
    matches!(error, Some(Error::EmptyQuery | Error::QueryTooLong { .. }))
}

fn ranking(
    bundle: &BundleFolder,
    engine: &mut Engine,
    mode: Mode,
    text: &str,
    encoded: Option<&EncodedQuery>,
) -> Result<Vec<String>> {
    let query = Query {
        text,
        mode,
        limit: DEPTH,
        encoded,
        ..Query::default()
    };
    let answer = bundle.ask(engine, |engine| engine.search(&query))?;
    let results = answer.results.iter();
    Ok(results.map(|result| page_of(&result.url)).collect())
}

/// The result of `--json`.
#[derive(Debug, Serialize)]
struct Report {
    questions: usize,
    modes: Vec<ModeReport>,
    /// What Pagefind finds; none where the site has no index of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pagefind: Option<Asked>,
}

#[derive(Debug, Serialize)]
struct ModeReport {
    mode: Mode,
    #[serde(flatten)]
    asked: Asked,
}

/// How well the questions were answered.
#[derive(Debug, Serialize)]
struct Asked {
    /// Questions by the rank up to which one of their pages was found: `{"1": …, "3": …, "10": …}`.
    found: BTreeMap<usize, usize>,
    #[serde(flatten)]
    metrics: AtTen,
    /// Questions none of whose pages is among the first ten.
    missed: Vec<Missed>,
}

/// Metrics of the ranks that are looked at.
#[derive(Debug, Serialize)]
struct AtTen {
    #[serde(rename = "ndcg@10")]
    ndcg_at_10: f64,
    #[serde(rename = "mrr@10")]
    mrr_at_10: f64,
    #[serde(rename = "recall@10")]
    recall_at_10: f64,
}

impl From<Metrics> for AtTen {
    fn from(metrics: Metrics) -> Self {
        Self {
            ndcg_at_10: metrics.ndcg_at_10,
            mrr_at_10: metrics.mrr_at_10,
            recall_at_10: metrics.recall_at_10,
        }
    }
}

#[derive(Debug, Serialize)]
struct Missed {
    question: String,
    expected: Vec<String>,
    /// The first result, if there is any.
    first: Option<String>,
}

impl Asked {
    fn new(questions: &[Question], rankings: &[Vec<String>]) -> Self {
        let (mut found, mut metrics, mut missed) = (BTreeMap::new(), Vec::new(), Vec::new());
        for (question, ranking) in questions.iter().zip(rankings) {
            let rank = ranking.iter().position(|url| question.pages.contains(url));
            for depth in [1, 3, DEPTH] {
                let within = rank.is_some_and(|rank| rank < depth);
                *found.entry(depth).or_default() += usize::from(within);
            }
            if rank.is_none() {
                missed.push(Missed {
                    question: question.text.clone(),
                    expected: question.pages.clone(),
                    first: ranking.first().cloned(),
                });
            }
            let judgments = question
                .pages
                .iter()
                .map(|page| (page.clone(), 1))
                .collect();
            let ids: Vec<&str> = ranking.iter().map(String::as_str).collect();
            metrics.push(Metrics::of_ranking(&ids, &judgments));
        }
        Self {
            found,
            metrics: Metrics::mean(&metrics).into(),
            missed,
        }
    }

    fn row(&self, name: &str, questions: usize) -> String {
        let count = |depth: usize| {
            let found = self.found.get(&depth).copied().unwrap_or_default();
            format!("{found}/{questions}")
        };
        format!(
            "{name:<8}{:>10}{:>10}{:>11}{:>10.3}{:>10.3}\n",
            count(1),
            count(3),
            count(DEPTH),
            self.metrics.mrr_at_10,
            self.metrics.ndcg_at_10
        )
    }

    fn missed_text(&self, mode: Mode, named: usize) -> String {
        let entry = |missed: &Missed| {
            let first = missed.first.as_deref().unwrap_or("nothing found");
            let expected = missed.expected.join(" ");
            format!("{}: expected {expected}, first is {first}", missed.question)
        };
        let finding = format!("not among the first {DEPTH} in mode {mode}");
        listed(&finding, self.missed.iter().map(entry), named)
    }
}

impl Report {
    fn text(&self, named: usize) -> String {
        let head = ["mode", "first", "first 3", "first 10", "mrr@10", "ndcg@10"];
        let [mode, first, three, ten, mrr, ndcg] = head;
        let mut text = format!("{mode:<8}{first:>10}{three:>10}{ten:>11}{mrr:>10}{ndcg:>10}\n");
        for ModeReport { mode, asked } in &self.modes {
            text += &asked.row(&mode.to_string(), self.questions);
        }
        if let Some(asked) = &self.pagefind {
            text += &asked.row("pagefind", self.questions);
        }
        let last = self.modes.last();
        text + &last.map_or_else(String::new, |ModeReport { mode, asked }| {
            asked.missed_text(*mode, named)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn read_text(text: &str) -> Result<Vec<Question>> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("questions.tsv");
        fs::write(&file, text).unwrap();
        let urls = ["/a/", "/b.html", "/reindex.html"]
            .map(str::to_owned)
            .into();
        read(&file, &urls)
    }

    #[test]
    fn questions_stand_before_a_tab_and_addresses_behind_it() {
        let read = read_text(
            "# mine\n\nhow to  go\thttps://example.com/a/index.html#x /b.html /reindex.html\n",
        )
        .unwrap();
        let expected = Question {
            text: "how to  go".to_owned(),
            pages: ["/a/", "/b.html", "/reindex.html"]
                .map(str::to_owned)
                .to_vec(),
        };
        assert_eq!(read, [expected]);
    }

    #[test]
    fn bad_lines_are_named_with_what_to_do() {
        for (text, error) in [
            ("fine\t/a/\nno tab", "line 2: no tab; write the question"),
            ("x\t/c.html", "line 1: /c.html is not a page of the site"),
            ("x\t ", "line 1: no tab"),
            ("# nothing\n", "holds no question"),
        ] {
            let found = format!("{:#}", read_text(text).unwrap_err());
            assert!(found.contains(error), "{found}");
        }
    }

    #[test]
    fn found_pages_are_counted_by_rank() {
        let question = |page: &str| Question {
            text: "q".to_owned(),
            pages: vec![page.to_owned()],
        };
        let ranking = ["/a/", "/b.html"].map(str::to_owned).to_vec();
        let questions = [question("/a/"), question("/b.html"), question("/c/")];
        let report = Asked::new(&questions, &vec![ranking; 3]);
        assert_eq!(report.found, [(1, 1), (3, 2), (10, 2)].into());
        assert_eq!(report.metrics.mrr_at_10, 0.5);
        let missed = report.missed_text(Mode::Words, 1);
        assert!(missed.contains("expected /c/, first is /a/"), "{missed}");
    }
}
