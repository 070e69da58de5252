//! The wheel: the command with all that belongs to it, by maturin.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::{copy_encoder, copy_licences, copy_runtime};
use crate::files;
use crate::process::{self, say};
use crate::workspace::Workspace;

const MATURIN_VERSION: &str = "1.16.0";
/// Folder of what the wheel is made from.
const SOURCE: &str = "crates/cli/packages/pypi";
/// The command's crate, as `pyproject.toml` has it.
const CRATE: &str = "../../Cargo.toml";

/// Builds the wheel for this platform into `out`.
pub fn build(workspace: &Workspace, contents: &Path, out: &Path) -> Result<()> {
    let maturin = maturin(workspace)?;
    say("wheel: putting command, browser's files and encoder together with maturin");
    let project = contents.join("wheel");
    fill(workspace, &project)?;
    let mut build = workspace.command(maturin);
    build
        .args(["build", "--release", "--out"])
        .arg(out)
        .current_dir(&project)
        .env("CARGO", workspace.root().join(SOURCE).join("cargo.sh"));
    process::run(&mut build)
}

/// Fills `project` with a Python project whose data is the installation's `share/siskin`.
fn fill(workspace: &Workspace, project: &Path) -> Result<()> {
    let source = workspace.root().join(SOURCE);
    let manifest = workspace.root().join("crates/cli/Cargo.toml");
    files::copy_file(&source.join("README.md"), &project.join("README.md"))?;
    write_project(&source.join("pyproject.toml"), &manifest, project)?;
    copy_licences(workspace, project)?;
    let share = project.join("data/data/share/siskin");
    copy_runtime(workspace, &share.join("dist"))?;
    copy_encoder(workspace, &share.join("encoder"))
}

/// Copies `pyproject.toml`, with the command's manifest as seen from anywhere.
fn write_project(source: &Path, manifest: &Path, project: &Path) -> Result<()> {
    let text =
        fs::read_to_string(source).with_context(|| format!("cannot read {}", source.display()))?;
    let relative = format!("\"{CRATE}\"");
    if !text.contains(&relative) {
        bail!("{} does not name {CRATE}", source.display());
    }
    let absolute = serde_json::to_string(manifest)?;
    let file = project.join("pyproject.toml");
    fs::write(&file, text.replace(&relative, &absolute))
        .with_context(|| format!("cannot write {}", file.display()))
}

/// Maturin, from PyPI, in a folder of its own.
fn maturin(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.cache().join(format!("maturin-{MATURIN_VERSION}"));
    let program = folder.join("bin/maturin");
    if program.is_file() {
        return Ok(program);
    }
    say(&format!(
        "maturin {MATURIN_VERSION}: installing with pip (it makes the wheel)"
    ));
    let staging = files::staging_beside(&folder)?;
    let mut pip = workspace.command("python3");
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--only-binary=:all:",
    ])
    .arg("--target")
    .arg(&staging)
    .arg(format!("maturin=={MATURIN_VERSION}"));
    process::run(&mut pip).context("pip is needed: install python3 with pip")?;
    files::replace(&folder, &staging)?;
    Ok(program)
}
