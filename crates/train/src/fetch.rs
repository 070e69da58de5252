//! The `base` step: puts a base model's files where the other steps read them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use candle_core::Device;

use crate::base::Base;
use crate::files::beside;

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

/// Copies or downloads the files beside their place, opens the model to prove that it can be read, and puts them
/// there: a model that was there before stays what it was until then.
///
/// # Errors
/// When a file cannot be had or written, or is no BERT of the supported form.
pub fn run(args: &Args) -> Result<()> {
    for folder in [&args.to, &beside(&args.to, ".partial")] {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let partial = beside(&args.to, ".partial");
    let fetched = fetch(&args.source, &args.to, &partial).and_then(|()| check(&partial));
    let placed = fetched.and_then(|()| {
        FILES.iter().try_for_each(|file| {
            let to = args.to.join(file);
            std::fs::rename(partial.join(file), &to)
                .with_context(|| format!("cannot write {}", to.display()))
        })
    });
    std::fs::remove_dir_all(&partial)
        .with_context(|| format!("cannot remove {}", partial.display()))?;
    placed
}

/// Refuses what is no base model.
fn check(folder: &Path) -> Result<()> {
    let base = Base::open(folder, &Device::Cpu)?;
    base.bert()?;
    base.tokenizer()?;
    Ok(())
}

/// Puts the files into `partial`; they are meant for `to`.
fn fetch(source: &Source, to: &Path, partial: &Path) -> Result<()> {
    #[cfg(feature = "hub")]
    if let Some(name) = &source.hub {
        return download(name, partial);
    }
    let Some(folder) = &source.folder else {
        return Ok(());
    };
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
        std::fs::copy(&from, partial.join(file))
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
