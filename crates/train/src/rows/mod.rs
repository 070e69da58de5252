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
mod kept;
mod material;
mod network;
pub(crate) mod pack;
mod pooling;
mod ranking;
mod report;
pub mod texts;
mod unseen;
pub(crate) mod vector;

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
pub(crate) use cache::{VectorCache, fingerprint};
use encode::TokenVectors;
pub(crate) use encode::progress;
use material::Material;
use network::Network;
use pack::RowsFile;
pub(crate) use pack::read_static_rows;
use pooling::{Pair, Pooling};
use ranking::Collections;
use report::{CosineReport, PoolingReport, Report};
use texts::Source;
use vector::{mean_row, normalize};

/// Arguments of `siskin-train rows`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Folder of the base model.
    #[arg(long)]
    pub base: PathBuf,
    /// Checkpoint folder written by `siskin-train fit`, whose static rows are kept if they were trained; without it the base model is distilled
    /// and the tables of dimensions are left out.
    #[arg(long)]
    pub checkpoint: Option<PathBuf>,
    /// Encoder folder whose static rows, pooling and mean query vector are kept, so that only the tables of dimensions
    /// are made: for other heads on the same network.
    #[arg(long)]
    pub keep: Option<PathBuf>,
    /// BEIR folders with training judgments; `FOLDER=LIMIT` takes at most LIMIT queries and
    /// LIMIT titles.
    #[arg(long, num_args = 1.., required = true)]
    pub texts: Vec<Source>,
    /// The file to write; its report goes beside it, with `.json`.
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
    check_out(&args.out)?;
    if let Some(encoder) = &args.keep {
        return kept::run(args, encoder);
    }
    let network = Network::open(args)?;
    let lone = network.lone_pieces();
    let encoder = &network.encoder;
    let own = own_vectors(
        &encoder.token_vectors("alone", &lone, encoder.last_layer())?,
        encoder.dim(),
    );
    let material = Material::gather(args, &network)?;
    let (static_rows, cosine) = static_rows(args, &network, &own, &material)?;
    let (pooling, ranking) = attention(args, &material, &static_rows, network.vocabulary);
    let (generic, alone) = network.tables(&lone, &material.passages)?;
    let packed = pack::pack(&static_rows, material.dim());
    let file = RowsFile {
        dim: material.dim(),
        static_rows: &packed,
        generic: &generic,
        alone: &alone,
        pooling: (&pooling.attention, &pooling.bias),
    };
    pack::write(&file, &args.out)?;
    let made_of = (network.heads_identity()?, network.id.clone());
    let report = Report::new(args, made_of, material, cosine, ranking);
    report.write(&report_of(&args.out))
}

/// The report beside the rows in `out`: `rows.json` of `rows.safetensors`, `rows-0.5.json` of `rows-0.5`.
pub(crate) fn report_of(out: &Path) -> PathBuf {
    match out
        .extension()
        .is_some_and(|extension| extension == "safetensors")
    {
        true => out.with_extension("json"),
        false => out.with_added_extension("json"),
    }
}

/// Refuses a place where rows or their report cannot lie, before they are made.
fn check_out(out: &Path) -> Result<()> {
    let report = report_of(out);
    ensure!(
        out.file_name().is_some() && out.extension().is_none_or(|extension| extension != "json"),
        "--out {}: name a file, such as rows.safetensors; its report goes beside it, with .json",
        out.display()
    );
    for path in [out, &report] {
        ensure!(
            !path.is_dir(),
            "--out {}: {} is a folder: name a file",
            out.display(),
            path.display()
        );
    }
    Ok(())
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

/// Trains static rows, or takes those that were trained with the network; returns them (`[pieces, dim]`) and the
/// held-out cosines.
fn static_rows(
    args: &Args,
    network: &Network,
    own: &[f32],
    material: &Material,
) -> Result<(Vec<f32>, CosineReport)> {
    let dim = material.dim();
    let (train, held_out) = material.split_shorts(args.held_out, args.seed);
    let (train, held_out) = (train.texts(), held_out.texts());
    let occurrences = bag::occurrences(train.pieces, own.len() / dim);
    let starts = unseen::starts(own, &material.query_mean);
    let mut rows = match &network.static_rows {
        Some(rows) => {
            crate::say!("static rows: those that were trained with the network are kept");
            rows.clone()
        }
        None => bag::weighted(&starts, &occurrences, dim),
    };
    let start = bag::mean_cosine(&rows, dim, &held_out);
    let mut trained = start;
    if network.static_rows.is_none() {
        let options = bag::Options {
            seed: args.seed,
            ..bag::Options::default()
        };
        bag::train(&mut rows, dim, &train, &options, |epoch, rows| {
            trained = bag::mean_cosine(rows, dim, &held_out);
            crate::say!(
                "static rows, epoch {}: held-out cosine {trained:.4}",
                epoch + 1
            );
        })?;
        unseen::complete(&mut rows, &starts, &occurrences, dim);
    }
    let seen = pack::unpack(&pack::pack(&rows, dim), dim);
    let report = CosineReport {
        train_texts: train.pieces.len(),
        held_out_texts: held_out.pieces.len(),
        start,
        trained,
        completed: bag::mean_cosine(&rows, dim, &held_out),
        packed: bag::mean_cosine(&seen, dim, &held_out),
        pieces_seen: occurrences.iter().filter(|count| **count > 0).count(),
    };
    Ok((rows, report))
}

/// Trains attention pooling; measures it with the network's queries and with those of
/// `static_rows`.
fn attention(
    args: &Args,
    material: &Material,
    static_rows: &[f32],
    vocabulary: usize,
) -> (Pooling, PoolingReport) {
    let (train, held_out) = material.split_pairs();
    let passages = material.token_vectors();
    let all: Vec<Pair> = train.iter().chain(&held_out).copied().collect();
    let collections = Collections::of(&all, material.passages.len());
    let rank =
        |pairs: &[Pair], pooling: &Pooling| ranking::rank(&passages, &collections, pairs, pooling);
    let plain = Pooling::plain(material.dim(), vocabulary);
    let mean_pooling = rank(&held_out, &plain);
    crate::say!("pooling by the mean: held-out {mean_pooling:?}");
    let options = pooling::Options {
        seed: args.seed,
        ..pooling::Options::default()
    };
    let trained = pooling::train(
        &passages,
        &collections,
        &train,
        vocabulary,
        &options,
        |epoch, loss, pooling| {
            let ranking = rank(&held_out, pooling);
            crate::say!(
                "pooling, epoch {}: loss {loss:.4}, held-out {ranking:?}",
                epoch + 1
            );
        },
    );
    let sums = material.held_out_sums(static_rows);
    let static_pairs: Vec<Pair> = held_out
        .iter()
        .zip(&sums)
        .map(|(pair, query)| Pair { query, ..*pair })
        .collect();
    let report = PoolingReport {
        train_pairs: train.len(),
        held_out_pairs: held_out.len(),
        mean_pooling,
        learned: rank(&held_out, &trained),
        mean_pooling_static_query: rank(&static_pairs, &plain),
        learned_static_query: rank(&static_pairs, &trained),
    };
    (trained, report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_where_rows_or_their_report_cannot_lie_are_refused() -> Result<()> {
        let place = tempfile::tempdir()?;
        let path = |name: &str| place.path().join(name);
        std::fs::create_dir(path("folder"))?;
        std::fs::create_dir(path("taken.json"))?;
        for (name, is_good) in [
            ("rows.safetensors", true),
            ("rows", true),
            ("rows.json", false),
            ("folder", false),
            ("taken.safetensors", false),
        ] {
            assert_eq!(check_out(&path(name)).is_ok(), is_good, "{name}");
        }
        Ok(())
    }
}
