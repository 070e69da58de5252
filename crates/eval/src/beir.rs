//! Reads collections in the layout of BEIR (Thakur et al., 2021).
//!
//! A folder holds `corpus.jsonl` (`_id`, `title`, `text`), `queries.jsonl` (`_id`, `text`) and
//! `qrels/SPLIT.tsv` (`query-id`, `corpus-id`, `score`, with a header). A folder of other queries
//! for the same corpus may leave `corpus.jsonl` out: see [`load`].

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::{Error, Result};

/// Ending of the name of a folder whose corpus is its sibling's without this ending.
const MISMATCH_SUFFIX: &str = "-mismatch";

/// One document of a corpus.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Document {
    /// Unique in its corpus.
    #[serde(rename = "_id")]
    pub id: String,
    /// May be empty.
    #[serde(default)]
    pub title: String,
    /// Body, without the title.
    pub text: String,
}

impl Document {
    /// Title and text, as a word baseline reads them.
    #[must_use]
    pub fn words(&self) -> String {
        format!("{} {}", self.title, self.text)
    }
}

/// The relevant documents of one query: id → gain, always above 0. Documents judged not relevant
/// are left out, since every metric here treats them as unjudged.
pub type Judgments = HashMap<String, u32>;

/// A query with at least one relevant document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// Unique in its collection.
    pub id: String,
    /// What the reader typed.
    pub text: String,
    /// What should be found.
    pub judgments: Judgments,
}

/// A corpus with the queries of one split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dataset {
    /// Name of the folder.
    pub name: String,
    /// Name of the qrels file, without `.tsv`.
    pub split: String,
    /// Where the documents came from.
    pub corpus_file: PathBuf,
    /// In the file's order, never empty.
    pub documents: Vec<Document>,
    /// Queries that have a relevant document, in the order of the qrels; never empty.
    pub queries: Vec<Query>,
}

#[derive(Deserialize)]
struct QueryLine {
    #[serde(rename = "_id")]
    id: String,
    text: String,
}

/// Reads the collection in `folder` with the queries judged in `qrels/SPLIT.tsv`.
///
/// The corpus is that of the folder `corpus` if one is given, else `folder`'s own, else, for a
/// folder `NAME-mismatch`, that of its sibling `NAME`.
///
/// # Errors
/// When a file is missing or unreadable, with the file; when a line has another form, an id comes
/// twice in a corpus or a judgment names an unknown query, with file and line.
pub fn load(folder: &Path, corpus: Option<&Path>, split: &str) -> Result<Dataset> {
    let folder = fs::canonicalize(folder).map_err(Error::read(folder))?;
    let corpus_file = find_corpus(&folder, corpus)?;
    let texts = read_queries(&folder.join("queries.jsonl"))?;
    Ok(Dataset {
        name: folder_name(&folder),
        split: split.to_owned(),
        documents: read_corpus(&corpus_file)?,
        queries: read_qrels(&find_qrels(&folder, split)?, &texts)?,
        corpus_file,
    })
}

fn folder_name(folder: &Path) -> String {
    folder
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

fn find_corpus(folder: &Path, corpus: Option<&Path>) -> Result<PathBuf> {
    if let Some(corpus) = corpus {
        return Ok(corpus.join("corpus.jsonl"));
    }
    let name = folder_name(folder);
    let sibling = name
        .strip_suffix(MISMATCH_SUFFIX)
        .map(|name| folder.with_file_name(name));
    [Some(folder.to_owned()), sibling]
        .into_iter()
        .flatten()
        .map(|folder| folder.join("corpus.jsonl"))
        .find(|file| file.is_file())
        .ok_or_else(|| Error::NoCorpus {
            folder: folder.to_owned(),
        })
}

fn find_qrels(folder: &Path, split: &str) -> Result<PathBuf> {
    let qrels = folder.join("qrels");
    let file = qrels.join(format!("{split}.tsv"));
    if file.is_file() {
        return Ok(file);
    }
    let mut found: Vec<String> = fs::read_dir(&qrels)
        .map_err(Error::read(&qrels))?
        .filter_map(|entry| {
            Some(
                entry
                    .ok()?
                    .file_name()
                    .to_str()?
                    .strip_suffix(".tsv")?
                    .to_owned(),
            )
        })
        .collect();
    found.sort();
    let found = if found.is_empty() {
        "none".to_owned()
    } else {
        found.join(", ")
    };
    Err(Error::NoSplit {
        folder: folder.to_owned(),
        split: split.to_owned(),
        found,
    })
}

/// Calls `each` with every non-empty line; what it complains of is reported with file and line.
fn for_each_line(
    path: &Path,
    mut each: impl FnMut(usize, &str) -> std::result::Result<(), String>,
) -> Result<()> {
    let file = File::open(path).map_err(Error::read(path))?;
    for (index, text) in BufReader::new(file).lines().enumerate() {
        let text = text.map_err(Error::read(path))?;
        if !text.trim().is_empty() {
            let line = index + 1;
            each(line, &text).map_err(|problem| Error::Line {
                path: path.to_owned(),
                line,
                problem,
            })?;
        }
    }
    Ok(())
}

fn read_corpus(path: &Path) -> Result<Vec<Document>> {
    let mut documents = Vec::new();
    let mut seen = HashSet::new();
    for_each_line(path, |_, text| {
        let document: Document = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if !seen.insert(document.id.clone()) {
            return Err(format!("the document id {:?} comes twice", document.id));
        }
        documents.push(document);
        Ok(())
    })?;
    if documents.is_empty() {
        return Err(Error::Empty {
            path: path.to_owned(),
            what: "document",
        });
    }
    Ok(documents)
}

fn read_queries(path: &Path) -> Result<HashMap<String, String>> {
    let mut texts = HashMap::new();
    for_each_line(path, |_, text| {
        let query: QueryLine = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if texts.contains_key(&query.id) {
            return Err(format!("the query id {:?} comes twice", query.id));
        }
        texts.insert(query.id, query.text);
        Ok(())
    })?;
    Ok(texts)
}

/// Queries in the order of their first judgment. A pair that is judged twice has its last score.
fn read_qrels(path: &Path, texts: &HashMap<String, String>) -> Result<Vec<Query>> {
    let mut queries: Vec<Query> = Vec::new();
    let mut position_of: HashMap<String, usize> = HashMap::new();
    for_each_line(path, |line, row| {
        let Some((query, document, score)) = read_judgment(line, row)? else {
            return Ok(());
        };
        let text = texts
            .get(query)
            .ok_or_else(|| format!("queries.jsonl has no query with the id {query:?}"))?;
        let position = *position_of.entry(query.to_owned()).or_insert_with(|| {
            let (id, text) = (query.to_owned(), text.clone());
            queries.push(Query {
                id,
                text,
                judgments: Judgments::new(),
            });
            queries.len() - 1
        });
        if let Some(query) = queries.get_mut(position) {
            judge(&mut query.judgments, document, score);
        }
        Ok(())
    })?;
    queries.retain(|query| !query.judgments.is_empty());
    if queries.is_empty() {
        return Err(Error::Empty {
            path: path.to_owned(),
            what: "query with a relevant document",
        });
    }
    Ok(queries)
}

fn judge(judgments: &mut Judgments, document: &str, score: i64) {
    match u32::try_from(score) {
        Ok(gain) if gain > 0 => judgments.insert(document.to_owned(), gain),
        _ => judgments.remove(document),
    };
}

/// `(query id, document id, score)` of a line; `None` for the header.
fn read_judgment(line: usize, row: &str) -> std::result::Result<Option<(&str, &str, i64)>, String> {
    let columns: Vec<&str> = row.split('\t').map(str::trim).collect();
    let [query, document, score] = columns[..] else {
        return Err(format!(
            "expected 3 columns separated by tabs, found {}",
            columns.len()
        ));
    };
    match (line, score.parse()) {
        (1, Ok(_)) => Err("expected the header query-id, corpus-id, score".to_owned()),
        (1, Err(_)) => Ok(None),
        (_, Ok(score)) => Ok(Some((query, document, score))),
        (_, Err(_)) => Err(format!("expected a whole number as score, found {score:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn sample(qrels: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        write(
            folder.path(),
            "set/corpus.jsonl",
            "{\"_id\":\"a\",\"title\":\"A\",\"text\":\"x\"}\n{\"_id\":\"b\",\"text\":\"y\"}\n",
        );
        write(
            folder.path(),
            "set/queries.jsonl",
            "{\"_id\":\"1\",\"text\":\"one\"}\n{\"_id\":\"2\",\"text\":\"two\"}\n",
        );
        write(folder.path(), "set/qrels/dev.tsv", qrels);
        folder
    }

    fn message(result: Result<Dataset>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn queries_keep_the_order_of_their_judgments_and_only_gains_above_zero() {
        let folder = sample("query-id\tcorpus-id\tscore\n2\tb\t3\n1\ta\t-1\n2\ta\t0\n");
        let set = load(&folder.path().join("set"), None, "dev").unwrap();
        assert_eq!(set.name, "set");
        assert_eq!(set.documents.len(), 2);
        assert_eq!(set.documents[1].title, "");
        let judged: Vec<_> = set
            .queries
            .iter()
            .map(|query| query.text.as_str())
            .collect();
        assert_eq!(judged, ["two"]);
        assert_eq!(
            set.queries[0].judgments,
            HashMap::from([("b".to_owned(), 3)])
        );
    }

    #[test]
    fn a_mismatch_set_takes_its_siblings_corpus() {
        let folder = sample("query-id\tcorpus-id\tscore\n1\ta\t1\n");
        write(
            folder.path(),
            "set-mismatch/queries.jsonl",
            "{\"_id\":\"m\",\"text\":\"other\"}\n",
        );
        write(
            folder.path(),
            "set-mismatch/qrels/syn.tsv",
            "query-id\tcorpus-id\tscore\nm\tb\t1\n",
        );
        let set = load(&folder.path().join("set-mismatch"), None, "syn").unwrap();
        assert_eq!(set.documents.len(), 2);
        assert_eq!(set.queries[0].id, "m");
    }

    #[test]
    fn a_named_corpus_wins() {
        let folder = sample("query-id\tcorpus-id\tscore\n1\ta\t1\n");
        write(
            folder.path(),
            "other/corpus.jsonl",
            "{\"_id\":\"a\",\"text\":\"z\"}\n",
        );
        let other = folder.path().join("other");
        let set = load(&folder.path().join("set"), Some(&other), "dev").unwrap();
        assert_eq!(set.documents[0].text, "z");
    }

    #[test]
    fn errors_name_file_and_line() {
        let header = "query-id\tcorpus-id\tscore\n";
        let cases = [
            (
                format!("{header}1\ta\n"),
                "dev.tsv, line 2: expected 3 columns",
            ),
            (
                format!("{header}1\ta\tmuch\n"),
                "line 2: expected a whole number as score, found \"much\"",
            ),
            (
                format!("{header}\n9\ta\t1\n"),
                "line 3: queries.jsonl has no query with the id \"9\"",
            ),
            ("1\ta\t1\n".to_owned(), "line 1: expected the header"),
            (
                header.to_owned(),
                "dev.tsv holds no query with a relevant document",
            ),
        ];
        for (qrels, expected) in cases {
            let folder = sample(&qrels);
            let found = message(load(&folder.path().join("set"), None, "dev"));
            assert!(found.contains(expected), "{found:?} lacks {expected:?}");
        }
    }

    #[test]
    fn a_broken_or_doubled_document_is_named() {
        for (line, expected) in [
            (
                "{\"_id\":\"a\",\"text\":\"y\"}",
                "corpus.jsonl, line 2: the document id \"a\" comes twice",
            ),
            (
                "{\"_id\":\"b\"}",
                "corpus.jsonl, line 2: missing field `text`",
            ),
        ] {
            let folder = sample("query-id\tcorpus-id\tscore\n1\ta\t1\n");
            let corpus = format!("{{\"_id\":\"a\",\"text\":\"x\"}}\n{line}\n");
            write(folder.path(), "set/corpus.jsonl", &corpus);
            let found = message(load(&folder.path().join("set"), None, "dev"));
            assert!(found.contains(expected), "{found:?} lacks {expected:?}");
        }
    }

    #[test]
    fn missing_parts_are_told_apart() {
        let folder = sample("query-id\tcorpus-id\tscore\n1\ta\t1\n");
        let set = folder.path().join("set");
        assert!(message(load(&set, None, "test")).contains("its splits: dev"));
        fs::remove_file(set.join("corpus.jsonl")).unwrap();
        assert!(message(load(&set, None, "dev")).contains("has no corpus.jsonl"));
        assert!(message(load(&folder.path().join("none"), None, "dev")).contains("cannot read"));
    }
}
