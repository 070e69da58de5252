//! The `adapt` step: an encoder for one site, from its built pages and a released encoder.
//!
//! The network stays; the dimensions are new: whitened samples of the token vectors of the site's own passages
//! and queries, and, with `--steps`, trained on the pairs that the site gives. What does not depend on
//! dimensions, static rows, pooling, how queries are read and synonyms, is taken from the released encoder.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use candle_core::Device;
use serde_json::{Value, json};
use siskin_core::container::sha256_hex;
use siskin_encoder::{QUERIES_FILE, SYNONYMS_FILE};
use siskin_extract::site;

use crate::base::Base;
use crate::checkpoint::Bucket;
use crate::export::Carried;
use crate::files::{beside, read_if_there, remove_folder_if_there, remove_if_there, write_whole};
use crate::fit::settings::Settings;
use crate::manifest::Manifest;
use crate::onnx::Quantization;
use crate::rows::texts::Source;
use crate::{export, fit, pairs, rows};

/// Files of an encoder that hold for other dimensions, too.
const CARRIED_FILES: [&str; 2] = [QUERIES_FILE, SYNONYMS_FILE];
/// What `encoder.json` says under `training` of them, and of words' rows, which are among those that are kept.
const CARRIED_NOTES: [&str; 3] = ["queries", "synonyms", "words"];

/// Folder of the pairs in the working folder: what is made first.
const PAIRS: &str = "pairs";
/// Folder there of a base model with the encoder's network, where training changed that.
const NETWORK: &str = "network";
/// Folder of the dimensions there.
const CHECKPOINT: &str = "checkpoint";
/// The rows there, and their report.
const ROWS: &str = "rows.safetensors";
const ROWS_REPORT: &str = "rows.json";
/// What is read of a collection.
const COLLECTION_FILES: [&str; 3] = ["corpus.jsonl", "queries.jsonl", "qrels/train.tsv"];
/// Pairs of a site, at most.
const MOST_PAIRS: usize = 20_000;

/// Arguments of `siskin-train adapt`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Folders with built sites (HTML) or collections in the BEIR layout.
    #[arg(required = true)]
    pub sites: Vec<PathBuf>,
    /// Encoder folder to begin with; its buckets, static rows, pooling, synonyms and what it has for reading queries are
    /// taken over.
    #[arg(long)]
    pub from: PathBuf,
    /// Folder of the base model that it was made of. A network that was trained is read back from the encoder.
    #[arg(long)]
    pub base: PathBuf,
    /// The encoder folder to write; it names the encoder.
    #[arg(long)]
    pub out: PathBuf,
    /// Folder for pairs, checkpoint and rows; steps that are done there are not made again [default: OUT with
    /// `.work`].
    #[arg(long)]
    pub work: Option<PathBuf>,
    /// Collections of general text to sample from as well, in turns with the sites, and with --steps to train on: for a
    /// site of few words. Each needs training judgments.
    #[arg(long, num_args = 1..)]
    pub texts: Vec<PathBuf>,
    /// Training steps on the sites' pairs and those of --texts; 0 takes the samples as they are.
    #[arg(long, default_value_t = 0)]
    pub steps: usize,
    /// Token vectors that dimensions are sampled from.
    #[arg(long, default_value_t = 100_000)]
    pub sample_tokens: usize,
    /// Seed of every random choice.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Runs the step; see [`Args`].
///
/// # Errors
/// When a site has no pairs or too few words, the encoder is of another network, or a file cannot be written.
pub fn run(args: &Args) -> Result<()> {
    let work = args
        .work
        .clone()
        .unwrap_or_else(|| beside(&args.out, ".work"));
    export::check_out(&args.out, &args.from)?;
    let manifest = Manifest::read(&args.from)?;
    ensure!(
        !manifest.buckets.is_empty(),
        "{} has no buckets to adapt",
        args.from.display()
    );
    let carried = carried(&args.from, &manifest)?;
    let base = Base::open(&args.base, &Device::Cpu)?;
    let trained = base.trained_in(&args.from, &manifest)?;
    begin(args, &manifest.id, &work)?;
    let base = match trained {
        Some(weights) => {
            let folder = work.join(NETWORK);
            base.write_with(&weights, &folder)?;
            folder
        }
        None => args.base.clone(),
    };
    let folder = work.join(PAIRS);
    let collections = collections(args, &folder)?;
    let checkpoint = work.join(CHECKPOINT);
    let rows = work.join(ROWS);
    fit(args, &base, &manifest.shapes(), &collections, &checkpoint)?;
    // The report is written last.
    if !work.join(ROWS_REPORT).exists() {
        rows::run(&rows_arguments(
            args,
            &base,
            &collections,
            &checkpoint,
            &rows,
        ))?;
    }
    let exported = export_arguments(args, &base, &manifest, (&checkpoint, &rows));
    export::run_with(&exported, &carried)
}

/// What the encoder in `from` with this manifest has that holds for other dimensions, too.
///
/// # Errors
/// When a file is not what the manifest speaks of.
fn carried(from: &Path, manifest: &Manifest) -> Result<Carried> {
    let is_listed = |name: &&str| manifest.files.contains_key(*name);
    let files = CARRIED_FILES.into_iter().filter(is_listed);
    let files = files.map(|name| Ok((name, manifest.file(from, name)?)));
    let note = |key| Some((key, manifest.training.get(key)?.clone()));
    Ok(Carried {
        files: files.collect::<Result<_>>()?,
        notes: CARRIED_NOTES.into_iter().filter_map(note).collect(),
    })
}

/// Refuses a working folder that was begun with other sites or settings: what lies there would be taken for theirs.
fn begin(args: &Args, from: &str, work: &Path) -> Result<()> {
    let content = |folder: &PathBuf| Ok((folder.clone(), content(folder)?));
    let sites: Vec<_> = args.sites.iter().map(content).collect::<Result<_>>()?;
    for folder in &args.texts {
        let missing = COLLECTION_FILES.map(|file| folder.join(file));
        if let Some(missing) = missing.into_iter().find(|path| !path.exists()) {
            bail!(
                "--texts {}: there is no {}",
                folder.display(),
                missing.display()
            );
        }
    }
    let texts: Vec<_> = args.texts.iter().map(content).collect::<Result<_>>()?;
    let asked = json!({
        "sites": sites, "from": from, "base": args.base, "texts": texts,
        "steps": args.steps, "sample_tokens": args.sample_tokens, "seed": args.seed,
    });
    let path = work.join("adapt.json");
    let begun = read_if_there(&path)?;
    let begun = begun.map(|text| {
        serde_json::from_str::<Value>(&text)
            .with_context(|| format!("{} is malformed", path.display()))
    });
    let begun = begun.transpose()?;
    if begun.as_ref() == Some(&asked) {
        return Ok(());
    }
    let made = [PAIRS, NETWORK, CHECKPOINT, ROWS, ROWS_REPORT].map(|name| work.join(name));
    if begun.is_none()
        && let Some(foreign) = made.iter().find(|path| path.exists())
    {
        bail!(
            "{} was not made by this command: name another --work",
            foreign.display()
        );
    }
    ensure!(
        !work.join(CHECKPOINT).join("state.json").exists(),
        "{} was begun with other sites, pages, encoder or settings: remove it, or name another --work",
        work.display()
    );
    // No dimensions yet: pairs alone are made again in seconds, so a mistyped command is in nobody's way.
    for folder in [PAIRS, NETWORK] {
        remove_folder_if_there(&work.join(folder))?;
    }
    for rows in [ROWS, ROWS_REPORT] {
        remove_if_there(&work.join(rows))?;
    }
    write_whole(&path, asked.to_string().as_bytes())
}

/// SHA-256, in hex, of the files of a site or collection, by name and content.
fn content(folder: &Path) -> Result<String> {
    let mut hashes = String::new();
    let files: Vec<PathBuf> = match folder.join("corpus.jsonl").exists() {
        true => COLLECTION_FILES.map(PathBuf::from).to_vec(),
        false => {
            let files = site::walk(folder)?.files.into_iter();
            files.map(|file| file.path).collect()
        }
    };
    for file in files {
        let path = folder.join(&file);
        if path.exists() {
            writeln!(hashes, "{} {}", hash_of(&path)?, file.display())?;
        }
    }
    Ok(sha256_hex(hashes.as_bytes()))
}

fn hash_of(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(sha256_hex(&bytes))
}

/// The pairs of the sites, then the general texts.
fn collections(args: &Args, folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.exists() {
        let partial = folder.with_extension("partial");
        remove_folder_if_there(&partial)?;
        pairs::run(&pairs::Args {
            sources: args.sites.clone(),
            out: partial.clone(),
            dev: Vec::new(),
            cap: MOST_PAIRS,
            seed: args.seed,
        })?;
        std::fs::rename(&partial, folder)
            .with_context(|| format!("cannot write {}", folder.display()))?;
    }
    let entries = std::fs::read_dir(folder);
    let mut found = entries
        .with_context(|| format!("cannot read {}", folder.display()))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>>>()?;
    found.sort();
    found.extend(args.texts.iter().cloned());
    Ok(found)
}

fn fit(
    args: &Args,
    base: &Path,
    buckets: &[Bucket],
    collections: &[PathBuf],
    checkpoint: &Path,
) -> Result<()> {
    let is_begun = checkpoint.join("state.json").exists();
    if is_begun && args.steps == 0 {
        return Ok(());
    }
    let settings = Settings {
        buckets: buckets.to_vec(),
        sample_tokens: args.sample_tokens,
        seed: args.seed,
        steps: args.steps,
        pairs_per_collection: MOST_PAIRS,
        ..Settings::defaults()?
    };
    fit::run(&fit::Args {
        new_heads: false,
        rows: None,
        synonyms: None,
        base: base.to_owned(),
        pairs: collections.to_vec(),
        negatives: Vec::new(),
        out: checkpoint.to_owned(),
        init_only: args.steps == 0,
        resume: is_begun,
        from: None,
        stop_after: None,
        recipe: None,
        settings,
    })
}

fn rows_arguments(
    args: &Args,
    base: &Path,
    collections: &[PathBuf],
    checkpoint: &Path,
    out: &Path,
) -> rows::Args {
    let source = |folder: &PathBuf| Source {
        folder: folder.clone(),
        limit: usize::MAX,
    };
    rows::Args {
        base: base.to_owned(),
        checkpoint: Some(checkpoint.to_owned()),
        keep: Some(args.from.clone()),
        texts: collections.iter().map(source).collect(),
        out: out.to_owned(),
        cache: None,
        pairs: 12_000,
        held_out: 0,
        seed: args.seed,
    }
}

fn export_arguments(
    args: &Args,
    base: &Path,
    manifest: &Manifest,
    (checkpoint, rows): (&Path, &Path),
) -> export::Args {
    export::Args {
        base: Some(base.to_owned()),
        checkpoint: Some(checkpoint.to_owned()),
        baseline: false,
        student: None,
        teacher: None,
        rows: Some(rows.to_owned()),
        bucket_weights: manifest
            .buckets
            .iter()
            .map(|bucket| bucket.weight)
            .collect(),
        base_name: Some(manifest.base.clone()),
        licence: Some(manifest.licence.clone()),
        quantization: Quantization::Int8,
        out: args.out.clone(),
    }
}
