//! The `siskin-train` command.

#![allow(clippy::print_stdout, reason = "a table is the result of the command")]

use clap::{Parser, Subcommand};
use siskin_train::{
    adapt, device, distil, experiments, export, fetch, fit, measure, mine, pairs, queries, rows,
    synonyms, words,
};

/// Trains Siskin's encoder and exports it.
#[derive(Parser, Debug)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    step: Step,
}

/// The steps in the order in which they are run.
#[derive(Subcommand, Debug)]
enum Step {
    /// Copy or download a base model and check that it can be read.
    Base(fetch::Args),
    /// Make training pairs of documentation: headings, words of links and titles with their passages.
    Pairs(pairs::Args),
    /// Find hard negatives: passages that look like an answer to a training query and are none.
    Mine(mine::Args),
    /// Initialise the heads from whitened samples and train them, and the backbone, on pairs.
    Fit(fit::Args),
    /// Rank passages by a checkpoint's buckets: each, together, weighted, the best for each query.
    Measure(measure::Args),
    /// Distil static rows, attention pooling and query centring from the encoder.
    Rows(rows::Args),
    /// Train a small network that sees queries as an encoder does.
    Distil(distil::Args),
    /// Make an encoder for one site: dimensions sampled from its own passages.
    Adapt(adapt::Args),
    /// Measure what the choices of the paper are worth, on cached token vectors, and write the report.
    Experiments(experiments::Args),
    /// Write the encoder folder: ONNX, tokenizer, rows, golden vectors.
    Export(export::Args),
    /// Give an exported encoder rows for words that its vocabulary has only in parts.
    Words(words::Args),
    /// Give an exported encoder what a thesaurus says of words.
    Synonyms(synonyms::Args),
    /// Give an exported encoder biases and norms of its own for reading queries.
    Queries(queries::Args),
}

fn main() -> anyhow::Result<()> {
    let arguments = fit::recipe::expanded(std::env::args_os().collect());
    match Arguments::parse_from(arguments).step {
        Step::Base(args) => fetch::run(&args),
        Step::Pairs(args) => pairs::run(&args),
        Step::Mine(args) => {
            mine::run(&args).map_err(|error| device::advised(error, device::END_OTHERS))
        }
        Step::Fit(args) => fit::run(&args).map_err(|error| fit::advised(error, &args.settings)),
        Step::Measure(args) => {
            let lines =
                measure::run(&args).map_err(|error| device::advised(error, device::END_OTHERS))?;
            println!("{}", lines.join("\n"));
            Ok(())
        }
        Step::Rows(args) => rows::run(&args),
        Step::Distil(args) => distil::run(&args),
        Step::Adapt(args) => {
            adapt::run(&args).map_err(|error| device::advised(error, "lower --sample-tokens"))
        }
        Step::Experiments(args) => experiments::run(&args),
        Step::Export(args) => export::run(&args),
        Step::Words(args) => words::run(&args),
        Step::Synonyms(args) => synonyms::run(&args),
        Step::Queries(args) => queries::run(&args),
    }
}
