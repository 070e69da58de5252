//! `cargo xtask experiments`: the report in docs/experiments.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;

use crate::process;
use crate::workspace::Workspace;
use crate::{base_model, binary};

/// Collections that rankings are measured on, by their `dev` judgments.
const MEASURED: [&str; 5] = [
    "zoomcamp-faq",
    "hatchet-docs",
    "anthropic-docs",
    "squad2-dev",
    "docs-astro-anchors",
];
/// Collections that give whitening samples and training pairs; none shares texts with those above.
const LEARNED: [&str; 7] = [
    "docs-react-headings",
    "docs-vue-headings",
    "docs-rust-book-headings",
    "docs-mdn-headings",
    "docs-opensearch-headings",
    "stackexchange-small",
    "covidqa",
];

/// Options of the experiments.
#[derive(Args)]
pub struct Arguments {
    /// Folder with the collections in the BEIR layout, a folder each.
    #[arg(long)]
    beir: PathBuf,
    /// Parts to run, such as `n-k buckets`; all if none is named. A part whose inputs are those of
    /// its file in docs/experiments/data is not run again.
    #[arg(long, num_args = 1..)]
    parts: Vec<String>,
}

/// Makes sure of the base model, compiles siskin-train and runs the parts.
pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let measured = folders(arguments, &MEASURED)?;
    let learned = folders(arguments, &LEARNED)?;
    let base = base_model::ensure(workspace)?;
    binary::compile(workspace, binary::SISKIN_TRAIN)?;
    let mut train = binary::command(workspace, binary::SISKIN_TRAIN);
    train.arg("experiments").arg("--base").arg(base);
    train.arg("--collections").args(measured);
    train.arg("--pairs").args(learned);
    train
        .arg("--cache")
        .arg(workspace.cache().join("experiments"));
    train
        .arg("--out")
        .arg(workspace.root().join("docs/experiments"));
    if !arguments.parts.is_empty() {
        train.arg("--parts").args(&arguments.parts);
    }
    process::run(&mut train)
}

/// The folders of collections, all of which must be there.
fn folders(arguments: &Arguments, names: &[&str]) -> Result<Vec<PathBuf>> {
    let folder = |name: &&str| {
        let folder = arguments.beir.join(name);
        if !folder.join("corpus.jsonl").is_file() {
            bail!(
                "{} is not a collection in the BEIR layout",
                folder.display()
            );
        }
        Ok(folder)
    };
    names.iter().map(folder).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_collection_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let arguments = Arguments {
            beir: folder.path().to_owned(),
            parts: Vec::new(),
        };
        let error = folders(&arguments, &MEASURED).unwrap_err().to_string();
        assert!(
            error.contains("zoomcamp-faq is not a collection"),
            "{error}"
        );
    }

    #[test]
    fn nothing_is_learned_from_what_is_measured() {
        assert!(MEASURED.iter().all(|name| !LEARNED.contains(name)));
    }
}
