//! Collections in the BEIR layout (Thakur et al. 2021): where pairs and texts come from.
//!
//! A folder holds `corpus.jsonl` (`_id`, `title`, `text`), `queries.jsonl` (`_id`, `text`) and
//! `qrels/SPLIT.tsv` (`query-id`, `corpus-id`, `score`, with a header line).

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

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
    /// Title, line feed, text.
    pub passages: Vec<String>,
    /// Queries.
    pub queries: Vec<String>,
    /// Relevant pairs of the `train` split; empty if it has none.
    pub pairs: Vec<Pair>,
}

#[derive(Deserialize)]
struct Document {
    #[serde(rename = "_id")]
    id: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    text: String,
}

impl Collection {
    /// Reads the collection in `folder`.
    ///
    /// # Errors
    /// When a file is missing or malformed, or a judgment names an unknown text.
    pub fn read(folder: &Path) -> Result<Self> {
        let name = folder
            .file_name()
            .context("a collection is a folder with a name")?;
        let (passage_ids, passages) = read_texts(&folder.join("corpus.jsonl"))?;
        let (query_ids, queries) = read_texts(&folder.join("queries.jsonl"))?;
        let judgments = folder.join("qrels").join("train.tsv");
        let pairs = if judgments.exists() {
            read_pairs(&judgments, &query_ids, &passage_ids)?
        } else {
            Vec::new()
        };
        Ok(Self {
            name: name.to_string_lossy().into_owned(),
            passages,
            queries,
            pairs,
        })
    }
}

/// Positions by id, and the texts in that order.
fn read_texts(path: &Path) -> Result<(HashMap<String, usize>, Vec<String>)> {
    let mut positions = HashMap::new();
    let mut texts = Vec::new();
    for line in lines(path)? {
        let line = line?;
        let document: Document = serde_json::from_str(&line)
            .with_context(|| format!("{} line {}", path.display(), texts.len() + 1))?;
        positions.insert(document.id, texts.len());
        texts.push(joined(&document.title, &document.text));
    }
    ensure!(!texts.is_empty(), "{} holds no texts", path.display());
    Ok((positions, texts))
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
    queries: &HashMap<String, usize>,
    passages: &HashMap<String, usize>,
) -> Result<Vec<Pair>> {
    let mut pairs = Vec::new();
    for (number, line) in lines(path)?.enumerate().skip(1) {
        let line = line?;
        let pair = parse_judgment(&line, queries, passages)
            .with_context(|| format!("{} line {}: {line:?}", path.display(), number + 1))?;
        pairs.extend(pair);
    }
    Ok(pairs)
}

/// The pair of one judgment, `None` if it says "not relevant".
fn parse_judgment(
    line: &str,
    queries: &HashMap<String, usize>,
    passages: &HashMap<String, usize>,
) -> Result<Option<Pair>> {
    let mut fields = line.split('\t');
    let mut field = || {
        fields
            .next()
            .context("expected query-id, corpus-id and score")
    };
    let query = *queries.get(field()?).context("no such query")?;
    let passage = *passages.get(field()?).context("no such passage")?;
    let score: f32 = field()?.trim().parse().context("the score is no number")?;
    Ok((score > 0.0).then_some(Pair { query, passage }))
}

fn lines(path: &Path) -> Result<std::io::Lines<BufReader<File>>> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(BufReader::new(file).lines())
}
