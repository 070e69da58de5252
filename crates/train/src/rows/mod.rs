//! The `rows` step: what a query needs when no network is asked, distilled from the encoder.
//!
//! * static rows ([`bag`]): one vector per word piece whose sum predicts the sentence vector;
//! * tables of dimensions per piece ([`counts`]): over generic passages, and of the piece alone;
//! * attention pooling of passages ([`pooling`]), used while indexing;
//! * the mean query vector, which everything is centred on.
//!
//! Written are `rows.safetensors` ([`pack`]) and, beside it, `rows.json` with the mean query
//! vector, where the training texts came from, and how well held-out texts are predicted.

mod bag;
mod cache;
mod counts;
mod encode;
mod pack;
mod pooling;
mod report;
mod texts;
mod vector;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use candle_core::Device;

use crate::base::Base;
use crate::checkpoint::{Bucket, Checkpoint};
use crate::tokenize::Tokenizer;
use crate::wta::Head;
use counts::WinnerCounts;
use encode::{Encoder, TokenVectors};
use pack::{DimensionTable, RowsFile};
use pooling::{Pair, Passages, Pooling};
use report::{CosineReport, PoolingReport, Report};
use texts::{Source, TextPair, Texts};
use vector::{Order, mean_row, normalize};

/// Rows of token vectors that winners are computed of at a time.
const WINNER_ROWS: usize = 1024;

/// Arguments of `siskin-train rows`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Folder of the base model.
    #[arg(long)]
    pub base: PathBuf,
    /// Checkpoint folder written by `siskin-train fit`; without it the base model is distilled
    /// and the tables of dimensions are left out.
    #[arg(long)]
    pub checkpoint: Option<PathBuf>,
    /// BEIR folders with training judgments; `FOLDER=LIMIT` takes at most LIMIT queries and
    /// LIMIT titles.
    #[arg(long, num_args = 1.., required = true)]
    pub texts: Vec<Source>,
    /// The file to write; `rows.json` goes beside it.
    #[arg(long)]
    pub out: PathBuf,
    /// Folder for computed vectors, so that a stopped run resumes [default: `cache` beside OUT].
    #[arg(long)]
    pub cache: Option<PathBuf>,
    /// Pairs of query and passage for pooling and for counting winners, evenly from all folders.
    #[arg(long, default_value_t = 12_000)]
    pub pairs: usize,
    /// Texts held out of the training of static rows; a tenth of the pairs is held out of pooling.
    #[arg(long, default_value_t = 3_000)]
    pub held_out: usize,
    /// Seed of every random choice.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Distils the rows and writes them with their report.
///
/// # Errors
/// When a file cannot be read or written, or texts are too few.
pub fn run(args: &Args) -> Result<()> {
    let network = Network::open(args)?;
    let texts = texts::collect(&args.texts, args.pairs, args.seed)?;
    ensure!(
        texts.shorts.len() > 2 * args.held_out,
        "{} short texts are too few to hold {} out",
        texts.shorts.len(),
        args.held_out
    );
    eprintln!(
        "{} short texts, {} pairs, {} passages",
        texts.shorts.len(),
        texts.pairs.len(),
        texts.passages.len()
    );

    let lone = network.lone_pieces();
    let alone = network
        .encoder
        .token_vectors("alone", &lone, network.encoder.last_layer())?;
    let own = own_vectors(&alone, network.encoder.dim());
    let shorts = network.tokenize(&texts.shorts)?;
    let vectors = network.encoder.sentence_vectors("shorts", &shorts)?;
    let dim = network.encoder.dim();
    let query_mean = bag::mean(
        vectors.get(..texts.query_count * dim).unwrap_or(&vectors),
        dim,
    );

    let (static_rows, cosine) = static_rows(args, &own, &shorts, &vectors, &query_mean)?;
    let passages = network.tokenize(&texts.passages)?;
    let hidden =
        network
            .encoder
            .token_vectors("passages", &passages, network.encoder.last_layer())?;
    let (pooling, pooled) = attention(
        args,
        &texts,
        &passages,
        &hidden,
        &vectors,
        &query_mean,
        network.vocabulary,
    )?;
    let (generic, alone) = network.tables(&lone, &passages)?;

    let packed = pack::pack(&static_rows, dim);
    let file = RowsFile {
        dim,
        static_rows: &packed,
        generic: &generic,
        alone: &alone,
        pooling: (&pooling.attention, &pooling.bias),
    };
    pack::write(&file, &args.out)?;
    let report = Report::new(args, &texts, query_mean, cosine, pooled);
    report.write(&args.out.with_extension("json"))
}

/// The network that is distilled.
struct Network {
    encoder: Encoder,
    tokenizer: Tokenizer,
    heads: Vec<(Bucket, Head)>,
    vocabulary: usize,
    /// `[CLS]` and `[SEP]`.
    special: [u32; 2],
}

impl Network {
    fn open(args: &Args) -> Result<Self> {
        let device = Device::Cpu;
        let base = Base::open(&args.base, &device)?;
        let checkpoint = args
            .checkpoint
            .as_deref()
            .map(|folder| Checkpoint::load(folder, &device))
            .transpose()?;
        let tokenizer = base.tokenizer()?;
        let empty = tokenizer.encode("")?;
        let &[first, last] = empty.as_slice() else {
            anyhow::bail!(
                "the tokenizer wraps no text in {} pieces, not in [CLS] and [SEP]",
                empty.len()
            )
        };
        let bert = checkpoint
            .as_ref()
            .map_or_else(|| base.bert(), |checkpoint| checkpoint.bert(&base))?;
        let folder = args
            .cache
            .clone()
            .unwrap_or_else(|| beside(&args.out, "cache"));
        let probe = tokenizer.encode("the network that is distilled")?;
        let heads = checkpoint.map_or_else(Vec::new, |c| {
            c.state.buckets.into_iter().zip(c.heads).collect()
        });
        Ok(Self {
            encoder: Encoder::new(bert, &folder, &probe)?,
            tokenizer,
            heads,
            vocabulary: base.config.vocab_size,
            special: [first, last],
        })
    }

    fn tokenize(&self, texts: &[String]) -> Result<Vec<Vec<u32>>> {
        texts
            .iter()
            .map(|text| self.tokenizer.encode(text))
            .collect()
    }

    /// Every piece of the vocabulary as a text of its own.
    fn lone_pieces(&self) -> Vec<Vec<u32>> {
        let [first, last] = self.special;
        (0u32..)
            .take(self.vocabulary)
            .map(|piece| vec![first, piece, last])
            .collect()
    }

    /// Per bucket the tables over `passages` and of the pieces alone.
    fn tables(
        &self,
        lone: &[Vec<u32>],
        passages: &[Vec<u32>],
    ) -> Result<(Vec<DimensionTable>, Vec<DimensionTable>)> {
        let mut tables = (Vec::new(), Vec::new());
        for (bucket, head) in &self.heads {
            let hidden = self
                .encoder
                .token_vectors("passages", passages, bucket.layer)?;
            tables.0.push(self.generic_table(head, passages, &hidden)?);
            let hidden = self.encoder.token_vectors("alone", lone, bucket.layer)?;
            tables.1.push(self.alone_table(head, &hidden)?);
        }
        Ok(tables)
    }

    fn generic_table(
        &self,
        head: &Head,
        passages: &[Vec<u32>],
        vectors: &TokenVectors,
    ) -> Result<DimensionTable> {
        let mut counts = WinnerCounts::default();
        let bar = encode::progress("counting winners", passages.len() as u64)?;
        let dim = self.encoder.dim();
        for (passage, offset) in passages.iter().zip(&vectors.offsets) {
            let hidden = vectors
                .hidden
                .get(offset * dim..(offset + passage.len()) * dim)
                .context("a passage lacks vectors")?;
            let winners = encode::winners(head, hidden, dim)?;
            for (piece, won) in passage.iter().zip(winners.dimensions.chunks(head.k)) {
                if !self.special.contains(piece) {
                    counts.add(*piece, won.iter().copied());
                }
            }
            bar.inc(1);
        }
        bar.finish();
        Ok(counts.table(self.vocabulary))
    }

    /// Winners of the middle token of every `[CLS] piece [SEP]`.
    fn alone_table(&self, head: &Head, vectors: &TokenVectors) -> Result<DimensionTable> {
        let dim = self.encoder.dim();
        let middle: Vec<_> = vectors
            .hidden
            .chunks(3 * dim)
            .flat_map(|text| text.get(dim..2 * dim).unwrap_or(&[]))
            .copied()
            .collect();
        let mut rows = Vec::with_capacity(self.vocabulary);
        for tokens in middle.chunks(WINNER_ROWS * dim) {
            let winners = encode::winners(head, tokens, dim)?;
            let entries: Vec<(u32, f32)> = winners
                .dimensions
                .into_iter()
                .zip(winners.activations)
                .collect();
            rows.extend(entries.chunks(head.k).map(<[_]>::to_vec));
        }
        Ok(DimensionTable {
            width: head.k,
            rows,
        })
    }
}

/// `name` in the folder of `file`.
fn beside(file: &Path, name: &str) -> PathBuf {
    file.parent().unwrap_or(Path::new(".")).join(name)
}

/// Unit mean vectors of the lone pieces: `[pieces, dim]`.
fn own_vectors(alone: &TokenVectors, dim: usize) -> Vec<f32> {
    let texts = alone.hidden.chunks(3 * dim);
    let own = texts.flat_map(|text| {
        let mut mean = mean_row(vector::widen(text).chunks(dim), dim);
        normalize(&mut mean);
        mean
    });
    own.collect()
}

/// Trains static rows; returns them (`[pieces, dim]`) and the held-out cosines.
fn static_rows(
    args: &Args,
    own: &[f32],
    shorts: &[Vec<u32>],
    vectors: &[f32],
    mean: &[f32],
) -> Result<(Vec<f32>, CosineReport)> {
    let dim = mean.len();
    let mut order: Vec<usize> = (0..shorts.len()).collect();
    Order::new(args.seed).shuffle(&mut order);
    let (held_out, train) = order.split_at(args.held_out);
    let targets = bag::targets(vectors, mean);
    let (held_out, train) = (
        Split::take(held_out, shorts, &targets, dim),
        Split::take(train, shorts, &targets, dim),
    );

    let occurrences = bag::occurrences(&train.pieces, own.len() / dim);
    let mut rows = bag::start(own, mean, &occurrences);
    let start = bag::mean_cosine(&rows, dim, &held_out.texts());
    let options = bag::Options {
        seed: args.seed,
        ..bag::Options::default()
    };
    bag::train(&mut rows, dim, &train.texts(), &options, |epoch, rows| {
        let cosine = bag::mean_cosine(rows, dim, &held_out.texts());
        eprintln!(
            "static rows, epoch {}: held-out cosine {cosine:.4}",
            epoch + 1
        );
    })?;
    let seen = pack::unpack(&pack::pack(&rows, dim), dim);
    let report = CosineReport {
        train_texts: train.pieces.len(),
        held_out_texts: held_out.pieces.len(),
        start,
        end: bag::mean_cosine(&rows, dim, &held_out.texts()),
        end_packed: bag::mean_cosine(&seen, dim, &held_out.texts()),
        pieces_seen: occurrences.iter().filter(|count| **count > 0).count(),
    };
    Ok((rows, report))
}

/// Texts as unique pieces with their targets.
struct Split {
    pieces: Vec<Vec<u32>>,
    targets: Vec<f32>,
}

impl Split {
    fn take(chosen: &[usize], shorts: &[Vec<u32>], targets: &[f32], dim: usize) -> Self {
        let chosen = || chosen.iter().copied();
        Self {
            pieces: chosen()
                .filter_map(|text| shorts.get(text))
                .map(|text| unique_inner(text))
                .collect(),
            targets: chosen()
                .filter_map(|text| targets.get(text * dim..(text + 1) * dim))
                .flatten()
                .copied()
                .collect(),
        }
    }

    fn texts(&self) -> bag::Texts<'_> {
        bag::Texts {
            pieces: &self.pieces,
            targets: &self.targets,
        }
    }
}

/// The pieces between `[CLS]` and `[SEP]`, each once, ascending.
fn unique_inner(text: &[u32]) -> Vec<u32> {
    let mut pieces = text
        .get(1..text.len().saturating_sub(1))
        .unwrap_or(&[])
        .to_vec();
    pieces.sort_unstable();
    pieces.dedup();
    pieces
}

/// Trains attention pooling; a tenth of the passages, with their pairs, is held out.
fn attention(
    args: &Args,
    texts: &Texts,
    pieces: &[Vec<u32>],
    vectors: &TokenVectors,
    shorts: &[f32],
    query_mean: &[f32],
    vocabulary: usize,
) -> Result<(Pooling, PoolingReport)> {
    let dim = query_mean.len();
    let queries = bag::targets(shorts, query_mean);
    let pair = |pair: &TextPair| {
        let query = queries.get(pair.query * dim..(pair.query + 1) * dim)?;
        Some(Pair {
            query,
            passage: pair.passage,
            collection: pair.collection,
        })
    };
    let pairs: Vec<Pair> = texts.pairs.iter().filter_map(pair).collect();
    let (held_out, train): (Vec<Pair>, Vec<Pair>) =
        pairs.into_iter().partition(|pair| pair.passage % 10 == 0);
    ensure!(
        !held_out.is_empty() && !train.is_empty(),
        "too few pairs for attention pooling"
    );

    let passages = Passages {
        pieces,
        offsets: &vectors.offsets,
        hidden: &vectors.hidden,
        dim,
    };
    let plain = Pooling {
        attention: vec![0.0; dim],
        bias: vec![0.0; vocabulary],
    };
    let mean_pooling = pooling::rank(&passages, &held_out, &plain);
    eprintln!("pooling by the mean: held-out {mean_pooling:?}");
    let options = pooling::Options {
        seed: args.seed,
        ..pooling::Options::default()
    };
    let trained = pooling::train(
        &passages,
        &train,
        vocabulary,
        &options,
        |epoch, loss, pooling| {
            let ranking = pooling::rank(&passages, &held_out, pooling);
            eprintln!(
                "pooling, epoch {}: loss {loss:.4}, held-out {ranking:?}",
                epoch + 1
            );
        },
    );
    let learned = pooling::rank(&passages, &held_out, &trained);
    let report = PoolingReport {
        train_pairs: train.len(),
        held_out_pairs: held_out.len(),
        mean_pooling,
        learned,
    };
    Ok((trained, report))
}
