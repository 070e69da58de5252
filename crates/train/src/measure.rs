//! The `measure` step: what the buckets of a checkpoint are worth, alone and together (UHD-BERT, tables
//! 4 to 6).
//!
//! Passages are ranked by binary codes as [`crate::fit::held_out`] tells. Weights of buckets are tuned on
//! one half of each collection's queries and measured on the other, both ways round; so are weights that are
//! predicted from the query alone (`weighting.rs`). The ideal bucket is the
//! one that ranks a query best, query by query: what a perfect choice of the bucket would give.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};
use candle_core::Device;

use crate::base::Base;
use crate::checkpoint::{Bucket, Checkpoint};
use crate::collection::Collection;
use crate::fit::data::HeldOutSet;
use crate::fit::held_out::{
    Codes, Measured, Scores, dense_scores, overlap_scores, rank, weighted_overlaps,
};
use crate::fit::settings::Rarity;
use crate::random::Random;
use crate::sample::candidates;
use crate::statistics::{ByQuery, Estimate, mean, quality};
use crate::tokenize::Tokenizer;
use crate::weighting::Tried;
use crate::wta::Head;

/// Random stream of the seed that chooses queries.
const QUERIES_STREAM: u64 = 4_000;
const ORDER_STREAM: u64 = 4_001;

/// Arguments of `siskin-train measure`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Folder of the base model: config.json, model.safetensors, tokenizer.json.
    #[arg(long)]
    pub base: PathBuf,
    /// Checkpoint to measure.
    #[arg(long)]
    pub checkpoint: PathBuf,
    /// Collections in the BEIR layout.
    #[arg(long, required = true, num_args = 1..)]
    pub collections: Vec<PathBuf>,
    /// Which of their judgments; what was trained on tells nothing.
    #[arg(long, default_value = "dev")]
    pub split: String,
    /// Queries of a collection, at most.
    #[arg(long, default_value_t = 200)]
    pub queries: usize,
    /// Passages ranked for them: all answers, and others up to this number.
    #[arg(long, default_value_t = 2_000)]
    pub passages: usize,
    /// Winners a token, one number for each bucket, instead of those that the checkpoint was trained with.
    #[arg(long, num_args = 1..)]
    pub winners: Vec<usize>,
    /// Dimensions that a query's code keeps after max-pooling, by summed activation; several are measured
    /// one after the other.
    #[arg(long, num_args = 1.., default_values_t = [10_000])]
    pub query_k: Vec<usize>,
    /// The same for passages.
    #[arg(long, num_args = 1.., default_values_t = [64])]
    pub passage_k: Vec<usize>,
    /// How much a shared dimension counts: by its rarity among the passages ranked, by the weights that `fit --rarity
    /// learned` left in the checkpoint, or as much as any.
    #[arg(long, value_enum, default_value = "counted")]
    pub rarity: Rarity,
    /// Chooses queries, passages and resamples.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// One line of the result.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What ranks.
    pub name: String,
    /// nDCG@10.
    pub quality: Estimate,
    /// MRR@10: mean over collections of the mean over queries.
    pub mrr_at_10: f64,
}

/// A collection's queries and passages as codes.
struct Coded {
    queries: Codes,
    passages: Codes,
    relevant: Vec<HashSet<usize>>,
}

/// Runs the step: its table as Markdown, line by line; see [`Args`].
///
/// # Errors
/// When a file cannot be read or a collection has no judgments of the split.
pub fn run(args: &Args) -> Result<Vec<String>> {
    ensure!(
        !args.query_k.contains(&0) && !args.passage_k.contains(&0),
        "--query-k and --passage-k are 1 at least"
    );
    let device = crate::device::automatic()?;
    let base = Base::open(&args.base, &device)?;
    let checkpoint = Checkpoint::load(&args.checkpoint, &device)?;
    checkpoint.check_base(&base)?;
    let (buckets, heads) = with_winners(&checkpoint, &args.winners)?;
    let bert = checkpoint.bert(&base)?;
    let measured = Measured {
        bert: &bert,
        heads: &heads,
        buckets: &buckets,
        static_queries: None,
        passage_k: usize::MAX,
        device: &device,
    };
    let tokenizer = base.tokenizer()?;
    let coded = args
        .collections
        .iter()
        .map(|folder| coded(folder, args, &tokenizer, &measured))
        .collect::<Result<Vec<_>>>()?;
    let weights = heads
        .iter()
        .map(|head| weights(head, args.rarity))
        .collect::<Result<Vec<_>>>()?;
    let mut table = vec![
        "| query k | passage k | | nDCG@10 | 95 % | MRR@10 |".to_owned(),
        "|---:|---:|---|---:|---:|---:|".to_owned(),
    ];
    for &query_k in &args.query_k {
        for &passage_k in &args.passage_k {
            let scored = (buckets.as_slice(), weights.as_slice());
            for line in lines(&coded, scored, (query_k, passage_k), args.seed, &device)? {
                table.push(format!("| {query_k} | {passage_k} {}", row(&line)));
            }
        }
    }
    Ok(table)
}

fn row(
    Line {
        name,
        quality,
        mrr_at_10,
    }: &Line,
) -> String {
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    format!(
        "| {name} | {} | {} to {} | {} |",
        percent(quality.value),
        percent(quality.low),
        percent(quality.high),
        percent(*mrr_at_10)
    )
}

/// Buckets and heads with other numbers of winners (k may change at inference).
fn with_winners(checkpoint: &Checkpoint, winners: &[usize]) -> Result<(Vec<Bucket>, Vec<Head>)> {
    let mut buckets = checkpoint.state.buckets.clone();
    let mut heads = checkpoint.heads.clone();
    if winners.is_empty() {
        return Ok((buckets, heads));
    }
    ensure!(
        winners.len() == buckets.len(),
        "--winners has {} numbers for {} buckets",
        winners.len(),
        buckets.len()
    );
    for ((bucket, head), &k) in buckets.iter_mut().zip(&mut heads).zip(winners) {
        let log_rarity = head.log_rarity.take();
        *head = Head::new(head.weight.clone(), head.bias.clone(), k)?;
        head.log_rarity = log_rarity;
        bucket.k = k;
    }
    Ok((buckets, heads))
}

fn coded(
    folder: &Path,
    args: &Args,
    tokenizer: &Tokenizer,
    measured: &Measured<'_>,
) -> Result<Coded> {
    let collection = Collection::read_split(folder, &args.split)?;
    ensure!(
        !collection.pairs.is_empty(),
        "{} has no judgments in qrels/{}.tsv",
        folder.display(),
        args.split
    );
    let set = questions(
        &collection,
        tokenizer,
        (args.queries, args.passages),
        args.seed,
    )?;
    Ok(Coded {
        queries: measured.encode(&set.queries, usize::MAX)?,
        passages: measured.encode(&set.passages, usize::MAX)?,
        relevant: set.relevant,
    })
}

/// At most `most` = (queries, passages) of a collection: queries that `seed` chooses, with all their
/// passages and random others, in random order.
pub(crate) fn questions(
    collection: &Collection,
    tokenizer: &Tokenizer,
    most: (usize, usize),
    seed: u64,
) -> Result<HeldOutSet> {
    let mut answers: HashMap<usize, Vec<usize>> = HashMap::new();
    for pair in &collection.pairs {
        answers.entry(pair.query).or_default().push(pair.passage);
    }
    let mut queries: Vec<usize> = answers.keys().copied().collect();
    queries.sort_unstable();
    Random::new(seed, QUERIES_STREAM).shuffle(&mut queries);
    queries.truncate(most.0);
    let mut relevant: Vec<usize> = queries
        .iter()
        .flat_map(|query| answers[query].clone())
        .collect();
    relevant.sort_unstable();
    let passages = candidates(
        relevant.into_iter(),
        (collection.passages.len(), most.1),
        (seed, [QUERIES_STREAM, ORDER_STREAM]),
    );
    let places: HashMap<usize, usize> = passages.iter().copied().zip(0..).collect();
    let encode = |texts: &[String], at: &[usize]| -> Result<Vec<Vec<u32>>> {
        at.iter().map(|&at| tokenizer.encode(&texts[at])).collect()
    };
    Ok(HeldOutSet {
        name: collection.name.clone(),
        queries: encode(&collection.queries, &queries)?,
        passages: encode(&collection.passages, &passages)?,
        relevant: queries
            .iter()
            .map(|query| {
                answers[query]
                    .iter()
                    .map(|passage| places[passage])
                    .collect()
            })
            .collect(),
    })
}

/// All rankings with codes cut at `k` = (of queries, of passages).
fn lines(
    coded: &[Coded],
    (buckets, weights): (&[Bucket], &[Weights]),
    k: (usize, usize),
    seed: u64,
    device: &Device,
) -> Result<Vec<Line>> {
    // By collection, bucket, query: the scores of all passages.
    let overlaps: Vec<Vec<Vec<Vec<f64>>>> = coded
        .iter()
        .map(|coded| {
            let buckets = weights.iter().enumerate();
            buckets
                .map(|(j, weights)| overlaps(coded, (j, weights), k))
                .collect()
        })
        .collect();
    let ranked = |weights: &[f64]| -> ByQuery { by_query(coded, &overlaps, weights) };
    let alone = |j: usize| {
        let weights: Vec<f64> = (0..buckets.len())
            .map(|i| f64::from(u8::from(i == j)))
            .collect();
        ranked(&weights)
    };
    let each: Vec<ByQuery> = (0..buckets.len()).map(alone).collect();
    let mut lines = Vec::new();
    for (j, (scores, Bucket { layer, n, k })) in each.iter().zip(buckets).enumerate() {
        let name = format!("bucket {j}: layer {layer}, n {n}, k {k}");
        lines.push(line(&name, scores, seed));
    }
    if buckets.len() > 1 {
        lines.extend(together(coded, ranked, &each, seed));
    }
    lines.push(line("dense", &dense(coded, device)?, seed));
    Ok(lines)
}

/// Rankings by all buckets together; `each` has those by one.
fn together(
    coded: &[Coded],
    ranked: impl Fn(&[f64]) -> ByQuery,
    each: &[ByQuery],
    seed: u64,
) -> [Line; 4] {
    let added = ranked(&vec![1.0; each.len()]);
    let tried = Tried::new(each.len(), ranked);
    let (tuned, weights) = tried.tuned();
    let vectors = coded.iter().map(|coded| coded.queries.dense.clone());
    let predicted = tried.predicted(&vectors.collect::<Vec<_>>());
    let best = ideal(each);
    [
        line("buckets added", &added, seed),
        line(&format!("buckets weighted ({weights})"), &tuned, seed),
        line(
            "buckets weighted by what the query's vector predicts",
            &predicted,
            seed,
        ),
        line("the best bucket of each query (ideal)", &best, seed),
    ]
}

/// Metrics by the cosine of mean-pooled vectors.
fn dense(coded: &[Coded], device: &Device) -> Result<ByQuery> {
    let of_collection = |coded: &Coded| {
        let scores = dense_scores(&coded.queries.dense, &coded.passages.dense, device)?;
        Ok(ranks(&scores, &coded.relevant))
    };
    coded.iter().map(of_collection).collect()
}

/// What each dimension of a bucket counts: `[n]`; absent where rarity is counted.
type Weights = Option<Vec<f32>>;

fn weights(head: &Head, rarity: Rarity) -> Result<Weights> {
    Ok(match (rarity, &head.log_rarity) {
        (Rarity::Counted, _) => None,
        (Rarity::None, _) => Some(vec![1.0; head.n()]),
        (Rarity::Learned, Some(rarity)) => Some(rarity.exp()?.to_vec1()?),
        (Rarity::Learned, None) => {
            bail!("the checkpoint has no learned rarity: `fit --rarity learned` makes it")
        }
    })
}

fn overlaps(
    coded: &Coded,
    (bucket, weights): (usize, &Weights),
    (query_k, passage_k): (usize, usize),
) -> Vec<Vec<f64>> {
    let cut = |codes: &'_ Codes, k: usize| -> Vec<Vec<u32>> {
        let cut = |code: &Vec<u32>| code.iter().copied().take(k).collect();
        codes.buckets[bucket].iter().map(cut).collect()
    };
    let queries = cut(&coded.queries, query_k);
    let passages = cut(&coded.passages, passage_k);
    match weights {
        None => overlap_scores(&queries, &passages),
        Some(weights) => weighted_overlaps(&queries, &passages, |&dimension| {
            let weight = weights.get(dimension as usize);
            weight.copied().map_or(0.0, f64::from)
        }),
    }
}

/// Metrics by the weighted sum of the buckets' overlaps.
fn by_query(coded: &[Coded], overlaps: &[Vec<Vec<Vec<f64>>>], weights: &[f64]) -> ByQuery {
    let collections = coded.iter().zip(overlaps);
    collections
        .map(|(coded, buckets)| {
            let queries = 0..coded.relevant.len();
            let total = |query: usize| {
                let passages = buckets.first().map_or(0, |bucket| bucket[query].len());
                let mut total = vec![0.0; passages];
                for (bucket, weight) in buckets.iter().zip(weights) {
                    for (sum, score) in total.iter_mut().zip(&bucket[query]) {
                        *sum += weight * score;
                    }
                }
                total
            };
            ranks(&queries.map(total).collect::<Vec<_>>(), &coded.relevant)
        })
        .collect()
}

pub(crate) fn ranks(scores: &[Vec<f64>], relevant: &[HashSet<usize>]) -> Vec<Scores> {
    let pairs = scores.iter().zip(relevant);
    pairs
        .map(|(scores, relevant)| rank(scores, relevant))
        .collect()
}

/// For each query the scores of the bucket that ranks it best.
pub(crate) fn ideal(each: &[ByQuery]) -> ByQuery {
    let mut best = each.first().cloned().unwrap_or_default();
    for bucket in each {
        for (best, scores) in best.iter_mut().flatten().zip(bucket.iter().flatten()) {
            if scores.ndcg_at_10 > best.ndcg_at_10 {
                *best = *scores;
            }
        }
    }
    best
}

fn line(name: &str, scores: &ByQuery, seed: u64) -> Line {
    Line {
        name: name.to_owned(),
        quality: quality(scores, seed),
        mrr_at_10: mean(scores).mrr_at_10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(all: &[f64]) -> Vec<Scores> {
        let of = |&ndcg_at_10: &f64| Scores {
            ndcg_at_10,
            mrr_at_10: 0.0,
        };
        all.iter().map(of).collect()
    }

    #[test]
    fn the_ideal_is_the_best_of_each_query() {
        let each = [vec![scores(&[0.1, 0.9])], vec![scores(&[0.4, 0.2])]];
        assert_eq!(ideal(&each), vec![scores(&[0.4, 0.9])]);
    }
}
