//! `cargo xtask package`: what a release consists of, for npm, PyPI and cargo. Publishes nothing.
//!
//! docs/packages.md says what is in each package and how an installation is laid out.

mod crates;
mod npm;
mod platform;
mod wheel;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::process::say;
use crate::stamp::{Inputs, Stamp};
use crate::workspace::Workspace;
use crate::{binary, dist, files};

pub use crates::check as check_crates;

/// The version of everything but the encoder.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What belongs to every package.
const LICENCES: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "NOTICE"];

/// The encoder as indexing needs it.
const ENCODER_FILES: [&str; 6] = [
    "encoder.json",
    "model.onnx",
    "queries.safetensors",
    "rows.safetensors",
    "synonyms.txt",
    "tokenizer.json",
];

/// What `cargo xtask dist` writes that no package carries: its report, and a part of the encoder.
const NOT_IN_PACKAGES: [&str; 2] = ["encoder", "sizes.json"];

/// Writes TARGET/packages and prints the sizes; leaves it alone if nothing changed.
pub fn run(workspace: &Workspace) -> Result<()> {
    dist::run(workspace)?;
    binary::compile(workspace, binary::SISKIN)?;
    let packages = workspace.packages();
    let stamp = stamp(workspace)?;
    if stamp.is_fresh() {
        say(&format!("packages: unchanged in {}", packages.display()));
        return print_sizes(&packages);
    }
    let staging = files::staging_beside(&packages)?;
    let contents = files::staging_beside(&workspace.target().join("package-contents"))?;
    npm::pack(workspace, &contents, &staging)?;
    wheel::build(workspace, &contents, &staging)?;
    crates::pack(workspace, &contents, &staging)?;
    files::remove_folder(&contents)?;
    files::replace(&packages, &staging)?;
    stamp.write()?;
    say(&format!("packages: written to {}", packages.display()));
    print_sizes(&packages)
}

fn stamp(workspace: &Workspace) -> Result<Stamp> {
    let siskin = files::sha256(&binary::path(workspace, binary::SISKIN))?;
    let mut inputs = Inputs::new(&format!("packages 1 {VERSION} {siskin}"))
        .path(workspace.target(), "dist.stamp")?
        .path(workspace.root(), "crates/cli/packages")?
        .path(workspace.root(), "crates")?
        .path(workspace.root(), "Cargo.toml")?
        .path(workspace.root(), "models/siskin-en")?;
    for licence in LICENCES {
        inputs = inputs.path(workspace.root(), licence)?;
    }
    Ok(inputs.stamp_for(&workspace.packages()))
}

fn copy_licences(workspace: &Workspace, to: &Path) -> Result<()> {
    copy_files(workspace.root(), &LICENCES, to)
}

fn copy_encoder(workspace: &Workspace, to: &Path) -> Result<()> {
    copy_files(&workspace.encoder(), &ENCODER_FILES, to)
}

fn copy_files(from: &Path, names: &[&str], to: &Path) -> Result<()> {
    for name in names {
        files::copy_file(&from.join(name), &to.join(name))?;
    }
    Ok(())
}

/// The browser's files, as every installation has them.
fn copy_runtime(workspace: &Workspace, to: &Path) -> Result<()> {
    files::copy_folder(&workspace.dist(), to)?;
    for name in NOT_IN_PACKAGES {
        remove(&to.join(name))?;
    }
    Ok(())
}

fn remove(path: &Path) -> Result<()> {
    if path.is_dir() {
        return files::remove_folder(path);
    }
    fs::remove_file(path).with_context(|| format!("cannot remove {}", path.display()))
}

fn print_sizes(packages: &Path) -> Result<()> {
    let mut total_bytes = 0;
    for file in files::source_files(packages)? {
        let metadata =
            fs::metadata(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let name = file.strip_prefix(packages)?.display().to_string();
        println!("{}", row(&name, metadata.len()));
        total_bytes += metadata.len();
    }
    println!("{}", row("total", total_bytes));
    Ok(())
}

fn row(name: &str, bytes: u64) -> String {
    format!("{name:<52} {bytes:>12}")
}
