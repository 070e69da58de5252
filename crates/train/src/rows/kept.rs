//! Rows for other heads on the same network: static rows, pooling and the mean query vector of an encoder are
//! kept, and only the tables of dimensions are made anew.

use std::path::Path;

use anyhow::{Result, ensure};
use serde_json::json;

use super::network::Network;
use super::texts::{self, Source};
use super::{Args, pack, report_of};
use crate::files::write_whole;
use crate::manifest::Manifest;

/// Writes the rows' file and its report.
///
/// # Errors
/// When the encoder's files cannot be read, or it is of a network of another width.
pub fn run(args: &Args, encoder: &Path) -> Result<()> {
    let manifest = Manifest::read(encoder)?;
    let network = Network::open(args)?;
    ensure!(
        !network.is_trained && network.static_rows.is_none(),
        "the checkpoint was trained with its network, for which rows of another are no good: leave --keep out"
    );
    let dim = network.encoder.dim();
    ensure!(
        manifest.dim == dim,
        "{} is of another network: its vectors do not have {dim} values",
        encoder.display()
    );
    let texts = texts::collect(&args.texts, args.pairs, args.seed)?;
    let passages = network.tokenize(&texts.passages)?;
    let (generic, alone) = network.tables(&network.lone_pieces(), &passages)?;
    ensure!(
        !generic.is_empty(),
        "--keep makes tables for the heads of a checkpoint: give --checkpoint"
    );
    let mut tensors = pack::read_all_but_tables(&encoder.join("rows.safetensors"))?;
    tensors.extend(pack::tables(&generic, &alone));
    pack::write_tensors(&tensors, &args.out)?;
    let report = json!({
        "format": 1,
        "query_mean": manifest.query_mean,
        "heads": network.heads_identity()?,
        "network": network.id,
        "kept_from": manifest.name,
        "kept": manifest.training.get("rows"),
        "seed": args.seed,
        "data": args.texts.iter().map(Source::name).collect::<Vec<_>>(),
        "passages": texts.passages.len(),
    });
    let report = serde_json::to_string_pretty(&report)? + "\n";
    write_whole(&report_of(&args.out), report.as_bytes())
}
