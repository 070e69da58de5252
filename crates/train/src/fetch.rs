//! The `base` step: puts a base model's files where the other steps read them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use candle_core::Device;

use crate::base::Base;

/// What a base model consists of.
const FILES: [&str; 3] = ["config.json", "model.safetensors", "tokenizer.json"];

/// Arguments of `siskin-train base`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Where the model comes from.
    #[command(flatten)]
    pub source: Source,
    /// Folder to write.
    #[arg(long)]
    pub to: PathBuf,
}

/// Where a base model comes from: exactly one of these.
#[derive(clap::Args, Debug)]
#[group(required = true, multiple = false)]
pub struct Source {
    /// A local folder with config.json, model.safetensors and tokenizer.json.
    #[arg(long)]
    pub folder: Option<PathBuf>,
    /// A model on the Hugging Face hub, as OWNER/NAME.
    #[cfg(feature = "hub")]
    #[arg(long)]
    pub hub: Option<String>,
}

/// Copies or downloads the files, then opens the model to prove that it can be read.
///
/// # Errors
/// When a file cannot be had or written, or is no BERT of the supported form.
pub fn run(args: &Args) -> Result<()> {
    std::fs::create_dir_all(&args.to)
        .with_context(|| format!("cannot make {}", args.to.display()))?;
    fetch(&args.source, &args.to)?;
    let base = Base::open(&args.to, &Device::Cpu)?;
    base.bert()?;
    base.tokenizer()?;
    Ok(())
}

fn fetch(source: &Source, to: &Path) -> Result<()> {
    #[cfg(feature = "hub")]
    if let Some(name) = &source.hub {
        return download(name, to);
    }
    source
        .folder
        .as_deref()
        .map_or(Ok(()), |folder| copy(folder, to))
}

fn copy(folder: &Path, to: &Path) -> Result<()> {
    let absolute = |path: &Path| {
        path.canonicalize()
            .with_context(|| format!("no such folder: {}", path.display()))
    };
    ensure!(
        absolute(folder)? != absolute(to)?,
        "--folder and --to are the same folder: name another with --to"
    );
    for file in FILES {
        let from = folder.join(file);
        std::fs::copy(&from, to.join(file))
            .with_context(|| format!("cannot copy {}", from.display()))?;
    }
    Ok(())
}

#[cfg(feature = "hub")]
fn download(name: &str, to: &Path) -> Result<()> {
    let (owner, model) = hf_hub::split_id(name);
    let repository = hf_hub::HFClientSync::new()?.model(owner, model);
    for file in FILES {
        let request = repository
            .download_file()
            .filename(file)
            .local_dir(to.to_owned());
        request
            .send()
            .with_context(|| format!("cannot download {file} of {name}"))?;
    }
    Ok(())
}
