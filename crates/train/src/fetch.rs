//! The `base` step: puts a base model's files where the other steps read them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use candle_core::Device;

use crate::base::Base;
use crate::files::remove_folder_if_there;

/// What a base model consists of.
const FILES: [&str; 3] = ["config.json", "model.safetensors", "tokenizer.json"];

/// Where files lie until they are known to be good.
const PARTIAL: &str = ".partial";

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

/// Copies or downloads the files into a folder within their place, opens the model to prove that it can be read, and
/// only then puts them there: what cannot be read leaves a model that was there before as it was.
///
/// # Errors
/// When a file cannot be had or written, or is no BERT of the supported form.
pub fn run(args: &Args) -> Result<()> {
    let partial = args.to.join(PARTIAL);
    args.source.check_elsewhere([&args.to, &partial])?;
    let is_new = !args.to.exists();
    ensure!(
        is_new || args.to.is_dir(),
        "--to {} is a file: name a folder",
        args.to.display()
    );
    remove_folder_if_there(&partial)?;
    std::fs::create_dir_all(&partial)
        .with_context(|| format!("cannot make {}", partial.display()))?;
    let placed = fetch(&args.source, &partial)
        .and_then(|()| check(&partial).with_context(|| args.source.shown()))
        .and_then(|()| place(&partial, &args.to));
    let left = match placed.is_err() && is_new {
        true => &args.to,
        false => &partial,
    };
    let removed = remove_folder_if_there(left);
    placed.and(removed)
}

fn place(partial: &Path, to: &Path) -> Result<()> {
    for file in FILES {
        let to = to.join(file);
        std::fs::rename(partial.join(file), &to)
            .with_context(|| format!("cannot write {}", to.display()))?;
    }
    Ok(())
}

/// Refuses what is no base model.
fn check(folder: &Path) -> Result<()> {
    let base = Base::open(folder, &Device::Cpu)?;
    base.bert()?;
    base.tokenizer()?;
    Ok(())
}

impl Source {
    /// Refuses a local folder that is one of `folders`.
    fn check_elsewhere(&self, folders: [&PathBuf; 2]) -> Result<()> {
        let Some(from) = &self.folder else {
            return Ok(());
        };
        let from = from
            .canonicalize()
            .with_context(|| format!("no such folder: {}", from.display()))?;
        let is_same = |folder: &PathBuf| folder.canonicalize().is_ok_and(|folder| folder == from);
        ensure!(
            !folders.into_iter().any(is_same),
            "--folder and --to are the same folder: name another with --to"
        );
        Ok(())
    }

    /// What a person calls it.
    fn shown(&self) -> String {
        #[cfg(feature = "hub")]
        if let Some(name) = &self.hub {
            return name.clone();
        }
        let folder = self.folder.as_deref().unwrap_or(Path::new(""));
        format!("{}, copied", folder.display())
    }
}

fn fetch(source: &Source, to: &Path) -> Result<()> {
    #[cfg(feature = "hub")]
    if let Some(name) = &source.hub {
        return download(name, to);
    }
    let Some(folder) = &source.folder else {
        return Ok(());
    };
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
