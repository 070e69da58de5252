//! The `mine` step: hard negatives, passages that look like an answer to a training query and are none.
//!
//! For each collection a file `NAME.tsv` with a header and a line for each: `query-id`, `corpus-id`, hardest
//! first. `fit --negatives` reads it.
//!
//! * By words: the passages that BM25 ranks highest (Karpukhin et al. 2020).
//! * By a model: those that codes and dense vectors of a checkpoint put nearest (Xiong et al. 2021). A passage
//!   that comes too near to the answer's own relevance is taken for an answer that nobody marked, and left
//!   out (Moreira et al. 2024).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use candle_core::Device;
use indicatif::ProgressBar;
use rayon::prelude::*;
use siskin_core::bm25::Bm25;

use crate::base::Base;
use crate::checkpoint::Checkpoint;
use crate::collection::{Collection, check_names, first_of_text, name_of};
use crate::files::write_whole;
use crate::fit::held_out::{Measured, dense_scores, overlap_scores};
use crate::random::Random;
use crate::tokenize::Tokenizer;

/// Random streams of the seed.
const QUERIES_STREAM: u64 = 6_000;
const POOL_STREAM: u64 = 7_000;
/// First line of a file.
const HEADER: &str = "query-id\tcorpus-id";

/// What finds negatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Miner {
    /// Words.
    Bm25,
    /// The codes and dense vectors of a checkpoint: the current model.
    Model,
}

/// Arguments of `siskin-train mine`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Collections in the BEIR layout; negatives are found for the queries of their `train` splits.
    #[arg(long, required = true, num_args = 1..)]
    pub pairs: Vec<PathBuf>,
    /// Folder for the files.
    #[arg(long)]
    pub out: PathBuf,
    /// What finds them.
    #[arg(long, value_enum, default_value = "bm25")]
    pub by: Miner,
    /// Folder of the base model; for --by model.
    #[arg(long, required_if_eq("by", "model"))]
    pub base: Option<PathBuf>,
    /// Checkpoint to mine with; for --by model.
    #[arg(long, required_if_eq("by", "model"))]
    pub checkpoint: Option<PathBuf>,
    /// Negatives kept for a query, at most.
    #[arg(long, default_value_t = 8)]
    pub keep: usize,
    /// Queries of a collection, at most.
    #[arg(long, default_value_t = 2_000)]
    pub queries: usize,
    /// Passages of a collection that a model looks at, at most: answers, then others.
    #[arg(long, default_value_t = 2_000)]
    pub passages: usize,
    /// Share of an answer's relevance from which on a passage is left out, as a probable answer; for
    /// --by model.
    #[arg(long, default_value_t = 0.95)]
    pub closeness: f64,
    /// Chooses queries and passages where there are too many.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Negatives of a collection: by query, hardest first, as positions in the collection.
pub type Negatives = BTreeMap<usize, Vec<usize>>;

/// Runs the step; see [`Args`].
///
/// # Errors
/// When a collection or the checkpoint cannot be read, or a file cannot be written.
pub fn run(args: &Args) -> Result<()> {
    check(args)?;
    let model = match (&args.by, &args.base, &args.checkpoint) {
        (Miner::Bm25, ..) => None,
        (Miner::Model, Some(base), Some(checkpoint)) => Some(Model::open(base, checkpoint)?),
        (Miner::Model, ..) => bail!("--by model needs --base and --checkpoint"),
    };
    // All are looked at before the first is mined, which may take an hour.
    let collections = args.pairs.iter().map(|folder| judged(folder));
    let collections = collections.collect::<Result<Vec<_>>>()?;
    std::fs::create_dir_all(&args.out)
        .with_context(|| format!("cannot make {}", args.out.display()))?;
    let progress = ProgressBar::new(args.pairs.len() as u64).with_message("collections");
    for collection in progress.wrap_iter(collections.iter()) {
        let wanted = Wanted::new(collection, args);
        let negatives = match &model {
            None => by_words(collection, &wanted, args.keep),
            Some(model) => model.mine(collection, &wanted, args)?,
        };
        write(&args.out, collection, &negatives)?;
        let found: usize = negatives.values().map(Vec::len).sum();
        progress.suspend(|| {
            crate::say!(
                "{}: {found} negatives of {} queries",
                collection.name,
                negatives.len()
            );
        });
    }
    Ok(())
}

/// Refuses settings that find nothing, and files that are there already.
fn check(args: &Args) -> Result<()> {
    ensure!(args.keep > 0, "--keep 0 keeps nothing");
    ensure!(
        args.closeness > 0.0,
        "--closeness is a share above 0 of the answer's relevance"
    );
    check_names(&args.pairs)?;
    for folder in &args.pairs {
        let file = file(&args.out, &name_of(folder)?);
        ensure!(
            !file.exists(),
            "{} is there already: remove it, leave its collection out, or name another --out",
            file.display()
        );
    }
    Ok(())
}

/// The collection in `folder`, which has training judgments.
fn judged(folder: &Path) -> Result<Collection> {
    let collection = Collection::read_and_report(folder)?;
    ensure!(
        !collection.pairs.is_empty(),
        "{} has no training judgments: qrels/train.tsv is missing or empty",
        folder.display()
    );
    Ok(collection)
}

/// The queries to mine for, with their answers: by query, positions of passages.
struct Wanted {
    answers: BTreeMap<usize, HashSet<usize>>,
}

impl Wanted {
    fn new(collection: &Collection, args: &Args) -> Self {
        let mut answers: BTreeMap<usize, HashSet<usize>> = BTreeMap::new();
        for pair in &collection.pairs {
            answers.entry(pair.query).or_default().insert(pair.passage);
        }
        let mut queries: Vec<usize> = answers.keys().copied().collect();
        Random::new(args.seed, QUERIES_STREAM).shuffle(&mut queries);
        for left_out in queries.iter().skip(args.queries) {
            answers.remove(left_out);
        }
        Self { answers }
    }
}

/// The passages that BM25 ranks highest and that are no answers, nor say what an answer says.
fn by_words(collection: &Collection, wanted: &Wanted, keep: usize) -> Negatives {
    let index = Bm25::new(&collection.passages);
    let mine = |(&query, answers): (&usize, &HashSet<usize>)| {
        let scores = index.scores(&collection.queries[query]);
        let found = (0..scores.len()).filter(|&passage| scores[passage] > 0.0);
        let found = others(collection, answers, found);
        (query, hardest(found, |passage| scores[passage], keep))
    };
    wanted.answers.par_iter().map(mine).collect()
}

/// Those of `passages` that are no answer and have no answer's text.
fn others(
    collection: &Collection,
    answers: &HashSet<usize>,
    passages: impl Iterator<Item = usize>,
) -> Vec<usize> {
    let text = |passage: usize| collection.passages[passage].as_str();
    let texts: HashSet<&str> = answers.iter().map(|&answer| text(answer)).collect();
    passages
        .filter(|passage| !answers.contains(passage) && !texts.contains(text(*passage)))
        .collect()
}

/// The `keep` passages of the highest scores, highest first; equal ones in order of position.
fn hardest(mut passages: Vec<usize>, score: impl Fn(usize) -> f64, keep: usize) -> Vec<usize> {
    passages.sort_by(|&a, &b| score(b).total_cmp(&score(a)).then(a.cmp(&b)));
    passages.truncate(keep);
    passages
}

/// A checkpoint with its network.
struct Model {
    bert: crate::bert::Bert,
    checkpoint: Checkpoint,
    tokenizer: Tokenizer,
    device: Device,
}

impl Model {
    fn open(base: &Path, checkpoint: &Path) -> Result<Self> {
        let device = crate::device::automatic()?;
        let base = Base::open(base, &device)?;
        let checkpoint = Checkpoint::load(checkpoint, &device)?;
        checkpoint.check_base(&base)?;
        Ok(Self {
            bert: checkpoint.bert(&base)?,
            tokenizer: base.tokenizer()?,
            checkpoint,
            device,
        })
    }

    fn mine(&self, collection: &Collection, wanted: &Wanted, args: &Args) -> Result<Negatives> {
        let pool = pool(collection, wanted, args);
        let queries: Vec<usize> = wanted.answers.keys().copied().collect();
        let relevance = self.relevance(collection, &queries, &pool)?;
        let places: HashMap<usize, usize> = pool.iter().copied().zip(0..).collect();
        let mine = |(&query, relevance): (&usize, &Vec<f64>)| {
            let answers = &wanted.answers[&query];
            let found = others(collection, answers, pool.iter().copied());
            let bound = answers
                .iter()
                .map(|answer| relevance[places[answer]])
                .fold(f64::NEG_INFINITY, f64::max)
                * args.closeness;
            let score = |passage: usize| relevance[places[&passage]];
            let found = found.into_iter().filter(|&passage| score(passage) < bound);
            (query, hardest(found.collect(), score, args.keep))
        };
        Ok(queries.iter().zip(&relevance).map(mine).collect())
    }

    /// Query × passage of the pool: the cosine of dense vectors plus the overlap of all buckets, the latter
    /// as a share of the query's largest.
    fn relevance(
        &self,
        collection: &Collection,
        queries: &[usize],
        pool: &[usize],
    ) -> Result<Vec<Vec<f64>>> {
        let measured = Measured {
            bert: &self.bert,
            heads: &self.checkpoint.heads,
            buckets: &self.checkpoint.state.buckets,
            static_queries: None,
            passage_k: usize::MAX,
            device: &self.device,
        };
        let encode = |texts: &[String], at: &[usize]| {
            let pieces = at.iter().map(|&at| self.tokenizer.encode(&texts[at]));
            measured.encode(&pieces.collect::<Result<Vec<_>>>()?, usize::MAX)
        };
        let queries = encode(&collection.queries, queries)?;
        let passages = encode(&collection.passages, pool)?;
        let mut relevance = dense_scores(&queries.dense, &passages.dense, &self.device)?;
        for (queries, passages) in queries.buckets.iter().zip(&passages.buckets) {
            let overlaps = overlap_scores(queries, passages);
            for (relevance, overlaps) in relevance.iter_mut().zip(overlaps) {
                let largest = overlaps.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
                for (relevance, overlap) in relevance.iter_mut().zip(overlaps) {
                    *relevance += overlap / largest;
                }
            }
        }
        Ok(relevance)
    }
}

/// All answers, then random other passages up to the number wanted.
fn pool(collection: &Collection, wanted: &Wanted, args: &Args) -> Vec<usize> {
    let answers: HashSet<usize> = wanted.answers.values().flatten().copied().collect();
    let mut pool: Vec<usize> = answers.iter().copied().collect();
    pool.sort_unstable();
    let mut rest: Vec<usize> = (0..collection.passages.len())
        .filter(|passage| !answers.contains(passage))
        .collect();
    Random::new(args.seed, POOL_STREAM).shuffle(&mut rest);
    pool.extend(rest.iter().take(args.passages.saturating_sub(pool.len())));
    pool
}

fn write(folder: &Path, collection: &Collection, negatives: &Negatives) -> Result<()> {
    let mut text = format!("{HEADER}\n");
    for (&query, passages) in negatives {
        for &passage in passages {
            let (query, passage) = (
                &collection.query_ids[query],
                &collection.passage_ids[passage],
            );
            writeln!(text, "{query}\t{passage}")?;
        }
    }
    write_whole(&file(folder, &collection.name), text.as_bytes())
}

/// The file of the collection `name`.
fn file(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.tsv"))
}

/// The negatives of a collection from all of `folders`, those of the first folder first; none where no folder
/// has its file.
///
/// # Errors
/// When a line is malformed or names a text that the collection does not have.
pub fn read(folders: &[PathBuf], collection: &Collection) -> Result<Negatives> {
    let positions =
        |ids: &[String]| -> HashMap<String, usize> { ids.iter().cloned().zip(0..).collect() };
    let (queries, passages) = (
        positions(&collection.query_ids),
        positions(&collection.passage_ids),
    );
    // Of texts that are the same, pairs know the first alone.
    let first = first_of_text(&collection.passages);
    let mut negatives = Negatives::new();
    for path in folders.iter().map(|folder| file(folder, &collection.name)) {
        if !path.exists() {
            continue;
        }
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        ensure!(
            text.lines().next() == Some(HEADER),
            "{} line 1: expected {HEADER:?}",
            path.display()
        );
        for (number, line) in (1..).zip(text.lines()).skip(1) {
            let place = || format!("{} line {number}: {line:?}", path.display());
            let ids = line.split_once('\t');
            let (query, passage) = ids
                .context("expected query-id and corpus-id")
                .with_context(place)?;
            let query = queries.get(query).context("no such query");
            let passage = passages.get(passage).context("no such passage");
            let of_query = negatives.entry(*query.with_context(place)?).or_default();
            let passage = first[*passage.with_context(place)?];
            if !of_query.contains(&passage) {
                of_query.push(passage);
            }
        }
    }
    Ok(negatives)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::Pair;
    use clap::Parser;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        args: Args,
    }

    fn collection() -> Collection {
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        Collection {
            name: "pets".to_owned(),
            passages: texts(&["cats purr", "cats bite", "dogs bark", "cats purr"]),
            passage_ids: texts(&["p0", "p1", "p2", "p3"]),
            queries: texts(&["do cats purr"]),
            query_ids: texts(&["q0"]),
            pairs: vec![Pair {
                query: 0,
                passage: 0,
            }],
            ..Collection::default()
        }
    }

    #[test]
    fn words_find_what_looks_like_an_answer_and_is_none() -> Result<()> {
        let line = "mine --pairs p --out o";
        let args = Command::try_parse_from(line.split(' '))?.args;
        let wanted = Wanted::new(&collection(), &args);
        // Passage 3 says what the answer says, passage 2 shares no word.
        let expected = Negatives::from([(0, vec![1])]);
        assert_eq!(by_words(&collection(), &wanted, 8), expected);
        Ok(())
    }

    #[test]
    fn negatives_are_read_as_they_were_written_and_folders_add_up() -> Result<()> {
        let folders = [tempfile::tempdir()?, tempfile::tempdir()?];
        let paths: Vec<PathBuf> = folders.iter().map(|f| f.path().to_owned()).collect();
        write(
            &paths[0],
            &collection(),
            &Negatives::from([(0, vec![2, 1])]),
        )?;
        write(
            &paths[1],
            &collection(),
            &Negatives::from([(0, vec![1, 3])]),
        )?;
        // Passage 3 says what passage 0 says, which is the one that pairs know.
        let expected = Negatives::from([(0, vec![2, 1, 0])]);
        assert_eq!(read(&paths, &collection())?, expected);
        assert!(read(&["nowhere".into()], &collection())?.is_empty());
        Ok(())
    }

    #[test]
    fn a_negative_of_another_collection_is_an_error_with_its_line() -> Result<()> {
        let folder = tempfile::tempdir()?;
        for (line, words) in [("q0\tp9", "no such passage"), ("q0", "expected query-id")] {
            std::fs::write(
                folder.path().join("pets.tsv"),
                format!("{HEADER}\n{line}\n"),
            )?;
            let error = read(&[folder.path().to_owned()], &collection()).unwrap_err();
            let error = format!("{error:#}");
            assert!(error.contains("line 2") && error.contains(words), "{error}");
        }
        Ok(())
    }
}
