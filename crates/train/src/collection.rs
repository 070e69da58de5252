//! Collections in the BEIR layout (Thakur et al. 2021): where pairs and texts come from.
//!
//! A folder holds `corpus.jsonl` (`_id`, `title`, `text`), `queries.jsonl` (`_id`, `text`) and
//! `qrels/SPLIT.tsv` (`query-id`, `corpus-id`, `score`, with a header line). Without the last two it has passages alone.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// A question and a passage that answers it: positions in a [`Collection`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pair {
    /// Position in [`Collection::queries`].
    pub query: usize,
    /// Position in [`Collection::passages`].
    pub passage: usize,
}

/// One collection, texts as the encoder reads them.
#[derive(Clone, Debug, Default)]
pub struct Collection {
    /// The folder's name.
    pub name: String,
    /// Title, line feed, text; the text alone where there is no title.
    pub passages: Vec<String>,
    /// The title of each passage; empty where it has none.
    pub titles: Vec<String>,
    /// The `_id` of each passage.
    pub passage_ids: Vec<String>,
    /// Queries.
    pub queries: Vec<String>,
    /// The `_id` of each query.
    pub query_ids: Vec<String>,
    /// Relevant pairs of the split that was read, each once; empty if it has none.
    pub pairs: Vec<Pair>,
    /// Lines that are in none of these.
    pub left_out: Vec<LeftOut>,
}

/// A line that nothing is learned from, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The file.
    pub file: PathBuf,
    /// Its line, the first being 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: &'static str,
}

/// More characters than this are data, not a text that somebody reads.
const LONGEST_TEXT_CHARACTERS: usize = 200_000;
/// So many lines of each reason and file are named, the others counted.
const NAMED_LINES: usize = 20;

const EMPTY: &str = "an empty text";
const HUGE: &str = "a text of more than 200,000 characters";
const SAME_ID: &str = "an _id that an earlier line has";
const SAME_PAIR: &str = "a pair that an earlier line has";
const OF_LEFT_OUT: &str = "a pair of a text that was left out";

#[derive(Deserialize)]
struct Document {
    #[serde(rename = "_id")]
    id: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    text: String,
}

/// Refuses folders of the same name, by which what collections give is kept and reported.
///
/// # Errors
/// When two are called the same.
pub fn check_names<'a>(folders: impl IntoIterator<Item = &'a PathBuf>) -> Result<()> {
    let mut names = HashSet::new();
    for folder in folders {
        ensure!(
            names.insert(folder.file_name()),
            "{}: another folder has the same name, by which collections are told apart: rename one",
            folder.display()
        );
    }
    Ok(())
}

/// What the collection in `folder` is called.
pub(crate) fn name_of(folder: &Path) -> Result<String> {
    let name = folder
        .file_name()
        .context("a collection is a folder with a name")?;
    Ok(name.to_string_lossy().into_owned())
}

/// The texts of a file and where they are by their id; `None` for those left out.
#[derive(Default)]
struct Texts {
    positions: HashMap<String, Option<usize>>,
    texts: Vec<String>,
    titles: Vec<String>,
    ids: Vec<String>,
}

/// When two pairs are one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Same {
    /// Their ids are the same.
    Ids,
    /// Their texts are.
    Texts,
}

/// By position the first one of the same text.
pub(crate) fn first_of_text(texts: &[String]) -> Vec<usize> {
    let mut first: HashMap<&str, usize> = HashMap::new();
    let texts = texts.iter().enumerate();
    let texts = texts.map(|(at, text)| *first.entry(text).or_insert(at));
    texts.collect()
}

impl Collection {
    /// Reads the collection in `folder` with the pairs of its `train` split. Lines with an empty or huge text and lines that say again what an
    /// earlier one said are left out. Texts that are the same are one to pairs, the first, whatever their ids: so what answers a query
    /// answers it wherever it is asked.
    ///
    /// # Errors
    /// When a file is missing or malformed, or a judgment names an unknown text.
    pub fn read(folder: &Path) -> Result<Self> {
        Self::read_pairs_by(folder, "train", Same::Texts)
    }

    /// [`Collection::read`], and tells on standard error what was left out.
    ///
    /// # Errors
    /// The same.
    pub fn read_and_report(folder: &Path) -> Result<Self> {
        let collection = Self::read(folder)?;
        for line in collection.report() {
            crate::say!("{line}");
        }
        Ok(collection)
    }

    /// [`Collection::read`] with the pairs of another split, which are for measuring: passages of the same text all stay
    /// relevant.
    ///
    /// # Errors
    /// The same.
    pub fn read_split(folder: &Path, split: &str) -> Result<Self> {
        Self::read_pairs_by(folder, split, Same::Ids)
    }

    fn read_pairs_by(folder: &Path, split: &str, same: Same) -> Result<Self> {
        let name = name_of(folder)?;
        let mut left_out = Vec::new();
        let passages = read_texts(&folder.join("corpus.jsonl"), &mut left_out)?;
        let judgments = folder.join("qrels").join(format!("{split}.tsv"));
        let queries = folder.join("queries.jsonl");
        let queries = match queries.exists() || judgments.exists() {
            true => read_texts(&queries, &mut left_out)?,
            false => Texts::default(),
        };
        let pairs = if judgments.exists() {
            read_pairs(&judgments, (&queries, &passages), same, &mut left_out)?
        } else {
            Vec::new()
        };
        Ok(Self {
            name,
            passages: passages.texts,
            titles: passages.titles,
            passage_ids: passages.ids,
            queries: queries.texts,
            query_ids: queries.ids,
            pairs,
            left_out,
        })
    }

    /// Title and text of a passage, apart.
    #[must_use]
    pub fn title_and_text(&self, passage: usize) -> (&str, &str) {
        let (title, whole) = (&self.titles[passage], &self.passages[passage]);
        let text = whole.strip_prefix(title.as_str()).unwrap_or(whole);
        (title, text.strip_prefix('\n').unwrap_or(text))
    }

    /// What was left out, for people: by file and reason how many lines, and the first of them.
    #[must_use]
    pub fn report(&self) -> Vec<String> {
        let mut groups: Vec<(&Path, &str, Vec<usize>)> = Vec::new();
        for LeftOut { file, line, reason } in &self.left_out {
            let group = groups
                .iter_mut()
                .find(|(known, why, _)| known == file && why == reason);
            match group {
                Some((_, _, lines)) => lines.push(*line),
                None => groups.push((file, reason, vec![*line])),
            }
        }
        let line = |(file, reason, lines): (&Path, &str, Vec<usize>)| {
            let named: Vec<String> = lines
                .iter()
                .take(NAMED_LINES)
                .map(usize::to_string)
                .collect();
            let more = match lines.len().saturating_sub(NAMED_LINES) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!(
                "{}: left out {reason}: line {}{more}",
                file.display(),
                named.join(", ")
            )
        };
        groups.into_iter().map(line).collect()
    }
}

fn read_texts(path: &Path, left_out: &mut Vec<LeftOut>) -> Result<Texts> {
    let mut read = Texts::default();
    for (number, line) in (1..).zip(lines(path)?) {
        let place = || format!("{} line {number}", path.display());
        let line = line.with_context(place)?;
        ensure!(!line.trim().is_empty(), "{} is empty: remove it", place());
        // Some editors begin a file with a byte order mark.
        let line = line.strip_prefix('\u{feff}').unwrap_or(&line);
        let document: Document = serde_json::from_str(line).with_context(place)?;
        let text = joined(&document.title, &document.text);
        let reason = match read.positions.contains_key(&document.id) {
            true => Some(SAME_ID),
            false => unusable(&text),
        };
        if let Some(reason) = reason {
            read.positions.entry(document.id).or_default();
            left_out.push(LeftOut {
                file: path.to_owned(),
                line: number,
                reason,
            });
        } else {
            read.positions
                .insert(document.id.clone(), Some(read.texts.len()));
            read.ids.push(document.id);
            read.titles.push(document.title);
            read.texts.push(text);
        }
    }
    ensure!(!read.texts.is_empty(), "{} holds no texts", path.display());
    Ok(read)
}

/// Why nothing can be learned from a text.
fn unusable(text: &str) -> Option<&'static str> {
    if !text.chars().any(char::is_alphanumeric) {
        return Some(EMPTY);
    }
    let huge = text.chars().nth(LONGEST_TEXT_CHARACTERS).is_some();
    huge.then_some(HUGE)
}

/// Title and text as the encoder reads them: one a line.
fn joined(title: &str, text: &str) -> String {
    if title.is_empty() {
        text.to_owned()
    } else {
        format!("{title}\n{text}")
    }
}

fn read_pairs(
    path: &Path,
    texts: (&Texts, &Texts),
    same: Same,
    left_out: &mut Vec<LeftOut>,
) -> Result<Vec<Pair>> {
    let mut pairs = Vec::new();
    let mut known = HashSet::new();
    let (queries, passages) = texts;
    let first = |texts: &Texts| first_of_text(&texts.texts);
    let first = (same == Same::Texts).then(|| (first(queries), first(passages)));
    let says = |pair: Pair| match &first {
        Some((queries, passages)) => Pair {
            query: queries[pair.query],
            passage: passages[pair.passage],
        },
        None => pair,
    };
    for (number, line) in (1..).zip(lines(path)?) {
        let line = line.with_context(|| format!("{} line {number}", path.display()))?;
        if number == 1 {
            check_header(path, &line)?;
            continue;
        }
        let judged = judged(&line, texts);
        let judged =
            judged.with_context(|| format!("{} line {number}: {line:?}", path.display()))?;
        let reason = match judged {
            Judged::Irrelevant => continue,
            Judged::LeftOut => OF_LEFT_OUT,
            Judged::Relevant(pair) if known.insert(says(pair)) => {
                pairs.push(says(pair));
                continue;
            }
            Judged::Relevant(_) => SAME_PAIR,
        };
        left_out.push(LeftOut {
            file: path.to_owned(),
            line: number,
            reason,
        });
    }
    Ok(pairs)
}

/// Refuses a first line that is a judgment: it would be lost.
fn check_header(path: &Path, line: &str) -> Result<()> {
    ensure!(
        parse_judgment(line).is_err(),
        "{} begins with a judgment: its first line has to be a header, query-id, corpus-id and score",
        path.display()
    );
    Ok(())
}

/// What a line of judgments says.
enum Judged {
    Relevant(Pair),
    Irrelevant,
    /// Of a text that was left out.
    LeftOut,
}

fn judged(line: &str, (queries, passages): (&Texts, &Texts)) -> Result<Judged> {
    let (query, passage, score) = parse_judgment(line)?;
    let query = queries.positions.get(query).context("no such query")?;
    let passage = passages.positions.get(passage);
    let passage = passage.context("no such passage")?;
    Ok(match (query, passage) {
        _ if score <= 0.0 => Judged::Irrelevant,
        (&Some(query), &Some(passage)) => Judged::Relevant(Pair { query, passage }),
        _ => Judged::LeftOut,
    })
}

/// Query, passage and score of one judgment.
fn parse_judgment(line: &str) -> Result<(&str, &str, f32)> {
    let mut fields = line.split('\t');
    let mut field = || {
        fields
            .next()
            .context("expected query-id, corpus-id and score")
    };
    let (query, passage) = (field()?, field()?);
    let score: f32 = field()?.trim().parse().context("the score is no number")?;
    ensure!(score.is_finite(), "the score is no number");
    Ok((query, passage, score))
}

fn lines(path: &Path) -> Result<std::io::Lines<BufReader<File>>> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(BufReader::new(file).lines())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, passages: &[&str], queries: &[&str], pairs: &str) -> Result<()> {
        let json = |texts: &[&str], letter: char| -> String {
            let lines = texts.iter().enumerate().map(|(i, text)| {
                let (id, text) = match text.split_once('=') {
                    Some((id, text)) => (id.to_owned(), text),
                    None => (format!("{letter}{}", i + 1), *text),
                };
                serde_json::json!({ "_id": id, "text": text }).to_string() + "\n"
            });
            lines.collect()
        };
        std::fs::create_dir_all(folder.join("qrels"))?;
        std::fs::write(folder.join("corpus.jsonl"), json(passages, 'p'))?;
        std::fs::write(folder.join("queries.jsonl"), json(queries, 'q'))?;
        let header = "query-id\tcorpus-id\tscore\n";
        std::fs::write(folder.join("qrels/train.tsv"), format!("{header}{pairs}"))?;
        Ok(())
    }

    #[test]
    fn a_folder_of_passages_alone_is_a_collection_and_judgments_need_queries() -> Result<()> {
        let folder = tempfile::tempdir()?;
        write(folder.path(), &["cats", "gnus"], &["cat?"], "q1\tp1\t1\n")?;
        std::fs::remove_file(folder.path().join("queries.jsonl"))?;
        let error = format!("{:#}", Collection::read(folder.path()).unwrap_err());
        assert!(error.contains("queries.jsonl"), "{error}");
        std::fs::remove_dir_all(folder.path().join("qrels"))?;
        let collection = Collection::read(folder.path())?;
        assert_eq!(collection.passages.len(), 2);
        assert!(collection.queries.is_empty() && collection.pairs.is_empty());
        Ok(())
    }

    #[test]
    fn lines_that_teach_nothing_are_left_out_and_named() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let huge = "x".repeat(LONGEST_TEXT_CHARACTERS + 1);
        let passages = ["cats", " \n", "p1=dogs", &huge, "cats", "gnus"];
        let pairs = "q1\tp1\t1\nq1\tp1\t1\nq2\tp2\t1\nq2\tp6\t1\nq1\tp6\t0\nq1\tp5\t1\n";
        write(folder.path(), &passages, &["cat?", "gnu?"], pairs)?;
        let collection = Collection::read(folder.path())?;
        assert_eq!(collection.passages, ["cats", "cats", "gnus"]);
        let pair = |query, passage| Pair { query, passage };
        assert_eq!(collection.pairs, [pair(0, 0), pair(1, 2)]);
        let found: Vec<_> = collection
            .left_out
            .iter()
            .map(|left| (left.line, left.reason))
            .collect();
        assert_eq!(
            found,
            [
                (2, EMPTY),
                (3, SAME_ID),
                (4, HUGE),
                (3, SAME_PAIR),
                (4, OF_LEFT_OUT),
                (7, SAME_PAIR)
            ]
        );
        let measured = Collection::read_split(folder.path(), "train")?;
        assert_eq!(measured.pairs, [pair(0, 0), pair(1, 2), pair(0, 1)]);
        let report = collection.report();
        assert!(
            report[0].ends_with("corpus.jsonl: left out an empty text: line 2"),
            "{report:?}"
        );
        Ok(())
    }

    #[test]
    fn judgments_without_a_header_are_refused() -> Result<()> {
        let folder = tempfile::tempdir()?;
        write(folder.path(), &["cats"], &["cat?"], "")?;
        std::fs::write(folder.path().join("qrels/train.tsv"), "q1\tp1\t1\n")?;
        let error = format!("{:#}", Collection::read(folder.path()).unwrap_err());
        assert!(
            error.contains("train.tsv begins with a judgment"),
            "{error}"
        );
        Ok(())
    }

    #[test]
    fn a_query_asked_twice_has_all_answers_each_time() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let pairs = "q1\tp1\t1\nq2\tp2\t1\nq3\tp3\t1\n";
        let queries = ["cat?", "cat?", "gnu?"];
        write(
            folder.path(),
            &["cats", "more cats", "cats"],
            &queries,
            pairs,
        )?;
        let pair = |query, passage| Pair { query, passage };
        let collection = Collection::read(folder.path())?;
        assert_eq!(collection.pairs, [pair(0, 0), pair(0, 1), pair(2, 0)]);
        let folders = ["a/x", "b/y", "c/x"].map(PathBuf::from);
        assert!(check_names(&folders[..2]).is_ok());
        assert!(check_names(&folders).is_err());
        Ok(())
    }

    #[test]
    fn many_lines_are_counted() {
        let left = |line| LeftOut {
            file: "f".into(),
            line,
            reason: EMPTY,
        };
        let collection = Collection {
            left_out: (1..=23).map(left).collect(),
            ..Collection::default()
        };
        let report = collection.report().concat();
        let begins = "f: left out an empty text: line 1, 2, 3, ";
        assert!(report.starts_with(begins), "{report}");
        assert!(report.ends_with(", 20 and 3 more"), "{report}");
    }

    #[test]
    fn an_unknown_text_is_an_error_with_its_line() -> Result<()> {
        let folder = tempfile::tempdir()?;
        for (pairs, words) in [
            ("q1\tp1\t1\nq1\tp9\t1\n", "train.tsv line 3"),
            ("q1\tp1\n", "expected query-id, corpus-id and score"),
            ("q1\tp1\tyes\n", "the score is no number"),
            ("q1\tp1\tNaN\n", "the score is no number"),
        ] {
            write(folder.path(), &["cats"], &["cat?"], pairs)?;
            let error = format!("{:#}", Collection::read(folder.path()).unwrap_err());
            assert!(error.contains(words), "{error}");
        }
        Ok(())
    }
}
