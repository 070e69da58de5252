//! Training texts from BEIR folders: short texts that look like queries, page titles, and pairs
//! of a query and the passage that answers it.
//!
//! Only queries judged in `qrels/train.tsv` are read; a folder without that file is refused, so
//! that no measurement's queries slip in.

use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;
use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Result, ensure};

use crate::collection::Collection;
use crate::random::Random;

/// Random choices of queries and titles.
const TEXTS_STREAM: u64 = 5_000_000_000;
/// Words that a short text has at most; longer ones are no queries.
const MAX_WORDS: usize = 40;

/// A BEIR folder, and how many queries and titles to take from it at most.
///
/// Written `FOLDER` or `FOLDER=LIMIT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Holds `corpus.jsonl`, `queries.jsonl` and `qrels/train.tsv`.
    pub folder: PathBuf,
    /// Most queries, and most titles.
    pub limit: usize,
}

impl FromStr for Source {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let limited = text
            .rsplit_once('=')
            .and_then(|(folder, limit)| Some((folder, limit.parse().ok()?)));
        let (folder, limit) = limited.unwrap_or((text, usize::MAX));
        Ok(Self {
            folder: folder.into(),
            limit,
        })
    }
}

impl Source {
    /// The folder's last name.
    pub fn name(&self) -> String {
        self.folder
            .file_name()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }
}

/// A query and the passage that answers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPair {
    /// Index into [`Texts::shorts`].
    pub query: usize,
    /// Index into [`Texts::passages`].
    pub passage: usize,
    /// Index of the source.
    pub collection: usize,
}

/// Everything collected from the sources.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    /// Short texts, each once: the queries first.
    pub shorts: Vec<String>,
    /// How many of `shorts` are queries; the rest are page titles.
    pub query_count: usize,
    /// Passages of the pairs: title and text.
    pub passages: Vec<String>,
    /// Pairs, at most one per query.
    pub pairs: Vec<TextPair>,
}

/// What one source holds.
struct Collected {
    titles: Vec<String>,
    /// Query and the passage that answers it.
    queries: Vec<(String, String)>,
}

/// Reads all sources; `pair_limit` pairs are taken evenly from them.
///
/// # Errors
/// When a folder lacks a file or a line is malformed; the message names it.
pub fn collect(sources: &[Source], pair_limit: usize, seed: u64) -> Result<Texts> {
    let mut random = Random::new(seed, TEXTS_STREAM);
    let collections = sources.iter().map(|source| read_texts(source, &mut random));
    let collections = collections.collect::<Result<Vec<_>>>()?;
    let mut shorts = Unique::default();
    let queries: Vec<Vec<usize>> = collections
        .iter()
        .map(|collection| {
            collection
                .queries
                .iter()
                .map(|(query, _)| shorts.add(query))
                .collect()
        })
        .collect();
    let query_count = shorts.texts.len();
    for title in collections.iter().flat_map(|collection| &collection.titles) {
        shorts.add(title);
    }
    let mut passages = Unique::default();
    let pairs = take_pairs(&collections, &queries, pair_limit, &mut passages);
    Ok(Texts {
        shorts: shorts.texts,
        query_count,
        passages: passages.texts,
        pairs,
    })
}

/// Texts, each once, with their positions.
#[derive(Default)]
struct Unique {
    texts: Vec<String>,
    positions: HashMap<String, usize>,
}

impl Unique {
    fn add(&mut self, text: &str) -> usize {
        if let Some(position) = self.positions.get(text) {
            return *position;
        }
        let position = self.texts.len();
        self.texts.push(text.to_owned());
        self.positions.insert(text.to_owned(), position);
        position
    }
}

/// One pair from each collection in turn until `limit` is reached or all are used.
fn take_pairs(
    collections: &[Collected],
    queries: &[Vec<usize>],
    limit: usize,
    passages: &mut Unique,
) -> Vec<TextPair> {
    let longest = queries.iter().map(Vec::len).max().unwrap_or(0);
    let turn = |turn: usize| {
        let sides = collections.iter().zip(queries).enumerate();
        sides.filter_map(move |(collection, (source, queries))| {
            let (_, passage) = source.queries.get(turn)?;
            Some((collection, *queries.get(turn)?, passage))
        })
    };
    let in_turn = (0..longest).flat_map(turn).take(limit);
    let pairs = in_turn.map(|(collection, query, passage)| TextPair {
        query,
        passage: passages.add(passage),
        collection,
    });
    pairs.collect()
}

fn read_texts(source: &Source, random: &mut Random) -> Result<Collected> {
    let collection = Collection::read_and_report(&source.folder)?;
    ensure!(
        !collection.pairs.is_empty(),
        "{}: only sets with training judgments may be trained on, and it has none in qrels/train.tsv",
        source.folder.display()
    );
    let mut answers: HashMap<usize, usize> = HashMap::new();
    for pair in &collection.pairs {
        answers.entry(pair.query).or_insert(pair.passage);
    }
    let mut queries: Vec<(usize, usize)> = answers
        .into_iter()
        .filter(|(query, _)| is_short(&collection.queries[*query]))
        .collect();
    queries.sort_unstable();
    random.shuffle(&mut queries);
    queries.truncate(source.limit);
    let titles = collection.titles.iter().map(|title| title.trim());
    let titles: BTreeSet<&str> = titles.filter(|title| is_short(title)).collect();
    let mut titles: Vec<String> = titles.into_iter().map(str::to_owned).collect();
    random.shuffle(&mut titles);
    titles.truncate(source.limit);
    let queries = queries.into_iter().map(|(query, passage)| {
        let query = collection.queries[query].trim().to_owned();
        (query, collection.passages[passage].clone())
    });
    Ok(Collected {
        titles,
        queries: queries.collect(),
    })
}

fn is_short(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric) && text.split_whitespace().count() <= MAX_WORDS
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    fn write_set(folder: &Path, name: &str, count: usize) -> Source {
        let folder = folder.join(name);
        fs::create_dir_all(folder.join("qrels")).unwrap();
        let lines =
            |of: &dyn Fn(usize) -> String| (0..count).map(of).collect::<Vec<_>>().join("\n");
        fs::write(
            folder.join("corpus.jsonl"),
            lines(&|i| format!(r#"{{"_id":"d{i}","title":"{name} page {i}","text":"body {i}"}}"#)),
        )
        .unwrap();
        fs::write(
            folder.join("queries.jsonl"),
            lines(&|i| format!(r#"{{"_id":"q{i}","text":"{name} query {i}"}}"#)),
        )
        .unwrap();
        let judged = (0..count - 1)
            .map(|i| format!("q{i}\td{i}\t1\n"))
            .collect::<String>();
        fs::write(
            folder.join("qrels/train.tsv"),
            format!("query-id\tcorpus-id\tscore\n{judged}"),
        )
        .unwrap();
        Source {
            folder,
            limit: usize::MAX,
        }
    }

    #[test]
    fn pairs_come_evenly_and_untrained_queries_stay_out() {
        let folder = tempfile::tempdir().unwrap();
        let sources = [
            write_set(folder.path(), "small", 4),
            write_set(folder.path(), "large", 30),
        ];
        let texts = collect(&sources, 10, 1).unwrap();
        assert_eq!(texts.query_count, 3 + 29);
        assert_eq!(texts.shorts.len(), 3 + 29 + 4 + 30);
        assert!(!texts.shorts.iter().any(|text| text == "large query 29"));
        let from_small = texts
            .pairs
            .iter()
            .filter(|pair| pair.collection == 0)
            .count();
        assert_eq!((from_small, texts.pairs.len()), (3, 10));
        for pair in &texts.pairs {
            let number = texts.shorts[pair.query].rsplit(' ').next().unwrap();
            assert!(texts.passages[pair.passage].ends_with(&format!("\nbody {number}")));
        }
    }

    #[test]
    fn a_limit_follows_the_folder() {
        assert_eq!(
            "a/b=12".parse(),
            Ok(Source {
                folder: "a/b".into(),
                limit: 12
            })
        );
        assert_eq!(
            "a/b=c".parse(),
            Ok(Source {
                folder: "a/b=c".into(),
                limit: usize::MAX
            })
        );
    }

    #[test]
    fn sets_without_training_judgments_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let source = write_set(folder.path(), "dev", 3);
        fs::remove_file(source.folder.join("qrels/train.tsv")).unwrap();
        let error = format!("{:#}", collect(&[source], 10, 1).unwrap_err());
        assert!(
            error.contains("only sets with training judgments"),
            "{error}"
        );
    }
}
